"""Pair coverage in words: how many of the possible pairs are carried, which are missing, and who could bring them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bot.rater.pair_coverage import MissingPair, PairCoverage
from bot.report.escaping import visible
from bot.report.output import StatusOutput
from bot.report.tables import TableSection
from bot.report.verdict_text import MarkdownStyle, counted, listed

if TYPE_CHECKING:
    # The job that writes on GitHub imports this module, and has no rich.
    from bot.report.console import Printer

SHOWN_PAIRS: Final = 20
"""Maximum number of missing pairs that the dashboard lists."""

_NOUNS: Final = {1: "single capabilities", 2: "pairs", 3: "triples"}
_COMMAND: Final = "`incumbent status --pairs`"


def carried_words(status: StatusOutput) -> str:
    """How many of the possible pairs are carried; where a combination is a whole signature, how many of these are."""
    if status.pairs is None:
        return f"{counted(status.combinations, 'combination', 'combinations')} carried"
    noun = _NOUNS[status.pairs.strength]
    possible = f"possible {noun}" if status.pairs.agents else noun
    return f"{status.pairs.carried} of {status.pairs.possible} {possible} carried"


def basis(coverage: PairCoverage) -> str:
    """What decides which pairs are possible."""
    if not coverage.agents:
        return "Possible by the taxonomy alone: no agent's specification is known."
    return f"Possible by the taxonomy and the specifications of {counted(coverage.agents, 'agent', 'agents')}."


def print_pairs(status: StatusOutput, out: Printer) -> None:
    """Print the missing pairs, and those that are carried although they count as impossible."""
    if status.pairs is None:
        out.line("`novelty: signature` has no pairs: a combination is a whole signature.")
        return
    out.line(basis(status.pairs))
    rows = [
        (" + ".join(item.capabilities), str(item.agents), _first(item), ", ".join(item.waiting) or "–")
        for item in status.missing_pairs or ()
    ]
    header = ("missing", "agents", "such as", "waiting")
    out.table(f"Missing ({len(rows)})", header, rows, right=("agents",))
    unexpected = [" + ".join(names) for names in status.unexpected_pairs or ()]
    out.lines(f"Carried, though counted as impossible ({len(unexpected)})", unexpected)


def _first(item: MissingPair) -> str:
    """One agent in a column; the JSON has more."""
    return visible(item.first_agents[0]) if item.first_agents else "–"


def missing_section(coverage: PairCoverage, style: MarkdownStyle) -> TableSection:
    """The missing pairs, as far as the dashboard lists them, and who could bring them."""
    count = len(coverage.missing)
    rows = tuple(
        (
            " + ".join(style.capability(name) for name in item.capabilities),
            listed([style.quote(name) for name in item.first_agents], total=item.agents) if item.agents else "–",
            listed([style.name(id) for id in item.waiting]) if item.waiting else "–",
        )
        for item in coverage.missing[:SHOWN_PAIRS]
    )
    about = [basis(coverage)]
    if coverage.unexpected:
        about.append(f"Carried, though counted as impossible: {len(coverage.unexpected)}.")
    if count > len(rows):
        about.append(f"The table has the first {len(rows)}; {_COMMAND} lists all.")
    return TableSection(
        title=f"Missing {_NOUNS[coverage.strength]} ({count})",
        about=(" ".join(about),),
        header=("Missing", "Agents that could bring it", "On the waitlist"),
        rows=rows,
        more=_COMMAND,
        fold=f"{len(rows)} of {count}",
    )
