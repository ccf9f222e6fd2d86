"""Results that runners write as one JSON document: promptfoo, Inspect, DeepEval, Azure AI evaluation, M365 Copilot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from incumbent.errors import InputError, Problem
from incumbent.files.documents import Data, as_list, as_mapping
from incumbent.intake.export_round_trip import CARRIED, from_template
from incumbent.ledger.releases.record import Outcome
from incumbent.runners.results.result_file import Found, Parts, ResultFile, ResultReader, as_id, carried, case

_PROVIDER_ERROR: Final = 2
"""``failureReason``: 0 none, 1 an assertion, 2 an error of the provider."""


def _is_promptfoo(source: ResultFile) -> bool:
    results = as_mapping(source.data.get("results")) if source.begins.startswith("{") else {}
    return isinstance(results.get("results"), list) and ("prompts" in results or "stats" in results)


def _read_promptfoo(source: ResultFile) -> Iterable[Found]:
    """promptfoo's results as JSON (``promptfoo eval -o results.json``): ``results.results``, one for each test and
    repeat.

    Our export writes a conversation as one test for each turn; together they are one case.  It passes if all turns
    pass.  An error of the provider is an error, and so is one of a model that was to grade: promptfoo itself counts the
    latter as failed.
    """
    document = source.document
    rows = as_list(as_mapping(source.data.get("results")).get("results"))
    # Conversation and repeat → the places of its turns.  Everything else is a case of its own.
    groups: dict[object, list[int]] = {}
    seen: Counter[tuple[str, ...]] = Counter()
    for place, value in enumerate(rows):
        row = as_mapping(value)
        turn = _turn_of(row)
        # A result does not say which repeat it is of: the second result of a turn is of the second repeat.
        case_of = place if turn is None else (turn[:-1], seen[turn])
        seen.update([turn] if turn is not None else [])
        groups.setdefault(case_of, []).append(place)
    for places in groups.values():
        turns = [as_mapping(rows[place]) for place in places]
        tests = [as_mapping(turn.get("testCase")) for turn in turns]
        outcomes = [_promptfoo_outcome(turn) for turn in turns]
        yield from case(
            document,
            ("results", "results", places[0]),
            next((each for each in (Outcome.ERROR, Outcome.FAILED) if each in outcomes), Outcome.PASSED),
            entry=carried(tests[0]),
            turns=[_promptfoo_text(turn) for turn in turns],
            seconds=Parts(_seconds(turn.get("latencyMs")) for turn in turns),
            tokens=Parts(_stated(as_mapping(turn.get("tokenUsage")).get("total")) for turn in turns),
            cost=Parts(_stated(turn.get("cost")) for turn in turns),
        )


def _turn_of(row: Mapping[str, Data]) -> tuple[str, ...] | None:
    """The conversation of a turn, by prompt and provider, and last the turn in it; ``None`` if it is in none."""
    test = as_mapping(row.get("testCase"))
    conversation = as_mapping(test.get("metadata")).get("conversationId")
    if not isinstance(conversation, str):
        return None
    provider = as_mapping(row.get("provider")).get("id")
    return conversation, str(provider), str(row.get("promptIdx")), f"{test.get('description')} {_promptfoo_text(row)}"


def _promptfoo_outcome(row: Mapping[str, Data]) -> Outcome:
    if row.get("success") is True:
        return Outcome.PASSED
    graded = as_list(as_mapping(row.get("gradingResult")).get("componentResults"))
    if (
        row.get("failureReason") == _PROVIDER_ERROR
        or row.get("success") is not False
        or any(map(_is_grader_error, graded))
    ):
        return Outcome.ERROR
    return Outcome.FAILED


def _is_grader_error(component: Data) -> bool:
    return as_mapping(as_mapping(component).get("metadata")).get("graderError") is True


def _promptfoo_text(row: Mapping[str, Data]) -> Data:
    query = as_mapping(row.get("vars")).get("query")
    return from_template(query) if isinstance(query, str) else None


def _stated(value: Data) -> Data:
    """``value`` unless it is 0, which promptfoo writes where a provider states nothing."""
    return None if value == 0 and value is not False else value


def _seconds(milliseconds: Data) -> Data:
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float):
        return milliseconds
    # A number that is too large to be divided is too large for seconds, too.
    return milliseconds / 1000 if abs(milliseconds) < 1e300 else milliseconds


PROMPTFOO: Final = ResultReader(
    "promptfoo", "promptfoo's results as JSON (`promptfoo eval -o results.json`)", _is_promptfoo, _read_promptfoo
)


_PACKED: Final = b"PK\x03\x04"
_NOT_JUDGED: Final = ("grader_failed", "scoring_failed")
"""Reasons of a score that are not the agent's; a sample that is left unscored has no number as its value."""


