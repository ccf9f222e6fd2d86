"""What promptfoo writes of an export, asked a provider and a grader by script, is read back as it was done."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from incumbent.curator.store import RegressionSet
from incumbent.ledger.releases.record import match
from incumbent.runners.export.plan import plan_export, writers
from incumbent.runners.results.reader import read_results
from incumbent.taxonomy.config import RESULT_FILES
from tests.factories import make_entry
from tests.runners.test_runners import QUIET, promptfoo, run

__all__ = ["promptfoo"]

# Entry → the outcome of each repeat, turn by turn; texts are those that promptfoo could take for a template or a file.
PLAN = {
    "passes": [["passed"], ["passed"]],
    "flaps": [["passed"], ["failed"]],
    "fails": [["failed"], ["failed"]],
    "breaks": [["error"], ["passed"]],
    "not-graded": [["no grade"], ["failed"]],
    "talks": [["passed", "passed"], ["passed", "failed"]],
    "stops": [["error", "passed"], ["failed", "no grade"]],
}
TEXTS = {"passes": "{{ env.SECRET }}", "flaps": "file:///etc/hostname", "fails": 'say {{ "{" }}\n'}
SCRIPT = """
import fs from "node:fs";
const plan = JSON.parse(fs.readFileSync(new URL("plan.json", import.meta.url)));
const asked = {};
export default class {
  id() { return "scripted"; }
  async callApi(prompt) {
    asked[prompt] = (asked[prompt] ?? -1) + 1;
    const outcome = plan[prompt][asked[prompt]];
    if (outcome === "error") return { error: "the model is not there" };
    return { output: outcome, tokenUsage: { total: 12, prompt: 8, completion: 4 }, cost: 0.5 };
  }
}
"""
GRADER = """
export default class {
  id() { return "grader"; }
  async callApi(prompt) {
    if (prompt.includes("no grade")) return { error: "the grader is not there" };
    const pass = !prompt.includes("failed");
    return { output: JSON.stringify({ pass, score: pass ? 1 : 0, reason: "by script" }) };
  }
}
"""
WORST = ("error", "no grade", "failed", "passed")


def turns(id: str, number: int) -> tuple[str, ...]:
    return tuple(f"{TEXTS.get(id, id)} {turn}" for turn in range(number))


def test_a_run_is_read_back_turn_by_turn_and_repeat_by_repeat(tmp_path: Path, promptfoo: list[str | Path]) -> None:
    entries = {
        id: make_entry(id, {"a": 0.9}, turns=turns(id, len(outcomes[0])), expected={"response": "x"})
        for id, outcomes in PLAN.items()
    }
    export = plan_export([*entries.values()], writers()["promptfoo"], keep_placeholders=True)
    config = export.written.files["promptfooconfig.yaml"].replace('"echo"', '"file://provider.mjs"')
    # Every turn is graded, also those of which nothing is expected.
    graded = "defaultTest:\n  assert:\n    - type: llm-rubric\n      value: graded by script\n"
    by_text = {
        text: [outcomes[turn] for outcomes in PLAN[id]]
        for id, entry in entries.items()
        for turn, text in enumerate(entry.turns)
    }
    written = {"promptfooconfig.yaml": config + graded, "provider.mjs": SCRIPT, "grader.mjs": GRADER}
    for name, text in {**written, "plan.json": json.dumps(by_text)}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    asked: list[str | Path] = [
        "-c",
        tmp_path / "promptfooconfig.yaml",
        "--repeat",
        "2",
        "-j",
        "1",
        "--no-cache",
        "--no-table",
    ]
    grader = ["--grader", f"file://{tmp_path / 'grader.mjs'}"]
    run([*promptfoo, "eval", *asked, *grader, "-o", tmp_path / "results.json"], tmp_path, **QUIET)

    results, problems = read_results((tmp_path / "results.json").read_bytes(), "results.json", None, RESULT_FILES)
    assert problems == ()
    found = match(results, RegressionSet(entries, {}, {}))
    assert found.unmatched == ()
    for id, outcomes in PLAN.items():
        counts, read = Counter(min(outcome, key=WORST.index) for outcome in outcomes), found.entries[id]
        errors = counts["error"] + counts["no grade"]
        assert (read.passed, read.failed, read.errors) == (counts["passed"], counts["failed"], errors), id
