"""Make this repository's regression set anew from its customers' eval sets, by the commands that anybody would use.

Customers come aboard one after the other; direct admissions enter, and of what waits for a person the first few of each
customer are accepted.  `python dev/seed.py [FOLDER]` writes to FOLDER (default: this repository).  A test checks that
the committed set is what comes out.
"""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import sys
from pathlib import Path

from incumbent.cli.main import run
from incumbent.files.snapshot import WorkingTree
from incumbent.pipeline.submission import submission_folders

REPOSITORY = Path(__file__).resolve().parent.parent
ACCEPTED_EACH = 1
CURATOR = "seed"


def seed(folder: Path) -> None:
    """Empty the regression set below ``folder`` and fill it from ``eval_sets/``."""
    shutil.rmtree(folder / "regression_set", ignore_errors=True)
    for day, submission in enumerate(submission_folders(WorkingTree(folder)), 1):
        place = str(folder / submission)
        review = json.loads(_incumbent("review", place, "--repo", str(folder), "--json"))
        waiting = [item["id"] for item in review["verdicts"] if item["outcome"] == "waiting-for-review"]
        accepted = [option for id in waiting[:ACCEPTED_EACH] for option in ("--accept", id)]
        moment = ["--at", f"2026-11-{day:02d}T09:00:00Z", "--by", CURATOR]
        _incumbent("admit", place, "--repo", str(folder), *moment, *accepted)


def _incumbent(*arguments: str) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = run(arguments)
    if code:
        raise SystemExit(f"incumbent {' '.join(arguments)} ended with {code}")
    return out.getvalue()


if __name__ == "__main__":
    seed(Path(sys.argv[1]) if len(sys.argv) > 1 else REPOSITORY)
