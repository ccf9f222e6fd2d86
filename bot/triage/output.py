"""What ``incumbent triage --json`` prints."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from bot.files.views import View
from bot.triage.run import TriageOutcome
from bot.triage.shortlist import Chosen

ChosenOutput: TypeAlias = Annotated[
    Chosen,
    View(
        "id=query.id agent decision=verdict.ruling.decision route=verdict.ruling.route "
        "reasons=verdict.ruling.reasons rows",
        agent=Annotated[str, Field(description="the agent, as rows name it")],
    ),
]


class TriageOutput(BaseModel):
    """What a triage found; the folder has the tables."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    out: str = Field(description="the folder of eval set, report and tables")
    rows: int = Field(description="rows that could be read")
    unreadable: int = Field(description="rows that could not be read")
    texts: int = Field(description="rows without exact duplicates")
    representatives: int = Field(description="rows without near duplicates")
    settled: int = Field(description="representatives that are on record already")
    off_taxonomy: int = Field(description="representatives that exercise nothing of the taxonomy")
    unfamiliar: int = Field(description="representatives of a kind of text that the classifier cannot judge")
    merit: int = Field(description="representatives with merit against the present set")
    judged: int = Field(description="representatives with merit at their turn")
    shortlist: tuple[ChosenOutput, ...]

    @staticmethod
    def of(outcome: TriageOutcome, out: str) -> TriageOutput:
        counts = outcome.summary.counts
        return TriageOutput(
            out=out,
            rows=outcome.rows,
            unreadable=outcome.unreadable,
            texts=outcome.texts,
            representatives=counts.representatives,
            settled=counts.settled,
            off_taxonomy=counts.off_taxonomy,
            unfamiliar=counts.unfamiliar,
            merit=counts.merit,
            judged=outcome.shortlist.judged,
            shortlist=outcome.shortlist.chosen,
        )
