"""What the classifier remarks on queries: an eval set that expects other calls of tools, and text it cannot judge."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel, Field

from bot.classifier.model import Classification, Contradiction, Unfamiliar
from bot.report.wording import Voice, contradicts, is_unfamiliar
from bot.text.masking import masked


class ContradictionOutput(BaseModel):
    """Where an eval set expects other calls of tools than the classifier; the calls that it expects count."""

    expected: list[str] = Field(description="tools that the eval set expects, without secrets; empty: no call")
    likeliest: list[str] = Field(description="tools that the classifier expected, step by step; empty: no call")
    probability: float = Field(ge=0, le=1, description="that a tool is called, as the classifier expected")

    @staticmethod
    def of(found: Contradiction) -> ContradictionOutput:
        """``found`` for output."""
        return ContradictionOutput(
            expected=[masked(name) for name in found.expected],
            likeliest=[masked(name) for name in found.likeliest],
            probability=found.probability,
        )

    @property
    def contradiction(self) -> Contradiction:
        """It as it was found, but for secrets."""
        return Contradiction(
            expected=tuple(self.expected), likeliest=tuple(self.likeliest), probability=self.probability
        )


class RemarksOutput(BaseModel):
    """What the classifier remarks on queries, or on entries, by their ids."""

    contradictions: dict[str, ContradictionOutput] = Field(
        description="where the eval set expects other calls of tools than the classifier; those that it expects count"
    )
    unfamiliar: dict[str, Unfamiliar] = Field(description="why the classifier cannot judge this kind of text")

    def lines(self, voice: Voice) -> list[str]:
        """The remarks, a sentence or two each."""
        found = [contradicts(id, item.contradiction, voice) for id, item in self.contradictions.items()]
        return found + [is_unfamiliar(id, why, voice) for id, why in self.unfamiliar.items()]


def remarks_on(items: Iterable[Classification]) -> RemarksOutput:
    """The remarks on ``items``."""
    found = tuple(items)
    return RemarksOutput(
        contradictions={
            item.query_id: ContradictionOutput.of(item.contradiction)
            for item in found
            if item.contradiction is not None
        },
        unfamiliar={item.query_id: item.unfamiliar for item in found if item.unfamiliar is not None},
    )