def _is_inspect(source: ResultFile) -> bool:
    if source.content.startswith(_PACKED):
        return source.file.lower().endswith(".eval")
    return source.begins.startswith("{") and "eval" in source.data and isinstance(source.data.get("samples"), list)


def _read_inspect(source: ResultFile) -> Iterable[Found]:
    """An Inspect log as JSON (``inspect log dump LOG``): ``samples``, one for each sample and epoch.

    A sample passes if every score of it is correct (`C`, true or 1) and fails if one is not; partly correct is not
    correct.  One that ended in an error, or that a scorer did not judge, tells nothing of the agent.
    """
    if source.content.startswith(_PACKED):
        message = "it is a packed log, which is not unpacked here"
        raise InputError([Problem(source.file, None, message, "write `inspect log dump LOG > log.json`, and add that")])
    for place, sample in enumerate(as_list(source.data.get("samples"))):
        row = as_mapping(sample)
        usage = [as_mapping(each) for each in as_mapping(row.get("model_usage")).values()]
        yield from case(
            source.document,
            ("samples", place),
            _inspect_outcome(row),
            entry=carried(row) or as_id(row.get("id")),
            turns=_inspect_turns(row.get("input")),
            seconds=row.get("total_time"),
            tokens=Parts(each.get("total_tokens") for each in usage),
            cost=Parts(each.get("total_cost") for each in usage),
        )


def _inspect_outcome(row: Mapping[str, Data]) -> Outcome:
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


def _inspect_turns(asked: Data) -> list[Data]:
    """What the user said; of messages with more than texts nothing is known."""
    if isinstance(asked, str):
        return [asked]
    return [message.get("content") for message in map(as_mapping, as_list(asked)) if message.get("role") == "user"]


INSPECT: Final = ResultReader("inspect", "an Inspect log as JSON (`inspect log dump LOG`)", _is_inspect, _read_inspect)


_RUN: Final = "testRunData"
_PLACES: Final = ("testCases", "conversationalTestCases")


def _is_deepeval(source: ResultFile) -> bool:
    run = _deepeval_run(source) if source.begins.startswith("{") else {}
    rows = [as_mapping(row) for place in _PLACES for row in as_list(run.get(place))]
    return any("metricsData" in row for row in rows[:50])


def _deepeval_run(source: ResultFile) -> Mapping[str, Data]:
    return as_mapping(source.data[_RUN]) if _RUN in source.data else source.data


def _read_deepeval(source: ResultFile) -> Iterable[Found]:
    """A test run of DeepEval as JSON: what it keeps as the latest run, or writes to a folder of results.

    A case passes if DeepEval says so.  One of which a metric ended in an error tells nothing of the agent; flaky
    metrics decide nothing.  What a case took is the agent's part (``completionTime``, ``tokenCost``) and that of the
    metrics (``runDuration``, ``evaluationCost``) together, as far as they are stated.
    """
    above: tuple[str, ...] = (_RUN,) if _RUN in source.data else ()
    for place in _PLACES:
        for number, value in enumerate(as_list(_deepeval_run(source).get(place))):
            row = as_mapping(value)
            # Its name changed with version 4.
            held = as_mapping(row.get("metadata")) or as_mapping(row.get("additionalMetadata"))
            yield from case(
                source.document,
                (*above, place, number),
                _deepeval_outcome(row),
                entry=carried({CARRIED: held.get(CARRIED)}) or as_id(row.get("name")),
                turns=_deepeval_turns(row),
                seconds=_both(row, "completionTime", "runDuration"),
                tokens=_both(row, "inputTokenCount", "outputTokenCount"),
                cost=_both(row, "tokenCost", "evaluationCost"),
            )


def _both(row: Mapping[str, Data], *names: str) -> Parts:
    return Parts(row.get(name) for name in names)


def _deepeval_outcome(row: Mapping[str, Data]) -> Outcome:
    metrics = [as_mapping(metric) for metric in as_list(row.get("metricsData"))]
    deciding = [metric for metric in metrics if metric.get("flaky") is not True]
    success = row.get("success")
    if not deciding or any(metric.get("error") for metric in deciding) or not isinstance(success, bool):
        return Outcome.ERROR
    return Outcome.PASSED if success else Outcome.FAILED


