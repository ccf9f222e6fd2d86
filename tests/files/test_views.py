"""Views: what an output shows of a value, in order, under which names, and what it says of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, TypeVar

import pytest
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from incumbent.files.views import HowMany, View

Inner = TypeVar("Inner")


@dataclass(frozen=True, slots=True)
class Span:
    """Two bounds."""

    low: Annotated[float, Field(description="the lower bound")]


@dataclass(frozen=True, slots=True)
class Measure:
    """What was measured.

    More of that.
    """

    name: str
    values: tuple[float, ...]
    span: Span | None = None

    @property
    def mean(self) -> float:
        """The mean of
        the values.
        """
        return sum(self.values) / len(self.values)


class Report(BaseModel):
    item: Annotated[Measure, View("mean id=name count=values low=span.low", rounds=True, count=HowMany)]
    others: tuple[Annotated[Measure, View("name")], ...] = ()


class Noted(BaseModel):
    note: str = Field(max_length=9, description="what is said")


@dataclass(frozen=True, slots=True)
class Box(Generic[Inner]):
    """Something, and parts of it."""

    inner: Inner
    parts: dict[str, Any] = field(default_factory=dict)


ONE = Measure("a", (0.1, 0.2, 0.2), Span(0.12345678912))


def test_names_come_in_order_under_their_own_names_and_rounded() -> None:
    dumped = Report(item=ONE, others=(ONE,)).model_dump(mode="json")
    assert list(dumped["item"].items()) == [("mean", 0.166666667), ("id", "a"), ("count", 3), ("low", 0.123456789)]
    assert dumped["others"] == [{"name": "a"}]


def test_numbers_within_mappings_are_rounded_too() -> None:
    class Shown(BaseModel):
        box: Annotated[Box[float], View("inner parts", rounds=True)]

    box = Box(1 / 3, {"a": {"b": 2 / 3}, "c": 1, "d": "x"})
    assert Shown(box=box).model_dump(mode="json")["box"] == {
        "inner": 0.333333333,
        "parts": {"a": {"b": 0.666666667}, "c": 1, "d": "x"},
    }


def test_a_path_ends_where_there_is_nothing() -> None:
    assert Report(item=Measure("a", (1.0,))).model_dump()["item"]["low"] is None


def test_the_value_stays_itself_and_a_mapping_is_checked() -> None:
    assert Report(item=ONE).item is ONE
    shown = Report(item=ONE).model_dump(mode="json")
    assert Report.model_validate(shown).model_dump(mode="json") == shown
    for wrong in ({**shown["item"], "count": -1}, {"mean": 1.0}, "text"):
        with pytest.raises(ValidationError):
            Report.model_validate({"item": wrong})


def test_a_name_with_a_question_mark_is_left_out_where_it_is_empty() -> None:
    shown: TypeAdapter[Any] = TypeAdapter(Annotated[Measure, View("name values? span?")])
    assert shown.dump_python(Measure("a", ()), mode="json") == {"name": "a"}
    assert shown.dump_python(ONE, mode="json").keys() == {"name", "values", "span"}
    assert shown.json_schema()["required"] == ["name"]
    assert shown.validate_python({"name": "a"}) == {"name": "a"}


def test_a_view_of_a_generic_value_knows_what_is_in_it() -> None:
    shown: TypeAdapter[Any] = TypeAdapter(Annotated[Box[Report], View("mean=inner.item.mean first=parts.x", first=str)])
    box = Box(Report(item=ONE), {"x": "y"})
    assert shown.dump_python(box, mode="json") == {"mean": pytest.approx(1 / 6), "first": "y"}
    inner: TypeAdapter[Any] = TypeAdapter(Annotated[Box[Noted], View("note=inner.note", first=str)])
    assert inner.json_schema()["properties"]["note"] == {
        "description": "what is said",
        "maxLength": 9,
        "title": "Note",
        "type": "string",
    }


@pytest.mark.parametrize("mode", ["validation", "serialization"])
def test_the_schema_has_what_is_said_of_the_value(mode: Any) -> None:
    schema = Report.model_json_schema(mode=mode)
    item = schema["$defs"][schema["properties"]["item"]["$ref"].rpartition("/")[2]]
    assert item["description"] == "What was measured."
    assert item["required"] == ["mean", "id", "count", "low"]
    assert item["properties"]["mean"]["description"] == "The mean of the values."
    assert (item["properties"]["count"]["type"], item["properties"]["count"]["minimum"]) == ("integer", 0)
    assert item["properties"]["low"]["anyOf"][0]["description"] == "the lower bound"


def test_a_name_that_the_value_does_not_have_is_refused_at_once() -> None:
    with pytest.raises(KeyError, match="naem"):

        class Wrong(BaseModel):
            item: Annotated[Measure, View("naem")]
