"""Suggestions as pull requests: the branch that each would have, its files and its words (pure).

A branch is named after what it is about and after the grounds, so that a refusal is remembered by what was refused.
The description of a group's pull request lists its entries with their grounds.  Closing it refuses them all; merging it
refuses those that are still in R; a commit that takes an eviction back, and ``/incumbent keep``, refuse one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from incumbent.curator import file_changes as changes
from incumbent.curator.file_changes import FileChange
from incumbent.curator.groups import Basis, OpenGroup, SuggestionGroup, group
from incumbent.curator.prune import Suggestion
from incumbent.curator.store import entry_path, tombstone_path
from incumbent.curator.suggestions import Suggestions, SwapSuggestion, evicted_on
from incumbent.github.events import OWN_BRANCHES
from incumbent.github.managed_pull_request import Branch, DesiredPullRequest, PullRequestState
from incumbent.github.models import Commit, PullRequest
from incumbent.ledger.model import Refusal, Request
from incumbent.ledger.refusals import GROUP_BRANCHES, grounds_in
from incumbent.ledger.releases.history import EntryHistory
from incumbent.pipeline.review import Platform
from incumbent.report.pull_request_bodies import (
    GroupMembers,
    KeptEntry,
    SuggestionContext,
    members_in,
    render_eviction,
    render_group,
    render_repack,
    render_swap,
    render_top_up,
    with_members,
)

EVICT = f"{OWN_BRANCHES}evict/"
GROUP = GROUP_BRANCHES
SWAP = f"{OWN_BRANCHES}swap/"
REPACK = f"{OWN_BRANCHES}repack/"
TOP_UP = f"{OWN_BRANCHES}top-up/"
ADMIT = f"{OWN_BRANCHES}admit/"
LABEL = "incumbent: suggestion"
SAFE = "Every floor and every pin holds without it"
"""The title of the check on what may go."""
RESTS = "It rests on others: merge these first"
"""The title of the check on an exchange that is safe only after others."""
SAFE_IN_PART = "Every floor and every pin holds, whichever of them go"
"""The same of a group."""
CHECKED = "The description says who covers what instead."
"""What the check says below its title."""
CHECKED_IN_PART = "The description says how much cover is left for each, and how to keep one."
"""The same of a group."""

_SLUG_LENGTH = 100
_NAME = re.compile(rf"({EVICT}|{GROUP}|{SWAP}|{REPACK}|{TOP_UP}|{ADMIT})[^/]+-[0-9a-f]{{16}}")


@dataclass(frozen=True, kw_only=True)
class Proposal(DesiredPullRequest):
    """A change of the set that people are asked to merge.

    ``entries`` are those that it removes, ``admits`` the one that a swap or a repack lets in; in a top-up both are the
    one that it lets in.  ``remaining`` maps what they cover to the competent coverers that stay.  ``members`` are the
    suggestions of a group.
    """

    kind: str
    entries: tuple[str, ...]
    admits: str | None = None
    remaining: Mapping[str, int] = field(default_factory=dict)
    members: tuple[Suggestion, ...] = ()
    reason: str = "Suggested by Incumbent; the pull request says why."
    followed: bool = True
    label: str = LABEL
    check: tuple[str, str] = (SAFE, CHECKED)


@dataclass(frozen=True, kw_only=True)
class KeptInGroup(KeptEntry):
    """An entry that people keep, and the ``digest`` of the grounds on which it was suggested."""

    digest: str


def proposals_of(
    suggestions: Suggestions,
    platform: Platform,
    groups: Sequence[SuggestionGroup] | None = None,
    kept: Mapping[str, Sequence[KeptInGroup]] = MappingProxyType({}),
    asked: Collection[str] = (),
    histories: Mapping[str, EntryHistory] = MappingProxyType({}),
) -> tuple[Proposal, ...]:
    """The pull requests of ``suggestions``, most urgent first: what frees a slot by admitting something comes first.

    ``groups`` are the evictions as they are decided together, by default each alone; ``kept`` is what people keep, by
    the name of the group that suggested it.  What curators ``asked`` for, by its grounds, is not limited.
    """
    moment = SuggestionContext(suggestions, platform, histories)
    if groups is None:
        groups = [SuggestionGroup(name=None, members=(item,)) for item in suggestions.evictions]
    proposals = (
        *(_swap(item, moment) for item in suggestions.swaps),
        *(_repack(item, moment) for item in suggestions.repacks),
        *(_top_up(item, moment) for item in suggestions.top_ups),
        *(
            _eviction(item.members[0], moment)
            if item.name is None
            else _group(item.name, item.members, kept.get(item.name, ()), moment)
            for item in groups
        ),
    )
    return tuple(replace(item, limited=False) if grounds_in(item.branch) in asked else item for item in proposals)


def branch_of(kind: str, id: str, digest: str) -> str:
    """The branch for ``id`` on the grounds of ``digest``; git allows no two dots in a row."""
    return f"{kind}{slug(id)}-{digest}"


def slug(id: str) -> str:
    """``id`` as a part of a branch's name."""
    return re.sub(r"\.+", ".", id)[:_SLUG_LENGTH]


