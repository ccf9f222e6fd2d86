"""promptfoo configs: prompts with the variables of the tests put in, one query each."""

from __future__ import annotations

import json
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incumbent.intake.expectation import understand
from incumbent.intake.tool_calls import ToolCall
from tests.intake.eval_sets.folders import messages_of, read, read_one, refused, turns

RUN = "providers: [echo]\n"


def config(folder: Path, text: str, files: dict[str, str] | None = None, **changes: int) -> Any:
    """The only eval set of a folder with a config and other files, which are parts of it."""
    (found,) = read(folder, {"promptfooconfig.yaml": RUN + text, **(files or {})}, **changes)
    assert found.format == "promptfoo"
    return found


SHAPES: list[tuple[str, list[Any]]] = [
    ("prompts: ['Hi {{name}}!']\ntests: [{vars: {name: Ann}}]", ["Hi Ann!"]),
    ("prompts: 'Hi {{name}}!'\ntests: [{vars: {name: Ann}}]", ["Hi Ann!"]),
    ("prompts: [{raw: 'Hi {{name}}', label: x}]\ntests: [{vars: {name: 7}}]", ["Hi 7"]),
    ("prompts: ['{{a}}', 'Say {{a}}']\ntests: [{vars: {a: x}}, {vars: {a: y}}]", ["x", "Say x", "y", "Say y"]),
    ("prompts: ['{{a}}{{b}}']\ntests: [{vars: {a: [x, y], b: [1, 2]}}]", ["x1,2", "y1,2"]),
    ("prompts: ['{{a}}{{b}}']\ntests: [{vars: {a: [x, y], b: [p, q]}}]", ["xp", "xq", "yp", "yq"]),
    ("prompts: ['{{a}}']\ntests: [{vars: {a: [x, y]}, options: {disableVarExpansion: true}}]", ["x,y"]),
    ("prompts: ['{{a}} {{b}}']\ndefaultTest: {vars: {a: x, b: y}}\ntests: [{vars: {b: z}}]", ["x z"]),
    ("prompts: ['{{a}}']\ntests: [{vars: {a: x}, options: {prefix: 'P ', suffix: ' S'}}]", ["P x S"]),
    ("prompts: [Hello]", ["Hello"]),
    ("tests: [{vars: {prompt: Hello}}]", ["Hello"]),
    ("prompts: [{label: a, raw: A}, {label: b, raw: B}]\ntests: [{prompts: [b]}]", ["B"]),
    (("prompts: ['{{a}}{{b}}']\nscenarios: [{config: [{vars: {a: 1}}, {vars: {a: 2}}], "
     "tests: [{vars: {b: x}}, {vars: {b: y}}]}]"), ["1x", "1y", "2x", "2y"]),
    ("prompts: ['{{a}}']\nscenarios: [{config: [{vars: {a: 1}}]}]\ntests: [{vars: {a: 0}}]", ["0", "1"]),
    (("prompts: ['[{\"role\": \"system\", \"content\": \"{{s}}\"}, {\"role\": \"user\", \"content\": \"{{q}}\"}]']\n"
     "tests: [{vars: {s: be kind, q: 'say \"hi\"'}}]"), ['say "hi"']),
    (("prompts: [[{role: user, content: 'a {{q}}'}, {role: assistant, content: x}, {role: user, content: b}]]\n"
     "tests: [{vars: {q: 1}}]"), [["a 1", "b"]]),
    ("prompts: [\"- role: system\\n  content: x\\n- role: user\\n  content: {{q}}\\n\"]\ntests: [{vars: {q: hi}}]",
     ["hi"]),
    ("prompts: ['[{\"role\": \"user\", \"content\": {{q | dump}} }]']\ntests: [{vars: {q: 'a \"b\"'}}]", ['a "b"']),
    ("prompts: ['{\"order\": \"{{q}}\"}']\ntests: [{vars: {q: x}}]", ['{\n  "order": "x"\n}']),
    ("prompts: ['{{a}}']\ntests: [{vars: {a: 'inner {{b}}', b: x}}]", ["inner x"]),
    ("prompts: ['{{a}}']\ntests: [{vars: {a: 'try {{7*7}} {{nobody}}'}}]", ["try {{7*7}} {{nobody}}"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), SHAPES)
def test_what_promptfoo_would_send_are_the_queries(tmp_path: Path, text: str, expected: list[Any]) -> None:
    found = config(tmp_path, text)
    assert (turns(found), found.problems) == (expected, ())


TEMPLATES: list[tuple[str, Any, str]] = [
    ("{{ a }}", "x", "x"),
    ("{{a.b[0].c}}", {"b": [{"c": 1}]}, "1"),
    ("{{a['b c']}}", {"b c": True}, "true"),
    ("{{ a | upper }}", "xy", "XY"),
    ("{{ a | trim | capitalize }}", " xy ", "Xy"),
    ("{{ a | dump }}", {"k": ["ü", 1.0, None]}, '{"k":["ü",1.0,null]}'),
    ("{{ a | json }}", "x", '"x"'),
    ("{{ a | join(', ') }}", [1, "b"], "1, b"),
    ("{{ a | length }}", "four", "4"),
    ("{{ b | default('none') }}", 1, "none"),
    ("{{ a }}", 2.0, "2"),
    ("{{ a }}", 2.5, "2.5"),
    ("[{{ a }}]", None, "[]"),
    ("{# remark {{ b }} #}{{a}}", "x", "x"),
    ("{% raw %}{{ b }}{% endraw %}{{a}}", "x", "{{ b }}x"),
    ("a  {{- a -}}  b", "x", "axb"),
    ("{{ only text", "x", "{{ only text"),
    ("50% {} { }", "x", "50% {} { }"),
    ("{% for m in _conversation %}{% if m %}{{ m.input }}{% endif %}\n{% endfor %}Q: {{a}}", "x", "Q: x"),
    ("{% for m in _conversation %}{% for t in m.tags %}{{ t }}{% endfor %}{{ m.x }}{% endfor %}Q: {{a}}", "x", "Q: x"),
]


@pytest.mark.parametrize(("prompt", "value", "expected"), TEMPLATES)
def test_templates(tmp_path: Path, prompt: str, value: Any, expected: str) -> None:
    data = {"providers": ["echo"], "prompts": [prompt], "tests": [{"vars": {"a": value}}]}
    found = read_one(tmp_path, "p.json", json.dumps(data))
    assert (turns(found), found.problems) == ([expected], ())


VALUES = {"a": "x y", "system": "s", "first_name": "Al", "user": {"first": "Bo"}}


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("{{a}}{{more}}", "x y"),
        ("{{a | title}}, {{a | first}}{{a | last}}", "X Y, xy"),
        ("{{ first_name }}-{{ last_name }}", "Al-"),
        ("{{ user.first }}-{{ user.last }}", "Bo-"),
        ("{{a}} {{tone | upper}}!", "x y !"),
    ],
)
def test_what_is_not_given_is_empty_and_filters_are_those_of_nunjucks(
    tmp_path: Path, prompt: str, expected: str
) -> None:
    data = {"providers": ["echo"], "prompts": [prompt], "tests": [{"vars": VALUES}]}
    found = read_one(tmp_path, "p.json", json.dumps(data))
    assert (turns(found), found.problems) == ([expected], ())


