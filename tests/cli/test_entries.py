"""Entries one by one: list, show, pin, unpin, and evicting what is gone already."""

from __future__ import annotations

from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from incumbent.cli.schemas import schema
from tests.cli.conftest import Incumbent
from tests.cli.test_set_life import CARD_LINE, tree
from tests.factories import config_with

AT = ("--at", "2026-02-03T04:05:06Z")


@pytest.fixture
def filled(platform: Path, incumbent: Incumbent) -> Path:
    assert incumbent("admit", platform / CARD_LINE, "--repo", platform).code == 0
    return platform


def ids(filled: Path) -> list[str]:
    return sorted(path.stem for path in (filled / "regression_set").glob("*.yaml"))


def test_list_has_one_line_for_each_entry(filled: Path, incumbent: Incumbent) -> None:
    lines = incumbent("list", "--repo", filled).out.splitlines()
    assert lines[0].split("\t") == ["entry", "state", "customer", "agent", "admitted", "capabilities", "roles"]
    rows = [line.split("\t") for line in lines[1:]]
    assert [row[0] for row in rows] == ids(filled)
    assert {tuple(row[1:4]) for row in rows} == {("in-set", "tarnbeck-bank", "card-line")}


def test_list_is_filtered(filled: Path, incumbent: Incumbent) -> None:
    def listed(*more: str) -> list[str]:
        outcome = incumbent("list", *more, "--repo", filled, "--json")
        assert outcome.code == 0, outcome.err
        Draft202012Validator(schema("list-output")).validate(outcome.json)
        return [item["id"] for item in outcome.json["entries"]]

    every = incumbent("list", "--repo", filled, "--json").json["entries"]
    assert listed("--customer", "tarnbeck-bank") == ids(filled)
    assert listed("--customer", "nobody") == []
    champions = [item["id"] for item in every if item["roles"]["champion_of"]]
    assert listed("--pinned") == champions
    incumbent("pin", ids(filled)[-1], "--reason", "ours", "--repo", filled)
    assert listed("--pinned") == sorted({*champions, ids(filled)[-1]})
    capability = next(iter(incumbent("show", ids(filled)[0], "--repo", filled, "--json").json["capabilities"]))
    assert ids(filled)[0] in listed("--capability", capability)
    assert "\tscore\t" in incumbent("list", "--capability", capability, "--repo", filled).out
    gone = ids(filled)[0]
    incumbent("evict", gone, "--reason", "a trial", *AT, "--repo", filled)
    assert (listed("--evicted"), listed("--waiting"), listed("--evicted", "--waiting")) == ([gone], [], [gone])
    assert gone not in listed()


def test_what_cannot_be_listed_is_said(filled: Path, incumbent: Incumbent) -> None:
    outcome = incumbent("list", "--capability", "no.such", "--repo", filled)
    assert (outcome.code, "the taxonomy has no capability 'no.such'" in outcome.err) == (1, True)
    assert incumbent("list", "--pinned", "--evicted", "--repo", filled).code == 2


def test_show_says_why_an_entry_is_in_and_who_else_covers(filled: Path, incumbent: Incumbent) -> None:
    for id in ids(filled):
        outcome = incumbent("show", id, "--repo", filled)
        assert outcome.out.startswith(f"{id}: in the regression set\n")
        assert "admitted at 2026-01-02T03:04:05Z" in outcome.out
        assert " direct " in outcome.out.split("admitted at")[1].splitlines()[0]
        assert "from tarnbeck-bank / card-line, " in outcome.out
        shown = incumbent("show", id, "--repo", filled, "--json").json
        Draft202012Validator(schema("show-output")).validate(shown)
        assert all(id not in item["others"] for item in shown["capabilities"].values())
        assert list(shown["capabilities"]) != []


def test_a_mistyped_id_gets_the_nearest_one(filled: Path, incumbent: Incumbent) -> None:
    outcome = incumbent("show", ids(filled)[0][:-1], "--repo", filled)
    assert outcome.code == 1
    assert "perhaps you meant" in outcome.err
    assert "`incumbent list`" in outcome.err


def test_an_entry_that_is_gone_says_who_evicted_it_and_how_it_returns(filled: Path, incumbent: Incumbent) -> None:
    gone = ids(filled)[0]
    assert incumbent("evict", gone, "--reason", "a trial", "--by", "Kim", *AT, "--repo", filled).code == 0
    text = "evicted at 2026-02-03T04:05:06Z by Kim: a trial"
    again = incumbent("evict", gone, "--reason", "again", "--repo", filled)
    assert again.code == 1
    assert text in again.err
    assert f"incumbent restore {gone}" in again.err
    shown = incumbent("show", gone, "--repo", filled).out
    assert text in shown
    assert f"to bring it back: incumbent restore {gone}" in shown
    assert "`incumbent list --evicted`" in incumbent("restore", "nobody", "--repo", filled).err


