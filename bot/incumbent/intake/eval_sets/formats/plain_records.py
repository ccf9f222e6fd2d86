"""Plain JSON Lines, and lists in JSON or YAML (see :mod:`~incumbent.intake.eval_sets.plain`).

The list may be the whole file, or be in it under a usual name (``cases``, ``tests``, ``questions``, ...).  Other data
of the file is kept with each query under ``eval_set``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from incumbent.files.documents import Data, Node
from incumbent.intake.eval_sets.columns import LIST_NAMES, TELLING_LIST_NAMES, expects, query_keys
from incumbent.intake.eval_sets.plain import MARK, has_query_column, read_plain
from incumbent.intake.eval_sets.reader import EvalSetReader, EvalSetRows, SourceFile, rest_of
from incumbent.intake.eval_sets.records import Records, listed
from incumbent.intake.eval_sets.table import plain_key

_OF_OUR_OWN: Final = frozenset({"id", "query", "turns", "expected", "setup"})
"""Keys of queries in the product's own format: a YAML list with only these is a faulty file of that format."""


def _recognises(source: SourceFile) -> bool:
    if source.document is None:
        return has_query_column(source)
    if isinstance(source.document.data, dict):
        return bool(_lists(source))
    keys = source.records.keys
    is_slip = not source.document.is_json and keys <= _OF_OUR_OWN and not {"query", "turns"} <= keys
    return has_query_column(source) and not is_slip


def _lists(source: SourceFile) -> list[Node]:
    """The lists of queries in a file that is a mapping; a list with a common name needs expectations too."""
    if source.document is None:
        return []
    root = source.root
    return [place for key, place in root.entries if plain_key(key) in LIST_NAMES and _is_eval_set(key, place)]


def _is_eval_set(key: str, place: Node) -> bool:
    keys = listed(place).keys
    return bool(query_keys(keys)) and (plain_key(key) in TELLING_LIST_NAMES or expects(keys))


def records_in(source: SourceFile) -> Records:
    """The records of a plain file: those of its list, or of the lists in it with usual names."""
    places = _named(source)
    if not places:
        return source.records
    found = [listed(place) for place in places]
    return Records(
        tuple(place for each in found for place in each.places),
        tuple(problem for each in found for problem in each.problems),
    )


def _named(source: SourceFile) -> list[Node]:
    """The lists in a mapping: those of queries, else all with usual names."""
    if not source.root.is_mapping:
        return []
    root = source.root
    return _lists(source) or [place for key, place in root.entries if plain_key(key) in LIST_NAMES and place.is_list]


def _read(source: SourceFile) -> EvalSetRows:
    if not source.root.is_mapping:
        return read_plain(source)
    root = source.root
    shared: Mapping[str, Data] = rest_of(root, *(str(place.path[-1]) for place in _named(source)))
    return read_plain(source, records_in(source), shared)


READER: Final = EvalSetReader(
    name="plain-records",
    title="a list of records in JSON Lines, JSON or YAML (perhaps under `cases`, `tests`, ...), with the query in a "
    "column such as `query`, `prompt` or `question`",
    endings=(".jsonl", ".ndjson", ".json", ".yaml", ".yml"),
    mark=MARK,
    recognises=_recognises,
    read=_read,
    plain=True,
    names_columns=True,
)
