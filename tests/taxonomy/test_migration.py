"""Declared renames and splits: composition, the way back, and what the classifier sees as before."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.taxonomy.migration import (
    NOTHING,
    Lineage,
    Migration,
    carried_definitions,
    carried_questions,
    comparable_since,
    declared,
    lineage,
    migration_between,
)
from incumbent.taxonomy.model import Capability, Exemplars, Group, Taxonomy
from tests.taxonomy.lives import inverse


def capability(id: str, **more: Any) -> Capability:
    defaults: dict[str, Any] = {
        "name": "Name",
        "group": "all",
        "description": "About it.",
        "source": "intent",
        "exemplars": Exemplars(positive=("one", ("two", "three"))),
    }
    return Capability(id=id, **defaults | more)


def taxonomy(*capabilities: Capability, retired: tuple[str, ...] = ()) -> Taxonomy:
    return Taxonomy(version="1.0.0", retired=retired, groups=(Group(id="all", name="All"),), capabilities=capabilities)


@st.composite
def histories(draw: st.DrawFn, steps: int = 3, splits: bool = True) -> list[tuple[frozenset[str], Migration]]:
    """Steps of a taxonomy's life: before each, the living ids, and what it declares.

    Names are swapped, passed on in chains, made up and split; none comes back once nothing is called so.
    """
    living = [f"c{number}" for number in range(draw(st.integers(1, 6)))]
    count = 6
    found = []
    for _ in range(steps):
        before = frozenset(living)
        moving = draw(st.lists(st.sampled_from(living), unique=True))
        fresh = [f"c{count + number}" for number in range(len(moving))]
        count += len(fresh)
        targets = draw(st.permutations([*moving, *fresh]))[: len(moving)]
        renames = {id: target for id, target in zip(moving, targets, strict=True) if id != target}
        parts: dict[str, tuple[str, ...]] = {}
        still = sorted(before - set(moving))
        for id in draw(st.lists(st.sampled_from(still), unique=True)) if splits and still else ():
            parts[id] = (f"c{count}", f"c{count + 1}")
            count += 2
        living = [name for id in living for name in parts.get(id) or (renames.get(id, id),)]
        living += [f"c{count}"]
        count += 1
        found.append((before, Migration(renames=renames, splits=parts)))
    return found


def test_nothing_changes_no_id() -> None:
    assert NOTHING.is_nothing
    assert NOTHING.became("a") == ("a",)


@pytest.mark.parametrize(
    ("first", "second", "both"),
    [
        (Migration(renames={"a": "b"}), NOTHING, Migration(renames={"a": "b"})),
        (NOTHING, Migration(renames={"a": "b"}), Migration(renames={"a": "b"})),
        (Migration(renames={"a": "b"}), Migration(renames={"b": "c"}), Migration(renames={"a": "c"})),
        (Migration(renames={"a": "b"}), Migration(renames={"b": "a"}), NOTHING),
        (Migration(renames={"a": "b", "b": "a"}), Migration(renames={"a": "b", "b": "a"}), NOTHING),
        (Migration(renames={"a": "b"}), Migration(splits={"b": ("x", "y")}), Migration(splits={"a": ("x", "y")})),
        (Migration(splits={"a": ("x", "y")}), Migration(renames={"y": "z"}), Migration(splits={"a": ("x", "z")})),
        (
            Migration(splits={"a": ("x", "y")}),
            Migration(splits={"x": ("v", "w")}),
            Migration(splits={"a": ("v", "w", "y")}),
        ),
    ],
)
def test_one_migration_after_another(first: Migration, second: Migration, both: Migration) -> None:
    assert first.then(second) == both


@pytest.mark.parametrize(
    ("renames", "splits"),
    [
        ({"a": "c", "b": "c"}, {}),
        ({"a": "x"}, {"b": ("x", "y")}),
        ({"a": "b"}, {"a": ("x", "y")}),
    ],
)
def test_what_contradicts_itself_is_no_migration(renames: dict[str, str], splits: dict[str, tuple[str, ...]]) -> None:
    with pytest.raises(ValueError, match="cannot"):
        Migration(renames=renames, splits=splits)


def test_a_split_is_something() -> None:
    assert not Migration(splits={"a": ("x", "y")}).is_nothing


@given(histories())
def test_composition_is_associative(history: list[tuple[frozenset[str], Migration]]) -> None:
    (_, first), (_, second), (_, third) = history
    assert first.then(second).then(third) == first.then(second.then(third))


@given(histories())
def test_a_composition_does_what_its_steps_do(history: list[tuple[frozenset[str], Migration]]) -> None:
    (living, first), (_, second), _ = history
    for id in living:
        assert first.then(second).became(id) == tuple(last for step in first.became(id) for last in second.became(step))


@given(histories(splits=False))
def test_there_and_back_is_nothing(history: list[tuple[frozenset[str], Migration]]) -> None:
    for living, migration in history:
        assert migration.then(inverse(migration)) == NOTHING
        assert {inverse(migration).renamed(migration.renamed(id)) for id in living} == living


OLD = taxonomy(capability("a"), capability("b"), capability("c"))


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        (OLD, NOTHING),
        (
            taxonomy(capability("d", was="a"), capability("b"), capability("c"), retired=("a",)),
            Migration(renames={"a": "d"}),
        ),
        (
            taxonomy(capability("e", split="b"), capability("d", split="b"), capability("a"), retired=("b", "c")),
            Migration(splits={"b": ("e", "d")}),
        ),
        # What the old one does not have, what it still has, and what existed beside it: nothing became of that.
        (taxonomy(*OLD.capabilities, capability("d", was="z"), retired=("z",)), NOTHING),
        (taxonomy(*OLD.capabilities, capability("d", was="a")), NOTHING),
        (taxonomy(capability("b", was="a"), capability("c", split="a"), retired=("a",)), NOTHING),
        # A rename counts where both are declared.
        (
            taxonomy(capability("d", was="a"), capability("e", split="a"), retired=("a",)),
            Migration(renames={"a": "d"}),
        ),
    ],
)
def test_what_a_new_taxonomy_declares_of_the_old_one(new: Taxonomy, expected: Migration) -> None:
    assert migration_between(OLD, new) == expected


def test_what_a_taxonomy_declares_of_whatever_version() -> None:
    new = taxonomy(
        capability("d", was="a"), capability("b", was="z"), capability("e", split="y"), retired=("a", "y", "z")
    )
    assert declared(new) == Migration(renames={"a": "d", "z": "b"}, splits={"y": ("e",)})


FIRST, SECOND, THIRD = (
    taxonomy(capability("a"), capability("k")),
    taxonomy(capability("b", was="a"), capability("k"), retired=("a",)),
    taxonomy(capability("c", was="b"), capability("k"), capability("s", split="t"), retired=("a", "b", "t")),
)


def test_who_was_renamed_twice_is_found_from_any_id() -> None:
    line = lineage(THIRD, ["a"], lambda: (FIRST, SECOND, SECOND, THIRD))
    assert line.steps == (declared(SECOND), declared(THIRD))
    assert [line.renamed(name) for name in ("a", "b", "c", "k", "t", "never")] == ["c", "c", "c", "k", "t", "never"]


def test_former_taxonomies_are_not_read_where_the_last_one_tells_all() -> None:
    def previous() -> tuple[Taxonomy, ...]:
        raise AssertionError

    line = lineage(THIRD, ["b", "c", "k", "t"], previous)
    assert line == Lineage((declared(THIRD),))
    with pytest.raises(AssertionError):
        lineage(THIRD, ["never"], previous)


def test_scores_of_then_are_comparable_where_the_definition_is_the_same_but_for_ids() -> None:
    def version(number: str, of: Taxonomy) -> Taxonomy:
        return of.model_copy(update={"version": number})

    needs = {"source": "spec", "when": "true"}
    before = version("1.0.0", taxonomy(capability("a"), capability("k"), capability("n", requires="a", **needs)))
    middle = taxonomy(capability("b", was="a"), capability("k"), capability("n", requires="b", **needs), retired=("a",))
    between = version("1.1.0", middle)
    now = version(
        "2.0.0",
        taxonomy(
            capability("c", was="b", name="Another name"),
            capability("k", description="Something else."),
            capability("n", requires="c", **needs),
            retired=("a", "b"),
        ),
    )
    read = []

    def previous() -> tuple[Taxonomy, ...]:
        read.append(1)
        return before, between

    comparable = comparable_since(now, previous)
    assert comparable("2.0.0") == {"c", "k", "n"}
    assert read == []
    assert comparable("1.0.0") == comparable("1.1.0") == {"c", "n"}
    assert comparable("0.9.0") == frozenset()


def test_definitions_that_differ_by_ids_alone_are_carried() -> None:
    old = taxonomy(
        capability("a"),
        capability("b", source="spec", when="true", requires="a"),
        capability("c", source="spec", when="true", requires="d"),
        capability("d"),
        capability("e"),
        capability("f"),
    )
    new = taxonomy(
        capability("a2", was="a", name="Another name", group="elsewhere"),
        capability("b", source="spec", when="true", requires="a2"),
        capability("c", source="spec", when="true", requires="d1"),
        capability("d1", split="d"),
        capability("d2", split="d"),
        capability("e2", was="e", description="Something else."),
        retired=("a", "d", "e", "f"),
    )
    carried = carried_definitions(migration_between(old, new), old, new)
    assert carried == {"a": new.by_id["a2"].definition, "b": new.by_id["b"].definition}


def test_answers_are_carried_to_the_question_under_another_id() -> None:
    new = taxonomy(
        capability("a2", was="a", patterns=("x",)),
        capability("b2", was="b", description="Something else."),
        capability("c2", was="c", exemplars=Exemplars()),
        retired=("a", "b", "c"),
    )
    migration = migration_between(OLD, new)
    assert carried_questions(migration, OLD, new) == {OLD.by_id["a"].question: new.by_id["a2"].question}
    assert carried_questions(Migration(renames={"a": "gone", "never": "a2"}), OLD, new) == {}


def test_what_did_not_change_is_told_by_its_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    old = taxonomy(capability("a"), capability("b"))
    new = taxonomy(capability("a"), capability("b", description="About something else."))
    definitions = {item.id: item.definition for item in (*old.capabilities, *new.capabilities)}
    asked: list[str] = []

    def seen(item: Capability) -> dict[str, Any]:
        asked.append(item.id)
        return {"description": item.description}

    monkeypatch.setattr(Capability, "seen", property(seen))
    assert carried_definitions(NOTHING, old, new) == {"a": definitions["a"]}
    assert set(asked) == {"b"}
