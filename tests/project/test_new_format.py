"""The checklist for an eval-set format in CONTRIBUTING.md is true: its places suffice, and each is needed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.factories import REPOSITORY

FILES = {
    "bot/incumbent/intake/eval_sets/formats/harbour_log.py": '''"""Logs of a harbour, in JSON: `harbour` and `calls`."""

from __future__ import annotations

import re
from typing import Final

from incumbent.errors import Problem
from incumbent.intake.eval_sets.inputs import Inputs
from incumbent.intake.eval_sets.reader import EvalSetReader, SourceFile
from incumbent.intake.eval_sets.records import listed
from incumbent.intake.eval_sets.reader import EvalSetRows, EvalSetRow
from incumbent.files.documents import Node
from incumbent.intake.query import Setup


def _recognises(source: SourceFile) -> bool:
    return source.root.has("harbour") and source.root["calls"].is_list


def _read(source: SourceFile) -> EvalSetRows:
    inputs = Inputs(format="harbour-log", key="spoken", source=source)

    def row(record: Node, problems: list[Problem]) -> EvalSetRow | None:
        return inputs.row(record, problems, Setup())

    return inputs.reading(listed(source.root["calls"]), row)


READER: Final = EvalSetReader(
    name="harbour-log",
    title="log of a harbour in JSON (`harbour` and `calls`)",
    endings=(".json",),
    mark=re.compile(r\'"harbour"\\s*+:\'),
    recognises=_recognises,
    read=_read,
)
''',
    "tests/formats/harbour_log.py": '''"""Files of the format `harbour-log`."""

from __future__ import annotations

from tests.hostile.templates import SHIPS, template

TEMPLATES = (
    template(
        "harbour-log",
        "log.json",
        {"harbour": "north", "calls": [{"id": id, "spoken": text, "answer": answer} for id, text, answer in SHIPS]},
        items=("calls",),
        text=("spoken",),
        name=("id",),
    ),
)
SAMPLES = (("short.json", \'{"harbour": "south", "calls": [{"spoken": "Hello"}]}\'),)
''',
}
ROW = "| `harbour-log`: logs of a harbour | `spoken` of a call | all else of it |\n"
PLACES = ("docs/formats.md", *FILES)
SUITES = (
    "tests/intake/eval_sets/test_every_format.py",
    "tests/hostile",
    "tests/fuzz",
    "tests/mcp_server/test_quoted_names.py",
)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of this repository with the format ``harbour-log``, and with what is compiled of it."""
    folder = tmp_path_factory.mktemp("checkout")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=REPOSITORY,
        check=True,
        capture_output=True,
        text=True,
    )
    for source in (REPOSITORY / name for name in listed.stdout.split("\0")):
        compiled = source.parent.glob(f"__pycache__/{source.stem}.*.pyc") if source.suffix == ".py" else ()
        for path in filter(Path.is_file, (source, *compiled)):
            target = folder / path.relative_to(REPOSITORY)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target)
    for name, content in added().items():
        (folder / name).write_text(content, encoding="utf-8")
    return folder


def added() -> dict[str, str]:
    """The files of the format, and the page with its row."""
    text = (REPOSITORY / "docs" / "formats.md").read_text(encoding="utf-8")
    head = re.search(r"^\| `incumbent`", text, re.MULTILINE)
    assert head is not None
    return {**FILES, "docs/formats.md": text[: head.start()] + ROW + text[head.start() :]}


@contextmanager
def lacking(folder: Path, place: str) -> Iterator[None]:
    """The checkout as it is without what the format adds at ``place``."""
    path, before = folder / place, REPOSITORY / place
    if before.is_file():
        shutil.copyfile(before, path)
    else:
        path.unlink()
    yield
    path.write_text(added()[place], encoding="utf-8")


def suites(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    alone = ("--numprocesses=0", "-p", "no:cacheprovider", "--hypothesis-profile=gate")
    command = [sys.executable, "-m", "pytest", *alone, *arguments]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(folder / "bot"), str(folder)))}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.exhaustive
def test_a_format_in_the_documented_places_passes_every_suite(checkout: Path) -> None:
    ended = suites(checkout, "-rA", *SUITES, "-k", "harbour-log or every_reader_has_a_template or documented")
    assert ended.returncode == 0, ended.stdout
    for expected in (
        "test_every_format.py::test_a_file_is_recognised_as_its_own_format_alone[harbour-log:short.json]",
        "test_every_format.py::test_a_template_is_read_whole[harbour-log:log.json]",
        "test_attacks.py::test_every_template_is_valid[harbour-log:log.json]",
        "test_fuzz.py::test_a_changed_file_is_read_or_refused[harbour-log:log.json]",
        "test_quoted_names.py::test_no_format_repeats_a_name_outside_of_a_mark[harbour-log:log.json]",
    ):
        assert expected in ended.stdout, ended.stdout


@pytest.mark.parametrize(
    ("place", "suite"),
    [
        ("docs/formats.md", "tests/intake/eval_sets/test_every_format.py"),
        ("tests/formats/harbour_log.py", "tests/hostile/test_attacks.py"),
    ],
)
def test_a_format_that_lacks_one_of_them_fails(checkout: Path, place: str, suite: str) -> None:
    with lacking(checkout, place):
        ended = suites(checkout, suite, "-k", "documented or every_reader")
    assert ended.returncode == 1, ended.stdout
    assert "1 failed" in ended.stdout, ended.stdout


def test_the_checklist_names_these_places_and_no_others() -> None:
    text = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.split("### An eval-set format")[1].split("\n#")[0]
    steps = re.findall(r"^\d\. .*?`([\w./]+)`", section, re.MULTILINE)
    named = {re.sub(r"harbour_log", "NAME", place) for place in PLACES}
    assert set(steps) == named
    assert len(steps) == 3
