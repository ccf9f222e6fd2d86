"""What ``evaluate`` of the Azure AI evaluation SDK writes: ``rows`` with ``inputs.…`` and ``outputs.….…_result``.

A row passes if every evaluator's result is `pass`.  An evaluator that ended in an error has no result, and the row
tells nothing of the agent.  One that does not apply is left out; a row to which none applies was skipped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from bot.files.documents import Data, as_list, as_mapping
from bot.intake.expectations.export_round_trip import CARRIED
from bot.results.model import Outcome
from bot.results.reader import Found, ResultFile, ResultReader, as_id, carried, case

_INPUTS: Final = "inputs."
_OUTPUTS: Final = "outputs."
_RESULT: Final = "_result"
_NOT_APPLICABLE: Final = "not applicable"


def _fits(source: ResultFile) -> bool:
    rows = as_list(source.data.get("rows")) if source.begins.startswith("{") else []
    return "metrics" in source.data and any(
        key.startswith((_INPUTS, _OUTPUTS)) for row in rows[:50] for key in as_mapping(row)
    )


def _read(source: ResultFile) -> Iterable[Found]:
    for number, value in enumerate(as_list(source.data.get("rows"))):
        row = as_mapping(value)
        yield from case(
            source.document,
            ("rows", number),
            _outcome(row),
            entry=carried({CARRIED: row.get(f"{_INPUTS}{CARRIED}")}) or as_id(row.get(f"{_INPUTS}id")),
            turns=[row.get(f"{_INPUTS}query")],
        )


def _outcome(row: Mapping[str, Data]) -> Outcome:
    results = [value for key, value in row.items() if key.startswith(_OUTPUTS) and key.endswith(_RESULT)]
    said = [str(result).strip().casefold() for result in results]
    judged = [result for result in said if result != _NOT_APPLICABLE]
    if said and not judged:
        return Outcome.SKIPPED
    if not judged or any(result not in ("pass", "fail", "true", "false") for result in judged):
        return Outcome.ERROR
    return Outcome.FAILED if {"fail", "false"} & set(judged) else Outcome.PASSED


READER: Final = ResultReader("azure-ai-evaluation", "the output of Azure AI evaluation's `evaluate`", _fits, _read)
