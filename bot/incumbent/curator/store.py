"""Reading the regression set from a snapshot: entries, the waitlist, tombstones."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

import pydantic
import yaml

from incumbent.classifier.model import Identity
from incumbent.curator.entry import (
    CorrectedCost,
    Costs,
    Entry,
    StaleEntry,
    Tombstone,
    active_identity,
    entry_id,
    resident_of,
    total,
)
from incumbent.errors import InputError, Problem, untrusted
from incumbent.files.documents import parse_yaml
from incumbent.files.snapshot import Snapshot
from incumbent.files.user_cache import Remembered, digest_of_code
from incumbent.files.validation import FileModel, unknown_key_notes, unknown_keys, validate
from incumbent.intake.query import Setup
from incumbent.rater.model import RatedEntry, ReleaseResults
from incumbent.taxonomy.config import REVIEWED_FILES
from incumbent.taxonomy.model import Taxonomy
from incumbent.text.compare import text_key
from incumbent.text.did_you_mean import did_you_mean

Kind = TypeVar("Kind", Entry, Tombstone)


class _Pack(FileModel):
    """The cache file; ``code`` is the digest of the code that parsed the entries."""

    code: str
    entries: dict[str, Entry]
    tombstones: dict[str, Tombstone]


class PackedSet:
    """A cache of parsed files: those ``remembered`` from earlier runs, and those read in this one."""

    def __init__(self, remembered: Remembered | None) -> None:
        self._remembered = remembered
        before = None if remembered is None else _unpacked(remembered.pack())
        self._known: dict[tuple[type, str], Entry | Tombstone] = {}
        if before is not None:
            self._known |= {(Entry, key): entry for key, entry in before.entries.items()}
            self._known |= {(Tombstone, key): tombstone for key, tombstone in before.tombstones.items()}
        self._used: dict[tuple[type, str], Entry | Tombstone] = {}

    def get(self, path: str, content: bytes, model: type[Kind], parse: Callable[[], Kind]) -> Kind:
        """The model of the file at ``path``; calls ``parse`` only if this ``content`` is not in the cache."""
        if self._remembered is None:
            return parse()
        key = model, hashlib.sha256(path.encode("utf-8", "surrogatepass") + b"\0" + content).hexdigest()
        known = self._known.get(key)
        item = known if isinstance(known, model) else parse()
        self._used[key] = item
        return item

    def keep(self) -> None:
        """Save the cache for the next run, if it changed."""
        if self._remembered is None or self._used.keys() == self._known.keys():
            return
        pack = _Pack(
            code=_code(),
            entries={key: item for (_, key), item in self._used.items() if isinstance(item, Entry)},
            tombstones={key: item for (_, key), item in self._used.items() if isinstance(item, Tombstone)},
        )
        self._remembered.keep(pack.model_dump_json().encode())


def _unpacked(content: bytes | None) -> _Pack | None:
    try:
        pack = None if content is None else _Pack.model_validate_json(content)
    except ValueError:
        return None
    return pack if pack is not None and pack.code == _code() else None


@cache
def _code() -> str:
    """A digest of the code that reads entries."""
    package = Path(__file__).parents[1]
    parts = ("classifier/model.py", "curator/entry.py", "curator/store.py", "intake/query.py", "taxonomy/config.py")
    rooms = (package, package / "files", package / "text")
    files = (*(file for room in rooms for file in sorted(room.glob("*.py"))), *(package / part for part in parts))
    return digest_of_code(files, pydantic.VERSION, yaml.__version__)


FOLDER = "regression_set"
WAITING = f"{FOLDER}/waiting"
EVICTED = f"{FOLDER}/evicted"

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,149}")

State: TypeAlias = Literal["in-set", "waiting", "evicted"]
"""Where an entry is: in R, on the waitlist, or in a tombstone."""


@dataclass(frozen=True)
class RegressionSet:
    """R, the waitlist and the tombstones, each by id and sorted; and the costs that curators corrected.

    ``results`` are those of release runs, by id.  ``notes`` name the keys of its files that have no effect, and say how
    entries of earlier versions are read.
    """

    entries: Mapping[str, Entry]
    waiting: Mapping[str, Entry]
    tombstones: Mapping[str, Tombstone]
    costs: Costs = field(default_factory=dict)
    results: Mapping[str, ReleaseResults] = field(default_factory=dict)
    notes: tuple[Problem, ...] = ()

    @cached_property
    def identity(self) -> Identity | None:
        """The one classifier identity of R (see :func:`incumbent.curator.entry.active_identity`)."""
        return active_identity(self.entries.values())

    @property
    def evicted(self) -> Mapping[str, Entry]:
        """The evicted entries, as they were."""
        return {id: item.entry for id, item in self.tombstones.items()}

    @property
    def parts(self) -> Mapping[State, Mapping[str, Entry]]:
        """All entries, by where they are."""
        return {"in-set": self.entries, "waiting": self.waiting, "evicted": self.evicted}

    @cached_property
    def states(self) -> Mapping[str, tuple[State, Entry]]:
        """Every entry that is known with where it is, by id and sorted.

        One in R takes precedence over one on the waitlist, and that over one that was evicted.
        """
        found = {id: (state, entry) for state, part in reversed([*self.parts.items()]) for id, entry in part.items()}
        return dict(sorted(found.items()))

    def corrected_cost(self, turns: Sequence[str]) -> CorrectedCost | None:
        """The cost that a curator gave the text of ``turns``, if one did."""
        return self.costs.get(text_key(turns)) if self.costs else None

    def cost_of(self, turns: Sequence[str], setup: Setup) -> float:
        """What ``setup`` behind ``turns`` costs: the customer's figure, unless a curator corrected it."""
        corrected = self.corrected_cost(turns)
        return setup.cost if corrected is None else corrected.value

    @property
    def setups(self) -> tuple[Setup, ...]:
        """The set-ups of R, by entry."""
        return tuple(entry.setup for entry in self.entries.values())

    @cached_property
    def cost(self) -> float:
        """The total cost of R."""
        return total(self.cost_of(entry.turns, entry.setup) for entry in self.entries.values())

    @property
    def restored(self) -> frozenset[str]:
        """Digests of the grounds on which restored entries had been evicted."""
        return frozenset(entry.restored for entry in self.entries.values() if entry.restored is not None)

    def kept_on_trial(self, taxonomy: Taxonomy) -> Mapping[str, tuple[str, ...]]:
        """Entry of R → the split capabilities that it carried, and of which a part is still on trial.

        What would be lost with it is unknown as long as no verdict rests on the parts.
        """
        waiting = taxonomy.split_on_trial
        found = {
            id: tuple(sorted({*entry.classified.wholes, *entry.scores} & waiting)) for id, entry in self.entries.items()
        }
        return {id: wholes for id, wholes in found.items() if wholes}

    @cached_property
    def held(self) -> Mapping[str, int]:
        """Customer → the slots that its entries take; entries without a source count for no customer."""
        customers = [entry.source.customer for entry in self.entries.values() if entry.source is not None]
        return Counter(sorted(customers))

    @cached_property
    def by_source(self) -> Mapping[tuple[str, str, str], str]:
        """Customer, agent and item → the id of the entry or tombstone with this source, which a rename keeps.

        An entry in R takes precedence over one on the waitlist, and that over a tombstone.
        """
        found: dict[tuple[str, str, str], str] = {}
        for part in (self.evicted, self.waiting, self.entries):
            native = {id for id, entry in part.items() if entry.source and id == entry_id(*entry.source.place)}
            for id in (*sorted(part.keys() - native, reverse=True), *sorted(native)):
                source = part[id].source
                if source is not None:
                    found[source.place] = id
        return found

    @cached_property
    def on_record(self) -> Mapping[str, Entry | Tombstone]:
        """All records that may already decide a query, by id: entries, the waitlist, and tombstones."""
        return {**self.tombstones, **self.waiting, **self.entries}

    @cached_property
    def by_agent(self) -> Mapping[tuple[str, str], Sequence[tuple[int, str, Entry]]]:
        """Customer and agent → their entries (0), waitlist entries (1) and evicted ones (2), by id."""
        found: dict[tuple[str, str], list[tuple[int, str, Entry]]] = {}
        for rank, part in enumerate((self.entries, self.waiting, self.evicted)):
            for id, entry in sorted(part.items()):
                if entry.source is not None:
                    found.setdefault(entry.source.place[:2], []).append((rank, id, entry))
        return found

    def updated(self, changed: Mapping[str, Entry]) -> RegressionSet:
        """The same with the entries ``changed``, in R or on the waitlist, in the place of those of the same id."""
        return replace(
            self,
            entries={id: changed.get(id, entry) for id, entry in self.entries.items()},
            waiting={id: changed.get(id, entry) for id, entry in self.waiting.items()},
        )

    def residents(
        self, taxonomy: Taxonomy, identity: Identity | None = None
    ) -> tuple[tuple[RatedEntry, ...], tuple[StaleEntry, ...]]:
        """R as the rater sees it under ``identity`` (R's own when ``None``), and the stale entries."""
        return self._rated(self.entries, taxonomy, identity or self.identity)

    def in_line(
        self, taxonomy: Taxonomy, identity: Identity | None = None
    ) -> tuple[tuple[RatedEntry, ...], tuple[StaleEntry, ...]]:
        """The waitlist, likewise: newcomers are judged as if these entries were in R already."""
        return self._rated(self.waiting, taxonomy, identity or self.identity)

    def present(
        self, taxonomy: Taxonomy, identity: Identity | None = None
    ) -> tuple[tuple[RatedEntry, ...], tuple[StaleEntry, ...]]:
        """R, and then the waitlist, likewise: what newcomers are judged against."""
        return self._rated({**self.entries, **self.waiting}, taxonomy, identity or self.identity)

    def rated(
        self, entry: Entry, taxonomy: Taxonomy, identity: Identity | None
    ) -> tuple[RatedEntry, StaleEntry | None]:
        """``entry`` as the rater sees it (:func:`incumbent.curator.entry.resident_of`), at the cost that counts."""
        resident, stale = resident_of(entry, taxonomy, identity)
        found: dict[str, Any] = {
            "setup_cost": self.cost_of(entry.turns, entry.setup),
            "results": self.results.get(entry.id, ReleaseResults.UNKNOWN),
        }
        changed = {name: value for name, value in found.items() if value != getattr(resident, name)}
        return replace(resident, **changed) if changed else resident, stale

    def _rated(
        self, entries: Mapping[str, Entry], taxonomy: Taxonomy, identity: Identity | None
    ) -> tuple[tuple[RatedEntry, ...], tuple[StaleEntry, ...]]:
        pairs = [self.rated(entry, taxonomy, identity) for entry in entries.values()]
        return tuple(resident for resident, _ in pairs), tuple(item for _, item in pairs if item is not None)


