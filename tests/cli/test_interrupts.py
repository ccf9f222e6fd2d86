"""Whatever ends a command that changes the set: the set is as it was or as it will be, or the same command finishes it.

With ``INCUMBENT_THOROUGH=1`` several hundred processes are told to stop, or killed; else a sample of them.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import git
import pytest

from incumbent.cli.main import run
from incumbent.curator.journal import sole_curator
from tests.cli.conftest import Incumbent, make_platform
from tests.cli.interrupting import Calls, counted
from tests.cli.test_set_life import CARD_LINE, tree
from tests.factories import REPOSITORY
from tests.variants import one_in

THOROUGH = os.environ.get("INCUMBENT_THOROUGH") == "1"
COMMANDS = ("admit", "evict", "restore", "import", "reclassify", "migrate", "pin", "unpin", "correct", "init", "scan")
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
PAGE = 4096
TABLE = """\
Id,Question
t1,Where is the nearest branch to the old harbour?
t2,Is the branch in Weir Street open on Saturday?
t3,"I have been on hold for half an hour, this is ridiculous!"
t4,"Put me through to a human being, please."
"""


@dataclass(frozen=True)
class Scene:
    """A repository before a ``command``; what it has after an undisturbed run; the ``calls`` that this makes."""

    base: Path
    command: tuple[str, ...]
    before: dict[str, bytes]
    after: dict[str, bytes]
    status: frozenset[str]
    calls: tuple[str, ...]

    def begin(self, folder: Path) -> tuple[Path, tuple[str, ...]]:
        """A copy of the repository, and the command on it."""
        shutil.copytree(self.base, folder, symlinks=True)
        return folder, tuple(word.replace("REPO", str(folder)) for word in self.command)

    def state(self, folder: Path) -> str:
        found = tree(folder)
        return "before" if found == self.before else "after" if found == self.after else "mixed"


def status(folder: Path) -> frozenset[str]:
    """What git sees that is not committed, ignored files too."""
    with git.Repo(folder) as repository:
        output = repository.git.status("--porcelain", "--ignored", "--untracked-files=all", "--no-renames")
    return frozenset(line[3:].strip('"') for line in output.splitlines())


def nothing_is_left(folder: Path) -> bool:
    return not [*folder.rglob(".incumbent*"), *(folder / ".git").glob("incumbent*")]


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Scene]:
    top = tmp_path_factory.mktemp("scenes")
    made: dict[str, Scene] = {}

    def do(folder: Path, *words: str) -> None:
        assert run([word.replace("REPO", str(folder)) for word in words]) == 0, words

    def scene(name: str) -> Scene:
        if name not in made:
            made[name] = make(name)
        return made[name]

    def make(name: str) -> Scene:
        folder = make_platform(top / name / "platform é")
        (top / name / "harlow" / "desk").mkdir(parents=True)
        old = top / name / "harlow" / "desk" / "old.csv"
        old.write_text(TABLE, encoding="utf-8")
        admit = ("admit", f"REPO/{CARD_LINE}", "--repo", "REPO")
        if name not in ("admit", "import", "init"):
            do(folder, *admit)
        ids = [path.stem for path in sorted((folder / "regression_set").glob("*.yaml"))]
        command: tuple[str, ...]
        if name == "admit":
            command = (*admit, "--accept", "c02", "--accept", "c03", "--reason", "audit")
        elif name == "import":
            command = ("import", str(old), "--repo", "REPO")
        elif name == "init":
            shutil.rmtree(folder / "taxonomy")
            (folder / "config" / "curation.yaml").unlink()
            command = ("init", "--repo", "REPO", "--owner", "@example/platform")
        elif name == "reclassify":
            for path in (folder / "regression_set").glob("*.yaml"):
                path.write_text(path.read_text(encoding="utf-8").replace("model: kernel", "model: former-kernel"))
            command = ("reclassify", "--repo", "REPO")
        elif name == "scan":
            for path in (folder / "regression_set").glob("*.yaml"):
                text = path.read_text(encoding="utf-8")
                mail = "turns:\n  - My mail is ana.bell@gmail.com. "
                path.write_text(text.replace("turns:\n  - ", mail), encoding="utf-8")
            command = ("scan", "--replace", "--repo", "REPO")
        elif name == "migrate":
            commit(folder)
            rename(folder / "taxonomy" / "taxonomy.yaml", "dialog.upset", "dialog.angry")
            command = ("migrate", "--repo", "REPO")
        elif name == "correct":
            command = ("correct", f"REPO/{CARD_LINE}", "c01", "-dialog.upset", "--repo", "REPO")
        else:
            command = (name, ids[0], *([] if name in ("unpin", "restore") else ["--reason", "x"]), "--repo", "REPO")
            if name in ("unpin", "restore"):
                do(folder, {"unpin": "pin", "restore": "evict"}[name], ids[0], "--reason", "x", "--repo", "REPO")
        if name != "migrate":
            commit(folder)
        done = top / name / "done"
        shutil.copytree(folder, done, symlinks=True)
        with counted(Calls(done, -1, False, lambda: None)) as calls:
            do(done, *command)
        before, after = tree(folder), tree(done)
        assert before != after
        assert nothing_is_left(done)
        return Scene(folder, command, before, after, status(done), tuple(calls.names))

    return scene


def commit(folder: Path) -> None:
    with git.Repo(folder) as repository:
        repository.git.add(all=True)
        repository.git.commit(message="Go on", allow_empty=True)


def rename(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8").replace("version: 1.0.0", "version: 1.1.0")
    text = text.replace(f"- id: {old}\n", f"- id: {new}\n    was: {old}\n").replace(
        f"requires: {old}", f"requires: {new}"
    )
    path.write_text(text.replace("retired: []", f"retired: [{old}]"), encoding="utf-8")


def judge(scene: Scene, folder: Path, command: tuple[str, ...], said: str, incumbent: Incumbent) -> str:
    """What became of an interrupted run; fails unless what was said is true and the same command finishes it."""
    state = scene.state(folder)
    if "nothing was changed" in said:
        assert state == "before", said
    if "the change is complete" in said:
        assert state == "after", said
    # Whoever commits now commits nothing of ours.
    assert {path for path in status(folder) if "incumbent-" in path or ".incumbent" in path} == set()
    if "a part of them is written" in said:
        assert state == "mixed", said
    if state == "mixed":
        refused = incumbent("validate", "--repo", folder)
        assert (refused.code, "was interrupted" in refused.err) == (1, True), refused.err
    again = incumbent(*command)
    assert again.code == 0, again.err
    assert scene.state(folder) == "after"
    assert nothing_is_left(folder)
    assert status(folder) == scene.status
    return state


# Between the call that opens a file and the block that closes it, closing is left to the collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize("after", one_in(2, [True, False]), ids=["after", "before"])
@pytest.mark.parametrize("name", COMMANDS)
def test_an_interrupt_at_every_call_that_changes_a_file_is_taken_back_or_finished(
    name: str, after: bool, scenes: Callable[[str], Scene], incumbent: Incumbent, tmp_path: Path
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    scene = scenes(name)
    # What ships with `init` is several dozen files.
    step = {"init": 17, "import": 7, "admit": 7, "reclassify": 7, "migrate": 7}.get(name, 2)
    step = 1 + step // 8 if THOROUGH else step
    total, at, found = 1, 0, Counter[str]()
    while at < total:
        folder, command = scene.begin(tmp_path / str(at))
        with counted(Calls(folder, at, after, interrupt)) as calls:
            stopped = incumbent(*command)
        assert stopped.code in (0, 130), stopped.err
        found[judge(scene, folder, command, stopped.err, incumbent)] += 1
        shutil.rmtree(folder)
        total, at = max(total, len(calls.names)), at + step
    assert found["before"]
    assert not found["mixed"], "what is interrupted and not killed is whole"


@pytest.mark.parametrize("name", COMMANDS[:6] if THOROUGH else ("evict", "admit"))
def test_a_disk_that_refuses_everything_from_some_call_on_leaves_what_can_be_finished(
    name: str, scenes: Callable[[str], Scene], incumbent: Incumbent, tmp_path: Path
) -> None:
    def refuse() -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    scene = scenes(name)
    found = Counter[str]()
    for at in range(0, 80, 1 if name == "evict" or THOROUGH else 5):
        folder, command = scene.begin(tmp_path / str(at))
        with counted(Calls(folder, at, False, refuse, lasting=True)) as calls:
            stopped = incumbent(*command)
        assert stopped.code in (0, 4), stopped.err
        if stopped.code == 4:
            assert re.search("; (nothing was changed|a part of them is written|the change is complete)", stopped.err)
        found[judge(scene, folder, command, stopped.err, incumbent)] += 1
        shutil.rmtree(folder)
        if stopped.code == 0 and len(calls.names) <= at:
            break
    assert found["before"]
    assert found["mixed"]


def start(folder: Path, when: str, number: int, command: tuple[str, ...]) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "tests.cli.interrupting", str(folder), when, str(number), *command]
    return subprocess.Popen(
        words, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    )


def cases() -> list[tuple[str, signal.Signals, str]]:
    """Command, signal, and when: at a call, or at a random time after the first one or after the start."""
    draw = random.Random(20261123)
    found = []
    for name in COMMANDS[:6] if not THOROUGH else COMMANDS:
        for number in SIGNALS:
            for _ in range(8 if number is signal.SIGKILL else 4):
                found.append((name, number, f"{draw.randrange(60)}-{draw.choice(('before', 'after'))}"))
            for _ in range(4 if number is signal.SIGKILL else 2):
                found.append((name, number, f"begun {draw.uniform(0, 0.08):.4f}"))
            found.append((name, number, f"started {draw.uniform(0.1, 2.5):.4f}"))
    return found if THOROUGH else draw.sample(found, 10)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are others there")
@pytest.mark.parametrize(("name", "number", "when"), one_in(2, cases()), ids=str)
def test_a_process_that_is_ended_at_any_time_leaves_what_the_same_command_finishes(
    name: str,
    number: signal.Signals,
    when: str,
    scenes: Callable[[str], Scene],
    incumbent: Incumbent,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    scene = scenes(name)
    folder, command = scene.begin(tmp_path / "platform")
    kind, _, seconds = when.partition(" ")
    if kind not in ("begun", "started"):
        at, _, side = kind.partition("-")
        kind = f"{int(at) % len(scene.calls)}-{side}"
    process = start(folder, "begun" if kind == "started" else kind, number, command)
    with process:
        if kind == "begun":
            assert process.stdout is not None
            process.stdout.readline()
        if kind in ("begun", "started"):
            time.sleep(float(seconds))
            process.send_signal(number)
        _, said = process.communicate(timeout=60)
    # Ended by itself before the signal came, by the signal itself before any command ran, or as shells call that.
    # (Python ends with its own signal where one interrupted text that a library executes, whoever caught it.)
    assert process.returncode in (0, -number, 128 + number, -signal.SIGINT, 1 if kind == "started" else 0), said
    state = judge(scene, folder, command, said, incumbent)
    if number is not signal.SIGKILL:
        assert state != "mixed", "what is told to stop ends in order"
        if process.returncode == 128 + number and kind != "started":
            assert re.search(r"interrupted: (nothing was changed|the change is complete)", said), said
    record_property("state", state)


def test_the_lock_of_a_killed_process_stops_nobody(
    scenes: Callable[[str], Scene], incumbent: Incumbent, tmp_path: Path
) -> None:
    folder, command = scenes("evict").begin(tmp_path / "platform")
    # At the third call it has written, and holds the lock.
    process = start(folder, "3-before", signal.SIGSTOP, command)
    with process:
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
        assert "another command" in incumbent(*command).err
        process.kill()
    assert incumbent(*command).code == 0


@pytest.mark.parametrize("name", ["evict", "admit", "migrate"])
def test_a_folder_that_cannot_be_written_changes_nothing(
    name: str, scenes: Callable[[str], Scene], incumbent: Incumbent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root may write anywhere, so the file system is made to refuse what it would refuse others."""
    scene = scenes(name)
    folder, command = scene.begin(tmp_path / "platform")
    replace, unlink = os.replace, os.unlink

    def refused(path: str | Path) -> bool:
        return Path(path).parent == folder / "regression_set"

    def no_replace(source: str | Path, target: str | Path) -> None:
        if refused(target):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))
        replace(source, target)

    def no_unlink(path: str | Path, **more: int) -> None:
        if not more and refused(path):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        unlink(path, **more)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", no_replace)
        patch.setattr(os, "unlink", no_unlink)
        outcome = incumbent(*command)
    assert (outcome.code, "nothing was changed" in outcome.err) == (4, True), outcome.err
    assert scene.state(folder) == "before"
    assert nothing_is_left(folder)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0 or not shutil.which("mount"), reason="needs a small disk")
