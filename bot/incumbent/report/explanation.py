"""An explanation: what ``incumbent explain`` prints, as JSON and as text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, Field

from incumbent.classifier.model import Contradiction, Unfamiliar
from incumbent.classifier.usage import Usage
from incumbent.consolidator.counterfactuals import Absence, Change, KnobChange, ScoreChange
from incumbent.consolidator.explanation import CapabilityStanding
from incumbent.consolidator.verdict import Ruling, VerdictOutcome
from incumbent.files.validation import Checked
from incumbent.files.views import View
from incumbent.ledger.releases.history import EntryHistory
from incumbent.pipeline.explain import Explained
from incumbent.report.output import PreviewNote, Spent, VerdictOutput
from incumbent.report.query_context import remarks_on, without_secrets
from incumbent.report.results import record_words
from incumbent.report.verdict_text import PlainStyle, TextStyle, codes, counted, verdict_words, why_with_advice
from incumbent.text.compare import rounded

RulingOutput: TypeAlias = Annotated[Ruling, View("outcome decision route reasons", reasons=tuple[str, ...])]
InCycleOutput: TypeAlias = Annotated[
    VerdictOutcome, Field(description="what becomes of it if the whole cycle is judged so")
]
ContestOutput: TypeAlias = Annotated[
    CapabilityStanding,
    View("capability score competence_bar=bar champion champion_score=held winning_margin=margin path"),
]
ScoreChangeOutput: TypeAlias = Annotated[
    ScoreChange, View("capability now to distance then=ruling in_cycle", then=RulingOutput, in_cycle=InCycleOutput)
]
AbsenceOutput: TypeAlias = Annotated[
    Absence, View("id then=ruling in_cycle", then=RulingOutput, in_cycle=InCycleOutput)
]
KnobChangeOutput: TypeAlias = Annotated[
    KnobChange, View("knob capability now to then=ruling in_cycle", then=RulingOutput, in_cycle=InCycleOutput)
]


class ExplainOutput(BaseModel):
    """`incumbent explain --json`: why a verdict is what it is, and the smallest changes that would change its outcome.

    Each change is judged by the whole cascade.  `then` is the outcome with everything else as at the query's turn;
    `in_cycle` is the outcome if the whole cycle is judged with it, so that others may have entered before.
    """

    kind: Literal["query", "entry"] = Field(description="entry: judged as if it came today")
    verdict: VerdictOutput
    outcome: VerdictOutcome
    why: str = Field(description="the reason in plain words")
    pinned: list[str] = Field(description="what keeps an entry: champion:CAPABILITY or person:REASON")
    contradiction: Checked[Contradiction] | None = Field(
        description="null: the eval set does not contradict the classifier, or it is an entry"
    )
    unfamiliar: Unfamiliar | None = Field(
        description="why the classifier cannot judge this kind of text; null: it can, or it is an entry"
    )
    contests: list[ContestOutput] = Field(description="by capability that the query exercises")
    scores: list[ScoreChangeOutput] = Field(description="the smallest per capability and outcome, smallest first")
    absences: list[AbsenceOutput] = Field(description="each suffices alone; sorted by id")
    knobs: list[KnobChangeOutput] = Field(description="the smallest of each knob, global ones first")
    results: Checked[EntryHistory] | None = Field(
        description="what release runs said of the entry; null: it is a query, or there are no results here"
    )
    usage: Spent
    preview: PreviewNote
    left_out: int = Field(default=0, exclude=True, ge=0, description="changes that `most` cut off")

    @staticmethod
    def of(
        explained: Explained,
        usage: Usage | None = None,
        most: int | None = None,
        style: TextStyle | None = None,
        history: EntryHistory | None = None,
        preview: str | None = None,
    ) -> ExplainOutput:
        """``explained`` for output, with at most ``most`` changes of each kind; ``usage`` is what it has cost now.

        ``history`` is what release runs said of the entry; ``style`` is that of names in the reason (default: as they
        are); ``preview`` is why a quick model judged.
        """
        found, said = explained.explanation, explained.classification
        cut = [0 if most is None else max(0, len(all) - most) for all in (found.scores, found.absences, found.knobs)]
        return ExplainOutput(
            kind=explained.kind,
            verdict=explained.verdict,
            outcome=found.outcome,
            why=why_with_advice(explained.verdict, explained, style or PlainStyle(explained.platform.taxonomy)),
            pinned=list(explained.pinned),
            contradiction=None if said is None or said.contradiction is None else without_secrets(said.contradiction),
            unfamiliar=None if said is None else said.unfamiliar,
            contests=[replace(item, path=explained.path(item.capability)) for item in found.contests],
            scores=[replace(item, in_cycle=explained.in_cycle(item)) for item in found.scores[:most]],
            absences=[replace(item, in_cycle=explained.in_cycle(item)) for item in found.absences[:most]],
            knobs=[replace(item, in_cycle=explained.in_cycle(item)) for item in found.knobs[:most]],
            results=history,
            usage=usage,
            preview=preview,
            left_out=sum(cut),
        )


SHOWN = 3
"""Of each kind of change; JSON has all."""

_SHOWN_STEPS: Final = 1000


def explanation_lines(explained: Explained, history: EntryHistory | None = None) -> list[str]:
    """What ``explained`` says, line by line; ``history`` is what release runs said of the entry."""
    style = PlainStyle(explained.platform.taxonomy)
    found, verdict = explained.explanation, explained.verdict
    lines = [
        f"{style.name(verdict.id)}  {verdict_words(verdict)}  [{codes(verdict)}]",
        f"    {why_with_advice(verdict, explained, style)}",
    ]
    if explained.kind == "entry":
        held = ", ".join(style.quote(reason) for reason in explained.pinned)
        lines[0] += "  (as if it came today)"
        lines.append(f"    pinned: {held}" if held else "    not pinned")
    if history is not None:
        lines.append(f"    release runs: {record_words(history)}")
    if explained.classification is not None:
        lines += [f"    {line}" for line in remarks_on({verdict.id: explained.classification}).lines(style)]
    lines.append("")
    lines += _table(explained, style)
    lines += ["", f"It {found.outcome}. Smallest changes that would change the outcome:"]
    changes = [
        *_cut(explained, found.scores, "score"),
        *_cut(explained, found.absences, "absence"),
        *_cut(explained, found.knobs, "knob"),
    ]
    return lines + [f"    {line}" for line in changes or ["no single score, absence or knob changes it"]]


def _table(explained: Explained, style: PlainStyle) -> list[str]:
    lines = [f"    most like: {_similar(explained, style)}"]
    for item in explained.explanation.contests:
        reached = "at or above" if item.capability in explained.verdict.facts.competent else "below the bar"
        path = explained.path(item.capability)
        score = _number(item.score) if path is None else f"{_number(item.score)} ({path})"
        line = f"    {style.capability(item.capability)}: {score}, {reached} {_number(item.bar)}"
        if item.champion is None or item.held is None:
            lines.append(f"{line}; no champion")
        else:
            held = f"champion {style.name(item.champion)} has {_number(item.held)}"
            lines.append(f"{line}; {held}, to be beaten by more than {_number(item.margin)}")
    return lines


def _similar(explained: Explained, style: PlainStyle) -> str:
    facts = explained.verdict.facts
    if facts.most_similar is None:
        return "no entry"
    return f"{style.name(facts.most_similar)} ({_number(facts.max_similarity)})"


def _cut(explained: Explained, changes: Sequence[Change], what: str) -> list[str]:
    style = PlainStyle(explained.platform.taxonomy)
    lines = [f"{_change_text(change, style)}: {_then(explained, change)}" for change in changes[:SHOWN]]
    rest = len(changes) - SHOWN
    return lines if rest <= 0 else [*lines, f"({counted(rest, f'more {what}', f'more {what}s')}: --json)"]


def _change_text(change: Change, style: PlainStyle) -> str:
    match change:
        case ScoreChange(to=None):
            return f"{style.capability(change.capability)} not exercised (now {_number(change.now or 0.0)})"
        case ScoreChange(now=None):
            return f"{style.capability(change.capability)} exercised, at {_reached(change.to or 0.0, 0.0)}"
        case ScoreChange():
            by = (change.to or 0.0) - (change.now or 0.0)
            now = change.now or 0.0
            values = f"at {_reached(change.to or 0.0, now)} instead of {_number(now)} ({by:+.3f})"
            return f"{style.capability(change.capability)} {values}"
        case Absence():
            return f"without {style.name(change.id)}"
        case KnobChange():
            of = "" if change.capability is None else f" of {style.capability(change.capability)}"
            if float(change.to).is_integer() and float(change.now).is_integer():
                return f"{change.knob}{of} at {change.to:g} instead of {change.now:g}"
            return f"{change.knob}{of} at {_reached(change.to, change.now)} instead of {_number(change.now)}"


def _then(explained: Explained, item: Change) -> str:
    ruling, whole = item.ruling, explained.in_cycle(item)
    codes = " ".join((ruling.decision, ruling.route, *ruling.reasons))
    but = "" if whole is ruling.outcome else f"; with the whole cycle judged so, it {whole}"
    return f"{ruling.outcome} [{codes}]{but}"


def _number(value: float) -> str:
    """``value`` with two or three decimals."""
    shown = f"{value:.3f}"
    return shown.removesuffix("0")


def _reached(to: float, now: float) -> str:
    """The value ``to`` that turns a verdict, away from ``now``: to shown decimals that turn it as well."""
    away = math.ceil if to > now else math.floor
    return _number(away(rounded(to * _SHOWN_STEPS)) / _SHOWN_STEPS)
