"""An Inspect log as JSON (``inspect log dump LOG``): ``samples``, one for each sample and epoch.

A sample passes if every score of it is correct (`C`, true or 1) and fails if one is not; partly correct is not correct.
One that ended in an error, or that a scorer did not judge, tells nothing of the agent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from bot.errors import InputError, Problem
from bot.files.documents import Data, as_list, as_mapping
from bot.results.model import Outcome
from bot.results.reader import Found, Parts, ResultFile, ResultReader, as_id, carried, case

_PACKED: Final = b"PK\x03\x04"
_NOT_JUDGED: Final = ("grader_failed", "scoring_failed")
"""Reasons of a score that are not the agent's; a sample that is left unscored has no number as its value."""


def _fits(source: ResultFile) -> bool:
    if source.content.startswith(_PACKED):
        return source.file.lower().endswith(".eval")
    return source.begins.startswith("{") and "eval" in source.data and isinstance(source.data.get("samples"), list)


def _read(source: ResultFile) -> Iterable[Found]:
    if source.content.startswith(_PACKED):
        message = "it is a packed log, which is not unpacked here"
        raise InputError([Problem(source.file, None, message, "write `inspect log dump LOG > log.json`, and add that")])
    for place, sample in enumerate(as_list(source.data.get("samples"))):
        row = as_mapping(sample)
        usage = [as_mapping(each) for each in as_mapping(row.get("model_usage")).values()]
        yield from case(
            source.document,
            ("samples", place),
            _outcome(row),
            entry=carried(row) or as_id(row.get("id")),
            turns=_turns(row.get("input")),
            seconds=row.get("total_time"),
            tokens=Parts(each.get("total_tokens") for each in usage),
            cost=Parts(each.get("total_cost") for each in usage),
        )


def _outcome(row: Mapping[str, Data]) -> Outcome:
    if row.get("error"):
        return Outcome.ERROR
    scores = [as_mapping(score) for score in as_mapping(row.get("scores")).values()]
    values = [value for score in scores for value in _values(score.get("value"))]
    if not values or any(score.get("reason") in _NOT_JUDGED for score in scores):
        return Outcome.ERROR
    if any(not isinstance(value, str | int | float) for value in values):
        return Outcome.ERROR
    return Outcome.PASSED if all(map(_is_correct, values)) else Outcome.FAILED


def _values(value: Data) -> list[Data]:
    """The single values of a score, of which a scorer may give several."""
    several = list(value.values()) if isinstance(value, dict) else as_list(value)
    return several or [value]


def _is_correct(value: Data) -> bool:
    if isinstance(value, str):
        return value.strip().upper() == "C"
    return value is True or (isinstance(value, int | float) and not isinstance(value, bool) and value >= 1)


def _turns(asked: Data) -> list[Data]:
    """What the user said; of messages with more than texts nothing is known."""
    if isinstance(asked, str):
        return [asked]
    return [message.get("content") for message in map(as_mapping, as_list(asked)) if message.get("role") == "user"]


READER: Final = ResultReader("inspect", "an Inspect log as JSON (`inspect log dump LOG`)", _fits, _read)
