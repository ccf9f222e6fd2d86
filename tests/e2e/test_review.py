"""Reviews of pull requests, end to end: git over HTTP, GitHub's API, and the tokens of the shipped workflow."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from incumbent.curator.entry import entry_id
from incumbent.errors import OutsideError
from incumbent.files.git import ObjectStore, blob_id
from incumbent.github.client import GitHubClient, LostRaceError
from incumbent.github.models import Operation, WriteLedger
from incumbent.github.notices import LOST
from tests.e2e.bot import ADMITTED, BRANCH_LINE, WAITING, Bot, customer_files, ids_of, platform_files
from tests.e2e.harness.messages import error
from tests.e2e.harness.people import CURATOR, CUSTOMER, JOB, OUTSIDER, OWNER, STRANGER
from tests.e2e.harness.world import World

MARKER = "<!-- incumbent:verdicts "
LEDGER = "incumbent/ledger"


@pytest.fixture
def bot(world: World, tmp_path: Path) -> Bot:
    world.push("main", platform_files())
    return Bot(world, tmp_path / "runs")


def ours(world: World, number: int) -> list[str]:
    return [item["body"] for item in world.comments(number) if item["user"]["login"] == JOB]


def sticky(world: World, number: int) -> str:
    (body,) = [body for body in ours(world, number) if body.startswith(MARKER)]
    return body


def conclusion(world: World, commit: str) -> str:
    runs = [run for run in world.checks(commit) if run["name"] == "Incumbent"]
    return str(max(runs, key=lambda run: run["id"])["conclusion"])


def test_a_customers_pull_request_gets_its_verdict_comment(world: World, bot: Bot) -> None:
    pull = world.open_pull_request("quillow", customer_files())
    cold = bot.on("pull_request_target", number=pull.number)
    assert cold.codes == (0, 0)
    body = sticky(world, pull.number)
    review = cold.report["review"]
    assert ids_of(review, "admitted") == [ADMITTED]
    waiting = ids_of(review, "waiting-for-review", least=len(WAITING))
    assert {*WAITING} <= {*waiting}
    headline = f"1 of 12 deserves a slot; {len(waiting)} need you"
    assert headline in body
    assert pull.head[:12] in body
    assert conclusion(world, pull.head) == "success"
    assert "incumbent: admits" in world.labels(pull.number)
    assert world.head(LEDGER) is not None
    assert cold.outputs["conclusion"] == "success"
    assert len(review["verdicts"]) == 12
    assert headline in cold.summary
    assert len(cold.calls) <= 20
    warm = bot.on("pull_request_target", number=pull.number, action="synchronize")
    assert warm.codes == (0, 0)
    assert {call.method for call in warm.calls} == {"GET"}
    assert len(warm.calls) <= 10
    assert sticky(world, pull.number) == body


def test_a_second_push_classifies_only_what_changed(world: World, bot: Bot, capsys: pytest.CaptureFixture[str]) -> None:
    pull = world.open_pull_request("quillow", customer_files())
    bot.on("pull_request_target", number=pull.number)
    name = f"{BRANCH_LINE}/evals.yaml"
    changed = customer_files()[name].replace("nearest branch", "nearest office")
    head = world.push("quillow", {name: changed}, user=CUSTOMER)
    capsys.readouterr()
    bot.on("pull_request_target", number=pull.number, action="synchronize", before=pull.head)
    assert "1 queries classified, 11 known from before" in capsys.readouterr().out
    assert head[:12] in sticky(world, pull.number)
    assert len(ours(world, pull.number)) == 1
    assert conclusion(world, head) == "success"


def test_a_fork_is_read_as_data_and_never_checked_out(world: World, bot: Bot) -> None:
    pull = world.open_pull_request("quillow", customer_files(), user=OUTSIDER)
    assert world.pull(pull.number)["head"]["repo"]["full_name"] != world.full_name
    assert world.head("quillow") is None
    run = bot.on("pull_request_target", number=pull.number)
    assert run.codes == (0, 0)
    assert len(run.report["review"]["verdicts"]) == 12
    assert run.report["review"]["headline"] in sticky(world, pull.number)
    assert conclusion(world, pull.head) == "success"


def test_who_may_command_and_who_may_not(world: World, bot: Bot) -> None:
    pull = world.open_pull_request("quillow", customer_files())
    bot.on("pull_request_target", number=pull.number)
    waiting = WAITING[0]
    for user, body in (
        (STRANGER, f"/incumbent accept {waiting}"),
        (CUSTOMER, f"/incumbent accept {waiting}"),
        (CURATOR, f"```\n/incumbent accept {waiting}\n```"),
    ):
        comment = world.comment(user, pull.number, body)
        bot.on("issue_comment", number=pull.number, comment=comment)
        assert "Accepted by" not in sticky(world, pull.number)
    assert len(ours(world, pull.number)) == 3
    comment = world.comment(CURATOR, pull.number, "/incumbent accept all we need them")
    run = bot.on("issue_comment", number=pull.number, comment=comment)
    assert run.codes == (0, 0)
    assert f"Accepted by `{CURATOR}`" in sticky(world, pull.number)
    # What the classifier cannot judge and the rules would leave out, `all` accepts not: somebody has to say so of each.
    (left,) = [item["id"] for item in run.report["review"]["verdicts"] if item["reasons"][-1] == "UNFAMILIAR"]
    comment = world.comment(CURATOR, pull.number, f"/incumbent reject {left} not a language of ours")
    run = bot.on("issue_comment", number=pull.number, comment=comment)
    assert "needs a curator" not in " ".join(world.labels(pull.number))
    assert {item["by"] for item in run.report["decisions"]} == {CURATOR}


def test_an_accepted_query_that_changes_needs_a_new_answer(world: World, bot: Bot) -> None:
    pull = world.open_pull_request("quillow", customer_files())
    first = bot.on("pull_request_target", number=pull.number)
    waiting = ids_of(first.report["review"], "waiting-for-review")[0]
    comment = world.comment(CURATOR, pull.number, f"/incumbent accept {waiting}")
    assert len(bot.on("issue_comment", number=pull.number, comment=comment).report["decisions"]) == 1
    name = f"{BRANCH_LINE}/evals.yaml"
    (turns,) = [item["turns"] for item in first.report["review"]["verdicts"] if item["id"] == waiting]
    changed = customer_files()[name].replace(turns[0], turns[0] + " And please be quick about it.")
    assert changed != customer_files()[name]
    world.push("quillow", {name: changed}, user=CUSTOMER)
    run = bot.on("pull_request_target", number=pull.number, action="synchronize")
    assert run.report["decisions"] == []
    assert "is void" in sticky(world, pull.number)


@pytest.mark.exhaustive
def test_four_hundred_queries_in_one_set(world: World, bot: Bot) -> None:
    files = customer_files()
    name = f"{BRANCH_LINE}/evals.yaml"
    topics = ("savings", "loans", "cards", "branches", "transfers", "pensions", "fees", "alerts")
    lines = [f"  - {{id: n{n:03d}, query: 'Tell me about {topics[n % 8]} in case {n * 7919}'}}" for n in range(400)]
    files[name] = "eval_set: 1\nqueries:\n" + "\n".join(lines) + "\n"
    pull = world.open_pull_request("quillow", files)
    run = bot.on("pull_request_target", number=pull.number)
    assert run.codes == (0, 0)
    body = sticky(world, pull.number)
    assert len(body) <= 65_536
    assert all(f"`n{n:03d}`" in run.summary for n in range(400))
    assert len(run.calls) <= 20


def test_a_merge_group_gets_the_same_check(world: World, bot: Bot) -> None:
    pull = world.open_pull_request("quillow", customer_files())
    bot.on("pull_request_target", number=pull.number)
    head, reference = world.queue(pull.number)
    run = bot.on("merge_group", head=head, head_ref=reference)
    assert run.codes == (0, 0)
    assert conclusion(world, head) == "success"
    assert len(ours(world, pull.number)) == 1


@pytest.mark.exhaustive
def test_a_pull_request_that_also_edits_the_taxonomy_is_judged_by_the_base(world: World, bot: Bot) -> None:
    taxonomy = platform_files()["taxonomy/taxonomy.yaml"]
    taxonomy = taxonomy.replace("description: ", "description: Truly ", 1).replace("version: 1.0.0", "version: 1.0.1")
    files = customer_files() | {"taxonomy/taxonomy.yaml": taxonomy}
    pull = world.open_pull_request("quillow", files)
    run = bot.on("pull_request_target", number=pull.number)
    assert run.codes == (0, 0)
    assert "judged by those of the base" in sticky(world, pull.number)


def test_a_run_that_dies_between_its_jobs_leaves_nothing_and_is_mended(world: World, bot: Bot) -> None:
    pull = world.open_pull_request("quillow", customer_files())
    bot.on("pull_request_target", number=pull.number, die_after_analyse=True)
    assert ours(world, pull.number) == []
    lost = bot.on("pull_request_target", number=pull.number, lose_facts=True)
    assert lost.codes == (0, 4)
    assert conclusion(world, pull.head) == "failure"
    bot.on("pull_request_target", number=pull.number)
    assert conclusion(world, pull.head) == "success"
    assert len(ours(world, pull.number)) == 1


@pytest.mark.exhaustive
def test_without_facts_a_pull_request_that_has_moved_or_is_closed_is_not_failed(world: World, bot: Bot) -> None:
    """The first job may have found nothing to do, and the second that it has changed since: no fault of anybody's."""
    pull = world.open_pull_request("quillow", customer_files())
    started = bot.start("pull_request_target", number=pull.number)
    head = world.push("quillow", {"docs/page.md": "x\n"})
    assert started.publish.run() == 0
    assert world.checks(pull.head) == world.checks(head) == []
    started = bot.start("pull_request_target", number=pull.number)
    world.close(pull.number)
    assert started.publish.run() == 0
    assert world.checks(head) == []


