"""What a new taxonomy changes, in words, and the version that it asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.taxonomy.changes import Change, Kind, Step, changes_between, heaviest, required_version
from bot.taxonomy.model import Capability, Exemplar, Exemplars, Group, Taxonomy


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


CASES: list[tuple[Taxonomy, Kind, tuple[str, ...], Step, str]] = [
    (having(capability("h")), Kind.ADDED, ("h",), Step.MINOR, "h (“H”) is new."),
    (
        having(capability("h", "one")),
        Kind.ADDED,
        ("h", "d", "e"),
        Step.MAJOR,
        "h (“H”) is new in one, of whose members a query exercises exactly one: what the others mean changes with it.",
    ),
    (having(b=None, retired=("b",)), Kind.REMOVED, ("b",), Step.MAJOR, "b (“B”) is removed."),
    (
        having(b={"id": "b2", "was": "b"}, retired=("b",)),
        Kind.RENAMED,
        ("b", "b2"),
        Step.MINOR,
        "b is called b2 from now on.",
    ),
    (
        having(d={"id": "d2", "was": "d"}, retired=("d",)),
        Kind.RENAMED,
        ("d", "d2"),
        Step.MINOR,
        "d is called d2 from now on.",
    ),
    (
        having(a={"id": "a2", "was": "a"}, c={"requires": "a2"}, retired=("a",)),
        Kind.RENAMED,
        ("a", "a2"),
        Step.MINOR,
        "a is called a2 from now on.",
    ),
    (
        having(capability("b1", split="b"), capability("b2", split="b"), b=None, retired=("b",)),
        Kind.SPLIT,
        ("b", "b1", "b2"),
        Step.MAJOR,
        "b is split into b1, b2.",
    ),
    (having(b={"name": "Bee"}), Kind.REWORDED, ("b",), Step.PATCH, "b: the name “B” becomes “Bee”."),
    (
        having(b={"description": "On bees."}),
        Kind.REWORDED,
        ("b",),
        Step.PATCH,
        "b: the description “About b.” becomes “On bees.”.",
    ),
    (
        having(a={"exemplars": {"positive": ["q", "r", ["s", "t"]], "negative": []}}),
        Kind.EXEMPLARS,
        ("a",),
        Step.PATCH,
        "a: 2 positive exemplars added, 1 positive exemplar removed, 1 negative exemplar removed.",
    ),
    (
        having(a={"exemplars": {"positive": ["q", "p"], "negative": ["n"]}}),
        Kind.EXEMPLARS,
        ("a",),
        Step.PATCH,
        "a: the positive exemplars stand in another order.",
    ),
    (
        having(a={"patterns": ["z"]}),
        Kind.PATTERNS,
        ("a",),
        Step.PATCH,
        "a: 1 pattern added, 2 patterns removed.",
    ),
    (having(a={"patterns": ["y", "x"]}), Kind.PATTERNS, ("a",), Step.PATCH, "a: the patterns stand in another order."),
    (having(b={"group": "other"}), Kind.MOVED, ("b",), Step.PATCH, "b moves from the group any to other."),
    (
        having(b={"group": "one"}),
        Kind.MOVED,
        ("b",),
        Step.MAJOR,
        "b moves from the group any to one; of the members of one a query exercises exactly one.",
    ),
    (
        having(d={"group": "any"}),
        Kind.MOVED,
        ("d",),
        Step.MAJOR,
        "d moves from the group one to any; of the members of one a query exercises exactly one.",
    ),
    (
        having(d={"group": "two"}),
        Kind.MOVED,
        ("d",),
        Step.MAJOR,
        "d moves from the group one to two; of the members of one and of two a query exercises exactly one.",
    ),
    (
        having(c={"when": "tools"}),
        Kind.RULE,
        ("c",),
        Step.MAJOR,
        "c: when was “card” and is “tools”.",
    ),
    (having(c={"requires": None}), Kind.RULE, ("c",), Step.MAJOR, "c: requires was “a” and is absent."),
    (having(c={"source": "intent"}), Kind.RULE, ("c",), Step.MAJOR, "c: source was “spec” and is “intent”."),
    (having(c={"source": "tool"}), Kind.RULE, ("c",), Step.MAJOR, "c: source was “spec” and is “tool”."),
    (having(a={"when": "card"}), Kind.RULE, ("a",), Step.MAJOR, "a: when was absent and is “card”."),
    (having(a={"base": True}), Kind.BASE, ("a",), Step.MINOR, "a: it is now the ordinary case of its group (base)."),
    (
        having(b={"was": "gone"}),
        Kind.DECLARATION,
        ("b",),
        Step.PATCH,
        "b: it declares another origin (was, split).",
    ),
    (having(b={"trial": True}), Kind.TRIAL, ("b",), Step.MINOR, "b is on trial from now on."),
    (
        grouped(*GROUPS, Group(id="new", name="New")),
        Kind.GROUP_ADDED,
        ("new",),
        Step.PATCH,
        "The group new (“New”) is new.",
    ),
    (
        grouped(GROUPS[0], *GROUPS[2:]),
        Kind.GROUP_REMOVED,
        ("other",),
        Step.PATCH,
        "The group other (“Other”) is removed.",
    ),
    (
        grouped(Group(id="any", name="All"), *GROUPS[1:]),
        Kind.GROUP_RENAMED,
        ("any",),
        Step.PATCH,
        "The group any: the name “Any” becomes “All”.",
    ),
    (
        grouped(Group(id="any", name="Any", parent="other"), *GROUPS[1:]),
        Kind.GROUP_MOVED,
        ("any",),
        Step.PATCH,
        "The group any moves: its parent was absent and is “other”.",
    ),
    (
        grouped(*GROUPS[:3], Group(id="two", name="Two")),
        Kind.CONSTRAINT,
        ("two",),
        Step.MAJOR,
        "The group two: its constraint was exactly-one and is any.",
    ),
    (
        like(OLD, capabilities=(CAPABILITIES[1], CAPABILITIES[0], *CAPABILITIES[2:])),
        Kind.REORDERED,
        ("b",),
        Step.PATCH,
        "The capabilities stand in another order, and the order breaks ties: b.",
    ),
    (
        grouped(*GROUPS[1:], GROUPS[0]),
        Kind.REORDERED,
        ("any",),
        Step.PATCH,
        "The groups stand in another order: any.",
    ),
    (
        having(retired=("y", "x")),
        Kind.RETIRED,
        ("x", "y"),
        Step.PATCH,
        "Under retired: x, y listed as retired from now on.",
    ),
    (
        like(OLD, retired=()),
        Kind.RETIRED,
        ("gone",),
        Step.PATCH,
        "Under retired: gone no longer listed as retired.",
    ),
]


@pytest.mark.parametrize(("new", "kind", "ids", "step", "sentence"), CASES)
def test_one_change_is_told(new: Taxonomy, kind: Kind, ids: tuple[str, ...], step: Step, sentence: str) -> None:
    assert changes_between(OLD, new) == (Change(kind=kind, ids=ids, sentence=sentence, step=step),)


def test_every_kind_of_change_has_a_case() -> None:
    assert {kind for _, kind, *_ in CASES} == set(Kind)


@pytest.mark.parametrize(
    ("step", "version", "expected"),
    [
        (Step.PATCH, "1.2.3", "1.2.4"),
        (Step.MINOR, "1.2.3", "1.3.0"),
        (Step.MAJOR, "1.2.3", "2.0.0"),
        (Step.PATCH, "0.9.9", "0.9.10"),
        (Step.MINOR, "0.9.9", "0.10.0"),
        (Step.MAJOR, "0.9.9", "1.0.0"),
    ],
)
def test_the_next_version(step: Step, version: str, expected: str) -> None:
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
        (Kind.MOVED, ("b2",)),
        (Kind.RENAMED, ("b", "b2")),
        (Kind.ADDED, ("h",)),
        (Kind.REWORDED, ("b2",)),
        (Kind.REWORDED, ("f",)),
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
    assert [(change.kind, change.step) for change in found] == [(Kind.CONSTRAINT, "major"), (Kind.ADDED, "minor")]


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
    assert {change.step for change in found} <= {Step.PATCH}


def test_exemplars_that_move_to_a_table_are_no_change() -> None:
    own = having(a={"exemplars": {"positive": ["1", "4"], "negative": ["2"]}}, b={"exemplars": {"positive": ["2"]}})
    table = OLD.with_exemplars((ROWS[0], ROWS[1], row("4")))
    assert changes_between(own, table) == ()


def test_what_is_unknown_is_carried_by_a_rename() -> None:
    old = OLD.with_exemplars((row("4", unknown=("b",)),))
    new = having(b={"id": "n", "was": "b"}, retired=("b",)).with_exemplars((row("4", unknown=("n",)),))
    assert [change.kind for change in changes_between(old, new)] == [Kind.RENAMED]


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
