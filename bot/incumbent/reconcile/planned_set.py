"""R as the steps that are planned so far leave it; nothing is written yet (pure).

Entries also follow curators' pins and their eval sets' renames, in all that no verdict rests on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from incumbent.curator import file_changes as changes
from incumbent.curator.entry import Entry
from incumbent.curator.file_changes import FileChange
from incumbent.curator.staging import Staging
from incumbent.curator.store import entry_path, waiting_path
from incumbent.github.judgement import ReviewJudgement
from incumbent.intake.query import Query, Setup
from incumbent.ledger.model import DecisionRecord
from incumbent.pipeline.matching import settle
from incumbent.pipeline.review import Platform
from incumbent.reconcile.admission_pull_request import OfferStep, Refused
from incumbent.reconcile.inventory import Inventory
from incumbent.report.pull_request_bodies import EntryChange, Offered


class Draft:
    """The ``platform`` after its ``steps``; what people ``refused`` is not edited.

    ``read`` gives the text of a file as it is now.
    """

    def __init__(self, platform: Platform, read: Callable[[str], str], refused: Refused) -> None:
        self.platform = platform
        self.steps: list[OfferStep] = []
        self._read = read
        self._refused = refused
        self._planned: dict[str, str | None] = {}

    def not_refused(self, entries: Mapping[str, Entry], under: str | None = None) -> dict[str, Entry]:
        """Those of ``entries`` that nobody turned down as they are, or as they are scored ``under`` something new."""
        return {id: entry for id, entry in entries.items() if not self._refused.holds(entry, None, under)}

    def texts(self, entries: Mapping[str, Entry]) -> dict[str, str]:
        """The files of ``entries`` as the steps leave them, by the keys of these."""
        paths = {entry.id: entry_path(entry.id) for entry in entries.values()}
        return {id: self._planned.get(path) or self._read(path) for id, path in paths.items()}

    def stage(
        self,
        message: str,
        staging: Staging,
        pull_request: int | None = None,
        change: EntryChange = EntryChange.ENTERS,
        asked: int | None = None,
    ) -> None:
        """Let ``staging`` take effect; what it admits is told to undergo ``change``."""
        changed = (
            (change, staging.admitted),
            (EntryChange.WAITS, staging.waiting),
            (EntryChange.LEAVES, staging.leaving),
        )
        touched = {item.path for item in staging.file_changes}
        offered = tuple(
            Offered(entry=entry, change=becomes, pull_request=pull_request, asked=asked)
            for becomes, entries in changed
            for entry in entries
            if becomes is not EntryChange.WAITS or waiting_path(entry.id) in touched
        )
        self._add(OfferStep(message=message, file_changes=staging.file_changes, offered=offered))
        self.platform = _after(staging, self.platform)

    def edit(
        self,
        changed: Mapping[str, Entry],
        message: str,
        change: EntryChange,
        pull_request: int | None = None,
        under: str | None = None,
    ) -> None:
        """Write the entries ``changed``, in R or in line, as edits of their files, but for what people refused."""
        kept = sorted(self.not_refused(changed, under).items())
        self._add(
            OfferStep(
                message=message,
                file_changes=tuple(self._edited(entry) for _, entry in kept),
                offered=tuple(
                    Offered(entry=entry, change=change, pull_request=pull_request, under=under) for _, entry in kept
                ),
            )
        )
        known = self.platform.regression_set.updated(dict(kept))
        self.platform = replace(self.platform, regression_set=known)

    def _edited(self, entry: Entry) -> FileChange:
        if entry.id in self.platform.regression_set.entries:
            return changes.admit(entry, self.texts({entry.id: entry})[entry.id])
        return changes.let_wait(entry)

    def _add(self, step: OfferStep) -> None:
        self._planned |= {change.path: change.content for change in step.file_changes}
        if step.file_changes:
            self.steps.append(step)


def _after(staging: Staging, platform: Platform) -> Platform:
    """``platform`` once ``staging`` has taken effect."""
    known = platform.regression_set
    entering = {entry.id: entry for entry in staging.admitted}
    gone = {entry.id for entry in staging.leaving}
    line = {id: entry for id, entry in known.waiting.items() if id not in entering and id not in gone}
    entries = {**known.entries, **entering}
    waiting = {**line, **{entry.id: entry for entry in staging.waiting}}
    graves = {id: item for id, item in known.tombstones.items() if id not in entries and id not in waiting}
    return replace(
        platform,
        regression_set=replace(
            known,
            entries=dict(sorted(entries.items())),
            waiting=dict(sorted(waiting.items())),
            tombstones=dict(sorted(graves.items())),
        ),
    )


def pinned(judgement: ReviewJudgement, platform: Platform) -> dict[str, Entry]:
    """The entries in R or in line whose pin is to be another, as they are then."""
    found = {}
    for item in judgement.decisions:
        entry = _entry_of(item, judgement, platform)
        if entry is not None and entry.pin != _wanted(item):
            found[entry.id] = entry.model_copy(update={"pin": _wanted(item)})
    return found


def is_done(item: DecisionRecord, judgement: ReviewJudgement, platform: Platform) -> bool:
    """Whether ``item`` is about a pin and has taken effect: later changes of that pin are other people's."""
    entry = _entry_of(item, judgement, platform)
    return entry is not None and entry.pin == _wanted(item)


def _wanted(item: DecisionRecord) -> str | None:
    return item.reason if item.action == "pin" else None


def _entry_of(item: DecisionRecord, judgement: ReviewJudgement, platform: Platform) -> Entry | None:
    """The entry that a decision on a pin is about, where there is one."""
    review = judgement.review
    if item.action not in ("pin", "unpin") or review is None:
        return None
    known: Mapping[str, Entry] = {**platform.regression_set.waiting, **platform.regression_set.entries}
    names = [name for name, entry in judgement.entries.items() if entry == item.entry]
    ids = [review.settled[name].id if name in review.settled else review.targets.get(name, "") for name in names]
    return next((known[id] for id in ids if id in known), None)


def follow_renames(inventory: Inventory, platform: Platform) -> dict[str, Entry]:
    """The entries whose query stands elsewhere by now, or says something else beside its text, as they are to be.

    A rename changes the source.  What is expected and the set-up are those of the eval set; where it says nothing of
    the set-up, what people wrote into the entry stays.
    """
    found = {}
    for facts in inventory.submissions:
        submission = facts.submission
        queries = {query.id: query for query in submission.queries}
        for name, entry in settle([submission], platform.regression_set).settled.items():
            if not isinstance(entry, Entry) or entry.source is None:
                continue
            customer, agent, item = submission.source(name)
            query = queries[name]
            # What was imported is its customer's from the moment when an eval set of theirs holds it.
            place = {"customer": customer, "agent": agent, "item": item, "eval_set": query.file, "imported": None}
            moved = entry.source.model_copy(update=place)
            changes = _changes(entry, query)
            if moved == entry.source and not changes:
                continue
            # An entry that came from a commit says in which its eval set is where it says.
            commit = entry.source.commit and inventory.base
            changes["source"] = moved.model_copy(update={"commit": commit})
            found[entry.id] = entry.model_copy(update=changes)
    return found


def _changes(entry: Entry, query: Query) -> dict[str, object]:
    """What the eval set says of the query beside its text, as far as the entry says something else."""
    setup = query.setup
    changes: dict[str, object] = {}
    if query.expected != entry.expected:
        changes["expected"] = query.expected
    if setup != entry.setup and (setup != Setup() or not entry.setup.ready):
        changes["setup"] = setup if setup != Setup() else replace(entry.setup, ready=True)
    return changes
