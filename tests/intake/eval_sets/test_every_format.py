"""The contract of a reader: what holds for every eval-set format, by the samples in :mod:`tests.formats`.

What is particular to one format is in the file named after it.
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.files.snapshot import WorkingTree
from incumbent.intake.eval_sets import formats
from incumbent.intake.eval_sets.folder import read_eval_sets
from incumbent.intake.eval_sets.reader import fitting, glance, open_source, readers
from incumbent.intake.expectation import understand
from incumbent.intake.query import EvalSet
from tests.factories import REPOSITORY
from tests.formats import EVAL_SETS, SAMPLES
from tests.fuzz.targets import HeldFiles
from tests.hostile.templates import SAID, SHIPS, Template, folder_of, json_lines, written
from tests.intake.eval_sets.folders import limits, messages_of, read, turns

NEIGHBOURS = (
    ("none", "mlflow.json", '[{"inputs": {"question": "Hello"}, "expectations": {"expected_response": "x"}}]'),
    ("plain-records", "plain.jsonl", json_lines({"query": "Hello", "answer": "Good day."})),
    ("plain-table", "plain.csv", "question,answer\nHello,Good day.\n"),
    ("plain-records", "alone.jsonl", json_lines({"input": "Hello"})),
    ("plain-records", "chat.jsonl", json_lines({"messages": SAID, "topic": "greetings"})),
    ("none", "mcp.json", '{"servers": {}, "inputs": [{"id": "key", "type": "promptString"}]}'),
    ("none", "build.json", '{"input": "src/main.ts", "target": "es2022", "output": "dist"}'),
    ("none", "package.csv", "name,target\na,b\n"),
)
"""Files that resemble those of other formats."""


FILES = (*SAMPLES, *NEIGHBOURS)


def test_a_module_has_the_name_of_the_format_that_it_reads() -> None:
    names = [module.name.replace("_", "-") for module in pkgutil.iter_modules(formats.__path__)]
    assert sorted(names) == [reader.name for reader in readers()]


@pytest.mark.parametrize(("format", "file", "content"), FILES, ids=[f"{each[0]}:{each[1]}" for each in FILES])
def test_a_file_is_recognised_as_its_own_format_alone(tmp_path: Path, format: str, file: str, content: str) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    source = open_source(WorkingTree(tmp_path), file, limits())
    seen = glance(content.encode())
    possible = [reader for reader in readers() if file.endswith(reader.endings) and reader.mark.search(seen)]
    assert [reader.name for reader in fitting(source, possible)] == ([] if format == "none" else [format])


WITH_QUERIES = [each for each in EVAL_SETS if each.items is not None]
LISTS = [each for each in WITH_QUERIES if each.kind not in ("csv", "tsv")]
"""Files whose entries are objects or texts, not rows of a table."""
RECORDS = [each for each in LISTS if each.text != ()]
WITH_IDS = [each for each in WITH_QUERIES if each.name is not None]
TABLES = [each for each in SAMPLES if each[1].endswith(("csv", "tsv"))]

ENTRIES_THAT_DIVIDE_A_FILE = ("openai-evals", "plain-records", "promptfoo")
"""Formats in which one entry may decide how all are read, or stand with others for one query."""


def in_memory(template: Template) -> EvalSet:
    """The eval set of the template's file."""
    found = read_eval_sets(HeldFiles(folder_of(template)), limits())
    (eval_set,) = (each for each in found if each.file.endswith(template.path))
    assert eval_set.format == template.reader
    return eval_set


def spoken(eval_set: EvalSet) -> list[str]:
    """All that users say in it."""
    return [turn for query in eval_set.queries for turn in query.turns]


def with_entries(template: Template, *entries: Any) -> Template:
    """The template with ``entries`` between its two."""
    found = template.data
    for step in template.items or ():
        found = found[step]
    return template.with_items([*found[-2:-1], *entries, *found[-1:]])


def line_of(template: Template, text: str) -> int:
    """The line of the template's file that holds ``text``."""
    return written(template).decode().split(text)[0].count("\n") + 1


@pytest.mark.parametrize("template", WITH_QUERIES, ids=str)
def test_a_template_is_read_whole(tmp_path: Path, template: Template) -> None:
    eval_sets = read(tmp_path, folder_of(template))
    (eval_set,) = (each for each in eval_sets if each.file.endswith(template.path))
    assert (eval_set.format, eval_set.problems) == (template.reader, ())
    for _, text, _ in SHIPS:
        assert any(text in turn for turn in spoken(eval_set)), text
    if template.name is not None:
        id = template.item
        for step in template.name:
            id = id[step]
        assert eval_set.queries[0].id.rpartition("/")[2] == str(id)


