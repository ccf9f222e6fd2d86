"""The Action itself, run by act: ``init`` in an empty repository, and the story there, with nothing in this process."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import pytest

from incumbent.cli.main import run
from incumbent.pipeline.setup_files import PAGES, setup_file
from incumbent.report.review_comment import SITE
from tests.e2e.bot import customer_files
from tests.e2e.harness.act import OURS, JobRun, Runner, WorkflowRun, action_copy
from tests.e2e.harness.events import NO_COMMIT
from tests.e2e.harness.needs import demand
from tests.e2e.harness.people import CURATOR, JOB
from tests.e2e.harness.world import World
from tests.e2e.test_fitted_model import recorded, without_embedding
from tests.factories import REPOSITORY
from tests.project.test_site_recipe import workflow_with_site

COMMIT = "0123456789012345678901234567890123456789"
WORKFLOW = ".github/workflows/incumbent.yml"
CUSTOMER = REPOSITORY / "examples" / "customers" / "northwind-tracker" / "tracker"


@pytest.fixture(scope="module")
def action(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Action as GitHub would download it; its packages are installed at the first run."""
    demand("act", "npm packages")
    return action_copy(tmp_path_factory.mktemp("action"))


@pytest.fixture
def runner(tmp_path: Path, action: Path) -> Runner:
    return Runner(tmp_path / "act", {OURS: action})


def tree(folder: Path, below: str = "") -> dict[str, str]:
    return {
        f"{below}{path.relative_to(folder).as_posix()}": path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(folder).parts
    }


@pytest.fixture
def platform(world: World, tmp_path: Path) -> World:
    """What ``init`` writes into an empty repository, pushed."""
    empty = tmp_path / "empty"
    empty.mkdir()
    assert run(["init", "--repo", str(empty), "--action", f"{OURS}@{COMMIT}", "--owner", f"@{CURATOR}"]) == 0
    world.push("main", tree(empty))
    return world


def installed(job: JobRun) -> list[str]:
    """What packages were installed for; each job has a machine of its own."""
    return re.findall(r"set-up: installing the packages of requirements/ for: (\w+)", job.log.text)


def kept_files(run: WorkflowRun, artifact: str) -> dict[str, bytes]:
    """The files of an ``artifact`` of ``run``."""
    (file,) = run.artifacts.rglob(f"{artifact}.zip")
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.exhaustive
def test_a_story_in_an_empty_repository(platform: World, runner: Runner) -> None:
    """A push keeps the packages, which the job that reads takes; the one that writes has its own, and takes nothing.

    Where the workflow asks for a page, what the job that reads found is enough for it.
    """
    push = platform.event("push", before=NO_COMMIT, after=platform.head("main"))
    pushed = runner.run(platform, WORKFLOW, "push", push, jobs=["analyse"])
    assert pushed.ok, pushed.explain()
    assert installed(pushed.jobs["analyse"]) == ["analyse"]
    (kept,) = (path.name for path in runner.caches.iterdir() if path.is_dir())
    assert re.fullmatch(r"incumbent-analyse-\w+-\w+-\d+-\d+", kept)
    pull = platform.open_pull_request("northwind", tree(CUSTOMER, "eval_sets/northwind-tracker/tracker/"))
    event = platform.event("pull_request_target", number=pull.number)
    analysed = runner.run(platform, WORKFLOW, "pull_request_target", event, jobs=["analyse"])
    assert analysed.ok, analysed.explain()
    assert installed(analysed.jobs["analyse"]) == [], "what was kept is whole, though the Action lies elsewhere now"
    assert platform.comments(pull.number) == []
    asked = (runner.caches / "restores").read_text()
    assert set(asked.split()) == {kept}
    # The recipe's job that writes is the shipped one with a page, and does all that it does.
    platform.push("with-page", {WORKFLOW: workflow_with_site(f"{OURS}@{COMMIT}")})
    done = runner.run(platform, WORKFLOW, "pull_request_target", event, earlier=analysed, revision="with-page")
    assert done.ok, done.explain()
    assert installed(done.jobs["publish"]) == ["publish"]
    assert (runner.caches / "restores").read_text() == asked
    (comment,) = platform.comments(pull.number)
    assert comment["user"]["login"] == JOB
    (headline,) = re.findall(r"(?m)^### (\d+ of 20 deserves? a slot.*)$", comment["body"])
    (check,) = platform.checks(pull.head)
    assert (check["name"], check["conclusion"]) == ("Incumbent", "success")
    assert headline in done.jobs["publish"].summary
    assert pull.head[:12] in kept_files(done, SITE)["index.html"].decode()
    assert f"the artifact `{SITE}` at the end of [this run](" in comment["body"]


