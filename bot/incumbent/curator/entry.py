"""The files of the regression set as models: entries and tombstones (their JSON schemas are generated from here).

Here is also what is comparable of an entry, its cost, and what becomes of it under the ids of a new taxonomy.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Final, Literal, TypeAlias, TypeVar

from pydantic import Field, JsonValue

from incumbent.classifier.model import Identity
from incumbent.files.mapping_edits import rename_keys
from incumbent.files.validation import Checked, FileFormat, FileModel, LenientModel, Score, Text, Timestamp, Tuple
from incumbent.intake.query import Setup, SetupCost
from incumbent.rater.model import RatedEntry
from incumbent.taxonomy.migration import NOTHING, Migration, carried_definitions, migration_between
from incumbent.taxonomy.model import Identifier, Taxonomy
from incumbent.text.compare import rounded
from incumbent.text.digests import slug

EntryId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=150)]
"""An entry's id; it is also the name of its file."""


class EntryClassification(LenientModel):
    """Under which taxonomy and classifier identity the scores were given.

    ``definitions`` holds, per scored capability, the digest of what the classifier saw of it.  ``corrected`` are the
    values that curators gave: they hold under any classifier, as long as the text is the same.  ``wholes`` are the
    retired capabilities that it carried, and whose parts were on trial.
    """

    taxonomy: Text
    backend: Text
    model: Text
    prompt: Text
    samples: Annotated[int, Field(ge=1)]
    definitions: dict[str, str] = Field(default_factory=dict)
    corrected: dict[str, bool] = Field(default_factory=dict, exclude_if=lambda value: not value)
    wholes: Tuple[Identifier] = Field(default=(), exclude_if=lambda value: not value)

    @property
    def identity(self) -> Identity:
        """The classifier identity of the scores."""
        return Identity(backend=self.backend, model=self.model, prompt=self.prompt, samples=self.samples)


IMPORTED: Final = "IMPORTED"
"""The reason code of an entry that a person imported with a whole set; no verdict has it."""


class Imported(LenientModel):
    """The agent specification by which an entry was classified that was imported.

    ``folder`` of the repository holds it; ``None``: it lies outside, or nothing is ``declared``.
    """

    declared: bool
    folder: Text | None = None


class Source(LenientModel):
    """Where an entry came from; ``item`` is the query's id within its eval set.

    ``imported`` is set while no customer's eval set holds the query: nobody can then take it out of one.
    """

    customer: Text
    agent: Text
    eval_set: Text
    item: Text
    pull_request: int | None = None
    commit: Text | None = None
    imported: Annotated[Imported | None, Field(exclude_if=lambda value: value is None)] = None

    @property
    def place(self) -> tuple[str, str, str]:
        """Customer, agent and item: the entry's id is derived from them, and a rename changes them."""
        return self.customer, self.agent, self.item


class Admitted(LenientModel):
    """When and on which verdict an entry was admitted; ``order`` is its place among those that entered at that moment.

    ``by`` is the person who accepted it, if one did; ``override`` the reason given for accepting an EXCLUDE.
    """

    at: Timestamp
    order: Annotated[int, Field(ge=0, exclude_if=lambda value: value == 0)] = 0
    decision: Literal["INCLUDE", "REPLACE", "KEEP-BOTH", "EXCLUDE"]
    route: Literal["direct", "review"]
    reasons: Tuple[Text] = ()
    displaces: Tuple[EntryId] = ()
    by: Text | None = None
    override: Text | None = None


class Entry(LenientModel):
    """``regression_set/<id>.yaml``: a query that lives in the regression set.

    ``scores`` holds cs for the TRUE capabilities only; ``by_rule`` which of them are rule values (semantics, section 3;
    ``None``: an earlier version wrote the entry); ``expected`` is what the customer expects of the answer;
    ``pin`` a person's reason to keep the entry whatever its role; ``restored`` is the digest of the grounds on which it
    was evicted before it was brought back: on these it is not suggested again.  ``quarantined`` is the reason why
    exports leave the entry out, so that it blocks no release; no verdict rests on it.
    """

    format: FileFormat[Literal[1]] = 1
    id: EntryId
    turns: Annotated[Tuple[Text], Field(min_length=1)]
    scores: dict[str, Score]
    by_rule: Annotated[Tuple[Text] | None, Field(exclude_if=lambda value: value is None)] = None
    classified: EntryClassification
    source: Source | None = None
    admitted: Admitted
    expected: JsonValue = None
    setup: Checked[Setup] = Setup()
    pin: Text | None = None
    restored: Annotated[Text | None, Field(exclude_if=lambda value: value is None)] = None
    quarantined: Annotated[Text | None, Field(exclude_if=lambda value: value is None)] = None

    @property
    def is_wanted(self) -> bool:
        """Whether a person accepted or restored the entry; no later verdict reverses that."""
        return self.admitted.by is not None or self.restored is not None


