"""R as the steps that are planned so far leave it; nothing is written yet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from bot.curator import file_changes as changes
from bot.curator.entry import Entry
from bot.curator.file_changes import FileChange
from bot.curator.staging import Staging
from bot.curator.store import entry_path, waiting_path
from bot.pipeline.review import Platform
from bot.reconcile.admission_pull_request import OfferStep, Refused
from bot.reconcile.entry_updates import with_entries
from bot.report.admission_pull_request import EntryChange, Offered


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
        self.platform = with_entries(self.platform, dict(kept))

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
