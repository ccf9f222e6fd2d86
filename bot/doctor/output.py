"""What ``incumbent doctor --json`` prints, as models (``incumbent schema doctor-output``)."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field

from bot.doctor.model import SetupFinding
from bot.files.validation import Checked


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
