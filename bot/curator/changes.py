"""Changes to the regression set as values: planned first, applied at the end, so that a dry run shows the same plan."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq

from bot.curator.entry import Entry, Evicted, Tombstone
from bot.curator.store import entry_path, tombstone_path, waiting_path
from bot.errors import OutsideError

# Mappings and lists this short are written on one line, as people write them.
_LINE_WIDTH = 110


@dataclass(frozen=True, slots=True)
class FileChange:
    """Write ``content`` to ``path`` (relative to the repository), or delete it when ``content`` is ``None``."""

    path: str
    content: str | None


def admit(entry: Entry) -> FileChange:
    """Put ``entry`` into R."""
    return FileChange(entry_path(entry.id), render(entry))


def let_wait(entry: Entry) -> FileChange:
    """Put ``entry`` in the line of those that wait for a slot."""
    return FileChange(waiting_path(entry.id), render(entry))


def stop_waiting(id: str) -> FileChange:
    """Take ``id`` out of the line of those that wait."""
    return FileChange(waiting_path(id), None)


def evict(entry: Entry, evicted: Evicted) -> tuple[FileChange, ...]:
    """Remove ``entry`` from R and leave its tombstone."""
    tombstone = Tombstone(id=entry.id, evicted=evicted, restore=f"incumbent restore {entry.id}", entry=entry)
    return (
        FileChange(tombstone_path(entry.id), render(tombstone)),
        FileChange(entry_path(entry.id), None),
    )


def restore(tombstone: Tombstone, wait: bool) -> tuple[FileChange, ...]:
    """Bring the entry of ``tombstone`` back, with its first admission time; ``wait`` when the set is full."""
    entry = tombstone.entry
    return (let_wait(entry) if wait else admit(entry), FileChange(tombstone_path(tombstone.id), None))


def render(model: BaseModel) -> str:
    """``model`` as YAML text; equal models give equal bytes."""
    yaml = YAML()
    yaml.width = 4096
    yaml.indent(mapping=2, sequence=4, offset=2)
    yaml.representer.add_representer(type(None), _null)
    stream = io.StringIO()
    yaml.dump(_styled(model.model_dump(mode="json"), depth=0), stream)
    return stream.getvalue()


def _null(representer: Any, _: None) -> Any:
    return representer.represent_scalar("tag:yaml.org,2002:null", "null")


def _styled(value: Any, depth: int) -> Any:
    if isinstance(value, dict):
        mapping = CommentedMap((key, _styled(item, depth + 1)) for key, item in value.items())
        if depth and _fits(value):
            mapping.fa.set_flow_style()
        return mapping
    if isinstance(value, list):
        sequence = CommentedSeq(_styled(item, depth + 1) for item in value)
        if _fits(value):
            sequence.fa.set_flow_style()
        return sequence
    return value


def _fits(value: Any) -> bool:
    return len(repr(value)) <= _LINE_WIDTH


def apply(changes: Sequence[FileChange], root: Path) -> None:
    """Apply ``changes`` below ``root``: new contents are all written aside first, so that a full disk changes nothing.

    Raises :class:`OutsideError` when the file system refuses.
    """
    staged: list[tuple[Path, Path]] = []
    try:
        for change in changes:
            if change.content is not None:
                target = root / change.path
                target.parent.mkdir(parents=True, exist_ok=True)
                handle, aside = tempfile.mkstemp(dir=target.parent, prefix=".incumbent-")
                staged.append((Path(aside), target))
                with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
                    stream.write(change.content)
                Path(aside).chmod(0o644)
        for aside_path, target in staged:
            aside_path.replace(target)
        for change in changes:
            if change.content is None:
                (root / change.path).unlink(missing_ok=True)
    except OSError as error:
        raise OutsideError(
            f"the regression set could not be written: {error}; nothing was admitted or removed by halves "
            "as long as `git status` shows no change; otherwise run `git checkout -- regression_set` and try again"
        ) from error
    finally:
        for aside_path, _ in staged:
            aside_path.unlink(missing_ok=True)
