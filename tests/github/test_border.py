"""What a job that writes believes of a document: what no honest first job says is refused, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest

from incumbent.classifier.backends import unasked_backend
from incumbent.classifier.caching_backend import FindingsInMemory, HaltedBackend, RememberingBackend
from incumbent.classifier.language_model.abilities import BEST, KeptAbilities, key_of_endpoint
from incumbent.classifier.model import Backend, Classification, Findings, Judgement, Path, StatedCalls
from incumbent.curator.file_changes import admit
from incumbent.errors import IncompleteError, Problem
from incumbent.files.git import ChangedFile, blob_id
from incumbent.files.snapshot import EmptySnapshot, Overlay, Snapshot
from incumbent.github.border import (
    NOT_READ,
    ForeignFactsError,
    checked,
    config_keeps,
    configured,
    followed,
    impossible,
    key_by,
)
from incumbent.github.facts import Analysis, MigrationFacts
from incumbent.github.governing import CONFIG
from incumbent.github.head_changes import HeadFacts
from incumbent.intake.expectation import ExpectedTools
from incumbent.intake.query import Query
from incumbent.pipeline.review import Platform
from incumbent.taxonomy.model import Taxonomy
from tests.factories import make_config, make_entry, make_taxonomy
from tests.github.scenes import CAPABILITIES, HEAD, IDENTITY, make_analysis, make_platform, make_query
from tests.reconcile.merges import entry_of

EVALS = "eval_sets/acme/desk/evals.yaml"
MODEL_SETTINGS = {"model": "m", "endpoint": "https://model.example", "key_variable": "KEY"}
STOPPED = IncompleteError("this job asks nothing")
BACKEND = HaltedBackend(IDENTITY, None, STOPPED)
MODEL = RememberingBackend(BACKEND, make_taxonomy(*CAPABILITIES), FindingsInMemory({}))
AT = "2026-11-29T00:00:00Z"


def modified(path: str) -> ChangedFile:
    return ChangedFile(path, "modified", None, "a" * 40, "b" * 40)


def head_of(*paths: str, present: tuple[str, ...] = (EVALS,)) -> HeadFacts:
    changes = tuple(map(modified, paths or (EVALS,)))
    return HeadFacts(base="9" * 40, head=HEAD, at=AT, changes=changes, paths=frozenset(present))


def check(
    analysis: Analysis,
    head: HeadFacts | None = None,
    *,
    platform: Platform | None = None,
    backend: Backend = BACKEND,
    reviewed: Snapshot | None = None,
    held: bool = False,
) -> Analysis:
    platform = make_platform() if platform is None else platform
    return checked(analysis, platform, backend, head or head_of(), reviewed or EmptySnapshot(), held)


def about(**changes: Any) -> Analysis:
    """The facts in which the submission says something else of itself."""
    facts = make_analysis()
    (submission,) = facts.judged.submissions
    new = submission.model_copy(update={"about": replace(submission.about, **changes)})
    return facts.model_copy(update={"judged": replace(facts.judged, submissions=(new,))})


def test_what_can_be_known_is_derived_again() -> None:
    item = make_query("q1", {"d": 0.9}).model_copy(update={"key": "0" * 24, "waits": True})
    found = check(
        make_analysis((item,), departing={"ra1": "customer-left"}, at="9999-01-01T00:00:00Z", touches=("config",))
    )
    judged = found.judged
    assert (found.at, found.touches, judged.base, judged.departing) == (AT, ("eval_sets",), "9" * 40, {})
    (query,) = judged.submissions[0].queries
    assert query.key == key_by(item, "s", make_platform().taxonomy, BACKEND)
    assert (query.classification, query.waits, query.shortfall) == (item.classification, False, None)


def test_what_is_decided_needs_no_word_of_a_classifier_and_the_rest_has_one_or_none() -> None:
    known, other = make_query("q1", {"d": 0.9}), make_query("q2", None)
    entry = entry_of(known)
    platform = make_platform()
    entries = {**platform.regression_set.entries, entry.id: entry}
    platform = replace(platform, regression_set=replace(platform.regression_set, entries=entries))
    decided, unread = check(make_analysis((known, other)), platform=platform).judged.submissions[0].queries
    assert (decided.key, decided.classification) == (None, None)
    assert (unread.classification, unread.shortfall) == (None, NOT_READ)


@pytest.mark.parametrize(
    ("analysis", "head", "why"),
    [
        (make_analysis(identity=replace(IDENTITY, model="m2")), None, "by another classifier"),
        (make_analysis((), held=True), None, "holds back a contribution"),
        (about(folder="eval_sets/umbra/desk"), None, "none of an agent's"),
        (about(), head_of(present=("config/curation.yaml",)), "none of an agent's"),
        (about(), head_of("eval_sets/acme/shop/evals.yaml", present=(EVALS,)), "does not change"),
        (about(prefix="acme/desk/"), None, "names queries as no run does"),
        (about(moved_from=("acme", "desk")), None, "from a folder that did not go"),
        (about(moved_from=("umbra", "desk")), None, "from a folder that did not go"),
        (about(), head_of(present=("eval_sets/acme/desk/agent.yaml",)), "files that the head does not have"),
        (make_analysis(()), None, "says nothing of a folder"),
        (make_analysis(), head_of(EVALS, "taxonomy/taxonomy.yaml"), "nothing of a change of taxonomy or config"),
        (make_analysis(follows=MigrationFacts(renames={"zz": "y"}, splits={}, definitions={})), None, "does not have"),
        (
            make_analysis(follows=MigrationFacts(renames={"a": "y", "b": "y"}, splits={}, definitions={})),
            None,
            "its migration cannot be",
        ),
        (
            make_analysis(follows=MigrationFacts(renames={"a": "z"}, splits={}, definitions={})),
            None,
            "the taxonomy does not change",
        ),
        (
            make_analysis(follows=MigrationFacts(renames={"a": "b", "b": "a"}, splits={}, definitions={})),
            head_of(EVALS, "taxonomy/taxonomy.yaml"),
            "the ids of others",
        ),
        (
            make_analysis(follows=MigrationFacts(renames={}, splits={"a": ("z", "b")}, definitions={})),
            head_of(EVALS, "taxonomy/taxonomy.yaml"),
            "the ids of others",
        ),
        (
            make_analysis(
                (make_query("q1", {"d": 0.9}).model_copy(update={"classification": Classification(judgements={})}),)
            ),
            None,
            "other capabilities than the taxonomy",
        ),
    ],
)
def test_what_no_honest_first_job_says_is_refused(analysis: Analysis, head: HeadFacts | None, why: str) -> None:
    with pytest.raises(ForeignFactsError, match=why):
        check(analysis, head)


def test_an_agent_may_have_moved_from_a_folder_that_went() -> None:
    found = check(about(moved_from=("acme", "old")), head_of(EVALS, "eval_sets/acme/old/evals.yaml"))
    assert found.judged.submissions[0].about.moved_from == ("acme", "old")


def test_all_contradictions_are_named_at_once() -> None:
    analysis = about(prefix="x/", moved_from=("umbra", "desk"))
    with pytest.raises(ForeignFactsError, match=r"as no run does; it moves an agent"):
        check(analysis)


def test_capabilities_that_an_agent_rules_out_are_of_the_taxonomy() -> None:
    facts = make_analysis()
    (submission,) = facts.judged.submissions
    for names, refused in ((("a",), False), (("zz",), True)):
        new = submission.model_copy(update={"ruled_out": names})
        analysis = facts.model_copy(update={"judged": replace(facts.judged, submissions=(new,))})
        if refused:
            with pytest.raises(ForeignFactsError, match="other capabilities"):
                check(analysis)
        else:
            assert check(analysis).judged.submissions[0].ruled_out == names


def test_a_fault_accounts_for_a_folder_and_for_a_change_of_the_taxonomy() -> None:
    fault = Problem(EVALS, 3, "a fault", "a fix")
    head = head_of(EVALS, "taxonomy/taxonomy.yaml")
    assert check(make_analysis((), problems=[fault]), head).judged.problems == (fault,)
    with pytest.raises(ForeignFactsError, match="nothing of a folder"):
        check(make_analysis((), problems=[replace(fault, file="eval_sets/acme/desktop/evals.yaml")]), head)


def test_what_is_held_back_shows_nothing_of_it() -> None:
    found = check(make_analysis(), held=True)
    assert (found.held, found.judged.submissions, found.touches) == (True, (), ("eval_sets",))


def test_what_the_set_follows_a_migration_to_is_no_change_by_hand() -> None:
    entry = make_entry("e1", {"a": 0.9})
    file = admit(entry)
    platform = make_platform()
    platform = replace(platform, regression_set=replace(platform.regression_set, entries={"e1": entry}))
    reviewed = Overlay(EmptySnapshot(), {file.path: file.content})
    claimed = MigrationFacts(renames={"a": "z"}, splits={}, definitions={})
    after = followed(claimed, platform, reviewed)
    assert list(after) == [file.path]
    assert after[file.path] != blob_id(file.content or "")
    assert followed(None, platform, reviewed) == {}
    for blob, by_hand in ((after[file.path], False), ("c" * 40, True), (None, True)):
        kind: Any = "deleted" if blob is None else "modified"
        change = ChangedFile(file.path, kind, None, "a" * 40, blob)
        changes = (modified(EVALS), modified("taxonomy/taxonomy.yaml"), change)
        head = replace(head_of(), changes=changes, paths=frozenset({EVALS, file.path}))
        fault = Problem("taxonomy/taxonomy.yaml", 1, "a fault", "a fix")
        found = check(make_analysis(follows=claimed, problems=[fault]), head, platform=platform, reviewed=reviewed)
        assert bool(found.judged.set_changes) is by_hand


def test_the_abilities_of_another_endpoint_and_answers_without_a_model_are_left_out() -> None:
    classifier = {"backend": "openai", "samples": 5, "openai": MODEL_SETTINGS}
    config = make_config(curators=["cora"], classifier=classifier)
    kept = KeptAbilities(abilities=BEST, found=1)
    assert config.classifier.openai is not None
    own = key_of_endpoint(config.classifier.openai, 5)
    analysis = make_analysis(
        abilities={own: kept, "f" * 24: kept}, remembered={"e" * 24: Classification(judgements={})}
    )
    plain = check(analysis)
    assert (plain.work.abilities, plain.remembered) == ({}, {})
    asked = check(analysis, platform=replace(make_platform(), config=config), backend=MODEL)
    assert asked.work.abilities == {own: kept}
    assert asked.remembered == analysis.remembered


@pytest.mark.parametrize(
    ("said", "blob", "kind", "keeps"),
    [
        ("ceiling: 200\n", None, "modified", True),
        ("ceiling: 200\n", "f" * 40, "modified", False),
        (None, None, "modified", False),
        ("ceiling: 200\n", None, "added", False),
        ("curators: [mallory]\n", None, "modified", False),
    ],
)
def test_the_text_of_a_config_counts_where_it_is_the_heads(
    said: str | None, blob: str | None, kind: Any, keeps: bool
) -> None:
    change = ChangedFile(CONFIG, kind, None, "a" * 40, blob or blob_id(said or ""))
    head = replace(head_of(), changes=(modified(EVALS), change))
    reviewed = Overlay(EmptySnapshot(), {CONFIG: "ceiling: 150\n"})
    assert config_keeps(make_analysis(config=said), head, reviewed) is keeps


# What a classifier may say


def capability(id: str, source: str, group: str = "g", **more: Any) -> dict[str, Any]:
    return {"id": id, "group": group, "name": id, "description": "d", "source": source} | more


TAXONOMY = Taxonomy.model_validate(
    {
        "version": "1.0.0",
        "groups": [{"id": "g", "name": "G"}, {"id": "one", "name": "One", "constraint": "exactly-one"}],
        "capabilities": [
            capability("intent", "intent", exemplars={"positive": ["x"]}),
            capability("spec", "spec", when="card"),
            capability("needs", "spec", when="card", requires="intent"),
            capability("turns", "structure", when="user_turns > `1`"),
            capability("tool", "tool", when="effect == 'write'"),
            capability("left", "intent", "one", exemplars={"positive": ["x"]}),
            capability("right", "intent", "one", exemplars={"positive": ["y"]}),
        ],
    },
    strict=False,
)
HONEST: Mapping[str, Judgement] = {
    "intent": Judgement(True, 0.7, "inference"),
    "spec": Judgement(True, 1.0, "specification"),
    "needs": Judgement(True, 0.7, "specification"),
    "turns": Judgement(False, 1.0, "structure"),
    "tool": Judgement(False, 0.2, "tool"),
    "left": Judgement(True, 0.6, "inference"),
    "right": Judgement(False, 0.4, "arbitration"),
}
DECLARED = {"spec": True, "needs": True}
QUERY = Query(id="q1", turns=("one turn",), file=EVALS, line=1)
CALL = ExpectedTools(steps=(("get",),), different=1)


def faults(
    said: Mapping[str, Judgement] = MappingProxyType({}),
    declared: Mapping[str, bool | None] | None = None,
    expected: ExpectedTools | None = None,
    backend: Backend = BACKEND,
    **marks: Any,
) -> list[str]:
    found = Classification(judgements={**HONEST, **said}, **marks)
    return list(impossible(QUERY, expected, found, TAXONOMY, backend, declared))


def test_what_an_honest_classifier_says_is_possible() -> None:
    assert faults() == faults(declared=DECLARED) == []
    assert faults(arbitrated=frozenset({"left"}), off_taxonomy=("one",)) == []
    assert faults(backend=MODEL, findings={"a" * 24: Findings()}) == []
    assert faults({"tool": Judgement(False, 1.0, "expected")}, expected=ExpectedTools()) == []
    stated = StatedCalls(different=1, capabilities=frozenset({"tool"}))
    assert faults({"tool": Judgement(True, 1.0, "expected")}, expected=CALL, stated=stated) == []
    unmet = Judgement(False, 0.3, "specification")
    assert faults({"needs": unmet}, DECLARED) == []


@pytest.mark.parametrize(
    ("id", "value", "confidence", "path"),
    [
        ("intent", True, 1.0, "structure"),
        ("intent", True, 1.0, "corrected"),
        ("intent", True, 1.0, "specification"),
        ("intent", True, 1.0, "expected"),
        ("intent", True, 1.0, "arbitration"),
        ("intent", True, 0.0, "undeclared"),
        ("spec", True, 0.9, "specification"),
        ("spec", True, 1.0, "tool"),
        ("turns", True, 1.0, "structure"),
        ("turns", True, 0.9, "inference"),
        ("turns", False, 1.0, "specification"),
        ("tool", True, 1.0, "expected"),
        ("tool", True, 1.0, "structure"),
    ],
)
def test_what_no_rule_and_no_classifier_says_is_impossible(id: str, value: bool, confidence: float, path: Path) -> None:
    assert faults({id: Judgement(value, confidence, path)}) == [f"it says of {id} what no rule and no classifier says"]


@pytest.mark.parametrize(
    ("expected", "resting"),
    [(CALL, None), (CALL, {"spec"}), (CALL, {"tool", "zz"}), (ExpectedTools(), {"tool"})],
)
def test_what_rests_on_expected_calls_follows_from_them(expected: ExpectedTools, resting: set[str] | None) -> None:
    stated = None if resting is None else StatedCalls(different=1, capabilities=frozenset(resting))
    (why,) = faults({"tool": Judgement(True, 1.0, "expected")}, expected=expected, stated=stated)
    assert why == "it says otherwise which values rest on expected calls"


@pytest.mark.parametrize(
    ("declared", "id", "judgement"),
    [
        ({"spec": False, "needs": True}, "spec", HONEST["spec"]),
        ({"spec": None, "needs": True}, "spec", HONEST["spec"]),
        (DECLARED, "spec", Judgement(True, 0.9, "inference")),
        ({**DECLARED, "intent": False}, "intent", HONEST["intent"]),
    ],
)
def test_where_the_agent_is_known_its_rules_are_counted_again(
    declared: Mapping[str, bool | None], id: str, judgement: Judgement
) -> None:
    assert faults({id: judgement}, declared) == [f"it says of {id} what no rule and no classifier says"]


@pytest.mark.parametrize(
    ("marks", "why"),
    [
        ({"arbitrated": frozenset({"zz"})}, "other groups"),
        ({"off_taxonomy": ("free text",)}, "other groups"),
        ({"findings": {"a" * 24: Findings()}}, "answers of a language model"),
    ],
)
def test_marks_are_of_the_taxonomy_and_the_config(marks: dict[str, Any], why: str) -> None:
    (fault,) = faults(**marks)
    assert why in fault


def test_the_configured_classifier_has_the_identity_of_the_one_that_is_asked() -> None:
    platform = make_platform()
    assert (
        configured(platform).identity
        == unasked_backend(platform.config.classifier, platform.taxonomy, STOPPED).identity
    )
    classifier = {"backend": "openai", "samples": 3, "openai": MODEL_SETTINGS}
    named = replace(platform, config=make_config(classifier=classifier))
    found = configured(named)
    assert isinstance(found, RememberingBackend)
    assert (found.identity.backend, found.identity.model, found.identity.samples) == ("openai", "m", 3)
