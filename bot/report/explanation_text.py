"""An explanation for a console."""

from __future__ import annotations

from bot.consolidator.changes import Absence, KnobChange, Outcome, ScoreChange
from bot.explaining import Explained
from bot.report.voices import PlainVoice
from bot.report.wording import codes, verdict_words, why

SHOWN = 3
"""Of each kind of change; JSON has all."""


def explanation_lines(explained: Explained) -> list[str]:
    """What ``explained`` says, line by line."""
    voice = PlainVoice(explained.platform.taxonomy)
    found, verdict = explained.explanation, explained.verdict
    lines = [
        f"{voice.name(verdict.id)}  {verdict_words(verdict)}  [{codes(verdict)}]",
        f"    {why(verdict, explained, voice)}",
    ]
    if explained.kind == "entry":
        held = ", ".join(voice.quote(reason) for reason in explained.pinned)
        lines[0] += "  (as if it came today)"
        lines.append(f"    pinned: {held}" if held else "    not pinned")
    lines.append("")
    lines += _table(explained, voice)
    lines += ["", f"It {found.outcome}. The smallest changes that would turn that:"]
    changes = [
        *_cut([_score(item, voice) for item in found.scores], "scores"),
        *_cut([_absence(item, voice) for item in found.absences], "absences"),
        *_cut([_knob(item, voice) for item in found.knobs], "knobs"),
    ]
    return lines + [f"    {line}" for line in changes or ["no single score, absence or knob turns it"]]


def _table(explained: Explained, voice: PlainVoice) -> list[str]:
    lines = [f"    most like: {_similar(explained, voice)}"]
    for item in explained.explanation.contests:
        reached = "at or above" if item.capability in explained.verdict.facts.competent else "below the bar"
        told = f"    {voice.capability(item.capability)}: {_number(item.score)}, {reached} {_number(item.bar)}"
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


def _cut(lines: list[str], what: str) -> list[str]:
    rest = len(lines) - SHOWN
    return lines if rest <= 0 else [*lines[:SHOWN], f"({rest} more {what}: --json)"]


def _score(item: ScoreChange, voice: PlainVoice) -> str:
    name = voice.capability(item.capability)
    if item.to is None:
        return f"{name} not exercised (now {_number(item.now or 0.0)}): {_then(item)}"
    if item.now is None:
        return f"{name} exercised, at {_number(item.to)}: {_then(item)}"
    return f"{name} at {_number(item.to)} instead of {_number(item.now)} ({item.to - item.now:+.9g}): {_then(item)}"


def _absence(item: Absence, voice: PlainVoice) -> str:
    return f"without {voice.name(item.id)}: {_then(item)}"


def _knob(item: KnobChange, voice: PlainVoice) -> str:
    of = "" if item.capability is None else f" of {voice.capability(item.capability)}"
    return f"{item.knob}{of} at {_number(item.to)} instead of {_number(item.now)}: {_then(item)}"


def _then(item: ScoreChange | Absence | KnobChange) -> str:
    return f"{Outcome.of(item.ruling)} [{' '.join((item.ruling.decision, item.ruling.route, *item.ruling.reasons))}]"


def _number(value: float) -> str:
    return f"{value:.9g}"
