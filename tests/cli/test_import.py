"""``incumbent import``: a team's present set becomes the regression set, and everything else goes on from there."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import git
import pytest
import yaml

from incumbent.classifier.backends import make_backend
from incumbent.errors import IncompleteError
from incumbent.files.git import ObjectStore
from incumbent.ledger.model import CorrectionRecord
from incumbent.pipeline.workspace import open_platform
from incumbent.reconcile.inventory import Inventory
from incumbent.reconcile.inventory_job import Past, survey
from incumbent.reconcile.planned_set import follow_renames
from tests.cli.conftest import Incumbent, Outcome
from tests.cli.test_set_life import BRANCH_LINE, CARD_LINE, tree

# Of these two alone the caller is upset, so that one of them enters and the other resembles it.
CLONE = "I have been on hold for half an hour, this is ridiculous!"
TEXTS = (
    "Where is the nearest branch to the old harbour?",
    "Is the branch in Weir Street open on Saturday?",
    CLONE,
    "I have been on hold for half an hour: this is ridiculous!",
    "Put me through to a human being, please.",
)


def table(texts: Sequence[str], ids: Sequence[str] = ()) -> str:
    names = ids or [f"t{place}" for place in range(1, len(texts) + 1)]
    rows = [f'{name},"{text}","An answer, with a comma"' for name, text in zip(names, texts, strict=True)]
    return "\n".join(["Id,Question,Expected response", *rows, ""])


@pytest.fixture
def old_set(tmp_path: Path) -> Path:
    """A team's table, outside of any repository, in a folder that says whose it is."""
    file = tmp_path / "harlow" / "desk" / "regression.csv"
    file.parent.mkdir(parents=True)
    file.write_text(table(TEXTS), encoding="utf-8")
    return file


@pytest.fixture
def bring(platform: Path, incumbent: Incumbent) -> Callable[..., Outcome]:
    """Run the command on the platform."""

    def call(*arguments: str | Path) -> Outcome:
        return incumbent("import", *arguments, "--repo", platform)

    return call


def entries(platform: Path) -> dict[str, dict[str, Any]]:
    """The entries of the set by their items."""
    found = [yaml.safe_load(path.read_text("utf-8")) for path in (platform / "regression_set").glob("*.yaml")]
    return {entry["source"]["item"]: entry for entry in found}


def commit(platform: Path, message: str = "Go on") -> str:
    repository = git.Repo(platform)
    repository.git.add(all=True)
    repository.git.commit(message=message, date="2026-02-02T03:04:05Z")
    head = repository.head.commit.hexsha
    repository.close()
    return head


def with_setting(platform: Path, old: str, new: str) -> None:
    config = platform / "config" / "curation.yaml"
    text = config.read_text(encoding="utf-8")
    assert old in text
    config.write_text(text.replace(old, new), encoding="utf-8")


def with_ceiling(platform: Path, ceiling: int) -> None:
    with_setting(platform, "ceiling: 40", f"ceiling: {ceiling}")


Bring = Callable[..., Outcome]


def test_every_query_becomes_an_entry_that_says_how_it_came(platform: Path, bring: Bring, old_set: Path) -> None:
    head = git.Repo(platform).head.commit.hexsha
    outcome = bring(old_set, "--json")
    assert outcome.code == 0, outcome.err
    found = entries(platform)
    assert {item: entry["turns"] for item, entry in found.items()} == {
        f"t{place}": [text] for place, text in enumerate(TEXTS, 1)
    }
    entry = found["t1"]
    assert entry["source"] == {
        "customer": "harlow",
        "agent": "desk",
        "eval_set": "desk/regression.csv",
        "item": "t1",
        "pull_request": None,
        "commit": head,
        "imported": {"declared": False, "folder": None},
    }
    assert entry["admitted"] == {
        "at": "2026-01-02T03:04:05Z",
        "decision": "INCLUDE",
        "route": "review",
        "reasons": ["IMPORTED"],
        "displaces": [],
        "by": "Robin Example",
        "override": None,
    }
    assert entry["expected"] == {"Expected response": "An answer, with a comma"}
    assert outcome.json["added"] == [found[f"t{place}"]["id"] for place in range(1, 6)]
    assert outcome.json["agents"] == [
        {
            "customer": "harlow",
            "agent": "desk",
            "queries": 5,
            "eval_sets": ["desk/regression.csv"],
            "specifications": [],
            "undeclared": 5,
        }
    ]