@pytest.mark.parametrize("missing", ["question", "message", "sistem"])
def test_what_the_user_says_or_a_slip_is_not_left_out(tmp_path: Path, missing: str) -> None:
    data = {
        "providers": ["echo"],
        "prompts": [f"{{{{a}}}} {{{{{missing}}}}}"],
        "tests": [{"vars": {"a": "x", "system": "s"}}],
    }
    found = read_one(tmp_path, "p.json", json.dumps(data))
    ((_, message),) = messages_of(found)
    assert f"the variable `{missing}` is not given" in message


def test_tests_may_take_over_keys_of_others(tmp_path: Path) -> None:
    config = (
        "providers: [x]\nprompts: ['{{q}}']\nshared: &c {metadata: {conversationId: c1}}\ntests:\n"
        "- {<<: *c, vars: {q: Block my card}}\n- {<<: *c, vars: {q: 'Yes, do it'}}\n"
    )
    assert turns(read_one(tmp_path, "p.yaml", config)) == [["Block my card", "Yes, do it"]]


FAULTS: list[tuple[str, int, str, str]] = [
    ("prompts:\n- ok\n- '{{b}}'\ntests:\n- vars: {a: x}\n", 6, "the variable `b` is not given; prompts[1]", "add `b`"),
    ("prompts:\n- ok\n- '{% if a %}x{% endif %}'\ntests: [{vars: {a: x}}]\n", 4, "is a program", "for each case"),
    ("prompts:\n- ok\n- '{{ a | rot13 }}'\ntests: [{vars: {a: x}}]\n", 4, "filter `rot13` is not known", "upper"),
    ("prompts:\n- ok\n- '{{ env.KEY }}'\n", 4, "depends on the environment", "write the text"),
    ("prompts:\n- ok\n- '{{ _conversation[0].output }}'\n", 4, "depends on earlier answers", "variable"),
    ("prompts:\n- ok\n- '{{ a + 1 }}'\n", 4, "more than a variable", "write the text"),
    ("prompts:\n- ok\n- '{{ a }} {{ b'\ntests: [{vars: {a: x}}]\n", 4, "`{{` is not closed", "write `}}`"),
    ("prompts:\n- ok\n- '{{ a }}'\ntests:\n- vars: {a: {b: 1}}\n", 6, "`a` is an object", "| dump"),
    ("prompts:\n- ok\n- file://p.py\n", 4, "'p.py' is a program, which is not run", "name that"),
    ("prompts:\n- ok\n- file://p.js:fn\n", 4, "is a program", "name that"),
    ("prompts:\n- ok\n- exec:run.sh\n", 4, "is a program", "name that"),
    ("prompts:\n- ok\n- https://example.com/p.txt\n", 4, "is no file of the folder", "a copy"),
    ("prompts:\n- ok\n- file://missing.txt\n", 4, "missing.txt", ""),
    ("prompts:\n- ok\n- file://../../etc/passwd\n", 4, "leads out of the folder", "a copy"),
    ("prompts:\n- ok\n- 7\n", 4, "prompts[1]: is no prompt", "write a text"),
    ("prompts:\n- ok\n- file://none*.txt\n", 4, "no file of the folder fits", "name a file"),
    ("prompts: [ok]\ntests:\n- {}\n- 7\n", 5, "tests[1]: is no test", "write `vars:`"),
    ("prompts: [ok]\ntests:\n- {}\n- file://gen.py:make\n", 5, "is a program", "name that"),
    ("prompts: [ok]\ntests:\n- {}\n- {path: file://gen.js}\n", 5, "is a program", "name that"),
    ("prompts: [ok]\ntests:\n- {}\n- {$ref: '#/x'}\n", 5, "references are not followed", "here"),
    ("prompts: [ok]\ntests:\n- {}\n- https://docs.google.com/x\n", 5, "is no file of the folder", "a copy"),
    ("prompts: [ok]\ntests:\n- {}\n- file://t.xlsx\n", 5, "is not read", "CSV"),
    ("prompts: [ok]\ntests:\n- {}\n- {vars: {a: file://gone.txt}}\n", 5, "gone.txt", ""),
    ("prompts: [{raw: ok, label: l}]\ntests:\n- {}\n- {prompts: [m]}\n", 5, "names no prompt", "labels"),
    ("prompts: [ok]\ntests:\n- {}\n- {options: {transformVars: x}}\n", 5, "`transformVars` is a program", "write"),
    ("prompts: [ok]\ntests: [{}]\nscenarios:\n- {tests: [{}]}\n", 5, "a scenario needs data", "config"),
    ("prompts: [ok]\ntests: [{}]\ndefaultTest: file://d.yaml\n", 4, "d.yaml", ""),
]


