"""What must hold once a reconcile has come to its end, by the semantics and by what people did."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import yaml

from incumbent.curator.entry import Entry, entry_id
from incumbent.curator.store import EVICTED, FOLDER, RegressionSet, entry_path, tombstone_path, waiting_path
from incumbent.ledger.event_files import parsed
from incumbent.ledger.events import EVENTS, SET_EVENTS, Decided
from incumbent.ledger.model import BRANCH, DecisionRecord
from incumbent.reconcile.suggestion_pull_requests import LABEL, REPACK, SWAP, is_repack
from incumbent.text.digests import digest
from tests.ledger.replay import replay
from tests.oracle.values import Grounds, Item, Kind
from tests.reconcile.hub import BOT, MAIN, Hub, Pull
from tests.reconcile.people import (
    AGENTS,
    CURATORS,
    Agent,
    Asked,
    Content,
    Memory,
    own_entry,
    record_of,
    waiting_texts,
)
from tests.reconcile.rules_of_set import Offered, check_repack, check_safe, is_excluded, item_of, prunable, query_item
from tests.reconcile.runs import platform_of, queries_of


@dataclass
class Known:
    """What the last check found: R, the contents of R and of the line, what people refused or kept, and events.

    ``repacked`` are repacks that were merged since, each with the time of its merge.
    """

    members: set[str] = field(default_factory=set)
    contents: dict[str, tuple[str, ...]] = field(default_factory=dict)
    refused: dict[int, Offered] = field(default_factory=dict)
    kept: list[Offered] = field(default_factory=list)
    events: dict[str, str] = field(default_factory=dict)
    repacked: list[tuple[Offered, str]] = field(default_factory=list)


def is_own(pull: Pull) -> bool:
    """Whether a pull request is one of the bot's."""
    return pull.author == BOT


def open_suggestions(hub: Hub) -> list[Pull]:
    """The bot's pull requests that are open."""
    return [pull for _, pull in sorted(hub.pulls.items()) if pull.open and is_own(pull)]


def fails(hub: Hub, pull: Pull) -> bool:
    """Whether the check on ``pull`` says that it does something else than what was suggested."""
    check = hub.checks.get(pull.head)
    return check is not None and check.conclusion == "failure"


def offered_by(hub: Hub, pull: Pull) -> Offered:
    """What merging ``pull`` now would do to the regression set."""
    main = hub.repository.files(MAIN)
    after = hub.repository.merged(hub.repository.branches[MAIN], pull.head)
    assert after is not None, ("cannot be merged", pull.branch)
    known = platform_of(hub).regression_set
    coming = _members(after) - known.entries.keys()
    removes, texts = {}, {}
    for id, entry in known.entries.items():
        if f"{FOLDER}/{id}.yaml" in after:
            continue
        tombstone = yaml.safe_load(after[tombstone_path(id)])
        assert Entry.model_validate(tombstone["entry"], strict=False) == entry, ("the tombstone is not whole", id)
        grounds = tombstone["evicted"]["grounds"]
        removes[id], texts[id] = Grounds(id, grounds["kind"], tuple(grounds["yields_to"])), entry.turns
        if not is_exchange(pull):
            continue
        assert grounds["freed_by"] in coming
    admits = None
    if coming:
        (id,) = coming
        admits = item_of(Entry.model_validate(yaml.safe_load(after[entry_path(id)]), strict=False))
        assert waiting_path(id) not in after
        assert (waiting_path(id) in main) is not is_repack(pull.branch)
    assert bool(coming) is is_exchange(pull)
    first = re.search(r"\*\*Rests on\*\* the suggestions to admit (.*): merge those first", pull.body)
    rests_on = frozenset(re.findall("`([^`]+)`", first[1])) if first else frozenset[str]()
    return Offered(pull.number, removes, texts, admits, rests_on)


def is_exchange(pull: Pull) -> bool:
    """Whether a pull request of the bot's is a swap or a repack."""
    return pull.branch.startswith((SWAP, REPACK))


