"""What each target is told, and what is kept from it."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Collection
from typing import Any

import pytest
import yaml

from incumbent.curator.entry import Entry
from incumbent.intake.eval_sets.folder import with_setup
from incumbent.intake.eval_sets.reader import EvalSetRow
from incumbent.intake.expectation import understand
from incumbent.intake.export_round_trip import as_template, carried, carried_id, from_template, without_carried
from incumbent.intake.query import SETUP_FILE, FixtureFolder, Setup
from incumbent.intake.tool_calls import ToolCall
from incumbent.runners.export.item import ExportRemark, json_document, json_line
from incumbent.runners.export.plan import Export, plan_export, writers
from tests.factories import make_entry

SURROGATE = "\ud800"


def entry(expected: Any = None, *turns: str, id: str = "e1", **more: Any) -> Entry:
    return make_entry(id, {"a": 0.9}, turns=turns or ("Hello?",), expected=expected, **more)


def export(name: str, *entries: Entry, keep_placeholders: bool = False) -> Export:
    return plan_export(entries, writers()[name], keep_placeholders=keep_placeholders)


def only(name: str, *entries: Entry) -> Any:
    """The only file of an export, parsed."""
    (text,) = export(name, *entries).written.files.values()
    if name == "promptfoo":
        return yaml.safe_load(text)
    return json.loads(text) if name in ("m365-copilot-eval", "deepeval") else [json.loads(x) for x in text.splitlines()]


def test_the_targets() -> None:
    assert list(writers()) == [
        *("azure-ai-evaluation", "copilot-studio", "deepeval", "inspect", "jsonl", "m365-copilot-eval", "promptfoo")
    ]


@pytest.mark.parametrize(
    ("refused", "why"),
    [
        (entry(setup=Setup(ready=False)), "set-up is not ready"),
        (entry(setup=Setup(attachments=("a.png",))), "a.png"),
        (entry(None, "Mail {{ first_name }}."), "{{ first_name }} is a placeholder"),
        (entry(None, "Mail ${{NAME}}."), "${{NAME}} is a placeholder"),
        (entry(None, "a\0b"), "files cannot"),
        (entry({"x": [float("nan")]}), "files cannot"),
        (entry({"x": {SURROGATE: 1}}), "files cannot"),
        (entry({"files": {"a": "/etc/passwd"}}), "`files`"),
        (entry({"setup": "rm -rf ~", "sandbox": "docker"}), "`sandbox`, `setup`"),
        (entry(None, "one", "two"), "2 turns"),
        (entry({"input": [{"role": "user", "content": "one"}, {"role": "user", "content": "two"}]}, "one", "two"), "2"),
    ],
)
def test_what_is_not_ready_is_named_with_the_reason(refused: Entry, why: str) -> None:
    found = export("inspect", refused)
    assert (found.ids, found.written.files) == ((), {})
    assert [(remark.id, why in remark.message) for remark in found.left_out] == [("e1", True)]


@pytest.mark.parametrize(
    "text",
    [
        "Explain `{{ name }}`.",
        "``a`{{ name }}`` and ``` `{{ x }}`",
        "```\n{{ a }}\n```",
        "Why {{ 1 + 1 }}?",
        "Use {name}.",
        "<thing-id>",
    ],
)
def test_what_may_be_meant_is_no_placeholder(text: str) -> None:
    assert export("jsonl", entry(None, text)).ids == ("e1",)


@pytest.mark.parametrize(
    "text", ["`a` {{ name }} `b`", "`` `{{ name }} ```", "``{{ name }}`", "`" * 100_000 + "a {{ name }}"]
)
def test_what_stands_outside_of_code_is_a_placeholder(text: str) -> None:
    assert "{{ name }} is a placeholder" in export("jsonl", entry(None, text)).left_out[0].message


@pytest.mark.parametrize(
    ("fixtures", "left_out"),
    [
        (None, []),
        (FixtureFolder("fixtures", frozenset({"a.json", "b.json"})), []),
        (
            FixtureFolder("fixtures", frozenset({"a.json"})),
            ["its fixtures are not in fixtures/: b.json"],
        ),
        (
            FixtureFolder("mocks", frozenset()),
            ["its fixtures are not in mocks/: a.json, b.json"],
        ),
    ],
)
def test_an_entry_without_its_fixtures_is_not_ready(fixtures: FixtureFolder | None, left_out: list[str]) -> None:
    needing = entry(setup=Setup(fixtures=("a.json", "b.json")))
    found = plan_export([needing, entry(id="e2")], writers()["jsonl"], fixtures)
    assert list(found.left_out) == [ExportRemark("e1", why) for why in left_out]
    assert found.ids == (("e2",) if left_out else ("e1", "e2"))


def test_a_quarantined_entry_is_left_out_or_exported_alone() -> None:
    hidden, unready = entry(id="e2", quarantined="it\nflaps"), entry(id="e3", setup=Setup(ready=False))
    both = entry(id="e4", quarantined="it flaps", setup=Setup(ready=False))
    every, offered = [both, unready, hidden, entry()], list[str]()

    def choose(ids: Collection[str]) -> Collection[str]:
        offered.extend(ids)
        return ids

    found = plan_export(every, writers()["jsonl"], choose=choose)
    assert (found.ids, [item.id for item in found.left_out], offered) == (("e1",), ["e3"], ["e1"])
    assert found.quarantined == (
        ExportRemark("e2", "it is quarantined: it\nflaps"),
        ExportRemark("e4", "it is quarantined: it flaps"),
    )
    alone = plan_export(every, writers()["jsonl"], in_quarantine=True)
    assert (alone.ids, [item.id for item in alone.left_out], alone.quarantined) == (("e2",), ["e4"], ())


def test_placeholders_can_be_kept_and_attachments_go_where_names_are_enough() -> None:
    assert export("jsonl", entry(None, "{{x}}"), keep_placeholders=True).ids == ("e1",)
    assert export("jsonl", entry(setup=Setup(attachments=("a.png",)))).ids == ("e1",)


@pytest.mark.parametrize(
    ("name", "refused"),
    [
        ("copilot-studio", entry(None, "x" * 1001)),
        ("copilot-studio", entry(None, "one", "two")),
        ("m365-copilot-eval", entry(None, *["x"] * 21)),
        ("deepeval", entry(None, "see [DEEPEVAL:IMAGE:1]")),
        ("deepeval", entry({"expected_output": "see [DEEPEVAL:PDF:1]"})),
        ("deepeval", entry({"context": ["see [DEEPEVAL:IMAGE:1]"]})),
        ("azure-ai-evaluation", entry(None, "one", "two")),
    ],
)
def test_what_a_target_cannot_say_is_left_out(name: str, refused: Entry) -> None:
    assert export(name, refused).ids == ()


def test_messages_with_the_answers_in_between_are_one_input() -> None:
    said = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": "1"},
        {"role": "user", "content": "two"},
    ]
    assert only("inspect", entry({"input": said, "target": ["x", "y"]}, "one", "two"))[0]["input"] == said
    assert only("azure-ai-evaluation", entry({"query": said}, "one", "two"))[0]["query"] == said
    images = [{"role": "user", "content": [{"type": "image", "image": "/etc/passwd"}]}]
    assert only("inspect", entry({"input": images}))[0]["input"] == "Hello?"


def test_fields_of_the_target_are_given_back_and_recorded_answers_are_carried_only() -> None:
    sample = only("inspect", entry({"target": "x", "choices": ["a", "b"], "metadata": {"k": 1}}))[0]
    assert (sample["target"], sample["choices"], sample["metadata"]["k"]) == ("x", ["a", "b"], 1)
    assert "expected" not in sample["metadata"]["incumbent"]
    row = only("azure-ai-evaluation", entry({"ground_truth": "x", "context": "c", "response": "once"}))[0]
    assert (row["ground_truth"], row["context"], "response" in row) == ("x", "c", False)
    assert json.loads(row["incumbent"])["expected"]["response"] == "once"


def test_a_document_of_m365_comes_back_as_it_was() -> None:
    single = {"expected_response": "x", "evaluators": {"ExactMatch": {"case_sensitive": True}}, "context": "c"}
    thread: dict[str, Any] = {
        "name": "n",
        "turns": [{"expected_response": "1"}, {"evaluators": {"mine": {"options": {}}}}],
    }
    defaults = {"default_evaluators": {"Relevance": {"threshold": 3}}}
    found = only("m365-copilot-eval", entry({**single, **defaults}), entry({**thread, **defaults}, "a", "b", id="e2"))
    assert found["default_evaluators"] == defaults["default_evaluators"]
    one, two = found["items"]
    assert one.pop("extensions")["incumbent"]["id"] == "e1"
    assert one == {"prompt": "Hello?", **single}
    assert "expected" not in two.pop("extensions")["incumbent"]
    assert two["turns"] == [{"prompt": "a", "expected_response": "1"}, {"prompt": "b", **thread["turns"][1]}]


def test_default_evaluators_that_not_all_share_are_written_into_the_items() -> None:
    defaults: dict[str, Any] = {"default_evaluators": {"Relevance": {}}}
    kept = {"evaluators": {"Coherence": {}}, "evaluators_mode": "replace"}
    found = only(
        "m365-copilot-eval",
        entry({**defaults, "evaluators": {"Coherence": {}}}, id="e1"),
        entry({**defaults, **kept}, id="e2"),
        entry(id="e3"),
    )
    assert "default_evaluators" not in found
    first, second, third = found["items"]
    assert (first["evaluators"], first["evaluators_mode"]) == ({"Relevance": {}, "Coherence": {}}, "replace")
    assert (second["evaluators"], "evaluators" in third) == ({"Coherence": {}}, False)


@pytest.mark.parametrize(
    ("evaluators", "known"),
    [
        ({"Citations": {"threshold": 1, "citation_format": "mixed"}}, True),
        ({"RetrievalQuery": {"capability": "Email", "selector": "x", "includes": ["y"]}}, True),
        ({"RetrievalResult": {"capability": "Email", "expected_items": [{"retrievalExtract_contains": "x"}]}}, True),
        ({"RetrievalResult": {"capability": "Email"}}, False),
        ({"RetrievalQuery": {"capability": "Email"}}, False),
        ({"Relevance": {"threshold": 7}}, False),
        ({"Relevance": {"threshold": True}}, False),
        ({"Citations": {"threshold": 1.5}}, False),
        ({"Relevance": {"odd": 1}}, False),
        ({"no name": {}}, False),
        ({"Relevance": None}, False),
    ],
)
def test_evaluators_that_the_schema_refuses_are_carried_and_named(evaluators: Any, known: bool) -> None:
    found = export("m365-copilot-eval", entry({"evaluators": evaluators}))
    (item,) = json.loads(found.written.files["regression_set.evals.json"])["items"]
    assert ("evaluators" in item, len(found.written.remarks)) == (known, 0 if known else 1)


def test_a_test_set_of_copilot_studio_beyond_its_limit_is_several() -> None:
    files = export("copilot-studio", *(entry(id=f"e{number:03}") for number in range(201))).written.files
    rows = {name: list(csv.reader(text.splitlines())) for name, text in files.items() if name.endswith(".csv")}
    assert {name: len(found) - 1 for name, found in rows.items()} == {
        "regression_set-01.csv": 100,
        "regression_set-02.csv": 100,
        "regression_set-03.csv": 1,
    }
    listed = json.loads(files["regression_set.entries.json"])["entries"]
    assert [(listed[100][key]) for key in ("file", "case", "id")] == ["regression_set-02.csv", 1, "e100"]


def test_columns_of_copilot_studio_are_given_back_and_formulas_stay_and_are_named() -> None:
    own = {"Expected response": "=1+1", "Test Method Type": "ExactMatch", "Passing Score": ""}
    found = export("copilot-studio", entry(own), entry({"target": "y"}, id="e2"), entry(id="e3"))
    rows = list(csv.reader(found.written.files["regression_set.csv"].splitlines()))
    assert rows[1:] == [
        ["Hello?", "=1+1", "ExactMatch", ""],
        ["Hello?", "y", "CompareMeaning", "70"],
        ["Hello?", "", "", ""],
    ]
    assert [remark.id for remark in found.written.remarks] == ["e1"]


def test_promptfoo_runs_no_code_of_customers() -> None:
    fine = [
        {"type": "contains", "value": "x", "weight": 2},
        {"type": "not-contains-any", "value": ["x", "y", 1, True, None], "threshold": None, "metric": "m"},
        {"type": "regex", "value": "^[0-9]+ ships"},
        {"type": "is-json"},
    ]
    reference = {"$ref": "file:///etc/passwd"}
    unsafe: list[Any] = [
        {"type": "contains-any", "value": [[reference], ["{{env.HOME}}"]]},
        {"type": "contains-any", "value": [reference]},
        {"type": "contains", "value": reference},
        {"type": "contains", "value": "x", "metric": reference},
        {"type": "contains", "value": "x", "metric": [["{{env.HOME}}"]]},
        {"type": "contains", "value": "x", "metric": "{{env.HOME}}"},
        {"type": "contains", "value": "x", "threshold": reference},
        {"type": "contains", "value": "x", "weight": True},
        {"type": "regex", "value": "^(a+)+$"},
        {"type": "not-regex", "value": ["a*b"]},
        {"type": "is-json", "value": '{"pattern": "^(a+)+$"}'},
        {"type": "javascript", "value": "process.exit()"},
        {"type": "contains", "value": "file://x.py"},
        {"type": "contains-all", "value": ["{{ env.SECRET }}"]},
        {"type": "contains", "value": "x", "transform": "output"},
        {"type": "contains", "value": {"x": 1}},
        {"type": "contains", "value": "x", "threshold": "1"},
        {"type": ["contains"]},
        "contains",
    ]
    found = export("promptfoo", entry({"assert": [*fine, *unsafe]}))
    (test,) = yaml.safe_load(found.written.files["promptfooconfig.yaml"])["tests"]
    assert test["assert"] == fine
    (remark,) = found.written.remarks
    assert remark.id == "e1"
    assert remark.message.startswith(f"assert[4] (and {len(unsafe) - 1} more) is carried, and not run: its `value` or")
    for each in unsafe:
        (remark,) = export("promptfoo", entry({"turns": [{}, {"assert": [each]}]}, "a", "b")).written.remarks
        assert remark.message.startswith("turns[1].assert[0] is carried, and not run: ")
        assert re.search("; (?:write|leave|begin)", remark.message)


NESTED: dict[str, Any] = {"$ref": "file:///etc/passwd", "a": [{"$ref": "file:///etc/passwd"}, ["{{env.HOME}}"]]}
OWN_FIELDS = {
    "inspect": ("metadata", "choices", "target"),
    "azure-ai-evaluation": ("context", "ground_truth"),
    "deepeval": ("additional_metadata", "custom_column_key_values", "context", "retrieval_context", "comments"),
    "m365-copilot-eval": ("extensions", "context", "evaluators", "default_evaluators"),
    "promptfoo": ("assert", "vars", "metadata", "options"),
    "jsonl": ("expected_response", "metadata"),
    "copilot-studio": ("Test Method Type", "Passing Score"),
}


def dicts(data: Any) -> list[dict[str, Any]]:
    inner = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    return [*([data] if isinstance(data, dict) else []), *(found for each in inner for found in dicts(each))]


@pytest.mark.parametrize("name", writers())
@pytest.mark.parametrize("held", [NESTED, [NESTED], [[NESTED]], {"$ref": "x"}, {"mine": {"options": NESTED}}])
def test_no_export_lets_structure_of_a_stranger_through(name: str, held: Any) -> None:
    expected = {**dict.fromkeys(OWN_FIELDS[name], held), "response": "x"}
    found = export(name, entry(expected), entry({"turns": [expected, expected]}, "a", "b", id="e2"))
    texts = [text for file, text in found.written.files.items() if not file.endswith((".csv", ".jsonl"))]
    texts += found.written.files.get("regression_set.jsonl", "").splitlines()
    assert not any("$ref" in each for text in texts for each in dicts(yaml.safe_load(text)))
    # A mapping is no list of assertions, and what has one column a field takes texts alone.
    silent = name in ("jsonl", "copilot-studio") or (name == "promptfoo" and isinstance(held, dict))
    assert ("e1" in {remark.id for remark in found.written.remarks}) is not silent


def test_what_was_expected_is_sealed_in_the_record_where_it_is_not_flat() -> None:
    flat, deep = {"a": [1, "x", None], "b": True}, {"a": {"b": "{{env.HOME}}"}}
    one, two = only("jsonl", entry(flat), entry(deep, id="e2"))
    assert one["incumbent"]["expected"] == flat
    assert "expected" not in two["incumbent"]
    assert "{{" not in two["incumbent"]["expected_json"]
    assert json.loads(two["incumbent"]["expected_json"]) == deep
    assert carried(two)["expected"] == deep
    assert "expected" not in carried({"incumbent": {"id": "e1", "expected_json": "{broken"}})
    assert "expected" not in carried({"incumbent": {"id": "e1", "expected_json": "1" * 1_000_001}})


def test_turns_of_a_conversation_are_tests_of_one_conversation_in_promptfoo() -> None:
    expected = {"turns": [{"assert": [{"type": "equals", "value": "1"}]}, {"expected_response": "2"}]}
    config = only("promptfoo", entry(expected, "a", "b"))
    assert config["evaluateOptions"] == {"maxConcurrency": 1}
    assert [test["metadata"]["conversationId"] for test in config["tests"]] == ["e1", "e1"]
    assert [[each["type"] for each in test["assert"]] for test in config["tests"]] == [["equals"], ["llm-rubric"]]
    assert "{{" not in config["tests"][0]["metadata"]["incumbent"]


def test_tool_calls_that_deepeval_cannot_say_are_named_and_unwanted_ones_never_expected() -> None:
    odd = entry({"expected_tools": [{"name": "f", "arguments": "x=1"}]})
    found = export("deepeval", odd)
    assert [remark.id for remark in found.written.remarks] == ["e1"]
    graders = [{"type": "tool-calls", "config": {"disallowed": ["wipe"]}}]
    for name in ("jsonl", "inspect", "azure-ai-evaluation", "deepeval"):
        text = "".join(export(name, entry({"graders": graders})).written.files.values())
        assert '"name": "wipe"' not in text


def test_conversational_goldens_take_their_own_fields_back() -> None:
    (golden,) = only("deepeval", entry({"scenario": "s", "user_description": "u", "expected_outcome": "o"}, "a", "b"))
    assert [golden[key] for key in ("scenario", "user_description", "expected_outcome")] == ["s", "u", "o"]
    (golden,) = only("deepeval", entry(None, "a", "b"))
    assert golden["scenario"] == "The user says, in this order:\n1. a\n2. b"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "{{ x }}",
        "{% raw %}",
        "{# c #}",
        "a #} b",
        "file://x",
        " file://x",
        "package:x",
        "a\n",
        '{"a": {"b": 1}}',
    ],
)
def test_templates_say_the_text_again(text: str) -> None:
    template = as_template(text)
    assert from_template(template) == text
    assert not template.lstrip().startswith(("file://", "package:"))
    assert not template.endswith("\n")


@pytest.mark.parametrize("sign", ["\x85", "\u2028", "\ufeff", "\uffff"])
def test_signs_that_end_a_line_or_mean_nothing_are_escaped(sign: str) -> None:
    for written in (json_line({"a": sign}), json_document({"a": sign})):
        assert sign not in written
        assert json.loads(written) == {"a": sign}


def test_what_an_export_left_is_found_wherever_it_may_stand() -> None:
    block: dict[str, Any] = {"id": "e1", "expected": {"expected_tools": ["find"]}}
    places: list[Any] = [
        {"incumbent": block},
        {"incumbent": json.dumps(block)},
        *({key: {"incumbent": block}} for key in ("extensions", "metadata", "additional_metadata")),
        {"turns": [{"metadata": {"incumbent": block}}]},
    ]
    for held in places:
        assert carried_id(held) == "e1"
        assert understand(held).tool_calls == (ToolCall("find"),)
        assert understand(without_carried(held)).tool_calls == (ToolCall("find"),)
        assert carried_id(without_carried(held)) is None


@pytest.mark.parametrize(
    "held", [None, "x", {"incumbent": "x"}, {"incumbent": "{"}, {"incumbent": {"id": 1}}, {"metadata": ["incumbent"]}]
)
def test_what_is_none_is_no_record(held: Any) -> None:
    assert carried_id(held) is None
    assert without_carried({"turns": ["x"], "incumbent": {"id": "e1"}}) == {"turns": ["x"]}
    assert without_carried({"a": 1, "metadata": {"incumbent": {"id": "e1"}}}) == {"a": 1}


def test_a_lone_response_is_expected_and_one_beside_results_is_not() -> None:
    assert understand({"response": "x"}).answer == "x"
    assert understand({"response": "x", "scores": {}}).answer is None


def test_whether_the_set_up_stands_is_said_only_where_it_does_not() -> None:
    assert "ready" not in SETUP_FILE.dump_python(Setup())
    assert SETUP_FILE.dump_python(Setup(ready=False))["ready"] is False


@pytest.mark.parametrize(
    ("carried_setup", "said", "setup"),
    [
        ({"cost": 2.0, "fixtures": ["week.json"]}, Setup(), Setup(cost=2.0, fixtures=("week.json",))),
        ({"cost": 2.0}, Setup(cost=3.0), Setup(cost=3.0)),
        ({"cost": "dear"}, Setup(), Setup()),
        ("docker", Setup(), Setup()),
        (None, Setup(), Setup()),
    ],
)
def test_the_set_up_that_was_carried_counts_where_the_file_has_none(
    carried_setup: Any, said: Setup, setup: Setup
) -> None:
    row = EvalSetRow(
        turns=("Hello?",), line=1, expected={"incumbent": {"id": "e1", "setup": carried_setup}}, setup=said
    )
    assert with_setup(row).setup == setup
