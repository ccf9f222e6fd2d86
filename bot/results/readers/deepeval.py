"""A test run of DeepEval as JSON: what it keeps as the latest run, or writes to a folder of results.

A case passes if DeepEval says so.  One of which a metric ended in an error tells nothing of the agent; flaky metrics
decide nothing.  What a case took is the agent's part (``completionTime``, ``tokenCost``) and that of the metrics
(``runDuration``, ``evaluationCost``) together, as far as they are stated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from bot.files.documents import Data, as_list, as_mapping
from bot.intake.expectations.export_round_trip import CARRIED
from bot.results.model import Outcome
from bot.results.reader import Found, Parts, ResultFile, ResultReader, as_id, carried, case

_RUN: Final = "testRunData"
_PLACES: Final = ("testCases", "conversationalTestCases")


def _fits(source: ResultFile) -> bool:
    run = _run(source) if source.begins.startswith("{") else {}
    rows = [as_mapping(row) for place in _PLACES for row in as_list(run.get(place))]
    return any("metricsData" in row for row in rows[:50])


def _run(source: ResultFile) -> Mapping[str, Data]:
    return as_mapping(source.data[_RUN]) if _RUN in source.data else source.data


def _read(source: ResultFile) -> Iterable[Found]:
    above: tuple[str, ...] = (_RUN,) if _RUN in source.data else ()
    for place in _PLACES:
        for number, value in enumerate(as_list(_run(source).get(place))):
            row = as_mapping(value)
            # Its name changed with version 4.
            held = as_mapping(row.get("metadata")) or as_mapping(row.get("additionalMetadata"))
            yield from case(
                source.document,
                (*above, place, number),
                _outcome(row),
                entry=carried({CARRIED: held.get(CARRIED)}) or as_id(row.get("name")),
                turns=_turns(row),
                seconds=_both(row, "completionTime", "runDuration"),
                tokens=_both(row, "inputTokenCount", "outputTokenCount"),
                cost=_both(row, "tokenCost", "evaluationCost"),
            )


def _both(row: Mapping[str, Data], *names: str) -> Parts:
    return Parts(row.get(name) for name in names)


def _outcome(row: Mapping[str, Data]) -> Outcome:
    metrics = [as_mapping(metric) for metric in as_list(row.get("metricsData"))]
    deciding = [metric for metric in metrics if metric.get("flaky") is not True]
    success = row.get("success")
    if not deciding or any(metric.get("error") for metric in deciding) or not isinstance(success, bool):
        return Outcome.ERROR
    return Outcome.PASSED if success else Outcome.FAILED


def _turns(row: Mapping[str, Data]) -> list[Data]:
    said = [as_mapping(turn) for turn in as_list(row.get("turns"))]
    return [turn.get("content") for turn in said if turn.get("role") == "user"] if said else [row.get("input")]


READER: Final = ResultReader("deepeval", "a test run of DeepEval as JSON", _fits, _read)
