"""Which queries are settled, which edit an entry, which are new: by text first, by name then."""

from __future__ import annotations

from typing import Any

import pytest

from incumbent.curator.entry import Entry, Evicted, Source, Tombstone, entry_id
from incumbent.curator.store import RegressionSet
from incumbent.files.documents import Data
from incumbent.intake.query import Query, Setup
from incumbent.pipeline import matching as settling
from incumbent.pipeline.matching import MatchedQueries, asked, content_key, settle
from incumbent.pipeline.submission import Submission
from incumbent.text.digests import digest
from tests.factories import make_entry

AGENT = ("acme", "desk")


def native(item: str, *place: str) -> str:
    customer, agent = place or AGENT
    return entry_id(customer, agent, item)


def entry(item: str, text: str, *place: str, id: str | None = None) -> Entry:
    customer, agent = place or AGENT
    source = Source(customer=customer, agent=agent, eval_set="evals.yaml", item=item)
    return make_entry(id or native(item, customer, agent), {"a": 0.9}, text=text, source=source)


def known(entries: list[Entry], waiting: list[Entry] | None = None, graves: list[Entry] | None = None) -> RegressionSet:
    evicted = Evicted(at="2026-01-01T00:00:00Z", reason="redundant")
    return RegressionSet(
        {item.id: item for item in entries},
        {item.id: item for item in waiting or []},
        {item.id: Tombstone(id=item.id, evicted=evicted, restore="x", entry=item) for item in graves or []},
    )


def submission(texts: dict[str, str], **more: Any) -> Submission:
    queries = tuple(Query(id=name, turns=(text,), file="e", line=1) for name, text in texts.items())
    defaults: dict[str, Any] = {"customer": AGENT[0], "agent": AGENT[1], "folder": "f", "queries": queries}
    return Submission(**defaults | more)


def said(found: MatchedQueries) -> dict[str, str]:
    """What became of each query, in a word and an id."""
    return {
        **{name: f"settled {item.id}" for name, item in found.settled.items()},
        **{name: f"{'edits' if name in found.edited else 'new'} {id}" for name, id in found.targets.items()},
    }


R = known([entry("x", "tx"), entry("y", "ty"), entry("z", "tz")])
X, Y, Z = (f"settled {native(item)}" for item in "xyz")


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ({"x": "tx", "y": "ty", "z": "tz"}, {"x": X, "y": Y, "z": Z}),
        ({"x": "ty", "y": "tx", "z": "tz"}, {"x": Y, "y": X, "z": Z}),
        ({"x": "tz", "y": "tx", "z": "ty"}, {"x": Z, "y": X, "z": Y}),
        ({"anew": "tx", "y": "ty"}, {"anew": X, "y": Y}),
        ({"x": "tx", "copy": "tx"}, {"x": X, "copy": f"new {native('copy')}"}),
        ({"x": "other", "y": "ty"}, {"x": f"edits {native('x')}", "y": Y}),
        ({"x": "other", "y": "tx"}, {"x": f"new {native('x other')}", "y": X}),
        ({"w": "new"}, {"w": f"new {native('w')}"}),
    ],
    ids=["the same", "two trade names", "three do", "renamed", "a copy", "edited", "new text, old one moves", "new"],
)
def test_texts_decide_before_names(texts: dict[str, str], expected: dict[str, str]) -> None:
    assert said(settle([submission(texts)], R)) == expected


def test_a_copy_never_bears_the_id_of_the_entry_that_settles_the_other() -> None:
    moved = known([entry("x", "tx"), entry("x", "copy", id=native("x copy"))])
    texts = {"y": "copy", "z": "tx", "x": "copy"}
    assert said(settle([submission(texts)], moved)) == {
        "y": f"settled {native('x copy')}",
        "z": X,
        "x": f"new {native('x copy copy')}",
    }


def test_another_agents_entry_is_never_touched() -> None:
    assert said(settle([submission({"x": "tx"}, customer="other")], R)) == {"x": f"new {native('x', 'other', 'desk')}"}


def test_a_folder_that_moved_takes_its_entries_along() -> None:
    moved = submission({"x": "tx", "anew": "ty", "z": "other"}, agent="till", moved_from=AGENT)
    assert said(settle([moved], R)) == {"x": X, "anew": Y, "z": f"edits {native('z')}"}


