from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from incumbent.errors import InputError
from incumbent.files.snapshot import Overlay, WorkingTree
from incumbent.intake.eval_sets.folder import read_eval_sets
from incumbent.intake.query import FixtureFolder, MadeIds, Query, Setup, SpokenFile, fault_of_id, missing_fixtures
from incumbent.pipeline.submission import faults_of_names, read_package
from tests.factories import SHIPPED


@pytest.mark.parametrize(
    ("attachments", "classified_turns"),
    [
        ((), ("Hello", "What is this?")),
        (("images/boat.PNG",), ("Hello", "What is this?\n(attached image: images/boat.PNG)")),
        (("image/png (9 characters)",), ("Hello", "What is this?\n(attached image: image/png (9 characters))")),
        (("call.MP3",), ("Hello", "What is this?\n(attached audio: call.MP3)")),
        (("plan.pdf", "a.jpg"), ("Hello", "What is this?\n(attached file: plan.pdf)\n(attached image: a.jpg)")),
    ],
)
def test_a_classifier_hears_of_what_is_attached(
    attachments: tuple[str, ...], classified_turns: tuple[str, ...]
) -> None:
    turns = ("Hello", "What is this?")
    query = Query(id="q", turns=turns, setup=Setup(attachments=attachments), file="f", line=1)
    assert query.classified_turns == classified_turns
    assert query.turns == turns


AUDIO = ("mp3", "wav", "m4a", "ogg", "flac", "aac", "opus", "wma", "amr")


@pytest.mark.parametrize(
    ("attachments", "kinds"),
    [
        ((), None),
        (("boat.png",), ("image",)),
        (("boat.JPEG", "chart.svg"), ("image",)),
        (("image/png (9 characters)",), ("image",)),
        (("image/svg+xml",), ("image",)),
        (("input_image",), ("image",)),
        (("https://harbour.example/boat.webp?size=2#top",), ("image",)),
        (("image of a boat.pdf", "image.pdf"), ("file",)),
        *(
            ((f"call.{ending}",), ("audio",))
            for ending in ["mp3", "wav", "m4a", "ogg", "flac", "aac", "opus", "wma", "amr"]
        ),
        (("audio/x-wav",), ("audio",)),
        (("audio",), ("audio",)),
        (("input_audio (12,000 characters, SHA-256 0123456789ab)",), ("audio",)),
        (("audiobook.docx", "clip.mp4", "mp3", "file-91"), ("file",)),
        (("z.pdf", "call.mp3", "b.png", "a.png"), ("audio", "file", "image")),
        (("boat.png\nnotes",), ("file",)),
    ],
)
def test_the_kinds_of_what_is_attached(attachments: tuple[str, ...], kinds: tuple[str, ...] | None) -> None:
    query = Query(id="q", turns=("Hello",), setup=Setup(attachments=attachments), file="f", line=1)
    assert query.attachment_kinds == kinds


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


MAIL = "kim.lee@northwind.com"
CARD = "4539-1488-0343-6467"
KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.mark.parametrize(
    ("id", "holds"),
    [
        (MAIL, "an e-mail address"),
        (f"refund {CARD}", "a payment card number"),
        (f"{MAIL} pays {CARD}", "a payment card number and an e-mail address"),
        ("DE89 3704 0044 0532 0130 01", None),
        ("q07", None),
        ("support@northwind.com", None),
        ("2026-11-23-0001", None),
    ],
)
def test_an_id_names_nobody(id: str, holds: str | None) -> None:
    assert fault_of_id(id) == (None if holds is None else f"the id holds {holds}")


def test_a_row_with_such_an_id_is_a_fault_and_a_title_is_no_id(tmp_path: Path) -> None:
    text = f'eval_set: 1\nqueries:\n  - {{id: "{MAIL}", query: Show my bills}}\n  - {{query: Where is it?}}\n'
    (tmp_path / "evals.yaml").write_text(text, encoding="utf-8")
    (found,) = read_eval_sets(WorkingTree(tmp_path), SHIPPED.limits)
    ((problem),) = found.problems
    assert (problem.line, problem.message) == (3, "the id holds an e-mail address")
    assert "ids become names of files" in problem.fix
    assert MAIL not in str(problem)
    assert len(found.queries) == 1


@pytest.mark.parametrize(
    ("customer", "agent", "said"),
    [
        (MAIL, "desk", ["the name of the customer holds an e-mail address"]),
        ("acme", f"card {CARD}", ["the name of the agent holds a payment card number"]),
        (
            KEY,
            MAIL,
            ["the name of the agent holds an e-mail address", "the name of the customer holds what looks like a key"],
        ),
        ("acme", "desk", []),
    ],
)
def test_names_of_customers_and_agents_name_nobody(customer: str, agent: str, said: list[str], tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text("agent: 1\nname: Desk\nplatform: x\n", encoding="utf-8")
    (tmp_path / "e.jsonl").write_text('{"query": "Show my bills"}\n', encoding="utf-8")
    assert sorted(problem.message for problem in faults_of_names(customer, agent, "folder")) == said
    if not said:
        assert read_package(WorkingTree(tmp_path), customer, agent, "folder", SHIPPED.limits).submission.queries
        return
    with pytest.raises(InputError) as caught:
        read_package(WorkingTree(tmp_path), customer, agent, "folder", SHIPPED.limits)
    assert sorted(problem.message for problem in caught.value.problems) == said


@pytest.mark.parametrize(
    ("id", "fault"),
    [
        (" ", "the id is empty"),
        ("a" * 201, "the id has 201 characters, more than 200"),
        ("sk-proj-8Jd02kLmQx71ZtRw55YbNc", "the id contains what looks like a key"),
        ("a\nb", "the id holds characters that cannot be seen, such as a line break or a tab"),
        ("a" * 200, None),
    ],
)
def test_an_id_is_short_and_visible(id: str, fault: str | None) -> None:
    assert fault_of_id(id) == fault


def test_a_made_id_avoids_given_ones_and_those_of_equal_queries() -> None:
    first = MadeIds([]).make(["Hello"])
    made = MadeIds([first, f"{first}-3"])
    assert [made.make(["hello "]), made.make(["Hello"])] == [f"{first}-2", f"{first}-4"]


@pytest.mark.parametrize("given", [{}, {"query": "a", "turns": ["a"]}], ids=str)
def test_a_query_has_one_turn_or_several(given: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match="exactly one of `query`"):
        SpokenFile.model_validate(given)
