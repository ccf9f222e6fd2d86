"""Commands in a rough world: full disks, closed pipes, odd terminals, mangled files, two at once, unfinished merges."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import git
import pytest
import yaml

from incumbent.curator.journal import sole_curator
from incumbent.errors import OutsideError
from tests.cli.conftest import Incumbent
from tests.cli.test_set_life import BRANCH_LINE, CARD_LINE, tree

COMMAND = shlex.quote(str(Path(sys.executable).parent / "incumbent"))


def shell(line: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", line.replace("incumbent", COMMAND)],
        cwd=cwd,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="surrogateescape",
        timeout=60,
        env=os.environ | environment,
        check=False,
    )


@pytest.fixture
def filled(platform: Path, incumbent: Incumbent) -> Path:
    """The platform with the card line's admissions."""
    assert incumbent("admit", platform / CARD_LINE, "--repo", platform).code == 0
    return platform


def entry_file(platform: Path) -> Path:
    return min((platform / "regression_set").glob("*.yaml"))


@pytest.mark.parametrize("line", ["incumbent --help", "incumbent --version", "incumbent schema config"])
def test_a_full_disk_is_the_outside_world(line: str, platform: Path) -> None:
    outcome = shell(f"{line} >/dev/full", platform)
    assert (outcome.returncode, "bug" in outcome.stderr) == (4, False)


def test_a_closed_output_is_no_fault(platform: Path) -> None:
    assert shell("incumbent status >&-", platform).returncode == 0


def test_a_reader_that_goes_away_is_no_fault(platform: Path) -> None:
    outcome = shell("incumbent schema review-output | true; echo ${PIPESTATUS[0]}", platform)
    assert outcome.stdout == "0\n"
    assert outcome.stderr == ""


def test_a_terminal_without_the_signs_gets_escapes_for_them(platform: Path) -> None:
    outcome = shell(f"incumbent review {BRANCH_LINE} --format markdown", platform, PYTHONIOENCODING="ascii")
    assert (outcome.returncode, outcome.stderr) == (0, "")
    assert outcome.stdout.count("|") > 20


def test_a_name_in_another_encoding_is_refused_before_it_is_written(platform: Path) -> None:
    before = tree(platform)
    outcome = shell(f"incumbent admit {BRANCH_LINE} --by $'Zo\\xeb'", platform)
    assert outcome.returncode == 2
    assert "UTF-8" in outcome.stderr
    assert tree(platform) == before


def test_without_git_the_commands_that_need_it_say_so(platform: Path) -> None:
    outcome = shell(f"PATH=/nonexistent incumbent admit {CARD_LINE} --dry-run", platform)
    assert outcome.returncode == 4
    assert "git is missing" in outcome.stderr


def test_what_git_refuses_is_said_in_its_words(platform: Path) -> None:
    (platform / ".git" / "config").write_text("[broken", encoding="utf-8")
    outcome = shell(f"incumbent admit {CARD_LINE} --dry-run", platform)
    assert outcome.returncode == 4
    assert "bad config" in outcome.stderr
    assert "fix this and run again, or give --at TIME" in outcome.stderr


def test_a_numeric_user_name_stays_a_name(platform: Path) -> None:
    subprocess.run(["git", "config", "user.name", "0123"], cwd=platform, check=True)
    assert shell(f"incumbent admit {CARD_LINE}", platform).returncode == 0
    assert shell(f"incumbent evict {entry_file(platform).stem} --reason x", platform).returncode == 0
    (tombstone,) = (platform / "regression_set/evicted").glob("*.yaml")
    assert yaml.safe_load(tombstone.read_text())["evicted"]["by"] == "0123"


@pytest.mark.parametrize("depth", [30, 59, 89])
def test_what_is_admitted_can_be_read_and_evicted_again(depth: int, platform: Path, incumbent: Incumbent) -> None:
    config = platform / "config/curation.yaml"
    config.write_text(config.read_text().replace("nesting_depth: 60", "nesting_depth: 90"), encoding="utf-8")
    deep = "[" * (depth - 3) + "1" + "]" * (depth - 3)
    evals = min((platform / BRANCH_LINE).glob("evals.y*ml"))
    evals.write_text(
        f"eval_set: 1\nqueries:\n  - {{id: deep, query: is the branch open on saturday, expected: {deep}}}\n"
    )
    assert incumbent("admit", platform / BRANCH_LINE, "--repo", platform).code == 0
    assert incumbent("validate", "--repo", platform).code == 0
    assert incumbent("evict", entry_file(platform).stem, "--reason", "x", "--repo", platform).code == 0
    assert incumbent("validate", "--repo", platform).code == 0


