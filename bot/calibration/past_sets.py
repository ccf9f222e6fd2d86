"""The set and config at past commits, read from snapshots: past verdicts were judged against them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from bot.calibration.replay import PastSet, Reader
from bot.config import REVIEWED_FILES, Curation, Knobs, Options, Overrides
from bot.curator.store import load_regression_set
from bot.errors import IncumbentError
from bot.files.documents import as_mapping, parse_yaml
from bot.files.snapshot import Snapshot
from bot.files.validation import validate
from bot.taxonomy.loading import load_taxonomy
from bot.taxonomy.migration import Lineage


def reader(open_commit: Callable[[str], Snapshot | None], present: Curation, path: str, lineage: Lineage) -> Reader:
    """A reader that reads each commit once.

    ``open_commit`` gives a commit's files (``None``: unknown commit); ``path`` is the config's.  Capabilities have the
    ids that ``lineage`` gives them.  The parts of the old config that verdicts rest on are used; the rest is from
    ``present``, since an older file lacks keys that are now required.
    """
    known: dict[str, PastSet | None] = {}

    def read(commit: str) -> PastSet | None:
        if commit not in known:
            try:
                snapshot = open_commit(commit)
                known[commit] = None if snapshot is None else _standing(snapshot, present, path, lineage)
            except IncumbentError:
                # A commit that today's rules cannot read cannot be judged again; the report counts these.
                known[commit] = None
        return known[commit]

    return read


def _standing(snapshot: Snapshot, present: Curation, path: str, lineage: Lineage) -> PastSet:
    taxonomy = load_taxonomy(snapshot)
    regression_set = load_regression_set(snapshot, taxonomy)
    residents = tuple(
        replace(item, scores={lineage.renamed(name): score for name, score in item.scores.items()})
        for item in (*regression_set.residents(taxonomy)[0], *regression_set.in_line(taxonomy)[0])
    )
    document = parse_yaml(snapshot.read(path, REVIEWED_FILES), snapshot.name(path), REVIEWED_FILES)
    raw = as_mapping(document.data)
    overrides = {
        lineage.renamed(str(name)): validate(Overrides, document, item, ("per_capability", str(name)))
        for name, item in as_mapping(raw.get("per_capability")).items()
    }
    decisive = {
        "knobs": validate(Knobs, document, raw.get("knobs"), ("knobs",)),
        "options": validate(Options, document, raw.get("options"), ("options",)),
        "per_capability": overrides,
    }
    return PastSet(residents=residents, config=present.model_copy(update=decisive))
