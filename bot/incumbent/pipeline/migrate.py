"""Plans, as values, what a new taxonomy changes in the files of a platform repository (docs/taxonomy.md).

A config that does not name the weights of its classifier, as earlier versions wrote it, names them afterwards.  The
config that is named gets the newest format (docs/versioning.md).

Everything is read before anything is written, and every fault of every file is reported at once.
"""

from __future__ import annotations

import json
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from incumbent.classifier.evaluation.labels import TABLES, read_file
from incumbent.classifier.evaluation.migrated_labels import clashes, migrate_document, migrated_table
from incumbent.curator.corrections import FOLDER as CORRECTIONS
from incumbent.curator.entry import Entry, StaleEntry, migrated, migrated_values, resident_of, with_definitions
from incumbent.curator.file_changes import FileChange
from incumbent.curator.store import RegressionSet, entry_path, load_regression_set, tombstone_path, waiting_path
from incumbent.errors import InputError, Problem
from incumbent.files.documents import as_mapping, decode, parse, parse_yaml
from incumbent.files.mapping_edits import rename_keys
from incumbent.files.snapshot import Overlay, Snapshot
from incumbent.files.yaml_writer import edited, round_trip
from incumbent.pipeline.migrated_files import (
    bring_up_to_date,
    carried_tables,
    is_up_to_date,
    migrate_overrides,
    moved_exemplars,
    with_combines,
)
from incumbent.pipeline.setup_files import setup_file
from incumbent.pipeline.submission import collect
from incumbent.taxonomy.changes import (
    TaxonomyChange,
    changes_between,
    declaration_problems,
    required_version,
    succession_problems,
)
from incumbent.taxonomy.config import REVIEWED_FILES, Limits, load_config, means_shipped_weights, name_shipped_weights
from incumbent.taxonomy.history import with_version
from incumbent.taxonomy.loading import TAXONOMY_FILE, exemplar_files, load_taxonomy, parse_taxonomy, read_files
from incumbent.taxonomy.migration import Migration, carried_definitions, declared, migration_between, removed_between
from incumbent.taxonomy.model import Exemplars, Taxonomy
from incumbent.text.compare import normalise

CONFIG_FOLDER = "config"


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationPlan:
    """The changes by the taxonomy ``new``: its declarations, and the files that follow.

    ``stale`` are the entries, including the waitlist, that will be stale; ``weights`` are the configs that name the
    weights of the classifier from then on.  ``updates_config``: whether the config gets the newest format.
    """

    old: Taxonomy
    new: Taxonomy
    changes: tuple[TaxonomyChange, ...]
    migration: Migration
    file_changes: tuple[FileChange, ...]
    stale: tuple[StaleEntry, ...]
    weights: tuple[str, ...]
    updates_config: bool


def plan_migration(now: Snapshot, old: Taxonomy, labels: Mapping[str, bytes], config_path: str) -> MigrationPlan:
    """The plan for the files of ``now``, whose taxonomy follows ``old``.

    ``labels`` are label files by the paths under which they are written.  Raises :class:`InputError` with every fault:
    a wrong version, impossible declarations, and files that cannot be read or edited.
    """
    texts, new = _plan_taxonomy(now, old)
    after = Overlay(now, texts)
    document = parse_yaml(after.read(TAXONOMY_FILE, REVIEWED_FILES), now.name(TAXONOMY_FILE), REVIEWED_FILES)
    planning = _Planning(now, old, new)
    planning.problems.extend(succession_problems(old, new, document))
    planning.file_changes.extend(FileChange(path, text) for path, text in sorted(texts.items()))
    planning.configs(config_path)
    planning.regression_set()
    config = collect(partial(load_config, now, None, config_path), planning.problems) if labels else None
    if config is not None:
        for path, content in labels.items():
            collect(partial(planning.labels, path, content, config.limits), planning.problems)
    if planning.problems:
        raise InputError(planning.problems)
    return MigrationPlan(
        old=old,
        new=new,
        changes=changes_between(old, new),
        migration=planning.migration,
        file_changes=tuple(planning.file_changes),
        stale=tuple(planning.stale),
        weights=tuple(planning.weights),
        updates_config=planning.updates_config,
    )


