"""``incumbent agreement`` from end to end: the events of a ledger branch in, shares with intervals out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import git
import pytest
from jsonschema import Draft202012Validator

from incumbent.cli.schemas import schema
from incumbent.ledger.event_files import appended
from incumbent.ledger.events import SET_EVENTS, events_path
from incumbent.ledger.model import BRANCH
from tests.agreement.factories import decided
from tests.agreement.month import EVENTS
from tests.cli.conftest import Incumbent

HERE = f"refs/heads/{BRANCH}"
THERE = f"refs/remotes/origin/{BRANCH}"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """An empty repository, as a clone without anything but its ledger."""
    folder = tmp_path / "clone é"
    git.Repo.init(folder).close()
    return folder


def ledger(folder: Path, files: Mapping[str, str], reference: str = HERE) -> None:
    """A commit on the ledger's branch with these files."""
    with git.Repo(folder) as repository:
        index = folder / ".git" / "ledger-index"
        index.unlink(missing_ok=True)
        with repository.git.custom_environment(GIT_INDEX_FILE=str(index)):
            for name, text in files.items():
                path = folder / "content"
                path.write_text(text, encoding="utf-8", newline="\n")
                blob = repository.git.hash_object("-w", str(path))
                path.unlink()
                repository.git.update_index("--add", "--cacheinfo", f"100644,{blob},{name}")
            tree = repository.git.write_tree()
        who = {
            f"GIT_{role}_{part}": "robin@x.example" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")
        }
        with repository.git.custom_environment(**who):
            repository.git.update_ref(reference, repository.git.commit_tree(tree, "-m", "Events"))


def month() -> dict[str, str]:
    """The files of the month, as they are recorded: what is on no pull request apart."""
    on_set = [event for event in EVENTS if event.kind in {"answered", "requested", "changed-by-hand"}]
    others = [event for event in EVENTS if event not in on_set]
    return {
        events_path(7): appended(appended(None, others[:5]), others),
        SET_EVENTS: appended(None, on_set),
        "runs.json": "{}",
    }


def test_a_month_of_events_is_measured(clone: Path, incumbent: Incumbent) -> None:
    ledger(clone, month())
    outcome = incumbent("agreement", "--repo", clone)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("50% [24%, 76%] of 10 explicit responses agree; 1 let pass by a merge (3 people)")
    assert "\nINCLUDE\t3/5\t60%\t[23%, 88%]\t1\t2\t0.00\n" in outcome.out
    found = incumbent("agreement", "--repo", clone, "--json")
    Draft202012Validator(schema("agreement-output")).validate(found.json)
    assert incumbent("agreement", "--repo", clone, "--format", "json").out == found.out
    assert found.json["overall"]["explicit"] | {"low": 0, "high": 1} == {
        "count": 10, "agreed": 5, "share": 0.5, "low": 0, "high": 1,
    }  # fmt: skip
    assert (found.json["ledger"], found.json["people"], found.json["overall"]["alpha"]) == (True, 3, -0.25)
    assert found.json["said"][0] == {"text": "Too narrow.", "count": 2, "overrides": 2}
    assert found.json["reversed"] == {"explicit": 1, "implicit": 1}
    assert [item["capability"] for item in found.json["overridden"]] == ["a", "b"]


def test_a_time_and_a_person_choose_answers(clone: Path, incumbent: Incumbent) -> None:
    ledger(clone, month())

    def counts(*arguments: str) -> tuple[int, int, int]:
        found = incumbent("agreement", "--repo", clone, "--json", *arguments).json
        return (
            found["overall"]["explicit"]["count"],
            found["overall"]["implicit"]["count"],
            found["reversed"]["explicit"],
        )

    assert counts("--until", "2026-04-01") == (9, 1, 1)  # what was reversed in April did not last all the same
    assert counts("--since", "2026-03-21T12:00:00Z", "--until", "2026-03-22T12:00:00Z") == (1, 0, 0)
    assert counts("--by", "BOB") == (4, 0, 0)
    assert counts("--by", "nobody") == (0, 0, 0)


def test_without_a_ledger_or_events_the_report_is_empty(tmp_path: Path, clone: Path, incumbent: Incumbent) -> None:
    outcome = incumbent("agreement", "--repo", clone)
    assert (outcome.code, outcome.out) == (
        0,
        "No ledger branch found (`incumbent/ledger`): there are no responses to measure\n",
    )
    assert f"git fetch origin {BRANCH}:{BRANCH}" in outcome.err
    bare = tmp_path / "bare"
    bare.mkdir()
    outcome = incumbent("agreement", "--repo", bare, "--json")
    assert (outcome.code, outcome.json["ledger"], outcome.json["people"]) == (0, False, 0)
    assert "not inside a git repository" in outcome.err
    Draft202012Validator(schema("agreement-output")).validate(outcome.json)
    ledger(clone, {"runs.json": "{}"})
    outcome = incumbent("agreement", "--repo", clone)
    assert (outcome.code, outcome.out) == (0, "No one has answered a verdict or a suggestion\n")


def test_what_was_fetched_last_counts(clone: Path, incumbent: Incumbent) -> None:
    ledger(clone, month())
    ledger(clone, {events_path(7): appended(None, [decided()])}, THERE)
    assert incumbent("agreement", "--repo", clone, "--json").json["overall"]["explicit"]["count"] == 1


def test_lines_that_cannot_be_read_are_told_and_the_others_counted(clone: Path, incumbent: Incumbent) -> None:
    ledger(clone, {events_path(7): '{"kind": "sh\n' + appended(None, [decided()])})
    outcome = incumbent("agreement", "--repo", clone, "--json")
    assert outcome.code == 1
    assert (outcome.json["overall"]["explicit"]["count"], outcome.json["unread"]) == (1, 1)
    assert "events/7.jsonl:1: not valid JSON" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--since", "lately"], 2, "ISO 8601"),
        (["--format", "markdown"], 2, "markdown"),
        (["--repo", "nowhere"], 2, "nowhere"),
    ],
)
def test_what_cannot_be_followed_says_why(arguments: list[str], code: int, message: str, incumbent: Incumbent) -> None:
    outcome = incumbent("agreement", *arguments)
    assert (outcome.code, message in outcome.err) == (code, True)
