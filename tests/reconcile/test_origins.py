"""Which pull request a commit of the default branch merged, also where lists lag or end too early."""

from __future__ import annotations

from incumbent.github.models import PullRequest
from incumbent.reconcile.merged_submissions import origins
from tests.github.scenes import make_query
from tests.reconcile.merges import MERGE, commit, make_pull, make_record, merge_of

FRESH = (merge_of(make_query("q1", {"d": 0.9})),)


def introduced(*pulls: PullRequest) -> dict[str, tuple[PullRequest, ...]]:
    return {MERGE: pulls}


def no_pull_request(number: int) -> PullRequest | None:
    raise AssertionError(f"{number} is looked up for nothing")


def no_commit(commit: str) -> tuple[PullRequest, ...]:
    raise AssertionError(f"{commit} is looked up for nothing")


def test_a_merge_is_known_by_the_list_of_closed_ones_alone() -> None:
    unmerged = make_pull(6, merge=None)
    assert origins(FRESH, [make_pull(), unmerged], {7: make_record(seen={})}, no_commit, no_pull_request) == {
        MERGE: make_pull()
    }


def test_an_open_record_that_the_list_does_not_reach_is_looked_up() -> None:
    records = {7: make_record(seen={}), 8: make_record(8)}
    assert origins((), [], records, no_commit, {7: make_pull()}.get) == {MERGE: make_pull()}


def test_a_record_whose_pull_request_is_gone_or_not_merged_has_none() -> None:
    records = {7: make_record(seen={})}
    assert origins((), [], records, no_commit, {7: make_pull(merge=None)}.get) == {}
    assert origins((), [], records, no_commit, {7: None}.get) == {}


def test_a_record_of_any_commit_of_a_rebase_is_of_its_pull_request() -> None:
    pull = make_pull(merge=commit(9))
    assert origins((), [], {7: make_record(seen={})}, no_commit, {7: pull}.get) == {MERGE: pull}


def test_a_commit_of_a_rebase_is_of_the_first_merged_pull_request_that_holds_it() -> None:
    seven, eight = make_pull(7, merge=commit(9)), make_pull(8, merge=commit(9))
    found = introduced(make_pull(6, merge=None, closed=False), eight, seven)
    assert origins(FRESH, [], {}, found.__getitem__, no_pull_request) == {MERGE: seven}


def test_what_no_merged_pull_request_holds_was_pushed() -> None:
    found = introduced(make_pull(6, merge=None, closed=False))
    assert origins(FRESH, [], {}, found.__getitem__, no_pull_request) == {}
