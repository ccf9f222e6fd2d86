"""Reading what is about to be written to the ledger, as later runs will: what they could not read is not written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from incumbent.errors import InputError, OutsideError
from incumbent.files.documents import decode
from incumbent.files.git import blob_id
from incumbent.files.snapshot import EmptySnapshot, Overlay, Snapshot
from incumbent.files.validation import FileModel
from incumbent.ledger.classifications import is_shard
from incumbent.ledger.counted import AgreementRecord, CountedFiles
from incumbent.ledger.model import (
    ABILITIES,
    AGREEMENT,
    CANDIDATES,
    CORRECTIONS,
    COUNTED_FILES,
    DAMAGED,
    FOLDER,
    FOLDER_RECORDS,
    FORMAT,
    INDEX,
    MODELS,
    QUARANTINES,
    RECONCILED,
    REQUESTS,
    RUNS,
    SUGGESTIONS,
    AbilityRecord,
    CandidateRecord,
    CorrectionRecord,
    FolderIndex,
    LedgerFormat,
    ModelRecord,
    QuarantineRecord,
    Reconciled,
    RequestRecord,
    RunRecord,
    SuggestionRecord,
)
from incumbent.ledger.releases.record import FOLDER as RESULTS
from incumbent.ledger.releases.record import ReleaseRecord
from incumbent.ledger.store import LOG, load, load_folder, load_record, load_shard
from incumbent.taxonomy.config import LEDGER_FILES

RECORD_MODELS: Final[Mapping[str, type[FileModel]]] = {
    FORMAT: LedgerFormat,
    ABILITIES: AbilityRecord,
    AGREEMENT: AgreementRecord,
    CANDIDATES: CandidateRecord,
    CORRECTIONS: CorrectionRecord,
    INDEX: FolderIndex,
    MODELS: ModelRecord,
    QUARANTINES: QuarantineRecord,
    RECONCILED: Reconciled,
    REQUESTS: RequestRecord,
    RUNS: RunRecord,
    SUGGESTIONS: SuggestionRecord,
    COUNTED_FILES: CountedFiles,
    RESULTS: ReleaseRecord,
}
"""What is in a file at the top of the branch, or in the files of a folder."""
_DERIVED: Final = frozenset({AGREEMENT, COUNTED_FILES, INDEX})
_WHATEVER: Final = replace(LEDGER_FILES, file_bytes=2 * LEDGER_FILES.file_bytes)
"""Limits for a file that is only copied: one that is too large to be read can be copied."""
_RECORD: Final = re.compile(rf"{FOLDER}/([0-9]+)\.json")


def read_back(files: Mapping[str, str | None]) -> None:
    """Read ``files`` of the ledger by path, before they are written; ``None`` for one that is deleted.

    Raises :class:`OutsideError` with the name of a file that could not be read.
    """
    snapshot = Overlay(EmptySnapshot(), files)
    for path, text in files.items():
        if text is not None:
            try:
                _read(snapshot, path)
            except InputError as error:
                why, fix = error.problems[0].message, "divide a very large pull request, or else report this"
                message = f"{path} of the ledger could not be read again, so nothing is written: {why}; {fix}"
                raise OutsideError(message) from None


def kept_aside(files: Mapping[str, str | None], ledger: Snapshot) -> dict[str, str]:
    """The files of ``ledger`` that cannot be read and that ``files`` replace or delete, by the path that keeps them.

    What is derived from other files is made anew, and not kept.
    """
    found = {}
    for path in files:
        if path.partition("/")[0] in _DERIVED or is_shard(path) or not ledger.exists(path):
            continue
        try:
            _read(ledger, path)
        except InputError:
            content = ledger.read(path, _WHATEVER)
            name, _, ending = path.rpartition(".")
            kept = f"{DAMAGED}/{name}-{blob_id(content)[:12]}.{ending}"
            found[kept] = content.decode("utf-8", "replace")
            LOG.warning("%s of the ledger is replaced, and what could not be read is kept as %s", path, kept)
    return found


def _read(snapshot: Snapshot, path: str) -> None:
    folder = path.partition("/")[0]
    record = _RECORD.fullmatch(path)
    if record is not None:
        load_record(snapshot, int(record[1]))
    elif folder == FOLDER_RECORDS:
        load_folder(snapshot, path)
    elif is_shard(path):
        load_shard(snapshot, path)
    elif folder in RECORD_MODELS:
        load(snapshot, path, RECORD_MODELS[folder])
    else:
        # Of events, lines that others wrote may be unreadable.
        decode(snapshot.read(path, LEDGER_FILES), path, LEDGER_FILES)
