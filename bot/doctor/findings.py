"""What a diagnosis is made of, and the places on GitHub that it names (pure)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from bot.doctor.settings import Unread

Severity: TypeAlias = Literal["error", "warning", "ok"]

GENERAL: Final = "Settings → Actions → General"
RULES: Final = "Settings → Rules → Rulesets"
BRANCHES: Final = "Settings → Branches"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was examined: ``what`` is so, ``why`` it matters, and what to ``change``, by its exact place.

    ``about`` is the part of the set-up, for grouping.  With ``ok`` there is nothing to change.
    """

    severity: Severity
    about: str
    what: str
    why: str = ""
    change: str = ""


def bad(about: str, what: str, why: str, change: str) -> Finding:
    """Something that stops a flow, or makes it unsafe."""
    return Finding(severity="error", about=about, what=what, why=why, change=change)


def doubtful(about: str, what: str, why: str, change: str) -> Finding:
    """Something to know or to better; the flows run all the same."""
    return Finding(severity="warning", about=about, what=what, why=why, change=change)


def good(about: str, what: str) -> Finding:
    """Something that is as it should be."""
    return Finding(severity="ok", about=about, what=what)


def unchecked(about: str, what: str, unread: Unread, why: str) -> Finding:
    """Something that could not be read with the token at hand."""
    return doubtful(
        about,
        f"{what} could not be checked: {unread.reason}",
        why,
        unread.settle or f"run `incumbent doctor` with a token that has the right {unread.right}",
    )


def unreachable(repository: str, status: int, reason: str) -> Finding:
    """The finding where the repository itself cannot be read: nothing else can be said."""
    if status == 401:
        return bad(
            "token",
            f"GitHub does not accept the token: {reason}",
            "nothing can be read or written with it",
            "set GITHUB_TOKEN or GH_TOKEN to a token that has not expired (`gh auth token` prints yours)",
        )
    return bad(
        "repository",
        f"{repository} cannot be read: {reason}",
        "it does not exist, or the token may not see it",
        "check --repository, and grant the token the right Metadata: read for this repository",
    )
