"""``incumbent calibrate`` from end to end: R and a ledger branch in a real repository, proposals out."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import git
import pytest
from jsonschema import Draft202012Validator

from incumbent.cli.schemas import schema
from incumbent.files.git import ObjectStore
from incumbent.github.models import OpenPullRequest, Operation, PullRequest, PushBranch
from incumbent.ledger.event_files import appended
from incumbent.ledger.events import LedgerEvent, events_path
from incumbent.ledger.model import BRANCH
from tests.agreement.factories import day, decided, facts, shown
from tests.cli.conftest import Incumbent

CAPABILITY = "backend.call"
EXEMPLARS = "taxonomy/exemplars/exemplars.tsv"


def head(folder: Path) -> str:
    with git.Repo(folder) as repository:
        return repository.head.commit.hexsha


def answers(base: str) -> dict[str, str]:
    """Forty queries, each on its own pull request, and a curator for whom the capability begins at 0.7."""
    files = {}
    for number in range(1, 41):
        score = 0.5 + number / 100
        codes = "INCLUDE direct NEW_COVERAGE" if score >= 0.6 else "INCLUDE review NEW_COVERAGE LOW_CONFIDENCE"
        recorded = facts(scores={CAPABILITY: score}, new=(CAPABILITY,))
        where: dict[str, Any] = {"entry": f"q{number}", "codes": codes, "pull_request": number}
        action: Any = "accept" if score >= 0.7 else "reject"
        events: list[LedgerEvent] = [
            shown(**where, facts=recorded, place=0, base=base),
            decided(**where, action=action, reason="It hardly calls anything.", comment=number),
        ]
        files[events_path(number)] = appended(None, events)
    unreasoned = decided("q1", "INCLUDE review NEW_COVERAGE LOW_CONFIDENCE", action="reject", by="bob", at=day(3))
    files[events_path(50)] = appended(None, [unreasoned])
    return files


@pytest.fixture
def curated(platform: Path) -> Path:
    """The platform repository with a ledger; nothing of the ledger is in the working tree."""
    base = head(platform)
    with git.Repo(platform) as repository:
        repository.git.symbolic_ref("HEAD", f"refs/heads/{BRANCH}")
        repository.git.rm("-r", "--cached", "--quiet", ".")
        for path, text in answers(base).items():
            target = platform / path
            target.parent.mkdir(exist_ok=True)
            target.write_text(text, encoding="utf-8", newline="\n")
            repository.git.add(path)
            target.unlink()
        repository.git.commit("-m", "Events")
        (platform / "events").rmdir()
        repository.git.symbolic_ref("HEAD", "refs/heads/main")
        repository.git.update_ref("refs/heads/main", base)
        repository.git.read_tree("main")
        assert not repository.is_dirty(untracked_files=True)
    return platform


def test_proposals_say_where_they_come_from(curated: Path, incumbent: Incumbent) -> None:
    outcome = incumbent("calibrate", "--repo", curated)
    assert outcome.code == 0, outcome.err
    assert f"{CAPABILITY} competence_bar: 0.5 -> 0.7" in outcome.out
    assert "no reason given: 1 (1) and 0 (0)" in outcome.out
    assert "judged again under the config at the time: 40, exactly as shown: 40" in outcome.out
    assert "would be another verdict with the proposals: 19" in outcome.out
    assert "and 9 more" in outcome.out
    with git.Repo(curated) as repository:
        assert not repository.is_dirty(untracked_files=True)


def test_answers_follow_a_capability_through_several_renames(curated: Path, incumbent: Incumbent) -> None:
    names = [CAPABILITY, "backend.use", "backend.act"]
    file = curated / "taxonomy" / "taxonomy.yaml"
    for step, (old, new) in enumerate(pairwise(names), 1):
        text = re.sub(r"(?m)^    was: .*\n", "", file.read_text(encoding="utf-8"))
        text = text.replace(f"- id: {old}\n", f"- id: {new}\n    was: {old}\n")
        text = text.replace(f"requires: {old}", f"requires: {new}")
        text = re.sub(r"(?m)^retired: .*", f"retired: [{', '.join(names[:step])}]", text)
        file.write_text(re.sub(r"(?m)^version: .*", f"version: 1.{step}.0", text), encoding="utf-8")
        table = curated / EXEMPLARS
        table.write_text(table.read_text(encoding="utf-8").replace(f"call={old}", f"call={new}"), encoding="utf-8")
        with git.Repo(curated) as repository:
            repository.git.commit("-am", f"It is called {new}")
    outcome = incumbent("calibrate", "--repo", curated)
    assert outcome.code == 0, outcome.err
    assert "backend.act competence_bar: 0.5 -> 0.7" in outcome.out
    assert "judged again under the config at the time: 40, exactly as shown: 40" in outcome.out
    overridden = incumbent("agreement", "--repo", curated, "--json").json["overridden"]
    assert [item["capability"] for item in overridden] == ["backend.act"]
    file.write_text("version: 1.2.0\n", encoding="utf-8")
    overridden = incumbent("agreement", "--repo", curated, "--json").json["overridden"]
    assert [item["capability"] for item in overridden] == [CAPABILITY]


def test_answers_on_what_was_defined_otherwise_teach_nothing(curated: Path, incumbent: Incumbent) -> None:
    file = curated / "taxonomy" / "taxonomy.yaml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("version: 1.0.0", "version: 1.0.1"), encoding="utf-8")
    table = curated / EXEMPLARS
    rows = table.read_text(encoding="utf-8")
    fewer = re.sub(r"(?m)^[^\t\n]+\tcall\t.*\n", "", rows, count=1)  # an exemplar of it
    assert fewer != rows
    table.write_text(fewer, encoding="utf-8")
    found = incumbent("calibrate", "--repo", curated, "--json").json
    assert (found["answers"]["other_definition"], found["answers"]["about_knobs"], found["estimates"]) == (40, 0, [])
    recorded = incumbent("calibrate", "--repo", curated).out
    assert "excluded (capability defined differently at the time): 40\n" in recorded


def test_json_has_its_schema_and_the_whole_config(curated: Path, incumbent: Incumbent) -> None:
    outcome = incumbent("calibrate", "--repo", curated, "--json")
    Draft202012Validator(schema("calibrate-output")).validate(outcome.json)
    assert f"  {CAPABILITY}: {{competence_bar: 0.7}}" in outcome.json["config"]
    assert outcome.json["held_out"]["explicit"]["after"] > outcome.json["held_out"]["explicit"]["before"]
    assert outcome.out == incumbent("calibrate", "--repo", curated, "--json").out


def test_the_proposed_config_is_one(curated: Path, incumbent: Incumbent) -> None:
    text = incumbent("calibrate", "--repo", curated, "--json").json["config"]
    (curated / "config" / "curation.yaml").write_text(text, encoding="utf-8")
    assert incumbent("validate", "--repo", curated).code == 0
    assert incumbent("calibrate", "--repo", curated, "--json").json["config"] is None


def test_without_a_ledger_nothing_is_proposed(platform: Path, tmp_path: Path, incumbent: Incumbent) -> None:
    outcome = incumbent("calibrate", "--repo", platform, "--pull-request")
    assert outcome.code == 0
    assert "no ledger branch found" in outcome.err
    assert "nothing is proposed, so there is nothing to offer" in outcome.err
    assert "answers in the ledger: 0" in outcome.out


class Hub:
    """GitHub as far as an offer needs it; its objects are those of a folder."""

    pulls: tuple[PullRequest, ...] = ()
    applied: list[Operation]
    login = "ann"

    def __init__(self, repository: str, token: str, api_url: str, login: str) -> None:
        assert (repository, token) == ("acme/platform", "secret")

    def default_branch(self) -> str:
        return "main"

    def author_of(self, commit: str) -> str:
        return "ann"

    def pull_requests_of(self, branch: str, base: str) -> tuple[PullRequest, ...]:
        return self.pulls

    def closed_by(self, number: int) -> tuple[str, str]:
        return "ann", "2026-11-22T10:00:00Z"

    def check(self, commit: str) -> None:
        raise AssertionError(commit)

    def comments(self, number: int) -> None:
        raise AssertionError(number)

    def apply(self, number: int | None, operation: Operation, tree: str | None = None) -> None:
        assert isinstance(operation, PushBranch) == (tree is not None)
        self.applied.append(operation)


@pytest.fixture
def hub(curated: Path, monkeypatch: pytest.MonkeyPatch) -> type[Hub]:
    Hub.applied, Hub.pulls = [], ()
    fetch = ObjectStore.fetch
    monkeypatch.setattr("incumbent.github.client.GitHubClient", Hub)
    monkeypatch.setattr(
        ObjectStore, "fetch", lambda self, url, refs, token, optional: fetch(self, str(curated), refs, None, optional)
    )
    monkeypatch.setenv("GITHUB_TOKEN", "secret")
    return Hub


def test_a_pull_request_offers_the_edit_once(curated: Path, hub: type[Hub], incumbent: Incumbent) -> None:
    offered = ("calibrate", "--repo", curated, "--pull-request", "--repository", "acme/platform")
    outcome = incumbent(*offered)
    assert outcome.code == 0, outcome.err
    push, opened = hub.applied
    assert isinstance(push, PushBranch)
    assert isinstance(opened, OpenPullRequest)
    assert push.base == head(curated)
    assert f"`{CAPABILITY}` competence_bar: 0.5 -> 0.7" in opened.body
    hub.pulls = tuple(
        PullRequest(
            number=9, head="c" * 40, base="main", author="ann", association="", labels=(), branch=push.branch,
            closed=closed,
        )
        for closed in (False,)
    )  # fmt: skip
    assert "#9 offers the same already" in incumbent(*offered).err
    assert len(hub.applied) == 2


def test_a_clone_that_lags_behind_offers_nothing(curated: Path, hub: type[Hub], incumbent: Incumbent) -> None:
    config = curated / "config" / "curation.yaml"
    config.write_text(config.read_text(encoding="utf-8") + "# mine\n", encoding="utf-8")
    outcome = incumbent("calibrate", "--repo", curated, "--pull-request", "--repository", "acme/platform")
    assert (outcome.code, hub.applied) == (2, [])
    assert "bring the clone up to date" in outcome.err


def test_an_offer_needs_a_token_and_a_place(
    curated: Path, incumbent: Incumbent, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GITHUB_TOKEN", "GH_TOKEN", "GITHUB_REPOSITORY"):
        monkeypatch.delenv(name, raising=False)
    assert "say which repository" in incumbent("calibrate", "--repo", curated, "--pull-request").err
    outcome = incumbent("calibrate", "--repo", curated, "--pull-request", "--repository", "acme/platform")
    assert (outcome.code, "there is no token" in outcome.err) == (2, True)