def test_an_entry_that_is_a_link_is_a_fault_and_not_missing(filled: Path, incumbent: Incumbent) -> None:
    entry = entry_file(filled)
    entry.rename(filled / "elsewhere.yaml")
    entry.symlink_to("../elsewhere.yaml")
    outcome = incumbent("validate", "--repo", filled)
    assert outcome.code == 1
    assert f"{entry.name}: the path is a symbolic link" in outcome.err


@pytest.mark.parametrize("place", ["regression_set", "regression_set/evicted", "regression_set/waiting"])
def test_a_file_in_place_of_a_folder_is_a_fault(place: str, platform: Path, incumbent: Incumbent) -> None:
    (platform / place).parent.mkdir(exist_ok=True)
    (platform / place).write_text("")
    outcome = incumbent("validate", "--repo", platform)
    assert outcome.code == 1
    assert "a folder is expected" in outcome.err


@pytest.mark.parametrize("folder", ["", "waiting/"])
def test_an_entry_that_lives_beside_its_tombstone_is_never_overwritten(
    folder: str, filled: Path, incumbent: Incumbent
) -> None:
    entry = entry_file(filled)
    text = entry.read_text()
    assert incumbent("evict", entry.stem, "--reason", "x", "--repo", filled).code == 0
    back = filled / "regression_set" / folder / entry.name
    back.parent.mkdir(exist_ok=True)
    back.write_text(text + "# a person's note\n")
    before = tree(filled)
    assert "was evicted" in incumbent("validate", "--repo", filled).err
    assert incumbent("restore", entry.stem, "--repo", filled).code == 1
    assert tree(filled) == before


def test_an_evicted_query_that_comes_back_with_other_content_leaves_no_tombstone_behind(
    filled: Path, incumbent: Incumbent
) -> None:
    entry = entry_file(filled)
    item = yaml.safe_load(entry.read_text())["source"]["item"]
    assert incumbent("evict", entry.stem, "--reason", "x", "--repo", filled).code == 0
    evals = min((filled / CARD_LINE).glob("evals.y*ml"))
    evals.write_text(f"eval_set: 1\nqueries:\n  - {{id: {item}, query: 'Spell my surname, letter by letter: Ng'}}\n")
    again = incumbent("admit", filled / CARD_LINE, "--accept", item, "--reason", "y", "--repo", filled)
    again = again if again.code == 0 else incumbent("admit", filled / CARD_LINE, "--repo", filled)
    assert again.code == 0, again.err
    assert entry.exists()
    assert not (filled / "regression_set/evicted" / entry.name).exists()
    assert incumbent("validate", "--repo", filled).code == 0


def test_what_files_say_moves_no_cursor(filled: Path, incumbent: Incumbent) -> None:
    entry = entry_file(filled)
    raw = yaml.safe_load(entry.read_text())
    raw["pin"] = raw["classified"]["model"] = "\x1b]0;EVIL\x07\x1b[2J\x9b1A\u202e\rgone"
    entry.write_text(yaml.safe_dump(raw))
    for arguments in (["status"], ["prune"], ["evict", entry.stem, "--reason", "x", "--dry-run"]):
        outcome = incumbent(*arguments, "--repo", filled)
        shown = outcome.out + outcome.err
        assert outcome.code == 0
        assert not set(shown) & set("\x1b\x07\x9b\r\u202e")
        assert "EVIL" in shown


def test_two_that_change_the_set_at_once_are_one_too_many(filled: Path, incumbent: Incumbent) -> None:
    entry = entry_file(filled)
    with sole_curator(filled, print):
        refused = incumbent("evict", entry.stem, "--reason", "x", "--repo", filled)
        assert incumbent("status", "--repo", filled).code == 0
        assert incumbent("evict", entry.stem, "--reason", "x", "--dry-run", "--repo", filled).code == 0
    assert refused.code == OutsideError.exit_code
    assert "another command is changing" in refused.err
    assert incumbent("evict", entry.stem, "--reason", "x", "--repo", filled).code == 0


def test_faults_of_every_kind_of_file_come_at_once(filled: Path, incumbent: Incumbent) -> None:
    taxonomy, config = filled / "taxonomy/taxonomy.yaml", filled / "config/curation.yaml"
    taxonomy.write_text(taxonomy.read_text().replace("version:", "versoin:", 1))
    config.write_text(config.read_text().replace("ceiling:", "celling:", 1))
    entry_file(filled).write_text("id: [\n")
    for command in (["validate"], ["review", filled / CARD_LINE]):
        outcome = incumbent(*command, "--repo", filled)
        assert outcome.code == 1
        for name in ("taxonomy.yaml", "curation.yaml", entry_file(filled).name):
            assert name in outcome.err