def entry_path(id: str) -> str:
    """The path of the entry ``id``."""
    return f"{FOLDER}/{id}.yaml"


def entry_in(path: str) -> str | None:
    """The id of the entry whose file is at ``path``; ``None`` if the path is not an entry's."""
    folder, _, name = path.rpartition("/")
    id = name.removesuffix(".yaml")
    return id if folder == FOLDER and name != id and _ID.fullmatch(id) else None


def waiting_path(id: str) -> str:
    """The path of the entry ``id`` on the waitlist."""
    return f"{WAITING}/{id}.yaml"


def tombstone_path(id: str) -> str:
    """The path of the tombstone of ``id``."""
    return f"{EVICTED}/{id}.yaml"


def is_part(path: str) -> bool:
    """Whether the path is of a file of the set, or blocks one; other files are notes beside it."""
    return (path.startswith(f"{FOLDER}/") and path.endswith((".yaml", ".yml"))) or path in (FOLDER, WAITING, EVICTED)


def load_regression_set(
    snapshot: Snapshot, taxonomy: Taxonomy | None, remembered: Remembered | None = None
) -> RegressionSet:
    """The whole regression set; raises one :class:`InputError` with every fault of every file.

    A key that is not known is no fault: the entry counts without it, and ``notes`` has it.

    Links below its folder are left out (:func:`incumbent.pipeline.repository_paths.link_problems` reports them), so
    that one does not stop all others.  Without a ``taxonomy`` (it cannot be read) its capabilities are not checked.
    ``remembered`` files are not parsed again.
    """
    if FOLDER in snapshot.links(FOLDER):
        # Nothing of the set can be read.  This raises what is in its place.
        snapshot.read(FOLDER, REVIEWED_FILES)
    packed = PackedSet(remembered)
    problems = _not_files(snapshot)
    entries: dict[str, Entry] = {}
    waiting: dict[str, Entry] = {}
    tombstones: dict[str, Tombstone] = {}
    for path in snapshot.paths(FOLDER):
        folder, _, name = path.rpartition("/")
        if not name.endswith((".yaml", ".yml")):
            continue
        try:
            if folder == FOLDER:
                entries[name] = _read(snapshot, path, Entry, packed)
            elif folder == WAITING:
                waiting[name] = _read(snapshot, path, Entry, packed)
            elif folder == EVICTED:
                tombstones[name] = _read(snapshot, path, Tombstone, packed)
            else:
                problems.append(
                    Problem(snapshot.name(path), None, "no such folder is known", f"move the file to {FOLDER}/")
                )
        except InputError as error:
            problems.extend(error.problems)
    problems.extend(_present_twice(snapshot, entries, waiting, tombstones))
    problems.extend(_without_score(snapshot, FOLDER, entries))
    problems.extend(_without_score(snapshot, WAITING, waiting))
    if taxonomy is not None:
        problems.extend(_unknown_capabilities(snapshot, FOLDER, entries, taxonomy))
        problems.extend(_unknown_capabilities(snapshot, WAITING, waiting, taxonomy))
    if problems:
        raise InputError(problems)
    packed.keep()
    items: dict[str, Entry | Tombstone] = {
        **{f"{FOLDER}/{name}": item for name, item in entries.items()},
        **{f"{WAITING}/{name}": item for name, item in waiting.items()},
        **{f"{EVICTED}/{name}": item for name, item in tombstones.items()},
    }
    notes = [note for path, item in items.items() for note in _unknown_keys(snapshot, path, item)]
    notes += _without_rule_values(snapshot, items)
    return RegressionSet(_by_id(entries), _by_id(waiting), _by_id(tombstones), notes=tuple(notes))


