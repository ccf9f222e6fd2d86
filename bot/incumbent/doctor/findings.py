"""What a diagnosis finds, as values, and what ``incumbent doctor --json`` prints of it (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from pydantic import BaseModel, Field

from incumbent.files.validation import Checked

Severity: TypeAlias = Literal["error", "warning", "ok"]

GENERAL: Final = "Settings → Actions → General"
RULES: Final = "Settings → Rules → Rulesets"
BRANCHES: Final = "Settings → Branches"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadSetting:
    """A setting that could not be read: the ``right`` that the token would need, and GitHub's answer.

    ``settle`` is what to do about it where no right would help.
    """

    right: str
    reason: str
    settle: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupFinding:
    """One thing that was examined: ``what`` is so, ``why`` it matters, and what to ``change``, by its exact place.

    ``about`` is the part of the set-up, for grouping.  With ``ok`` there is nothing to change.
    """

    severity: Severity
    about: str
    what: str
    why: str = ""
    change: str = ""


def bad(about: str, what: str, why: str, change: str) -> SetupFinding:
    """A finding that stops a flow, or makes it unsafe."""
    return SetupFinding(severity="error", about=about, what=what, why=why, change=change)


def doubtful(about: str, what: str, why: str, change: str) -> SetupFinding:
    """A finding to know or improve; the flows run nevertheless."""
    return SetupFinding(severity="warning", about=about, what=what, why=why, change=change)


def good(about: str, what: str) -> SetupFinding:
    """A finding that is as it should be."""
    return SetupFinding(severity="ok", about=about, what=what)


def unchecked(about: str, what: str, unread: UnreadSetting, why: str) -> SetupFinding:
    """A setting that the token cannot read."""
    return doubtful(
        about,
        f"{what} could not be checked: {unread.reason}",
        why,
        unread.settle or f"run `incumbent doctor` with a token that has the right {unread.right}",
    )


def unreachable(repository: str, status: int, reason: str) -> SetupFinding:
    """The finding if the repository itself cannot be read: nothing else can be examined."""
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


class DoctorOutput(BaseModel):
    """`incumbent doctor --json`."""

    repository: str
    errors: int = Field(ge=0, description="how many findings are errors; the exit code is 1 when there is one")
    warnings: int = Field(ge=0)
    findings: list[Checked[SetupFinding]]

    @staticmethod
    def of(repository: str, findings: Sequence[SetupFinding]) -> DoctorOutput:
        return DoctorOutput(
            repository=repository,
            errors=sum(item.severity == "error" for item in findings),
            warnings=sum(item.severity == "warning" for item in findings),
            findings=list(findings),
        )
