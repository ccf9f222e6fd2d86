"""Declared renames and splits of capabilities, and the definitions that they keep (docs/taxonomy.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from pydantic import JsonValue

from incumbent.taxonomy.model import Capability, Taxonomy


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """Renames and splits of capabilities that apply at the same time.

    ``renames`` maps old ids to new ones, ``splits`` maps old ids to those of their parts.  Raises :class:`ValueError`
    if an id has two outcomes, or if two ids become the same one.
    """

    renames: Mapping[str, str] = field(default_factory=dict)
    splits: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        targets = [*self.renames.values(), *(part for parts in self.splits.values() for part in parts)]
        if len(set(targets)) < len(targets):
            raise ValueError("two capabilities cannot become one id")
        if self.renames.keys() & self.splits.keys():
            raise ValueError("a capability cannot be both renamed and split")

    @property
    def is_nothing(self) -> bool:
        """Whether it changes no id."""
        return not self.renames and not self.splits

    def renamed(self, id: str) -> str:
        """The new id of ``id``; a split or unaffected one keeps its id."""
        return self.renames.get(id, id)

    def became(self, id: str) -> tuple[str, ...]:
        """The parts of ``id``, its new id, or itself."""
        return self.splits.get(id) or (self.renamed(id),)

    def then(self, later: Migration) -> Migration:
        """The composition of this migration and ``later``, which starts from its result.

        Ids that exist only in between are left out.  Composition is associative as long as no id is reused with another
        meaning, which ``retired`` prevents.
        """
        arisen = {*self.renames.values(), *(part for parts in self.splits.values() for part in parts)}
        departed = {*self.renames, *self.splits}
        renames: dict[str, str] = {}
        splits: dict[str, tuple[str, ...]] = {}
        for id in dict.fromkeys((*self.renames, *self.splits, *later.renames, *later.splits)):
            if id in arisen and id not in departed:
                continue
            became = tuple(final for step in self.became(id) for final in later.became(step))
            if len(became) > 1 or id in self.splits:
                splits[id] = became
            elif became != (id,):
                renames[id] = became[0]
        return Migration(renames=renames, splits=splits)


NOTHING: Final = Migration()
"""The migration that changes no id."""


def migration_between(old: Taxonomy, new: Taxonomy) -> Migration:
    """The declarations of ``new`` about capabilities of ``old``.

    Declarations of capabilities that are in ``old`` too do not count: they existed beside the one that they name.
    """
    return _declared_in([item for item in new.capabilities if item.id not in old.by_id], old.by_id, new)


def removed_between(old: Taxonomy, new: Taxonomy) -> tuple[str, ...]:
    """The capabilities of ``old`` that ``new`` has retired without a rename or split."""
    known = declared(new)
    return tuple(id for id in old.by_id if id in new.retired and id not in (*new.by_id, *known.renames, *known.splits))


def declared(taxonomy: Taxonomy) -> Migration:
    """All declarations of ``taxonomy``, about any version: for records of an unknown version."""
    return _declared_in(taxonomy.capabilities, taxonomy.retired, taxonomy)


def _declared_in(capabilities: Collection[Capability], before: Collection[str], taxonomy: Taxonomy) -> Migration:
    """The declarations of ``capabilities`` about those ids in ``before`` that are no longer in ``taxonomy``."""
    given_up = {id for id in before if id not in taxonomy.by_id}
    renames = {item.was: item.id for item in capabilities if item.was in given_up}
    splits: dict[str, tuple[str, ...]] = {}
    for item in capabilities:
        if item.split in given_up and item.was is None and item.split not in renames:
            splits[item.split] = (*splits.get(item.split, ()), item.id)
    return Migration(renames=renames, splits=splits)


@dataclass(frozen=True, slots=True)
class Lineage:
    """Successive migrations, oldest first, that map ids of any version.

    Unlike :meth:`Migration.then` it also maps ids that exist only in between.
    """

    steps: tuple[Migration, ...] = ()

    def renamed(self, id: str) -> str:
        """The latest id of ``id``, which may be of any version; a split one keeps its id."""
        for step in self.steps:
            id = step.renamed(id)
        return id


def lineage(taxonomy: Taxonomy, named: Iterable[str], previous: Callable[[], Sequence[Taxonomy]]) -> Lineage:
    """The migrations from the capabilities ``named``, of any version, to the ids of ``taxonomy``.

    Ids are never reused, so all declarations apply.  A capability may have been renamed more than once.  So if the
    declarations of ``taxonomy`` do not resolve every id, those of the ``previous`` taxonomies are applied before them.
    ``previous`` returns them oldest first, and is slow.
    """
    last = declared(taxonomy)
    if all(part in taxonomy.by_id for name in named for part in last.became(name)):
        return Lineage((last,))
    steps: list[Migration] = []
    for step in (*map(declared, previous()), last):
        # Most versions repeat the declarations of earlier ones.
        if not step.is_nothing and step not in steps:
            steps.append(step)
    return Lineage(tuple(steps))


def carried_definitions(migration: Migration | Lineage, old: Taxonomy, new: Taxonomy) -> dict[str, str]:
    """Old id → definition in ``new``, for each capability whose classifier input is equal except for ids.

    Scores under its old definition are valid under the new one.  The order of exemplars does not matter.
    """
    found: dict[str, str] = {}
    for id, before in old.by_id.items():
        after = new.by_id.get(migration.renamed(id))
        if after is None:
            continue
        requires = None if before.requires is None else migration.renamed(before.requires)
        if (after.id, requires) == (id, before.requires) and after.definition == before.definition:
            found[id] = after.definition
            continue
        seen = before.seen | {"id": after.id, "requires": requires}
        if _without_order(seen, before) == _without_order(after.seen, after):
            found[id] = after.definition
    return found


def _without_order(seen: Mapping[str, JsonValue], capability: Capability) -> dict[str, object]:
    """``seen``, the classifier's input about ``capability``, with unordered exemplars."""
    exemplars = capability.exemplars
    return {**seen, "exemplars": (Counter(exemplars.positive), Counter(exemplars.negative))}


def comparable_since(taxonomy: Taxonomy, previous: Callable[[], Sequence[Taxonomy]]) -> Callable[[str], frozenset[str]]:
    """A function: version → the capabilities of ``taxonomy`` whose scores under that version are still comparable.

    The classifier's input about these has been equal since, except for ids.  ``previous`` gives the taxonomies oldest
    first, and is called for versions other than that of ``taxonomy``.  For an unknown version nothing is comparable.
    """

    @cache
    def found(version: str) -> frozenset[str]:
        if version == taxonomy.version:
            return frozenset(taxonomy.by_id)
        old = next((item for item in previous() if item.version == version), None)
        if old is None:
            return frozenset()
        line = lineage(taxonomy, old.by_id, previous)
        return frozenset(line.renamed(id) for id in carried_definitions(line, old, taxonomy))

    return found


def carried_questions(migration: Migration, old: Taxonomy, new: Taxonomy) -> dict[str, str]:
    """Old question → new question, for each renamed capability with the same description and exemplars.

    A language model's answer to the old one is valid for the new one
    (:attr:`incumbent.taxonomy.model.Capability.question`).
    """
    found: dict[str, str] = {}
    for id, name in migration.renames.items():
        before, after = old.by_id.get(id), new.by_id.get(name)
        if before is None or after is None:
            continue
        if (before.description, before.exemplars.originals) == (after.description, after.exemplars.originals):
            found[before.question] = after.question
    return found
