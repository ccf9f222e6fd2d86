"""From plain data to models: every fault at once, in the words and at the places of the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, JsonValue, ValidationError

from incumbent.errors import InputError
from incumbent.files.documents import parse_json, parse_yaml
from incumbent.files.snapshot import ReadingLimits
from incumbent.files.validation import Checked, FileModel, Score, Text, Tuple, validate
from incumbent.text.did_you_mean import did_you_mean

LIMITS = ReadingLimits(file_bytes=10_000, nesting_depth=20, nodes=1_000)


class Part(FileModel):
    name: Text
    size: Annotated[int, Field(ge=1)] = 1
    in_: Text | None = Field(default=None, alias="in")


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wheel:
    colours: tuple[Colour, ...]
    width: Annotated[float, Field(ge=0)] = 1.0


@dataclass(frozen=True)
class Car:
    wheels: Mapping[str, Wheel]
    names: frozenset[str] = frozenset()


class Whole(FileModel):
    title: Text
    parts: Tuple[Part] = ()
    scores: dict[str, Score] = Field(default_factory=dict)
    kind: Literal["small", "large"] = "small"
    words: Annotated[Tuple[Text], Field(min_length=1, max_length=3)] = ("x",)
    code: Annotated[str, Field(pattern="^[a-z]+$", min_length=2, max_length=4)] = "ab"
    either: Text | Tuple[Text] | None = None
    ratio: Annotated[float, Field(gt=0, lt=10)] = 1.0
    flag: bool = False
    extra: JsonValue = None
    by_name: dict[str, Part] = Field(default_factory=dict)
    one: Part | None = None
    car: Checked[Car] | None = None
    by_code: dict[Annotated[str, Field(pattern="^[a-z]+$")], int] = Field(default_factory=dict)


def faults(text: str, at: tuple[str | int, ...] = ()) -> list[tuple[int | None, str, str]]:
    document = parse_yaml(text.encode(), "f.yaml", LIMITS)
    data: Any = document.data
    for step in at:
        data = data[step]
    with pytest.raises(InputError) as caught:
        validate(Whole, document, data, at)
    assert all(problem.file == "f.yaml" for problem in caught.value.problems)
    return [(problem.line, problem.message, problem.fix) for problem in caught.value.problems]


def read(text: str) -> Whole:
    return validate(Whole, parse_yaml(text.encode(), "f.yaml", LIMITS))


def test_lists_become_tuples_and_types_are_kept() -> None:
    whole = read("{title: x, parts: [{name: a, in: query}], words: [a, b], ratio: 2, extra: {a: [1, null, 0.5]}}")
    assert whole.parts == (Part.model_validate({"name": "a", "in": "query"}),)
    assert whole.words == ("a", "b")
    assert whole.extra == {"a": [1, None, 0.5]}


@pytest.mark.parametrize(
    ("text", "line", "message", "fix"),
    [
        ("title: x\nkind: tiny", 2, "kind: must be 'small' or 'large'", "write 'small' or 'large'"),
        ("title: x\ntitel: y", 2, "titel: unknown key; perhaps you meant 'title'", "use one of: by_code, by_name,"),
        ("title: x\nzzz: y", 2, "zzz: unknown key", "use one of: by_code, by_name,"),
        ("parts: []", 1, "title: the key is missing", "add `title`"),
        ("title: x\nparts:\n- size: 1", 3, "parts.0.name: the key is missing", "add `name`"),
        (
            "title: x\nparts:\n- name: a\n  sise: 1",
            4,
            "parts.0.sise: unknown key; perhaps you meant 'size'",
            "use one of",
        ),
        (
            "title: x\nparts:\n- name: a\n  in_: 1",
            4,
            "parts.0.in_: unknown key; perhaps you meant 'in'",
            "in, name, size",
        ),
        ("title: x\nby_name:\n  a: {name: b, on: 1}", 3, "by_name.a.on: unknown key", "use one of: in, name, size"),
        ("title: x\none: {nam: b, name: a}", 2, "one.nam: unknown key; perhaps you meant 'name'", "use one of: in"),
        (
            "title: x\nparts:\n- name: a\n- name: b\n  size: 0",
            5,
            "parts.1.size: must be greater than or equal to 1",
            "number",
        ),
        ("title: x\nparts: {}", 2, "parts: must be a list", "one `- ` item per line"),
        ("title: x\nparts: [a]", 2, "parts.0: must be a mapping", "`key: value`"),
        ("title: x\nscores: [a]", 2, "scores: must be a mapping", "`key: value`"),
        ("title: 12", 1, "title: must be a string", "quote values such as 12, true or null"),
        ("title: null", 1, "title: must be a string", "quote"),
        ("title: '  '", 1, "title: must be a text with at least one visible character", "visible character"),
        ("title: x\n'[key]': y", 2, "[key]: unknown key", "use one of"),
        ("title: x\nby_code:\n  a: 1\n  B1: 2", 4, "by_code.B1: must match the pattern ^[a-z]+$", "in that form"),
        ("title: x\nby_code: {'[key]': 2}", 2, "by_code.[key]: must match the pattern ^[a-z]+$", "in that form"),
        ("title: x\nflag: 1", 2, "flag: must be true or false", "without quotes"),
        ("title: x\nflag: yes", 2, "flag: must be true or false", "without quotes"),
        ("title: x\nratio: '1'", 2, "ratio: must be a number", "without quotes"),
        ("title: x\nratio: true", 2, "ratio: must be a number", "without quotes"),
        ("title: x\nratio: 0", 2, "ratio: must be greater than 0", "write a number greater than 0"),
        ("title: x\nratio: 10", 2, "ratio: must be less than 10", "write a number less than 10"),
        ("title: x\nparts: [{name: a, size: 1.5}]", 2, "parts.0.size: must be a whole number", "whole number"),
        ("title: x\nparts: [{name: a, size: '1'}]", 2, "parts.0.size: must be a whole number", "whole number"),
        ("title: x\nscores: {a: 1.01}", 2, "scores.a: must be less than or equal to 1", "number"),
        ("title: x\nscores: {a: -0.01}", 2, "scores.a: must be greater than or equal to 0", "number"),
        ("title: x\nscores: {a: high}", 2, "scores.a: must be a number", "number"),
        ("title: x\nwords: []", 2, "words: must have 1 or more items", "add the missing items"),
        ("title: x\nwords: [' ']", 2, "words.0: must be a text with at least one visible character", "visible"),
        ("title: x\nwords: [a, b, c, d]", 2, "words: must have 3 or fewer items", "remove what is too many"),
        ("title: x\nwords: [a,\n 1]", 3, "words.1: must be a string", "quote"),
        ("title: x\ncode: A1", 2, "code: must match the pattern ^[a-z]+$", "in that form"),
        ("title: x\ncode: a", 2, "code: must have at least 2 characters", "write more"),
        ("title: x\ncode: abcde", 2, "code: must have at most 4 characters", "shorten it"),
        (
            "title: x\neither: 1",
            2,
            "either: must be a string or be a list",
            "quote values such as 12, true or null, or",
        ),
        ("title: x\neither: [a,\n  1]", 3, "either.1: must be a string", "quote"),
    ],
)
def test_each_fault_says_where_what_and_how_to_mend_it(text: str, line: int, message: str, fix: str) -> None:
    ((found_line, found_message, found_fix),) = faults(text)
    assert (found_line, found_message) == (line, message)
    assert fix in found_fix


def deep(levels: int) -> Any:
    value: Any = 1
    for level in range(levels):
        value = [value] if level % 2 else {"k": value}
    return value


def test_a_value_too_deep_for_the_model_is_named_where_it_begins() -> None:
    document = parse_yaml(b"title: x\nextra: 1", "f.yaml", LIMITS)
    with pytest.raises(InputError) as caught:
        validate(Whole, document, {"title": "x", "extra": deep(400)})
    (problem,) = caught.value.problems
    assert (problem.line, problem.message) == (2, "extra: must be nested less deeply")
    assert problem.fix == "flatten it"


@pytest.mark.parametrize("text", ["", "[a]", "a", "12"])
def test_what_is_no_mapping_at_all_is_said_of_the_file(text: str) -> None:
    assert [message for _, message, _ in faults(text)] == ["the file: must be a mapping"]


def test_all_faults_come_at_once_in_the_order_of_lines() -> None:
    text = "titel: x\nkind: tiny\nparts:\n- name: ''\n  size: a\n- {}\nscores:\n  a: 2\n  b: x\n"
    assert [(line, message.partition(":")[0]) for line, message, _ in faults(text)] == [
        (1, "titel"),
        (1, "title"),
        (2, "kind"),
        (4, "parts.0.name"),
        (5, "parts.0.size"),
        (6, "parts.1.name"),
        (8, "scores.a"),
        (9, "scores.b"),
    ]


def test_a_part_of_a_document_is_named_by_its_place_in_the_whole() -> None:
    text = "list:\n- title: x\n- title: y\n  kind: tiny\n  none: 1\n"
    assert [(line, message) for line, message, _ in faults(text, ("list", 1))] == [
        (4, "list.1.kind: must be 'small' or 'large'"),
        (5, "list.1.none: unknown key; perhaps you meant 'one'"),
    ]


def test_json_gives_the_same_faults_as_yaml() -> None:
    document = parse_json(b'{"title": "x",\n "kind": "tiny"}', "f.json", LIMITS)
    with pytest.raises(InputError) as caught:
        validate(Whole, document)
    assert [(problem.line, problem.message) for problem in caught.value.problems] == [
        (2, "kind: must be 'small' or 'large'")
    ]


def test_models_cannot_be_changed() -> None:
    whole = read("title: x")
    with pytest.raises(ValueError, match="frozen"):
        whole.title = "y"  # type: ignore[misc]  # the fault is the point


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("titel", "; perhaps you meant 'title'"),
        ("Title", "; perhaps you meant 'title'"),
        ("title", "; perhaps you meant 'title'"),
        ("qqqq", ""),
        ("", ""),
    ],
)
def test_the_nearest_known_name_is_suggested(name: str, expected: str) -> None:
    assert did_you_mean(name, ["title", "kind"]) == expected
    assert did_you_mean(name, []) == ""


def test_of_equally_near_names_always_the_same_one_is_suggested() -> None:
    assert did_you_mean("aac", {"aab", "aaa"}) == did_you_mean("aac", ["aaa", "aab"])


CAR = Car({"front": Wheel(colours=(Colour.RED,))}, frozenset({"x"}))


def test_values_of_the_core_are_read_from_mappings_and_written_as_they_are() -> None:
    whole = read("{title: x, car: {wheels: {front: {colours: [red]}}, names: [x]}}")
    assert whole.car == CAR
    written = whole.model_dump(mode="json")["car"]
    assert written == {"wheels": {"front": {"colours": ["red"], "width": 1.0}}, "names": ["x"]}
    assert Whole(title="x", car=CAR) == whole


@pytest.mark.parametrize(
    ("car", "message", "fix"),
    [
        ("{}", "car.wheels: the key is missing", "add `wheels`"),
        ("3", "car: must be a mapping", "write `key: value` pairs"),
        ("{wheels: {}, naems: []}", "car.naems: unknown key; perhaps you meant 'names'", "use one of: names, wheels"),
        (
            "{wheels: {a: {colours: [], widht: 1}}}",
            "car.wheels.a.widht: unknown key; perhaps you meant 'width'",
            "use one of: colours, width",
        ),
        ("{wheels: {a: {colours: x}}}", "car.wheels.a.colours: must be a list", "write a list"),
        ("{wheels: {a: {colours: [blue]}}}", "car.wheels.a.colours.0: must be 'red'", "write 'red'"),
        ("{wheels: {a: {colours: [], width: '1'}}}", "car.wheels.a.width: must be a number", "write a number"),
        ("{wheels: {a: {colours: [], width: -1}}}", "car.wheels.a.width: must be greater", "write a number"),
        ("{wheels: {}, names: [1]}", "car.names.0: must be a string", "write a string"),
    ],
)
def test_values_of_the_core_are_as_strict_as_models(car: str, message: str, fix: str) -> None:
    [found] = faults(f"{{title: x, car: {car}}}")
    assert found[1].startswith(message)
    assert found[2].startswith(fix)


def test_a_value_of_the_core_that_could_not_be_read_is_not_written() -> None:
    with pytest.raises(ValueError, match="width"):
        Whole(title="x", car=Car({"front": Wheel(colours=(), width=-1.0)}))


@dataclass(frozen=True)
class Boat:
    """Something else that carries."""

    sails: tuple[int, ...]


class Either(FileModel):
    carrier: Checked[Car | Boat | None] = None


@pytest.mark.parametrize(
    ("said", "expected"),
    [({"sails": [1, 2]}, Boat((1, 2))), ({"wheels": {}, "names": ["x"]}, Car({}, frozenset({"x"}))), (None, None)],
)
def test_of_several_values_of_the_core_the_one_that_fits_is_read(said: object, expected: object) -> None:
    found = Either.model_validate({"carrier": said})
    assert found.carrier == expected
    assert Either.model_validate(found.model_dump(mode="json")) == found
    with pytest.raises(ValidationError):
        Either.model_validate({"carrier": {"sails": ["x"]}})
