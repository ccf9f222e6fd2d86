"""Calibration: what ``incumbent calibrate`` prints, as JSON and as text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from pydantic import BaseModel, Field

from bot.calibration.calibrate import CalibrationFinding, SelfCheck
from bot.calibration.cross_validation import HeldOutAnswers, PredictionAgreement
from bot.calibration.evidence import KnobEvidence
from bot.calibration.fit import Estimate
from bot.calibration.override_filter import Drops
from bot.files.validation import Checked
from bot.report.escaping import code
from bot.text.compare import rounded


class AnswersOutput(BaseModel):
    """What people said, and how much of it may teach."""

    responses: int = Field(ge=0, description="all answers in the ledger")
    overrides: dict[str, Checked[Drops]] = Field(description="clause, in order: overrides that fail it")
    agreements: dict[str, Checked[Drops]] = Field(description="clause, in order: agreements that fail it")
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
    def of(item: KnobEvidence) -> EvidenceOutput:
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
    """What the answers make of one knob of one capability: of the evidence, counts and what speaks for a change."""

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


class ChangedOutput(BaseModel):
    """A past verdict that would be another one."""

    pull_request: int
    entry: str
    before: str = Field(description="in codes, under the present config")
    after: str = Field(description="in codes, with all proposals")


class CalibrateOutput(BaseModel):
    """`incumbent calibrate --json`."""

    ledger: bool = Field(description="whether there is a ledger here at all")
    answers: AnswersOutput
    estimates: list[EstimateOutput]
    replay: Checked[SelfCheck]
    changed: list[ChangedOutput]
    held_out: Checked[HeldOutAnswers] = Field(description="agreement on answers that the fit has not seen")
    config: str | None = Field(description="the config's text with all proposals; null where nothing is proposed")
    unread: int = Field(ge=0, description="faults of lines of the ledger that cannot be read and count for nothing")

    @staticmethod
    def of(finding: CalibrationFinding, *, ledger: bool, config: str | None, unread: int) -> CalibrateOutput:
        """``finding`` for output, with the ``config`` that is proposed and how much of the ledger is unreadable."""
        validated = finding.validated
        return CalibrateOutput(
            ledger=ledger,
            answers=AnswersOutput(
                responses=finding.responses,
                overrides={clause.value: item for clause, item in validated.overrides.items()},
                agreements={clause.value: item for clause, item in validated.agreements.items()},
                kept=len(validated.kept),
                silent=len(validated.silent),
                other_classifier=finding.other_classifier,
                other_definition=finding.other_definition,
                wrong_tag=finding.wrong_tag,
                about_knobs=finding.about,
                weights={name: rounded(weight) for name, weight in validated.weights.items()},
            ),
            estimates=[EstimateOutput.of(item) for item in finding.estimates],
            replay=finding.check,
            changed=[
                ChangedOutput(
                    pull_request=item.shown.pull_request, entry=item.shown.entry, before=item.before, after=item.after
                )
                for item in finding.changed
            ],
            held_out=finding.held_out,
            config=config,
            unread=unread,
        )


SHOWN = 10
"""How many answers and verdicts are named; the rest is counted."""

_CLAUSES = {
    "explicit": "not explicit: a merge without a word",
    "reason": "no reason given",
    "curator": "not by a curator",
    "not-author": "by the author of the query",
    "lasting": "reversed",
    "uncontradicted": "contradicted by another curator",
}
_OFFER = """\
People's validated answers speak for other values of some per-capability knobs; `docs/calibration.md` of the product
says which answers count, and how the values are found. Nothing changes unless this is merged. Closing it refuses these
values: they are not offered again.
"""
_UNITS = {
    "competence_bar": "at a score of",
    "winning_margin": "with a lead of",
    "redundancy_floor": "leaving coverers:",
}
_WHY_NOT = {
    "thin": "stays: fewer explicit answers than `calibration.minimum`",
    "close": "stays: the likeliest value is the present one, or close to it",
    "unsure": "stays: another value is likelier, but not by `calibration.least_gain`",
}


def calibration_lines(output: CalibrateOutput, name: Callable[[str], str] = str) -> list[str]:
    """The report; ``name`` escapes what people wrote: entries, logins and capabilities."""
    answers = output.answers
    lines = [
        f"answers in the ledger: {answers.responses}",
        f"kept as validated: {answers.kept}; of these about a knob: {answers.about_knobs}",
        f"merges without a comment, which overrides are counted against: {answers.silent}",
        f"excluded (scored by another classifier): {answers.other_classifier}",
        f"excluded (capability defined differently at the time): {answers.other_definition}",
        f"excluded (verdict on a tag that curators corrected): {answers.wrong_tag}",
        "rejected by each rule, overrides and agreements (in brackets: all that fail it):",
    ]
    for clause, words in _CLAUSES.items():
        over, agree = answers.overrides[clause], answers.agreements[clause]
        lines.append(f"  {words}: {over.first} ({over.all}) and {agree.first} ({agree.all})")
    light = {person: weight for person, weight in answers.weights.items() if weight < 1}
    lines += [
        f"  {name(person)} often disagrees with all others: weight {weight:.2f}" for person, weight in light.items()
    ]
    proposals = [item for item in output.estimates if item.outcome == "proposed"]
    lines.append(f"proposals: {len(proposals)}")
    for item in proposals:
        lines += _proposal(item, name)
    lines += [
        f"  {name(item.capability)} {item.knob} {item.present:g}: {_WHY_NOT[item.outcome]} "
        f"({item.words} explicit, {item.silent} silent)"
        for item in output.estimates
        if item.outcome != "proposed"
    ]
    check = output.replay
    lines.append(
        f"past verdicts: {check.shown}; judged again under the config at the time: {check.replayed}, "
        f"exactly as shown: {check.equal}"
    )
    lines.append(f"would be another verdict with the proposals: {len(output.changed)}")
    lines += [
        f"  #{item.pull_request} {name(item.entry)}: {item.before} -> {item.after}" for item in output.changed[:SHOWN]
    ]
    if len(output.changed) > SHOWN:
        lines.append(f"  and {len(output.changed) - SHOWN} more")
    held = output.held_out
    lines.append("agreement on answers that the fit had not seen, before and after:")
    lines.append(f"  explicit: {_agreement(held.explicit)}")
    lines.append(f"  silent: {_agreement(held.silent)}")
    lines.append(f"  answers whose verdict cannot be judged again: {held.lost}")
    return lines


def _proposal(item: EstimateOutput, name: Callable[[str], str]) -> list[str]:
    assert item.likeliest is not None
    present = len(item.raising) + len(item.lowering)
    return [
        f"  {name(item.capability)} {item.knob}: {item.present:g} -> {item.likeliest:g}",
        f"    {item.words} explicit answers and {item.silent} silent ones, weight {item.weight:.2f}",
        f"    on the wrong side: {present} before, {item.against} after; e^{item.gain:.1f} times likelier",
        *_pulling("raises it, not enough", item.raising, item, name),
        *_pulling("lowers it, enough", item.lowering, item, name),
    ]


def _pulling(words: str, evidence: list[EvidenceOutput], item: EstimateOutput, name: Callable[[str], str]) -> list[str]:
    lines = [
        f"    {words} {_UNITS[item.knob]} {each.at:g}: #{each.pull_request} {name(each.entry)}, "
        f"{'merged by' if each.silent else 'said'} {name(each.by)}"
        for each in evidence[:SHOWN]
    ]
    return [*lines, f"    and {len(evidence) - SHOWN} more"] if len(evidence) > SHOWN else lines


def _agreement(item: PredictionAgreement) -> str:
    if not item.count:
        return "none"
    shares = [f"{number} of {item.count} ({number / item.count:.0%})" for number in (item.before, item.after)]
    return ", then ".join(shares)


def description(output: CalibrateOutput) -> str:
    """The body of the pull request that offers the proposals, as Markdown."""
    lines = [f"{line[: len(line) - len(line.lstrip())]}- {line.lstrip()}" for line in calibration_lines(output, code)]
    return "\n".join([_OFFER, *lines, ""])
