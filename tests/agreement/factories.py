"""Events and responses for tests, as they are in most cases."""

from __future__ import annotations

from typing import Any

from incumbent.ledger.agreement.responses import Response
from incumbent.ledger.events import (
    Answered,
    ChangedByHand,
    Corrected,
    CorrectionEnded,
    Decided,
    Passed,
    Requested,
    Settled,
    Shown,
    VerdictFacts,
    Withdrawn,
)
from incumbent.text.digests import digest

COMMIT = "c" * 40
ADMIT = "INCLUDE direct NEW_COVERAGE"
LEAVE = "EXCLUDE direct REDUNDANT"


def day(number: int, month: int = 3) -> str:
    """Noon of a day of March 2026, or of another month."""
    return f"2026-{month:02}-{number:02}T12:00:00Z"


def name_of(text: str) -> str:
    """A digest, as contents and verdicts have one."""
    return digest(text)


def facts(**more: Any) -> VerdictFacts:
    """Facts with a score for all that they rest on."""
    scores = {**dict.fromkeys((*more.get("new", ()), *more.get("won", ())), 0.9), "a": 0.9, "b": 0.6}
    defaults: dict[str, Any] = {"taxonomy": "1.0.0", "scores": scores, "similarity": 0.1}
    return VerdictFacts(**defaults | more)


def question(entry: str, codes: str) -> dict[str, Any]:
    """What an event on the query ``entry`` of pull request 7 is on."""
    content = name_of(entry)
    return {"pull_request": 7, "entry": entry, "content": content, "verdict": name_of(entry + codes), "codes": codes}


def shown(entry: str = "q1", codes: str = ADMIT, **more: Any) -> Shown:
    defaults: dict[str, Any] = {
        "at": day(1), "base": COMMIT, "head": "d" * 40, "place": 3, "author": "Author", "facts": facts(),
    }  # fmt: skip
    return Shown(**question(entry, codes) | defaults | more)


def decided(entry: str = "q1", codes: str = ADMIT, **more: Any) -> Decided:
    defaults: dict[str, Any] = {"at": day(2), "action": "accept", "by": "ann", "comment": 1}
    return Decided(**question(entry, codes) | defaults | more)


def withdrawn(of: Decided, at: str = day(9)) -> Withdrawn:
    return Withdrawn(
        at=at, pull_request=of.pull_request, entry=of.entry, content=of.content, action=of.action, comment=of.comment
    )


def corrected(entry: str = "q1", capability: str = "a", **more: Any) -> Corrected:
    """A curator's word that ``entry`` does not exercise a capability."""
    defaults: dict[str, Any] = {
        "at": day(2), "pull_request": 7, "entry": entry, "content": name_of(entry), "text": name_of(f"text of {entry}"),
        "capability": capability, "value": False, "by": "ann", "comment": 1,
    }  # fmt: skip
    return Corrected(**defaults | more)


def correction_ended(of: Corrected, at: str = day(9)) -> CorrectionEnded:
    return CorrectionEnded(at=at, text=of.text, capability=of.capability, comment=of.comment)


def passed(entry: str = "q1", codes: str = ADMIT, **more: Any) -> Passed:
    defaults: dict[str, Any] = {"at": day(3), "by": "max", "by_bot": False}
    return Passed(**question(entry, codes) | defaults | more)


def answered(entry: str = "q1", **more: Any) -> Answered:
    defaults: dict[str, Any] = {
        "at": day(4), "pull_request": 20, "branch": f"incumbent/evict/{entry}", "suggestion": "redundant",
        "entries": (entry,), "agrees": True, "by": "ann", "by_bot": False,
    }  # fmt: skip
    return Answered(**defaults | more)


def requested(entry: str = "q1", action: Any = "undo", **more: Any) -> Requested:
    defaults: dict[str, Any] = {"at": day(8), "entry": entry, "action": action, "by": "eve", "comment": 50}
    return Requested(**defaults | more)


def settled(entry: str = "q1", action: Any = "undo", **more: Any) -> Settled:
    """The end of a request without effect."""
    defaults: dict[str, Any] = {"at": day(9), "entry": entry, "action": action, "comment": 50, "happened": False}
    return Settled(**defaults | more)


def by_hand(**more: Any) -> ChangedByHand:
    defaults: dict[str, Any] = {"at": day(8), "commit": COMMIT, "pull_request": None, "by": "eve", "by_bot": False}
    return ChangedByHand(**defaults | more)


def response(**more: Any) -> Response:
    """An explicit agreement of Ann's with an admission; an event shows the verdict if it is said what that has."""
    defaults: dict[str, Any] = {
        "subject": "s1", "entry": "q1", "content": name_of("q1"), "decision": "INCLUDE", "route": "direct",
        "reasons": ("NEW_COVERAGE",), "agrees": True, "explicit": True, "by": "ann", "at": day(2), "pull_request": 7,
    }  # fmt: skip
    seen = {name: more.pop(name) for name in ("author", "base", "facts") if name in more}
    if any(value is not None for value in seen.values()):
        given: dict[str, Any] = {name: value for name, value in seen.items() if value is not None}
        more["seen"] = shown(more.get("entry", "q1"), **{"facts": None} | given)
    return Response(**defaults | more)
