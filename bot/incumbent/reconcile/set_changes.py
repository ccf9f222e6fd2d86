"""Who changed the regression set: commits by hand, and evictions that people confirmed by merging them (pure)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from incumbent.curator import file_changes
from incumbent.curator.entry import Entry, Tombstone
from incumbent.curator.losses import Losses, lost_since
from incumbent.curator.store import entry_in, entry_path, tombstone_path
from incumbent.curator.suggestions import TOP_UP as TOPPED_UP
from incumbent.files.git import ChangedFile
from incumbent.github.models import CreateComment, IssueComment, PullRequest
from incumbent.ledger.events import Answered, ChangedByHand, LedgerEvent
from incumbent.ledger.people import is_bot
from incumbent.ledger.refusals import grounds_in
from incumbent.pipeline.review import Platform
from incumbent.reconcile.admission_pull_request import OfferStep
from incumbent.reconcile.quarantine_plan import is_quarantine
from incumbent.reconcile.suggestion_pull_requests import (
    EVICT,
    GROUP,
    REPACK,
    SWAP,
    TOP_UP,
    is_about,
    is_group,
    is_suggestion,
)
from incumbent.report.review_comment import NO_LONGER_TRUE, render_no_longer_true


@dataclass(frozen=True, kw_only=True)
class CommitLookup:
    """What GitHub knows of a commit: the account ``login`` is ours.

    ``introduced_by`` tells which pull requests brought a commit, ``merged_by`` who merged one, and when, ``author_of``
    whose a commit is.
    """

    login: str
    introduced_by: Callable[[str], tuple[PullRequest, ...]]
    merged_by: Callable[[int], tuple[str, str]]
    author_of: Callable[[str], str]


def changed_entries(changes: Sequence[ChangedFile]) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The ids of the entries of R that ``changes`` of files added, changed and removed, sorted."""
    ids: dict[str, set[str]] = {"added": set(), "modified": set(), "deleted": set()}
    for change in changes:
        if change.kind == "renamed":
            pairs = [("deleted", change.before or ""), ("added", change.path)]
        else:
            pairs = [(change.kind, change.path)]
        for kind, path in pairs:
            id = entry_in(path)
            if id is not None:
                ids[kind].add(id)
    added, changed, removed = (tuple(sorted(found)) for found in ids.values())
    return added, changed, removed


def changed_by_hand(
    commits: Iterable[tuple[str, str, Sequence[ChangedFile]]], known: Sequence[LedgerEvent], lookups: CommitLookup
) -> tuple[ChangedByHand, ...]:
    """What people changed in R by ``commits``, without what is among the ``known`` events.

    The commits are on the line of first parents, each with its time and what it changed.
    """
    recorded = {item.commit for item in known if isinstance(item, ChangedByHand)}
    found = []
    for commit, at, changes in commits:
        added, changed, removed = changed_entries(changes)
        if commit in recorded or not (added or changed or removed):
            continue
        merged = [pull for pull in lookups.introduced_by(commit) if pull.merge is not None]
        if any(is_suggestion(pull.branch) or is_quarantine(pull.branch) for pull in merged):
            continue
        pull = min(merged, key=lambda item: item.number, default=None)
        by = lookups.author_of(commit) if pull is None else lookups.merged_by(pull.number)[0]
        if by == lookups.login:
            continue
        found.append(
            ChangedByHand(
                at=at,
                commit=commit,
                pull_request=None if pull is None else pull.number,
                by=by,
                by_bot=is_bot(by),
                added=added,
                changed=changed,
                removed=removed,
            )
        )
    return tuple(found)


