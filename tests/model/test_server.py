"""What real servers do with the requests that the backend is built on; nothing about the quality of answers.

A server that changes its ways fails here, before the backend's tests do.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest
from jsonschema import Draft202012Validator

from tests.model.conftest import SLOTS
from tests.model.serving import Server

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"vote": {"type": "boolean"}, "probability": {"type": "integer", "minimum": 0, "maximum": 100}},
    "required": ["vote", "probability"],
    "additionalProperties": False,
}
BOUND = {"type": "json_object", "schema": SCHEMA}
STRICT = {"type": "json_schema", "json_schema": {"name": "vote", "strict": True, "schema": SCHEMA}}
PREFIX = "You judge queries by these rules. " + " ".join(f"Rule {number}: be exact." for number in range(12))


@pytest.fixture
def client(server: Server) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(api_key="none", base_url=server.endpoint, timeout=60, max_retries=0) as made:
        yield made


def ask(client: openai.OpenAI, query: str = "Where is my parcel?", **more: Any) -> Any:
    defaults: dict[str, Any] = {"model": "any", "temperature": 0.8, "max_tokens": 60}
    messages = [{"role": "system", "content": PREFIX}, {"role": "user", "content": query}]
    create: Any = client.chat.completions.create
    return create(messages=messages, **defaults | more)


def text(completion: Any) -> str:
    return str(completion.choices[0].message.content)


def whole(client: openai.OpenAI, **more: Any) -> Any:
    """An answer that the model ended by itself.

    A small model may write white space, which the grammar allows, until it is cut off.
    """
    drawn = (ask(client, seed=seed, **more) for seed in range(20))
    return next(item for item in drawn if item.choices[0].finish_reason == "stop")


def test_an_answer_is_bound_to_the_schema(client: openai.OpenAI) -> None:
    answer = json.loads(text(whole(client, response_format=BOUND)))
    assert list(Draft202012Validator(SCHEMA).iter_errors(answer)) == []


def test_one_server_knows_json_schema_and_the_other_says_500(client: openai.OpenAI, server: Server) -> None:
    if server.kind == "llama.cpp":
        answer = json.loads(text(whole(client, response_format=STRICT)))
        assert set(answer) == {"vote", "probability"}
        return
    with pytest.raises(openai.InternalServerError, match="json_schema"):
        ask(client, response_format=STRICT)


def test_the_same_seed_gives_the_same_answer_and_another_seed_another(client: openai.OpenAI) -> None:
    first, same, other = (text(ask(client, "Tell a story.", seed=seed, max_tokens=16)) for seed in (1, 1, 2))
    assert first == same
    assert first != other


def test_a_second_query_reuses_the_prefix(client: openai.OpenAI, server: Server) -> None:
    for query in ("Cancel my order.", "Where is my parcel?"):
        usage = ask(client, query, max_tokens=1).usage
    if server.kind == "llama.cpp":
        assert usage.prompt_tokens > usage.prompt_tokens_details.cached_tokens > 0.8 * usage.prompt_tokens
    else:
        assert usage.prompt_tokens_details is None


def test_one_server_gives_as_many_answers_as_it_has_slots_and_the_other_one(
    client: openai.OpenAI, server: Server
) -> None:
    completion = ask(client, n=SLOTS, max_tokens=4)
    assert len(completion.choices) == (SLOTS if server.kind == "llama.cpp" else 1)
    if server.kind == "llama.cpp":
        with pytest.raises(openai.BadRequestError, match="'n'"):
            ask(client, n=SLOTS + 1, max_tokens=4)


def test_log_probabilities_are_of_the_tokens_of_the_answer(client: openai.OpenAI) -> None:
    choice = ask(client, response_format=BOUND, logprobs=True, top_logprobs=3).choices[0]
    tokens = choice.logprobs.content
    # llama.cpp takes a code fence off the text and leaves its tokens.
    assert choice.message.content.strip() in "".join(token.token for token in tokens)
    assert all(token.logprob <= 0 and len(token.top_logprobs) >= 3 for token in tokens)


def test_a_prompt_beyond_the_context_is_refused(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="context"):
        ask(client, "word " * 4000)


def test_a_server_ends_with_the_program_that_started_it(tmp_path: Path) -> None:
    with Server("llama.cpp", tmp_path / "log") as server:
        process = server.process
        assert process is not None
        assert process.stdin is not None
        assert process.poll() is None
        process.stdin.close()  # as the system does for a program that was killed
        assert process.wait(10) == 0
