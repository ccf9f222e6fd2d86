"""An entry of the regression set as writers see it, and what they make of all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from bot.curator.entry import Entry
from bot.export.flat_values import carried_as
from bot.files.documents import Data
from bot.intake.expectation import Expectation, understand
from bot.intake.expectations.export_round_trip import bare, carried, without_carried


@dataclass(frozen=True)
class Item:
    """An entry to export.

    ``expected`` is what its customer's file says beside the turns, without what an earlier export left of an entry.
    """

    entry: Entry
    expected: Data

    @staticmethod
    def of(entry: Entry) -> Item:
        """``entry`` to export."""
        return Item(entry, without_carried(entry.expected))

    @property
    def id(self) -> str:
        """The entry's id, which stays the same from export to export."""
        return self.entry.id

    @property
    def turns(self) -> tuple[str, ...]:
        """What the user says."""
        return self.entry.turns

    @cached_property
    def expectation(self) -> Expectation:
        """The expected answers and tool calls, whatever format they came in."""
        return understand(self.expected, len(self.turns))

    def is_said(self, kept: Mapping[str, Data]) -> bool:
        """Whether the fields that a reader has ``kept`` say just what was expected, as the customer wrote it."""
        if self.expected is None:
            return True
        stated = bare(self.expected) if carried(self.expected) else self.expected
        return bool(stated) and bare(dict(kept)) == stated

    def record(self, *, said: bool) -> dict[str, Data]:
        """What the target carries of the entry under the key ``incumbent``.

        What was expected is part of it, unless the target's own fields have ``said`` all of it: unchanged, or as JSON
        in a string where it is not flat.
        """
        entry = self.entry
        record: dict[str, Data] = {
            "id": entry.id,
            "capabilities": [*sorted(entry.scores)],
            "source": None if entry.source is None else entry.source.model_dump(mode="json"),
            "setup": entry.setup.model_dump(mode="json"),
        }
        beyond = carried(self.expected).get("expected") if said else self.expected
        return record if beyond is None else {**record, **carried_as(beyond)}


@dataclass(frozen=True, slots=True)
class Remark:
    """What people should know of an entry: why it was left out, or what of it the target cannot use."""

    id: str
    message: str


@dataclass(frozen=True, slots=True)
class Written:
    """The files of an export, name → text, and remarks on what of an entry the target does not use."""

    files: Mapping[str, str]
    remarks: tuple[Remark, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """One format.

    ``name`` is what ``--to`` takes, ``title`` describes the format to people.  ``obstacle`` says why the format cannot
    say an entry so that its runner asks just that, or ``None``; ``write`` says those that it can, in the order given.
    ``returns`` gives what the format's reader keeps of an entry that ``write`` wrote, but for its record; several ways
    if that depends on the entries beside it, none if the format has no place for a record.
    ``attaches`` if the runner knows from a name what to attach.
    """

    name: str
    title: str
    obstacle: Callable[[Item], str | None]
    write: Callable[[Sequence[Item]], Written]
    returns: Callable[[Item], Iterable[Mapping[str, Data]]] = lambda item: ()
    attaches: bool = False