def _plan_taxonomy(now: Snapshot, old: Taxonomy) -> tuple[dict[str, str], Taxonomy]:
    """The changed files of the taxonomy, by path, and the resulting taxonomy."""
    files = read_files(now)
    problems = list(files.problems)
    tables = exemplar_files(files, problems)
    if problems:
        raise InputError(problems)
    try:
        definitions = parse_taxonomy(files, tables=False)
    except InputError:
        # Raises the faults of the tables, too.
        load_taxonomy(now)
        raise
    marks = {path: "\ufeff" if files.contents[path].startswith(BOM_UTF8) else "" for path in tables}
    carried = carried_tables(tables, declared(definitions), removed_between(old, definitions))
    texts = {path: marks[path] + text for path, text in carried.items()}
    content, name = files.contents[TAXONOMY_FILE], files.names[TAXONOMY_FILE]
    renewed = with_combines(content, name)
    if renewed is not None:
        texts[TAXONOMY_FILE], content = renewed, renewed.encode("utf-8")
    originals = {path: texts.get(path, marks[path] + file.text) for path, file in tables.items()}
    moved = moved_exemplars(content, name, originals)
    try:
        new = load_taxonomy(Overlay(now, texts | moved))
    except InputError as error:
        document = parse_yaml(files.contents[TAXONOMY_FILE], files.names[TAXONOMY_FILE], REVIEWED_FILES)
        raise InputError([*error.problems, *declaration_problems(old, definitions, document)]) from None
    # Lists of exemplars may contradict one another in their order, or spell a query in two ways.  The merged rows are
    # then a patch change that no one could foresee, so the version is set here.
    if moved and _is_right_but_for_the_move(definitions, old, new, bool(tables)):
        right = required_version(old, new)
        moved[TAXONOMY_FILE] = with_version(moved[TAXONOMY_FILE], files.names[TAXONOMY_FILE], right)
        new = new.called(right)
    return texts | moved, new


def _is_right_but_for_the_move(definitions: Taxonomy, old: Taxonomy, new: Taxonomy, has_tables: bool) -> bool:
    """Whether the version is right except for the move of exemplars, which turns ``definitions`` into ``new``.

    A run that was stopped may have written the tables and not the taxonomy.  It is recognised by exemplars that differ
    from those of ``old`` only in order and spelling.
    """
    if not has_tables and required_version(old, definitions) == definitions.version:
        return True
    return required_version(_without_order(old), _without_order(new)) == definitions.version


def _without_order(taxonomy: Taxonomy) -> Taxonomy:
    """``taxonomy`` with the exemplars of each capability in a canonical order and spelling."""

    def ordered(queries: Iterable[str | tuple[str, ...]]) -> tuple[str, ...]:
        return tuple(sorted({normalise((query,) if isinstance(query, str) else query) for query in queries}))

    def of(exemplars: Exemplars) -> Exemplars:
        return Exemplars.model_construct(positive=ordered(exemplars.positive), negative=ordered(exemplars.negative))

    return Taxonomy(
        version=taxonomy.version,
        retired=taxonomy.retired,
        groups=taxonomy.groups,
        capabilities=tuple(item.with_exemplars(of(item.exemplars)) for item in taxonomy.capabilities),
        exemplars=taxonomy.exemplars,
    )


class _Planning:
    """Collects file changes, and all faults: one of a file does not keep the others from being read."""

    def __init__(self, now: Snapshot, old: Taxonomy, new: Taxonomy) -> None:
        self.now, self.old, self.new = now, old, new
        self.problems: list[Problem] = []
        self.migration = migration_between(old, new)
        self.file_changes: list[FileChange] = []
        self.stale: list[StaleEntry] = []
        self.weights: list[str] = []
        self.updates_config = False

    def configs(self, config_path: str) -> None:
        """Edit overrides and the name of the weights in every file of ``config/``, and in that at ``config_path``.

        The latter also gets the newest format.  Another one may have other values than those that ship on purpose.
        """
        present = [config_path] if self.now.exists(config_path) else []
        for path in dict.fromkeys((*self.now.paths(CONFIG_FOLDER), *present)):
            if path.endswith((".yaml", ".yml")):
                collect(partial(self._config, path, path == config_path), self.problems)

    def _config(self, path: str, is_named: bool) -> None:
        data = parse_yaml(self.now.read(path, REVIEWED_FILES), self.now.name(path), REVIEWED_FILES).data
        if path.startswith(f"{CORRECTIONS}/"):
            self._corrections(path, as_mapping(data))
            return
        overrides = as_mapping(as_mapping(data).get("per_capability"))
        follows = bool(overrides.keys() & {*self.migration.renames, *self.migration.splits})
        names_none = means_shipped_weights(data)
        is_former = is_named and isinstance(data, dict) and not is_up_to_date(data)

        def change(data: Any) -> None:
            if follows:
                migrate_overrides(data["per_capability"], self.migration)
            if names_none:
                name_shipped_weights(data)
            if is_former:
                # A config that is called as the paper's keeps the paper's reading.
                ours = "paper.yaml" if path.rpartition("/")[2] == "paper.yaml" else "curation.yaml"
                bring_up_to_date(data, round_trip().load(setup_file(ours)))

        if follows or names_none or is_former:
            self._edit(path, change)
        self.updates_config = self.updates_config or is_former
        if names_none:
            self.weights.append(path)

    def _corrections(self, path: str, data: Mapping[str, Any]) -> None:
        """Edit corrections by hand at ``path``, by the same rule as labels; a file without any left is removed."""
        tags = as_mapping(data.get("tags"))
        values = {name: as_mapping(item).get("value") is True for name, item in tags.items()}
        after = migrated_values(values, self.migration)
        if not after and tags and "cost" not in data:
            self.file_changes.append(FileChange(path, None))
        elif after != values:
            self._edit(path, lambda data: _move_values(data["tags"], after, self.migration))

    def regression_set(self) -> None:
        """Edit the entries, the waitlist, and the entries of tombstones."""
        known = collect(partial(load_regression_set, self.now, None), self.problems)
        if known is None:
            return
        carried = carried_definitions(self.migration, self.old, self.new)
        self.file_changes.extend(migrate_set(self.now, known, self.migration, self.old, carried, self.problems))
        for entry in (*known.entries.values(), *known.waiting.values()):
            after = migrated(entry, self.migration, self.old, self.new)
            item = resident_of(after, self.new, known.identity)[1]
            if item is not None:
                self.stale.append(item)

    def labels(self, path: str, content: bytes, limits: Limits) -> None:
        """Edit a label file of any format."""
        file = read_file(content, path, limits)
        problems = (*file.problems, *clashes(file, self.migration))
        if problems:
            raise InputError(problems)
        text = decode(content, path, REVIEWED_FILES)
        change = partial(migrate_document, file=file, migration=self.migration)
        if path.lower().endswith(TABLES):
            after = migrated_table(text, file, self.migration)
        else:
            data = parse(content, path, REVIEWED_FILES).data
            wanted = json.loads(json.dumps(data))
            change(wanted)
            if wanted == data:
                return
            is_json = path.lower().endswith(".json")
            after = _as_json(wanted, text) if is_json else edited(text.encode(), path, REVIEWED_FILES, change)
        if after != text:
            mark = "\ufeff" if content.startswith(BOM_UTF8) else ""
            self.file_changes.append(FileChange(path, mark + after))

    def _edit(self, path: str, change: Callable[[Any], None]) -> None:
        self.file_changes.append(FileChange(path, _edited(self.now, path, change)))


