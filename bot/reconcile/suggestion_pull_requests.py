"""Suggestions as pull requests: the branch that each would have, its files and its words (pure).

A branch is named after what it is about and after the grounds, so that a refusal is remembered by what was refused.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from bot.curator import file_changes as changes
from bot.curator.file_changes import FileChange
from bot.curator.groups import Basis, Group
from bot.curator.prune import Suggestion
from bot.curator.suggestions import Suggestions, SwapSuggestion, evicted_on
from bot.github.events import OWN_BRANCHES
from bot.github.managed_pull_request import DesiredPullRequest
from bot.github.models import Commit
from bot.pipeline.review import Platform
from bot.report.eviction_group import GroupMembers, KeptEntry, render_group
from bot.report.eviction_pull_request import SuggestionContext, render_eviction, render_repack, render_swap
from bot.results.history import EntryHistory

EVICT = f"{OWN_BRANCHES}evict/"
GROUP = f"{OWN_BRANCHES}group/"
SWAP = f"{OWN_BRANCHES}swap/"
REPACK = f"{OWN_BRANCHES}repack/"
ADMIT = f"{OWN_BRANCHES}admit/"
LABEL = "incumbent: suggestion"
SAFE = "Every floor and every pin holds without it"
"""The title of the check on what may go."""
SAFE_IN_PART = "Every floor and every pin holds, whichever of them go"
"""The same of a group."""
CHECKED = "The description says who covers what instead."
"""What the check says below its title."""
CHECKED_IN_PART = "The description says how much cover is left for each, and how to keep one."
"""The same of a group."""

_SLUG_LENGTH = 100
_NAME = re.compile(rf"({EVICT}|{GROUP}|{SWAP}|{REPACK}|{ADMIT})[^/]+-[0-9a-f]{{16}}")


@dataclass(frozen=True, kw_only=True)
class Proposal(DesiredPullRequest):
    """A change of the set that people are asked to merge.

    ``entries`` are those that it removes, ``admits`` the one that a swap or a repack lets in.  ``remaining`` maps what
    they cover to the competent coverers that stay.  ``members`` are the suggestions of a group.
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
    groups: Sequence[Group] | None = None,
    kept: Mapping[str, Sequence[KeptInGroup]] = MappingProxyType({}),
    asked: Collection[str] = (),
    histories: Mapping[str, EntryHistory] = MappingProxyType({}),
) -> tuple[Proposal, ...]:
    """The pull requests of ``suggestions``, most urgent first: what frees a slot by admitting something comes first.

    ``groups`` are the evictions as they are decided together, by default each alone; ``kept`` is what people keep, by
    the name of the group that suggested it.  What curators ``asked`` for, by its grounds, is not limited.  Evictions of
    entries that never failed come first, as ``histories`` say.
    """
    moment = SuggestionContext(suggestions, platform, histories)
    if groups is None:
        groups = [Group(name=None, members=(item,)) for item in suggestions.evictions]
    proposals = (
        *(_swap(item, moment) for item in suggestions.swaps),
        *(_repack(item, moment) for item in suggestions.repacks),
        *(
            _eviction(item.members[0], moment)
            if item.name is None
            else _group(item.name, item.members, kept.get(item.name, ()), moment)
            for item in sorted(groups, key=lambda item: any(_ever_failed(each, histories) for each in item.members))
        ),
    )
    return tuple(replace(item, limited=False) if grounds_in(item.branch) in asked else item for item in proposals)


def _ever_failed(item: Suggestion, histories: Mapping[str, EntryHistory]) -> bool:
    return item.id in histories and histories[item.id].failing > 0


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
    return branch.removeprefix(EVICT).removeprefix(SWAP).removeprefix(REPACK).rpartition("-")[0]


def is_repack(branch: str | None) -> bool:
    """Whether a branch of ours suggests a repack."""
    return branch is not None and branch.startswith(REPACK) and is_suggestion(branch)


def grounds_in(branch: str) -> str:
    """The digest of the grounds that a branch of ours is named after."""
    return branch.rpartition("-")[2]


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


def _exchanged(item: SwapSuggestion, moment: SuggestionContext, planned: list[FileChange]) -> dict[str, Any]:
    """What the pull requests of swaps and repacks have in common, with the changes that are ``planned`` besides."""
    planned = [changes.admit(item.entering), *planned]
    for eviction in item.evictions:
        entry = moment.platform.regression_set.entries[eviction.id]
        planned += changes.evict(entry, evicted_on(eviction.grounds))
    return {
        "entries": item.swap.remove,
        "files": _files(planned),
        "admits": item.swap.admit,
        "remaining": {name: count for each in item.evictions for name, count in each.remaining.items()},
    }


def _files(planned: tuple[FileChange, ...] | list[FileChange]) -> tuple[tuple[str, str | None], ...]:
    return tuple(sorted((change.path, change.content) for change in planned))
