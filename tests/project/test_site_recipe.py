"""The recipe in the docs for a page of what a pull request would change: what GitHub takes, safe, and whole."""

from __future__ import annotations

import re
from pathlib import Path

from incumbent.pipeline.setup_files import WORKFLOW
from incumbent.report.review_comment import SITE
from tests.factories import REPOSITORY
from tests.project.test_app_recipe import LAST_STEP
from tests.project.test_workflows import OURS, TEMPLATE, load, tool


def workflow_with_site(action: str) -> str:
    """The shipped workflow with the steps of the recipe, for ``action``."""
    page = (REPOSITORY / "docs" / "github.md").read_text(encoding="utf-8")
    found = re.search(r"<!-- site -->\n\n```yaml\n(.*?)```\n\n<!-- /site -->", page, re.DOTALL)
    assert found is not None
    head, _, last = TEMPLATE.read_text(encoding="utf-8").partition(LAST_STEP)
    assert "      - name:" not in last, "the recipe replaces the last step"
    return re.sub(r"uses: ACTION.*", f"uses: {action}", head + found[1])


def test_it_is_what_github_takes_and_the_strictest_auditor_minds_nothing(tmp_path: Path) -> None:
    recipe = tmp_path / WORKFLOW
    recipe.parent.mkdir(parents=True)
    recipe.write_text(workflow_with_site(OURS), encoding="utf-8")
    found = tool("check-jsonschema", "--builtin-schema", "vendor.github-workflows", recipe)
    assert found.returncode == 0, found.stdout + found.stderr
    found = tool("zizmor", "--offline", "--persona=auditor", "--no-progress", recipe)
    assert found.returncode == 0, found.stdout
    new, shipped = load(recipe)["jobs"], load(TEMPLATE)["jobs"]
    assert {name: job["permissions"] for name, job in new.items()} == {
        name: job["permissions"] for name, job in shipped.items()
    }
    judge, keep = new["publish"]["steps"][-2:]
    assert judge["with"].items() > shipped["publish"]["steps"][-1]["with"].items()
    assert keep["with"]["path"] == judge["with"]["site"]
    assert keep["with"]["name"] == SITE
    (handed,) = (step["uses"] for step in shipped["analyse"]["steps"] if "upload-artifact@" in step["uses"])
    assert keep["uses"] == handed
