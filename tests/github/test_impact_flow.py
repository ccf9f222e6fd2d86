"""The Action and a change of taxonomy or config: who is asked, what is kept, and that what is told comes true."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from incumbent.classifier.caching_backend import FindingsInMemory, RememberingBackend, halt
from incumbent.classifier.language_model.abilities import BEST, KeptAbilities, RememberedAbilities
from incumbent.classifier.model import Backend, Finding, InferenceRequest
from incumbent.curator.entry import Source
from incumbent.curator.suggestions import suggest
from incumbent.errors import IncompleteError
from incumbent.files.snapshot import Overlay
from incumbent.github.authority import UNKNOWN_PERMISSION
from incumbent.github.events import Event, Flow
from incumbent.github.facts import Analysis
from incumbent.github.git_state import World
from incumbent.github.impact_job import ASK_A_CURATOR
from incumbent.github.run import analyse_event, publish_event
from incumbent.ledger.model import BRANCH
from incumbent.pipeline.impact.measure import ANOTHER_MODEL
from incumbent.pipeline.impact.model import Impact
from incumbent.pipeline.migrate import plan_migration
from incumbent.pipeline.review import Platform
from incumbent.reconcile.inventory import Inventory
from incumbent.reconcile.run import reconcile_event, survey_event
from incumbent.taxonomy.config import CONFIG_FILE
from incumbent.taxonomy.loading import TAXONOMY_FILE
from incumbent.taxonomy.model import Taxonomy
from tests.pipeline.impact.platforms import BASE, Counting, capability, grown
from tests.pipeline.impact.test_measure import MODEL, RENAMED, SPLIT, WITH_F, config
from tests.reconcile.hub import MAIN, Hub
from tests.reconcile.runs import agent_files, config_text, folder_of, imported, platform_files, platform_of, text_of

ACME = ("acme", "desk")
OLD = ("old", "one")
OF_F = text_of("sonnet", {"f": 0.9})


@dataclass
class Desk:
    """A hub, and the classifiers that were made for it; those of a language model ``remembers`` what they found."""

    hub: Hub
    remembers: bool = False
    made: list[Platform] = field(default_factory=list)
    asked: list[InferenceRequest] = field(default_factory=list)

    def backend(self, platform: Platform, *_: object) -> Backend:
        self.made.append(platform)
        return self._backend_of(platform)

    def _backend_of(self, platform: Platform) -> Backend:
        inner = _Listed(Counting(platform.taxonomy), self.asked)
        return RememberingBackend(inner, platform.taxonomy, FindingsInMemory({})) if self.remembers else inner

    @property
    def world(self) -> World:
        return World(
            store=self.hub.repository,
            url="https://github.example/o/r",
            token=None,
            run=None,
            configured=lambda platform: halt(self._backend_of(platform), IncompleteError("this job asks nothing")),
            version="0" * 64,
        )

    def analyse(self, number: int | None, permission: str = "write", **more: Any) -> Analysis:
        pull = None if number is None else self.hub.pulls[number]
        if pull is not None:
            self.hub.repository.branches[f"refs/pull/{number}/head"] = pull.head
        self.hub.permissions["mara"] = permission
        found = analyse_event(self.event(number, **more), self.world, self.backend, _silent, lambda: self.hub)
        assert isinstance(found, Analysis)
        return found

    def event(self, number: int | None, **more: Any) -> Event:
        head = None if number is None else self.hub.pulls[number].head
        defaults: dict[str, Any] = {
            "flow": Flow.REVIEW, "repository": "o/r", "default_branch": MAIN, "pull_request": number, "head": head,
            "author": "mara",
        }  # fmt: skip
        return Event(**defaults | more)

    def review(self, number: int, permission: str = "write", **more: Any) -> Analysis:
        analysis = self.analyse(number, permission, **more)
        publish_event(self.event(number, **more), analysis, self.world, self.hub, _no_race, dry_run=False)
        return analysis

    def reconcile(self) -> None:
        event = Event(flow=Flow.RECONCILE, repository="o/r", default_branch=MAIN)
        inventory = survey_event(event, self.world, self.backend, _silent)
        assert isinstance(inventory, Inventory)
        assert not inventory.problems
        assert not reconcile_event(event, inventory, self.world, self.hub, _no_race, dry_run=False).why

    def offer(self, files: Mapping[str, str | None], branch: str = "change", author: str = "mara") -> int:
        self.hub.push(branch, files, start=self.hub.repository.branches[MAIN], author=author)
        return self.hub.offer(branch, author).number

    def merge(self, number: int) -> None:
        self.hub.merge(self.hub.pulls[number], "cora", squash=False)

    def sticky(self, number: int) -> str:
        (body,) = [item.body for item in self.hub.pulls[number].comments if "incumbent:verdicts" in item.body]
        return body


@dataclass(frozen=True)
class _Listed:
    inner: Counting
    asked: list[InferenceRequest]

    @property
    def identity(self) -> Any:
        return self.inner.identity

    @property
    def usage(self) -> None: ...

    def infer(self, requests: Sequence[InferenceRequest]) -> Iterator[tuple[int, Finding]]:
        self.asked.extend(requests)
        return self.inner.infer(requests)


def _silent(done: int, total: int) -> None: ...


def _no_race(attempt: int) -> None:
    raise AssertionError("nobody else writes here")


def written(taxonomy: Taxonomy) -> dict[str, str | None]:
    return {TAXONOMY_FILE: yaml.safe_dump(taxonomy.model_dump(mode="json"), sort_keys=False)}


def desk(
    queries: Mapping[str, str] | None = None,
    residents: Mapping[str, Mapping[str, float]] | None = None,
    remembers: bool = False,
    **values: Any,
) -> Desk:
    """A platform into which a customer's ``queries`` were merged."""
    known = {"r1": {"a": 0.9, "b": 0.6}, "r2": {"a": 0.8}} if residents is None else residents
    texts = {id: text_of(f"old-{id}", scores) for id, scores in known.items()}
    entries = [
        imported(id, text, "2026-01-01T00:00:00Z").model_copy(
            update={
                "source": Source(customer="old", agent="one", eval_set=f"{folder_of(OLD)}/evals.yaml", item=id),
            }
        )
        for id, text in texts.items()
    ]
    files = platform_files(entries, config_text(**{"curators": ["cora"]} | values))
    hub = Hub({**files, **agent_files(OLD, texts)})
    found = Desk(hub, remembers)
    if queries is not None:
        number = found.offer(agent_files(ACME, queries), "acme")
        found.review(number)
        found.merge(number)
        found.reconcile()
        found.made.clear()
        found.asked.clear()
    return found