@pytest.mark.parametrize(("text", "line", "message", "fix"), FAULTS)
def test_what_cannot_be_read_says_where_and_costs_no_other(
    tmp_path: Path, text: str, line: int, message: str, fix: str
) -> None:
    found = config(tmp_path, text)
    assert "ok" in turns(found)
    (problem,) = found.problems
    assert message in problem.message
    assert fix in problem.fix
    if problem.file == found.file:
        assert problem.line == line


def test_prompts_in_files(tmp_path: Path) -> None:
    text = (
        "prompts: [file://p.txt, one.md, {id: file://chat.json, label: c}, 'more/*.txt', file://l.jsonl, file://t.csv]"
    )
    files = {
        "p.txt": "First {{a}}\n\n---\nSecond {{a}}\n ---\n",
        "one.md": "# {{a}}\n---\nrest\n",
        "chat.json": '[{"role": "system", "content": "s"}, {"role": "user", "content": "chat {{a}}"}]',
        "more/x.txt": "more {{a}}",
        "l.jsonl": '[{"role": "user", "content": "line {{a}}"}]\n',
        "t.csv": "prompt,label\ncell {{a}},l\n",
    }
    found = config(tmp_path, f"{text}\ntests: [{{vars: {{a: 1}}}}]\n", files)
    assert found.problems == ()
    expected = ["First 1", "Second 1", "# 1\n---\nrest\n", "chat 1", "more 1", "line 1", "cell 1"]
    assert turns(found) == expected
    assert found.queries[3].expected["prompt"] == {
        "id": "file://chat.json",
        "label": "c",
        "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "chat 1"}],
    }


