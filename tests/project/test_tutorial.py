"""The tutorial is true: its commands run in their order, print what it shows, and its pictures are of what there is."""

from __future__ import annotations

import re
import struct
from pathlib import Path
from typing import Final

import pytest

from dev.screenshots import IMAGES, WIDTH, Picture, pictures, shown
from dev.tutorial import PAGE, Answer, Step, differs, play, steps
from tests.factories import REPOSITORY

NAMES: Final = ("overview", "coverage", "comment", "evicted")
MAX_BYTES: Final = 150_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tutorial")


@pytest.fixture(scope="module")
def answers(folder: Path) -> list[Answer]:
    return play(folder)


@pytest.fixture(scope="module")
def made(folder: Path, answers: list[Answer], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Picture]:
    assert answers
    return {picture.name: picture for picture in pictures(folder, tmp_path_factory.mktemp("pages"))}


def test_every_command_of_the_tutorial_runs_and_prints_what_it_shows(answers: list[Answer]) -> None:
    for answer in answers:
        assert answer.code == 0, (answer.step.command, answer.printed)
        assert differs(answer) is None, (answer.step.command, differs(answer), answer.printed)
    assert len(answers) == len(steps(PAGE.read_text(encoding="utf-8"))) > 20


def test_the_tutorial_ends_with_one_eviction(answers: list[Answer], folder: Path) -> None:
    assert answers[-1].code == 0
    entries = folder / "platform" / "regression_set"
    assert (len(list(entries.glob("*.yaml"))), len(list(entries.glob("evicted/*.yaml")))) == (18, 1)


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_shows_what_there_is(name: str, made: dict[str, Picture]) -> None:
    kept = (IMAGES / f"{name}.txt").read_text(encoding="utf-8")
    assert kept == shown(made[name]), "make the pictures again: python -m dev.screenshots"


def test_pictures_are_few_small_and_described() -> None:
    assert {path.name for path in IMAGES.iterdir()} == {f"{name}.{kind}" for name in NAMES for kind in ("png", "txt")}
    for name in NAMES:
        content = (IMAGES / f"{name}.png").read_bytes()
        assert content.startswith(b"\x89PNG")
        assert struct.unpack(">I", content[16:20])[0] <= WIDTH
        assert len(content) <= MAX_BYTES
    pages = [REPOSITORY / "README.md", *(REPOSITORY / "docs").glob("*.md")]
    found = [each for page in pages for each in re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", page.read_text("utf-8"))]
    assert {Path(target).stem for _, target in found} == set(NAMES)
    assert all(len(text) > 30 for text, _ in found)


CASES: Final = [
    (("a", "b"), ("a", "b"), None),
    (("a", "b"), ("a",), "(the page does not show: b)"),
    (("a", "b"), ("a", "…"), None),
    (("a", "b", "c"), ("…", "c"), None),
    (("a", "b", "c"), ("…", "b"), "(the page does not show: c)"),
    (("a", "b"), ("b",), "b"),
    (("a",), ("a", "b"), "b"),
    (("x\t0.91",), ("x  0.87",), None),
    (("9 of 14",), ("8 of 14",), "8 of 14"),
]


@pytest.mark.parametrize(("printed", "page", "fault"), CASES)
def test_what_a_page_shows_is_compared_line_by_line(
    printed: tuple[str, ...], page: tuple[str, ...], fault: str | None
) -> None:
    assert differs(Answer(Step("x", page), 0, printed)) == fault


def test_a_block_holds_commands_and_what_they_print() -> None:
    page = "```console\n$ one\nout\n…\n$ two\n```\n\n```sh\nthree\n```\n"
    assert steps(page) == [Step("one", ("out", "…")), Step("two", ())]
