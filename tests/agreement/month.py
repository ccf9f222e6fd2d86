"""A month of a curated repository as its events tell it, and a little more; its counts were worked out by hand."""

from __future__ import annotations

from typing import Any

from incumbent.ledger.events import Closed, LedgerEvent
from tests.agreement.factories import ADMIT, answered, by_hand, day, decided, facts, passed, requested, shown

NOVEL = "INCLUDE review NOVEL_COMBO"
UNSURE = "INCLUDE review NOVEL_COMBO LOW_CONFIDENCE"
BEATS = "REPLACE direct DOMINATES"
LEAVE = "EXCLUDE direct REDUNDANT"


def _said(
    entry: str, codes: str, who: str, action: Any, when: int, comment: int, reason: str | None = None
) -> LedgerEvent:
    return decided(entry, codes, by=who, action=action, at=day(when), comment=comment, reason=reason)


EVENTS: tuple[LedgerEvent, ...] = (
    shown("q1", ADMIT, facts=facts(new=("a",))),
    shown("q2", ADMIT, facts=facts(new=("b",))),
    shown("q3", NOVEL),
    shown("q4", UNSURE),
    shown("q5", LEAVE),
    shown("q6", BEATS, facts=facts(won={"a": 0.5}, displaces=("e1",))),
    # Two people want one in, they differ on the next two, and one of them overrides a replacement.
    _said("q3", NOVEL, "ann", "accept", 2, 1),
    _said("q3", NOVEL, "bob", "accept", 3, 2),
    _said("q4", UNSURE, "ann", "reject", 2, 3, "Too narrow."),
    _said("q4", UNSURE, "bob", "accept", 3, 4),
    _said("q5", LEAVE, "ann", "accept", 4, 5, "We need it."),
    _said("q5", LEAVE, "Bob", "reject", 4, 6),
    _said("q6", BEATS, "ann", "reject", 5, 7, "too  narrow."),
    _said("q1", ADMIT, "ann", "pin", 5, 8, "Ours."),
    # The merge lets two pass, of which one is undone.
    Closed(at=day(10), pull_request=7, commit="c" * 40),
    passed("q1", ADMIT, at=day(10)),
    passed("q2", ADMIT, at=day(10)),
    requested("q2", at=day(20)),
    # Suggestions: one is merged, one closed by a person, one by the bot.
    answered("e1", at=day(21)),
    answered("e2", at=day(22), by="bob", agrees=False),
    answered("e3", at=day(23), by="incumbent[bot]", by_bot=True, agrees=False),
    by_hand(at=day(24), changed=("q3",)),
    # Somebody thinks better of it in April.
    _said("q7", NOVEL, "ann", "accept", 25, 9),
    decided("q7", NOVEL, by="ann", action="reject", at=day(2, month=4), comment=10),
)
