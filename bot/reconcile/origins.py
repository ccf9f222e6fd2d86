"""Which pull request was merged by a commit of the default branch (pure)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from bot.github.models import PullRequest
from bot.ledger.model import PullRequestRecord
from bot.reconcile.inventory import MergeFacts


def origins(
    fresh: Sequence[MergeFacts],
    closed: Sequence[PullRequest],
    records: Mapping[int, PullRequestRecord],
    introduced: Callable[[str], tuple[PullRequest, ...]],
    pull_request: Callable[[int], PullRequest | None],
) -> dict[str, PullRequest]:
    """Commit → pull request, of the ``fresh`` merges and of the records that are open.

    The list of the last ones that were ``closed`` may lag, or end before: ``introduced`` tells which brought a commit,
    as those that a rebase makes of one pull request; ``pull_request`` looks one up.
    """
    found = {pull.merge: pull for pull in closed if pull.merge is not None}
    for record in records.values():
        if record.merged is not None and record.merged.commit not in found:
            pull = pull_request(record.pull_request)
            # A rebase makes several commits of one pull request: any of them may be the one that was noted.
            if pull is not None and pull.merge is not None:
                found[record.merged.commit] = pull
    for merge in fresh:
        if merge.commit not in found:
            merged = [pull for pull in introduced(merge.commit) if pull.merge is not None]
            if merged:
                found[merge.commit] = min(merged, key=lambda item: item.number)
    return found