def test_the_report_says_what_the_rules_would_have_left_out(platform: Path, bring: Bring, old_set: Path) -> None:
    outcome = bring(old_set, "--json").json
    found = entries(platform)
    verdicts = {item["id"]: item for item in outcome["verdicts"]}
    assert set(verdicts) == {entry["id"] for entry in found.values()}
    pair = {found["t3"]["id"], found["t4"]["id"]}
    clones = [item for item in outcome["verdicts"] if "CLONE" in item["reasons"]]
    assert [item["decision"] for item in clones] == ["EXCLUDE"]
    assert {clones[0]["id"], clones[0]["facts"]["most_similar"]} == pair
    assert outcome["left_out"] == [item["id"] for item in outcome["verdicts"] if item["decision"] == "EXCLUDE"]
    assert outcome["needed_person"] == [
        item["id"] for item in outcome["verdicts"] if item["decision"] != "EXCLUDE" and item["route"] == "review"
    ]
    other = next(iter(pair - {clones[0]["id"]}))
    assert other in bring(old_set).out


def test_what_it_reports_of_the_set_is_what_the_other_commands_say(
    platform: Path, bring: Bring, incumbent: Incumbent, old_set: Path
) -> None:
    # Of two that resemble each other one may go.
    with_setting(platform, "redundancy_floor: 2", "redundancy_floor: 1")
    outcome = bring(old_set, "--json").json
    status = incumbent("status", "--repo", platform, "--json").json
    assert (outcome["size"], outcome["ceiling"]) == (status["size"], status["ceiling"]) == (5, 40)
    assert outcome["uncovered"] == [item["id"] for item in status["capabilities"] if not item["coverers"]]
    assert outcome["short"] == [item for item in status["capabilities"] if item["coverers"] and not item["floor_met"]]
    assert outcome["suggestions"] == incumbent("prune", "--repo", platform, "--json").json["suggestions"]
    assert outcome["suggestions"], "what was imported can be suggested for eviction like any other entry"
    assert incumbent("validate", "--repo", platform).code == 0


def test_a_second_import_changes_nothing(platform: Path, bring: Bring, old_set: Path) -> None:
    first = bring(old_set, "--json").json
    commit(platform)
    before = tree(platform)
    second = bring(old_set, "--json").json
    assert tree(platform) == before
    assert (second["added"], second["updated"], second["unchanged"]) == ([], [], first["added"])
    assert second["files"] == {}
    assert [item["id"] for item in second["verdicts"]] == [item["id"] for item in first["verdicts"]]
    assert second["left_out"] == first["left_out"]


def test_two_platforms_import_the_same_bytes(platform: Path, bring: Bring, old_set: Path) -> None:
    bring(old_set)
    before = tree(platform)
    for path in (platform / "regression_set").glob("*.yaml"):
        path.unlink()
    bring(old_set)
    assert tree(platform) == before


def test_a_dry_run_reports_the_same_and_writes_nothing(platform: Path, bring: Bring, old_set: Path) -> None:
    before = tree(platform)
    planned = bring(old_set, "--dry-run", "--json").json
    assert tree(platform) == before
    assert bring(old_set, "--dry-run").out.startswith("Would import 5 queries: 5 added")
    assert bring(old_set, "--json").json == planned | {"dry_run": False}


def test_an_edited_file_updates_its_entries_and_names_what_left_it(platform: Path, bring: Bring, old_set: Path) -> None:
    bring(old_set)
    before = entries(platform)
    path = platform / "regression_set" / f"{before['t1']['id']}.yaml"
    path.write_text(f"# kept by people\n{path.read_text('utf-8')}".replace("pin: null", "pin: an audit"), "utf-8")
    texts = ["Which branch has a cash machine?", *TEXTS[1:4]]
    old_set.write_text(table(texts).replace('t4,"I have been', 't4,"I have  been'), "utf-8")
    outcome = bring(old_set, "--json").json
    after = entries(platform)
    assert outcome["updated"] == [before["t1"]["id"], before["t4"]["id"]]
    assert outcome["gone"] == [before["t5"]["id"]]
    assert after["t1"]["turns"] == [texts[0]]
    assert (after["t1"]["pin"], after["t1"]["admitted"]) == ("an audit", before["t1"]["admitted"])
    assert path.read_text("utf-8").startswith("# kept by people")
    assert after["t5"] == before["t5"], "nothing is ever deleted"
    assert before["t5"]["id"] in bring(old_set).out


