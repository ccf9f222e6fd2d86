"""Hostile promptfoo configs: what would explode ends at once, what is broken is reported."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.intake.eval_sets.folders import read, read_one

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
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(VALUES, max_size=3), st.lists(VALUES, max_size=3), VALUES, VALUES)
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
