"""Weeks of merges, decisions, evictions, edits and knobs, against a model of what the set may be (semantics, 5 to 7).

The machine plays people and the world; a run of the product follows now and then, sometimes one that dies.  Everything
goes through real files, and what must hold is in :mod:`tests.reconcile.checks`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from incumbent.curator.entry import entry_id
from incumbent.curator.store import entry_path, tombstone_path
from incumbent.github.models import WriteLedger, describe
from incumbent.ledger.model import BRANCH, INDEX, SUGGESTIONS, Refusal, SuggestionRecord
from incumbent.ledger.store import record_text
from incumbent.reconcile.suggestion_pull_requests import is_group, is_repack
from incumbent.taxonomy.config import CONFIG_FILE
from tests.reconcile.checks import (
    Known,
    check_all,
    check_ledger,
    check_refusals,
    fails,
    is_own,
    note_pins,
    offered_by,
    open_suggestions,
    tombstones_of,
)
from tests.reconcile.hub import MAIN, Hub, Pull
from tests.reconcile.moves import (
    BEST,
    CHANGES,
    COMMANDS,
    CUSTOMER,
    ITEMS,
    KNOBS,
    OLD_TEXTS,
    PAIRS,
    PLACES,
    WIDE,
)
from tests.reconcile.people import AGENTS, CURATORS, REASON, Agent, Memory, Said
from tests.reconcile.runs import (
    agent_files,
    config_text,
    imported,
    platform_files,
    platform_of,
    queries_of,
    reconcile,
    review,
    text_of,
)

THOROUGH = bool(os.environ.get("INCUMBENT_THOROUGH"))
"""Whether many more weeks are lived through, each time others."""
HALF_A_DAY = 43_200
NEEDS_CURATOR = "incumbent: needs a curator"


class AfterTheMerge(RuleBasedStateMachine):
    """People, and now and then the bot."""

    @initialize(
        knobs=st.fixed_dictionaries({name: st.sampled_from(values) for name, values in KNOBS.items()}),
        texts=st.lists(OLD_TEXTS, min_size=1, max_size=4),
        wide=st.none() | WIDE,
    )
    def begin(self, knobs: dict[str, Any], texts: list[str], wide: str | None = None) -> None:
        """A set was imported; one that a ``wide`` query of a customer could repack, where there is one."""
        self.knobs = knobs
        if wide is not None:
            texts = [*BEST, *PAIRS, *texts[:2]]
            least = {"ceiling": len(texts) + 1, "open_repacks": 1}
            self.knobs = {**knobs, "competence_bar": 0.6, **{name: max(knobs[name], least[name]) for name in least}}
        entries = [imported(f"r{place}", text, f"2026-01-0{place + 1}T00:00:00Z") for place, text in enumerate(texts)]
        self.moved, self.unread = True, False
        self.hub = Hub(platform_files(entries, self._config()))
        self.memory, self.known = Memory(), Known()
        self.known.members = {entry.id for entry in entries}
        self.known.contents = {entry.id: entry.turns for entry in entries}
        self.calm = True
        self.run_to_the_end()
        if wide is not None:
            self.bring(AGENTS[0], [("put", ITEMS[0], wide)], reviewed=True, merged=True, squash=True, words=[])
            self.run_of_the_week()

    @property
    def here(self) -> Mapping[str, str]:
        """The files of the default branch."""
        return self.hub.repository.files(MAIN)

    # Customers

    @rule(
        agent=st.sampled_from(AGENTS),
        changes=st.lists(CHANGES, min_size=1, max_size=4),
        reviewed=st.sampled_from((True, True, True, False)),
        merged=st.sampled_from((True, True, False)),
        squash=st.booleans(),
        words=st.lists(COMMANDS, max_size=2),
    )
    def bring(
        self,
        agent: Agent,
        changes: list[tuple[str, str, str]],
        reviewed: bool,
        merged: bool,
        squash: bool,
        words: list[tuple[str, int, str, bool]],
    ) -> None:
        """A customer adds, edits, deletes and renames queries; a curator may merge that at once."""
        if self._offered(agent):
            return
        queries = queries_of(self.here, agent)
        for kind, item, text in changes:
            if kind == "put" and not self._is_taken(agent, item, queries):
                queries[item] = text
            elif kind == "delete" and len(queries) > 1:
                queries.pop(item, None)
            elif kind == "rename" and item in queries:
                free = (name for name in ITEMS if name not in queries and not self._is_taken(agent, name, queries))
                other = next(free, None)
                if other is not None:
                    queries[other] = queries.pop(item)
        if queries and queries != queries_of(self.here, agent):
            pull = self._offer(agent, dict(agent_files(agent, queries)))
            if reviewed:
                self._review(pull)
            for word in words:
                self._say(pull, *word)
            if merged:
                self._merge(pull, squash)

    @precondition(lambda self: self._present())
    @rule(place=PLACES, kept=PLACES)
    def leave(self, place: int, kept: int) -> None:
        """A customer goes with all files, or takes all queries back but one."""
        agents = self._present()
        agent = agents[place % len(agents)]
        queries = queries_of(self.here, agent)
        files: dict[str, str | None] = dict.fromkeys(agent_files(agent, queries))
        if kept < len(queries) - 1:
            item = sorted(queries)[kept]
            files = dict(agent_files(agent, {item: queries[item]}))
        self._merge(self._offer(agent, files), squash=True)

    @precondition(lambda self: self._open())
    @rule(place=PLACES)
    def review_again(self, place: int) -> None:
        """A run on an open pull request of a customer."""
        pulls = self._open()
        self._review(pulls[place % len(pulls)])

    @precondition(lambda self: self._open())
    @rule(place=PLACES, squash=st.booleans())
    def merge_later(self, place: int, squash: bool) -> None:
        """A curator merges what was open for a while."""
        pulls = self._open()
        self._merge(pulls[place % len(pulls)], squash)

    # Curators

    @precondition(lambda self: self.memory.agents)
    @rule(place=PLACES, word=COMMANDS, heard=st.booleans())
    def speak(self, place: int, word: tuple[str, int, str, bool], heard: bool) -> None:
        """Somebody gives a command on a pull request, open or merged."""
        asking = [pull for pull in self._customers() if pull.open or NEEDS_CURATOR in pull.labels]
        pulls = asking or self._customers()[-2:]
        pull = pulls[place % len(pulls)]
        self._say(pull, *word)
        if heard and pull.open:
            self._review(pull)

    @precondition(lambda self: self._suggested())
    @rule(place=PLACES, squash=st.booleans())
    def confirm(self, place: int, squash: bool) -> None:
        """A curator merges one of the bot's pull requests."""
        self._move()
        pulls = self._suggested()
        pull = pulls[place % len(pulls)]
        offered = offered_by(self.hub, pull)
        self.hub.merge(pull, "cora", squash)
        assert offered.removes.keys() <= tombstones_of(self.hub)
        if is_repack(pull.branch) and offered.admits is not None:
            self.known.repacked.append((offered, pull.merged_at))
            self.known.contents[offered.admits.id] = offered.admits.turns
        self.known.members -= offered.removes.keys()
        for id in offered.removes:
            self.known.contents.pop(id, None)
            self.memory.pins.pop(id, None)
        assert self.known.members <= platform_of(self.hub).regression_set.entries.keys()

    @precondition(lambda self: self._suggested())
    @rule(place=PLACES, by=st.sampled_from(("cora", "cora", "stale[bot]")))
    def refuse(self, place: int, by: str) -> None:
        """A curator closes one of the bot's pull requests; what another bot closes is refused by nobody."""
        self._move()
        pulls = self._suggested()
        pull = pulls[place % len(pulls)]
        if by == "cora":
            self.known.refused[pull.number] = offered_by(self.hub, pull)
        elif any(item.number == pull.number for item in self.known.kept):
            # What people kept is lost with it unless a run has seen that.
            return
        self.hub.close_pull(pull, by)

    @precondition(lambda self: self._repacks())
    @rule(place=PLACES, agrees=st.booleans())
    def decide_repack(self, place: int, agrees: bool) -> None:
        """A curator merges or closes a repack: there are few beside the other pull requests."""
        pulls = self._repacks()
        chosen = self._suggested().index(pulls[place % len(pulls)])
        if agrees:
            self.confirm(chosen, squash=True)
        else:
            self.refuse(chosen, by="cora")

    @precondition(lambda self: self._groups())
    @rule(place=PLACES, which=PLACES, said=st.booleans())
    def keep_one(self, place: int, which: int, said: bool) -> None:
        """A curator keeps an entry of a group: by a comment that a run hears, or by a commit."""
        self._move()
        pulls = self._groups()
        pull = pulls[place % len(pulls)]
        offered = offered_by(self.hub, pull)
        shown = [id for id in sorted(offered.removes) if re.search(rf"^{id} [0-9a-f]{{16}}$", pull.body, re.MULTILINE)]
        if not shown:
            return
        id = shown[which % len(shown)]
        self.known.kept.append(offered.of(id))
        if said:
            self.hub.say(pull.number, "cora", f"/incumbent keep {id}")
        else:
            back: dict[str, str | None] = {tombstone_path(id): None, entry_path(id): self.here[entry_path(id)]}
            self.hub.push(pull.branch, back)

    @precondition(lambda self: self.known.refused)
    @rule(place=PLACES)
    def think_again(self, place: int) -> None:
        """A curator opens a refused one again."""
        busy = {pull.branch for pull in open_suggestions(self.hub)}
        pulls = [self.hub.pulls[number] for number in self.known.refused]
        pulls = [pull for pull in pulls if pull.branch not in busy and pull.branch in self.hub.repository.branches]
        if pulls:
            pull = pulls[place % len(pulls)]
            self._move()
            del self.known.refused[pull.number]
            self.unread = self.unread or is_repack(pull.branch)
            self.hub.reopen(pull)

    @precondition(lambda self: self.calm)
    @rule(place=PLACES)
    def pin_by_hand(self, place: int) -> None:
        """A curator writes a pin into an entry's file, or takes it out."""
        entries = sorted(self.known.members & platform_of(self.hub).regression_set.entries.keys())
        if entries:
            id = entries[place % len(entries)]
            path = f"regression_set/{id}.yaml"
            text = self.here[path]
            pinned = f"pin: {REASON}" in text
            new, old = ("pin: null", f"pin: {REASON}") if pinned else (f"pin: {REASON}", "pin: null")
            assert old in text
            self._move()
            self.hub.push(MAIN, {path: text.replace(old, new)})
            self.memory.pins.pop(id, None)
            if not pinned:
                self.memory.pins[id] = REASON

    @rule(name=st.sampled_from(sorted(KNOBS)), place=PLACES)
    def turn_a_knob(self, name: str, place: int) -> None:
        """A maintainer changes the config."""
        self.knobs = {**self.knobs, name: KNOBS[name][place % len(KNOBS[name])]}
        if self._config() != self.here[CONFIG_FILE]:
            self._move()
            self.hub.push(MAIN, {CONFIG_FILE: self._config()})

    @rule(place=PLACES, number=st.integers(1, 12) | st.just(999))
    def forge_a_refusal(self, place: int, number: int) -> None:
        """Somebody who may push to the ledger says that a suggestion was refused."""
        pulls = [pull for pull in self.hub.pulls.values() if is_own(pull)]
        if pulls:
            text = self.hub.repository.files(BRANCH).get(SUGGESTIONS)
            record = SuggestionRecord() if text is None else SuggestionRecord.model_validate_json(text, strict=False)
            forged = Refusal(pull_request=number, branch=pulls[place % len(pulls)].branch)
            record = record.model_copy(update={"refusals": (*record.refusals, forged)})
            self._move()
            self.unread = True
            self.hub.push(BRANCH, {SUGGESTIONS: record_text(record)})

    # The bot

    @precondition(lambda self: self.moved)
    @rule(writes=st.integers(1, 9), seeks=st.booleans())
    def run_that_dies(self, writes: int, seeks: bool = False) -> None:
        """A run ends in the middle of what it was about to write."""
        self.calm = self._run(writes, seeks) and self.calm

    @precondition(lambda self: self.moved)
    @rule()
    def run_to_the_end(self, seeks: bool = False) -> None:
        """A run does all that there is to do, and the next one nothing."""
        self.moved = self.calm = False
        assert self._run(None, seeks)
        self._run_again()
        check_all(self.hub, self.memory, self.known)
        check_refusals(self.hub, self.known)
        before = len(self.hub.written)
        assert self._run(None)
        again = self.hub.written[before:]
        assert not again, ("a third run writes", [describe(item) for item in again])
        self._read_everything_again()
        self.calm = True

    @precondition(lambda self: self.moved)
    @rule()
    def run_of_the_week(self) -> None:
        """A run that looks back at all eval sets."""
        self.run_to_the_end(seeks=True)

    def teardown(self) -> None:
        if getattr(self, "moved", False):
            self.run_to_the_end()

    def _run(self, allowed: int | None, seeks: bool = False) -> bool:
        """A run: it takes nothing out of R, and adds nothing past the ceiling."""
        self.hub.wait(HALF_A_DAY)
        before = platform_of(self.hub).regression_set.entries
        opened = len(open_suggestions(self.hub))
        done = reconcile(self.hub, allowed, seeks)
        if not done:
            self.memory.hear(self.hub, ended=False)
            note_pins(self.hub, self.memory)
        check_ledger(self.hub, self.known)
        after = platform_of(self.hub).regression_set.entries
        assert before.keys() <= after.keys()
        assert len(after) <= max(len(before), self.knobs["ceiling"])
        most = self.knobs["open_evictions"] + self.knobs["open_repacks"]
        assert len(open_suggestions(self.hub)) <= max(opened, most)
        return done

    # Helpers

    def _run_again(self) -> None:
        """A second run has nothing to say: where entries changed it reads more than the first, and notes that."""
        if self.unread:
            # The eval set of a repack is read again once its refusal was found to be forged or taken back.
            assert self._run(None)
            self.unread = False
        before = len(self.hub.written)
        assert self._run(None)
        for item in self.hub.written[before:]:
            assert isinstance(item, WriteLedger), describe(item)
            assert [path for path, _ in item.files] == [INDEX]

    def _read_everything_again(self) -> None:
        """What was passed over by the index has nothing to tell: without one, a run but writes it again."""
        index, before = self.hub.repository.files(BRANCH)[INDEX], len(self.hub.written)
        self.hub.push(BRANCH, {INDEX: None})
        assert self._run(None)
        (again,) = self.hub.written[before:]
        assert isinstance(again, WriteLedger)
        assert dict(again.files) == {INDEX: index}

    def _move(self) -> None:
        """Somebody does something, half a day after whatever was before."""
        self.moved = True
        self.hub.wait(HALF_A_DAY)

    def _present(self) -> list[Agent]:
        return [agent for agent in AGENTS if queries_of(self.here, agent) and not self._offered(agent)]

    def _is_taken(self, agent: Agent, item: str, queries: Mapping[str, str]) -> bool:
        """Whether an entry that came from ``item`` has moved elsewhere: another query there is refused as a fault."""
        known, id = platform_of(self.hub).regression_set, entry_id(*agent, item)
        entry = {**known.evicted, **known.waiting, **known.entries}.get(id)
        if entry is None or entry.source is None:
            return False
        text = entry.turns[0]
        return entry.source.item != item or (text in queries.values() and queries.get(item) != text)

    def _open(self) -> list[Pull]:
        return [pull for pull in self._customers() if pull.open]

    def _suggested(self) -> list[Pull]:
        pulls = [pull for pull in open_suggestions(self.hub) if not fails(self.hub, pull)]
        return [pull for pull in pulls if self.hub.can_merge(pull)]

    def _repacks(self) -> list[Pull]:
        return [pull for pull in self._suggested() if is_repack(pull.branch)]

    def _groups(self) -> list[Pull]:
        return [
            pull for pull in self._suggested() if is_group(pull.branch) and len(offered_by(self.hub, pull).removes) > 0
        ]

    def _config(self) -> str:
        return config_text(curators=list(CURATORS), **self.knobs)

    def _customers(self) -> list[Pull]:
        return [self.hub.pulls[number] for number in sorted(self.memory.agents)]

    def _offered(self, agent: Agent) -> bool:
        return any(pull.open and self.memory.agents[pull.number] == agent for pull in self._customers())

    def _offer(self, agent: Agent, files: dict[str, str | None]) -> Pull:
        self._move()
        branch = f"work-{len(self.hub.repository.commits)}"
        self.hub.push(branch, files, self.hub.repository.branches[MAIN])
        pull = self.hub.offer(branch, CUSTOMER)
        self.memory.offered(pull, agent)
        return pull

    def _say(self, pull: Pull, verb: str, which: int, author: str, reasoned: bool) -> None:
        self._move()
        reason = f" {REASON}" if verb in ("reject", "pin") or (verb == "accept" and reasoned) else ""
        items = sorted(queries_of(self.hub.repository.commits[pull.head].files, self.memory.agents[pull.number]))
        name = "all" if (which < 0 and verb == "accept") or not items else items[which % len(items)]
        comment = self.hub.say(pull.number, author, f"/incumbent {verb} {name}{reason}")
        self.memory.said.append(Said(comment, pull.number, author, verb, None if name == "all" else name))

    def _review(self, pull: Pull) -> None:
        self.hub.wait(HALF_A_DAY)
        review(self.hub, pull.number)
        self.memory.hear(self.hub)
        check_ledger(self.hub, self.known)

    def _merge(self, pull: Pull, squash: bool) -> None:
        self._move()
        self.memory.merged(self.hub, pull)
        self.hub.merge(pull, "dan", squash)


