"""A promptfoo config in YAML: one test per turn, those of a conversation with the same ``conversationId``.

promptfoo renders every text of a config as a template with access to the environment, loads texts that begin like a
file's address, and runs code in assertions.  So each text is written as a template that renders to exactly that text
(:mod:`~incumbent.intake.export_round_trip`).  Of a customer's own assertions, only those that compare or grade are
written, without templates.  The user of the config chooses the provider: ``echo`` is its placeholder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from incumbent.files.documents import Data, as_list, as_mapping
from incumbent.intake.export_round_trip import CARRIED, LOADED, MARKS, as_template
from incumbent.runners.export.item import ExportItem, ExportRemark, ExportWriter, Written, is_flat, json_line, sealed
from incumbent.runners.export.linear_patterns import pattern_fault

_HEAD: Final = (
    "# Written by `incumbent export --to promptfoo`.  Name your provider in place of echo, or with --providers.\n"
)
_DESCRIPTION: Final = "Regression set"
_RUBRIC: Final = "The response does what is expected: {{expected_response}}"
_COMPARING: Final = frozenset(
    {
        *("equals", "contains", "icontains", "contains-any", "contains-all", "icontains-any", "icontains-all"),
        *("starts-with", "regex", "is-json", "contains-json", "levenshtein", "rouge-n", "bleu", "gleu", "meteor"),
        *("similar", "llm-rubric", "factuality", "model-graded-closedqa", "answer-relevance", "g-eval"),
        *("latency", "cost"),
    }
)
_KEYS: Final = frozenset({"type", "value", "threshold", "weight", "metric"})
_PLAIN_KEY: Final = re.compile(r"[A-Za-z][A-Za-z0-9-]*|[a-z][a-z_]*")
_NUMBERS: Final = ("threshold", "weight")
_SCHEMAS: Final = frozenset({"is-json", "contains-json"})
"""Assertions whose value is a JSON schema, as data or as a text."""


def _write(items: Sequence[ExportItem]) -> Written:
    config: dict[str, Data] = {
        "description": _DESCRIPTION,
        "prompts": ["{{query}}"],
        "providers": ["echo"],
        "tests": [test for item in items for test in _tests(item)],
    }
    if any(len(item.turns) > 1 for item in items):
        # Turns of a conversation must not overtake one another.
        config["evaluateOptions"] = {"maxConcurrency": 1}
    remarks = tuple(remark for item in items for remark in _remarks(item))
    return Written({"promptfooconfig.yaml": _HEAD + _yaml_document(config)}, remarks)


def _parts(item: ExportItem) -> list[Mapping[str, Data]]:
    """What is expected of each turn, if the customer's file says so by turn; else all of it is with the last turn."""
    parts = [as_mapping(part) for part in as_list(as_mapping(item.expected).get("turns"))]
    if len(item.turns) > 1 and len(parts) == len(item.turns):
        return parts
    return [*({} for _ in item.turns[1:]), as_mapping(item.expected)]


def _tests(item: ExportItem) -> list[Data]:
    tests = _bare_tests(item)
    first, *others = tests
    marks: dict[str, Data] = {"capabilities": [*sorted(item.entry.scores)], CARRIED: _sealed(item)}
    return [{**first, "metadata": {**as_mapping(first["metadata"]), **marks}}, *others]


def _bare_tests(item: ExportItem) -> list[dict[str, Data]]:
    """The tests without the entry's record."""
    tests: list[dict[str, Data]] = []
    many = len(item.turns) > 1
    for number, (turn, part, answer) in enumerate(
        zip(item.turns, _parts(item), item.expectation.answers, strict=True), 1
    ):
        variables: dict[str, Data] = {"query": as_template(turn)}
        asserted = [each for each in _asserted(part) if _fault(each) is None]
        if answer is not None:
            variables["expected_response"] = as_template(answer)
            asserted = asserted or [{"type": "llm-rubric", "value": _RUBRIC}]
        test: dict[str, Data] = {
            "description": f"{item.id} ({number} of {len(item.turns)})" if many else item.id,
            "vars": variables,
        }
        if asserted:
            test["assert"] = asserted
        tests.append({**test, "metadata": {"conversationId": item.id} if many else {}})
    return tests


