"""The facts of a pull request's head: what leaves with it, what moved, and what it does to the set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from incumbent.curator.entry import Evicted, Source
from incumbent.curator.file_changes import evict, render
from incumbent.curator.store import entry_path, tombstone_path
from incumbent.github.facts import Analysis
from tests.github.test_run import analysed, offered
from tests.reconcile.hub import Hub
from tests.reconcile.runs import agent_files, config_text, folder_of, imported, platform_files, text_of

DESK, SHOP, OTHER = ("acme", "desk"), ("acme", "shop"), ("rival", "desk")
TEXTS = {
    DESK: {"q1": text_of("sonnet", {"a": 0.9}), "q2": text_of("ballad", {"b": 0.9})},
    SHOP: {"s1": text_of("ditty", {"c": 0.9})},
    OTHER: {"o1": text_of("haiku", {"d": 0.9})},
}


def entries() -> list[Any]:
    """An entry for each query, called like it."""
    return [
        imported(item, text, "2026-01-01T00:00:00Z").model_copy(
            update={"source": Source(customer=of[0], agent=of[1], eval_set=f"{folder_of(of)}/evals.yaml", item=item)}
        )
        for of, queries in TEXTS.items()
        for item, text in queries.items()
    ]


def repository() -> Hub:
    files = platform_files(entries(), config_text())
    for of, queries in TEXTS.items():
        files |= agent_files(of, queries)
    return Hub(files)


def without(agent: tuple[str, str]) -> dict[str, str | None]:
    return dict.fromkeys(agent_files(agent, {}))


MOVED = agent_files(("acme", "bar"), TEXTS[DESK])
MOVED_SET = MOVED["eval_sets/acme/bar/evals.yaml"]


def facts(files: Mapping[str, str | None]) -> Analysis:
    hub = repository()
    return analysed(hub, offered(hub, files))


@pytest.mark.parametrize(
    ("files", "departing"),
    [
        (agent_files(DESK, {"q1": TEXTS[DESK]["q1"]}), {"q2": "source-deleted"}),
        (agent_files(DESK, {**TEXTS[DESK], "q3": text_of("ode", {"e": 0.9})}), {}),
        # Another text in its place is an edit, and the old one is there no more.
        (agent_files(DESK, {**TEXTS[DESK], "q2": text_of("elegy", {"b": 0.8})}), {}),
        (agent_files(DESK, {"q1": TEXTS[DESK]["q1"], "renamed": TEXTS[DESK]["q2"]}), {}),
        (without(SHOP), {"s1": "source-deleted"}),
        (without(OTHER), {"o1": "customer-left"}),
        ({**without(DESK), **without(SHOP)}, {"q1": "customer-left", "q2": "customer-left", "s1": "customer-left"}),
        ({**without(DESK), **agent_files(("acme", "bar"), TEXTS[DESK])}, {}),
        # Of what has faults nobody knows what is in it, wherever it is by now.
        ({f"{folder_of(DESK)}/evals.yaml": "eval_set: ["}, {}),
        ({f"{folder_of(DESK)}/evals.yaml": "eval_set: 1\nqueries:\n- id: q1\n  query: 5\n"}, {}),
        ({**without(DESK), **MOVED, "eval_sets/acme/bar/evals.yaml": f"{MOVED_SET}- id: q3\n"}, {}),
        ({"README.md": "x"}, {}),
    ],
)
def test_what_leaves_is_what_no_eval_set_holds_any_more(
    files: dict[str, str | None], departing: dict[str, str]
) -> None:
    assert facts(files).judged.departing == departing


@pytest.mark.parametrize(
    ("files", "moved"),
    [
        ({**without(DESK), **agent_files(("acme", "bar"), TEXTS[DESK])}, ("acme", "desk")),
        ({**without(OTHER), **agent_files(("acme", "bar"), TEXTS[OTHER])}, ("rival", "desk")),
        # Both are there: it is a copy.
        (agent_files(("acme", "bar"), {"n1": TEXTS[DESK]["q1"]}), None),
        (agent_files(("acme", "bar"), {"n1": text_of("epic", {"e": 0.9})}), None),
    ],
)
def test_a_folder_that_moved_says_where_from(files: dict[str, str | None], moved: tuple[str, str] | None) -> None:
    found = {item.about.folder: item.about.moved_from for item in facts(files).judged.submissions}
    assert found["eval_sets/acme/bar"] == moved


ENTRY = entries()[0]
GONE: dict[str, str | None] = {item.path: item.content for item in evict(ENTRY, Evicted(reason="out of use"))}


@pytest.mark.parametrize(
    ("files", "buried", "evicted"),
    [
        (GONE, {entry_path("q1"): True, tombstone_path("q1"): False}, {"q1"}),
        ({entry_path("q1"): None}, {entry_path("q1"): False}, set()),
        ({tombstone_path("q1"): "id: ["}, {tombstone_path("q1"): False}, set()),
        ({entry_path("q1"): render(ENTRY.model_copy(update={"pin": "x"}))}, {entry_path("q1"): False}, set()),
        ({"regression_set/README.md": "x"}, {}, set()),
    ],
)
def test_changes_of_the_set_say_what_is_buried_and_why(
    files: dict[str, str | None], buried: dict[str, bool], evicted: set[str]
) -> None:
    changes = facts(files).judged.set_changes
    assert {item.file.path: item.buried for item in changes} == buried
    assert {item.eviction.entry for item in changes if item.eviction is not None} == evicted
    assert {item.eviction.evicted.reason for item in changes if item.eviction is not None} <= {"out of use"}


@pytest.mark.parametrize(
    ("files", "touches"),
    [
        ({"README.md": "x"}, ()),
        ({"config/notes.md": "x"}, ("config",)),
        ({"taxonomy/notes.md": "x", "regression_set/README.md": "x"}, ("regression_set", "taxonomy")),
        ({"configs/x": "x", "docs/config/x": "x"}, ()),
        (without(SHOP), ("eval_sets",)),
    ],
)
def test_what_is_touched_is_named_by_its_folder(files: dict[str, str | None], touches: tuple[str, ...]) -> None:
    found = facts(files)
    assert found.touches == touches
    assert found.held is False
    # The facts cross from one job to the other as JSON.
    assert Analysis.model_validate_json(found.model_dump_json(), strict=False) == found
