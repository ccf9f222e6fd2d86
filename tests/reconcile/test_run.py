"""A run on the default branch: which facts it believes, and what it does where GitHub refuses its writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from incumbent.errors import OutsideError
from incumbent.github.client import TRIES, LostRaceError, ProtectedBranchError
from incumbent.github.events import Event, Flow
from incumbent.github.models import OpenPullRequest, Operation, PushBranch, PushCommits, WriteLedger
from incumbent.github.publication import Publication
from incumbent.ledger.model import BRANCH
from incumbent.reconcile.inventory import Inventory
from incumbent.reconcile.run import ROUNDS, reconcile_event, survey_event
from tests.reconcile.hub import MAIN, Hub
from tests.reconcile.runs import Reader, agent_files, config_text, platform_files, review, text_of, world_of

EVENT = Event(flow=Flow.RECONCILE, repository="o/r", default_branch=MAIN)
ACME = ("acme", "desk")


class Protected(Hub):
    """A repository whose rules refuse some operations; ``refused`` are those that it did refuse."""

    refuses: tuple[type, ...] = ()
    refused: tuple[type, ...] = ()

    def apply(self, number: int | None, operation: Operation, tree: str | None = None) -> None:
        if isinstance(operation, self.refuses):
            self.refused += (type(operation),)
            raise ProtectedBranchError("Repository rule violations found")
        super().apply(number, operation, tree)


def merged(kind: type[Hub] = Hub) -> Any:
    """A repository into which a customer's query was merged that deserves a slot."""
    hub = kind(platform_files([], config_text()))
    hub.push("change", agent_files(ACME, {"q1": text_of("sonnet", {"a": 0.9})}), start=hub.repository.branches[MAIN])
    pull = hub.offer("change", "acme")
    review(hub, pull.number)
    hub.merge(pull, "cora", squash=False)
    hub.written.clear()
    return hub


def surveyed(hub: Hub) -> Inventory:
    found = survey_event(EVENT, world_of(hub), lambda *_: Reader(), lambda *_: None)
    assert isinstance(found, Inventory)
    return found


def reconciled(hub: Hub, inventory: Inventory, *, seeks: bool = False) -> Publication:
    return reconcile_event(
        replace(EVENT, seeks=seeks), inventory, world_of(hub), hub, lambda attempt: None, dry_run=False
    )


def of_another_repository(hub: Hub, inventory: Inventory) -> Inventory:
    return inventory.model_copy(update={"repository": "o/other"})


def of_a_commit_beside_the_branch(hub: Hub, inventory: Inventory) -> Inventory:
    beside = hub.push("beside", {"README.md": "x"}, start=inventory.base)
    return inventory.model_copy(update={"base": beside})


@pytest.mark.parametrize("forged", [of_another_repository, of_a_commit_beside_the_branch])
def test_facts_of_anything_but_this_branch_are_refused_and_nothing_is_committed(
    forged: Callable[[Hub, Inventory], Inventory],
) -> None:
    hub = merged()
    inventory = surveyed(hub)
    before = hub.repository.branches[MAIN]
    with pytest.raises(OutsideError, match="not of this repository's default branch"):
        reconciled(hub, forged(hub, inventory))
    assert hub.repository.branches[MAIN] == before
    assert not reconciled(hub, inventory).why
    assert hub.repository.branches[MAIN] != before


@pytest.mark.parametrize(
    ("path", "holds"), [("regression_set/README.md", True), ("eval_sets/acme/desk/notes.md", False)]
)
def test_facts_of_an_older_commit_hold_unless_what_they_rest_on_has_changed(path: str, holds: bool) -> None:
    hub = merged()
    inventory = surveyed(hub)
    before = hub.push(MAIN, {path: "x"})
    found = reconciled(hub, inventory)
    assert found.why == ("" if holds else "the branch has moved on: the run of its newest commit reconciles")
    assert (hub.repository.branches[MAIN] != before) is holds


def test_what_a_protected_branch_refuses_is_offered_in_a_pull_request() -> None:
    hub = merged(Protected)
    hub.refuses = (PushCommits,)
    reconciled(hub, surveyed(hub))
    assert hub.refused == (PushCommits,)
    assert [type(item) for item in hub.written if isinstance(item, PushBranch | OpenPullRequest)] == [
        PushBranch,
        OpenPullRequest,
    ]


@pytest.mark.parametrize("refuses", [(PushCommits, PushBranch), (WriteLedger,)])
def test_where_other_branches_are_protected_too_the_run_ends_with_github_s_reason(refuses: tuple[type, ...]) -> None:
    hub = merged(Protected)
    hub.refuses = refuses
    with pytest.raises(ProtectedBranchError, match="rule violations"):
        reconciled(hub, surveyed(hub))
    assert hub.refused == refuses


class Forgetful(Hub):
    """A repository in which some writes leave no trace."""

    forgets: tuple[type, ...] = ()

    def apply(self, number: int | None, operation: Operation, tree: str | None = None) -> None:
        if isinstance(operation, self.forgets):
            self.written.append(operation)
        else:
            super().apply(number, operation, tree)


def test_a_run_whose_writes_do_not_stay_ends_and_says_so() -> None:
    hub = merged(Forgetful)
    hub.forgets = (WriteLedger,)
    with pytest.raises(OutsideError, match="what is written does not stay; run `incumbent doctor`"):
        reconciled(hub, surveyed(hub))
    assert sum(isinstance(item, WriteLedger) for item in hub.written) == ROUNDS + TRIES


def test_a_run_that_loses_every_race_ends_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = merged()
    inventory = surveyed(hub)
    waits: list[int] = []

    def lost(*_: object) -> None:
        raise LostRaceError("the branch has moved")

    monkeypatch.setattr(hub, "apply", lost)
    with pytest.raises(OutsideError, match="other runs kept writing; run this one again"):
        reconcile_event(EVENT, inventory, world_of(hub), hub, waits.append, dry_run=False)
    assert waits == list(range(1, TRIES + 1))


def test_where_a_token_writes_no_head_is_ever_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = merged()
    inventory = surveyed(hub)
    hub.push("other", {"README.md": "x"}, start=hub.repository.branches[MAIN])
    pull = hub.offer("other", "mallory")
    fetch, asked = hub.repository.fetch, list[str]()

    def recorded(url: str, refs: Mapping[str, str], *more: Any, **named: Any) -> Any:
        asked.extend(refs.values())
        return fetch(url, refs, *more, **named)

    monkeypatch.setattr(hub.repository, "fetch", recorded)
    event = replace(EVENT, pull_request=pull.number, head=pull.head)
    reconcile_event(event, inventory, world_of(hub), hub, lambda _: None, dry_run=False)
    assert {f"refs/heads/{MAIN}", f"refs/heads/{BRANCH}"} <= set(asked)
    assert not [ref for ref in asked if "pull" in ref]
