"""GitHub's own description of its API (npm ``@octokit/openapi``), against which every exchange is checked."""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from tests.e2e.harness.messages import Request, Response
from tests.e2e.harness.needs import MODULES

DESCRIPTION = MODULES / "@octokit" / "openapi" / "generated" / "api.github.com.json"
ROOT = "description:"
SPANNING = frozenset(("path", "ref", "basehead", "branch", "name"))
"""Path parameters that may hold slashes."""

IGNORED = frozenset(("example", "examples", "x-github", "externalDocs", "discriminator"))
LONGEST_MESSAGE = 200
PLACES_OF_NUMBERS = re.compile(rb"[0-9a-f]{7,40}|[0-9]+")
"""What tells one exchange of a kind from the next: of these values the description says nothing."""
WORD = re.compile(r"[A-Za-z_-]{0,30}|[01][0-9]{5}")
"""A text that the description may name, as a state or a mode."""


@dataclass(frozen=True)
class Mismatch:
    """An answer that GitHub would not give: ``where`` is a JSON pointer with list positions as ``*``."""

    method: str
    path: str
    status: int
    where: str
    message: str


@dataclass(frozen=True)
class Operation:
    """One method of one path of the description."""

    path: str
    data: dict[str, Any]


class Specification:
    """The description, ready to check with."""

    def __init__(self, file: Path = DESCRIPTION) -> None:
        self._document = _converted(json.loads(file.read_text(encoding="utf-8")))
        self._registry: Registry[Any] = Registry().with_resource(ROOT, DRAFT202012.create_resource(self._document))
        routes = [(_pattern(path), path, item) for path, item in self._document["paths"].items()]
        self._routes = sorted(routes, key=lambda route: (route[1].count("{"), -len(route[1])))
        self._validators: dict[tuple[str, str, str], Draft202012Validator] = {}
        self._operations: dict[tuple[str, str], Operation | None] = {}
        self._valid: set[tuple[str, str, str, Hashable]] = set()
        """Exchanges without a fault, all numbers in them written alike, and the shapes of answers.

        The next of the kind, or of the shape, is not checked again."""

    def operation(self, method: str, path: str) -> Operation | None:
        """What the description says of a request, if it knows it."""
        if (method, path) not in self._operations:
            self._operations[method, path] = self._operation(method, path)
        return self._operations[method, path]

    def _operation(self, method: str, path: str) -> Operation | None:
        for pattern, template, item in self._routes:
            if method.lower() in item and pattern.fullmatch(path):
                return Operation(template, item[method.lower()])
        return None

    def request_faults(self, request: Request) -> list[str]:
        """Why GitHub would refuse a request's body; empty when it would not."""
        operation = self.operation(request.method, request.path)
        schema = self._schema(operation.data.get("requestBody", {})) if operation else None
        if operation is None or schema is None:
            return []
        if request.json is None:
            required = self._resolved(operation.data["requestBody"]).get("required", False)
            return ["Problems parsing JSON"] if request.body or required else []
        data = request.json
        if isinstance(data, list) and operation.path.endswith("/issues/{issue_number}/labels"):
            data = {"labels": data}  # "You can also pass an array of labels directly", its text says, not its schema
        faults = self._faults((request.method, operation.path, "request"), schema, data, request.body)
        return [f"{_pointer(fault)}: {_message(fault)}" for fault in faults]

    def response_mismatches(self, request: Request, response: Response) -> list[Mismatch]:
        """Where an answer differs from the description."""
        operation = self.operation(request.method, request.path)
        if operation is None:
            return [Mismatch(request.method, request.path, response.status, "", "no such operation")]

        def mismatch(where: str, message: str) -> Mismatch:
            return Mismatch(request.method, operation.path, response.status, where, message[:LONGEST_MESSAGE])

        described = operation.data["responses"].get(str(response.status))
        if described is None:
            if response.status in {401, 403, 404, 422, 500}:
                return []  # these GitHub may always say
            return [mismatch("", "no such status")]
        schema = self._schema(described)
        if schema is None or response.json is None:
            return []
        faults = self._faults(
            (request.method, operation.path, str(response.status)), schema, response.json, response.body
        )
        return list(dict.fromkeys(mismatch(_pointer(fault), _message(fault)) for fault in faults))

    def _faults(
        self, key: tuple[str, str, str], schema: dict[str, Any], data: Any, body: bytes
    ) -> list[ValidationError]:
        kind = (*key, PLACES_OF_NUMBERS.sub(b"0", body))
        if kind in self._valid:
            return []
        # What is asked may have bounds of length.
        shape = kind if key[2] == "request" else (*key, _shape(data))
        faults = [] if shape in self._valid else _sorted(self._validator(key, schema).iter_errors(data))
        if not faults:
            self._valid |= {kind, shape}
        return faults

    def _resolved(self, data: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in data:
            node: Any = self._document
            for step in data["$ref"].removeprefix(ROOT).removeprefix("#/").split("/"):
                node = node[step.replace("~1", "/").replace("~0", "~")]
            data = node
        return data

    def _schema(self, data: dict[str, Any]) -> dict[str, Any] | None:
        content = self._resolved(data).get("content", {}).get("application/json", {})
        schema: dict[str, Any] | None = content.get("schema")
        return schema

    def _validator(self, key: tuple[str, str, str], schema: dict[str, Any]) -> Draft202012Validator:
        if key not in self._validators:
            self._validators[key] = Draft202012Validator(schema, registry=self._registry)
        return self._validators[key]


@cache
def specification() -> Specification:
    """The description, read once."""
    return Specification()


def _converted(schema: Any) -> Any:
    """OpenAPI 3.0 as JSON schema: ``nullable`` said by type, references made absolute, ``oneOf`` read as ``anyOf``.

    GitHub's ``oneOf`` branches overlap, so that what it accepts would fail the letter of them.
    """
    if isinstance(schema, list):
        return [_converted(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: _converted(value) for key, value in schema.items() if key not in IGNORED}
    if isinstance(result.get("$ref"), str):
        result["$ref"] = ROOT + result["$ref"]
    if isinstance(result.get("oneOf"), list):
        branches = result.pop("oneOf")
        if "anyOf" in result:
            result["allOf"] = [*result.get("allOf", []), {"anyOf": branches}]
        else:
            result["anyOf"] = branches
    if result.pop("nullable", False) is True:
        return {"anyOf": [result, {"type": "null"}]}
    return result


def _shape(value: Any) -> Hashable:
    """What the description of an answer may speak of: all but the words of texts, and how many times a list repeats."""
    if isinstance(value, dict):
        return tuple((name, _shape(item)) for name, item in value.items())
    if isinstance(value, list):
        return frozenset(map(_shape, value))
    if isinstance(value, str):
        return value if WORD.fullmatch(value) else "a text"
    return type(value).__name__


def _pattern(path: str) -> re.Pattern[str]:
    parts = re.split(r"\{([^}]+)\}", path)
    pieces = [
        re.escape(part) if place % 2 == 0 else (".+" if part in SPANNING and "protection" not in path else "[^/]+")
        for place, part in enumerate(parts)
    ]
    return re.compile("".join(pieces))


def _sorted(faults: Iterator[ValidationError]) -> list[ValidationError]:
    chosen = [best_match([fault]) or fault for fault in faults]
    return sorted(chosen, key=lambda fault: (_pointer(fault), fault.message))


def _pointer(fault: ValidationError) -> str:
    return "/" + "/".join("*" if isinstance(part, int) else str(part) for part in fault.absolute_path)


def _message(fault: ValidationError) -> str:
    """What is wrong, without the data, which may be long."""
    if fault.validator == "required":
        return fault.message
    return f"does not meet {fault.validator}: {str(fault.validator_value)[:80]}"
