"""Groups of evictions on GitHub: what is in each, what people dropped from it, and what they thereby refused (pure).

The description of a group's pull request lists its entries with their grounds.  Closing it refuses them all; merging it
refuses those that are still in R; a commit that takes an eviction back, and ``/incumbent keep``, refuse one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from bot.curator.groups import Group, OpenGroup, group
from bot.curator.store import entry_path, tombstone_path
from bot.curator.suggestions import Suggestions
from bot.github.managed_pull_request import PullRequestState
from bot.github.models import PullRequest
from bot.ledger.model import Refusal, Request
from bot.pipeline.review import Platform
from bot.reconcile.suggestion_pull_requests import (
    EVICT,
    GROUP,
    KeptInGroup,
    Proposal,
    grounds_in,
    is_about,
    is_group,
    is_suggestion,
)
from bot.report.eviction_group import GroupMembers, members_in, with_members


@dataclass(frozen=True, kw_only=True)
class GroupPullRequest:
    """An open pull request of a group; ``members`` are as people left them."""

    number: int
    name: str
    members: GroupMembers


def open_groups(github: PullRequestState) -> tuple[GroupPullRequest, ...]:
    """The groups that are open, oldest first."""
    pulls = sorted((pull for pull in github.open if is_group(pull.branch)), key=lambda pull: pull.number)
    return tuple(
        GroupPullRequest(
            number=pull.number,
            name=(pull.branch or "").removeprefix(GROUP),
            members=_without_dropped(members_in(pull.body), pull.branch or "", github),
        )
        for pull in pulls
    )


def with_dropped(github: PullRequestState, wanted: Collection[str]) -> PullRequestState:
    """``github`` with groups that say what people dropped, but for those of the branches ``wanted``.

    These are closed, and what nobody wrote down by then would be forgotten.
    """
    left = {item.number: item.members for item in open_groups(github) if f"{GROUP}{item.name}" not in wanted}
    pulls = [
        replace(pull, body=with_members(pull.body, left[pull.number])) if pull.number in left else pull
        for pull in github.open
    ]
    return replace(github, open=tuple(pulls))


def with_former(proposals: Iterable[Proposal], groups: Iterable[GroupPullRequest]) -> tuple[Proposal, ...]:
    """``proposals``, of which the open ``groups`` say which files they changed before."""
    named = {f"{GROUP}{item.name}": {*item.members.suggests, *item.members.kept} for item in groups}
    return tuple(
        replace(
            item,
            former=frozenset(
                path for id in named[item.branch] - {*item.entries} for path in (entry_path(id), tombstone_path(id))
            ),
        )
        if item.branch in named
        else item
        for item in proposals
    )


def refusal_by(
    pull: PullRequest, github: PullRequestState, shown: Mapping[int, Mapping[str, str]] = MappingProxyType({})
) -> Refusal | None:
    """What people refused by how they ended ``pull``, which is closed.

    ``shown`` are the entries that a pull request was seen to suggest, with their grounds: people may have written
    another description.
    """
    branch = pull.branch or ""
    if not is_group(branch):
        return Refusal(pull_request=pull.number, branch=branch) if github.was_refused(pull) else None
    members = members_in(pull.body)
    if not members.suggests and not members.kept:
        members = GroupMembers(suggests=shown.get(pull.number, {}))
    is_whole = bool(members.suggests) and github.was_answered(pull)
    entries = {**(members.suggests if is_whole else {}), **members.kept}
    return Refusal(pull_request=pull.number, branch=branch, entries=entries) if entries else None


def of_present(item: Refusal, ids: Collection[str]) -> Refusal:
    """``item`` without entries that are not among ``ids``."""
    entries = {id: digest for id, digest in item.entries.items() if id in ids}
    return item if entries == item.entries else item.model_copy(update={"entries": entries})


def refused_grounds(item: Refusal) -> frozenset[str]:
    """The digests of the grounds that ``item`` refuses."""
    return frozenset(item.entries.values()) if is_group(item.branch) else frozenset({grounds_in(item.branch)})


def grouped(
    suggestions: Suggestions,
    platform: Platform,
    github: PullRequestState,
    groups: Sequence[GroupPullRequest],
    keeps: Sequence[Request],
    is_reviewed: Callable[[int], bool],
    asked: Collection[str] = (),
) -> tuple[Group, ...]:
    """The evictions of ``suggestions`` as they are decided together; what is suggested on ``asked`` grounds is alone.

    A group may get more entries unless people began to review it, or ``keeps`` asked to keep one of its entries.
    """
    limits, entries = platform.config.limits, platform.regression_set.entries
    alone = {
        grounds_in(pull.branch) for pull in github.open if pull.branch is not None and pull.branch.startswith(EVICT)
    }
    digests = {item.grounds.digest for item in suggestions.evictions}
    alone |= digests.intersection(asked).difference(*(item.members.suggests.values() for item in groups))
    placed = alone.union(*(item.members.suggests.values() for item in groups))
    most = max(limits.open_evictions - len(suggestions.swaps), 0)
    is_crowded = len(digests) > most and not digests <= placed
    touched = {item.pull_request for item in keeps}

    def is_joinable(item: GroupPullRequest) -> bool:
        has_room = is_crowded and len(item.members.suggests) < limits.group
        return has_room and not item.members.kept and item.number not in touched and not is_reviewed(item.number)

    sources = {id: entry.source for id, entry in entries.items()}
    return group(
        suggestions.evictions,
        {id: source.customer for id, source in sources.items() if source is not None},
        limits.group,
        most,
        [
            OpenGroup(name=item.name, members=frozenset(item.members.suggests.values()), joinable=is_joinable(item))
            for item in groups
        ],
        alone,
    )


def kept_in(groups: Iterable[GroupPullRequest], keeps: Sequence[Request]) -> dict[str, tuple[KeptInGroup, ...]]:
    """What people keep of each of ``groups``, by its name: by commits, and in comments."""
    return {
        item.name: (
            *(KeptInGroup(id=id, by=None, digest=digest) for id, digest in sorted(item.members.kept.items())),
            *(
                KeptInGroup(id=keep.entry, by=keep.by, digest=keep.grounds)
                for keep in keeps
                if keep.pull_request == item.number and keep.grounds is not None
            ),
        )
        for item in groups
    }


def _without_dropped(members: GroupMembers, name: str, github: PullRequestState) -> GroupMembers:
    """``members`` without those whose eviction a person's commit took back: these are kept."""
    branch = github.branches.get(name)
    if branch is None:
        return members
    dropped = {
        id: digest
        for id, digest in members.suggests.items()
        if not {entry_path(id), tombstone_path(id)} & branch.blobs.keys()
    }
    if not dropped or github.is_own(name):
        return members
    return GroupMembers(
        suggests={id: digest for id, digest in members.suggests.items() if id not in dropped},
        kept={**members.kept, **dropped},
    )


def grounds_shown(pulls: Iterable[PullRequest], ids: Collection[str]) -> dict[int, dict[str, str]]:
    """Pull request → entry → the grounds on which it is suggested there; ``pulls`` are open, ``ids`` those of R."""
    found: dict[int, dict[str, str]] = {}
    for pull in pulls:
        branch = pull.branch or ""
        if is_group(branch):
            found[pull.number] = dict(members_in(pull.body).suggests)
        elif branch.startswith(EVICT) and is_suggestion(branch):
            found[pull.number] = {id: grounds_in(branch) for id in ids if is_about(branch, id)}
    return found
