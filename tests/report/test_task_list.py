"""Boxes that people tick: what is a box, what was ticked, and the comment that records it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.github.commands import command_lines
from incumbent.report.task_list import (
    MOST_TICKED,
    NAMES_PER_LINE,
    Task,
    TickRecord,
    Ticks,
    boxes_in,
    record_in,
    records_of,
    shown_by,
    ticked_between,
    ticks_of,
    unticked,
)

GROUNDS = "0123456789abcdef"
KEEP = Task("keep", "s0", GROUNDS)
OPEN = Task("suggest", "s1", GROUNDS)
AGAIN = Task("suggest", "s1", GROUNDS, 7)
ACCEPT = Task("accept", "q-1.x", GROUNDS + "89abcdef", 4)
ALL = (KEEP, OPEN, AGAIN, ACCEPT)
AT = "2026-11-28T05:00:00Z"

ids = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,30}", fullmatch=True)
tasks = st.builds(
    Task,
    st.sampled_from(["accept", "keep", "suggest"]),
    ids,
    st.text("0123456789abcdef", min_size=16, max_size=24),
    st.integers(0, 9_999_999),
)


def ticked(task: Task) -> str:
    return task.line.replace("[ ]", "[x]")


@given(st.lists(tasks, unique=True, max_size=8), st.data())
def test_boxes_are_read_as_they_are_written_and_untick(known: list[Task], data: st.DataObject) -> None:
    done = {task for task in known if data.draw(st.booleans())}
    end = data.draw(st.sampled_from(["\n", "\r\n"]))
    lines = [ticked(task) if task in done else task.line for task in known]
    body = end.join(["# Text", *lines, "the end"])
    before = end.join(["# Text", *(task.line for task in known), "the end"])
    assert boxes_in(body) == {task: task in done for task in known}
    assert unticked(body) == before
    assert set(ticked_between(before, body)) == done
    assert ticked_between(body, body) == ()


@pytest.mark.parametrize(
    "line",
    [
        KEEP.line.replace("Keep `s0`", "Keep `s9`"),
        KEEP.line.replace("Keep", "Praise"),
        f" {KEEP.line}",
        f"{KEEP.line} and more",
        KEEP.line.replace(GROUNDS, "short"),
        KEEP.line.replace("keep s0", "evict s0"),
        KEEP.line.replace("s0", "../s0"),
        KEEP.line.replace("[ ]", "[y]"),
    ],
)
def test_a_line_that_somebody_rewrote_is_no_box(line: str) -> None:
    assert boxes_in(line) == {}
    assert unticked(line) == line


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ticked(KEEP)),
        (ticked(KEEP), ticked(KEEP)),
        (ticked(KEEP), KEEP.line),
        (KEEP.line, ""),
        (KEEP.line, ticked(OPEN)),
    ],
)
def test_only_a_box_that_was_shown_unticked_can_be_ticked(before: str, after: str) -> None:
    assert ticked_between(before, after) == ()
    assert ticks_of("cora", AT, 3, before, after) is None


@pytest.mark.parametrize(("login", "at"), [("co ra", AT), ("cora -->", AT), ("", AT), ("cora", "now\n/incumbent x")])
def test_what_github_never_says_is_not_read(login: str, at: str) -> None:
    assert ticks_of(login, at, 3, KEEP.line, ticked(KEEP)) is None


def test_no_edit_ticks_more_than_so_many_boxes() -> None:
    many = [Task("keep", f"s{number}", GROUNDS) for number in range(MOST_TICKED + 5)]
    found = ticks_of("cora", AT, 3, "\n".join(task.line for task in many), "\n".join(map(ticked, many)))
    assert found is not None
    assert found.tasks == tuple(many[:MOST_TICKED])
    (body,) = records_of(found, many).values()
    assert f"Only the first {MOST_TICKED} boxes of this edit were read." in body


def test_the_record_says_who_ticked_what_where_it_is_read() -> None:
    ticks = Ticks(by="cora", at=AT, number=3, tasks=ALL)
    records = records_of(ticks, ALL)
    assert sorted(records) == [3, 4]
    commands = {number: [words for _, _, words in command_lines(body)] for number, body in records.items()}
    assert commands == {3: [" keep s0", " suggest s1 s1"], 4: [" accept q-1.x"]}
    assert "`cora` ticked 3 boxes in #3:" in records[3]
    assert "`cora` ticked a box in #3:" in records[4]
    record = record_in(records[4])
    assert record == TickRecord(by="cora", key=ticks.key, tasks=(ACCEPT,))
    assert shown_by(records[4], "accept", ACCEPT.entry) == ACCEPT.shown
    assert shown_by(records[4], "accept", "other") is None
    assert shown_by("/incumbent accept q-1.x", "accept", ACCEPT.entry) is None
    assert record_in(records[4].replace("\n", "\r\n")) == record
    assert record_in(f"Hello\n{records[4]}") is None


@given(st.lists(tasks, min_size=1, max_size=60), st.sets(st.integers(0, 59)))
def test_a_record_is_read_back_without_what_was_not_displayed_any_more(wanted: list[Task], gone: set[int]) -> None:
    displayed = [task for place, task in enumerate(wanted) if place not in gone]
    for body in records_of(Ticks(by="a-b", at=AT, number=3, tasks=tuple(wanted)), displayed).values():
        read = record_in(body)
        assert read is not None
        assert set(read.tasks) <= set(displayed)
        words = [line for _, _, line in command_lines(body)]
        assert sorted({name for line in words for name in line.split()[1:]}) == sorted({t.entry for t in read.tasks})
        assert all(len(line.split()) <= NAMES_PER_LINE + 1 for line in words)


def test_a_stale_box_is_answered_and_commands_nothing() -> None:
    (body,) = records_of(Ticks(by="cora", at=AT, number=3, tasks=(KEEP,)), ()).values()
    assert "Not done: “Keep `s0`”. It has changed since it was shown. Look at it again." in body
    assert command_lines(body) == ()
    ticks = Ticks(by="cora", at=AT, number=3, tasks=(KEEP,))
    assert record_in(body) == TickRecord(by="cora", key=ticks.key, tasks=())


@given(st.lists(tasks, min_size=1, max_size=4), st.lists(tasks, min_size=1, max_size=4))
def test_two_edits_in_one_second_have_keys_of_their_own(one: list[Task], other: list[Task]) -> None:
    keys = [Ticks(by="cora", at=AT, number=3, tasks=tuple(each)).key for each in (one, other)]
    assert (keys[0] == keys[1]) == (set(one) == set(other))
    assert Ticks(by="dan", at=AT, number=3, tasks=tuple(one)).key != keys[0]
