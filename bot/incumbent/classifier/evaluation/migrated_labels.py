"""Label files under the ids of a new taxonomy, as edits that change nothing else.

A rename carries a label over.  When a capability is split, FALSE of the whole is FALSE of each part.  TRUE of the whole
is unknown for each part, since the label does not say which.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from incumbent.classifier.evaluation.labels import LabelFile
from incumbent.errors import Problem, untrusted
from incumbent.files.label_tables import UNKNOWN, Word
from incumbent.files.mapping_edits import insert_key
from incumbent.taxonomy.migration import Migration


def migrated_table(text: str, file: LabelFile, migration: Migration) -> str:
    """The ``text`` of a label file in table form, which was read as ``file``, under the new ids."""
    return migrated_rows(text, file.meanings, migration, {0: UNKNOWN}, commented=False)


def migrated_rows(
    text: str, meanings: Mapping[str, Word], migration: Migration, columns: Mapping[int, str], *, commented: bool
) -> str:
    """The ``text`` of a table whose own names have these ``meanings``, under the new ids.

    ``columns`` are the cells (from 0) that contain names, each with the mark that parts of a split capability get
    there.  ``commented`` says whether a line after the header may be a comment.
    """
    words = _RenamedLabels.of(meanings, migration)
    lines = text.split("\n")
    is_row = False
    for place, line in enumerate(lines):
        said = line.removesuffix("\r")
        ending = line[len(said) :]
        if is_row and not (commented and said.startswith("#")):
            cells = said.split("\t")
            for column, mark in columns.items():
                if column < len(cells):
                    cells[column] = _listed(cells[column], words, mark)
            lines[place] = "\t".join(cells) + ending
        elif said.startswith("#"):
            lines[place] = _comment(said, words) + ending if not is_row else line
        elif said.strip():
            # The header; rows follow.
            is_row = True
    return "\n".join(lines)


def migrate_document(data: dict[str, Any], file: LabelFile, migration: Migration) -> None:
    """Edit ``data``, which was read as ``file`` from YAML or JSON, so that it has the new ids."""
    words = _RenamedLabels.of(file.meanings, migration)
    names = data.get("names", {})
    for name in list(names):
        if words.is_split(name):
            del names[name]
        else:
            names[name] = migration.renamed(names[name])
    if data.get("capabilities") is not None:
        _replace(data["capabilities"], words)
    for row in data["queries"]:
        _migrate_row(row, words)


def clashes(file: LabelFile, migration: Migration) -> tuple[Problem, ...]:
    """The file's own names that are now ids as well, where the file needs the name for that capability."""
    listed = [] if file.capabilities is None else [word.text for word in file.capabilities]
    used = {*listed, *(name for row in file.rows for name in (*row.true, *row.unknown))}
    return clashes_of(file.file, file.meanings, used, migration)


def clashes_of(
    file: str, meanings: Mapping[str, Word], used: Collection[str], migration: Migration
) -> tuple[Problem, ...]:
    """The clashes of a table called ``file``, whose rows contain the names ``used``."""
    words = _RenamedLabels.of(meanings, migration)
    needed = {new for name in used for new in words.became(name) if new != name}
    return tuple(
        Problem(
            file,
            meanings[name].line,
            f"the file's own name {name!r} is now the id of a capability that it labels",
            f"give it another name, under `names` and wherever it is used, or write "
            f"{untrusted(meanings[name].text)} instead",
        )
        for name in sorted(needed & meanings.keys())
    )


@dataclass(frozen=True, slots=True)
class _RenamedLabels:
    """The names that replace those in a file."""

    meanings: Mapping[str, str]
    migration: Migration

    @staticmethod
    def of(meanings: Mapping[str, Word], migration: Migration) -> _RenamedLabels:
        return _RenamedLabels({name: word.text for name, word in meanings.items()}, migration)

    def is_split(self, name: str) -> bool:
        return self.meanings.get(name, name) in self.migration.splits

    def became(self, name: str) -> tuple[str, ...]:
        """The parts, the new id, or the file's own name, which keeps its capability."""
        if self.is_split(name):
            return self.migration.splits[self.meanings.get(name, name)]
        return (name if name in self.meanings else self.migration.renamed(name),)


def _comment(line: str, words: _RenamedLabels) -> str:
    """A line before the header: two kinds of comments have a meaning (:mod:`incumbent.files.label_tables`)."""
    head, colon, rest = line.partition(":")
    name = head.lstrip("# ").strip().lower()
    if name == "capabilities":
        return head + colon + _listed(rest, words, "")
    if name == "names":
        kept = [item for item in rest.split(",") if not words.is_split(item.partition("=")[0].strip())]
        return head + colon + ",".join(_renamed_meaning(item, words.migration) for item in kept)
    return line


def _renamed_meaning(item: str, migration: Migration) -> str:
    name, equals, meaning = item.partition("=")
    return name + equals + _with_core(meaning, migration.renamed(meaning.strip()))


def _with_core(text: str, core: str) -> str:
    """``text`` with ``core`` in place of its words; the white space at its ends stays."""
    return text.replace(text.strip(), core, 1) if text.strip() else text


def _listed(text: str, words: _RenamedLabels, mark: str) -> str:
    """A list of labels with commas; parts get the ``mark``, whether the whole was TRUE or unknown."""
    found: list[str] = []
    parts: set[str] = set()
    for item in text.split(","):
        said = item.strip()
        name = said.removeprefix(UNKNOWN).strip()
        became = words.became(name)
        if words.is_split(name):
            fresh = [part for part in became if part not in parts]
            parts.update(fresh)
            found += [_with_core(item, mark + part) for part in fresh]
        else:
            found.append(_with_core(item, said[: len(said) - len(name)] + became[0]))
    return ",".join(found)


def _migrate_row(row: dict[Any, Any], words: _RenamedLabels) -> None:
    # Unquoted in YAML, this key is read as a truth value.
    true = "true" if "true" in row else True
    doubtful = [part for name in row[true] if words.is_split(name) for part in words.became(name)]
    if "unknown" in row:
        _replace(row["unknown"], words)
    elif doubtful:
        # A copy has the style of the original list: on one line, or one item a line.
        fresh = copy.deepcopy(row[true])
        while fresh:
            del fresh[0]
        insert_key(row, true, "unknown", fresh)
    for place in reversed(range(len(row[true]))):
        if words.is_split(row[true][place]):
            del row[true][place]
    _replace(row[true], words)
    for part in dict.fromkeys(doubtful):
        if part not in row["unknown"]:
            row["unknown"].append(part)


def _replace(names: list[str], words: _RenamedLabels) -> None:
    """Replace each of ``names`` in its place by its new names, without duplicates."""
    seen: set[str] = set()
    wanted: list[list[str]] = []
    for name in names:
        fresh = [new for new in words.became(name) if new not in seen]
        seen.update(fresh)
        wanted.append(fresh)
    for place in reversed(range(len(wanted))):
        if not wanted[place]:
            del names[place]
        elif wanted[place] != [names[place]]:
            names[place] = wanted[place][0]
            for offset, new in enumerate(wanted[place][1:], 1):
                names.insert(place + offset, new)