def impact_of(analysis: Analysis) -> Impact:
    assert analysis.impact is not None
    return analysis.impact


# Entries that follow


@pytest.mark.parametrize(("more", "by_hand"), [("", False), ("# mine\n", True)])
def test_entries_just_as_migrate_writes_them_are_no_change_by_hand(more: str, by_hand: bool) -> None:
    here = desk()
    files = here.hub.repository.files(MAIN)
    over = Overlay(here.hub.repository.snapshot(here.hub.repository.branches[MAIN]), written(RENAMED))
    plan = plan_migration(over, BASE, {}, CONFIG_FILE)
    entries = {item.path: (item.content or "") + more for item in plan.file_changes if item.path != CONFIG_FILE}
    assert entries
    assert all(files[path] != text for path, text in entries.items())
    number = here.offer({**written(RENAMED), **entries})
    here.review(number)
    conclusion = here.hub.checks[here.hub.pulls[number].head].conclusion
    assert conclusion == ("failure" if by_hand else "success")


def test_the_same_entries_without_the_taxonomy_are_changed_by_hand() -> None:
    here = desk()
    over = Overlay(here.hub.repository.snapshot(here.hub.repository.branches[MAIN]), written(RENAMED))
    entries: dict[str, str | None] = {
        item.path: item.content for item in plan_migration(over, BASE, {}, CONFIG_FILE).file_changes
    }
    number = here.offer({**entries, **written(grown(BASE, "1.1.0", capability("f")))})
    here.review(number)
    assert here.hub.checks[here.hub.pulls[number].head].conclusion == "failure"


