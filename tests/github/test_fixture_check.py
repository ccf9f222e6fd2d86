"""Fixtures that a pull request's eval set names, and that are not in the folder for them at its head."""

from __future__ import annotations

import pytest
import yaml

from tests.github.test_impact_flow import ACME, desk
from tests.reconcile.runs import agent_files, folder_of, text_of

NEW = text_of("sonnet", {"c": 0.9})


def offered(*fixtures: str) -> dict[str, str | None]:
    """An eval set whose query names ``fixtures``."""
    files: dict[str, str | None] = {**agent_files(ACME, {"q1": NEW})}
    rows = [{"id": "q1", "query": NEW, "setup": {"fixtures": [*fixtures]}}]
    files[f"{folder_of(ACME)}/evals.yaml"] = yaml.safe_dump({"eval_set": 1, "queries": rows}, width=1000)
    return files


@pytest.mark.parametrize(
    ("folder", "more", "missing"),
    [
        (None, {}, None),
        ("mocks", {}, "week.json, ../x"),
        ("mocks", {"mocks/week.json": "{}"}, "../x"),
        ("mocks", {"mocks/week.json": "{}", "x": "outside"}, "../x"),
    ],
)
def test_the_check_names_what_is_missing_at_the_head(
    folder: str | None, more: dict[str, str | None], missing: str | None
) -> None:
    here = desk(fixtures_folder=folder)
    number = here.offer({**offered("week.json", "../x"), **more})
    analysis = here.review(number)
    check = here.hub.checks[here.hub.pulls[number].head]
    assert check.conclusion == ("success" if missing is None else "failure")
    assert [problem.message for problem in analysis.judged.problems] == (
        [] if missing is None else [f"q1: not in mocks/: {missing}"]
    )
    # The query is judged all the same.
    assert [item.query.id for item in analysis.judged.submissions[0].queries] == ["q1"]
    if missing is not None:
        assert "Faults in the input (1)" in here.sticky(number)
        assert [(item.file, item.line) for item in analysis.judged.problems] == [(f"{folder_of(ACME)}/evals.yaml", 3)]


def test_a_pull_request_that_brings_its_fixtures_passes() -> None:
    here = desk(fixtures_folder="mocks")
    number = here.offer({**offered("week.json"), "mocks/week.json": "{}"})
    assert here.review(number).judged.problems == ()
    assert here.hub.checks[here.hub.pulls[number].head].conclusion == "success"
