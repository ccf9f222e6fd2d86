"""The Action and the workflow that we hand out: well-formed, safe by the strictest auditor, and as documented."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from incumbent.cli.ci import DOCUMENT
from incumbent.github.events import DEFAULT_BRANCH_EVENTS
from incumbent.github.managed_pull_request import FOLDERS
from incumbent.ledger.model import BRANCH
from tests.factories import REPOSITORY

TEMPLATE = REPOSITORY / "bot" / "incumbent" / "pipeline" / "setup_files" / "incumbent.yml"
PAGES = TEMPLATE.with_name("incumbent-pages.yml")
ACTION = REPOSITORY / "action.yml"
DEPENDABOT = REPOSITORY / ".github" / "dependabot.yml"
OWN = sorted((REPOSITORY / ".github" / "workflows").glob("*.yml"))
SMOKE = REPOSITORY / ".github" / "workflows" / "smoke.yml"
CI = REPOSITORY / ".github" / "workflows" / "ci.yml"
NIGHTLY = REPOSITORY / ".github" / "workflows" / "nightly.yml"
RELEASE = REPOSITORY / ".github" / "workflows" / "release.yml"
FORMS = REPOSITORY / ".github" / "ISSUE_TEMPLATE"
OURS = "example/incumbent@0123456789012345678901234567890123456789"


@pytest.fixture
def workflow(tmp_path: Path) -> Path:
    """The workflow as `incumbent init` writes it."""
    path = tmp_path / ".github" / "workflows" / "incumbent.yml"
    path.parent.mkdir(parents=True)
    path.write_text(TEMPLATE.read_text(encoding="utf-8").replace("uses: ACTION", f"uses: {OURS}"), encoding="utf-8")
    return path


@pytest.fixture
def pages(workflow: Path) -> Path:
    """The workflow that `incumbent init --pages` writes beside it."""
    path = workflow.with_name("incumbent-pages.yml")
    path.write_text(PAGES.read_text(encoding="utf-8").replace("uses: ACTION", f"uses: {OURS}"), encoding="utf-8")
    return path


def tool(name: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name(name)), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout


def load(path: Path) -> dict[str, Any]:
    data: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    return data


def test_the_strictest_auditor_finds_nothing_but_the_one_explained_ignore(workflow: Path, pages: Path) -> None:
    files = (workflow, pages, ACTION, DEPENDABOT, *OWN)
    found = tool("zizmor", "--offline", "--persona=auditor", "--no-progress", *files)
    assert found.returncode == 0, found.stdout
    assert "zizmor: ignore" not in pages.read_text()
    ignores = [line for line in workflow.read_text().splitlines() if "zizmor: ignore" in line]
    assert len(ignores) == 1
    assert "dangerous-triggers" in ignores[0]
    assert "zizmor: ignore" not in ACTION.read_text()


def test_they_are_what_github_takes(workflow: Path, pages: Path) -> None:
    kinds = {
        "github-workflows": [workflow, pages, *OWN],
        "github-actions": [ACTION],
        "dependabot": [DEPENDABOT],
        "github-issue-forms": [FORMS / "bug.yml", FORMS / "feature.yml"],
        "github-issue-config": [FORMS / "config.yml"],
    }
    for schema, paths in kinds.items():
        found = tool("check-jsonschema", "--builtin-schema", f"vendor.{schema}", *paths)
        assert found.returncode == 0, found.stdout + found.stderr


def test_every_action_is_pinned_by_its_commit(workflow: Path, pages: Path) -> None:
    texts = [path.read_text(encoding="utf-8") for path in (workflow, pages, ACTION, *OWN)]
    used = re.findall(r"uses: (\S+)", "".join(texts))
    assert used
    assert all(
        re.fullmatch(r"\./|\./\.github/workflows/ci\.yml|[\w.-]+(/[\w.-]+)+@[0-9a-f]{40}", name) for name in used
    )


def test_new_versions_are_looked_for_wherever_something_is_pinned() -> None:
    """Actions, packages of Python and npm, and the base image of the container."""
    tracked = git("ls-files").splitlines()
    found = {
        "github-actions": {path.parent for path in (ACTION, TEMPLATE)},
        "pip": {REPOSITORY / "requirements"},
        "npm": {(REPOSITORY / path).parent for path in tracked if path.endswith("/package-lock.json")},
        "docker": {REPOSITORY},
    }
    updates = load(DEPENDABOT)["updates"]
    places = {each["package-ecosystem"]: each.get("directories", [each.get("directory")]) for each in updates}
    assert len(places) == len(updates)
    assert {
        kind: {(REPOSITORY / place.strip("/")).resolve() for place in named} for kind, named in places.items()
    } == found


def test_every_python_that_the_package_names_is_tested() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [found[1] for each in project["classifiers"] if (found := re.search(r":: Python :: (3\.\d+)$", each))]
    jobs = load(CI)["jobs"]
    assert jobs["tests"]["strategy"]["matrix"]["python"] == named
    assert jobs["systems"]["strategy"]["matrix"]["python"] == [named[0], named[-1]]
    assert project["requires-python"] == f">={named[0]}"
    assert f'target-version = "py{named[0].replace(".", "")}"' in (REPOSITORY / "pyproject.toml").read_text()
    candidates = re.search(r'^candidates="(.*)"', (REPOSITORY / "dev" / "setup.sh").read_text(), re.MULTILINE)
    assert candidates is not None
    assert {f"python{version}" for version in named} <= set(candidates[1].split())


def test_the_tests_of_other_systems_and_of_each_python_exist() -> None:
    steps = [step.get("run", "") for job in load(CI)["jobs"].values() for step in job["steps"]]
    named = {path for run in steps for path in re.findall(r"\btests/[\w/]+(?:\.py)?", run)}
    assert len(named) > 3
    assert all((REPOSITORY / path).exists() for path in named)


def test_that_verdicts_are_the_same_on_arm_is_required() -> None:
    for file in (CI, NIGHTLY):
        job = load(file)["jobs"]["verdicts"]
        assert job["strategy"]["matrix"]["system"] == ["ubuntu-24.04", "ubuntu-24.04-arm", "macos-15"]
        assert "continue-on-error" not in job
        assert any("tests/classifier/test_same_bytes.py" in step.get("run", "") for step in job["steps"])
    (step,) = load(CI)["jobs"]["passed"]["steps"]
    assert "needs.verdicts.result" in step["env"]["RESULTS"]


def test_one_check_stands_for_all_of_ci() -> None:
    jobs = load(CI)["jobs"]
    assert set(jobs["passed"]["needs"]) == set(jobs) - {"passed"}
    assert jobs["passed"]["if"] == "always()"


def test_a_release_runs_code_of_the_repository_only_where_nothing_can_be_written() -> None:
    """Jobs that may sign, publish or write take built files, and check out and install nothing."""
    jobs = load(RELEASE)["jobs"]
    assert load(RELEASE)["permissions"] == {}
    for name, job in jobs.items():
        rights = {right for right, level in job["permissions"].items() if level == "write"}
        used = [step.get("uses", "").partition("@")[0] for step in job.get("steps", [])]
        if rights:
            assert not {"actions/checkout", "actions/setup-python"} & set(used), name
            assert not any("python" in step.get("run", "") for step in job["steps"]), name
    assert jobs["index"]["environment"] == "pypi"
    assert jobs["index"]["permissions"] == {"id-token": "write"}
    assert set(jobs["provenance"]["needs"]) == {"ci", "build"}
    assert jobs["index"]["needs"] == "provenance"
    assert jobs["github"]["needs"] == "index"


@pytest.mark.parametrize("file", [TEMPLATE, PAGES], ids=lambda path: path.name)
def test_pushes_to_the_bots_own_branches_alone_start_nothing(file: Path) -> None:
    push = load(file)["on"]["push"]
    assert list(push) == ["branches-ignore"]
    own = {f"{name.partition('/')[0]}/**" for name in (BRANCH, *FOLDERS)}
    assert set(push["branches-ignore"]) == own | {"gh-readonly-queue/**"}


@pytest.mark.parametrize("file", [TEMPLATE, SMOKE], ids=lambda path: path.name)
def test_the_facts_lie_where_the_runner_clears_up_for_each_job(file: Path) -> None:
    folder = "${{ runner.temp }}"
    jobs = load(file)["jobs"]
    given = {
        step["uses"].partition("@")[0]: step["with"]
        for name in ("analyse", "publish")
        for step in jobs[name]["steps"]
        if "artifact@" in step["uses"]
    }
    assert given["actions/upload-artifact"]["path"] == f"{folder}/{DOCUMENT}"
    assert given["actions/download-artifact"]["path"] == folder
    for name in ("analyse", "publish"):
        (step,) = (step for step in jobs[name]["steps"] if step["with"].get("step") == name)
        assert step["with"]["analysis"] == f"{folder}/{DOCUMENT}"


def test_the_job_that_writes_restores_nothing_and_only_runs_without_a_pull_request_keep_packages() -> None:
    steps = load(ACTION)["runs"]["steps"]
    names = [step["name"] for step in steps]
    restore, model = (step for step in steps if "cache/restore@" in step.get("uses", ""))
    save, keep = (step for step in steps if "cache/save@" in step.get("uses", ""))
    assert not [step for step in steps if "actions/cache@" in step.get("uses", "")]
    for step in (restore, model, save, keep):
        assert f"inputs.step == '{'fit' if step is keep else 'analyse'}'" in step["if"]
        assert "restore-keys" not in step["with"]
    for step in (save, keep):
        assert re.findall(r"github.event_name == '(\w+)'", step["if"]) == ["push", "schedule", "workflow_dispatch"]
    assert names.index(restore["name"]) < names.index(save["name"]) < names.index("Run")
    assert names[-4:] == ["Run", keep["name"], model["name"], "Run with the model, if it is the one on the ledger"]
    assert model["with"] == {name: keep["with"][name] for name in ("path", "key")}


def test_a_model_is_fitted_only_by_a_run_of_no_pull_request(workflow: Path) -> None:
    jobs = load(workflow)["jobs"]
    assert jobs["fit"]["permissions"] == {"contents": "write"}
    assert jobs["fit"]["needs"] == "analyse"
    assert "needs.analyse.outputs.fit == 'needed'" in jobs["fit"]["if"]
    assert set(re.findall(r"github.event_name == '(\w+)'", jobs["fit"]["if"])) == DEFAULT_BRANCH_EVENTS
    assert [step["with"] for step in jobs["fit"]["steps"]] == [{"step": "fit"}]


def test_the_job_that_reads_hostile_data_can_write_nothing(workflow: Path) -> None:
    jobs = load(workflow)["jobs"]
    assert load(workflow)["permissions"] == {}
    assert jobs["analyse"]["permissions"] == {"contents": "read", "pull-requests": "read"}
    assert jobs["publish"]["permissions"] == {
        "actions": "read",
        "contents": "write",
        "checks": "write",
        "pull-requests": "write",
        "issues": "write",
    }
    assert "secrets." not in workflow.read_text()


def test_the_job_that_publishes_the_site_runs_nothing_of_the_repository(pages: Path) -> None:
    workflow = load(pages)
    jobs = workflow["jobs"]
    assert workflow["permissions"] == {}
    assert jobs["build"]["permissions"] == {"contents": "read"}
    assert jobs["deploy"]["permissions"] == {"pages": "write", "id-token": "write"}
    assert [step["uses"].partition("@")[0] for step in jobs["deploy"]["steps"]] == ["actions/deploy-pages"]
    checkout, write, keep = jobs["build"]["steps"]
    assert checkout["with"] == {"fetch-depth": "0", "persist-credentials": "false"}
    assert write["with"]["without-texts"] == "true"
    assert write["with"]["site"] == keep["with"]["path"]
    assert "secrets." not in pages.read_text()


def test_nothing_is_checked_out(workflow: Path) -> None:
    assert "actions/checkout" not in workflow.read_text() + ACTION.read_text()


def test_no_event_that_needs_the_check_is_filtered_away(workflow: Path) -> None:
    events = load(workflow)["on"]
    reviewing, after = (
        {"pull_request_target", "issue_comment", "merge_group"},
        {"push", "schedule", "workflow_dispatch", "issues"},
    )
    assert set(events) == reviewing | after
    wanted = {"opened", "reopened", "synchronize", "edited", "ready_for_review", "closed"}
    assert set(events["pull_request_target"]["types"]) == wanted
    assert not {"paths", "paths-ignore", "branches"} & set(events["pull_request_target"])


def test_nothing_from_a_stranger_reaches_a_shell(workflow: Path, pages: Path) -> None:
    for step in load(ACTION)["runs"]["steps"]:
        assert "${{" not in step.get("run", "")
    for job in (*load(workflow)["jobs"].values(), *load(pages)["jobs"].values()):
        assert all("run" not in step for step in job["steps"])


def test_inputs_and_outputs_are_documented_as_they_are() -> None:
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    section = text.split("### The Action")[1].split("| read on |")[0]
    tables = section.split("| output |")
    action = load(ACTION)
    for table, declared in zip(tables, (action["inputs"], action["outputs"]), strict=True):
        assert re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE) == list(declared)
    for name, said in action["inputs"].items():
        default = said.get("default", "")
        row = next(line for line in tables[0].splitlines() if line.startswith(f"| `{name}` |"))
        assert default in row or default == "${{ github.token }}"