def test_an_effect_that_could_not_be_measured_to_its_end_fails_the_check() -> None:
    here = desk({"q1": OF_F})
    number = here.offer(written(WITH_F))
    analysis = here.analyse(number)
    assert analysis.impact is not None
    assert analysis.impact.effect is not None
    cut = analysis.impact.model_copy(update={"unmeasured": "the budget is used up"})
    stopped = analysis.model_copy(update={"impact": cut})
    publish_event(here.event(number), stopped, here.world, here.hub, _no_race, dry_run=False)
    check = here.hub.checks[here.hub.pulls[number].head]
    assert check.conclusion == "failure"
    assert "incumbent: incomplete" in here.hub.pulls[number].labels
    publish_event(here.event(number), analysis, here.world, here.hub, _no_race, dry_run=False)
    assert here.hub.checks[here.hub.pulls[number].head].conclusion == "success"


# Trust


@pytest.mark.untraced
@pytest.mark.parametrize(
    ("association", "permission"),
    [
        *(("COLLABORATOR", "read"), ("MEMBER", "triage"), ("CONTRIBUTOR", "none"), ("NONE", UNKNOWN_PERMISSION)),
        *(("FIRST_TIMER", "read"), ("", "none"), ("COLLABORATOR", UNKNOWN_PERMISSION), ("MEMBER", UNKNOWN_PERMISSION)),
    ],
)
def test_for_a_stranger_nobody_is_asked(association: str, permission: str) -> None:
    here = desk({"q1": OF_F})
    number = here.offer(written(WITH_F))
    impact = impact_of(here.review(number, permission, association=association))
    assert here.asked == []
    assert (impact.effect, impact.unmeasured) == (None, ASK_A_CURATOR)
    assert "is new." in here.sticky(number)
    check = here.hub.checks[here.hub.pulls[number].head]
    assert check.conclusion == "success"


@pytest.mark.untraced
@pytest.mark.parametrize(
    ("author", "body", "measured"),
    [
        ("cora", "/incumbent run", True),
        ("mara", "/incumbent run", False),
        ("carl", "/incumbent run", False),
        ("cora", "/incumbent help", False),
        ("cora", "> /incumbent run", False),
    ],
)
def test_a_curators_word_alone_has_a_strangers_change_measured(author: str, body: str, measured: bool) -> None:
    here = desk({"q1": OF_F})
    number = here.offer(written(WITH_F))
    here.hub.say(number, author, body)
    impact = impact_of(here.review(number, "read"))
    assert (impact.effect is not None) == measured == bool(here.asked)
    # It is remembered: the next push is measured too, and nobody has to say it again.
    again = impact_of(here.review(number, "read"))
    assert (again.effect is not None) == measured


@pytest.mark.untraced
@pytest.mark.parametrize("permission", ["write", "read"])
@pytest.mark.parametrize(
    "classifier",
    [
        {"backend": "openai", "openai": MODEL | {"endpoint": "https://evil.example", "key_variable": "GITHUB_TOKEN"}},
        {"backend": "openai", "openai": MODEL},
    ],
)
def test_no_endpoint_is_asked_that_the_head_names(permission: str, classifier: dict[str, Any]) -> None:
    here = desk({"q1": OF_F})
    changed = config_text(**config(**classifier), curators=["cora"])
    impact = impact_of(here.review(here.offer({CONFIG_FILE: changed, **written(WITH_F)}), permission))
    assert here.asked == []
    assert impact.effect is None
    assert impact.unmeasured == (ANOTHER_MODEL if permission == "write" else ASK_A_CURATOR)
    assert impact.cost.requests == 15