def test_a_fault_in_a_file_of_prompts_names_its_line(tmp_path: Path) -> None:
    found = config(tmp_path, "prompts: [file://p.txt]", {"p.txt": "ok\n---\n\nSecond\n{% set a = 1 %}\n"})
    assert turns(found) == ["ok"]
    ((file, line),) = [(problem.file, problem.line) for problem in found.problems]
    assert (file, line) == ("p.txt", 5)


def test_tests_in_files(tmp_path: Path) -> None:
    text = "prompts: ['{{a}}']\ntests: [file://t/*.yaml, t.json, file://t.jsonl, file://t.csv, {vars: file://v.yaml}]"
    files = {
        "t/1.yaml": "- vars: {a: y1}\n- vars: {a: y2}\n",
        "t/2.yaml": "vars: {a: y3}\n",
        "t.json": '[{"vars": {"a": "j"}}, {"a": "row"}]',
        "t.jsonl": '{"vars": {"a": "l"}}\n',
        "t.csv": "a,b,__expected,__expected2,__metadata:k,__metadata:m[],__prefix,__description\n"
        'c,,"similar(0.8): yes",contains: x,v,"p, q\\, r",Pre ,d\n',
        "v.yaml": "a: v\n",
    }
    found = config(tmp_path, text, files)
    assert found.problems == ()
    assert turns(found) == ["y1", "y2", "y3", "j", "row", "l", "Pre c", "v"]
    row = found.queries[6]
    assert row.expected == {
        "vars": {"a": "c", "b": ""},
        "__expected": "similar(0.8): yes",
        "__expected2": "contains: x",
        "description": "d",
        "options": {"prefix": "Pre "},
        "metadata": {"k": "v", "m": ["p", "q, r"]},
    }
    assert understand(row.expected).answer == "yes"


def test_a_pattern_makes_no_config_a_part_of_another(tmp_path: Path) -> None:
    text = RUN + "prompts: [{name}]\ntests: ['*.yaml']\n"
    found = read(tmp_path, {f"{name}.yaml": text.replace("{name}", name) for name in ("a", "b")})
    assert [item.file for item in found] == ["a.yaml", "b.yaml"]


def test_a_broken_row_of_a_file_of_tests_costs_no_other(tmp_path: Path) -> None:
    found = config(tmp_path, "prompts: ['{{a}}']\ntests: file://t.csv", {"t.csv": "a,b\nx,1\ny\nz,2\n"})
    assert turns(found) == ["x", "z"]
    assert [(problem.file, problem.line) for problem in found.problems] == [("t.csv", 3)]


def test_variables_in_files(tmp_path: Path) -> None:
    text = "prompts: ['{{a}}']\ntests: [{vars: {a: file://a.txt}}, {vars: {a: file://b.yaml}}, "
    text += "{vars: {a: file://c.png}}, {vars: {a: [x, file://a.txt]}}, {vars: {a: file://n*.txt}}]"
    files = {"a.txt": " text\n", "b.yaml": "k: [1]\n", "n1.txt": "one", "n2.txt": "two"}
    found = config(tmp_path, text, files)
    assert (turns(found), found.problems) == (["text", '{"k": [1]}', "[c.png]", "x", "text", "one", "two"], ())
    assert found.queries[2].setup.attachments == ("c.png",)
    assert found.queries[0].expected == {"vars": {"a": "file://a.txt"}}