def test_an_answer_that_changed_is_taken_over_without_classifying(
    platform: Path, bring: Bring, old_set: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring(old_set)
    before = entries(platform)
    monkeypatch.setattr("incumbent.cli.import_set.classify", None)
    old_set.write_text(table(TEXTS).replace('please.","An answer', 'please.","Another answer'), encoding="utf-8")
    outcome = bring(old_set, "--json").json
    assert outcome["updated"] == [before["t5"]["id"]]
    expected = {"Expected response": "Another answer, with a comma"}
    assert entries(platform)["t5"] == before["t5"] | {"expected": expected}


def test_what_is_attached_is_heard_at_the_import_as_it_is_ever_after(
    platform: Path, bring: Bring, incumbent: Incumbent, tmp_path: Path
) -> None:
    file = tmp_path / "harlow" / "desk" / "set.jsonl"
    file.parent.mkdir(parents=True)

    def show(picture: str | None) -> dict[str, float]:
        parts = [{"type": "text", "text": "What is shown here?"}]
        attached: list[Any] = [{"type": "image_url", "image_url": {"url": picture}}] if picture else []
        question = [{"role": "user", "content": [*parts, *attached]}]
        file.write_text(json.dumps({"id": "a1", "question": question}) + "\n", encoding="utf-8")
        assert bring(file).code == 0
        scores: dict[str, float] = entries(platform)["a1"]["scores"]
        return scores

    bare, seen = show(None), show("Get me your supervisor, let me talk to a real person.png")
    assert seen != bare, "the name of the picture says what its text does not"
    assert incumbent("reclassify", "--dry-run", "--json", "--repo", platform).json["changed"] == {}
    assert show(None) == bare


def test_a_set_beyond_the_ceiling_enters_and_is_led_back(
    platform: Path, bring: Bring, incumbent: Incumbent, old_set: Path
) -> None:
    with_ceiling(platform, 2)
    outcome = bring(old_set)
    assert "5 of 2 slots taken, 3 over the ceiling: what is admitted waits until 4 have gone" in outcome.out
    report = bring(old_set, "--json").json
    assert (report["size"], report["over_ceiling"]) == (5, 3)
    waiting = incumbent("admit", platform / CARD_LINE, "--repo", platform, "--json").json
    assert waiting["admitted"] == []
    assert waiting["waiting"]
    gone = [item["id"] for item in report["suggestions"]]
    for id in gone:
        assert incumbent("evict", id, "--reason", "redundant", "--repo", platform).code == 0
    status = incumbent("status", "--repo", platform, "--json").json
    assert status["size"] == 5 - len(gone)
    assert incumbent("prune", "--repo", platform, "--json").json["over_ceiling"] == max(0, 3 - len(gone))


def test_a_large_set_is_taken_as_a_whole(platform: Path, bring: Bring, incumbent: Incumbent, tmp_path: Path) -> None:
    file = tmp_path / "big" / "set" / "prompts.jsonl"
    file.parent.mkdir(parents=True)
    rows = [
        {"id": place, "query": f"Where is the branch number {place * place} near the {'old ' * (place % 7)}harbour?"}
        for place in range(50)
    ]
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    outcome = bring(file, "--json")
    assert outcome.code == 0, outcome.err
    assert (len(outcome.json["added"]), outcome.json["over_ceiling"]) == (50, 10)
    assert outcome.json["concentrated"] == [{"customer": "big", "entries": 50, "share": 1.25}]
    assert incumbent("status", "--repo", platform, "--json").json["size"] == 50


def test_a_limit_holds_for_an_import_too(platform: Path, bring: Bring, old_set: Path) -> None:
    config = platform / "config" / "curation.yaml"
    config.write_text(config.read_text(encoding="utf-8").replace("queries: 2000", "queries: 4"), encoding="utf-8")
    before = tree(platform)
    outcome = bring(old_set)
    assert outcome.code == 1
    assert "limits.queries" in outcome.err
    assert tree(platform) == before


def test_with_a_fault_nothing_is_written_and_every_fault_is_named(platform: Path, bring: Bring, old_set: Path) -> None:
    old_set.write_text(table([*TEXTS, "", ""], [f"t{place}" for place in (1, 2, 3, 4, 5, 5, 7)]), encoding="utf-8")
    other = old_set.with_name("more.json")
    other.write_text('{"queries": [{"query": "Hi"}, {"turns": 3}]', encoding="utf-8")
    before = tree(platform)
    outcome = bring(old_set, other)
    assert outcome.code == 1
    assert tree(platform) == before
    for place in ("regression.csv:7", "regression.csv:8", "more.json"):
        assert place in outcome.err


def test_a_file_that_is_no_eval_set_says_what_to_say_of_it(bring: Bring, tmp_path: Path) -> None:
    file = tmp_path / "a" / "b" / "c.csv"
    file.parent.mkdir(parents=True)
    file.write_text("number;utterance said\n7;Where is the branch?\n8;Is it open?\n", encoding="utf-8")
    outcome = bring(file)
    assert outcome.code == 1
    assert "--column query=NAME" in outcome.err
    named = bring(file, "--column", "query=utterance said", "--column", "id=number", "--json")
    assert named.code == 0, named.err
    assert [id.rpartition("-")[0] for id in named.json["added"]] == ["a-b-7", "a-b-8"]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--format", "plain-tabel"], "perhaps you meant 'plain-table'"),
        (["--column", "querry=x"], "WHAT one of query, id"),
        (["--column", "query"], "write WHAT=NAME"),
        (["--column", "query=a", "--column", "query=b"], "two columns for query"),
        (["--format", "deepeval", "--column", "query=a"], "deepeval has columns of its own"),
    ],
)
def test_what_is_said_of_a_file_wrongly_is_a_fault_of_usage(
    options: list[str], text: str, bring: Bring, old_set: Path
) -> None:
    outcome = bring(old_set, *options)
    assert (outcome.code, text in outcome.err) == (2, True), outcome.err