def test_the_heads_curators_and_modes_decide_nothing_yet() -> None:
    here = desk({"q1": OF_F})
    number = here.offer(
        {CONFIG_FILE: config_text(curators=["mara"], mode="observe"), **written(WITH_F.called("3.0.0"))}
    )
    here.hub.say(number, "mara", "/incumbent run")
    analysis = here.review(number, "read")
    assert impact_of(analysis).effect is None
    assert here.hub.checks[here.hub.pulls[number].head].conclusion == "failure"


# What becomes of it


def test_a_wrong_version_fails_the_check_and_says_which_is_right() -> None:
    here = desk({"q1": OF_F})
    number = here.offer(written(WITH_F.called("1.0.1")))
    here.review(number)
    assert here.hub.checks[here.hub.pulls[number].head].conclusion == "failure"
    assert "**The version must be `1.1.0`**" in here.sticky(number)
    assert "write `version: 1.1.0`" in here.sticky(number)


@pytest.mark.untraced
@pytest.mark.parametrize(
    "files",
    [
        {TAXONOMY_FILE: None},
        {CONFIG_FILE: None},
        {TAXONOMY_FILE: "- a"},
        {CONFIG_FILE: "{"},
        {CONFIG_FILE: None, "config/other.yaml": config_text(curators=["cora"])},
        {TAXONOMY_FILE: "#" * 32_000_001},
    ],
    ids=["no taxonomy", "no config", "no mapping", "no YAML", "another name", "larger than any"],
)
def test_files_that_cannot_be_read_are_faults_in_the_comment(files: dict[str, str | None]) -> None:
    here = desk({"q1": OF_F})
    number = here.offer(files)
    analysis = here.review(number)
    assert analysis.impact is None
    assert here.asked == []
    assert here.hub.checks[here.hub.pulls[number].head].conclusion == "failure"
    assert "Faults in the input" in here.sticky(number)


def test_a_capability_that_lacks_exemplars_must_go_on_trial() -> None:
    """The classifier here measures nothing, so that exemplars alone are counted; a merge group counts them as well."""
    here = desk(appraisal={"positive": 1, "negative": 0, "precision": 0.8, "shown": 5})
    analysis = here.analyse(here.offer(written(WITH_F)))
    assert analysis.impact is not None
    assert [(item.capability, item.standing) for item in analysis.impact.appraisals] == [("f", "unfit")]
    assert any("add `trial: true` to it" in problem.fix for problem in analysis.judged.problems)
    base = here.hub.repository.branches[MAIN]
    trial = written(grown(BASE, "1.1.0", capability("f", trial=True)))
    for files, faults in ((written(WITH_F), 1), (trial, 0)):
        head = here.hub.push(f"group-{faults}", files, start=base)
        assert len(here.analyse(None, flow=Flow.GROUP, head=head, group_base=base).judged.problems) == faults


@pytest.mark.untraced
def test_a_merge_group_is_told_faults_alone() -> None:
    for taxonomy, faults in ((WITH_F, 0), (WITH_F.called("1.0.1"), 1)):
        here = desk({"q1": OF_F})
        base = here.hub.repository.branches[MAIN]
        head = here.hub.push("group", written(taxonomy), start=base)
        analysis = here.analyse(None, flow=Flow.GROUP, head=head, group_base=base)
        assert analysis.impact is None
        assert len(analysis.judged.problems) == faults
        assert here.asked == []


def test_who_only_observes_is_told_and_the_check_passes() -> None:
    here = desk(mode="observe")
    number = here.offer(written(WITH_F.called("7.0.0")))
    here.review(number)
    assert here.hub.checks[here.hub.pulls[number].head].conclusion == "success"
    assert "**The version must be `1.1.0`**" in here.sticky(number)
    assert BRANCH not in here.hub.repository.branches