def test_what_a_test_expects_stays_and_is_understood(tmp_path: Path) -> None:
    text = """
description: All
prompts: ['{{q}}']
assertionTemplates: {short: {type: word-count}}
defaultTest:
  threshold: 0.5
  assert: [{type: llm-rubric, value: kind}, {type: "trajectory:tool-used", value: [find, get]}]
tests:
  - description: One
    vars: {q: Who?, a: Ann}
    assert:
      - type: contains
        value: A
      - {type: assert-set, assert: [{type: equals, value: 'It is {{ a }}'}]}
      - {type: "trajectory:tool-args-match", value: {name: find, args: {id: 1}}}
      - {type: "not-trajectory:tool-used", value: drop}
      - {type: "trajectory:tool-sequence", value: {steps: [find, send]}}
      - {type: "trajectory:tool-used", value: {name: never, max: 0}}
      - {type: tool-call-f1, value: "a1, a2"}
  - vars: {q: Why?}
    options: {disableDefaultAsserts: true}
"""
    found = config(tmp_path, text)
    first, second = found.queries
    assert first.expected.keys() == {"description", "vars", "assert", "config"}
    assert first.expected["config"].keys() == {"description", "defaultTest", "assertionTemplates"}
    expected = understand(first.expected)
    assert expected.answer == "It is Ann"
    assert expected.tool_calls == (
        ToolCall("find", {"id": 1}),
        ToolCall("drop", unwanted=True),
        ToolCall("find"),
        ToolCall("send"),
        ToolCall("never", unwanted=True),
        ToolCall("a1"),
        ToolCall("a2"),
        ToolCall("get"),
    )
    assert understand(second.expected).tool_calls == ()


TALK = "prompts: ['{% for m in _conversation %}{{m.input}}{% endfor %}{{q}}']\ntests:\n"
CONVERSATIONS: list[tuple[str, list[Any]]] = [
    (("prompts: ['{{q}}']\ntests: [{vars: {q: a}, metadata: {conversationId: 1}}, {vars: {q: x}}, "
     "{vars: {q: b}, metadata: {conversationId: 1}}, {vars: {q: c}, options: {conversationId: 1}}]"),
     [["a", "b", "c"], "x"]),
    (TALK + "- vars: {q: a}\n- vars: {q: b}\n", [["a", "b"]]),
    (TALK + "- {vars: {q: a}, metadata: {conversationId: s}}\n- {vars: {q: b}, metadata: {conversationId: t}}\n",
     ["a", "b"]),
    (TALK.replace("tests:\n", "scenarios:\n") + "- {config: [{vars: {n: 1}}, {vars: {n: 2}}], "
     "tests: [{vars: {q: a}}, {vars: {q: b}}]}\n", [["a", "b"], ["a", "b"]]),
    (("prompts: ['1 {{q}}', '2 {{q}}']\ndefaultTest: {metadata: {conversationId: d}}\n"
     "tests: [{vars: {q: a}}, {vars: {q: b}}]"), [["1 a", "1 b"], ["2 a", "2 b"]]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), CONVERSATIONS)
def test_tests_of_a_conversation_are_its_turns(tmp_path: Path, text: str, expected: list[Any]) -> None:
    found = config(tmp_path, text)
    assert (turns(found), found.problems) == (expected, ())
    for query in found.queries:
        if len(query.turns) > 1:
            assert [item["vars"]["q"] for item in query.expected["turns"]] == [turn[-1] for turn in query.turns]


def test_a_conversation_that_lacks_a_turn_is_left_out(tmp_path: Path) -> None:
    text = "prompts: ['{{q}}']\ndefaultTest: {metadata: {conversationId: d}}\ntests: [{vars: {q: a}}, {}]"
    found = config(tmp_path, text + "\n")
    assert (turns(found), len(found.problems)) == ([], 1)


