"""The Action's step ``fit``: fits the model of the default branch's own taxonomy, and records its digest on the ledger.

It reads the reviewed taxonomy and config, and nothing that customers brought, so it may hold a token that writes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from incumbent.classifier.backends import make_backend
from incumbent.classifier.embedded.backend import EmbeddedBackend
from incumbent.classifier.embedded.cache import ModelCache
from incumbent.classifier.embedded.model import model_digest
from incumbent.classifier.model import Stages
from incumbent.errors import OutsideError
from incumbent.github.client import TRIES, GitHubClient, LostRaceError
from incumbent.github.events import Event
from incumbent.github.git_state import World, models_of
from incumbent.github.models import WriteLedger
from incumbent.ledger.model import MODELS, StoredModel
from incumbent.ledger.store import record_text
from incumbent.taxonomy.config import load_config
from incumbent.taxonomy.loading import load_taxonomy


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedRun:
    """The platform's own model (``None``: it needs none), and the digest that was recorded of it ``before``.

    ``commit`` is the new one of the ledger; ``None``: nothing was written.
    """

    model: StoredModel | None = None
    before: str | None = None
    commit: str | None = None


def fit_own_model(
    event: Event,
    world: World,
    github: GitHubClient,
    folder: Path,
    stages: Stages,
    wait: Callable[[int], None],
    dry_run: bool,
) -> FittedRun:
    """Fit the model of the default branch, write it into ``folder``, and record it; other writers' files are kept.

    A model that is recorded is fitted again: its file may be gone from the cache, and equal files give an equal one.
    Raises :class:`InputError` for faults of taxonomy or config, and :class:`OutsideError` if nothing can be written.
    """
    made: dict[str, str] = {}
    for attempt in range(1, TRIES + 1):
        commits = world.fetch(event, head=False)
        snapshot = world.store.snapshot(commits.base)
        taxonomy = load_taxonomy(snapshot)
        settings = load_config(snapshot, frozenset(taxonomy.by_id)).classifier
        # Nothing is taken from a cache, so that nothing of another run gets into what all later ones rest on.
        backend = make_backend(settings, taxonomy, ModelCache(None), {}, stages=stages)
        if not isinstance(backend, EmbeddedBackend) or not backend.is_own:
            return FittedRun()
        if backend.key not in made:
            made[backend.key] = _fit(backend, ModelCache(folder))
        model = StoredModel(
            key=backend.key,
            digest=made[backend.key],
            commit=commits.base,
            at=world.store.commit_time(commits.base),
        )
        ledger = None if commits.ledger is None else world.store.snapshot(commits.ledger)
        record = models_of(ledger)
        run = FittedRun(model=model, before=record.digests.get(model.key))
        if dry_run or record.after(model) == record:
            return run
        tree = None if commits.ledger is None else world.store.tree(commits.ledger)
        files = {MODELS: record_text(record.after(model))}
        try:
            write = WriteLedger.of(commits.ledger, files, f"Fitted model of {commits.base[:12]}")
            written = github.write_ledger(write.on(ledger), tree)
        except LostRaceError:
            wait(attempt)
        else:
            return FittedRun(model=model, before=run.before, commit=written.commit)
    raise OutsideError("other jobs kept writing to the ledger; run this one again")


def _fit(backend: EmbeddedBackend, cache: ModelCache) -> str:
    """The digest of the model of ``backend``, which is now in ``cache``."""
    arrays = backend.handed_over()
    assert arrays is not None
    cache.store(backend.key, arrays)
    if cache.load(backend.key) is None:
        raise OutsideError(f"{cache.file(backend.key)} cannot be written; name another folder with --models")
    return model_digest(arrays)
