"""What a change of taxonomy asks of entries again: enough that nothing else differs, and no more than that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.classifier.classify import classify
from incumbent.classifier.paths import declared_values, inferred_capabilities
from incumbent.curator.entry import Entry
from incumbent.curator.staging import classified_by, stored
from incumbent.intake.specification import Specification
from incumbent.pipeline.reclassify import query_of, renew, tasks_of
from incumbent.taxonomy.affected import Affected, affected_by, everything
from incumbent.taxonomy.migration import migration_between
from incumbent.taxonomy.model import Capability, Exemplars, Group, Source, Taxonomy
from tests.classifier.factories import declared, intent, silent
from tests.factories import make_entry
from tests.reconcile.merges import source
from tests.taxonomy.lives import IDENTITY, SPECIFICATIONS, DescriptionBackend, lives

RULE = "contains(auth_modes, 'oauth')"
BASE = (intent("a"), intent("b"), intent("x", "one"), intent("y", "one"), intent("z", "one"))


def of(*capabilities: Capability, **constraints: Any) -> Taxonomy:
    """A taxonomy whose groups that are called ``one…`` are exactly-one groups unless said otherwise."""
    groups = {item.group: "exactly-one" if item.group.startswith("one") else "any" for item in capabilities}
    return Taxonomy(
        version="1.0.0",
        groups=tuple(Group(id=id, name=id, constraint=kind) for id, kind in (groups | constraints).items()),
        capabilities=capabilities,
    )


def without(*ids: str) -> list[Capability]:
    return [item for item in BASE if item.id not in ids]


def changed(id: str, **update: Any) -> list[Capability]:
    """The capabilities with another ``id``."""
    return [
        Capability.model_validate(item.model_dump() | update, strict=False) if item.id == id else item for item in BASE
    ]


def renamed(id: str, was: str) -> Capability:
    """The capability that was called ``was``, and is the same but for its id."""
    return _fresh(intent(was).model_copy(update={"id": id, "was": was}))


def _fresh(item: Capability) -> Capability:
    """A copy holds on to the digests of what it was copied from."""
    return Capability.model_validate(item.model_dump(), strict=False)


def ruled(id: str, when: str, source: Source, group: str = "any", **more: Any) -> Capability:
    """A capability that the called tool or the structure of the query decides."""
    return Capability(id=id, name=id, group=group, description=id, source=source, when=when, **more)


ONE = ("x", "y", "z")


@pytest.mark.parametrize(
    ("new", "exercised", "asked"),
    [
        (of(*BASE), ("a", "x"), ()),
        (of(*BASE, intent("c")), (), ("c",)),
        (of(*BASE, intent("c")), ("a",), ("c",)),
        (of(*changed("a", description="another")), (), ("a",)),
        (of(*changed("a", exemplars=Exemplars(positive=("other",)))), ("b",), ("a",)),
        (of(*changed("a", name="Another")), ("a",), ()),
        (of(*changed("x", description="another")), (), ONE),
        (of(*changed("a", group="many")), ("a",), ()),
        (of(*changed("a", group="one")), (), ("a", *ONE)),
        (of(*changed("x", group="any")), (), ONE),
        (of(*changed("x", group="one.more"), intent("v", "one.more")), (), (*ONE, "v")),
        (of(*BASE, one="any"), (), ONE),
        (of(*BASE, any="exactly-one"), (), ("a", "b")),
        (of(*BASE, intent("v", "one")), (), (*ONE, "v")),
        (of(*without("x")), ("a", "x"), ("y", "z")),
        (of(*without("x")), ("a", "y"), ()),
        (of(*without("a")), ("a",), ()),
        (of(*without("y", "z"), BASE[4], BASE[3]), ("x",), ONE),
        (of(BASE[1], BASE[0], *BASE[2:]), ("a",), ()),
        (of(*without("a"), renamed("n", was="a")), ("a",), ()),
        (of(*without("a"), intent("n", was="a")), ("a",), ("n",)),
        (of(*without("a"), intent("n", "one", was="a")), (), (*ONE, "n")),
        (of(*without("a"), intent("p", split="a"), intent("q", split="a")), ("a",), ("p", "q")),
        (of(*without("a"), intent("p", split="a"), intent("q", split="a")), ("b",), ()),
        (of(*without("x"), intent("p", "one", split="x"), intent("q", split="x")), ("x",), ("y", "z", "p", "q")),
        (of(*without("x"), intent("p", "one", split="x"), intent("q", split="x")), ("y",), ("y", "z", "p", "q")),
        (of(*BASE[:2], intent("p", "one", split="x"), intent("q", "one", split="x"), *BASE[3:]), ("y",), ()),
        (of(*without("x"), intent("p", "one", split="x"), intent("q", "one", split="x")), ("y",), ("y", "z", "p", "q")),
    ],
    ids=[
        "nothing", "added", "added where others are TRUE", "reworded", "exemplars", "another name", "reworded in one",
        "moved from any to any", "moved into", "moved out of", "moved between", "divides no longer", "divides now",
        "member added", "member removed where TRUE", "member removed where FALSE", "removed", "order within a group",
        "order elsewhere", "renamed", "renamed and reworded", "renamed and moved", "split where TRUE",
        "split where FALSE", "member split where TRUE", "part moved out", "member split where FALSE",
        "parts after the others",
    ],
)  # fmt: skip
def test_a_query_is_asked_again_on_what_a_change_concerns(
    new: Taxonomy, exercised: Sequence[str], asked: Sequence[str]
) -> None:
    old = of(*BASE)
    found = affected_by(old, new, migration_between(old, new))
    assert sorted(found.of(exercised)) == sorted(asked)
    assert list(found.of(exercised)) == [name for name in new.by_id if name in asked]


def test_what_requires_something_that_is_asked_again_is_asked_as_well() -> None:
    old = of(*BASE, declared("s", RULE, requires="a"), intent("t", "one", requires="b"))
    for id, hanging in (("a", {"a", "s"}), ("b", {"b", "t", *ONE})):
        items = [
            item if item.id != id else _fresh(intent(id).model_copy(update={"description": "another"}))
            for item in old.capabilities
        ]
        new = of(*items)
        assert set(affected_by(old, new, migration_between(old, new)).of(())) == hanging


def test_what_it_requires_is_asked_too_where_its_group_may_have_ruled_it_out_since() -> None:
    bound = [intent("a", "one"), intent("b", "one", requires="c"), intent("c"), intent("d")]
    for required, asked in (("a", {"a", "b", "s"}), ("d", {"s"})):
        old = of(*bound, declared("s", RULE, requires=required))
        new = of(*bound, declared("s", "`true`", requires=required))
        assert set(affected_by(old, new, migration_between(old, new)).of(())) == asked


def test_a_member_that_was_declared_ruled_others_out_whether_it_was_exercised_or_not() -> None:
    old = of(*BASE, declared("s", RULE, "one", requires="a"))
    new = of(*BASE)
    assert affected_by(old, new, migration_between(old, new)).of(()) == ONE


@pytest.mark.parametrize(("rule", "source"), [("card", "tool"), ("user_turns > `1`", "structure")])
def test_so_did_one_that_was_decided_by_the_called_tool_or_counted(rule: str, source: Source) -> None:
    old = of(*BASE, ruled("s", rule, source, "one"))
    new = of(*BASE)
    assert affected_by(old, new, migration_between(old, new)).of(()) == ONE


@pytest.mark.parametrize(
    ("whole", "part", "asked_where_false"),
    [
        (intent("w"), intent("p", split="w"), False),
        (intent("w"), intent("p", split="w", when=RULE), False),
        (intent("w", when=RULE), intent("p", split="w", when=RULE), False),
        (intent("w", when=RULE), intent("p", split="w"), True),
        (intent("w", when=RULE), intent("p", split="w", when="`true`"), True),
        (intent("w"), ruled("p", "card", "tool", split="w"), True),
        (intent("w"), ruled("p", "user_turns > `1`", "structure", split="w"), True),
        (ruled("w", "card", "tool"), intent("p", split="w"), True),
    ],
)
def test_a_part_lies_within_the_whole_unless_a_rule_may_say_more(
    whole: Capability, part: Capability, asked_where_false: bool
) -> None:
    old, new = (
        of(*BASE, whole),
        of(*BASE, part, intent("q", split="w", when=whole.when if whole.source == "intent" else None)),
    )
    found = affected_by(old, new, migration_between(old, new))
    assert ("p" in found.of(())) is asked_where_false
    assert "p" in found.of(("w",))


def test_a_gate_that_changes_is_asked_again() -> None:
    old, new = of(*BASE), of(*changed("a", when=RULE))
    assert affected_by(old, new, migration_between(old, new)).of(("b",)) == ("a",)


def test_what_lags_for_another_reason_is_asked_with_its_group() -> None:
    assert Affected.nothing(of(*BASE)).of(("a",)) == ()
    assert Affected.nothing(of(*BASE)).of((), ["b", "y"]) == ("b", *ONE)
    assert everything(of(*BASE)).of(()) == tuple(of(*BASE).by_id)


# The main property ---------------------------------------------------------------------------------------------------


def entry_under(taxonomy: Taxonomy, id: str, spec: Specification) -> Entry:
    """An entry that was classified as a whole under ``taxonomy``."""
    bare = make_entry(id, {}, text=f"{id} asks", source=source(id))
    (found,) = classify([query_of(bare)], spec, taxonomy, DescriptionBackend(taxonomy), silent).classifications.values()
    scores = stored({name: item.confidence for name, item in found.judgements.items() if item.value})
    classified = classified_by(IDENTITY, taxonomy, tuple(scores))
    return bare.model_copy(update={"scores": scores, "classified": classified})


@given(st.data())
def test_what_is_classified_again_in_part_has_the_scores_of_a_classification_as_a_whole(data: st.DataObject) -> None:
    """Also where versions in between cannot be read (what was split then is not known); and nothing else is asked."""
    *line, new = data.draw(lives())
    spec = data.draw(st.sampled_from(SPECIFICATIONS))
    whole_life = any(item.split for each in (*line, new) for item in each.capabilities)
    readable = [line[0], *(item for item in line[1:] if whole_life or data.draw(st.booleans()))]
    before = {id: entry_under(line[0], id, spec) for id in ("q1", "q2", "q3")}
    tasks = tasks_of(before.values(), new, IDENTITY, {line[0].version: readable}.__getitem__)
    backend = DescriptionBackend(new)
    renewal = renew(tasks, new, backend, lambda folder: spec, silent)
    after = before | renewal.renewed(new, IDENTITY)
    for id, entry in after.items():
        whole = entry_under(new, id, spec)
        assert entry.scores == whole.scores
        assert {name: new.by_id[name].definition for name in entry.scores} == dict(entry.classified.definitions)
    inferable = inferred_capabilities(new, declared_values(new, spec))
    asked = [(task.entry.id, name) for task in tasks for name in task.capabilities if name in inferable]
    assert sorted(backend.asked) == sorted(asked)
    known = {line[0].version: readable, new.version: [new]}
    assert tasks_of(after.values(), new, IDENTITY, known.__getitem__) == (), "it never comes to its end"
