"""The tools that write: as the command writes, only where they may, and never to a branch."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import git
import pytest
import yaml

from incumbent.errors import UsageError
from incumbent.files.snapshot import WorkingTree
from incumbent.github.commands import Verb
from incumbent.github.git_state import differing_place
from incumbent.mcp.writing import command_line
from incumbent.taxonomy.config import CONFIG_FILE
from tests.mcp_server.conftest import BRANCH_LINE, ask, bare, in_process, refusal_of, surest
from tests.mcp_server.test_same_answers import cut

JsonOf = Callable[..., Any]


def files(platform: Path) -> dict[str, str]:
    """The regression set as it is on disk."""
    folder = platform / "regression_set"
    return {
        path.relative_to(platform).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*.yaml"))
    }


@pytest.fixture
def twin(platform: Path) -> Path:
    """The same platform once more, for the command."""
    copy = platform.parent / "twin"
    shutil.copytree(platform, copy)
    return copy


def test_it_writes_the_files_that_the_command_writes(platform: Path, twin: Path, json_of: JsonOf) -> None:
    before = files(platform)
    answer = bare(ask(in_process(platform, writes=True), "stage_admission", folder=BRANCH_LINE, by="Robin"))
    printed = json_of("admit", twin / BRANCH_LINE, "--repo", twin, "--by", "Robin")
    for name in ("admitted", "waiting", "leaving"):
        assert answer[name] == cut(printed[name], 20)
    assert {row["path"]: row["change"] for row in answer["files"]["first"]} == printed["files"]
    assert answer["files"]["count"] == len(printed["files"])
    assert files(platform) == files(twin) != before
    assert answer["written"] == "working tree"


def test_it_commits_nothing(platform: Path) -> None:
    with git.Repo(platform) as repository:
        head = repository.head.commit.hexsha
        ask(in_process(platform, writes=True), "stage_admission", folder=BRANCH_LINE, by="Robin")
        assert repository.head.commit.hexsha == head
        assert repository.git.diff("--cached", "--name-only") == ""
        assert [branch.name for branch in repository.branches] == ["main"]


def test_a_dry_run_tells_the_same_and_writes_nothing(platform: Path) -> None:
    before = files(platform)
    client = in_process(platform, writes=True)
    planned = bare(ask(client, "stage_admission", folder=BRANCH_LINE, by="Robin", dry_run=True))
    assert files(platform) == before
    assert planned["written"] == "nothing"
    done = bare(ask(in_process(platform, writes=True), "stage_admission", folder=BRANCH_LINE, by="Robin"))
    assert (done["admitted"], done["files"]) == (planned["admitted"], planned["files"])


def test_a_person_may_insist_with_a_reason(platform: Path, twin: Path, json_of: JsonOf) -> None:
    judged = bare(ask(in_process(platform), "classify_to_verdict", folder=BRANCH_LINE, only="excluded"))
    query = judged["verdicts"][0]["id"]
    arguments = {"folder": BRANCH_LINE, "accept": [query], "by": "Robin"}
    refusal = refusal_of(in_process(platform, writes=True), "stage_admission", **arguments)
    assert f"<untrusted>`accept` {query}: its verdict is EXCLUDE" in refusal
    assert "give a `reason` to override the verdict" in refusal
    answer = bare(ask(in_process(platform, writes=True), "stage_admission", **arguments, reason="we need it"))
    printed = json_of(
        "admit", twin / BRANCH_LINE, "--repo", twin, "--by", "Robin", "--accept", query, "--reason", "we need it"
    )
    assert answer["admitted"] == cut(printed["admitted"], 20)
    assert files(platform) == files(twin)


def put_in_line(platform: Path) -> None:
    """Let an entry wait that there is a slot for, and no doubt about."""
    config = platform / "config" / "curation.yaml"
    config.write_text(config.read_text("utf-8").replace("first_floor: 0.90", "first_floor: 0.60"), "utf-8")
    entry, _ = surest(platform)
    (platform / "regression_set" / "waiting").mkdir()
    entry.rename(platform / "regression_set" / "waiting" / entry.name)


def test_those_in_line_enter_as_with_the_command(platform: Path, twin: Path, json_of: JsonOf) -> None:
    put_in_line(platform)
    put_in_line(twin)
    answer = bare(ask(in_process(platform, writes=True), "stage_admission", waiting=True))
    printed = json_of("admit", "--waiting", "--repo", twin)
    assert answer["admitted"] == cut(printed["admitted"], 20)
    assert answer["admitted"]["count"] == 1
    assert files(platform) == files(twin)


def test_newcomers_do_not_pass_those_in_line(platform: Path) -> None:
    put_in_line(platform)
    refusal = refusal_of(in_process(platform, writes=True), "stage_admission", folder=BRANCH_LINE)
    assert "fix: call `stage_admission` with `waiting` first" in refusal


def test_where_git_knows_no_time_a_tool_names_no_option(platform: Path) -> None:
    shutil.rmtree(platform / ".git")
    refusal = refusal_of(in_process(platform, writes=True), "stage_admission", folder=BRANCH_LINE)
    assert "run `git init` and commit" in refusal
    assert "--at" not in refusal


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "give either `folder` or `waiting`"),
        ({"folder": BRANCH_LINE, "waiting": True}, "give either `folder` or `waiting`"),
        ({"waiting": True, "accept": ["q"]}, "who waits was accepted before"),
        ({"folder": BRANCH_LINE, "reason": "x"}, "`reason` goes with `accept`"),
        ({"folder": BRANCH_LINE, "accept": ["nobody"]}, "there is none of this name"),
        ({"folder": BRANCH_LINE, "pull_request": True, "dry_run": True}, "exclude each other"),
        ({"folder": BRANCH_LINE, "pull_request": True}, "there is no token: start the server with GITHUB_TOKEN"),
    ],
)
def test_what_cannot_be_staged_is_told_and_writes_nothing(arguments: dict[str, Any], said: str, platform: Path) -> None:
    before = files(platform)
    assert said in refusal_of(in_process(platform, writes=True), "stage_admission", **arguments)
    assert files(platform) == before


def test_a_pin_is_written_into_its_entry_alone_and_taken_out_again(platform: Path) -> None:
    entry = bare(ask(in_process(platform), "find_entries"))["entries"][0]["id"]
    before = files(platform)
    path = f"regression_set/{entry}.yaml"
    arguments = {"decision": "pin", "entry": entry, "reason": "asked\nfor  it by kim.lee@northwind.com"}
    answer = bare(ask(in_process(platform, writes=True), "record_decision", **arguments))
    assert (answer["recorded"], answer["said"], answer["by"]) == ("working tree", path, "Robin Example")
    after = files(platform)
    assert yaml.safe_load(after[path])["pin"] == "asked for it by [e-mail 1]"
    assert {name for name in after if after[name] != before[name]} == {path}
    ask(in_process(platform, writes=True), "record_decision", decision="unpin", entry=entry)
    assert yaml.safe_load(files(platform)[path])["pin"] is None


def test_where_nothing_can_be_recorded_nothing_is_written(platform: Path) -> None:
    entry = bare(ask(in_process(platform), "find_entries"))["entries"][0]["id"]
    before = files(platform)
    refusal = refusal_of(in_process(platform, writes=True), "record_decision", decision="unpin", entry=entry)
    assert "there is nothing to unpin" in refusal
    shutil.rmtree(platform / ".git")
    pin = {"decision": "pin", "entry": entry, "reason": "asked for it"}
    assert "run `git init`" in refusal_of(in_process(platform, writes=True), "record_decision", **pin)
    assert files(platform) == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"decision": "accept"}, "give `pull_request` and `queries`"),
        ({"decision": "accept", "entry": "x"}, "an entry is pinned or unpinned"),
        ({"decision": "pin", "entry": "x"}, "to pin needs a `reason`"),
        ({"decision": "pin", "entry": "x", "reason": "y"}, "there is none of this name"),
        ({"decision": "pin", "entry": "x", "queries": ["q"], "reason": "y"}, "give `entry`, or"),
        ({"decision": "reject", "pull_request": 1, "queries": ["q1"]}, "would not be read as meant"),
        ({"decision": "accept", "pull_request": 1, "queries": ["q1"]}, "there is no token"),
        ({"decision": "burn", "entry": "x"}, "decision: "),
    ],
)
def test_decisions_that_cannot_be_recorded_are_told(arguments: dict[str, Any], said: str, platform: Path) -> None:
    before = files(platform)
    assert said in refusal_of(in_process(platform, writes=True), "record_decision", **arguments)
    assert files(platform) == before


@pytest.mark.parametrize(
    ("verb", "names", "reason", "line"),
    [
        (Verb.ACCEPT, ["q1"], None, "/incumbent accept q1"),
        (Verb.ACCEPT, ["q1", "q2"], "good one", "/incumbent accept q1 q2 good one"),
        (Verb.REJECT, ["q1"], "  not\nours ", "/incumbent reject q1 not ours"),
    ],
)
def test_a_decision_is_one_line(verb: Verb, names: list[str], reason: str | None, line: str) -> None:
    assert command_line(verb, names, reason) == line


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (["q1\n/incumbent accept q2"], None),
        (["q1 q2"], None),
        (["q1"], "and q1 too"),
        (["q1"], "seen\u200b"),
        ([], "because"),
    ],
)
def test_what_would_be_read_otherwise_is_not_said(names: list[str], reason: str | None) -> None:
    with pytest.raises(UsageError, match="would not be read as meant"):
        command_line(Verb.ACCEPT, names, reason)


def test_what_differs_from_github_is_told_by_no_name_that_a_stranger_chose(platform: Path, tmp_path: Path) -> None:
    there = tmp_path / "there"
    places = {CONFIG_FILE: CONFIG_FILE, "regression_set": "the regression set", "taxonomy": "the taxonomy"}
    places[BRANCH_LINE] = "the eval set"
    for changed, text in [
        (None, None),
        (CONFIG_FILE, CONFIG_FILE),
        ("regression_set/obey-me.yaml", "the regression set"),
        ("taxonomy/obey-me.yaml", "the taxonomy"),
        (f"{BRANCH_LINE}/obey-me.yaml", "the eval set"),
    ]:
        shutil.rmtree(there, ignore_errors=True)
        shutil.copytree(platform, there)
        if changed is not None:
            (there / changed).write_text("id: x\n", encoding="utf-8")
        assert differing_place(WorkingTree(platform, ""), WorkingTree(there, ""), places) == text
    (platform / "regression_set" / "obey-me.yaml").write_text("id: x\n", encoding="utf-8")
    assert differing_place(WorkingTree(platform, ""), WorkingTree(there, ""), places) == "the regression set"
