"""Checks whether a taxonomy may follow another: version, retired ids and declarations (docs/taxonomy.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from bot.errors import Problem
from bot.files.documents import Document
from bot.taxonomy.changes import changes_between, heaviest, required_version
from bot.taxonomy.model import Taxonomy


def succession_problems(old: Taxonomy, new: Taxonomy, document: Document) -> tuple[Problem, ...]:
    """All faults of ``new`` as the successor of ``old``; ``document`` is the file of ``new``."""
    version = version_problem(old, new, document)
    return (*(() if version is None else (version,)), *declaration_problems(old, new, document))


def declaration_problems(old: Taxonomy, new: Taxonomy, document: Document) -> tuple[Problem, ...]:
    """The faults that do not depend on exemplars: those of retired ids and declared origins."""
    return (*_retired(old, new, document), *_origins(old, new, document))


def version_problem(old: Taxonomy, new: Taxonomy, document: Document) -> Problem | None:
    """The fault of the version of ``new``, with the right one; ``None`` without a fault.

    The right one is exactly the next version for the largest step among the changes, so that versions show the weight
    of a change.
    """
    right = required_version(old, new)
    if new.version == right:
        return None
    deciding = heaviest(changes_between(old, new))
    if deciding is None:
        message = f"version: nothing changed since {old.version}, and the version is {new.version}"
    else:
        message = (
            f"version: it is {new.version}, and after {old.version} it must be {right}, "
            f"since this is a {deciding.step} change: {deciding.sentence}"
        )
    return document.problem(("version",), message, f"write `version: {right}`")


def _retired(old: Taxonomy, new: Taxonomy, document: Document) -> Iterator[Problem]:
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
