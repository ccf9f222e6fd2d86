"""Corrections of tags on a pull request as stories: what curators say, and what people see then."""

from __future__ import annotations

from dataclasses import replace

import pytest

from incumbent.classifier.corrections import Correction
from incumbent.curator.entry import Source
from incumbent.curator.store import RegressionSet
from incumbent.files.git import ChangedFile
from incumbent.github.authority import CoAuthors
from incumbent.github.decisions import Ended, NewCorrection, differing, noted, unverified
from incumbent.github.facts import ChangedEntryFile, QueryFacts
from incumbent.github.models import EditComment, IssueComment, React, ThreadComment
from incumbent.github.publish_plan import PublishPlan
from incumbent.ledger.event_files import parsed
from incumbent.ledger.events import Corrected, CorrectionEnded, Shown, events_path
from incumbent.ledger.model import CORRECTIONS, CorrectionRecord
from incumbent.ledger.model import StoredCorrection as StoredCorrection
from incumbent.pipeline.review import Platform
from incumbent.taxonomy.model import Capability, Group, Taxonomy
from incumbent.text.compare import text_key
from incumbent.text.digests import digest
from tests.factories import make_entry
from tests.github.scenes import HEAD, QUERIES, Hub, make_analysis, make_platform, make_query

TEXT = text_key(QUERIES[0].query.turns)
NOT_D = "/incumbent correct q01 -d it asks for something else"


def reactions(plan: PublishPlan) -> list[str]:
    return [item.reaction for item in plan.operations if isinstance(item, React)]


def codes(plan: PublishPlan) -> dict[str, str]:
    """Query → its decision and route."""
    assert plan.judgement.review is not None
    return {item.id: f"{item.decision} {item.route}" for item in plan.judgement.review.verdicts}


def reviewed(*said: str, platform: Platform | None = None) -> Hub:
    """A pull request whose verdicts people saw before cora ``said`` something."""
    hub = Hub() if platform is None else Hub(platform=platform)
    hub.review()
    for body in said:
        hub.say("cora", body)
    return hub


def record(hub: Hub) -> CorrectionRecord:
    return CorrectionRecord.model_validate_json(hub.ledger[CORRECTIONS], strict=False)


def test_verdicts_follow_a_correction_in_the_same_run() -> None:
    hub = reviewed(NOT_D)
    plan = hub.review()
    assert reactions(plan) == ["+1"]
    assert codes(plan)["q01"] == "EXCLUDE direct"
    assert "Corrected by `cora`: `q01` exercises not *D*." in hub.ours[0]
    (correction,) = record(hub).texts[TEXT].values()
    assert (correction.value, correction.by) == (False, "cora")
    corrected, shown = parsed(hub.ledger[events_path(7)])[-1], parsed(hub.ledger[events_path(7)])[-2]
    assert isinstance(corrected, Corrected)
    assert (corrected.capability, corrected.text, corrected.reason) == ("d", TEXT, "it asks for something else")
    assert isinstance(shown, Shown)
    assert shown.facts is not None
    assert shown.facts.corrected == ("d",)
    assert hub.plan(make_analysis()).operations == ()


def test_several_tags_of_several_queries_at_once() -> None:
    hub = reviewed("/incumbent correct q01 q04 -d +E")
    plan = hub.review()
    assert {name: codes(plan)[name] for name in ("q01", "q04")} == {"q01": "EXCLUDE direct", "q04": "INCLUDE direct"}
    assert "Corrected by `cora`: `q01` and `q04` exercise not *D* and *E*." in hub.ours[0]


def test_facts_in_the_ledger_stay_as_they_were_found() -> None:
    hub = reviewed(NOT_D)
    before = hub.record
    hub.review()
    assert before is not None
    assert hub.record is not None
    assert hub.record.classifications == before.classifications


def test_a_later_word_replaces_the_earlier_one() -> None:
    hub = reviewed(NOT_D)
    hub.review()
    hub.say("cora", "/incumbent correct q01 +d after all")
    plan = hub.review()
    assert codes(plan)["q01"] == "INCLUDE direct"
    assert "`q01` exercises *D*" in hub.ours[0]
    assert [item.value for item in record(hub).texts[TEXT].values()] == [True]