def test_a_format_is_said_of_files_and_not_of_folders(bring: Bring, old_set: Path) -> None:
    assert bring(old_set.parent, "--format", "plain-table").code == 2
    assert bring(old_set, "--format", "copilot-studio").code == 0


def test_what_lies_in_a_folder_that_is_named_is_not_named_again(bring: Bring, old_set: Path) -> None:
    outcome = bring(old_set.parent, old_set)
    assert (outcome.code, "name one of them" in outcome.err) == (2, True), outcome.err
    assert bring(old_set, old_set).code == 0


def test_what_stands_beside_the_file_decides_as_elsewhere(bring: Bring, tmp_path: Path) -> None:
    file = tmp_path / "a" / "b" / "c.csv"
    file.parent.mkdir(parents=True)
    file.write_text("number,said\n7,Where is the branch?\n", encoding="utf-8")
    formats = file.with_name("formats.yaml")
    formats.write_text("formats: 1\nfiles: {c.csv: {format: plain-table, columns: {query: said}}}\n", encoding="utf-8")
    assert bring(file, "--json").json["agents"][0]["queries"] == 1
    formats.write_text("formats: 2\n", encoding="utf-8")
    outcome = bring(file)
    assert outcome.code == 1
    assert "formats.yaml:1" in outcome.err


def test_a_folder_is_read_as_it_is_in_a_review(platform: Path, bring: Bring) -> None:
    outcome = bring(platform / CARD_LINE, "--json").json
    assert outcome["agents"][0]["specifications"] == [CARD_LINE]
    entry = entries(platform)["c01"]
    assert entry["source"] | {"commit": ""} == {
        "customer": "tarnbeck-bank",
        "agent": "card-line",
        "eval_set": f"{CARD_LINE}/evals.yaml",
        "item": "c01",
        "pull_request": None,
        "commit": "",
        "imported": {"declared": True, "folder": CARD_LINE},
    }
    assert entry["setup"]["tenant"] == "tarnbeck-test"


def test_several_files_of_one_agent_are_one_set(bring: Bring, old_set: Path) -> None:
    more = old_set.with_name("more.csv")
    more.write_text(table(["Quite another question about cash machines."], ["t9"]), encoding="utf-8")
    outcome = bring(old_set, more, old_set, "--json").json
    assert [(item["agent"], item["queries"], item["eval_sets"]) for item in outcome["agents"]] == [
        ("desk", 6, ["desk/more.csv", "desk/regression.csv"])
    ]
    more.write_text(table(["Quite another question about cash machines."], ["t1"]), encoding="utf-8")
    assert bring(old_set, more, "--json").json["agents"][0]["queries"] == 6
    more.write_text(table(["Quite another question?", "And one more?"], ["t7", "t7"]), encoding="utf-8")
    twice = bring(old_set, more)
    assert twice.code == 1
    assert "the id 't7' is used already" in twice.err


