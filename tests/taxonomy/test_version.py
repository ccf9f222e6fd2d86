"""Whether a taxonomy may follow another: each fault with its line and what is right."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from bot.config import REVIEWED_FILES
from bot.files.documents import Document, parse_yaml
from bot.taxonomy.checks import structure_problems
from bot.taxonomy.model import Taxonomy
from bot.taxonomy.version import succession_problems, version_problem

Change = Callable[[dict[str, Any]], object]


def capability(id: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "name": id.upper(), "group": "all", "description": f"About {id}.", "source": "intent"} | more


BASE: dict[str, Any] = {
    "version": "1.2.3",
    "retired": ["gone"],
    "groups": [{"id": "all", "name": "All"}],
    "capabilities": [capability("a"), capability("b"), capability("c")],
}


def read(data: dict[str, Any]) -> tuple[Taxonomy, Document]:
    text = yaml.safe_dump(data, sort_keys=False)
    document = parse_yaml(text.encode(), "taxonomy.yaml", REVIEWED_FILES)
    return Taxonomy.model_validate(document.data), document


def followed_by(*changes: Change, version: str = "1.2.3") -> tuple[Taxonomy, Taxonomy, Document]:
    data = copy.deepcopy(BASE)
    for change in changes:
        change(data)
    return read(BASE)[0], *read(data | {"version": version})


def add(id: str, **more: Any) -> Change:
    return lambda data: data["capabilities"].append(capability(id, **more))


def remove(place: int) -> Change:
    return lambda data: data["capabilities"].pop(place)


def retire(*ids: str) -> Change:
    return lambda data: data["retired"].extend(ids)


def reword(data: dict[str, Any]) -> None:
    data["capabilities"][0]["description"] = "On A."


@pytest.mark.parametrize(
    ("changes", "version"),
    [
        ([], "1.2.3"),
        ([reword], "1.2.4"),
        ([add("d")], "1.3.0"),
        ([remove(1), retire("b")], "2.0.0"),
        ([remove(1), retire("b"), add("b2", was="b", name="B", description="About b.")], "1.3.0"),
        ([remove(1), retire("b"), add("b1", split="b"), add("b2", split="b")], "2.0.0"),
        ([remove(1), retire("b"), add("d"), reword], "2.0.0"),
        # Remarks on what was there long ago bind nothing.
        ([add("d", was="gone")], "1.3.0"),
        ([lambda data: data["capabilities"][0].update(was="gone")], "1.2.4"),
    ],
)
def test_what_may_follow(changes: list[Change], version: str) -> None:
    # A capability that is moved to the end of the file changes the order, but asks for no more.
    assert succession_problems(*followed_by(*changes, version=version)) == ()


@pytest.mark.parametrize(
    ("changes", "version", "right", "why"),
    [
        ([], "1.2.4", "1.2.3", "nothing changed since 1.2.3"),
        ([], "1.2.2", "1.2.3", "nothing changed since 1.2.3"),
        ([reword], "1.2.3", "1.2.4", "a patch change: a: the description"),
        ([reword], "1.3.0", "1.2.4", "a patch change: a: the description"),
        ([reword], "1.2.5", "1.2.4", "a patch change: a: the description"),
        ([add("d"), reword], "1.2.4", "1.3.0", "a minor change: d (“D”) is new."),
        ([add("d")], "1.3.1", "1.3.0", "a minor change: d (“D”) is new."),
        ([add("d"), remove(2), retire("c")], "1.3.0", "2.0.0", "a major change: c (“C”) is removed."),
        ([remove(2), retire("c")], "3.0.0", "2.0.0", "a major change: c (“C”) is removed."),
    ],
)
def test_any_other_version_is_a_fault_that_names_the_right_one(
    changes: list[Change], version: str, right: str, why: str
) -> None:
    old, new, document = followed_by(*changes, version=version)
    problem = version_problem(old, new, document)
    assert problem is not None
    assert problem.line == 1
    assert why in problem.message
    assert problem.fix == f"write `version: {right}`"
    assert version_problem(old, new.model_copy(update={"version": right}), document) is None


def test_comments_and_form_are_no_change() -> None:
    old, document = read(BASE)
    text = "# A remark.\n" + yaml.safe_dump(BASE, sort_keys=True, default_flow_style=True)
    other = parse_yaml(text.encode(), "taxonomy.yaml", REVIEWED_FILES)
    assert succession_problems(old, Taxonomy.model_validate(other.data), document) == ()


def test_every_other_fault_has_its_line_and_fix_at_once() -> None:
    old, new, document = followed_by(
        remove(2),
        remove(1),
        lambda data: data.update(retired=["a-long-gone-one"]),
        lambda data: data["capabilities"][0].update(was="b"),
        add("d", split="c"),
        version="2.0.0",
    )
    found = succession_problems(old, new, document)
    lines = document.text.splitlines()
    assert [(problem.line and lines[problem.line - 1].strip(), problem.message, problem.fix) for problem in found] == [
        (
            "retired:",
            "retired: b was a capability of 1.2.3 and is missing, so that its id could come back",
            "add b to `retired`",
        ),
        (
            "retired:",
            "retired: c was a capability of 1.2.3 and is missing, so that its id could come back",
            "add c to `retired`",
        ),
        (
            "retired:",
            "retired: gone was retired in 1.2.3 and is missing, so that its id could come back",
            "put gone back into `retired`",
        ),
        (
            "was: b",
            "a: it is no new id of b, for 1.2.3 has both",
            "remove `was`, and give what became of b an id of its own if it lives on",
        ),
        (
            "split: c",
            "d: it is the only part of c, and a split has two or more",
            "write `was: c` if this is the whole under another id, or name the other parts",
        ),
    ]


SPLIT = copy.deepcopy(BASE) | {"version": "2.0.0", "retired": ["gone", "c"]}
SPLIT["capabilities"][2:] = [capability("c1", split="c"), capability("c2", split="c")]


@pytest.mark.parametrize(
    ("retired", "instead", "version"),
    [("c2", [capability("c3", was="c2", name="C2", description="About c2.")], "2.1.0"), ("c2", [], "3.0.0")],
)
def test_a_part_may_be_renamed_or_removed_once_the_whole_is_history(
    retired: str, instead: list[dict[str, Any]], version: str
) -> None:
    data = copy.deepcopy(SPLIT) | {"version": version}
    data["retired"].append(retired)
    data["capabilities"][3:] = instead
    assert succession_problems(read(SPLIT)[0], *read(data)) == ()
    assert not [item for item in structure_problems(read(data)[1]) if "split" in item.message]