def is_about(branch: str, id: str) -> bool:
    """Whether ``branch`` suggests something of ``id``."""
    return subject_of(branch) == slug(id)


def subject_of(branch: str) -> str:
    """The part of a branch's name that says what it is about: the :func:`slug` of an id."""
    for folder in (EVICT, SWAP, REPACK, TOP_UP):
        branch = branch.removeprefix(folder)
    return branch.rpartition("-")[0]


def is_repack(branch: str | None) -> bool:
    """Whether a branch of ours suggests a repack."""
    return branch is not None and branch.startswith(REPACK) and is_suggestion(branch)


def looks_back(branch: str | None) -> bool:
    """Whether a branch of ours would admit a query that was excluded, by a repack or a top-up."""
    return branch is not None and branch.startswith((REPACK, TOP_UP)) and is_suggestion(branch)


def is_suggestion(branch: str | None) -> bool:
    """Whether a branch of the repository itself is named as ours are."""
    return branch is not None and _NAME.fullmatch(branch) is not None


def is_offer(branch: str | None) -> bool:
    """Whether a branch of ours offers admissions."""
    return branch is not None and branch.startswith(ADMIT) and is_suggestion(branch)


def is_group(branch: str | None) -> bool:
    """Whether a branch of ours suggests several evictions."""
    return branch is not None and branch.startswith(GROUP) and is_suggestion(branch)


def _eviction(item: Suggestion, moment: SuggestionContext) -> Proposal:
    entry = moment.platform.regression_set.entries[item.id]
    return Proposal(
        branch=branch_of(EVICT, item.id, item.grounds.digest),
        kind=item.grounds.kind.value,
        entries=(item.id,),
        title=f"Evict {item.id}: {item.grounds.kind.value}",
        body=render_eviction(item, moment),
        files=_files(changes.evict(entry, evicted_on(item.grounds))),
        remaining=item.remaining,
        check=(_short("it", [item], moment) or SAFE, CHECKED),
    )


def _group(
    name: str, members: Sequence[Suggestion], kept: Sequence[KeptInGroup], moment: SuggestionContext
) -> Proposal:
    known = moment.platform.regression_set
    listing = GroupMembers(
        suggests={item.id: item.grounds.digest for item in members},
        kept={item.id: item.digest for item in kept if item.by is None},
    )
    parts = [
        Commit(
            files=_files(changes.evict(known.entries[item.id], evicted_on(item.grounds, name))),
            message=f"Evict {item.id}: {item.grounds.kind.value}",
        )
        for item in members
    ]
    shared = _shared(name)
    return Proposal(
        branch=f"{GROUP}{name}",
        kind="group",
        entries=tuple(item.id for item in members),
        title=f"Evict several entries{shared}",
        body=render_group(members, shared, kept, listing, moment),
        files=tuple(sorted(file for part in parts for file in part.files)),
        remaining={capability: count for item in members for capability, count in item.remaining.items()},
        members=tuple(members),
        check=(_short("them", members, moment) or SAFE_IN_PART, CHECKED_IN_PART),
        parts=tuple(parts),
        lasts=listing.text,
    )


def _shared(name: str) -> str:
    """What the entries of the group ``name`` have in common, for its title."""
    words = {
        Basis.MIXED: "",
        Basis.DISPLACER: " that {} displaced",
        Basis.CUSTOMER: " of customer {}",
        Basis.CAPABILITY: " that cover {}",
        Basis.SOURCE_DELETED: " of customer {}, whose queries were deleted",
        Basis.CUSTOMER_LEFT: " of customer {}, who left",
        Basis.DEPARTED: " whose queries were deleted or whose customers left",
    }
    basis, _, what = name.rpartition("-")[0].partition("-")
    return words[Basis(basis)].format(what)


