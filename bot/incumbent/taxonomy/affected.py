"""Which capabilities of a query must be classified again after the taxonomy changed (pure).

A score stays valid while the classifier's input about its capability is unchanged (semantics, section 2).  The members
of an ``exactly-one`` group depend on each other, and a capability depends on what it requires.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from incumbent.taxonomy.migration import NOTHING, Migration, carried_definitions
from incumbent.taxonomy.model import Capability, Taxonomy


@dataclass(frozen=True, slots=True, kw_only=True)
class Affected:
    """The capabilities on which a change to ``taxonomy`` requires queries to be classified again.

    ``always`` applies to every query.  ``where_true`` maps capabilities of the old taxonomy to those that apply to
    queries that exercised them: the parts of a split capability, and the remaining members of an ``exactly-one`` group
    from which one was removed.
    """

    taxonomy: Taxonomy
    always: frozenset[str]
    where_true: Mapping[str, frozenset[str]]

    def of(self, exercised: Collection[str], more: Collection[str] = ()) -> tuple[str, ...]:
        """The capabilities to classify again for a query that ``exercised`` these, in the taxonomy's order.

        ``more`` are always among them.
        """
        found = set(self.always).union(more, *(self.where_true.get(name, ()) for name in exercised))
        dependents = _with_dependents(self.taxonomy, found)
        return tuple(name for name in self.taxonomy.by_id if name in dependents)

    @staticmethod
    def nothing(taxonomy: Taxonomy) -> Affected:
        """The effect of no change."""
        return Affected(taxonomy=taxonomy, always=frozenset(), where_true={})


def everything(taxonomy: Taxonomy) -> Affected:
    """All capabilities: for queries classified under an unknown taxonomy."""
    return Affected(taxonomy=taxonomy, always=frozenset(taxonomy.by_id), where_true={})


def affected_by(old: Taxonomy, new: Taxonomy, migration: Migration) -> Affected:
    """The effect of the change from ``old`` to ``new``; ``migration`` maps ids of ``old`` to those of ``new``."""
    known = {migration.renamed(item.id): item for item in old.capabilities}
    same = carried_definitions(migration, old, new)
    wholes = {part: old.by_id[whole] for whole, names in migration.splits.items() for part in names}
    gone = [item for name, item in known.items() if name not in new.by_id]
    always = {
        item.id
        for item in new.capabilities
        if (known[item.id].id not in same if item.id in known else not _is_within(item, wholes.get(item.id), migration))
    }
    for item in new.capabilities:
        before = known.get(item.id) or wholes.get(item.id)
        if before is not None:
            always |= _regrouped(before.group, item, old, new)
    places = {name: place for place, name in enumerate(known)}
    places |= {part: places[migration.renamed(whole.id)] for part, whole in wholes.items()}
    always |= _reordered(places, new)
    where_true = {whole: set(names) for whole, names in migration.splits.items()}
    for item in gone:
        fellows = {member.id for member in new.exactly_one.get(item.group, ())}
        if item.source != "intent":
            # A declared or counted capability may have excluded the others without being exercised itself.
            always |= fellows
        elif fellows:
            where_true.setdefault(item.id, set()).update(fellows)
    return Affected(
        taxonomy=new,
        always=frozenset(always),
        where_true={name: frozenset(names) for name, names in sorted(where_true.items())},
    )


def affected_along(line: Sequence[Taxonomy], steps: Sequence[Migration]) -> Affected:
    """The effect of all changes from the oldest taxonomy of ``line`` to its newest; ``steps`` map the ids.

    Raises :class:`ValueError` if an id was reused on the way.
    """
    found, so_far = Affected.nothing(line[0]), NOTHING
    for before, after, step in zip(line, line[1:], steps, strict=False):
        origins = {id: so_far.renamed(id) for id in line[0].by_id}
        found = _then(found, affected_by(before, after, step), step, origins)
        so_far = so_far.then(step)
    return found


def _then(first: Affected, later: Affected, step: Migration, origins: Mapping[str, str]) -> Affected:
    """``first`` and then ``later``; ``origins`` maps the first ids to those between the two changes.

    For capabilities that ``first`` asks about, it is unknown whether the query exercises them in between.
    """

    def became(names: Collection[str]) -> frozenset[str]:
        unknown = _with_dependents(first.taxonomy, names)
        return frozenset().union(*({*step.became(name), *later.where_true.get(name, ())} for name in unknown))

    where_true = {id: became(names) for id, names in first.where_true.items()}
    for id, name in origins.items():
        asked = where_true.get(id, frozenset()) | later.where_true.get(name, frozenset())
        where_true |= {id: asked} if asked else {}
    return Affected(taxonomy=later.taxonomy, always=later.always | became(first.always), where_true=where_true)


def _is_within(part: Capability, whole: Capability | None, migration: Migration) -> bool:
    """Whether only queries that exercised ``whole`` can exercise ``part``; its rule or requirement may differ."""
    if whole is None or part.source != "intent":
        return False
    if whole.when is not None and part.when != whole.when:
        # The new rule may admit queries that the old one excluded.
        return False
    return part.requires == (None if whole.requires is None else migration.renamed(whole.requires))


def _regrouped(group: str, now: Capability, old: Taxonomy, new: Taxonomy) -> set[str]:
    """The capabilities to classify again if ``now`` left ``group``, or if its group's constraint changed."""
    was_one, is_one = group in old.exactly_one, now.group in new.exactly_one
    if (group == now.group or not (was_one or is_one)) and was_one == is_one:
        return set()
    # The other members of its old group may now take the queries that it took.
    return {now.id, *(member.id for member in new.exactly_one.get(group, ()))}


def _reordered(places: Mapping[str, int], new: Taxonomy) -> set[str]:
    """The members of ``exactly-one`` groups whose order differs from ``places``: the order decides ties."""
    found: set[str] = set()
    for members in new.exactly_one.values():
        names = [member.id for member in members if member.id in places]
        if names != sorted(names, key=places.__getitem__):
            found.update(names)
    return found


def _with_dependents(taxonomy: Taxonomy, names: Collection[str]) -> set[str]:
    """``names``, all that depends on them, and what they require if its value cannot be read from its score."""
    found = set(names)
    while True:
        more = {item.id for item in taxonomy.capabilities if item.requires in found}
        required = {item.requires for item in taxonomy.capabilities if item.id in found and item.requires is not None}
        more |= {name for name in required if _is_hidden(taxonomy.by_id[name], taxonomy)}
        for members in taxonomy.exactly_one.values():
            ids = {member.id for member in members}
            more |= ids if ids & (found | more) else set()
        if more <= found:
            return found
        found |= more


def _is_hidden(required: Capability, taxonomy: Taxonomy) -> bool:
    """Whether another member of its group may have made ``required`` FALSE after its dependents were judged."""
    fellows = taxonomy.exactly_one.get(required.group, ())
    return any(member.requires is not None for member in fellows)
