"""``incumbent results``: counted once, committed to the ledger of the clone, forgotten; faults count nothing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import git
import pytest

from incumbent.cli.main import run
from incumbent.report.results import AddedOutput, ResultsOutput
from tests.factories import REPOSITORY

AT = ("--at", "2026-11-28T05:00:00Z")
LEDGER = "incumbent/ledger"
ENTRIES = ("calendar-table", "crm-accounts", "tickets-list")


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> git.Repo:
    folder = tmp_path / "a clone"
    shutil.copytree(REPOSITORY / "examples" / "worked-example", folder)
    repository = git.Repo.init(folder, initial_branch="main")
    repository.git.add(all=True)
    repository.git.execute(["git", "-c", "user.name=x", "-c", "user.email=x@x.example", "commit", "--message=x"])
    monkeypatch.chdir(folder)
    return repository


def written(folder: Path, *rows: dict[str, Any], name: str = "results.jsonl") -> str:
    path = folder / name
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return str(path)


def passed(entry: str, outcome: str = "passed", **more: Any) -> dict[str, Any]:
    return {"entry": entry, "outcome": outcome, **more}


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert run(["results", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_what_runs_wrote_is_counted_once_and_shown(
    clone: git.Repo, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, passed(ENTRIES[0], seconds=2), passed(ENTRIES[1], "failed"), passed("gone", "failed"))
    added = printed(capsys, "add", file, "--release", "v1", *AT)
    AddedOutput.model_validate(added)
    assert (added["results"], added["entries"], [item["entry"] for item in added["unmatched"]]) == (2, 2, ["gone"])
    assert clone.heads[LEDGER].commit.hexsha == added["commit"]
    assert clone.heads[LEDGER].commit.message.strip() == "Results of v1"
    again = AddedOutput.model_validate(printed(capsys, "add", file, "--release", "v1", *AT))
    assert (again.results, again.commit, len(again.known)) == (0, None, 1)
    more = written(tmp_path, passed(ENTRIES[1]), name="more.jsonl")
    assert run(["results", "add", file, more, "--release", "v1", *AT]) == 0
    capsys.readouterr()
    shown = printed(capsys)
    found = ResultsOutput.model_validate(shown)
    (release,) = shown["releases"]
    assert (release["release"], release["passed"], release["failed"], release["unmatched"]) == ("v1", 2, 1, 1)
    by_id = {item.entry: item for item in found.entries}
    assert by_id[ENTRIES[1]].mixed == 1
    assert by_id[ENTRIES[1]].flapping
    assert by_id[ENTRIES[0]].seconds == 2.0
    assert by_id[ENTRIES[2]].releases == 0
    assert not clone.is_dirty(untracked_files=True)


def test_without_a_name_a_release_is_its_commit_and_any_commit_may_be_named(
    clone: git.Repo, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, passed(ENTRIES[0]))
    head = clone.head.commit.hexsha
    assert printed(capsys, "add", file)["release"] == head[:12]
    (release,) = printed(capsys)["releases"]
    assert release["commit"] == head
    assert run(["results", "add", file, "--commit", "nowhere"]) == 2
    assert "unknown commit 'nowhere'" in capsys.readouterr().err


def test_a_fault_in_one_file_counts_nothing_of_any(
    clone: git.Repo, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = written(tmp_path, passed(ENTRIES[0]), name="good.jsonl")
    bad = written(tmp_path, {"outcome": "passed"}, passed(ENTRIES[0], cost=-1), name="bad.jsonl")
    assert run(["results", "add", good, bad, *AT]) == 1
    said = capsys.readouterr().err
    assert "bad.jsonl:1: it does not say which entry it is of" in said
    assert "bad.jsonl:2: its `cost` is no number from 0 to 1,000,000" in said
    assert LEDGER not in {head.name for head in clone.heads}
    (tmp_path / "notes.txt").write_text("hello")
    assert run(["results", "add", str(tmp_path / "notes.txt"), *AT]) == 1
    assert "no format of results fits this file" in capsys.readouterr().err


def test_a_release_is_forgotten_and_nothing_else(
    clone: git.Repo, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, passed(ENTRIES[0]))
    for release in ("v1", "v2 …"):
        assert run(["results", "add", file, "--release", release, *AT]) == 0
    assert run(["results", "forget", "v3"]) == 2
    assert "no release is called 'v3'" in capsys.readouterr().err
    assert run(["results", "forget", "v1", "--dry-run"]) == 0
    assert len(printed_after(capsys)["releases"]) == 2
    assert run(["results", "forget", "v2 …", *AT]) == 0
    assert [item["release"] for item in printed_after(capsys)["releases"]] == ["v1"]
    assert "Forget the results of v2" in str(clone.heads[LEDGER].commit.message)


def printed_after(capsys: pytest.CaptureFixture[str]) -> Any:
    capsys.readouterr()
    return printed(capsys)


def test_a_dry_run_writes_nothing(clone: git.Repo, tmp_path: Path) -> None:
    assert run(["results", "add", written(tmp_path, passed(ENTRIES[0])), "--dry-run"]) == 0
    assert LEDGER not in {head.name for head in clone.heads}


def test_what_others_published_is_gone_on_from(
    clone: git.Repo, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, passed(ENTRIES[0]))
    assert run(["results", "add", file, "--release", "v1", *AT]) == 0
    first = clone.heads[LEDGER].commit.hexsha
    clone.git.update_ref(f"refs/remotes/origin/{LEDGER}", first)
    clone.git.update_ref("-d", f"refs/heads/{LEDGER}")
    assert run(["results", "add", file, "--release", "v2", *AT]) == 0
    assert [commit.hexsha for commit in clone.heads[LEDGER].commit.parents] == [first]
    assert [item["release"] for item in printed_after(capsys)["releases"]] == ["v1", "v2"]


def test_a_record_that_cannot_be_read_is_reported_and_hides_no_other(
    clone: git.Repo, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from incumbent.files.git.working_copy import commit_on_branch

    file = written(tmp_path, passed(ENTRIES[0]))
    assert run(["results", "add", file, "--release", "v1", *AT]) == 0
    parent, folder = clone.heads[LEDGER].commit.hexsha, Path(clone.working_dir)
    commit_on_branch(folder, LEDGER, parent, {"results/0-broken.json": "{"}, "x", AT[1], "x")
    capsys.readouterr()
    assert run(["results"]) == 1
    said = capsys.readouterr()
    assert "1 release, the last v1" in said.out
    assert "0-broken.json" in said.err


def test_where_there_is_no_git_there_is_no_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(REPOSITORY / "examples" / "worked-example", tmp_path / "plain")
    monkeypatch.chdir(tmp_path / "plain")
    assert run(["results"]) == 0
    said = capsys.readouterr()
    assert "no results yet" in said.out
    assert "is not inside a git repository" in said.err
    assert run(["results", "add", written(tmp_path, passed(ENTRIES[0])), *AT]) == 2
    assert run(["results", "forget", "v1", *AT]) == 2


def test_an_export_for_a_budget_takes_what_covers_most(
    clone: git.Repo, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    export = ["export", "--to", "jsonl", "--dry-run", "--json"]
    assert run([*export, "--budget", "1m"]) == 2
    assert "no ledger branch found" in capsys.readouterr().err
    file = written(tmp_path, passed(ENTRIES[0], seconds=50), passed(ENTRIES[1], "failed", seconds=40))
    assert run(["results", "add", file, "--release", "v1", *AT]) == 0
    capsys.readouterr()

    def chosen(*words: str) -> Any:
        assert run([*export, *words]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["exported"] == found["chosen"]["part"]["ids"]
        return found["chosen"]

    everything = chosen("--budget", "1h")
    assert everything["not_chosen"] == []
    assert len(everything["estimated"]) == len(everything["part"]["ids"]) - 2
    part = chosen("--budget", "95s")
    assert part["part"]["price"] <= 95
    assert len(part["part"]["ids"]) == 2
    capability = next(item for item in chosen("--budget", "1h")["part"]["goals"] if item["kind"] == "capability")
    assert capability["kept"] == capability["total"] > 0
    changed = chosen("--changed-capabilities", "tools.read")
    assert (changed["measure"], changed["budget"], changed["changed"]) == ("seconds", None, ["tools.read"])
    assert run([*export, "--budget", "1s"]) == 1
    assert "no entry fits this budget" in capsys.readouterr().err
    assert run([*export, "--budget", "3.50"]) == 2
    assert "no run on the ledger states what it cost" in capsys.readouterr().err


@pytest.mark.usefixtures("clone")
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--budget", "soon"), 2, "is no amount"),
        (("--budget", "-3"), 2, "is no amount"),
        (("--budget", "٣m"), 2, "is no amount"),
        (("--changed-capabilities", " , "), 2, "names none"),
        (("--changed-capabilities", "tools.reads"), 1, "perhaps you meant"),
        (("--changed-capabilities", "tools.reads"), 1, "see `incumbent status` for the ids"),
        (("--capability", "tools.reads"), 1, "see `incumbent status` for the ids"),
    ],
)
def test_what_is_no_part(words: tuple[str, ...], code: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["export", "--to", "jsonl", *words]) == code
    assert said in capsys.readouterr().err


def test_no_commit_of_the_branch_is_lost_where_it_and_that_of_the_remote_went_apart(
    clone: git.Repo, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for release in ("base", "mine"):
        file = written(tmp_path, passed(ENTRIES[0], "failed"), name=f"{release}.jsonl")
        assert run(["results", "add", file, "--release", release, *AT]) == 0
    tip = clone.heads[LEDGER].commit
    base = str(tip.parents[0])
    someone = ("-c", "user.name=x", "-c", "user.email=x@x.example")
    theirs = clone.git.execute(["git", *someone, "commit-tree", f"{base}^{{tree}}", "-p", base, "-m", "theirs"])
    clone.git.update_ref("refs/remotes/origin/incumbent/ledger", theirs)
    clone.create_remote("origin", str(tmp_path))
    capsys.readouterr()
    more = written(tmp_path, passed(ENTRIES[0]), name="next.jsonl")
    for words in (["add", more, "--release", "next"], ["forget", "base"]):
        assert run(["results", *words, *AT]) == 4
        assert "has commits that would be lost" in capsys.readouterr().err
    assert clone.heads[LEDGER].commit == tip


def test_releases_of_one_commit_are_in_the_order_in_which_they_were_added(
    clone: git.Repo, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for release in ("v1.8", "v1.9", "v1.10"):
        file = written(tmp_path, passed(ENTRIES[0], "failed" if release == "v1.8" else "passed"), name=release)
        assert run(["results", "add", file, "--release", release, "--format", "json-lines"]) == 0
    capsys.readouterr()
    found = printed(capsys)
    assert [item["release"] for item in found["releases"]] == ["v1.8", "v1.9", "v1.10"]
    assert next(item["flips"] for item in found["entries"] if item["entry"] == ENTRIES[0]) == 1


@pytest.mark.usefixtures("clone")
def test_a_blank_name_is_no_release(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["results", "add", written(tmp_path, passed(ENTRIES[0])), "--release", " ", *AT]) == 2
    assert "--release is blank" in capsys.readouterr().err


def test_what_could_go_is_told_with_what_runs_showed_and_an_eviction_warns(
    clone: git.Repo, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = json.loads(told(capsys, "prune", "--json"))
    assert ([item["id"] for item in wanted["suggestions"]], wanted["only_failing"]) == (["tickets-list"], {})
    file = written(tmp_path, passed("tickets-list", "failed"), passed("crm-accounts"))
    assert run(["results", "add", file, "--release", "v1", *AT]) == 0
    assert json.loads(told(capsys, "prune", "--json"))["only_failing"] == {"tickets-list": ["auth.oauth", "tools.read"]}
    assert "In release runs no other entry that covers these ever failed" in told(capsys, "prune")
    for words in (["--suggested"], ["tickets-list", "--reason", "x"]):
        assert run(["evict", *words, "--dry-run"]) == 0
        warned = [line for line in capsys.readouterr().err.splitlines() if "in release runs" in line]
        assert warned == [
            f"warning: in release runs no entry that stays and covers {name} ever failed, and tickets-list did"
            for name in ("auth.oauth", "tools.read")
        ]
    assert run(["evict", "crm-accounts", "--reason", "x", "--dry-run"]) == 0
    assert "in release runs" not in capsys.readouterr().err
    assert not clone.is_dirty(untracked_files=True)


def told(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert run([*words]) == 0
    return capsys.readouterr().out
