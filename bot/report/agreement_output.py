"""What ``incumbent agreement --json`` prints, as models: a documented, stable schema."""

from __future__ import annotations

from pydantic import BaseModel, Field

from bot.agreement.agreement import Agreement, Overridden, Row, Share
from bot.text.compare import rounded
from bot.text.masking import masked


class ShareOutput(BaseModel):
    """How many responses want what was decided."""

    count: int = Field(ge=0)
    agreed: int = Field(ge=0)
    share: float | None = Field(ge=0, le=1, description="null of no responses")
    low: float | None = Field(ge=0, le=1, description="lower bound of Wilson's 95 % interval; null of no responses")
    high: float | None = Field(ge=0, le=1, description="its upper bound")

    @staticmethod
    def of(item: Share) -> ShareOutput:
        """``item`` for output."""
        bounds = item.interval
        return ShareOutput(
            count=item.count,
            agreed=item.agreed,
            share=None if item.share is None else rounded(item.share),
            low=None if bounds is None else rounded(bounds.low),
            high=None if bounds is None else rounded(bounds.high),
        )


class RowOutput(BaseModel):
    """Responses of one kind."""

    explicit: ShareOutput = Field(description="commands, and merges and closings of suggestions")
    implicit: ShareOutput = Field(description="verdicts that a merge let pass; always in agreement")
    several: int = Field(ge=0, description="verdicts and suggestions that several people judged explicitly")
    alpha: float | None = Field(le=1, description="Krippendorff's alpha of these people; null where it is undefined")

    @staticmethod
    def of(item: Row) -> RowOutput:
        """``item`` for output."""
        return RowOutput(
            explicit=ShareOutput.of(item.explicit),
            implicit=ShareOutput.of(item.implicit),
            several=item.several,
            alpha=None if item.alpha is None else rounded(item.alpha),
        )


class MonthOutput(BaseModel):
    """Responses of one month."""

    explicit: ShareOutput
    implicit: ShareOutput


class SaidOutput(BaseModel):
    """A reason that people gave."""

    text: str = Field(description="as it was first written; what looks like a secret is not repeated")
    count: int = Field(ge=1, description="responses with this reason, case and white space aside")
    overrides: int = Field(ge=0, description="those of them that want something else than was decided")


class OverriddenOutput(BaseModel):
    """A capability that overridden verdicts rest on."""

    capability: str
    overrides: int = Field(ge=1)
    answers: int = Field(ge=1, description="all answered verdicts that rest on it")
    implicit: int = Field(ge=0, description="those of them that a merge let pass")
    low: float = Field(ge=0, le=1, description="lower bound of Wilson's 95 % interval of overrides in answers")
    high: float = Field(ge=0, le=1, description="its upper bound")

    @staticmethod
    def of(item: Overridden) -> OverriddenOutput:
        """``item`` for output."""
        return OverriddenOutput(
            capability=item.capability,
            overrides=item.overrides,
            answers=item.answers,
            implicit=item.implicit,
            low=rounded(item.interval.low),
            high=rounded(item.interval.high),
        )


class ReversedOutput(BaseModel):
    """Responses that did not last; they count nowhere else."""

    explicit: int = Field(ge=0)
    implicit: int = Field(ge=0)


class AgreementOutput(BaseModel):
    """`incumbent agreement --json`."""

    ledger: bool = Field(description="whether there is a ledger here at all")
    since: str | None = Field(description="responses from this time on; null: from the first")
    until: str | None = Field(description="responses before this time; null: to the last")
    by: str | None = Field(description="responses of this person alone")
    people: int = Field(ge=0, description="people whose responses count")
    overall: RowOutput
    decisions: dict[str, RowOutput]
    routes: dict[str, RowOutput]
    reasons: dict[str, RowOutput] = Field(description="reason codes of verdicts, and kinds of suggestions")
    months: dict[str, MonthOutput] = Field(description="calendar month in UTC, such as 2026-03")
    said: list[SaidOutput] = Field(description="the most frequent first")
    overridden: list[OverriddenOutput] = Field(description="by the lower bound, the highest first")
    reversed: ReversedOutput
    unread: int = Field(ge=0, description="faults of lines of the ledger that cannot be read and count for nothing")

    @staticmethod
    def of(
        agreement: Agreement,
        *,
        ledger: bool,
        since: str | None = None,
        until: str | None = None,
        by: str | None = None,
        unread: int = 0,
    ) -> AgreementOutput:
        """``agreement`` for output, with what was asked and how much of the ledger could not be read."""
        return AgreementOutput(
            ledger=ledger,
            since=since,
            until=until,
            by=by,
            people=agreement.people,
            overall=RowOutput.of(agreement.overall),
            decisions={item.name: RowOutput.of(item) for item in agreement.decisions},
            routes={item.name: RowOutput.of(item) for item in agreement.routes},
            reasons={item.name: RowOutput.of(item) for item in agreement.reasons},
            months={
                item.month: MonthOutput(explicit=ShareOutput.of(item.explicit), implicit=ShareOutput.of(item.implicit))
                for item in agreement.months
            },
            said=[
                SaidOutput(text=masked(item.text), count=item.count, overrides=item.overrides)
                for item in agreement.said
            ],
            overridden=[OverriddenOutput.of(item) for item in agreement.overridden],
            reversed=ReversedOutput(explicit=agreement.reversed_explicit, implicit=agreement.reversed_implicit),
            unread=unread,
        )