def _members(files: Mapping[str, str]) -> set[str]:
    """The ids of the entries of R among ``files``."""
    paths = [path for path in files if path.startswith(f"{FOLDER}/") and path.count("/") == 1]
    return {path.removeprefix(f"{FOLDER}/").removesuffix(".yaml") for path in paths}


def check_all(hub: Hub, memory: Memory, known: Known) -> None:
    """Every invariant; ``known`` is brought up to date."""
    followed = [content for verb, content in memory.hear(hub) if verb == "accept" and content in memory.accepted]
    for said in memory.said:
        asked = hub.pulls[said.number].merge is not None and record_of(hub, said.number) is not None
        # Strangers get one answer each.
        is_answered = said.author not in CURATORS and any(
            digest(said.author) in item.body for item in hub.comments(said.number) if item.author == BOT
        )
        assert is_answered or not asked, ("nobody answered", said)
    platform = platform_of(hub)
    now = platform.regression_set
    everything = {**now.waiting, **now.entries}
    assert known.members <= now.entries.keys(), ("left without a person", known.members - now.entries.keys())
    for id, entry in everything.items():
        if known.contents.get(id) != entry.turns:
            assert entry.source is not None
            content = (entry.source.place[:2], entry.turns[0])
            assert content not in memory.rejected, ("enters although it was rejected", content)
            assert content in memory.seen | memory.accepted, ("nobody saw it admitted", content)
    for tombstone in now.tombstones.values():
        assert tombstone.evicted.at is not None
        assert tombstone.evicted.by is not None
    _check_repacked(known, now)
    _check_pins(hub, memory, everything)
    settled = settled_contents(now)
    for content in followed:
        # What was followed in this run was said of a merged pull request.
        assert content in settled, ("accepted, and nowhere", content)
    _check_queries(hub, memory, known, now)
    _check_suggestions(hub, memory, known, now)
    for pull in hub.pulls.values():
        markers = Counter(item.body.split("-->")[0] for item in pull.comments if item.author == BOT)
        assert not [mark for mark, count in markers.items() if count > 1 and "closes" not in mark], markers
    known.members = set(now.entries)
    known.contents = {id: entry.turns for id, entry in everything.items()}


def settled_contents(now: RegressionSet) -> set[Content]:
    """What is in R, waits for a slot, or was evicted."""
    parts = (now.entries, now.waiting, now.evicted)
    entries = [entry for part in parts for entry in part.values() if entry.source is not None]
    return {(entry.source.place[:2], entry.turns[0]) for entry in entries if entry.source is not None}


def _check_repacked(known: Known, now: RegressionSet) -> None:
    """What a repack admitted is in R from its merge on, and the tombstones of what it freed name it."""
    for item, at in known.repacked:
        assert item.admits is not None
        entry = now.entries.get(item.admits.id)
        # A swap or a repack that was merged after it may have taken it out again, or its customer edited it.
        if entry is not None and entry.turns == item.admits.turns:
            assert entry.admitted.at == at, ("not the time of its merge", entry.id)
        for id in item.removes:
            evicted = now.tombstones[id].evicted
            assert (evicted.at, evicted.by) == (at, "cora")
            assert (evicted.grounds or {})["freed_by"] == item.admits.id
    known.repacked = []


def note_pins(hub: Hub, memory: Memory) -> None:
    """Pins that a run wrote before it died are in effect, and stay with their entries whatever comes after."""
    now = platform_of(hub).regression_set
    everything = {**now.waiting, **now.entries}
    for id, words in _meant(hub, memory, everything).items():
        pin = everything[id].pin
        if pin != memory.pins.get(id) and pin in [asked.wanted for asked in words]:
            memory.asked = [asked for asked in memory.asked if asked not in words]
            memory.note_pin(id, pin)


def _check_pins(hub: Hub, memory: Memory, everything: Mapping[str, Entry]) -> None:
    """Pins are those that people gave, until people take them back."""
    meant = _meant(hub, memory, everything)
    memory.asked = [asked for asked in memory.asked if not any(asked in words for words in meant.values())]
    for id, entry in everything.items():
        allowed = [asked.wanted for asked in meant.get(id, ())] or [memory.pins.get(id)]
        assert entry.pin in allowed, ("pin", id, entry.pin, allowed)
        memory.note_pin(id, entry.pin)


