"""What queries exercise, on a console: a capability a line, after the query's id."""

from __future__ import annotations

from collections.abc import Sequence

from bot.classifier.classify import ClassifierResult
from bot.classifier.model import Classification
from bot.intake.query import Query
from bot.report.console import Printer
from bot.report.remarks import remarks_on
from bot.report.voices import PlainVoice
from bot.report.wording import called, counted, first_turn
from bot.taxonomy.model import Taxonomy


def print_classified(result: ClassifierResult, queries: Sequence[Query], taxonomy: Taxonomy, out: Printer) -> None:
    """Print the capabilities of each query; a terminal shows the first queries with their texts."""
    voice = PlainVoice(taxonomy)
    found = result.classifications
    texts = {query.id: first_turn(query.turns, voice) for query in queries}
    out.line(f"{counted(len(found), 'query', 'queries')}; taxonomy {taxonomy.version}", "bold")
    header = ("query", "capability", "confidence", "decided by")
    if out.is_terminal:
        for item in found[: out.shown(len(found))]:
            rows = [row[1:] for row in _rows(item)] or [("exercises no capability", "", "")]
            out.title(f"{voice.name(item.query_id)}  {texts[item.query_id]}")
            out.table("", header[1:], rows, bare=True, whole=True)
            for line in (*_besides(item, voice), *remarks_on([item]).lines(voice)):
                out.line(line)
        out.rest(len(found))
        return
    rows = [row for item in found for row in _rows(item) or [(item.query_id, "", "", "")]]
    out.table("Capabilities", header, [(voice.name(row[0]), *row[1:]) for row in rows])
    out.lines("Besides", [f"{voice.name(item.query_id)}: {line}" for item in found for line in _besides(item, voice)])
    out.lines("Remarks", remarks_on(found).lines(voice))


def _rows(item: Classification) -> list[tuple[str, ...]]:
    return [
        (item.query_id, name, f"{judged.confidence:.2f}", judged.path)
        for name, judged in item.judgements.items()
        if judged.value
    ]


def _besides(item: Classification, voice: PlainVoice) -> list[str]:
    """What else is known of a query, beside its capabilities."""
    lines = [f"not {name} (corrected)" for name, value in item.corrected.items() if not value]
    lines += [] if item.calls is None else [f"called tools: {called(item.calls, voice)}"]
    lines += [f"off taxonomy: {group}" for group in item.off_taxonomy]
    return lines + (["argues with the classifier, or hides text from people"] if item.attempt else [])
