"""What is said of broken input, of wrong usage, and where nothing can be done; every fault with file, line and fix."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from tests.golden.golden import Case
from tests.golden.places import CARD_LINE, incumbent, other_platform, standing_in, transcript

BROKEN = Path(__file__).with_name("broken")
AGENTS = sorted(path.name for path in (BROKEN / "eval_sets" / "oak-bank").iterdir())
BYTES = {
    "bytes/agent.yaml": b"agent: 1\nname: A teller\nplatform: phone\n",
    "bytes/evals.csv": "Prompt,Expected response\nWo ist die Bank für Gründer?,Dort.\n".encode("latin-1"),
    "bytes/evals.yaml": b"eval_set: 1\nqueries:\n  - {id: q1, query: !!python/name:os.system x}\n  - &a [*a, *a]\n",
}
"""Files that are no text; they would not survive an editor."""

USAGE: list[Sequence[str]] = [
    ("reviwe",),
    ("review",),
    ("review", "eval_sets/nobody/at-all"),
    ("review", CARD_LINE, "--format", "html"),
    ("review", CARD_LINE, "--customer", "a/b"),
    ("review", CARD_LINE, "--config", "config/gone.yaml"),
    ("explain", CARD_LINE, "c99"),
    ("explain", CARD_LINE),
    ("explain", "--entry", "nobody"),
    ("show", "tarnbeck-bank-card-line-c05"),
    ("pin", "nobody", "--reason", "x"),
    ("unpin", "nobody"),
    ("evict", "nobody", "--reason", " "),
    ("evict", "nobody", "--reason", "x"),
    ("restore", "nobody"),
    ("list", "--capability", "backend.cal"),
    ("list", "--waiting", "--evicted"),
    ("admit", CARD_LINE, "--accept", "c99"),
    ("admit", CARD_LINE, "--accept", "c01"),
    ("admit", CARD_LINE, "--at", "yesterday"),
    ("correct", CARD_LINE, "c01", "+spell", "-nothing-known"),
    ("consolidate", "--scores", "gone.json"),
    ("import", "gone.csv"),
    ("import", "labels/calls.yaml", "--format", "csvv"),
    ("evaluate", "--labels", "labels/gone.yaml"),
    ("evaluate", "--name", "a"),
    ("impact", "HEAD"),
    ("migrate", "--from", "nowhere"),
    ("validate", "--from", "nowhere"),
    ("validate", "--changed", "nowhere"),
    ("agreement", "--since", "lately"),
    ("export", "--to", "excel"),
    ("export", "--to", "copilot-studio"),
    ("triage", "gone.jsonl", "--agent", CARD_LINE, "--out", "out"),
    ("candidates", "--refused", "gone.yaml"),
    ("schema", "entri"),
    ("init", "--action", "somewhere"),
    ("doctor", "--repository", "no-slash"),
    ("doctor",),
    ("ci", "analyse"),
    ("mcp", "--port", "70000"),
    ("reclassify", "--wait"),
    ("scan", "nowhere"),
]


def _eval_sets(work: Path) -> str:
    with other_platform(work) as platform:
        shutil.copytree(BROKEN / "eval_sets", platform / "eval_sets", dirs_exist_ok=True)
        for name, content in BYTES.items():
            path = platform / "eval_sets" / "oak-bank" / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
        parts = [incumbent("validate"), incumbent("validate", "--json")]
        parts += [incumbent("review", f"eval_sets/oak-bank/{name}") for name in (*AGENTS, "bytes")]
        parts += [incumbent("review", "eval_sets/oak-bank/keys", "--format", "markdown")]
        parts += [incumbent("admit", "eval_sets/oak-bank/keys", "--dry-run", "--by", "Robin")]
        return "".join(parts)


def _platform(work: Path) -> str:
    parts = []
    for place in ("config", "taxonomy", "regression_set"):
        with other_platform(work) as platform:
            shutil.copytree(BROKEN / place, platform / place, dirs_exist_ok=True)
            parts.append(incumbent("validate"))
    with other_platform(work) as platform:
        shutil.rmtree(platform / "config")
        parts.append(incumbent("review", CARD_LINE))
    return "".join(parts)


def _usage(work: Path) -> str:
    with other_platform(work):
        return transcript(*USAGE)


def _nowhere(work: Path) -> str:
    folder = work / "nowhere"
    folder.mkdir()
    with standing_in(folder):
        calls = (("status",), ("validate",), ("agreement",), ("init", "--dry-run"), ("impact", "HEAD~1..HEAD"))
        return "".join(incumbent(*call) for call in calls)


CASES = [
    Case("faults/eval-sets.txt", _eval_sets),
    Case("faults/platform.txt", _platform),
    Case("faults/usage.txt", _usage),
    Case("faults/nowhere.txt", _nowhere),
]
