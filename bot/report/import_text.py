"""The report of an import on a console: tables on a terminal, plain lines in a pipe; what is left out comes last."""

from __future__ import annotations

from collections.abc import Sequence

from bot.report.console import Printer
from bot.report.import_output import ImportedAgentOutput, ImportOutput
from bot.report.output import SuggestionOutput
from bot.report.status_text import view
from bot.report.voices import PlainVoice
from bot.report.wording import counted, first_turn
from bot.taxonomy.model import Taxonomy


def print_import(output: ImportOutput, taxonomy: Taxonomy, out: Printer | None = None) -> None:
    """Print the report; a terminal gets tables, anything else lines whose cells are parted by tabs."""
    out = out or Printer()
    voice = PlainVoice(taxonomy)
    out.line(_headline(output), "bold")
    for agent in output.agents:
        out.line(_agent(agent, voice))
    out.line(_size(output))
    asked = "what the rules would have asked a person about; it is kept"
    out.table(
        f"Needed a person ({len(output.needed_person)}): {asked}", *_appraised(output, output.needed_person, voice)
    )
    short = [(voice.capability(item.id), str(len(item.coverers)), str(item.floor)) for item in output.short]
    out.table(f"Below their floor ({len(short)})", ("capability", "coverers", "floor"), short)
    uncovered = [(voice.capability(id), id) for id in output.uncovered]
    out.table(f"Covered by nobody ({len(uncovered)})", ("capability", "id"), uncovered)
    held = [(voice.name(item.customer), str(item.entries), f"{item.share:.0%}") for item in output.concentrated]
    share = f"{output.customer_share:.0%}"
    title = f"More than {share} of all slots ({len(held)}): the next query of these customers needs a person"
    out.table(title, ("customer", "entries", "of all slots"), held)
    known = len(taxonomy.by_id)
    if output.suggestions:
        out.table(_path_back(output), ("entry", "grounds"), [_suggested(item) for item in output.suggestions])
        out.line(view(known - len(output.uncovered), known, output.size))
    kept = "what the rules would not have admitted; it is kept"
    out.table(f"Left out ({len(output.left_out)}): {kept}", *_appraised(output, output.left_out, voice))
    out.lines("Remarks", _remarks(output, voice))


def _headline(output: ImportOutput) -> str:
    verb = "Would import" if output.dry_run else "Imported"
    total = sum(agent.queries for agent in output.agents)
    parts = [f"{len(output.added)} added", f"{len(output.updated)} updated", f"{len(output.unchanged)} unchanged"]
    left = len(output.evicted) + len(output.waiting)
    if left:
        parts.append(f"{left} left as they are")
    return f"{verb} {counted(total, 'query', 'queries')}: {', '.join(parts)}"


def _agent(agent: ImportedAgentOutput, voice: PlainVoice) -> str:
    name = f"{voice.name(agent.customer)} / {voice.name(agent.agent)}: {counted(agent.queries, 'query', 'queries')}"
    declared = f"specification in {', '.join(voice.quote(folder) for folder in agent.specifications)}"
    nothing = "no specification, so that nothing is declared and all is inferred from the texts (--agent-folder)"
    if not agent.specifications:
        return f"{name}; {nothing}"
    if agent.undeclared:
        return f"{name}; {declared}; {agent.undeclared} of them have {nothing}"
    return f"{name}; {declared}"


def _size(output: ImportOutput) -> str:
    taken = f"Regression set: {output.size} of {counted(output.ceiling, 'slot', 'slots')} taken"
    free = output.ceiling - output.size
    if free > 0:
        return f"{taken}, {free} free"
    if free == 0:
        return f"{taken}: what is admitted waits until an entry goes"
    return f"{taken}, {-free} over the ceiling: what is admitted waits until {1 - free} have gone"


def _path_back(output: ImportOutput) -> str:
    """What prune would suggest, and how far that leads."""
    count = len(output.suggestions)
    title = f"Could go without losing anything ({count}): `incumbent prune`"
    if not output.over_ceiling:
        return title
    left = output.over_ceiling - count
    if left <= 0:
        return f"{title}; with these the set is back under its ceiling"
    return f"{title}; with these it is still {left} over its ceiling, and people choose what else goes, or raise it"


def _appraised(
    output: ImportOutput, ids: Sequence[str], voice: PlainVoice
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    verdicts = {item.id: item for item in output.verdicts}
    rows = [
        (voice.name(id), first_turn(verdicts[id].turns, voice), " ".join(verdicts[id].reasons), verdicts[id].why)
        for id in ids
    ]
    return ("entry", "query", "codes", "why"), list(rows)


def _suggested(item: SuggestionOutput) -> tuple[str, str]:
    return item.id, str(item.grounds["kind"])


def _remarks(output: ImportOutput, voice: PlainVoice) -> list[str]:
    remarks = [
        f"{voice.name(id)} was evicted, and stays so: `incumbent restore` brings it back" for id in output.evicted
    ]
    remarks += [f"{voice.name(id)} waits for a slot" for id in output.waiting]
    remarks += [f"{voice.name(id)} is in its file no more: evict it if nobody wants it" for id in output.gone]
    remarks += [f"{voice.name(id)} argues with the classifier, or hides text from people" for id in output.attempts]
    remarks += output.lines(voice)
    return remarks + [
        voice.quote(f"{note.file if note.line is None else f'{note.file}:{note.line}'}: {note.message}")
        for note in output.notes
    ]
