"""JSON Lines, one result a line, for any runner that has no format of its own.

``{"entry": ID, "outcome": "passed", "seconds": 1.5, "tokens": 120, "cost": 0.002}``; in place of ``entry`` it may have
``query`` (the text) or ``turns`` (a list of texts).  All but the outcome and one of these may be left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from bot.files.documents import Document, as_list, as_mapping, parse_json_lines
from bot.results.model import Outcome
from bot.results.reader import Found, ResultFile, ResultReader, as_id, case, texts

_KEYS: Final = frozenset({"entry", "query", "turns", "outcome", "seconds", "tokens", "cost"})


def _fits(source: ResultFile) -> bool:
    first = source.content.lstrip(b"\xef\xbb\xbf \t\r\n").split(b"\n", 1)[0]
    return first.startswith(b"{") and b'"outcome"' in first


def _read(source: ResultFile) -> Iterable[Found]:
    lines = parse_json_lines(source.text, source.file, source.limits)
    yield from lines.problems
    for document in lines.documents:
        yield from _result(document)


def _result(document: Document) -> Iterable[Found]:
    row = as_mapping(document.data)
    known = {outcome.value: outcome for outcome in Outcome}
    said = row.get("outcome")
    if not isinstance(said, str) or said not in known:
        yield document.problem(("outcome",), "its `outcome` is none", f"write one of {', '.join(known)}")
        return
    turns = [row["query"]] if "query" in row else as_list(row.get("turns"))
    if as_id(row.get("entry")) is None and not texts(turns):
        yield document.problem((), "it does not say which entry it is of", "write `entry`, `query` or `turns`")
        return
    for key in sorted(row.keys() - _KEYS):
        fix = f"write one of {', '.join(sorted(_KEYS))}; answers and texts of graders do not belong here"
        yield document.problem((key,), f"the key {key!r} is unknown", fix)
    yield from case(
        document,
        (),
        known[said],
        entry=row.get("entry"),
        turns=turns,
        seconds=row.get("seconds"),
        tokens=row.get("tokens"),
        cost=row.get("cost"),
    )


READER: Final = ResultReader("json-lines", "JSON Lines with `entry` or `query`, and `outcome`", _fits, _read)
