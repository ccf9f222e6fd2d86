"""From two platforms to an impact: what is asked, what it costs at most, and what comes of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incumbent.classifier.exemplars import Bar, HeldOutExemplars
from incumbent.classifier.model import Identity
from incumbent.curator.entry import Entry
from incumbent.errors import IncompleteError, UnreadyError
from incumbent.intake.specification import UNDECLARED, AuthDeclaration, Specification, Tool
from incumbent.ledger.keys import content_key
from incumbent.pipeline.impact.measure import Agents, PlatformChange, held_out_of, measure, read_agents
from incumbent.pipeline.impact.model import Impact
from incumbent.pipeline.review import Platform
from incumbent.taxonomy.model import Capability, Exemplars, Group, Taxonomy
from tests.classifier.factories import counted, of_tools, specification, tool
from tests.factories import make_config
from tests.pipeline.impact.platforms import (
    BASE,
    DOCUMENT,
    FOLDER,
    Counting,
    agents,
    capability,
    grown,
    measured,
    member,
    platform,
)
from tests.reconcile.repository import Repository
from tests.reconcile.runs import agent_files, platform_files, text_of

SPOKEN = specification([tool("look_up")])
WITH_F = grown(BASE, "1.1.0", capability("f"))
RENAMED = grown(BASE, "1.1.0", capability("z", "a", was="a"), without=["a"])
SPLIT = grown(BASE, "2.0.0", capability("y", "a", split="a"), capability("z", "a", split="a"), without=["a"])
EXEMPLARS = Exemplars(positive=("something",))
MODEL = {
    "endpoint": "https://llm.example/v1", "api_version": None, "model": "m1", "key_variable": "KEY",
    "temperature": 1.0, "seed": 1, "timeout_seconds": 10.0, "retries": 1, "in_flight": 4, "prompt_bytes": 9000,
    "examples": 0, "answer_tokens": 900, "response_bytes": 16_000_000,
    "budget": {"requests": 100, "tokens": 100_000}, "prices": None,
}  # fmt: skip


def spec(name: str, when: str, **more: Any) -> Capability:
    return capability(name, source="spec", when=when, **more)


def residents(taxonomy: Taxonomy = BASE) -> list[Entry]:
    first = taxonomy.capabilities[0].id if "a" not in taxonomy.by_id else "a"
    return [member("r1", {first: 0.9, "b": 0.6}, taxonomy), member("r2", {first: 0.8}, taxonomy)]


def config(**classifier: Any) -> dict[str, Any]:
    """The config with another classifier."""
    known = make_config().classifier.model_dump()
    return {"classifier": known | classifier}


def paid(taxonomy: Taxonomy, *entries: Entry, waiting: list[Entry] | None = None, **settings: Any) -> Platform:
    return platform(taxonomy, *entries, waiting=waiting or [], **config(backend="openai", openai=MODEL | settings))


def test_a_new_capability_is_asked_of_every_entry_and_lets_in_what_was_left_out() -> None:
    brought = agents({"q1": text_of("sonnet", {"f": 0.9}), "q2": text_of("ballad", {"a": 0.5})})
    found = measured(platform(BASE, *residents()), platform(WITH_F, *residents()), brought)
    impact = found.impact
    assert [(item.entry, item.capabilities, item.gained) for item in impact.again] == [
        ("r1", ("f",), ()),
        ("r2", ("f",), ()),
    ]
    assert {item.capabilities for item in found.second.asked if item.query_id.startswith("r")} == {("f",)}
    assert impact.effect is not None
    assert [(item.query, item.customer, item.agent, item.earns) for item in impact.effect.verdicts] == [
        ("q1", "acme", "desk", True)
    ]
    assert impact.effect.verdicts[0].before == "EXCLUDE direct OFF_TAXONOMY"
    assert (impact.cost.entries, impact.cost.queries, impact.cost.pairs, impact.cost.requests) == (2, 2, 2, None)


def test_remarks_on_queries_that_come_with_a_change_are_told() -> None:
    brought = agents({"q1": text_of("sonnet", {"a": 0.9}), "q2": text_of("ballad", {"b": 0.5})}, SPOKEN)
    (package,) = brought.packages
    queries = tuple(replace(item, expected={"expected_tools": []}) for item in package.submission.queries[:1])
    queries += package.submission.queries[1:]
    brought = replace(brought, packages=(replace(package, submission=replace(package.submission, queries=queries)),))
    after = grown(BASE, "1.1.0", of_tools("reads", "effect == 'read'", "all"))
    strange = frozenset({queries[1].id})
    effect = measured(platform(BASE), platform(after), brought, strange=strange).impact.effect
    assert effect is not None
    shown = [(item.query, item.remark, item.after) for item in effect.remarks]
    assert shown == [("q1", "contradiction", True), ("q2", "unfamiliar", True)]


def test_an_entry_that_comes_to_exercise_the_new_capability_is_its_champion() -> None:
    known = [member("r1", {"a": 0.9}, BASE).model_copy(update={"turns": (text_of("r1", {"a": 0.9, "f": 0.7}),)})]
    impact = measured(platform(BASE, *known), platform(WITH_F, *known), agents({})).impact
    assert [item.gained for item in impact.again] == [("f",)]
    assert impact.effect is not None
    assert [(item.after, item.champion_after, item.score_after) for item in impact.effect.capabilities] == [
        ("f", "r1", 0.7)
    ]


def test_a_rename_asks_nobody_anything() -> None:
    brought = agents({"q1": text_of("ballad", {"a": 0.5})})
    found = measured(platform(BASE, *residents()), platform(RENAMED, *residents()), brought)
    assert found.impact.again == ()
    assert not [item for item in found.second.asked if item.query_id.startswith("r")]
    cost = found.impact.cost
    assert (cost.entries, cost.queries, cost.pairs) == (0, 0, 0)
    assert found.impact.effect is not None
    (sides,) = found.impact.effect.capabilities
    assert (sides.before, sides.after, sides.score_before, sides.score_after) == ("a", "z", 0.9, 0.9)
    assert found.impact.effect.pins == ()


def test_a_split_asks_those_that_exercised_the_whole() -> None:
    known = [*residents(), member("r3", {"c": 0.9}, BASE)]
    impact = measured(platform(BASE, *known), platform(SPLIT, *known), agents({})).impact
    assert [(item.entry, item.capabilities, item.gained) for item in impact.again] == [
        ("r1", ("y", "z"), ("y", "z")),
        ("r2", ("y", "z"), ("y", "z")),
    ]


def test_what_carried_the_whole_stays_while_the_parts_are_on_trial_and_impact_says_so() -> None:
    parts = [capability(name, "a", split="a").model_copy(update={"trial": True}) for name in "yz"]
    tried = grown(BASE, "2.0.0", *parts, without=["a"])
    known = [*residents(), member("r3", {"c": 0.9}, BASE)]
    effect = measured(platform(BASE, *known), platform(tried, *known), agents({})).impact.effect
    assert effect is not None
    assert [(item.entry, item.wholes) for item in effect.kept] == [("r1", ("a",)), ("r2", ("a",))]
    assert {item.entry for item in effect.suggestions if item.after} <= {"r3"}


def test_a_removal_asks_nobody_and_takes_champions_and_pins() -> None:
    after = grown(BASE, "2.0.0", without=["a"])
    found = measured(paid(BASE, *residents()), paid(after, *residents()), agents({"q1": text_of("x", {"b": 0.9})}))
    assert found.impact.cost.requests == 0
    assert found.impact.effect is not None
    assert [(item.before, item.after) for item in found.impact.effect.capabilities] == [("a", None)]
    assert [(item.entry, item.before, item.after) for item in found.impact.effect.pins] == [
        ("r1", ("champion:a", "champion:b"), ("champion:b",))
    ]


def test_a_config_alone_asks_nobody() -> None:
    known = [*residents(), member("r3", {"a": 0.7}, BASE)]
    found = measured(platform(BASE, *known), platform(BASE, *known, redundancy_floor=0), agents({}))
    assert found.impact.again == ()
    assert found.second.asked == []
    assert [item.key for item in found.impact.config] == ["knobs.redundancy_floor"]
    assert found.impact.effect is not None
    assert [item.entry for item in found.impact.effect.suggestions] == ["r2"]


@pytest.mark.parametrize("version", ["1.0.0", "9.9.9"])
def test_where_nothing_changes_nobody_is_asked_even_if_entries_are_stale(version: str) -> None:
    stale = member("r1", {"a": 0.9}, BASE.called("0.9.0"))
    known = stale.model_copy(update={"classified": stale.classified.model_copy(update={"samples": 9})})
    found = measured(platform(BASE, known), platform(BASE.called(version), known), agents({"q1": "x"}))
    assert (found.first.asked, found.second.asked) == ([], [])
    assert found.impact.effect is None
    assert found.impact.unmeasured is None
    assert found.impact.is_nothing == (version == "1.0.0")


def test_a_wrong_version_is_told_and_the_effect_is_that_of_the_right_one() -> None:
    brought = agents({"q1": text_of("sonnet", {"f": 0.9})})
    wrong = measured(platform(BASE, *residents()), platform(WITH_F.called("1.0.0"), *residents()), brought).impact
    right = measured(platform(BASE, *residents()), platform(WITH_F, *residents()), brought).impact
    assert (wrong.version.after, wrong.version.required, wrong.version.is_right) == ("1.0.0", "1.1.0", False)
    assert wrong.effect == right.effect
    assert wrong.again == right.again


# People's rejections


def test_what_people_rejected_is_promised_no_slot_and_its_alternate_is() -> None:
    texts = {"q1": text_of("sonnet", {"a": 0.8, "f": 0.8}), "q2": text_of("ballad", {"a": 0.7, "f": 0.7})}
    covers = member("r3", {"c": 0.9}, BASE).model_copy(update={"turns": (text_of("r3", {"c": 0.9, "f": 0.9}),)})
    known = [*residents(), covers]
    before, after = platform(BASE, *known), platform(WITH_F, *known)
    brought = agents(texts)

    def earning(*rejected: str) -> list[str]:
        effect = measured(before, after, brought, rejected).impact.effect
        assert effect is not None
        return [item.query for item in effect.verdicts if item.earns]

    def content(item: str) -> str:
        return content_key((texts[item],), UNDECLARED.digest)

    assert earning() == ["q1"]
    assert earning(content("q1")) == ["q2"]
    assert earning(content("q1"), content("q2")) == []
    assert earning(content_key((texts["q1"],), "another agent")) == ["q1"]


# What cannot be measured, or not in full


def test_without_a_classifier_all_is_told_but_the_effect() -> None:
    before, after = platform(BASE, *residents()), platform(WITH_F, *residents())
    change = PlatformChange(before=before, after=after, previous=lambda version: (BASE,), document=DOCUMENT)
    identity = Counting(WITH_F).identity
    impact, renewal = measure(change, agents({"q1": "x"}), None, "it costs", identity, lambda done, total: None)
    assert renewal is None
    assert (impact.effect, impact.unmeasured) == (None, "it costs")
    assert [item.capabilities for item in impact.again] == [("f",), ("f",)]
    assert impact.changes
    assert impact.cost.entries == 2


@pytest.mark.parametrize("most", [0, 1, 3])
def test_a_classifier_that_stops_is_asked_no_more_and_what_is_known_is_told(most: int) -> None:
    brought = agents({f"q{place}": text_of(f"w{place}", {"f": 0.9}) for place in range(4)})
    twice = Agents(packages=(*brought.packages, other_package()), specification=brought.specification)
    error = IncompleteError("the budget is used up")
    found = measured(platform(BASE, *residents()), platform(WITH_F, *residents()), twice, most=most, error=error)
    assert len(found.second.asked) == most
    assert found.impact.unmeasured == "not all of it could be classified: the budget is used up"
    assert found.impact.effect is not None


def other_package() -> Any:
    (package,) = agents({"q9": text_of("other", {"f": 0.9})}).packages
    return replace(package, submission=replace(package.submission, agent="till", prefix="acme/till/", queries=()))


@pytest.mark.parametrize("failing", ["r1", "acme/desk/q1"])
def test_a_query_without_an_answer_leaves_the_effect_open(failing: str) -> None:
    brought = agents({"q1": text_of("sonnet", {"f": 0.9})})
    found = measured(
        platform(BASE, *residents()), platform(WITH_F, *residents()), brought, failing=frozenset({failing})
    )
    assert found.impact.unmeasured == "not all of it could be classified: a model gave no answer of use"


def test_entries_without_a_known_agent_are_kept_and_say_why() -> None:
    orphan = member("r1", {"a": 0.9}, BASE, source=None)
    impact = measured(platform(BASE, orphan), platform(WITH_F, orphan), agents({})).impact
    assert [item.kept for item in impact.again] == ["it names no source, so its agent is not known"]
    assert impact.cost.entries == 0
    unread = measured(platform(BASE, *residents()), platform(WITH_F, *residents()), agents({}, None)).impact
    assert {item.kept for item in unread.again} == {f"the agent specification in {FOLDER} cannot be read"}


def test_a_sentence_is_no_longer_than_a_reader_can_bear() -> None:
    after = grown(BASE, "1.0.1", capability("a", "x" * 100_000), capabilities=(
        capability("a", "x" * 100_000), *BASE.capabilities[1:]))  # fmt: skip
    (change,) = measured(platform(BASE), platform(after), agents({})).impact.changes
    assert len(change.sentence) == 4000
    assert change.sentence.endswith("x…")


# Cost: never less than what a model is sent

SEVERAL = replace(
    UNDECLARED,
    auth=tuple(AuthDeclaration(mode=mode, declared_in="agent.yaml") for mode in ("oauth", "none")),
    tools=tuple(
        Tool(
            name=f"tool-{mode}", description=mode, protocol="rest", effect="read", effect_from="it", confirmation=None,
            card=None, auth=mode, declared_in="agent.yaml",
        )
        for mode in ("oauth", "none")
    ),
)  # fmt: skip
"""An agent that declares so much that the tool decides."""

AUTH = Group(id="auth", name="Auth", constraint="exactly-one")
ONE = Taxonomy(
    version="1.0.0",
    groups=(Group(id="all", name="All"), Group(id="one", name="One", constraint="exactly-one"), AUTH),
    capabilities=(
        capability("a"),
        capability("b", group="one"),
        capability("c", group="one"),
        spec("d", "contains(auth_modes, 'oauth')", exemplars=EXEMPLARS, group="auth"),
        spec("e", "contains(auth_modes, 'none')", group="auth"),
    ),
)


def with_capability(taxonomy: Taxonomy, version: str, changed: Capability) -> Taxonomy:
    capabilities = tuple(changed if item.id == changed.id else item for item in taxonomy.capabilities)
    return Taxonomy(version=version, retired=taxonomy.retired, groups=taxonomy.groups, capabilities=capabilities)


CALLING = grown(ONE, "1.0.0", of_tools("w", "effect == 'write'", "all"), counted("n", "user_turns > `1`", "all"))

CHANGES: dict[str, tuple[Taxonomy, Taxonomy, int | None]] = {
    "a new capability": (ONE, grown(ONE, "1.1.0", capability("f")), None),
    "a split": (BASE, SPLIT, None),
    "a rename": (BASE, RENAMED, 0),
    "a removal": (BASE, grown(BASE, "2.0.0", without=["a"]), 0),
    "a removal from a group of which one is exercised": (ONE, grown(ONE, "2.0.0", without=["b"]), None),
    "a new member of such a group": (ONE, grown(ONE, "2.0.0", capability("f", group="one")), None),
    "a name": (ONE, with_capability(ONE, "1.0.1", ONE.by_id["a"].model_copy(update={"name": "Other"})), 0),
    "a rule of what is never inferred": (
        ONE,
        with_capability(ONE, "2.0.0", spec("e", "contains(auth_modes, 'sso')", group="auth")),
        None,
    ),
    "a rule of what has exemplars": (
        ONE,
        with_capability(ONE, "2.0.0", spec("d", "contains(auth_modes, 'sso')", exemplars=EXEMPLARS, group="auth")),
        None,
    ),
    "a rule over a tool": (
        CALLING,
        with_capability(CALLING, "2.0.0", of_tools("w", "effect != 'read'", "all")),
        None,
    ),
    "a new capability of tools": (ONE, grown(ONE, "1.1.0", of_tools("w", "effect == 'write'", "all")), None),
    "a rule over the structure of queries": (
        CALLING,
        with_capability(CALLING, "2.0.0", counted("n", "user_turns > `2`", "all")),
        None,
    ),
    "no such group any more": (
        ONE,
        grown(ONE, "2.0.0", groups=(Group(id="all", name="All"), Group(id="one", name="One"), AUTH)),
        None,
    ),
}


@pytest.mark.parametrize("declared", [UNDECLARED, SEVERAL], ids=["nothing declared", "several modes declared"])
@pytest.mark.parametrize("name", CHANGES)
def test_cost_is_no_less_than_what_a_model_is_sent(name: str, declared: Specification) -> None:
    old, new, exactly = CHANGES[name]
    known = [member("r1", {"a": 0.9, "b": 0.6}, old), member("r2", {"c": 0.8}, old)]
    waits = member("w1", {"b": 0.8}, old)
    brought = agents({"q1": text_of("x", {"a": 0.5}), "q2": text_of("y", {"b": 0.5})}, declared)
    found = measured(paid(old, *known, waiting=[waits]), paid(new, *known, waiting=[waits]), brought)
    requests = found.impact.cost.requests
    assert requests is not None
    again = [item for item in found.second.asked if not item.query_id.startswith("acme/")]
    assert len(again) * 5 <= requests
    if exactly is None:
        assert found.sent() <= requests
    else:
        # A backend that remembers what it said of the queries is asked nothing about them.
        assert requests == exactly
        assert again == []


@pytest.mark.parametrize(
    ("changed", "queries"),
    [
        ({"budget": {"requests": 9, "tokens": 9}}, 0),
        ({"timeout_seconds": 1.0}, 0),
        ({"temperature": 0.5}, 1),
        ({"model": "m2"}, 1),
        ({"endpoint": "https://other.example/v1"}, 1),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_settings_that_answers_depend_on_have_queries_asked_again(changed: dict[str, Any], queries: int) -> None:
    found = measured(paid(BASE), paid(BASE, **changed), agents({"q1": "x"}))
    assert found.impact.cost.queries == queries
    assert found.impact.cost.requests == 5 * queries


def test_another_backend_is_asked_about_everything_also_where_the_set_is_empty() -> None:
    identity = Identity(backend="openai", model="m1", prompt="p9", samples=5)
    found = measured(platform(BASE), paid(BASE), agents({"q1": "x"}), identity=identity)
    assert (found.impact.cost.entries, found.impact.cost.queries, found.impact.cost.requests) == (0, 1, 5)
    found = measured(platform(BASE, *residents()), paid(BASE, *residents()), agents({"q1": "x"}), identity=identity)
    cost = found.impact.cost
    assert (cost.entries, cost.queries, cost.pairs, cost.requests) == (2, 1, 10, 15)
    assert found.sent() <= 15


NAMES = st.sampled_from("abcde")


@settings(max_examples=settings().max_examples * 3 // 5)
@given(
    drop=st.sets(NAMES, max_size=2),
    add=st.booleans(),
    split=st.booleans(),
    exclusive=st.booleans(),
    scores=st.lists(st.dictionaries(NAMES, st.sampled_from([0.5, 0.9]), min_size=1, max_size=3), max_size=4),
)
def test_cost_bounds_what_is_asked_of_entries_whatever_changes(
    drop: set[str], add: bool, split: bool, exclusive: bool, scores: list[dict[str, float]]
) -> None:
    groups = (Group(id="all", name="All", constraint="exactly-one" if exclusive else "any"),)
    added = [capability("f")] if add else []
    if split and drop:
        added += [capability(f"{part}z", min(drop), split=min(drop)) for part in "xy"]
    after = grown(BASE, "1.0.0", *added, without=sorted(drop), groups=groups)
    known = [member(f"r{place}", item, BASE) for place, item in enumerate(scores)]
    found = measured(paid(BASE, *known), paid(after, *known), agents({"q1": text_of("x", {"a": 0.9})}))
    impact: Impact = found.impact
    assert impact.cost.requests is not None
    assert impact.cost.requests <= 5 * (len(known) + 1)
    entries = [item for item in found.second.asked if not item.query_id.startswith("acme/")]
    assert len(entries) * 5 <= impact.cost.requests
    assert {item.query_id for item in entries} <= {item.entry for item in impact.again}
    assert Impact.model_validate_json(impact.model_dump_json()) == impact


# Agents


def test_agents_that_cannot_be_read_are_left_out() -> None:
    repository = Repository()
    files = {
        **platform_files([], "x"),
        **agent_files(("acme", "desk"), {"q1": "Hello there"}),
        "eval_sets/acme/broken/agent.yaml": "[",
        "eval_sets/acme/broken/evals.yaml": "[",
    }
    snapshot = repository.snapshot(repository.commit(files, (), "2026-01-01T00:00:00Z"))
    found = read_agents(snapshot, snapshot.within, platform(BASE))
    assert [package.submission.folder for package in found.packages] == ["eval_sets/acme/desk"]
    assert [query.id for query in found.packages[0].submission.queries] == ["acme/desk/q1"]
    assert found.specification("eval_sets/acme/desk") is not None
    assert found.specification("eval_sets/acme/broken") is None


class Measuring(Counting):
    """One that has measured exemplars which it had not seen, by the bar of each capability."""

    def held_out(self, bar: Bar) -> dict[str, HeldOutExemplars]:
        return {"a": HeldOutExemplars(by="hand", found=round(100 * bar("a")), false=0, missed=0)}


def test_what_is_expected_is_asked_at_the_bars_of_the_config() -> None:
    config = make_config(competence_bar=0.5, per_capability={"a": {"competence_bar": 0.75}})
    (found,) = (held_out_of(Measuring(BASE), config)() or {}).values()
    assert found.found == 75
    assert held_out_of(Counting(BASE), config)() is None


class Unready(Counting):
    """One whose model is missing: it can neither judge nor measure."""

    def held_out(self, bar: Bar) -> dict[str, HeldOutExemplars]:
        raise UnreadyError("model", "no model is recorded", "Fit it")


@pytest.mark.parametrize("most", [0, None])
def test_a_classifier_that_is_not_ready_measures_nothing_and_says_why(most: int | None) -> None:
    before, after = platform(BASE), platform(grown(BASE, "1.1.0", capability("f", exemplars=EXEMPLARS)))
    change = PlatformChange(before=before, after=after, previous=lambda version: (BASE,), document=DOCUMENT)
    first = Counting(BASE)
    second = Unready(after.taxonomy, most=most, error=None if most is None else IncompleteError("it stopped"))
    brought = agents({"q1": text_of("sonnet", {"f": 0.9})})
    impact, _ = measure(change, brought, (first, second), None, second.identity, lambda done, total: None)
    why = "no model is recorded. Fit it" if most is None else "it stopped"
    assert impact.unmeasured == f"not all of it could be classified: {why}"
    assert [(item.capability, item.expected) for item in impact.appraisals] == [("f", None)]
