"""Finds, and replaces in the set, personal data and secrets in the regression set and in eval sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from incumbent.classifier.corrections import Corrections
from incumbent.curator.corrections import CorrectedText, by_hand, load_corrections, written
from incumbent.curator.entry import Entry, Tombstone
from incumbent.curator.file_changes import FileChange, admit, edit, let_wait
from incumbent.curator.store import RegressionSet, entry_path, tombstone_path, waiting_path
from incumbent.errors import InputError
from incumbent.files.documents import Document, parse_yaml
from incumbent.files.snapshot import Overlay, Snapshot, WorkingTree
from incumbent.intake.eval_sets.folder import read_eval_sets
from incumbent.intake.query import EvalSet, Query
from incumbent.pipeline.reclassify import query_of
from incumbent.pipeline.replace_personal_data import Replacement, not_replaced, replaced_contents
from incumbent.pipeline.review import Platform
from incumbent.pipeline.submission import EVAL_SETS, submission_folders
from incumbent.taxonomy.config import REVIEWED_FILES, Curation, Limits
from incumbent.text.compare import text_key
from incumbent.text.masking import masked_together
from incumbent.text.personal_data.detector import Detector, kinds_in_words, personal_in
from incumbent.text.secrets import holds_secret

ANOTHER_REASON = "--replace changes no reasons: write another one"
ANOTHER_NAME = "--replace changes no names: give its source another name, evict the entry, and admit the query again"


@dataclass(frozen=True, kw_only=True)
class Sighting:
    """A query, an entry or a correction that holds personal data or a secret, and where it is.

    ``personal_data``: kind → how many values; ``secret``: whether something looks like a key or a password; ``texts``
    are those of its texts that hold some; ``to_do`` says what a person does where nothing else can.
    """

    file: str
    line: int | None
    id: str
    personal_data: Mapping[str, int]
    secret: bool
    texts: tuple[str, ...]
    to_do: str | None = None

    @property
    def place(self) -> str:
        """File and line."""
        return self.file if self.line is None else f"{self.file}:{self.line}"

    @property
    def holds(self) -> str:
        """The findings in words."""
        parts = [kinds_in_words(self.personal_data)] if self.personal_data else []
        return ", and ".join([*parts, *(["what looks like a secret"] if self.secret else [])])

    @property
    def masked(self) -> Sighting:
        """The sighting with its texts masked, for output."""
        return replace(self, texts=tuple(masked_together(self.texts)))

    @staticmethod
    def of(query: Query, detector: Detector) -> Sighting | None:
        """The sighting of ``query``; ``None`` if nothing is found."""
        return Sighting.among(query.texts, query, detector)

    @staticmethod
    def among(texts: tuple[str, ...], query: Query, detector: Detector, to_do: str | None = None) -> Sighting | None:
        """The sighting of those ``texts``, which are of ``query``."""
        kinds = personal_in(texts, detector)
        secret = any(map(holds_secret, texts))
        if not kinds and not secret:
            return None
        texts = tuple(text for text in texts if holds_secret(text) or detector.find(text))
        return Sighting(
            file=query.file, line=query.line, id=query.id, personal_data=kinds, secret=secret, texts=texts, to_do=to_do
        )


@dataclass(frozen=True, kw_only=True)
class SetReplacement:
    """The changes of the regression set and of corrections by hand when personal data is replaced.

    ``entries`` are those with new texts, to be classified again; ``corrections`` are by their former paths.
    """

    entries: Mapping[str, Entry]
    tombstones: Mapping[str, Tombstone]
    corrections: Mapping[str, CorrectedText]

    @property
    def said(self) -> Corrections:
        """Curators' corrections of the former texts, by the new texts."""
        return by_hand({text_key(item.turns): item for item in self.corrections.values()})

    def changes(self, known: RegressionSet, entries: Mapping[str, Entry], tree: Snapshot) -> tuple[FileChange, ...]:
        """The changes of files; ``entries`` are those of this replacement with their new scores."""
        found = [
            admit(entry, _text(tree, entry_path(id))) if id in known.entries else let_wait(entry)
            for id, entry in entries.items()
        ]
        for id, tombstone in self.tombstones.items():
            path = tombstone_path(id)
            found.append(FileChange(path, edit(_text(tree, path), tombstone)))
        for path, text in self.corrections.items():
            # The file's name is the digest of its turns.
            found += [] if text.path == path else [FileChange(path, None)]
            found.append(written(text, None))
        return tuple(found)


