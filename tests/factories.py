"""Builders of values for tests: everything has a harmless default, so that a test names only what it is about."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from incumbent.curator.entry import Admitted, Entry, EntryClassification
from incumbent.files.snapshot import WorkingTree
from incumbent.rater.model import RatedEntry, RelationalFacts, ScoredQuery
from incumbent.taxonomy.config import Curation, load_config
from incumbent.taxonomy.model import Capability, Group, Taxonomy

REPOSITORY = Path(__file__).parent.parent
SHIPPED = load_config(WorkingTree(REPOSITORY), None)
PAPER = load_config(WorkingTree(REPOSITORY), None, "config/paper.yaml")

BY_HAND: dict[str, Any] = {"competence_bar": 0.5, "honesty_floor": 0.6}
"""The knobs that the cases of the tests are worked out with, whatever ships."""

NO_APPRAISAL: dict[str, Any] = {"positive": 0, "negative": 0, "precision": 0.0, "shown": 5}
"""For tests whose capabilities have no exemplars: every appraisal is passed."""


def make_config(base: Curation | None = None, **overrides: Any) -> Curation:
    """``base`` with other knobs, options, ceiling or per-capability overrides, by their plain names.

    Without ``base`` it is the shipped config with the knobs ``BY_HAND``.
    """
    if base is None:
        base, overrides = SHIPPED, BY_HAND | overrides
    data = base.model_dump()
    for name, value in overrides.items():
        section = next((part for part in ("knobs", "options") if name in data[part]), None)
        if section is None:
            assert name in data, name
            data[name] = value
        else:
            data[section][name] = value
    return Curation.model_validate(data, strict=False).under(base.uncombinable, base.trial, base.fill_from_any)


def config_with(text: str, **values: object) -> str:
    """The config file ``text`` with other knobs or options, by their plain names."""
    for name, value in values.items():
        text, changes = re.subn(rf"(?m)^  {name}: \S+", f"  {name}: {value}", text)
        assert changes == 1, name
    return text


def make_facts(**overrides: Any) -> RelationalFacts:
    """Facts of a query that exercises something, resembles nobody, and has no merit."""
    defaults: dict[str, Any] = {
        "exercised": True,
        "competent": (),
        "new_capabilities": (),
        "new_combinations": (),
        "wins": {},
        "max_similarity": 0.0,
        "most_similar": None,
        "top_score": 1.0,
    }
    return RelationalFacts(**defaults | overrides)


def query(id: str, scores: Mapping[str, float], text: str | None = None, **more: Any) -> ScoredQuery:
    """A scored query of one turn; its text is unlike that of any other unless given."""
    return ScoredQuery(id=id, turns=(text or f"{id} " * 9,), scores=scores, **more)


def resident(id: str, scores: Mapping[str, float], text: str | None = None, **more: Any) -> RatedEntry:
    """A resident of one turn, admitted at the same moment as any other unless said."""
    defaults: dict[str, Any] = {"admitted_at": "2026-01-01T00:00:00Z"}
    return RatedEntry(id=id, turns=(text or f"{id} " * 9,), scores=scores, **defaults | more)


def make_taxonomy(*names: str, **more: Any) -> Taxonomy:
    """A taxonomy of intent capabilities with these ids, in one group."""
    capabilities = tuple(
        Capability(id=name, name=name.upper(), group="all", description=f"about {name}", source="intent")
        for name in names
    )
    defaults: dict[str, Any] = {"version": "1.0.0", "groups": (Group(id="all", name="All"),)}
    return Taxonomy(capabilities=capabilities, **defaults | more)


def make_entry(id: str, scores: Mapping[str, float], text: str | None = None, **more: Any) -> Entry:
    """An entry of one turn, classified under ``make_taxonomy`` and admitted directly unless said otherwise."""
    taxonomy = make_taxonomy(*scores)
    defaults: dict[str, Any] = {
        "turns": (text or f"{id} " * 9,),
        "by_rule": (),
        "classified": EntryClassification(
            taxonomy=taxonomy.version,
            backend="embedded",
            model="m1",
            prompt="p1",
            samples=5,
            definitions={name: capability.definition for name, capability in taxonomy.by_id.items()},
        ),
        "admitted": Admitted(at="2026-01-01T00:00:00Z", decision="INCLUDE", route="direct", reasons=("NEW_COVERAGE",)),
    }
    return Entry(id=id, scores=dict(scores), **defaults | more)