def _without_rule_values(snapshot: Snapshot, items: Mapping[str, Entry | Tombstone]) -> Iterator[Problem]:
    """One note on all entries, in R or waiting, that do not say which of their scores are rule values."""
    older = [path for path, item in items.items() if isinstance(item, Entry) and item.by_rule is None and item.scores]
    if older:
        more = f", and {len(older) - 1} more," if len(older) > 1 else ""
        message = f"an earlier version wrote the entry{more} without `by_rule`: the sources of the taxonomy decide"
        fix = "leave it: it is written once the entry is classified again"
        yield Problem(snapshot.name(min(older)), None, message, fix)


def _unknown_keys(snapshot: Snapshot, path: str, item: Entry | Tombstone) -> Iterator[Problem]:
    if any(unknown_keys(item)):
        yield from unknown_key_notes(
            item, parse_yaml(snapshot.read(path, REVIEWED_FILES), snapshot.name(path), REVIEWED_FILES)
        )


def _by_id(files: Mapping[str, Kind]) -> dict[str, Kind]:
    return {item.id: item for item in sorted(files.values(), key=lambda item: item.id)}


def _read(snapshot: Snapshot, path: str, model: type[Kind], packed: PackedSet) -> Kind:
    content = snapshot.read(path, REVIEWED_FILES)
    return packed.get(path, content, model, lambda: _parse(content, path, snapshot.name(path), model))


