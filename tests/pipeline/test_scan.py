"""Personal data that is in a repository already: found by place, replaced so that all else stays byte for byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.files.documents import Data
from incumbent.files.snapshot import WorkingTree
from incumbent.intake.eval_sets.folder import read_eval_sets
from incumbent.intake.query import texts_in
from incumbent.pipeline.replace_personal_data import Replacement
from incumbent.pipeline.scan import FolderScan, folders_of, scan_folder
from incumbent.text.personal_data.detector import Detector
from tests.factories import SHIPPED

CARD = "4539 1488 0343 6467"
MAIL = "kim.lee@northwind.com"
OTHER = "o'hara@adatum.com"
STAND_IN = "4242 4242 4242 4242"
LIMITS = SHIPPED.limits
YAML = f"""\
# Kim's mail is {MAIL}
eval_set:   1
queries:
- {{ query: 'Write to {MAIL}, not to o''hara@adatum.com.' }}   # keep

- turns:
  - |
    Card: {CARD}
    Mail: {MAIL}
  - "Mail:\\n{MAIL}\\t{CARD}"
  expected: {{answer: [{MAIL}], card: "{CARD}"}}
"""
NUMBER = '{"eval_set": 1, "queries": [{"query": "x", "expected": {"card": 4539148803436467}}]}'
FOLDED = "eval_set: 1\nqueries:\n  - query: >\n      Pay with 4539 1488\n      0343 6467\n"
PARTS = [CARD, MAIL, OTHER, "\n", "'", '"', "\\", "é", " ", ", ", "word"]
DETECTOR = Detector()


def scan(folder: Path, files: dict[str, str], detector: Detector = DETECTOR) -> FolderScan:
    for name, content in files.items():
        (folder / name).write_bytes(content.encode())
    return scan_folder(WorkingTree(folder), LIMITS, detector)


@pytest.mark.parametrize(
    ("name", "before"),
    [
        (
            "evals.yaml",
            YAML,
        ),
        (
            "evals.json",
            json.dumps({"eval_set": 1, "queries": [{"query": f"Grüße an {MAIL}\nund {OTHER}"}, {"query": CARD}]}),
        ),
        (
            "evals.json",
            json.dumps({"eval_set": 1, "queries": [{"query": f"日本 {MAIL}", "setup": {"tenant": CARD}}]}, indent=3)
            + "\r\n",
        ),
        ("evals.csv", f'query,expected\r\n"Say ""hi"" to {MAIL}",ok\r\n"Card {CARD}, please",{MAIL}\r\n'),
        ("evals.jsonl", f'{{"query": "To {MAIL}"}}\n{{"query": "Pay with {CARD}"}}\n'),
    ],
)
def test_the_rest_of_a_file_stays_byte_for_byte(name: str, before: str, tmp_path: Path) -> None:
    found = scan(tmp_path, {name: before})
    assert found.sightings
    assert found.kept == {}
    (change,) = found.changes
    assert change.path == name
    assert change.content is not None
    undone = change.content.replace(STAND_IN, CARD)
    people = ["person1@example.com", "person2@example.com"]
    for mine, theirs in ((people, [MAIL, OTHER]), (people[::-1], [MAIL, OTHER])):
        again = undone
        for stand_in, value in zip(mine, theirs, strict=True):
            quoted = value.replace("'", "''") if name.endswith("yaml") else value
            again = again.replace(stand_in, quoted)
        if again == before:
            break
    assert again == before
    assert scan(tmp_path, {name: change.content}).sightings == ()


def test_a_byte_order_mark_stays(tmp_path: Path) -> None:
    found = scan(tmp_path, {"evals.json": f'\ufeff{{"eval_set": 1, "queries": [{{"query": "To {MAIL}"}}]}}'})
    assert found.changes[0].content is not None
    assert found.changes[0].content.startswith("\ufeff{")


def test_a_value_is_replaced_also_where_nothing_shows_what_it_is_and_not_inside_another(tmp_path: Path) -> None:
    text = f"Mail {MAIL}, not {MAIL}.au or x{MAIL}; {MAIL}"
    replacement = Replacement.of([[f"Mail {MAIL}"]], DETECTOR)
    stand_in = "person1@example.com"
    assert replacement.text(text) == f"Mail {stand_in}, not {MAIL}.au or x{MAIL}; {stand_in}"


def test_numbers_and_texts_in_expectations_are_replaced() -> None:
    expected: Data = {"card": 4539148803436467, "more": [MAIL, 7, True, None, 0.5]}
    replacement = Replacement.of([["4539148803436467", MAIL]], DETECTOR)
    assert replacement.data(expected) == {"card": STAND_IN, "more": ["person1@example.com", 7, True, None, 0.5]}


def test_what_is_replaced_by_nothing_is_the_same() -> None:
    nothing = Replacement.of([["Show my bills"]], DETECTOR)
    assert (nothing.text(MAIL), nothing.content(MAIL)) == (MAIL, MAIL)


@pytest.mark.parametrize(("name", "text"), [("evals.json", NUMBER), ("evals.yaml", FOLDED)])
def test_a_file_that_would_not_be_the_same_stays_as_it_is(name: str, text: str, tmp_path: Path) -> None:
    good = {"good.jsonl": f'{{"query": "To {MAIL}"}}\n'}
    found = scan(tmp_path, {name: text, **good})
    ((file, (left,)),) = found.kept.items()
    assert (file, left.file, dict(left.personal_data)) == (name, name, {"card": 1})
    assert left.line is not None
    assert [change.path for change in found.changes] == ["good.jsonl"]
    assert {item.file for item in found.sightings} == {name, *good}


def test_each_query_is_numbered_by_itself_wherever_its_file_has_others(tmp_path: Path) -> None:
    turns = [f"To {MAIL}", "To jo@adatum.com", f"To {MAIL}, not jo@adatum.com"]
    text = "".join(json.dumps({"query": turn}) + "\n" for turn in turns)
    found = scan(tmp_path, {"e.jsonl": text})
    assert found.kept == {}
    content = "".join(
        json.dumps({"query": " ".join(["To", *DETECTOR.all_replaced((turn,))]).replace("To To", "To")}) + "\n"
        for turn in turns
    )
    assert found.changes[0].content == content
    assert "person1@example.com, not person2@example.com" in content


def test_names_of_keys_are_replaced_and_none_takes_the_place_of_another() -> None:
    expected: Data = {MAIL: 1, CARD: 2, CARD.replace(" ", "-"): 3, "none": 4539148803436467.0, "share": 0.5}
    replacement = Replacement.of([tuple(texts_in(expected))], DETECTOR)
    assert replacement.data(expected) == {
        "person1@example.com": 1,
        CARD: 2,
        CARD.replace(" ", "-"): 3,
        "none": STAND_IN,
        "share": 0.5,
    }


def test_sightings_say_where_and_what_and_secrets_too(tmp_path: Path) -> None:
    secret = '{id: b, query: "password: hunter2secret9"}'
    text = f'eval_set: 1\nqueries:\n  - {{id: a, query: "To {MAIL}"}}\n  - {secret}\n'
    found = scan(tmp_path, {"evals.yaml": text})
    assert [(item.file, item.line, item.id, dict(item.personal_data), item.secret) for item in found.sightings] == [
        ("evals.yaml", 3, "a", {"e-mail": 1}, False),
        ("evals.yaml", 4, "b", {}, True),
    ]


def test_what_is_allowed_is_not_found(tmp_path: Path) -> None:
    found = scan(tmp_path, {"e.jsonl": f'{{"query": "To {MAIL}"}}\n'}, Detector(allowed=frozenset({"@northwind.com"})))
    assert (found.sightings, found.changes) == ((), ())


@given(st.lists(st.sampled_from(PARTS), min_size=1, max_size=8))
def test_replaced_json_is_read_as_the_replaced_texts(
    tmp_path_factory: pytest.TempPathFactory, parts: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("set")
    turn = "Q " + " ".join(parts)
    found = scan(folder, {"e.json": json.dumps({"eval_set": 1, "queries": [{"turns": [turn]}]})})
    for change in found.changes:
        (folder / change.path).write_text(change.content or "", encoding="utf-8")
    (after,) = read_eval_sets(WorkingTree(folder), LIMITS)
    if not found.kept:
        assert after.queries[0].turns == (Replacement.of([[turn]], DETECTOR).text(turn),)
        assert not DETECTOR.find(after.queries[0].turns[0])


def test_a_customers_folder_and_all_of_them_stand_for_their_agents(tmp_path: Path) -> None:
    for place in ("a/x", "a/y", "b/z"):
        (tmp_path / "eval_sets" / place).mkdir(parents=True)
        (tmp_path / "eval_sets" / place / "e.jsonl").write_text("{}")
    sets = tmp_path / "eval_sets"
    assert folders_of(tmp_path, sets) == (sets / "a/x", sets / "a/y", sets / "b/z")
    assert folders_of(tmp_path, sets / "a") == (sets / "a/x", sets / "a/y")
    assert folders_of(tmp_path, sets / "a/x") == (sets / "a/x",)
    assert folders_of(tmp_path, tmp_path) == (tmp_path,)
