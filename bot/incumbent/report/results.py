"""What release runs say, as JSON and on a console."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

from pydantic import BaseModel, Field

from incumbent.curator.roles import roles_in
from incumbent.files.validation import Checked
from incumbent.files.views import HowMany, View
from incumbent.ledger.clone import FromLedger, recorded_releases
from incumbent.ledger.releases.history import (
    CapabilityEvidence,
    CombinationEvidence,
    EntryHistory,
    combination_evidence,
    evidence,
    histories,
    in_order,
)
from incumbent.ledger.releases.ledger_records import Addition
from incumbent.ledger.releases.record import CaseResult, ReleaseRecord
from incumbent.ledger.releases.selection import RunTotal, run_totals
from incumbent.pipeline.review import Platform
from incumbent.rater.contextualizer import LiveSet
from incumbent.report.escaping import visible
from incumbent.report.tables import TableSection
from incumbent.report.verdict_text import MarkdownStyle, counted, figure, listed

if TYPE_CHECKING:
    from incumbent.report.console import Printer

_SHOWN_RESULTS = 20


ReleaseOutput: TypeAlias = Annotated[
    ReleaseRecord,
    View(
        "release at commit entries passed failed errors skipped unmatched",
        at=Annotated[str, Field(description="its time, UTC")],
        entries=Annotated[HowMany, Field(description="entries that it says something of")],
    ),
]


class ResultsOutput(BaseModel):
    """`incumbent results --json`: the last releases, oldest first, and what they say of each entry and capability."""

    ledger: bool = Field(description="false: there is no ledger here, and so no result")
    releases: list[ReleaseOutput]
    entries: list[Checked[EntryHistory]] = Field(description="entries of the set, by id")
    capabilities: list[Checked[CapabilityEvidence]] = Field(description="in the taxonomy's order")
    combinations: Checked[CombinationEvidence]
    run: list[Checked[RunTotal]] = Field(description="what a run of all entries takes; empty: no run was measured")

    def history_of(self, entry: str) -> EntryHistory | None:
        """What the releases say of ``entry``; ``None`` if there are none, or it is not in the set."""
        return next((item for item in self.entries if self.releases and item.entry == entry), None)

    @property
    def in_name_alone(self) -> list[str]:
        """The capabilities whose coverers all flap or are quarantined: they are not covered in effect."""
        return [item.capability for item in self.capabilities if item.coverers and not item.in_effect]

    @property
    def never_failed(self) -> list[EntryHistory]:
        """The entries that ran and never failed."""
        return [item for item in self.entries if item.releases and not item.failing]

    @property
    def flapping(self) -> list[EntryHistory]:
        """The entries that pass and fail without a reason in the agent."""
        return [item for item in self.entries if item.flapping]

    @property
    def stable(self) -> list[EntryHistory]:
        """The quarantined entries that have not changed for so long that they could be exported again."""
        return [item for item in self.entries if item.quarantined and item.stable]

    @property
    def never_ran(self) -> list[EntryHistory]:
        """The entries that no release says anything of."""
        return [item for item in self.entries if not item.releases]

    @property
    def doubtful(self) -> list[CapabilityEvidence]:
        """The covered capabilities whose tests never failed, or all flap or are quarantined."""
        return [item for item in self.capabilities if item.coverers and not (item.failed and item.in_effect)]


class AddedOutput(BaseModel):
    """`incumbent results add --json`, and `forget`."""

    release: str
    entries: int = Field(description="entries that the release says something of by now")
    results: int = Field(description="results that were counted now")
    known: list[str] = Field(description="files that had been counted before")
    unmatched: list[Annotated[CaseResult, View("entry outcome line")]] = Field(
        description="results of these files that fit no entry"
    )
    commit: str | None = Field(description="the commit on the ledger branch; null: nothing was written")


def local_results(repo: Path, platform: Platform) -> FromLedger[ResultsOutput]:
    """The results on the branch incumbent/ledger of the clone that contains ``repo``, for the ``platform`` there."""
    records, problems, without = recorded_releases(repo, platform.config.results.window)
    return FromLedger(results_overview(platform, records, ledger=without is None), problems, without)


def local_histories(repo: Path, platform: Platform) -> dict[str, EntryHistory]:
    """What the same branch says of each entry of R; empty if no release can be read."""
    records, _, _ = recorded_releases(repo, platform.config.results.window)
    known, config = platform.regression_set, platform.config
    return histories(known.entries, in_order(records), config.results) if records else {}


def shown_results(repo: Path, platform: Platform) -> ResultsOutput | None:
    """The same for what shows it beside something else; ``None`` if no release can be read."""
    records, _, _ = recorded_releases(repo, platform.config.results.window)
    return results_overview(platform, records, ledger=True) if records else None


def results_overview(platform: Platform, records: Sequence[ReleaseRecord], *, ledger: bool) -> ResultsOutput:
    """What ``records`` say of the entries of R, and of what these cover."""
    ordered = in_order(records)
    known, config = platform.regression_set, platform.config
    found = histories(known.entries, ordered, config.results)
    residents = known.residents(platform.taxonomy)[0]
    live = LiveSet(residents, (), config)
    roles = roles_in(live)
    carriers = [ids for mask, ids in live.carriers().items() if mask.bit_count() > 1]
    names = [name for name in platform.taxonomy.by_id if name not in platform.taxonomy.trial]
    return ResultsOutput(
        ledger=ledger,
        releases=list(ordered),
        entries=[found[id] for id in sorted(found)],
        capabilities=list(evidence(roles.coverers, found, names)),
        combinations=combination_evidence(carriers, found),
        run=list(run_totals(found)),
    )


def capability_words(item: CapabilityEvidence) -> str:
    """Whether anything that covers a capability was ever able to fail."""
    if not item.coverers:
        return "covered by no entry"
    coverers = counted(len(item.coverers), "coverer", "coverers")
    if not item.in_effect:
        said = "flapping" if item.flapping == item.ineffective else "flapping or quarantined"
        return f"{coverers}, all {said}: not covered in effect"
    if not item.ran:
        return f"{coverers}, none ran"
    releases = counted(item.releases, "release", "releases")
    failed = f"{item.failed} failed" if item.failed else "none failed"
    return f"{coverers}, {failed} in {releases}"


def entry_words(item: EntryHistory) -> str:
    """What releases show of an entry, in a few words."""
    return f"{_shown_words(item)}{_quarantine_words(item)}"


def _shown_words(item: EntryHistory) -> str:
    if not item.releases:
        return "never ran"
    if item.flapping:
        return "flaps"
    if item.hidden is not None:
        return f"never failed; the chance of a hidden defect is {item.hidden:.0%}"
    return f"failed last in {visible(item.last_failure or '')}"


def _quarantine_words(item: EntryHistory) -> str:
    if not item.quarantined:
        return ""
    if not item.stable:
        return "; quarantined"
    return f"; quarantined, and stable: the last {counted(item.steady, 'release', 'releases')} ended alike"


def record_words(item: EntryHistory) -> str:
    """What releases show of an entry: how often it failed, how often that changed, and what that means."""
    return f"{changes_words(item)}: {entry_words(item)}" if item.releases else entry_words(item)


def changes_words(item: EntryHistory) -> str:
    """How often an entry that ran failed, and how often that changed."""
    flips = f", {counted(item.flips, 'change', 'changes')} between passing and failing" if item.flips else ""
    mixed = f", runs disagree in {counted(item.mixed, 'release', 'releases')}" if item.mixed else ""
    return f"failed in {item.failing} of {counted(item.releases, 'release', 'releases')}{flips}{mixed}"


def totals_words(output: ResultsOutput) -> str:
    """What a run of all entries takes; empty if no run was measured."""
    said = []
    for item in output.run:
        amount = (
            f"{item.total / 60:,.1f} minutes" if item.measure == "seconds" else f"cost {figure(round(item.total, 4))}"
        )
        said.append(f"{amount}{estimated_words(item.estimated)}")
    return f"a run of the whole set takes {' and '.join(said)}" if said else ""


def estimated_words(count: int) -> str:
    """How many entries no run measured, after a price; empty if each was."""
    return f" ({counted(count, 'entry', 'entries')} by the mean of the others)" if count else ""


def combination_words(item: CombinationEvidence) -> str:
    """How many of the carried combinations anything was ever able to fail at."""
    of = counted(item.carried, "combination", "combinations")
    alone = f", {item.flapping} carried by flapping or quarantined entries alone" if item.flapping else ""
    return f"{of} carried: a test failed at {item.failed}, none ran for {item.carried - item.ran}{alone}"


def result_sections(output: ResultsOutput, style: MarkdownStyle) -> tuple[TableSection, ...]:
    """What the dashboard says of release runs, of which there is one at least.

    It lists what is covered in name alone, and the entries that flap.
    """
    last, more = output.releases[-1], "`incumbent results`"
    about = (
        f"{counted(len(output.releases), 'release', 'releases')}, the last {style.quote(last.release)}: "
        f"{counted(last.passed, 'run', 'runs')} passed, {last.failed} failed. No verdict rests on it."
    )
    totals = totals_words(output)
    more_about = f"{combination_words(output.combinations)}{f'; {totals}' if totals else ''}."
    rows = [(style.capability(item.capability), capability_words(item)) for item in output.doubtful]
    return (
        TableSection(
            title=f"Never seen to fail in a release, or flapping ({len(rows)})",
            about=(about, more_about[:1].upper() + more_about[1:]),
            header=("Capability", "Its tests"),
            rows=tuple(rows) or (("–", "every covered capability has a test that failed once"),),
            more=more,
            fold=counted(len(rows), "capability", "capabilities"),
        ),
        TableSection(
            title=f"Entries that flap ({len([item for item in output.flapping if not item.quarantined])})",
            about=("They pass and fail without a reason in the agent: fix them, or `incumbent quarantine` them.",),
            header=("Entry", "Failing releases", "Changes"),
            rows=tuple(
                (style.name(item.entry), f"{item.failing} of {item.releases}", str(item.flips))
                for item in output.flapping
                if not item.quarantined
            ),
            more=more,
        ),
        TableSection(
            title=f"Quarantined, and stable ({len(output.stable)})",
            about=("Their last releases ended alike: `incumbent quarantine ID --end` lets them count again.",),
            header=("Entry", "Releases that ended alike", "Failing releases"),
            rows=tuple(
                (style.name(item.entry), str(item.steady), f"{item.failing} of {item.releases}")
                for item in output.stable
            ),
            more=more,
        ),
    )


def run_summary(added: AddedOutput, platform: Platform, releases: Sequence[ReleaseRecord]) -> str:
    """The summary of the job that counted results, in Markdown: what was added, and what all ``releases`` show."""
    style = MarkdownStyle(platform.taxonomy)
    lines = [f"### Results of {style.quote(added.release)}", _added_words(added)]
    if added.known:
        lines.append(_known_words(added))
    if added.unmatched:
        names = [style.quote(name) for name in _unmatched_names(added)[:_SHOWN_RESULTS]]
        lines.append(f"{len(added.unmatched)} fit no entry: {listed(names, total=len(added.unmatched))}")
    sections = result_sections(results_overview(platform, releases, ledger=True), style)
    return "\n\n".join([*lines, *(section.render(_SHOWN_RESULTS) for section in sections)])


def print_results(output: ResultsOutput, out: Printer) -> None:
    """Print the trend, what each capability is tested by in effect, and the entries: those that flap first."""
    last = output.releases[-1] if output.releases else None
    if last is None:
        out.line("no results yet: `incumbent results add FILE`")
        return
    out.line(
        f"{counted(len(output.releases), 'release', 'releases')}, the last {visible(last.release)}: "
        f"{last.passed} passed, {last.failed} failed, {last.errors} errors, {last.skipped} skipped",
        "bold",
    )
    if totals := totals_words(output):
        out.line(totals)
    out.line(combination_words(output.combinations))
    rows = [
        (visible(item.release), item.at[:10], *map(str, (item.passed, item.failed, item.errors, item.unmatched)))
        for item in reversed(output.releases)
    ]
    header = ("release", "day", "passed", "failed", "errors", "unmatched")
    out.table(f"Releases ({len(rows)})", header, rows, right=header[2:])
    table = [(item.capability, capability_words(item)) for item in output.doubtful]
    out.table(f"Capabilities whose tests never failed, or flap ({len(table)})", ("capability", "tests"), table)
    if stable := output.stable:
        rows = [(item.entry, str(item.steady), f"{item.failing} of {item.releases}") for item in stable]
        title = f"Quarantined, and stable ({len(rows)}): `incumbent quarantine ID --end`"
        out.table(title, ("entry", "alike", "failing"), rows)
    ordered = sorted(output.entries, key=lambda item: (not item.flapping, -item.failing, item.entry))
    entries = [
        (
            item.entry,
            f"{item.failing} of {item.releases}",
            str(item.flips),
            "–" if item.seconds is None else figure(round(item.seconds, 2)),
            entry_words(item),
        )
        for item in ordered
    ]
    columns = ("entry", "failing", "flips", "seconds", "what it shows")
    out.table(f"Entries ({len(entries)})", columns, entries, right=columns[1:4])


def added_overview(addition: Addition, commit: str | None) -> AddedOutput:
    """What was added to a release, by the ``commit`` of the ledger (``None``: nothing was written)."""
    return AddedOutput(
        release=addition.record.release,
        entries=len(addition.record.entries),
        results=addition.results,
        known=list(addition.known),
        unmatched=list(addition.unmatched),
        commit=commit,
    )


def print_added(output: AddedOutput, out: Printer) -> None:
    """Print what was added, and what fits no entry."""
    out.line(f"{visible(output.release)}: {_added_words(output)}", "bold")
    if output.known:
        out.line(_known_words(output))
    if output.unmatched:
        names = [visible(name) for name in _unmatched_names(output)]
        out.line(f"{len(names)} fit no entry: {listed(names[:_SHOWN_RESULTS], total=len(names))}")


def _added_words(output: AddedOutput) -> str:
    return f"{counted(output.results, 'result', 'results')} counted, of {counted(output.entries, 'entry', 'entries')}"


def _known_words(output: AddedOutput) -> str:
    is_not = "is" if len(output.known) == 1 else "are"
    was = counted(len(output.known), "file was", "files were")
    return f"{was} counted before, and {is_not} not counted again"


def _unmatched_names(output: AddedOutput) -> list[str]:
    return [item.entry or (f"line {item.line}" if item.line else "no id") for item in output.unmatched]
