"""The bodies of the bot's pull requests that change the set.

These are an eviction, a swap, a repack or a top-up; several evictions at once; and admissions, where the default branch
takes no commits of the bot's.

The end of the description of several evictions lists the entries and their grounds for the bot itself: what people keep
is known by it once the pull request is closed or merged.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from itertools import accumulate
from typing import Final

from incumbent.curator.entry import Entry
from incumbent.curator.prune import Suggestion
from incumbent.curator.roles import EvictionKind
from incumbent.curator.suggestions import Suggestions, SwapSuggestion
from incumbent.ledger.releases.history import EntryHistory, only_failing
from incumbent.pipeline.review import Platform
from incumbent.rater.contextualizer import LiveSet
from incumbent.rater.profile import Profile, bits
from incumbent.report.escaping import code, shortened, visible
from incumbent.report.task_list import Task, unticked
from incumbent.report.verdict_text import MarkdownStyle, counted, figure, listed, quoted
from incumbent.text.digests import digest
from incumbent.text.masking import masked_together

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
        return frozenset(evicted.union(item.id for swap in self.suggestions.exchanges for item in swap.evictions))

    @cached_property
    def live(self) -> LiveSet:
        """R and what would enter, each with what is derived from it."""
        taxonomy, known = self.platform.taxonomy, self.platform.regression_set
        residents, _ = known.residents(taxonomy)
        entering = [known.rated(swap.entering, taxonomy, known.identity)[0] for swap in self.suggestions.exchanges]
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
        quote_turns(entry),
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
    amount = figure(abs(saved))
    cost = "" if amount == "0" else f", and its total cost {'falls' if saved > 0 else 'rises'} by {amount}"
    what = f"{why} {work}. Incumbent suggests a repack: admit it, and evict {names}. {gain}{cost}."
    return _render_exchange(item, moment, what)


def render_top_up(item: SwapSuggestion, moment: SuggestionContext) -> str:
    """The description of the pull request that admits an excluded query to a free slot."""
    config = moment.platform.config
    why = f"{code(item.entering.id)} was excluded, since the set had what it brings."
    room = f"Slots are free (`fill_to` asks for {figure(config.filled or 0)} of {config.ceiling} entries)"
    what = f"{why} {room}, and it raises expected detection: the share of faults that the set shows."
    return _render_exchange(item, moment, f"{what} Incumbent suggests a top-up: admit it. No entry goes.")


def _render_exchange(item: SwapSuggestion, moment: SuggestionContext, what: str) -> str:
    """The description of a swap, a repack or a top-up, which begins with ``what``."""
    entering, known = item.entering, moment.platform.regression_set
    blocks = [
        what,
        *_rests_on(item),
        *warned([eviction.id for eviction in item.evictions], moment),
        quote_turns(entering),
        f"Mock set-up that is needed: {_provisions(entering, moment)}.",
        _before_and_after(item, moment),
    ]
    for eviction in item.evictions:
        entry = known.entries[eviction.id]
        blocks += [f"#### Evicted: {code(eviction.id)}", quote_turns(entry), *_about(eviction, entry, moment)]
    blocks.append(
        _how(
            " ".join(eviction.id for eviction in item.evictions),
            None,
            "what it admits or evicts, or the taxonomy's major version",
        )
    )
    return marked(blocks)


def _rests_on(item: SwapSuggestion) -> list[str]:
    """The exchanges that are to be merged before ``item``."""
    if not item.rests_on:
        return []
    names = listed([code(id) for id in item.rests_on], len(item.rests_on))
    first = f"> [!IMPORTANT]\n> **Rests on** the suggestions to admit {names}: merge those first."
    return [f"{first} Without them it is derived again."]


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


def quote_turns(entry: Entry) -> str:
    """The turns of ``entry`` as a quotation."""
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
    its = "Its combination, and who else carries it"
    if len(lines) > 1:
        its = f"Its {len(lines)} combinations, and who else carries them"
    return f"<details><summary>{its}</summary>\n\n{shown}\n\n</details>"


def _how(ids: str, command: str | None, grounds: str) -> str:
    back = f"comment `/incumbent restore {ids}` here, or run `incumbent restore ID`."
    return "\n".join(
        [
            "- **To confirm**, merge this pull request. Incumbent never does.",
            f"- **To refuse**, close it: it is not suggested again until the grounds change ({grounds}).",
            "- **To keep an entry for good**, write a reason at `pin:` in its file.",
            *([] if command is None else [f"- **By hand**: `{command}`."]),
            *([f"- **To bring it back later**: {back}"] if ids else []),
        ]
    )


GROUNDS: Final = "the kind, whom it yields to, its own content, or the taxonomy's major version"
TABLE_BYTES: Final = 40_000
"""The most bytes of the table and its boxes; the commits of the pull request name every entry."""

_TEXT_CHARACTERS: Final = 80
_MEMBERS = re.compile(r"^<!-- incumbent:group\n((?:[A-Za-z0-9][A-Za-z0-9._-]* [0-9a-f]{16}(?: kept)?\n)*)-->$", re.M)


@dataclass(frozen=True, kw_only=True)
class GroupMembers:
    """Entry → digest of its grounds, of those that a pull request ``suggests``; and of those that commits ``kept``."""

    suggests: Mapping[str, str] = field(default_factory=dict)
    kept: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The members as a description lists them, hidden."""
        lines = [f"{id} {digest}" for id, digest in sorted(self.suggests.items())]
        lines += [f"{id} {digest} kept" for id, digest in sorted(self.kept.items())]
        return "\n".join(["<!-- incumbent:group", *lines, "-->"])


