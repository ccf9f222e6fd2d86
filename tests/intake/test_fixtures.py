"""Fixtures that set-ups name: which are in the folder for them, whatever a customer calls them."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.files.snapshot import Overlay, WorkingTree
from bot.intake.fixtures import FixtureFolder, missing_fixtures
from bot.intake.query import Query, Setup

FILES = (
    "fixtures/week.json",
    "fixtures/acme/day one.json",
    "elsewhere/other.json",
    "fixtures.json",
    "fixtures2/a.json",
)


def folder(root: Path, path: str = "fixtures") -> FixtureFolder:
    return FixtureFolder.of(Overlay(WorkingTree(root), dict.fromkeys(FILES, "{}")), path)


@pytest.mark.parametrize(
    ("name", "there"),
    [
        ("week.json", True),
        ("./week.json", True),
        ("acme/day one.json", True),
        ("acme", True),
        ("acme/", True),
        ("acme/../week.json", True),
        ("Week.json", False),
        ("day one.json", False),
        ("other.json", False),
        ("a.json", False),
        (".", False),
        ("..", False),
        ("../elsewhere/other.json", False),
        ("acme/../../elsewhere/other.json", False),
        ("../fixtures/week.json", False),
        ("/etc/hostname", False),
        ("//host/share", False),
        ("~/week.json", False),
        ("C:/week.json", False),
        ("..\\elsewhere\\other.json", False),
        ("acme\\day one.json", False),
        ("week.json\0", False),
        ("week.json\n", False),
        ("x" * 100_000, False),
        ("../" * 10_000, False),
    ],
)
def test_a_name_is_one_of_the_folder_or_missing(name: str, there: bool, tmp_path: Path) -> None:
    assert folder(tmp_path).missing(Setup(fixtures=(name,))) == (() if there else (name,))


def test_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "fixtures").mkdir()
    (tmp_path / "fixtures" / "week.json").symlink_to("/etc/hostname")
    (tmp_path / "fixtures" / "more").symlink_to("/etc")
    found = FixtureFolder.of(WorkingTree(tmp_path), "fixtures")
    names = ("week.json", "more", "more/hostname")
    assert found.missing(Setup(fixtures=names)) == names


def test_of_a_folder_that_is_not_there_everything_is_missing(tmp_path: Path) -> None:
    assert folder(tmp_path, "nowhere").missing(Setup(fixtures=("week.json", "week.json"))) == ("week.json",)
    assert folder(tmp_path, "nowhere").missing(Setup()) == ()


def test_each_query_is_a_problem_with_its_line_and_what_to_do(tmp_path: Path) -> None:
    def query(id: str, line: int, *names: str) -> Query:
        return Query(id=id, turns=("Hello?",), setup=Setup(fixtures=names), file="evals.yaml", line=line)

    queries = [query("q1", 3, "week.json"), query("q2", 7, "week.json", "`rm`", "../x"), query("q3", 9)]
    (problem,) = missing_fixtures(queries, folder(tmp_path))
    assert (problem.file, problem.line) == ("evals.yaml", 7)
    assert problem.message == "q2: not in fixtures/: `rm`, ../x"
    assert problem.fix == "commit below fixtures/: `rm`, ../x; or correct `setup.fixtures`"