def test_another_file_with_the_same_ids_takes_nobodys_place(platform: Path, bring: Bring, old_set: Path) -> None:
    assert bring(old_set).code == 0
    before = tree(platform)
    other = old_set.with_name("other.csv")
    other.write_text(table(["Quite another question about cash machines."]), encoding="utf-8")
    refused = bring(other)
    assert refused.code == 1
    assert "has another text, and was imported from desk/regression.csv" in refused.err
    assert tree(platform) == before
    assert bring(old_set, other).code == 0
    assert set(entries(platform)) == {*(f"t{place}" for place in range(1, 6)), "other/t1"}


def test_a_second_team_imports_beside_the_first(
    platform: Path, bring: Bring, incumbent: Incumbent, old_set: Path
) -> None:
    bring(old_set)
    commit(platform)
    outcome = bring(old_set, "--customer", "wexcombe", "--json").json
    assert len(outcome["added"]) == 5
    assert outcome["left_out"] == [item["id"] for item in outcome["verdicts"]], "each is a clone of the first team's"
    assert {reason for item in outcome["verdicts"] for reason in item["reasons"]} <= {"CLONE", "OFF_TAXONOMY"}
    assert incumbent("status", "--repo", platform, "--json").json["size"] == 10


def test_new_customers_are_judged_against_what_was_imported(platform: Path, bring: Bring, incumbent: Incumbent) -> None:
    before = incumbent("review", platform / BRANCH_LINE, "--repo", platform, "--json").json
    bring(platform / BRANCH_LINE, "--customer", "old", "--agent", "set")
    after = incumbent("review", platform / BRANCH_LINE, "--repo", platform, "--json").json
    assert any(item["outcome"] == "admitted" for item in before["verdicts"])
    assert {item["decision"] for item in after["verdicts"]} == {"EXCLUDE"}
    assert "old-set" in next(item["why"] for item in after["verdicts"] if "CLONE" in item["reasons"])


def test_what_people_evicted_is_named_and_not_brought_back(
    platform: Path, bring: Bring, incumbent: Incumbent, old_set: Path
) -> None:
    bring(old_set)
    id = str(entries(platform)["t3"]["id"])
    incumbent("evict", id, "--reason", "a clone", "--repo", platform)
    before = tree(platform)
    outcome = bring(old_set, "--json").json
    assert outcome["evicted"] == [id]
    assert tree(platform) == before
    assert id in bring(old_set).out


def test_a_query_of_a_customer_that_is_in_the_set_keeps_its_entry(
    platform: Path, bring: Bring, incumbent: Incumbent
) -> None:
    incumbent("admit", platform / CARD_LINE, "--repo", platform)
    before = entries(platform)
    outcome = bring(platform / CARD_LINE, "--json").json
    assert sorted(outcome["unchanged"]) == sorted(str(entry["id"]) for entry in before.values())
    after = entries(platform)
    assert {item: after[item] for item in before} == before
    evals = platform / CARD_LINE / "evals.yaml"
    item = sorted(before)[0]
    text = str(before[item]["turns"][0])
    evals.write_text(evals.read_text("utf-8").replace(text, "Something else entirely."), encoding="utf-8")
    refused = bring(platform / CARD_LINE)
    assert refused.code == 1
    assert "was not imported" in refused.err


def test_without_git_the_time_must_be_given(platform: Path, bring: Bring, old_set: Path, tmp_path: Path) -> None:
    (platform / ".git").rename(tmp_path / "elsewhere")
    assert bring(old_set).code == 2
    assert bring(old_set, "--at", "2026-05-05T05:05:05+02:00").code == 0
    assert entries(platform)["t1"]["admitted"]["at"] == "2026-05-05T03:05:05Z"
    assert entries(platform)["t1"]["admitted"]["by"] == "a person"
    assert bring(old_set, "--at", "2026-06-06T05:05:05Z", "--json").json["files"] == {}


