"""Changed files of every format, drawn at random (see :mod:`tests.fuzz.targets`); ``make fuzz`` does it for long."""

from __future__ import annotations

import csv
import io
import json
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.mutation import mutate
from tests.fuzz.seeds import joined, parted, seeds
from tests.fuzz.targets import TARGETS, check, read
from tests.hostile.templates import AGENT, Template, written

SEEDS = tuple(seeds())
# What no format of text can carry: half characters, and NUL; a carriage return is an end of line to some of them.
TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\x85\u2028\u2029\ufeff"), min_size=1)
SPOKEN = TEXTS.filter(lambda text: text == text.strip() and text[0] not in "[{")
IDS = st.text(st.characters(categories=["L", "N"], exclude_characters="\ufeff"), min_size=1, max_size=20)


@pytest.mark.parametrize("template", TARGETS, ids=str)
@settings(max_examples=settings().max_examples * 2 // 5)
@given(seed=st.integers(0, 2**32))
def test_a_changed_file_is_read_or_refused(template: Template, seed: int) -> None:
    check(template, mutate(template, written(template), Random(seed)))


@pytest.mark.parametrize("number", range(len(SEEDS)))
def test_a_kept_file_is_read_or_refused(number: int) -> None:
    check(*SEEDS[number])


@settings(max_examples=settings().max_examples * 2)
@given(template=st.sampled_from(TARGETS), content=st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(template: Template, content: bytes) -> None:
    check(template, content)
    assert parted(joined(template, content)) == (template, content)


def _table(rows: list[dict[str, str]]) -> str:
    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, ["id", "query"])
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


WRITTEN: dict[str, Any] = {
    "a.jsonl": lambda rows: "".join(json.dumps(row) + "\n" for row in rows),
    "b.json": lambda rows: json.dumps(rows, ensure_ascii=False),
    "c.csv": _table,
    # Texts in quotes: YAML 1.1, which PyYAML writes, takes other words for numbers than YAML 1.2.
    "d.yaml": lambda rows: f"eval_set: 1\nqueries: {json.dumps(rows, ensure_ascii=False)}\n",
    "e.json": lambda rows: json.dumps({"eval_set": 1, "queries": rows}),
    "f.json": lambda rows: json.dumps({"items": [{"id": row["id"], "prompt": row["query"]} for row in rows]}),
}


@settings(max_examples=settings().max_examples * 3 // 5)
@given(st.lists(st.tuples(IDS, SPOKEN), min_size=1, max_size=5, unique_by=lambda pair: pair[0]))
def test_what_one_format_says_the_others_say_alike(pairs: list[tuple[str, str]]) -> None:
    rows = [{"id": id, "query": text} for id, text in pairs]
    for name, write in WRITTEN.items():
        package, problems = read({"agent.yaml": AGENT.encode(), name: write(rows).encode()})
        assert package is not None, (name, problems)
        assert problems == (), name
        assert [(query.id, query.turns) for query in package.submission.queries] == [(id, (t,)) for id, t in pairs], (
            name
        )
