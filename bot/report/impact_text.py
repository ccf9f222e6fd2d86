"""The impact of a change of taxonomy or config as plain text, for a console."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from bot.pipeline.impact.model import CapabilityImpact, CapabilitySides, Effect, Impact
from bot.report.escaping import shortened, visible
from bot.report.impact_markdown import (
    exemplar_words,
    impact_headline,
    outcome_words,
    remark_words,
    share_words,
    shown_texts,
)
from bot.report.verdict_text import counted
from bot.text.masking import masked


def impact_text(impact: Impact) -> str:
    """The whole, line by line; what files say moves no cursor."""
    return _harmless(_lines(impact))


def appraisals_text(appraisals: Sequence[CapabilityImpact]) -> str:
    """What to expect of each capability, and texts that show it."""
    return _harmless(_appraisals(appraisals))


def _harmless(lines: Iterable[str]) -> str:
    indents = ((len(line) - len(line.lstrip(" ")), line) for line in lines)
    return "\n".join(" " * indent + visible(masked(line)) for indent, line in indents)


def _lines(impact: Impact) -> Iterator[str]:
    yield impact_headline(impact)
    version = impact.version
    if not version.is_right:
        yield f"The version must be {version.required}: it is {version.after} after {version.before}."
    for change in impact.changes:
        yield f"- {change.step}: {change.sentence}"
    if impact.appraisals:
        yield from _appraisals(impact.appraisals)
    for key in impact.config:
        yield f"- {key.key}: {key.before or '–'} becomes {key.after or '–'}"
    cost = impact.cost
    if impact.asks_again:
        pairs = counted(cost.pairs, "pair", "pairs")
        entries, queries = counted(cost.entries, "entry", "entries"), counted(cost.queries, "query", "queries")
        price = "no request" if cost.requests is None else f"at most {counted(cost.requests, 'request', 'requests')}"
        yield f"To classify again: {entries} ({pairs}), {queries} that did not enter; {price}."
    if impact.unmeasured is not None:
        yield f"Not known in full: {impact.unmeasured}."
    for item in impact.again:
        changes = [f"+{name}" for name in item.gained] + [f"-{name}" for name in item.lost]
        if changes or item.kept:
            yield f"- {item.entry}: {' '.join(changes) or item.kept}"
    if impact.effect is not None:
        yield from _effect(impact.effect)


def _appraisals(appraisals: Sequence[CapabilityImpact]) -> Iterator[str]:
    yield f"What to expect of new and changed capabilities ({len(appraisals)})"
    for item in appraisals:
        yield f"- {item.capability}{' (new)' if item.is_new else ''}: {outcome_words(item)}"
        yield (
            f"    {exemplar_words(item)}; precision {share_words(item, 'precision')}, "
            f"recall {share_words(item, 'recall')}; tags {item.texts.tagged} of {item.texts.judged} texts"
        )
        for what, text in shown_texts(item):
            yield f"    {what} {text.probability:.2f}: {shortened(visible(text.text))} ({text.where})"


def _effect(effect: Effect) -> Iterator[str]:
    for title, lines in (
        (
            "Queries left out so far whose verdict changes",
            [
                f"{item.customer}/{item.agent}/{item.query}: {item.before or 'none'} → {item.after or 'none'}"
                + (" (would earn a slot)" if item.earns else "")
                for item in effect.verdicts
            ],
        ),
        (
            "Remarks on them that come or go",
            [f"{item.customer}/{item.agent}/{item.query}: {remark_words(item)}" for item in effect.remarks],
        ),
        ("Capabilities", [_capability(item) for item in effect.capabilities]),
        (
            "Pins",
            [f"{item.entry}: {', '.join(item.before) or '–'} → {', '.join(item.after) or '–'}" for item in effect.pins],
        ),
        (
            "Suggested evictions",
            [f"{item.entry}: {item.before or 'none'} → {item.after or 'none'}" for item in effect.suggestions],
        ),
    ):
        if lines:
            yield ""
            yield f"{title} ({len(lines)})"
            yield from (f"- {line}" for line in lines)


def _capability(item: CapabilitySides) -> str:
    name = item.after or item.before
    if item.before != item.after:
        name = f"{item.before or 'new'} → {item.after or 'gone'}"
    return (
        f"{name}: champion {_champion(item.champion_before, item.score_before)} → "
        f"{_champion(item.champion_after, item.score_after)}; coverers "
        f"{item.coverers_before} → {item.coverers_after}; floor {item.floor_before} → {item.floor_after}"
    )


def _champion(entry: str | None, score: float | None) -> str:
    return "–" if entry is None else f"{entry} {score:.2f}"
