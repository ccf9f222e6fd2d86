"""Files that follow a new taxonomy or format: exemplar tables, exemplars in the taxonomy's own file, configs (pure)."""

from __future__ import annotations

import copy
import heapq
import json
from codecs import BOM_UTF8
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import yaml

from incumbent.classifier.evaluation.migrated_labels import clashes_of, migrated_rows
from incumbent.errors import InputError, Problem
from incumbent.files.documents import Document, as_list, as_mapping, parse_yaml
from incumbent.files.label_tables import UNKNOWN, read_labels, read_table
from incumbent.files.mapping_edits import insert_key, rename_keys
from incumbent.files.validation import newest_format
from incumbent.files.yaml_writer import copy_key, remove_key
from incumbent.taxonomy.config import REVIEWED_FILES, Curation, gone_keys, lacking_keys, outdated_values
from incumbent.taxonomy.exemplars import EXEMPLARS_FOLDER, ORIGINAL_HEADERS, SHORT_HEADER, ExemplarFile, is_translation
from incumbent.taxonomy.loading import TAXONOMY_FILE
from incumbent.taxonomy.migration import Migration
from incumbent.taxonomy.model import Exemplar
from incumbent.taxonomy.table_edits import table_head, with_rows
from incumbent.text.compare import normalise

MOVED_FILE = f"{EXEMPLARS_FOLDER}/exemplars.tsv"
PREFIX = "x"
_COMMENTS = (
    "Exemplars of the taxonomy, one query a row: the capabilities it exercises, those it only looks like, its turns.",
)


def carried_tables(
    files: Mapping[str, ExemplarFile], migration: Migration, removed: Collection[str] = ()
) -> dict[str, str]:
    """The texts of exemplar files, by path, that change where capabilities were renamed, split or ``removed``.

    If a query exercised a capability that was split, it is unknown which parts it exercises; one that only looked like
    the whole only looks like each part.  A query that exercised a removed capability stays, with its other labels.
    Raises :class:`InputError` if a file needs a name for two meanings.  Unreadable lines stay unchanged.
    """
    # A removed capability is treated as split into no parts.
    migration = replace(migration, splits={**migration.splits, **dict.fromkeys(removed, ())})
    found: dict[str, str] = {}
    problems: list[Problem] = []
    for path, file in files.items():
        if is_translation(path):
            continue
        try:
            table = read_table(file.text, file.name, ORIGINAL_HEADERS, "", REVIEWED_FILES)
        except InputError:
            continue
        columns = {1: UNKNOWN} if table.header == SHORT_HEADER else {1: UNKNOWN, 2: ""}
        rows = [row.split("\t") for _, row in table.rows]
        cells = {cell for row in rows for cell in (row[place] for place in columns if place < len(row))}
        used = {name for said in map(read_labels, cells) for name in (*said.true, *said.unknown)}
        problems += clashes_of(file.name, table.meanings, used, migration)
        text = migrated_rows(file.text, table.meanings, migration, columns, commented=True)
        if text != file.text:
            found[path] = text
    if problems:
        raise InputError(problems)
    return found


def moved_exemplars(content: bytes, file: str, tables: Mapping[str, str]) -> dict[str, str]:
    """The files that change, by path, when the exemplars in the taxonomy ``content`` move to ``tables``.

    There are none if it has no exemplars.  The order of queries keeps that of each capability if possible, and is else
    that of first appearance.  Raises :class:`InputError` if the ``file`` cannot be edited without changing anything
    else in it.
    """
    document = parse_yaml(content, file, REVIEWED_FILES)
    if not _holders(document, "exemplars"):
        return {}
    lists = list(_lists(document))
    named = dict.fromkeys(id for each in lists for row in each for id in (*row.exercises, *row.resembles))
    texts = with_rows(tables, _in_order(lists), MOVED_FILE, PREFIX, table_head(_COMMENTS, named))
    return texts | {TAXONOMY_FILE: _mark(content) + _without(document)}


