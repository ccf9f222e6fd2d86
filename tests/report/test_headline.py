"""What the headline says of what could not be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from incumbent.classifier.backends import make_backend
from incumbent.files.snapshot import WorkingTree
from incumbent.pipeline.review import load_platform, review
from incumbent.pipeline.submission import read_package
from incumbent.report.verdict_text import headline
from tests.factories import REPOSITORY, SHIPPED

AGENT = "agent: 1\nname: Parcel desk\nplatform: x\n"
GOOD = "eval_set: 1\nqueries:\n  - query: Where is parcel 12?\n"
NO_QUERY = "eval_set: 1\nqueries:\n  - {query: x, setup: {cost: .nan}}\n  - {query: y, setup: {cost: .nan}}\n"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"a.yaml": GOOD}, ""),
        ({"a.yaml": GOOD + "  - query: 7\n"}, "1 row could not be read"),
        ({"a.yaml": GOOD + "  - query: 7\n  - {}\n"}, "2 rows could not be read"),
        ({"a.yaml": NO_QUERY}, "1 file could not be read"),
        ({"a.yaml": NO_QUERY, "b.csv": "Prompt,Expected response\n"}, "2 files could not be read"),
        ({"a.yaml": GOOD + "  - query: 7\n", "b.jsonl": "{}"}, "1 file and 1 row could not be read"),
    ],
)
def test_files_without_a_query_are_counted_as_files_and_faults_of_others_as_rows(
    tmp_path: Path, files: dict[str, str], said: str
) -> None:
    for name, text in (files | {"agent.yaml": AGENT}).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    platform = load_platform(WorkingTree(REPOSITORY))
    backend = make_backend(platform.config.classifier, platform.taxonomy)
    package = read_package(WorkingTree(tmp_path), "acme", "desk", "desk", SHIPPED.limits)
    words = headline(review(platform, package, backend, lambda done, total: None))
    assert words.partition("; ")[2].endswith(said)
    assert ("could not be read" in words) == bool(said)
