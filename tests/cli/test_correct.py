"""``incumbent correct``: a curator's word on tags, by hand, from the eval set to the entry."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.conftest import Incumbent
from tests.cli.test_set_life import BRANCH_LINE, CARD_LINE, tree

MISSED = "speech.spell-out"


def values(platform: Path, incumbent: Incumbent, query: str, folder: str = CARD_LINE) -> Any:
    found = incumbent("classify", platform / folder, "--repo", platform, "--json").json
    return next(item["values"] for item in found["queries"] if item["id"] == query)


def ids(platform: Path, incumbent: Incumbent, outcome: str) -> list[str]:
    found = incumbent("review", platform / CARD_LINE, "--repo", platform, "--json").json
    return [item["id"] for item in found["verdicts"] if item["outcome"] == outcome]


def test_a_correction_counts_wherever_its_text_is_judged(platform: Path, incumbent: Incumbent) -> None:
    query = ids(platform, incumbent, "excluded")[0]
    before = tree(platform)
    call = ("correct", platform / CARD_LINE, query, "+spell-out", "-Upset", "--repo", platform)
    planned = incumbent(*call, "--dry-run", "--json").json
    assert tree(platform) == before
    assert (planned["query"], planned["dry_run"]) == (query, True)
    assert planned["tags"] == {MISSED: True, "dialog.upset": False}
    outcome = incumbent(*call, "--reason", "-they spell it", "--by", "Cora")
    assert outcome.code == 0, outcome.err
    assert f"corrected: {query}: +{MISSED}, -dialog.upset" in outcome.out
    assert "verdict: EXCLUDE" in outcome.out
    (name,) = tree(platform).keys() - before.keys()
    assert name == planned["written"]
    kept = yaml.safe_load((platform / name).read_text(encoding="utf-8"))
    assert kept["tags"][MISSED]["reason"] == "-they spell it"
    assert kept["tags"][MISSED]["by"] == "Cora"
    found = values(platform, incumbent, query)
    assert found[MISSED] == {"value": True, "confidence": 1.0, "path": "corrected"}
    assert found["dialog.upset"] == {"value": False, "confidence": 1.0, "path": "corrected"}
    assert "not dialog.upset (corrected)" in incumbent("classify", platform / CARD_LINE, "--repo", platform).out
    review = incumbent("review", platform / CARD_LINE, "--repo", platform, "--json").json
    assert review["corrected"][query][MISSED]["by"] == "Cora"
    assert "Corrected by Cora" in incumbent("review", platform / CARD_LINE, "--repo", platform).out
    assert incumbent("explain", platform / CARD_LINE, query, "--repo", platform).code == 0
    assert incumbent("validate", "--repo", platform).code == 0
    evaluated = incumbent("evaluate", "--ledger", "--repo", platform)
    assert "queries that people corrected: 1\n" in evaluated.err


def test_an_entry_keeps_what_was_corrected_under_another_classification(platform: Path, incumbent: Incumbent) -> None:
    query = ids(platform, incumbent, "admitted")[0]
    assert incumbent("correct", platform / CARD_LINE, query, f"+{MISSED}", "--repo", platform).code == 0
    assert incumbent("admit", platform / CARD_LINE, "--repo", platform).code == 0
    (path,) = (platform / "regression_set").glob(f"*-{query}-*.yaml")
    entry = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert (entry["scores"][MISSED], entry["classified"]["corrected"]) == (1.0, {MISSED: True})
    for file in (platform / "config" / "corrections").iterdir():
        file.unlink()
    assert incumbent("reclassify", "--repo", platform).code == 0
    assert yaml.safe_load(path.read_text(encoding="utf-8")) == entry
    # The entry in the set is corrected in the same way.
    outcome = incumbent("correct", platform / CARD_LINE, query, f"-{MISSED}", "--repo", platform)
    assert f"the entry {path.stem} has this text: `incumbent reclassify`" in outcome.out
    for arguments in ((platform / CARD_LINE,), ("--waiting",)):
        refused = incumbent("admit", *arguments, "--repo", platform)
        assert (refused.code, f"{path.stem}: a curator corrected tags of its text" in refused.err) == (1, True)
    assert incumbent("reclassify", "--repo", platform).code == 0
    entry = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert MISSED not in entry["scores"]
    assert entry["classified"]["corrected"] == {MISSED: False}


def test_an_import_heeds_what_was_corrected(platform: Path, incumbent: Incumbent) -> None:
    query = ids(platform, incumbent, "excluded")[0]
    assert incumbent("correct", platform / CARD_LINE, query, f"+{MISSED}", "--repo", platform).code == 0
    evals = platform / CARD_LINE / "evals.yaml"
    call = ("import", evals, "--customer", "c", "--agent", "a", "--repo", platform)
    assert incumbent(*call).code == 0
    (path,) = (platform / "regression_set").glob(f"c-a-{query}-*.yaml")
    entry = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert (entry["scores"][MISSED], entry["classified"]["corrected"]) == (1.0, {MISSED: True})


def test_a_rename_carries_corrections_along(platform: Path, incumbent: Incumbent) -> None:
    query = ids(platform, incumbent, "admitted")[0]
    call = ("correct", platform / CARD_LINE, query, f"+{MISSED}", "-dialog.upset", "--repo", platform)
    assert incumbent(*call).code == 0
    assert incumbent("admit", platform / CARD_LINE, "--repo", platform).code == 0
    file = platform / "taxonomy" / "taxonomy.yaml"
    text = file.read_text(encoding="utf-8").replace(
        f"  - id: {MISSED}\n", f"  - id: speech.letters\n    was: {MISSED}\n"
    )
    text = text.replace("version: 1.0.0", "version: 1.1.0").replace("retired: []", f"retired: [{MISSED}]")
    file.write_text(text, encoding="utf-8")
    outcome = incumbent("migrate", "--repo", platform)
    assert outcome.code == 0, outcome.err
    (kept,) = (platform / "config" / "corrections").iterdir()
    assert list(yaml.safe_load(kept.read_text(encoding="utf-8"))["tags"]) == ["dialog.upset", "speech.letters"]
    (path,) = (platform / "regression_set").glob(f"*-{query}-*.yaml")
    entry = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert entry["classified"]["corrected"] == {"dialog.upset": False, "speech.letters": True}
    assert incumbent("validate", "--repo", platform).code == 0
    assert incumbent("migrate", "--repo", platform).code == 0
    assert incumbent("reclassify", "--repo", platform).code == 0
    assert yaml.safe_load(path.read_text(encoding="utf-8"))["scores"]["speech.letters"] == 1.0


def test_a_corrected_cost_counts_until_the_text_changes(platform: Path, incumbent: Incumbent) -> None:
    query = ids(platform, incumbent, "admitted")[0]
    assert incumbent("admit", platform / CARD_LINE, "--repo", platform).code == 0
    (path,) = (platform / "regression_set").glob(f"*-{query}-*.yaml")
    own = yaml.safe_load(path.read_text(encoding="utf-8"))["setup"]["cost"]
    total = incumbent("status", "--repo", platform, "--json").json["cost"]
    assert f"its set-up costs {own:g}\n" in incumbent("show", path.stem, "--repo", platform).out
    call = ("correct", platform / CARD_LINE, query, "--cost", "40.5", "--repo", platform)
    before = tree(platform)
    planned = incumbent(*call, "--dry-run", "--json").json
    assert (planned["cost"], planned["tags"], planned["entry"], planned["before"]) == (40.5, {}, path.stem, None)
    assert tree(platform) == before
    outcome = incumbent(*call, "--by", "Cora", "--reason", "a tenant of its own")
    assert outcome.code == 0, outcome.err
    assert f"corrected: {query}: cost 40.5 (the eval set says {own:g}); in {planned['written']}" in outcome.out
    # The file of the correction alone is written: the entry keeps the customer's figure.
    assert tree(platform) == before | {planned["written"]: (platform / planned["written"]).read_bytes()}
    assert incumbent("status", "--repo", platform, "--json").json["cost"] == total + 40.5 - own
    assert f"total cost: {total + 40.5 - own:g};" in incumbent("status", "--repo", platform).out
    shown = incumbent("show", path.stem, "--repo", platform)
    assert f"its set-up costs 40.5, corrected from {own:g} by Cora: a tenant of its own" in shown.out
    assert incumbent("show", path.stem, "--repo", platform, "--json").json["cost"]["by"] == "Cora"
    # What the eval set says of the cost later changes nothing; tags are corrected beside it.
    evals = platform / CARD_LINE / "evals.yaml"
    evals.write_text(evals.read_text(encoding="utf-8").replace("cost: ", "cost: 9"), encoding="utf-8")
    assert incumbent("correct", platform / CARD_LINE, query, f"+{MISSED}", "--repo", platform).code == 0
    assert incumbent("reclassify", "--repo", platform).code == 0
    assert incumbent("status", "--repo", platform, "--json").json["cost"] == total + 40.5 - own
    kept = yaml.safe_load((platform / planned["written"]).read_text(encoding="utf-8"))
    assert (kept["cost"]["value"], list(kept["tags"])) == (40.5, [MISSED])
    assert incumbent("validate", "--repo", platform).code == 0
    # Without its file the customer's figure counts again.
    (platform / planned["written"]).unlink()
    assert incumbent("status", "--repo", platform, "--json").json["cost"] == total


@pytest.mark.parametrize("cost", ["-1", "nan", "inf", "1e12", "dear"])
def test_a_cost_that_is_none_is_refused(cost: str, platform: Path, incumbent: Incumbent) -> None:
    before = tree(platform)
    assert incumbent("correct", platform / CARD_LINE, "q1", "--cost", cost, "--repo", platform).code == 2
    assert tree(platform) == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("q99", "+spell"), ["there is no such query", "the taxonomy has no capability 'spell'"]),
        (("{query}", "+a", "b", "+"), ["'a'", "it is no tag to correct"]),
        (("{query}", "+upset", "-dialog.upset"), ["both + and - are said of dialog.upset"]),
        (("{query}", "+anonymous", "+signed-in"), ["a query exercises one of identity.anonymous, identity.signed-in"]),
        (("{query}", "-backend.change"), ["by the agent's specification", "backend.call, which may be corrected"]),
    ],
)
def test_what_cannot_be_corrected_is_told_at_once(
    arguments: tuple[str, ...], words: list[str], platform: Path, incumbent: Incumbent
) -> None:
    query = ids(platform, incumbent, "excluded")[0]
    before = tree(platform)
    said = [item.format(query=query) for item in arguments]
    outcome = incumbent("correct", platform / CARD_LINE, *said, "--repo", platform)
    assert outcome.code == 1
    assert all(word in outcome.err for word in words), outcome.err
    assert tree(platform) == before


def test_usage(platform: Path, incumbent: Incumbent) -> None:
    assert incumbent("correct", platform / BRANCH_LINE, "q", "--repo", platform).code == 2
    assert incumbent("correct", platform / BRANCH_LINE, "q", "+x", "--cost", "1", "--repo", platform).code == 2
    assert incumbent("correct", platform / BRANCH_LINE, "q", "-x", "--nothing", "--repo", platform).code == 2
    assert "Examples:" in incumbent("correct", "-h").out
