"""The impact of a change of taxonomy or config, as Markdown and as plain text: what it costs, and both sides of it.

All names and texts in it come from files that nobody has reviewed yet, so they are in code spans, or move no cursor.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal

from incumbent.classifier.exemplars import LeftOut
from incumbent.pipeline.impact.model import (
    CapabilityImpact,
    CapabilitySides,
    Effect,
    Impact,
    Remark,
    RemarkSides,
    ShownText,
    VerdictSides,
)
from incumbent.report.escaping import code, shortened, visible
from incumbent.report.tables import Detail, TableWriter, folded
from incumbent.report.verdict_text import counted, listed, quoted
from incumbent.text.masking import masked

PREVIEW: Final = (
    "This is a preview: the changed taxonomy was fitted for it alone, and that model is not kept. The one that counts "
    "is fitted after the merge."
)
NAMED = 5
"""Capabilities of one row that are named; the rest is counted."""
SENTENCE_CHARACTERS = 500
"""How much of a change in words is shown; `incumbent impact` prints it whole."""


def impact_headline(impact: Impact) -> str:
    """The whole in one line of plain text."""
    if impact.is_nothing:
        return "Nothing that verdicts rest on changes"
    parts = []
    if not impact.version.is_right:
        parts.append(f"the taxonomy must be version {impact.version.required}")
    if impact.changes:
        parts.append(counted(len(impact.changes), "change of the taxonomy", "changes of the taxonomy"))
    if impact.config:
        parts.append(counted(len(impact.config), "change of the config", "changes of the config"))
    unfit = sum(1 for item in impact.appraisals if item.standing == "unfit")
    if unfit:
        parts.append(f"{counted(unfit, 'capability', 'capabilities')} must go on trial")
    parts.append(f"{counted(impact.cost.entries, 'entry', 'entries')} to classify again")
    if impact.effect is not None:
        earning = sum(1 for item in impact.effect.verdicts if item.earns)
        parts.append(f"{counted(earning, 'query', 'queries')} would earn a slot")
    if impact.unmeasured is not None:
        parts.append("not known in full")
    return "Impact: " + ", ".join(parts)


def render_impact(impact: Impact, detail: Detail, more: str) -> str:
    """The section of a pull request's comment; ``more`` says where the rows are that ``detail`` leaves out."""
    table = TableWriter(detail, more)
    return "\n\n".join([f"### {impact_headline(impact)}", *_blocks(impact, table, detail)])


def _blocks(impact: Impact, table: TableWriter, detail: Detail) -> Iterator[str]:
    if impact.changes:
        yield _version(impact)
        yield table(("change", "step"), [(_sentence(item.sentence), item.step) for item in impact.changes])
    elif not impact.version.is_right:
        yield _version(impact)
    if impact.appraisals:
        yield from _appraisals(impact.appraisals, table, detail)
    if impact.config:
        keys = [(quoted(item.key), _value(item.before), _value(item.after)) for item in impact.config]
        yield table(("key of the config", "before", "after"), keys)
    if impact.asks_again:
        yield _cost(impact)
    if impact.unmeasured is not None:
        yield f"> What it would do is not known in full: {quoted(impact.unmeasured)}."
    if impact.preview:
        yield f"> {PREVIEW}"
    if impact.effect is not None:
        yield from _effect(impact.effect, table)
    if impact.again and detail.folds:
        rows = [
            (code(item.entry), _names(item.capabilities), _signed(item.gained, item.lost), quoted(item.kept or "–"))
            for item in impact.again
        ]
        body = table(("entry", "asked again about", "gains and loses", "does not change, since"), rows)
        yield folded(f"Entries that are classified again ({len(impact.again)})", body)


def _sentence(text: str) -> str:
    """Longer than other foreign text: a new wording stands behind the old one."""
    return code(shortened(visible(masked(text)), SENTENCE_CHARACTERS))


def _appraisals(appraisals: Sequence[CapabilityImpact], table: TableWriter, detail: Detail) -> Iterator[str]:
    yield f"#### What to expect of new and changed capabilities ({len(appraisals)})"
    header = ("capability", "exemplars", "precision", "recall", "tags", "outcome")
    yield table(header, [_appraisal(item) for item in appraisals])
    measured = sorted({item.expected.by for item in appraisals if item.expected is not None})
    if measured:
        ways = " or ".join(_LEFT_OUT[by] for by in measured)
        yield (
            "Precision and recall are of tags that reach `competence_bar`, on exemplars that the classifier has not "
            f"seen: {ways}. In brackets: 95 %."
        )
    if detail.folds:
        for item in appraisals:
            rows = [
                (what, f"{text.probability:.2f}", quoted(text.text), quoted(text.where))
                for what, text in shown_texts(item)
            ]
            if rows:
                body = table(("", "probability", "text", "where"), rows)
                yield folded(f"What {item.capability} tags", body)


