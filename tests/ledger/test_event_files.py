"""Files of events: each line that can be read is, and nothing that is there is ever written anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from incumbent.files.documents import Document, parse_json_text
from incumbent.files.snapshot import WorkingTree
from incumbent.ledger import event_files
from incumbent.ledger.event_files import RecordedEvents, appended, load_events, parsed, parsed_of, parsed_with
from incumbent.ledger.events import (
    SET_EVENTS,
    Applied,
    Closed,
    Forgotten,
    LedgerEvent,
    Reopened,
    Settled,
    Suggested,
    Ticked,
    VerdictFacts,
    events_path,
)
from incumbent.taxonomy.config import LEDGER_FILES
from tests.agreement.factories import (
    COMMIT,
    answered,
    by_hand,
    corrected,
    correction_ended,
    day,
    decided,
    facts,
    passed,
    requested,
    shown,
    withdrawn,
)

EVENT: TypeAdapter[LedgerEvent] = TypeAdapter(LedgerEvent)

ALL: list[LedgerEvent] = [
    shown(),
    shown("q2", "none", facts=None),
    decided(reason="Grün \u2028 “gut”\nund kurz"),
    withdrawn(decided()),
    corrected(reason="a word for it"),
    correction_ended(corrected()),
    passed(),
    Closed(at=day(3), pull_request=7, commit=COMMIT),
    Suggested(at=day(3), pull_request=20, branch="b", suggestion="swap", entries=("q1",), admits="q2"),
    answered(),
    requested(),
    Settled(at=day(9), entry="q1", action="undo", comment=50),
    Ticked(at=day(9), thread=3, by="cora", edit="9" * 16, comment=70, said="9" * 24),
    Reopened(at=day(5), pull_request=20, branch="b", answers=1),
    Forgotten(at=day(5), pull_request=7, record="0" * 24),
    Applied(at=day(5), pull_request=7, entry="q1", content="0" * 24, action="pin", comment=3),
    by_hand(removed=("q1", "q2")),
]


def loaded(folder: Path, **files: Any) -> RecordedEvents:
    """What is read of these files in the folder of events."""
    for name, text in files.items():
        path = folder / "events" / f"{name}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_events(WorkingTree(folder))


def test_every_kind_of_event_is_read_as_it_was_written(tmp_path: Path) -> None:
    union = get_args(get_args(LedgerEvent)[0])
    assert {type(event) for event in ALL} == set(union)
    text = appended(None, ALL)
    assert text.count("\n") == len(ALL)
    assert [EVENT.validate_json(line) for line in text.split("\n")[:-1]] == ALL
    assert loaded(tmp_path, regression_set=text) == RecordedEvents(tuple(ALL))
    assert (tmp_path / SET_EVENTS).exists()


def test_many_events_are_added_as_few_are() -> None:
    many = [decided(comment=number) for number in range(1, 500)]
    text = appended(None, many)
    assert appended(text, many) == text
    assert appended(None, [*many, *many]) == text
    assert appended(appended(None, many[:300]), many) == text
    assert appended(text, many[:3]) == text


def test_without_a_ledger_or_events_there_is_nothing(tmp_path: Path) -> None:
    assert load_events(None) == load_events(WorkingTree(tmp_path)) == RecordedEvents()


def test_files_are_read_in_the_order_of_their_names(tmp_path: Path) -> None:
    (tmp_path / "events").mkdir()
    (tmp_path / "events" / "README.md").write_text("no events")
    (tmp_path / events_path(9)).write_text(appended(None, [passed(), decided()]))
    found = loaded(tmp_path, **{"10": appended(None, [shown(), decided(at=day(5))])})
    assert found == RecordedEvents((shown(), decided(at=day(5)), passed(), decided()))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not valid JSON"),
        ("[1]", "no event that is known"),
        ('{"kind": "praised"}', "no event that is known"),
        ('{"kind": ["shown"]}', "no event that is known"),
        ('{"kind": "closed", "kind": "closed"}', "given twice"),
        ('{"kind": "closed", "at": "2026-03-01", "pull_request": 0, "commit": null}', "pull_request"),
        ("[" * 200 + "]" * 200, "nested deeper"),
    ],
)
def test_a_line_that_cannot_be_read_costs_no_other(line: str, message: str, tmp_path: Path) -> None:
    good = appended(None, [passed()])
    found = loaded(tmp_path, **{"7": f"{good}\n{line}\r\n{appended(None, [decided()])}"})
    assert found.events == (passed(), decided())
    (problem,) = found.problems
    assert (problem.file, problem.line) == ("events/7.jsonl", 3)
    assert message in problem.message
    assert problem.fix


def line_of(event: LedgerEvent, **more: Any) -> str:
    """The line of ``event``, with ``more`` in it, or in its facts, in whose place nothing was checked."""
    data = event.model_dump(mode="json")
    (data["facts"] if more.keys() <= VerdictFacts.model_fields.keys() else data).update(more)
    return json.dumps(data)


SUGGESTED = Suggested(at=day(3), pull_request=20, branch="b", suggestion="redundant", entries=("q1",))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (line_of(shown(), new=["a", "c"]), "facts: must be given with a score for each capability of `new`"),
        (line_of(shown(), won={"c": 0.5}), "a score for each capability of `won`"),
        (line_of(shown(), arbitrated=["c"]), "a score for each capability of `arbitrated`"),
        (line_of(shown(), place=10**30), "place"),
        (line_of(shown(), place=-1), "place"),
        (line_of(SUGGESTED, remaining={"a": 10**400}), "remaining.a"),
    ],
)
def test_what_nobody_can_compute_with_is_no_event(line: str, message: str, tmp_path: Path) -> None:
    found = loaded(tmp_path, **{"7": f"{line}\n"})
    assert found.events == ()
    (problem,) = found.problems
    assert message in problem.message
    assert problem.fix


def test_what_a_verdict_rests_on_has_scores(tmp_path: Path) -> None:
    event = shown(place=10**9, facts=facts(new=("a",), won={"b": 0.5}, arbitrated=("a", "b")))
    assert loaded(tmp_path, **{"7": line_of(event)}).events == (event,)


def test_a_file_that_is_no_text_costs_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = loaded(tmp_path, **{"7": b"\xff", "8": appended(None, [passed()]).encode()})
    assert (found.events, [item.message for item in found.problems]) == ((passed(),), ["the file is not valid UTF-8"])
    small = type(LEDGER_FILES)(file_bytes=100, nesting_depth=5, nodes=100)
    monkeypatch.setattr(event_files, "LEDGER_FILES", small)
    assert [item.file for item in loaded(tmp_path).problems] == ["events/7.jsonl", "events/8.jsonl"]


def test_a_file_of_anything_else_is_given_up(tmp_path: Path) -> None:
    found = loaded(tmp_path, **{"7": "x\n" * 1500 + appended(None, [passed()]), "8": appended(None, [decided()])})
    assert found.events == (decided(),)
    assert len(found.problems) == 1001
    # What is added to such a file is known there all the same.
    text = appended("x\n" * 1500, [passed()])
    assert appended(text, [passed()]) == text


@pytest.mark.parametrize(
    ("text", "before"),
    [(None, ""), ("", ""), ("{}\n", "{}\n"), ('{"kind": "clo', '{"kind": "clo\n'), ("\n", "\n")],
)
def test_lines_are_added_below_what_is_there(text: str | None, before: str) -> None:
    assert appended(text, [passed()]) == before + appended(None, [passed()])
    assert appended(text, []) == (text or "")


def test_equal_events_give_equal_bytes() -> None:
    one, other = (shown(facts=facts(scores=scores)) for scores in ({"a": 0.9, "b": 0.6}, {"b": 0.6, "a": 0.9}))
    assert one == other
    assert appended(None, [one]) == appended(None, [other])


def test_an_event_is_known_again_whatever_its_time() -> None:
    text = appended(None, [passed()])
    assert appended(text, [passed(at=day(9)), passed(by="eve"), passed(by="eve")]) == text + appended(
        None, [passed(by="eve")]
    )
    cut = text.removesuffix("\n")
    assert appended(cut, [passed()]) == cut


events = st.lists(
    st.one_of(
        st.sampled_from(ALL),
        st.builds(
            lambda who, number: decided(by=who, comment=number), st.sampled_from(["ann", "bob"]), st.integers(1, 9)
        ),
    ),
    max_size=8,
)
texts = st.one_of(
    st.none(),
    st.lists(st.one_of(st.text(max_size=20), st.sampled_from(["", "{", '{"kind": "shown"}', appended(None, ALL[:2])])))
    .map("\n".join),
)  # fmt: skip


@given(texts, events, events)
def test_appending_adds_what_is_new_and_nothing_twice(text: str | None, some: Any, more: Any) -> None:
    once = appended(text, some)
    assert appended(once, some) == once
    assert once.startswith(text or "")
    assert appended(once, more) == appended(text, [*some, *more])
    own = [item.key for item in some]
    added = once.removeprefix(text or "").lstrip("\n").split("\n")[:-1] if some else []
    keys = [EVENT.validate_json(line).key for line in added]
    assert keys == [key for key in dict.fromkeys(own) if key in keys]


@given(texts, events, st.sets(st.integers(1, 30)))
def test_of_a_file_only_the_events_of_some_pull_requests_are_read(text: str | None, some: Any, numbers: Any) -> None:
    whole = appended(text, some)
    found = parsed_of(whole, numbers)
    assert set(map(repr, found)) <= set(map(repr, parsed(whole)))
    wanted = [item for item in parsed(whole) if getattr(item, "pull_request", None) in numbers]
    assert [item for item in found if getattr(item, "pull_request", None) in numbers] == wanted


def test_a_line_that_another_program_wrote_is_read_whatever_it_is_about() -> None:
    text = json.dumps(answered().model_dump(mode="json")) + "\n" + appended(None, [answered(pull_request=21)])
    assert parsed_of(text, {22}) == (answered(),)
    said = decided(reason='about "pull_request":99, and more')
    assert parsed_of(appended(None, [said]), {7}) == (said,)


def test_events_are_found_by_what_they_name() -> None:
    text = appended(None, [by_hand(), by_hand(commit="e" * 40), by_hand(commit="f" * 40), answered()])
    assert parsed_with(text, {COMMIT, "f" * 40}) == (by_hand(), by_hand(commit="f" * 40))
    assert parsed_with(None, {COMMIT}) == parsed_with(text, ()) == ()


def test_what_is_added_parses_no_other_line(monkeypatch: pytest.MonkeyPatch) -> None:
    text = appended(None, [answered(pull_request=number) for number in range(100, 200)])
    read: list[str] = []

    def parse(line: str, *rest: Any) -> Document:
        read.append(line)
        return parse_json_text(line, *rest)

    monkeypatch.setattr(event_files, "parse_json_text", parse)
    assert appended(text, [answered(pull_request=150), answered(pull_request=300)]).count("\n") == 101
    assert len(read) == 1