def _meant(hub: Hub, memory: Memory, everything: Mapping[str, Entry]) -> dict[str, list[Asked]]:
    """What was asked about the pin of each entry, on pull requests that are merged."""
    found: dict[str, list[Asked]] = {}
    for asked in memory.asked:
        if hub.pulls[asked.number].merge is None:
            continue
        agent, text = asked.content
        here = [id for id, entry in everything.items() if entry.turns == (text,)]
        mine = [id for id in here if (source := everything[id].source) is not None and source.place[:2] == agent]
        standing = queries_of(hub.repository.files(MAIN), agent).get(asked.item) == text
        place = own_entry(everything, agent, asked.item) if standing else None
        # A query that edits an entry speaks of that entry; one of another text by now speaks of none.
        id = place if place in mine or not mine else mine[0]
        if id is not None:
            found.setdefault(id, []).append(asked)
    return found


def _check_queries(hub: Hub, memory: Memory, known: Known, now: RegressionSet) -> None:
    """Nothing is dropped in silence: each query is in the set or was, waits, was rejected, or is excluded."""
    platform = platform_of(hub)
    everything = {**now.waiting, **now.entries}
    settled, waiting = settled_contents(now), waiting_texts(hub)
    for agent in AGENTS:
        pending = [query_item(item, text) for (whose, item), text in waiting.items() if whose == agent]
        for item, text in queries_of(hub.repository.files(MAIN), agent).items():
            content = (agent, text)
            if waiting.get((agent, item)) == text:
                assert content not in settled, ("in the set, and people are asked all the same", content)
                assert content not in memory.rejected, ("rejected, and people are asked again", content)
            elif content not in settled | memory.rejected:
                own = own_entry(everything, agent, item)
                residents = [item_of(entry) for id, entry in everything.items() if id != own]
                query = query_item(item, text)
                others = [other for other in pending if other.id != item]
                unseen = content not in memory.seen
                excluded = any(is_excluded(query, residents, each, platform.config, unseen) for each in ((), others))
                assert excluded, ("dropped", content, item)


def _check_suggestions(hub: Hub, memory: Memory, known: Known, now: RegressionSet) -> None:
    """What is open is safe, was not refused, and is all that could go, as far as the limit allows."""
    platform = platform_of(hub)
    pulls = open_suggestions(hub)
    assert len({pull.branch for pull in pulls}) == len(pulls)
    left = [pull for pull in pulls if fails(hub, pull)]
    # A group is left to people whose commits nobody read before the set changed.
    assert {pull.number for pull in left} <= {item.number for item in known.kept}
    offered = [offered_by(hub, pull) for pull in pulls if pull not in left]
    for pull in pulls:
        assert pull.head in hub.checks
        assert LABEL in pull.labels
    turned_down = (*known.refused.values(), *known.kept)
    held: set[object] = {(*each, None) for item in turned_down if item.admits is None for each in item.each}
    held |= {item.grounds for item in turned_down if item.admits is not None}
    for item in offered:
        mine: set[object] = {item.grounds} if item.admits is not None else {(*each, None) for each in item.each}
        assert not mine & held, ("suggested again", item)
    residents = {id: item_of(entry) for id, entry in now.entries.items()}
    check_safe(residents, offered, platform.config)
    repacks = _check_repacks(hub, memory, offered, bool(turned_down))
    if now.waiting or left or len(pulls) - len(repacks) >= platform.config.limits.open_evictions:
        return
    departed = departed_entries(hub, now)
    if departed is None:
        return
    gone = {id: kind for id, kind in departed.items() if residents[id].pin is None}
    staying = [item for id, item in residents.items() if id not in gone]
    refused = {
        grounds
        for item in turned_down
        for id, grounds in item.removes.items()
        if item.admits is None and id in residents and residents[id].turns == item.texts[id]
    }
    evictions = [item for item in offered if item.admits is None]
    open_ids = {id for item in evictions for id in item.removes}
    wanted = prunable(staying, open_ids, refused, platform.config)
    leaving = {id: Grounds(id, kind, ()) for id, kind in gone.items()}
    wanted |= {id: grounds for id, grounds in leaving.items() if grounds not in refused}
    found = {id: grounds for item in evictions for id, grounds in item.removes.items()}
    assert found == wanted, ("not what could go", found, wanted)


