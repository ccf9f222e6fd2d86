"""What people refused, read from the ledger of a clone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import git
import pytest

from incumbent.cli.main import run
from incumbent.curator.suggestions import suggest
from incumbent.files.git.working_copy import commit_on_branch
from incumbent.ledger.clone import LocalRefusals, refused_in
from incumbent.ledger.model import BRANCH, REQUESTS, SUGGESTIONS, Refusal, Request, RequestRecord, SuggestionRecord
from incumbent.ledger.refusals import standing_refusals
from incumbent.ledger.store import record_text
from incumbent.pipeline.workspace import open_platform
from incumbent.reconcile.suggestion_pull_requests import EVICT, branch_of
from incumbent.site.content import read_site
from tests.e2e.bot import platform_files
from tests.e2e.test_suggestions import spare

CONFIG = "config/curation.yaml"
AT = "2026-11-28T05:00:00Z"
ONE, TWO, THREE = "1" * 16, "2" * 16, "3" * 16
RECORD = SuggestionRecord(
    refusals=(
        Refusal(pull_request=5, branch=branch_of(EVICT, "x", ONE)),
        Refusal(pull_request=6, branch=f"incumbent/group/mixed-x-{TWO}", entries={"y": TWO, "z": THREE}),
    )
)


def request(action: str, entry: str, grounds: str, comment: int, **more: Any) -> Request:
    fields = {"entry": entry, "action": action, "by": "cora", "comment": comment, "said": "0" * 24, "grounds": grounds}
    return Request.model_validate(fields | more)


def test_refusals_and_what_people_keep_hold_unless_somebody_asked_again() -> None:
    assert standing_refusals(SuggestionRecord(), None) == {}
    assert standing_refusals(RECORD, None).keys() == {ONE, TWO, THREE}
    keep, again = request("keep", "w", "4" * 16, 9), request("suggest", "x", ONE, 10, pull_request=5)
    assert standing_refusals(RECORD, RequestRecord(since=AT, requests=(keep, again))).keys() == {TWO, THREE, "4" * 16}
    taken_back = request("suggest", "w", "4" * 16, 11)
    assert standing_refusals(RECORD, RequestRecord(since=AT, requests=(keep, taken_back))).keys() == {ONE, TWO, THREE}


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    folder = tmp_path / "a clone"
    files = platform_files() | spare("spare-one", "spare-one is to have its limit set anew please")
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    repository = git.Repo.init(folder, initial_branch="main")
    repository.git.add(all=True)
    repository.git.execute(["git", "-c", "user.name=x", "-c", "user.email=x@x.example", "commit", "--message=x"])
    return folder


def test_a_command_leaves_out_what_people_refused(clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["evict", "--suggested", "--dry-run", "--at", AT, "--by", "cora", "--repo", str(clone)]
    assert run(words) == 0
    said = capsys.readouterr().out
    assert "would be evicted: spare-one" in said
    assert "what people refused on GitHub is unknown: no ledger branch found; `git fetch" in said
    platform = open_platform(clone, CONFIG)
    found = suggest(platform.regression_set, platform.taxonomy, platform.config)
    (grounds,) = [item.grounds.digest for item in found.evictions if item.id == "spare-one"]
    record = SuggestionRecord(refusals=(Refusal(pull_request=5, branch=branch_of(EVICT, "spare-one", grounds)),))
    noted = RequestRecord(since=AT)
    files = {SUGGESTIONS: record_text(record), REQUESTS: record_text(noted)}
    commit_on_branch(clone, BRANCH, None, dict(files), "x", AT, "x")
    assert refused_in(clone) == LocalRefusals(grounds=frozenset({grounds}))
    assert run(words) == 0
    said = capsys.readouterr().out
    assert "spare-one" not in said
    assert "1 suggestion left out: people refused" in said
    assert "is not known" not in said


def refuse_spare(clone: Path) -> None:
    """People refused to evict the spare entry, as the ledger of the clone tells."""
    platform = open_platform(clone, CONFIG)
    found = LocalRefusals().suggestions(platform.regression_set, platform.taxonomy, platform.config).evictions
    (grounds,) = [item.grounds.digest for item in found if item.id == "spare-one"]
    record = SuggestionRecord(refusals=(Refusal(pull_request=5, branch=branch_of(EVICT, "spare-one", grounds)),))
    commit_on_branch(clone, BRANCH, None, {SUGGESTIONS: record_text(record)}, "x", AT, "x")


def test_the_report_of_an_import_leaves_out_what_people_refused(
    clone: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = tmp_path / "old.csv"
    old.write_text("id,query\nq1,what is the weather like on the moon\n", encoding="utf-8")
    place = ["--customer", "acme", "--agent", "desk", "--at", AT, "--by", "cora", "--repo", str(clone)]
    words = ["import", str(old), *place, "--dry-run"]
    assert run([*words, "--json"]) == 0
    before = json.loads(capsys.readouterr().out)
    assert "spare-one" in {item["id"] for item in before["suggestions"]}
    assert before["refused"] is None
    refuse_spare(clone)
    assert run([*words, "--json"]) == 0
    after = json.loads(capsys.readouterr().out)
    assert "spare-one" not in {item["id"] for item in after["suggestions"]}
    assert after["refused"] == 1
    assert run(words) == 0
    assert "1 suggestion left out: people refused" in capsys.readouterr().out


def test_prune_lists_what_evict_suggested_takes(clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["prune", "--repo", str(clone)]
    assert run(words) == 0
    said = capsys.readouterr().out
    assert "spare-one" in said
    assert "what people refused on GitHub is unknown: no ledger branch found" in said
    assert run([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["refused"] is None
    refuse_spare(clone)
    assert run(words) == 0
    said = capsys.readouterr().out
    assert "spare-one" not in said
    assert "1 suggestion left out: people refused" in said
    assert run([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["refused"] == 1
    site = read_site(open_platform(clone, CONFIG), clone, "x", CONFIG)
    assert "spare-one" not in {item.id for item in site.suggestions.suggestions}


def test_a_ledger_that_cannot_be_read_refuses_nothing(clone: Path, tmp_path: Path) -> None:
    commit_on_branch(clone, BRANCH, None, {SUGGESTIONS: "{"}, "x", AT, "x")
    assert refused_in(clone) == LocalRefusals(unknown="the branch incumbent/ledger has files that cannot be read")
    assert "is not inside a git repository" in (refused_in(tmp_path).unknown or "")
