"""What a customer expects of an answer, understood: whatever format it came in, its answers and tool calls.

Expectations are carried unchanged; this is how reports and exports read them.  A format whose keys are not known here
loses nothing but that.  What an agent once did (``tool_calls``, ``tools_called``, ``actions``) and what it could call
(``tool_definitions``) is no expectation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bot.documents import Data, as_list, as_mapping
from bot.intake.eval_sets.references import path_of
from bot.intake.expected.answers import answer_of, answers_of_messages, text_of
from bot.intake.expected.carried import carried
from bot.intake.expected.replies import replies
from bot.intake.expected.tool_calls import AGENT, ToolCall, each_once, noted_calls, tool_calls_of

__all__ = ["Expectation", "ToolCall", "understand"]


@dataclass(frozen=True, slots=True)
class Expectation:
    """Per turn the expected answer (``None``: none is given), and the expected tool calls of the whole query."""

    answers: tuple[str | None, ...]
    tool_calls: tuple[ToolCall, ...]

    @property
    def answer(self) -> str | None:
        """The answer to the last turn."""
        return self.answers[-1] if self.answers else None


def understand(expected: Data, turns: int = 1) -> Expectation:
    """What ``expected`` says about a query of so many ``turns``.

    An answer that is given for the query as a whole is that to its last turn.  What an export of a regression set left
    beside the format counts where the format says nothing.
    """
    found = _stated(expected, turns)
    beyond = carried(expected).get("expected")
    if beyond is None:
        return found
    more = understand(beyond, turns)
    answers = tuple(
        stated if stated is not None else other for stated, other in zip(found.answers, more.answers, strict=True)
    )
    # Few formats have a place for calls that are not to be made.
    unwanted = tuple(call for call in more.tool_calls if call.unwanted)
    stated_calls = tuple(each_once([*found.tool_calls, *unwanted]))
    return Expectation(answers, stated_calls if found.tool_calls else more.tool_calls)


def _stated(expected: Data, turns: int) -> Expectation:
    """What ``expected`` itself says."""
    held = as_mapping(expected)
    answers, calls = _per_turn(held, turns)
    if isinstance(expected, dict):
        # The Evals API of OpenAI keeps what belongs to an item below it.
        places = (_mapped(held), held, as_mapping(held.get("item")))
        whole = next((answer for place in places if (answer := answer_of(place))), None)
        calls = [*(call for place in places for call in tool_calls_of(place)), *calls]
        calls += noted_calls(held.get("metadata"))
    else:
        whole = text_of(expected)
    if whole is not None and turns > 0 and answers[-1] is None:
        answers[-1] = whole
    return Expectation(tuple(answers), tuple(each_once(calls)))


def _per_turn(held: Mapping[str, Data], turns: int) -> tuple[list[str | None], list[ToolCall]]:
    """The answers and tool calls that ``held`` gives turn by turn; no answer for any if it does not."""
    listed = as_list(held.get("turns"))
    if len(listed) == turns and not any("role" in as_mapping(item) for item in listed):
        answers = [
            answer_of(as_mapping(item)) or (None if isinstance(item, dict) else text_of(item)) for item in listed
        ]
        return answers, [call for item in listed for call in tool_calls_of(as_mapping(item))]
    found = answers_of_messages(as_mapping(held.get("conversation")).get("messages"), turns)
    return (found if any(found) else replies(held.get("messages"), turns)), []


def _mapped(held: Mapping[str, Data]) -> Mapping[str, Data]:
    """What stands in the column that a ``data_mapping`` names for the ground truth, and what tells its kind."""
    path = path_of(as_mapping(held.get("data_mapping")).get("ground_truth"), held)
    if not path:
        return {}
    value: Data = dict(held)
    for step in path:
        value = as_mapping(value).get(step)
    return {"ground_truth": value, **{key: held[key] for key in (*AGENT, "response") if key in held}}