def _lists(document: Document) -> Iterator[list[Exemplar]]:
    """The positive and the negative exemplars of each capability, in the order of the file."""
    for item in as_list(as_mapping(document.data).get("capabilities")):
        capability = as_mapping(item)
        exemplars = as_mapping(capability.get("exemplars"))
        id = str(capability.get("id"))
        for kind in ("positive", "negative"):
            exercises, resembles = ((id,), ()) if kind == "positive" else ((), (id,))
            found = [given if isinstance(given, list) else [given] for given in as_list(exemplars.get(kind))]
            yield [Exemplar(turns=tuple(map(str, turns)), exercises=exercises, resembles=resembles) for turns in found]


def _in_order(lists: Sequence[Sequence[Exemplar]]) -> list[Exemplar]:
    """The rows of all ``lists``, grouped by text, so that each list keeps its order if possible (a
    topological sort).
    """
    texts: dict[str, int] = {}
    rows: list[list[Exemplar]] = []
    after: list[set[int]] = []
    for each in lists:
        before: int | None = None
        for row in each:
            place = texts.setdefault(normalise(row.turns), len(texts))
            if place == len(rows):
                rows.append([])
                after.append(set())
            rows[place].append(row)
            if before is not None and before != place:
                after[before].add(place)
            before = place
    waiting = [0] * len(rows)
    for places in after:
        for place in places:
            waiting[place] += 1
    ready = [place for place, count in enumerate(waiting) if not count]
    left = set(range(len(rows)))
    order: list[int] = []
    while left:
        # Where lists contradict each other, the first remaining text goes first.
        place = heapq.heappop(ready) if ready else min(left)
        if place not in left:
            continue
        left.remove(place)
        order.append(place)
        for later in after[place]:
            waiting[later] -= 1
            if not waiting[later]:
                heapq.heappush(ready, later)
    return [row for place in order for row in rows[place]]


def with_combines(content: bytes, file: str) -> str | None:
    """The taxonomy ``content`` with `combines: false` where it has `base: true`, as earlier versions called it.

    `base: false` goes, and so does `base` beside `combines`.  ``None`` where nothing is to be written.  Raises
    :class:`InputError` as :func:`moved_exemplars` does.
    """
    document = parse_yaml(content, file, REVIEWED_FILES)
    if not _holders(document, "base"):
        return None
    wanted = json.loads(json.dumps(document.data))
    edits: list[_Edit] = []
    for item, node in zip(wanted["capabilities"], _capabilities(document.text), strict=True):
        if "base" not in item:
            continue
        renames = item.pop("base") and "combines" not in item
        if renames:
            item["combines"] = False
        for place, (key, value) in enumerate(_members(node)):
            if key.text == "base" and renames:
                edits += [(key.start, key.end, "combines"), (value.start, value.end, "false")]
            elif key.text == "base":
                edits.append((*_span(document.text, node, place), ""))
    return _mark(content) + _edited(document, edits, wanted, "its `base` cannot become `combines`")


def _holders(document: Document, key: str) -> list[int]:
    """The places of capabilities that have ``key``, whatever its value."""
    items = as_list(as_mapping(document.data).get("capabilities"))
    return [place for place, item in enumerate(items) if key in as_mapping(item)]


@dataclass(slots=True)
class _Node:
    """A value of the file between two places of the text; ``children`` of a mapping are keys and values alternately."""

    start: int
    end: int
    text: str | None = None
    is_flow: bool = False
    children: list[_Node] = field(default_factory=list)


_Edit: TypeAlias = tuple[int, int, str]
"""What is written in place of the text between two places."""


def _without(document: Document) -> str:
    """The text of the taxonomy ``document`` without the exemplars of its capabilities."""
    wanted = json.loads(json.dumps(document.data))
    for place in _holders(document, "exemplars"):
        del wanted["capabilities"][place]["exemplars"]
    edits = [
        (*_span(document.text, item, place), "")
        for item in _capabilities(document.text)
        for place, (key, _) in enumerate(_members(item))
        if key.text == "exemplars"
    ]
    return _edited(document, edits, wanted, "its exemplars cannot be taken out")


