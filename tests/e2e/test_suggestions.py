"""Evictions, swaps and repacks as pull requests, end to end: opened, refused, refreshed, closed and merged."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from incumbent.report.pull_request_bodies import was_closed_by_us
from tests.e2e.bot import EVALS, Bot, customer_files, platform_files
from tests.e2e.harness.merging import MergeMethod
from tests.e2e.harness.messages import error, json_response
from tests.e2e.harness.people import CURATOR, JOB
from tests.e2e.harness.world import World
from tests.e2e.test_reconcile import entries, merged, read

CALLS = {"backend.call": 0.56, "backend.change": 0.56, "backend.lookup": 0.56, "identity.signed-in": 0.56}


TEXT = "Set my limit to nine hundred please"


def spare(id: str, text: str, **scores: float) -> dict[str, str]:
    """The file of an entry whose capabilities others cover as well."""
    (path,) = [name for name in platform_files() if "c05" in name]
    known = platform_files()[path]
    rest = known.partition("classified:")[2]
    given = ", ".join(f"{name}: {score}" for name, score in sorted((scores or CALLS).items()))
    new = f"id: {id}\nturns: ['{text}']\nscores: {{{given}}}\nclassified:{rest}"
    lines = [line for line in new.splitlines() if not line.strip().startswith("dialog.")]
    lines = [line.replace("item: c05", f"item: {id}") for line in lines]
    return {f"regression_set/{id}.yaml": "\n".join(lines) + "\n"}


@pytest.fixture
def bot(world: World, tmp_path: Path) -> Bot:
    world.push("main", platform_files())
    return Bot(world, tmp_path / "runs")


def ours(world: World, state: str = "open") -> list[Any]:
    pulls = world.pages(f"/pulls?state={state}")
    return [pull for pull in pulls if pull["user"]["login"] == JOB]


def suggested(world: World, bot: Bot) -> Any:
    """The pull request that suggests to evict an entry which has just come to be redundant."""
    world.push("main", spare("spare-one", TEXT))
    assert bot.on("schedule").codes == (0, 0)
    (pull,) = ours(world)
    return pull


def settled(bot: Bot) -> None:
    """One more run finds nothing to do, and is cheap: docs/github.md says five calls, and one for each of ours."""
    run = bot.on("schedule")
    assert run.codes == (0, 0)
    assert {call.method for call in run.calls} == {"GET"}
    assert len(run.calls) == 5 + len(ours(bot.world))


def dashboard(world: World) -> str:
    """The body of the one issue that is open."""
    (issue,) = [item for item in world.pages("/issues?state=open") if "pull_request" not in item]
    assert issue["body"].startswith("<!-- incumbent:dashboard -->")
    return str(issue["body"])


def check(world: World, number: int) -> Any:
    head = world.pull(number)["head"]["sha"]
    return max(world.checks(head), key=lambda item: int(item["id"]))


def test_what_is_redundant_is_suggested_once_and_goes_when_people_merge_it(world: World, bot: Bot) -> None:
    pull = suggested(world, bot)
    assert pull["title"] == "Evict spare-one: redundant"
    assert "To refuse" in pull["body"]
    assert check(world, pull["number"])["conclusion"] == "success"
    assert world.labels(pull["number"]) == ["incumbent: suggestion"]
    settled(bot)
    before = world.head("main")
    after = world.merge(pull["number"], user=CURATOR)
    assert bot.on("push", before=before, after=after).codes == (0, 0)
    assert "spare-one" not in entries(world)
    evicted = read(world, "evicted/spare-one")["evicted"]
    assert (evicted["by"], evicted["reason"]) == (CURATOR, "redundant: others cover all that it covers")
    assert evicted["at"] is not None
    settled(bot)
    assert ours(world) == []
    assert "suggested: Evict spare-one" in dashboard(world)


def test_a_refusal_holds_through_newcomers_and_ends_with_its_grounds(world: World, bot: Bot) -> None:
    pull = suggested(world, bot)
    world.close(pull["number"])
    assert bot.on("pull_request_target", number=pull["number"], action="closed").codes == (0, 0)
    assert ours(world) == []
    scores = dict.fromkeys(CALLS, 0.7)
    for newcomers in (range(1), range(1, 3)):
        files = [spare(f"strong-{number}", f"Newcomer {number} wants a limit", **scores) for number in newcomers]
        world.push("main", {name: text for each in files for name, text in each.items()})
        assert bot.on("schedule").codes == (0, 0)
        assert all("spare-one" not in item["title"] for item in ours(world))
    known = read(world, "spare-one")
    world.push("main", spare("spare-one", "Quite another text by now, about nothing else"))
    assert known["turns"] != read(world, "spare-one")["turns"]
    bot.on("schedule")
    assert any("spare-one" in item["title"] for item in ours(world))


def test_what_is_moot_is_closed_with_the_reason_and_is_no_refusal(world: World, bot: Bot) -> None:
    pull = suggested(world, bot)
    text = world.read("main", "regression_set/spare-one.yaml")
    assert text is not None
    world.push("main", {"regression_set/spare-one.yaml": text.replace("pin: null", "pin: an audit wants it")})
    bot.on("schedule")
    assert ours(world) == []
    closed = world.pull(pull["number"])
    assert closed["state"] == "closed"
    assert was_closed_by_us(closed["body"])
    assert "was pinned by a person" in world.comments(pull["number"])[-1]["body"]
    assert world.head(pull["head"]["ref"]) is None
    world.push("main", {"regression_set/spare-one.yaml": text})
    bot.on("schedule")
    (again,) = ours(world)
    assert again["number"] != pull["number"]
    settled(bot)


@pytest.mark.exhaustive
def test_a_persons_commit_is_left_alone_and_checked(world: World, bot: Bot) -> None:
    pull = suggested(world, bot)
    branch = pull["head"]["ref"]
    head = world.push(branch, {"notes.txt": "a person was here\n"}, user=CURATOR)
    run = bot.on("pull_request_target", number=pull["number"], action="synchronize")
    assert run.codes == (0, 0)
    assert world.head(branch) == head
    assert check(world, pull["number"])["conclusion"] == "success"
    head = world.push(branch, spare("spare-two", "Something new"), user=CURATOR)
    bot.on("pull_request_target", number=pull["number"], action="synchronize")
    assert world.head(branch) == head
    assert check(world, pull["number"])["conclusion"] == "failure"
    settled(bot)


@pytest.mark.exhaustive
def test_a_stale_branch_only_gains_commits(world: World, bot: Bot) -> None:
    pull = suggested(world, bot)
    branch = pull["head"]["ref"]
    tip = world.head(branch)
    text = world.read("main", "regression_set/spare-one.yaml")
    assert text is not None
    world.push("main", {"regression_set/spare-one.yaml": re.sub("cost: [0-9.]+", "cost: 7.5", text)})
    assert bot.on("schedule").codes == (0, 0)
    assert [item["number"] for item in ours(world)] == [pull["number"]]
    new = world.head(branch)
    assert new != tip
    assert world.hosted.bare.git("rev-list", "--count", f"{tip}..{new}") != "0"
    assert "cost: 7.5" in (world.read(branch, "regression_set/evicted/spare-one.yaml") or "")
    settled(bot)
    before = world.head("main")
    after = world.merge(pull["number"], user=CURATOR)
    bot.on("push", before=before, after=after)
    assert "spare-one" not in entries(world)


@pytest.mark.exhaustive
def test_the_check_is_posted_again_whenever_the_base_moves(world: World, bot: Bot) -> None:
    pull = suggested(world, bot)
    first = check(world, pull["number"])
    tip = world.push("main", {"notes.txt": "words\n"})
    bot.on("schedule")
    second = check(world, pull["number"])
    assert second["id"] != first["id"]
    assert tip[:12] in second["output"]["summary"]


@pytest.mark.exhaustive
def test_the_limit_is_kept_and_evictions_are_safe_in_any_order(world: World, tmp_path: Path) -> None:
    text = platform_files()["config/curation.yaml"]
    config = text.replace("open_evictions: 10", "open_evictions: 2\n  group: 1")
    world.push("main", platform_files() | {"config/curation.yaml": config})
    bot = Bot(world, tmp_path / "runs")
    for number in range(4):
        world.push("main", spare(f"spare-{number}", f"Limit number {number} to be set anew please"))
    bot.on("schedule")
    gone = set()
    while pulls := ours(world):
        assert len(pulls) <= 2
        last = max(pulls, key=lambda item: int(item["number"]))
        before = world.head("main")
        after = world.merge(last["number"], user=CURATOR)
        gone.add(last["title"])
        assert bot.on("push", before=before, after=after).codes == (0, 0)
    assert len(gone) == 4
    assert len(entries(world)) == 5
    settled(bot)


@pytest.mark.exhaustive
def test_all_that_is_open_may_be_merged_at_once_in_the_worst_order(world: World, bot: Bot) -> None:
    for number in range(4):
        world.push("main", spare(f"spare-{number}", f"Limit number {number} to be set anew please"))
    bot.on("schedule")
    pulls = ours(world)
    assert len(pulls) == 4
    before = world.head("main")
    after = ""
    for pull in sorted(pulls, key=lambda item: -int(item["number"])):
        after = world.merge(pull["number"], user=CURATOR)
    held = [set(read(world, id)["scores"]) for id in entries(world)]
    assert all(any(name in scores for scores in held) for name in CALLS)
    assert bot.on("push", before=before, after=after).codes == (0, 0)
    assert {read(world, f"evicted/spare-{number}")["evicted"]["by"] for number in range(4)} == {CURATOR}
    assert ours(world) == []
    settled(bot)


@pytest.mark.exhaustive
def test_a_branch_of_ours_that_somebody_else_offers_is_turned_down(world: World, bot: Bot) -> None:
    pull = world.open_pull_request("incumbent/evict/mine", {"notes.txt": "words"}, user=CURATOR)
    assert bot.on("pull_request_target", number=pull.number).codes == (0, 0)
    assert check(world, pull.number)["conclusion"] == "failure"


def test_a_run_killed_between_branch_and_pull_request_is_mended(world: World, bot: Bot) -> None:
    world.push("main", spare("spare-one", TEXT))
    world.gateway.fail(lambda call: call.method == "POST" and call.path.endswith("/pulls"), "422", 1)
    assert bot.on("schedule").codes == (0, 4)
    assert bot.on("schedule").codes == (0, 0)
    assert len(ours(world)) == 1
    settled(bot)


def test_a_forged_refusal_holds_nothing_back(world: World, bot: Bot) -> None:
    pull = suggested(world, bot)
    branch = pull["head"]["ref"]
    forged = {"format": 1, "heads": {}, "refusals": [{"pull_request": 999, "branch": branch}]}
    world.push("incumbent/ledger", {"suggestions.json": json.dumps(forged)})
    bot.on("schedule")
    assert [item["number"] for item in ours(world)] == [pull["number"]]
    assert "999" not in (world.read("incumbent/ledger", "suggestions.json") or "")


def test_what_left_its_eval_set_is_suggested_to_go(world: World, bot: Bot) -> None:
    pull = world.open_pull_request("quillow", customer_files())
    bot.on("pull_request_target", number=pull.number)
    known = entries(world)
    merged(world, bot, pull.number)
    (new,) = entries(world) - known
    world.push("main", dict.fromkeys(customer_files()))
    assert bot.on("schedule").codes == (0, 0)
    (left,) = ours(world)
    assert left["title"] == f"Evict {new}: customer-left"
    settled(bot)


@pytest.mark.exhaustive
def test_where_pull_requests_may_not_be_opened_the_dashboard_leads_there(world: World, bot: Bot) -> None:
    world.push("main", spare("spare-one", TEXT))
    refusal = error(403, "GitHub Actions is not permitted to create or approve pull requests.")
    world.gateway.fail(lambda call: call.method == "POST" and call.path.endswith("/pulls"), refusal, 1)
    assert bot.on("schedule").codes == (0, 0)
    assert ours(world) == []
    assert f"{world.full_name}/compare/main...incumbent/evict/spare-one-" in dashboard(world)
    assert bot.on("schedule").codes == (0, 0)
    assert len(ours(world)) == 1
    assert "/compare/" not in dashboard(world)


@pytest.mark.exhaustive
def test_where_issues_are_turned_off_there_is_no_dashboard(world: World, bot: Bot) -> None:
    world.push("main", spare("spare-one", TEXT))
    world.gateway.fail(
        lambda call: call.method == "GET" and call.path.endswith("/issues"), error(410, "Issues are disabled"), 9
    )
    assert bot.on("schedule").codes == (0, 0)
    assert len(ours(world)) == 1


def test_at_the_ceiling_a_swap_lets_a_better_entry_in(world: World, tmp_path: Path) -> None:
    (weak,) = [id for id in (Path(name).stem for name in platform_files()) if "c07" in id]
    # What is certain is not below the honesty floor.
    ((_, better),) = spare("better", "Get me somebody real at once", **{"dialog.handover": 1.0}).items()
    better = re.sub("definitions: {.*}", "definitions: {}", better)
    world.push("main", platform_files(ceiling="5") | {"regression_set/waiting/better.yaml": better})
    bot = Bot(world, tmp_path / "runs")
    assert bot.on("schedule").codes == (0, 0)
    (pull,) = ours(world)
    assert pull["title"] == f"Swap better for {weak}"
    assert check(world, pull["number"])["conclusion"] == "success"
    settled(bot)
    before = world.head("main")
    after = world.merge(pull["number"], user=CURATOR)
    assert bot.on("push", before=before, after=after).codes == (0, 0)
    assert weak not in entries(world)
    assert "better" in entries(world)
    assert read(world, "better")["admitted"]["displaces"] == [weak]
    assert read(world, f"evicted/{weak}")["evicted"]["by"] == CURATOR
    settled(bot)


@pytest.mark.exhaustive
def test_a_refused_swap_is_not_offered_again(world: World, tmp_path: Path) -> None:
    ((_, better),) = spare("better", "Get me somebody real at once", **{"dialog.handover": 1.0}).items()
    world.push("main", platform_files(ceiling="5") | {"regression_set/waiting/better.yaml": better})
    bot = Bot(world, tmp_path / "runs")
    bot.on("schedule")
    (pull,) = ours(world)
    world.close(pull["number"])
    bot.on("pull_request_target", number=pull["number"], action="closed")
    assert ours(world) == []
    settled(bot)


@pytest.mark.parametrize("method", ["squash", "rebase"])
@pytest.mark.exhaustive
def test_an_eviction_counts_as_merged_however_it_is_merged(world: World, bot: Bot, method: MergeMethod) -> None:
    pull = suggested(world, bot)
    before = world.head("main")
    after = world.merge(pull["number"], method=method)
    assert bot.on("push", before=before, after=after).codes == (0, 0)
    assert "spare-one" not in entries(world)
    assert read(world, "evicted/spare-one")["evicted"]["by"] == CURATOR
    settled(bot)


@pytest.mark.exhaustive
def test_a_reopened_suggestion_is_kept_and_may_be_refused_again(world: World, bot: Bot) -> None:
    pull = suggested(world, bot)
    world.close(pull["number"])
    bot.on("pull_request_target", number=pull["number"], action="closed")
    world.act(CURATOR, "PATCH", f"/pulls/{pull['number']}", {"state": "open"})
    assert bot.on("pull_request_target", number=pull["number"], action="reopened").codes == (0, 0)
    assert [item["number"] for item in ours(world)] == [pull["number"]]
    settled(bot)
    world.close(pull["number"])
    bot.on("pull_request_target", number=pull["number"], action="closed")
    assert ours(world) == []
    settled(bot)


@pytest.mark.exhaustive
def test_where_the_bot_observes_a_required_check_passes_on_its_branches_too(world: World, bot: Bot) -> None:
    pull = suggested(world, bot)
    head = world.push("main", platform_files(mode="observe"))
    world.push(pull["head"]["ref"], {"notes.txt": "a person was here\n"}, user=CURATOR)
    run = bot.on("pull_request_target", number=pull["number"], action="synchronize")
    assert run.codes == (0, 0)
    assert check(world, pull["number"])["output"]["title"] == "Only observed"
    assert {call.method for call in bot.on("schedule").calls} <= {"GET"}
    assert world.head("main") == head


@pytest.mark.exhaustive
def test_a_list_that_lags_behind_a_refusal_opens_nothing(world: World, bot: Bot) -> None:
    pull = suggested(world, bot)
    world.close(pull["number"])
    world.gateway.fail(
        lambda call: call.path.endswith("/pulls") and "state=closed" in call.query, json_response(200, []), 9
    )
    assert bot.on("pull_request_target", number=pull["number"], action="closed").codes == (0, 0)
    assert len(ours(world, "all")) == 1


ALL = "quillow-savings-branch-line-all"
PICTURE, RECORDING, FORM = "speech.picture", "speech.recording", "speech.form"
PAIRS = {"pic-rec": (PICTURE, RECORDING), "rec-form": (RECORDING, FORM), "pic-form": (PICTURE, FORM)}


def repacking_files() -> dict[str, str]:
    """A platform where three entries carry between them what one excluded query of an eval set carries alone."""
    files = platform_files(without="none")
    rows = [{"id": "all", "query": "Thank you, goodbye.", "setup": {"attachments": ["a.png", "b.mp3", "c.pdf"]}}]
    files[EVALS] = yaml.safe_dump({"eval_set": 1, "queries": rows})
    for id, names in PAIRS.items():
        files |= spare(id, f"I send you {id}", **dict.fromkeys(names, 1.0))
    ((path, pinned),) = spare("pic", "Look at this", **{PICTURE: 1.0}).items()
    return files | {path: pinned.replace("pin: null", "pin: an audit wants it")}


@pytest.fixture
def repacking(world: World, tmp_path: Path) -> Bot:
    world.push("main", repacking_files())
    bot = Bot(world, tmp_path / "runs")
    assert bot.on("workflow_dispatch").codes == (0, 0)
    return bot


def repack(world: World) -> Any:
    (pull,) = ours(world)
    assert pull["head"]["ref"].startswith("incumbent/repack/")
    return pull


def test_a_look_through_all_eval_sets_finds_an_excluded_query_that_does_the_work_of_several(
    world: World, tmp_path: Path
) -> None:
    world.push("main", repacking_files())
    bot = Bot(world, tmp_path / "runs")
    assert bot.on("schedule").codes == (0, 0)
    assert ours(world) == []
    assert bot.on("workflow_dispatch").codes == (0, 0)
    pull = repack(world)
    assert pull["title"].startswith(f"Repack: {ALL}")
    assert "does the work of 3 entries" in pull["body"]
    assert check(world, pull["number"])["conclusion"] == "success"
    # No ordinary run reads all eval sets, and each keeps what was found.
    settled(bot)
    before = world.head("main")
    after = world.merge(pull["number"], user=CURATOR)
    assert bot.on("push", before=before, after=after).codes == (0, 0)
    (new,) = [id for id in entries(world) if id.startswith(ALL)]
    assert not PAIRS.keys() & entries(world)
    assert read(world, new)["admitted"]["reasons"] == ["NOVEL_COMBO"]
    for id in PAIRS:
        assert read(world, f"evicted/{id}")["evicted"]["by"] == CURATOR
    settled(bot)
    assert bot.on("workflow_dispatch").codes == (0, 0)
    assert ours(world) == []


@pytest.mark.exhaustive
def test_a_refused_repack_that_people_reopen_stays_open(world: World, repacking: Bot) -> None:
    pull = repack(world)
    world.close(pull["number"])
    assert repacking.on("pull_request_target", number=pull["number"], action="closed").codes == (0, 0)
    world.act(CURATOR, "PATCH", f"/pulls/{pull['number']}", {"state": "open"})
    for _ in range(2):
        assert repacking.on("schedule").codes == (0, 0)
        assert repack(world)["number"] == pull["number"]
    folder = EVALS.rpartition("/")[0]
    world.push("main", {path: None for path in repacking_files() if path.startswith(folder)})
    assert repacking.on("schedule").codes == (0, 0)
    assert was_closed_by_us(world.pull(pull["number"])["body"])


@pytest.mark.exhaustive
def test_a_repack_stays_as_it_is_while_the_default_branch_moves(world: World, repacking: Bot) -> None:
    pull = repack(world)
    for event in ("schedule", "workflow_dispatch"):
        world.push("main", {"README.md": f"Changed before {event}\n"})
        assert repacking.on(event).codes == (0, 0)
        assert repack(world)["head"]["sha"] == pull["head"]["sha"]


@pytest.mark.exhaustive
def test_a_repack_whose_eval_set_cannot_be_read_stays_until_it_can(world: World, repacking: Bot) -> None:
    pull = repack(world)
    text = world.read("main", EVALS)
    world.push("main", {EVALS: "eval_set: 1\nqueries: 7\n"})
    for event in ("schedule", "workflow_dispatch"):
        repacking.on(event)
        assert repack(world)["number"] == pull["number"]
    world.push("main", {EVALS: text})
    settled_by = repacking.on("schedule")
    assert settled_by.codes == (0, 0)
    assert repack(world)["head"]["sha"] == pull["head"]["sha"]


@pytest.mark.exhaustive
def test_a_repack_is_closed_when_what_it_frees_is_pinned(world: World, repacking: Bot) -> None:
    pull = repack(world)
    texts = {id: world.read("main", f"regression_set/{id}.yaml") or "" for id in PAIRS}
    pins = {f"regression_set/{id}.yaml": text.replace("pin: null", "pin: why") for id, text in texts.items()}
    world.push("main", pins)
    assert repacking.on("schedule").codes == (0, 0)
    assert ours(world) == []
    assert was_closed_by_us(world.pull(pull["number"])["body"])
