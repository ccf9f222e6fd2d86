"""What the model remembers: who saw, said and did what, read off GitHub alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from incumbent.curator.entry import Entry, entry_id
from incumbent.github.publish_plan import find_sticky
from incumbent.ledger.event_files import parsed
from incumbent.ledger.events import Decided, events_path
from incumbent.ledger.model import BRANCH, PullRequestRecord, record_path
from incumbent.text.digests import digest
from tests.reconcile.hub import BOT, MAIN, Hub, Pull
from tests.reconcile.runs import queries_of

AGENTS = (("acme", "desk"), ("bolt", "line"), ("cove", "shop"))
CURATORS = ("cora", "dan")
REASON = "an audit needs it"
Agent = tuple[str, str]
Content = tuple[Agent, str]
"""An agent and a text: what a decision is about."""


@dataclass(frozen=True)
class Said:
    """A command about one query, or about all that need a person (``item`` is ``None``)."""

    comment: int
    number: int
    author: str
    verb: str
    item: str | None


@dataclass(frozen=True)
class Asked:
    """A pin, or its end, that was asked for and followed on a pull request."""

    number: int
    content: Content
    item: str
    wanted: str | None


@dataclass
class Memory:
    """What people did so far, and what they were shown.

    ``agents`` tells whose queries a pull request changes; ``seen`` is what was displayed as admitted by itself when it
    was merged; ``pins`` are by entry, ``asked`` commands about pins that are not in effect yet.
    """

    agents: dict[int, Agent] = field(default_factory=dict)
    seen: set[Content] = field(default_factory=set)
    said: list[Said] = field(default_factory=list)
    accepted: set[Content] = field(default_factory=set)
    rejected: set[Content] = field(default_factory=set)
    pins: dict[str, str] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)

    def offered(self, pull: Pull, agent: Agent) -> None:
        """A pull request changes queries of ``agent``."""
        self.agents[pull.number] = agent

    def merged(self, hub: Hub, pull: Pull) -> None:
        """Remember what our comment displayed when ``pull`` was merged."""
        agent = self.agents[pull.number]
        record = record_of(hub, pull.number)
        if record is None or not shows(hub, pull, record):
            return
        assert record.showing is not None
        for item, text in queries_of(hub.repository.commits[pull.head].files, agent).items():
            shown = record.showing.verdicts.get(entry_id(*agent, item))
            decision, route, *_ = ["EXCLUDE", ""] if shown is None else [*shown.codes.split(), ""]
            if decision in ("INCLUDE", "REPLACE", "KEEP-BOTH") and route == "direct":
                self.seen.add((agent, text))

    def note_pin(self, id: str, pin: str | None) -> None:
        """The pin of an entry is ``pin`` now, or there is none."""
        self.pins = {**self.pins, id: pin} if pin else {k: v for k, v in self.pins.items() if k != id}

    def hear(self, hub: Hub, ended: bool = True) -> list[tuple[str, Content]]:
        """Take in what became of commands since: those that were followed, each with its content.

        Of a run that has not ``ended`` only what the ledger notes: the rest is heard again.
        """
        followed = []
        for said in list(self.said):
            reactions = hub.reactions.get(said.comment)
            if not reactions or not (ended or _is_noted(hub, said)):
                continue
            self.said.remove(said)
            if reactions[-1] != "+1":
                continue
            pull, agent = hub.pulls[said.number], self.agents[said.number]
            assert said.author in CURATORS
            assert said.author != pull.author
            files = hub.repository.files(MAIN) if pull.merge else hub.repository.commits[pull.head].files
            for item, text in queries_of(files, agent).items():
                if said.item == item:
                    self._follow(said, (agent, text), item)
                    followed.append((said.verb, (agent, text)))
                elif said.item is None and said.verb == "accept":
                    self.accepted.add((agent, text))
        return followed

    def _follow(self, said: Said, content: Content, item: str) -> None:
        if said.verb == "accept":
            self.accepted.add(content)
            self.rejected.discard(content)
        elif said.verb == "reject":
            self.rejected.add(content)
            self.accepted.discard(content)
        else:
            wanted = REASON if said.verb == "pin" else None
            self.asked = [each for each in self.asked if (each.number, each.content) != (said.number, content)]
            self.asked.append(Asked(said.number, content, item, wanted))


def record_of(hub: Hub, number: int) -> PullRequestRecord | None:
    """What the ledger says of a pull request."""
    text = hub.repository.files(BRANCH).get(record_path(number))
    return None if text is None else PullRequestRecord.model_validate_json(text, strict=False)


def _is_noted(hub: Hub, said: Said) -> bool:
    """Whether the ledger notes that a command was read; of what is settled only the events are left."""
    record = record_of(hub, said.number)
    if record is not None and record.cursor >= said.comment:
        return True
    events = parsed(hub.repository.files(BRANCH).get(events_path(said.number)))
    return any(isinstance(item, Decided) and item.comment == said.comment for item in events)


def shows(hub: Hub, pull: Pull, record: PullRequestRecord) -> bool:
    """Whether our comment displays what the ledger says that it was about to."""
    sticky, doubled = find_sticky(BOT, hub.comments(pull.number))
    assert not doubled
    return sticky is not None and record.showing is not None and record.showing.digest in sticky.body


def waiting_texts(hub: Hub) -> dict[tuple[Agent, str], str]:
    """Agent and item → text of the merged queries of which people are told that they need a person."""
    found: dict[tuple[Agent, str], str] = {}
    for number, pull in hub.pulls.items():
        record = record_of(hub, number)
        if pull.merge is None or record is None or record.merged is None or record.showing is None:
            continue
        sticky, _ = find_sticky(BOT, hub.comments(number))
        for agent in AGENTS:
            for item, text in queries_of(hub.repository.files(MAIN), agent).items():
                id = entry_id(*agent, item)
                shown = record.showing.verdicts.get(id)
                if shown is None or record.texts.get(id) != digest([text]) or "review" not in shown.codes.split():
                    continue
                assert shows(hub, pull, record)
                assert sticky is not None
                assert f"`{item}`" in sticky.body
                assert "incumbent: needs a curator" in pull.labels
                found[agent, item] = text
    return found


def own_entry(known: Mapping[str, Entry], agent: Agent, item: str) -> str | None:
    """The entry that came from where a query stands."""
    places = [id for id, entry in known.items() if entry.source is not None and entry.source.place == (*agent, item)]
    native = entry_id(*agent, item)
    return native if native in places else next(iter(sorted(places)), None)
