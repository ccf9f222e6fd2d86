"""Who changed the regression set otherwise than by the bot's commits and pull requests, as events (pure)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bot.curator.store import entry_in
from bot.git import ChangedFile
from bot.github.models import PullRequest
from bot.ledger.events import ChangedByHand, Event
from bot.ledger.people import is_bot
from bot.reconcile.suggestion_pull_requests import is_suggestion


@dataclass(frozen=True, kw_only=True)
class SetCommit:
    """A commit on the line of first parents that changed entries of the regression set, whoever made it."""

    commit: str
    at: str
    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]


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


def set_change(commit: str, at: str, changes: Sequence[ChangedFile]) -> SetCommit | None:
    """What ``commit`` did to entries of the regression set, if it did anything."""
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
    if not any(ids.values()):
        return None
    added, changed, removed = (tuple(sorted(found)) for found in ids.values())
    return SetCommit(commit=commit, at=at, added=added, changed=changed, removed=removed)


def changed_by_hand(
    changes: Sequence[SetCommit], known: Sequence[Event], lookups: CommitLookup
) -> tuple[ChangedByHand, ...]:
    """The ``changes`` that people made and that are not among the ``known`` events."""
    recorded = {item.commit for item in known if isinstance(item, ChangedByHand)}
    found = []
    for change in changes:
        if change.commit in recorded:
            continue
        merged = [pull for pull in lookups.introduced_by(change.commit) if pull.merge is not None]
        if any(is_suggestion(pull.branch) for pull in merged):
            continue
        pull = min(merged, key=lambda item: item.number, default=None)
        by = lookups.author_of(change.commit) if pull is None else lookups.merged_by(pull.number)[0]
        if by == lookups.login:
            continue
        found.append(
            ChangedByHand(
                at=change.at,
                commit=change.commit,
                pull_request=None if pull is None else pull.number,
                by=by,
                by_bot=is_bot(by),
                added=change.added,
                changed=change.changed,
                removed=change.removed,
            )
        )
    return tuple(found)
