"""What holds for every eval-set format, by the samples in :mod:`tests.formats`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bot.files.snapshot import WorkingTree
from bot.intake.eval_sets.reader import glance, open_source
from bot.intake.eval_sets.registry import fitting, readers
from tests.factories import REPOSITORY
from tests.formats import EVAL_SETS, SAMPLES
from tests.hostile.templates import SAID, SHIPS, Template, folder_of, json_lines
from tests.intake.eval_sets.folders import limits, read

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


@pytest.mark.parametrize(("format", "file", "content"), FILES, ids=[f"{each[0]}:{each[1]}" for each in FILES])
def test_a_file_is_recognised_as_its_own_format_alone(tmp_path: Path, format: str, file: str, content: str) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    source = open_source(WorkingTree(tmp_path), file, limits())
    seen = glance(content.encode())
    possible = [reader for reader in readers() if file.endswith(reader.endings) and reader.mark.search(seen)]
    assert [reader.name for reader in fitting(source, possible)] == ([] if format == "none" else [format])


@pytest.mark.parametrize("template", [each for each in EVAL_SETS if each.items is not None], ids=str)
def test_a_template_is_read_whole(tmp_path: Path, template: Template) -> None:
    eval_sets = read(tmp_path, folder_of(template))
    (eval_set,) = (each for each in eval_sets if each.file.endswith(template.path))
    assert (eval_set.format, eval_set.problems) == (template.reader, ())
    for _, text, _ in SHIPS:
        assert any(text in turn for query in eval_set.queries for turn in query.turns), text
    if template.name is not None:
        id = template.item
        for step in template.name:
            id = id[step]
        assert eval_set.queries[0].id.rpartition("/")[2] == str(id)


def test_every_format_is_documented_in_one_row() -> None:
    text = (REPOSITORY / "docs" / "formats.md").read_text(encoding="utf-8")
    table = text.split("| format |")[1].split("\n\n")[0]
    rows = [name for line in table.splitlines() for name in re.findall(r"`([\w-]+)`", re.split(r"[:|]", line[1:])[0])]
    assert sorted(rows) == [reader.name for reader in readers()]
