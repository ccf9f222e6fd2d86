"""A file of each format, as its runner writes it, with the same five cases.

``one`` passed, and failed in a repeat where the format has repeats; ``two`` failed; ``three`` ended in an error; and a
case without an id asked TEXT, and passed.  What a runner writes besides is there as far as it could be mistaken.
"""

from __future__ import annotations

import json
from typing import Any, Final

TEXT: Final = "Where is **my** parcel?"


def _carried(id: str) -> dict[str, Any]:
    return {"incumbent": json.dumps({"id": id, "capabilities": ["a"]})}


def _promptfoo(query: str, success: bool, reason: int, metadata: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "promptIdx": 0,
        "testIdx": 0,
        "testCase": {"vars": {"query": query}, "metadata": metadata},
        "provider": {"id": "echo", "label": ""},
        "vars": {"query": query},
        "response": {"output": "x", "tokenUsage": {"total": 9}},
        "success": success,
        "failureReason": reason,
        "score": 0.9,
        "latencyMs": 1500,
        "cost": 0.25,
        "tokenUsage": {"total": 12, "prompt": 7},
        **more,
    }


PROMPTFOO: Final = json.dumps(
    {
        "evalId": "eval-x",
        "results": {
            "version": 3,
            "timestamp": "2026-11-28T05:00:00Z",
            "prompts": [],
            "results": [
                _promptfoo("q1", True, 0, _carried("one")),
                _promptfoo("q1", False, 1, _carried("one")),
                _promptfoo("q2", True, 0, {"conversationId": "two", **_carried("two")}),
                _promptfoo("q2b", False, 1, {"conversationId": "two"}),
                _promptfoo("q3", False, 2, _carried("three"), error="rate limit"),
                _promptfoo(TEXT, True, 0, {}),
            ],
            "stats": {"successes": 3},
        },
    }
)

INSPECT: Final = json.dumps(
    {
        "version": 2,
        "status": "success",
        "eval": {"task": "t"},
        "samples": [
            {
                "id": "one",
                "epoch": 1,
                "input": "q1",
                "metadata": {"incumbent": {"id": "one"}},
                "scores": {"match": {"value": "C", "answer": "x"}},
                "model_usage": {"m": {"total_tokens": 12}},
                "total_time": 1.5,
            },
            {"id": "one", "epoch": 2, "input": "q1", "scores": {"match": {"value": "I"}, "other": {"value": 1}}},
            {"id": "two", "input": "q2", "scores": {"match": {"value": "P"}}},
            {"id": "three", "input": "q3", "scores": {"match": {"value": "C"}}, "error": {"message": "timeout"}},
            {"id": 4, "input": [{"role": "user", "content": TEXT}], "scores": {"grade": {"value": 1.0}}},
        ],
    }
)

DEEPEVAL: Final = json.dumps(
    {
        "testRunData": {
            "testCases": [
                {
                    "name": "one",
                    "input": "q1",
                    "success": True,
                    "metricsData": [{"name": "m", "success": True, "score": 1.0}],
                    "runDuration": 1.5,
                    "evaluationCost": 0.25,
                    "additionalMetadata": {"incumbent": {"id": "one"}},
                },
                {
                    "name": "test_case_1",
                    "input": "q1",
                    "success": False,
                    "metricsData": [{"name": "m", "success": False}],
                    "metadata": {"incumbent": {"id": "one"}},
                },
                {"name": "test_case_2", "input": TEXT, "success": True, "metricsData": [{"name": "m"}]},
            ],
            "conversationalTestCases": [
                {
                    "name": "two",
                    "success": False,
                    "turns": [{"role": "user", "content": "q2"}, {"role": "assistant", "content": "?"}],
                    "metricsData": [{"name": "m", "success": False}],
                },
                {"name": "three", "success": False, "turns": [], "metricsData": [{"name": "m", "error": "no key"}]},
            ],
        },
        "testRunLink": None,
    }
)

