"""Rows added to exemplar files, and labels added to rows, as edits of their texts."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.files.label_tables import read_table
from incumbent.taxonomy.config import REVIEWED_FILES
from incumbent.taxonomy.exemplars import HEADER, ORIGINAL_HEADERS
from incumbent.taxonomy.model import Exemplar
from incumbent.taxonomy.table_edits import merged, short_names, table_head, with_rows
from incumbent.text.compare import normalise

HAND, NEW = "taxonomy/exemplars/hand.tsv", "taxonomy/exemplars/new.tsv"
GERMAN = "taxonomy/exemplars/translations/de.tsv"
WIDE = "# names: S=say\nid\tlabels\tlookalikes\tturns\nh-1\tS\t\tsay it\n# a remark\nh-2\t?sell\tS\tone\ttwo\n"
SHORT = "id\tlabels\tturns\nh-1\tsay\tsay it"


def row(*turns: str, exercises: str = "", resembles: str = "") -> Exemplar:
    return Exemplar(turns=turns, exercises=tuple(exercises.split()), resembles=tuple(resembles.split()))


@pytest.mark.parametrize(
    ("files", "rows", "path", "changed"),
    [
        ({HAND: WIDE}, [], HAND, {}),
        (
            {HAND: WIDE},
            [row("new", "turn", exercises="say a", resembles="b")],
            HAND,
            {HAND: WIDE + "n0001\tS,a\tb\tnew\tturn\n"},
        ),
        (
            {HAND: WIDE},
            [row("new", exercises="a")],
            NEW,
            {NEW: "id\tlabels\tlookalikes\tturns\nn0001\ta\t\tnew\n"},
        ),
        ({HAND: SHORT}, [row("new", exercises="a")], HAND, {HAND: f"{SHORT}\nn0001\ta\tnew\n"}),
        (
            {HAND: SHORT},
            [row("new", resembles="a")],
            HAND,
            {HAND: "id\tlabels\tlookalikes\tturns\nh-1\tsay\t\tsay it\nn0001\t\ta\tnew\n"},
        ),
        # A query that is there already.
        ({HAND: WIDE}, [row("Say  IT", exercises="say")], NEW, {}),
        ({HAND: WIDE}, [row("say it", exercises="a")], NEW, {HAND: WIDE.replace("S\t\tsay", "S,a\t\tsay")}),
        ({HAND: WIDE}, [row("one", "two", exercises="sell")], NEW, {}),
        (
            {HAND: WIDE},
            [row("one", "two", exercises="a", resembles="b")],
            NEW,
            {HAND: WIDE.replace("?sell\tS\t", "?sell,a\tS,b\t")},
        ),
        (
            {HAND: SHORT},
            [row("say it", resembles="a")],
            NEW,
            {HAND: "id\tlabels\tlookalikes\tturns\nh-1\tsay\ta\tsay it"},
        ),
        (
            {HAND: WIDE, GERMAN: "id\tturns\nh-1\tsag es\nh-9\tniemandes\n"},
            [row("Sag es", exercises="a"), row("niemandes", exercises="a")],
            NEW,
            {
                HAND: WIDE.replace("S\t\tsay", "S,a\t\tsay"),
                NEW: "id\tlabels\tlookalikes\tturns\nn0001\ta\t\tniemandes\n",
            },
        ),
        # The form of the file.
        (
            {HAND: "\ufeff" + SHORT.replace("\n", "\r\n") + "\r\n"},
            [row("new", exercises="a", resembles="b")],
            HAND,
            {HAND: "\ufeffid\tlabels\tlookalikes\tturns\r\nh-1\tsay\t\tsay it\r\nn0001\ta\tb\tnew\r\n"},
        ),
    ],
)
def test_what_changes(files: Mapping[str, str], rows: list[Exemplar], path: str, changed: Mapping[str, str]) -> None:
    assert with_rows(files, rows, path, "n") == changed


def test_numbers_go_on_after_those_of_all_files() -> None:
    files = {HAND: "id\tlabels\tturns\nn0041\ta\tx\nnx\ta\ty\n", NEW: "id\tlabels\tturns\nn7\ta\tz\n"}
    found = with_rows(files, [row("one"), row("two")], NEW, "n")
    assert found[NEW].splitlines()[-2:] == ["n0042\t\tone", "n0043\t\ttwo"]


def test_queries_of_one_text_are_one_row_and_what_is_exercised_is_no_lookalike() -> None:
    rows = [
        row("Say it", exercises="a", resembles="b"),
        row("say  it", exercises="b a", resembles="c"),
        row("x\n\ty"),
        row("x\0y"),
    ]
    assert merged(rows) == [row("Say it", exercises="a b", resembles="c"), row("x y")]


def test_the_last_part_of_an_id_is_its_short_name_where_it_is_its_own() -> None:
    ids = ["request.image", "tools.call", "other.call", "plain", "x.plain", "a.b.c", "request.image"]
    assert short_names(ids) == {"image": "request.image", "c": "a.b.c"}


def test_a_head_says_what_short_names_stand_for_on_lines_of_some_length() -> None:
    ids = [f"a.long.capability.of.the.taxonomy.called-{number}" for number in range(9)]
    text = table_head(["One.", "Two."], ids)
    assert text.startswith("# One.\n# Two.\n# names: called-0=")
    assert max(map(len, text.splitlines())) <= 110
    assert len(read_table(text, "", ORIGINAL_HEADERS, "", REVIEWED_FILES).meanings) == 9
    assert table_head([], []) == "\t".join(HEADER) + "\n"


TURN = st.text(max_size=12).filter(lambda text: text.replace("\0", " ").strip() != "")


@given(st.lists(st.lists(TURN, min_size=1, max_size=3), max_size=5))
def test_whatever_a_query_says_is_a_row_of_its_own(queries: list[list[str]]) -> None:
    rows = [Exemplar(turns=tuple(turns), exercises=("a",)) for turns in queries]
    texts = {normalise(turns) for turns in queries}
    found = with_rows({HAND: WIDE}, rows, NEW, "n")
    table = read_table(found[NEW], "", ORIGINAL_HEADERS, "", REVIEWED_FILES) if texts - {"say it", "one\ntwo"} else None
    assert len(table.rows if table else ()) == len(texts - {"say it", "one\ntwo"})