def _edited(document: Document, edits: Iterable[_Edit], wanted: object, failing: str) -> str:
    """The text of ``document`` after ``edits``, which must mean what is ``wanted``; ``failing`` says what is not."""
    text = document.text
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    try:
        written = parse_yaml(text.encode("utf-8"), document.file, REVIEWED_FILES).data == wanted
    except InputError:
        written = False
    if not written:
        message = f"{failing} without changing what else it says: it has aliases or merge keys"
        fix = "write out aliases and merge keys, and run this again"
        raise InputError([Problem(document.file, None, message, fix)])
    return text


def _mark(content: bytes) -> str:
    return "\ufeff" if content.startswith(BOM_UTF8) else ""


def _capabilities(text: str) -> list[_Node]:
    """The capabilities in the ``text`` of a taxonomy."""
    found = next((value for key, value in _members(_tree(text)) if key.text == "capabilities"), None)
    return [] if found is None else found.children


def _span(text: str, item: _Node, place: int) -> tuple[int, int]:
    """The places in ``text`` between which the member of ``item`` at ``place`` can be taken out, with its key."""
    members = list(_members(item))
    key, value = members[place]
    line = text.rfind("\n", 0, key.start) + 1
    if not item.is_flow and not text[line : key.start].strip():
        end = text.find("\n", value.end)
        return line, len(text) if end < 0 else end + 1
    if place + 1 < len(members):
        return key.start, members[place + 1][0].start
    return members[place - 1][1].end, value.end


def _members(node: _Node) -> Iterator[tuple[_Node, _Node]]:
    return zip(node.children[::2], node.children[1::2], strict=False)


def _tree(text: str) -> _Node:
    """The values of ``text`` with their places. An alias is a value without children."""
    root = _Node(0, 0)
    path = [root]
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.CollectionEndEvent):
            node = path.pop()
            node.end = _index(event.end_mark) if node.is_flow or not node.children else node.children[-1].end
        elif isinstance(event, yaml.NodeEvent):
            node = _Node(_index(event.start_mark), _index(event.end_mark))
            path[-1].children.append(node)
            if isinstance(event, yaml.ScalarEvent):
                node.text = event.value
                # A block scalar ends with its last line.
                node.end = node.start + len(text[node.start : node.end].rstrip())
            elif isinstance(event, yaml.CollectionStartEvent):
                node.is_flow = bool(event.flow_style)
                path.append(node)
    return root.children[0] if root.children else root


def _index(mark: Any) -> int:
    """The place in the text; libyaml gives it for every event."""
    return int(mark.index)


def migrate_overrides(overrides: dict[str, Any], migration: Migration) -> None:
    """Edit ``overrides`` (capability id: its knobs) so that it has the new ids.

    Each part of a split capability gets its knobs; knobs that a new id already has stay unchanged.
    """
    rename_keys(overrides, migration.renames)
    for whole, parts in migration.splits.items():
        if whole in overrides:
            for part in parts:
                if part not in overrides:
                    insert_key(overrides, whole, part, copy.deepcopy(overrides[whole]))
            del overrides[whole]


def is_up_to_date(config: Mapping[str, Any]) -> bool:
    """Whether the data ``config`` is of the newest format, with all its keys and none that went."""
    newest = newest_format(Curation)["format"]
    return not gone_keys(config) and not lacking_keys(config) and config.get("format", 1) >= newest


def bring_up_to_date(config: dict[str, Any], shipped: Mapping[str, Any]) -> None:
    """Edit the data ``config`` to the newest format.

    Keys that it lacks get the value and the comment of the ``shipped`` config.  So do those whose meaning changed, if
    they have the value that shipped before.
    """
    copied = [*outdated_values(config), *lacking_keys(config)]
    for section, keys in gone_keys(config).items():
        for key in keys:
            remove_key(config[section], key)
    for key in copied:
        section, _, name = key.partition(".")
        copy_key(config.setdefault(section, {}), name, shipped[section])
    if "format" not in config:
        insert_key(config, next(iter(config)), "format", None)
    copy_key(config, "format", shipped)
