"""Opens the backends of a run with the models that the Action's cache restored."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from incumbent.classifier.caching_backend import HaltedBackend
from incumbent.classifier.embedded.cache import ModelCache
from incumbent.classifier.embedded.recorded import RecordedModels
from incumbent.classifier.exemplars import FittedBackend
from incumbent.classifier.model import Backend, Stages
from incumbent.github.fitted_models import RECORD, WAY_OUT, ModelUse, model_to_restore
from incumbent.ledger.model import ModelRecord
from incumbent.pipeline.review import Platform
from incumbent.pipeline.workspace import open_backend_or_halt


class ModelWantedError(Exception):
    """The model ``key`` is to be restored before the run goes on."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


class ModelOpener:
    """Opens backends, with models that were restored into the folder ``restored`` (``None``: none were).

    With ``names`` it raises :class:`ModelWantedError` instead where the ledger records a model that would help.
    ``again``: the default branch's model is to be made again in any case.  ``refused`` gets each restored
    file that is not used, and why; ``noted`` each platform.
    """

    def __init__(
        self,
        restored: Path | None,
        names: bool,
        again: bool,
        stages: Stages,
        refused: Callable[[str], None],
        noted: Callable[[Platform], None],
    ) -> None:
        self.opened: list[Backend] = []
        self.lacks_model = False
        """Whether the platform's own model is to be made: it is not recorded, or not restored as recorded."""
        self._again = again
        self._restored = ModelCache(restored)
        self._names = names
        self._stages = stages
        self._refused = refused
        self._noted = noted

    def __call__(self, platform: Platform, record: ModelRecord, use: ModelUse, /) -> Backend:
        """The backend of ``platform`` for ``use``; one that says why, if the model that this needs is not recorded."""
        recorded = RecordedModels(
            digests=record.digests,
            restored=self._restored,
            record=RECORD,
            way_out=WAY_OUT,
            refused=self._refused,
        )
        self._noted(platform)
        backend = open_backend_or_halt(platform, self._stages, recorded=recorded, kept=use != "preview")
        self.opened.append(backend)
        if use != "preview" and isinstance(backend, FittedBackend) and backend.is_own:
            wanted = model_to_restore(backend.key, record)
            if self._names and wanted is not None:
                raise ModelWantedError(wanted)
            self.lacks_model = self._again or recorded.load(backend.key) is None
            lacking = recorded.lacking(backend.key) if use == "review" else None
            if lacking is not None:
                return HaltedBackend(backend.identity, None, lacking)
        return backend
