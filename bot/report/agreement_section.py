"""Agreement as the dashboard tells it: by decision, the capabilities overridden most, and what people say."""

from __future__ import annotations

from typing import Final

from bot.agreement.agreement import Agreement, AgreementRow, Share
from bot.agreement.statistics import ShareInterval
from bot.report.tables import TableSection
from bot.report.verdict_text import MarkdownStyle, counted

SHOWN: Final = 10
"""Lists of what people said, and of capabilities, are cut after this many; all are in the JSON report."""

_MORE: Final = "`incumbent agreement`"


def agreement_sections(agreement: Agreement, style: MarkdownStyle) -> tuple[TableSection, ...]:
    """What ``agreement`` says as sections; those that have nothing to say have no rows."""
    answers = counted(agreement.answers, "answer", "answers")
    return (
        TableSection(
            title=f"People and verdicts ({answers})",
            about=(_about(agreement),),
            header=("Decision", "Agree explicitly", "Share", "95 %", "Let pass by a merge", "Alpha"),
            rows=tuple(_row(item, style) for item in agreement.decisions),
            more=_MORE,
        ),
        TableSection(
            title=f"Capabilities whose verdicts are overridden ({len(agreement.overridden)})",
            about=_cut(len(agreement.overridden)),
            header=("Capability", "Overridden", "95 %"),
            rows=tuple(
                (
                    _capability(item.capability, style),
                    f"{item.overrides} of {item.answers}",
                    _bounds(item.interval),
                )
                for item in agreement.overridden[:SHOWN]
            ),
            more=_MORE,
            fold=counted(len(agreement.overridden[:SHOWN]), "capability", "capabilities"),
        ),
        TableSection(
            title=f"Reasons that people give ({len(agreement.said)})",
            about=_cut(len(agreement.said)),
            header=("Reason", "Times", "To override"),
            rows=tuple(
                (style.quote(item.text), str(item.count), str(item.overrides)) for item in agreement.said[:SHOWN]
            ),
            more=_MORE,
            fold=counted(len(agreement.said[:SHOWN]), "reason", "reasons"),
        ),
    )


def _about(agreement: Agreement) -> str:
    """How many people answered, how far they agree with each other, and what did not last."""
    sentences = [f"By {counted(agreement.people, 'person', 'people')}; bots are not counted."]
    overall = agreement.overall
    if overall.several:
        several = counted(overall.several, "question was", "questions were")
        alpha = "is not defined" if overall.alpha is None else f"is {overall.alpha:z.2f}"
        sentences.append(f"{several} judged by several: Krippendorff's alpha {alpha}.")
    gone = agreement.reversed_explicit + agreement.reversed_implicit
    if gone:
        sentences.append(f"{counted(gone, 'more answer', 'more answers')} did not last.")
    sentences.append(f"By route, reason and month: {_MORE}.")
    return " ".join(sentences)


def _cut(count: int) -> tuple[str, ...]:
    """What is said over a list of ``count`` that is cut: people's words would push out what else the issue says."""
    return (f"The first {SHOWN}; all of them: `incumbent agreement --json`.",) if count > SHOWN else ()


def _row(item: AgreementRow, style: MarkdownStyle) -> tuple[str, ...]:
    explicit = item.explicit
    return (
        style.quote(item.name),
        f"{explicit.agreed} of {explicit.count}",
        _percent(explicit),
        _bounds(explicit.interval),
        str(item.implicit.count),
        "–" if item.alpha is None else f"{item.alpha:z.2f}",
    )


def _percent(item: Share) -> str:
    return "–" if item.share is None else f"{item.share:.0%}"


def _bounds(interval: ShareInterval | None) -> str:
    return "–" if interval is None else f"{interval.low:.0%} to {interval.high:.0%}"


def _capability(id: str, style: MarkdownStyle) -> str:
    """Its name, or the id of one that the taxonomy has not any more."""
    return style.capability(id) if id in style.taxonomy.by_id else style.name(id)