@pytest.mark.exhaustive
def test_a_taxonomy_of_ones_own_is_fitted_by_a_job_that_takes_nothing_from_a_cache(
    world: World, runner: Runner
) -> None:
    """A review starts once to name the model, and again with what that job kept."""
    workflow = setup_file("incumbent.yml").replace("uses: ACTION", f"uses: {OURS}@{COMMIT}")
    world.push("main", {WORKFLOW: workflow, **without_embedding()})
    push = world.event("push", before=NO_COMMIT, after=world.head("main"))
    pushed = runner.run(world, WORKFLOW, "push", push, jobs=["analyse", "fit"])
    assert pushed.ok, pushed.explain()
    assert pushed.jobs["analyse"].outputs == {"fit": "needed"}
    assert installed(pushed.jobs["fit"]) == ["analyse"]
    (model,) = recorded(world)
    kept = f"incumbent-model-{model['key']}"
    assert [path.name for path in (runner.caches / kept).iterdir()] == [f"embedded-{model['key']}.npz"]
    assert kept not in (runner.caches / "restores").read_text()
    pull = world.open_pull_request("quillow", customer_files())
    event = world.event("pull_request_target", number=pull.number)
    analysed = runner.run(world, WORKFLOW, "pull_request_target", event, jobs=["analyse", "fit"])
    assert analysed.ok, analysed.explain()
    assert analysed.jobs["fit"].result == "skipped"
    assert kept in (runner.caches / "restores").read_text()
    assert f"the fitted model {model['key']} is to be restored first" in analysed.jobs["analyse"].log.text
    assert "is not used" not in analysed.jobs["analyse"].log.text
    facts = json.loads(kept_files(analysed, "incumbent-analysis")["incumbent-analysis.json"])
    assert facts["work"]["stopped"] is None
    assert facts["work"]["classified"] > 0


def test_a_pull_request_of_a_page_installs_nothing(platform: World, runner: Runner) -> None:
    pull = platform.open_pull_request("docs", {"docs/notes.md": "x"})
    event = platform.event("pull_request_target", number=pull.number)
    done = runner.run(platform, WORKFLOW, "pull_request_target", event)
    assert done.ok, done.explain()
    # What fits a model runs for the default branch alone.
    assert sorted(job.result for job in done.jobs.values()) == ["skipped", "success", "success"]
    (check,) = platform.checks(pull.head)
    assert (check["name"], check["conclusion"], check["output"]["title"]) == (
        "Incumbent",
        "success",
        "Nothing to curate",
    )
    assert platform.comments(pull.number) == []
    assert not any(installed(job) for job in done.jobs.values())
    assert not (runner.caches / "restores").exists()


def test_a_comment_without_a_command_runs_nothing(platform: World, runner: Runner) -> None:
    pull = platform.open_pull_request("docs", {"notes.md": "x"})
    said = platform.comment(CURATOR, pull.number, "Looks good to me")
    event = platform.event("issue_comment", number=pull.number, comment=said)
    done = runner.run(platform, WORKFLOW, "issue_comment", event)
    assert {job.result for job in done.jobs.values()} == {"skipped"}
    assert platform.checks(pull.head) == []


RELEASE = f"""\
name: Release
on: workflow_dispatch
jobs:
  evaluate:
    runs-on: ubuntu-latest
    permissions:
      contents: write
    steps:
      - run: |
          mkdir out
          echo '{{"query": "Nobody asks this", "outcome": "failed"}}' > out/one.jsonl
      - uses: {OURS}@{COMMIT}
        with:
          step: results
          results: out/*.jsonl
          release: v1
"""


@pytest.mark.exhaustive
def test_a_job_that_ran_the_set_has_its_results_counted(platform: World, runner: Runner) -> None:
    """It has the few packages of the job that writes, and takes none that another job kept."""
    platform.push("main", {".github/workflows/release.yml": RELEASE})
    done = runner.run(
        platform, ".github/workflows/release.yml", "workflow_dispatch", platform.event("workflow_dispatch")
    )
    assert done.ok, done.explain()
    assert installed(done.jobs["evaluate"]) == ["publish"]
    assert not (runner.caches / "restores").exists()
    assert "### Results of `v1`\n\n0 results counted, of 0 entries\n\n1 fit no entry" in done.jobs["evaluate"].summary
    assert platform.head("incumbent/ledger") is not None


@pytest.mark.exhaustive
def test_the_set_becomes_a_site_for_pages(platform: World, runner: Runner, tmp_path: Path) -> None:
    folder = tmp_path / "again"
    folder.mkdir()
    assert run(["init", "--repo", str(folder), "--action", f"{OURS}@{COMMIT}", "--owner", "@kim", "--pages"]) == 0
    platform.push("main", tree(folder))
    head = str(platform.head("main"))
    event = platform.event("push", before=NO_COMMIT, after=head)
    done = runner.run(platform, PAGES, "push", event)
    assert done.ok, done.explain()
    assert installed(done.jobs["build"]) == ["site"]
    assert list(done.jobs) == ["build", "deploy"]
    page = kept_files(done, "github-pages")["index.html"].decode()
    assert "Without the texts of queries." in page
    assert f"At commit <code>{head[:12]}</code>" in page