def _short(what: str, members: Sequence[Suggestion], moment: SuggestionContext) -> str | None:
    """That capabilities fall below the floor without ``members``, if some do."""
    floor = moment.platform.config.redundancy_floor
    names = {name for item in members for name, count in item.remaining.items() if count < floor(name)}
    falls = "capability falls" if len(names) == 1 else "capabilities fall"
    return f"Without {what} {len(names)} {falls} below the floor" if names else None


def _swap(item: SwapSuggestion, moment: SuggestionContext) -> Proposal:
    admit, removed = item.swap.admit, ", ".join(item.swap.remove)
    return Proposal(
        branch=branch_of(SWAP, admit, item.digest),
        kind="swap",
        title=f"Swap {admit} for {removed}"[:250],
        body=render_swap(item, moment),
        **_exchanged(item, moment, [changes.stop_waiting(admit)]),
    )


def _repack(item: SwapSuggestion, moment: SuggestionContext) -> Proposal:
    admit, removed = item.swap.admit, ", ".join(item.swap.remove)
    return Proposal(
        branch=branch_of(REPACK, admit, item.digest),
        kind="repack",
        title=f"Repack: {admit} instead of {removed}"[:250],
        body=render_repack(item, moment),
        **_exchanged(item, moment, []),
    )


def _top_up(item: SwapSuggestion, moment: SuggestionContext) -> Proposal:
    admit = item.swap.admit
    return Proposal(
        branch=branch_of(TOP_UP, admit, item.digest),
        kind="top-up",
        title=f"Top up: admit {admit}"[:250],
        body=render_top_up(item, moment),
        **_exchanged(item, moment, []) | {"entries": (admit,)},
    )


def _exchanged(item: SwapSuggestion, moment: SuggestionContext, planned: list[FileChange]) -> dict[str, Any]:
    """What the pull requests of exchanges have in common, with the changes that are ``planned`` besides."""
    planned = [changes.admit(item.entering), *planned]
    for eviction in item.evictions:
        entry = moment.platform.regression_set.entries[eviction.id]
        planned += changes.evict(entry, evicted_on(eviction.grounds))
    return {
        "check": (RESTS, CHECKED) if item.rests_on else (SAFE, CHECKED),
        "entries": item.swap.remove,
        "files": _files(planned),
        "admits": item.swap.admit,
        "remaining": {name: count for each in item.evictions for name, count in each.remaining.items()},
    }


def _files(planned: tuple[FileChange, ...] | list[FileChange]) -> tuple[tuple[str, str | None], ...]:
    return tuple(sorted((change.path, change.content) for change in planned))


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
            members=_as_on_branch(members_in(pull.body), pull.branch or "", github),
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
    named = {f"{GROUP}{item.name}": item.members.suggests.keys() for item in groups}
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


def grouped(
    suggestions: Suggestions,
    platform: Platform,
    github: PullRequestState,
    groups: Sequence[GroupPullRequest],
    keeps: Sequence[Request],
    is_reviewed: Callable[[int], bool],
    asked: Collection[str] = (),
) -> tuple[SuggestionGroup, ...]:
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


def _as_on_branch(members: GroupMembers, name: str, github: PullRequestState) -> GroupMembers:
    """``members`` as a person's last commit has them: kept is what it does not evict, and suggested what it does."""
    branch = github.branches.get(name)
    if branch is None:
        return members
    dropped = {id for id in members.suggests if not {entry_path(id), tombstone_path(id)} & branch.blobs.keys()}
    taken_back = {id for id in members.kept if _evicts(branch, id)}
    # A commit of the bot's follows from the comments and grounds of its time, and says nothing of its own.
    if not (dropped or taken_back) or github.is_own(name):
        return members
    known = {**members.suggests, **members.kept}
    kept = (members.kept.keys() - taken_back) | dropped
    return GroupMembers(
        suggests={id: digest for id, digest in known.items() if id not in kept},
        kept={id: digest for id, digest in known.items() if id in kept},
    )


def _evicts(branch: Branch, id: str) -> bool:
    return branch.blobs.get(entry_path(id), "") is None and branch.blobs.get(tombstone_path(id)) is not None


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