def confirmed(
    platform: Platform,
    merged: Sequence[PullRequest],
    merged_by: Callable[[int], tuple[str, str]],
    texts: Callable[[str], str],
) -> OfferStep | None:
    """The step that records who confirmed what was merged since, in tombstones and topped-up entries, or ``None``.

    What a swap or a repack admitted was admitted when people merged it.  ``merged`` are pull requests of ours;
    ``merged_by`` says who merged one, and when; ``texts`` reads a file of the set.
    """
    files = []
    swapped: dict[str, str] = {}
    for id, tombstone in sorted(platform.regression_set.tombstones.items()):
        pull = None if tombstone.evicted.at is not None else _merged_with(tombstone, merged)
        if pull is None:
            continue
        by, at = merged_by(pull.number)
        evicted = tombstone.evicted.model_copy(update={"by": by, "at": at})
        path = tombstone_path(id)
        text = file_changes.edit(texts(path), tombstone.model_copy(update={"evicted": evicted}))
        files.append(file_changes.FileChange(path, text))
        swapped[pull.branch or ""] = at
    for entry in platform.regression_set.entries.values():
        # A top-up leaves no tombstone.
        pull = next((pull for pull in merged if _tops_up(pull.branch or "", entry)), None)
        if pull is not None:
            by, at = merged_by(pull.number)
            now = entry.model_copy(update={"admitted": entry.admitted.model_copy(update={"by": by, "at": at})})
            files.append(file_changes.admit(now, texts(entry_path(entry.id))))
    if not files:
        return None
    for entry in platform.regression_set.entries.values():
        for branch, at in swapped.items():
            # A restored entry keeps its first time.
            if branch.startswith((SWAP, REPACK)) and is_about(branch, entry.id) and entry.restored is None:
                now = entry.model_copy(update={"admitted": entry.admitted.model_copy(update={"at": at})})
                files.append(file_changes.admit(now, texts(entry_path(entry.id))))
    return OfferStep(message="Say who confirmed evictions", file_changes=tuple(files))


def _tops_up(branch: str, entry: Entry) -> bool:
    """Whether ``branch`` suggested to admit ``entry``, and who confirmed it is not recorded yet."""
    admitted = entry.admitted
    is_open = admitted.override == TOPPED_UP and admitted.by is None
    return is_open and branch.startswith(TOP_UP) and is_about(branch, entry.id)


def no_longer_true(
    platform: Platform,
    merged: Sequence[PullRequest],
    known: Sequence[LedgerEvent],
    login: str,
    comments: Callable[[int], Sequence[IssueComment]],
) -> tuple[tuple[int, CreateComment], ...]:
    """What is said, once, on those of ``merged`` whose grounds had gone when people merged them.

    ``known`` are the events so far: on what was answered before, nothing is said any more.
    """
    recorded = {item.pull_request for item in known if isinstance(item, Answered)}
    fresh = [pull for pull in merged if pull.number not in recorded]
    lost: dict[int, dict[str, Losses]] = {}
    for id, tombstone in sorted(platform.regression_set.tombstones.items()):
        pull = _merged_with(tombstone, fresh) if tombstone.evicted.at is None else None
        found = lost_since(tombstone, platform.regression_set, platform.taxonomy, platform.config) if pull else None
        if pull is not None and found is not None:
            lost.setdefault(pull.number, {})[id] = found
    return tuple(
        (number, CreateComment(body=render_no_longer_true(found, platform.taxonomy)))
        for number, found in sorted(lost.items())
        if not any(item.author == login and item.body.startswith(NO_LONGER_TRUE) for item in comments(number))
    )


def _merged_with(tombstone: Tombstone, merged: Sequence[PullRequest]) -> PullRequest | None:
    """The pull request whose merge left ``tombstone``: its eviction, or the swap or repack that freed it."""
    grounds = tombstone.evicted.grounds or {}
    for pull in merged:
        branch = pull.branch or ""
        if is_group(branch) and branch == f"{GROUP}{grounds.get('group')}":
            return pull
        if branch.startswith(EVICT) and is_about(branch, tombstone.id) and grounds_in(branch) == grounds.get("digest"):
            return pull
    return next((pull for pull in merged if _swapped_in(pull.branch or "", grounds)), None)


def _swapped_in(branch: str, grounds: Mapping[str, object]) -> bool:
    """Whether ``branch`` admitted, in a swap or a repack, what freed the entry."""
    # Older tombstones name what admitted a swap among those that displace the entry.
    yields_to = [grounds["freed_by"]] if "freed_by" in grounds else grounds.get("yields_to")
    found = isinstance(yields_to, list) and any(is_about(branch, str(other)) for other in yields_to)
    return found and branch.startswith((SWAP, REPACK))
