"""What each command prints over the examples and this repository, how it ends, and the files that it changes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir
from pathlib import Path
from typing import Any

from incumbent.classifier.embedded.weights import SHIPPED_DIGEST
from incumbent.cli.main import COMMANDS
from tests.cli.test_agreement import ledger, month
from tests.cli.test_calibrate import answers, head
from tests.cli.test_candidates import make_repository
from tests.cli.test_impact import OPINIONS, TAXONOMY
from tests.cli.test_migrate import OVERRIDES, rename, split
from tests.factories import REPOSITORY
from tests.golden.golden import Case
from tests.golden.places import (
    BRANCH_LINE,
    CARD_LINE,
    CONFIG,
    changes,
    commit,
    incumbent,
    other_platform,
    replace_in,
    standing_in,
    this_repository,
    transcript,
)
from tests.opinions import OPINION, ROWS

NORTHWIND = "examples/customers/northwind-tracker/tracker"
HARBOR = "examples/customers/harbor-parcels/dispatch"
EXISTING = "examples/existing-set/tracker.csv"
ENTRY = "tarnbeck-bank-card-line-c05-c0514171"
REDUNDANT = "tarnbeck-bank-card-line-c07-48d7620d"
RESIDENT = "aldermoor-garages-repairs-r01-28b13fb4"
DEMO = (NORTHWIND, "--repo", ".", "--customer", "northwind-tracker", "--agent", "tracker")
NOW = ("--by", "Robin", "--at", "2026-02-03T04:05:06Z")

# By the name of the file: the commands, as they are run in a copy of this repository, where none of them writes.
HERE: dict[str, list[Sequence[str]]] = {
    "review": [("review", NORTHWIND)],
    "review-json": [("review", NORTHWIND, "--json")],
    "review-markdown": [("review", NORTHWIND, "--format", "markdown")],
    "review-paper": [("review", NORTHWIND, "--config", "config/paper.yaml")],
    "review-package": [("review", HARBOR, "--format", "markdown"), ("classify", HARBOR)],
    "explain": [("explain", NORTHWIND, "q15"), ("explain", NORTHWIND, "q01"), ("explain", "--entry", RESIDENT)],
    "explain-json": [("explain", NORTHWIND, "q07", "--json")],
    "status": [("status",), ("prune",), ("validate",), ("scan",)],
    "status-json": [("status", "--json"), ("prune", "--json"), ("validate", "--json"), ("scan", "--json")],
    "list": [("list",), ("list", "--pinned", "--customer", "aldermoor-garages"), ("show", RESIDENT)],
    "formats": [("formats",), ("formats", "--json")],
    "config": [("config",), ("config", "--config", "config/paper.yaml", "--json")],
    "import": [("import", EXISTING, "--agent-folder", NORTHWIND, "--dry-run", *NOW)],
    "import-json": [("import", EXISTING, "--agent-folder", NORTHWIND, "--dry-run", "--json", *NOW)],
}

# The same in a copy of the other platform, one after the other: each finds the files that those before it left.
ELSEWHERE: dict[str, list[Sequence[str]]] = {
    "classify-json": [("classify", BRANCH_LINE, "--json")],
    "pairs": [("status", "--pairs"), ("status", "--pairs", "--json")],
    "growth": [("status", "--growth"), ("status", "--growth", "--json")],
    "entries-json": [("list", "--json"), ("show", ENTRY, "--json")],
    "admit": [
        ("admit", BRANCH_LINE, "--dry-run", *NOW),
        ("admit", BRANCH_LINE, "--dry-run", "--json", *NOW),
        ("admit", CARD_LINE, "--accept", "c08", "--accept", "c01", "--reason", "it was asked for", *NOW),
        ("admit", CARD_LINE, "--accept", "c08", *NOW),
        ("admit", "--waiting", "--json", *NOW),
    ],
    "pin": [
        ("pin", ENTRY, "--reason", "the acceptance test", "--dry-run"),
        ("pin", ENTRY, "--reason", "the acceptance test"),
        ("pin", ENTRY, "--reason", "the acceptance test", "--json"),
        ("list", "--pinned"),
        ("unpin", ENTRY, "--json"),
        ("unpin", ENTRY),
    ],
    "quarantine": [
        ("quarantine", ENTRY, "--reason", "it flaps", "--dry-run"),
        ("quarantine", ENTRY, "--reason", "it flaps"),
        ("list", "--quarantined"),
        ("status",),
        ("export", "--to", "jsonl", "--dry-run", "--json"),
        ("export", "--to", "jsonl", "--dry-run", "--quarantined"),
        ("quarantine", ENTRY, "--end", "--json"),
        ("quarantine", ENTRY, "--end"),
    ],
    "evict": [
        ("evict", ENTRY, "--reason", "the customer left", "--dry-run", *NOW),
        ("evict", REDUNDANT, "--reason", "the customer left", "--json", *NOW),
        ("list", "--evicted"),
        ("show", REDUNDANT),
        ("restore", REDUNDANT, "--dry-run", "--json"),
        ("restore", REDUNDANT),
        ("restore", REDUNDANT),
    ],
    "correct": [
        ("correct", CARD_LINE, "c01", "+spell-out", "-Upset", "--reason", "letters are asked for", "--dry-run", *NOW),
        ("correct", CARD_LINE, "c01", "+spell-out", "-Upset", "--reason", "letters are asked for", "--json", *NOW),
        ("correct", CARD_LINE, "c05", "-backend.change", *NOW),
        ("review", CARD_LINE),
        ("reclassify", "--dry-run"),
        ("reclassify", "--json"),
        ("reclassify",),
        ("validate",),
    ],
    "import": [
        ("import", f"{BRANCH_LINE}/evals.yaml", "--agent-folder", BRANCH_LINE, "--dry-run", *NOW),
        ("import", f"{BRANCH_LINE}/evals.yaml", "--agent-folder", BRANCH_LINE, "--json", *NOW),
        ("prune",),
        ("prune", "--json"),
        ("list", "--capability", "backend.call"),
    ],
    "evaluate": [("evaluate", "--resamples", "100"), ("evaluate", "--resamples", "100", "--json")],
    "export": [
        ("export", "--to", "jsonl", "--output", "jsonl.jsonl"),
        ("export", "--to", "promptfoo", "--output", "promptfoo.yaml"),
        ("export", "--to", "copilot-studio", "--output", "copilot-studio/"),
        ("export", "--to", "inspect", "--output", "inspect.jsonl", "--capability", "backend.call"),
        ("export", "--to", "deepeval", "--output", "deepeval.json"),
        ("export", "--to", "m365-copilot-eval", "--output", "m365.json"),
        ("export", "--to", "azure-ai-evaluation", "--output", "azure.jsonl", "--json"),
        ("export", "--to", "jsonl", "--customer", "nobody-at-all", "--strict"),
    ],
    "init": [("init",), ("init", "--dry-run")],
}

# What a terminal shows, where it is not what goes into a pipe.
TERMINAL: list[Sequence[str]] = [
    ("review", BRANCH_LINE),
    ("classify", BRANCH_LINE),
    ("status",),
    ("status", "--all"),
    ("status", "--pairs"),
    ("config",),
    ("list",),
    ("show", ENTRY),
    ("admit", BRANCH_LINE, "--dry-run", *NOW),
    ("import", f"{BRANCH_LINE}/evals.yaml", "--agent-folder", BRANCH_LINE, "--dry-run", *NOW),
    ("prune",),
    ("scan",),
    ("evaluate", "--resamples", "100"),
]

SCORES: list[dict[str, Any]] = [
    {"id": "q1", "turns": ["Freeze my card."], "scores": {"backend.call": 0.99, "backend.change": 0.97}},
    {"id": "q2", "turns": ["Freeze my card!"], "scores": {"backend.call": 0.8, "backend.change": 0.7}},
    {"id": "q3", "turns": ["Spell the name of the street."], "scores": {"speech.spell-out": 0.7}},
    {"id": "q4", "turns": ["Hello."], "scores": {}},
]


def _here(calls: Sequence[Sequence[str]]) -> Callable[[Path], str]:
    def make(work: Path) -> str:
        with standing_in(this_repository(work)):
            return "".join(incumbent(*call) for call in calls)

    return make


def _elsewhere(calls: Sequence[Sequence[str]]) -> Callable[[Path], str]:
    def make(work: Path) -> str:
        with other_platform(work):
            return transcript(*calls)

    return make


def _terminal(work: Path) -> str:
    with other_platform(work):
        return "".join(incumbent(*call, terminal=True) for call in TERMINAL)


def _consolidate(work: Path) -> str:
    with other_platform(work) as platform:
        (platform / "scores.json").write_text(json.dumps({"queries": SCORES}), encoding="utf-8")
        (platform / "odd.json").write_text(json.dumps({"queries": [*SCORES, SCORES[0] | {"scores": {"nope": 2}}]}))
        return transcript(
            ("consolidate", "--scores", "scores.json"),
            ("consolidate", "--scores", "scores.json", "--json"),
            ("consolidate", "--scores", "odd.json"),
        )


def _scan(work: Path) -> str:
    with other_platform(work) as platform:
        replace_in(
            platform / CARD_LINE / "evals.yaml", "How much money is in", "I am kim.lee@northwind.com. What is in"
        )
        folder = ("scan", CARD_LINE)
        return transcript(folder, (*folder, "--json"), ("review", CARD_LINE), (*folder, "--replace"), folder)


def _impact(work: Path) -> str:
    with other_platform(work) as platform:
        replace_in(platform / TAXONOMY, "version: 1.0.0", "version: 1.1.0")
        path = platform / TAXONOMY
        path.write_text(path.read_text(encoding="utf-8").rstrip() + "\n" + OPINION, encoding="utf-8")
        (platform / OPINIONS).write_text(f"id\tlabels\tlookalikes\tturns\n{ROWS}", encoding="utf-8")
        commit(platform, 5)
        capability = transcript(
            ("impact", "HEAD~1..HEAD"), ("impact", "HEAD~1..HEAD", "--json"), ("validate", "--from", "HEAD~1")
        )
        replace_in(platform / CONFIG, "competence_bar: 0.5", "competence_bar: 0.9", "ceiling: 40", "ceiling: 2")
        commit(platform, 6)
        knobs = transcript(("impact", "HEAD~1..HEAD"))
        replace_in(
            platform / TAXONOMY, "version: 1.1.0", "version: 1.1.1", "- id: speech.language", "- id: speech.tongue"
        )
        commit(platform, 7)
        return capability + knobs + transcript(("impact", "HEAD~1..HEAD"), ("impact", "HEAD..nowhere"))


def _migrate(work: Path) -> str:
    with other_platform(work) as platform:
        path = platform / CONFIG
        before, _, after = path.read_text(encoding="utf-8").partition("per_capability: {}")
        path.write_text(before + OVERRIDES + after.partition("\n")[2], encoding="utf-8")
        commit(platform, 5)
        path = platform / TAXONOMY
        path.write_text(split(rename(path.read_text(encoding="utf-8"))), encoding="utf-8")
        unversioned = transcript(("migrate",))
        replace_in(path, "version: 1.0.0", "version: 2.0.0")
        return unversioned + transcript(("migrate", "--dry-run", "--json"), ("migrate",), ("migrate",), ("status",))


def _ledger(work: Path) -> str:
    with other_platform(work) as platform:
        calls = (("agreement",), ("agreement", "--json"), ("agreement", "--by", "bob", "--since", "2026-03-01"))
        nothing = transcript(("agreement",), ("calibrate",))
        ledger(platform, month())
        return nothing + transcript(*calls)


def _calibrate(work: Path) -> str:
    with other_platform(work) as platform:
        ledger(platform, answers(head(platform)))
        return transcript(("calibrate",), ("calibrate", "--json"))


def _candidates(work: Path) -> str:
    folder = work / "new behaviour"
    folder.mkdir()
    with standing_in(make_repository(folder)):
        replace_in(Path(CONFIG), SHIPPED_DIGEST, "none")
        found = transcript(("candidates",), ("candidates", "--json"))
    with other_platform(work):
        return found + transcript(("candidates",))


def _triage(work: Path) -> str:
    with other_platform(work) as platform:
        texts = ["Freeze my card.", "freeze my CARD", "Spell the name.", "Write to kim.lee@northwind.com", "Hello."]
        lines = [json.dumps({"id": f"t{place}", "query": text}) for place, text in enumerate(texts)]
        (platform / "traffic.jsonl").write_text("\n".join([*lines, "{", ""]), encoding="utf-8")
        call = ("triage", "traffic.jsonl", "--agent", CARD_LINE, "--out", "out", "--processes", "1")
        said = incumbent(*call)
        written = {f"out/{path.name}": path.read_text(encoding="utf-8") for path in _texts(platform / "out")}
        return said + changes({}, written) + incumbent(*call) + incumbent(*call, "--force", "--json")


def _texts(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.iterdir()) if path.suffix in (".md", ".yaml"))


def _demo(work: Path) -> str:
    """The verdicts of `make demo`, with the sentence embedding: the same on every machine."""
    with chdir(REPOSITORY):
        return incumbent("review", *DEMO, "--format", "markdown") + incumbent("review", *DEMO, "--json")


def _help(name: str) -> Callable[[Path], str]:
    return lambda work: incumbent(name, "--help")


CASES = [
    *(Case(f"here/{name}.txt", _here(calls)) for name, calls in HERE.items()),
    *(Case(f"elsewhere/{name}.txt", _elsewhere(calls)) for name, calls in ELSEWHERE.items()),
    *(Case(f"help/{name}.txt", _help(name)) for name in COMMANDS),
    Case("demo.txt", _demo),
    Case("help/incumbent.txt", lambda work: incumbent("--help") + incumbent() + incumbent("schema")),
    Case("elsewhere/terminal.txt", _terminal),
    Case("elsewhere/consolidate.txt", _consolidate),
    Case("elsewhere/scan.txt", _scan),
    Case("elsewhere/impact.txt", _impact),
    Case("elsewhere/migrate.txt", _migrate),
    Case("elsewhere/agreement.txt", _ledger),
    Case("elsewhere/calibrate.txt", _calibrate),
    Case("elsewhere/candidates.txt", _candidates),
    Case("elsewhere/triage.txt", _triage),
]
