"""What hostile and broken files come to: rows that cannot be read are counted, files that are none are refused."""

from __future__ import annotations

import gzip
import json
import os
import random
import tracemalloc
from pathlib import Path

import pytest

from incumbent.errors import InputError, Problem, UsageError
from incumbent.taxonomy.config import Limits
from incumbent.triage import reading
from incumbent.triage.reading import Position, TrafficColumns, TrafficRow, read_rows, refuse_changed, stamp
from incumbent.triage.tables import connected, write_query
from tests.factories import make_config

duckdb = pytest.importorskip("duckdb")

LIMITS: Limits = make_config().limits
GOOD = "".join(json.dumps({"query": f"Show ticket {number}"}) + "\n" for number in range(3)).encode()


BY_NAME = TrafficColumns()


def read(path: Path, columns: TrafficColumns = BY_NAME, megabytes: int = 64) -> list[str]:
    """Turns of what could be read, and ``row: message`` of the rest."""
    return [
        f"{row.line}: {row.message}" if isinstance(row, Problem) else " / ".join(row.turns)
        for row in read_rows([path], columns, frozenset(["a"]), LIMITS, megabytes)
    ]


NO_TURNS = "query: expected text, a list of texts or messages"


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("mark.csv", b'\xef\xbb\xbfquery,id\n"a ""b"" c",1\nd "e" f,2\n', ['a "b" c', 'd "e" f']),
        ("blank.csv", b"\n\nquery\na\n\nb\n", ["a", "b"]),
        ("returns.csv", b"query,id\ra,1\rb,2\r", ["a", "b"]),
        ("open.csv", b'query,id\na,1\n"b,2\nc,3\n', ["a", "2: the quote that opens in line 3 is never closed"]),
        ("late.csv", b'query\na\n"x\ny"\n"b\nc\n', ["a", "x\ny", "3: the quote that opens in line 5 is never closed"]),
        ("first.jsonl", b'{"words": 1}\n{"query": "a"}\n', ["1: there is no column query", "a"]),
        (
            "chat.jsonl",
            (
                b'{"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image"}]}, '
                b'{"role": "assistant", "content": null}, {"role": "user", "content": "b"}]}\n'
                b'{"messages": [{"role": "assistant", "content": "a"}]}\n'
            ),
            ["a / b", "2: messages: no user text"],
        ),
        ("nul.csv", b"query\na\0b\nc\n", ["1: query: it holds a sign that no file can hold", "c"]),
        ("others.csv", b"query,x,x\na,1,2\n", ["a"]),
        ("nul.jsonl", b'{"query": "a\0"}\n{"query": "b"}', ["1: the line is no JSON", "b"]),
        ("latin.jsonl", b'{"query": "\xe9"}\n', ["1: the line is no JSON"]),
        ("half.jsonl", b'{"query": "\\ud800"}\n', ["1: query: it holds a sign that no file can hold"]),
        ("deep.jsonl", b"[" * 100_000 + b"\n", ["1: the line is no JSON"]),
        (
            "odd.jsonl",
            b'{"query": "a"}\n{"words": 1}\n[]\n',
            ["a", "2: there is no column query", "3: the line holds no object"],
        ),
        ("mixed.jsonl", b'{"query": "a"}\n{"prompt": "b"}\n', ["a", "b"]),
        ("kinds.jsonl", b'{"query": {"a": 1}}\n{"query": ["a", 1]}\n', [f"1: {NO_TURNS}", f"2: {NO_TURNS}"]),
        ("empty.jsonl", b"", []),
    ],
)
def test_rows_that_cannot_be_read_cost_no_other(name: str, content: bytes, found: list[str], tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    assert read(tmp_path / name) == found


def test_parquet_with_nested_columns_is_read_by_the_column_that_counts(tmp_path: Path) -> None:
    rows = "[{'role': 'user', 'content': 'Show ' || range}, {'role': 'assistant', 'content': 'no'}]"
    path = tmp_path / "a[b]*.parquet"
    duckdb.connect().execute(
        f"COPY (SELECT {rows} AS messages, {{'a': range}} AS s, MAP {{'k': range}} AS \"m\"\"\" FROM range(2)) "
        f"TO '{path}' (FORMAT parquet)"
    )
    assert read(path) == ["Show 0", "Show 1"]
    assert read(path, TrafficColumns(query="s"))[0] == f"1: {NO_TURNS.replace('query', 's')}"
    assert read(path, TrafficColumns(query='m"'))[0].startswith('1: m": expected text')
    with pytest.raises(InputError, match='there are messages, s, m"'):
        read(path, TrafficColumns(query="q"))


def test_a_column_may_be_called_as_the_database_calls_the_number_of_a_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.parquet"
    texts = "SELECT 'Show ' || range AS query, 7 AS \"File_Row_Number\" FROM range(9) UNION ALL SELECT "
    texts += f"repeat('x', {LIMITS.file_bytes + 1}), 7 UNION ALL SELECT 'last', 7"
    duckdb.connect().execute(f"COPY ({texts}) TO '{path}'")
    monkeypatch.setattr(reading, "_HELD", 20)
    found = [*(f"Show {number}" for number in range(9)), "10: the line is longer than limits.file_bytes", "last"]
    assert read(path) == found
    with pytest.raises(InputError, match=r"there are query, File_Row_Number$"):
        read(path, TrafficColumns(query="q"))


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("cut.jsonl.gz", gzip.compress(GOOD * 99, mtime=0)[:-20], "broken, or no gzip file"),
        ("twice.csv", b"query,query\na,b\n", "the column query is there more than once"),
        ("quote.csv", b'"' + b"x\n" * LIMITS.file_bytes, "the head: the row is longer"),
        ("empty.parquet", b"", "too small to be a Parquet file"),
        ("cut.parquet", b"PAR1" + b"x" * 99, "it cannot be read: Invalid Input Error"),
    ],
)
def test_files_that_are_none_are_refused(name: str, content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=said):
        read(tmp_path / name)