def test_pin_and_unpin_change_one_line_and_keep_what_people_wrote(filled: Path, incumbent: Incumbent) -> None:
    id = ids(filled)[0]
    path = filled / "regression_set" / f"{id}.yaml"
    text = "# ours\n" + path.read_text(encoding="utf-8").replace("pin: null", "pin: null # nobody yet")
    path.write_text(text, encoding="utf-8")
    before = tree(filled)
    assert "would be pinned" in incumbent("pin", id, "--reason", "a promise", "--dry-run", "--repo", filled).out
    assert tree(filled) == before
    outcome = incumbent("pin", id, "--reason", "a promise", "--repo", filled, "--json")
    Draft202012Validator(schema("pin-output")).validate(outcome.json)
    assert outcome.json["files"] == {f"regression_set/{id}.yaml": "write"}
    lines = path.read_text(encoding="utf-8").splitlines()
    (pinned,) = [line for line in lines if line not in text.splitlines()]
    assert pinned.startswith("pin: a promise")
    assert pinned.endswith("# nobody yet")
    assert "person:a promise" in incumbent("prune", "--repo", filled, "--json").json["pinned"][id]
    assert "already" in incumbent("pin", id, "--reason", "a promise", "--repo", filled).out
    assert "pinned: a promise" in incumbent("show", id, "--repo", filled).out
    assert incumbent("unpin", id, "--repo", filled).code == 0
    assert [line.split("#")[0].strip() for line in path.read_text(encoding="utf-8").splitlines()] == [
        line.split("#")[0].strip() for line in text.splitlines()
    ]
    assert "is not pinned" in incumbent("unpin", id, "--repo", filled).out


def test_quarantine_changes_one_line_and_ends_without_a_trace(filled: Path, incumbent: Incumbent) -> None:
    id = ids(filled)[0]
    path = filled / "regression_set" / f"{id}.yaml"
    text = path.read_text(encoding="utf-8")
    before = incumbent("prune", "--repo", filled, "--json").json
    assert "would be quarantined" in incumbent("quarantine", id, "--reason", "x", "--dry-run", "--repo", filled).out
    assert path.read_text(encoding="utf-8") == text
    outcome = incumbent("quarantine", id, "--reason", "it flaps", "--repo", filled, "--json")
    Draft202012Validator(schema("quarantine-output")).validate(outcome.json)
    assert path.read_text(encoding="utf-8") == f"{text}quarantined: it flaps\n"
    assert incumbent("prune", "--repo", filled, "--json").json == before
    again = incumbent("quarantine", id, "--reason", "it flaps", "--repo", filled).out
    assert again == f"{id} is quarantined already, and nothing changes\n"
    other = incumbent("quarantine", id, "--reason", "others", "--repo", filled).out
    assert other == f"quarantined: {id} (it was: it flaps); to end that: incumbent quarantine {id} --end\n"
    listed = incumbent("list", "--quarantined", "--repo", filled, "--json").json["entries"]
    assert [(item["id"], item["roles"]["quarantined"]) for item in listed] == [(id, "others")]
    assert "quarantined: others" in incumbent("show", id, "--repo", filled).out
    assert incumbent("status", "--repo", filled, "--json").json["quarantined"] == [id]
    ended = incumbent("quarantine", id, "--end", "--repo", filled).out
    assert ended == f"out of quarantine: {id} (it was: others)\n"
    assert path.read_text(encoding="utf-8") == text
    assert "is not quarantined" in incumbent("quarantine", id, "--end", "--repo", filled).out
    for words in ((), ("--end", "--reason", "x")):
        assert "give either --reason or --end" in incumbent("quarantine", id, *words, "--repo", filled).err


def test_an_entry_that_waits_for_a_slot_can_be_pinned(platform: Path, incumbent: Incumbent) -> None:
    config = platform / "config" / "curation.yaml"
    config.write_text(config.read_text(encoding="utf-8").replace("ceiling: 40", "ceiling: 1"), encoding="utf-8")
    waiting = incumbent("admit", platform / CARD_LINE, "--repo", platform, "--json").json["waiting"][0]
    assert incumbent("pin", waiting, "--reason", "a promise", "--repo", platform).code == 0
    assert "pin: a promise" in (platform / f"regression_set/waiting/{waiting}.yaml").read_text(encoding="utf-8")
    assert "waits for a slot" in incumbent("show", waiting, "--repo", platform).out
    assert waiting in incumbent("status", "--repo", platform).out


@pytest.mark.parametrize(
    "arguments", [("pin", "nobody", "--reason", "x"), ("unpin", "nobody"), ("quarantine", "nobody", "--end")]
)
def test_what_is_not_there_cannot_be_pinned(arguments: tuple[str, ...], filled: Path, incumbent: Incumbent) -> None:
    outcome = incumbent(*arguments, "--repo", filled)
    assert outcome.code == 1
    assert "there is no such entry" in outcome.err


def test_admit_says_who_waits_for_a_person_and_how_to_accept(platform: Path, incumbent: Incumbent) -> None:
    config = platform / "config" / "curation.yaml"
    config.write_text(config_with(config.read_text(encoding="utf-8"), honesty_floor=0.99), encoding="utf-8")
    review = incumbent("review", platform / CARD_LINE, "--repo", platform, "--json").json
    waiting = [item["id"] for item in review["verdicts"] if item["outcome"] == "waiting-for-review"]
    assert waiting
    for command in ("review", "admit"):
        out = incumbent(command, platform / CARD_LINE, "--repo", platform).out
        assert all(f"{id}\t" in out for id in waiting)
    (said,) = [line for line in out.splitlines() if line.startswith("incumbent admit ")]
    named = [word for word in said.split() if word in waiting]
    assert named == [id for id in waiting if id in named]
    accepted = [option for id in named for option in ("--accept", id)]
    outcome = incumbent("admit", platform / CARD_LINE, *accepted, "--repo", platform)
    assert outcome.code == 0, outcome.err
    assert f"{len(waiting)} waiting for a person" in out
