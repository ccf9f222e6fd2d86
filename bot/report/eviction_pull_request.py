"""What the pull request says that asks people to confirm an eviction, a swap or a repack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from bot.curator.entry import Entry
from bot.curator.prune import Suggestion
from bot.curator.roles import EvictionKind
from bot.curator.suggestions import Suggestions, SwapSuggestion
from bot.pipeline.review import Platform
from bot.rater.contextualizer import LiveSet
from bot.rater.profile import Profile, bits
from bot.report.escaping import code
from bot.report.task_list import unticked
from bot.report.verdict_text import MarkdownStyle, counted, figure, listed, quoted
from bot.results.history import EntryHistory, only_failing
from bot.text.digests import digest
from bot.text.masking import masked_together

MARKER = "<!-- incumbent:suggestion"
CLOSED = "<!-- incumbent:closed -->"
"""Stands in the description of what we closed ourselves: that was no refusal."""
SHOWN = 20
"""Rows and names that are shown of a long list; the rest is counted."""


@dataclass(frozen=True)
class SuggestionContext:
    """All ``suggestions`` of one moment, and R as it is then: what each description speaks of.

    ``histories`` are what release runs showed of entries.
    """

    suggestions: Suggestions
    platform: Platform
    histories: Mapping[str, EntryHistory] = field(default_factory=dict)

    @cached_property
    def only_failing(self) -> Mapping[str, tuple[str, ...]]:
        """Entry → the capabilities of which no other coverer ever failed in a release."""
        return only_failing(self.histories, self.suggestions.roles.coverers)

    @cached_property
    def leaving(self) -> frozenset[str]:
        """All entries that go once every suggestion was confirmed."""
        evicted = {item.id for item in self.suggestions.evictions}
        return frozenset(evicted.union(item.id for swap in self.exchanges for item in swap.evictions))

    @property
    def exchanges(self) -> tuple[SwapSuggestion, ...]:
        """All suggestions that admit something."""
        return (*self.suggestions.swaps, *self.suggestions.repacks)

    @cached_property
    def live(self) -> LiveSet:
        """R and what would enter, each with what is derived from it."""
        taxonomy, known = self.platform.taxonomy, self.platform.regression_set
        residents, _ = known.residents(taxonomy)
        entering = [known.rated(swap.entering, taxonomy, known.identity)[0] for swap in self.exchanges]
        return LiveSet([*residents, *entering], (), self.platform.config)

    @cached_property
    def members(self) -> Mapping[str, Profile]:
        """Entry → its profile, of R and of what would enter."""
        return {member.id: member for member in self.live.members}

    @cached_property
    def carriers(self) -> Mapping[int, Sequence[str]]:
        """Combination → the entries that carry it once every suggestion was confirmed, sorted."""
        found: dict[int, list[str]] = {}
        for id, member in sorted(self.members.items()):
            if id not in self.leaving:
                for mask in self.live.capabilities.carried(member):
                    found.setdefault(mask, []).append(id)
        return found

    @cached_property
    def coverers(self) -> Mapping[str, Sequence[str]]:
        """Capability → its competent coverers once every suggestion was confirmed, sorted."""
        names = self.live.capabilities.names
        found: dict[str, list[str]] = {name: [] for name in names}
        for id, member in sorted(self.members.items()):
            if id not in self.leaving:
                for index in bits(member.caps):
                    found[names[index]].append(id)
        return found


def render_eviction(item: Suggestion, moment: SuggestionContext) -> str:
    """The description of the pull request that evicts ``item``, as things stand now."""
    entry = moment.platform.regression_set.entries[item.id]
    blocks = [
        f"Incumbent suggests to evict {code(item.id)}: {why_evicted(item)}.",
        *warned([item.id], moment),
        _quote(entry),
        _coverage(item, entry, moment),
        *_about(item, entry, moment),
        _how(
            item.id,
            f'incumbent evict {item.id} --reason "{item.grounds.kind.value}"',
            "the kind, whom it yields to, its own content, or the taxonomy's major version",
        ),
    ]
    return marked(blocks)


def render_swap(item: SwapSuggestion, moment: SuggestionContext) -> str:
    """The description of the pull request that admits a waiting entry in the place of what it frees."""
    names = listed([code(eviction.id) for eviction in item.evictions], SHOWN)
    admit = f"admit {code(item.entering.id)}, which waits for a slot"
    what = f"{admit}, and evict {names}, which the set needs only without it"
    return _render_exchange(item, moment, f"The regression set is full. Incumbent suggests a swap: {what}.")


def render_repack(item: SwapSuggestion, moment: SuggestionContext) -> str:
    """The description of the pull request that admits an excluded query in the place of what it frees."""
    known, entering, count = moment.platform.regression_set, item.entering, len(item.evictions)
    names = listed([code(eviction.id) for eviction in item.evictions], SHOWN)
    freed = [known.entries[eviction.id] for eviction in item.evictions]
    saved = sum(known.cost_of(each.turns, each.setup) for each in freed)
    saved -= known.cost_of(entering.turns, entering.setup)
    why = f"{code(entering.id)} was excluded, since the set had what it brings."
    work = f"By now it does the work of {counted(count, 'entry', 'entries')}"
    gain = f"The set gets smaller by {count - 1}" if count > 1 else "The set keeps its size"
    cost = f", and its total cost falls by {figure(saved)}" if saved > 0 else ""
    what = f"{why} {work}. Incumbent suggests a repack: admit it, and evict {names}. {gain}{cost}."
    return _render_exchange(item, moment, what)


def _render_exchange(item: SwapSuggestion, moment: SuggestionContext, what: str) -> str:
    """The description of a swap or a repack, which begins with ``what``."""
    entering, known = item.entering, moment.platform.regression_set
    blocks = [
        what,
        *warned([eviction.id for eviction in item.evictions], moment),
        _quote(entering),
        f"Mock set-up that is needed: {_provisions(entering, moment)}.",
        _before_and_after(item, moment),
    ]
    for eviction in item.evictions:
        entry = known.entries[eviction.id]
        blocks += [f"#### Evicted: {code(eviction.id)}", _quote(entry), *_about(eviction, entry, moment)]
    blocks.append(
        _how(
            " ".join(eviction.id for eviction in item.evictions),
            None,
            "what it admits or evicts, or the taxonomy's major version",
        )
    )
    return marked(blocks)


def closing(body: str, why: str) -> str:
    """``body`` of a pull request that is closed for the reason ``why``, and not refused."""
    return f"{CLOSED}\n**Closed by Incumbent:** {why}\n\n---\n\n{body}"


def was_closed_by_us(body: str) -> bool:
    """Whether we closed the pull request of this description ourselves."""
    return body.startswith(CLOSED)


def is_as_written(body: str) -> bool:
    """Whether nobody changed this description since we wrote it, except by ticking boxes."""
    head, _, rest = unticked(body.replace("\r\n", "\n")).partition("\n")
    return head == f"{MARKER} {digest(rest.strip())} -->"


def marked(blocks: Sequence[str]) -> str:
    """``blocks`` as a description by which it is seen later whether somebody changed it."""
    text = "\n\n".join(blocks)
    return f"{MARKER} {digest(text)} -->\n{text}\n"


def why_evicted(item: Suggestion) -> str:
    """Why ``item`` could go, without its name."""
    grounds = item.grounds
    if grounds.kind is EvictionKind.DISPLACED:
        return f"{listed([code(id) for id in grounds.yields_to], SHOWN)} covers all that it covers, and beat it"
    return {
        EvictionKind.REDUNDANT: "others cover all that it covers, and carry all its combinations",
        EvictionKind.SOURCE_DELETED: "its query is in no eval set of its agent any more",
        EvictionKind.CUSTOMER_LEFT: "its customer has no eval set here any more",
        EvictionKind.UNDONE: "a curator asked to take its admission back",
    }[grounds.kind]


def warned(ids: Sequence[str], moment: SuggestionContext) -> list[str]:
    """A warning where the entries ``ids`` are the only ones whose release runs ever found something."""
    style = MarkdownStyle(moment.platform.taxonomy)
    lines = [
        f"> {code(id)}: {listed([style.capability(name) for name in moment.only_failing[id]], SHOWN)}"
        for id in ids
        if id in moment.only_failing
    ]
    if not lines:
        return []
    head = "> [!WARNING]\n> In release runs no other entry that covers these ever failed:\n>\n"
    return [head + "\n>\n".join(lines)]


def _about(item: Suggestion, entry: Entry, moment: SuggestionContext) -> list[str]:
    combinations = _combinations(item.id, moment)
    freed = f"Mock set-up that is freed: {_provisions(entry, moment)}."
    return [combinations, freed] if combinations else [freed]


def _provisions(entry: Entry, moment: SuggestionContext) -> str:
    """The mock set-up of ``entry``, with its cost and the curator who corrected that."""
    setup, known = entry.setup, moment.platform.regression_set
    corrected = known.corrected_cost(entry.turns)
    parts = [f"cost {figure(known.cost_of(entry.turns, setup))}"]
    if corrected is not None:
        parts[0] += f" (corrected by {'a curator' if corrected.by is None else quoted(corrected.by)})"
    parts += [f"tenant {quoted(setup.tenant)}"] if setup.tenant else []
    parts += [f"connector {quoted(name)}" for name in setup.connectors]
    parts += [f"fixture {quoted(name)}" for name in setup.fixtures]
    return listed(parts, SHOWN)


def _before_and_after(item: SwapSuggestion, moment: SuggestionContext) -> str:
    """Who covers the capabilities of a swap's entries now, and once every suggestion was confirmed."""
    names, before = moment.live.capabilities.names, moment.suggestions.roles.coverers
    masks = [moment.members[id].caps for id in (item.entering.id, *(eviction.id for eviction in item.evictions))]
    style = MarkdownStyle(moment.platform.taxonomy)
    rows = ["| capability | covered now by | covered then by | floor |", "|---|---|---|--:|"]
    for name in sorted({names[index] for mask in masks for index in bits(mask)}):
        now, then = (
            f"{len(ids)}: {listed([code(id) for id in ids], SHOWN)}" if ids else "no entry"
            for ids in (before.get(name, ()), moment.coverers[name])
        )
        rows.append(f"| {style.capability(name)} | {now} | {then} | {moment.platform.config.redundancy_floor(name)} |")
    return "\n".join(rows) + "\n\n“Then” is as if every open suggestion were merged."