@dataclass(frozen=True, kw_only=True)
class KeptEntry:
    """An entry that people keep: ``by`` said so in a comment, or (``None``) commits took its eviction back."""

    id: str
    by: str | None


def members_in(body: str) -> GroupMembers:
    """The members that the description ``body`` lists; none where it lists none."""
    found = _MEMBERS.search(body.replace("\r\n", "\n"))
    lines = [line.split() for line in found[1].splitlines()] if found else []
    return GroupMembers(
        suggests={id: digest for id, digest, *rest in lines if not rest},
        kept={id: digest for id, digest, *rest in lines if rest},
    )


def with_members(body: str, members: GroupMembers) -> str:
    """The description ``body`` with ``members`` in the place of those that it lists."""
    return _MEMBERS.sub(members.text, body.replace("\r\n", "\n"))


def render_group(
    members: Sequence[Suggestion],
    shared: str,
    kept: Sequence[KeptEntry],
    listing: GroupMembers,
    moment: SuggestionContext,
) -> str:
    """The description of the pull request that evicts ``members``, which ``shared`` says what they have in common."""
    blocks = [
        f"Incumbent suggests to evict several entries{shared}: {len(members)} in this pull request.",
        "Each has a commit of its own. Any of them may stay: the others may go all the same.",
        *warned([item.id for item in members], moment),
        *_table(members, moment),
        *([_kept(kept)] if kept else []),
        _how_of_several(members),
        listing.text,
    ]
    return marked(blocks)


def _table(members: Sequence[Suggestion], moment: SuggestionContext) -> tuple[str, ...]:
    """A row for each of ``members``, and a box to keep it."""
    rows = [_row(item, moment) for item in members]
    boxes = [Task("keep", item.id, item.grounds.digest).line for item in members]
    sizes = accumulate(len(f"{row}{box}".encode()) + 2 for row, box in zip(rows, boxes, strict=True))
    shown = sum(1 for size in sizes if size <= TABLE_BYTES)
    head = [
        "| entry | customer | text | why it could go | scarcest cover left | cost freed |",
        "|---|---|---|---|---|--:|",
    ]
    more = f"\n\nand {len(rows) - shown} more: see the commits." if shown < len(rows) else ""
    counts = "The cover that is left is counted as if every open suggestion were merged."
    return "\n".join([*head, *rows[:shown]]) + f"{more}\n\n{counts}", "Tick what is to stay:", "\n".join(boxes[:shown])