def test_pull_requests_to_other_branches_are_not_curated(world: World, bot: Bot) -> None:
    world.push("release", {"notes.md": "x"})
    pull = world.open_pull_request("quillow", customer_files(), base="release")
    run = bot.on("pull_request_target", number=pull.number)
    assert run.codes == (0, 0)
    assert conclusion(world, pull.head) == "neutral"
    assert ours(world, pull.number) == []


@pytest.mark.exhaustive
def test_a_twin_to_another_branch_hides_no_failure(world: World, bot: Bot) -> None:
    files = customer_files()
    files[f"{BRANCH_LINE}/evals.yaml"] = "eval_set: 1\nqueries:\n  - {id: a, query: 7}\n"
    world.push("release", {"notes.md": "x"})
    pull = world.open_pull_request("quillow", files)
    twin = world.open_pull_request("quillow", base="release")
    assert twin.head == pull.head
    early = bot.on("pull_request_target", number=twin.number)
    assert early.codes == (0, 0)
    assert world.checks(pull.head) == []
    bot.on("pull_request_target", number=pull.number)
    late = bot.on("pull_request_target", number=twin.number, action="synchronize")
    assert late.codes == (0, 0)
    assert [check["conclusion"] for check in world.checks(pull.head)] == ["failure"]


@pytest.mark.exhaustive
def test_a_pull_request_that_turns_to_another_branch_takes_its_verdicts_along(world: World, bot: Bot) -> None:
    world.push("release", {"notes.md": "x"})
    pull = world.open_pull_request("quillow", customer_files())
    bot.on("pull_request_target", number=pull.number)
    before = sticky(world, pull.number)
    for base, comment in (("release", "Not curated here: only pull requests to main are curated."), ("main", before)):
        source = world.pull(pull.number)["base"]["ref"]
        assert world.act(CUSTOMER, "PATCH", f"/pulls/{pull.number}", {"base": base}).ok
        run = bot.on("pull_request_target", number=pull.number, action="edited", former_base=source)
        assert run.codes == (0, 0)
        assert comment in sticky(world, pull.number)
        assert bool(world.labels(pull.number)) == (base == "main")
    assert [check["conclusion"] for check in world.checks(pull.head)] == ["success"]


