"""A promptfoo config in YAML: one test per turn, those of a conversation with the same ``conversationId``.

promptfoo renders every text of a config as a template, with the environment at hand, loads what begins like the
address of a file, and runs code in assertions.  So texts are written as templates that say just them
(:mod:`~bot.intake.templates`), and of a customer's own assertions those are given back that compare or grade, without
templates.  The provider is the runner's to name: ``echo`` stands where it goes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from bot.documents import Data, as_list, as_mapping
from bot.export.item import Item, Remark, Writer, Written
from bot.export.yamls import document
from bot.intake.expected.carried import CARRIED
from bot.intake.templates import as_template

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
_UNSAFE: Final = re.compile(r"\{\{|\{%|\{#|#\}|^\s*(?:file://|package:)")


def _write(items: Sequence[Item]) -> Written:
    config: dict[str, Data] = {
        "description": _DESCRIPTION,
        "prompts": ["{{query}}"],
        "providers": ["echo"],
        "tests": [test for item in items for test in _tests(item)],
    }
    if any(len(item.turns) > 1 for item in items):
        # Turns of a conversation must not overtake one another.
        config["evaluateOptions"] = {"maxConcurrency": 1}
    message = "it has assertions that run code, open files or render templates: they are carried, and not run"
    unsafe = [item for item in items if any(not _is_safe(each) for part in _parts(item) for each in _asserted(part))]
    return Written(
        {"promptfooconfig.yaml": _HEAD + document(config)}, tuple(Remark(item.id, message) for item in unsafe)
    )


def _parts(item: Item) -> list[Mapping[str, Data]]:
    """What is expected, by turn where the customer's file says so, else with the last turn."""
    parts = [as_mapping(part) for part in as_list(as_mapping(item.expected).get("turns"))]
    if len(item.turns) > 1 and len(parts) == len(item.turns):
        return parts
    return [*({} for _ in item.turns[1:]), as_mapping(item.expected)]


def _tests(item: Item) -> list[Data]:
    tests = _bare_tests(item)
    first, *others = tests
    marks: dict[str, Data] = {"capabilities": [*sorted(item.entry.scores)], CARRIED: _sealed(item)}
    return [{**first, "metadata": {**as_mapping(first["metadata"]), **marks}}, *others]


def _bare_tests(item: Item) -> list[dict[str, Data]]:
    """The tests without the entry's record."""
    tests: list[dict[str, Data]] = []
    many = len(item.turns) > 1
    for number, (turn, part, answer) in enumerate(
        zip(item.turns, _parts(item), item.expectation.answers, strict=True), 1
    ):
        variables: dict[str, Data] = {"query": as_template(turn)}
        asserted = [each for each in _asserted(part) if _is_safe(each)]
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


def _returns(item: Item) -> Iterator[Mapping[str, Data]]:
    first, *others = _bare_tests(item)
    test: Mapping[str, Data] = {"turns": [first, *others]} if others else first
    yield {**test, "config": {"description": _DESCRIPTION}}


def _asserted(part: Mapping[str, Data]) -> list[Data]:
    return as_list(part.get("assert"))


def _is_safe(assertion: Data) -> bool:
    held = as_mapping(assertion)
    kind = held.get("type")
    compared = held.get("value")
    texts = [compared, held.get("metric"), *as_list(compared)]
    numbers = (held.get("threshold"), held.get("weight"))
    return (
        isinstance(kind, str)
        and kind.removeprefix("not-") in _COMPARING
        and held.keys() <= _KEYS
        and all(number is None or isinstance(number, int | float) for number in numbers)
        and all(not isinstance(text, dict) for text in texts)
        and not any(isinstance(text, str) and _UNSAFE.search(text) for text in texts)
    )


def _sealed(item: Item) -> str:
    """The entry's record as JSON without an opening brace in any text: nothing of it can be taken for a template."""
    text = json.dumps(item.record(said=item.expected is None), ensure_ascii=False, allow_nan=False)
    return re.sub(r'"(?:[^"\\]|\\.)*"', lambda quoted: quoted[0].replace("{", "\\u007b"), text)


WRITER: Final = Writer(
    name="promptfoo",
    title="promptfoo config in YAML, a test per turn",
    obstacle=lambda item: None,
    write=_write,
    returns=_returns,
)