def test_other_files_beside_are_no_change() -> None:
    here = desk({"q1": OF_F})
    number = here.offer({"config/paper.yaml": "x", "taxonomy/notes.md": "x"})
    assert impact_of(here.review(number)).is_nothing
    assert here.asked == []


def test_what_a_model_said_is_kept_until_the_merge_and_asked_again_of_the_merged_files() -> None:
    here = desk({"q1": OF_F, "q2": text_of("ballad", {"a": 0.5})}, remembers=True)
    number = here.offer(written(WITH_F))
    here.review(number)
    # Of what was merged before, the ledger knows all but the new capability.
    assert {item.capabilities for item in here.asked} == {("f",)}
    here.asked.clear()
    here.review(number)
    assert here.asked == []
    here.merge(number)
    here.reconcile()
    assert {item.capabilities for item in here.asked} == {("f",)}, "what a pull request's job said does not enter"
    here.asked.clear()
    here.reconcile()
    assert here.asked == []
    assert platform_of(here.hub).regression_set.entries["r1"].classified.taxonomy == "1.1.0"


def test_what_any_classifier_finds_out_of_its_endpoint_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    here = desk({"q1": OF_F}, remembers=True)
    plain = here.backend

    def backend(platform: Platform, *_: object) -> Backend:
        made, memory = plain(platform), RememberedAbilities(None)
        memory.learnt[f"{len(here.made):024x}"] = KeptAbilities(abilities=BEST, found=1)
        assert isinstance(made, RememberingBackend)
        return replace(made, memory=memory)

    monkeypatch.setattr(here, "backend", backend)
    analysis = here.review(here.offer(written(WITH_F)))
    assert len(analysis.work.abilities) == len(here.made) > 1


def test_what_people_rejected_is_promised_no_slot() -> None:
    here = desk()
    number = here.offer(agent_files(ACME, {"q1": text_of("sonnet", {"a": 0.7, "b": 0.7, "f": 0.9})}), "acme")
    here.review(number)
    here.hub.say(number, "cora", "/incumbent reject q1 too contrived")
    here.review(number)
    here.merge(number)
    here.reconcile()
    change = here.offer(written(WITH_F))
    effect = impact_of(here.review(change)).effect
    assert effect is not None
    assert effect.verdicts == ()


# What is told comes true

SCORES = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from([0.45, 0.6, 0.75, 0.9]), min_size=1, max_size=3)
CHANGED: dict[str, dict[str, str | None]] = {
    "a new capability": written(WITH_F),
    "a rename": written(RENAMED),
    "a split": written(SPLIT),
    "a removal": written(grown(BASE, "2.0.0", without=["a"])),
    "another meaning": written(grown(BASE, "1.0.1", capabilities=(capability("a", "f"), *BASE.capabilities[1:]))),
    "no floor": {CONFIG_FILE: config_text(curators=["cora"], redundancy_floor=0)},
    "a higher bar": {CONFIG_FILE: config_text(curators=["cora"], competence_bar=0.7)},
    "other combinations": {CONFIG_FILE: config_text(curators=["cora"], novelty=1)},
    "a floor and a capability": {
        CONFIG_FILE: config_text(curators=["cora"], redundancy_floor=1),
        **written(WITH_F),
    },
}


@dataclass(frozen=True)
class State:
    """What the repository holds: roles, floors and suggestions of its set, and queries that wait for a person."""

    champions: Mapping[str, tuple[str, float]]
    coverers: Mapping[str, int]
    floors: Mapping[str, int]
    pins: Mapping[str, tuple[str, ...]]
    suggestions: Mapping[str, str]

    @staticmethod
    def of(platform: Platform) -> State:
        entries = platform.regression_set.entries
        found = suggest(platform.regression_set, platform.taxonomy, platform.config)
        names = platform.taxonomy.by_id
        return State(
            champions={
                name: (id, entries[id].scores[name]) for name, id in found.roles.champions.items() if name in names
            },
            coverers={name: len(found.roles.coverers.get(name, ())) for name in names},
            floors={name: platform.config.redundancy_floor(name) for name in names},
            pins={id: tuple(sorted(reasons)) for id, reasons in found.roles.pinned.items() if reasons},
            suggestions={item.id: item.grounds.kind.value for item in found.evictions},
        )


