"""The line of what waits for a slot: what takes a place over keeps it, and whoever loses it is told in the same run."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import pytest

from incumbent.github.git_state import folders_of
from incumbent.ledger.model import BRANCH, LeftQuery
from incumbent.taxonomy.config import CONFIG_FILE
from tests.reconcile.hub import MAIN, Hub, Pull
from tests.reconcile.runs import (
    agent_files,
    config_text,
    imported,
    platform_files,
    platform_of,
    reconcile,
    review,
    text_of,
)

pytestmark = pytest.mark.untraced

AGENT = ("acme", "desk")
OLD, NEW = text_of("one", {"d": 0.9}), text_of("two", {"e": 0.9})
NEEDS_A_CURATOR = "incumbent: needs a curator"


def config(**more: Any) -> str:
    """One slot, which is taken."""
    return config_text(ceiling=1, redundancy_floor=0, customer_share=1.0, **more)


@pytest.fixture
def hub() -> Hub:
    found = Hub(platform_files([imported("r0", text_of("zero", {"a": 0.9}), "2026-01-01T00:00:00Z")], config()))
    assert reconcile(found)
    bring(found, {"q1": OLD})
    assert reconcile(found)
    assert waiting(found) == {OLD}
    return found


def bring(hub: Hub, queries: Mapping[str, str]) -> Pull:
    """A customer's pull request with ``queries``, reviewed and merged."""
    branch = f"work-{len(hub.repository.commits)}"
    hub.push(branch, dict(agent_files(AGENT, queries)), hub.repository.branches[MAIN])
    pull = hub.offer(branch, "mara")
    review(hub, pull.number)
    hub.merge(pull, "cora", True)
    return pull


def waiting(hub: Hub) -> set[str]:
    """The texts that wait for a slot."""
    return {entry.turns[0] for entry in platform_of(hub).regression_set.waiting.values()}


def left(hub: Hub) -> tuple[LeftQuery, ...]:
    """What the ledger says that did not enter."""
    known = folders_of(hub.repository.snapshot(hub.repository.branches[BRANCH]), ())
    return tuple(item for record in known.values() if record is not None for item in record.left.values())


def settles(hub: Hub) -> None:
    """A run to the end, and one that finds nothing to write."""
    assert reconcile(hub)
    before = len(hub.written)
    assert reconcile(hub)
    assert hub.written[before:] == []


def test_an_edited_query_takes_the_place_in_line_of_what_it_was(hub: Hub) -> None:
    pull = bring(hub, {"q1": NEW})
    settles(hub)
    assert waiting(hub) == {NEW}
    assert "`q1` waits for a slot" in hub.comments(pull.number)[0].body


def test_who_brought_what_earns_no_slot_any_more_is_told_by_the_run_that_takes_it_out_of_the_line(hub: Hub) -> None:
    (pull,) = hub.pulls.values()
    assert "`q1` waits for a slot" in hub.comments(pull.number)[0].body
    hub.push(MAIN, {CONFIG_FILE: config(competence_bar=0.95)})
    settles(hub)
    assert waiting(hub) == set()
    (comment,) = hub.comments(pull.number)
    assert "waits" not in comment.body
    assert "1 excluded" in comment.body

    hub.push(MAIN, {CONFIG_FILE: config()})
    settles(hub)
    assert NEEDS_A_CURATOR in hub.pulls[pull.number].labels, "it has merit again"


def test_a_run_that_dies_while_the_line_is_left_is_made_up_for(hub: Hub) -> None:
    number = next(iter(hub.pulls))
    hub.push(MAIN, {CONFIG_FILE: config(competence_bar=0.95)})
    whole = deepcopy(hub)
    settles(whole)
    for allowed in range(1, 9):
        killed = deepcopy(hub)
        reconcile(killed, allowed)
        settles(killed)
        assert killed.comments(number)[0].body == whole.comments(number)[0].body
        assert left(killed) == left(whole) != ()