def test_a_disk_that_is_really_full_changes_nothing_and_keeps_no_leftovers(
    scenes: Callable[[str], Scene], incumbent: Incumbent, tmp_path: Path
) -> None:
    scene = scenes("admit")
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=24m", "none", str(disk)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("nothing may be mounted here")
    try:
        folder, command = scene.begin(disk / "platform")
        ballast = disk / "ballast"
        with ballast.open("wb", buffering=0) as stream, suppress(OSError):
            while True:
                stream.write(b"0" * PAGE)
        refusals = 0
        for _ in range(60):
            outcome = incumbent(*command)
            if outcome.code == 0:
                break
            assert (outcome.code, "nothing was changed" in outcome.err) == (4, True), outcome.err
            assert scene.state(folder) == "before"
            assert nothing_is_left(folder)
            os.truncate(ballast, ballast.stat().st_size - PAGE)
            refusals += 1
        assert refusals > len(scene.after.keys() - scene.before.keys())
        assert scene.state(folder) == "after"
    finally:
        subprocess.run(["umount", str(disk)], check=True)


# What may be found


@pytest.fixture(scope="module")
def killed(scenes: Callable[[str], Scene], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A platform on which an eviction was killed between its two files."""
    scene = scenes("evict")
    folder, command = scene.begin(tmp_path_factory.mktemp("killed") / "platform")
    # The tombstone is the last file that is moved into place.
    last = max(number for number, name in enumerate(scene.calls) if name == "replace")
    start(folder, f"{last}-after", signal.SIGKILL, command).communicate(timeout=60)
    assert scene.state(folder) == "mixed"
    return folder


@pytest.fixture
def half(killed: Path, scenes: Callable[[str], Scene], tmp_path: Path) -> tuple[Path, tuple[str, ...]]:
    """A copy of it, and the command that was killed."""
    folder = Path(shutil.copytree(killed, tmp_path / "platform", symlinks=True))
    return folder, tuple(word.replace("REPO", str(folder)) for word in scenes("evict").command)


def test_readers_name_a_half_written_change_and_the_next_that_writes_finishes_it(
    half: tuple[Path, tuple[str, ...]], incumbent: Incumbent, scenes: Callable[[str], Scene]
) -> None:
    folder, command = half
    for reading in (["status"], ["list"], ["migrate", "--dry-run"], [*command, "--dry-run"]):
        words = reading if "--repo" in reading else [*reading, "--repo", folder]
        refused = incumbent(*words)
        assert refused.code == 1
        assert "run the command that was interrupted again" in refused.err
    # Another one than that which was interrupted.
    other = sorted((folder / "regression_set").glob("*.yaml"))[-1].stem
    finished = incumbent("unpin", other, "--repo", folder)
    assert finished.code == 0
    assert "note: a change that was interrupted is finished now: 2 files" in finished.err
    assert scenes("evict").state(folder) == "after"


def test_a_change_that_a_person_took_back_does_not_return(
    half: tuple[Path, tuple[str, ...]], incumbent: Incumbent, scenes: Callable[[str], Scene]
) -> None:
    folder, _ = half
    with git.Repo(folder) as repository:
        repository.git.checkout(".")
        repository.git.clean("-fd")
    assert incumbent("status", "--repo", folder).code == 0
    other = sorted((folder / "regression_set").glob("*.yaml"))[-1].stem
    assert incumbent("unpin", other, "--repo", folder).err == ""
    assert scenes("evict").state(folder) == "before"
    assert nothing_is_left(folder)


def test_what_a_person_wrote_since_is_not_overwritten(half: tuple[Path, tuple[str, ...]], incumbent: Incumbent) -> None:
    folder, command = half
    (tombstone,) = (folder / "regression_set" / "evicted").glob("*.yaml")
    entry = folder / "regression_set" / tombstone.name
    entry.write_text(entry.read_text(encoding="utf-8") + "# kept\n", encoding="utf-8")
    before = tree(folder)
    outcome = incumbent(*command)
    assert (outcome.code, "its files were changed since" in outcome.err) == (1, True)
    assert "was evicted, and is there all the same" in outcome.err
    assert tree(folder) == before
    assert nothing_is_left(folder)


def test_the_same_again_is_no_fault(scenes: Callable[[str], Scene], incumbent: Incumbent, tmp_path: Path) -> None:
    for name, word in (("evict", "already"), ("restore", "already"), ("admit", "there already")):
        folder, command = scenes(name).begin(tmp_path / name)
        assert incumbent(*command).code == 0
        again = incumbent(*command)
        assert (again.code, word in again.out) == (0, True), again.err
        assert scenes(name).state(folder) == "after"
        assert incumbent(*command, "--json").json["files"] == {}


def test_a_file_of_the_repository_that_looks_like_a_change_is_none(
    scenes: Callable[[str], Scene], incumbent: Incumbent, tmp_path: Path
) -> None:
    """Who writes to the repository is not to have a change carried out for which nobody asked."""
    folder, _ = scenes("pin").begin(tmp_path / "platform")
    forged = folder / ".incumbent"
    forged.mkdir()
    (forged / "plan.json").write_text('{"steps": [{"path": "x", "before": null, "after": null, "aside": "new-0"}]}')
    before = tree(folder)
    with sole_curator(folder, pytest.fail):
        assert tree(folder) == before


def test_a_plan_that_is_found_writes_nothing_elsewhere(
    scenes: Callable[[str], Scene], incumbent: Incumbent, tmp_path: Path
) -> None:
    scene = scenes("pin")
    folder, command = scene.begin(tmp_path / "platform")
    victim = tmp_path / "victim"
    victim.write_bytes(b"v")
    digest = hashlib.sha256(b"v").hexdigest()
    for own in (folder / ".git" / "incumbent", folder / ".incumbent"):
        own.mkdir()
        places = ((victim, None), (tmp_path / "none", digest), (Path("../victim"), None), (Path("..", "none"), digest))
        steps = [
            {"path": str(path), "before": None if after else digest, "after": after, "aside": "a"}
            for path, after in (*places, (Path("done"), None))
        ]
        (own / "plan.json").write_text(json.dumps({"steps": steps}), encoding="utf-8")
        (own / "a").write_bytes(b"v")
        assert incumbent(*command).code == 0
        assert victim.exists()
        assert not (tmp_path / "none").exists()
        assert not own.exists()
        assert scene.state(folder) == "after"
        shutil.rmtree(folder / ".git", ignore_errors=True)


def test_a_file_elsewhere_that_a_change_names_is_brought_in_line_by_the_same_command(
    scenes: Callable[[str], Scene], incumbent: Incumbent, tmp_path: Path
) -> None:
    """The file is named by the command, which is stopped at some call and can take nothing back from then on."""

    def stop() -> None:
        raise KeyboardInterrupt

    scene = scenes("migrate")
    labels = tmp_path / "elsewhere" / "labels.yaml"
    labels.parent.mkdir()
    (given,) = (scene.base / "labels").glob("*.yaml")
    text = given.read_text(encoding="utf-8").replace("backend.call", "dialog.upset")
    at, total, seen = 0, 1, set()
    while at < total:
        labels.write_text(text, encoding="utf-8")
        folder, command = scene.begin(tmp_path / f"platform-{at}")
        command = (*command, "--labels", str(labels))
        with counted(Calls(tmp_path, at, False, stop, lasting=True)) as calls:
            incumbent(*command)
        again = incumbent(*command)
        assert again.code == 0, again.err
        seen.add(labels.read_text(encoding="utf-8"))
        assert nothing_is_left(folder)
        assert not list(labels.parent.glob(".*"))
        shutil.rmtree(folder)
        total, at = max(total, len(calls.names)), at + (1 if THOROUGH else 6)
    assert len(seen) == 1
    assert text not in seen