def test_what_is_no_file_is_refused_before_any_is_read(tmp_path: Path) -> None:
    (tmp_path / "folder.jsonl").mkdir()
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "dangling.jsonl").symlink_to("nowhere")
    (tmp_path / "words.txt").write_bytes(GOOD)
    (tmp_path / "none.jsonl").touch()
    for name in ("folder.jsonl", "pipe.jsonl", "dangling.jsonl", "words.txt"):
        with pytest.raises(UsageError, match=name):
            next(read_rows([tmp_path / "none.jsonl", tmp_path / name], TrafficColumns(), frozenset(["a"]), LIMITS, 64))


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
def test_a_line_without_end_is_one_bad_row_of_which_little_is_held(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"huge.{ending}"
    with path.open("wb") as file:
        file.write(b'query\n"' if ending == "csv" else b'{"query": "')
        for _ in range(100):
            file.write(b"x" * 1_000_000)
        file.write(b'"\nlast\n' if ending == "csv" else b'"}\n{"query": "last"}\n')
    tracemalloc.start()
    found = read(path)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found == ["1: the line is longer than limits.file_bytes", "last"]
    assert most < 8 * LIMITS.file_bytes < 100_000_000


def test_a_quote_that_nothing_closes_takes_in_a_bounded_part_of_the_rows(tmp_path: Path) -> None:
    path = tmp_path / "open.csv"
    lines = 2 * LIMITS.file_bytes // 10
    path.write_bytes(b'query\n"open\n' + b"123456789\n" * lines)
    found = read(path)
    assert found[0] == "1: the row is longer than limits.file_bytes; the row begins in line 2"
    assert found[-1] == "123456789"
    assert lines // 3 < len(found) < lines


def test_a_file_that_is_being_written_is_refused(tmp_path: Path) -> None:
    path, link = tmp_path / "t.jsonl", tmp_path / "link.jsonl"
    path.write_bytes(GOOD)
    link.symlink_to(path.name)
    before = [stamp(link)]
    refuse_changed([link], before)
    assert len(read(link)) == 3
    with path.open("ab") as file:
        file.write(GOOD)
    with pytest.raises(InputError, match="changed while it was read"):
        refuse_changed([link], before)


def test_the_position_follows_the_bytes_of_all_files(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(GOOD)
    with gzip.open(tmp_path / "b.jsonl.gz", "wb") as file:
        file.write(GOOD)
    duckdb.connect().execute(f"COPY (SELECT 'Show ' || range AS query FROM range(4)) TO '{tmp_path}/c.parquet'")
    inputs = [tmp_path / name for name in ("a.jsonl", "b.jsonl.gz", "c.parquet")]
    position = Position()
    passed = []
    for _ in read_rows(inputs, TrafficColumns(), frozenset(["a"]), LIMITS, 64, position):
        passed.append(position())
    assert passed == sorted(passed)
    assert passed[-1] == position() == sum(path.stat().st_size for path in inputs)


def test_a_name_is_that_of_one_file_whatever_signs_are_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "query=no" / "a*[b]?"
    folder.mkdir(parents=True)
    for name in ("data1.parquet", "data[1].parquet"):
        duckdb.connect().execute(f"COPY (SELECT '{name}' AS query) TO '{tmp_path}/{name}'")
        (tmp_path / name).rename(folder / name)
    assert read(folder / "data[1].parquet") == ["data[1].parquet"]
    with connected(folder, 64) as connection:
        write_query(connection, folder / "new[1].parquet", "SELECT 'new' AS query")
    assert read(folder / "new[1].parquet") == ["new"]


def test_a_parquet_file_whose_few_bytes_stand_for_many_is_read_in_parts(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    texts = "SELECT repeat('x', 1000000) AS query FROM range(100)"
    texts += f" UNION ALL SELECT repeat('x', {LIMITS.file_bytes + 1}) UNION ALL SELECT 'last'"
    duckdb.connect().execute(f"COPY ({texts}) TO '{path}' (COMPRESSION zstd)")
    assert path.stat().st_size < 10_000
    tracemalloc.start()
    found = read(path)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found == [
        *(f"{number}: the query is longer than the limits" for number in range(1, 101)),
        "101: the line is longer than limits.file_bytes",
        "last",
    ]
    assert most < 10_000_000


def test_a_parquet_file_is_read_where_one_page_fits_into_memory(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    # One page of 10 MB, as DuckDB writes it.
    text = "(SELECT string_agg(md5((i * 37 + k)::VARCHAR), ' ') FROM range(10) t(k))"
    duckdb.connect().execute(f"COPY (SELECT 'q' || i AS id, {text} AS query FROM range(30000) s(i)) TO '{path}'")
    found = read(path, megabytes=45)
    assert len(found) == len(set(found)) == 30_000
    fix = "raise that in the config, or write the file anew"
    with pytest.raises(InputError, match=rf"t\.parquet: .* than triage.reading_megabytes, which is 20\n.*{fix}"):
        read(path, megabytes=20)


def test_of_a_parquet_file_with_small_pages_little_is_in_memory(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "t.parquet"
    texts = [random.Random(number).randbytes(500).hex() for number in range(30_000)]
    parquet.write_table(pyarrow.table({"query": texts}), path)
    assert path.stat().st_size > 30_000_000
    assert read(path, megabytes=20) == texts


def test_a_csv_row_of_many_lines_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"query\n" + b'"a\n",' * 300 + b"\nlast\n")
    limits = LIMITS.model_copy(update={"file_bytes": 1_000})
    rows = list(read_rows([path], BY_NAME, frozenset(["a"]), limits, 64))
    found = [row.message if isinstance(row, Problem) else row.turns[0] for row in rows]
    assert found[0] == "the row is longer than limits.file_bytes; the row begins in line 2"
    assert 2 < len(found) < 300


def test_what_a_row_says_of_persons_is_masked_and_its_file_kept_as_given(tmp_path: Path) -> None:
    path = tmp_path / "a\nb.jsonl"
    rows = [{"query": "a", "bot": "ellen.marsh@fabrikam.org"}, {"query": "b", "bot": "a"}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    wrong, row = read_rows([path], TrafficColumns(agent="bot"), frozenset(["a"]), LIMITS, 64)
    assert isinstance(wrong, Problem)
    assert "ellen" not in wrong.message
    assert isinstance(row, TrafficRow)
    assert (row.file, row.made) == (f"{tmp_path}/a b.jsonl", "a b-2")


def test_what_the_name_of_a_file_says_of_persons_is_masked(tmp_path: Path) -> None:
    paths = [tmp_path / "anna.schmidt@web.de.jsonl", tmp_path / "bert.meier@web.de.jsonl"]
    for path in paths:
        path.write_bytes(GOOD[: GOOD.index(b"\n") + 1] + b"no\n")
    found = list(read_rows(paths, TrafficColumns(), frozenset(["a"]), LIMITS, 64))
    assert [row.row if isinstance(row, TrafficRow) else row.line for row in found] == [1, 2, 1, 2]
    files = [row.file for row in found]
    assert files == [f"{tmp_path}/[e-mail 1] (input {number})" for number in (1, 1, 2, 2)]
    assert [row.made for row in found if isinstance(row, TrafficRow)] == ["row-1", "row-1"]


@pytest.mark.parametrize(
    ("file", "made"),
    [("monday.jsonl.gz", "monday-2"), ("4539578763621486.jsonl", "row-2"), ("a" * 300 + ".jsonl", "row-2")],
)
def test_a_row_is_called_after_its_file_unless_that_would_show_personal_data(file: str, made: str) -> None:
    row = TrafficRow(place=1, file=file, row=2, given=None, agent="a", turns=("Show ticket 5",))
    assert row.made == made
