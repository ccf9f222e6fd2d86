"""promptfoo's results as JSON (``promptfoo eval -o results.json``): ``results.results``, one for each test and repeat.

Our export writes a conversation as one test for each turn; together they are one case.  It passes if all turns pass.
An error of the provider is an error, and so is one of a model that was to grade: promptfoo itself counts the latter as
failed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from bot.files.documents import Data, as_list, as_mapping
from bot.intake.templates import from_template
from bot.results.model import Outcome
from bot.results.reader import Found, Parts, ResultFile, ResultReader, carried, case

_ERROR: Final = 2
"""``failureReason``: 0 none, 1 an assertion, 2 an error of the provider."""


def _fits(source: ResultFile) -> bool:
    results = as_mapping(source.data.get("results")) if source.begins.startswith("{") else {}
    return isinstance(results.get("results"), list) and ("prompts" in results or "stats" in results)


def _read(source: ResultFile) -> Iterable[Found]:
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
        outcomes = [_outcome(turn) for turn in turns]
        yield from case(
            document,
            ("results", "results", places[0]),
            next((each for each in (Outcome.ERROR, Outcome.FAILED) if each in outcomes), Outcome.PASSED),
            entry=carried(tests[0]),
            turns=[_text(turn) for turn in turns],
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
    return conversation, str(provider), str(row.get("promptIdx")), f"{test.get('description')} {_text(row)}"


def _outcome(row: Mapping[str, Data]) -> Outcome:
    if row.get("success") is True:
        return Outcome.PASSED
    graded = as_list(as_mapping(row.get("gradingResult")).get("componentResults"))
    if row.get("failureReason") == _ERROR or row.get("success") is not False or any(map(_is_error, graded)):
        return Outcome.ERROR
    return Outcome.FAILED


def _is_error(component: Data) -> bool:
    return as_mapping(as_mapping(component).get("metadata")).get("graderError") is True


def _text(row: Mapping[str, Data]) -> Data:
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


READER: Final = ResultReader(
    "promptfoo", "promptfoo's results as JSON (`promptfoo eval -o results.json`)", _fits, _read
)
