"""What ``incumbent doctor --json`` prints, as models (``incumbent schema doctor-output``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, Field

from bot.doctor.model import Finding


class FindingOutput(BaseModel):
    """One thing that was examined."""

    severity: Literal["error", "warning", "ok"] = Field(
        description="error: it stops a flow or makes it unsafe; warning: to know or to better, or not to be read"
    )
    about: str = Field(description="the part of the set-up, such as `workflow` or `ledger`")
    what: str
    why: str = Field(description="why it matters; empty with ok")
    change: str = Field(description="the setting or command to change it with; empty with ok")


class DoctorOutput(BaseModel):
    """`incumbent doctor --json`."""

    repository: str
    errors: int = Field(ge=0, description="how many findings are errors; the exit code is 1 when there is one")
    warnings: int = Field(ge=0)
    findings: list[FindingOutput]

    @staticmethod
    def of(repository: str, findings: Sequence[Finding]) -> DoctorOutput:
        """``findings`` about ``repository`` for output."""
        return DoctorOutput(
            repository=repository,
            errors=sum(item.severity == "error" for item in findings),
            warnings=sum(item.severity == "warning" for item in findings),
            findings=[
                FindingOutput(
                    severity=item.severity, about=item.about, what=item.what, why=item.why, change=item.change
                )
                for item in findings
            ],
        )
