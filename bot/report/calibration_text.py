"""What people's answers teach, in lines: for the console, and for the pull request that offers it."""

from __future__ import annotations

from collections.abc import Callable

from bot.report.calibration_output import CalibrateOutput, EstimateOutput, EvidenceOutput, HeldOutAgreement
from bot.report.escaping import code

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
        f"merges without a word, which overrides are counted against: {answers.silent}",
        f"left out of both, on scores of another classifier than the present one: {answers.other_classifier}",
        f"left out of both as far as the capability was defined otherwise then: {answers.other_definition}",
        f"left out of both, on verdicts that rested on a tag which curators corrected: {answers.wrong_tag}",
        "dropped by each clause, as overrides and as agreements (in brackets: failing it, whatever else):",
    ]
    for clause, words in _CLAUSES.items():
        over, agree = answers.overrides[clause], answers.agreements[clause]
        lines.append(f"  {words}: {over.first} ({over.all}) and {agree.first} ({agree.all})")
    light = {person: weight for person, weight in answers.weights.items() if weight < 1}
    lines += [f"  {name(person)} stands alone often: weight {weight:.2f}" for person, weight in light.items()]
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
        f"past verdicts: {check.shown}; judged again under the config of then: {check.replayed}, "
        f"of which exactly as shown: {check.equal}"
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


def _agreement(item: HeldOutAgreement) -> str:
    if not item.count:
        return "none"
    shares = [f"{number} of {item.count} ({number / item.count:.0%})" for number in (item.before, item.after)]
    return ", then ".join(shares)


def description(output: CalibrateOutput) -> str:
    """The body of the pull request that offers the proposals, as Markdown."""
    lines = [f"{line[: len(line) - len(line.lstrip())]}- {line.lstrip()}" for line in calibration_lines(output, code)]
    return "\n".join([_OFFER, *lines, ""])
