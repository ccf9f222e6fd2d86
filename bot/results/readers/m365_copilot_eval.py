"""A Microsoft 365 Copilot eval document with scores (``runevals --output results.json``).

An item passes if every score of it says `pass`; without scores its `status` counts.  One with an `error`, of the
item or of a score, tells nothing of the agent.  A conversation has its scores at its turns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from bot.files.documents import Data, as_list, as_mapping
from bot.results.model import Outcome
from bot.results.reader import Found, ResultFile, ResultReader, carried, case


def _fits(source: ResultFile) -> bool:
    items = as_list(source.data.get("items")) if source.begins.startswith("{") else []
    return any(
        {"scores", "status", "error"} & as_mapping(part).keys()
        for item in items[:50]
        for part in (item, *_turns(as_mapping(item)))
    )


def _read(source: ResultFile) -> Iterable[Found]:
    for place, value in enumerate(as_list(source.data.get("items"))):
        item = as_mapping(value)
        turns = [as_mapping(turn) for turn in _turns(item)]
        yield from case(
            source.document,
            ("items", place),
            _outcome([item, *turns]),
            entry=carried(item) or (carried(turns[0]) if turns else None),
            turns=[part.get("prompt") for part in (turns or [item])],
        )


def _turns(item: Mapping[str, Data]) -> list[Data]:
    return as_list(item.get("turns"))


def _outcome(parts: list[Mapping[str, Data]]) -> Outcome:
    if any(part.get("error") for part in parts):
        return Outcome.ERROR
    said = [result for part in parts for result in _results(part)]
    if not said or any(result not in ("pass", "fail") for result in said):
        return Outcome.ERROR
    return Outcome.FAILED if "fail" in said else Outcome.PASSED


def _results(part: Mapping[str, Data]) -> list[Data]:
    scores = as_mapping(part.get("scores"))
    status = part.get("status")
    return [as_mapping(score).get("result") for score in scores.values()] or [status] * (status is not None)


READER: Final = ResultReader("m365-copilot-eval", "a Microsoft 365 Copilot eval document with scores", _fits, _read)