@pytest.mark.parametrize("change", ["gone", "/incumbent correct q01 -e", "never mind", f"> {NOT_D}"])
def test_a_correction_ends_with_its_comment(change: str) -> None:
    hub = reviewed()
    id = hub.say("cora", NOT_D)
    hub.review()
    if change == "gone":
        hub.comments = [item for item in hub.comments if item.id != id]
    else:
        hub.apply(EditComment(id=id, body=change))
    plan = hub.review()
    assert codes(plan)["q01"] == "INCLUDE direct"
    assert "Corrected by" not in hub.ours[0]
    assert "The correction of `cora` (`d`) on `q01` is void" in hub.ours[0]
    assert record(hub).texts == {}
    ended = parsed(hub.ledger[events_path(7)])
    assert [item.comment for item in ended if isinstance(item, CorrectionEnded)] == [id]
    hub.review()
    assert hub.plan(make_analysis()).operations == ()


def test_editing_the_branch_forges_no_correction() -> None:
    hub = reviewed(NOT_D)
    hub.review()
    text = hub.ledger[CORRECTIONS]
    id = next(iter(record(hub).texts[TEXT].values())).comment
    for before, after in (
        ('"d": {', '"e": {'),
        ('"value": false', '"value": true'),
        (f'"comment": {id}', '"comment": 1'),
        ('"by": "cora"', '"by": "mallory"'),
    ):
        assert before in text
        hub.ledger[CORRECTIONS] = text.replace(before, after)
        assert hub.plan(make_analysis()).judgement.review is not None
        assert codes(hub.plan(make_analysis()))["q01"] == "INCLUDE direct", after


def test_who_brings_the_pull_request_corrects_nothing_wherever_it_stands() -> None:
    hub = Hub(platform=make_platform(curators=["cora", "mara"]))
    hub.review()
    hub.say("cora", NOT_D)
    hub.review()
    stolen = hub.say("mara", NOT_D)
    plan = hub.review()
    assert reactions(plan) == ["confused"]
    assert "cannot correct their own queries" in hub.ours[1]
    item = next(iter(record(hub).texts[TEXT].values()))
    text = hub.ledger[CORRECTIONS].replace(f'"comment": {item.comment}', f'"comment": {stolen}')
    hub.ledger[CORRECTIONS] = text.replace('"by": "cora"', '"by": "mara"')
    assert codes(hub.plan(make_analysis()))["q01"] == "INCLUDE direct"


@pytest.mark.parametrize(
    ("author", "body", "answers"),
    [
        ("mallory", NOT_D, ["Only curators may say correct"]),
        ("cora", "/incumbent correct q01", ["corrects nothing"]),
        ("cora", "/incumbent correct q99 +a", ["q99"]),
        ("cora", "/incumbent correct q01 +nothing -ee", ["`+nothing`", "`-ee`", "perhaps you meant 'e'"]),
        ("cora", "/incumbent correct q01 +a -A", ["both + and - of `a`"]),
        ("cora", "/incumbent correct q01 +<b>@x</b>", ["`+<b>@x</b>`"]),
    ],
)
def test_what_cannot_be_followed_is_answered_in_full(author: str, body: str, answers: list[str]) -> None:
    hub = reviewed()
    hub.say(author, body)
    plan = hub.review()
    assert reactions(plan) == ["confused"]
    assert all(answer in hub.ours[1] for answer in answers), hub.ours[1]
    assert CORRECTIONS not in hub.ledger
    assert hub.plan(make_analysis()).operations == ()


def in_one_group() -> Platform:
    """The platform with d and e in a group of which a query exercises one."""
    known = make_platform()
    capabilities = tuple(
        Capability(
            id=name, name=name.upper(), group="all" if name in "abc" else "one", description=name, source="intent"
        )
        for name in "abcde"
    )
    groups = (Group(id="all", name="All"), Group(id="one", name="One", constraint="exactly-one"))
    return replace(known, taxonomy=Taxonomy(version="1.0.0", groups=groups, capabilities=capabilities))