def _appraisal(item: CapabilityImpact) -> tuple[str, ...]:
    tags = f"{item.texts.tagged} of {counted(item.texts.judged, 'text', 'texts')}" if item.texts.judged else "–"
    trial = item.standing == "unfit"
    return (
        code(item.capability) + (" (new)" if item.is_new else ""),
        exemplar_words(item),
        share_words(item, "precision"),
        share_words(item, "recall"),
        tags,
        f"**{outcome_words(item)}**: add `trial: true` to it" if trial else outcome_words(item),
    )


def exemplar_words(item: CapabilityImpact) -> str:
    """How many exemplars a capability has."""
    return f"{item.positive} and {counted(item.negative, 'lookalike', 'lookalikes')}"


def share_words(item: CapabilityImpact, which: Literal["precision", "recall"]) -> str:
    """An expected share with its interval."""
    if item.expected is None:
        return "not measured"
    found = item.expected.precision if which == "precision" else item.expected.recall
    return "–" if found is None else f"{found.share:.2f} [{found.low:.2f}, {found.high:.2f}]"


def outcome_words(item: CapabilityImpact) -> str:
    """Whether verdicts may rest on a capability, and what it lacks."""
    lacks = listed([lack.words for lack in item.lacks]) if item.lacks else ""
    match item.standing:
        case "counts":
            return "counts"
        case "may-count":
            return "passes: without its trial it counts"
        case "on-trial":
            return f"on trial: it has {lacks}"
        case "goes-on":
            return f"counts as before, though it has {lacks}"
        case _:
            return f"must go on trial, since it has {lacks}"


def shown_texts(item: CapabilityImpact) -> Iterator[tuple[str, ShownText]]:
    """What shows how the capability is judged: each text, and what it is."""
    for what, texts in (
        ("surest", item.texts.surest),
        ("most doubtful", item.texts.doubtful),
        ("nearly tagged", item.texts.misses),
    ):
        yield from ((what, text) for text in texts)


_LEFT_OUT: Final[Mapping[LeftOut, str]] = {
    "hand": "all that their author wrote was left out",
    "part": "a tenth of all exemplars was left out with them",
}


def _version(impact: Impact) -> str:
    version = impact.version
    if version.is_right:
        return f"Version {code(version.before)} becomes {code(version.after)}, as these changes ask."
    return (
        f"**The version must be {code(version.required)}**: it is {code(version.after)} after {code(version.before)}."
    )


def _cost(impact: Impact) -> str:
    cost = impact.cost
    entries, queries = counted(cost.entries, "entry", "entries"), counted(cost.queries, "query", "queries")
    pairs = counted(cost.pairs, "pair", "pairs")
    asked = f"To classify again: {entries} ({pairs} of entry and capability), and {queries} that did not enter."
    if cost.requests is None:
        return f"{asked} The embedded classifier costs nothing."
    return f"{asked} That takes at most {counted(cost.requests, 'request', 'requests')} to the model."


def _effect(effect: Effect, table: TableWriter) -> Iterator[str]:
    earning = [item for item in effect.verdicts if item.earns]
    others = [item for item in effect.verdicts if not item.earns]
    if earning:
        yield f"#### Left out so far, and would now earn a slot ({len(earning)})"
        yield "After the merge a person is asked about them.\n\n" + _verdicts(earning, table)
    if effect.capabilities:
        yield f"#### Capabilities ({len(effect.capabilities)})"
        header = ("capability", "champion before", "after", "coverers before", "after", "floor")
        yield table(header, [_capability(item) for item in effect.capabilities])
    if effect.pins:
        yield f"#### Pins ({len(effect.pins)})"
        rows = [(code(item.entry), _names(item.before), _names(item.after)) for item in effect.pins]
        yield table(("entry", "kept before for", "after"), rows)
    if effect.suggestions:
        yield f"#### Evictions that are suggested ({len(effect.suggestions)})"
        rows = [(code(item.entry), _value(item.before), _value(item.after)) for item in effect.suggestions]
        yield table(("entry", "before", "after"), rows)
    if effect.kept:
        yield f"#### Entries that stay until a split counts ({len(effect.kept)})"
        yield "They carried a capability whose parts are on trial. They are not suggested for eviction meanwhile."
        yield table(("entry", "carried"), [(code(item.entry), _names(item.wholes)) for item in effect.kept])
    if others:
        yield f"#### Other verdicts that change ({len(others)})"
        yield _verdicts(others, table)
    if effect.remarks:
        yield f"#### Remarks that come or go ({len(effect.remarks)})"
        named = [(quoted(f"{item.customer}/{item.agent}/{item.query}"), remark_words(item)) for item in effect.remarks]
        yield table(("query", "after the change"), named)
    if not (effect.capabilities or effect.pins or effect.suggestions or effect.verdicts):
        yield "No champion, pin, floor, suggestion or verdict changes."


