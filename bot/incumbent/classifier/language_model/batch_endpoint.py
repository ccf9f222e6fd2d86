"""The client of an endpoint's Batch API, and the records of batches between runs.

A record is one small file in the user's cache folder, without texts.  It is written before a batch is requested, so
that no request is paid for twice, whatever ends the run.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any, Final, Literal, Self, TypeAlias

from pydantic import Field, TypeAdapter

from incumbent.classifier.language_model.abilities import Abilities
from incumbent.classifier.language_model.batch_lines import shown
from incumbent.classifier.language_model.completions import MALFORMED, AnswerRefusedError
from incumbent.classifier.language_model.endpoint import advice, connect, host_of, key_of
from incumbent.errors import OutsideError, UsageError
from incumbent.files.documents import Data, as_list, as_mapping
from incumbent.files.user_cache import read_model, remove_whole, write_whole
from incumbent.files.validation import FileModel, Tuple
from incumbent.taxonomy.config import OpenAISettings

RemoteId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.:=-]{0,199}$")]
"""An id from an endpoint: it becomes a part of request paths, so that it contains no characters that change a path."""

_LARGEST: Final = 100_000_000
_DAY: Final = 86_400


_README: Final = b"""\
# Batches that Incumbent waits for

One file a batch: its id at the endpoint, and digests of its requests. Who removes a file abandons the batch: the next
run with `--batch` submits those requests again, and the endpoint charges for both.
"""


class BatchRecord(FileModel):
    """One batch, and the work that is left for it.

    ``name`` is a digest of its requests, and is in the metadata of the batch; ``target`` is a digest of endpoint and
    model.  ``abilities``: how it was asked.  ``lines``: the number of answers that each request wants, by
    ``custom_id``.  ``file`` is the uploaded one; without ``batch`` it is unknown whether the endpoint accepted it.
    ``done`` are the lines whose queries need no more answers; ``counted``: its cost was reported.
    """

    name: Annotated[str, Field(pattern=r"^[0-9a-f]{24}$")]
    target: Annotated[str, Field(pattern=r"^[0-9a-f]{24}$")]
    abilities: Abilities
    lines: dict[str, Annotated[int, Field(ge=1)]]
    file: RemoteId | None = None
    batch: RemoteId | None = None
    done: Tuple[str] = ()
    counted: bool = False


def _is_gone(path: Path) -> bool:
    """Whether nothing is at ``path`` any more; a file that cannot be looked at is there."""
    try:
        path.lstat()
    except OSError as error:
        return isinstance(error, FileNotFoundError)
    return False


class BatchRecords:
    """The records in ``folder``; those that are unused for ``days`` are deleted."""

    def __init__(self, folder: Path, days: int) -> None:
        self._folder = folder / "batches"
        self._days = days

    def load(self, target: str, now: float) -> list[BatchRecord]:
        """All records of ``target``; raises :class:`UsageError` for an invalid file.

        Such a file may hide a batch that was paid for.
        """
        found = []
        for path in sorted(self._folder.glob("*.json")):
            with suppress(OSError):
                if now - path.stat().st_mtime > self._days * _DAY:
                    remove_whole(path)
                    continue
            record = read_model(path, BatchRecord, _LARGEST)
            if record is None:
                if _is_gone(path):
                    # Another command has finished its batch.
                    continue
                raise UsageError(
                    f"{path} is no record of a batch that can be read, or another user can write it; remove it, if no "
                    "batch of yours is open at the endpoint, or its requests may be paid for twice"
                )
            if record.target == target:
                found.append(record)
        return found

    def save(self, record: BatchRecord) -> None:
        """Write ``record``; raises :class:`OutsideError` if that fails: without it a batch would be lost."""
        path = self.path(record)
        if not write_whole(path, record.model_dump_json().encode()):
            raise OutsideError(f"{path} cannot be written, and without it a batch would be lost; see INCUMBENT_CACHE")

    def remove(self, record: BatchRecord) -> None:
        """Delete ``record``."""
        remove_whole(self.path(record))

    def path(self, record: BatchRecord) -> Path:
        """The path of ``record``."""
        return self._folder / f"{record.name}.json"

    @contextmanager
    def submitting(self) -> Iterator[None]:
        """Lock the submission of batches; raises :class:`OutsideError` while another command has the lock."""
        if not write_whole(self._folder / "README.md", _README):
            raise OutsideError(f"{self._folder} cannot be written; see INCUMBENT_CACHE")
        if sys.platform == "win32":
            # Folders cannot be locked there.
            yield
            return
        import fcntl

        descriptor = os.open(self._folder, os.O_RDONLY)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise OutsideError("another command is submitting a batch; run this again when it has ended") from None
            yield
        finally:
            os.close(descriptor)


Status: TypeAlias = Literal["open", "over"]

_OVER: Final = frozenset({"completed", "failed", "expired", "cancelled"})
_NAME: Final = "incumbent"
"""The metadata key of our batches; its value is the name of the record."""

_PAGES: Final = 20
_PAGE: Final = 100
"""The most pages of the list of batches, and batches per page: a longer list is taken to be endless."""

_REMOTE_ID: Final[TypeAdapter[str]] = TypeAdapter(RemoteId)
_REFUSED: Final = frozenset({400, 401, 403, 404, 405, 409, 413, 422, 429, 501})
"""Statuses by which an endpoint certainly made no batch."""
_UNKNOWN: Final = frozenset({404, 405, 501})


@dataclass(frozen=True, slots=True)
class BatchState:
    """The state of a batch: the endpoint's own word, whether it has ended, and the reason it gives.

    ``done`` of ``total`` requests have an answer, if the endpoint reports it; ``files`` contain the answers.
    """

    word: str
    over: bool
    why: str
    done: int
    total: int
    files: tuple[str, ...]


class UncertainError(OutsideError):
    """It is unknown whether the endpoint made the requested batch."""


class BatchEndpoint:
    """The Batch API of the endpoint in ``settings``; ``environment`` contains the key.

    Raises :class:`incumbent.errors.UsageError` at once if there is no usable key or address.
    """

    def __init__(self, settings: OpenAISettings, environment: Mapping[str, str]) -> None:
        self._settings = settings
        self._key = key_of(settings, environment)
        self.host = host_of(settings)
        batch = settings.batch
        seconds = settings.timeout_seconds
        # The tokens of a batch are counted when its answers are read; asking for its state is free.
        self._client = connect(settings, self._key, seconds, settings.response_bytes, lambda: None)
        self._files = connect(settings, self._key, batch.transfer_seconds, batch.result_bytes, lambda: None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()
        self._files.close()

    @property
    def url(self) -> str:
        """The path of a batch's requests, as its lines name it."""
        return "/v1/chat/completions" if self._settings.api_version is None else "/chat/completions"

    def upload(self, name: str, content: bytes) -> str:
        """The id of ``content``, uploaded under ``name``; raises :class:`OutsideError` if that fails."""
        files: Any = self._files.files.with_raw_response
        given = (f"{_NAME}-{name}.jsonl", content, "application/jsonl")
        return self._id(self._ask("its requests", lambda: files.create(file=given, purpose="batch")))

    def create(self, name: str, file: str) -> str:
        """The id of a new batch for the uploaded ``file``; the request is not repeated.

        Raises :class:`UncertainError` if it may have been made nevertheless, :class:`OutsideError` if it was not.
        """
        batches: Any = self._client.with_options(max_retries=0).batches.with_raw_response
        return self._id(
            self._ask(
                "a batch",
                lambda: batches.create(
                    completion_window=self._settings.batch.window,
                    endpoint=self.url,
                    input_file_id=file,
                    metadata={_NAME: name},
                ),
                uncertain=True,
            ),
            uncertain=True,
        )

    def find(self, record: BatchRecord) -> str | None:
        """The batch of ``record`` in the endpoint's list, by its metadata or its file; ``None`` if it is not there."""
        batches: Any = self._client.batches.with_raw_response
        after: dict[str, str] = {}
        for _ in range(_PAGES):
            page = self._ask("its list of batches", partial(batches.list, limit=_PAGE, **after))
            listed = [as_mapping(item) for item in as_list(page.get("data"))[:_PAGE]]
            for item in listed:
                named = as_mapping(item.get("metadata")).get(_NAME) == record.name
                if named or (record.file is not None and item.get("input_file_id") == record.file):
                    return self._id(item)
            if not listed or page.get("has_more") is not True:
                return None
            after = {"after": self._id(listed[-1])}
        raise OutsideError(
            f"the list of batches of {self.host} does not end, so that it is unknown whether one was made; see the "
            "provider's own pages, and run this again"
        )

    def state(self, batch: str) -> BatchState:
        """The state of ``batch``; raises :class:`OutsideError` if the endpoint does not report it."""
        batches: Any = self._client.batches.with_raw_response
        found = self._ask(f"the batch {batch}", lambda: batches.retrieve(batch))
        if found.get("id") != batch:
            raise OutsideError(f"{self.host} was asked for the batch {batch} and tells of another one; try later")
        counts = as_mapping(found.get("request_counts"))
        done, failed, total = (
            value if isinstance(value := counts.get(name), int) and value >= 0 else 0
            for name in ("completed", "failed", "total")
        )
        word = str(found.get("status"))
        errors = [as_mapping(item).get("code") for item in as_list(as_mapping(found.get("errors")).get("data"))[:3]]
        ids = [found.get(name) for name in ("output_file_id", "error_file_id")]
        return BatchState(
            word=shown(word) or "without a state",
            over=word in _OVER,
            why=", ".join(dict.fromkeys(shown(code) for code in errors if isinstance(code, str))),
            done=done + failed,
            total=total,
            files=tuple(dict.fromkeys(id for id in ids if isinstance(id, str) and _is_id(id))),
        )

    def content(self, file: str) -> bytes:
        """The content of ``file``; raises :class:`OutsideError` if it is unavailable or too large."""
        return self._raw("its answers", lambda: self._files.files.with_raw_response.content(file))

    def remove(self, files: list[str]) -> None:
        """Delete ``files`` at the endpoint, if it allows that: they contain queries and answers."""
        for file in files:
            with suppress(OutsideError):
                self._raw("a file", partial(self._client.files.with_raw_response.delete, file))

    def _ask(self, what: str, request: Any, *, uncertain: bool = False) -> Mapping[str, Data]:
        content = self._raw(what, request, uncertain=uncertain)
        try:
            return as_mapping(json.loads(content))
        except MALFORMED:
            return {}

    def _raw(self, what: str, request: Any, *, uncertain: bool = False) -> bytes:
        import openai

        kind = UncertainError if uncertain else OutsideError
        try:
            return bytes(request().http_response.content)
        except AnswerRefusedError as error:
            reason = str(error).replace("response_bytes", "batch.result_bytes") if what == "its answers" else str(error)
            raise kind(f"what {self.host} sends is not taken: {reason}") from None
        except openai.OpenAIError as error:
            status = error.status_code if isinstance(error, openai.APIStatusError) else 0
            if status in _REFUSED:
                kind = OutsideError
            if status in _UNKNOWN:
                # Causes are dropped on purpose: their texts may repeat headers or the key.
                raise kind(
                    f"{self.host} does not know {what} (HTTP {status}); it may have no Batch API (leave --batch out), "
                    "or the batch may be another account's"
                ) from None
            retries = 0 if uncertain else self._settings.retries
            raise kind(advice(error, self._settings, self.host, self._key, retries)) from None

    def _id(self, found: Mapping[str, Data], *, uncertain: bool = False) -> str:
        id = found.get("id")
        if not isinstance(id, str) or not _is_id(id):
            raise (UncertainError if uncertain else OutsideError)(
                f"{self.host} answers without an id that can be used; it may be no Batch API (leave --batch out)"
            )
        return id


def _is_id(text: str) -> bool:
    try:
        _REMOTE_ID.validate_python(text)
    except ValueError:
        return False
    return True