def test_of_one_group_one_is_exercised() -> None:
    hub = reviewed("/incumbent correct q01 +d +e", platform=in_one_group())
    hub.review()
    assert "A query exercises one of `d`, `e`, and no more." in hub.ours[1]
    hub.say("cora", "/incumbent correct q01 +e")
    plan = hub.review()
    assert plan.judgement.review is not None
    assert set(plan.judgement.review.scored["q01"].scores) == {"e"}


def test_a_fact_is_not_corrected_and_nothing_else_of_that_command_is() -> None:
    fact = make_query("q01", {"d": 0.9}, line=3)
    assert fact.classification is not None
    judgements = dict(fact.classification.judgements)
    judgements["d"] = replace(judgements["d"], confidence=1.0, path="specification")
    declared = fact.model_copy(update={"classification": replace(fact.classification, judgements=judgements)})
    analysis = make_analysis((declared, *QUERIES[1:]))
    hub = Hub()
    hub.review(analysis)
    hub.say("cora", "/incumbent correct q01 q04 -d +e")
    plan = hub.review(analysis)
    assert "`q01`: `d is TRUE by the agent's specification, which no correction changes`" in hub.ours[1]
    assert CORRECTIONS not in hub.ledger
    assert codes(plan)["q04"] == "EXCLUDE direct"


def test_a_correction_binds_to_what_was_displayed_when_it_was_written() -> None:
    hub = Hub()
    hub.say("cora", NOT_D)
    hub.review()
    assert "was not displayed yet" in hub.ours[-2]
    assert CORRECTIONS not in hub.ledger
    hub.say("cora", NOT_D)
    changed = make_analysis((make_query("q01", {"d": 0.9}, text="quite another text"), *QUERIES[1:]), head="2" * 40)
    hub.review(changed)
    assert "has changed since it was displayed" in hub.ours[-1]
    assert CORRECTIONS not in hub.ledger


def test_a_decision_on_a_verdict_that_a_correction_changed_has_to_be_said_again() -> None:
    hub = reviewed(
        "/incumbent correct q02 -b\n/incumbent accept q02\n/incumbent accept q01 sure\n/incumbent pin q01 ours"
    )
    plan = hub.review()
    assert reactions(plan) == ["confused"]
    assert "`q02`: its verdict has changed since it was displayed" in hub.ours[1]
    assert codes(plan)["q02"] == "EXCLUDE direct"
    assert hub.record is not None
    assert [item.action for item in hub.record.decisions] == ["pin"]


def test_a_correction_of_another_pull_request_holds_for_the_same_text() -> None:
    hub = Hub()
    said = IssueComment(
        id=5,
        author="cora",
        is_bot=False,
        body=NOT_D,
        created_at="2026-11-01T10:00:00Z",
        updated_at="2026-11-01T10:00:00Z",
    )
    hub.elsewhere = {5: ThreadComment(number=3, comment=said)}
    first = reviewed(NOT_D)
    first.review()
    item = next(iter(record(first).texts[TEXT].values()))
    known = CorrectionRecord(texts={TEXT: {"d": item.model_copy(update={"comment": 5})}})
    hub.ledger[CORRECTIONS] = known.model_dump_json()
    plan = hub.review()
    assert codes(plan)["q01"] == "EXCLUDE direct"
    assert "Corrected by `cora`" in hub.ours[0]
    hub.elsewhere = {}
    assert codes(hub.review())["q01"] == "INCLUDE direct"


def test_a_correction_by_hand_counts_and_a_later_comment_replaces_it() -> None:
    by_hand = {TEXT: {"d": Correction(value=False, by="Robin", at="2026-11-01T10:00:00Z")}}
    hub = reviewed(platform=replace(make_platform(), corrections=by_hand))
    assert "Corrected by `Robin`: `q01` exercises not *D*." in hub.ours[0]
    hub.say("cora", "/incumbent correct q01 +d")
    assert codes(hub.review())["q01"] == "INCLUDE direct"
    assert "Corrected by `cora`: `q01` exercises *D*." in hub.ours[0]


