"""What a new taxonomy changes, in words, and whether it may follow the old one: each fault with its line."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from incumbent.files.documents import Document, parse_yaml
from incumbent.taxonomy.changes import (
    ChangeKind,
    TaxonomyChange,
    VersionStep,
    changes_between,
    heaviest,
    required_version,
    succession_problems,
    version_problem,
)
from incumbent.taxonomy.checks import structure_problems
from incumbent.taxonomy.config import REVIEWED_FILES
from incumbent.taxonomy.model import Capability, Exemplar, Exemplars, Group, Taxonomy


def capability(id: str, group: str = "any", **more: Any) -> Capability:
    defaults: dict[str, Any] = {"name": id.upper(), "description": f"About {id}.", "source": "intent"}
    return Capability(id=id, group=group, **defaults | more)


GROUPS = (
    Group(id="any", name="Any"),
    Group(id="other", name="Other"),
    Group(id="one", name="One", constraint="exactly-one"),
    Group(id="two", name="Two", constraint="exactly-one"),
)
CAPABILITIES = (
    capability("a", patterns=("x", "y"), exemplars=Exemplars(positive=("p", "q"), negative=("n",))),
    capability("b"),
    capability("c", source="spec", when="card", requires="a"),
    capability("d", "one"),
    capability("e", "one"),
    capability("f", "two"),
    capability("g", "two"),
)
OLD = Taxonomy(version="1.2.3", retired=("gone",), groups=GROUPS, capabilities=CAPABILITIES)


def like(taxonomy: Taxonomy, **more: Any) -> Taxonomy:
    """``taxonomy`` but for what is said, with nothing of it remembered."""
    return Taxonomy.model_validate({**taxonomy.model_dump(), **more}, strict=False)


def having(*more: Capability, retired: tuple[str, ...] = (), **changed: Mapping[str, Any] | None) -> Taxonomy:
    """``OLD`` with capabilities ``changed`` (removed where ``None``) and ``more`` of them at its end."""
    kept = []
    for item in CAPABILITIES:
        change = changed.get(item.id, {})
        if change is not None:
            kept.append(Capability.model_validate(item.model_dump() | dict(change), strict=False))
    return like(OLD, capabilities=(*kept, *more), retired=("gone", *retired))


def grouped(*groups: Group) -> Taxonomy:
    return like(OLD, groups=groups)


CASES: list[tuple[Taxonomy, ChangeKind, tuple[str, ...], VersionStep, str]] = [
    (having(capability("h")), ChangeKind.ADDED, ("h",), VersionStep.MINOR, "h (“H”) is new."),
    (
        having(capability("h", "one")),
        ChangeKind.ADDED,
        ("h", "d", "e"),
        VersionStep.MAJOR,
        "h (“H”) is new in one, of whose members a query exercises exactly one: what the others mean changes with it.",
    ),
    (having(b=None, retired=("b",)), ChangeKind.REMOVED, ("b",), VersionStep.MAJOR, "b (“B”) is removed."),
    (
        having(b={"id": "b2", "was": "b"}, retired=("b",)),
        ChangeKind.RENAMED,
        ("b", "b2"),
        VersionStep.MINOR,
        "b is called b2 from now on.",
    ),
    (
        having(d={"id": "d2", "was": "d"}, retired=("d",)),
        ChangeKind.RENAMED,
        ("d", "d2"),
        VersionStep.MINOR,
        "d is called d2 from now on.",
    ),
    (
        having(a={"id": "a2", "was": "a"}, c={"requires": "a2"}, retired=("a",)),
        ChangeKind.RENAMED,
        ("a", "a2"),
        VersionStep.MINOR,
        "a is called a2 from now on.",
    ),
    (
        having(capability("b1", split="b"), capability("b2", split="b"), b=None, retired=("b",)),
        ChangeKind.SPLIT,
        ("b", "b1", "b2"),
        VersionStep.MAJOR,
        "b is split into b1, b2.",
    ),
    (having(b={"name": "Bee"}), ChangeKind.REWORDED, ("b",), VersionStep.PATCH, "b: the name “B” becomes “Bee”."),
    (
        having(b={"description": "On bees."}),
        ChangeKind.REWORDED,
        ("b",),
        VersionStep.PATCH,
        "b: the description “About b.” becomes “On bees.”.",
    ),
    (
        having(a={"exemplars": {"positive": ["q", "r", ["s", "t"]], "negative": []}}),
        ChangeKind.EXEMPLARS,
        ("a",),
        VersionStep.PATCH,
        "a: 2 positive exemplars added, 1 positive exemplar removed, 1 negative exemplar removed.",
    ),
    (
        having(a={"exemplars": {"positive": ["q", "p"], "negative": ["n"]}}),
        ChangeKind.EXEMPLARS,
        ("a",),
        VersionStep.PATCH,
        "a: the positive exemplars stand in another order.",
    ),
    (
        having(a={"patterns": ["z"]}),
        ChangeKind.PATTERNS,
        ("a",),
        VersionStep.PATCH,
        "a: 1 pattern added, 2 patterns removed.",
    ),
    (
        having(a={"patterns": ["y", "x"]}),
        ChangeKind.PATTERNS,
        ("a",),
        VersionStep.PATCH,
        "a: the patterns stand in another order.",
    ),
    (having(b={"group": "other"}), ChangeKind.MOVED, ("b",), VersionStep.PATCH, "b moves from the group any to other."),
    (
        having(b={"group": "one"}),
        ChangeKind.MOVED,
        ("b",),
        VersionStep.MAJOR,
        "b moves from the group any to one; of the members of one a query exercises exactly one.",
    ),
    (
        having(d={"group": "any"}),
        ChangeKind.MOVED,
        ("d",),
        VersionStep.MAJOR,
        "d moves from the group one to any; of the members of one a query exercises exactly one.",
    ),
    (
        having(d={"group": "two"}),
        ChangeKind.MOVED,
        ("d",),
        VersionStep.MAJOR,
        "d moves from the group one to two; of the members of one and of two a query exercises exactly one.",
    ),
    (
        having(c={"when": "tools"}),
        ChangeKind.RULE,
        ("c",),
        VersionStep.MAJOR,
        "c: when was “card” and is “tools”.",
    ),
    (having(c={"requires": None}), ChangeKind.RULE, ("c",), VersionStep.MAJOR, "c: requires was “a” and is absent."),
    (
        having(c={"source": "intent"}),
        ChangeKind.RULE,
        ("c",),
        VersionStep.MAJOR,
        "c: source was “spec” and is “intent”.",
    ),
    (having(c={"source": "tool"}), ChangeKind.RULE, ("c",), VersionStep.MAJOR, "c: source was “spec” and is “tool”."),
    (having(a={"when": "card"}), ChangeKind.RULE, ("a",), VersionStep.MAJOR, "a: when was absent and is “card”."),
    (
        having(a={"combines": False}),
        ChangeKind.COMBINES,
        ("a",),
        VersionStep.MINOR,
        "a: it takes part in combinations no longer.",
    ),
    (
        having(a={"fill_from": "any"}),
        ChangeKind.FILL_FROM,
        ("a",),
        VersionStep.MINOR,
        "a: its floor is filled by tests of any customer from now on.",
    ),
    *(
        (
            having(a={key: value}),
            ChangeKind.EXPECTED_CALLS,
            ("a",),
            VersionStep.MINOR,
            "a: the number and order of expected calls decide otherwise (expected_calls, chained).",
        )
        for key, value in (("expected_calls", "several"), ("chained", True))
    ),
    (
        having(b={"was": "gone"}),
        ChangeKind.DECLARATION,
        ("b",),
        VersionStep.PATCH,
        "b: it declares another origin (was, split).",
    ),
    (having(b={"trial": True}), ChangeKind.TRIAL, ("b",), VersionStep.MINOR, "b is on trial from now on."),
    (
        grouped(*GROUPS, Group(id="new", name="New")),
        ChangeKind.GROUP_ADDED,
        ("new",),
        VersionStep.PATCH,
        "The group new (“New”) is new.",
    ),
    (
        grouped(GROUPS[0], *GROUPS[2:]),
        ChangeKind.GROUP_REMOVED,
        ("other",),
        VersionStep.PATCH,
        "The group other (“Other”) is removed.",
    ),
    (
        grouped(Group(id="any", name="All"), *GROUPS[1:]),
        ChangeKind.GROUP_RENAMED,
        ("any",),
        VersionStep.PATCH,
        "The group any: the name “Any” becomes “All”.",
    ),
    (
        grouped(Group(id="any", name="Any", parent="other"), *GROUPS[1:]),
        ChangeKind.GROUP_MOVED,
        ("any",),
        VersionStep.PATCH,
        "The group any moves: its parent was absent and is “other”.",
    ),
    (
        grouped(*GROUPS[:3], Group(id="two", name="Two")),
        ChangeKind.CONSTRAINT,
        ("two",),
        VersionStep.MAJOR,
        "The group two: its constraint was exactly-one and is any.",
    ),
    (
        like(OLD, capabilities=(CAPABILITIES[1], CAPABILITIES[0], *CAPABILITIES[2:])),
        ChangeKind.REORDERED,
        ("b",),
        VersionStep.PATCH,
        "The capabilities stand in another order, and the order breaks ties: b.",
    ),
    (
        grouped(*GROUPS[1:], GROUPS[0]),
        ChangeKind.REORDERED,
        ("any",),
        VersionStep.PATCH,
        "The groups stand in another order: any.",
    ),
    (
        having(retired=("y", "x")),
        ChangeKind.RETIRED,
        ("x", "y"),
        VersionStep.PATCH,
        "Under retired: x, y listed as retired from now on.",
    ),
    (
        like(OLD, retired=()),
        ChangeKind.RETIRED,
        ("gone",),
        VersionStep.PATCH,
        "Under retired: gone no longer listed as retired.",
    ),
]


@pytest.mark.parametrize(("new", "kind", "ids", "step", "sentence"), CASES)
def test_one_change_is_told(
    new: Taxonomy, kind: ChangeKind, ids: tuple[str, ...], step: VersionStep, sentence: str
) -> None:
    assert changes_between(OLD, new) == (TaxonomyChange(kind=kind, ids=ids, sentence=sentence, step=step),)


def test_every_kind_of_change_has_a_case() -> None:
    assert {kind for _, kind, *_ in CASES} == set(ChangeKind)


@pytest.mark.parametrize(
    ("step", "version", "expected"),
    [
        (VersionStep.PATCH, "1.2.3", "1.2.4"),
        (VersionStep.MINOR, "1.2.3", "1.3.0"),
        (VersionStep.MAJOR, "1.2.3", "2.0.0"),
        (VersionStep.PATCH, "0.9.9", "0.9.10"),
        (VersionStep.MINOR, "0.9.9", "0.10.0"),
        (VersionStep.MAJOR, "0.9.9", "1.0.0"),
    ],
)
def test_the_next_version(step: VersionStep, version: str, expected: str) -> None:
    new = next(new for new, _, _, found, _ in CASES if found is step)
    assert required_version(like(OLD, version=version), new) == expected


def test_the_same_content_keeps_its_version() -> None:
    new = like(OLD, version="9.9.9")
    assert changes_between(OLD, new) == ()
    assert required_version(OLD, new) == OLD.version
    assert heaviest(()) is None


def test_the_weightiest_change_decides_and_comes_first() -> None:
    new = having(
        capability("h"),
        b={"id": "b2", "was": "b", "name": "Bee", "group": "one"},
        f={"name": "Eff"},
        retired=("b",),
    )
    found = changes_between(OLD, new)
    assert [(change.kind, change.ids) for change in found] == [
        (ChangeKind.MOVED, ("b2",)),
        (ChangeKind.RENAMED, ("b", "b2")),
        (ChangeKind.ADDED, ("h",)),
        (ChangeKind.REWORDED, ("b2",)),
        (ChangeKind.REWORDED, ("f",)),
    ]
    assert heaviest(found) == found[0]
    assert required_version(OLD, new) == "2.0.0"


def test_a_new_group_of_new_capabilities_is_minor_even_if_a_query_exercises_exactly_one() -> None:
    new = like(
        having(capability("h", "three"), capability("i", "three")),
        groups=(*GROUPS, Group(id="three", name="Three", constraint="exactly-one")),
    )
    assert required_version(OLD, new) == "1.3.0"


def test_a_new_member_of_a_group_that_is_divided_no_longer_is_no_change_of_the_others() -> None:
    new = like(having(capability("h", "two")), groups=(*GROUPS[:3], Group(id="two", name="Two")))
    found = changes_between(OLD, new)
    assert [(change.kind, change.step) for change in found] == [
        (ChangeKind.CONSTRAINT, "major"),
        (ChangeKind.ADDED, "minor"),
    ]


def row(id: str, *turns: str, hand: str = "h", **more: Any) -> Exemplar:
    return Exemplar(id=id, hand=hand, turns=turns or (id,), **{"exercises": ("a",)} | more)


LOOSE = "Of those that exercise nothing, or where something is unknown"
ROWS = (row("1"), row("2", exercises=("b",), resembles=("a",)), row("3", exercises=()), row("4", unknown=("a",)))


@pytest.mark.parametrize(
    ("rows", "sentences"),
    [
        (ROWS, ()),
        ((row("9", "1", hand="other"), *ROWS[1:]), ()),
        ((*ROWS, row("5")), ("a: 1 positive exemplar added.",)),
        ((*ROWS, row("1", "eins", language="de")), ("a: 1 positive exemplar added.",)),
        ((ROWS[3], *ROWS[:3]), ("a: the positive exemplars stand in another order.",)),
        ((ROWS[0], ROWS[2], ROWS[1], ROWS[3]), ()),
        (
            (*ROWS[:2], row("3", "three", exercises=()), ROWS[3]),
            (f"{LOOSE}: 1 exemplar added, 1 exemplar removed.",),
        ),
        (
            (*ROWS[:3], row("4")),
            (f"{LOOSE}: 1 exemplar removed.",),
        ),
    ],
    ids=["nothing", "id and hand", "added", "translated", "order", "order elsewhere", "no label", "known now"],
)
def test_what_changes_in_the_tables_of_exemplars(rows: tuple[Exemplar, ...], sentences: tuple[str, ...]) -> None:
    found = changes_between(OLD.with_exemplars(ROWS), OLD.with_exemplars(rows))
    assert tuple(change.sentence for change in found) == sentences
    assert {change.step for change in found} <= {VersionStep.PATCH}


def test_exemplars_that_move_to_a_table_are_no_change() -> None:
    own = having(a={"exemplars": {"positive": ["1", "4"], "negative": ["2"]}}, b={"exemplars": {"positive": ["2"]}})
    table = OLD.with_exemplars((ROWS[0], ROWS[1], row("4")))
    assert changes_between(own, table) == ()


def test_what_is_unknown_is_carried_by_a_rename() -> None:
    old = OLD.with_exemplars((row("4", unknown=("b",)),))
    new = having(b={"id": "n", "was": "b"}, retired=("b",)).with_exemplars((row("4", unknown=("n",)),))
    assert [change.kind for change in changes_between(old, new)] == [ChangeKind.RENAMED]


@st.composite
def taxonomies(draw: st.DrawFn) -> Taxonomy:
    """Small taxonomies that often share capabilities and groups."""
    groups = [
        Group(id=id, name=draw(st.sampled_from("xy")), constraint=draw(st.sampled_from(["any", "exactly-one"])))
        for id in draw(st.lists(st.sampled_from("gh"), min_size=1, unique=True))
    ]
    capabilities = [
        Capability(
            id=id,
            name=draw(st.sampled_from("xy")),
            group=draw(st.sampled_from(groups)).id,
            description=draw(st.sampled_from("xy")),
            source=draw(st.sampled_from(["spec", "intent"])),
            patterns=tuple(draw(st.permutations("xy"))),
            was=draw(st.none() | st.sampled_from("abc")),
            split=draw(st.none() | st.sampled_from("abc")),
        )
        for id in draw(st.lists(st.sampled_from("abcd"), unique=True))
    ]
    retired = draw(st.lists(st.sampled_from("abc"), unique=True))
    return Taxonomy(version="1.0.0", retired=tuple(retired), groups=tuple(groups), capabilities=tuple(capabilities))


def content(taxonomy: Taxonomy) -> object:
    return like(taxonomy, version="1.0.0", retired=tuple(sorted(taxonomy.retired)))


@given(taxonomies(), taxonomies())
def test_there_are_changes_exactly_where_contents_differ(old: Taxonomy, new: Taxonomy) -> None:
    assert bool(changes_between(old, new)) == (content(old) != content(new))
    assert changes_between(old, old) == ()


@given(taxonomies(), taxonomies())
def test_the_required_version_is_later_exactly_where_something_changed(old: Taxonomy, new: Taxonomy) -> None:
    found = required_version(old, new)
    assert (tuple(map(int, found.split("."))) > (1, 0, 0)) == bool(changes_between(old, new))


Change = Callable[[dict[str, Any]], object]


def written(id: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "name": id.upper(), "group": "all", "description": f"About {id}.", "source": "intent"} | more


BASE: dict[str, Any] = {
    "version": "1.2.3",
    "retired": ["gone"],
    "groups": [{"id": "all", "name": "All"}],
    "capabilities": [written("a"), written("b"), written("c")],
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
    return lambda data: data["capabilities"].append(written(id, **more))


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
SPLIT["capabilities"][2:] = [written("c1", split="c"), written("c2", split="c")]


@pytest.mark.parametrize(
    ("retired", "instead", "version"),
    [("c2", [written("c3", was="c2", name="C2", description="About c2.")], "2.1.0"), ("c2", [], "3.0.0")],
)
def test_a_part_may_be_renamed_or_removed_once_the_whole_is_history(
    retired: str, instead: list[dict[str, Any]], version: str
) -> None:
    data = copy.deepcopy(SPLIT) | {"version": version}
    data["retired"].append(retired)
    data["capabilities"][3:] = instead
    assert succession_problems(read(SPLIT)[0], *read(data)) == ()
    assert not [item for item in structure_problems(read(data)[1]) if "split" in item.message]
