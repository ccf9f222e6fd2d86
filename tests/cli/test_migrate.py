"""``incumbent migrate``: all or nothing, everything at once, and the second run makes no diff."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import git
import pytest
import yaml
from jsonschema import Draft202012Validator

from incumbent.cli.schemas import schema
from incumbent.files.snapshot import WorkingTree
from incumbent.taxonomy.loading import load_taxonomy
from tests.cli.conftest import Incumbent
from tests.cli.test_set_life import tree
from tests.factories import REPOSITORY

CARD_LINE = "eval_sets/tarnbeck-bank/card-line"
OVERRIDES = """\
per_capability:
  backend.call: {competence_bar: 0.60} # calls cost money
  # Two kinds of upset.
  dialog.upset: {redundancy_floor: 3}
"""


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


@pytest.fixture
def grown(platform: Path, incumbent: Incumbent) -> Path:
    """A platform whose set has an entry, one that waits and one that was evicted, and overrides; all committed."""
    config = platform / "config" / "curation.yaml"
    before, _, after = text_of(config).partition("per_capability: {}")
    write(config, before + OVERRIDES + after.partition("\n")[2])
    assert incumbent("admit", platform / CARD_LINE, "--repo", platform).code == 0
    calm = [
        path for path in sorted((platform / "regression_set").glob("*.yaml")) if "dialog.upset" not in text_of(path)
    ]
    assert len(calm) > 1, "two entries of another capability than the one that is split"
    gone, waits = calm[:2]
    assert incumbent("evict", gone.stem, "--reason", "a trial", "--repo", platform).code == 0
    (platform / "regression_set" / "waiting").mkdir()
    waiting = waits.rename(platform / "regression_set" / "waiting" / waits.name)
    # What these exercise is as good as any other, so long as it is what was recorded.
    known = load_taxonomy(WorkingTree(platform)).by_id
    for path in (platform / "regression_set" / "evicted" / gone.name, waiting):
        scores = read(path).get("entry", read(path))["scores"]
        if "backend.call" not in scores:
            id = min(scores)
            text = text_of(path).replace(f"{id}:", "backend.call:")
            write(path, text.replace(known[id].definition, known["backend.call"].definition))
    commit(platform, "Grow")
    return platform


def commit(platform: Path, message: str) -> None:
    with git.Repo(platform) as repository:
        repository.git.add(all=True)
        repository.git.commit(message=message)


def taxonomy(platform: Path, *changes: Callable[[str], str]) -> None:
    path = platform / "taxonomy" / "taxonomy.yaml"
    text = text_of(path)
    for change in changes:
        text = change(text)
    write(path, text)


def version(number: str) -> Callable[[str], str]:
    return lambda text: text.replace("version: 1.0.0", f"version: {number}")


def rename(text: str) -> str:
    text = text.replace("- id: backend.call\n", "- id: backend.use\n    was: backend.call\n")
    text = text.replace("requires: backend.call", "requires: backend.use")
    return text.replace("retired: []", "retired: [backend.call]")


def split(text: str) -> str:
    part = "  - {{id: {id}, name: X, group: dialog, description: Y., source: intent, split: dialog.upset}}\n"
    head, _, tail = text.partition("  - id: dialog.upset\n")
    rest = tail.partition("\n  - id:")
    text = head + part.format(id="dialog.angry") + part.format(id="dialog.sad") + "".join(rest[1:]).lstrip("\n")
    return text.replace("retired: []", "retired: [dialog.upset]").replace("retired: [b", "retired: [dialog.upset, b")


def removal(text: str) -> str:
    """Without a capability that nothing takes the place of."""
    return text.partition("  - id: dialog.upset\n")[0].replace("retired: []", "retired: [dialog.upset]")


def read(path: Path) -> Any:
    return yaml.safe_load(text_of(path))


def entries(platform: Path) -> list[Any]:
    """Every entry, those that wait and those that were evicted too."""
    found = [read(path) for path in sorted((platform / "regression_set").rglob("*.yaml"))]
    return [item.get("entry", item) for item in found]


def test_a_rename_is_carried_through_every_file_and_nothing_lags(grown: Path, incumbent: Incumbent) -> None:
    before = entries(grown)
    taxonomy(grown, rename, version("1.1.0"))
    outcome = incumbent("migrate", "--repo", grown, "--json")
    assert outcome.code == 0, outcome.err
    Draft202012Validator(schema("migrate-output")).validate(outcome.json)
    assert outcome.json["renames"] == {"backend.call": "backend.use"}
    assert (outcome.json["from_version"], outcome.json["to_version"]) == ("1.0.0", "1.1.0")
    assert outcome.json["stale"] == []
    files = outcome.json["files"]
    assert "config/curation.yaml" in files
    assert "labels/calls.yaml" in files
    assert {path.split("/")[1] for path in files if path.startswith("regression_set/")} >= {"waiting", "evicted"}
    config = text_of(grown / "config" / "curation.yaml")
    assert re.search(r"^  backend.use: {competence_bar: 0.60} +# calls cost money$", config, re.MULTILINE)
    for old, new in zip(before, entries(grown), strict=True):
        expected = {id.replace("backend.call", "backend.use"): score for id, score in old["scores"].items()}
        assert new["scores"] == expected
        assert {key: new[key] for key in new if key not in ("scores", "classified")} == {
            key: old[key] for key in old if key not in ("scores", "classified")
        }
    assert incumbent("validate", "--repo", grown).code == 0
    assert incumbent("status", "--repo", grown, "--json").json["stale"] == []
    assert incumbent("evaluate", "--repo", grown).code == 0


def test_a_second_run_changes_nothing(grown: Path, incumbent: Incumbent) -> None:
    taxonomy(grown, rename, split, version("2.0.0"))
    assert incumbent("migrate", "--repo", grown).code == 0
    before = tree(grown)
    outcome = incumbent("migrate", "--repo", grown, "--json")
    assert (outcome.code, outcome.json["files"]) == (0, [])
    assert tree(grown) == before
    commit(grown, "Taxonomy 2.0.0")
    assert incumbent("migrate", "--repo", grown, "--json").json["changes"] == []
    again = incumbent("migrate", "--from", "HEAD~1", "--repo", grown, "--json").json
    assert (again["files"], len(again["changes"])) == ([], 2)
    assert tree(grown) == before


def test_a_split_leaves_scores_to_reclassify_and_labels_unknown(grown: Path, incumbent: Incumbent) -> None:
    scored = next(path for path in (grown / "regression_set").glob("*.yaml") if "dialog.upset" in text_of(path))
    before = read(scored)["scores"]
    taxonomy(grown, split, version("2.0.0"))
    outcome = incumbent("migrate", "--repo", grown)
    assert outcome.code == 0, outcome.err
    assert "major: dialog.upset is split into dialog.angry, dialog.sad." in outcome.out
    assert f"to classify again: {scored.stem}: dialog.upset" in outcome.out
    assert "run `incumbent reclassify`" in outcome.out
    assert read(scored)["scores"] == before
    overrides = read(grown / "config" / "curation.yaml")["per_capability"]
    assert overrides["dialog.angry"] == overrides["dialog.sad"] == {"redundancy_floor": 3}
    labels = read(grown / "labels" / "calls.yaml")
    assert "dialog.upset" not in str(labels)
    upset = [row for row in labels["queries"] if "dialog.sad" in row.get("unknown", ())]
    assert upset
    survey = text_of(grown / "labels" / "survey.tsv")
    assert "?dialog.angry,?dialog.sad\tI have never been treated so badly by a company.\n" in survey
    assert incumbent("validate", "--repo", grown).code == 0


def test_a_dry_run_writes_nothing(grown: Path, incumbent: Incumbent) -> None:
    taxonomy(grown, rename, version("1.1.0"))
    before = tree(grown)
    outcome = incumbent("migrate", "--dry-run", "--repo", grown)
    assert outcome.code == 0, outcome.err
    assert "would be written: config/curation.yaml" in outcome.out
    assert "1 renamed, 0 split" in outcome.out
    assert tree(grown) == before


def test_every_fault_of_every_file_is_told_and_nothing_is_written(grown: Path, incumbent: Incumbent) -> None:
    taxonomy(grown, rename, version("1.0.1"))
    survey = grown / "labels" / "survey.tsv"
    write(survey, "no header\n")
    broken = next((grown / "regression_set").glob("*.yaml"))
    write(broken, "id: [\n")
    paper = grown / "config" / "paper.yaml"
    write(paper, "base: &x {backend.call: {redundancy_floor: 1}}\nper_capability: *x\n")
    before = tree(grown)
    outcome = incumbent("migrate", "--repo", grown)
    assert outcome.code == 1
    for expected in ("must be 1.1.0", "header is missing", broken.name, "config/paper.yaml", "anchors, aliases"):
        assert expected in outcome.err
    assert tree(grown) == before


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda text: text.replace("- id: backend.call\n", "- id: backend.use\n"), "add backend.call to `retired`"),
        (lambda text: rename(text).replace("was: backend.call", "was: dialog.upset"), "a capability of this file"),
    ],
)
def test_wrong_declarations_are_refused(
    change: Callable[[str], str], fault: str, grown: Path, incumbent: Incumbent
) -> None:
    taxonomy(grown, change, lambda text: text.replace("requires: backend.call", "requires: backend.use"))
    before = tree(grown)
    outcome = incumbent("migrate", "--repo", grown)
    assert outcome.code == 1
    assert fault in outcome.err
    assert tree(grown) == before


def test_label_files_may_lie_anywhere(grown: Path, incumbent: Incumbent, tmp_path: Path) -> None:
    table, document, listed = tmp_path / "a.tsv", tmp_path / "b.json", tmp_path / "c.json"
    table.write_bytes("\ufefflabels\tquery\r\nbackend.call\tHow much?\r\n".encode())
    document.write_text(
        '{\n  "labels": 1,\n  "queries": [{"query": "é", "true": ["backend.call"]}]\n}\n', encoding="utf-8"
    )
    write(listed, '{"labels": 1, "queries": [{"query": "x", "true": ["dialog.upset"]}]}')
    before = listed.read_bytes()
    calls = (grown / "labels" / "calls.yaml").read_bytes()
    taxonomy(grown, rename, version("1.1.0"))
    outcome = incumbent("migrate", "--repo", grown, "--json", "--labels", table, document, listed)
    assert outcome.code == 0, outcome.err
    assert table.read_bytes() == "\ufefflabels\tquery\r\nbackend.use\tHow much?\r\n".encode()
    assert text_of(document).startswith('{\n  "labels": 1,\n  "queries": [\n')
    assert read(document)["queries"] == [{"query": "é", "true": ["backend.use"]}]
    assert listed.read_bytes() == before
    assert (grown / "labels" / "calls.yaml").read_bytes() == calls


def test_a_clash_of_names_is_a_fault(grown: Path, incumbent: Incumbent, tmp_path: Path) -> None:
    table = tmp_path / "a.tsv"
    write(table, "# names: backend.use = dialog.upset\nlabels\tquery\nbackend.call\tx\n")
    taxonomy(grown, rename, version("1.1.0"))
    outcome = incumbent("migrate", "--repo", grown, "--labels", table)
    assert outcome.code == 1
    assert "the file's own name 'backend.use' is now the id of a capability" in outcome.err


def test_a_platform_may_be_a_folder_of_its_repository(
    platform: Path, incumbent: Incumbent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outer = tmp_path / "outer"
    outer.mkdir()
    (platform / ".git").rename(outer / ".git")
    platform.rename(outer / "inner")
    commit(outer, "Move")
    taxonomy(outer / "inner", rename, version("1.1.0"))
    monkeypatch.chdir(outer / "inner")
    outcome = incumbent("migrate", "--json")
    assert outcome.code == 0, outcome.err
    assert outcome.json["renames"] == {"backend.call": "backend.use"}


def test_a_rule_that_is_refused_now_can_be_corrected(grown: Path, incumbent: Incumbent) -> None:
    right = text_of(grown / "taxonomy" / "taxonomy.yaml")
    taxonomy(grown, lambda text: re.sub(r"(?m)^( +)when: .*$", r"\1when: platform.name == 'b'", text, count=1))
    assert text_of(grown / "taxonomy" / "taxonomy.yaml") != right
    commit(grown, "A rule that an earlier version accepted")
    assert "which has no field 'name'" in incumbent("migrate", "--repo", grown).err
    write(grown / "taxonomy" / "taxonomy.yaml", right)
    wanted = incumbent("migrate", "--repo", grown)
    assert re.search(r"it is 1\.0\.0, and after 1\.0\.0 it must be", wanted.err)
    number = re.search(r"write `version: ([0-9.]+)`", wanted.err)
    assert number is not None
    taxonomy(grown, version(number[1]))
    outcome = incumbent("migrate", "--repo", grown, "--json")
    assert outcome.code == 0, outcome.err
    assert outcome.json["to_version"] == number[1]


def test_a_call_that_cannot_be_followed(grown: Path, incumbent: Incumbent, tmp_path: Path) -> None:
    before = grown / "labels" / "calls.yaml"
    assert "unknown commit 'nowhere'" in incumbent("migrate", "--from", "nowhere", "--repo", grown).err
    assert incumbent("migrate", "--from", "--all", "--repo", grown).code == 2
    assert "label files come after --labels" in incumbent("migrate", before, "--repo", grown).err
    taxonomy(grown, lambda text: text.replace("retired: []", "retired: {}"))
    commit(grown, "Break")
    taxonomy(grown, lambda text: text.replace("retired: {}", "retired: []"))
    with git.Repo(grown) as repository:
        head = repository.head.commit.hexsha[:12]
    assert f"{head}:taxonomy/taxonomy.yaml:" in incumbent("migrate", "--repo", grown).err
    (grown / ".git").rename(tmp_path / "elsewhere")
    outcome = incumbent("migrate", "--repo", grown)
    assert outcome.code == 2
    assert "not inside a git repository" in outcome.err


EXEMPLARS = "taxonomy/exemplars/exemplars.tsv"


def test_tables_of_exemplars_follow_a_rename_and_a_split(grown: Path, incumbent: Incumbent) -> None:
    before = load_taxonomy(WorkingTree(grown))
    table = text_of(grown / EXEMPLARS)
    taxonomy(grown, rename, split, version("2.0.0"))
    outcome = incumbent("migrate", "--repo", grown, "--json")
    assert outcome.code == 0, outcome.err
    assert EXEMPLARS in outcome.json["files"]
    after = load_taxonomy(WorkingTree(grown))
    assert after.by_id["backend.use"].exemplars == before.by_id["backend.call"].exemplars
    upset = [row.id for row in before.exemplars if "dialog.upset" in row.exercises]
    assert [row.id for row in after.exemplars if row.unknown == ("dialog.angry", "dialog.sad")] == upset
    # The short name stands for the same capability, and one of what was split for none.
    text = text_of(grown / EXEMPLARS)
    assert "call=backend.use" in text
    assert "upset=" not in text
    assert len(text.splitlines()) == len(table.splitlines())


def test_tables_of_exemplars_lose_what_was_removed(grown: Path, incumbent: Incumbent) -> None:
    before = load_taxonomy(WorkingTree(grown))
    taxonomy(grown, removal, version("2.0.0"))
    config = grown / "config" / "curation.yaml"
    write(config, text_of(config).replace("  dialog.upset: {redundancy_floor: 3}\n", ""))
    said = incumbent("validate", "--repo", grown).err
    assert "'upset' cannot stand for that: dialog.upset is retired" in said
    assert "fix: take it out; `incumbent migrate` does" in said
    outcome = incumbent("migrate", "--repo", grown)
    assert outcome.code == 0, outcome.err
    assert "major: dialog.upset" in outcome.out
    after = load_taxonomy(WorkingTree(grown))
    assert [(row.id, row.turns) for row in after.exemplars] == [(row.id, row.turns) for row in before.exemplars]
    for old, new in zip(before.exemplars, after.exemplars, strict=True):
        assert new.exercises == tuple(id for id in old.exercises if id != "dialog.upset")
        assert new.resembles == tuple(id for id in old.resembles if id != "dialog.upset")
    assert [item.definition for item in after.capabilities] == [
        item.definition for item in before.capabilities if item.id != "dialog.upset"
    ]
    assert incumbent("migrate", "--repo", grown, "--json").json["files"] == []


def with_exemplars_in_the_file(platform: Path) -> None:
    """The platform as it was before there were tables, committed."""
    known = load_taxonomy(WorkingTree(platform)).by_id
    path = platform / "taxonomy" / "taxonomy.yaml"
    (platform / EXEMPLARS).unlink()
    lines: list[str] = []
    for line in text_of(path).splitlines():
        lines.append(line)
        if line.startswith("  - id: "):
            exemplars = known[line.removeprefix("  - id: ")].exemplars.model_dump(mode="json")
            lines += ["    exemplars:"] if any(exemplars.values()) else []
            for kind, given in exemplars.items():
                lines += [f"      {kind}:"] if given else []
                lines += [f"        - {json.dumps(item, ensure_ascii=False)}" for item in given]
    write(path, "\n".join(lines) + "\n")
    commit(platform, "Exemplars in the file")


def test_exemplars_in_the_file_move_to_a_table(platform: Path, incumbent: Incumbent) -> None:
    slim = text_of(platform / "taxonomy" / "taxonomy.yaml")
    with_exemplars_in_the_file(platform)
    before = load_taxonomy(WorkingTree(platform))
    said = incumbent("validate", "--repo", platform)
    assert said.code == 0
    assert said.out.count("run `incumbent migrate`") == 1

    untouched = tree(platform)
    outcome = incumbent("migrate", "--repo", platform, "--dry-run")
    assert outcome.code == 0, outcome.err
    assert f"would be written: {EXEMPLARS}" in outcome.out
    assert tree(platform) == untouched

    outcome = incumbent("migrate", "--repo", platform, "--json")
    assert outcome.json["files"] == [EXEMPLARS, "taxonomy/taxonomy.yaml"]
    assert (outcome.json["changes"], outcome.json["stale"]) == ([], [])
    assert text_of(platform / "taxonomy" / "taxonomy.yaml") == slim
    after = load_taxonomy(WorkingTree(platform))
    assert [item.definition for item in after.capabilities] == [item.definition for item in before.capabilities]

    assert incumbent("migrate", "--repo", platform, "--json").json["files"] == []
    commit(platform, "Move")
    assert incumbent("migrate", "--repo", platform, "--json").json["files"] == []
    assert "incumbent migrate" not in incumbent("validate", "--repo", platform).out


def test_base_becomes_combines_and_no_version_and_no_verdict_changes(platform: Path, incumbent: Incumbent) -> None:
    path = platform / "taxonomy" / "taxonomy.yaml"
    with_exemplars_in_the_file(platform)
    taxonomy(platform, lambda text: text.replace("    group: speech\n", "    group: speech\n    base: true # usual\n"))
    taxonomy(platform, version("1.1.0"))
    said = incumbent("validate", "--repo", platform)
    assert said.code == 0
    assert said.out.count("write `combines: false` in place of `base: true`") == text_of(path).count("base: true") == 2
    commit(platform, "As earlier versions wrote it")
    before, text = load_taxonomy(WorkingTree(platform)), text_of(path)
    outcome = incumbent("migrate", "--repo", platform, "--json")
    assert outcome.json["files"] == [EXEMPLARS, "taxonomy/taxonomy.yaml"]
    assert (outcome.json["changes"], outcome.json["from_version"]) == ([], outcome.json["to_version"])
    kept = [line for line in text_of(path).splitlines() if "combines" not in line]
    assert text_of(path).count("    combines: false # usual\n") == 2
    assert [line for line in text.splitlines() if line in kept] == kept
    after = load_taxonomy(WorkingTree(platform))
    assert (after.uncombinable, after.definitions) == (before.uncombinable, before.definitions)
    assert incumbent("migrate", "--repo", platform, "--json").json["files"] == []


def test_exemplars_move_and_follow_a_rename_at_once(platform: Path, incumbent: Incumbent) -> None:
    with_exemplars_in_the_file(platform)
    taxonomy(platform, rename, version("1.1.0"))
    outcome = incumbent("migrate", "--repo", platform, "--json")
    assert outcome.code == 0, outcome.err
    assert [change["kind"] for change in outcome.json["changes"]] == ["renamed"]
    assert "call=" not in text_of(platform / EXEMPLARS)
    assert "use=backend.use" in text_of(platform / EXEMPLARS)


def contradict(path: Path) -> None:
    """One list of the taxonomy at ``path`` gets the other order than another one, which has all of its exemplars."""
    lines = text_of(path).splitlines()
    place = lines.index("  - id: dialog.correction") + 3
    end = next(number for number in range(place, len(lines)) if not lines[number].startswith("        - "))
    lines[place:end] = reversed(lines[place:end])
    write(path, "\n".join(lines) + "\n")


def test_lists_that_contradict_each_other_in_their_order_ask_for_a_patch_and_no_score_lags(
    grown: Path, incumbent: Incumbent
) -> None:
    with_exemplars_in_the_file(grown)
    path = grown / "taxonomy" / "taxonomy.yaml"
    contradict(path)
    write(path, text_of(path).replace("version: 1.0.0", "version: 1.0.1"))
    assert incumbent("reclassify", "--repo", grown).code == 0
    commit(grown, "Contradict")
    outcome = incumbent("migrate", "--repo", grown, "--json")
    assert outcome.code == 0, outcome.err
    assert (outcome.json["from_version"], outcome.json["to_version"]) == ("1.0.1", "1.0.2")
    assert {change["kind"] for change in outcome.json["changes"]} == {"exemplars-changed"}
    assert outcome.json["stale"] == []
    assert "version: 1.0.2\n" in text_of(path)
    assert incumbent("migrate", "--repo", grown, "--json").json["files"] == []


@pytest.fixture
def contradicting(platform: Path) -> Path:
    """A platform whose exemplars, which are in its taxonomy, ask for a patch when they move."""
    with_exemplars_in_the_file(platform)
    contradict(platform / "taxonomy" / "taxonomy.yaml")
    commit(platform, "Contradict")
    return platform


@pytest.mark.parametrize("written", ["\"version\": '1.0.0'", "version : 1.0.0", "? version\n: 1.0.0"])
def test_a_patch_that_the_move_asks_for_is_written_however_the_version_is(
    contradicting: Path, incumbent: Incumbent, written: str
) -> None:
    taxonomy(contradicting, lambda text: text.replace("version: 1.0.0", written))
    outcome = incumbent("migrate", "--repo", contradicting, "--json")
    assert outcome.code == 0, outcome.err
    assert outcome.json["to_version"] == "1.0.1"
    assert written.replace("1.0.0", "1.0.1") in text_of(contradicting / "taxonomy" / "taxonomy.yaml")


def test_a_move_that_was_stopped_half_way_is_completed(contradicting: Path, incumbent: Incumbent) -> None:
    path = contradicting / "taxonomy" / "taxonomy.yaml"
    before = text_of(path)
    assert incumbent("migrate", "--repo", contradicting).code == 0
    wanted = tree(contradicting)
    write(path, before)
    outcome = incumbent("migrate", "--repo", contradicting, "--json")
    assert outcome.code == 0, outcome.err
    assert outcome.json["files"] == ["taxonomy/taxonomy.yaml"]
    assert tree(contradicting) == wanted


def test_a_move_hides_no_other_change_of_the_exemplars(contradicting: Path, incumbent: Incumbent) -> None:
    path = contradicting / "taxonomy" / "taxonomy.yaml"
    before = text_of(path)
    assert incumbent("migrate", "--repo", contradicting).code == 0
    write(path, before)
    with (contradicting / EXEMPLARS).open("a", encoding="utf-8") as stream:
        stream.write("new-1\tcall\t\tOne that nobody has asked before.\n")
    outcome = incumbent("migrate", "--repo", contradicting)
    assert outcome.code == 1
    assert "must be 1.0.1" in outcome.err


def test_exemplars_that_were_added_to_the_file_join_the_table(platform: Path, incumbent: Incumbent) -> None:
    first = load_taxonomy(WorkingTree(platform)).exemplars[0]
    more = f"- id: backend.lookup\n    exemplars: {{positive: [Where do you live?, {json.dumps(first.turns[0])}]}}\n"
    taxonomy(platform, lambda text: text.replace("- id: backend.lookup\n", more), version("1.0.1"))
    said = incumbent("validate", "--repo", platform)
    assert said.code == 1
    assert "move them to a table: run `incumbent migrate`" in said.err
    outcome = incumbent("migrate", "--repo", platform, "--json")
    assert outcome.code == 0, outcome.err
    after = load_taxonomy(WorkingTree(platform)).exemplars
    assert "backend.lookup" in after[0].exercises
    assert (after[-1].turns, after[-1].exercises) == (("Where do you live?",), ("backend.lookup",))


def test_faults_of_the_tables_and_of_the_declarations_are_told_at_once(platform: Path, incumbent: Incumbent) -> None:
    taxonomy(platform, lambda text: text.replace("backend.call", "backend.use"))
    with (platform / EXEMPLARS).open("a", encoding="utf-8") as stream:
        stream.write("x 1\tcall\t\tWhat?\n")
    before = tree(platform)
    outcome = incumbent("migrate", "--repo", platform)
    assert outcome.code == 1
    for expected in ("add backend.call to `retired`", "'x 1' is not an id", "'call' cannot stand for that"):
        assert expected in outcome.err
    assert tree(platform) == before


def test_a_config_of_an_earlier_format_with_the_papers_reading_keeps_it(platform: Path, incumbent: Incumbent) -> None:
    shipped = text_of(REPOSITORY / "config" / "paper.yaml")
    newer = "format|  rule_values|  win_needs_bar|  doubted_below|  flakiness|  stated_calls"
    write(platform / "config" / "paper.yaml", re.sub(rf"(?m)^(?:{newer}): .*\n", "", shipped))
    commit(platform, "As it was")
    outcome = incumbent("migrate", "--repo", platform, "--config", "config/paper.yaml")
    assert outcome.code == 0, outcome.err
    now = text_of(platform / "config" / "paper.yaml")
    assert yaml.safe_load(now) == yaml.safe_load(shipped)
    assert sorted(now.splitlines()) == sorted(shipped.splitlines())


def test_a_config_gets_the_newest_format_and_what_that_changes_is_shown(platform: Path, incumbent: Incumbent) -> None:
    path = platform / "config" / "curation.yaml"
    former = text_of(path)
    write(
        path,
        re.sub(r"(?m)^(format|  rule_values): .*\n", "", former)
        + "calibration: {folds: 3}\n" * ("calibration:" not in former),
    )
    commit(platform, "As it was")
    shown = incumbent("review", platform / CARD_LINE, "--repo", platform)
    assert 'options.rule_values: younger than format 1 of this file, and read as "scored"' in shown.err
    planned = incumbent("migrate", "--repo", platform, "--dry-run", "--json")
    assert planned.code == 0, planned.err
    assert "rule_values" not in text_of(path)
    done = incumbent("migrate", "--repo", platform, "--json")
    output = json.loads(done.out)
    assert output == json.loads(planned.out) | {"dry_run": False}
    Draft202012Validator(schema("migrate-output")).validate(output)
    assert output["updates_config"]
    changed = {item["key"]: (item["before"], item["after"]) for item in output["impact"]["config"]}
    assert changed == {
        "format": (None, "2"),
        "options.rule_values": ('"scored"', '"counted"'),
        "limits.stated_calls": (None, "5"),
    }
    assert output["impact"]["effect"] is not None
    assert yaml.safe_load(text_of(path))["format"] == 2
    assert yaml.safe_load(text_of(path))["options"]["rule_values"] == "counted"
    again = incumbent("migrate", "--repo", platform)
    assert again.code == 0
    assert "0 files" in again.out
    assert "note:" not in incumbent("review", platform / CARD_LINE, "--repo", platform).err
