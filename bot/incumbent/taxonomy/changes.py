"""The changes between two taxonomies, as sentences, and whether one may follow the other (docs/taxonomy.md).

The version must be the next one for the largest change; removed ids must be retired, and declared origins must fit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from incumbent.errors import Problem
from incumbent.files.documents import Document
from incumbent.files.validation import Text
from incumbent.taxonomy.migration import NOTHING, Migration, migration_between
from incumbent.taxonomy.model import Capability, Group, Taxonomy


class VersionStep(StrEnum):
    """The step of a version, the least first."""

    PATCH = "patch"
    MINOR = "minor"
    MAJOR = "major"

    @property
    def weight(self) -> int:
        """Its position among the steps: 0 for the smallest."""
        return tuple(VersionStep).index(self)


class ChangeKind(StrEnum):
    """What a change is."""

    ADDED = "added"
    REMOVED = "removed"
    RENAMED = "renamed"
    SPLIT = "split"
    REWORDED = "reworded"
    EXEMPLARS = "exemplars-changed"
    PATTERNS = "patterns-changed"
    MOVED = "moved"
    RULE = "rule-changed"
    COMBINES = "combines-changed"
    FILL_FROM = "fill-from-changed"
    EXPECTED_CALLS = "expected-calls-changed"
    DECLARATION = "declaration-changed"
    TRIAL = "trial-changed"
    GROUP_ADDED = "group-added"
    GROUP_REMOVED = "group-removed"
    GROUP_RENAMED = "group-renamed"
    GROUP_MOVED = "group-moved"
    CONSTRAINT = "constraint-changed"
    REORDERED = "reordered"
    RETIRED = "retired-changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaxonomyChange:
    """One difference: ``ids`` are those of the capabilities or groups concerned, ``step`` is the least that it asks.

    ``sentence`` is plain text in which ids and quoted texts stand as the files have them: whoever shows it escapes it.
    """

    kind: ChangeKind
    ids: tuple[Text, ...]
    sentence: Text
    step: VersionStep


def changes_between(old: Taxonomy, new: Taxonomy) -> tuple[TaxonomyChange, ...]:
    """All changes from ``old`` to ``new``, those with the largest step first, else in the order of the file.

    Empty exactly if both have the same content.  The version, the order of ``retired``, and the ids and authors of
    exemplars do not count.
    """
    migration = migration_between(old, new)
    found = [
        *_departed(old, new, migration),
        *_capabilities(old, new, migration),
        *_without_a_capability(old, new, migration),
        *_groups(old, new),
        *_order(
            [migration.renamed(item.id) for item in old.capabilities],
            [item.id for item in new.capabilities],
            "The capabilities stand in another order, and the order breaks ties",
        ),
        *_order(
            [item.id for item in old.groups],
            [item.id for item in new.groups],
            "The groups stand in another order",
        ),
        *_retired(old, new),
    ]
    return tuple(sorted(found, key=lambda change: -change.step.weight))


def heaviest(changes: Iterable[TaxonomyChange]) -> TaxonomyChange | None:
    """The change that decides the version: the first with the largest step; ``None`` without changes."""
    return max(changes, key=lambda change: change.step.weight, default=None)


def required_version(old: Taxonomy, new: Taxonomy) -> str:
    """The version that ``new`` must have as the successor of ``old``; that of ``old`` if nothing changed."""
    return _next(old.version, heaviest(changes_between(old, new)))


def _next(version: str, deciding: TaxonomyChange | None) -> str:
    if deciding is None:
        return version
    major, minor, patch = map(int, version.split("."))
    if deciding.step is VersionStep.MAJOR:
        return f"{major + 1}.0.0"
    return f"{major}.{minor + 1}.0" if deciding.step is VersionStep.MINOR else f"{major}.{minor}.{patch + 1}"


def _departed(old: Taxonomy, new: Taxonomy, migration: Migration) -> Iterator[TaxonomyChange]:
    """Capabilities whose id is not in ``new``."""
    for item in old.capabilities:
        if item.id in new.by_id:
            continue
        if item.id in migration.renames:
            name = migration.renames[item.id]
            sentence = f"{item.id} is called {name} from now on."
            yield TaxonomyChange(
                kind=ChangeKind.RENAMED, ids=(item.id, name), sentence=sentence, step=VersionStep.MINOR
            )
        elif item.id in migration.splits:
            parts = migration.splits[item.id]
            sentence = f"{item.id} is split into {', '.join(parts)}."
            yield TaxonomyChange(
                kind=ChangeKind.SPLIT, ids=(item.id, *parts), sentence=sentence, step=VersionStep.MAJOR
            )
        else:
            sentence = f"{item.id} (“{item.name}”) is removed."
            yield TaxonomyChange(kind=ChangeKind.REMOVED, ids=(item.id,), sentence=sentence, step=VersionStep.MAJOR)


def _capabilities(old: Taxonomy, new: Taxonomy, migration: Migration) -> Iterator[TaxonomyChange]:
    """New capabilities, and changes of existing ones."""
    previous = {name: id for id, name in migration.renames.items()}
    parts = {part for found in migration.splits.values() for part in found}
    for item in new.capabilities:
        before = old.by_id.get(previous.get(item.id, item.id))
        if before is not None:
            yield from _wording(before, item)
            yield from _moved(before, item, old, new)
            yield from _rules(before, item, migration)
            yield from _combines(before, item)
            yield from _fill_from(before, item)
            yield from _expected_calls(before, item)
            yield from _declarations(before, item)
            yield from _trial(before, item)
        elif item.id not in parts:
            yield _added(item, old, new)


def _added(item: Capability, old: Taxonomy, new: Taxonomy) -> TaxonomyChange:
    others = old.exactly_one.get(item.group, ()) if item.group in new.exactly_one else ()
    if not others:
        sentence = f"{item.id} (“{item.name}”) is new."
        return TaxonomyChange(kind=ChangeKind.ADDED, ids=(item.id,), sentence=sentence, step=VersionStep.MINOR)
    sentence = (
        f"{item.id} (“{item.name}”) is new in {item.group}, of whose members a query exercises exactly one: "
        "what the others mean changes with it."
    )
    ids = (item.id, *(other.id for other in others))
    return TaxonomyChange(kind=ChangeKind.ADDED, ids=ids, sentence=sentence, step=VersionStep.MAJOR)


def _wording(before: Capability, after: Capability) -> Iterator[TaxonomyChange]:
    """Changes of texts that people and the classifier read, on which the meaning does not depend."""
    for what, was, now in (
        ("name", before.name, after.name),
        ("description", before.description, after.description),
    ):
        if was != now:
            sentence = f"{after.id}: the {what} “{was}” becomes “{now}”."
            yield TaxonomyChange(kind=ChangeKind.REWORDED, ids=(after.id,), sentence=sentence, step=VersionStep.PATCH)
    differences = _difference("positive exemplar", before.exemplars.positive, after.exemplars.positive)
    differences += _difference("negative exemplar", before.exemplars.negative, after.exemplars.negative)
    if differences:
        sentence = f"{after.id}: {', '.join(differences)}."
        yield TaxonomyChange(kind=ChangeKind.EXEMPLARS, ids=(after.id,), sentence=sentence, step=VersionStep.PATCH)
    differences = _difference("pattern", before.patterns, after.patterns)
    if differences:
        sentence = f"{after.id}: {', '.join(differences)}."
        yield TaxonomyChange(kind=ChangeKind.PATTERNS, ids=(after.id,), sentence=sentence, step=VersionStep.PATCH)


def _without_a_capability(old: Taxonomy, new: Taxonomy, migration: Migration) -> Iterator[TaxonomyChange]:
    """Changes of rows of the tables that are exemplars of no capability, or have unknown labels.

    Ids, authors and files of rows do not count as content.
    """

    def loose(taxonomy: Taxonomy, migration: Migration) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
        found = []
        for row in taxonomy.exemplars:
            # If a row exercises a split capability, it is unknown which part it exercises.
            doubtful = (*row.unknown, *(id for id in row.exercises if id in migration.splits))
            if doubtful or not (row.exercises or row.resembles):
                found.append((row.turns, tuple(sorted(name for id in doubtful for name in migration.became(id)))))
        return sorted(found)

    was, now = loose(old, migration), loose(new, NOTHING)
    differences = _difference("exemplar", was, now)
    if differences:
        sentence = f"Of those that exercise nothing, or where something is unknown: {', '.join(differences)}."
        yield TaxonomyChange(kind=ChangeKind.EXEMPLARS, ids=(), sentence=sentence, step=VersionStep.PATCH)


def _difference(what: str, before: Sequence[Hashable], after: Sequence[Hashable]) -> list[str]:
    """The numbers of added and removed items, in words; empty if nothing changed."""
    if tuple(before) == tuple(after):
        return []
    was, now = Counter(before), Counter(after)
    counts = (("added", (now - was).total()), ("removed", (was - now).total()))
    differences = [f"{count} {what}{'s' if count > 1 else ''} {done}" for done, count in counts if count]
    return differences or [f"the {what}s stand in another order"]


def _moved(before: Capability, after: Capability, old: Taxonomy, new: Taxonomy) -> Iterator[TaxonomyChange]:
    if before.group == after.group:
        return
    divided = [group for taxonomy, group in ((old, before.group), (new, after.group)) if group in taxonomy.exactly_one]
    sentence = f"{after.id} moves from the group {before.group} to {after.group}"
    if divided:
        sentence += f"; of the members of {' and of '.join(divided)} a query exercises exactly one"
    step = VersionStep.MAJOR if divided else VersionStep.PATCH
    yield TaxonomyChange(kind=ChangeKind.MOVED, ids=(after.id,), sentence=f"{sentence}.", step=step)


def _rules(before: Capability, after: Capability, migration: Migration) -> Iterator[TaxonomyChange]:
    required = None if before.requires is None else migration.renamed(before.requires)
    for key, was, now in (
        ("source", before.source, after.source),
        ("when", before.when, after.when),
        ("requires", required, after.requires),
    ):
        if was != now:
            sentence = f"{after.id}: {key} was {_quoted(was)} and is {_quoted(now)}."
            yield TaxonomyChange(kind=ChangeKind.RULE, ids=(after.id,), sentence=sentence, step=VersionStep.MAJOR)


def _combines(before: Capability, after: Capability) -> Iterator[TaxonomyChange]:
    """A change of ``combines``, which decides whether it is in combinations: it changes verdicts, but no scores."""
    if before.combines != after.combines:
        sentence = f"{after.id}: it takes part in combinations {'from now on' if after.combines else 'no longer'}."
        yield TaxonomyChange(kind=ChangeKind.COMBINES, ids=(after.id,), sentence=sentence, step=VersionStep.MINOR)


def _fill_from(before: Capability, after: Capability) -> Iterator[TaxonomyChange]:
    """A change of ``fill_from``, which decides whose tests fill its floor: it changes verdicts, but no scores."""
    if before.fill_from != after.fill_from:
        whose = "any customer" if after.fill_from == "any" else "customers who do not cover it yet"
        sentence = f"{after.id}: its floor is filled by tests of {whose} from now on."
        yield TaxonomyChange(kind=ChangeKind.FILL_FROM, ids=(after.id,), sentence=sentence, step=VersionStep.MINOR)


def _expected_calls(before: Capability, after: Capability) -> Iterator[TaxonomyChange]:
    """A change of what expected calls decide: it changes rule values of eval sets that state calls, but no scores."""
    if (before.expected_calls, before.chained) != (after.expected_calls, after.chained):
        sentence = f"{after.id}: the number and order of expected calls decide otherwise (expected_calls, chained)."
        yield TaxonomyChange(kind=ChangeKind.EXPECTED_CALLS, ids=(after.id,), sentence=sentence, step=VersionStep.MINOR)


def _quoted(text: str | None) -> str:
    return "absent" if text is None else f"“{text}”"


def _declarations(before: Capability, after: Capability) -> Iterator[TaxonomyChange]:
    """A change of the declared origin: history, on which the meaning does not depend."""
    if before.id == after.id and (before.was, before.split) != (after.was, after.split):
        sentence = f"{after.id}: it declares another origin (was, split)."
        yield TaxonomyChange(kind=ChangeKind.DECLARATION, ids=(after.id,), sentence=sentence, step=VersionStep.PATCH)


def _trial(before: Capability, after: Capability) -> Iterator[TaxonomyChange]:
    """A change of ``trial``, which decides whether verdicts use it; the meaning stays."""
    if before.trial != after.trial:
        what = "is on trial from now on" if after.trial else "is on trial no longer"
        yield TaxonomyChange(
            kind=ChangeKind.TRIAL, ids=(after.id,), sentence=f"{after.id} {what}.", step=VersionStep.MINOR
        )


def _groups(old: Taxonomy, new: Taxonomy) -> Iterator[TaxonomyChange]:
    """Changes of groups themselves; a capability that changes its group is reported as a change of the capability."""
    before = {group.id: group for group in old.groups}
    after = {group.id: group for group in new.groups}
    for id, group in before.items():
        if id not in after:
            sentence = f"The group {id} (“{group.name}”) is removed."
            yield TaxonomyChange(kind=ChangeKind.GROUP_REMOVED, ids=(id,), sentence=sentence, step=VersionStep.PATCH)
    for id, group in after.items():
        if id in before:
            yield from _group(before[id], group)
        else:
            sentence = f"The group {id} (“{group.name}”) is new."
            yield TaxonomyChange(kind=ChangeKind.GROUP_ADDED, ids=(id,), sentence=sentence, step=VersionStep.PATCH)


def _group(before: Group, after: Group) -> Iterator[TaxonomyChange]:
    ids = (after.id,)
    if before.name != after.name:
        sentence = f"The group {after.id}: the name “{before.name}” becomes “{after.name}”."
        yield TaxonomyChange(kind=ChangeKind.GROUP_RENAMED, ids=ids, sentence=sentence, step=VersionStep.PATCH)
    if before.parent != after.parent:
        sentence = (
            f"The group {after.id} moves: its parent was {_quoted(before.parent)} and is {_quoted(after.parent)}."
        )
        yield TaxonomyChange(kind=ChangeKind.GROUP_MOVED, ids=ids, sentence=sentence, step=VersionStep.PATCH)
    if before.constraint != after.constraint:
        sentence = f"The group {after.id}: its constraint was {before.constraint} and is {after.constraint}."
        yield TaxonomyChange(kind=ChangeKind.CONSTRAINT, ids=ids, sentence=sentence, step=VersionStep.MAJOR)


def _order(before: Sequence[str], after: Sequence[str], what: str) -> Iterator[TaxonomyChange]:
    """A change of the order of the common ids, with the smallest set of ids that moved."""
    was = [id for id in before if id in after]
    now = [id for id in after if id in before]
    blocks = SequenceMatcher(None, was, now, autojunk=False).get_matching_blocks()
    kept = {id for block in blocks for id in now[block.b : block.b + block.size]}
    moved = tuple(id for id in now if id not in kept)
    if moved:
        yield TaxonomyChange(
            kind=ChangeKind.REORDERED, ids=moved, sentence=f"{what}: {', '.join(moved)}.", step=VersionStep.PATCH
        )


def _retired(old: Taxonomy, new: Taxonomy) -> Iterator[TaxonomyChange]:
    """Ids that were added to or removed from ``retired``, without those of capabilities of ``old``."""
    for ids, what in (
        (set(new.retired) - set(old.retired) - old.by_id.keys(), "listed as retired from now on"),
        (set(old.retired) - set(new.retired), "no longer listed as retired"),
    ):
        if ids:
            listed = tuple(sorted(ids))
            sentence = f"Under retired: {', '.join(listed)} {what}."
            yield TaxonomyChange(kind=ChangeKind.RETIRED, ids=listed, sentence=sentence, step=VersionStep.PATCH)


def succession_problems(old: Taxonomy, new: Taxonomy, document: Document) -> tuple[Problem, ...]:
    """All faults of ``new`` as the successor of ``old``; ``document`` is the file of ``new``."""
    version = version_problem(old, new, document)
    return (*(() if version is None else (version,)), *declaration_problems(old, new, document))


def declaration_problems(old: Taxonomy, new: Taxonomy, document: Document) -> tuple[Problem, ...]:
    """The faults that do not depend on exemplars: those of retired ids and declared origins."""
    return (*_unretired(old, new, document), *_origins(old, new, document))


def version_problem(old: Taxonomy, new: Taxonomy, document: Document) -> Problem | None:
    """The fault of the version of ``new``, with the right one; ``None`` without a fault.

    The right one is exactly the next version for the largest step among the changes, so that versions show the weight
    of a change.
    """
    deciding = heaviest(changes_between(old, new))
    right = _next(old.version, deciding)
    if new.version == right:
        return None
    if deciding is None:
        message = f"version: nothing changed since {old.version}, and the version is {new.version}"
    else:
        message = (
            f"version: it is {new.version}, and after {old.version} it must be {right}, "
            f"since this is a {deciding.step} change: {deciding.sentence}"
        )
    return document.problem(("version",), message, f"write `version: {right}`")


def _unretired(old: Taxonomy, new: Taxonomy, document: Document) -> Iterator[Problem]:
    """Removed ids that are not retired, and so could be reused."""
    retired = set(new.retired)
    for id in old.by_id:
        if id not in new.by_id and id not in retired:
            message = f"retired: {id} was a capability of {old.version} and is missing, so that its id could come back"
            yield document.problem(("retired",), message, f"add {id} to `retired`")
    for id in sorted(set(old.retired) - retired):
        message = f"retired: {id} was retired in {old.version} and is missing, so that its id could come back"
        yield document.problem(("retired",), message, f"put {id} back into `retired`")


def _origins(old: Taxonomy, new: Taxonomy, document: Document) -> Iterator[Problem]:
    """Capabilities that existed beside their declared origin, and new splits into a single part."""
    declared = Counter(item.split for item in new.capabilities)
    for place, item in enumerate(new.capabilities):
        if item.id not in old.by_id:
            if item.split in old.by_id and item.split not in new.by_id and declared[item.split] == 1:
                message = f"{item.id}: it is the only part of {item.split}, and a split has two or more"
                fix = f"write `was: {item.split}` if this is the whole under another id, or name the other parts"
                yield document.problem(("capabilities", place, "split"), message, fix)
            continue
        for key, origin in (("was", item.was), ("split", item.split)):
            if origin in old.by_id and origin not in new.by_id:
                message = f"{item.id}: it is no new id of {origin}, for {old.version} has both"
                fix = f"remove `{key}`, and give what became of {origin} an id of its own if it lives on"
                yield document.problem(("capabilities", place, key), message, fix)
