"""A file's content as readers get it, and what it can be told by before it is parsed."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Final

from bot.config import Limits
from bot.errors import InputError
from bot.files.documents import decode, parse_json, parse_json_lines, parse_yaml
from bot.files.snapshot import Snapshot, path_beside
from bot.intake.eval_sets.columns import Columns
from bot.intake.eval_sets.reader import Source
from bot.intake.place import Place

LINES: Final = (".jsonl", ".ndjson")
TABLES: Final = (".csv", ".tsv")
DOCUMENTS: Final = (".json", ".yaml", ".yml")

# One object a line and nothing else: JSON Lines under the name of JSON.
_LOOKS_LIKE_LINES: Final = re.compile(r"\s*\{[^\n]*\}[ \t\r]*\n\s*\{")


def glance(content: bytes) -> str:
    """``content`` as text in whatever encoding it seems to be, just to see what it was meant as."""
    # Every second byte of UTF-16 is zero where the text is ASCII, as all marks and names of files are.
    return content.replace(b"\0", b"").decode("utf-8", "replace")


def open_source(
    snapshot: Snapshot, path: str, limits: Limits, columns: Columns | None = None, *, parsed: bool = True
) -> Source:
    """The file at ``path``, decoded, and ``parsed`` as its name and content say; raises :class:`InputError`."""
    name, reading = snapshot.name(path), limits.reading
    content = snapshot.read(path, reading)
    document = lines = None
    ending = posixpath.splitext(path)[1].lower()
    text = decode(content, name, reading)
    if not parsed:
        pass
    elif ending in LINES or (ending == ".json" and _LOOKS_LIKE_LINES.match(text)):
        if text.lstrip().startswith("["):
            document = parse_json(content, name, reading)
        else:
            lines = parse_json_lines(text, name, reading)
    elif ending in DOCUMENTS:
        document = (parse_json if ending == ".json" else parse_yaml)(content, name, reading)

    def beside(place: Place, reference: str) -> Source:
        target = _path_beside(path, place, reference)
        if not snapshot.exists(target) and target not in snapshot.links():
            message = f"{place.name}: {reference} is no file of the folder"
            raise InputError([place.problem(message, "name a file that there is")])
        return open_source(snapshot, target, limits, columns)

    def text_beside(place: Place, reference: str) -> Source:
        return open_source(snapshot, _path_beside(path, place, reference), limits, columns, parsed=False)

    def matching(place: Place, pattern: str) -> tuple[str, ...]:
        folder = posixpath.dirname(path)
        wanted = _path_beside(path, place, pattern).split("/")
        found = (other for other in snapshot.paths() if other != path and _fits(other.split("/"), wanted))
        return tuple(posixpath.relpath(other, folder or ".") for other in found)

    return Source(
        file=name,
        path=path,
        text=text,
        limits=reading,
        folder_limits=limits,
        document=document,
        lines=lines,
        columns=columns,
        beside=beside,
        text_beside=text_beside,
        matching=matching,
    )


def _fits(parts: Sequence[str], patterns: Sequence[str]) -> bool:
    """Whether a path matches a pattern with ``*``, ``?``, ``[...]`` and ``**``, each given by its parts."""
    reached = {0}
    for part in [*parts, None]:
        # A `**` stands for no folder as well.
        for place in sorted(reached):
            while place < len(patterns) and patterns[place] == "**":
                place += 1
                reached.add(place)
        if part is None:
            break
        stays = {place for place in reached if place < len(patterns) and patterns[place] == "**"}
        moves = {place + 1 for place in reached if place < len(patterns) and fnmatchcase(part, patterns[place])}
        reached = stays | moves
    return len(patterns) in reached


def _path_beside(path: str, place: Place, reference: str) -> str:
    """The path that ``reference``, which stands at ``place`` of the file at ``path``, names."""
    target = path_beside(path, reference)
    if target is not None:
        return target
    message = f"{place.name}: {reference} leads out of the folder, and nothing outside is ever read"
    raise InputError([place.problem(message, "put a copy of the file into the folder, and name that")])