# As this SDK writes it: `NaN` where an evaluator failed.
AZURE: Final = json.dumps(
    {
        "rows": [
            {
                "inputs.id": "one",
                "inputs.query": "q1",
                "inputs.incumbent": {"id": "one"},
                "outputs.relevance.relevance": 4.0,
                "outputs.relevance.relevance_result": "pass",
                "outputs.match.match_result": "pass",
            },
            {"inputs.id": "one", "inputs.query": "q1", "outputs.relevance.relevance_result": "fail"},
            {"inputs.id": "two", "inputs.query": "q2", "outputs.match.match_result": False},
            {
                "inputs.id": "three",
                "inputs.query": 'say "NaN" \\\\',
                "outputs.relevance.relevance_result": float("nan"),
            },
            {"inputs.query": TEXT, "outputs.relevance.relevance_result": "pass"},
        ],
        "metrics": {"relevance.relevance": 4.0},
        "studio_url": None,
    }
)

M365: Final = json.dumps(
    {
        "schemaVersion": "1.0.0",
        "items": [
            {
                "prompt": "q1",
                "response": "x",
                "extensions": {"incumbent": {"id": "one"}},
                "scores": {"Relevance": {"score": 4, "result": "pass"}, "ExactMatch": {"result": "pass"}},
            },
            {
                "prompt": "q1",
                "extensions": {"incumbent": {"id": "one"}},
                "scores": {"Relevance": {"score": 1, "result": "fail"}},
            },
            {
                "extensions": {"incumbent": {"id": "two"}},
                "turns": [
                    {"prompt": "q2", "scores": {"Relevance": {"result": "pass"}}},
                    {"prompt": "q2b", "scores": {"Relevance": {"result": "fail"}}},
                ],
            },
            {
                "prompt": "q3",
                "extensions": {"incumbent": {"id": "three"}},
                "scores": {"Relevance": {"result": "error", "error": "quota"}},
            },
            {"prompt": TEXT, "scores": {"Relevance": {"result": "pass"}}},
        ],
    }
)

COPILOT_STUDIO: Final = (
    "\ufeffquestion,expectedResponse,actualResponse,testMethodType_1,result_1,passingScore_1,explanation_1,result_2\r\n"
    'q1,,x,GeneralQuality,Pass,,"fine, really",Pass\r\n'
    "q1,,x,GeneralQuality,Pass,,,Fail\r\n"
    "q2,,x,CompareMeaning,Fail,70,,\r\n"
    "q3,,GenAIToolPlannerRateLimitReached,GeneralQuality,Error,,,\r\n"
    f'"{TEXT}",,x,GeneralQuality,Pass,,"two\nlines",\r\n'
)

JUNIT: Final = f"""<?xml version="1.0" encoding="utf-8"?>
<testsuites><testsuite name="s" tests="5">
  <testcase classname="c" name="test_entry[one]" time="1.5"><system-out>x</system-out></testcase>
  <testcase classname="c" name="test_entry[one]" time="2"><failure message="m">text</failure></testcase>
  <testcase name="suite::two"><failure/></testcase>
  <testcase name="three"><error message="e"/><failure/></testcase>
  <testcase name="{TEXT}"/>
</testsuite></testsuites>
"""

JSON_LINES: Final = "\n".join(
    json.dumps(row)
    for row in (
        {"entry": "one", "outcome": "passed", "seconds": 1.5, "tokens": 12, "cost": 0.25},
        {"entry": "one", "outcome": "failed"},
        {"entry": "two", "turns": ["q2", "q2b"], "outcome": "failed"},
        {"entry": "three", "outcome": "error"},
        {"query": TEXT, "outcome": "passed"},
    )
)

SAMPLES: Final = {
    "promptfoo": ("results.json", PROMPTFOO),
    "inspect": ("log.json", INSPECT),
    "deepeval": (".latest_test_run.json", DEEPEVAL),
    "azure-ai-evaluation": ("output.json", AZURE),
    "m365-copilot-eval": ("results.json", M365),
    "copilot-studio": ("Evaluate desk.csv", COPILOT_STUDIO),
    "junit": ("junit.xml", JUNIT),
    "json-lines": ("results.jsonl", JSON_LINES),
}
