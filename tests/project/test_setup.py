"""``dev/setup.sh`` says what a machine lacks, with what to do, before it changes anything."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
SHELL_TOOLS = ("cat", "cksum", "date", "dirname", "ln", "mkdir", "mv", "readlink", "rm", "rmdir", "sed", "sleep", "tr")


class Machine:
    """A checkout in a folder whose name is awkward, on a machine that has only the commands it was given."""

    def __init__(self, root: Path) -> None:
        self.commands = root / "commands"
        self.commands.mkdir()
        self.checkout = root / "a checkout é"
        self.checkout.mkdir()
        for name in ("dev", "requirements"):
            shutil.copytree(REPOSITORY / name, self.checkout / name)
        shutil.copy(REPOSITORY / "pyproject.toml", self.checkout)
        for name in SHELL_TOOLS:
            self.has(name, found(name))

    def has(self, name: str, path: Path) -> None:
        (self.commands / name).symlink_to(path)

    def has_script(self, name: str, script: str) -> None:
        path = self.commands / name
        path.write_text(f"#!{found('sh')}\n{script}\n", encoding="utf-8")
        path.chmod(0o755)

    def set_up(self, kind: str = "run", **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [found("sh"), "dev/setup.sh", kind],
            cwd=self.checkout,
            env={"PATH": str(self.commands), **environment},
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
            timeout=60,
        )

    def untouched(self) -> bool:
        return not list(self.checkout.glob(".venv*"))


def found(command: str) -> Path:
    path = shutil.which(command)
    if path is None:
        pytest.skip(f"this machine has no command {command}")
    return Path(path)


def python_that_fails_at(words: str) -> str:
    """A script that runs this Python, but fails when ``words`` are among its arguments."""
    return f'case "$*" in *"{words}"*) exit 1;; esac\nexec {shlex.quote(sys.executable)} "$@"'


def python_after(statement: str) -> str:
    """A script that runs this Python as ``-c CODE``, the ``statement`` before the code."""
    return f'exec {shlex.quote(sys.executable)} -c "import sys; {statement}\n$2"'


OLD = "sys.version_info = (3, 9, 2)"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    made = Machine(tmp_path)
    made.has("git", found("git"))
    return made


def test_without_git_it_says_so(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    ended = machine.set_up()
    assert ended.returncode == 2
    assert "git is missing" in ended.stderr
    assert machine.untouched()


def test_without_python_it_says_so(machine: Machine) -> None:
    ended = machine.set_up()
    assert ended.returncode == 2
    assert "Python 3.11 or newer is needed, with venv. None was found on PATH." in ended.stderr
    assert machine.untouched()


def test_an_old_python_is_named_with_its_version(machine: Machine) -> None:
    machine.has_script("python3", python_after(OLD))
    ended = machine.set_up()
    assert ended.returncode == 2
    assert "python3: Python 3.9.2 is too old" in ended.stderr
    assert machine.untouched()


def test_a_command_that_exists_but_does_not_run_is_no_python(machine: Machine) -> None:
    machine.has_script("python3.13", "echo 'python3.13: not activated' >&2; exit 127")
    ended = machine.set_up()
    assert ended.returncode == 2
    assert "python3.13: it does not run" in ended.stderr


def test_a_python_that_cannot_make_environments_is_named_with_the_package_to_install(machine: Machine) -> None:
    machine.has_script("python3", python_after("sys.modules['ensurepip'] = None"))
    ended = machine.set_up()
    assert ended.returncode == 2
    assert "lacks venv or ensurepip" in ended.stderr
    assert f"apt install python3.{sys.version_info.minor}-venv" in ended.stderr
    assert machine.untouched()


def test_the_python_that_was_asked_for_is_not_replaced_by_another(machine: Machine) -> None:
    machine.has("python3", Path(sys.executable))
    machine.has_script("old", python_after(OLD))
    ended = machine.set_up(PYTHON="old")
    assert ended.returncode == 2
    assert "old: Python 3.9.2 is too old" in ended.stderr
    assert "absent: it does not run" in machine.set_up(PYTHON="absent").stderr
    assert machine.untouched()


def test_the_place_of_packages_is_told_with_a_key_that_changes_with_them(machine: Machine) -> None:
    machine.has("python3", Path(sys.executable))

    def place() -> dict[str, str]:
        ended = machine.set_up("place")
        assert ended.returncode == 0, ended.stderr
        return dict(line.split("=", 1) for line in ended.stdout.splitlines())

    first = place()
    assert first["folder"] == str(machine.checkout / ".venv")
    assert place() == first
    for name in ("requirements/run.txt", "dev/setup.sh"):
        with (machine.checkout / name).open("a", encoding="utf-8") as file:
            file.write("# another\n")
        second = place()
        assert second["folder"] == first["folder"]
        assert second["key"] != first["key"]
        first = second
    assert machine.untouched()


def test_what_it_is_to_set_up_must_be_said(machine: Machine) -> None:
    ended = machine.set_up("everything")
    assert ended.returncode == 2
    assert "publish|run|analyse|mcp|site|triage|dev|cluster|place" in ended.stderr


def test_an_environment_of_somebody_else_is_set_aside(machine: Machine) -> None:
    machine.has_script("python3", python_that_fails_at("-m venv"))
    (machine.checkout / ".venv").mkdir()
    (machine.checkout / ".venv" / "mine").touch()
    ended = machine.set_up()
    assert ended.returncode == 2
    (kept,) = machine.checkout.glob(".venv.kept-*")
    assert f"it is kept as {kept.name}" in ended.stderr
    assert (kept / "mine").exists()


BACKEND = """
import zipfile


