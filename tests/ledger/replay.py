"""What holds by the events alone: an oracle for the records of the ledger, which could be derived from them anew."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from incumbent.ledger.events import (
    Answered,
    Applied,
    Corrected,
    CorrectionEnded,
    Decided,
    Forgotten,
    LedgerEvent,
    Reopened,
    Requested,
    Settled,
    Withdrawn,
)
from incumbent.ledger.model import CommentKey, comment_order


@dataclass(frozen=True, kw_only=True)
class Standing:
    """What people said and still holds: ``decisions`` by pull request, ``refused`` suggestions, ``requests``, and
    ``corrections`` of tags.
    """

    decisions: Mapping[int, tuple[Decided, ...]] = field(default_factory=dict)
    refused: tuple[Answered, ...] = ()
    requests: tuple[Requested, ...] = ()
    corrections: tuple[Corrected, ...] = ()


def replay(events: Iterable[LedgerEvent]) -> Standing:
    """What stands after ``events``, which are in the order of their files.

    Of a person's words on one content the last one holds: admission is one matter, the pin another.
    """
    decisions: dict[tuple[int, str, bool], Decided] = {}
    refused: dict[int, Answered] = {}
    wanted: dict[tuple[str, str], Requested] = {}
    corrections: dict[tuple[str, str], Corrected] = {}
    ended: set[tuple[str, str, CommentKey]] = set()
    for event in events:
        match event:
            case Decided():
                decisions[_matter(event)] = event
            case Withdrawn() | Applied():
                said = decisions.get(_matter(event))
                if said is not None and (said.comment, said.action) == (event.comment, event.action):
                    del decisions[_matter(event)]
            case Forgotten(pull_request=number):
                decisions = {matter: item for matter, item in decisions.items() if matter[0] != number}
            case Answered(pull_request=number, agrees=agrees):
                refused.pop(number, None)
                if not agrees and not event.by_bot:
                    refused[number] = event
            case Reopened(pull_request=number):
                refused.pop(number, None)
            case Requested(entry=entry, action=action):
                wanted[entry, action] = event
            case Settled(entry=entry, action=action, comment=comment):
                asked = wanted.get((entry, action))
                if asked is not None and asked.comment == comment:
                    del wanted[entry, action]
            case Corrected(text=text, capability=capability):
                known = corrections.get((text, capability))
                # Files come by pull request.
                if known is None or _when(known) <= _when(event):
                    corrections[text, capability] = event
            case CorrectionEnded(text=text, capability=capability, comment=comment):
                ended.add((text, capability, comment))
            case _:
                pass
    numbers = sorted({matter[0] for matter in decisions})
    return Standing(
        decisions={
            number: tuple(item for matter, item in decisions.items() if matter[0] == number) for number in numbers
        },
        refused=tuple(item for _, item in sorted(refused.items())),
        requests=tuple(item for _, item in sorted(wanted.items())),
        corrections=tuple(item for key, item in sorted(corrections.items()) if (*key, item.comment) not in ended),
    )


def _when(event: Corrected) -> tuple[str, tuple[int, str]]:
    return event.at, comment_order(event.comment)


def _matter(event: Decided | Withdrawn | Applied) -> tuple[int, str, bool]:
    return event.pull_request, event.content, event.action in ("pin", "unpin")
