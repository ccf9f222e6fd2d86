"""What holds for all bare formats: they count only without a whole agent, and never change places with eval sets."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as some

from incumbent.errors import InputError
from incumbent.files.documents import Document, parse
from incumbent.files.snapshot import Overlay, WorkingTree
from incumbent.intake.agents.reader import fitting
from incumbent.intake.agents.reading import read_specification
from incumbent.intake.eval_sets.folder import read_eval_sets
from tests.intake.agents.builders import Folder, make_limits, openapi

OPENAPI = openapi({"/a": {"get": {"operationId": "a"}}})
MCP = {"tools": [{"name": "a", "inputSchema": {}}]}
FUNCTIONS = [{"type": "function", "function": {"name": "a"}}]
CARD = {"name": "Desk", "skills": [], "url": "https://a.example", "capabilities": {}}
FILES: dict[str, Any] = {"api.json": OPENAPI, "mcp.json": MCP, "functions.json": FUNCTIONS, "agent-card.json": CARD}


@pytest.mark.parametrize("path", FILES)
def test_a_file_is_of_one_format_wherever_it_lies(folder: Folder, path: str) -> None:
    folder.write(f"deep/er/{path}", FILES[path])
    assert folder.read().knowledge is None
    document = Document(path, "", FILES[path])
    assert len(fitting(document)) == 1


@pytest.mark.parametrize("whole", ["agent.yaml", "manifest.json", "declarativeAgent.json"])
def test_beside_a_whole_agent_bare_files_are_its_parts(folder: Folder, whole: str) -> None:
    for path, content in FILES.items():
        folder.write(path, content)
    if whole == "agent.yaml":
        folder.write(whole, "agent: 1\nname: Harbour desk\nplatform: p\n")
    else:
        folder.agent(instructions="Be brief.")
        if whole == "declarativeAgent.json":
            (folder.root / "appPackage/manifest.json").unlink()
    assert folder.read().name == "Harbour desk"


def test_several_bare_files_are_an_error_whose_fix_joins_them(folder: Folder) -> None:
    for path, content in FILES.items():
        folder.write(path, content)
    (problem,) = folder.problems()
    assert problem.message == (
        "several agent specifications are here: agent-card.json (a2a-card), api.json (openapi), "
        "functions.json (openai-tools), mcp.json (mcp-tools)"
    )
    extends = problem.fix.split("`")[3]
    assert extends == 'extends: ["agent-card.json", "api.json", "functions.json", "mcp.json"]'
    folder.write("agent.yaml", f"agent: 1\n{extends}\n")
    specification = folder.read()
    assert (specification.name, [tool.name for tool in specification.tools or ()]) == ("Desk", ["a"])


def test_a_broken_file_is_shown_only_where_nothing_else_is_found(folder: Folder) -> None:
    folder.write("export.json", '{"tools": [{"inputSchema": {}}],}')
    (problem,) = folder.problems()
    assert (problem.file, problem.line) == ("export.json", 1)
    assert "not valid JSON" in problem.message
    assert folder.write("api.json", OPENAPI).read().name == "Harbour"


def test_a_file_with_too_many_values_is_no_missing_one(folder: Folder) -> None:
    folder.write("export.json", {"tools": [{"name": f"t{number}", "inputSchema": {}} for number in range(200)]})
    (problem,) = folder.problems(nodes=100)
    assert "more than 100 values" in problem.message


@pytest.mark.parametrize("path", FILES)
@pytest.mark.parametrize("name", ["export.json", "agent.json", "tools.json"])
def test_a_bare_file_beside_an_eval_set_is_no_stray(folder: Folder, path: str, name: str) -> None:
    folder.write("evals.yaml", "eval_set: 1\nqueries: [{id: a, query: Which berth?}]\n").write(name, FILES[path])
    sets = read_eval_sets(WorkingTree(folder.root), make_limits())
    assert [(item.file, item.problems) for item in sets] == [("evals.yaml", ())]
    assert folder.read().auth is None


_KEYS = """
    openapi swagger paths /a get post operationId security securitySchemes securityDefinitions components $ref tools
    result name inputSchema annotations readOnlyHint nextCursor serverInfo instructions function functions type
    parameters input_schema model object allowed_tools require_approval mcp_servers skills examples url capabilities
    protocolVersion securityRequirements schemes apiKeySecurityScheme agent extends protocol effect info title