def _returns(item: ExportItem) -> Iterator[Mapping[str, Data]]:
    first, *others = _bare_tests(item)
    test: Mapping[str, Data] = {"turns": [first, *others]} if others else first
    yield {**test, "config": {"description": _DESCRIPTION}}


def _asserted(part: Mapping[str, Data]) -> list[Data]:
    return as_list(part.get("assert"))


def _fault(assertion: Data) -> str | None:
    """Why ``assertion`` is not given to the runner, and how to fix it; ``None`` if it may be given."""
    held = as_mapping(assertion)
    kind, compared = held.get("type"), held.get("value")
    if not isinstance(kind, str) or kind.removeprefix("not-") not in _COMPARING:
        return f"its type is none of those that only compare or grade; write one of {', '.join(sorted(_COMPARING))}"
    if not held.keys() <= _KEYS:
        others = ", ".join(f"`{key}`" for key in sorted(held.keys() - _KEYS))
        return f"it holds {others}; write nothing but {', '.join(f'`{key}`' for key in sorted(_KEYS))}"
    if not all(held.get(key) is None or _is_number(held[key]) for key in _NUMBERS):
        return "`threshold` or `weight` is no number; write one"
    if not is_flat(compared) or not is_flat(held.get("metric")):
        return "its `value` or `metric` holds values inside one another; write a text, a number or a list of these"
    texts = [text for text in (held.get("metric"), compared, *as_list(compared)) if isinstance(text, str)]
    if not all(map(_is_plain_text, texts)):
        return "it renders a template or opens a file; write the text itself"
    if kind.removeprefix("not-") in _SCHEMAS and compared is not None:
        return "it holds a schema, whose patterns may not terminate in reasonable time; leave `value` out"
    if kind.removeprefix("not-") == "regex":
        why = next((why for text in texts if (why := pattern_fault(text)) is not None), None)
        return None if why is None else f"its regular expression is kept back: {why}"
    return None


def _is_plain_text(text: str) -> bool:
    """Whether ``text`` is safe for a runner that renders texts as templates and loads those that begin like a file's
    address.
    """
    return not MARKS.search(text) and not text.lstrip().startswith(LOADED)


def _is_number(value: Data) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _remarks(item: ExportItem) -> Iterator[ExportRemark]:
    """What the runner does not get of ``item``: the first such assertion, and how many there are."""
    many = len(item.turns) > 1
    found = [
        (f"turns[{turn}].assert[{place}]" if many else f"assert[{place}]", fault)
        for turn, part in enumerate(_parts(item))
        for place, each in enumerate(_asserted(part))
        if (fault := _fault(each)) is not None
    ]
    if found:
        (name, fault), *others = found
        more = f" (and {len(others)} more)" if others else ""
        yield ExportRemark(item.id, f"{name}{more} is carried, and not run: {fault}")


def _sealed(item: ExportItem) -> str:
    return sealed(item.record(said=item.expected is None))


def _yaml_document(data: Data) -> str:
    """``data``, a mapping or a list, as a YAML file of block collections."""
    return "\n".join(_lines(data, "")) + "\n"


def _lines(data: Data, indent: str) -> Iterator[str]:
    if isinstance(data, dict):
        for key, item in data.items():
            yield from _entry(f"{indent}{key if _PLAIN_KEY.fullmatch(key) else json_line(key)}:", item, f"{indent}  ")
    else:
        for item in as_list(data):
            inner = list(_lines(item, f"{indent}  ")) if isinstance(item, dict | list) and item else []
            if inner:
                yield f"{indent}- {inner[0].lstrip(' ')}"
                yield from inner[1:]
            else:
                yield f"{indent}- {json_line(item)}"


def _entry(head: str, item: Data, indent: str) -> Iterator[str]:
    if isinstance(item, dict | list) and item:
        yield head
        yield from _lines(item, indent)
    else:
        yield f"{head} {json_line(item)}"


WRITER: Final = ExportWriter(
    name="promptfoo",
    title="promptfoo config in YAML, a test per turn",
    obstacle=lambda item: None,
    write=_write,
    returns=_returns,
)
