"""What ``incumbent candidates --json`` prints, as a model (``incumbent schema candidates-output``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, TypeAlias

from pydantic import BaseModel, Field

from bot.classifier.usage import Usage
from bot.extension.model import DistinctiveTrait, ExtensionCandidate, Member
from bot.files.views import View
from bot.report.output import UsageOutput

CandidateOutput: TypeAlias = Annotated[
    ExtensionCandidate,
    View(
        "id name group description named_by kind belongs_to core customers signals surprise excess "
        "cohesion telling queries=members positive negative",
        telling=tuple[
            Annotated[DistinctiveTrait, View("trait=trait.words members observed expected surprise")],
            ...,
        ],
        queries=tuple[Annotated[Member, View("id turns signals")], ...],
    ),
]
"""As people read it: traits in words, and signals counted."""


class CandidatesOutput(BaseModel):
    """The candidates, the most surprising first."""

    observed: int = Field(description="queries that were looked at")
    candidates: list[CandidateOutput]
    usage: UsageOutput | None = Field(description="what asking a language model has cost; null: none was asked")

    @staticmethod
    def of(observed: int, candidates: Sequence[ExtensionCandidate], usage: Usage | None) -> CandidatesOutput:
        """``candidates`` among so many queries for output."""
        return CandidatesOutput(observed=observed, candidates=list(candidates), usage=usage)