OTHERS: list[tuple[str, str]] = [
    ("a.json", '{"prompts": ["a"], "expected_responses": ["b"]}'),
    ("a.json", '[{"prompt": "a"}]'),
    ("a.yaml", "eval_set: 1\nqueries: [{query: a}]\n"),
    ("a.yaml", "stimuli: [{prompt: a}]\n"),
]


@pytest.mark.parametrize(("name", "content"), OTHERS)
def test_other_formats_are_not_taken(tmp_path: Path, name: str, content: str) -> None:
    assert read_one(tmp_path, name, content).format not in ("promptfoo", "unknown")


@pytest.mark.parametrize(
    "content", ["prompts: [a]\n", "tests: [{name: unit}]\nproviders: [x]\n", "tests: [{vars: {a: 1}}]\n"]
)
def test_files_with_some_of_its_words_are_none(tmp_path: Path, content: str) -> None:
    refused(tmp_path, {"a.yaml": content})


def test_a_config_in_json_is_no_m365_document(tmp_path: Path) -> None:
    found = read_one(tmp_path, "p.json", '{"prompts": ["Hi"], "providers": ["echo"]}')
    assert (found.format, turns(found)) == ("promptfoo", ["Hi"])


def test_without_prompts_the_query_is_the_variable_that_is_called_so(tmp_path: Path) -> None:
    config = """
    providers: [{id: https, config: {body: '{"question": "{{ question }}"}'}}]
    tests:
      - vars: {question: Is the bakery open?, link: https://example.com}
      - vars: {prompt: Until when?}
      - vars: {text_only: On Sundays too?}
      - vars: {first: a, second: b}
    """
    found = read_one(tmp_path, "promptfooconfig.yaml", textwrap.dedent(config))
    assert turns(found) == ["Is the bakery open?", "Until when?", "On Sundays too?"]
    (problem,) = found.problems
    assert "the config has no prompts, and several variables could be the query: first, second" in problem.message
    assert 'files: {"promptfooconfig.yaml": {format: promptfoo, columns: {query: NAME}}}' in problem.fix


def test_a_variable_that_is_named_as_the_query_stands_for_prompts_that_are_programs(tmp_path: Path) -> None:
    config = "prompts: [file://ask.py]\nproviders: [echo]\ntests:\n  - vars: {asked: Is it open?, day: Sunday}\n"
    found = read_one(tmp_path, "promptfooconfig.yaml", config)
    line = 'files: {"promptfooconfig.yaml": {format: promptfoo, columns: {query: NAME}}}'
    assert (found.queries, line in found.problems[0].fix) == ((), True)
    (named,) = read(tmp_path, {"formats.yaml": f"formats: 1\n{line.replace('NAME', 'asked')}\n"})
    assert (turns(named), named.problems) == (["Is it open?"], ())


def test_a_prompt_in_json_may_be_json_only_once_the_variables_are_put_in(tmp_path: Path) -> None:
    prompt = '[{"role": "system", "content": {{ rules | dump }}},\n {"role": "user", "content": "{{ question }}"}]'
    config = (
        "prompts: [file://chat.json]\nproviders: [echo]\ntests:\n  - vars: {rules: 'Say \"no\".', question: Open?}\n"
    )
    found = {item.file: item for item in read(tmp_path, {"promptfooconfig.yaml": config, "chat.json": prompt})}
    assert turns(found["promptfooconfig.yaml"]) == ["Open?"]
    assert list(found) == ["promptfooconfig.yaml"]


@pytest.mark.parametrize("prompts", ["", "prompts: ['{{prompt}}']\n"])
def test_the_tests_of_a_red_team_are_to_be_made_first(tmp_path: Path, prompts: str) -> None:
    config = f"targets: [file://chat.py]\n{prompts}redteam: {{purpose: a bakery, plugins: [pii]}}\n"
    found = read_one(tmp_path, "promptfooconfig.yaml", config)
    assert (found.format, found.queries) == ("promptfoo", ())
    assert [problem.message for problem in found.problems] == [
        "redteam: its tests are made when promptfoo runs, and the config has no others"
    ]


