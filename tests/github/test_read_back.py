"""What later runs could not read is not written to the ledger."""

from __future__ import annotations

import pytest

from incumbent.errors import OutsideError
from incumbent.files.snapshot import EmptySnapshot, Overlay, ReadingLimits
from incumbent.github import read_back
from incumbent.github.models import WriteLedger
from incumbent.ledger import store
from incumbent.ledger.classifications import shards_of
from incumbent.ledger.model import (
    FORMAT,
    FolderRecord,
    PullRequestRecord,
    Reconciled,
    RunRecord,
    folder_path,
    record_path,
)
from incumbent.ledger.store import format_file, record_text
from incumbent.taxonomy.config import LEDGER_FILES
from tests.github.scenes import QUERIES

RECORD = record_text(PullRequestRecord(pull_request=7, head="1" * 40))
FOLDER = record_text(FolderRecord(folder="eval_sets/acme/desk"))
SHARDS = shards_of(
    record_path(7), {item.key: item.classification for item in QUERIES if item.key and item.classification}
)
FILES = {
    "README.md": "anything",
    "reconciled.json": record_text(Reconciled(commit="1" * 40)),
    "runs.json": record_text(RunRecord()),
    "pull_requests/7.json": RECORD,
    folder_path("eval_sets/acme/desk"): FOLDER,
    "agreement/0.json": '{"files": {}}',
    "results/v1.json": '{"release": "v1", "at": "2026-01-01T00:00:00Z"}',
    "events/7.jsonl": "a line that somebody else wrote\n",
    **SHARDS,
}


def test_what_can_be_read_is_written() -> None:
    write = WriteLedger.of("1" * 40, {**FILES, "events/8.jsonl": None}, "All of it")
    assert dict(write.files) == {**FILES, "events/8.jsonl": None}


@pytest.mark.parametrize("path", [path for path in FILES if path.endswith(".json")])
def test_a_file_that_could_not_be_read_is_named_and_nothing_is_written(path: str) -> None:
    with pytest.raises(OutsideError, match="could not be read again, so nothing is written") as refused:
        WriteLedger.of(None, {**FILES, path: "{}["}, "Some of it")
    assert str(refused.value).startswith(path)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("pull_requests/8.json", RECORD),
        (folder_path("eval_sets/acme/shop"), FOLDER),
        ("events/7.jsonl", "\0"),
        (next(iter(SHARDS)), next(iter(SHARDS.values())).replace('"values":"', '"values":"I', 1)),
    ],
)
def test_a_file_in_the_wrong_place_or_form_is_refused(path: str, text: str) -> None:
    with pytest.raises(OutsideError, match="could not be read again"):
        WriteLedger.of("1" * 40, {path: text}, "Something else")


@pytest.mark.parametrize("path", [path for path in FILES if path != "README.md"])
def test_a_file_that_is_too_large_is_refused(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    small = ReadingLimits(file_bytes=10, nesting_depth=LEDGER_FILES.nesting_depth, nodes=LEDGER_FILES.nodes)
    for module in (store, read_back):
        monkeypatch.setattr(module, "LEDGER_FILES", small)
    with pytest.raises(OutsideError, match="more than the limit of 10"):
        WriteLedger.of("1" * 40, {path: FILES[path]}, "Too much")


def test_a_damaged_file_is_kept_when_another_takes_its_place() -> None:
    present = {**FILES, FORMAT: format_file(None)[FORMAT]}
    ledger = Overlay(EmptySnapshot(), {**present, "reconciled.json": "{", record_path(7): "later", "folders.json": "{"})
    write = WriteLedger.of("1" * 40, {**FILES, record_path(7): None, "folders.json": None}, "All of it")
    kept = dict(write.on(ledger).files).items() - dict(write.files).items()
    assert {path.partition("-")[0]: text for path, text in kept} == {
        "damaged/reconciled": "{",
        "damaged/pull_requests/7": "later",
    }
    assert {path[-len("123456789012.json") :][12:] for path, _ in kept} == {".json"}
    assert write.on(Overlay(EmptySnapshot(), present)) == write.on(None) == write
    former = write.on(Overlay(EmptySnapshot(), FILES))
    assert dict(former.files) == {**dict(write.files), FORMAT: format_file(None)[FORMAT]}
