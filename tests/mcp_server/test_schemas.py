"""What clients are told of the tools: as agreed, complete, and true of what they answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcp import Client

from incumbent.mcp.strict_tool import parts_of, slim, slim_arguments
from tests.mcp_server.conftest import drive, in_process
from tests.mcp_server.snapshots import FOLDER, published, written

TOOLS = published()
WRITING = {"stage_admission", "record_decision"}
READING = {
    "classify",
    "rate",
    "consolidate",
    "classify_to_verdict",
    "cs_to_verdict",
    "explain",
    "status",
    "find_entries",
    "suggest_evictions",
    "agreement",
    "results",
}


def test_the_tools_are_those_that_the_paper_and_triage_ask_for() -> None:
    assert set(TOOLS) == READING | WRITING
    assert {file.stem for file in FOLDER.glob("*.json")} == set(TOOLS)


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_a_schema_changes_only_with_its_snapshot(name: str) -> None:
    agreed = (FOLDER / f"{name}.json").read_text(encoding="utf-8")
    assert written(TOOLS[name]) == agreed, "if this is meant: python -m tests.mcp_server.snapshots"


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_every_argument_and_every_number_of_an_answer_has_its_meaning_and_range(name: str) -> None:
    tool = TOOLS[name]
    assert tool["description"]
    assert tool["inputSchema"]["additionalProperties"] is False
    for argument, schema in tool["inputSchema"]["properties"].items():
        assert described(schema), argument
    for schema in (tool["inputSchema"], tool["outputSchema"]):
        Draft202012Validator.check_schema(schema)
    for place, number in numbers(tool["outputSchema"]):
        assert described(number) or "minimum" in number, place


def numbers(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The fields of an answer that are numbers; tokens say what they are by their names."""
    for model in parts_of(schema):
        for name, field in model.get("properties", {}).items():
            kinds = {item.get("type") for item in (field, *field.get("anyOf", []))}
            if kinds & {"integer", "number"} and not name.startswith("tokens_"):
                yield name, field


def described(schema: dict[str, Any]) -> bool:
    if "description" in schema:
        return True
    return any(described(each) for each in schema.get("anyOf", [])) or "pattern" in schema


def test_what_an_assistant_reads_of_all_tools_stays_small() -> None:
    """Hosts hand it to the model with every question: 25 kB are some 6,200 tokens, 3 in 100 of a usual context.

    The schemas of answers come on top where a host hands these over too: with titles and repeated parts it was 84 kB.
    """
    advertised = [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in TOOLS.values()]
    assert len(json.dumps(advertised, ensure_ascii=False, separators=(",", ":"))) < 25_500
    assert len(json.dumps(list(TOOLS.values()), ensure_ascii=False, separators=(",", ":"))) < 83_000


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_no_schema_says_what_its_names_say(name: str) -> None:
    for schema in (TOOLS[name]["inputSchema"], TOOLS[name]["outputSchema"]):
        used = [part["$ref"].removeprefix("#/$defs/") for part in parts_of(schema) if "$ref" in part]
        assert set(used) == set(schema.get("$defs", {}))
        assert all(used.count(each) > 1 for each in set(used) - {"Marked"})
        assert all("title" not in part for part in parts_of(schema))


def test_a_field_that_is_called_title_and_what_is_said_of_a_place_are_kept() -> None:
    schema = {
        "title": "Model",
        "$defs": {
            "Once": {"title": "Once", "description": "any", "properties": {"title": {"title": "T", "type": "string"}}},
            "Twice": {"title": "Twice", "properties": {"inner": {"$ref": "#/$defs/Once"}}},
        },
        "properties": {
            "a": {"$ref": "#/$defs/Twice", "title": "A", "description": "the first"},
            "b": {"anyOf": [{"$ref": "#/$defs/Twice"}, {"type": "null"}], "default": None, "title": "B"},
        },
    }
    twice = {"properties": {"inner": {"description": "any", "properties": {"title": {"type": "string"}}}}}
    a = {"$ref": "#/$defs/Twice", "description": "the first"}
    assert slim(schema) == {
        "properties": {"a": a, "b": {"anyOf": [{"$ref": "#/$defs/Twice"}, {"type": "null"}], "default": None}},
        "$defs": {"Twice": twice},
    }
    assert slim_arguments(schema) == {
        "properties": {"a": a, "b": {"$ref": "#/$defs/Twice"}},
        "$defs": {"Twice": twice},
    }


@pytest.mark.parametrize("name", sorted(READING))
def test_reading_tools_say_that_they_only_read(name: str) -> None:
    hints = TOOLS[name]["annotations"]
    assert (hints["readOnlyHint"], hints["destructiveHint"], hints["idempotentHint"]) == (True, False, True)
    assert hints["openWorldHint"] is False


@pytest.mark.parametrize("name", sorted(WRITING))
def test_writing_tools_say_that_they_write(name: str) -> None:
    assert TOOLS[name]["annotations"]["readOnlyHint"] is False


def test_without_leave_to_write_no_tool_writes(platform: Path) -> None:
    async def listed(client: Client) -> set[str]:
        async with client as connected:
            return {tool.name for tool in (await connected.list_tools()).tools}

    assert drive(lambda: listed(in_process(platform))) == READING
    assert drive(lambda: listed(in_process(platform, writes=True))) == READING | WRITING


def test_a_tool_that_asks_a_language_model_says_so(platform: Path) -> None:
    config = platform / "config" / "curation.yaml"
    config.write_text(config.read_text(encoding="utf-8").replace("backend: embedded", "backend: openai"))

    async def hints() -> dict[str, bool | None]:
        async with in_process(platform) as client:
            tools = (await client.list_tools()).tools
            return {tool.name: tool.annotations.open_world_hint for tool in tools if tool.annotations is not None}

    found = drive(hints)
    assert {name for name, asks in found.items() if asks} == {"classify", "rate", "classify_to_verdict", "explain"}
