"""What the regression set loses with entries, in Markdown: on the pull request that takes their queries out, and on an
eviction that was merged when its grounds held no more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.curator.losses import Departure, Losses
from bot.curator.roles import EvictionKind
from bot.report.escaping import code
from bot.report.tables import Detail, TableWriter
from bot.report.verdict_text import MarkdownStyle, counted, listed
from bot.taxonomy.model import Taxonomy

SHOWN = 10
"""Names that are shown of a long list; the rest is counted."""
NO_LONGER_TRUE = "<!-- incumbent:no-longer-true -->"


def departure_headline(departure: Departure) -> str:
    """The whole in one line of plain text."""
    count = len(departure.entries) + len(departure.pinned)
    text = f"{counted(count, 'entry', 'entries')} would lose {'its' if count == 1 else 'their'} source"
    short = len(departure.losses.shortages)
    return f"{text}; {counted(short, 'capability', 'capabilities')} would fall short" if short else text


def render_departure(departure: Departure, taxonomy: Taxonomy, detail: Detail, more: str) -> str:
    """The section of a pull request's comment; ``more`` says where the rows are that ``detail`` leaves out."""
    blocks = [f"### {departure_headline(departure)}", "This removes queries that have entries in the regression set."]
    for kind, why in (
        (EvictionKind.CUSTOMER_LEFT, "the customer has no eval set any more"),
        (EvictionKind.SOURCE_DELETED, "the query is in no eval set any more"),
    ):
        names = [code(id) for id, given in departure.entries.items() if given is kind]
        if names:
            blocks.append(
                f"After the merge Incumbent suggests to evict {listed(names, SHOWN)} ({code(kind.value)}: {why}), "
                "each in a pull request that people merge or close."
            )
    if departure.pinned:
        blocks.append(
            f"Pinned by a person, and so not suggested: {listed([code(id) for id in departure.pinned], SHOWN)}."
        )
    if departure.entries:
        blocks += _lost(departure.losses, taxonomy, TableWriter(detail, more))
    return "\n\n".join(blocks)


def _lost(found: Losses, taxonomy: Taxonomy, table: TableWriter) -> list[str]:
    style = MarkdownStyle(taxonomy)
    if not found.shortages:
        blocks = ["Without them every capability that they cover keeps its floor."]
    else:
        rows = [
            (
                style.capability(item.capability),
                f"{item.before} → {item.after}",
                "no entry would cover it" if item.after == 0 else f"short of {item.floor}",
            )
            for item in found.shortages
        ]
        blocks = ["Without them:", table(("Capability", "Coverers", "Floor"), rows)]
    if found.combinations:
        count = counted(len(found.combinations), "combination", "combinations")
        blocks.append(f"{count} of capabilities would be carried by no entry.")
    return blocks


def render_no_longer_true(lost: Mapping[str, Losses], taxonomy: Taxonomy) -> str:
    """What is said on an eviction that was merged although its grounds hold no more; ``lost`` by entry."""
    lines = [line for id, found in lost.items() for line in _lacks(id, found, taxonomy)]
    ids = " ".join(lost)
    return "\n".join(
        [
            NO_LONGER_TRUE,
            "**No longer true.** The regression set has changed since this was suggested:",
            "",
            *lines,
            "",
            f"To bring {'it' if len(lost) == 1 else 'them'} back, a curator says `/incumbent restore {ids}`.",
            "",
        ]
    )


def _lacks(id: str, found: Losses, taxonomy: Taxonomy) -> list[str]:
    style = MarkdownStyle(taxonomy)
    lines = [
        f"- {style.capability(item.capability)} has {counted(item.after, 'competent coverer', 'competent coverers')} "
        f"without {code(id)}: short of {item.floor}"
        for item in found.shortages
    ]
    if found.best_of:
        lines.append(f"- {code(id)} was the best test of {_names(found.best_of, style)}")
    if found.combinations:
        first = " + ".join(style.capability(name) for name in found.combinations[0])
        rest = len(found.combinations) - 1
        more = f" and {counted(rest, 'other combination', 'other combinations')}" if rest else ""
        lines.append(f"- no entry carries {first}{more}, as {code(id)} did")
    return _cut(lines)


def _names(names: Sequence[str], style: MarkdownStyle) -> str:
    return listed([style.capability(name) for name in names], SHOWN)


def _cut(lines: Sequence[str]) -> list[str]:
    return [*lines[:SHOWN], *([f"- and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else [])]
