"""An explanation for a console."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from bot.consolidator.counterfactuals import Absence, Change, KnobChange, Outcome, ScoreChange
from bot.pipeline.explain import Explained
from bot.report.remarks import remarks_on
from bot.report.voices import PlainVoice
from bot.report.wording import codes, counted, verdict_words, why_with_advice
from bot.text.compare import rounded

SHOWN = 3
"""Of each kind of change; JSON has all."""

_SHOWN_STEPS: Final = 1000


def explanation_lines(explained: Explained) -> list[str]:
    """What ``explained`` says, line by line."""
    voice = PlainVoice(explained.platform.taxonomy)
    found, verdict = explained.explanation, explained.verdict
    lines = [
        f"{voice.name(verdict.id)}  {verdict_words(verdict)}  [{codes(verdict)}]",
        f"    {why_with_advice(verdict, explained, voice)}",
    ]
    if explained.kind == "entry":
        held = ", ".join(voice.quote(reason) for reason in explained.pinned)
        lines[0] += "  (as if it came today)"
        lines.append(f"    pinned: {held}" if held else "    not pinned")
    if explained.classification is not None:
        lines += [f"    {line}" for line in remarks_on([explained.classification]).lines(voice)]
    lines.append("")
    lines += _table(explained, voice)
    lines += ["", f"It {found.outcome}. The smallest changes that would turn that:"]
    changes = [
        *_cut(explained, found.scores, "score"),
        *_cut(explained, found.absences, "absence"),
        *_cut(explained, found.knobs, "knob"),
    ]
    return lines + [f"    {line}" for line in changes or ["no single score, absence or knob turns it"]]


def _table(explained: Explained, voice: PlainVoice) -> list[str]:
    lines = [f"    most like: {_similar(explained, voice)}"]
    for item in explained.explanation.contests:
        reached = "at or above" if item.capability in explained.verdict.facts.competent else "below the bar"
        path = explained.path(item.capability)
        score = _number(item.score) if path is None else f"{_number(item.score)} ({path})"
        told = f"    {voice.capability(item.capability)}: {score}, {reached} {_number(item.bar)}"
        if item.champion is None or item.held is None:
            lines.append(f"{told}; nobody holds it")
        else:
            held = f"champion {voice.name(item.champion)} has {_number(item.held)}"
            lines.append(f"{told}; {held}, to be beaten by more than {_number(item.margin)}")
    return lines


def _similar(explained: Explained, voice: PlainVoice) -> str:
    facts = explained.verdict.facts
    if facts.most_similar is None:
        return "nobody"
    return f"{voice.name(facts.most_similar)} ({_number(facts.max_similarity)})"


def _cut(explained: Explained, changes: Sequence[Change], what: str) -> list[str]:
    voice = PlainVoice(explained.platform.taxonomy)
    lines = [f"{_told(change, voice)}: {_then(explained, change)}" for change in changes[:SHOWN]]
    rest = len(changes) - SHOWN
    return lines if rest <= 0 else [*lines, f"({counted(rest, f'more {what}', f'more {what}s')}: --json)"]


def _told(change: Change, voice: PlainVoice) -> str:
    match change:
        case ScoreChange(to=None):
            return f"{voice.capability(change.capability)} not exercised (now {_number(change.now or 0.0)})"
        case ScoreChange(now=None):
            return f"{voice.capability(change.capability)} exercised, at {_reached(change.to or 0.0, 0.0)}"
        case ScoreChange():
            by = (change.to or 0.0) - (change.now or 0.0)
            now = change.now or 0.0
            values = f"at {_reached(change.to or 0.0, now)} instead of {_number(now)} ({by:+.3f})"
            return f"{voice.capability(change.capability)} {values}"
        case Absence():
            return f"without {voice.name(change.id)}"
        case KnobChange():
            of = "" if change.capability is None else f" of {voice.capability(change.capability)}"
            if float(change.to).is_integer() and float(change.now).is_integer():
                return f"{change.knob}{of} at {change.to:g} instead of {change.now:g}"
            return f"{change.knob}{of} at {_reached(change.to, change.now)} instead of {_number(change.now)}"


def _then(explained: Explained, item: Change) -> str:
    ruling, whole = item.ruling, explained.in_cycle(item)
    codes = " ".join((ruling.decision, ruling.route, *ruling.reasons))
    but = "" if whole is Outcome.of(ruling) else f"; with the whole cycle judged so, it {whole}"
    return f"{Outcome.of(ruling)} [{codes}]{but}"


def _number(value: float) -> str:
    """``value`` with two or three decimals."""
    shown = f"{value:.3f}"
    return shown.removesuffix("0")


def _reached(to: float, now: float) -> str:
    """The value ``to`` that turns a verdict, away from ``now``: to shown decimals that turn it as well."""
    away = math.ceil if to > now else math.floor
    return _number(away(rounded(to * _SHOWN_STEPS)) / _SHOWN_STEPS)
