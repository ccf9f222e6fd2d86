"""The expected answer in all forms: one text, several, a mapping, messages, an assertion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from bot.files.documents import Data, as_list, as_mapping
from bot.intake.eval_sets.table import plain_key
from bot.intake.expectations.assertions import asserted_answer
from bot.intake.expectations.keys import ANSWERS, TOOLS_OF_ANSWERS
from bot.intake.expectations.replies import replied, reply_text
from bot.intake.expectations.tool_calls import names_tools, states_calls

_DEPTH: Final = 8
"""Maximum depth of an answer in the expectation."""


def answers_of_messages(messages: Data, turns: int) -> list[str | None]:
    """The ``ground_truth`` of the answer to each turn, in conversations of Azure AI Evaluation."""
    answers: list[str | None] = []
    for message in map(as_mapping, as_list(messages)):
        if message.get("role") == "user":
            answers.append(None)
        elif message.get("role") == "assistant" and answers and answers[-1] is None:
            answers[-1] = text_of(message.get("ground_truth"))
    return answers if len(answers) == turns else [None] * turns


def answer_of(held: Mapping[str, Data], depth: int = _DEPTH) -> str | None:
    """The answer under the most specific key of a mapping, or else in an assertion."""
    # promptfoo's columns `__expected` are assertions.
    by_key = {plain_key(key): value for key, value in reversed(list(held.items())) if not key.startswith("__")}
    for key in (key for key in ANSWERS if key in by_key):
        value = by_key[key]
        text = None if key == "groundtruth" and names_tools(value, held) else text_of(value, depth)
        if text:
            return text
    return asserted_answer(held) or (text_of(held["response"], depth) if _states_response(held) else None)


def _states_response(held: Mapping[str, Data]) -> bool:
    """Whether a ``response`` is an expectation: it is alone, or together with expected calls only.

    With other results it is a recorded answer.
    """
    others = {key for key in held if plain_key(key) not in TOOLS_OF_ANSWERS}
    return others == {"response"} and states_calls(held)


def text_of(value: Data, depth: int = _DEPTH) -> str | None:
    """The text of an expected answer; the first of several acceptable ones."""
    if depth == 0:
        return None
    said = replied(value)
    if said:
        return reply_text(said)
    match value:
        case str():
            return value if value.strip() else None
        case bool():
            return None
        case int() | float():
            return str(value)
        case [*items]:
            return _first(items, depth)
        case {"content": str(content)}:
            return content if content.strip() else None
        case dict():
            texts = [item for item in value.values() if isinstance(item, str) and item.strip()]
            return answer_of(value, depth - 1) or (texts[0] if len(texts) == 1 else None)
        case _:
            return None


def _first(items: Sequence[Data], depth: int) -> str | None:
    return text_of(items[0], depth - 1) if items else None
