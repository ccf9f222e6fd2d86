"""Admissions as a pull request, where the default branch takes no commits of the bot's (pure).

What is offered is known by its content, in the branch's name: what people turned down is not offered again, neither
alone nor with something else.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from incumbent.curator.entry import Entry
from incumbent.curator.file_changes import FileChange
from incumbent.curator.store import RegressionSet
from incumbent.github.managed_pull_request import ClosedBy, was_refused
from incumbent.github.models import Commit, PullRequest
from incumbent.intake.query import Query
from incumbent.ledger.events import ADMISSION
from incumbent.ledger.model import SuggestionRecord
from incumbent.ledger.refusals import grounds_in
from incumbent.pipeline.reclassify import query_of
from incumbent.reconcile.suggestion_pull_requests import ADMIT, CHECKED, Proposal, branch_of, is_offer
from incumbent.report.pull_request_bodies import EntryChange, Offered, render_offer
from incumbent.text.digests import digest

_DIGITS = 16


@dataclass(frozen=True, kw_only=True)
class OfferStep:
    """One change of the set: the ``message`` and files of a commit, and what they do to which entries."""

    message: str
    file_changes: tuple[FileChange, ...]
    offered: tuple[Offered, ...] = ()

    @property
    def commit(self) -> Commit:
        """The step as a commit."""
        return Commit(files=_files(self.file_changes), message=self.message)


@dataclass(frozen=True, kw_only=True)
class AdmissionOffer:
    """Steps that people are asked to merge as one, and the set that they lead to."""

    steps: tuple[OfferStep, ...]
    leads_to: RegressionSet

    @property
    def offered(self) -> tuple[Offered, ...]:
        """What becomes of which entries, in order."""
        return tuple(item for step in self.steps for item in step.offered)

    @property
    def contents(self) -> tuple[str, ...]:
        """Digests of what is offered."""
        return tuple(sorted({content_of(item.entry, item.asked, item.under) for item in self.offered}))

    @property
    def numbers(self) -> tuple[int, ...]:
        """The pull requests that brought it."""
        return tuple(sorted({item.pull_request for item in self.offered if item.pull_request is not None}))

    @property
    def branch(self) -> str:
        """The branch that offers it, named after the pull requests that brought it and after the content."""
        return branch_of(ADMIT, "-".join(["set", *map(str, self.numbers)]), _digest(self.contents))

    @property
    def proposal(self) -> Proposal:
        """The pull request."""
        admitted = sum(1 for item in self.offered if item.change is EntryChange.ENTERS)
        changed = len(self.offered) - admitted
        parts = [f"admit {admitted}"] if admitted else []
        parts += [f"change {changed}"] if changed else []
        of = f" of {', '.join(f'#{number}' for number in self.numbers)}" if self.numbers else ""
        return Proposal(
            branch=self.branch,
            kind=ADMISSION,
            entries=tuple(item.entry.id for item in self.offered),
            title=f"Regression set: {' and '.join(parts)}{of}"[:250],
            body=render_offer(self.offered),
            files=_files(change for step in self.steps for change in step.file_changes),
            check=("What enters was derived again", CHECKED),
            limited=False,
        )

    def joined_by(self, step: OfferStep) -> AdmissionOffer:
        """The same with ``step``, which offers nothing that could be turned down, where it touches no file anew."""
        touched = {change.path for each in self.steps for change in each.file_changes}
        changes = tuple(change for change in step.file_changes if change.path not in touched)
        return replace(self, steps=(*self.steps, replace(step, file_changes=changes)))


def content_of(entry: Entry, asked: int | None = None, under: str | None = None) -> str:
    """What is offered of ``entry``: its text with its attachments, where it stands, and its pin.

    The verdict is left out, since it moves with R.

    Who asks for something again, in another comment, is offered it again; and so are scores ``under`` another taxonomy.
    """
    place = None if entry.source is None else entry.source.place
    return content(entry.id, query_of(entry), place, entry.pin, asked if under is None else under)


def content(
    id: str,
    query: Query,
    place: tuple[str, str, str] | None,
    pin: str | None,
    again: int | str | None = None,
) -> str:
    """The same of what is no entry yet; ``again`` is what makes it another offer of the same."""
    return digest([id, list(query.classified_turns), place, pin, *([] if again is None else [again])])


@dataclass(frozen=True, kw_only=True)
class Refused:
    """Contents that people turned down, and the branches that offered them."""

    branches: frozenset[str] = frozenset()
    contents: frozenset[str] = frozenset()

    def holds(self, entry: Entry, asked: int | None = None, under: str | None = None) -> bool:
        """Whether ``entry`` was turned down as it is."""
        return content_of(entry, asked, under) in self.contents

    def met_by(self, offer: AdmissionOffer) -> Refused:
        """The same with what ``offer`` holds, if its branch was refused: the ledger may have forgotten it."""
        if offer.branch not in self.branches:
            return self
        return replace(self, contents=self.contents.union(offer.contents))


NOTHING_REFUSED = Refused()


def turned_down(
    record: SuggestionRecord,
    closed: Sequence[PullRequest],
    closed_by: ClosedBy,
    pull_request: Callable[[int], PullRequest | None],
) -> Refused:
    """What people turned down by closing the pull request that offered it.

    ``closed`` are the last ones that were closed; others of which the ledger speaks are looked up.
    """
    listed = {pull.number for pull in closed}
    remembered = [item for item in record.refusals if is_offer(item.branch) and item.pull_request not in listed]
    found = [pull_request(item.pull_request) for item in remembered]
    pulls = [*closed, *(pull for pull in found if pull is not None)]
    branches = {pull.branch or "" for pull in pulls if is_offer(pull.branch) and was_refused(pull, closed_by)}
    contents = {
        content
        for branch in branches
        for content in record.offers.get(branch, ())
        if _digest(record.offers[branch]) == grounds_in(branch)
    }
    return Refused(branches=frozenset(branches), contents=frozenset(contents))


def _digest(contents: Collection[str]) -> str:
    return digest(sorted(contents))[:_DIGITS]


def _files(planned: Iterable[FileChange]) -> tuple[tuple[str, str | None], ...]:
    """The last word on each file."""
    return tuple(sorted({change.path: change.content for change in planned}.items()))