def test_an_import_under_another_classifier_is_refused_until_the_set_follows(
    platform: Path, bring: Bring, incumbent: Incumbent, old_set: Path
) -> None:
    incumbent("admit", platform / CARD_LINE, "--repo", platform)
    config = platform / "config" / "curation.yaml"
    config.write_text(config.read_text(encoding="utf-8").replace("samples: 5 #", "samples: 3 #"), encoding="utf-8")
    before = tree(platform)
    outcome = bring(old_set)
    assert outcome.code == 1
    assert "reclassify" in outcome.err
    assert tree(platform) == before
    assert incumbent("reclassify", "--repo", platform).code == 0
    assert bring(old_set).code == 0


def test_a_classifier_that_stops_leaves_nothing_half_written(
    platform: Path, bring: Bring, old_set: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stopping:
        """Answers one request, and has no budget for more."""

        identity = make_backend(open_platform(platform, "config/curation.yaml").config.classifier, None).identity  # type: ignore[arg-type]
        usage = None

        def infer(self, requests: Sequence[object]) -> object:
            raise IncompleteError("the budget is used up")

    before = tree(platform)
    with monkeypatch.context() as patch:
        patch.setattr("incumbent.cli.import_set.open_backend", lambda platform, stages, batch: Stopping())
        outcome = bring(old_set)
    assert (outcome.code, tree(platform)) == (3, before)
    assert bring(old_set).code == 0


@pytest.mark.parametrize("folder", [None, CARD_LINE])
def test_reclassify_follows_what_was_declared_at_the_import(
    folder: str | None, platform: Path, bring: Bring, incumbent: Incumbent, old_set: Path
) -> None:
    declared = [] if folder is None else ["--agent-folder", platform / folder]
    bring(old_set, *declared)
    before = tree(platform)
    outcome = incumbent("reclassify", "--repo", platform, "--json").json
    assert (outcome["changed"], outcome["kept"]) == ({}, {})
    assert tree(platform) == before
    scores = {item: entry["scores"] for item, entry in entries(platform).items()}
    for path in (platform / "regression_set").glob("*.yaml"):
        entry = yaml.safe_load(path.read_text("utf-8"))
        path.write_text(yaml.safe_dump(entry | {"scores": {}}), encoding="utf-8")
    incumbent("reclassify", "--repo", platform)
    assert {item: entry["scores"] for item, entry in entries(platform).items()} == scores


def test_an_agent_outside_of_the_repository_is_read_and_said_to_be_lost_for_reclassify(
    platform: Path, bring: Bring, incumbent: Incumbent, old_set: Path
) -> None:
    agent = platform / BRANCH_LINE / "agent.yaml"
    old_set.with_name("agent.yaml").write_bytes(agent.read_bytes())
    outcome = bring(old_set)
    assert "outside of the repository" in outcome.out
    entry = entries(platform)["t1"]
    assert entry["source"]["imported"] == {"declared": True, "folder": None}
    kept = incumbent("reclassify", "--repo", platform, "--json").json["kept"]
    assert len(kept) == 5
    again = bring(old_set, "--agent-folder", platform / BRANCH_LINE, "--json").json
    assert len(again["updated"]) == 5
    assert incumbent("reclassify", "--repo", platform, "--json").json["kept"] == {}


def test_folders_of_one_name_outside_of_the_repository_are_told_apart(
    bring: Bring, platform: Path, tmp_path: Path
) -> None:
    files = [tmp_path / team / "desk" / "regression.csv" for team in ("harlow", "quay")]
    for number, file in enumerate(files):
        file.parent.mkdir(parents=True)
        file.write_text(table(TEXTS[number : number + 1], [f"n{number}"]), encoding="utf-8")
    assert bring(*files).code == 0
    places = {entry["source"]["eval_set"] for entry in entries(platform).values()}
    assert places == {"harlow/desk/regression.csv", "quay/desk/regression.csv"}


def test_of_several_agents_beside_the_file_none_is_taken(platform: Path, bring: Bring, old_set: Path) -> None:
    agent = (platform / BRANCH_LINE / "agent.yaml").read_bytes()
    for name in ("one", "two"):
        folder = old_set.parent / name
        folder.mkdir()
        (folder / "agent.yaml").write_bytes(agent)
    outcome = bring(old_set, "--json").json
    assert ["--agent-folder" in note["fix"] for note in outcome["notes"]] == [True]
    assert outcome["agents"][0]["undeclared"] == 5
    refused = bring(old_set, "--agent-folder", old_set.parent)
    assert refused.code == 1


def inventory_of(platform: Path, tip: str) -> Inventory:
    """The facts that the first job finds of a commit of the default branch."""
    known = open_platform(platform, "config/curation.yaml")
    store = ObjectStore.open(platform)
    try:
        backend = make_backend(known.config.classifier, known.taxonomy)
        past = Past(
            known={},
            folder=lambda _: None,
            prepare=lambda _: None,
            reconciled=None,
            index=None,
            corrections=CorrectionRecord(),
        )
        return survey("o/r", tip, past, known, store, backend, lambda done, total: None, raised=())
    finally:
        store.close()


@pytest.mark.parametrize("place", ["sets/old.csv", "eval_sets/old.csv", f"{BRANCH_LINE}/old.csv"])
def test_nobody_takes_an_imported_entry_for_one_that_its_customer_deleted(
    place: str, platform: Path, bring: Bring
) -> None:
    """Wherever the file lies, and whether it stays there: it was never a customer's eval set."""
    file = platform / place
    file.parent.mkdir(exist_ok=True)
    file.write_text(table(TEXTS), encoding="utf-8")
    commit(platform)
    bring(file, "--customer", "harlow", "--agent", "desk")
    commit(platform)
    assert len(open_platform(platform, "config/curation.yaml").regression_set.entries) == 5
    file.unlink()
    assert inventory_of(platform, commit(platform)).departed == {}


def test_an_imported_query_that_its_customer_brings_is_theirs_from_then_on(platform: Path, bring: Bring) -> None:
    old = platform / "sets" / "old.csv"
    old.parent.mkdir()
    old.write_text(table(TEXTS), encoding="utf-8")
    bring(old, "--customer", "harlow", "--agent", "desk")
    commit(platform)
    theirs = platform / "eval_sets" / "harlow" / "desk"
    theirs.mkdir(parents=True)
    (theirs / "agent.yaml").write_bytes((platform / BRANCH_LINE / "agent.yaml").read_bytes())
    (theirs / "evals.csv").write_text(table(TEXTS), encoding="utf-8")
    inventory = inventory_of(platform, commit(platform))
    known = open_platform(platform, "config/curation.yaml")
    moved = follow_renames(inventory, known)
    assert set(moved) == set(known.regression_set.entries)
    sources = [entry.source for entry in moved.values() if entry.source is not None]
    assert {(source.eval_set, source.imported) for source in sources} == {("eval_sets/harlow/desk/evals.csv", None)}


@pytest.mark.parametrize("name", ["a/b", "..", " ", "a\nb"])
def test_a_name_that_no_folder_could_have_is_refused(incumbent: Incumbent, tmp_path: Path, name: str) -> None:
    (tmp_path / "a.jsonl").write_text('{"query": "x"}\n', encoding="utf-8")
    outcome = incumbent("import", str(tmp_path / "a.jsonl"), "--customer", name, "--dry-run")
    assert outcome.code == 2
    assert "could name no folder" in outcome.err


# -- Distilled ---------------------------------------------------------------------------------------------------------

ARCHIVE = "eval_sets/harlow/desk/archived.yaml"


def archived_in(platform: Path) -> dict[str, str]:
    found = yaml.safe_load((platform / ARCHIVE).read_text("utf-8"))
    return {query["id"]: query["query"] for query in found["queries"]}


def test_a_distilled_import_keeps_what_is_needed_and_archives_the_rest(
    platform: Path, bring: Bring, incumbent: Incumbent, old_set: Path
) -> None:
    old_set.write_text(table([*TEXTS, *(f"{TEXTS[1]} And number {n}?" for n in range(8))]), encoding="utf-8")
    before = tree(platform)
    planned = bring(old_set, "--distil", "--dry-run", "--json")
    assert planned.code == 0, planned.err
    assert tree(platform) == before
    outcome = bring(old_set, "--distil", "--json")
    said = json.loads(outcome.out)
    assert said["files"] == json.loads(planned.out)["files"]
    archived = archived_in(platform)
    assert archived
    assert said["files"][ARCHIVE] == "write"
    assert {*entries(platform), *archived} == {f"t{place}" for place in range(1, 14)}
    assert len(said["archived"]) == len(archived)
    assert len(said["added"]) == len(entries(platform))
    assert said["suggestions"] == []
    assert json.loads(incumbent("prune", "--repo", platform, "--json").out)["suggestions"] == []
    # The archive is an eval set like any other, and its queries have no merit.
    review = json.loads(incumbent("review", platform / "eval_sets/harlow/desk", "--repo", platform, "--json").out)
    assert {item["id"]: item["decision"] for item in review["verdicts"]} == dict.fromkeys(archived, "EXCLUDE")
    # Run again it changes nothing.
    after = tree(platform)
    again = json.loads(bring(old_set, "--distil", "--json").out)
    assert (again["files"], again["archived"]) == ({}, said["archived"])
    assert tree(platform) == after
    assert "archived in eval sets that hold them already" in bring(old_set, "--distil").out


def test_a_distilled_import_is_shown_in_words(platform: Path, bring: Bring, old_set: Path) -> None:
    old_set.write_text(table([*TEXTS, *(f"{TEXTS[1]} And number {n}?" for n in range(8))]), encoding="utf-8")
    outcome = bring(old_set, "--distil")
    assert f"archived in {ARCHIVE}" in outcome.out
    assert (platform / "eval_sets/harlow/desk/agent.yaml").exists()


def test_archived_queries_stay_beside_their_agent(platform: Path, bring: Bring, old_set: Path) -> None:
    old_set.write_text(table([*TEXTS, *(f"{TEXTS[1]} And number {n}?" for n in range(8))]), encoding="utf-8")
    folder = platform / "eval_sets/harlow/desk"
    folder.mkdir(parents=True)
    agent = folder / "agent.yaml"
    agent.write_text("agent: 1\nname: desk\nplatform: phone\ntools: []\n", encoding="utf-8")
    before = tree(platform)
    outcome = bring(old_set, "--distil")
    assert outcome.code == 1
    assert "--agent-folder eval_sets/harlow/desk" in outcome.err
    assert tree(platform) == before
    assert bring(old_set, "--distil", "--agent-folder", folder).code == 0
    assert "phone" in agent.read_text("utf-8")
    assert archived_in(platform)
    elsewhere = platform / "agents"
    elsewhere.mkdir()
    agent.rename(elsewhere / "agent.yaml")
    outcome = bring(old_set, "--distil", "--agent-folder", elsewhere, "--agent", "other")
    assert outcome.code == 1
    assert "which is elsewhere" in outcome.err


def test_ids_of_the_eval_sets_beside_the_archive_stay(platform: Path, bring: Bring, old_set: Path) -> None:
    old_set.write_text(table([*TEXTS, *(f"{TEXTS[1]} And number {n}?" for n in range(8))]), encoding="utf-8")
    assert bring(old_set, "--distil").code == 0
    taken = next(iter(archived_in(platform)))
    beside = platform / "eval_sets/harlow/desk/own.yaml"
    beside.write_text(f"eval_set: 1\nqueries:\n  - {{id: {taken}, query: What is the weather?}}\n", encoding="utf-8")
    (platform / ARCHIVE).unlink()
    outcome = bring(old_set, "--distil")
    assert outcome.code == 1
    assert f"the id {taken} would no longer be that of the same query" in outcome.err
    assert not (platform / ARCHIVE).exists()


def test_what_is_archived_already_is_kept_until_it_enters(platform: Path, bring: Bring, old_set: Path) -> None:
    old_set.write_text(table([*TEXTS, *(f"{TEXTS[1]} And number {n}?" for n in range(8))]), encoding="utf-8")
    assert bring(old_set, "--distil").code == 0
    before = archived_in(platform)
    other = old_set.with_name("more.csv")
    other.write_text(table([f"{TEXTS[1]} Or another {n}?" for n in range(4)], ["a", "b", "c", "d"]), encoding="utf-8")
    assert bring(other, "--distil").code == 0
    now = archived_in(platform)
    assert before.items() < now.items()
    # Taken in full, the archived queries are entries, and the archive of their import is gone.
    assert bring(old_set).code == 0
    assert bring(old_set, "--distil").code == 0
    assert set(archived_in(platform)) == set(now) - set(before)
    assert bring(other).code == 0
    assert bring(other, "--distil").code == 0
    assert not (platform / ARCHIVE).exists()