class Evicted(LenientModel):
    """Why, when and by whom an entry was removed; ``grounds`` are those of the suggestion, if there was one.

    While the eviction is only suggested nobody has confirmed it: ``at`` and ``by`` are filled in after the merge.
    """

    at: Timestamp | None = None
    by: Text | None = None
    reason: Text
    grounds: dict[str, JsonValue] | None = None


class Tombstone(LenientModel):
    """``regression_set/evicted/<id>.yaml``: what an eviction leaves, with the whole entry, so that it can return."""

    format: FileFormat[Literal[1]] = 1
    id: EntryId
    evicted: Evicted
    restore: Text
    entry: Entry

    @property
    def restored(self) -> Entry:
        """The entry as it is restored, with the grounds of its eviction."""
        grounds = self.evicted.grounds or {}
        known = grounds.get("digest")
        return self.entry.model_copy(update={"restored": str(known) if known else None})


@dataclass(frozen=True, slots=True)
class StaleEntry:
    """An entry that is not wholly comparable: ``capabilities`` have no comparable score, because of ``reason``."""

    id: str
    capabilities: tuple[str, ...]
    reason: str


def active_identity(entries: Iterable[Entry]) -> Identity | None:
    """The identity of R: the one that most entries carry (ties: the smaller); ``None`` for an empty R."""
    counts = Counter(entry.classified.identity for entry in entries)
    return min(counts, key=lambda identity: (-counts[identity], identity), default=None)


def resident_of(entry: Entry, taxonomy: Taxonomy, identity: Identity | None) -> tuple[RatedEntry, StaleEntry | None]:
    """``entry`` as the rater sees it, with only the scores comparable under ``identity``; and why it is stale, if it
    is.
    """
    comparable, stale = _comparable(entry, taxonomy, identity)
    resident = RatedEntry(
        id=entry.id,
        turns=entry.turns,
        scores=comparable,
        by_rule=rule_values(entry, comparable, taxonomy),
        admitted_at=entry.admitted.at,
        order=entry.admitted.order,
        customer=None if entry.source is None else entry.source.customer,
        pin=entry.pin,
        displaces=entry.admitted.displaces,
        setup_cost=entry.setup.cost,
        attachments=entry.setup.attachments,
    )
    return resident, stale


def rule_values(entry: Entry, comparable: Collection[str], taxonomy: Taxonomy) -> frozenset[str]:
    """The ``comparable`` capabilities whose scores are rule values: by the sources where the entry does not say."""
    if entry.by_rule is not None:
        return frozenset(comparable).intersection(entry.by_rule)
    return frozenset(
        name
        for name in comparable
        if name in entry.classified.corrected
        or ((capability := taxonomy.by_id[name]).source in _RULE_SOURCES and capability.requires is None)
    )


_RULE_SOURCES: Final = ("spec", "tool", "structure")


def _comparable(
    entry: Entry, taxonomy: Taxonomy, identity: Identity | None
) -> tuple[Mapping[str, float], StaleEntry | None]:
    classified = entry.classified
    if identity is not None and classified.identity != identity:
        old = classified.identity
        reason = f"classified by {old.backend} {old.model}, prompt {old.prompt}, {old.samples} samples"
        return {}, StaleEntry(entry.id, tuple(sorted(entry.scores)), reason)
    same_major = classified.taxonomy.split(".")[0] == str(taxonomy.major)
    kept: dict[str, float] = {}
    for name, score in entry.scores.items():
        capability = taxonomy.by_id.get(name)
        recorded = classified.definitions.get(name)
        if capability is not None and (recorded == capability.definition if recorded is not None else same_major):
            kept[name] = score
    if len(kept) == len(entry.scores):
        return kept, None
    missing = tuple(sorted(set(entry.scores) - set(kept)))
    return kept, StaleEntry(entry.id, missing, f"classified under taxonomy {classified.taxonomy}")


