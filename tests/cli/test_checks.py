"""``incumbent validate`` and ``incumbent config``: what is read, how, and the places of values."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import git
import pytest
import yaml
from jsonschema import Draft202012Validator

from incumbent.cli.schemas import schema
from incumbent.errors import InputError, OutsideError
from incumbent.files.snapshot import WorkingTree
from incumbent.pipeline import submission
from incumbent.pipeline.submission import PackageReader
from incumbent.taxonomy.config import load_config
from tests.cli.conftest import Incumbent, Outcome
from tests.factories import REPOSITORY
from tests.variants import one_in


def write(root: Path, customer: str, query: str = "Show my orders") -> Path:
    folder = root / f"eval_sets/{customer}/desk"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "agent.yaml").write_text(yaml.safe_dump({"agent": 1, "name": customer, "platform": "any"}))
    rows = [{"id": "q1", "query": query}]
    (folder / "evals.yaml").write_text(yaml.safe_dump({"eval_set": 1, "queries": rows}))
    return folder


@pytest.fixture
def repository(platform: Path) -> Iterator[git.Repo]:
    """A branch that left `main`, which has moved on since."""
    with git.Repo(platform) as repository:
        repository.git.checkout("-B", "main")
        with repository.config_writer() as settings:
            settings.set_value("user", "name", "Robin")
            settings.set_value("user", "email", "robin@platform.example")
        for customer in ("amber", "birch", "cedar"):
            write(platform, customer)
        repository.git.add(all=True)
        repository.git.commit(message="three")
        repository.git.checkout("-b", "mine")
        repository.git.checkout("main")
        write(platform, "birch", "Show my bills")
        repository.git.commit(all=True, message="of others")
        repository.git.checkout("mine")
        yield repository


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The folders of the eval sets that are read."""
    folders: list[str] = []
    whole = submission.read_package

    def noted(tree: object, customer: str, agent: str, folder: str, limits: object) -> object:
        folders.append(folder)
        return whole(tree, customer, agent, folder, limits)  # type: ignore[arg-type]

    monkeypatch.setattr(submission, "read_package", noted)
    return folders


def test_only_what_differs_is_read(repository: git.Repo, platform: Path, incumbent: Incumbent, read: list[str]) -> None:
    call = ("validate", "--repo", platform, "--changed", "main")
    assert incumbent(*call).code == 0
    assert read == []
    write(platform, "amber", "Show my invoices")
    repository.git.commit(all=True, message="mine")
    write(platform, "dover")
    outcome = incumbent(*call)
    assert read == ["eval_sets/amber/desk", "eval_sets/dover/desk"]
    assert "the eval sets that differ (2) are valid" in outcome.out
    read.clear()
    (platform / "eval_sets/amber/desk/evals.yaml").write_text("eval_set: 1\nqueries: [{id: q1}]\n")
    (platform / "eval_sets/cedar/desk/agent.yaml").unlink()
    (platform / "eval_sets/cedar/desk/evals.yaml").unlink()
    outcome = incumbent(*call)
    assert outcome.code == 1
    assert "eval_sets/amber/desk/evals.yaml:2" in outcome.err
    assert read == ["eval_sets/amber/desk", "eval_sets/dover/desk"]


def test_a_removed_fixture_is_missed_in_an_eval_set_that_did_not_change(
    repository: git.Repo, platform: Path, incumbent: Incumbent, read: list[str]
) -> None:
    config = platform / "config/curation.yaml"
    config.write_text(config.read_text() + "fixtures_folder: fixtures\n")
    for name in ("a", "b"):
        (platform / "fixtures").mkdir(exist_ok=True)
        (platform / f"fixtures/{name}.json").write_text("{}")
    evals = platform / "eval_sets/amber/desk/evals.yaml"
    rows = [{"id": "q1", "query": "Show my orders", "setup": {"fixtures": ["a.json"]}}]
    evals.write_text(yaml.safe_dump({"eval_set": 1, "queries": rows}))
    repository.git.add(all=True)
    repository.git.commit(message="fixtures")
    repository.git.checkout("-b", "later")
    (platform / "fixtures/a.json").unlink()
    outcome = incumbent("validate", "--repo", platform, "--changed", "mine")
    assert (outcome.code, len(read)) == (1, len(list(platform.glob("eval_sets/*/*"))))
    assert "a.json" in outcome.err


