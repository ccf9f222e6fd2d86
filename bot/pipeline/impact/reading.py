"""Reads a change of the reviewed files from two commits: the files that a merge would put on the default branch."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from bot.classifier.model import Backend
from bot.config import CONFIG_FILE, REVIEWED_FILES
from bot.errors import InputError, Problem
from bot.files.documents import parse_yaml
from bot.files.snapshot import Overlay
from bot.git import ChangedFile as FileChange
from bot.git import ObjectStore
from bot.pipeline.impact.measure import PlatformChange
from bot.pipeline.review import Platform, load_platform
from bot.pipeline.submission import collect
from bot.taxonomy.changes import succession_problems
from bot.taxonomy.exemplars import EXEMPLARS_FOLDER, is_exemplar_file
from bot.taxonomy.history import History
from bot.taxonomy.loading import TAXONOMY_FILE

RESTS_ON = ("taxonomy/", "config/")
"""The paths of the files that all verdicts rest on."""
_READ = (TAXONOMY_FILE, CONFIG_FILE)
ANOTHER_MODEL = "it names another language model, which is asked only once this is merged"


def read_change(store: ObjectStore, base: str, head: str) -> tuple[PlatformChange, tuple[Problem, ...]]:
    """The changes of ``head`` to taxonomy and config since it left ``base``, applied to ``base``, and their problems.

    Raises :class:`bot.errors.InputError` with every fault if the files of either side cannot be read.  Raises it, too,
    if ``base`` has changed one of the files since: the result of a merge would be unknown.
    """
    snapshot = store.snapshot(base)
    over = Overlay(snapshot, changed_files(store, base, head))
    before, after = load_platform(snapshot, is_past=True), load_platform(over)
    document = parse_yaml(over.read(TAXONOMY_FILE, REVIEWED_FILES), TAXONOMY_FILE, REVIEWED_FILES)
    faults = succession_problems(before.taxonomy, after.taxonomy, document)
    change = PlatformChange(before=before, after=after, previous=History(store, base).since, document=document)
    return change, faults


def changed_files(store: ObjectStore, base: str, head: str) -> dict[str, str | bytes | None]:
    """The files of taxonomy and config that ``head`` changed since it left ``base``; ``None`` for those it removed.

    Raises :class:`bot.errors.InputError` as :func:`read_change` does.
    """
    snapshot, changed = store.snapshot(base), store.snapshot(head)
    touched, elsewhere = _paths(store.changes(base, head)), _paths(store.changes(head, base))
    there = {*changed.paths(EXEMPLARS_FOLDER), *changed.links(EXEMPLARS_FOLDER)}
    tables = sorted(path for path in touched if path.startswith(f"{EXEMPLARS_FOLDER}/") and is_exemplar_file(path))
    problems: list[Problem] = []
    files: dict[str, str | bytes | None] = {}
    for path in (*_READ, *tables):
        if path not in touched:
            continue
        is_gone = path in tables and path not in there
        content = None if is_gone else collect(partial(changed.read, path, REVIEWED_FILES), problems)
        if path in elsewhere and (is_gone or content is not None) and (path in tables or snapshot.exists(path)):
            now = snapshot.read(path, REVIEWED_FILES) if snapshot.exists(path) else None
            if content == now:
                continue
            message = "the file has changed on the other side as well since this one left it"
            problems.append(Problem(path, None, message, "merge the other side into this one"))
        files[path] = content
    if problems:
        raise InputError(problems)
    return files


def _paths(changes: Iterable[FileChange]) -> set[str]:
    """The paths of files that were added, changed or removed."""
    return {path for item in changes for path in (item.path, item.before) if path is not None}


def backends_of(
    change: PlatformChange, make: Callable[[Platform], Backend], may_ask: str | None
) -> tuple[tuple[Backend, Backend] | None, str | None]:
    """The backends before and after ``change``; or none, and why nothing is measured.

    No key is sent to an endpoint that no one has reviewed yet.  A language model, which costs money, is asked only if
    nothing forbids it: ``may_ask`` gives the reason not to (``None``: there is none).
    """
    old, new = change.before.config.classifier, change.after.config.classifier
    if new.backend == "openai" and new != old:
        return None, ANOTHER_MODEL
    if may_ask is not None and "openai" in (old.backend, new.backend):
        return None, may_ask
    return (make(change.before), make(change.after)), None