@pytest.mark.exhaustive
def test_a_comment_on_a_pull_request_to_another_branch_classifies_nothing(
    world: World, bot: Bot, capsys: pytest.CaptureFixture[str]
) -> None:
    world.push("release", {"notes.md": "x"})
    pull = world.open_pull_request("quillow", customer_files(), base="release")
    comment = world.comment(CURATOR, pull.number, "/incumbent run")
    assert bot.on("issue_comment", number=pull.number, comment=comment).codes == (0, 0)
    assert "nothing to analyse: only pull requests to main are curated" in capsys.readouterr().out
    # Its run may have taken the place of the push's.
    assert conclusion(world, pull.head) == "neutral"
    assert ours(world, pull.number) == []


def test_where_the_bot_observes_it_follows_and_holds_nothing_and_fails_no_check(world: World, tmp_path: Path) -> None:
    world.push("main", platform_files(mode="observe", hold_first_time_contributors="true", curators="[]"))
    bot = Bot(world, tmp_path / "runs")
    pull = world.open_pull_request("quillow", customer_files(), user=OUTSIDER)
    comment = world.comment(CURATOR, pull.number, "/incumbent accept all")
    run = bot.on("issue_comment", number=pull.number, comment=comment)
    assert run.codes == (0, 0)
    assert len(run.report["review"]["verdicts"]) == 12
    assert run.report["review"]["headline"] in sticky(world, pull.number)
    assert "/incumbent" not in sticky(world, pull.number)
    foreign = bot.on("pull_request_target", number=pull.number, mangle=lambda text: text.replace('"acme/', '"other/'))
    assert foreign.codes == (0, 0)
    assert {check["conclusion"] for check in world.checks(pull.head)} == {"success"}
    assert len(ours(world, pull.number)) == 1