def _check_repacks(hub: Hub, memory: Memory, offered: Sequence[Offered], refuses: bool) -> list[Offered]:
    """Those of ``offered`` that are repacks, each by a query that is still there and that nobody rejected."""
    config = platform_of(hub).config
    found = [item for item in offered if is_repack(hub.pulls[item.number].branch)]
    assert len(found) <= config.limits.open_repacks
    files, residents = hub.repository.files(MAIN), residents_of(hub)
    there = {
        entry_id(*agent, item): (agent, text) for agent in AGENTS for item, text in queries_of(files, agent).items()
    }
    for item in found:
        assert item.admits is not None
        agent, text = there[item.admits.id]
        assert (text,) == item.admits.turns, ("the query has changed", item)
        assert (agent, text) not in memory.rejected, ("rejected, and suggested", item)
        check_repack(item, residents, config, alone=len(offered) == 1 and not refuses)
    return found


def departed_entries(hub: Hub, now: RegressionSet) -> dict[str, Kind] | None:
    """The entries whose query has gone, and how; ``None`` where texts are doubled, so that nobody can tell."""
    found: dict[str, Kind] = {}
    files = hub.repository.files(MAIN)
    settled = settled_contents(now)
    for id, entry in now.entries.items():
        if entry.source is None:
            continue
        agent: Agent = entry.source.place[:2]
        queries = queries_of(files, agent)
        doubled = [other for other in now.entries.values() if other.source and other.source.place[:2] == agent]
        if max(Counter([*queries.values()]).values(), default=0) > 1 or len({e.turns for e in doubled}) < len(doubled):
            return None
        at_place = queries.get(entry.source.item)
        if entry.turns[0] in queries.values() or (at_place is not None and (agent, at_place) not in settled):
            continue
        customers = {path.split("/")[1] for path in files if path.startswith("eval_sets/")}
        found[id] = "source-deleted" if agent[0] in customers else "customer-left"
    return found


def residents_of(hub: Hub) -> dict[str, Item]:
    """R as the oracle has it."""
    return {id: item_of(entry) for id, entry in platform_of(hub).regression_set.entries.items()}


def tombstones_of(hub: Hub) -> set[str]:
    """The ids of which there is a tombstone on the default branch."""
    paths = [path for path in hub.repository.files(MAIN) if path.startswith(f"{EVICTED}/")]
    return {path.rpartition("/")[2].removesuffix(".yaml") for path in paths}


def check_ledger(hub: Hub, known: Known) -> None:
    """Files of events only ever grow, and replaying them from nothing gives what stands."""
    files = {path: text for path, text in hub.repository.files(BRANCH).items() if path.startswith(f"{EVENTS}/")}
    for path, text in known.events.items():
        assert files.get(path, "").startswith(text), ("what was recorded is there no more", path)
    known.events = files
    standing = replay(event for _, text in sorted(files.items()) for event in parsed(text))
    for number in hub.pulls:
        record = record_of(hub, number)
        stand = set() if record is None else {_word(item) for item in record.decisions}
        assert {_word(item) for item in standing.decisions.get(number, ())} == stand, ("decisions", number)


def check_refusals(hub: Hub, known: Known) -> None:
    """Replayed once a run has come to its end, the events say which suggestions people refused, and still refuse.

    Of a group that the bot closed these are the entries that people keep.
    """
    refused = replay(parsed(hub.repository.files(BRANCH).get(SET_EVENTS))).refused
    numbers = {item.pull_request for item in refused}
    kept = {item.number for item in known.kept if hub.pulls[item.number].closed_by == BOT}
    assert known.refused.keys() <= numbers <= known.refused.keys() | kept
    assert not [item for item in refused if item.by_bot or item.agrees]


def _word(item: Decided | DecisionRecord) -> tuple[object, ...]:
    return item.entry, item.action, item.content, item.verdict, item.by, item.comment, item.reason, item.all
