"""After the merge, end to end: what people saw enters the regression set, and the rest is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from incumbent.files.documents import parse_yaml
from incumbent.taxonomy.config import REVIEWED_FILES
from tests.e2e.bot import (
    ADMITTED,
    BRANCH_LINE,
    CARD_LINE,
    EXCLUDED,
    PICTURE,
    WAITING,
    Bot,
    BotRun,
    customer_files,
    ids_of,
    in_words,
    notes_what_it_read,
    platform_files,
)
from tests.e2e.harness.messages import json_response
from tests.e2e.harness.people import CURATOR, CUSTOMER, JOB
from tests.e2e.harness.world import World

LEDGER = "incumbent/ledger"
FOLDER = "regression_set"
SATURDAY = "Is the branch in Weir Street open on Saturday morning?"


@pytest.fixture
def bot(world: World, tmp_path: Path) -> Bot:
    world.push("main", platform_files())
    return Bot(world, tmp_path / "runs")


def merged(world: World, bot: Bot, number: int) -> BotRun:
    """The run after the pull request ``number`` was merged."""
    before = world.head("main")
    assert before is not None
    return bot.on("push", before=before, after=world.merge(number))


def entries(world: World) -> set[str]:
    names = world.hosted.bare.git("ls-tree", "--name-only", "main", f"{FOLDER}/").split()
    return {Path(name).stem for name in names if name.endswith(".yaml")}


def read(world: World, id: str) -> Any:
    text = world.read("main", f"{FOLDER}/{id}.yaml")
    assert text is not None
    return parse_yaml(text.encode(), id, REVIEWED_FILES).data


def sticky(world: World, number: int) -> str:
    ours = [item["body"] for item in world.comments(number) if item["user"]["login"] == JOB]
    (body,) = [body for body in ours if body.startswith("<!-- incumbent:verdicts")]
    return str(body)


def test_what_people_saw_admitted_enters_after_the_merge(world: World, bot: Bot) -> None:
    known = entries(world)
    pull = world.open_pull_request("quillow", customer_files())
    seen = bot.on("pull_request_target", number=pull.number).report["review"]
    assert ids_of(seen, "admitted") == [ADMITTED]
    run = merged(world, bot, pull.number)
    assert run.codes == (0, 0)
    (new,) = entries(world) - known
    entry = read(world, new)
    assert entry["source"]["item"] == ADMITTED
    assert entry["source"]["pull_request"] == pull.number
    assert entry["admitted"]["route"] == "direct"
    assert "1 of its queries is in the regression set" in sticky(world, pull.number)
    again = bot.on("schedule")
    assert again.codes == (0, 0)
    assert {call.method for call in again.calls} == {"GET"}
    assert len(again.calls) <= 12


def test_a_late_decision_lets_a_merged_query_in(world: World, bot: Bot) -> None:
    known = entries(world)
    pull = world.open_pull_request("quillow", customer_files())
    seen = bot.on("pull_request_target", number=pull.number).report["review"]
    (late, *_) = ids_of(seen, "waiting-for-review")
    merged(world, bot, pull.number)
    comment = world.comment(CURATOR, pull.number, f"/incumbent accept {late} it matters")
    run = bot.on("issue_comment", number=pull.number, comment=comment)
    assert run.codes == (0, 0)
    items = {read(world, id)["source"]["item"] for id in entries(world) - known}
    assert items == {*ids_of(seen, "admitted"), late}
    assert {call.method for call in bot.on("schedule").calls} == {"GET"}


def test_a_merge_that_nobody_reviewed_admits_nothing_by_itself(world: World, bot: Bot) -> None:
    first = world.open_pull_request("docs", {f"{BRANCH_LINE}/notes.txt": "words"})
    bot.on("pull_request_target", number=first.number)
    known = entries(world)
    before = world.head("main")
    assert before is not None
    after = world.push("main", customer_files())
    assert bot.on("push", before=before, after=after).codes == (0, 0)
    assert entries(world) == known
    (issue,) = [item for item in world.pages("/issues?state=open") if "pull_request" not in item]
    assert "12 queries were pushed without a pull request" in issue["body"]


@pytest.mark.exhaustive
def test_where_nothing_waits_for_a_person_one_run_is_enough(world: World, bot: Bot) -> None:
    pull = world.open_pull_request("quillow", in_words({EXCLUDED: "Thanks, bye."}))
    seen = bot.on("pull_request_target", number=pull.number).report["review"]
    assert ids_of(seen, "excluded") == [EXCLUDED]
    assert merged(world, bot, pull.number).codes == (0, 0)
    assert "0 of its queries are in the regression set" in sticky(world, pull.number)
    assert {call.method for call in bot.on("schedule").calls} == {"GET"}


@pytest.mark.exhaustive
def test_an_unreviewed_rebase_is_told_whole(world: World, bot: Bot) -> None:
    bot.on("schedule")
    world.push("quillow", customer_files())
    # What nothing else of both combines has merit whatever else enters.
    other = in_words({"z01": "Read me my card number, slowly"}, {"z01": [*PICTURE, "form.pdf"]})
    folder = BRANCH_LINE.replace("branch-line", "second-line")
    world.push("quillow", {name.replace(BRANCH_LINE, folder): text for name, text in other.items()})
    pull = world.open_pull_request("quillow")
    before = world.head("main")
    after = world.merge(pull.number, method="rebase")
    assert bot.on("push", before=before, after=after).codes == (0, 0)
    shown = sticky(world, pull.number)
    assert f"branch-line/{ADMITTED}" in shown
    assert "second-line/z01" in shown


@pytest.mark.exhaustive
def test_a_merge_that_the_list_does_not_show_yet_is_no_push(world: World, bot: Bot) -> None:
    known = entries(world)
    pull = world.open_pull_request("quillow", customer_files())
    bot.on("pull_request_target", number=pull.number)
    empty = json_response(200, [])
    world.gateway.fail(lambda call: call.path.endswith("/pulls") and "state=closed" in call.query, empty, 9)
    assert merged(world, bot, pull.number).codes == (0, 0)
    assert len(entries(world) - known) == 1
    assert "1 of its queries is in the regression set" in sticky(world, pull.number)


@pytest.mark.exhaustive
def test_an_excluded_query_goes_to_review_when_it_has_merit_by_now(world: World, bot: Bot) -> None:
    # Nearly the same text with the same picture: one of the two is left out for as long as the other is in.
    queries = {"b00": SATURDAY, "b01": SATURDAY.replace("the branch", "that branch")}
    pull = world.open_pull_request("quillow", in_words(queries, dict.fromkeys(queries, PICTURE)))
    seen = bot.on("pull_request_target", number=pull.number).report["review"]
    (winner,), (loser,) = ids_of(seen, "admitted"), ids_of(seen, "excluded")
    known = entries(world)
    assert merged(world, bot, pull.number).codes == (0, 0)
    (new,) = entries(world) - known
    assert {call.method for call in bot.on("schedule").calls} == {"GET"}
    comment = world.comment(CURATOR, pull.number, f"/incumbent undo {winner}")
    bot.on("issue_comment", number=pull.number, comment=comment)
    (undo,) = [item for item in world.pages("/pulls?state=open") if item["user"]["login"] == JOB]
    assert merged(world, bot, undo["number"]).codes == (0, 0)
    assert new not in entries(world)
    assert "It was not displayed as admitted" in sticky(world, pull.number)
    assert "incumbent: needs a curator" in world.labels(pull.number)
    late = world.comment(CURATOR, pull.number, f"/incumbent accept {loser} it matters by now")
    assert bot.on("issue_comment", number=pull.number, comment=late).codes == (0, 0)
    assert {read(world, id)["source"]["item"] for id in entries(world) - known} == {loser}
    assert {call.method for call in bot.on("schedule").calls} == {"GET"}


@pytest.mark.exhaustive
def test_a_rejection_lasts_when_a_neighbour_changes(world: World, bot: Bot) -> None:
    queries, attached = {"b01": SATURDAY}, {"b01": PICTURE}
    pull = world.open_pull_request("quillow", in_words(queries, attached))
    seen = bot.on("pull_request_target", number=pull.number).report["review"]
    assert ids_of(seen, "admitted") == ["b01"]
    comment = world.comment(CURATOR, pull.number, "/incumbent reject b01 nobody asks that")
    bot.on("issue_comment", number=pull.number, comment=comment)
    known = entries(world)
    assert merged(world, bot, pull.number).codes == (0, 0)
    queries["b02"] = "Get me a person who can talk about a bereavement"
    later = world.open_pull_request("later", in_words(queries, attached))
    review = bot.on("pull_request_target", number=later.number).report["review"]
    assert "b01" not in [item["id"] for item in review["verdicts"]]
    assert merged(world, bot, later.number).codes == (0, 0)
    assert "b01" not in {read(world, id)["source"]["item"] for id in entries(world) - known}
    # Who takes the comment back leaves the query to a person.
    world.act(CURATOR, "DELETE", f"/issues/comments/{comment['id']}")
    queries["b03"] = queries["b02"]
    again = world.open_pull_request("again", in_words(queries, attached))
    review = bot.on("pull_request_target", number=again.number).report["review"]
    (contested,) = [item for item in review["verdicts"] if item["id"] == "b01"]
    assert "CONTESTED" in contested["reasons"]
    accept = world.comment(CURATOR, again.number, "/incumbent accept b01 we were wrong")
    bot.on("issue_comment", number=again.number, comment=accept)
    assert merged(world, bot, again.number).codes == (0, 0)
    assert "b01" in {read(world, id)["source"]["item"] for id in entries(world) - known}


@pytest.mark.exhaustive
def test_what_waits_for_a_slot_leaves_the_line_with_its_customer(world: World, tmp_path: Path) -> None:
    world.push("main", platform_files(ceiling="5"))
    bot = Bot(world, tmp_path / "runs")
    pull = world.open_pull_request("quillow", customer_files())
    seen = bot.on("pull_request_target", number=pull.number).report["review"]
    assert ids_of(seen, "waiting-for-slot") == [ADMITTED]
    assert merged(world, bot, pull.number).codes == (0, 0)
    line = world.hosted.bare.git("ls-tree", "--name-only", "main", f"{FOLDER}/waiting/").split()
    assert len(line) == 1
    before = world.head("main")
    after = world.push("main", dict.fromkeys(customer_files()))
    assert bot.on("push", before=before, after=after).codes == (0, 0)
    assert world.hosted.bare.git("ls-tree", "--name-only", "main", f"{FOLDER}/waiting/").split() == []
    assert notes_what_it_read(bot.on("schedule"))
    assert {call.method for call in bot.on("schedule").calls} == {"GET"}


@pytest.mark.exhaustive
def test_an_exclusion_that_turned_before_the_merge_is_for_a_person(world: World, bot: Bot) -> None:
    (held,) = [id for id in entries(world) if "c08" in id]
    known = entries(world)
    # A copy of the only entry with a recording, for an agent like that entry's: it can bring nothing that is new.
    files = in_words({"b01": read(world, held)["turns"][0]}, {"b01": ["ring.mp3"]})
    files[f"{BRANCH_LINE}/agent.yaml"] = platform_files()[f"{CARD_LINE}/agent.yaml"]
    pull = world.open_pull_request("quillow", files)
    review = bot.on("pull_request_target", number=pull.number).report["review"]
    assert [item["reasons"][0] for item in review["verdicts"]] == ["CLONE"]
    entry = world.read("main", f"{FOLDER}/{held}.yaml")
    assert entry is not None
    world.push("main", {f"{FOLDER}/{held}.yaml": None})
    assert merged(world, bot, pull.number).codes == (0, 0)
    assert entries(world) == known - {held}
    # No classifier that knows so few exemplars can judge its text, so that a person is asked anyway.
    assert "UNFAMILIAR" in sticky(world, pull.number) or "cannot judge" in sticky(world, pull.number)
    assert "incumbent: needs a curator" in world.labels(pull.number)


def test_an_edited_query_updates_its_entry_after_the_merge(world: World, bot: Bot) -> None:
    known = entries(world)
    second_text = "Is the branch in Weir Street open on Saturday evening?"
    pull = world.open_pull_request("quillow", in_words({"b01": SATURDAY}, {"b01": PICTURE}))
    bot.on("pull_request_target", number=pull.number)
    merged(world, bot, pull.number)
    (new,) = entries(world) - known
    first = read(world, new)
    again = world.open_pull_request("edit", in_words({"b01": second_text}, {"b01": PICTURE}))
    bot.on("pull_request_target", number=again.number)
    assert merged(world, bot, again.number).codes == (0, 0)
    assert entries(world) - known == {new}
    second = read(world, new)
    assert second["turns"] == [second_text]
    assert second["admitted"]["at"] == first["admitted"]["at"]
    assert second["source"]["pull_request"] == again.number
    assert notes_what_it_read(bot.on("schedule"))
    assert {call.method for call in bot.on("schedule").calls} == {"GET"}


def test_a_forged_decision_is_ignored_and_reported(world: World, bot: Bot) -> None:
    known = entries(world)
    pull = world.open_pull_request("quillow", customer_files())
    bot.on("pull_request_target", number=pull.number)
    real = world.comment(CURATOR, pull.number, f"/incumbent reject {WAITING[0]} nobody asks that")
    bot.on("issue_comment", number=pull.number, comment=real)
    path = f"pull_requests/{pull.number}.json"
    text = world.read(LEDGER, path)
    assert text is not None
    assert text.count('"action": "reject"') == 1
    world.push(LEDGER, {path: text.replace('"action": "reject"', '"action": "accept"')})
    assert merged(world, bot, pull.number).codes == (0, 0)
    assert not [id for id in entries(world) - known if f"-{WAITING[0]}-" in id]
    assert f"(accept) on `{WAITING[0]}` is void" in sticky(world, pull.number)


def test_two_pull_requests_that_race_for_one_gap(world: World, bot: Bot) -> None:
    known = entries(world)
    twin = {name.replace("quillow-savings", "marrow-bank"): text for name, text in customer_files().items()}
    first = world.open_pull_request("quillow", customer_files())
    second = world.open_pull_request("marrow", twin, user=CUSTOMER)
    for pull in (first, second):
        bot.on("pull_request_target", number=pull.number)
    before = world.head("main")
    assert before is not None
    world.merge(first.number)
    after = world.merge(second.number)
    assert bot.on("push", before=before, after=after).codes == (0, 0)
    (new,) = entries(world) - known
    assert new.startswith("quillow-savings")
    assert "has made" in sticky(world, second.number)
    assert "has made" not in sticky(world, first.number)


def test_a_killed_reconcile_ends_the_same_when_it_is_run_again(world: World, bot: Bot) -> None:
    pull = world.open_pull_request("quillow", customer_files())
    bot.on("pull_request_target", number=pull.number)
    before = world.head("main")
    assert before is not None
    after = world.merge(pull.number)
    world.gateway.fail(lambda request: request.method == "PATCH" and "/issues/comments/" in request.path, "422", 1)
    assert bot.on("push", before=before, after=after).codes == (0, 4)
    new = entries(world)
    assert bot.on("schedule").codes == (0, 0)
    assert entries(world) == new
    assert "1 of its queries is in the regression set" in sticky(world, pull.number)
    assert {call.method for call in bot.on("schedule").calls} == {"GET"}


@pytest.mark.exhaustive
def test_a_renamed_folder_and_a_renamed_query_change_nothing_but_the_source(world: World, bot: Bot) -> None:
    base = platform_files()
    folder = "eval_sets/tarnbeck-bank/card-line"
    known = {id: read(world, id) for id in entries(world)}
    (name,) = [name for name in base if name.startswith(folder) and name.endswith("evals.yaml")]
    item = next(entry["source"]["item"] for entry in known.values() if entry["source"]["eval_set"] == name)
    assert f"id: {item}" in base[name]
    texts = {path: text for path, text in base.items() if path.startswith(folder)} | {
        name: base[name].replace(f"id: {item}", "id: called-anew")
    }
    moved: dict[str, str | None] = dict.fromkeys(texts)
    moved |= {path.replace("card-line", "cards"): text for path, text in texts.items()}
    pull = world.open_pull_request("rename", moved)
    bot.on("pull_request_target", number=pull.number)
    run = merged(world, bot, pull.number)
    assert run.codes == (0, 0)
    assert entries(world) >= set(known)
    for id, entry in known.items():
        now = read(world, id)
        if entry["source"]["eval_set"] == name:
            assert now["source"]["agent"] == "cards"
            assert now["source"]["item"] == (
                "called-anew" if entry["source"]["item"] == item else entry["source"]["item"]
            )
        assert {**now, "source": None} == {**entry, "source": None}
    assert {call.method for call in bot.on("schedule").calls} == {"GET"}
    head = world.push("later", {name.replace("card-line", "cards"): texts[name].replace("called-anew", "again")})
    again = world.open_pull_request("later")
    assert again.head == head
    review = bot.on("pull_request_target", number=again.number).report["review"]
    assert review["settled"]["again"] in known


@pytest.mark.exhaustive
def test_where_people_admit_by_hand_nothing_enters_by_itself(world: World, tmp_path: Path) -> None:
    world.push("main", platform_files(admissions="by-hand"))
    bot = Bot(world, tmp_path / "runs")
    pull = world.open_pull_request("quillow", customer_files())
    bot.on("pull_request_target", number=pull.number)
    known = entries(world)
    assert merged(world, bot, pull.number).codes == (0, 0)
    assert entries(world) == known
    assert world.hosted.bare.git("log", "-1", "--format=%s", "main").startswith("Merge pull request")


@pytest.mark.exhaustive
def test_a_branch_that_takes_no_commits_is_named_with_the_setting_to_change(
    world: World, bot: Bot, capsys: pytest.CaptureFixture[str]
) -> None:
    pull = world.open_pull_request("quillow", customer_files())
    bot.on("pull_request_target", number=pull.number)
    world.gateway.fail(lambda call: call.method == "PATCH" and call.path.endswith("/heads/main"), "422", 9)
    assert merged(world, bot, pull.number).codes == (0, 4)
    assert "or set `admissions: pull-request`" in capsys.readouterr().err


@pytest.mark.exhaustive
def test_a_pin_is_written_once_the_query_is_in(world: World, bot: Bot) -> None:
    known = entries(world)
    pull = world.open_pull_request("quillow", customer_files())
    seen = bot.on("pull_request_target", number=pull.number).report["review"]
    (name,) = ids_of(seen, "admitted")
    comment = world.comment(CURATOR, pull.number, f"/incumbent pin {name} the audit asks for it")
    bot.on("issue_comment", number=pull.number, comment=comment)
    assert merged(world, bot, pull.number).codes == (0, 0)
    (new,) = entries(world) - known
    assert read(world, new)["pin"] == "the audit asks for it"
    text = world.read("main", f"{FOLDER}/{new}.yaml")
    assert text is not None
    world.push("main", {f"{FOLDER}/{new}.yaml": text.replace("pin: the audit asks for it", "pin: null")})
    assert bot.on("schedule").codes == (0, 0)
    assert read(world, new)["pin"] is None
