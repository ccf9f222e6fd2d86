"""Observed queries, a taxonomy with enough exemplars, and settings for the tests of extension candidates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from incumbent.classifier.model import Consensus
from incumbent.extension.model import (
    DistinctiveTrait,
    DraftExemplar,
    ExtensionCandidate,
    Member,
    Observed,
    Signal,
    Trait,
)
from incumbent.taxonomy.config import ExtensionSettings
from incumbent.taxonomy.model import Capability, Exemplars, Group, Taxonomy
from tests.factories import SHIPPED

KNOWN = ("say", "sell", "lend", "count")
THINGS = tuple(
    f"{first}{second}"
    for first in ("bar", "tin", "lam", "rop", "sok")
    for second in ("ble", "dor", "fin", "gat", "mul")
)
OTHERS = tuple(
    f"{first}{second}" for first in ("quo", "vex", "wyk", "hig", "jup") for second in ("nna", "pps", "tto", "ccu")
)


def make_taxonomy(**more: Any) -> Taxonomy:
    """Four capabilities, each of one verb, in an open group, and an exactly-one group of two without exemplars."""
    groups = (
        Group(id="deeds", name="Deeds"),
        Group(id="size", name="Size", constraint="exactly-one"),
    )
    deeds = tuple(
        Capability(
            id=f"deeds.{verb}",
            name=verb,
            group="deeds",
            description=f"about {verb}",
            source="intent",
            exemplars=Exemplars(positive=tuple(f"{verb} the {thing}" for thing in THINGS), negative=(f"no {verb}",)),
        )
        for verb in KNOWN
    )
    sizes = tuple(
        Capability(id=f"size.{name}", name=name, group="size", description=name, source="intent") for name in "ab"
    )
    defaults: dict[str, Any] = {"version": "1.2.3", "groups": groups, "capabilities": (*deeds, *sizes)}
    return Taxonomy(**defaults | more)


def make_settings(**more: Any) -> ExtensionSettings:
    """The shipped settings, or others; made-up queries are all written otherwise than made-up exemplars."""
    return SHIPPED.extension.model_copy(update={"tolerated": 50.0, **more})


def ask(number: int, *turns: str, exercised: Iterable[str] = (), **more: Any) -> Observed:
    """A query of one of five customers; what it does not exercise is improbable."""
    own = set(exercised)
    beliefs = {
        f"deeds.{verb}": Consensus(value=f"deeds.{verb}" in own, confidence=0.9 if f"deeds.{verb}" in own else 0.1)
        for verb in KNOWN
    }
    customer = f"customer-{number % 5}"
    defaults: dict[str, Any] = {"id": f"{customer}/agent/{number:04}", "customer": customer, "beliefs": beliefs}
    return Observed(turns=turns, **defaults | more)


def known_queries(count: int = 40) -> list[Observed]:
    """Queries that the taxonomy knows, like its exemplars and none of them."""
    return [
        ask(number, f"{verb} the {thing}", exercised=[f"deeds.{verb}"])
        for number, (verb, thing) in enumerate(
            [(verb, f"{thing}{mark}") for mark in "qxj" for thing in THINGS for verb in KNOWN][:count]
        )
    ]


def new_queries(count: int = 12, start: int = 500) -> list[Observed]:
    """Queries of five customers that have a behaviour in common which no exemplar has."""
    return [ask(start + place, f"zigzag around {thing} quickly") for place, thing in enumerate(OTHERS[:count])]


def make_candidate(**more: Any) -> ExtensionCandidate:
    """A candidate of one query."""
    telling = DistinctiveTrait(**Trait("word", "zigzag")._asdict(), members=1, observed=1, expected=0.0, surprise=5.0)
    member = Member(
        id="c/a/1", customer="c", turns=("zigzag",), digest="0" * 24, signals=(Signal.FAR, Signal.UNFAMILIAR)
    )
    defaults: Mapping[str, Any] = {
        "kind": "new-behaviour",
        "core": ("0" * 24,),
        "members": (member,),
        "customers": ("c",),
        "id": "deeds.zigzag",
        "name": "Proposed: “zigzag”",
        "group": "deeds",
        "description": "Proposed from 1 query.",
        "positive": (DraftExemplar(turns=("zigzag",), source="c/a/1"),),
        "negative": (DraftExemplar(turns=("say the bar",), source="deeds.say"),),
        "telling": (telling,),
        "cohesion": 1.0,
        "excess": 0.9,
        "surprise": 5.0,
    }
    return ExtensionCandidate(**{**defaults, **more})