def _row(item: Suggestion, moment: SuggestionContext) -> str:
    known = moment.platform.regression_set
    entry = known.entries[item.id]
    customer = "–" if entry.source is None else quoted(entry.source.customer)
    turns = masked_together(entry.turns[:1])
    text = code(shortened(visible(turns[0]), _TEXT_CHARACTERS))
    freed = figure(known.cost_of(entry.turns, entry.setup))
    return f"| {code(item.id)} | {customer} | {text} | {why_evicted(item)} | {_scarcest(item, moment)} | {freed} |"


def _scarcest(item: Suggestion, moment: SuggestionContext) -> str:
    """The capability of the entry with the fewest coverers above its floor, and how many these are."""
    if not item.remaining:
        return "covers nothing competently"
    floor = moment.platform.config.redundancy_floor
    name = min(item.remaining, key=lambda name: (item.remaining[name] - floor(name), name))
    count = item.remaining[name]
    short = " **short**" if count < floor(name) else ""
    return f"{MarkdownStyle(moment.platform.taxonomy).capability(name)}: {count}{short}, floor {floor(name)}"


def _kept(kept: Sequence[KeptEntry]) -> str:
    said = [f"{code(item.id)} ({'a commit' if item.by is None else f'by {code(item.by)}'})" for item in kept]
    return f"People keep {listed(said, len(said))}: not suggested again until the grounds change."


def _how_of_several(members: Sequence[Suggestion]) -> str:
    first = members[0].id
    return "\n".join(
        [
            "- **To confirm**, merge this pull request: what is left in it is evicted. Incumbent never merges.",
            f"- **To keep an entry**, tick it, comment `/incumbent keep {first}`, or revert its commit on this branch.",
            "- **To take that back**, delete your comment, or revert the commit that kept it.",
            "- **To refuse all**, close it.",
            f"- What is kept or refused is not suggested again until its grounds change ({GROUNDS}).",
            "- **To keep an entry for good**, write a reason at `pin:` in its file.",
            "- **To bring it back later**: comment `/incumbent restore ENTRY…` here, or run `incumbent restore ID`.",
        ]
    )


class EntryChange(StrEnum):
    """What becomes of an entry, in words."""

    ENTERS = "enters"
    WAITS = "waits for a slot"
    LEAVES = "earns no slot any more, and leaves the line"
    MOVES = "is found elsewhere in the eval sets"
    PINNED = "has its pin as a curator said"
    RETURNS = "returns, as a curator asked"
    RESCORED = "is scored anew, by the taxonomy and the classifier of now"


@dataclass(frozen=True, kw_only=True)
class Offered:
    """What becomes of ``entry``, and the pull request that brought it, or the comment in which it was ``asked`` for.

    ``under`` digests the taxonomy and the classifier by which it was scored anew.
    """

    entry: Entry
    change: EntryChange
    pull_request: int | None = None
    asked: int | None = None
    under: str | None = None


def render_offer(items: Sequence[Offered]) -> str:
    """The description of the pull request that does all of ``items``."""
    rows = ["| entry | what becomes of it | verdict | brought by | text |", "|---|---|---|---|---|"]
    for item in items[:SHOWN]:
        admitted = item.entry.admitted
        verdict = " ".join([admitted.decision, *admitted.reasons])
        by = f", accepted by {code(admitted.by)}" if admitted.by is not None else ""
        brought = "–" if item.pull_request is None else f"#{item.pull_request}"
        text = quoted(item.entry.turns[0])
        rows.append(f"| {code(item.entry.id)} | {item.change} | {code(verdict)}{by} | {brought} | {text} |")
    if len(items) > SHOWN:
        rows.append(f"| and {len(items) - SHOWN} more | | | | |")
    blocks = [
        "What was merged enters the regression set by this pull request, on verdicts derived from the present R.",
        "\n".join(rows),
        "- **To confirm**, merge this pull request. Incumbent never does.",
        "- **To refuse**, close it: none of this is offered again unchanged. Reopen it to take that back.",
    ]
    return marked(blocks)
