"""What a head changes, from names and ids alone."""

from __future__ import annotations

from typing import Any

import pytest

from incumbent.curator.entry import Imported, Source, entry_id
from incumbent.curator.store import RegressionSet
from incumbent.files.git import ChangedFile
from incumbent.github.facts import EvictionFacts
from incumbent.github.head_changes import (
    HeadFacts,
    agent_folder_of,
    departing,
    moved_from,
    set_changes,
    touched_agents,
    touches,
)
from incumbent.intake.query import Query
from incumbent.pipeline.submission import Submission
from tests.factories import make_entry

DESK, SHOP = "eval_sets/acme/desk", "eval_sets/acme/shop"
EVALS = f"{DESK}/evals.yaml"


def change(path: str, kind: Any = "modified", before: str | None = None, after: str | None = "b" * 40) -> ChangedFile:
    return ChangedFile(path, kind, before, "a" * 40, after)


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        (EVALS, DESK),
        (f"{DESK}/deep/er.json", DESK),
        ("eval_sets/acme/evals.yaml", None),
        ("other/acme/desk/evals.yaml", None),
    ],
)
def test_an_agents_folder_is_three_deep(path: str, folder: str | None) -> None:
    assert agent_folder_of(path) == folder


def test_a_move_touches_where_it_goes_and_where_it_comes_from() -> None:
    changes = [change("notes.md"), change(f"{SHOP}/a.yaml", "renamed", f"{DESK}/a.yaml"), change("config/x", "deleted")]
    assert touches(changes) == ("eval_sets", "config")
    assert touched_agents(changes) == {DESK, SHOP}
    head = HeadFacts(base="0" * 40, head="1" * 40, at="", changes=tuple(changes), paths=frozenset({EVALS, "config/y"}))
    assert head.touches == ("eval_sets", "config")
    assert head.agents == frozenset({DESK})


@pytest.mark.parametrize(
    ("before", "present", "expected"),
    [
        ([f"{DESK}/a.yaml", f"{DESK}/b.yaml"], [SHOP], ("acme", "desk")),
        ([f"{DESK}/a.yaml"], [SHOP, DESK], None),
        ([f"{DESK}/a.yaml", "eval_sets/umbra/desk/a.yaml"], [SHOP], None),
        ([f"{SHOP}/old.yaml"], [SHOP], None),
        ([None], [SHOP], None),
    ],
)
def test_a_folder_is_moved_from_the_one_that_is_gone(
    before: list[str | None], present: list[str], expected: tuple[str, str] | None
) -> None:
    changes = [change(f"{SHOP}/{place}.yaml", "renamed", each) for place, each in enumerate(before)]
    assert moved_from(SHOP, present, [*changes, change(EVALS)]) == expected


def test_changes_of_the_set_say_whether_what_goes_has_a_tombstone() -> None:
    said = EvictionFacts.model_validate(
        {"entry": "e1", "evicted": {"reason": "redundant", "grounds": {}}}, strict=False
    )
    grave = "regression_set/evicted/e1.yaml"
    changes = [
        change("regression_set/e1.yaml", "deleted", after=None),
        change(grave, "added"),
        change("regression_set/e3.yaml", "renamed", "regression_set/e2.yaml"),
        change("regression_set/README.md"),
        change(EVALS),
    ]
    gone, buried, moved = set_changes(changes, {grave}, {grave: said})
    assert (gone.file.path, gone.buried, gone.eviction) == ("regression_set/e1.yaml", True, None)
    assert (buried.file.object_before, buried.eviction) == (None, said)
    assert (moved.file.before, moved.buried) == ("regression_set/e2.yaml", False)


def entry(item: str, **source: Any) -> Any:
    place = {"customer": "acme", "agent": "desk", "item": item, "eval_set": EVALS} | source
    id = entry_id(place["customer"], place["agent"], item)
    return make_entry(id, {"a": 0.9}, f"asks {item}", source=Source(**place))


@pytest.mark.parametrize(
    ("known", "kept", "changes", "agents", "expected"),
    [
        ([entry("q1"), entry("q2")], ["q1"], [change(EVALS)], {DESK}, {"q2": "source-deleted"}),
        ([entry("q1")], [], [change(EVALS, "deleted", after=None)], set(), {"q1": "customer-left"}),
        ([entry("q1")], [], [change(EVALS, "deleted", after=None)], {SHOP}, {"q1": "source-deleted"}),
        ([entry("q1")], None, [change(EVALS)], {DESK}, {}),
        ([entry("q1")], [], [change(f"{DESK}/agent.yaml")], {DESK}, {}),
        ([entry("q1", imported=Imported(folder=None, declared=False))], [], [change(EVALS)], {DESK}, {}),
        ([make_entry("e1", {"a": 0.9})], [], [change(EVALS)], {DESK}, {}),
    ],
    ids=["a query", "a customer", "an agent", "not read", "another file", "imported", "without a source"],
)
def test_an_entry_departs_where_its_eval_set_changes_without_it(
    known: list[Any], kept: list[str] | None, changes: list[ChangedFile], agents: set[str], expected: dict[str, str]
) -> None:
    queries = tuple(Query(id=id, turns=(f"asks {id}",), file=EVALS, line=1) for id in kept or ())
    read = [Submission(customer="acme", agent="desk", folder=DESK, queries=queries)] if kept is not None else []
    found = departing(RegressionSet({item.id: item for item in known}, {}, {}), read, changes, agents)
    assert dict(found) == {entry_id("acme", "desk", item): kind for item, kind in expected.items()}
