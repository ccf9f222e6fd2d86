"""Tables of formats whose records are mappings: read alike in whatever way they are written."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.intake.eval_sets.folders import read_one, turns

_CELLS = st.sampled_from(
    [
        "",
        " ",
        "a",
        "{}",
        "[]",
        "[1",
        '{"question": "a"}',
        '{"question": "a',
        '[{"role": "user", "content": "a"}]',
        '[{"a',
        "7",
    ]
) | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5)


def table(header: list[str], rows: list[list[str]]) -> str:
    """A table in CSV."""
    text = io.StringIO()
    csv.writer(text).writerows([header, *rows])
    return text.getvalue()


@pytest.mark.parametrize(
    "header",
    [
        ["inputs.question", "inputs.messages", "outputs.answer", "id"],
        ["inputs", "inputs.k", "outputs", "attachments"],
        ["input", "expected", "metadata", "tags"],
        ["input.question", "input", "expected.answer", "id"],
        ["input", "target", "files", "sandbox"],
        ["query", "response", "conversation", "id"],
        ["input", "actual_output", "expected_tools", "retrieval_context"],
        ["scenario", "turns", "expected_outcome", "user_description"],
    ],
)
@given(rows=st.lists(st.lists(_CELLS, min_size=4, max_size=4), max_size=4))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_no_row_is_lost(tmp_path: Path, header: list[str], rows: list[list[str]]) -> None:
    found = read_one(tmp_path, "a.csv", table(header, rows))
    filled = [row for row in rows if any(cell.strip() for cell in row)]
    if "conversation" in header:
        # Rows of one conversation are one query, and a fault of its id costs all of them.
        place = header.index("conversation")
        filled = list({row[place].strip() or number: row for number, row in enumerate(filled)}.values())
    assert len(found.queries) + len(found.problems) >= len(filled)


_TEXTS = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=8)
_VALUES = _TEXTS | st.integers() | st.lists(_TEXTS, max_size=2)
_EXAMPLES = st.lists(
    st.fixed_dictionaries(
        {
            "inputs": st.fixed_dictionaries({"question": _TEXTS}, optional={"k": _VALUES}),
            "outputs": st.just({"answer": "x"}),
        },
        optional={"metadata": st.dictionaries(_TEXTS, _VALUES, min_size=1, max_size=2)},
    ),
    min_size=1,
    max_size=4,
)


@given(_EXAMPLES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_what_is_written_as_json_and_as_a_table_is_read_alike(tmp_path: Path, examples: list[dict[str, Any]]) -> None:
    header = ["inputs", "outputs", "metadata"]
    cells = [[json.dumps(example[key]) if key in example else "" for key in header] for example in examples]
    forms = {
        "a.json": json.dumps(examples),
        "a.jsonl": "".join(f"{json.dumps(example)}\n" for example in examples),
        "a.csv": table(header, cells),
    }
    sets = []
    for name, content in forms.items():
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        sets.append(read_one(folder, name, content))
    first = sets[0]
    assert turns(first) == [example["inputs"]["question"] for example in examples]
    for other in sets:
        assert not other.problems
        assert [(query.id, query.turns, query.expected) for query in other.queries] == [
            (query.id, query.turns, query.expected) for query in first.queries
        ]