def test_a_broken_agent_and_a_broken_row_are_told_together(platform: Path, incumbent: Incumbent) -> None:
    agent, evals = platform / CARD_LINE / "agent.yaml", min((platform / CARD_LINE).glob("evals.y*ml"))
    agent.write_text(agent.read_text() + "unknown_key: 1\n")
    evals.write_text("eval_set: 1\nqueries:\n  - {id: a, query: 7}\n")
    outcome = incumbent("review", platform / CARD_LINE, "--repo", platform)
    assert "unknown_key" in outcome.err
    assert evals.name in outcome.err


def test_a_key_in_place_of_its_variables_name_is_refused_and_not_repeated(platform: Path, incumbent: Incumbent) -> None:
    config = platform / "config/curation.yaml"
    openai = (
        "openai: {endpoint: null, model: m, key_variable: sk-SECRET-1, temperature: 1, timeout_seconds: 1, retries: 0}"
    )
    config.write_text(config.read_text().replace("openai: null", openai))
    outcome = incumbent("status", "--repo", platform)
    assert outcome.code == 1
    assert "key_variable" in outcome.err
    assert "SECRET" not in outcome.err


def test_a_pipe_in_place_of_a_cached_model_is_not_waited_for(platform: Path, tmp_path: Path) -> None:
    """The pipes have the names of the models that the same command has kept in the cache of the session."""
    review = f"incumbent review {BRANCH_LINE}"
    assert shell(review, platform).returncode == 0
    kept = sorted(Path(os.environ["INCUMBENT_CACHE"]).glob("*.npz"))
    assert kept
    cache = tmp_path / "cache"
    cache.mkdir()
    for file in kept:
        os.mkfifo(cache / file.name)
    assert shell(review, platform, INCUMBENT_CACHE=str(cache)).returncode == 0


def merge_with_conflict(platform: Path, name: str) -> None:
    """Leave the platform in the midst of a merge in which one side deletes ``name`` and the other changes it."""
    with git.Repo(platform) as repository:
        file = platform / name
        file.parent.mkdir(exist_ok=True)
        if not file.exists():
            file.write_text("text\n")
            repository.git.add(all=True)
            repository.git.commit(message="a file")
        repository.git.checkout("-b", "other")
        repository.git.rm(name)
        repository.git.commit(message="delete")
        repository.git.checkout("-")
        file.write_text(file.read_text(encoding="utf-8") + "# changed\n", encoding="utf-8")
        repository.git.commit(message="change", all=True)
        with pytest.raises(git.GitCommandError):
            repository.git.merge("other")


@pytest.mark.parametrize("name", ["regression_set/notes.md", "config/curation.yaml", "taxonomy/taxonomy.yaml"])
@pytest.mark.parametrize("dry_run", [[], ["--dry-run"]])
def test_no_command_changes_a_set_that_a_merge_left_undecided(
    name: str, dry_run: list[str], platform: Path, incumbent: Incumbent
) -> None:
    merge_with_conflict(platform, name)
    before = tree(platform)
    for command in (["admit", platform / CARD_LINE], ["evict", "some-id-12345678", "--reason", "gone"]):
        outcome = incumbent(*command, *dry_run, "--repo", platform)
        assert outcome.code == 1
        assert f"{name}: the merge under way left a conflict in this file" in outcome.err
        assert "fix: resolve it and `git add` it, or abort the merge" in outcome.err
    assert tree(platform) == before
    with git.Repo(platform) as repository:
        repository.git.add(all=True)
    assert incumbent("admit", platform / CARD_LINE, *dry_run, "--repo", platform).code == 0


def test_a_conflict_elsewhere_is_no_matter_of_the_set(platform: Path, incumbent: Incumbent) -> None:
    merge_with_conflict(platform, "docs/notes.md")
    assert incumbent("admit", platform / CARD_LINE, "--repo", platform).code == 0


@pytest.mark.parametrize(
    "command", [["status"], ["list"], ["validate"], ["admit", "--waiting"], ["prune"], ["export", "--to", "jsonl"]]
)
def test_a_bare_repository_has_no_files_to_read(command: list[str], tmp_path: Path, incumbent: Incumbent) -> None:
    git.Repo.init(tmp_path / "bare.git", bare=True).close()
    outcome = incumbent(*command, "--repo", tmp_path / "bare.git")
    assert outcome.code == 2
    assert "bare.git is a bare repository: clone it, and go on in the clone" in outcome.err