def test_one_that_waits_and_is_edited_keeps_its_place_in_line() -> None:
    line = known([], waiting=[entry("x", "tx")])
    assert said(settle([submission({"x": "tx"})], line)) == {"x": X}
    moved = submission({"x": "other"}, agent="till", moved_from=AGENT)
    assert said(settle([moved], line)) == {"x": f"new {native('x')}"}


def test_what_was_evicted_is_settled_and_with_another_text_it_is_new() -> None:
    graves = known([], graves=[entry("x", "tx")])
    assert said(settle([submission({"x": "tx"})], graves)) == {"x": X}
    assert said(settle([submission({"anew": "tx"})], graves)) == {"anew": X}
    assert said(settle([submission({"x": "other"})], graves)) == {"x": f"new {native('x')}"}


def test_a_grave_hides_no_living_entry() -> None:
    both = known([entry("x", "tx", id="living")], graves=[entry("x", "tx")])
    assert said(settle([submission({"x": "tx"})], both)) == {"x": "settled living"}
    assert said(settle([submission({"anew": "tx"})], both)) == {"anew": "settled living"}


def test_entries_without_a_source_are_known_by_their_id() -> None:
    seeds = known([make_entry(native("x"), {"a": 0.9}, text="tx")])
    assert said(settle([submission({"x": "tx"})], seeds)) == {"x": X}
    assert said(settle([submission({"x": "other"})], seeds)) == {"x": f"edits {native('x')}"}


def test_a_query_with_something_else_attached_is_another() -> None:
    query = Query(id="x", turns=("tx",), setup=Setup(attachments=("boat.png",)), file="e", line=1)
    assert said(settle([submission({}, queries=(query,))], R)) == {"x": f"edits {native('x')}"}
    held = entry("x", "tx").model_copy(update={"setup": query.setup})
    assert said(settle([submission({}, queries=(query,))], known([held]))) == {"x": X}


@pytest.mark.parametrize(
    ("before", "now", "settled"),
    [
        (None, None, True),
        ({"expected_tools": ["add"]}, {"expected_tools": ["add"]}, True),
        ({"expected_tools": ["add"]}, {"expected_tools": ["add"], "answer": "Done."}, True),
        (None, "An answer.", True),
        (None, {"expected_tools": ["add"]}, False),
        ({"expected_tools": ["add"]}, {"expected_tools": ["get"]}, False),
        ({"expected_tools": ["add"]}, None, False),
    ],
)
def test_another_expectation_of_calls_is_an_edit(before: Data, now: Data, settled: bool) -> None:
    held = known([entry("x", "tx").model_copy(update={"expected": before})])
    asking = Query(id="x", turns=("tx",), expected=now, file="e", line=1)
    found = settle([submission({}, queries=(asking,))], held)
    assert said(found) == {"x": X if settled else f"edits {native('x')}"}


def test_the_digest_of_a_content_tells_expected_calls_apart() -> None:
    stated: tuple[Data, ...] = (None, {"expected_tools": ["add"]}, {"expected_tools": ["get"]})
    asking = [Query(id="x", turns=("tx",), expected=expected, file="e", line=1) for expected in stated]
    assert len({content_key(asked(item)) for item in asking}) == 3
    assert content_key(asked(asking[0])) == digest([["tx"], []])


def test_an_entry_keeps_its_id_where_its_query_is_called_by_a_title_since() -> None:
    made = entry("q-0123456789", "How much leave do I have?")
    assert said(settle([submission({"Asks for leave": "How much leave do I have?"})], known([made]))) == {
        "Asks for leave": f"settled {made.id}"
    }


def test_what_other_agents_have_in_the_set_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    others = [entry(f"o{number}", f"text {number}", f"customer{number}", "desk") for number in range(50)]
    looked: list[str] = []
    content_of = settling.content_of

    def counted(item: Entry | Tombstone) -> settling.Content:
        looked.append(item.id)
        return content_of(item)

    monkeypatch.setattr(settling, "content_of", counted)
    whole = known([entry("x", "tx"), *others])
    assert said(settle([submission({"x": "tx", "n": "new"})], whole))["x"] == X
    assert set(looked) == {native("x")}
