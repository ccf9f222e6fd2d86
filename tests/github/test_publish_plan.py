"""Reviews of a pull request as stories: what people see after each push and each comment."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Literal

import pytest
from pydantic import TypeAdapter, ValidationError

from incumbent.classifier.language_model.abilities import BEST, KeptAbilities
from incumbent.classifier.model import Classification, Path
from incumbent.curator.entry import Source
from incumbent.curator.store import RegressionSet
from incumbent.errors import Problem
from incumbent.files.git import ChangedFile
from incumbent.files.validation import Checked
from incumbent.github.authority import UNKNOWN_PERMISSION
from incumbent.github.facts import Analysis, ChangedEntryFile, StoppedFacts
from incumbent.github.models import CommentKind, CreateComment, EditComment, PostCheck, React, WriteLedger
from incumbent.github.publish_plan import PublishPlan, find_sticky, plan_retraction
from incumbent.ledger.classifications import is_shard
from incumbent.ledger.model import MOST_ENDPOINTS, AbilityRecord, record_path
from incumbent.text.digests import digest
from tests.factories import make_entry
from tests.github.scenes import BOT, HEAD, PAIR, QUERIES, Hub, make_analysis, make_platform, make_query, reworded

NEEDS = "incumbent: needs a curator"
ADMITS = "incumbent: admits"
AT_FAULT = "incumbent: input at fault"
OTHER = make_query("q02", PAIR, text="quite another text")


def reactions(plan: PublishPlan) -> list[str]:
    return [item.reaction for item in plan.operations if isinstance(item, React)]


def accepted(plan: PublishPlan) -> list[str]:
    assert plan.judgement.review is not None
    return [answer.id for answer in plan.judgement.review.derivation.accepted]


def test_a_first_review_comments_checks_labels_and_remembers() -> None:
    hub = Hub()
    plan = hub.review()
    (comment,) = hub.ours
    assert comment.startswith("<!-- incumbent:verdicts ")
    assert "1 of 4 deserves a slot; 1 needs you" in comment
    assert "`111111111111`" in comment
    assert hub.check is not None
    assert (hub.check.conclusion, hub.check.title) == ("success", "1 of 4 deserves a slot; 1 needs you")
    assert hub.labels == {NEEDS, ADMITS}
    assert plan.result.exit_code == 0
    record = hub.record
    assert record is not None
    assert len(record.classifications) == 4
    assert all("asks for something" not in text for text in hub.ledger.values())


def as_before(hub: Hub) -> None:
    """The ledger in its former form, with the classifications inside of the record."""
    record = hub.record
    assert record is not None
    inside = TypeAdapter(dict[str, Checked[Classification]]).dump_python(record.classifications, mode="json")
    former = {**json.loads(hub.ledger[record_path(7)]), "format": 1, "classifications": inside}
    hub.ledger = {path: text for path, text in hub.ledger.items() if not is_shard(path)}
    hub.ledger[record_path(7)] = json.dumps(former)


def test_a_record_of_the_former_form_is_read_and_replaced() -> None:
    hub = Hub()
    hub.review()
    hub.say("cora", "/incumbent accept q02")
    hub.review()
    present, record = dict(hub.ledger), hub.record
    as_before(hub)
    assert hub.record == record
    # What is not read keeps what was known of it.
    hub.review(make_analysis((), head="2" * 40, problems=[PROBLEM]))
    assert hub.record is not None
    assert record is not None
    assert hub.record.classifications == record.classifications
    hub.review()
    assert "Accepted by `cora`" in hub.ours[0]
    assert {path: text for path, text in hub.ledger.items() if is_shard(path)} == {
        path: text for path, text in present.items() if is_shard(path)
    }
    assert "format" not in json.loads(hub.ledger[record_path(7)])
    assert "classifications" not in hub.ledger[record_path(7)]


def test_a_second_run_writes_nothing() -> None:
    hub = Hub()
    hub.review()
    assert hub.plan(make_analysis()).operations == ()


def test_what_was_found_out_of_an_endpoint_is_kept_and_forgotten() -> None:
    hub, key, other = Hub(), "a" * 24, "b" * 24
    kept = KeptAbilities(abilities=BEST, found=1_800_000_000)
    hub.review(make_analysis(abilities={key: kept}))
    assert hub.abilities == AbilityRecord(endpoints={key: kept})
    commits = hub.commits
    hub.review(make_analysis())
    assert (hub.abilities, hub.commits) == (AbilityRecord(endpoints={key: kept}), commits)
    hub.review(make_analysis(abilities={key: None, other: kept}))
    assert hub.abilities == AbilityRecord(endpoints={other: kept})


def test_of_many_endpoints_those_that_were_looked_at_last_are_kept() -> None:
    found = {f"{number:024x}": KeptAbilities(abilities=BEST, found=number) for number in range(MOST_ENDPOINTS)}
    latest = {"f" * 24: KeptAbilities(abilities=BEST, found=99)}
    assert AbilityRecord(endpoints=found).after(latest).endpoints == dict(list(found.items())[1:]) | latest
    assert len(AbilityRecord(endpoints=found).until(9).endpoints) == 10
    with pytest.raises(ValidationError, match="at most 20"):
        make_analysis(abilities={**found, **latest})


@pytest.mark.parametrize("less", [{"several": False}, {"format": "plain"}, {"length": None}, {"seed": False}])
def test_that_an_endpoint_can_do_less_than_all_is_neither_kept_nor_believed(less: dict[str, object]) -> None:
    little = {"a" * 24: KeptAbilities(abilities=BEST.model_copy(update=less), found=9)}
    assert AbilityRecord(endpoints=little).until(9) == AbilityRecord().after(little) == AbilityRecord()
    other = BEST.model_copy(update={"length": "max_completion_tokens"})
    best = AbilityRecord(endpoints={"a" * 24: KeptAbilities(abilities=other, found=9)})
    assert best.until(9) == best


def test_a_push_edits_the_comment_in_place() -> None:
    hub = Hub()
    hub.review()
    plan = hub.review(make_analysis((*QUERIES[:3], make_query("q05", {"e": 0.9})), head="2" * 40))
    assert len(hub.ours) == 1
    assert "`222222222222`" in hub.ours[0]
    assert not any(isinstance(item, CreateComment) for item in plan.operations)


def test_annotations_are_on_the_lines_of_the_eval_set_that_need_somebody_and_on_no_others() -> None:
    hub = Hub()
    hub.review()
    assert hub.check is not None
    found = [(item.line, item.level, item.title) for item in hub.check.annotations]
    assert found == [(4, "warning", "q02: Admit?")]
    assert {item.path for item in hub.check.annotations} == {"eval_sets/acme/desk/evals.yaml"}


@pytest.mark.parametrize("operation", [WriteLedger, CreateComment, PostCheck])
def test_a_run_that_dies_is_mended_by_the_next(operation: type) -> None:
    whole, broken = Hub(), Hub()
    whole.review()
    broken.review(until=lambda item: isinstance(item, operation))
    broken.review()
    assert (broken.ours, broken.labels, broken.ledger) == (whole.ours, whole.labels, whole.ledger)
    assert broken.plan(make_analysis()).operations == ()


def test_a_comment_that_a_race_doubled_is_single_again_and_the_oldest_stays() -> None:
    hub = Hub()
    hub.review()
    hub.say(BOT, hub.ours[0], is_bot=True)
    first = next(item.id for item in hub.comments if item.author == BOT)
    hub.review()
    assert [item.id for item in hub.comments] == [first]


def test_a_strangers_comment_with_our_marker_is_not_ours() -> None:
    hub = Hub()
    hub.say("mallory", "<!-- incumbent:verdicts 000000000000000000000000 -->\nAll is well")
    hub.review()
    assert len(hub.comments) == 2
    assert hub.comments[0].author == "mallory"


# What the merge would cost


def leaving(**departing: str) -> Analysis:
    return make_analysis((), departing=departing)


def test_what_leaves_the_eval_sets_is_said_with_what_it_costs() -> None:
    hub = Hub()
    hub.review(leaving(ra1="customer-left", rb1="source-deleted", unknown="customer-left"))
    (comment,) = hub.ours
    assert "### 2 entries would lose their source; 2 capabilities would fall short" in comment
    assert "suggests to evict `ra1` (`customer-left`" in comment
    assert "suggests to evict `rb1` (`source-deleted`" in comment
    assert "| *A* | 2 → 1 | short of 2 |" in comment
    assert hub.check is not None
    assert (hub.check.conclusion, hub.labels) == ("success", set())
    assert hub.check.title == "2 entries would lose their source; 2 capabilities would fall short"
    assert hub.plan(leaving(ra1="customer-left", rb1="source-deleted")).operations == ()


def test_what_leaves_and_is_covered_all_the_same() -> None:
    hub = Hub(platform=make_platform(redundancy_floor=1))
    hub.review(leaving(ra1="source-deleted"))
    assert hub.check is not None
    assert hub.check.title == "1 entry would lose its source"
    assert "every capability that they cover keeps its floor" in hub.ours[0]


def test_what_leaves_and_is_pinned_or_no_entry() -> None:
    platform = make_platform()
    pinned = make_entry("kept", {"a": 0.9}, pin="an audit")
    known = RegressionSet({**platform.regression_set.entries, "kept": pinned}, {}, {})
    hub = Hub(platform=replace(platform, regression_set=known))
    hub.review(leaving(kept="customer-left"))
    assert "Pinned by a person, and so not suggested: `kept`" in hub.ours[0]
    assert "Without them" not in hub.ours[0]
    other = Hub()
    other.review(leaving(unknown="customer-left"))
    assert other.ours == []


def test_combinations_that_leave_are_counted() -> None:
    platform = make_platform()
    known = RegressionSet({**platform.regression_set.entries, "pair": make_entry("pair", {"a": 0.9, "b": 0.9})}, {}, {})
    hub = Hub(platform=replace(platform, regression_set=known))
    hub.review(leaving(pair="source-deleted"))
    assert "1 combination of capabilities would be carried by no entry." in hub.ours[0]


# Commands


def test_a_curator_accepts_and_the_rest_is_derived_again() -> None:
    hub = Hub()
    hub.review()
    hub.say("cora", "/incumbent accept q02 we sell this")
    plan = hub.review()
    assert reactions(plan) == ["+1"]
    assert "Accepted by `cora`: `we sell this`" in hub.ours[0]
    assert "2 of 4 deserve a slot" in hub.ours[0]
    assert hub.labels == {ADMITS}
    assert hub.record is not None
    (decision,) = hub.record.decisions
    assert (decision.action, decision.by, decision.codes) == ("accept", "cora", "INCLUDE review NOVEL_COMBO")
    assert hub.plan(make_analysis()).operations == ()


def test_a_curator_rejects_and_the_alternate_takes_its_place() -> None:
    hub = Hub()
    hub.review()
    hub.say("cora", "/incumbent reject q02 the other one is better")
    hub.review()
    assert "#### Rejected (1)" in hub.ours[0]
    needs = hub.ours[0].split("#### Needs you (1)")[1].split("####")[0]
    assert "`q03`" in needs


def test_accepting_takes_a_rejection_back_also_where_no_person_is_needed() -> None:
    hub = Hub()
    hub.review()
    hub.say("cora", "/incumbent reject q01 no")
    hub.review()
    hub.say("cora", "/incumbent accept q01 on second thought")
    plan = hub.review()
    assert reactions(plan) == ["+1"]
    assert "Rejected" not in hub.ours[0]
    assert hub.plan(make_analysis()).operations == ()


@pytest.mark.parametrize("times", [1, 2])
def test_a_reason_lets_an_excluded_query_in_after_a_rejection_as_well(times: int) -> None:
    hub = Hub()
    before = hub.review().judgement.shown[judged_entry(hub, "q04")]
    for _ in range(times):
        hub.say("cora", "/incumbent reject q04 too easy")
        hub.review()
    hub.say("cora", "/incumbent accept q04")
    assert reactions(hub.review()) == ["confused"]
    hub.say("cora", "/incumbent accept q04 it is needed after all")
    plan = hub.review()
    assert reactions(plan) == ["+1"]
    assert accepted(plan) == ["q04"]
    assert hub.record is not None
    (decision,) = hub.record.decisions
    # It answers the verdict that was read last: a rejected query has none.
    assert (decision.verdict, decision.codes) == (before.verdict, "EXCLUDE direct REDUNDANT")


def test_all_accepts_what_needs_a_person_each_after_the_one_before() -> None:
    hub = Hub()
    hub.review()
    hub.say("cora", "/incumbent accept all")
    plan = hub.review()
    assert reactions(plan) == ["+1"]
    assert accepted(plan) == ["q02"]


def test_a_reason_for_all_overrides_no_verdict() -> None:
    queries = (make_query("q1", {"a": 0.8, "b": 0.8}), make_query("q2", {"a": 0.8, "b": 0.8, "c": 0.8}))
    hub = Hub()
    hub.review(make_analysis(queries))
    assert hub.labels == {NEEDS}
    hub.say("cora", "/incumbent accept all we need them")
    plan = hub.review(make_analysis(queries))
    review = plan.judgement.review
    assert review is not None
    assert [answer.id for answer in review.derivation.accepted] == ["q2"]
    assert reactions(plan) == ["+1"]


def test_accepting_two_that_offer_the_same_accepts_the_first_and_says_why_not_the_second() -> None:
    hub = Hub()
    hub.review()
    hub.say("cora", "/incumbent accept q02 q03")
    plan = hub.review()
    assert reactions(plan) == ["confused"]
    assert "`q03`: its verdict is EXCLUDE by now" in hub.ours[1]
    assert accepted(plan) == ["q02"]


@pytest.mark.parametrize(
    ("author", "body", "answer"),
    [
        ("mallory", "/incumbent accept q02", "not among the curators"),
        ("mara", "/incumbent accept q02", "cannot accept their own"),
        ("cora", "/incumbent acept q02", "accept"),
        ("cora", "/incumbent accept q99", "q99"),
        ("cora", "/incumbent reject q02", "reason"),
        ("cora", "/incumbent accept q01", "admitted without a person"),
        ("cora", "/incumbent accept q04", "Give a reason"),
        ("cora", "/incumbent help", "what it does"),
    ],
)
def test_what_cannot_be_followed_is_answered(author: str, body: str, answer: str) -> None:
    hub = Hub()
    hub.review()
    before = hub.record
    hub.say(author, body)
    plan = hub.review()
    assert reactions(plan) == (["+1"] if "help" in body else ["confused"])
    assert answer in hub.ours[1]
    assert before is not None
    assert hub.record is not None
    assert hub.record.decisions == before.decisions == ()
    assert hub.plan(make_analysis()).operations == ()


@pytest.mark.parametrize(
    "body",
    [
        "> /incumbent accept q02",
        "```\n/incumbent accept q02\n```",
        "please /incumbent accept q02",
        "    /incumbent run",
    ],
)
def test_what_is_quoted_or_shown_is_not_said(body: str) -> None:
    hub = Hub()
    hub.review()
    hub.say("cora", body)
    plan = hub.review()
    assert reactions(plan) == []
    assert len(hub.ours) == 1


def test_bots_say_nothing() -> None:
    hub = Hub()
    hub.review()
    hub.say("helper[bot]", "/incumbent accept q02", is_bot=True)
    assert reactions(hub.review()) == []


def test_a_stranger_is_answered_once() -> None:
    hub = Hub()
    hub.review()
    for _ in range(3):
        hub.say("mallory", "/incumbent accept q02")
        hub.review()
    hub.say("mallory", "/incumbent accept q02\n/incumbent run")
    hub.say("mallory", "/incumbent run")
    hub.review()
    assert len(hub.ours) == 2


def test_without_curators_in_the_config_those_who_may_write_are() -> None:
    hub = Hub(platform=make_platform(curators=[]), permissions={"mara": "write", "wanda": "write", "rob": "read"})
    hub.review()
    hub.say("rob", "/incumbent accept q02")
    hub.say("wanda", "/incumbent accept q02")
    assert reactions(hub.review()) == ["confused", "+1"]


def test_a_command_binds_to_the_verdict_that_was_displayed_when_it_was_written() -> None:
    hub = Hub()
    hub.say("cora", "/incumbent accept q02")
    plan = hub.review()
    assert reactions(plan) == ["confused"]
    assert "was not displayed yet" in "".join(hub.ours)


def test_a_command_on_a_verdict_that_has_changed_since_is_refused() -> None:
    hub = Hub()
    hub.review()
    hub.say("cora", "/incumbent accept q02")
    changed = make_analysis(
        (QUERIES[0], make_query("q02", PAIR, text="quite another text"), *QUERIES[2:]), head="2" * 40
    )
    plan = hub.review(changed)
    assert reactions(plan) == ["confused"]
    assert "has changed since" in hub.ours[1]


def test_a_decision_is_void_once_its_query_changes_and_the_comment_says_so() -> None:
    hub = Hub()
    hub.review()
    hub.say("cora", "/incumbent accept q02")
    hub.review()
    changed = make_analysis(
        (QUERIES[0], make_query("q02", PAIR, text="quite another text"), *QUERIES[2:]), head="2" * 40
    )
    hub.review(changed)
    assert "The decision of `cora` (accept)" in hub.ours[0]
    assert "is void" in hub.ours[0]
    assert "Accepted by" not in hub.ours[0]
    assert hub.plan(changed).operations == ()
    hub.say("cora", "/incumbent reject q02 no, the other")
    hub.review(changed)
    assert "is void" not in hub.ours[0]
    hub.review(make_analysis(head="3" * 40))
    assert "Accepted by `cora`" in hub.ours[0]
    assert hub.plan(make_analysis(head="3" * 40)).operations == ()


def test_a_decision_in_the_ledger_that_nobody_wrote_counts_for_nothing() -> None:
    hub = Hub()
    hub.review()
    id = hub.say("cora", "/incumbent accept q02")
    hub.review()
    forged = hub.ledger["pull_requests/7.json"].replace(f'"comment": {id}', '"comment": 1')
    hub.ledger["pull_requests/7.json"] = forged
    hub.review()
    assert "Accepted by" not in hub.ours[0]


@pytest.mark.parametrize("change", ["gone", "/incumbent accept q03", "never mind", "> /incumbent accept q02"])
def test_a_decision_ends_with_the_comment_that_it_was_said_in(change: str) -> None:
    hub = Hub()
    hub.review()
    id = hub.say("cora", "/incumbent accept q02")
    hub.review()
    if change == "gone":
        hub.comments = [item for item in hub.comments if item.id != id]
    else:
        hub.apply(EditComment(id=id, body=change))
    hub.review()
    assert "Accepted by" not in hub.ours[0]
    assert "is void" in hub.ours[0]


def test_a_decision_of_somebody_who_may_not_decide_counts_for_nothing_wherever_it_stands() -> None:
    hub = Hub()
    hub.review()
    real = hub.say("cora", "/incumbent accept q02")
    hub.review()
    for author in ("mallory", "mara"):
        id = hub.say(author, "/incumbent accept q02")
        hub.review()
        text = hub.ledger["pull_requests/7.json"]
        forged = text.replace(f'"comment": {real}', f'"comment": {id}').replace('"by": "cora"', f'"by": "{author}"')
        hub.ledger["pull_requests/7.json"] = forged
        hub.review()
        assert "Accepted by" not in hub.ours[0]
        hub.ledger["pull_requests/7.json"] = text
        hub.review()
        assert "Accepted by `cora`" in hub.ours[0]


def test_a_push_that_breaks_the_eval_set_loses_no_decision_and_no_fact() -> None:
    hub = Hub()
    hub.review()
    hub.say("cora", "/incumbent accept q02")
    hub.review()
    hub.review(make_analysis((), head="2" * 40, problems=[PROBLEM]))
    assert "is void" not in hub.ours[0]
    assert hub.record is not None
    assert len(hub.record.classifications) == 4
    hub.review(make_analysis(head="3" * 40))
    assert "Accepted by `cora`" in hub.ours[0]


def test_another_agent_in_the_pull_request_voids_no_decision() -> None:
    hub = Hub()
    hub.review()
    hub.say("cora", "/incumbent accept q02")
    hub.review()
    (one,) = make_analysis().judged.submissions
    queries = tuple(reworded(item, id=f"acme/desk/{item.query.id}") for item in one.queries)
    first = one.model_copy(update={"about": replace(one.about, prefix="acme/desk/"), "queries": queries})
    other = tuple(reworded(item, id=f"acme/till/{item.query.id}") for item in (make_query("z1", {"e": 0.9}),))
    about = replace(one.about, agent="till", prefix="acme/till/")
    second = one.model_copy(update={"about": about, "queries": other})
    hub.review(make_analysis(head="2" * 40, submissions=(first, second)))
    assert "is void" not in hub.ours[0]
    assert "Accepted by `cora`" in hub.ours[0]


def renamed(*names: str, head: str) -> Analysis:
    """The pull request with a query more for each of ``names``."""
    more = (make_query(name, {"a": 0.7}, text=f"{name} is new here, and asks for something else") for name in names)
    return make_analysis((*QUERIES, *more), head=head)


@pytest.mark.parametrize(
    ("said", "newcomers", "kept"),
    [
        ("/incumbent reject q02 flaky", ("flaky",), "reject"),
        ("/incumbent accept q02 and keep it", ("and", "keep"), "accept"),
        ("/incumbent accept all we need it", ("we",), "accept"),
    ],
)
def test_a_new_query_does_not_change_what_was_said_before_it_came(
    said: str, newcomers: tuple[str, ...], kept: str
) -> None:
    hub = Hub()
    hub.review()
    hub.say("cora", said)
    hub.review()
    hub.review(renamed(*newcomers, head="2" * 40))
    assert "is void" not in hub.ours[0]
    assert hub.record is not None
    assert {item.action for item in hub.record.decisions} == {kept}


@pytest.mark.parametrize(
    "said", ["/incumbent reject q02 `q04` no", "/incumbent reject q02..q04: no", "/incumbent reject q02, q04"]
)
def test_a_query_that_is_taken_out_takes_no_other_decision_along(said: str) -> None:
    hub = Hub()
    hub.review()
    hub.say("cora", said if said.endswith("no") else f"{said} no\n\n{'x' * 1001}")
    hub.review()
    assert hub.record is not None
    assert {item.entry[-8:] for item in hub.record.decisions} >= {
        judged_entry(hub, name)[-8:] for name in ("q02", "q04")
    }
    shorter = make_analysis(QUERIES[:3], head="2" * 40)
    hub.review(shorter)
    assert "is void" not in hub.ours[0]
    hub.review(make_analysis((*QUERIES[:3], make_query("q05", {"a": 0.6})), head="3" * 40))
    hub.review(make_analysis(head="4" * 40))
    assert "is void" not in hub.ours[0]
    assert judged_entry(hub, "q04") in {item.entry for item in hub.record.decisions}


def judged_entry(hub: Hub, name: str) -> str:
    return hub.plan(make_analysis()).judgement.entries[name]


def test_a_decision_whose_words_nobody_said_counts_for_nothing() -> None:
    hub = Hub()
    hub.review()
    hub.say("cora", "/incumbent accept q04 for the audit\n/incumbent accept q02")
    hub.review()
    text = hub.ledger["pull_requests/7.json"]
    hub.ledger["pull_requests/7.json"] = text.replace("for the audit", "for fun")
    hub.review()
    assert hub.record is not None
    assert [item.reason for item in hub.record.decisions] == [None]
    assert "for fun" not in hub.ours[0]


def test_the_order_of_the_eval_set_is_nothing_that_a_decision_rests_on() -> None:
    hub = Hub()
    hub.review()
    hub.say("cora", "/incumbent reject q01..q03: not now")
    hub.review()
    hub.review(make_analysis(tuple(reversed(QUERIES)), head="2" * 40))
    assert "is void" not in hub.ours[0]
    assert hub.record is not None
    assert len(hub.record.decisions) == 3


@pytest.mark.parametrize("edit", ["{} ", "{}\n\nThanks!", "/incumbent run\n{}"])
def test_whoever_edits_a_comment_takes_its_decisions_back(edit: str) -> None:
    hub = Hub()
    hub.review()
    id = hub.say("cora", "/incumbent accept q02")
    hub.review()
    hub.apply(EditComment(id=id, body=edit.format("/incumbent accept q02")))
    hub.review()
    assert "is void: its comment was deleted or edited" in hub.ours[0]
    assert "Accepted by" not in hub.ours[0]


def test_what_has_no_verdict_cannot_be_accepted() -> None:
    unclassified = make_query("q05", None, text="nobody could classify this at first")
    hub = Hub()
    hub.review(make_analysis((*QUERIES, unclassified)))
    hub.say("cora", "/incumbent accept q05 it matters to the audit")
    hub.review(make_analysis((*QUERIES, unclassified)))
    found = make_query("q05", {"a": 0.7}, text="nobody could classify this at first")
    assert "it has no verdict yet" in hub.ours[1]
    plan = hub.review(make_analysis((*QUERIES, found)))
    assert plan.judgement.review is not None
    assert plan.judgement.review.derivation.accepted == ()


@pytest.mark.parametrize("code", [3, 4])
def test_a_classifier_that_stopped_fails_the_check_with_its_reason(code: Literal[3, 4]) -> None:
    unclassified = make_query("q05", None).model_copy(update={"shortfall": "it was not asked about: it is away"})
    stopped = StoppedFacts(message="the endpoint is away", exit_code=code)
    plan = Hub().review(make_analysis((*QUERIES, unclassified), stopped=stopped))
    assert plan.result.exit_code == code
    assert plan.result.conclusion == "failure"
    assert "The classifier stopped" in plan.result.title
    (comment,) = [item.body for item in plan.operations if isinstance(item, CreateComment)]
    assert "`the endpoint is away`" in comment, "it is the first job's word"
    assert "incumbent: incomplete" in plan.result.labels
    (ledger,) = [item for item in plan.operations if isinstance(item, WriteLedger)]
    assert ledger.files


def test_where_the_platform_has_to_act_the_check_says_so_first_and_a_curator_reads_what_to_do() -> None:
    unclassified = make_query("q09", None)
    stopped = StoppedFacts(message="`models.json` lacks it", exit_code=3, lacks="model")
    hub = Hub()
    plan = hub.review(make_analysis((*QUERIES, unclassified), stopped=stopped))
    assert plan.result.title.startswith("The platform has to act, not the customer: the classifier cannot judge; ")
    assert (plan.result.conclusion, plan.result.exit_code) == ("failure", 3)
    assert "**The platform has to act, not the customer**: `` `models.json` lacks it ``. The job `fit`" in hub.ours[0]


def test_a_query_that_argues_waits_for_a_person_and_is_named() -> None:
    first, *others = QUERIES
    assert first.classification is not None
    arguing = first.model_copy(update={"classification": replace(first.classification, attempt=True)})
    hub = Hub()
    hub.review(make_analysis((arguing, *others)))
    assert "ATTEMPT" in hub.ours[0]
    assert "argues with the classifier" in hub.ours[0]


def test_what_was_said_while_nothing_was_displayed_counts_for_nothing() -> None:
    hub = Hub()
    hub.review()
    inputs = hub.inputs()
    for operation in plan_retraction("elsewhere", BOT, inputs.pull, inputs.comments):
        hub.apply(operation)
    hub.say("cora", "/incumbent accept q02")
    assert reactions(hub.review()) == ["confused"]
    assert "was not displayed yet" in hub.ours[1]


def test_a_stranger_who_deletes_what_they_said_is_not_answered_again() -> None:
    hub = Hub()
    hub.review()
    for _ in range(3):
        id = hub.say("stranger", "/incumbent accept q02")
        hub.review()
        hub.comments = [item for item in hub.comments if item.id != id]
    assert len(hub.ours) == 2


def test_taking_a_query_out_and_putting_it_back_counts_as_a_change_of_its_text() -> None:
    hub = Hub()
    for number in range(4):
        hub.review(make_analysis((make_query("q01", {"d": 0.9}, text=f"text {number}"), *QUERIES[1:])))
        hub.review(make_analysis(QUERIES[1:]))
    assert "changed three times or more" in hub.ours[0]


def test_another_taxonomy_is_no_change_of_a_text() -> None:
    hub = Hub()
    for number in range(4):
        key = digest(["another taxonomy", number])
        hub.review(make_analysis(tuple(query.model_copy(update={"key": key}) for query in QUERIES)))
    assert hub.record is not None
    assert hub.record.changes == {}


def test_an_acceptance_that_the_base_moved_away_from_under_is_told() -> None:
    hub = Hub()
    hub.review()
    hub.say("cora", "/incumbent accept q02")
    hub.review()
    entries = dict(hub.platform.regression_set.entries)
    entries["twin"] = make_entry("twin", PAIR, text=QUERIES[1].query.turns[0])
    hub.platform = replace(hub.platform, regression_set=RegressionSet(entries, {}, {}))
    hub.review()
    assert "The decision of `cora` (accept) on `q02` has no effect: its verdict is EXCLUDE by now." in hub.ours[0]
    assert "is void" not in hub.ours[0]


def test_nobody_reads_and_answers_within_a_second() -> None:
    hub = Hub()
    hub.review()
    shown = next(item for item in hub.comments if item.author == BOT)
    id = hub.say("cora", "/incumbent accept q02")
    hub.comments = [
        replace(item, created_at=shown.updated_at, updated_at=shown.updated_at) if item.id == id else item
        for item in hub.comments
    ]
    assert reactions(hub.review()) == ["confused"]


def test_a_cursor_beyond_all_comments_mutes_nobody_for_long() -> None:
    hub = Hub()
    hub.review()
    text = hub.ledger["pull_requests/7.json"]
    hub.ledger["pull_requests/7.json"] = text.replace('"cursor": 0', '"cursor": 999999999999')
    hub.review()
    hub.say("cora", "/incumbent accept q02")
    hub.review()
    assert "Accepted by `cora`" in hub.ours[0]


def test_an_answer_that_a_race_doubled_is_single_again() -> None:
    hub = Hub()
    hub.review()
    hub.say("stranger", "/incumbent accept q02")
    hub.review()
    _, answer = hub.ours
    hub.say(BOT, answer, is_bot=True)
    hub.review()
    assert len(hub.ours) == 2
    assert hub.plan(make_analysis()).operations == ()


def test_a_comment_that_was_edited_before_it_was_read_is_not_followed() -> None:
    hub = Hub()
    hub.review()
    id = hub.say("cora", "Thanks!")
    hub.apply(EditComment(id=id, body="/incumbent accept q02"))
    assert reactions(hub.review()) == ["confused"]
    assert "It was edited before it was read, perhaps by another person. Repeat it in a new comment." in hub.ours[1]


@pytest.mark.parametrize("body", ["/incumbent acept q02", "/incumbent help"])
def test_a_stranger_cannot_make_us_answer_without_end(body: str) -> None:
    hub = Hub()
    hub.review()
    for _ in range(4):
        hub.say("mallory", body)
        hub.review()
    assert len(hub.ours) == 2


def test_a_release_that_came_too_late_for_this_run_says_how_to_go_on() -> None:
    hub = Hub()
    hub.review(make_analysis((), held=True))
    hub.say("cora", "/incumbent run")
    plan = hub.review(make_analysis((), held=True))
    assert "Released, but this run had not read the data" in hub.ours[0]
    assert plan.result.exit_code == 3


def test_many_void_decisions_are_counted() -> None:
    queries = [make_query(f"q{n:02d}", {"a": 0.7}) for n in range(9)]
    hub = Hub()
    hub.review(make_analysis(queries))
    hub.say("cora", "/incumbent reject q00..q08 not for us")
    hub.review(make_analysis(queries))
    changed = [make_query(f"q{n:02d}", {"a": 0.7}, text=f"changed {n} " * 5) for n in range(9)]
    hub.review(make_analysis(changed, head="2" * 40))
    assert hub.ours[0].count("is void") == 5
    assert "4 more decisions count for nothing now" in hub.ours[0]


def test_a_decision_is_void_once_the_agent_behind_the_query_changes() -> None:
    hub = Hub()
    hub.review()
    hub.say("cora", "/incumbent accept q02")
    hub.review()
    (submission,) = make_analysis().judged.submissions
    other = submission.model_copy(update={"specification": "another agent"})
    hub.review(make_analysis(head="2" * 40, submissions=(other,)))
    assert "is void: its content has changed" in hub.ours[0]


def test_a_decision_outlasts_another_taxonomy_and_classifier() -> None:
    hub = Hub()
    hub.review()
    hub.say("cora", "/incumbent accept q02")
    hub.review()
    hub.review(make_analysis(tuple(query.model_copy(update={"key": "a" * 24}) for query in QUERIES)))
    assert "Accepted by `cora`" in hub.ours[0]


@pytest.mark.parametrize("verb", ["accept", "reject"])
def test_a_decision_follows_its_text_to_another_name(verb: str) -> None:
    hub = Hub()
    hub.review()
    hub.say("cora", f"/incumbent {verb} q02 as agreed")
    hub.review()
    before = hub.plan(make_analysis()).judgement.review
    renamed_query = reworded(QUERIES[1], id="q09")
    after = hub.review(make_analysis((QUERIES[0], renamed_query, *QUERIES[2:]), head="2" * 40)).judgement.review
    assert before is not None
    assert after is not None
    assert [item.id for item in after.derivation.accepted] == (["q09"] if verb == "accept" else [])
    assert [item.id for item in after.derivation.rejected] == (["q09"] if verb == "reject" else [])
    assert "is void" not in hub.ours[0]


def test_a_copy_of_a_rejected_query_is_rejected() -> None:
    hub = Hub()
    hub.review()
    hub.say("cora", "/incumbent reject q01 not in our scope")
    hub.review()
    copy = reworded(QUERIES[0], id="q09")
    review = hub.review(make_analysis((*QUERIES, copy), head="2" * 40)).judgement.review
    assert review is not None
    assert [item.id for item in review.derivation.rejected] == ["q01", "q09"]
    assert review.plan.admitted == ()


@pytest.mark.parametrize("how", ["deleted", "edited"])
def test_what_was_rejected_enters_only_by_a_person_once_the_comment_is_not_as_it_was(how: str) -> None:
    hub = Hub()
    hub.review()
    id = hub.say("cora", "/incumbent reject q01 not in our scope")
    hub.review()
    if how == "deleted":
        hub.comments = [item for item in hub.comments if item.id != id]
    else:
        hub.apply(EditComment(id=id, body="Never mind"))
    for _ in range(2):
        review = hub.review().judgement.review
        assert review is not None
        assert review.plan.admitted == ()
        assert "CONTESTED" in hub.ours[0]
    assert hub.plan(make_analysis()).operations == ()
    hub.say("cora", "/incumbent accept q01")
    review = hub.review().judgement.review
    assert review is not None
    assert [item.id for item in review.plan.admitted] == ["q01"]


def test_all_where_nothing_waits_is_said() -> None:
    hub = Hub()
    hub.review(make_analysis(QUERIES[:1]))
    hub.say("cora", "/incumbent accept all")
    assert reactions(hub.review(make_analysis(QUERIES[:1]))) == ["confused"]
    assert "No query needs a person" in hub.ours[1]


def test_labels_differ_by_more_than_case() -> None:
    hub = Hub()
    hub.labels = {"Incumbent: Admits", "INCUMBENT: INCOMPLETE", "other"}
    hub.review()
    assert hub.labels == {"Incumbent: Admits", NEEDS, "other"}
    assert hub.plan(make_analysis()).operations == ()


def test_a_secret_for_a_name_is_never_repeated() -> None:
    token = "ghp_" + "a" * 36
    hub = Hub()
    queries = (*QUERIES, make_query(token, PAIR, text="something else again"))
    hub.review(make_analysis(queries))
    hub.say("cora", f"/incumbent accept {token}\n/incumbent accept {token}x")
    hub.review(make_analysis(queries))
    hub.review(make_analysis((*QUERIES, make_query(token, PAIR, text="quite another thing")), head="2" * 40))
    assert "is void" in hub.ours[0]
    assert all(token not in text for text in hub.ours)
    assert "There is what looks like a secret in `eval_sets/acme/desk/evals.yaml:1`" in hub.ours[0]


def test_a_reason_for_an_admission_does_not_override_what_became_an_exclude() -> None:
    hub = Hub()
    hub.review()
    hub.say("cora", "/incumbent accept q02 we sell this")
    hub.review()
    entries = {**hub.platform.regression_set.entries, "rab": make_entry("rab", {"a": 0.9, "b": 0.9})}
    hub.platform = replace(hub.platform, regression_set=RegressionSet(entries, {}, {}))
    plan = hub.review()
    assert plan.judgement.review is not None
    assert plan.judgement.review.derivation.accepted == ()


def test_commands_of_a_lost_run_are_heard_by_the_next_and_once() -> None:
    hub = Hub()
    hub.review()
    hub.say("cora", "/incumbent accept q02")
    hub.say("cora", "/incumbent reject q01 no")
    hub.review(until=lambda item: isinstance(item, WriteLedger))
    plan = hub.review()
    assert reactions(plan) == ["+1", "+1"]
    assert reactions(hub.review()) == []


def test_an_answer_is_given_once_though_the_run_died_after_it() -> None:
    hub = Hub()
    hub.review()
    hub.say("cora", "/incumbent acept q02")
    hub.review(until=lambda item: isinstance(item, WriteLedger))
    hub.review()
    assert sum("incumbent:reply" in body for body in hub.ours) == 1


def test_a_pin_is_a_matter_of_its_own() -> None:
    hub = Hub()
    hub.review()
    hub.say("cora", "/incumbent accept q02\n/incumbent pin q02 the audit wants it")
    hub.review()
    assert hub.record is not None
    assert [item.action for item in hub.record.decisions] == ["accept", "pin"]


# The set by hand


EDIT = ChangedEntryFile(file=ChangedFile("regression_set/ra1.yaml", "modified"), buried=False)
REMOVAL = ChangedEntryFile(file=ChangedFile("regression_set/ra1.yaml", "deleted"), buried=False)


def test_a_change_of_the_set_by_hand_fails_until_a_curator_allows_it_for_this_head() -> None:
    hub = Hub()
    hub.review(make_analysis((), set_changes=(EDIT,), touches=("regression_set",)))
    assert hub.check is not None
    assert (hub.check.conclusion, hub.labels) == ("failure", {AT_FAULT})
    assert "by hand" in hub.ours[0]
    hub.say("cora", "/incumbent accept regression_set agreed with the team")
    hub.review(make_analysis((), set_changes=(EDIT,), touches=("regression_set",)))
    assert (hub.check.conclusion, hub.labels) == ("success", set())
    hub.review(make_analysis((), head="2" * 40, set_changes=(EDIT,), touches=("regression_set",)))
    assert hub.check.conclusion == "failure"


def test_a_query_that_takes_the_sets_name_cannot_be_mistaken_for_it() -> None:
    hub = Hub()
    analysis = make_analysis((make_query("regression_set", PAIR),), set_changes=(EDIT,))
    hub.review(analysis)
    hub.say("cora", "/incumbent accept regression_set")
    plan = hub.review(analysis)
    assert accepted(plan) == ["regression_set"]
    assert hub.check is not None
    assert hub.check.conclusion == "failure"
    assert "by hand" in hub.ours[0]


def test_an_entry_without_a_tombstone_is_never_removed() -> None:
    hub = Hub()
    analysis = make_analysis((), set_changes=(REMOVAL,), touches=("regression_set",))
    hub.review(analysis)
    hub.say("cora", "/incumbent accept regression_set please")
    plan = hub.review(analysis)
    assert hub.check is not None
    assert hub.check.conclusion == "failure"
    assert "without a tombstone" in hub.ours[0]
    assert plan.result.exit_code == 1


# Conclusions


PROBLEM = Problem(file="eval_sets/acme/desk/evals.yaml", line=9, message="the id is used twice", fix="rename it")


def test_input_at_fault_fails_and_says_where() -> None:
    hub = Hub()
    plan = hub.review(make_analysis(problems=[PROBLEM], rows=[PROBLEM]))
    assert hub.check is not None
    assert (hub.check.conclusion, plan.result.exit_code) == ("failure", 1)
    assert hub.check.annotations[0].level == "failure"
    assert AT_FAULT in hub.labels
    assert "evals.yaml:9" in hub.ours[0]


def test_a_query_without_a_verdict_is_incomplete_and_never_a_silent_pass() -> None:
    hub = Hub()
    plan = hub.review(make_analysis((*QUERIES, make_query("q09", None))))
    assert hub.check is not None
    assert (hub.check.conclusion, plan.result.exit_code) == ("failure", 3)
    assert "incumbent: incomplete" in hub.labels


@pytest.mark.parametrize(("block", "conclusion"), [(False, "success"), (True, "failure")])
def test_pending_reviews_block_only_where_the_config_says_so(block: bool, conclusion: str) -> None:
    hub = Hub(platform=make_platform(block_on_review=block))
    hub.review()
    assert hub.check is not None
    assert hub.check.conclusion == conclusion


def test_nothing_to_curate_passes() -> None:
    hub = Hub()
    hub.review(make_analysis((), touches=()))
    assert hub.check is not None
    assert (hub.check.conclusion, hub.check.title) == ("success", "Nothing to curate")


def test_observing_comments_and_passes_and_writes_nothing_else() -> None:
    hub = Hub(platform=make_platform(mode="observe", block_on_review=True))
    hub.say("cora", "/incumbent accept q02")
    plan = hub.review(make_analysis(problems=[PROBLEM]))
    assert {type(item) for item in plan.operations} == {CreateComment, PostCheck}
    assert hub.check is not None
    assert hub.check.conclusion == "success"
    assert "Observing" in hub.ours[0]
    assert plan.result.exit_code == 0
    assert hub.plan(make_analysis(problems=[PROBLEM])).operations == ()


def test_observing_nobody_is_obeyed_not_even_where_a_verdict_was_displayed_before() -> None:
    hub = Hub()
    hub.review()
    hub.platform = make_platform(mode="observe")
    unheard = hub.plan(make_analysis()).operations
    hub.say("cora", "/incumbent accept q02 it matters")
    plan = hub.plan(make_analysis())
    assert (plan.operations, accepted(plan)) == (unheard, [])


def test_a_held_contribution_waits_for_a_curator_and_is_released_once() -> None:
    hub = Hub()
    hub.review(make_analysis((), held=True))
    assert hub.check is not None
    assert hub.check.conclusion == "failure"
    assert "/incumbent run" in hub.ours[0]
    hub.say("cora", "/incumbent run")
    hub.review(make_analysis())
    assert hub.record is not None
    assert hub.record.released is not None
    assert hub.record.released.by == "cora"


def test_an_outside_author_needs_a_person_where_only_inferred_tags_speak() -> None:
    hub = Hub(permissions={"mara": "read"})
    hub.review()
    assert "UNTRUSTED_AUTHOR" in hub.ours[0]
    assert hub.labels == {NEEDS}


@pytest.mark.parametrize(
    ("path", "reviewed"),
    [("specification", False), ("structure", False), ("inference", True), ("tool", True), ("expected", True)],
)
def test_called_tools_count_as_inferred_also_where_they_are_expected(path: Path, reviewed: bool) -> None:
    known = QUERIES[0].classification
    assert known is not None
    judgements = {name: replace(item, path=path) for name, item in known.judgements.items()}
    query = QUERIES[0].model_copy(update={"classification": replace(known, judgements=judgements)})
    hub = Hub(permissions={"mara": "read"})
    hub.review(make_analysis([query]))
    assert ("UNTRUSTED_AUTHOR" in hub.ours[0]) is reviewed


def test_what_looks_like_a_secret_is_named_by_its_place_and_never_repeated() -> None:
    secret = "gh" + "p_" + "0123456789abcdefABCDEF" * 2
    hub = Hub()
    plan = hub.review(make_analysis((*QUERIES, make_query("q05", PAIR, text=f"log in with {secret}", line=12))))
    assert "There is what looks like a secret in `eval_sets/acme/desk/evals.yaml:12`" in hub.ours[0]
    assert hub.check is not None
    said = [*hub.ours, plan.summary, hub.check.summary, *hub.ledger.values()]
    said += [item.message + item.title for item in hub.check.annotations]
    assert not any(secret in text for text in said)


def test_texts_that_are_changed_again_and_again_are_shown() -> None:
    hub = Hub()
    for place in range(5):
        query = make_query("q02", PAIR, text=f"a text of its own, number {place * 37}")
        hub.review(make_analysis((QUERIES[0], query), head=f"{place + 2}" * 40))
    assert "changed three times or more" in hub.ours[0]


# Sizes


@pytest.mark.untraced
def test_four_hundred_queries_fit_into_a_comment_and_a_check() -> None:
    queries = [make_query(f"query-{n:03d}", {"a": 0.7} if n % 2 else PAIR, text=f"n{n} " * 48) for n in range(400)]
    hub = Hub()
    analysis = make_analysis(queries)
    plan = hub.review(analysis)
    (comment,) = hub.ours
    assert len(comment) <= 65_536
    assert "[the job summary](https://github.example/o/r/actions/runs/1)" in comment
    rows = [line for line in comment.splitlines() if line.startswith("|")]
    assert all(line.endswith("|") and line.count(" | ") in (1, 2) for line in rows if "---" not in line)
    assert hub.check is not None
    # What is excluded asks nobody for anything.
    assert [item.title for item in hub.check.annotations] == ["query-000: Admit?"]
    assert len(hub.check.summary) <= 65_535
    assert all(f"`query-{n:03d}`" in plan.summary for n in range(400))
    # Another run, and the longer address of its summary, are no reason to write again.
    assert "/actions/runs/1)" in comment
    hub.run = "https://github.example/o/r/actions/runs/22"
    assert hub.plan(analysis).operations == ()


def test_a_comment_is_never_left_as_updating() -> None:
    hub = Hub()
    hub.review()
    assert not re.search(r"updating|in progress", hub.ours[0], re.IGNORECASE)


def test_an_edited_comment_of_ours_is_mended() -> None:
    hub = Hub()
    hub.review()
    ours = next(item for item in hub.comments if item.author == BOT)
    hub.apply(EditComment(id=ours.id, body=ours.body + "\n\nAll accepted!"))
    hub.review()
    assert "All accepted!" not in hub.ours[0]


# What is seldom


def test_what_is_settled_needs_no_answer() -> None:
    hub = Hub()
    known = hub.platform.regression_set.entries["ra1"]
    first = make_analysis()
    entry = hub.plan(first).judgement.entries["q04"]
    entries = dict(hub.platform.regression_set.entries)
    entries[entry] = known.model_copy(update={"id": entry, "turns": QUERIES[3].query.turns})
    hub.platform = replace(hub.platform, regression_set=RegressionSet(entries, {}, {}))
    hub.review(first)
    hub.say("cora", "/incumbent accept q04 please")
    assert reactions(hub.review(first)) == ["confused"]
    assert "it is already decided" in hub.ours[1]


def test_a_change_of_the_set_by_hand_is_allowed_with_a_reason_and_that_is_taken_back() -> None:
    hub = Hub()
    facts = make_analysis((), set_changes=(EDIT,), touches=("regression_set",))
    hub.review(facts)
    hub.say("cora", "/incumbent pin regression_set no\n/incumbent accept regression_set")
    hub.review(facts)
    assert "can only be accepted or rejected" in hub.ours[1]
    assert "needs a reason" in hub.ours[1]
    hub.say("cora", "/incumbent accept regression_set agreed with the team")
    hub.review(facts)
    assert "`cora` allowed this change of `regression_set/` by hand: `agreed with the team`" in hub.ours[0]
    hub.say("cora", "/incumbent reject regression_set not after all")
    hub.review(facts)
    assert hub.check is not None
    assert hub.check.conclusion == "failure"


def test_what_has_no_line_is_annotated_nowhere() -> None:
    rows = (QUERIES[0], reworded(QUERIES[1], line=None))
    fault = Problem(file="eval_sets/acme/desk/agent", line=None, message="no agent", fix="add one")
    hub = Hub()
    hub.review(make_analysis(rows, rows=(fault,)))
    assert hub.check is not None
    assert hub.check.annotations == ()


def test_a_taxonomy_that_comes_along_is_said_to_count_later() -> None:
    hub = Hub()
    hub.review(make_analysis(touches=("eval_sets", "taxonomy", "config")))
    assert "This changes `taxonomy/` and `config/` as well: its queries are judged by those of the base" in hub.ours[0]


def test_a_customers_share_counts_what_it_holds_already() -> None:
    source = Source(customer="acme", agent="desk", eval_set="eval_sets/acme/desk/evals.yaml", item="old")
    hub = Hub(platform=make_platform())
    entries = {
        id: entry.model_copy(update={"source": source}) for id, entry in hub.platform.regression_set.entries.items()
    }
    limits = hub.platform.config.limits.model_copy(update={"customer_share": 6 / hub.platform.config.ceiling})
    config = hub.platform.config.model_copy(update={"limits": limits})
    hub.platform = replace(hub.platform, config=config, regression_set=RegressionSet(entries, {}, {}))
    hub.review()
    assert ADMITS not in hub.labels
    assert "CUSTOMER_SHARE" in hub.ours[0]


def test_a_release_ends_with_its_comment() -> None:
    hub = Hub(platform=make_platform(hold_first_time_contributors=True))
    hub.review(make_analysis((), held=True))
    id = hub.say("cora", "/incumbent run")
    hub.review()
    assert hub.plan(make_analysis()).operations == ()
    assert hub.record is not None
    assert hub.record.released is not None
    hub.comments = [item for item in hub.comments if item.id != id]
    hub.review()
    assert hub.record.released is None


def test_a_pull_request_that_goes_elsewhere_is_told_so_once() -> None:
    hub = Hub()
    hub.review()
    for expected in (3, 0):
        inputs = hub.inputs()
        plan = plan_retraction("only pull requests to main are curated", BOT, inputs.pull, inputs.comments)
        for operation in plan:
            hub.apply(operation)
        assert len(plan) == expected
    assert hub.ours[0].endswith("Not curated here: only pull requests to main are curated.\n")
    assert hub.labels == set()
    assert plan_retraction("why", BOT, hub.inputs().pull, ()) == []


# Decisions are on contents


def texts(*pairs: tuple[str, str], head: str = HEAD) -> Analysis:
    """A pull request whose queries have these names and texts; what they cover depends on the text alone."""
    covers = {"one": {"d": 0.9}, "two": {"e": 0.9}, "other": {"d": 0.8, "e": 0.8}}
    rows = [make_query(name, covers[text], text=f"{text} {text * 9} asked for") for name, text in pairs]
    return make_analysis(rows, head=head)


def test_a_decision_on_a_renamed_query_is_one_decision_however_often_this_runs() -> None:
    hub = Hub()
    hub.review()
    hub.say("cora", "/incumbent reject q02 no")
    hub.review()
    renamed_query = reworded(QUERIES[1], id="q09")
    facts = make_analysis((QUERIES[0], renamed_query, *QUERIES[2:]), head="2" * 40)
    for _ in range(3):
        hub.review(facts)
    assert hub.record is not None
    assert len(hub.record.decisions) == 1
    assert hub.plan(facts).operations == ()


def test_a_rejected_text_stays_rejected_when_it_comes_back() -> None:
    hub = Hub()
    hub.review(texts(("q1", "one")))
    hub.say("cora", "/incumbent reject q1 no")
    hub.review(texts(("q1", "one")))
    for pairs in ([("q1", "other")], [("q1", "one")], [("q2", "one"), ("q1", "other")], [("q1", "two"), ("q3", "one")]):
        review = hub.review(texts(*pairs, head="2" * 40)).judgement.review
        assert review is not None
        rejected = [name for name, text in pairs if text == "one"]
        assert [item.id for item in review.derivation.rejected] == rejected


def test_a_word_on_the_text_that_has_the_old_name_leaves_the_other_alone() -> None:
    hub = Hub()
    hub.review(texts(("q1", "one"), ("q2", "two")))
    hub.say("cora", "/incumbent reject q1 no")
    hub.review(texts(("q1", "one"), ("q2", "two")))
    swapped = texts(("q1", "two"), ("q2", "one"), head="2" * 40)
    hub.review(swapped)
    hub.say("cora", "/incumbent reject q1 nor this")
    review = hub.review(swapped).judgement.review
    assert review is not None
    assert {item.id for item in review.derivation.rejected} == {"q1", "q2"}


def test_a_contrary_word_counts_where_the_text_has_moved_to() -> None:
    hub = Hub()
    hub.review(texts(("q1", "one"), ("q2", "two")))
    hub.say("cora", "/incumbent reject q1 no")
    hub.review(texts(("q1", "one"), ("q2", "two")))
    swapped = texts(("q1", "two"), ("q2", "one"), head="2" * 40)
    hub.review(swapped)
    hub.say("cora", "/incumbent accept q2 after all")
    plan = hub.review(swapped)
    assert reactions(plan) == ["+1"]
    assert plan.judgement.review is not None
    assert [item.id for item in plan.judgement.review.plan.admitted] == ["q1", "q2"]


def test_what_is_contested_stays_so_once_it_was_accepted_and_that_taken_back() -> None:
    hub = Hub()
    facts = texts(("q1", "one"))
    hub.review(facts)
    first = hub.say("cora", "/incumbent reject q1 no")
    hub.review(facts)
    hub.comments = [item for item in hub.comments if item.id != first]
    hub.review(facts)
    second = hub.say("cora", "/incumbent accept q1")
    hub.review(facts)
    assert "Accepted by `cora`" in hub.ours[0]
    assert "is void" not in hub.ours[0]
    assert hub.plan(facts).operations == ()
    hub.comments = [item for item in hub.comments if item.id != second]
    review = hub.review(facts).judgement.review
    assert review is not None
    assert review.plan.admitted == ()


def test_contrary_words_on_one_text_are_refused() -> None:
    hub = Hub()
    copies = (*QUERIES[:2], reworded(QUERIES[1], id="q07", line=9))
    hub.review(make_analysis(copies))
    hub.say("cora", "/incumbent accept q02\n/incumbent reject q07 a copy")
    plan = hub.review(make_analysis(copies))
    assert reactions(plan) == ["confused"]
    assert "`q07`: it has the same text as `q02`, which is decided" in hub.ours[1]
    assert plan.judgement.review is not None
    assert [item.id for item in plan.judgement.review.derivation.accepted] == ["q02"]


def test_labels_go_where_nothing_is_left_to_curate() -> None:
    hub = Hub()
    hub.review()
    hub.comments = []
    hub.review(make_analysis((), touches=()))
    assert hub.labels == set()


@pytest.mark.parametrize("edited", ["one  one", "one one one", "One one!"])
def test_a_rejected_query_does_not_enter_by_a_small_edit(edited: str) -> None:
    hub = Hub()
    first = make_query("q1", {"d": 0.9}, text="one one")
    hub.review(make_analysis((first,)))
    hub.say("cora", "/incumbent reject q1 no")
    hub.review(make_analysis((first,)))
    for facts in (make_analysis((make_query("q1", {"d": 0.9}, text=edited),), head="2" * 40),) * 2:
        review = hub.review(facts).judgement.review
        assert review is not None
        assert review.plan.admitted == ()
    assert hub.plan(facts).operations == ()


def test_a_rejected_query_that_is_gone_is_told() -> None:
    hub = Hub()
    hub.review()
    hub.say("cora", "/incumbent reject q01 no")
    hub.review()
    hub.review(make_analysis((make_query("q77", {"d": 0.9}, text="all anew"), *QUERIES[1:]), head="2" * 40))
    assert "`cora` rejected `acme-desk-q01-" in hub.ours[0]
    assert "which is not there any more" in hub.ours[0]


def test_entries_are_not_spoken_of_while_the_pull_request_is_reviewed() -> None:
    hub = Hub()
    hub.review()
    hub.say("cora", "/incumbent undo q01")
    hub.review()
    assert "on a pull request that is merged, or on the dashboard issue" in hub.ours[-1]


@pytest.mark.parametrize("association", ["MEMBER", "COLLABORATOR", "CONTRIBUTOR", "NONE", "MANNEQUIN"])
@pytest.mark.parametrize(
    ("permission", "trusted"),
    [("admin", True), ("write", True), ("triage", False), ("read", False), (UNKNOWN_PERMISSION, False)],
)
def test_an_author_is_trusted_by_permission(association: str, permission: str, trusted: bool) -> None:
    hub = Hub(association=association, permissions={"mara": permission})
    hub.review()
    assert ("UNTRUSTED_AUTHOR" in hub.ours[0]) is not trusted
    assert (ADMITS in hub.labels) is trusted
    assert ("This token may not look up the permission of `mara`" in hub.ours[0]) is (permission == UNKNOWN_PERMISSION)


def test_who_is_configured_is_trusted_and_the_owner_is_not_looked_up() -> None:
    for hub in (
        Hub(platform=make_platform(trusted_authors=["MARA"]), permissions={"mara": UNKNOWN_PERMISSION}),
        Hub(association="OWNER", permissions={}),
    ):
        hub.review()
        assert "UNTRUSTED_AUTHOR" not in hub.ours[0]
        assert "GitHub does not tell" not in hub.ours[0]


def test_where_no_query_is_brought_nobody_is_looked_up() -> None:
    hub = Hub(permissions={})
    hub.review(make_analysis((), problems=[PROBLEM]))
    assert len(hub.ours) == 1


@pytest.mark.parametrize("kind", ["comment", "review", "inline"])
def test_commands_are_heard_wherever_they_are_said(kind: CommentKind) -> None:
    hub = Hub()
    hub.review()
    id = hub.say("cora", "Approved.\n\n/incumbent accept q02 it matters", kind=kind)
    plan = hub.review()
    assert "Accepted by `cora`" in hub.ours[0]
    assert hub.record is not None
    (decision,) = hub.record.decisions
    assert decision.comment == (id if kind == "comment" else f"{kind}:7:{id}")
    # Reviews take no reactions: the comment says what was decided.
    reactions = [item for item in plan.operations if isinstance(item, React)]
    assert [(item.comment, item.inline) for item in reactions] == ([] if kind == "review" else [(id, kind == "inline")])
    assert hub.plan(make_analysis()).operations == ()
    # It ends when it goes.
    hub.comments = [item for item in hub.comments if item.id != id]
    hub.review()
    assert "Accepted by `cora`" not in hub.ours[0]


def test_ids_of_different_kinds_may_be_the_same() -> None:
    hub = Hub()
    hub.review()
    id = hub.say("cora", "/incumbent accept q02 it matters")
    hub.say("cora", "/incumbent accept q03 it matters too", kind="review", id=id)
    hub.say("cora", "/incumbent accept q04 and so does this", kind="inline", id=id)
    hub.review()
    assert hub.record is not None
    assert [item.comment for item in hub.record.decisions] == [id, f"review:7:{id}", f"inline:7:{id}"]
    assert hub.record.reviews == (f"inline:7:{id}", f"review:7:{id}")
    hub.comments = [item for item in hub.comments if item.kind != "review"]
    hub.review()
    assert hub.record is not None
    assert [item.comment for item in hub.record.decisions] == [id, f"inline:7:{id}"]


def test_a_review_that_was_begun_before_another_and_submitted_after_it_is_heard() -> None:
    hub = Hub()
    hub.review()
    hub.say("cora", "/incumbent accept q02 it matters", kind="review", id=900)
    hub.review()
    hub.say("cora", "/incumbent accept q03 it matters too", kind="review", id=800)
    hub.review()
    assert hub.record is not None
    assert [item.comment for item in hub.record.decisions] == ["review:7:900", "review:7:800"]


@pytest.mark.parametrize("last", ["accept", "reject"])
@pytest.mark.parametrize(("first_in", "last_in"), [("review", "comment"), ("comment", "review"), ("inline", "comment")])
def test_of_contrary_words_the_later_one_counts_wherever_it_is_said(
    first_in: CommentKind, last_in: CommentKind, last: str
) -> None:
    hub = Hub()
    hub.review()
    first = "accept" if last == "reject" else "reject"
    hub.say("cora", f"/incumbent {first} q02 it is thought to be so", kind=first_in)
    hub.say("cora", f"/incumbent {last} q02 on second thoughts", kind=last_in)
    # GitHub lists the conversation before the reviews.
    hub.comments.sort(key=lambda item: item.kind != "comment")
    hub.review()
    assert hub.record is not None
    assert [(item.action, item.reason) for item in hub.record.decisions] == [(last, "on second thoughts")]


@pytest.mark.parametrize("kind", ["review", "inline"])
def test_a_review_that_may_have_been_edited_is_answered_once(kind: CommentKind) -> None:
    hub = Hub()
    hub.review()
    hub.say("cora", "/incumbent accept q02 it matters", kind=kind)
    hub.comments[-1] = replace(hub.comments[-1], updated_at="")
    hub.review()
    hub.review()
    (answer,) = hub.ours[1:]
    assert "To `cora`, who said it in a review:" in answer
    assert "may have been edited" in answer


def test_a_strangers_commands_cost_one_answer_and_no_commit() -> None:
    hub = Hub()
    hub.review()
    commits = hub.commits
    for kind in ("comment", "review", "inline", "comment"):
        hub.say("mallory", "/incumbent accept q02", kind=kind)
        hub.review()
        hub.say("mallory", "Nice work.")
        hub.review()
    assert (hub.commits, len(hub.ours)) == (commits, 2)
    assert hub.plan(make_analysis()).operations == ()
    hub.say("cora", "/incumbent accept q02 it matters")
    hub.review()
    assert hub.commits == commits + 1
    assert "Accepted by `cora`" in hub.ours[0]


def test_a_foreign_comment_with_our_marker_is_not_taken_for_the_one_that_is_ours() -> None:
    hub = Hub()
    hub.review()
    (mine,) = hub.comments
    forged = "<!-- incumbent:verdicts 000000000000000000000000 -->\nAll is well."
    foreign = replace(mine, id=mine.id - 1, body=forged)
    assert find_sticky(BOT, [foreign, mine], hub.record) == (mine, (foreign,))
    copied = replace(mine, id=mine.id + 1)
    assert find_sticky(BOT, [copied, mine], hub.record) == (mine, (copied,))
    assert find_sticky(BOT, [replace(mine, kind="inline", pull_request=7)], hub.record) == (None, ())
