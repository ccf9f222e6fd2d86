"""Entries of the regression set on a console: many in columns, one in full."""

from __future__ import annotations

from bot.curator.entry import Admitted, Evicted
from bot.report.console import Printer
from bot.report.entries_output import CoverageOutput, ListOutput, RolesOutput, ShowOutput, State
from bot.report.escaping import visible
from bot.report.voices import PlainVoice
from bot.report.wording import SHOWN_NAMES, counted, listed
from bot.taxonomy.model import Taxonomy
from bot.text.masking import masked_together

_STATES: dict[State, str] = {
    "in-set": "in the regression set",
    "waiting": "waits for a slot",
    "evicted": "evicted",
}


def print_list(output: ListOutput, taxonomy: Taxonomy, out: Printer) -> None:
    """Print entries in columns, a line each."""
    voice = PlainVoice(taxonomy)
    is_scored = any(item.score is not None for item in output.entries)
    header = [
        "entry",
        "state",
        "customer",
        "agent",
        "admitted",
        "capabilities",
        *(["score"] if is_scored else []),
        "roles",
    ]
    rows = [
        [
            item.id,
            item.state,
            voice.name(item.customer or "–"),
            voice.name(item.agent or "–"),
            item.admitted[:10] if out.is_terminal else item.admitted,
            str(item.capabilities),
            *([] if item.score is None else [f"{item.score:.2f}"]),
            "; ".join(_roles(item.roles, voice, short=out.is_terminal)),
        ]
        for item in output.entries
    ]
    if out.is_terminal and len({item.state for item in output.entries}) == 1:
        header = [name for name in header if name != "state"]
        rows = [[row[0], *row[2:]] for row in rows]
    out.table("", header, rows, right=("capabilities", "score"))
    if out.is_terminal:
        out.line(counted(len(rows), "entry", "entries"), "dim")


def print_entry(output: ShowOutput, taxonomy: Taxonomy, out: Printer) -> None:
    """Print one entry: what it is, why it is in, and who else covers what it covers."""
    voice = PlainVoice(taxonomy)
    entry = output.entry
    out.line(f"{entry.id}: {_STATES[output.state]}", "bold")
    if output.eviction is not None:
        out.line(f"  {evicted(output.eviction, voice)}")
        out.line(f"  to bring it back: incumbent restore {entry.id}")
    for number, turn in enumerate(map(visible, masked_together(entry.turns)), 1):
        out.line(f"  {turn}" if len(entry.turns) == 1 else f"  turn {number}: {turn}")
    out.line(f"  {_source(output, voice)}")
    out.line(f"  {_admitted(entry.admitted, voice)}")
    for line in _roles(output.roles, voice, short=False):
        out.line(f"  {line}")
    if output.lag is not None:
        out.line(f"  lags behind ({visible(output.lag)}): run `incumbent reclassify`", "yellow")
    rows = [
        (name, f"{item.score:.2f}", str(len(item.others)), str(item.floor), _others(item, out.is_terminal))
        for name, item in output.capabilities.items()
    ]
    header = ("capability", "score", "others", "floor", "who else covers it, the champion first")
    out.table(f"Exercises ({len(rows)})", header, rows, right=("score", "others", "floor"), whole=True)


def _others(item: CoverageOutput, short: bool) -> str:
    names = sorted(item.others, key=lambda id: id != item.champion)
    return listed(names, most=1 if short else SHOWN_NAMES) if names else "–"


def evicted(eviction: Evicted, voice: PlainVoice) -> str:
    """When an entry was evicted, by whom and why."""
    when = "evicted" if eviction.at is None else f"evicted at {eviction.at}"
    who = "" if eviction.by is None else f" by {voice.name(eviction.by)}"
    return f"{when}{who}: {voice.quote(eviction.reason)}"


def _source(output: ShowOutput, voice: PlainVoice) -> str:
    source = output.entry.source
    if source is None:
        return "it names no source"
    pull = "" if source.pull_request is None else f", pull request #{source.pull_request}"
    imported = "" if source.imported is None else ", imported"
    return (
        f"from {voice.name(source.customer)} / {voice.name(source.agent)}, {voice.name(source.item)} of "
        f"{voice.quote(source.eval_set)}{imported}{pull}"
    )


def _admitted(admitted: Admitted, voice: PlainVoice) -> str:
    reasons = " ".join([admitted.decision, admitted.route, *admitted.reasons])
    by = "" if admitted.by is None else f" by {voice.name(admitted.by)}"
    override = "" if admitted.override is None else f"; against the verdict: {voice.quote(admitted.override)}"
    displaced = f"; displaces {listed(admitted.displaces)}" if admitted.displaces else ""
    return f"admitted at {admitted.at}{by} [{voice.quote(reasons)}]{override}{displaced}"


def _roles(roles: RolesOutput, voice: PlainVoice, *, short: bool) -> list[str]:
    """What the entry does; in ``short`` champions are counted."""
    found = [] if roles.pin is None else [f"pinned: {voice.quote(roles.pin)}"]
    if roles.champion_of:
        names = listed(roles.champion_of, most=len(roles.champion_of))
        found.append(f"champion of {len(roles.champion_of)}" if short else f"champion of {names}")
    return found + ([f"displaced by {listed(roles.displaced_by)}"] if roles.displaced_by else [])
