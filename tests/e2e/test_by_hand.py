"""`incumbent ci` run by hand, and in ways that it cannot follow."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from incumbent.cli.main import run
from tests.e2e.bot import WORKFLOW, Bot, customer_files, platform_files
from tests.e2e.harness.faults import Named
from tests.e2e.harness.people import CURATOR, token_of
from tests.e2e.harness.workflow import Workflow
from tests.e2e.harness.world import World


@pytest.fixture
def event(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A pull request's event as a file, and the environment of somebody at a terminal."""
    world.push("main", platform_files())
    pull = world.open_pull_request("quillow", customer_files())
    file = tmp_path / "event.json"
    file.write_text(json.dumps(world.event("pull_request_target", number=pull.number)), encoding="utf-8")
    for name, value in {
        "GITHUB_API_URL": world.url,
        "GITHUB_SERVER_URL": world.url,
        "GITHUB_TOKEN": token_of(CURATOR),
    }.items():
        monkeypatch.setenv(name, value)
    for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_EVENT_NAME", "GITHUB_EVENT_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return file


def call(event: Path, *more: str) -> int:
    return run(["ci", "--event-name", "pull_request_target", "--event", str(event), *more])


def test_a_dry_run_prints_the_plan_and_writes_nothing(
    world: World, event: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mark = world.gateway.mark()
    assert call(event, "--dry-run") == 0
    out = capsys.readouterr().out
    for line in ("would create a comment of", "would write to the ledger:", "would post the check success"):
        assert line in out
    assert {made.method for made in world.gateway.calls_since(mark)} == {"GET"}
    assert world.comments(1) == []


@pytest.mark.exhaustive
def test_the_plan_as_json_is_the_plan_that_is_carried_out(
    world: World, event: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Only apps may write checks, and a job's token is an app's.
    rights = dict.fromkeys(("contents", "checks", "pull-requests"), "write")
    monkeypatch.setenv("GITHUB_TOKEN", world.job_token(rights))
    assert call(event, "--dry-run", "--json") == 0
    planned = json.loads(capsys.readouterr().out)
    assert call(event, "--json") == 0
    done = json.loads(capsys.readouterr().out)
    assert (planned["dry_run"], done["dry_run"]) == (True, False)
    assert done["writes"] == planned["writes"]
    assert done["review"] == planned["review"]


def test_a_token_of_somebody_else_is_told(world: World, event: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(event) == 4
    assert f"set the action's input `login` to {CURATOR}" in capsys.readouterr().err


def test_without_an_event_or_a_token_it_says_what_is_missing(
    event: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["ci"]) == 2
    assert "--event-name NAME" in capsys.readouterr().err
    monkeypatch.delenv("GITHUB_TOKEN")
    assert call(event) == 2
    assert "GITHUB_TOKEN" in capsys.readouterr().err


def test_an_event_that_is_none_is_refused(event: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for text in ("", "[]", "{", '{"action": "opened"}', '"\\ud800"'):
        event.write_text(text, encoding="utf-8")
        assert call(event) == 2, text
        assert "bug" not in capsys.readouterr().err, text


NO_ANALYSES = ("", "{}", "[1]", "\x00", '{"format": 1, "format": 1}', '{"format": 3}', '{"format": NaN}')


def instead(text: str) -> Callable[[str], str]:
    return lambda facts: text


def test_a_document_that_is_no_analysis_is_as_good_as_none(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    world.push("main", platform_files())
    bot = Bot(world, tmp_path / "runs")
    for number, text in enumerate(NO_ANALYSES):
        pull = world.open_pull_request(f"quillow-{number}", customer_files())
        run = bot.on("pull_request_target", number=pull.number, mangle=instead(text))
        assert run.codes == (0, 4), text
        assert "no document of ours" in capsys.readouterr().err, text
        assert [made.path.rpartition("/")[2] for made in run.calls if made.method != "GET"] == ["check-runs"], text
        assert [check["conclusion"] for check in world.checks(pull.head)] == ["failure"], text


@pytest.mark.exhaustive
def test_a_document_of_another_version_asks_for_all_jobs(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """After an upgrade only the failed job is run again: the document is of the version before."""
    world.push("main", platform_files())
    bot = Bot(world, tmp_path / "runs")

    def earlier(text: str) -> str:
        return json.dumps({**json.loads(text), "format": 1})

    pull = world.open_pull_request("quillow", customer_files())
    assert bot.on("pull_request_target", number=pull.number, mangle=earlier).codes == (0, 4)
    (check,) = world.checks(pull.head)
    assert (check["conclusion"], check["output"]["title"]) == ("failure", "Run all jobs again")
    assert "another version of Incumbent" in check["output"]["summary"]
    assert "another version of Incumbent" in capsys.readouterr().err
    assert world.comments(pull.number) == []
    before = world.head("main")
    after = world.push("main", customer_files())
    assert bot.on("push", before=before, after=after, mangle=earlier).codes == (0, 4)
    assert "the first job ran with another version of Incumbent: run all jobs again" in capsys.readouterr().err


def test_facts_about_something_else_fail_the_check(world: World, tmp_path: Path) -> None:
    broken = world.push("main", {"config/curation.yaml": "mode: no\n"})
    world.push("main", platform_files())
    bot = Bot(world, tmp_path / "runs")

    def of_another_taxonomy(facts: Any) -> None:
        facts["judged"]["submissions"][0]["queries"][0]["classification"]["judgements"].popitem()

    cases: dict[str, Callable[[Any], None]] = {
        "another repository": lambda facts: facts.update(repository="acme/other"),
        "another pull request": lambda facts: facts["judged"].update(pull_request=99),
        "a base that is not there": lambda facts: facts["judged"].update(base="0" * 40),
        "the head as its own base": lambda facts: facts["judged"].update(base=facts["judged"]["head"]),
        "a base with faults": lambda facts: facts["judged"].update(base=broken),
        "another taxonomy": of_another_taxonomy,
    }
    for name, change in cases.items():

        def mangle(text: str, change: Callable[[Any], None] = change) -> str:
            facts = json.loads(text)
            change(facts)
            return json.dumps(facts)

        pull = world.open_pull_request(name.replace(" ", "-"), customer_files())
        run = bot.on("pull_request_target", number=pull.number, mangle=mangle)
        assert run.codes == (0, 4), name
        (check,) = world.checks(pull.head)
        assert (check["conclusion"], check["output"]["title"]) == ("failure", "The analysis cannot be used"), name
        assert world.comments(pull.number) == [], name


def test_a_run_whose_head_was_pushed_over_leaves_the_writing_to_the_next(
    world: World, event: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = tmp_path / "facts.json"
    common = ["--event-name", "pull_request_target", "--event", str(event), "--analysis", str(document)]
    assert run(["ci", "analyse", *common]) == 0
    world.push("quillow", {"notes.md": "later"})
    assert run(["ci", "publish", *common]) == 0
    assert "the run of its newest commit writes" in capsys.readouterr().out
    assert world.comments(1) == []


@pytest.mark.parametrize("how", ["500 before", "403 secondary limit with Retry-After"])
@pytest.mark.exhaustive
def test_a_github_that_fails_for_a_moment_is_asked_again(how: Named, world: World, tmp_path: Path) -> None:
    world.push("main", platform_files())
    bot = Bot(world, tmp_path / "runs")
    pull = world.open_pull_request("quillow", customer_files())
    world.gateway.fail(lambda request: request.path.endswith(f"/issues/{pull.number}/comments"), how, 1)
    assert bot.on("pull_request_target", number=pull.number).codes == (0, 0)
    assert len(world.comments(pull.number)) == 1


def test_twenty_queries_cost_few_calls(world: World, tmp_path: Path) -> None:
    world.push("main", platform_files())
    bot = Bot(world, tmp_path / "runs")
    files = customer_files()
    name = next(name for name in files if name.endswith("evals.yaml"))
    lines = [f"  - {{id: n{n:02d}, query: 'What about savings plan number {n * 7919}?'}}" for n in range(20)]
    files[name] = "eval_set: 1\nqueries:\n" + "\n".join(lines) + "\n"
    pull = world.open_pull_request("quillow", files)
    cold = bot.on("pull_request_target", number=pull.number)
    warm = bot.on("pull_request_target", number=pull.number, action="synchronize")
    assert len(cold.calls) <= 11
    assert len(warm.calls) <= 5


@pytest.mark.exhaustive
def test_a_place_that_cannot_be_written_to_is_named(
    world: World,
    event: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(
        "GITHUB_TOKEN", world.job_token(Workflow(WORKFLOW.read_text(encoding="utf-8")).permissions("publish"))
    )
    missing = tmp_path / "missing" / "file"
    for variable in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT", None):
        with monkeypatch.context() as patch:
            if variable is not None:
                patch.setenv(variable, str(missing))
            arguments = ("--analysis", str(missing)) if variable is None else ()
            assert call(event, *arguments) == 4, variable
        assert f"{missing} cannot be written" in capsys.readouterr().err, variable
