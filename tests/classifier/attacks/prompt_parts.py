"""The one place of these tests that knows how a request to a language model is built."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from bot.classifier.model import InferenceRequest
from bot.classifier.openai_prompt import answer_schema, messages
from bot.taxonomy.model import Taxonomy

_OPEN: Final = "<data>\n"
_CLOSE: Final = "\n</data>"

DELIMITERS: Final = ("<data>", "</data>")
"""What no query may write inside the data."""

MOST_PER_CHARACTER: Final = 12
"""How much one character of a query may become in a prompt: two escaped halves of a surrogate pair."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt in two parts: ``fixed`` is all that does not depend on the query, ``data`` the one block that does."""

    fixed: tuple[str, ...]
    data: str

    @property
    def parsed(self) -> Any:
        """The data as a JSON reader sees it."""
        return json.loads(self.data)


def prompt_of(taxonomy: Taxonomy, request: InferenceRequest) -> Prompt:
    """The prompt for one sample; an :class:`AssertionError` if it has not the one shape that prompts have."""
    system, user = messages(taxonomy, request)
    assert (system["role"], user["role"]) == ("system", "user")
    content = user["content"]
    assert content.startswith(_OPEN)
    assert content.endswith(_CLOSE)
    return Prompt(fixed=(system["content"], _OPEN, _CLOSE), data=content[len(_OPEN) : -len(_CLOSE)])


def schema_of(request: InferenceRequest) -> dict[str, Any]:
    """The JSON schema that the answer is bound to."""
    return answer_schema(request)


def sent_data(body: dict[str, Any]) -> str:
    """The part of a request's body that holds the query."""
    text: str = body["messages"][-1]["content"]
    return text


def sent_schema(body: dict[str, Any]) -> Any:
    """The JSON schema in a request's body."""
    return body["response_format"]["json_schema"]["schema"]