def test_what_cannot_be_corrected_by_a_command() -> None:
    hub = reviewed()
    unknown = make_analysis((make_query("q01", None), *QUERIES[1:]), head="2" * 40)
    hub.review(unknown)
    hub.say("cora", NOT_D)
    hub.review(unknown)
    assert "`q01`: it has no verdict yet." in hub.ours[1]


def test_the_ledger_keeps_the_latest_comment_on_a_tag() -> None:
    def stored(comment: int, value: bool | None = True) -> StoredCorrection:
        return StoredCorrection(value=value, by="cora", comment=comment, said="0" * 24)

    def said(comment: int) -> NewCorrection:
        event = Corrected(
            at="2026-11-01T10:00:00Z", pull_request=7, entry="e", content="0" * 24,
            text=TEXT, capability="d", value=True, by="cora", comment=comment,
        )  # fmt: skip
        return NewCorrection(event=event, correction=stored(comment))

    before = CorrectionRecord(texts={TEXT: {"d": stored(5)}})
    assert noted(before, (), [said(4)]) == before
    assert noted(before, (), [said(6)]) == CorrectionRecord(texts={TEXT: {"d": stored(6)}})
    gone = Ended(text=TEXT, capability="d", correction=stored(5))
    assert noted(before, [gone], ()) == CorrectionRecord()
    assert noted(before, [replace(gone, correction=stored(4))], ()) == before
    assert differing(before, [(TEXT, {"d": True}), (TEXT, {})]) == {TEXT}
    assert differing(before, [(TEXT, {"d": True}), ("0" * 24, {})]) == frozenset()
    doubtful = CorrectionRecord(texts={TEXT: {"d": stored(5, None), "e": stored(5)}})
    assert differing(doubtful, [(TEXT, {"e": True})]) == frozenset()
    found = unverified(doubtful, make_platform().taxonomy, lambda: ())
    assert found == {TEXT: {"e": Correction(value=True, by="cora", at="")}}
    assert unverified(CorrectionRecord(), make_platform().taxonomy, lambda: ()) == {}


def test_observing_hears_nobody() -> None:
    hub = Hub(platform=make_platform(mode="observe"))
    hub.review()
    hub.say("cora", NOT_D)
    hub.review(make_analysis(head=HEAD))
    assert CORRECTIONS not in hub.ledger


def test_a_correction_follows_its_capability_to_another_id() -> None:
    hub = reviewed(NOT_D)
    hub.review()
    known = make_platform()
    capabilities = tuple(
        Capability(
            id="z" if item.id == "d" else item.id,
            name=item.name,
            group="all",
            description=item.description,
            source="intent",
            was="d" if item.id == "d" else None,
        )
        for item in known.taxonomy.capabilities
    )
    groups = (Group(id="all", name="All"),)
    hub.platform = replace(
        known, taxonomy=Taxonomy(version="1.1.0", retired=("d",), groups=groups, capabilities=capabilities)
    )
    recorded = hub.recorded()
    assert {text: list(tags) for text, tags in recorded.stands.items()} == {TEXT: ["z"]}
    assert recorded.ended == ()
    # What was said by another capability's name of today is no word on this one.
    renamed = [item.model_copy(update={"name": "D"}) if item.id == "a" else item for item in capabilities]
    hub.platform = replace(
        known,
        taxonomy=Taxonomy(version="1.1.0", retired=("d",), groups=groups, capabilities=tuple(renamed)),
    )
    assert {text: list(tags) for text, tags in hub.recorded().stands.items()} == {TEXT: ["z"]}


def test_a_set_that_is_changed_by_hand_has_no_tags() -> None:
    change = ChangedEntryFile(file=ChangedFile("regression_set/ra1.yaml", "modified"), buried=False)
    analysis = make_analysis(set_changes=[change])
    hub = Hub()
    hub.review(analysis)
    hub.say("cora", "/incumbent correct regression_set +a")
    hub.review(analysis)
    assert "only queries have tags." in hub.ours[1]


