"""The verdict report on a console: what asks people first, what is excluded last."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from rich.text import Text

from incumbent.consolidator.verdict import Reason, Route, Verdict
from incumbent.curator.provisions import Provision
from incumbent.pipeline.review import Review
from incumbent.report import verdict_text as wording
from incumbent.report.console import Printer
from incumbent.report.escaping import visible
from incumbent.report.query_context import Excluded, corrected_lines, evidence, personal_lines, remarks_on
from incumbent.report.verdict_text import PlainStyle

_HEADER = ("outcome", "query", "decision", "route", "reasons", "text", "why", "brought along", "in its way")


def print_text(review: Review, out: Printer | None = None, admit: str | None = None) -> None:
    """Print the report: on a terminal section by section, in a pipe one verdict a line.

    ``admit`` is the command that admits from this eval set; without it none is shown.
    """
    out = out or Printer()
    style = PlainStyle(review.platform.taxonomy)
    platform = review.platform
    out.line(wording.headline(review), "bold")
    size = len(platform.regression_set.entries)
    for submission in review.submissions:
        count = len(submission.queries)
        out.line(
            f"{style.name(submission.customer)} / {style.name(submission.agent)}: {count} "
            f"{'query' if count == 1 else 'queries'}; "
            f"regression set: {size} of {platform.config.ceiling} slots taken, total cost {wording.cost_change(review)}"
        )
    if review.stale:
        out.line(
            f"{len(review.stale)} stale entries, of another classifier or taxonomy, could not be compared in full, "
            "so these verdicts admit too much: run `incumbent reclassify` first",
            "bold yellow",
        )
    sections = (
        ("waiting-for-review", "Needs you", review.plan.waiting_for_review),
        ("admitted", "Deserve a slot", review.plan.admitted),
        ("waiting-for-slot", "Deserve a slot, but the set is full", review.plan.waiting_for_slot),
        ("excluded", "Excluded", review.plan.excluded),
    )
    excluded = Excluded(review, style)
    if out.is_terminal:
        for outcome, title, verdicts in sections:
            beyond = excluded if outcome == "excluded" else None
            _print_section(f"{title} ({len(verdicts)})", verdicts, review, style, out, beyond)
            if outcome == "waiting-for-review" and admit is not None:
                print_accepting(admit, verdicts, review, out)
    else:
        rows = [
            _row(outcome, verdict, review, style, excluded.in_the_way(verdict) if outcome == "excluded" else "")
            for outcome, _, verdicts in sections
            for verdict in verdicts
        ]
        out.table("Verdicts", _HEADER, rows)
    close = excluded.close_calls
    if close:
        close_lines = [
            f"{style.name(id)}: {wording.close_call(call, style)}" for id, call in excluded.shown_close_calls
        ]
        if more := len(close) - len(close_lines):
            close_lines.append(f"and {wording.counted(more, 'less likely one', 'less likely ones')}")
        out.lines(f"Close calls among the excluded, by what each would bring ({len(close)})", close_lines)
        if admit is not None and out.is_terminal:
            out.command(visible(f"{admit} --accept {shlex.quote(close[0][0])} --reason WHY"))
    for swap in review.swaps:
        gone = wording.listed([style.name(id) for id in swap.remove])
        out.line(f"possible swap: admit {style.name(swap.admit)} and evict {gone} together")
    print_provisions(review.provisions, style, out)
    _print_coverage(review, style, out)
    out.lines("Corrected", corrected_lines(review, style))
    out.lines("Personal data: `incumbent scan DIR --replace` replaces it", personal_lines(review, style))
    out.lines("Remarks", _remarks(review, style))
    identity = review.identity
    out.line()
    out.line(
        f"taxonomy {platform.taxonomy.version}; classifier {identity.backend} {identity.model}, "
        f"prompt {identity.prompt}, {identity.samples} samples",
        "dim",
    )


def _row(outcome: str, verdict: Verdict, review: Review, style: PlainStyle, in_its_way: str) -> tuple[str, ...]:
    query = review.queries[verdict.id]
    return (
        outcome,
        style.name(verdict.id),
        verdict.decision.value,
        verdict.route.value,
        " ".join(reason.value for reason in verdict.reasons),
        wording.first_turn(query.turns, style),
        _why(verdict, review, style),
        evidence(query, review.origins[verdict.id], style),
        in_its_way,
    )


def _why(verdict: Verdict, review: Review, style: PlainStyle) -> str:
    return " ".join([wording.why(verdict, review, style), *wording.beside(verdict, review, style)])


def _print_section(
    title: str,
    verdicts: Sequence[Verdict],
    review: Review,
    style: PlainStyle,
    out: Printer,
    excluded: Excluded | None,
) -> None:
    """The reasons are told as sentences; of what is ``excluded`` the codes say enough, with what is in its way."""
    rows: list[tuple[Text, ...]] = []
    for verdict in verdicts[: out.shown(len(verdicts))]:
        query = review.queries[verdict.id]
        text = wording.first_turn(query.turns, style)
        sentences = [_why(verdict, review, style)] if excluded is None else [excluded.in_the_way(verdict)]
        sentences += [shown] if (shown := evidence(query, review.origins[verdict.id], style)) else []
        codes = [wording.codes(verdict)] if excluded is None else []
        words = wording.verdict_words(verdict) if codes else " ".join(reason.value for reason in verdict.reasons)
        details = [("\n".join(["", *sentences]), "dim"), ("\n".join(["", *codes]), "dim italic")]
        rows.append(
            (
                Text(style.name(verdict.id), style="bold"),
                Text(words, style=_style(verdict)),
                Text.assemble(text, *(part for part in details if part[0])),
            )
        )
    out.table(title, ("query", "verdict", "text"), rows, bare=True)
    out.rest(len(verdicts))


def print_accepting(admit: str, verdicts: Sequence[Verdict], review: Review, out: Printer) -> None:
    """The command ``admit`` with the acceptance of those of ``verdicts`` that enter by it, to be copied into a shell.

    To accept an EXCLUDE, or what is contradicted, takes a reason, and so a command of its own; of some that offer the
    same the first enters.
    """
    unfamiliar = sum(not verdict.facts.familiar for verdict in verdicts)
    if unfamiliar:
        some = wording.counted(unfamiliar, "query is", "queries are")
        out.line(
            f"{some} of a kind that the classifier cannot judge: one question. {wording.WAYS_OUT} "
            "(`incumbent correct`)."
        )
    if any(not verdict.decision.admits for verdict in verdicts):
        out.line("To accept an EXCLUDE, give --reason.")
    admitting = [verdict for verdict in verdicts if verdict.decision.admits]
    doubted = [verdict for verdict in admitting if Reason.CONTRADICTED in verdict.reasons]
    if doubted:
        out.line("To accept what rests on doubtful expected tool calls, give --reason.")
    ids = review.together([verdict.id for verdict in admitting if verdict not in doubted][: wording.COMMANDED])
    if not ids:
        return
    several = f"{len(ids)} of them, or those that you leave in"
    one = "it" if len(verdicts) == 1 else f"`{ids[0]}`"
    out.line(f"To accept {one if len(ids) == 1 else several}:")
    out.command(visible(" ".join([admit, *(f"--accept {shlex.quote(id)}" for id in ids)])))


def print_provisions(provisions: Sequence[Provision], style: PlainStyle, out: Printer) -> None:
    """Print what has to be provisioned for what is admitted."""
    rows = [
        (item.kind, style.quote(item.name), wording.listed([style.name(id) for id in item.needed_by]))
        for item in provisions
    ]
    out.table(f"To provision ({len(rows)})", ("what", "name", "needed by"), rows)


def _style(verdict: Verdict) -> str:
    if verdict.route is Route.REVIEW:
        return "yellow"
    return "green" if verdict.decision.admits else "red"


def _print_coverage(review: Review, style: PlainStyle, out: Printer) -> None:
    rows = [
        (
            style.capability(item.capability),
            str(item.before),
            str(item.after),
            "met" if item.after >= item.floor else f"short of {item.floor}",
        )
        for item in review.coverage
        if item.after > item.before
    ]
    out.table("Coverage gained", ("capability", "before", "after", "floor"), rows, right=("before", "after"))


def _remarks(review: Review, style: PlainStyle) -> list[str]:
    remarks = [visible(str(note).split("\n")[0]) for note in review.notes]
    remarks += [f"{style.name(id)} is already decided by {style.name(item.id)}" for id, item in review.settled.items()]
    remarks += [f"{style.name(id)} is an edit of {style.name(item.id)}" for id, item in review.edited.items()]
    remarks += [
        f"{style.name(id)} fits no member of {group}" for id, groups in review.off_taxonomy.items() for group in groups
    ]
    remarks += [f"{style.name(id)} has no verdict: {visible(why)}" for id, why in review.shortfalls.items()]
    remarks += [f"{style.name(id)} argues with the classifier, or hides text from people" for id in review.attempts]
    remarks += remarks_on(review.classifications).lines(style)
    return remarks + [f"{style.name(item.id)} is stale ({visible(item.reason)})" for item in review.stale]