def scan_set(platform: Platform, tree: Snapshot) -> tuple[Sighting, ...]:
    """The sightings in entries, the waitlist, tombstones and corrections by hand of the repository ``tree``."""
    known, config = platform.regression_set, platform.config
    found: list[Sighting] = []
    for path, entry, within in _entries(known):
        detector = detector_of(entry, config)
        query = query_of(entry)
        tombstone = known.tombstones[entry.id] if within else None
        places = {(*within, "turns"): (query.texts, None)} | {
            place: ((text,), to_do) for place, text, to_do in _beside(entry, within, tombstone)
        }
        found += _sighted(places, query, detector, tree, path)
    for text in load_corrections(tree, None).values():
        query = Query(id=text.path, turns=text.turns, file=tree.name(text.path), line=None)
        places = {("turns",): (text.turns, None)} | {
            ("tags", name, "reason"): ((item.reason,), ANOTHER_REASON)
            for name, item in text.tags.items()
            if item.reason is not None
        }
        if text.cost is not None and text.cost.reason is not None:
            places["cost", "reason"] = ((text.cost.reason,), ANOTHER_REASON)
        found += _sighted(places, query, config.personal_data.shown, tree, text.path)
    return tuple(found)


def _sighted(
    places: Mapping[tuple[str, ...], tuple[tuple[str, ...], str | None]],
    query: Query,
    detector: Detector,
    tree: Snapshot,
    path: str,
) -> Iterator[Sighting]:
    """The sightings in the texts at ``places`` of the file at ``path``, each with its line."""
    for place, (texts, to_do) in places.items():
        sighting = Sighting.among(texts, query, detector, to_do)
        if sighting is not None:
            yield replace(sighting, file=tree.name(path), line=_document(tree, path).line(place))


def _beside(
    entry: Entry, within: tuple[str, ...], tombstone: Tombstone | None
) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """The names and people's reasons in an entry: the place of each in its file, and what to do about it."""
    yield (*within, "id"), entry.id, ANOTHER_NAME
    source = entry.source
    if source is not None:
        for name in ("customer", "agent", "item", "eval_set"):
            yield (*within, "source", name), getattr(source, name), ANOTHER_NAME
    if entry.pin is not None:
        yield (*within, "pin"), entry.pin, ANOTHER_REASON
    if entry.quarantined is not None:
        yield (*within, "quarantined"), entry.quarantined, ANOTHER_REASON
    if entry.admitted.override is not None:
        yield (*within, "admitted", "override"), entry.admitted.override, ANOTHER_REASON
    if tombstone is not None:
        yield ("evicted", "reason"), tombstone.evicted.reason, ANOTHER_REASON


def replace_in_set(platform: Platform, tree: Snapshot) -> SetReplacement:
    """The entries, tombstones and corrections by hand with personal data, with other values."""
    known, config = platform.regression_set, platform.config
    entries: dict[str, Entry] = {}
    for entry in (*known.entries.values(), *known.waiting.values()):
        new = replaced_entry(entry, detector_of(entry, config))
        if new != entry:
            entries[entry.id] = new
    tombstones: dict[str, Tombstone] = {}
    for id, tombstone in known.tombstones.items():
        new = replaced_entry(tombstone.entry, detector_of(tombstone.entry, config))
        if new != tombstone.entry:
            tombstones[id] = tombstone.model_copy(update={"entry": new})
    corrections: dict[str, CorrectedText] = {}
    for text in load_corrections(tree, None).values():
        replacement = Replacement.of([text.turns], config.personal_data.shown)
        turns = tuple(map(replacement.text, text.turns))
        if turns != text.turns:
            corrections[text.path] = text.model_copy(update={"turns": turns})
    return SetReplacement(entries=entries, tombstones=tombstones, corrections=corrections)