def migrate_set(
    now: Snapshot,
    known: RegressionSet,
    migration: Migration,
    old: Taxonomy,
    carried: Mapping[str, str],
    problems: list[Problem],
) -> list[FileChange]:
    """The files of ``known``, the regression set of ``now``, under the ids that ``migration`` gives them.

    ``carried`` has the definitions of the new taxonomy by the ids of ``old``.  A tombstone's entry follows, so that it
    can return.  Faults of files go to ``problems``.
    """
    places = [(entry_path(id), entry, ()) for id, entry in known.entries.items()]
    places += [(waiting_path(id), entry, ()) for id, entry in known.waiting.items()]
    graves = [(tombstone_path(id), item.entry, ("entry",)) for id, item in known.tombstones.items()]
    found = []
    for path, entry, at in (*places, *graves):
        after = with_definitions(entry, migration, old, carried)
        if after != entry:
            change = partial(_migrate_entry, after=after, at=at, migration=migration)
            text = collect(partial(_edited, now, path, change), problems)
            if text is not None:
                found.append(FileChange(path, text))
    return found


def _edited(now: Snapshot, path: str, change: Callable[[Any], None]) -> str:
    return edited(now.read(path, REVIEWED_FILES), now.name(path), REVIEWED_FILES, change)


def _migrate_entry(data: Any, after: Entry, at: tuple[str, ...], migration: Migration) -> None:
    """Edit the entry ``at`` a place of the ``data`` of a file, so that it is as ``after``."""
    for step in at:
        data = data[step]
    rename_keys(data["scores"], migration.renames)
    if "definitions" in data["classified"]:
        definitions = data["classified"]["definitions"]
        rename_keys(definitions, migration.renames)
        for id, definition in after.classified.definitions.items():
            if definitions[id] != definition:
                definitions[id] = definition
    if after.by_rule is not None:
        data["by_rule"][:] = after.by_rule
    if "corrected" in data["classified"]:
        _move_values(data["classified"]["corrected"], after.classified.corrected, migration)


def _move_values(mapping: Any, after: Mapping[str, bool], migration: Migration) -> None:
    """Give the values that curators corrected the ids of ``after``; all else stays."""
    parts = {part: mapping[whole] for whole, names in migration.splits.items() if whole in mapping for part in names}
    rename_keys(mapping, migration.renames)
    for name in [name for name in mapping if name not in after]:
        del mapping[name]
    for name in after:
        if name not in mapping:
            mapping[name] = parts[name]


def _as_json(data: object, before: str) -> str:
    """``data`` as JSON, with the indentation and ending of the text ``before``."""
    indentation = re.search(r"\n( +|\t+)\S", before)
    text = json.dumps(data, ensure_ascii=False, indent=indentation and indentation[1])
    return text + before[len(before.rstrip()) :]
