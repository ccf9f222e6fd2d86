"""`incumbent export`: where it goes, what is left out, and how it ends."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from incumbent.cli.schemas import schema
from incumbent.curator.entry import Source
from incumbent.curator.store import entry_path
from tests.cli.conftest import Incumbent
from tests.factories import REPOSITORY, make_entry

TWO_TURNS = "elmstow-travel-desk-t1"
ONE_TURN = "fennick-cloud-incidents-q1"
ENTRIES = (
    make_entry(
        TWO_TURNS,
        {"execution.orchestration.multi-turn": 1.0},
        turns=("Find me a train to Leeds.", "And one back on Sunday."),
        source=Source(customer="elmstow-travel", agent="desk", eval_set="evals.yaml", item="t1"),
    ),
    make_entry(
        ONE_TURN,
        {"execution.orchestration.single-turn": 1.0},
        turns=("Which incidents are open?",),
        source=Source(customer="fennick-cloud", agent="incidents", eval_set="evals.yaml", item="q1"),
    ),
)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A platform with a regression set of two entries."""
    for name in ("taxonomy", "config"):
        shutil.copytree(REPOSITORY / name, tmp_path / name)
    (tmp_path / "regression_set").mkdir()
    for entry in ENTRIES:
        text = json.dumps(entry.model_dump(mode="json"))  # JSON is YAML
        (tmp_path / entry_path(entry.id)).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("checkout")
def test_one_file_goes_to_standard_output_and_remarks_do_not(incumbent: Incumbent) -> None:
    outcome = incumbent("export", "--to", "inspect")
    assert outcome.code == 0
    assert [json.loads(line)["id"] for line in outcome.out.splitlines()] == [ONE_TURN]
    assert f"left out: {TWO_TURNS}: it is a conversation" in outcome.err


@pytest.mark.usefixtures("checkout")
def test_several_files_need_a_folder(incumbent: Incumbent) -> None:
    outcome = incumbent("export", "--to", "deepeval")
    assert outcome.code == 2
    assert "--output" in outcome.err
    assert incumbent("export", "--to", "deepeval", "--output", "goldens").code == 0
    assert sorted(path.name for path in Path("goldens").iterdir()) == ["conversational_goldens.json", "goldens.json"]


def test_json_tells_what_was_written_in_the_published_schema(checkout: Path, incumbent: Incumbent) -> None:
    outcome = incumbent("export", "--to", "copilot-studio", "--output", "sets", "--json")
    assert outcome.code == 0
    Draft202012Validator(schema("export-output")).validate(outcome.json)
    assert outcome.json["exported"] == [ONE_TURN]
    assert [remark["id"] for remark in outcome.json["left_out"]] == [TWO_TURNS]
    assert all((checkout / file).is_file() for file in outcome.json["files"])
    assert incumbent("export", "--to", "jsonl", "--json").code == 2


def test_a_dry_run_writes_nothing(checkout: Path, incumbent: Incumbent) -> None:
    outcome = incumbent("export", "--to", "copilot-studio", "--output", "sets", "--json", "--dry-run")
    assert (outcome.code, outcome.json["dry_run"]) == (0, True)
    assert not (checkout / "sets").exists()


@pytest.mark.usefixtures("checkout")
def test_an_export_into_a_folder_names_what_an_earlier_one_left(incumbent: Incumbent) -> None:
    Path("sets").mkdir()
    Path("sets/regression_set-03.csv").touch()
    outcome = incumbent("export", "--to", "copilot-studio", "--output", "sets")
    assert outcome.code == 0
    assert "sets/regression_set-03.csv was not written now" in outcome.err
    Path("goldens").mkdir()
    Path("goldens/conversational_goldens.json").touch()
    Path("goldens/notes.json").touch()
    outcome = incumbent("export", "--to", "deepeval", "--customer", "fennick-cloud", "--output", "goldens")
    assert [line.split()[1] for line in outcome.err.splitlines() if line.startswith("warning: ")] == [
        "goldens/conversational_goldens.json"
    ]