def _quote(entry: Entry) -> str:
    return "\n".join(f"> {quoted(turn)}" for turn in masked_together(entry.turns[:SHOWN]))


def _coverage(item: Suggestion, entry: Entry, moment: SuggestionContext) -> str:
    if not item.remaining:
        return "It covers no capability competently."
    style = MarkdownStyle(moment.platform.taxonomy)
    rows = ["| capability | its score | who covers it instead | coverers left | floor |", "|---|--:|---|--:|--:|"]
    for name, count in item.remaining.items():
        others = [code(id) for id in moment.coverers[name]]
        floor = moment.platform.config.redundancy_floor(name)
        short = " **short**" if count < floor else ""
        instead = listed(others) if others else "no entry"
        rows.append(f"| {style.capability(name)} | {entry.scores[name]:.2f} | {instead} | {count}{short} | {floor} |")
    return "\n".join(rows) + "\n\nCounted as if every open suggestion were merged."


def _combinations(id: str, moment: SuggestionContext) -> str:
    named = moment.live.capabilities.named
    style = MarkdownStyle(moment.platform.taxonomy)
    lines = []
    for mask in sorted(moment.members[id].combinations, key=named):
        carriers = [code(other) for other in moment.carriers.get(mask, ())]
        names = " + ".join(map(style.capability, named(mask)))
        lines.append(f"- {names}: {listed(carriers) if carriers else 'no entry'}")
    if not lines:
        return ""
    more = [f"- and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
    shown = "\n".join([*lines[:SHOWN], *more])
    return (
        f"<details><summary>Its {len(lines)} combinations, and who else carries them</summary>\n\n{shown}\n\n</details>"
    )


def _how(ids: str, command: str | None, grounds: str) -> str:
    return "\n".join(
        [
            "- **To confirm**, merge this pull request. Incumbent never does.",
            f"- **To refuse**, close it: it is not suggested again until the grounds change ({grounds}).",
            "- **To keep an entry for good**, write a reason at `pin:` in its file.",
            *([] if command is None else [f"- **By hand**: `{command}`."]),
            f"- **To bring it back later**: comment `/incumbent restore {ids}` here, or run `incumbent restore ID`.",
        ]
    )
