"""A review as Markdown: the sections of the comment, and of `incumbent review --format markdown`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from incumbent.consolidator.verdict import Verdict
from incumbent.errors import Problem
from incumbent.pipeline.review import Review
from incumbent.report import verdict_text as wording
from incumbent.report.escaping import code, link, plain, shortened, visible
from incumbent.report.query_context import Excluded, evidence, personal_blocks, remarks_on
from incumbent.report.tables import EVERYTHING, Detail, TableWriter, folded
from incumbent.report.verdict_text import MarkdownStyle
from incumbent.text.masking import masked, masked_together

SHOWN_TURNS = 3

# Ids that can be typed as they are shown, and how many of them one command names.
_TYPED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,60}")


def render_markdown(
    review: Review,
    detail: Detail = EVERYTHING,
    more: str = "the JSON report",
    product: str | None = None,
    commands: bool = True,
) -> str:
    """The report, ending in a newline-free last line.

    ``more`` says where rows are that ``detail`` leaves out; below the address ``product`` lie the product's files.
    ``commands`` are followed where this is read.
    """
    style = MarkdownStyle(review.platform.taxonomy)
    table = TableWriter(detail, more)
    blocks = [
        f"### {wording.headline(review)}",
        _summary(review, style, table),
        *_stale(review),
        *_needs_you(review, style, table, commands),
        *_unfamiliar(review, style, table, commands),
        *personal_blocks(review, style, table),
        *_admitted(review, style, table),
        *_provisions(review, style, table),
        *_waiting(review, style, table),
        *_rejected(review, style, table),
        *_problems(review, table),
    ]
    if detail.folds:
        blocks += [
            *_excluded(review, style, table, commands),
            *_coverage(review, style, table),
            *_remarks(review, style),
        ]
    elif review.plan.excluded:
        blocks.append(f"{len(review.plan.excluded)} excluded: see {more}.")
    blocks.append(_footer(review, product))
    return "\n\n".join(blocks)


def _summary(review: Review, style: MarkdownStyle, table: TableWriter) -> str:
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
    most = len(review.submissions) if table.detail.rows is None else max(1, table.detail.rows)
    for submission in review.submissions[:most]:
        count = len(submission.queries)
        source = f"{style.quote(submission.customer)} / {style.quote(submission.agent)}"
        sources.append(f"{source}: {count} {'query' if count == 1 else 'queries'}.")
    if len(review.submissions) > most:
        sources.append(f"{len(review.submissions) - most} more agents: see {table.more}.")
    return f"{' '.join(sources)} Regression set: {slots}; total cost {wording.cost_change(review)}."


def _stale(review: Review) -> list[str]:
    if not review.stale:
        return []
    count = len(review.stale)
    stale = wording.counted(count, "stale entry", "stale entries")
    warning = (
        "> [!WARNING]\n"
        f"> {stale}, of another classifier or taxonomy, could not be compared in full, "
        "so these verdicts admit too much. Run `incumbent reclassify` first."
    )
    return [warning]


def _needs_you(review: Review, style: MarkdownStyle, table: TableWriter, commands: bool) -> list[str]:
    waiting = [verdict for verdict in review.plan.waiting_for_review if verdict.facts.familiar]
    if not waiting:
        return []
    beside = {verdict.id: wording.beside(verdict, review, style) for verdict in waiting}
    rows = {item.id: _row(item, review, style, "".join(f"<br>{said}" for said in beside[item.id])) for item in waiting}
    header = ("Query", "Verdict", "Why")
    asked, later = review.questions
    named = review.together([item.id for item in asked if _can_be_typed(item.id)][: wording.COMMANDED])
    blocks = [
        f"#### Needs you ({len(rows)})",
        table(header, [rows[item.id] for item in asked]),
        *([_commands(named)] if commands and asked else []),
    ]
    if not later:
        return blocks
    count = wording.counted(len(later), "more query needs you", "more queries need you")
    if not table.detail.folds:
        return [*blocks, f"{count}: see {table.more}."]
    about = "The queries above add most (`limits.questions`). What you decide there may change the verdicts on these."
    if commands:
        first = next((item.id for item in later if _can_be_typed(item.id)), "ID")
        about += f" To decide one now, name it: `/incumbent accept {first}`. The word `all` means these as well."
    return [*blocks, folded(count, f"{about}\n\n{table(header, [rows[item.id] for item in later])}")]


def _commands(ids: Sequence[str], reason: str = "") -> str:
    """The commands that decide the queries ``ids``, to copy; who accepts an EXCLUDE gives a ``reason``."""
    names = " ".join([id for id in ids if _can_be_typed(id)][: wording.COMMANDED]) or "ID"
    return f"To decide, copy one: `/incumbent accept {names}{reason}` or `/incumbent reject {names}: REASON`."


def _can_be_typed(id: str) -> bool:
    """Whether ``id`` is shown as it is, and stands for itself in a command."""
    return _TYPED.fullmatch(id) is not None and masked(id) == id


def _unfamiliar(review: Review, style: MarkdownStyle, table: TableWriter, commands: bool) -> list[str]:
    """One question about all queries that the classifier cannot judge, with the ways out."""
    waiting = [verdict for verdict in review.plan.waiting_for_review if not verdict.facts.familiar]
    ids = [verdict.id for verdict in waiting]
    if not ids:
        return []
    rows = [_row(verdict, review, style) for verdict in waiting]
    shown = [folded("What they say", table(("Query", "Verdict", "Why"), rows))] if table.detail.folds else []
    kinds = Counter(review.unfamiliar[id] for id in ids if id in review.unfamiliar)
    counts = ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items()))
    some = wording.counted(len(ids), "query is", "queries are")
    names = wording.listed([style.name(id) for id in ids], wording.COMMANDED)
    about = f"{names}. {wording.WAYS_OUT} (`{'/' * commands}incumbent correct`). What you reject stays out."
    return [
        f"#### Needs you: {some} of a kind that the classifier cannot judge ({counts})",
        about,
        *shown,
        *([_commands(ids, ": REASON")] if commands else []),
    ]


def _admitted(review: Review, style: MarkdownStyle, table: TableWriter) -> list[str]:
    rows = [_row(verdict, review, style, _by_whom(verdict, review, style)) for verdict in review.plan.admitted]
    return [f"#### Deserve a slot ({len(rows)})", table(("Query", "Verdict", "Why"), rows)] if rows else []


def _provisions(review: Review, style: MarkdownStyle, table: TableWriter) -> list[str]:
    """What has to be provisioned for the queries that are admitted."""
    found = review.provisions
    if not found:
        return []
    title = f"To provision ({len(found)})"
    if not table.detail.folds:
        return [f"{title}: see {table.more}."]
    rows = [
        (item.kind, style.quote(item.name), wording.listed([style.name(id) for id in item.needed_by])) for item in found
    ]
    return [folded(title, table(("What", "Name", "Needed by"), rows))]


def _waiting(review: Review, style: MarkdownStyle, table: TableWriter) -> list[str]:
    rows = [_row(verdict, review, style) for verdict in review.plan.waiting_for_slot]
    if not rows:
        return []
    blocks = [
        f"#### Deserve a slot, but the set is full ({len(rows)})",
        table(("Query", "Verdict", "Why"), rows),
    ]
    for swap in review.swaps if table.detail.folds else ():
        gone = wording.listed([style.name(id) for id in swap.remove])
        blocks.append(f"Possible swap: admit {style.name(swap.admit)} and evict {gone} together.")
    return blocks


def _excluded(review: Review, style: MarkdownStyle, table: TableWriter, commands: bool) -> list[str]:
    found = Excluded(review, style)
    blocks = []
    if found.close_calls:
        rows = [
            (f"**{style.name(id)}**<br>{_turns(id, review, style)}", wording.close_call(call, style))
            for id, call in found.shown_close_calls
        ]
        first = next((id for id, _ in found.shown_close_calls if _can_be_typed(id)), "ID")
        about = "Each would bring something new if it competently exercised what is named: so likely is that."
        if more := len(found.close_calls) - len(rows):
            about += f" {wording.counted(more, 'less likely one is', 'less likely ones are')} not shown."
        if commands:
            about += f" To admit one, say why: `/incumbent accept {first}: REASON`."
        title = wording.counted(len(found.close_calls), "close call", "close calls")
        blocks.append(folded(f"{title} among the excluded", f"{about}\n\n{table(('Query', 'Would bring'), rows)}"))
    sections = []
    for group in found.groups:
        rows = [
            (f"**{style.name(item.id)}**<br>{_turns(item.id, review, style)}", found.in_the_way(item))
            for item in group.verdicts
        ]
        sections.append(f"{group.reason}\n\n{table(('Query', 'In its way'), rows)}")
    if sections:
        blocks.append(folded(f"{len(review.plan.excluded)} excluded", "\n\n".join(sections)))
    return blocks


def _problems(review: Review, table: TableWriter) -> list[str]:
    problems = review.problems
    if not problems:
        return []
    return [f"#### Could not be read ({len(problems)})", problem_list(problems, table.detail, table.more)]


def problem_list(problems: Sequence[Problem], detail: Detail, more: str) -> str:
    """``problems`` as a list, cut where ``detail`` says so."""
    most = len(problems) if detail.rows is None else detail.rows
    lines = [f"- {_problem(problem)}" for problem in problems[:most]]
    if len(problems) > most:
        lines.append(f"- {len(problems) - most} more: see {more}.")
    return "\n".join(lines)


def _problem(problem: Problem) -> str:
    place = problem.file if problem.line is None else f"{problem.file}:{problem.line}"
    return f"{code(place)}: {code(shortened(visible(problem.message)))}. Fix: {code(shortened(visible(problem.fix)))}"


def _coverage(review: Review, style: MarkdownStyle, table: TableWriter) -> list[str]:
    gained = [item for item in review.coverage if item.after > item.before]
    if not gained:
        return []
    rows = [
        (
            style.capability(item.capability),
            f"{item.before} → {item.after}",
            "met" if item.after >= item.floor else f"short of {item.floor}",
        )
        for item in gained
    ]
    return [folded(f"Coverage gained ({len(rows)} capabilities)", table(("Capability", "Coverers", "Floor"), rows))]


def _remarks(review: Review, style: MarkdownStyle) -> list[str]:
    remarks = [f"- {_problem(note)}" for note in review.notes]
    for query, record in review.settled.items():
        remarks.append(f"- {style.name(query)} is already decided by {style.name(record.id)} and was not judged again.")
    for query, entry in review.edited.items():
        remarks.append(f"- {style.name(query)} is an edit of {style.name(entry.id)} and was judged without it.")
    for id, groups in review.off_taxonomy.items():
        remarks += [f"- {style.name(id)} fits no member of {code(group)}." for group in groups]
    for id, why in review.shortfalls.items():
        remarks.append(f"- {style.name(id)} has no verdict: {code(why)}.")
    for id in review.attempts:
        remarks.append(f"- {style.name(id)} argues with the classifier, or hides text from people.")
    remarks += [f"- {remark}" for remark in remarks_on(review.classifications).lines(style)]
    for item in review.stale:
        remarks.append(f"- {style.name(item.id)} is stale ({plain(item.reason)}): run `incumbent reclassify`.")
    return [folded(f"Remarks ({len(remarks)})", "\n".join(remarks))] if remarks else []


def _footer(review: Review, product: str | None) -> str:
    identity, platform = review.identity, review.platform
    guide, glossary = (
        link(title, f"{product}/docs/{page}") if product else f"“{title}”"
        for title, page in (("How to read a verdict", "verdicts.md"), ("Glossary", "glossary.md"))
    )
    codes = (
        f"Codes: {guide}. Terms: {glossary}." if product else f"Codes: {guide}, terms: {glossary} in the documentation."
    )
    return (
        f"<sub>Taxonomy {platform.taxonomy.version}; classifier {plain(identity.backend)} {plain(identity.model)}, "
        f"prompt {plain(identity.prompt)}, {identity.samples} samples. {codes}</sub>"
    )


def _row(verdict: Verdict, review: Review, style: MarkdownStyle, after: str = "") -> tuple[str, str, str]:
    query = review.queries[verdict.id]
    tools = evidence(query, review.origins[verdict.id], style)
    return (
        f"**{style.name(verdict.id)}**<br>{_turns(verdict.id, review, style)}",
        f"**{wording.verdict_words(verdict)}**<br><sub>`{wording.codes(verdict)}`</sub>",
        wording.why(verdict, review, style) + (f"<br>{tools}" if tools else "") + after,
    )


def _turns(id: str, review: Review, style: MarkdownStyle) -> str:
    turns = review.queries[id].turns
    if len(turns) == 1:
        return style.quote(turns[0])
    shown = [f"{place}. {style.quote(turn)}" for place, turn in enumerate(masked_together(turns[:SHOWN_TURNS]), 1)]
    rest = len(turns) - SHOWN_TURNS
    shown += [f"and {rest} more {'turn' if rest == 1 else 'turns'}"] if rest > 0 else []
    return "<br>".join(shown)


def _by_whom(verdict: Verdict, review: Review, style: MarkdownStyle) -> str:
    for answer in review.derivation.accepted:
        if answer.id == verdict.id:
            reason = f": {style.quote(answer.reason)}" if answer.reason else ""
            return f"<br>Accepted by {style.name(answer.by)}{reason}."
    return ""


def _rejected(review: Review, style: MarkdownStyle, table: TableWriter) -> list[str]:
    rows = [
        (f"**{style.name(answer.id)}**", style.name(answer.by), style.quote(answer.reason or ""))
        for answer in review.derivation.rejected
    ]
    return [f"#### Rejected ({len(rows)})", table(("Query", "By", "Reason"), rows)] if rows else []
