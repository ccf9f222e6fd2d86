"""The one place of these tests that knows how a request to a language model is built."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from incumbent.classifier.language_model.prompt import Example, answer_schema, compose, worked_examples
from incumbent.classifier.language_model.prompt import Prompt as Composed
from incumbent.classifier.model import InferenceRequest
from incumbent.taxonomy.model import Taxonomy

_OPEN: Final = "<data>\n"
_CLOSE: Final = "\n</data>"

_BYTES: Final = 20_000_000
"""So long a prompt that nothing has to be cut."""

_EXAMPLES: dict[tuple[int, tuple[str, ...]], tuple[Example, ...]] = {}
"""They take a while to choose, and are the same for all attacks on one taxonomy."""

DELIMITERS: Final = ("<data>", "</data>")
"""What no query may write inside the data."""

MOST_PER_CHARACTER: Final = 18
"""How many characters one of a query may become in a prompt: the most that NFKC makes of one."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt in two parts: ``fixed`` is all that does not depend on the query, ``data`` the one block that does."""

    fixed: tuple[str, ...]
    data: str

    @property
    def parsed(self) -> Any:
        """The data as a JSON reader sees it."""
        return json.loads(self.data)


def prompt_of(taxonomy: Taxonomy, request: InferenceRequest, size: int = _BYTES) -> Prompt:
    """The prompt for all samples; an :class:`AssertionError` if it has not the one shape that prompts have."""
    *fixed, last = composed(taxonomy, request, size).messages
    assert [message["role"] for message in fixed] == ["system", *["user", "assistant"] * (len(fixed) // 2)]
    assert last["role"] == "user"
    content = last["content"]
    assert content.startswith(_OPEN)
    assert content.endswith(_CLOSE)
    return Prompt(
        fixed=(*(message["content"] for message in fixed), _OPEN, _CLOSE), data=content[len(_OPEN) : -len(_CLOSE)]
    )


def schema_of(taxonomy: Taxonomy, request: InferenceRequest) -> dict[str, Any]:
    """The JSON schema that the answer is bound to."""
    return answer_schema(composed(taxonomy, request, _BYTES).asked)


def composed(taxonomy: Taxonomy, request: InferenceRequest, size: int) -> Composed:
    """The prompt as the backend composes it, with worked examples."""
    key = (id(taxonomy), request.capabilities)
    if key not in _EXAMPLES:
        _EXAMPLES[key] = worked_examples(taxonomy, request.capabilities, 1)
    return compose(taxonomy, request, _EXAMPLES[key], stated=True, size=size)


def sent_data(body: dict[str, Any]) -> str:
    """The part of a request's body that holds the query."""
    text: str = body["messages"][-1]["content"]
    return text


def sent_tool(body: dict[str, Any], name: str) -> str | None:
    """How an answer would call the tool called ``name`` that a request's body shows."""
    content = sent_data(body)
    tools = json.loads(content[len(_OPEN) : -len(_CLOSE)]).get("tools", [])
    return next((tool["id"] for tool in tools if tool["name"] == name), None)


def sent_schema(body: dict[str, Any]) -> Any:
    """The JSON schema in a request's body."""
    return body["response_format"]["json_schema"]["schema"]