def replaced_entry(entry: Entry, detector: Detector) -> Entry:
    """``entry`` with other values for personal data; its text then has to be classified again."""
    replacement = Replacement.of([query_of(entry).texts], detector)
    if not replacement.values:
        return entry
    setup = entry.setup
    return entry.model_copy(
        update={
            "turns": tuple(map(replacement.text, entry.turns)),
            "expected": replacement.data(entry.expected),
            "setup": replace(
                setup,
                tenant=None if setup.tenant is None else replacement.text(setup.tenant),
                connectors=tuple(map(replacement.text, setup.connectors)),
                fixtures=tuple(map(replacement.text, setup.fixtures)),
                attachments=tuple(map(replacement.text, setup.attachments)),
            ),
        }
    )


def detector_of(entry: Entry, config: Curation) -> Detector:
    """The detector of personal data for ``entry``."""
    return config.personal_data.detector(None if entry.source is None else entry.source.customer)


def folders_of(repo: Path, given: Path) -> tuple[Path, ...]:
    """``given``, or the folders of the agents below it where it is ``eval_sets`` or a customer's folder in it."""
    inside = given.resolve()
    top = repo.resolve() / EVAL_SETS
    if inside != top and inside.parent != top:
        return (given,)
    found = [Path(folder) for folder in submission_folders(WorkingTree(repo))]
    return tuple(repo / folder for folder in found if (repo.resolve() / folder).is_relative_to(inside))


@dataclass(frozen=True, kw_only=True)
class FolderScan:
    """The sightings in the eval sets of one folder, and the changes when they are replaced.

    ``kept`` maps files that would no longer be read as the same queries, and so stay unchanged, to what must be
    replaced in them by hand.
    """

    sets: tuple[EvalSet, ...]
    sightings: tuple[Sighting, ...]
    changes: tuple[FileChange, ...]
    kept: Mapping[str, tuple[Sighting, ...]]


def scan_folder(snapshot: Snapshot, limits: Limits, detector: Detector) -> FolderScan:
    """What ``detector`` finds in the eval sets of ``snapshot``; raises :class:`InputError` if there are none."""
    sets = read_eval_sets(snapshot, limits)
    sightings = tuple(
        found for each in sets for query in each.queries if (found := Sighting.of(query, detector)) is not None
    )
    paths = {snapshot.name(path): path for path in snapshot.paths()}
    kept: dict[str, tuple[Sighting, ...]] = {}
    changed: dict[str, str] = {}
    ways: dict[str, tuple[str, ...]] = {}
    for each in sets:
        # A file with a query was read as UTF-8; a byte order mark stays.
        content = snapshot.read(paths[each.file], limits.reading).decode("utf-8") if each.queries else ""
        ways[each.file] = replaced_contents(each, content, detector)
    for way in range(2):
        tried = {file: found[way] for file, found in ways.items() if found and file not in changed}
        after = _read_again(snapshot, {paths[file]: text for file, text in {**changed, **tried}.items()}, limits)
        for each in sets:
            if each.file not in tried:
                continue
            left = not_replaced(each, after.get(each.file), detector)
            if not left:
                changed[each.file] = tried[each.file]
            sightings_left = (Sighting.among(left.get(query.id, ()), query, detector) for query in each.queries)
            kept[each.file] = tuple(found for found in sightings_left if found is not None)
    kept = {file: found for file, found in kept.items() if file not in changed}
    return FolderScan(
        sets=sets,
        sightings=sightings,
        changes=tuple(FileChange(paths[file], content) for file, content in changed.items()),
        kept=kept,
    )


def _read_again(snapshot: Snapshot, files: Mapping[str, str], limits: Limits) -> dict[str, EvalSet]:
    try:
        return {each.file: each for each in read_eval_sets(Overlay(snapshot, files), limits)}
    except InputError:
        return {}


def _entries(known: RegressionSet) -> Iterator[tuple[str, Entry, tuple[str, ...]]]:
    """The path of each file of the set, its entry, and where in the file that is."""
    for id, entry in known.entries.items():
        yield entry_path(id), entry, ()
    for id, entry in known.waiting.items():
        yield waiting_path(id), entry, ()
    for id, entry in known.evicted.items():
        yield tombstone_path(id), entry, ("entry",)


def _document(tree: Snapshot, path: str) -> Document:
    return parse_yaml(tree.read(path, REVIEWED_FILES), tree.name(path), REVIEWED_FILES)


def _text(tree: Snapshot, path: str) -> str:
    return tree.read(path, REVIEWED_FILES).decode("utf-8")