"""
KEYS = some.sampled_from(_KEYS.split())
LEAVES = some.one_of(
    some.none(),
    some.booleans(),
    some.integers(),
    some.text(max_size=5),
    some.sampled_from(
        ["function", "mcp", "file_search", "assistant", "#/paths", "#/a", "api.json", "*", "always", "a"]
    ),
)
VALUES = some.recursive(
    LEAVES,
    lambda inner: some.one_of(some.lists(inner, max_size=4), some.dictionaries(KEYS, inner, max_size=5)),
    max_leaves=25,
)
SEEDS = some.sampled_from([{}, OPENAPI, {"swagger": "2.0", "paths": {}}, MCP, FUNCTIONS[0], CARD, {"agent": 1}])


@given(seed=SEEDS, values=some.dictionaries(KEYS, VALUES, max_size=6), listed=some.booleans())
def test_nearly_right_json_raises_only_our_errors(seed: Any, values: Any, listed: bool) -> None:
    text = json.dumps([seed | values] if listed else seed | values)
    for name in ("api.json", "agent.yaml"):
        snapshot = Overlay(WorkingTree(Path("/nowhere")), {name: text})
        with contextlib.suppress(InputError):
            specification = read_specification(snapshot, make_limits(tools=5))
            assert len(specification.tools or ()) <= 5
            assert json.dumps(specification.facts())
            assert specification == read_specification(snapshot, make_limits(tools=5))


@given(tools=VALUES, seed=SEEDS)
def test_nearly_right_files_are_extended_with_only_our_errors(tools: Any, seed: Any) -> None:
    agent = {"agent": 1, "extends": ["api.json"], "tools": tools}
    files = {"agent.yaml": json.dumps(agent), "api.json": json.dumps(seed)}
    with contextlib.suppress(InputError):
        read_specification(Overlay(WorkingTree(Path("/nowhere")), files), make_limits())


CORPUS = os.environ.get("INCUMBENT_CORPUS")
needs_corpus = pytest.mark.skipif(CORPUS is None, reason="INCUMBENT_CORPUS is not set")
ROOT = Path(CORPUS or ".")
METHODS = {"get", "put", "post", "delete", "options", "head", "patch", "trace"}


def alone(path: Path) -> Any:
    text = path.read_text(encoding="utf-8-sig")
    return read_specification(Overlay(WorkingTree(Path("/nowhere")), {path.name: text}), make_limits())


@needs_corpus
def test_a_real_dump_gives_every_tool_the_effect_of_its_annotations() -> None:
    path = ROOT / "agents" / "github_mcp_tools_list.json"
    raw = json.loads(path.read_text(encoding="utf-8"))["tools"]
    specification = alone(path)
    assert {tool.name: tool.effect == "read" for tool in specification.tools} == {
        tool["name"]: tool["annotations"]["readOnlyHint"] for tool in raw
    }
    assert (len(specification.tools), specification.notes) == (117, ())
    assert {(tool.protocol, tool.auth, tool.card) for tool in specification.tools} == {("mcp", None, None)}


@needs_corpus
def test_real_openapi_files_give_as_many_tools_as_they_have_operations() -> None:
    counts = {}
    for path in sorted((ROOT / "agents" / "pnp-copilot-pro-dev-samples").rglob("*")):
        if path.suffix not in (".json", ".yaml", ".yml"):
            continue
        try:
            raw = yaml.load(path.read_text(encoding="utf-8-sig"), Loader=yaml.BaseLoader)
        except yaml.YAMLError:
            continue
        if isinstance(raw, dict) and {"openapi", "swagger"} & raw.keys():
            operations = sum(key in METHODS for item in raw["paths"].values() for key in item)
            specification = alone(path)
            assert len(specification.tools) == operations, path
            assert specification.name == raw["info"]["title"], path
            counts[path] = operations
    assert (len(counts), sum(counts.values())) == (46, 122)


@needs_corpus
def test_no_real_eval_set_is_taken_for_a_specification() -> None:
    seen = 0
    for path in sorted((ROOT / "eval_formats").iterdir()):
        if path.suffix in (".json", ".yaml"):
            document = parse(path.read_bytes(), path.name, make_limits(file_bytes=5_000_000).reading)
            assert not fitting(document), path
            seen += 1
    assert seen == 11
