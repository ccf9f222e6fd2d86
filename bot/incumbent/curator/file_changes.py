"""Changes to the regression set as values: planned first, applied at the end. A dry run shows the same plan."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.scalarstring import DoubleQuotedScalarString, SingleQuotedScalarString

from incumbent.curator.entry import Entry, Evicted, Tombstone
from incumbent.curator.journal import State, write_all
from incumbent.curator.store import FOLDER, entry_path, read_back, tombstone_path, waiting_path
from incumbent.files.yaml_writer import dumped, round_trip

# Mappings and lists this short are written on one line, as people write them.
_LINE_WIDTH = 110
# Between brackets, ruamel reads these unquoted differently from libyaml or PyYAML, or one of them rejects them.
_DISPUTED = re.compile(r"\?|^:|:[,\[\]{}]")
# Words and numbers that YAML 1.1 readers do not take for text.
_YAML_1_1_WORDS = re.compile(r"(?:y|yes|n|no|on|off|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?)", re.IGNORECASE)
_YAML_1_1_BREAKS = re.compile("[\r\x85\u2028\u2029]")
_MOST_TEXTS = 2_000
"""Maximum number of rendered files that are remembered: about 10 MB."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """Write ``content`` to ``path`` (relative to the repository), or delete it when ``content`` is ``None``."""

    path: str
    content: str | None

    @property
    def change(self) -> Literal["write", "delete"]:
        """What is done to the file."""
        return "delete" if self.content is None else "write"


def admit(entry: Entry, existing: str | None = None) -> FileChange:
    """Put ``entry`` into R; comments and unchanged parts of the ``existing`` file's text are kept."""
    return FileChange(entry_path(entry.id), render(entry) if existing is None else edit(existing, entry))


def let_wait(entry: Entry) -> FileChange:
    """Put ``entry`` on the waitlist."""
    return FileChange(waiting_path(entry.id), render(entry))


def stop_waiting(id: str) -> FileChange:
    """Take ``id`` off the waitlist."""
    return FileChange(waiting_path(id), None)


def forget(id: str) -> FileChange:
    """Remove the tombstone of ``id``, whose source returns with other content; git keeps the history."""
    return FileChange(tombstone_path(id), None)


def evict(entry: Entry, evicted: Evicted) -> tuple[FileChange, ...]:
    """Remove ``entry`` from R and leave its tombstone."""
    tombstone = Tombstone(id=entry.id, evicted=evicted, restore=f"incumbent restore {entry.id}", entry=entry)
    return (
        FileChange(tombstone_path(entry.id), render(tombstone)),
        FileChange(entry_path(entry.id), None),
    )


def restore(entry: Entry, wait: bool) -> tuple[FileChange, ...]:
    """Bring the evicted ``entry`` back, with its first admission time; with ``wait`` it goes on the waitlist."""
    return (let_wait(entry) if wait else admit(entry), FileChange(tombstone_path(entry.id), None))


def render(model: BaseModel) -> str:
    """``model`` as YAML text; equal models give equal bytes."""
    return _rendered(json.dumps(model.model_dump(mode="json")))


@lru_cache(maxsize=_MOST_TEXTS)
def _rendered(data: str) -> str:
    """The JSON text ``data`` as YAML: each plan of a run has the same files, and to write one takes 10 ms."""
    return as_yaml(json.loads(data))


def as_yaml(data: Mapping[str, Any]) -> str:
    """Plain ``data`` as YAML text, in the style of the set's files."""
    return dumped(_styled(dict(data), depth=0))


def edit(text: str, model: BaseModel) -> str:
    """``text`` with the values of ``model``: comments, order, and the quoting of unchanged parts are kept."""
    document = round_trip().load(text)
    _replace(document, model.model_dump(mode="json"), depth=0)
    return dumped(document)


def _replace(mapping: Any, values: dict[str, Any], depth: int) -> None:
    for name in [name for name in mapping if name not in values]:
        del mapping[name]
    for name, value in values.items():
        if name in mapping and isinstance(value, dict) and isinstance(mapping[name], dict):
            _replace(mapping[name], value, depth + 1)
        elif name not in mapping or not _same(mapping[name], value):
            mapping[_quoted(name)] = _styled(value, depth + 1)


def _same(left: Any, right: Any) -> bool:
    if isinstance(right, dict):
        return (
            isinstance(left, dict)
            and list(left) == list(right)
            and all(_same(left[name], right[name]) for name in right)
        )
    if isinstance(right, list):
        return isinstance(left, list) and len(left) == len(right) and all(map(_same, left, right))
    text = json.dumps(right)
    # A round trip changes the form of a number with an exponent, so it is written anew.
    return not (isinstance(right, float) and "e" in text) and json.dumps(left, default=str) == text


def _styled(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, dict):
        mapping = CommentedMap((_quoted(key), _styled(item, depth + 1)) for key, item in value.items())
        if depth and _fits(value):
            mapping.fa.set_flow_style()
        return mapping
    if isinstance(value, list):
        sequence = CommentedSeq(_styled(item, depth + 1) for item in value)
        if _fits(value):
            sequence.fa.set_flow_style()
        return sequence
    return value


def _quoted(text: str) -> Any:
    """``text`` in quotes where other YAML readers would read it differently from ruamel, which writes it."""
    if _YAML_1_1_BREAKS.search(text):
        return DoubleQuotedScalarString(text)
    disputed = _DISPUTED.search(text) or _YAML_1_1_WORDS.fullmatch(text)
    return SingleQuotedScalarString(text) if disputed else text


def _fits(value: Any) -> bool:
    return len(repr(value)) <= _LINE_WIDTH


def apply(changes: Sequence[FileChange], root: Path) -> None:
    """Apply ``changes`` below ``root``, all of them or none; of two changes to one file the last one counts.

    Raises :class:`incumbent.errors.OutsideError` when the file system refuses something.  Raises
    :class:`incumbent.errors.InputError`, before anything is written, where a file of the regression set could not be
    read again.
    """
    for change in changes:
        if change.content is not None and change.path.startswith(f"{FOLDER}/") and change.path.endswith(".yaml"):
            read_back(change.path, change.content)
    write_all(
        {change.path: None if change.content is None else State(change.content.encode()) for change in changes}, root
    )