def test_a_description_is_the_id_where_no_other_query_has_it(tmp_path: Path) -> None:
    tests = "tests: [{description: Greets, vars: {a: x}}, {description: D, vars: {a: [y, z]}}, {vars: {a: w}}]\n"
    found = config(tmp_path, "prompts: ['{{a}}']\n" + tests)
    ids = [query.id for query in found.queries]
    assert ids[0] == "Greets"
    assert all(id.startswith("q-") for id in ids[1:])
    # Of two prompts each makes a query of the test.
    found = config(tmp_path, "prompts: ['{{a}}', 'Say {{a}}']\n" + tests)
    assert all(query.id.startswith("q-") for query in found.queries)


BOMBS = [
    "prompts: ['{{a}}']\ntests: [{vars: {" + ", ".join(f"v{n}: [{', '.join('x' * 99)}]" for n in range(30)) + "}}]\n",
    "prompts: ['{{a}}']\ntests: [{vars: {a: '" + "{{b}}" * 999 + "', b: '" + "{{c}}" * 999 + "', c: x}}]",
    "prompts: ['{{a}}']\ntests: [{vars: {a: '" + "{{a}}" * 999 + "'}}]\n",
    "prompts: [" + ", ".join(f"p{n}" for n in range(300)) + "]\ntests: [" + ", ".join(["{}"] * 300) + "]\n",
    "prompts: ['" + "{{" * 50_000 + "}}']\n",
    "prompts: ['" + "{{ a" + " | upper" * 5_000 + "}}']\n",
    "prompts: ['" + "{% for m in _conversation %}" * 5_000 + "']\n",
    "prompts: ['" + "{# " * 50_000 + "']\n" + "tests: [{vars: {a: '" + "{% raw %}" * 50_000 + "'}}, 7]\n",
    "prompts: ['{{ a[" + " " * 99_999 + "(" * 99_999 + "}}']\n",
    "prompts: ['{{ a" + " | dump" * 99 + "}}']\ntests: [{vars: {a: '\"'}}]\n",
    "prompts: ['{{ a | join(\"" + "-" * 99_999 + "\") }}']\ntests: [{vars: {a: [" + "1, " * 29_999 + "1]}}]\n",
    "prompts: ['{{v1}}" + "".join(f"{{{{w{n}}}}}" for n in range(9_999)) + "']\ntests: [{vars: {"
    + ", ".join(f"v{n}: x" for n in range(9_999)) + "}}]\n",
    "prompts: ['" + "{{ a | upper | first }}" * 9_999 + "']\ntests: [{vars: {a: " + "x" * 99_999 + "}}]\n",
    "prompts: ['{{a}}']\nscenarios: [{config: [" + "{}, " * 999 + "{}], tests: [" + "{}, " * 999 + "{}]}]\n",
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(BOMBS)))
def test_what_would_explode_ends_at_once_with_an_error(tmp_path: Path, number: int) -> None:
    began = time.process_time()
    found = read_one(tmp_path, "promptfooconfig.yaml", "providers: [echo]\n" + BOMBS[number])
    assert time.process_time() - began < 2
    assert found.problems
    assert len(found.queries) <= 5_000


KEYS = st.sampled_from(["vars", "assert", "options", "metadata", "prompts", "raw", "a", "conversationId", "role"])
TEXTS = st.sampled_from(
    ["x", "{{a}}", "{{b|dump}}", "{%", "file://a.txt", "file://*", "{{a.a[0]}}", "[", "- role: user"]
)
ANY_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(ANY_VALUES, max_size=3), st.lists(ANY_VALUES, max_size=3), ANY_VALUES, ANY_VALUES)
def test_anything_like_a_config_is_read_or_reported(
    tmp_path: Path, prompts: list[Any], tests: list[Any], default: Any, scenarios: Any
) -> None:
    data = {
        "providers": ["echo"],
        "prompts": ["ok", *prompts],
        "tests": [{"vars": {"a": 1}}, *tests],
        "defaultTest": default,
        "scenarios": scenarios,
    }
    (tmp_path / "p.json").unlink(missing_ok=True)
    (found,) = read(tmp_path, {"p.json": json.dumps(data)})
    assert found.format == "promptfoo"
    assert all(problem.message and problem.fix for problem in found.problems)
    turns_read = sum(len(query.turns) for query in found.queries)
    assert turns_read >= 1 + len(tests) or found.problems
