"""``taxonomy/taxonomy.yaml`` into a :class:`~bot.taxonomy.model.Taxonomy`, every fault at once."""

from __future__ import annotations

from typing import Final, TypeVar

from bot.config import REVIEWED_FILES
from bot.documents import Document, as_list, as_mapping, parse_yaml
from bot.errors import InputError, Problem
from bot.snapshot import Snapshot
from bot.taxonomy.content import content_notes, content_problems
from bot.taxonomy.model import Capability, Group, Taxonomy
from bot.taxonomy.structure import structure_problems
from bot.validation import FileModel, validate

TAXONOMY_FILE: Final = "taxonomy/taxonomy.yaml"

Part = TypeVar("Part", bound=FileModel)


def load_taxonomy(snapshot: Snapshot, path: str = TAXONOMY_FILE) -> Taxonomy:
    """The taxonomy at ``path``; raises :class:`InputError` with every fault, each with its line and fix.

    The schema is checked group by group and capability by capability, and what goes beyond the schema on the plain
    data, so that no fault hides another.
    """
    if not snapshot.exists(path):
        message = "there is no such file, so this is not a platform repository"
        fix = "name one with --repo DIR (it holds taxonomy/, config/ and regression_set/)"
        raise InputError([Problem(snapshot.name(path), None, message, fix)])
    document = parse_yaml(snapshot.read(path, REVIEWED_FILES), snapshot.name(path), REVIEWED_FILES)
    problems: list[Problem] = []
    groups = _parts(document, "groups", Group, problems)
    capabilities = _parts(document, "capabilities", Capability, problems)
    shell = dict(as_mapping(document.data))
    shell |= {key: [] for key in ("groups", "capabilities") if isinstance(shell.get(key), list)}
    taxonomy: Taxonomy | None = None
    try:
        taxonomy = validate(Taxonomy, document, shell if isinstance(document.data, dict) else document.data)
    except InputError as error:
        problems.extend(error.problems)
    problems.extend(structure_problems(document))
    problems.extend(content_problems(document))
    if problems or taxonomy is None:
        raise InputError(problems)
    return taxonomy.model_copy(update={"groups": groups, "capabilities": capabilities})


def taxonomy_notes(snapshot: Snapshot, path: str = TAXONOMY_FILE) -> tuple[Problem, ...]:
    """Remarks on the taxonomy at ``path`` that stop nothing, such as capabilities with few exemplars."""
    document = parse_yaml(snapshot.read(path, REVIEWED_FILES), snapshot.name(path), REVIEWED_FILES)
    return tuple(content_notes(document))


def _parts(document: Document, key: str, model: type[Part], problems: list[Problem]) -> tuple[Part, ...]:
    """The items of the list ``key`` that are valid; what is wrong with the others is added to ``problems``."""
    parts: list[Part] = []
    for place, item in enumerate(as_list(as_mapping(document.data).get(key))):
        try:
            parts.append(validate(model, document, item, (key, place)))
        except InputError as error:
            problems.extend(error.problems)
    return tuple(parts)
