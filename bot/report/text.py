"""The verdict report on a console: colour and a table on a terminal, plain lines in a pipe."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bot.consolidator.verdict import Route, Verdict
from bot.pipeline import Review
from bot.report import wording
from bot.report.escaping import visible
from bot.report.evidence import evidence
from bot.report.remarks import remarks_on
from bot.report.voices import PlainVoice


def print_text(review: Review, console: Console | None = None) -> None:
    """Print the report; a terminal gets colour and tables, anything else plain text."""
    out = console or Console(highlight=False, soft_wrap=True, markup=False, emoji=False)
    voice = PlainVoice(review.platform.taxonomy)
    platform = review.platform
    out.print(Text(wording.headline(review), style="bold"))
    size = len(platform.regression_set.entries)
    for submission in review.submissions:
        count = len(submission.queries)
        out.print(
            f"{voice.name(submission.customer)} / {voice.name(submission.agent)}: {count} "
            f"{'query' if count == 1 else 'queries'}; "
            f"regression set: {size} of {platform.config.ceiling} slots taken"
        )
    if review.lags:
        out.print(
            Text(
                f"{len(review.lags)} entries lag behind this classifier or taxonomy and could not be compared in full, "
                "so these verdicts admit too much: run `incumbent reclassify` first",
                style="bold yellow",
            )
        )
    sections = (
        ("Needs you", review.plan.waiting_for_review),
        ("Deserve a slot", review.plan.admitted),
        ("Deserve a slot, but the set is full", review.plan.waiting_for_slot),
        ("Excluded", review.plan.excluded),
    )
    for title, verdicts in sections:
        if verdicts:
            out.print()
            out.print(Text(f"{title} ({len(verdicts)})", style="bold"))
            _print_verdicts(verdicts, review, voice, out)
    for swap in review.swaps:
        gone = wording.listed([voice.name(id) for id in swap.remove])
        out.print(f"possible swap: admit {voice.name(swap.admit)} and evict {gone} together")
    _print_coverage(review, voice, out)
    _print_remarks(review, voice, out)
    identity = review.identity
    out.print()
    out.print(
        f"taxonomy {platform.taxonomy.version}; classifier {identity.backend} {identity.model}, "
        f"prompt {identity.prompt}, {identity.samples} samples"
    )


def _print_verdicts(verdicts: tuple[Verdict, ...], review: Review, voice: PlainVoice, out: Console) -> None:
    behind = wording.alternates(review)
    table = Table(show_header=False, box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for verdict in verdicts:
        text = wording.first_turn(review.queries[verdict.id].turns, voice)
        reason = wording.why(verdict, review, voice)
        if verdict.id in behind:
            reason += f" Alternates: {wording.listed([voice.name(id) for id in behind[verdict.id]])}."
        tools = evidence(review.queries[verdict.id], review.origins[verdict.id], voice)
        if out.is_terminal:
            table.add_row(
                Text(voice.name(verdict.id), style="bold"),
                Text(wording.verdict_words(verdict), style=_style(verdict)),
                Text.assemble(
                    *(text, "\n", (reason, "dim"), "\n", (f"{tools}\n" if tools else "", "dim")),
                    (wording.codes(verdict), "dim italic"),
                ),
            )
        else:
            out.print(f"{voice.name(verdict.id)}  {wording.verdict_words(verdict)}  [{wording.codes(verdict)}]")
            out.print(f"    {text}")
            out.print(f"    {reason}")
            if tools:
                out.print(f"    {tools}")
    if out.is_terminal:
        out.print(table, soft_wrap=False)


def _style(verdict: Verdict) -> str:
    if verdict.route is Route.REVIEW:
        return "yellow"
    return "green" if verdict.decision.admits else "red"


def _print_coverage(review: Review, voice: PlainVoice, out: Console) -> None:
    gained = [item for item in review.coverage if item.after > item.before]
    if not gained:
        return
    out.print()
    out.print(Text("Coverage gained", style="bold"))
    for item in gained:
        floor = "floor met" if item.after >= item.floor else f"short of the floor of {item.floor}"
        out.print(f"  {voice.capability(item.capability)}: {item.before} → {item.after} coverers, {floor}")


def _print_remarks(review: Review, voice: PlainVoice, out: Console) -> None:
    remarks = [visible(str(note).split("\n")[0]) for note in review.notes]
    remarks += [f"{voice.name(id)} is settled by {voice.name(item.id)}" for id, item in review.settled.items()]
    remarks += [f"{voice.name(id)} is an edit of {voice.name(item.id)}" for id, item in review.edited.items()]
    remarks += [
        f"{voice.name(id)} fits no member of {group}" for id, groups in review.off_taxonomy.items() for group in groups
    ]
    remarks += [f"{voice.name(id)} has no verdict: {visible(why)}" for id, why in review.shortfalls.items()]
    remarks += [f"{voice.name(id)} argues with the classifier, or hides text from people" for id in review.attempts]
    remarks += remarks_on(review.classifications.values()).lines(voice)
    remarks += [f"{voice.name(lag.id)} lags behind ({visible(lag.reason)})" for lag in review.lags]
    if remarks:
        out.print()
        out.print(Text("Remarks", style="bold"))
        for remark in remarks:
            out.print(f"  {remark}")
