"""What ``incumbent migrate --json`` prints."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from bot.report.output import LagOutput
from bot.taxonomy.changes import Change


class TaxonomyChangeOutput(BaseModel):
    """One difference between two taxonomies."""

    kind: str
    ids: list[str] = Field(description="capabilities or groups concerned")
    sentence: str
    step: Literal["patch", "minor", "major"] = Field(description="the least step of the version that it asks")

    @staticmethod
    def of(change: Change) -> TaxonomyChangeOutput:
        """``change`` for output."""
        return TaxonomyChangeOutput(
            kind=change.kind.value, ids=list(change.ids), sentence=change.sentence, step=change.step.value
        )


class MigrateOutput(BaseModel):
    """`incumbent migrate --json`."""

    commit: str = Field(description="whose taxonomy that of the working tree was compared with")
    from_version: str
    to_version: str
    changes: list[TaxonomyChangeOutput] = Field(description="the weightiest first")
    renames: dict[str, str] = Field(description="old id: new id")
    splits: dict[str, list[str]] = Field(description="old id: its parts")
    files: list[str] = Field(description="the files written, or that would be")
    lagging: list[LagOutput] = Field(description="entries to classify again, those that wait for a slot too")
    dry_run: bool