def test_reviewed_files_are_checked_whole(repository: git.Repo, platform: Path, incumbent: Incumbent) -> None:
    config = platform / "config/curation.yaml"
    config.write_text(config.read_text() + "odd: 1\n")
    repository.git.commit(all=True, message="odd")
    outcome = incumbent("validate", "--repo", platform, "--changed", "mine")
    assert outcome.code == 1
    assert "odd: unknown key" in outcome.err


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--changed", "nowhere"], "unknown commit 'nowhere'"),
        (["--changed=--output=x"], "unknown commit"),
        (["--changed", "main", "--from", "main"], "give one of the two"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    repository: git.Repo, platform: Path, incumbent: Incumbent, options: list[str], text: str
) -> None:
    outcome = incumbent("validate", "--repo", platform, *options)
    assert (outcome.code, repository.bare) == (2, False)
    assert text in outcome.err


def test_without_a_repository_nothing_says_what_changed(platform: Path, incumbent: Incumbent) -> None:
    shutil.rmtree(platform / ".git")
    outcome = incumbent("validate", "--repo", platform, "--changed", "main")
    assert outcome.code == 2
    assert "is not inside a git repository" in outcome.err


CUSTOMERS = 240
COMMAND = [sys.executable, "-m", "incumbent", "validate", "--repo", "."]


@pytest.fixture
def many(platform: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A platform of so many customers that processes pay."""
    for number in range(CUSTOMERS):
        write(platform, f"customer-{number:03}", f"Show order {number}")
    monkeypatch.chdir(platform)
    return platform


def break_some(root: Path) -> None:
    """Faults and notes of several kinds, in the first folder, the last, and between."""
    folders = [root / f"eval_sets/customer-{number:03}/desk" for number in range(CUSTOMERS)]
    folders[0].joinpath("evals.yaml").write_text("eval_set: 1\nqueries: [\n")
    folders[19].joinpath("agent.yaml").unlink()
    folders[20].joinpath("evals.yaml").write_text("eval_set: 1\nqueries: [{id: a, query: x}, {id: a, query: y}]\n")
    folders[120].joinpath("agent.yaml").write_text("agent: 1\nname: n\nplatform: any\nrobin@nordkontor.de: 1\n")
    folders[121].joinpath("spare.json").write_text('{"name": "spare"}')
    folders[-1].joinpath("evals.yaml").write_text("eval_set: 1\nqueries: [{id: a, query: 7, wuery: x}]\n")


def running(group: int) -> list[str]:
    """The processes of this group that have not ended."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, of = path.read_text().rpartition(") ")[2].split()[:3]
            if int(of) == group and state not in "ZX":
                found.append(path.parent.name)
    return found


def test_any_number_of_processes_says_the_same(many: Path, incumbent: Incumbent) -> None:
    def validated(processes: int, *arguments: str) -> Outcome:
        return incumbent("validate", "--repo", ".", *arguments, "--processes", str(processes))

    for arguments in ((), ("--json",)):
        whole = validated(1, *arguments)
        assert whole.code == 0, whole
        assert validated(2, *arguments) == whole
    break_some(many)
    for arguments in ((), ("--json",)):
        broken = validated(1, *arguments)
        assert broken.code == InputError.exit_code
        said = broken.out + broken.err
        assert said.count("customer-") >= 5
        assert "agent.yaml" in said
        assert "robin@nordkontor.de" not in said
        assert validated(2, *arguments) == broken


def test_few_eval_sets_start_no_process(platform: Path, incumbent: Incumbent, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any) -> None:
        raise AssertionError("a process was started")

    write(platform, "amber")
    monkeypatch.setattr("incumbent.pipeline.worker_pool.worker_pool", refused)
    assert incumbent("validate", "--repo", platform, "--processes", "8").code == 0