def remark_words(item: RemarkSides) -> str:
    """What is so after the change and was not before it."""
    return _REMARKS[item.remark, item.after]


_REMARKS: Final[Mapping[tuple[Remark, bool], str]] = {
    ("contradiction", True): "its eval set contradicts the classifier",
    ("contradiction", False): "its eval set contradicts the classifier no more",
    ("unfamiliar", True): "the classifier cannot judge its kind of text",
    ("unfamiliar", False): "the classifier can judge its kind of text",
}


def _verdicts(items: Sequence[VerdictSides], table: TableWriter) -> str:
    rows = [
        (quoted(f"{item.customer}/{item.agent}/{item.query}"), _value(item.before), _value(item.after))
        for item in items
    ]
    return table(("query", "verdict before", "after"), rows)


def _capability(item: CapabilitySides) -> tuple[str, ...]:
    name = code(item.after or item.before or "")
    if item.before is not None and item.after is not None and item.before != item.after:
        name = f"{code(item.before)} → {code(item.after)}"
    elif item.after is None:
        name = f"{name} (gone)"
    elif item.before is None:
        name = f"{name} (new)"
    floor = str(item.floor_after)
    if item.floor_before != item.floor_after:
        floor = f"{item.floor_before} → {floor}"
    short = " ⚠ below" if item.after is not None and 0 < item.coverers_after < item.floor_after else ""
    return (
        name,
        _champion(item.champion_before, item.score_before),
        _champion(item.champion_after, item.score_after),
        str(item.coverers_before),
        str(item.coverers_after),
        floor + short,
    )


def _champion(entry: str | None, score: float | None) -> str:
    # A document may say the one without the other.
    return "–" if entry is None or score is None else f"{code(entry)} {score:.2f}"


def _value(text: str | None) -> str:
    return "–" if text is None else quoted(text)


def _names(names: Sequence[str]) -> str:
    return listed([quoted(name) for name in names], NAMED) if names else "–"


def _signed(gained: Sequence[str], lost: Sequence[str]) -> str:
    found = [f"+{code(name)}" for name in gained] + [f"−{code(name)}" for name in lost]
    return " ".join(found) or "–"


def impact_text(impact: Impact) -> str:
    """The whole, line by line; what files say moves no cursor."""
    return _harmless(_lines(impact))


def appraisals_text(appraisals: Sequence[CapabilityImpact]) -> str:
    """What to expect of each capability, and texts that show it."""
    return _harmless(_appraisal_lines(appraisals))


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
        yield from _appraisal_lines(impact.appraisals)
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
    if impact.preview:
        yield PREVIEW
    for item in impact.again:
        changes = [f"+{name}" for name in item.gained] + [f"-{name}" for name in item.lost]
        if changes or item.kept:
            yield f"- {item.entry}: {' '.join(changes) or item.kept}"
    if impact.effect is not None:
        yield from _effect_lines(impact.effect)


def _appraisal_lines(appraisals: Sequence[CapabilityImpact]) -> Iterator[str]:
    yield f"What to expect of new and changed capabilities ({len(appraisals)})"
    for item in appraisals:
        yield f"- {item.capability}{' (new)' if item.is_new else ''}: {outcome_words(item)}"
        yield (
            f"    {exemplar_words(item)}; precision {share_words(item, 'precision')}, "
            f"recall {share_words(item, 'recall')}; tags {item.texts.tagged} of {item.texts.judged} texts"
        )
        for what, text in shown_texts(item):
            yield f"    {what} {text.probability:.2f}: {shortened(visible(text.text))} ({text.where})"


def _effect_lines(effect: Effect) -> Iterator[str]:
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
        ("Capabilities", [_capability_line(item) for item in effect.capabilities]),
        (
            "Pins",
            [f"{item.entry}: {', '.join(item.before) or '–'} → {', '.join(item.after) or '–'}" for item in effect.pins],
        ),
        (
            "Suggested evictions",
            [f"{item.entry}: {item.before or 'none'} → {item.after or 'none'}" for item in effect.suggestions],
        ),
        ("Entries that stay until a split counts", [f"{item.entry}: {', '.join(item.wholes)}" for item in effect.kept]),
    ):
        if lines:
            yield ""
            yield f"{title} ({len(lines)})"
            yield from (f"- {line}" for line in lines)


def _capability_line(item: CapabilitySides) -> str:
    name = item.after or item.before
    if item.before != item.after:
        name = f"{item.before or 'new'} → {item.after or 'gone'}"
    return (
        f"{name}: champion {_champion_text(item.champion_before, item.score_before)} → "
        f"{_champion_text(item.champion_after, item.score_after)}; coverers "
        f"{item.coverers_before} → {item.coverers_after}; floor {item.floor_before} → {item.floor_after}"
    )


def _champion_text(entry: str | None, score: float | None) -> str:
    return "–" if entry is None or score is None else f"{entry} {score:.2f}"
