"""Small files that would be large in memory, for every kind of reader: refused or read at once, in little memory.

Each is as large as a file may be.  What ends a line differs by reader, and so does what a row costs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from incumbent.classifier.evaluation.labels import read_file
from incumbent.errors import InputError
from incumbent.files.snapshot import ReadingLimits
from incumbent.taxonomy.config import REVIEWED_FILES
from incumbent.taxonomy.exemplars import EXEMPLARS_FOLDER, ExemplarFile, read_exemplars
from tests.factories import SHIPPED, make_taxonomy
from tests.hostile.attacks import sampled
from tests.hostile.judging import Worker
from tests.hostile.templates import AGENT, EVALS

SIZE = SHIPPED.limits.file_bytes
MOST_SECONDS = 3.0
"""Of processor time: one on a calm machine, and three times as much on one that others share."""

ENDS = ("\n", "\r", "\r\n", "\n\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029")
CELLS = ("", '""', ",,", ";;", "\t\t", '"a"b')
HEADS = ("query,id", "a;b;c;d\nPrompt,Expected response")
CONFIG = "providers: [echo]\nprompts: [{prompts}]\ntests: [{tests}]\n"
PROMPTED = CONFIG.format(prompts="file://p.{}", tests="{{vars: {{q: a}}}}")
TESTED = CONFIG.format(prompts="'{{{{q}}}}'", tests="file://p.{}")


def full(head: str, unit: str) -> str:
    """A text that begins with ``head``, and holds as many of ``unit`` as a file may."""
    return head + unit * ((SIZE - len(head.encode())) // len(unit.encode()))


def named(prefix: str, head: str, *units: str, file: str) -> dict[str, dict[str, str]]:
    return {f"{prefix} {unit!r}": {file: full(head, unit)} for unit in units}


def beside(config: str, *units: str, ending: str, head: str = "") -> dict[str, dict[str, str]]:
    """Bombs that a config of promptfoo names."""
    content = config.format(ending)
    return {
        f"{'prompts' if config is PROMPTED else 'tests'} {ending} {unit!r}": {
            "promptfooconfig.yaml": content,
            f"p.{ending}": full(head, unit),
        }
        for unit in units
    }


BOMBS: Mapping[str, Mapping[str, str]] = {
    **{f"q.csv ended by {end!r}": {"q.csv": full(f"query{end}", f"a{end}")} for end in ENDS},
    **{f"q.tsv ended by {end!r}": {"q.tsv": full(f"query\tid{end}", f"a\ta{end}")} for end in ENDS[:3]},
    **{f"{head!r} of {cell!r}": {"q.csv": full(f"{head}\r", f"{cell}\r")} for head in HEADS for cell in CELLS},
    **{f"a header of {cell!r}": {"q.csv": full("query,", cell or "a,")} for cell in CELLS},
    **named("cells", "query,context\n", 'a,"[0,0,0,0,0,0,0]"\r', 'a,"[[[["\r', "a,\"['a',1]\"\r", file="q.csv"),
    **named("lines", '{"query": "a"}\n', "1\n", "{\n", "\n", "\x85\n", '{"query": "a"}\n\r', file="q.jsonl"),
    **named("lines without a feed", "", '{"query": "a"}\r', '{"query": "a"}\u2028', file="q.jsonl"),
    **named("lines named JSON", '{"query": "a"}\n{"query": "b"}\n', "{}\n", "[]\n", file="q.json"),
    **named("JSON", '{"queries": [', "1,\r", "[],", '{"query": "a"},', file="q.json"),
    **named("YAML", "queries:\n", "---\na\n", "- a\r", "- a\x85", "- a\u2028", "#\r", "%A\r", file="q.yaml"),
    **named("YAML flow", "queries: [", "a,\r", "{},", "? ,", file="q.yaml"),
    **named("formats.yaml", "formats:\r", "- a\r", "a: b\r", file="formats.yaml"),
    **named("SKILL.md", "---\nname: a\n---\n", "- a\r", "| a |\r", file="SKILL.md"),
    **beside(PROMPTED, "1\n", "{}\n", "a\n", ending="jsonl"),
    **beside(PROMPTED, "---\n", "a\n---\n", ending="txt"),
    **beside(PROMPTED, "a\r", "a,", ending="csv", head="prompt\n"),
    **beside(TESTED, "a\r", "a,", ending="csv", head="q\n"),
    **beside(TESTED, "1\n", '{"vars": {}}\n', ending="jsonl"),
    **beside(TESTED, "- vars: {q: a}\r", ending="yaml"),
}


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    worker = Worker(tmp_path_factory.mktemp("bombs"))
    yield worker
    worker.close()


@pytest.mark.parametrize("name", sampled(list(BOMBS)))
def test_a_bomb_is_refused_or_read_at_once(worker: Worker, name: str) -> None:
    files = {"agent.yaml": AGENT} | dict(BOMBS[name])
    outcome = worker.judge({path: text.encode() for path, text in files.items()})
    assert (outcome.wrong, outcome.seconds < MOST_SECONDS) == ((), True), outcome


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_rows_are_counted_whatever_ends_them(worker: Worker, end: str) -> None:
    outcome = worker.judge({"agent.yaml": AGENT.encode(), "q.csv": full(f"query{end}", f"a{end}").encode()}, "values")
    assert (outcome.queries, outcome.said[0][0]) == (0, "q.csv")


def test_a_table_that_is_refused_costs_no_other_file(worker: Worker) -> None:
    bombs = {f"{number}.csv": full("query\r", "a\r").encode() for number in range(4)}
    fine = {"agent.yaml": AGENT.encode(), "evals.yaml": EVALS.encode(), "good.csv": b"query\nWhere is the Petrel?\n"}
    outcome = worker.judge(fine | bombs, "more than 200,000 values")
    assert (outcome.queries, {file for file, _ in outcome.said}) == (2, set(bombs))


@pytest.mark.parametrize("unit", ["x\n", "\t", "\t\n"])
def test_tables_of_labels_and_exemplars_are_counted_before_they_are_taken_apart(unit: str) -> None:
    few = ReadingLimits(file_bytes=1_000, nesting_depth=10, nodes=100)
    path = f"{EXEMPLARS_FOLDER}/h.tsv"
    file = ExemplarFile(path, path, "id\tlabels\tturns\n" + unit * 100)
    with pytest.raises(InputError, match="more than 100 values"):
        read_exemplars({path: file}, make_taxonomy("a"), few)
    with pytest.raises(InputError, match="more than 1,000,000 values"):
        read_file(b"labels\tquery\n" + unit.encode() * REVIEWED_FILES.nodes, "l.tsv", SHIPPED.limits)
