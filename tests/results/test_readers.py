"""One contract for all formats of results: recognised by content, read whole, and never trusted."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.files.snapshot import ReadingLimits
from incumbent.ledger.releases.record import CaseResult, Outcome
from incumbent.runners.results.reader import read_results, result_readers
from incumbent.runners.results.result_file import ResultFile
from incumbent.taxonomy.config import RESULT_FILES
from tests.results.samples import COPILOT_STUDIO, SAMPLES, TEXT

LIMITS = ReadingLimits(file_bytes=100_000, nesting_depth=20, nodes=10_000)
BY_TEXT = {"copilot-studio"}
NAMES = [reader.name for reader in result_readers()]


def read(content: str | bytes, file: str = "x.json", form: str | None = None) -> tuple[list[CaseResult], list[str]]:
    data = content.encode() if isinstance(content, str) else content
    results, problems = read_results(data, file, form, LIMITS)
    return list(results), [f"{problem.line}: {problem.message}" for problem in problems]


def test_every_reader_has_a_sample() -> None:
    assert set(NAMES) == set(SAMPLES)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_recognised_by_its_content_and_by_no_other_reader(name: str) -> None:
    file, content = SAMPLES[name]
    source = ResultFile(content.encode(), file, LIMITS)
    assert [reader.name for reader in result_readers() if reader.fits(source)] == [name]


@pytest.mark.parametrize("name", NAMES)
def test_every_outcome_is_read(name: str) -> None:
    file, content = SAMPLES[name]
    results, problems = read(content, file)
    assert problems == []
    by_text = name in BY_TEXT
    known = {"q1": "one", "q2": "two", "q3": "three", TEXT: TEXT}
    # DeepEval names cases that have no name.
    named = {"test_case_2": TEXT}

    def about(item: CaseResult) -> str | None:
        return known.get(item.turns[0]) if by_text else named.get(item.entry or "", item.entry or "".join(item.turns))

    assert sorted((str(about(item)), item.outcome.value) for item in results) == sorted(
        [("one", "passed"), ("one", "failed"), ("two", "failed"), ("three", "error"), (TEXT, "passed")]
    )
    assert read(content, "renamed.txt", name) == (results, [])
    first = next(item for item in results if item.outcome is Outcome.PASSED and about(item) == "one")
    assert first.seconds in (1.5, None)
    assert first.tokens in (12, None)
    assert first.cost in (0.25, None)


@pytest.mark.parametrize(
    ("name", "seconds", "tokens", "cost"),
    [
        ("promptfoo", 1.5, 12, 0.25),
        ("inspect", 1.5, 12, None),
        ("deepeval", 1.5, None, 0.25),
        ("junit", 1.5, None, None),
        ("json-lines", 1.5, 12, 0.25),
        ("azure-ai-evaluation", None, None, None),
        ("m365-copilot-eval", None, None, None),
    ],
)
def test_what_a_run_took_is_read_where_it_is_stated(
    name: str, seconds: float | None, tokens: int | None, cost: float | None
) -> None:
    results, _ = read(SAMPLES[name][1])
    first = next(item for item in results if item.entry == "one")
    assert (first.seconds, first.tokens, first.cost) == (seconds, tokens, cost)


def test_no_part_of_a_sum_hides_that_another_is_wrong() -> None:
    content = (
        SAMPLES["promptfoo"][1].replace('"cost": 0.25', '"cost": -0.25', 3).replace('"cost": 0.25', '"cost": 9', 1)
    )
    results, problems = read(content)
    assert [item.cost for item in results if item.entry == "two"] == [None]
    assert problems == ["1: its `cost` is no number from 0 to 1,000,000"] * 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"results": {\n"results": [,]}}', "2: not valid JSON: Expecting value"),
        ("[" * 30, "1: the values are nested deeper than 20"),
        ('{"a": "\\ud800"}', "1: a text holds half of a surrogate pair"),
        (b"\xff\xfe{", "1: the file is not valid UTF-8"),
        (b" " * 100_001, "None: the file has 100,001 bytes, more than the limit of 100,000"),
    ],
)
def test_a_file_that_is_broken_says_so_and_not_that_its_format_is_unknown(content: str | bytes, message: str) -> None:
    results, problems = read(content)
    assert results == []
    assert len(problems) == 1
    assert problems[0].startswith(message)


def test_the_turns_of_a_conversation_are_one_case() -> None:
    (two,) = [item for item in read(SAMPLES["promptfoo"][1])[0] if item.entry == "two"]
    assert (two.turns, two.outcome) == (("q2", "q2b"), Outcome.FAILED)
    assert (two.seconds, two.tokens, two.cost) == (3.0, 24, 0.5)


def promptfoo_rows(*rows: dict[str, Any]) -> str:
    return json.dumps({"results": {"version": 3, "prompts": [], "results": [*rows]}})


def turn(number: int, *, success: bool = True, conversation: str = "two", **more: Any) -> dict[str, Any]:
    metadata: dict[str, Any] = {"conversationId": conversation}
    if number == 1:
        metadata["incumbent"] = json.dumps({"id": conversation})
    test = {"description": f"{conversation} ({number} of 2)", "metadata": metadata}
    return {"success": success, "failureReason": 0, "testCase": test, "vars": {"query": f"t{number}"}, **more}


def test_repeats_of_a_conversation_are_apart() -> None:
    # As `--repeat 2` writes them: all of the first turn, then all of the second.
    rows = [turn(1), turn(1, success=False), turn(2), turn(2)]
    results, problems = read(promptfoo_rows(*rows, turn(1, conversation="other"), turn(1, promptIdx=1)))
    assert problems == []
    assert [(item.entry, item.turns, item.outcome.value) for item in results] == [
        ("two", ("t1", "t2"), "passed"),
        ("two", ("t1", "t2"), "failed"),
        ("other", ("t1",), "passed"),
        ("two", ("t1",), "passed"),
    ]


def test_an_error_of_the_grader_is_no_failure() -> None:
    graded = {"pass": False, "componentResults": [{"pass": False, "metadata": {"graderError": True}}]}
    row = turn(1, success=False, failureReason=1, gradingResult=graded)
    assert [item.outcome for item in read(promptfoo_rows(row))[0]] == [Outcome.ERROR]
    without = turn(1, success=False, failureReason=1, gradingResult={"componentResults": [{"pass": False}]})
    assert [item.outcome for item in read(promptfoo_rows(without))[0]] == [Outcome.FAILED]


@pytest.mark.parametrize(
    ("score", "outcome"),
    [
        ({"value": "C"}, "passed"),
        ({"value": "I"}, "failed"),
        ({"value": "P"}, "failed"),
        ({"value": "N"}, "failed"),
        ({"value": 1}, "passed"),
        ({"value": 0.99}, "failed"),
        ({"value": True}, "passed"),
        ({"value": False}, "failed"),
        ({"value": ["C", "C"]}, "passed"),
        ({"value": {"a": 1, "b": 0}}, "failed"),
        ({"value": {"a": 1, "b": None}}, "error"),
        ({"value": {}}, "error"),
        ({"value": None}, "error"),
        ({"value": float("nan")}, "error"),
        ({"value": "I", "reason": "grader_failed"}, "error"),
        ({"value": "N", "reason": "refusal"}, "failed"),
        ("C", "error"),
    ],
)
def test_what_a_score_of_inspect_says(score: Any, outcome: str) -> None:
    samples = [{"id": "one", "input": "q", "scores": {"match": {"value": "C"}, "other": score}}]
    results, problems = read(json.dumps({"eval": {}, "samples": samples}))
    assert ([item.outcome.value for item in results], problems) == ([outcome], [])


@pytest.mark.parametrize(
    ("results", "outcome"),
    [
        (["pass", "pass"], "passed"),
        (["pass", "fail"], "failed"),
        ([True, "PASS"], "passed"),
        (["pass", None], "error"),
        (["fail", float("nan")], "error"),
        (["pass", "not applicable"], "passed"),
        (["not applicable", "not applicable"], "skipped"),
        (["unknown"], "error"),
        ([], "error"),
    ],
)
def test_what_evaluators_of_azure_say(results: list[Any], outcome: str) -> None:
    said = {f"outputs.e{place}.e{place}_result": result for place, result in enumerate(results)}
    row = {"inputs.id": "one", "inputs.query": "q", "outputs.response": "x", **said}
    found, problems = read(json.dumps({"rows": [row], "metrics": {}}))
    assert ([item.outcome.value for item in found], problems) == ([outcome], [])


def test_what_a_case_of_deepeval_took_is_the_sum_and_flaky_metrics_decide_nothing() -> None:
    row: dict[str, Any] = {
        "name": "other",
        "input": "q",
        "success": True,
        "metadata": {"incumbent": {"id": "one"}},
        "metricsData": [{"name": "m"}, {"name": "f", "flaky": True, "error": "x"}],
        "completionTime": 1.25,
        "runDuration": 0.25,
        "inputTokenCount": 8,
        "outputTokenCount": 4,
        "tokenCost": 0.5,
        "evaluationCost": 0.25,
    }
    assert read(json.dumps({"testCases": [row], "conversationalTestCases": []})) == (
        [CaseResult(outcome=Outcome.PASSED, entry="one", turns=("q",), seconds=1.5, tokens=12, cost=0.75, line=1)],
        [],
    )
    row = {**row, "metricsData": row["metricsData"][1:]}
    assert [item.outcome for item in read(json.dumps({"testCases": [row]}))[0]] == [Outcome.ERROR]


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("one", "one"),
        ("test_entry[one]", "one"),
        ("tests/test_a.py::test_entry[one.2-b]", "one.2-b"),
        ("suite::one", "one"),
        ("test 12: one", "one"),
        ("test 12: one (1 of 2)", None),
        ("What is this [now]", None),
        ("Explain a::b, please", None),
        ("Is *this* an id?", None),
        ("test_entry[a][b]", None),
    ],
)
def test_a_name_is_an_id_or_a_text_and_never_both(name: str, entry: str | None) -> None:
    ((found,), problems) = read(f'<testsuite><testcase name="{name}"/></testsuite>')
    assert ((found.entry, found.turns), problems) == ((entry, () if entry else (name,)), [])


def test_a_property_names_the_entry_of_a_case() -> None:
    properties = '<properties><property name="x" value="y"/><property name="incumbent" value="one"/></properties>'
    content = f'<testsuite>{properties}<testcase name="a b">{properties}</testcase><testcase name="c d"/></testsuite>'
    assert [(item.entry, item.turns) for item in read(content)[0]] == [("one", ()), (None, ("c d",))]


def test_a_table_is_read_whatever_its_separator_and_a_broken_row_is_a_fault_of_its_own() -> None:
    rows = 'question;result_1\r\n"two\nlines";Pass\r\na;Pass;more\r\nb;Fail\r\n'
    results, problems = read(rows, "x.csv")
    assert [(item.turns, item.outcome.value, item.line) for item in results] == [
        (("two\nlines",), "passed", 2),
        (("b",), "failed", 5),
    ]
    assert problems == ["4: the row has 3 cells, the header 2"]


@pytest.mark.parametrize(
    ("item", "outcome"),
    [
        ({"status": "pass", "scores": {}}, "passed"),
        ({"status": "fail"}, "failed"),
        ({"status": "partial"}, "error"),
        ({"status": "error", "scores": {"a": {"result": "pass"}}, "error": {"code": "agentRequestFailed"}}, "error"),
        ({"status": "partial", "scores": {"a": {"result": "pass"}, "b": {"result": "fail"}}}, "failed"),
        ({"scores": {}}, "error"),
        ({"scores": {"a": "pass"}}, "error"),
    ],
)
def test_what_an_item_of_m365_says(item: dict[str, Any], outcome: str) -> None:
    results, problems = read(json.dumps({"schemaVersion": "1.4.0", "items": [{"prompt": "q", **item}]}))
    assert ([each.outcome.value for each in results], problems) == ([outcome], [])


@pytest.mark.parametrize("name", NAMES)
def test_a_file_without_results_or_too_large_or_not_text_is_a_fault(name: str) -> None:
    file, content = SAMPLES[name]
    for broken in (b"", b"\xff\xfe\x00", content.encode() + b" " * 100_000, b"{" * 30, b"[]", b"null", b"<x/>"):
        results, problems = read(broken, file, name)
        assert results == []
        assert problems


def test_a_file_that_nothing_fits_names_the_formats_there_are() -> None:
    _, problems = read_results(b"hello", "notes.txt", None, LIMITS)
    assert [problem.message for problem in problems] == ["no format of results fits this file"]
    assert all(name in problems[0].fix for name in NAMES)
    _, problems = read_results(b"hello", "notes.txt", "nunit", LIMITS)
    assert "there is no format of results 'nunit'" in problems[0].message
    for blank in (b"", b"\xef\xbb\xbf \r\n"):
        _, problems = read_results(blank, "out.jsonl", None, LIMITS)
        assert [problem.message for problem in problems] == ["it has no results"]


@pytest.mark.parametrize(
    ("content", "file", "message"),
    [
        (
            '<!DOCTYPE x [<!ENTITY a "aaaa">]><testsuite><testcase name="&a;"/></testsuite>',
            "a.xml",
            "1: it has a document type",
        ),
        ('<testsuite><testcase name="one"></testsuite>', "a.xml", "1: not valid XML: mismatched tag"),
        ("<testsuite>\n" + "<a>" * 20, "a.xml", "2: the values are nested deeper than 20"),
        ('<testsuite>\n<testcase name="one" time="-1"/></testsuite>', "a.xml", "2: its `time` is no number"),
        ('<testsuite><testcase name="one" time="nan"/></testsuite>', "a.xml", "1: its `time` is no number"),
        (
            '{"outcome": "passed", "entry": "one"}\n{"outcome": "passed"}',
            "a",
            "2: it does not say which entry it is of",
        ),
        ('{"outcome": "passed", "entry": "one", "cost": -1}', "a", "1: its `cost` is no number from 0 to 1,000,000"),
        (
            '{"outcome": "passed", "entry": "one", "tokens": true}',
            "a",
            "1: its `tokens` is no whole number from 0 to 1,000,000,000",
        ),
        ('{"outcome": "passed", "entry": "one", "tokens": 1.5}', "a", "1: its `tokens` is no whole number"),
        (f'{{"outcome": "passed", "entry": "one", "seconds": 1{"0" * 400}}}', "a", "1: its `seconds` is no number"),
        ('{"outcome": "fine", "entry": "one"}', "a", "1: its `outcome` is none"),
        ('{"outcome": "passed", "entry": "one", "answer": "x"}', "a", "1: the key 'answer' is unknown"),
        ('{"outcome": "passed", "entry": "one"}\n{', "a", "2: "),
    ],
)
def test_a_fault_is_said_with_its_line(content: str, file: str, message: str) -> None:
    _, problems = read(content, file)
    assert any(problem.startswith(message) for problem in problems), problems


def test_a_packed_log_of_inspect_is_not_unpacked() -> None:
    _, problems = read_results(b"PK\x03\x04rest", "log.eval", None, LIMITS)
    assert "it is a packed log" in problems[0].message
    assert "inspect log dump" in problems[0].fix


@pytest.mark.parametrize("name", ["promptfoo", "deepeval", "inspect"])
def test_numbers_that_cannot_be_are_faults_of_their_case(name: str) -> None:
    for bad in ("-1", "1e999", '"3"', "true", f"1{'0' * 400}", "NaN", "-Infinity"):
        content = SAMPLES[name][1].replace("1500", bad).replace("1.5", bad)
        results, problems = read(content)
        assert problems, (name, bad)
        assert len(results) in (0, 5)


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=8) | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def mutated(value: Any, path: list[int], by: Any) -> Any:
    """``value`` with ``by`` in the place of one of its parts."""
    if not path or not isinstance(value, dict | list) or not value:
        return by
    keys = sorted(value) if isinstance(value, dict) else list(range(len(value)))
    key = keys[path[0] % len(keys)]
    copied = dict(value) if isinstance(value, dict) else list(value)
    copied[key] = mutated(value[key], path[1:], by)
    return copied


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("copilot-studio", "junit")])
@given(data=st.data())
def test_whatever_is_in_the_place_of_a_part_no_reader_fails(name: str, data: st.DataObject) -> None:
    content = SAMPLES[name][1]
    rows = content.split("\n") if name == "json-lines" else [content]
    path = data.draw(st.lists(st.integers(0, 9), max_size=6))
    changed = [json.dumps(mutated(json.loads(row), path, data.draw(JSON))) for row in rows]
    results, _ = read("\n".join(changed), "x.json", name)
    for item in results:
        assert item.seconds is None or 0 <= item.seconds <= 1e6
        assert item.cost is None or 0 <= item.cost <= 1e6
        assert item.tokens is None or item.tokens >= 0


@given(st.text(max_size=60), st.sampled_from(NAMES))
def test_no_text_makes_a_reader_fail(text: str, name: str) -> None:
    for content in (text, SAMPLES[name][1][: len(text) * 7] + text):
        for form in (None, name):
            read_results(content.encode("utf-8", "surrogatepass"), "x", form, LIMITS)


@given(st.lists(st.tuples(st.text(max_size=20), st.sampled_from(["Pass", "fail", " PASS ", "?", ""])), max_size=5))
def test_a_table_is_read_row_by_row(rows: list[tuple[str, str]]) -> None:
    quoted = ['"' + text.replace('"', '""').replace("\0", "") + f'",{said}' for text, said in rows]
    results, problems = read("question,result_1\r\n" + "".join(f"{row}\r\n" for row in quoted), "x.csv")
    assert len(results) == len([1 for text, said in rows if text.replace("\0", "").strip() or said.strip()]) or problems


def test_a_table_without_questions_is_a_fault() -> None:
    _, problems = read(COPILOT_STUDIO.replace("question", "Frage", 1), "x.csv", "copilot-studio")
    assert problems == ["1: it has no column `question`"]


LAUGHS = "".join(f'<!ENTITY l{place} "{f"&l{place - 1};" * 10}">' for place in range(1, 9))
ATTACKS = {
    "entities": (
        f'<!DOCTYPE x [<!ENTITY l0 "ha">{LAUGHS}]><testsuite><testcase name="&l8;"/></testsuite>',
        "document type",
    ),
    "a file": ('<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/hosts">]><testsuite/>', "document type"),
    "deep XML": ("<testsuite>" * 100_000, "nested deeper"),
    "deep JSON": ('{"results":' * 100_000, "nested deeper"),
    "deep lines": ('{"entry": ' + "[" * 100_000, "nested deeper"),
    "a time before the beginning": ('<testsuite><testcase name="a" time="-5"/></testsuite>', "`time` is no number"),
    "a time without end": ('<testsuite><testcase name="a" time="1e999"/></testsuite>', "`time` is no number"),
    "a time that is none": ('<testsuite><testcase name="a" time="nan"/></testsuite>', "`time` is no number"),
    "a negative cost": ('{"entry": "a", "outcome": "passed", "cost": -1}', "`cost` is no number"),
    "a number too long": (f'{{"entry": "a", "outcome": "passed", "tokens": {"9" * 6_000}}}', "JSON value"),
    "a key given twice": ('{"results": {}, "results": {}}', "twice"),
    "half of a character": ('{"query": "\\ud800", "outcome": "passed"}', "surrogate"),
    "a NUL in an id": ('{"entry": "a\\u0000", "outcome": "passed"}', "which entry it is of"),
    "a path as an id": ('{"entry": "../../config/curation", "outcome": "passed"}', "which entry it is of"),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_a_fault(name: str) -> None:
    content, said = ATTACKS[name]
    _, problems = read_results(content.encode(), "file", None, RESULT_FILES)
    assert said in " ".join(problem.message for problem in problems)
