"""Entries: what ``incumbent list`` and ``incumbent show`` print, as JSON and as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import BaseModel, Field

from incumbent.curator.entry import Admitted, CorrectedCost, Entry, Evicted
from incumbent.curator.roles import Roles, derive_roles
from incumbent.curator.store import State
from incumbent.pipeline.review import Platform
from incumbent.report.console import Printer
from incumbent.report.escaping import visible
from incumbent.report.verdict_text import SHOWN_NAMES, PlainStyle, counted, figure, listed
from incumbent.taxonomy.model import Taxonomy
from incumbent.text.masking import masked_together


class RolesOutput(BaseModel):
    """The roles of an entry in the regression set, empty for one outside it, and what people say of it."""

    champion_of: list[str] = Field(description="capabilities that it is pinned for as champion, at or above their bar")
    pin: str | None = Field(description="a person's reason to keep it")
    quarantined: str | None = Field(description="why exports leave it out; null: it is not quarantined")
    displaced_by: list[str] = Field(description="entries that displace it and cover all that it covers")

    @staticmethod
    def of(entry: Entry, roles: Roles) -> RolesOutput:
        """The ``roles`` of ``entry``."""
        reasons = [reason.partition(":") for reason in roles.pinned.get(entry.id, ())]
        return RolesOutput(
            champion_of=[name for kind, _, name in reasons if kind == "champion"],
            pin=entry.pin,
            quarantined=entry.quarantined,
            displaced_by=list(roles.displaced.get(entry.id, ())),
        )

    @property
    def keeps(self) -> bool:
        """Whether the entry may not go."""
        return bool(self.champion_of) or self.pin is not None


class ListedOutput(BaseModel):
    """One entry, in short."""

    id: str
    state: State
    customer: str | None = Field(description="null: the entry names no source")
    agent: str | None
    admitted: str = Field(description="when, UTC")
    evicted: str | None = Field(description="when, UTC; null: it was not, or it is not confirmed yet")
    roles: RolesOutput
    capabilities: int = Field(ge=0, description="how many it exercises")
    score: float | None = Field(description="cs in the capability that was asked for; null: none was")


class ListOutput(BaseModel):
    """`incumbent list --json`: entries by id."""

    entries: list[ListedOutput]


class EntryCapabilityOutput(BaseModel):
    """A capability that an entry exercises."""

    score: float = Field(ge=0, le=1, description="cs, as the entry has it")
    champion: str | None = Field(description="the entry with the highest score in the set")
    others: list[str] = Field(description="other entries of the set that cover it competently, sorted")
    floor: int = Field(description="competent coverers that there should be")


class ShowOutput(BaseModel):
    """`incumbent show --json`: an entry, or its tombstone."""

    state: State
    entry: Entry
    roles: RolesOutput
    capabilities: dict[str, EntryCapabilityOutput] = Field(description="by id, the surest first")
    cost: CorrectedCost | None = Field(description="what a curator said that its set-up costs; null: none did")
    stale: str | None = Field(description="why its scores cannot all be compared; null: they can")
    eviction: Evicted | None = Field(description="null: it was not evicted")
    restore: str | None = Field(description="the command that brings it back; null: it was not evicted")


def list_entries(
    platform: Platform,
    states: frozenset[State],
    customer: str | None = None,
    capability: str | None = None,
    only_pinned: bool = False,
    only_quarantined: bool = False,
) -> ListOutput:
    """The entries in one of ``states``, of those the ones that all the other arguments are true of."""
    roles = derive_roles(platform.regression_set.residents(platform.taxonomy)[0], platform.config)
    found = []
    for id, (state, entry) in platform.regression_set.states.items():
        own = RolesOutput.of(entry, roles)
        named = None if entry.source is None else entry.source.customer
        if state not in states or (customer is not None and named != customer) or (only_pinned and not own.keeps):
            continue
        if capability is not None and capability not in entry.scores:
            continue
        if only_quarantined and own.quarantined is None:
            continue
        tombstone = platform.regression_set.tombstones.get(id)
        found.append(
            ListedOutput(
                id=id,
                state=state,
                customer=named,
                agent=None if entry.source is None else entry.source.agent,
                admitted=entry.admitted.at,
                evicted=None if tombstone is None else tombstone.evicted.at,
                roles=own,
                capabilities=len(entry.scores),
                score=None if capability is None else entry.scores[capability],
            )
        )
    return ListOutput(entries=found)


def show_entries(platform: Platform, *ids: str) -> dict[str, ShowOutput]:
    """Everything about the entries ``ids``, which are known; by id."""
    return _show(platform, ids, with_others=True)


def show_all(platform: Platform) -> dict[str, ShowOutput]:
    """:func:`show_entries` of each entry, without the others that cover the same: their number grows by the square."""
    return _show(platform, tuple(platform.regression_set.states), with_others=False)


def _show(platform: Platform, ids: Sequence[str], *, with_others: bool) -> dict[str, ShowOutput]:
    known = platform.regression_set
    residents, stale = known.residents(platform.taxonomy)
    _, waiting = known.in_line(platform.taxonomy)
    reasons = {item.id: item.reason for item in (*waiting, *stale)}
    roles = derive_roles(residents, platform.config)
    states, coverers = known.states, roles.coverers if with_others else {}
    return {id: _shown(platform, *states[id], roles, coverers, reasons.get(id)) for id in ids}


def _shown(
    platform: Platform,
    state: State,
    entry: Entry,
    roles: Roles,
    coverers: Mapping[str, tuple[str, ...]],
    stale: str | None,
) -> ShowOutput:
    id = entry.id
    tombstone = platform.regression_set.tombstones.get(id)
    return ShowOutput(
        state=state,
        entry=entry,
        roles=RolesOutput.of(entry, roles),
        capabilities={
            name: EntryCapabilityOutput(
                score=score,
                champion=roles.champions.get(name),
                others=[other for other in coverers.get(name, ()) if other != id],
                floor=platform.config.redundancy_floor(name),
            )
            for name, score in sorted(entry.scores.items(), key=lambda pair: (-pair[1], pair[0]))
        },
        cost=platform.regression_set.corrected_cost(entry.turns),
        stale=stale,
        eviction=None if tombstone is None else tombstone.evicted,
        restore=None if tombstone is None else tombstone.restore,
    )


_STATES: dict[State, str] = {
    "in-set": "in the regression set",
    "waiting": "waits for a slot",
    "evicted": "evicted",
}


def print_list(output: ListOutput, taxonomy: Taxonomy, out: Printer) -> None:
    """Print entries in columns, a line each."""
    style = PlainStyle(taxonomy)
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
            style.name(item.customer or "–"),
            style.name(item.agent or "–"),
            item.admitted[:10] if out.is_terminal else item.admitted,
            str(item.capabilities),
            *([] if item.score is None else [f"{item.score:.2f}"]),
            "; ".join(_roles(item.roles, style, short=out.is_terminal)),
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
    style = PlainStyle(taxonomy)
    entry = output.entry
    out.line(f"{entry.id}: {_STATES[output.state]}", "bold")
    if output.eviction is not None:
        out.line(f"  {evicted(output.eviction, style)}")
        out.line(f"  to bring it back: incumbent restore {entry.id}")
    for number, turn in enumerate(map(visible, masked_together(entry.turns)), 1):
        out.line(f"  {turn}" if len(entry.turns) == 1 else f"  turn {number}: {turn}")
    out.line(f"  {_source(output, style)}")
    out.line(f"  {_admitted(entry.admitted, style)}")
    out.line(f"  {_cost(output, style)}")
    for line in _roles(output.roles, style, short=False):
        out.line(f"  {line}")
    if output.stale is not None:
        out.line(f"  stale ({visible(output.stale)}): run `incumbent reclassify`", "yellow")
    rows = [
        (name, f"{item.score:.2f}", str(len(item.others)), str(item.floor), _others(item, out.is_terminal))
        for name, item in output.capabilities.items()
    ]
    header = ("capability", "score", "others", "floor", "who else covers it, the champion first")
    out.table(f"Exercises ({len(rows)})", header, rows, right=("score", "others", "floor"), whole=True)


def _others(item: EntryCapabilityOutput, short: bool) -> str:
    names = sorted(item.others, key=lambda id: id != item.champion)
    return listed(names, most=1 if short else SHOWN_NAMES) if names else "–"


def evicted(eviction: Evicted, style: PlainStyle) -> str:
    """When an entry was evicted, by whom and why."""
    when = "evicted" if eviction.at is None else f"evicted at {eviction.at}"
    who = "" if eviction.by is None else f" by {style.name(eviction.by)}"
    return f"{when}{who}: {style.quote(eviction.reason)}"


def _source(output: ShowOutput, style: PlainStyle) -> str:
    source = output.entry.source
    if source is None:
        return "it names no source"
    pull = "" if source.pull_request is None else f", pull request #{source.pull_request}"
    imported = "" if source.imported is None else ", imported"
    return (
        f"from {style.name(source.customer)} / {style.name(source.agent)}, {style.name(source.item)} of "
        f"{style.quote(source.eval_set)}{imported}{pull}"
    )


def _cost(output: ShowOutput, style: PlainStyle) -> str:
    own, corrected = figure(output.entry.setup.cost), output.cost
    if corrected is None:
        return f"its set-up costs {own}"
    by = "a curator" if corrected.by is None else style.name(corrected.by)
    why = "" if corrected.reason is None else f": {style.quote(corrected.reason)}"
    return f"its set-up costs {figure(corrected.value)}, corrected from {own} by {by}{why}"


def _admitted(admitted: Admitted, style: PlainStyle) -> str:
    reasons = " ".join([admitted.decision, admitted.route, *admitted.reasons])
    by = "" if admitted.by is None else f" by {style.name(admitted.by)}"
    override = "" if admitted.override is None else f"; against the verdict: {style.quote(admitted.override)}"
    displaced = f"; displaces {listed(admitted.displaces)}" if admitted.displaces else ""
    return f"admitted at {admitted.at}{by} [{style.quote(reasons)}]{override}{displaced}"


def _roles(roles: RolesOutput, style: PlainStyle, *, short: bool) -> list[str]:
    """What the entry does; in ``short`` champions are counted."""
    found = [] if roles.quarantined is None else [f"quarantined: {style.quote(roles.quarantined)}"]
    found += [] if roles.pin is None else [f"pinned: {style.quote(roles.pin)}"]
    if roles.champion_of:
        names = listed(roles.champion_of, most=len(roles.champion_of))
        found.append(f"champion of {len(roles.champion_of)}" if short else f"champion of {names}")
    return found + ([f"displaced by {listed(roles.displaced_by)}"] if roles.displaced_by else [])