def _deepeval_turns(row: Mapping[str, Data]) -> list[Data]:
    said = [as_mapping(turn) for turn in as_list(row.get("turns"))]
    return [turn.get("content") for turn in said if turn.get("role") == "user"] if said else [row.get("input")]


DEEPEVAL: Final = ResultReader("deepeval", "a test run of DeepEval as JSON", _is_deepeval, _read_deepeval)


_INPUTS: Final = "inputs."
_OUTPUTS: Final = "outputs."
_RESULT: Final = "_result"
_NOT_APPLICABLE: Final = "not applicable"


def _is_azure(source: ResultFile) -> bool:
    rows = as_list(source.data.get("rows")) if source.begins.startswith("{") else []
    return "metrics" in source.data and any(
        key.startswith((_INPUTS, _OUTPUTS)) for row in rows[:50] for key in as_mapping(row)
    )


def _read_azure(source: ResultFile) -> Iterable[Found]:
    """What ``evaluate`` of the Azure AI evaluation SDK writes: ``rows`` with ``inputs.…`` and ``outputs.….…_result``.

    A row passes if every evaluator's result is `pass`.  An evaluator that ended in an error has no result, and the row
    tells nothing of the agent.  One that does not apply is left out; a row to which none applies was skipped.
    """
    for number, value in enumerate(as_list(source.data.get("rows"))):
        row = as_mapping(value)
        yield from case(
            source.document,
            ("rows", number),
            _azure_outcome(row),
            entry=carried({CARRIED: row.get(f"{_INPUTS}{CARRIED}")}) or as_id(row.get(f"{_INPUTS}id")),
            turns=[row.get(f"{_INPUTS}query")],
        )


def _azure_outcome(row: Mapping[str, Data]) -> Outcome:
    results = [value for key, value in row.items() if key.startswith(_OUTPUTS) and key.endswith(_RESULT)]
    said = [str(result).strip().casefold() for result in results]
    judged = [result for result in said if result != _NOT_APPLICABLE]
    if said and not judged:
        return Outcome.SKIPPED
    if not judged or any(result not in ("pass", "fail", "true", "false") for result in judged):
        return Outcome.ERROR
    return Outcome.FAILED if {"fail", "false"} & set(judged) else Outcome.PASSED


AZURE_AI_EVALUATION: Final = ResultReader(
    "azure-ai-evaluation", "the output of Azure AI evaluation's `evaluate`", _is_azure, _read_azure
)


def _is_m365(source: ResultFile) -> bool:
    items = as_list(source.data.get("items")) if source.begins.startswith("{") else []
    return any(
        {"scores", "status", "error"} & as_mapping(part).keys()
        for item in items[:50]
        for part in (item, *_m365_turns(as_mapping(item)))
    )


def _read_m365(source: ResultFile) -> Iterable[Found]:
    """A Microsoft 365 Copilot eval document with scores (``runevals --output results.json``).

    An item passes if every score of it says `pass`; without scores its `status` counts.  One with an `error`, of the
    item or of a score, tells nothing of the agent.  A conversation has its scores at its turns.
    """
    for place, value in enumerate(as_list(source.data.get("items"))):
        item = as_mapping(value)
        turns = [as_mapping(turn) for turn in _m365_turns(item)]
        yield from case(
            source.document,
            ("items", place),
            _m365_outcome([item, *turns]),
            entry=carried(item) or (carried(turns[0]) if turns else None),
            turns=[part.get("prompt") for part in (turns or [item])],
        )


def _m365_turns(item: Mapping[str, Data]) -> list[Data]:
    return as_list(item.get("turns"))


def _m365_outcome(parts: list[Mapping[str, Data]]) -> Outcome:
    if any(part.get("error") for part in parts):
        return Outcome.ERROR
    said = [result for part in parts for result in _m365_results(part)]
    if not said or any(result not in ("pass", "fail") for result in said):
        return Outcome.ERROR
    return Outcome.FAILED if "fail" in said else Outcome.PASSED


def _m365_results(part: Mapping[str, Data]) -> list[Data]:
    scores = as_mapping(part.get("scores"))
    status = part.get("status")
    return [as_mapping(score).get("result") for score in scores.values()] or [status] * (status is not None)


M365_COPILOT_EVAL: Final = ResultReader(
    "m365-copilot-eval", "a Microsoft 365 Copilot eval document with scores", _is_m365, _read_m365
)


READERS: Final = (PROMPTFOO, INSPECT, DEEPEVAL, AZURE_AI_EVALUATION, M365_COPILOT_EVAL)
