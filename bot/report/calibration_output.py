"""What ``incumbent calibrate --json`` prints, as models: a documented, stable schema."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from bot.calibration.calibrate import Finding
from bot.calibration.cross_validation import Agreement
from bot.calibration.evidence import Evidence
from bot.calibration.fit import Estimate
from bot.calibration.override_filter import Drops
from bot.text.compare import rounded


class DropsOutput(BaseModel):
    """How many answers fail one clause."""

    first: int = Field(ge=0, description="and no clause before it: these it drops")
    all: int = Field(ge=0, description="whatever else they fail")

    @staticmethod
    def of(item: Drops) -> DropsOutput:
        """``item`` for output."""
        return DropsOutput(first=item.first, all=item.all)


class AnswersOutput(BaseModel):
    """What people said, and how much of it may teach."""

    responses: int = Field(ge=0, description="all answers in the ledger")
    overrides: dict[str, DropsOutput] = Field(description="clause, in order: overrides that fail it")
    agreements: dict[str, DropsOutput] = Field(description="clause, in order: agreements that fail it")
    kept: int = Field(ge=0, description="answers that pass every clause")
    silent: int = Field(ge=0, description="merges without a word, that overrides are counted against")
    other_classifier: int = Field(
        ge=0, description="of both, those on scores of another classifier: they teach nothing"
    )
    other_definition: int = Field(
        ge=0,
        description="of the others, those on scores under another definition of a capability, or one that is not "
        "known: they teach nothing of it",
    )
    wrong_tag: int = Field(
        ge=0, description="of the others, those on a verdict that rested on a tag which curators corrected"
    )
    about_knobs: int = Field(ge=0, description="answers kept that speak of a knob at all")
    weights: dict[str, float] = Field(description="person: what each of their answers weighs, in (0, 1]")


class EvidenceOutput(BaseModel):
    """One answer, as far as it is about one knob."""

    pull_request: int
    entry: str
    by: str
    at: float = Field(description="the score, the lead over the champion, or the coverers that remain")
    enough: bool = Field(description="whether that is enough for the person")
    silent: bool
    weight: float = Field(gt=0, le=1)

    @staticmethod
    def of(item: Evidence) -> EvidenceOutput:
        """``item`` for output."""
        return EvidenceOutput(
            pull_request=item.response.pull_request,
            entry=item.response.entry,
            by=item.response.by,
            at=rounded(item.at),
            enough=item.met,
            silent=item.silent,
            weight=rounded(item.weight),
        )


class EstimateOutput(BaseModel):
    """What the answers make of one knob of one capability."""

    knob: Literal["competence_bar", "winning_margin", "redundancy_floor"]
    capability: str
    outcome: Literal["proposed", "thin", "close", "unsure"]
    present: float
    likeliest: float | None = Field(description="null where there are fewer explicit answers than `minimum`")
    gain: float = Field(ge=0, description="natural logarithm of how much likelier that is than the present value")
    words: int = Field(ge=0, description="explicit answers")
    silent: int = Field(ge=0, description="merges without a word")
    weight: float = Field(ge=0, description="what all of these weigh")
    raising: list[EvidenceOutput] = Field(description="answers that the present value is too low for")
    lowering: list[EvidenceOutput] = Field(description="answers that the present value is too high for")
    against: int = Field(ge=0, description="answers on the wrong side of the likeliest value")

    @staticmethod
    def of(item: Estimate) -> EstimateOutput:
        """``item`` for output."""
        return EstimateOutput(
            knob=item.knob.value,
            capability=item.capability,
            outcome=item.outcome.value,
            present=item.present,
            likeliest=item.likeliest,
            gain=item.gain,
            words=item.words,
            silent=len(item.evidence) - item.words,
            weight=item.weight,
            raising=[EvidenceOutput.of(each) for each in item.raising],
            lowering=[EvidenceOutput.of(each) for each in item.lowering],
            against=len(item.against),
        )


class ReplayOutput(BaseModel):
    """How far replays can be trusted."""

    shown: int = Field(ge=0, description="verdicts that were shown")
    replayed: int = Field(ge=0, description="those that could be judged again under the config of then")
    equal: int = Field(ge=0, description="those of them that came back exactly as they were shown")


class ChangedOutput(BaseModel):
    """A past verdict that would be another one."""

    pull_request: int
    entry: str
    before: str = Field(description="in codes, under the config as it is")
    after: str = Field(description="in codes, with all proposals")


class HeldOutAgreement(BaseModel):
    """Verdicts that do what the person wanted, of those that people answered."""

    count: int = Field(ge=0)
    before: int = Field(ge=0, description="under the config as it is")
    after: int = Field(ge=0, description="with what was fitted to the other answers")

    @staticmethod
    def of(item: Agreement) -> HeldOutAgreement:
        """``item`` for output."""
        return HeldOutAgreement(count=item.count, before=item.before, after=item.after)


class HeldOutOutput(BaseModel):
    """Agreement on answers that the fit has not seen."""

    explicit: HeldOutAgreement
    silent: HeldOutAgreement
    lost: int = Field(ge=0, description="answers whose verdict cannot be judged again")


class CalibrateOutput(BaseModel):
    """`incumbent calibrate --json`."""

    ledger: bool = Field(description="whether there is a ledger here at all")
    answers: AnswersOutput
    estimates: list[EstimateOutput]
    replay: ReplayOutput
    changed: list[ChangedOutput]
    held_out: HeldOutOutput
    config: str | None = Field(description="the config's text with all proposals; null where nothing is proposed")
    unread: int = Field(ge=0, description="faults of lines of the ledger that cannot be read and count for nothing")

    @staticmethod
    def of(finding: Finding, *, ledger: bool, config: str | None, unread: int) -> CalibrateOutput:
        """``finding`` for output, with the ``config`` that is proposed and how much of the ledger is unreadable."""
        validated = finding.validated
        return CalibrateOutput(
            ledger=ledger,
            answers=AnswersOutput(
                responses=finding.responses,
                overrides={clause.value: DropsOutput.of(item) for clause, item in validated.overrides.items()},
                agreements={clause.value: DropsOutput.of(item) for clause, item in validated.agreements.items()},
                kept=len(validated.kept),
                silent=len(validated.silent),
                other_classifier=finding.other_classifier,
                other_definition=finding.other_definition,
                wrong_tag=finding.wrong_tag,
                about_knobs=finding.about,
                weights={name: rounded(weight) for name, weight in validated.weights.items()},
            ),
            estimates=[EstimateOutput.of(item) for item in finding.estimates],
            replay=ReplayOutput(shown=finding.check.shown, replayed=finding.check.replayed, equal=finding.check.equal),
            changed=[
                ChangedOutput(
                    pull_request=item.shown.pull_request, entry=item.shown.entry, before=item.before, after=item.after
                )
                for item in finding.changed
            ],
            held_out=HeldOutOutput(
                explicit=HeldOutAgreement.of(finding.held_out.words),
                silent=HeldOutAgreement.of(finding.held_out.silent),
                lost=finding.held_out.lost,
            ),
            config=config,
            unread=unread,
        )