@pytest.mark.usefixtures("many")
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="the children of a process are seen on Linux")
@pytest.mark.parametrize("seconds", one_in(3, [0.3, 0.0, 1.0]))
def test_ctrl_c_ends_all_processes_without_a_traceback(seconds: float) -> None:
    with subprocess.Popen(
        [*COMMAND, "--processes", "2"],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        while len(children.read_text().split()) < 2 and process.poll() is None:
            time.sleep(0.01)
        time.sleep(seconds)
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=60)
    # While the interpreter ends it handles no signal any more, and dies of it.
    assert process.returncode in (0, 130, -signal.SIGINT)
    assert b"Traceback" not in err
    # What keeps the books of shared memory notices the end of the others a moment later.
    deadline = time.monotonic() + 30
    while running(process.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not running(process.pid)


class Deadly(WorkingTree):
    """The files of a platform, the reading of which ends a process."""

    def __setstate__(self, _: object) -> None:
        os._exit(1)


def test_a_process_that_dies_is_reported(platform: Path) -> None:
    config = load_config(WorkingTree(platform), None)
    with pytest.raises(OutsideError, match="--processes 1"):
        PackageReader(Deadly(platform), config).read_all(["eval_sets/amber/desk"] * CUSTOMERS, 2)


def config_of(platform: Path) -> Path:
    return platform / "config" / "curation.yaml"


def test_the_json_fits_its_schema_and_has_a_place_for_each_value(platform: Path, incumbent: Incumbent) -> None:
    shown = incumbent("config", "--repo", platform, "--json").json
    Draft202012Validator(schema("config-output")).validate(shown)
    lines = config_of(platform).read_text(encoding="utf-8").splitlines()
    for value in shown["values"]:
        assert value["key"] == ".".join(value["path"])
        assert value["file"] == shown["defaults" if value["is_default"] else "file"]
        if not value["is_default"]:
            assert value["path"][-1] in lines[value["line"] - 1]


def test_a_pipe_gets_a_line_for_each_key(platform: Path, incumbent: Incumbent) -> None:
    values = incumbent("config", "--repo", platform, "--json").json["values"]
    header, *rows = (line.split("\t") for line in incumbent("config", "--repo", platform).out.splitlines())
    assert header == ["key", "value", "from"]
    assert [(key, place) for key, _, place in rows] == [
        (value["key"], f"{value['file']}:{value['line']}") for value in values
    ]


def test_a_fault_of_the_taxonomy_does_not_hide_the_config(platform: Path, incumbent: Incumbent) -> None:
    (platform / "taxonomy" / "taxonomy.yaml").write_text("no: taxonomy\n", encoding="utf-8")
    assert incumbent("config", "--repo", platform).code == 0


def test_every_fault_of_the_config_is_listed(platform: Path, incumbent: Incumbent) -> None:
    text = config_of(platform).read_text(encoding="utf-8")
    config_of(platform).write_text(text.replace("ceiling:", "cieling:").replace("turns: 40", "turns: 0"), "utf-8")
    outcome = incumbent("config", "--repo", platform)
    assert outcome.code == 1
    assert all(words in outcome.err for words in ("perhaps you meant 'ceiling'", "limits.turns: must be", "fix:"))


def test_keys_and_control_characters_of_the_file_are_not_shown(platform: Path, incumbent: Incumbent) -> None:
    text = config_of(platform).read_text(encoding="utf-8")
    key = "ghp_" + "0123456789abcdefABCDEF0123456789abcd"
    config_of(platform).write_text(text.replace("curators: []", f'curators: ["{key}", "a\\u001b[2Jb"]'), "utf-8")
    for more in ((), ("--json",)):
        outcome = incumbent("config", "--repo", platform, *more)
        assert (outcome.code, key in outcome.out, "\x1b" in outcome.out) == (0, False, False)


def test_keys_without_effect_are_named_and_stop_nothing(platform: Path, incumbent: Incumbent) -> None:
    text = config_of(platform).read_text(encoding="utf-8")
    config_of(platform).write_text(text.replace("  minimum: 10", "  minimum: 10\n  folds: 3\n  alone: 9"), "utf-8")
    note = "note: {}config/curation.yaml:{}: calibration: these keys no longer have an effect: folds, alone"
    line = next(number for number, row in enumerate(text.splitlines(), 1) if row.startswith("  minimum:")) + 1
    shown = incumbent("config", "--repo", platform, "--json")
    assert note.format(f"{platform}/", line) in shown.err
    assert not any(value["key"] == "calibration.folds" for value in shown.json["values"])
    valid = incumbent("validate", "--repo", platform)
    assert (valid.code, note.format(f"{platform}/", line) in valid.out) == (0, True)
