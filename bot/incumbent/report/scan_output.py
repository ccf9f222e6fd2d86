"""What ``incumbent scan --json`` prints, as a model (``incumbent schema scan-output``), and how it is told."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel, Field

from incumbent.errors import Problem
from incumbent.files.validation import Checked
from incumbent.pipeline.scan import Sighting
from incumbent.report.console import Printer
from incumbent.report.escaping import shortened, visible
from incumbent.report.output import Spent
from incumbent.report.verdict_text import PlainStyle, counted


class ScanOutput(BaseModel):
    """`incumbent scan --json`."""

    found: list[Checked[Sighting]] = Field(description="before anything was replaced, in the order of the files")
    scanned: int = Field(ge=0, description="queries, entries and corrections that were looked at")
    changed: list[str] = Field(description="files in which personal data was replaced")
    kept: dict[str, list[Checked[Sighting]]] = Field(
        description="file that would not contain the same queries, and so was not changed: what holds it back"
    )
    reclassified: list[str] = Field(description="entries that were reclassified because their text changed")
    not_reclassified: dict[str, str] = Field(description="entry with another text that keeps its scores: why")
    problems: list[Checked[Problem]] = Field(description="rows that could not be read, and so were not looked at")
    usage: Spent


def print_scan(output: ScanOutput, replaced: bool, style: PlainStyle, out: Printer) -> None:
    """Print where something was found, and what was done about it."""
    rows = [
        (
            visible(item.place),
            style.name(item.id),
            item.holds,
            shortened(visible(" / ".join(item.texts))),
        )
        for item in output.found
    ]
    out.table("Personal data and secrets", ("where", "query", "holds", "text"), rows)
    out.line(f"{counted(output.scanned, 'text was', 'texts were')} looked at: {len(rows)} with findings")
    out.lines("Replaced in", [visible(path) for path in output.changed])
    out.lines(
        "Not replaced, since the replaced file would not contain the same queries: edit it by hand",
        [
            f"{visible(item.place)}: {style.name(item.id)} holds {item.holds}"
            for items in output.kept.values()
            for item in items
        ],
    )
    if replaced:
        out.lines(
            "Not replaced", [f"{visible(item.place)}: {item.to_do}" for item in output.found if item.to_do is not None]
        )
    for line in _aftermath(output, replaced):
        out.line(line)


def _aftermath(output: ScanOutput, replaced: bool) -> Iterator[str]:
    personal = any(item.personal_data for item in output.found)
    if personal and not replaced:
        yield "To replace personal data: the same command with --replace"
    if any(item.secret for item in output.found):
        yield "Secrets are not replaced: revoke what is real, and write another value by hand"
    if output.reclassified:
        yield f"Reclassified because the text changed: {', '.join(output.reclassified)}"
    for id, why in output.not_reclassified.items():
        yield f"{id} has another text and keeps its scores: {visible(why)}"
    if output.changed:
        yield (
            "History keeps the old values: git has every commit. "
            "Corrections in comments apply to the former text: repeat them if they are still right"
        )