@pytest.mark.usefixtures("checkout")
def test_a_path_with_a_slash_at_the_end_is_a_folder(incumbent: Incumbent) -> None:
    assert incumbent("export", "--to", "jsonl", "--output", "new/").code == 0
    assert incumbent("export", "--to", "jsonl", "--output", "file").code == 0
    assert Path("new/regression_set.jsonl").read_bytes() == Path("file").read_bytes()


@pytest.mark.usefixtures("checkout")
def test_filters_keep_any_of_what_they_name(incumbent: Incumbent) -> None:
    def ids(*filters: str) -> list[str]:
        return [json.loads(line)["id"] for line in incumbent("export", "--to", "jsonl", *filters).out.splitlines()]

    assert ids() == [TWO_TURNS, ONE_TURN]
    assert ids("--customer", "elmstow-travel") == [TWO_TURNS]
    assert ids("--capability", "execution.orchestration.multi-turn") == [TWO_TURNS]
    both = ("--capability", "execution.orchestration.multi-turn", "--capability", "execution.orchestration.single-turn")
    assert ids(*both) == [TWO_TURNS, ONE_TURN]


@pytest.mark.usefixtures("checkout")
@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["--capability", "execution.orchestration.multiturn"], 1, "perhaps you meant"),
        (["--customer", "elmstow"], 1, "no such customer"),
        (["--capability", "request.attachments.audio"], 1, "no entry to export of this customer or capability"),
        (["--customer", "elmstow-travel"], 1, "it is a conversation"),
        (["--strict"], 3, "left out: 1"),
        (["--output", "taxonomy/taxonomy.yaml/x"], 4, "cannot be written"),
    ],
)
def test_how_it_ends_otherwise(arguments: list[str], code: int, text: str, incumbent: Incumbent) -> None:
    outcome = incumbent("export", "--to", "inspect", *arguments)
    assert outcome.code == code
    assert text in outcome.err


def test_quarantined_entries_block_no_release_and_run_apart(checkout: Path, incumbent: Incumbent) -> None:
    assert "there is no quarantined entry to export" in incumbent("export", "--to", "inspect", "--quarantined").err
    assert incumbent("quarantine", ONE_TURN, "--reason", "it flaps").code == 0
    outcome = incumbent("export", "--to", "jsonl", "--strict")
    assert outcome.code == 0, "quarantine is meant"
    assert [json.loads(line)["id"] for line in outcome.out.splitlines()] == [TWO_TURNS]
    assert f"left out: {ONE_TURN}: it is quarantined: it flaps\n1 entry for jsonl, 1 left out" in outcome.err
    alone = incumbent("export", "--to", "jsonl", "--quarantined")
    assert [json.loads(line)["id"] for line in alone.out.splitlines()] == [ONE_TURN]
    document = incumbent("export", "--to", "jsonl", "--dry-run", "--json").json
    Draft202012Validator(schema("export-output")).validate(document)
    assert document["quarantined"] == [{"id": ONE_TURN, "message": "it is quarantined: it flaps"}]
    assert incumbent("quarantine", TWO_TURNS, "--reason", "it flaps, too").code == 0
    nothing = incumbent("export", "--to", "jsonl")
    assert nothing.code == 1
    assert "`incumbent export --quarantined` exports it" in nothing.err


def test_a_hostile_reason_moves_no_cursor_and_forges_no_line(checkout: Path, incumbent: Incumbent) -> None:
    reason = "\x1b[2J\nleft out: everything"
    entry = ENTRIES[1].model_copy(update={"quarantined": reason})
    path = checkout / entry_path(ONE_TURN)
    path.write_text(json.dumps(entry.model_dump(mode="json")), encoding="utf-8")
    for words in (("export", "--to", "jsonl"), ("show", ONE_TURN), ("list", "--quarantined")):
        outcome = incumbent(*words)
        assert "everything" in outcome.out + outcome.err
        assert "\x1b" not in outcome.out + outcome.err
        assert "\nleft out: everything" not in outcome.out + outcome.err


@pytest.mark.usefixtures("checkout")
def test_a_hyphen_is_standard_output(incumbent: Incumbent) -> None:
    outcome = incumbent("export", "--to", "inspect", "--output", "-")
    assert [json.loads(line)["id"] for line in outcome.out.splitlines()] == [ONE_TURN]
    assert not Path("-").exists()