def entry_id(customer: str, agent: str, item: str) -> str:
    """The id that the entry of query ``item`` of ``customer``'s ``agent`` has or would have.

    A readable slug and a short hash of the source's identity, so that no name from outside becomes a path and no two
    sources share an id.
    """
    readable = slug(f"{customer} {agent} {item}", 80)
    digest = hashlib.sha256(json.dumps([customer, agent, item]).encode()).hexdigest()[:8]
    return f"{readable}-{digest}" if readable else digest


Value = TypeVar("Value")


def migrated(entry: Entry, migration: Migration, old: Taxonomy, new: Taxonomy) -> Entry:
    """``entry``, classified under ``old``, with the ids of ``new``.

    A recorded definition is renewed if it is that of ``old`` and the classifier sees the capability unchanged but for
    ids.  Any other stays as recorded, so that the score is stale until it is classified again.  The score of a split
    capability belongs to no part: it stays under the retired id and is stale, too.  The recorded classifier and
    taxonomy version do not change.
    """
    if migration.is_nothing and old is new:
        return entry
    return with_definitions(entry, migration, old, carried_definitions(migration, old, new))


def with_definitions(entry: Entry, migration: Migration, old: Taxonomy, carried: Mapping[str, str]) -> Entry:
    """The same where ``carried`` has the definitions of the new taxonomy by the ids of ``old``."""
    definitions = {
        id: carried[id] if id in carried and recorded == old.by_id[id].definition else recorded
        for id, recorded in entry.classified.definitions.items()
    }
    classified = entry.classified.model_copy(
        update={
            "definitions": _renamed(definitions, migration),
            "corrected": migrated_values(entry.classified.corrected, migration),
        }
    )
    by_rule = entry.by_rule and tuple(sorted(migration.renames.get(name, name) for name in entry.by_rule))
    return entry.model_copy(
        update={"scores": _renamed(entry.scores, migration), "by_rule": by_rule, "classified": classified}
    )


def migrated_values(values: Mapping[str, bool], migration: Migration) -> dict[str, bool]:
    """Corrected ``values`` under their new ids, by the same rule as labels.

    FALSE of a split capability is FALSE of each part; TRUE says nothing about any part.  A value recorded for a new id
    takes precedence over one recorded for the old id.
    """
    departed = {*migration.renames, *migration.splits}
    found = {name: value for name, value in values.items() if name not in departed}
    for name, value in values.items():
        if name in departed and not (value and name in migration.splits):
            for new in migration.became(name):
                found.setdefault(new, value)
    return found


def as_classified(entry: Entry, line: Sequence[Taxonomy]) -> tuple[Entry, dict[str, str]]:
    """``entry`` with the ids of the first taxonomy of ``line``, under which it was classified.

    `incumbent migrate` gives an entry the ids of a later taxonomy of ``line``, but keeps the version that it was
    classified under.  The second value maps such later ids to the original ones.
    """
    borne: dict[str, str] = {}
    definitions = dict(entry.classified.definitions)
    migration = NOTHING
    for before, after in pairwise(line):
        migration = migration.then(migration_between(before, after))
        same = carried_definitions(migration, line[0], after)
        for id, name in migration.renames.items():
            if id not in line[0].by_id or name not in entry.scores or id in entry.scores or name in line[0].by_id:
                continue
            if id in same and definitions.get(name) == same[id]:
                definitions[name] = line[0].by_id[id].definition
            borne[id] = name
    names = {name: id for id, name in borne.items()}
    classified = entry.classified.model_copy(
        update={"definitions": {names.get(name, name): item for name, item in definitions.items()}}
    )
    scores = {names.get(name, name): score for name, score in entry.scores.items()}
    by_rule = entry.by_rule and tuple(names.get(name, name) for name in entry.by_rule)
    return entry.model_copy(update={"scores": scores, "by_rule": by_rule, "classified": classified}), borne


def _renamed(values: Mapping[str, Value], migration: Migration) -> dict[str, Value]:
    """``values`` under their new ids, in the same order; a value already recorded under a new id is newer and stays."""
    found = dict(values)
    rename_keys(found, migration.renames)
    return found


class CorrectedCost(FileModel):
    """The cost that a curator gave the set-up behind a text; it counts in place of the customer's `setup.cost`."""

    value: SetupCost = Field(description="how dear the set-up is, relative to others")
    by: Text | None = None
    at: Timestamp
    reason: Text | None = None


Costs: TypeAlias = Mapping[str, CorrectedCost]
"""Digest of a text (:func:`incumbent.text.compare.text_key`) → its corrected cost."""


def total(costs: Iterable[float]) -> float:
    """The sum of ``costs``, the same in any order."""
    return rounded(math.fsum(costs))