def build_editable(folder, settings=None, metadata=None):
    info = "incumbent-1.dist-info"
    with zipfile.ZipFile(f"{folder}/incumbent-1-py3-none-any.whl", "w") as wheel:
        wheel.writestr("_editable_impl_incumbent.pth", "elsewhere")
        wheel.writestr("incumbent_weights/__init__.py", "")
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: incumbent\\nVersion: 1\\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(f"{info}/RECORD", "")
    return "incumbent-1-py3-none-any.whl"
"""


ABSENT = f"absent==1 --hash=sha256:{'0' * 64}\n"


@pytest.mark.exhaustive
def test_what_is_ready_stays_and_what_has_changed_or_was_interrupted_is_made_anew(machine: Machine) -> None:
    machine.has("python3", Path(sys.executable))
    project = "[build-system]\nrequires = []\nbuild-backend = 'backend'\nbackend-path = ['.']\n"
    (machine.checkout / "pyproject.toml").write_text(project, encoding="utf-8")
    (machine.checkout / "backend.py").write_text(BACKEND, encoding="utf-8")
    for path in (machine.checkout / "requirements").iterdir():
        path.write_text("# nothing\n", encoding="utf-8")
    offline = {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": "/dev/null"}
    marker = machine.checkout / ".venv" / "marker"

    def run(kind: str = "run") -> str:
        ended = machine.set_up(kind, **offline)
        assert ended.returncode == 0, ended.stderr
        return ended.stderr

    # Interrupted: nothing is recorded, and the process of the lock is gone.
    marker.parent.mkdir()
    (marker.parent / "incumbent-setup").touch()
    marker.touch()
    (machine.checkout / ".venv.lock").symlink_to("999999999")
    assert "making .venv" in run()
    assert not marker.exists()
    (pointer,) = marker.parent.glob("lib/python3*/site-packages/_editable_impl_incumbent.pth")
    assert (pointer.parent / pointer.read_text().strip()).resolve() == (machine.checkout / "bot").resolve()
    marker.touch()
    assert run() == ""
    assert "installing the packages of requirements/ for: mcp" in run("mcp")
    assert run() == run("mcp") == ""
    (machine.checkout / "pyproject.toml").write_text(f"{project}\n", encoding="utf-8")
    pointer.unlink()
    assert run() == ""
    assert pointer.exists()
    assert marker.exists()
    # Packages that cannot be fetched are the outside world's fault, and leave it as an interruption does.
    (machine.checkout / "requirements" / "run.txt").write_text(ABSENT, encoding="utf-8")
    ended = machine.set_up(**offline)
    assert ended.returncode == 4
    assert "making .venv" in ended.stderr
    assert "the packages could not be installed" in ended.stderr
    assert (marker.parent / "incumbent-setup").read_bytes() == b""
    assert not marker.exists()
    assert not list(machine.checkout.glob(".venv.*"))