RECORD, SHARD = "pull_requests/1.json", "pull_requests.shards/1/0.json"
MANGLES: dict[str, tuple[str, Callable[[str], str]]] = {
    "no JSON": (RECORD, lambda text: "{"),
    "of another pull request": (RECORD, lambda text: text.replace('"pull_request": 1', '"pull_request": 2')),
    "a shard that is no JSON": (SHARD, lambda text: "{"),
    "an unheard-of arbitration": (SHARD, lambda text: text.replace('"values"', '"arbitrated":[999],"values"')),
    "unheard-of capabilities": (
        SHARD,
        lambda text: re.sub(r'"capabilities":\[\["[\w.-]+"', '"capabilities":[["x"', text),
    ),
}


@pytest.mark.exhaustive
def test_a_mangled_ledger_is_as_good_as_none(
    world: World, bot: Bot, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    pull = world.open_pull_request("quillow", customer_files())
    bot.on("pull_request_target", number=pull.number)
    body = sticky(world, pull.number)
    whole = {path: world.read(LEDGER, path) or "" for path in (RECORD, SHARD)}
    for name, (path, mangle) in MANGLES.items():
        assert mangle(whole[path]) != whole[path], name
        caplog.clear()
        world.push(LEDGER, {**whole, path: mangle(whole[path]), "pull_requests/\u00b2.json": whole[RECORD]})
        assert bot.on("pull_request_target", number=pull.number, action="synchronize").codes == (0, 0), name
        assert (LOST in sticky(world, pull.number)) == (path == RECORD), name
        assert (f"the ledger lost {path}" in caplog.text) == (name != "unheard-of capabilities"), name
        assert capsys.readouterr().err.count(f"the ledger lost {path}") == 2 * (name != "unheard-of capabilities"), name
        assert world.read(LEDGER, path) == whole[path], name
        kept = f"damaged/{path.removesuffix('.json')}-{blob_id(mangle(whole[path]))[:12]}.json"
        assert (world.read(LEDGER, kept) is not None) == (path == RECORD), name
        bot.on("pull_request_target", number=pull.number, action="synchronize")
        assert sticky(world, pull.number) == body, name
        head, reference = world.queue(pull.number)
        assert bot.on("merge_group", head=head, head_ref=reference).codes == (0, 0), name


def test_a_ledger_of_a_later_version_is_not_touched(world: World, bot: Bot, capsys: pytest.CaptureFixture[str]) -> None:
    pull = world.open_pull_request("quillow", customer_files())
    bot.on("pull_request_target", number=pull.number)
    before = world.push(LEDGER, {"format.json": '{"format": 99, "later": 1}', RECORD: '{"later": 1}'})
    said = "incumbent/ledger:format.json:1: format: 99 was written by a later version, nothing was changed"
    run = bot.on("pull_request_target", number=pull.number, action="synchronize")
    assert run.codes[0] == 1
    assert said in capsys.readouterr().err
    assert conclusion(world, pull.head) == "failure"
    main = world.head("main")
    assert bot.on("push", before=main, after=world.merge(pull.number)).codes[0] == 1
    assert said in capsys.readouterr().err
    assert world.head(LEDGER) == before


@pytest.mark.exhaustive
def test_a_ledger_that_may_not_be_written_is_no_race(
    world: World, bot: Bot, capsys: pytest.CaptureFixture[str]
) -> None:
    pull = world.open_pull_request("quillow", customer_files())
    fault = world.gateway.fail(
        lambda request: request.method == "POST" and request.path.endswith("/git/refs"), "422", 9
    )
    assert bot.on("pull_request_target", number=pull.number).codes == (0, 4)
    assert "GitHub refuses POST /git/refs (422)" in capsys.readouterr().err
    assert fault.happened == 1
    (check,) = world.checks(pull.head)
    assert (check["conclusion"], check["output"]["title"]) == ("failure", "The review could not be written")
    assert ours(world, pull.number) == []
    world.gateway.faults.clear()
    assert bot.on("pull_request_target", number=pull.number).codes == (0, 0)
    assert conclusion(world, pull.head) == "success"


def test_who_was_a_curator_when_the_facts_were_found_decides_nothing_now(world: World, tmp_path: Path) -> None:
    world.push("main", platform_files(curators=f"[{CURATOR}]"))
    bot = Bot(world, tmp_path / "runs")
    pull = world.open_pull_request("quillow", customer_files())
    bot.on("pull_request_target", number=pull.number)
    comment = world.comment(CURATOR, pull.number, "/incumbent accept all we need them")

    def meanwhile(facts: str) -> str:
        world.push("main", platform_files(curators=f"[{OWNER}]"))
        return facts

    run = bot.on("issue_comment", number=pull.number, comment=comment, mangle=meanwhile)
    assert run.report["decisions"] == []
    said = [check["output"]["summary"] for check in world.checks(pull.head)]
    assert any("config have changed since the analysis" in text for text in said)
    bot.on("issue_comment", number=pull.number, comment=comment)
    assert "you are not among the curators" in ours(world, pull.number)[-1]


def test_a_token_that_may_not_ask_for_permissions_says_what_to_do(world: World, bot: Bot) -> None:
    world.push("main", platform_files(curators="[]"))
    pull = world.open_pull_request("quillow", customer_files())
    bot.on("pull_request_target", number=pull.number)
    comment = world.comment(CURATOR, pull.number, "/incumbent accept all")
    world.gateway.fail(lambda request: request.path.endswith("/permission"), error(403, "Forbidden"), 9)
    assert bot.on("issue_comment", number=pull.number, comment=comment).codes == (0, 0)
    assert "name the curators in config/curation.yaml" in ours(world, pull.number)[-1]


def test_a_pull_request_without_eval_sets_passes(world: World, bot: Bot) -> None:
    pull = world.open_pull_request("docs", {"README.md": "words"})
    run = bot.on("pull_request_target", number=pull.number)
    assert conclusion(world, pull.head) == "success"
    assert ours(world, pull.number) == []
    assert world.head(LEDGER) is None
    assert len([call for call in run.calls if call.method != "GET"]) == 1


def test_the_set_is_not_changed_by_hand_unless_a_curator_allows_it(world: World, bot: Bot) -> None:
    name = min(name for name in platform_files() if name.startswith("regression_set/"))
    edited = platform_files()[name].replace("pin: null", "pin: because I say so")
    pull = world.open_pull_request("edit", {name: edited})
    assert bot.on("pull_request_target", number=pull.number).codes == (0, 0)
    assert conclusion(world, pull.head) == "failure"
    comment = world.comment(CURATOR, pull.number, "/incumbent accept regression_set agreed")
    assert bot.on("issue_comment", number=pull.number, comment=comment).codes == (0, 0)
    assert conclusion(world, pull.head) == "success"
    remark = world.open_pull_request("remark", {"regression_set/README.md": "words", "regression_set/why.txt": "x"})
    assert bot.on("pull_request_target", number=remark.number).codes == (0, 0)
    removal = world.open_pull_request("remove", {name: None})
    assert bot.on("pull_request_target", number=removal.number).codes == (0, 0)
    assert conclusion(world, removal.head) == "failure"
    assert "without a tombstone" in sticky(world, removal.number)


def test_broken_input_fails_the_check_with_every_fault(world: World, bot: Bot) -> None:
    files = customer_files()
    files[f"{BRANCH_LINE}/evals.yaml"] = "eval_set: 1\nqueries:\n  - {id: a, query: 7}\n  - {id: b}\n"
    pull = world.open_pull_request("quillow", files)
    run = bot.on("pull_request_target", number=pull.number)
    assert run.codes == (0, 0)
    assert conclusion(world, pull.head) == "failure"
    assert "evals.yaml:3" in sticky(world, pull.number)
    assert "evals.yaml:4" in sticky(world, pull.number)


@pytest.mark.exhaustive
def test_a_renamed_folder_is_a_rename(world: World, bot: Bot) -> None:
    base = platform_files()
    folder = "eval_sets/tarnbeck-bank/card-line"
    moved: dict[str, str | None] = {name: None for name in base if name.startswith(folder)}
    moved |= {name.replace("card-line", "cards"): text for name, text in base.items() if name.startswith(folder)}
    pull = world.open_pull_request("rename", moved)
    run = bot.on("pull_request_target", number=pull.number)
    settled = run.report["review"]["settled"]
    assert len(settled) == len([name for name in base if name.startswith("regression_set/") and name.count("/") == 1])


@pytest.mark.exhaustive
def test_an_edit_of_a_merged_query_is_an_update_of_its_entry(world: World, bot: Bot) -> None:
    base = platform_files()
    entry = yaml.safe_load(next(text for name, text in base.items() if name.startswith("regression_set/")))
    name, turn = entry["source"]["eval_set"], entry["turns"][0]
    assert turn in base[name]
    pull = world.open_pull_request("edit", {name: base[name].replace(turn, turn + " Thank you.")})
    review = bot.on("pull_request_target", number=pull.number).report["review"]
    assert review["edited"] == {entry["source"]["item"]: entry["id"]}


@pytest.mark.exhaustive
def test_two_agents_in_one_pull_request_are_one_cycle(world: World, bot: Bot) -> None:
    twin = {name.replace("branch-line", "counter"): text for name, text in customer_files().items()}
    pull = world.open_pull_request("quillow", customer_files() | twin)
    run = bot.on("pull_request_target", number=pull.number)
    review = run.report["review"]
    assert [item["agent"] for item in review["submissions"]] == ["branch-line", "counter"]
    assert len(review["verdicts"]) == 24
    clones = [item for item in review["verdicts"] if "CLONE" in item["reasons"]]
    assert any(item["facts"]["most_similar"].startswith("quillow-savings/") for item in clones)


@pytest.mark.exhaustive
def test_observing_writes_a_comment_and_a_passing_check_alone(world: World, tmp_path: Path) -> None:
    world.push("main", platform_files(mode="observe"))
    bot = Bot(world, tmp_path / "runs")
    pull = world.open_pull_request("quillow", customer_files())
    bot.on("pull_request_target", number=pull.number)
    assert "Observing" in sticky(world, pull.number)
    assert conclusion(world, pull.head) == "success"
    assert world.labels(pull.number) == []
    assert world.head(LEDGER) is None


@pytest.mark.exhaustive
def test_a_first_contribution_waits_where_the_config_says_so(world: World, tmp_path: Path) -> None:
    world.push("main", platform_files(hold_first_time_contributors="true", curators=f"[{CURATOR}]"))
    bot = Bot(world, tmp_path / "runs")
    pull = world.open_pull_request("quillow", customer_files(), user=OUTSIDER)
    held = bot.on("pull_request_target", number=pull.number)
    assert (held.codes, conclusion(world, pull.head)) == ((0, 0), "failure")
    comment = world.comment(STRANGER, pull.number, "/incumbent run")
    assert bot.on("issue_comment", number=pull.number, comment=comment).codes == (0, 0)
    assert conclusion(world, pull.head) == "failure"
    comment = world.comment(CURATOR, pull.number, "/incumbent run")
    released = bot.on("issue_comment", number=pull.number, comment=comment)
    assert released.codes == (0, 0)
    assert released.report["review"] is not None
    later = bot.on("pull_request_target", number=pull.number, action="synchronize")
    assert later.codes == (0, 0)


def test_a_race_for_the_ledger_is_planned_again(world: World, bot: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    first = world.open_pull_request("quillow", customer_files())
    bot.on("pull_request_target", number=first.number)
    twin = {name.replace("branch-line", "counter"): text for name, text in customer_files().items()}
    second = world.open_pull_request("other", twin)
    apply, others = GitHubClient.apply, iter(("faster.json", "faster-again.json"))
    waits: list[int] = []

    def be_slower(self: GitHubClient, number: int | None, operation: Operation, tree: str | None = None) -> None:
        name = next(others, None) if isinstance(operation, WriteLedger) else None
        if name is not None:
            world.push(LEDGER, {f"pull_requests/{name}": "{}"})
        apply(self, number, operation, tree)

    monkeypatch.setattr(GitHubClient, "apply", be_slower)
    monkeypatch.setattr("incumbent.cli.ci._wait", waits.append)
    run = bot.on("pull_request_target", number=second.number)
    assert run.codes == (0, 0)
    assert waits == [1, 2]
    assert world.read(LEDGER, "pull_requests/faster-again.json") is not None
    assert world.read(LEDGER, f"pull_requests/{second.number}.json") is not None
    assert world.read(LEDGER, f"pull_requests/{first.number}.json") is not None
    assert len(ours(world, second.number)) == 1


@pytest.mark.exhaustive
def test_queries_that_would_share_an_entry_are_refused(world: World, bot: Bot) -> None:
    files = customer_files()
    twins = ("q::=.+_02", "q!~__.-02")
    assert len({entry_id("quillow-savings", "branch-line", name) for name in twins}) == 1
    rows = "".join(f"  - {{id: '{name}', query: 'Say {name} in words, please'}}\n" for name in twins)
    files[f"{BRANCH_LINE}/evals.yaml"] = f"eval_set: 1\nqueries:\n{rows}"
    pull = world.open_pull_request("quillow", files)
    run = bot.on("pull_request_target", number=pull.number)
    assert run.codes == (0, 0)
    assert conclusion(world, pull.head) == "failure"
    assert "evals.yaml:4" in sticky(world, pull.number)
    assert "give the query another id" in sticky(world, pull.number)
    assert list(run.report["review"]["verdicts"][0]["turns"]) == ["Say q::=.+_02 in words, please"]


@pytest.mark.exhaustive
def test_a_query_under_another_id_is_a_rename(world: World, bot: Bot) -> None:
    base = platform_files()
    entry = yaml.safe_load(next(text for name, text in base.items() if name.startswith("regression_set/")))
    name, item = entry["source"]["eval_set"], entry["source"]["item"]
    assert f"id: {item}" in base[name]
    pull = world.open_pull_request("rename", {name: base[name].replace(f"id: {item}", "id: called-anew")})
    review = bot.on("pull_request_target", number=pull.number).report["review"]
    assert review["settled"]["called-anew"] == entry["id"]
    assert "called-anew" not in [verdict["id"] for verdict in review["verdicts"]]


@pytest.mark.exhaustive
def test_a_fetch_that_fails_leaves_a_failing_check(world: World, bot: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    pull = world.open_pull_request("quillow", customer_files())

    def break_down(facts: str) -> str:
        monkeypatch.setattr(ObjectStore, "fetch", refuse)
        return facts

    def refuse(*_: object, **__: object) -> dict[str, str]:
        raise OutsideError("the network is away")

    assert bot.on("pull_request_target", number=pull.number, mangle=break_down).codes == (0, 4)
    assert conclusion(world, pull.head) == "failure"


@pytest.mark.exhaustive
def test_lost_races_leave_a_check_that_is_there(world: World, bot: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    pull = world.open_pull_request("quillow", customer_files())
    bot.on("pull_request_target", number=pull.number)

    def lose(self: GitHubClient, number: int | None, operation: Operation, tree: str | None = None) -> None:
        raise LostRaceError("somebody was faster")

    monkeypatch.setattr(GitHubClient, "apply", lose)
    monkeypatch.setattr("incumbent.cli.ci._wait", lambda attempt: None)
    comment = world.comment(CURATOR, pull.number, "/incumbent accept all")
    assert bot.on("issue_comment", number=pull.number, comment=comment).codes == (0, 4)
    assert conclusion(world, pull.head) == "success"