def _parse(content: bytes, path: str, shown: str, model: type[Kind]) -> Kind:
    document = parse_yaml(content, shown, REVIEWED_FILES)
    item = validate(model, document)
    expected = path.rpartition("/")[2]
    problems: list[Problem] = []
    if expected != f"{item.id}.yaml":
        fix = f"name the file {untrusted(item.id)}.yaml"
        problems.append(document.problem(("id",), f"id: {item.id!r} is not the file's name", fix))
    if isinstance(item, Tombstone) and item.entry.id != item.id:
        fix = f"write {untrusted(item.id)}, or restore the file from git"
        problems.append(document.problem(("entry", "id"), f"entry.id: {item.entry.id!r} is another entry's id", fix))
    if problems:
        raise InputError(problems)
    return item


def _not_files(snapshot: Snapshot) -> list[Problem]:
    """Files in the place of a folder, so that nothing can be read below it."""
    return [
        Problem(snapshot.name(path), None, "this is a file, and a folder is expected", "make it a folder")
        for path in (FOLDER, WAITING, EVICTED)
        if snapshot.exists(path)
    ]


def _present_twice(
    snapshot: Snapshot, entries: Mapping[str, Entry], waiting: Mapping[str, Entry], tombstones: Mapping[str, Tombstone]
) -> list[Problem]:
    twice = [
        Problem(
            snapshot.name(f"{WAITING}/{name}"),
            None,
            f"{name} waits for a slot and is in the regression set as well",
            "delete the waiting file",
        )
        for name in sorted(set(entries) & set(waiting))
    ]
    for name in sorted(set(tombstones) & (set(entries) | set(waiting))):
        other = f"{FOLDER}/{name}" if name in entries else f"{WAITING}/{name}"
        message = f"the entry was evicted, and is there all the same as {other}"
        twice.append(Problem(snapshot.name(f"{EVICTED}/{name}"), None, message, "delete one of the two files"))
    return twice