TestAfterTheMerge = AfterTheMerge.TestCase
TestAfterTheMerge.settings = settings(
    max_examples=600 if THOROUGH else min(60, settings().max_examples // 2),
    stateful_step_count=50 if THOROUGH else 25,
    derandomize=not THOROUGH,
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.parametrize(("writes", "pin"), [(2, None), (3, REASON), (9, REASON)])
def test_what_a_run_that_died_pinned_stays_pinned_when_its_query_is_edited(writes: int, pin: str | None) -> None:
    """It dies once it has noted the pin, once it has pushed it, or once the pull request is forgotten."""
    weeks, agent = AfterTheMerge(), ("bolt", "line")
    knobs = {name: values[0] for name, values in KNOBS.items()}
    weeks.begin(knobs, [text_of("jump", {"a": 0.5})])
    pull: dict[str, Any] = {"reviewed": True, "merged": True, "squash": True}
    weeks.bring(agent, [("put", "q1", text_of("my", {"a": 0.8, "d": 0.5}))], words=[], **pull)
    weeks.bring(agent, [("put", "q2", text_of("zip", {"d": 0.9}))], words=[("pin", 1, "cora", True)], **pull)
    weeks.run_that_dies(writes)
    weeks.bring(agent, [("put", "q2", text_of("echo", {"b": 1.0}))], words=[], **pull)
    weeks.run_to_the_end()
    (entry,) = [each for id, each in platform_of(weeks.hub).regression_set.entries.items() if "q2" in id]
    assert (entry.turns, entry.pin) == ((text_of("echo", {"b": 1.0}),), pin)
