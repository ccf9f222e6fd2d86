"""Declared renames and splits of capabilities, as a value: what they carry along (docs/taxonomy.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from pydantic import JsonValue

from bot.taxonomy.model import Capability, Taxonomy


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """What became of capabilities under other ids, all of it at once.

    ``renames`` maps old ids to new ones, ``splits`` old ids to those of their parts.  Raises :class:`ValueError` where
    one id becomes two things, or two become one id.
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
        """Whether every id means what it meant."""
        return not self.renames and not self.splits

    @property
    def has_inverse(self) -> bool:
        """Whether the way back is known: nobody can tell of which part a split capability was."""
        return not self.splits

    def renamed(self, id: str) -> str:
        """What ``id`` is called afterwards; one that is split, or not concerned, keeps its id."""
        return self.renames.get(id, id)

    def became(self, id: str) -> tuple[str, ...]:
        """What ``id`` is afterwards: its parts, its new id, or itself."""
        return self.splits.get(id) or (self.renamed(id),)

    def inverse(self) -> Migration:
        """The way back; raises :class:`ValueError` where there is none (see :attr:`has_inverse`)."""
        if not self.has_inverse:
            raise ValueError(f"a split has no inverse: {', '.join(sorted(self.splits))}")
        return Migration(renames={new: old for old, new in self.renames.items()})

    def then(self, later: Migration) -> Migration:
        """Both this migration and ``later``, which goes on from where it ends, in one.

        An id that arose only in between stands for nothing at the beginning, and is left out.  Composition is
        associative as long as no id comes back with another meaning, which ``retired`` sees to.
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
"""Nothing is declared: everything keeps its id."""


def migration_between(old: Taxonomy, new: Taxonomy) -> Migration:
    """What ``new`` declares of capabilities that are alive in ``old``.

    A capability that ``old`` has as well existed beside the one that it names, so it cannot be what became of it.
    """
    return _declared_in([item for item in new.capabilities if item.id not in old.by_id], old.by_id, new)


def removed_between(old: Taxonomy, new: Taxonomy) -> tuple[str, ...]:
    """The capabilities of ``old`` that ``new`` has retired, and of which it says nothing that they became."""
    known = declared(new)
    return tuple(id for id in old.by_id if id in new.retired and id not in (*new.by_id, *known.renames, *known.splits))


def declared(taxonomy: Taxonomy) -> Migration:
    """All that ``taxonomy`` declares, of whatever version: for records that do not say which one they are of."""
    return _declared_in(taxonomy.capabilities, taxonomy.retired, taxonomy)


def _declared_in(capabilities: Collection[Capability], before: Collection[str], taxonomy: Taxonomy) -> Migration:
    """What ``capabilities`` declare of the ids ``before`` that ``taxonomy`` has given up."""
    given_up = {id for id in before if id not in taxonomy.by_id}
    renames = {item.was: item.id for item in capabilities if item.was in given_up}
    splits: dict[str, tuple[str, ...]] = {}
    for item in capabilities:
        if item.split in given_up and item.was is None and item.split not in renames:
            splits[item.split] = (*splits.get(item.split, ()), item.id)
    return Migration(renames=renames, splits=splits)


@dataclass(frozen=True, slots=True)
class Lineage:
    """Migrations one after the other, oldest first, for what may name capabilities as any version did.

    Unlike :meth:`Migration.then` it speaks of ids that arose in between as well.
    """

    steps: tuple[Migration, ...] = ()

    def renamed(self, id: str) -> str:
        """What ``id``, of whatever version, is called in the end; one that is split keeps its id."""
        for step in self.steps:
            id = step.renamed(id)
        return id


def lineage(taxonomy: Taxonomy, named: Iterable[str], former: Callable[[], Sequence[Taxonomy]]) -> Lineage:
    """What carries the capabilities ``named``, which may be of any version, to the ids of ``taxonomy``.

    Ids are never used again, so that all declarations count.  Where those of ``taxonomy`` leave an id that it does not
    have, those of the ``former`` taxonomies, which come oldest first and take long to read, go before them: a
    capability may have been called something else more than once.
    """
    last = declared(taxonomy)
    if all(part in taxonomy.by_id for name in named for part in last.became(name)):
        return Lineage((last,))
    steps: list[Migration] = []
    for step in (*map(declared, former()), last):
        # Most versions declare what those before them did.
        if not step.is_nothing and step not in steps:
            steps.append(step)
    return Lineage(tuple(steps))


def carried_definitions(migration: Migration | Lineage, old: Taxonomy, new: Taxonomy) -> dict[str, str]:
    """Old id → definition in ``new``, of each capability that the classifier sees as it did, but for ids.

    Scores that were given under its old definition are as good under the new one.  In what order exemplars come does
    not matter.
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
    """What is ``seen`` of ``capability``, with its exemplars in no order."""
    exemplars = capability.exemplars
    return {**seen, "exemplars": (Counter(exemplars.positive), Counter(exemplars.negative))}


def comparable_since(taxonomy: Taxonomy, former: Callable[[], Sequence[Taxonomy]]) -> Callable[[str], frozenset[str]]:
    """From a version to the capabilities of ``taxonomy`` whose scores of then are comparable with those of now.

    These are the ones that the classifier saw then as it does now, but for ids.  ``former`` taxonomies come oldest
    first, and are asked for versions other than that of ``taxonomy``; of one that is not among them nothing is known,
    and so nothing comparable.
    """

    @cache
    def found(version: str) -> frozenset[str]:
        if version == taxonomy.version:
            return frozenset(taxonomy.by_id)
        old = next((item for item in former() if item.version == version), None)
        if old is None:
            return frozenset()
        line = lineage(taxonomy, old.by_id, former)
        return frozenset(line.renamed(id) for id in carried_definitions(line, old, taxonomy))

    return found


def carried_questions(migration: Migration, old: Taxonomy, new: Taxonomy) -> dict[str, str]:
    """Old question → new question, of each renamed capability whose description and exemplars are the same.

    What a language model answered to the one answers the other (see :attr:`bot.taxonomy.model.Capability.question`).
    """
    found: dict[str, str] = {}
    for id, name in migration.renames.items():
        before, after = old.by_id.get(id), new.by_id.get(name)
        if before is None or after is None:
            continue
        if (before.description, before.exemplars.originals) == (after.description, after.exemplars.originals):
            found[before.question] = after.question
    return found