def read_back(path: str, content: str) -> None:
    """Raise :class:`InputError` unless ``content`` could be read back from ``path``: it could never be evicted
    otherwise.
    """
    if path.startswith(f"{EVICTED}/"):
        _parse(content.encode("utf-8"), path, path, Tombstone)
    else:
        _parse(content.encode("utf-8"), path, path, Entry)


def unknown_scores(entry: Entry, taxonomy: Taxonomy) -> tuple[str, ...]:
    """Capabilities that ``entry`` scores and that ``taxonomy`` neither defines nor lists as retired; sorted."""
    return tuple(sorted(set(entry.scores) - set(taxonomy.by_id) - set(taxonomy.retired)))


def _without_score(snapshot: Snapshot, folder: str, entries: Mapping[str, Entry]) -> Iterator[Problem]:
    """Rule values that have no score: a typing error, or a score that somebody took out."""
    for name, entry in entries.items():
        astray = [item for item in entry.by_rule or () if item not in entry.scores]
        if astray:
            path = f"{folder}/{name}"
            document = parse_yaml(snapshot.read(path, REVIEWED_FILES), snapshot.name(path), REVIEWED_FILES)
            for item in astray:
                message = f"by_rule: {item} is not in `scores`{did_you_mean(item, entry.scores)}"
                yield document.problem(("by_rule",), message, "use an id of `scores`, or delete it")


def _unknown_capabilities(
    snapshot: Snapshot, folder: str, entries: Mapping[str, Entry], taxonomy: Taxonomy
) -> list[Problem]:
    """Scores of capabilities that never existed: retired ones are only stale, anything else is a typing error."""
    problems = []
    known = {*taxonomy.by_id, *taxonomy.retired}
    for name, entry in entries.items():
        unknown = unknown_scores(entry, taxonomy)
        if not unknown:
            continue
        path = f"{folder}/{name}"
        document = parse_yaml(snapshot.read(path, REVIEWED_FILES), snapshot.name(path), REVIEWED_FILES)
        for capability in unknown:
            problems.append(
                document.problem(
                    ("scores", capability),
                    f"scores.{capability}: the taxonomy has no such capability{did_you_mean(capability, known)}",
                    "use an id of taxonomy/taxonomy.yaml, or list a removed one under `retired`",
                )
            )
    return problems
