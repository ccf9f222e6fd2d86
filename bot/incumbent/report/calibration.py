"""Calibration: what ``incumbent calibrate`` prints, as JSON and as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, TypeAlias

from pydantic import BaseModel, Field

from incumbent.files.validation import Checked
from incumbent.files.views import HowMany, View
from incumbent.ledger.calibration.calibrate import (
    CalibrationFinding,
    Changed,
    HeldOutAnswers,
    PredictionAgreement,
    SelfCheck,
)
from incumbent.ledger.calibration.evidence import KnobEvidence
from incumbent.ledger.calibration.fit import Estimate, KnobOutcome
from incumbent.ledger.calibration.override_filter import Clause
from incumbent.report.escaping import code

AnswersOutput: TypeAlias = Annotated[
    CalibrationFinding,
    View(
        "responses overrides=validated.overrides agreements=validated.agreements kept=validated.kept "
        "silent=validated.silent other_classifier other_definition wrong_tag about_knobs=about "
        "weights=validated.weights",
        rounds=True,
        kept=HowMany,
        silent=HowMany,
    ),
]
"""What people said, and how much of it may teach."""
EvidenceOutput: TypeAlias = Annotated[
    KnobEvidence,
    View(
        "pull_request=response.pull_request entry=response.entry by=response.by at enough=met silent weight",
        rounds=True,
    ),
]
EstimateOutput: TypeAlias = Annotated[
    Estimate,
    View(
        "knob capability outcome present likeliest low high missing gain words silent weight raising lowering against",
        raising=tuple[EvidenceOutput, ...],
        lowering=tuple[EvidenceOutput, ...],
        against=HowMany,
    ),
]
ChangedOutput: TypeAlias = Annotated[Changed, View("pull_request=shown.pull_request entry=shown.entry before after")]


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
        return CalibrateOutput(
            ledger=ledger,
            answers=finding,
            estimates=list(finding.estimates),
            replay=finding.check,
            changed=list(finding.changed),
            held_out=finding.held_out,
            config=config,
            unread=unread,
        )


SHOWN = 10
"""How many answers and verdicts are named; the rest is counted."""

_CLAUSES = {
    Clause.EXPLICIT: "not explicit: a merge without a word",
    Clause.REASON: "no reason given",
    Clause.CURATOR: "not by a curator",
    Clause.NOT_AUTHOR: "by the author of the query",
    Clause.LASTING: "reversed",
    Clause.UNCONTRADICTED: "contradicted by another curator",
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
    "thin": "stays: too few explicit answers",
    "close": "stays: the likeliest value is the present one, or close to it",
    "unsure": "stays: another value is likelier, but not by `calibration.least_gain`",
}


def calibration_lines(output: CalibrateOutput, name: Callable[[str], str] = str) -> list[str]:
    """The report; ``name`` escapes what people wrote: entries, logins and capabilities."""
    answers, validated = output.answers, output.answers.validated
    lines = [
        f"answers in the ledger: {answers.responses}",
        f"kept as validated: {len(validated.kept)}; of these about a knob: {answers.about}",
        f"merges without a comment, which overrides are counted against: {len(validated.silent)}",
        f"excluded (scored by another classifier): {answers.other_classifier}",
        f"excluded (capability defined differently at the time): {answers.other_definition}",
        f"excluded (verdict on a tag that curators corrected): {answers.wrong_tag}",
        "rejected by each rule, overrides and agreements (in brackets: all that fail it):",
    ]
    for clause, words in _CLAUSES.items():
        over, agree = validated.overrides[clause], validated.agreements[clause]
        lines.append(f"  {words}: {over.first} ({over.all}) and {agree.first} ({agree.all})")
    light = {person: weight for person, weight in validated.weights.items() if weight < 1}
    lines += [
        f"  {name(person)} often disagrees with all others: weight {weight:.2f}" for person, weight in light.items()
    ]
    proposals = [item for item in output.estimates if item.outcome is KnobOutcome.PROPOSED]
    lines.append(f"proposals: {len(proposals)}")
    for item in proposals:
        lines += _proposal(item, name)
    lines += [
        f"  {name(item.capability)} {item.knob} {item.present:g}: {_WHY_NOT[item.outcome]}{_missing(item)}; "
        f"{_interval(item)} ({item.words} explicit, {item.silent} silent)"
        for item in output.estimates
        if item.outcome is not KnobOutcome.PROPOSED
    ]
    check = output.replay
    lines.append(
        f"past verdicts: {check.shown}; judged again under the config at the time: {check.replayed}, "
        f"exactly as shown: {check.equal}"
    )
    lines.append(f"would be another verdict with the proposals: {len(output.changed)}")
    lines += [
        f"  #{item.shown.pull_request} {name(item.shown.entry)}: {item.before} -> {item.after}"
        for item in output.changed[:SHOWN]
    ]
    if len(output.changed) > SHOWN:
        lines.append(f"  and {len(output.changed) - SHOWN} more")
    held = output.held_out
    lines.append("agreement on answers that the fit had not seen, before and after:")
    lines.append(f"  explicit: {_agreement(held.explicit)}")
    lines.append(f"  silent: {_agreement(held.silent)}")
    lines.append(f"  answers whose verdict cannot be judged again: {held.lost}")
    return lines


def _interval(item: Estimate) -> str:
    return f"likely between {item.low:g} and {item.high:g}"


def _missing(item: Estimate) -> str:
    return "" if item.missing is None else f", about {item.missing} more explicit answers are missing"


def _proposal(item: Estimate, name: Callable[[str], str]) -> list[str]:
    assert item.likeliest is not None
    present = len(item.raising) + len(item.lowering)
    return [
        f"  {name(item.capability)} {item.knob}: {item.present:g} -> {item.likeliest:g}, {_interval(item)}",
        f"    {item.words} explicit answers and {item.silent} silent ones, weight {item.weight:.2f}",
        f"    on the wrong side: {present} before, {len(item.against)} after; e^{item.gain:.1f} times likelier",
        *_pulling("raises it, not enough", item.raising, item, name),
        *_pulling("lowers it, enough", item.lowering, item, name),
    ]


def _pulling(words: str, evidence: Sequence[KnobEvidence], item: Estimate, name: Callable[[str], str]) -> list[str]:
    lines = [
        f"    {words} {_UNITS[item.knob]} {each.at:g}: #{each.response.pull_request} {name(each.response.entry)}, "
        f"{'merged by' if each.silent else 'said'} {name(each.response.by)}"
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