def test_what_is_in_the_set_is_corrected_by_hand() -> None:
    settled = replace(
        make_platform(),
        regression_set=RegressionSet(
            {
                "e": make_entry(
                    "e",
                    {"d": 0.9},
                    turns=QUERIES[0].query.turns,
                    source=Source(customer="acme", agent="desk", eval_set="eval_sets/acme/desk/evals.yaml", item="q01"),
                )
            },
            {},
            {},
        ),
    )
    hub = Hub(platform=settled)
    analysis = make_analysis((QUERIES[0].model_copy(update={"key": None, "classification": None}), *QUERIES[1:]))
    plan = hub.review(analysis)
    assert plan.judgement.review is not None
    assert set(plan.judgement.review.settled) == {"q01"}
    hub.say("cora", NOT_D)
    hub.review(analysis)
    assert "it is already decided. Its entry follows `incumbent correct` by hand." in hub.ours[1]


CORA = CoAuthors(commits=lambda: {"cora"}, elsewhere=lambda _: ())


def bringing(*queries: QueryFacts) -> CoAuthors:
    """Cora brings the texts of ``queries`` in another open pull request, and nobody else made a commit here."""
    texts = {digest(item.query.turns) for item in queries}
    return CoAuthors(commits=tuple, elsewhere=lambda text: {"cora"} if text in texts else ())


@pytest.mark.parametrize("said", ["accept q02 we sell this", "reject q02 no", "pin q02 yes", "correct q01 -d"])
def test_who_made_a_commit_of_the_pull_request_decides_nothing_on_it(said: str) -> None:
    hub = reviewed(f"/incumbent {said}")
    hub.co_authors = CORA
    plan = hub.review()
    assert reactions(plan) == ["confused"]
    assert "You made a commit of this pull request" in hub.ours[1]
    assert plan.judgement.decisions == ()
    assert CORRECTIONS not in hub.ledger


def test_a_decision_ends_where_its_author_pushes_a_commit_later() -> None:
    hub = reviewed("/incumbent accept q02 we sell this", NOT_D)
    plan = hub.review()
    assert (reactions(plan), codes(plan)["q01"]) == (["+1", "+1"], "EXCLUDE direct")
    hub.co_authors = CORA
    plan = hub.review()
    assert plan.judgement.decisions == ()
    assert codes(plan)["q01"] == "INCLUDE direct"
    assert "its author may not decide here any more" in hub.ours[0]


def test_who_brings_a_text_in_another_open_pull_request_decides_nothing_on_that_text() -> None:
    hub = reviewed("/incumbent accept q02 we sell this", "/incumbent pin q01 keep it", NOT_D)
    hub.co_authors = bringing(QUERIES[1])
    plan = hub.review()
    assert reactions(plan) == ["confused", "+1", "+1"]
    assert "`q02`: you bring the same text in another open pull request" in hub.ours[1]
    assert [item.action for item in plan.judgement.decisions] == ["pin"]
    # What was decided before it was opened ends with it.
    hub.co_authors = bringing(QUERIES[0])
    assert hub.review().judgement.decisions == ()
    hub.say("cora", NOT_D)
    assert reactions(hub.review()) == ["confused"]


def test_a_correction_ends_where_its_author_brings_the_text_in_another_open_pull_request() -> None:
    hub = reviewed(NOT_D)
    assert codes(hub.review())["q01"] == "EXCLUDE direct"
    hub.brings = {"cora"}
    assert codes(hub.review())["q01"] == "INCLUDE direct"
    assert "its author may not decide here any more" in hub.ours[0]


def test_without_a_decision_nobody_is_looked_up() -> None:
    def unasked(*_: str) -> None:
        raise AssertionError("a look-up that nothing needs")

    hub = reviewed("/incumbent run", "/incumbent help", "Fine.")
    hub.say("mallory", "/incumbent accept q02")
    hub.co_authors = CoAuthors(commits=unasked, elsewhere=unasked)  # type: ignore[arg-type]
    hub.review()