@pytest.mark.parametrize("entry", ["no object", {"remark": "no query"}], ids=str)
@pytest.mark.parametrize("template", RECORDS, ids=str)
def test_a_broken_entry_is_one_fault_at_its_line_and_costs_no_other(template: Template, entry: Any) -> None:
    broken = with_entries(template, entry)
    found = in_memory(broken)
    assert spoken(found) == spoken(in_memory(template))
    ((line, message),) = messages_of(found)
    if isinstance(entry, str):
        # promptfoo takes a text for the name of a file.
        assert any(words in message for words in ("must be an object", "must be a mapping", "no file of the folder"))
    # An object over several lines begins in the one before its only key.
    assert line in (line_of(broken, "no "), line_of(broken, "no ") - (template.kind == "json"))


@pytest.mark.parametrize("template", [each for each in WITH_IDS if each in LISTS], ids=str)
def test_an_id_that_is_no_text_is_a_fault_of_its_entry_alone(template: Template) -> None:
    found = in_memory(template.first(template.name, True))
    ((_, message),) = messages_of(found)
    assert "must be a string" in message
    assert spoken(found)[-1:] == spoken(in_memory(template))[-1:]
    assert SHIPS[0][1] not in spoken(found)


@pytest.mark.parametrize("template", WITH_IDS, ids=str)
def test_of_two_entries_with_one_id_the_first_counts(template: Template) -> None:
    first = template.item
    if isinstance(first, dict):
        # Entries of one conversation have one id together.
        first.pop("conversation", None)
    found = in_memory(with_entries(template, first))
    ((_, message),) = messages_of(found)
    assert "is used already" in message
    assert spoken(found) == spoken(in_memory(template))


@pytest.mark.parametrize("template", [each for each in LISTS if each.kind in ("json", "jsonl")], ids=str)
def test_a_file_that_is_cut_off_is_an_eval_set_with_a_fault_at_its_end(template: Template) -> None:
    cut = written(template).rstrip()[:-1]
    (found,) = read_eval_sets(HeldFiles(folder_of(template, cut)), limits())
    assert [(problem.file, problem.line) for problem in found.problems] == [(found.file, cut.count(b"\n") + 1)]
    if template.kind == "jsonl":
        assert found.format == template.reader
        assert spoken(found) == spoken(in_memory(template))[:-1]


@pytest.mark.parametrize(("format", "file", "content"), TABLES, ids=[f"{each[0]}:{each[1]}" for each in TABLES])
def test_a_table_is_known_by_its_header_whatever_its_cells_hold(
    tmp_path: Path, format: str, file: str, content: str
) -> None:
    header, row = content.splitlines()[:2]
    (empty,) = read(tmp_path, {file: f"{header}\n"})
    assert empty.format in (format, "plain-table")
    assert messages_of(empty) == [(1, "the eval set holds no queries")]
    said = next(text for text in ("Hello", SHIPS[0][1]) if text in row)
    for text in ("[urgent] a", "{b}"):
        (found,) = read(tmp_path, {file: f"{header}\n{row.replace(said, text)}\n"})
        assert (found.format, turns(found), messages_of(found)) == (format, [text], [])


def keys_in(data: Any) -> Iterator[str]:
    """All keys of objects in ``data``."""
    if isinstance(data, dict):
        yield from data
    for inner in data.values() if isinstance(data, dict) else data if isinstance(data, list) else ():
        yield from keys_in(inner)


def anything(keys: Iterable[str]) -> st.SearchStrategy[Any]:
    """Data of nearly the shape of a format with these keys."""
    leaves = st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-2, 2)
    texts = st.sampled_from(["", " ", "a", "user", "assistant", "{{a}}", "[{", "{}", '["a"]']) | st.text(max_size=6)
    key = st.sampled_from(sorted({*keys, "role", "content", "type", "text", "messages", "id", "x", ""}))
    return st.recursive(
        leaves | texts,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(key, inner, max_size=4),
        max_leaves=8,
    )


@pytest.mark.parametrize("template", LISTS, ids=str)
@given(data=st.data())
def test_any_entry_is_read_or_reported_and_none_is_lost(template: Template, data: st.DataObject) -> None:
    keys = set(keys_in(template.item))
    records = st.dictionaries(st.sampled_from(sorted(keys or {"x"})), anything(keys), max_size=6)
    entries = data.draw(st.lists(records | anything(keys), max_size=4))
    found = in_memory(with_entries(template, *entries))
    assert all(problem.line and problem.message and problem.fix for problem in found.problems)
    assert all(turn.strip() for turn in spoken(found))
    for query in found.queries:
        understand(query.expected, len(query.turns))
    if not (found.problems and template.reader in ENTRIES_THAT_DIVIDE_A_FILE):
        assert len(spoken(found)) + len(found.problems) >= len(SHIPS) + len(entries)


def test_every_format_is_documented_in_one_row() -> None:
    text = (REPOSITORY / "docs" / "formats.md").read_text(encoding="utf-8")
    table = text.split("| format |")[1].split("\n\n")[0]
    rows = [name for line in table.splitlines() for name in re.findall(r"`([\w-]+)`", re.split(r"[:|]", line[1:])[0])]
    assert sorted(rows) == [reader.name for reader in readers()]
