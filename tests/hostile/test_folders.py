"""Hostile folders: what is no file, what leads out, and what only one format can do."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.hostile.agents import PACKAGE
from tests.hostile.judging import SECRET, Content, Maker, Worker
from tests.hostile.templates import AGENT, EVALS


@dataclass(frozen=True, kw_only=True)
class Case:
    """A folder; ``says`` is what one of its problems must say, and ``queries`` how many queries are read at least."""

    name: str
    files: Mapping[str, Content]
    says: str = ""
    queries: int = 0


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    worker = Worker(tmp_path_factory.mktemp("hostile"))
    yield worker
    worker.close()


def link(target: str) -> Maker:
    return lambda path: path.symlink_to(target)


def pipe(path: Path) -> None:
    os.mkfifo(path)


def door(path: Path) -> None:
    """A socket; its name is short, since names of sockets are."""
    here = Path.cwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


def huge(path: Path) -> None:
    """50 MB that take no room."""
    with path.open("wb") as file:
        file.truncate(50_000_000)


def text(content: Any) -> bytes:
    return (content if isinstance(content, str) else json.dumps(content)).encode()


def package(changes: Mapping[str, Any] | None = None, **more: Content) -> dict[str, Content]:
    """A whole app package and an eval set, with other files in their places."""
    files: dict[str, Content] = {path: text(held) for path, held in PACKAGE.items()}
    files["evals.yaml"] = EVALS.encode()
    for path, held in (changes or {}).items():
        place = path if "/" in path else f"appPackage/{path}"
        files[place] = held if callable(held) or isinstance(held, bytes) else text(held)
    return {**files, **more}


def agent(**keys: Any) -> dict[str, Any]:
    return {**PACKAGE["appPackage/declarativeAgent.json"], **keys}


def api(paths: Any, **keys: Any) -> dict[str, Any]:
    return {**PACKAGE["appPackage/api.json"], "paths": paths, **keys}


def plugin(**keys: Any) -> dict[str, Any]:
    return {**PACKAGE["appPackage/ai-plugin.json"], **keys}


def runtime(**keys: Any) -> dict[str, Any]:
    rest = PACKAGE["appPackage/ai-plugin.json"]["runtimes"][0]
    return plugin(functions=[], runtimes=[{**rest, "run_for_functions": ["*"], **keys}])


def evals(**files: Content | str) -> dict[str, Content]:
    """An agent and these files, their names without dots."""
    made = {name.replace("__", "/").replace("_", "."): held for name, held in files.items()}
    return {"agent.yaml": AGENT.encode(), **{n: h.encode() if isinstance(h, str) else h for n, h in made.items()}}


def config(**keys: Any) -> dict[str, Content]:
    """A promptfoo config."""
    base = {"prompts": ["{{q}}"], "providers": ["echo"], "tests": [{"vars": {"q": "Where is the Petrel?"}}]}
    return {"agent.yaml": AGENT.encode(), "promptfooconfig.yaml": text({**base, **keys})}


def formats(files: Any, **more: str) -> dict[str, Content]:
    return {
        **evals(**more),
        "rows.csv": b"id,question\na,Where?\n",
        "formats.yaml": text({"formats": 1, "files": files}),
    }


PLAIN = {"format": "plain-table"}
LINKS = (
    Case(name="an eval set", files=evals(evals_yaml=link("/etc/passwd")), says="symbolic link"),
    Case(name="an eval set elsewhere", files=evals(evals_yaml=link("agent.yaml")), says="symbolic link"),
    Case(name="to itself", files=evals(evals_yaml=link("evals.yaml")), says="symbolic link"),
    Case(name="to nothing", files=evals(evals_json=link("nowhere.json")), says="symbolic link"),
    Case(name="a folder", files=evals(evals=link("/etc"), more_yaml=EVALS), says="symbolic link", queries=1),
    Case(name="a loop of folders", files=evals(loop=link("."), evals_yaml=EVALS), says="symbolic link", queries=1),
    Case(name="the parent", files=evals(parent=link(".."), evals_yaml=EVALS), says="symbolic link", queries=1),
    Case(name="an agent", files={"agent.yaml": link("/etc/passwd"), "evals.yaml": EVALS.encode()}, says="link"),
    Case(name="formats.yaml", files=formats({}) | {"formats.yaml": link("/etc/passwd")}, says="link"),
    Case(name="a manifest", files=package({"manifest.json": link("/etc/passwd")}), queries=1),
    Case(name="an agent's file", files=package({"declarativeAgent.json": link("/etc/passwd")}), says="link"),
    Case(name="a plugin", files=package({"ai-plugin.json": link("/etc/passwd")}), says="link"),
    Case(name="an OpenAPI file", files=package({"api.json": link("../evals.yaml")}), says="link", queries=1),
    Case(name="instructions", files=package({"instruction.txt": link("/etc/passwd")}), says="link", queries=1),
    Case(
        name="a folder of a package",
        files=package({"ai-plugin.json": runtime(spec={"url": "etc/passwd"})}) | {"appPackage/etc": link("/etc")},
        says="symbolic link|not there|no such",
    ),
    Case(name="promptfoo's tests", files=config(tests="file://t.yaml") | {"t.yaml": link("/etc/passwd")}, says="link"),
)
NO_FILES = (
    Case(name="a pipe as eval set", files=evals(evals_json=pipe), says="not a regular file"),
    Case(name="a pipe as table", files=evals(evals_csv=pipe), says="not a regular file"),
    Case(name="a pipe as agent", files={"agent.yaml": pipe, "evals.yaml": EVALS.encode()}, says="not a regular file"),
    Case(name="a pipe as manifest", files=package({"manifest.json": pipe}), queries=1),
    Case(name="a pipe as instructions", files=package({"instruction.txt": pipe}), says="not a regular file", queries=1),
    Case(name="a pipe as formats.yaml", files=formats({}) | {"formats.yaml": pipe}, says="not a regular file"),
    Case(name="a socket", files=evals(evals_json=door), says="not a regular file"),
    Case(name="a folder named so", files=evals(evals_yaml__evals_yaml=EVALS), queries=1),
    Case(name="50 MB", files=evals(evals_json=huge), says="more than the limit"),
    Case(name="50 MB of a table", files=evals(evals_csv=huge, more_yaml=EVALS), says="more than the limit", queries=1),
    Case(
        name="50 MB of an agent", files={"agent.yaml": huge, "evals.yaml": EVALS.encode()}, says="more than the limit"
    ),
    Case(name="50 MB of a plugin", files=package({"ai-plugin.json": huge}), says="more than the limit"),
    Case(name="50 MB of text", files=package({"instruction.txt": huge}), says="more than the limit", queries=1),
    Case(name="50 MB beside", files=evals(evals_yaml=EVALS, film_bin=huge), queries=1),
)
NAMES = (
    *(
        Case(name=f"the name {name!r:.40}", files=evals(evals_yaml=EVALS) | {name: EVALS.replace("a", "b").encode()})
        for name in (
            *("CON.json", "aux.yaml", "nul", "COM1.csv", "evals.yaml.", "evals.yaml ", " .json", "-rf.yaml", "~.yaml"),
            *("a" * 250 + ".yaml", "new\nline.yaml", "\x1b[2J.yaml", "\u202elmay.yaml", "$(touch x).yaml", "a:b.yaml"),
            *("`id`.json", "*.yaml", "?.csv", "%2e%2e.yaml", "\\..\\x.yaml", "é.yaml", "e\u0301.yaml", "#.json"),
            *(
                "'.yaml",
                '".yaml',
                "<b>.yaml",
                "a|b.yaml",
                ".yaml",
                "..yaml",
                "...json",
                ".git/config.yaml",
                "x/.git/e.yaml",
            ),
        )
    ),
    Case(
        name="names that differ by case",
        files=evals(evals_yaml=EVALS) | {"EVALS.YAML": EVALS.encode()},
        says="differs only by case",
    ),
    Case(
        name="a name that is no text",
        files={"agent.yaml": AGENT.encode(), os.fsdecode(b"\xff\xfe.yaml"): EVALS.encode()},
    ),
    Case(name="deep folders", files=evals(evals_yaml=EVALS) | {"a/" * 150 + "evals.yaml": EVALS.encode()}),
    Case(
        name="too many files",
        files=evals(evals_yaml=EVALS) | {f"n/{number}.yaml": b"" for number in range(1_001)},
        says="more than the limit",
    ),
    Case(
        name="many broken files",
        files=evals(evals_yaml=EVALS) | {f"{number}.json": b'{"items": [' for number in range(990)},
        queries=1,
        says="not valid JSON",
    ),
    Case(
        name="many files that name each other",
        files=evals(evals_yaml=EVALS)
        | {f"n{number}.json": text({"a": [f"n{other}.json" for other in range(200)]}) for number in range(200)},
        queries=1,
    ),
    Case(
        name="many full files", files=evals() | {f"{n}.json": b'{"prompt": ' + b" " * 100_000 + b"[" for n in range(10)}
    ),
)
_OUTSIDE = (
    "../../etc/passwd",
    "/etc/passwd",
    "~/x.txt",
    "C:\\x.txt",
    "..\\..\\x.txt",
    "file:///etc/passwd",
    "\\\\h\\x",
)
PACKAGES = (
    *(
        Case(
            name=f"instructions from {path}",
            files=package({"declarativeAgent.json": agent(instructions=f"$[file('{path}')]")}),
            queries=1,
            says="is not read",
        )
        for path in (*_OUTSIDE, "https://harbour.example/x.txt", "../evals.yaml", "./a/../../x.txt", "${{HOME}}/x")
    ),
    *(
        Case(
            name=f"an action in {path}",
            files=package({"declarativeAgent.json": agent(actions=[{"id": "p", "file": path}])}),
            queries=1,
            says="is not read",
        )
        for path in (*_OUTSIDE, "https://harbour.example/p.json", "../evals.yaml", "%2e%2e/evals.yaml")
    ),
    Case(
        name="instructions of themselves",
        files=package({"instruction.txt": "$[file('instruction.txt')] $[file('declarativeAgent.json')]"}),
        queries=1,
    ),
    Case(
        name="a million instructions",
        files=package(
            {
                "declarativeAgent.json": agent(instructions="$[file('instruction.txt')]" * 90_000),
                "instruction.txt": "x" * 900_000,
            }
        ),
        queries=1,
        says="more than the limit",
    ),
    Case(
        name="a million missing instructions",
        files=package(
            {"declarativeAgent.json": agent(instructions="".join(f"$[file('{n}.txt')]" for n in range(90_000)))}
        ),
        queries=1,
        says="is not read",
    ),
    Case(
        name="an action that is the agent",
        files=package({"declarativeAgent.json": agent(actions=[{"id": "p", "file": "declarativeAgent.json"}])}),
    ),
    Case(
        name="many actions",
        files=package({"declarativeAgent.json": agent(actions=[{"id": "p", "file": "ai-plugin.json"}] * 5_000)}),
    ),
    Case(
        name="a secret for a file",
        files=package({"declarativeAgent.json": agent(actions=[{"id": "p", "file": f"{SECRET}.json"}])}),
    ),
    Case(
        name="many keys of languages",
        files=package({"declarativeAgent.json": agent(name="[[a]]" * 100_000, description="[[" * 100_000)}),
    ),
    Case(
        name="circles of references",
        files=package({"api.json": api({"/a": {"$ref": "#/paths/~1b"}, "/b": {"$ref": "#/paths/~1a"}})}),
        queries=1,
        says="circle",
    ),
    Case(
        name="a reference to all",
        files=package({"api.json": api({"/a": {"$ref": "#"}, "/b": {"$ref": ""}})}),
        queries=1,
    ),
    Case(
        name="a chain of references",
        files=package({"api.json": api({f"/{n}": {"$ref": f"#/paths/~1{n + 1}"} for n in range(20_000)})}),
        queries=1,
        says="over more than",
    ),
    *(
        Case(
            name=f"a reference to {path}",
            files=package({"api.json": api({"/a": {"$ref": path}})}),
            queries=1,
            says="not read",
        )
        for path in (
            "https://harbour.example/api.json#/a",
            *_OUTSIDE,
            "../evals.yaml#/queries",
            "#/nowhere",
            "x.json#/a",
        )
    ),
    Case(
        name="references across files",
        files=package(
            {"api.json": api({"/a": {"$ref": "b.json#/a"}}), "b.json": {"a": {"$ref": "api.json#/paths/~1a"}}}
        ),
        queries=1,
        says="circle",
    ),
    Case(
        name="a scheme that is itself",
        files=package(
            {
                "api.json": api(
                    {}, components={"securitySchemes": {"login": {"$ref": "#/components/securitySchemes/login"}}}
                )
            }
        ),
        queries=1,
    ),
    Case(
        name="a recursive Swagger",
        files=package(
            {
                "api.json": {
                    "swagger": "2.0",
                    "paths": {"/a": {"get": {"operationId": "a", "schema": {"$ref": "#/definitions/A"}}}},
                    "definitions": {"A": {"properties": {"a": {"$ref": "#/definitions/A"}}}},
                }
            }
        ),
        queries=1,
    ),
    Case(
        name="many operations",
        files=package(
            {
                "api.json": api({f"/{n}": {"get": {"operationId": f"o{n}"}} for n in range(20_000)}),
                "ai-plugin.json": runtime(),
            }
        ),
        says="more tools",
    ),
    Case(
        name="equal operations",
        files=package(
            {
                "api.json": api({f"/{n}": {"get": {"operationId": "o"}} for n in range(20_000)}),
                "ai-plugin.json": runtime(),
            }
        ),
        queries=1,
    ),
    Case(
        name="many tools of a server",
        files=package({"mcp.json": {"tools": [{"name": f"t{n}"} for n in range(30_000)]}}),
        says="more tools",
    ),
    Case(name="tools without names", files=package({"mcp.json": {"tools": [{}] * 400}}), queries=1, says="no name"),
    Case(
        name="patterns against names",
        files=package(
            {
                "ai-plugin.json": plugin(
                    functions=[{"name": "a" * 200 + str(n)} for n in range(490)],
                    runtimes=[
                        {"type": "OpenApi", "spec": {"url": "api.json"}, "run_for_functions": ["*a" * 90 + "b"] * 490}
                    ],
                )
            }
        ),
    ),
    Case(
        name="an inline description",
        files=package({"ai-plugin.json": runtime(spec={"api_description": "[" * 200_000})}),
        queries=1,
        says="deeper",
    ),
    Case(
        name="an inline bomb",
        files=package(
            {
                "ai-plugin.json": runtime(
                    spec={
                        "api_description": "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
                        + "".join(
                            f"a{n}: &a{n} [{','.join(['*a' + (str(n - 1) if n else '')] * 10)}]\n" for n in range(9)
                        )
                    }
                )
            }
        ),
        queries=1,
        says="more than 200,000 values",
    ),
    Case(name="two agents", files=package(), says=""),
    Case(
        name="two agents of two kinds",
        files=package({"agent.yaml": b""}) | {"agent.yaml": AGENT.encode()},
        says="several agent",
    ),
)
_LISTS = {f"v{place}": [str(value) for value in range(10)] for place in range(10)}
SETS = (
    *(
        Case(name=f"promptfoo's tests from {path}", files=config(tests=path), says=".")
        for path in (
            *("file:///etc/passwd", "file://../../etc/passwd.yaml", "file://~/x.yaml", "https://harbour.example/t.csv"),
            *(
                "file://tests.py",
                "exec:rm",
                "file://promptfooconfig.yaml",
                "file://**/*",
                "file:///**",
                "file://[",
                "/etc/*",
            ),
            *("huggingface://datasets/x", "az://x/y", "file://C:/x.yaml", f"file://{SECRET}.yaml", "file://t.xlsx", ""),
        )
    ),
    *(
        Case(name=f"promptfoo's prompt from {path}", files=config(prompts=[path]), says=".")
        for path in ("file:///etc/passwd", "file://../p.txt", "file://p.py", "exec:rm -rf x")
    ),
    *(
        Case(name=f"a variable from {path}", files=config(tests=[{"vars": {"q": path}}]), says=".")
        for path in ("file:///etc/passwd", "file://../../x.txt", "file://x.js", f"file://{SECRET}.txt")
    ),
    Case(
        name="variables without end",
        files=config(prompts=["{{a}}"], tests=[{"vars": {"a": "{{b}}{{b}}", "b": "{{a}}{{a}}"}}]),
    ),
    Case(
        name="variables that grow",
        files=config(
            prompts=["{{v9}}"],
            tests=[{"vars": {"v0": "x" * 1_000} | {f"v{n}": f"{{{{v{n - 1}}}}}" * 50 for n in range(1, 10)}}],
        ),
    ),
    Case(name="all combinations", files=config(tests=[{"vars": {"q": "a", **_LISTS}}]), says="more than|limit"),
    Case(
        name="prompts by tests",
        files=config(
            prompts=[f"{n} {{{{q}}}}" for n in range(2_000)], tests=[{"vars": {"q": str(n)}} for n in range(2_000)]
        ),
        says="more than|limit|several|prompts",
    ),
    Case(name="a program", files=config(prompts=["{% for i in range(1000000000) %}{{i}}{% endfor %}"]), says="."),
    Case(name="a sum", files=config(prompts=["{{ 9**9**9 }} {{q}}"]), says="."),
    Case(name="filters without end", files=config(prompts=["{{ q " + "| upper " * 50_000 + "}}"])),
    Case(name="a path without end", files=config(prompts=["{{ q" + ".a" * 50_000 + " }}"])),
    Case(name="many templates", files=config(prompts=["{{q}}" * 50_000])),
    Case(name="loops in loops", files=config(prompts=["{% for a in _conversation %}" * 20_000 + "{{q}}"])),
    Case(name="texts as they stand", files=config(prompts=["{% raw %}" * 20_000 + "{{q}}"])),
    Case(
        name="files that name each other",
        files=config(tests="file://a.yaml") | {"a.yaml": b"- file://b.yaml\n", "b.yaml": b"- file://a.yaml\n"},
    ),
    Case(
        name="scenarios",
        files=config(
            scenarios=[
                {
                    "config": [{"vars": {"a": str(n)}} for n in range(300)],
                    "tests": [{"vars": {"q": str(n)}} for n in range(300)],
                }
            ]
        ),
    ),
    Case(
        name="files of a skill",
        files=evals(
            evals__evals_json=text(
                {"skill_name": "h", "evals": [{"id": 1, "prompt": "Go", "files": ["../../etc/passwd", "/etc/passwd"]}]}
            )
        ),
        queries=1,
    ),
    Case(
        name="a picture elsewhere",
        files=evals(
            s_jsonl=text(
                {"input": [{"role": "user", "content": [{"type": "image", "image": "/etc/passwd"}]}], "target": "a"}
            )
        ),
        queries=1,
    ),
    Case(
        name="a picture written out",
        files=evals(
            s_jsonl=text(
                {
                    "input": [
                        {
                            "role": "user",
                            "content": [{"type": "image", "image": "data:image/png;base64," + "A" * 900_000}],
                        }
                    ],
                    "target": "a",
                }
            )
        ),
        queries=1,
    ),
    Case(
        name="many turns",
        files=evals(s_jsonl=text({"input": [{"role": "user", "content": "a"}] * 20_000, "target": "a"})),
        says="more than the limit",
    ),
    Case(
        name="a file of two formats",
        files=evals(
            e_json=text(
                {
                    "eval_set": 1,
                    "queries": [{"query": "a"}],
                    "items": [{"prompt": "a"}],
                    "tests": [{"vars": {"a": "b"}}],
                    "prompts": ["a"],
                    "evals": [{"prompt": "a"}],
                    "data": [{"query": "a"}],
                }
            )
        ),
        says="several formats|.",
    ),
    *(
        Case(name=f"formats.yaml names {path!r:.30}", files=formats({path: PLAIN}), says="no such file")
        for path in ("../rows.csv", "/etc/passwd", "~/x.csv", "nul\nx.csv", "a" * 900, SECRET)
    ),
    Case(name="formats.yaml of itself", files=formats({"formats.yaml": {"format": "incumbent"}})),
    Case(name="formats.yaml of the agent", files=formats({"agent.yaml": {"format": "incumbent"}})),
    Case(
        name="formats.yaml of an unknown format", files=formats({"rows.csv": {"format": SECRET}}), says="is no format"
    ),
    Case(
        name="formats.yaml of many files",
        files=formats({f"{n}.csv": PLAIN for n in range(20_000)}),
        says="no such file",
    ),
    Case(
        name="formats.yaml of many formats", files=formats({"rows.csv": {"format": "x" * 100_000}}), says="is no format"
    ),
    Case(
        name="formats.yaml of other columns",
        files=formats({"rows.csv": {**PLAIN, "columns": {"query": SECRET}}}),
        says="column",
    ),
    Case(
        name="ids of two cases",
        files=evals(e_yaml="eval_set: 1\nqueries:\n- {id: Ship, query: a}\n- {id: ship, query: b}\n"),
        queries=2,
    ),
    Case(
        name="ids of two spellings",
        files=evals(e_yaml='eval_set: 1\nqueries:\n- {id: "\\xe9", query: a}\n- {id: "e\\u0301", query: b}\n'),
        queries=2,
    ),
    Case(
        name="a number among ids",
        files=evals(e_yaml="eval_set: 1\nqueries:\n- {id: 12, query: a}\n"),
        says="must be a string",
    ),
    Case(
        name="a truth among ids",
        files=evals(e_yaml="eval_set: 1\nqueries:\n- {id: true, query: a}\n"),
        says="must be a string",
    ),
)
CASES = (*LINKS, *NO_FILES, *NAMES, *PACKAGES, *SETS)


@pytest.mark.parametrize("case", CASES, ids=lambda case: ascii(case.name))
def test_folder(worker: Worker, case: Case) -> None:
    outcome = worker.judge(case.files, case.says)
    assert outcome.wrong == ()
    assert not case.says or outcome.said, outcome.problems
    assert outcome.queries >= case.queries, outcome.problems
    assert outcome.queries or outcome.problems