def promised(impact: Impact, before: State, names: Sequence[str], renames: Mapping[str, str]) -> State:
    """What ``impact`` says that becomes of ``before``."""
    effect = impact.effect
    assert effect is not None
    shown = {item.after: item for item in effect.capabilities if item.after is not None}
    previous = {new: old for old, new in renames.items()}
    champions, coverers, floors = {}, {}, {}
    for name in names:
        old = previous.get(name, name)
        if name in shown:
            item = shown[name]
            if item.champion_after is not None:
                assert item.score_after is not None
                champions[name] = (item.champion_after, item.score_after)
            coverers[name], floors[name] = item.coverers_after, item.floor_after
        else:
            if old in before.champions:
                champions[name] = before.champions[old]
            coverers[name], floors[name] = before.coverers[old], before.floors[old]
    pins = {
        id: tuple(sorted(f"champion:{renames.get(item[9:], item[9:])}" for item in reasons))
        for id, reasons in before.pins.items()
    }
    for pin in effect.pins:
        assert tuple(sorted(pin.before)) == before.pins.get(pin.entry, ())
        pins[pin.entry] = tuple(sorted(pin.after))
    suggestions = dict(before.suggestions)
    for side in effect.suggestions:
        assert before.suggestions.get(side.entry) == side.before
        suggestions.pop(side.entry, None)
        if side.after is not None:
            suggestions[side.entry] = side.after
    return State(
        champions=champions,
        coverers=coverers,
        floors=floors,
        pins={id: reasons for id, reasons in pins.items() if reasons},
        suggestions=suggestions,
    )


def needing(here: Desk) -> set[str]:
    """The queries that wait for a person on the pull request that brought them."""
    section = re.split(r"\n(?:#|<details)", here.sticky(1).partition("#### Needs you")[2])[0]
    return set(re.findall(r"^\| \*\*`(q\d+)`", section, re.MULTILINE))


@settings(max_examples=settings().max_examples // 2)
@given(
    residents=st.lists(SCORES, min_size=1, max_size=4),
    queries=st.lists(SCORES, max_size=4),
    name=st.sampled_from(sorted(CHANGED)),
)
def test_what_the_impact_promises_is_what_the_repository_holds_after_the_merge(
    residents: list[dict[str, float]], queries: list[dict[str, float]], name: str
) -> None:
    texts = {f"q{place}": text_of(f"word-{place}", scores) for place, scores in enumerate(queries)}
    known = {
        f"r{place}": {item: score for item, score in scores.items() if item != "f"} or {"a": 0.6}
        for place, scores in enumerate(residents)
    }
    here = desk(texts or None, known)
    before = platform_of(here.hub)
    number = here.offer(CHANGED[name])
    impact = impact_of(here.review(number))
    assert impact.effect is not None
    waiting = needing(here) if texts else set()
    for item in impact.effect.verdicts:
        admits = item.after is not None and not item.after.startswith("EXCLUDE")
        waiting = waiting | {item.query} if admits else waiting - {item.query}
    here.merge(number)
    here.reconcile()
    after = platform_of(here.hub)
    renames = {"a": "z"} if name == "a rename" else {}
    assert promised(impact, State.of(before), list(after.taxonomy.by_id), renames) == State.of(after)
    # Nobody saw what earns a slot: it waits for a person, on the pull request that brought it.
    assert (needing(here) if texts else set()) == waiting
