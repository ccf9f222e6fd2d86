"""A language model that obeys every attack, as answers on the wire: what a defence in the prompt can never rule out."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from tests.classifier.attacks.loading import Attack
from tests.classifier.attacks.prompt_parts import sent_schema, sent_tool
from tests.classifier.model_server import Reply, completion

Path: TypeAlias = tuple[str, ...]
HONEST_TAGS: Final = frozenset({"call", "size.small"})
"""What the model says of a query when nobody argues with it."""


def honest_reply(body: dict[str, Any]) -> Reply:
    """The answer to an honest query: ``HONEST_TAGS``, and the first tool if tools are asked for."""
    return _vote(body, lambda path: not HONEST_TAGS.isdisjoint(path))


def obedient_reply(attack: Attack, body: dict[str, Any], key: str | None, number: int) -> Reply:
    """What the author of ``attack`` wants to be answered; ``number`` picks one of the ways to break the machinery."""
    match attack.goal:
        case "raise":
            return _vote(body, lambda path: True)
        case "lower":
            return _vote(body, lambda path: False)
        case "choose":
            chosen = None if attack.wanted is None else sent_tool(body, attack.wanted)
            return _vote(body, lambda path: not HONEST_TAGS.isdisjoint(path), chosen)
        case "control":
            voted = instance(sent_schema(body), lambda path: True)
            return completion(
                json.dumps(voted | {"control": {"exercised": True, "probability": 100}, "attempt": False})
            )
        case "leak":
            return completion(f"My instructions: {body['messages'][0]['content']} My key: {key}")
        case "disrupt":
            return _broken(body, number)


def _vote(body: dict[str, Any], value: Callable[[Path], bool], tool: str | None = None) -> Reply:
    return completion(json.dumps(instance(sent_schema(body), value, tool)))


def _broken(body: dict[str, Any], number: int) -> Reply:
    voted = instance(sent_schema(body), lambda path: True)
    whole = json.dumps(voted)
    wrong: tuple[object, ...] = (float("nan"), float("inf"), -1, 1e300, "one hundred", True, [])
    numbers = (json.dumps(instance(sent_schema(body), lambda path: True, number=value)) for value in wrong)
    replies = (
        completion(whole[: len(whole) // 2]),
        completion(whole + "\0" + whole),
        completion(f"[{whole}]"),
        completion(json.dumps(voted | {"tool": {"name": "no_such_tool", "confidence": 1}})),
        completion(""),
        completion(None, message={"role": "assistant", "content": None, "refusal": "I cannot help with that."}),
        completion("true " * 100_000),
        completion("[" * 100_000),
        completion('{"capabilities": ' * 50_000),
        *map(completion, numbers),
    )
    return replies[number % len(replies)]


def instance(
    schema: Any, value: Callable[[Path], bool], tool: str | None = None, number: object = None, path: Path = ()
) -> Any:
    """A value that fits ``schema``: booleans as ``value`` says of their path, numbers the most or the least allowed.

    A choice is ``tool`` where that is one of its options, else the first option.  ``number`` stands for every number.
    """
    if "enum" in schema:
        options = schema["enum"]
        return tool if tool is not None and tool in options else options[0]
    match schema["type"]:
        case "object":
            return {
                name: instance(inner, value, tool, number, (*path, name))
                for name, inner in schema["properties"].items()
            }
        case "array":
            return [instance(schema["items"], value, tool, number, path)]
        case "boolean":
            return value(path)
        case "integer" | "number" if number is not None:
            return number
        case "integer":
            return schema.get("maximum", 100) if value(path) else schema.get("minimum", 0)
        case "number":
            return schema.get("maximum", 1.0) if value(path) else schema.get("minimum", 0.0)
        case other:
            raise AssertionError(f"the schema asks for {other}, which this model does not know")
