"""The regression set as the dashboard describes it: coverage, who waits, what is not as it should be."""

from __future__ import annotations

from bot.curator.entry import Entry
from bot.pipeline.review import Platform
from bot.rater.model import Resident
from bot.report.output import LossOutput, StatusOutput
from bot.report.tables import Section
from bot.report.voices import MarkdownVoice
from bot.report.wording import counted, listed
from bot.text.compare import rounded

_FILES = "the files in `regression_set/`"
_STATUS = "`incumbent status`"


def size_words(status: StatusOutput) -> str:
    """Size and free slots against the ceiling, in one line."""
    free = status.ceiling - status.size
    left = f"{free} free" if free >= 0 else f"{-free} over the ceiling"
    return f"{status.size} of {counted(status.ceiling, 'slot', 'slots')} taken, {left}"


def summary(status: StatusOutput, refused: int) -> str:
    """The numbers of the set in one paragraph; ``refused`` is how many refusals of an eviction hold."""
    covered = sum(bool(item.coverers) for item in status.capabilities)
    combinations = counted(status.combinations, "combination", "combinations")
    sentences = [f"{covered} of {counted(len(status.capabilities), 'capability', 'capabilities')} covered."]
    sentences.append(f"{combinations} carried.")
    if status.waiting:
        sentences.append(f"{counted(len(status.waiting), 'entry waits', 'entries wait')} for a slot.")
    if status.evicted:
        sentences.append(f"{counted(len(status.evicted), 'entry was', 'entries were')} evicted (tombstones).")
    if refused:
        sentences.append(f"{counted(refused, 'refusal of an eviction holds', 'refusals of evictions hold')}.")
    return " ".join(sentences)


def coverage(status: StatusOutput, voice: MarkdownVoice) -> Section:
    """Every capability, those in short supply first; otherwise in the taxonomy's order."""
    rows = [
        (
            voice.capability(item.id),
            str(len(item.coverers)),
            "on trial" if item.on_trial else str(item.floor) if item.floor_met else f"**short of {item.floor}**",
            "–" if item.champion is None else voice.name(item.champion),
            "–" if item.champion_score is None else f"{item.champion_score:.2f}",
        )
        for item in sorted(status.capabilities, key=lambda item: item.floor_met)
    ]
    short = sum(not item.floor_met for item in status.capabilities)
    are = "every floor is met" if not short else f"{short} of {len(rows)} short of their floor"
    return Section(
        title=f"Coverage: {are}",
        header=("Capability", "Coverers", "Floor", "Champion", "Score"),
        rows=tuple(rows),
        more=_STATUS,
        fold=counted(len(rows), "capability", "capabilities"),
    )


def waiting(platform: Platform, voice: MarkdownVoice) -> Section:
    """The entries that wait for a slot, and what each would cover."""
    config = platform.config
    scored = {item.id: item for item in platform.regression_set.in_line(platform.taxonomy)[0]}

    def competent(resident: Resident) -> str:
        names = [name for name, score in sorted(resident.scores.items()) if score >= config.competence_bar(name)]
        return listed([voice.capability(name) for name in names]) if names else "–"

    rows = [
        (voice.name(id), _customer(entry, voice), voice.quote(entry.admitted.at), competent(scored[id]))
        for id, entry in platform.regression_set.waiting.items()
    ]
    free = config.ceiling - len(platform.regression_set.entries)
    about = "`incumbent admit --waiting` lets in those that still earn a free slot." if free > 0 else "The set is full."
    return Section(
        title=f"Waiting for a slot ({len(rows)})",
        about=(about,),
        header=("Entry", "Customer", "Since", "Covers"),
        rows=tuple(rows),
        more=_STATUS,
        asks=True,
    )


def least_loss(losses: list[LossOutput], voice: MarkdownVoice) -> Section:
    """With which entries least would be lost, where none can go safely."""
    rows = []
    for loss in losses:
        parts = []
        if loss.capabilities:
            parts.append(f"floor or champion of {listed([voice.capability(name) for name in loss.capabilities])}")
        if loss.combinations:
            names = [" + ".join(voice.capability(name) for name in combination) for combination in loss.combinations]
            parts.append(f"the only test of {listed(names)}")
        rows.append((voice.name(loss.id), "; ".join(parts) or "nothing"))
    return Section(
        title=f"Least loss ({len(rows)})",
        about=("Entries wait, and no eviction can be suggested. Least would be lost with these; a person decides.",),
        header=("Entry", "What would be lost"),
        rows=tuple(rows),
        more="`incumbent prune`",
        asks=True,
    )


def lagging(platform: Platform, voice: MarkdownVoice) -> Section:
    """The entries, in R and in line, whose scores are not all comparable, and why."""
    known = platform.regression_set
    lags = (*known.residents(platform.taxonomy)[1], *known.in_line(platform.taxonomy)[1])
    return Section(
        title=f"Lag behind ({len(lags)})",
        about=("Classified by another taxonomy or classifier: run `incumbent reclassify` and commit what it writes.",),
        header=("Entry", "Why", "Capabilities without a score"),
        rows=tuple((voice.name(lag.id), voice.quote(lag.reason), str(len(lag.capabilities))) for lag in lags),
        more=_STATUS,
        fold=counted(len(lags), "entry", "entries"),
    )


def not_ready(platform: Platform, voice: MarkdownVoice) -> Section:
    """The entries of R that nobody could run: they name no tenant, no connector and no fixture."""
    entries = [
        entry
        for entry in platform.regression_set.entries.values()
        if entry.setup.tenant is None and not entry.setup.connectors and not entry.setup.fixtures
    ]
    return Section(
        title=f"Not ready to run ({len(entries)})",
        about=("Their `setup` names no tenant, no connectors and no fixtures.",),
        header=("Entry", "Customer"),
        rows=tuple((voice.name(entry.id), _customer(entry, voice)) for entry in entries),
        more=_FILES,
        fold=counted(len(entries), "entry", "entries"),
    )


def customers(platform: Platform, voice: MarkdownVoice) -> Section:
    """The slots that each customer holds, most first, and whether the next one would need a person."""
    held, config = platform.regression_set.held, platform.config
    most = rounded(config.limits.customer_share * config.ceiling)
    rows = [
        (voice.quote(name), str(count), f"{count / config.ceiling:.0%}", "a person" if count + 1 > most else "directly")
        for name, count in sorted(held.items(), key=lambda item: (-item[1], item[0]))
    ]
    nobody = len(platform.regression_set.entries) - sum(held.values())
    if nobody:
        rows.append(("*no source*", str(nobody), f"{nobody / config.ceiling:.0%}", "–"))
    share = f"{config.limits.customer_share:.0%}"
    return Section(
        title=f"Customers ({len(held)})",
        about=(f"Above {share} of all slots (`limits.customer_share`), a customer's next query needs a person.",),
        header=("Customer", "Entries", "Of all slots", "The next enters by"),
        rows=tuple(rows),
        more=_FILES,
        fold=counted(len(held), "customer", "customers"),
    )


def pinned(platform: Platform, voice: MarkdownVoice) -> Section:
    """The entries that people keep, and why."""
    pins = {id: entry.pin for id, entry in platform.regression_set.entries.items() if entry.pin is not None}
    return Section(
        title=f"Pinned by people ({len(pins)})",
        header=("Entry", "Reason"),
        rows=tuple((voice.name(id), voice.quote(reason)) for id, reason in pins.items()),
        more=_FILES,
        fold=counted(len(pins), "entry", "entries"),
    )


def _customer(entry: Entry, voice: MarkdownVoice) -> str:
    return "–" if entry.source is None else voice.quote(entry.source.customer)
