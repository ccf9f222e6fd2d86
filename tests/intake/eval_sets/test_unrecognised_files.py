"""Files beside an eval set: what may hold queries is reported, what belongs to an agent is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from incumbent.errors import Problem
from incumbent.files.snapshot import WorkingTree
from incumbent.intake.eval_sets.folder import UNKNOWN_FORMAT, read_eval_sets
from tests.intake.eval_sets.folders import limits, read, refused

OWN = "eval_set: 1\nqueries:\n  - {id: q01, query: Show my tickets.}\n"
CSV = "Prompt,Expected response\nWho is my manager?,A name\n"


def beside(folder: Path, files: dict[str, str | bytes]) -> dict[str, tuple[Problem, ...]]:
    """The files that are reported beside one good eval set, with their problems."""
    found = read(folder, {"ok.yaml": OWN} | files)
    assert [query.id for item in found for query in item.queries if item.file == "ok.yaml"] == ["q01"]
    others = [item for item in found if item.file != "ok.yaml"]
    assert all(not item.queries for item in others)
    assert all(problem.file == item.file and problem.fix for item in others for problem in item.problems)
    return {item.file: item.problems for item in others}


LOST: list[tuple[str, str | bytes, int | None, str]] = [
    ("b.yaml", OWN.encode("utf-16-le"), 1, "NUL character"),
    ("b.yaml", OWN.encode("utf-16-be"), 1, "NUL character"),
    ("b.yaml", OWN.encode("utf-16"), 1, "not valid UTF-8"),
    ("b.yaml", OWN.encode("utf-32"), 1, "not valid UTF-8"),
    ("b.yaml", OWN.encode("utf-32-be"), 1, "NUL character"),
    ("b.csv", CSV.encode("utf-16-be"), 1, "NUL character"),
    ("b.yaml", "eval_set1: 1\nquerys:\n  - query: a\n", 1, "perhaps you meant 'eval_set'"),
    ("b.yaml", "name: x\nquerys:\n  - query: a\n", 2, "perhaps you meant 'queries'"),
    ("b.yaml", "evalset: 1\n", 1, "perhaps you meant 'eval_set'"),
    ("b.yml", "- query: x\n- query: y\n", None, "meant to stand under `queries`, with `eval_set: 1` before it"),
    ("b.json", '{"data": [{"query": "x"}]}', None, "it may hold queries (query), and nothing says that it is"),
    ("b.json", '{"cases": [{"note": "x"}]}', None, "in none of its columns by a known name: note; looked for:"),
    ("b.json", '{"widgets": [{"input": "x"}]}', None, "no eval set is recognised in this file; looked for:"),
    ("b.json", "[1", 1, "not valid JSON"),
    ("b.jsonl", '{"query": "x",}\n', 1, "not valid JSON"),
    ("b.yaml", "[1", 1, "not valid YAML"),
    ("b.jsonl", '{"note": "x"}\n', None, "no eval set is recognised in this file"),
    ("b.jsonl", '{"query"\n', 1, "not valid JSON"),
    ("b.TSV", "note\tx\na\tb\n", None, "no eval set is recognised in this file"),
    ("b.csv", CSV.replace(",", "|"), None, "separated by commas, semicolons or tabs"),
    ("b.csv", "note,x\n" * 30 + CSV, None, "copilot-studio"),
    ("b.csv", "Frage,Antwort\na,b\n", None, "no eval set is recognised in this file"),
    ("b.csv", "", None, "the file is empty"),
    ("b.yaml", "\n \n", None, "the file is empty"),
    ("b.yaml", "# to do\n", None, "no eval set is recognised in this file"),
    ("b.yaml", "q1: {query: Show my tickets., expected: x}\n", None, "no eval set is recognised in this file"),
    ("b.yaml", "asked: [Show my tickets., Close one.]\n", None, "no eval set is recognised in this file"),
    ("b.yaml", "asked: [[{it: Show.}]]\n", None, "no eval set is recognised in this file"),
    ("b.json", '{"asked": ["検索してください"]}', None, "no eval set is recognised in this file"),
    ("b.json", '[{"id": 1, "total": 3}]', None, "no eval set is recognised in this file"),
]


@pytest.mark.parametrize(("name", "content", "line", "message"), LOST)
def test_a_file_beside_an_eval_set_that_no_reader_takes_is_reported(
    tmp_path: Path, name: str, content: str | bytes, line: int | None, message: str
) -> None:
    reported = beside(tmp_path, {name: content})
    ((file, (problem,)),) = reported.items()
    assert (file, problem.line) == (name, line)
    assert message in problem.message


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("b.jsonl", '{"query": "x"}\n', "plain-records"),
        ("b.json", '[{"query": "x"}]', "plain-records"),
        ("b.TSV", CSV.replace(",", "\t"), "plain-table"),
        ("b.csv", "Question,Answer\na,b\n", "plain-table"),
    ],
)
def test_a_file_beside_an_eval_set_with_a_column_of_queries_is_read(
    tmp_path: Path, name: str, content: str, kind: str
) -> None:
    found = {item.file: item for item in read(tmp_path, {"ok.yaml": OWN, name: content})}
    assert (found[name].format, len(found[name].queries), found[name].problems) == (kind, 1, ())


def test_such_a_file_is_reported_without_an_eval_set_as_well(tmp_path: Path) -> None:
    missing, stray = refused(tmp_path, {"b.yaml": "querys: []\n"})
    assert "no eval set was found" in missing.message
    assert (stray.file, stray.line) == ("b.yaml", 1)


def test_in_a_folder_of_eval_sets_it_is_reported_in_other_folders_not(tmp_path: Path) -> None:
    files = {"evals/a.yaml": OWN, "evals/b.yaml": "cases: [Show it.]\n", "data/c.yaml": "cases: [Show it.]\n"}
    found = read(tmp_path, files)
    assert [(item.file, len(item.problems)) for item in found] == [("evals/a.yaml", 0), ("evals/b.yaml", 1)]


def test_where_there_is_no_eval_set_files_that_are_called_like_some_are_reported_in_all_folders(tmp_path: Path) -> None:
    ticket = '{"subject": "Lost card", "body": "I lost it.", "expected": "block"}\n'
    _, stray = refused(tmp_path, {"evals/tickets.jsonl": ticket, "app/prices.jsonl": '{"price": 7}\n'})
    assert (stray.file, "by a known name: body, expected, subject" in stray.message) == ("evals/tickets.jsonl", True)
    # What the fix says works, with the name put in.
    line = 'files: {"evals/tickets.jsonl": {format: plain-records, columns: {query: "NAME"}}}'
    assert line in stray.fix
    (found,) = read(tmp_path, {"formats.yaml": f"formats: 1\n{line.replace('NAME', 'body')}\n"})
    assert [(query.turns, query.expected) for query in found.queries] == [
        (("I lost it.",), {"subject": "Lost card", "expected": "block"})
    ]


PACKAGE: dict[str, str | bytes] = {
    "manifest.json": '{"copilotAgents": {"declarativeAgents": [{"file": "desk.json"}]}}',
    "desk.json": '{"actions": [{"file": "plugin.json"}], "capabilities": [{"files": ["prices.csv"]}]}',
    "plugin.json": '{"runtimes": [{"spec": {"url": "./apis.yaml"}}], "static_template": {"file": "answer.json"}}',
    "apis.yaml": "paths: {}\n",
    "answer.json": '{"body": []}',
    "prices.csv": "item,price\nbolt,1\n",
    "de.json": '{"$schema": "https://example.com/localisation.json", "name.short": "Werk"}',
    "other-api.yaml": "openapi: 3.0.0\npaths: {}\n",
    "card.json": '{"type": "AdaptiveCard", "body": []}',
    "tools.json": '{"tools": []}',
    "listed.json": '[{"name": "x", "inputSchema": {}}]',
    "reply.json": '{"jsonrpc": "2.0", "result": {"tools": []}}',
    "agents.json": '{"schema_version": "v2.2", "functions": []}',
    "package.json": '{"name": "x"}',
    "package-lock.json": '{"lockfileVersion": 3}',
    "tsconfig.json": "{ // strict\n}",
    "local.settings.json": "{}",
    "m365agents.local.yml": "version: 1\n",
    "teamsapp.yml": "version: 1\n",
    "docker-compose.yml": "services: {}\n",
    ".eslintrc.json": "{}",
    "sub/plain.yaml": "a: 1\n",
    "README.md": "# the eval set is in b.yaml\n",
    "notes.txt": "x",
}


def test_files_of_an_agent_and_its_project_are_left_alone(tmp_path: Path) -> None:
    assert beside(tmp_path, PACKAGE) == {}


def test_files_in_the_folder_of_a_package_are_left_alone_even_beside_an_eval_set(tmp_path: Path) -> None:
    names = ["manifest.json", "data.csv", "cards/x.json"]
    found = read(tmp_path, {f"appPackage/{name}": "{}" for name in names} | {"appPackage/e.yaml": OWN})
    assert [item.file for item in found] == ["appPackage/e.yaml"]


def test_a_fixture_that_an_eval_set_names_is_left_alone(tmp_path: Path) -> None:
    named = OWN.replace("q01", "q02").replace(".}", ".}\n  - {query: a, setup: {fixtures: [tickets.jsonl]}}")
    found = read(tmp_path, {"ok.yaml": named, "tickets.jsonl": "{}", "more-tickets.jsonl": "{}"})
    assert [item.file for item in found] == ["more-tickets.jsonl", "ok.yaml"]


@pytest.mark.parametrize("name", ["sub/agent.yml", "agent.yaml", "sub/manifest.json", "ai-plugin.json"])
def test_an_eval_set_with_the_name_of_an_agents_file_is_reported(tmp_path: Path, name: str) -> None:
    content = OWN if "yaml" in name or "yml" in name else '{"items": [{"prompt": "a"}]}'
    ((file, (problem,)),) = beside(tmp_path, {name: content}).items()
    assert file == name
    assert "is not read, since the name is that of an agent's file" in problem.message
    assert "another name" in problem.fix


def test_links_are_reported_wherever_an_eval_set_may_be_behind_them(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    read(outside, {"evals.yaml": OWN})
    folder = tmp_path / "folder"
    read(
        folder, {"ok.yaml": OWN, "appPackage/manifest.json": '{"file": "x"}', "sub/a.txt": "x", "docs/spec.json": "{}"}
    )
    for link in ["b.yaml", "sub/c.csv", "appPackage/d.json", "picture.png", ".hidden"]:
        (folder / link).symlink_to(outside / "evals.yaml")
    for link in ["more", "sub/deep"]:
        (folder / link).symlink_to(outside)
    found = {item.file: item for item in read_eval_sets(WorkingTree(folder), limits())}
    assert found.keys() == {"b.yaml", "more", "ok.yaml", "sub/c.csv", "sub/deep"}
    for name in found.keys() - {"ok.yaml"}:
        (problem,) = found[name].problems
        assert (problem.message, found[name].format) == ("the path is a symbolic link", UNKNOWN_FORMAT)


def test_links_count_as_files(tmp_path: Path) -> None:
    read(tmp_path, {"ok.yaml": OWN})
    for number in range(3):
        (tmp_path / f"{number}.yaml").symlink_to("ok.yaml")
    (problem,) = refused(tmp_path, {}, package_files=3)
    assert "4 files, more than the limit of 3" in problem.message


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("config.json", '{"temperature": 0, "models": ["a", "b"], "note": "Use the small one."}'),
        ("mcp.json", '{"mcpServers": {"tides": {"command": "run", "args": ["-y", "tides"]}}}'),
        ("agents.yaml", "clerk:\n  role: Clerk of the harbour\n  goal: Answer what people ask.\n"),
        ("tspconfig.yaml", "emit: [a]\noptions: {a: {b: true}}\n"),
        ("results.json", '{"passed": 3, "failed": []}'),
        ("deployment.yaml", "apiVersion: apps/v1\nkind: Deployment\nspec: {containers: [{name: x}]}\n"),
        ("agent.mcs.yml", "kind: GptComponentMetadata\ndisplayName: Desk\nstarters: [{title: a, text: Show it.}]\n"),
    ],
)
def test_settings_without_room_for_queries_are_left_alone(tmp_path: Path, name: str, content: str) -> None:
    assert beside(tmp_path, {name: content}) == {}
