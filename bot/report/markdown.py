"""The verdict comment: Markdown that reads well on GitHub."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bot.consolidator.verdict import Verdict
from bot.errors import Problem
from bot.pipeline import Review
from bot.report import wording
from bot.report.escaping import code, plain, shortened, visible
from bot.report.voices import MarkdownVoice

SHOWN_TURNS = 3


def render_markdown(review: Review) -> str:
    """The whole comment, ending in a newline-free last line."""
    voice = MarkdownVoice(review.platform.taxonomy)
    blocks = [
        f"### {wording.headline(review)}",
        _summary(review, voice),
        *_lagging(review),
        *_needs_you(review, voice),
        *_admitted(review, voice),
        *_waiting(review, voice),
        *_problems(review),
        *_excluded(review, voice),
        *_coverage(review, voice),
        *_remarks(review, voice),
        _footer(review),
    ]
    return "\n\n".join(blocks)


def _summary(review: Review, voice: MarkdownVoice) -> str:
    config = review.platform.config
    size = len(review.platform.regression_set.entries)
    entering = len([verdict for verdict in review.plan.admitted if verdict.id not in review.edited])
    left = max(0, config.ceiling - size - entering)
    slots = (
        f"{size} → {size + entering} of {config.ceiling} slots, {left} left"
        if entering
        else (f"{size} of {config.ceiling} slots taken, {left} left")
    )
    sources = []
    for submission in review.submissions:
        count = len(submission.queries)
        source = f"{voice.quote(submission.customer)} / {voice.quote(submission.agent)}"
        sources.append(f"{source}: {count} {'query' if count == 1 else 'queries'}.")
    return f"{' '.join(sources)} Regression set: {slots}."


def _lagging(review: Review) -> list[str]:
    if not review.lags:
        return []
    count = len(review.lags)
    lag = "entry lags" if count == 1 else "entries lag"
    warning = (
        "> [!WARNING]\n"
        f"> {count} {lag} behind this classifier or taxonomy and could not be compared in full, "
        "so these verdicts admit too much. Run `incumbent reclassify` first."
    )
    return [warning]


def _needs_you(review: Review, voice: MarkdownVoice) -> list[str]:
    if not review.plan.waiting_for_review:
        return []
    behind = wording.alternates(review)
    rows = []
    for verdict in review.plan.waiting_for_review:
        followers = behind.get(verdict.id, ())
        after = f"<br>Alternates: {wording.listed([voice.name(id) for id in followers])}." if followers else ""
        rows.append(_row(verdict, review, voice, after))
    return [f"#### Needs you ({len(rows)})", _table(("Query", "Verdict", "Why"), rows)]


def _admitted(review: Review, voice: MarkdownVoice) -> list[str]:
    rows = [_row(verdict, review, voice) for verdict in review.plan.admitted]
    return [f"#### Deserve a slot ({len(rows)})", _table(("Query", "Verdict", "Why"), rows)] if rows else []


def _waiting(review: Review, voice: MarkdownVoice) -> list[str]:
    rows = [_row(verdict, review, voice) for verdict in review.plan.waiting_for_slot]
    if not rows:
        return []
    blocks = [
        f"#### Deserve a slot, but the set is full ({len(rows)})",
        _table(("Query", "Verdict", "Why"), rows),
    ]
    for swap in review.swaps:
        gone = wording.listed([voice.name(id) for id in swap.remove])
        blocks.append(f"Possible swap: admit {voice.name(swap.admit)} and evict {gone} together.")
    return blocks


def _excluded(review: Review, voice: MarkdownVoice) -> list[str]:
    rows = [_row(verdict, review, voice) for verdict in review.plan.excluded]
    if not rows:
        return []
    return [_folded(f"{len(rows)} excluded", _table(("Query", "Verdict", "Why"), rows))]


def _problems(review: Review) -> list[str]:
    problems = review.problems
    if not problems:
        return []
    lines = [f"- {_problem(problem)}" for problem in problems]
    return [f"#### Could not be read ({len(problems)})", "\n".join(lines)]


def _problem(problem: Problem) -> str:
    place = problem.file if problem.line is None else f"{problem.file}:{problem.line}"
    return f"{code(place)}: {code(shortened(visible(problem.message)))}. Fix: {code(shortened(visible(problem.fix)))}"


def _coverage(review: Review, voice: MarkdownVoice) -> list[str]:
    gained = [item for item in review.coverage if item.after > item.before]
    if not gained:
        return []
    rows = [
        (
            voice.capability(item.capability),
            f"{item.before} → {item.after}",
            "met" if item.after >= item.floor else f"short of {item.floor}",
        )
        for item in gained
    ]
    return [_folded(f"Coverage gained ({len(rows)} capabilities)", _table(("Capability", "Coverers", "Floor"), rows))]


def _remarks(review: Review, voice: MarkdownVoice) -> list[str]:
    remarks = [f"- {_problem(note)}" for note in review.notes]
    for query, record in review.settled.items():
        remarks.append(f"- {voice.name(query)} is settled already by {voice.name(record.id)} and was not judged again.")
    for query, entry in review.edited.items():
        remarks.append(f"- {voice.name(query)} is an edit of {voice.name(entry.id)} and was judged without it.")
    for id, groups in review.off_taxonomy.items():
        remarks += [f"- {voice.name(id)} fits no member of {code(group)}." for group in groups]
    for id in review.unclassified:
        remarks.append(f"- {voice.name(id)} has no verdict: too few valid samples.")
    for lag in review.lags:
        remarks.append(f"- {voice.name(lag.id)} lags behind ({plain(lag.reason)}): run `incumbent reclassify`.")
    return [_folded(f"Remarks ({len(remarks)})", "\n".join(remarks))] if remarks else []


def _footer(review: Review) -> str:
    identity, platform = review.identity, review.platform
    return (
        f"<sub>Taxonomy {platform.taxonomy.version}; classifier {plain(identity.backend)} {plain(identity.model)}, "
        f"prompt {plain(identity.prompt)}, {identity.samples} samples. Codes are explained in docs/verdicts.md.</sub>"
    )


def _row(verdict: Verdict, review: Review, voice: MarkdownVoice, after: str = "") -> tuple[str, str, str]:
    query = review.queries[verdict.id]
    text = voice.quote(query.turns[0])
    if len(query.turns) > 1:
        shown = [f"{place}. {voice.quote(turn)}" for place, turn in enumerate(query.turns[:SHOWN_TURNS], 1)]
        rest = len(query.turns) - SHOWN_TURNS
        shown += [f"and {rest} more {'turn' if rest == 1 else 'turns'}"] if rest > 0 else []
        text = "<br>".join(shown)
    return (
        f"**{voice.name(verdict.id)}**<br>{text}",
        f"**{wording.verdict_words(verdict)}**<br><sub>{_codes(verdict)}</sub>",
        wording.why(verdict, review, voice) + after,
    )


def _codes(verdict: Verdict) -> str:
    return "<br>".join(f"`{word}`" for word in wording.codes(verdict).split())


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(header)} |", "|" + " --- |" * len(header)]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines)


def _folded(summary: str, body: str) -> str:
    return f"<details><summary>{summary}</summary>\n\n{body}\n\n</details>"
