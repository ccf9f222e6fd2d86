"""The recipe for a GitHub App in the docs: its workflow is what GitHub takes, safe, and nothing that doctor minds."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from incumbent.doctor.diagnosis import diagnose
from incumbent.doctor.workflow import read_workflow
from incumbent.files.documents import parse_yaml
from incumbent.pipeline.setup_files import WORKFLOW
from incumbent.taxonomy.config import REVIEWED_FILES
from tests.doctor.test_diagnosis import FILES, HEALTHY, committing, passed_by
from tests.factories import REPOSITORY
from tests.project.test_workflows import OURS, TEMPLATE, load, tool

PAGE = REPOSITORY / "docs" / "github.md"
LAST_STEP = "      - name: Judge and write\n"


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    """The shipped workflow, changed as the recipe says."""
    found = re.search(
        r"<!-- app -->\n\n```yaml\n(.*?)```\n\n<!-- /app -->", PAGE.read_text(encoding="utf-8"), re.DOTALL
    )
    assert found is not None
    assert "`environment: incumbent` below\n   `needs: analyse`" in PAGE.read_text(encoding="utf-8")
    shipped = TEMPLATE.read_text(encoding="utf-8")
    head, _, last = shipped.partition(LAST_STEP)
    assert "      - name:" not in last, "the recipe replaces the last step"
    text = head.replace("    needs: analyse\n", "    needs: analyse\n    environment: incumbent\n") + found[1]
    path = tmp_path / WORKFLOW
    path.parent.mkdir(parents=True)
    path.write_text(re.sub(r"uses: ACTION.*", f"uses: {OURS}", text), encoding="utf-8")
    return path


def test_it_is_what_github_takes_and_the_strictest_auditor_minds_nothing(recipe: Path) -> None:
    found = tool("check-jsonschema", "--builtin-schema", "vendor.github-workflows", recipe)
    assert found.returncode == 0, found.stdout + found.stderr
    found = tool("zizmor", "--offline", "--persona=auditor", "--no-progress", recipe)
    assert found.returncode == 0, found.stdout


def test_its_step_takes_the_facts_from_where_they_lie(recipe: Path) -> None:
    taken, shipped = (load(file)["jobs"]["publish"]["steps"][-1]["with"] for file in (recipe, TEMPLATE))
    assert taken.items() >= shipped.items()


def test_doctor_finds_nothing_in_it_where_the_rules_let_the_app_by(recipe: Path) -> None:
    workflow = read_workflow(parse_yaml(recipe.read_bytes(), WORKFLOW, REVIEWED_FILES), WORKFLOW)
    facts = committing(*passed_by(20001, here=True))
    files = {"files": replace(facts["files"], workflow=workflow)}
    run_with_its_token = {"token": replace(HEALTHY.token, kind="app")}
    findings = diagnose(replace(HEALTHY, **(facts | files | run_with_its_token)))
    assert [item for item in findings if item.severity != "ok"] == []
    assert any(item.about == "admissions" and "enters main by itself" in item.what for item in findings)
    # Without the recipe the same repository is told.
    before = diagnose(replace(HEALTHY, **(facts | {"files": replace(facts["files"], workflow=FILES.workflow)})))
    assert [item.about for item in before if item.severity != "ok"] == ["admissions"]


def test_only_the_job_that_writes_gets_the_key(recipe: Path) -> None:
    jobs = load(recipe)["jobs"]
    assert "secrets." not in str(jobs["analyse"])
    granted = {name.removeprefix("permission-") for name in jobs["publish"]["steps"][-2]["with"]}
    written = {name for name, level in jobs["publish"]["permissions"].items() if level == "write"}
    assert granted - {"client-id", "private-key"} == written
