"""Fitted models in files that others may have written: they count by the digests on record, and by nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from incumbent.classifier.embedded.cache import Arrays, ModelCache
from incumbent.classifier.embedded.model import model_digest
from incumbent.errors import UnreadyError

SHOWN = 12
"""So many characters of a digest are shown."""


@dataclass(frozen=True, kw_only=True)
class RecordedModels:
    """The models that count, as ``digests`` by key; ``record`` names where these are kept, ``way_out`` who makes them.

    ``restored`` has files that others may have written; ``refused`` is called with the reason for each unused one.
    """

    digests: Mapping[str, str]
    restored: ModelCache
    record: str
    way_out: str
    refused: Callable[[str], None]

    def load(self, key: str) -> Arrays | None:
        """The model that was restored under ``key``, if it is the recorded one."""
        if key not in self.digests or not self.restored.holds(key):
            return None
        arrays = self.restored.load(key)
        if arrays is not None and model_digest(arrays) == self.digests[key]:
            return arrays
        why = (
            "it is no fitted model under this key, is too large, or could have been written by others"
            if arrays is None
            else f"its digest is {model_digest(arrays)[:SHOWN]}, and {self.record} has {self.digests[key][:SHOWN]}"
        )
        self.refused(f"{self.restored.file(key).name} in the Action's cache is not used: {why}")
        return None

    def accepts(self, key: str, arrays: Arrays) -> bool:
        """Whether ``arrays`` of this machine's own cache may be used: without a record, nothing speaks against them."""
        return key not in self.digests or model_digest(arrays) == self.digests[key]

    def of_kind(self, kind: str, *places: ModelCache) -> Iterator[Arrays]:
        """All recorded models of ``kind`` that were restored or are in ``places``."""
        for key, digest in self.digests.items():
            if not key.startswith(f"{kind}-"):
                continue
            restored = self.load(key)
            if restored is not None:
                yield restored
            for place in places:
                arrays = place.load(key)
                if arrays is not None and model_digest(arrays) == digest:
                    yield arrays

    def lacking(self, key: str) -> UnreadyError | None:
        """Why a run that needs a recorded model cannot judge by the one under ``key``, if it is not recorded."""
        if key in self.digests:
            return None
        return UnreadyError("model", f"{self.record} lacks the fitted model {key} of this taxonomy", self.way_out)

    def refuse_other(self, key: str, digest: str) -> None:
        """Raise :class:`UnreadyError` if the model that was fitted under ``key`` is not the recorded one."""
        known = self.digests.get(key, digest)
        if digest != known:
            raise UnreadyError(
                "model",
                f"the fitted model {key} has the digest {digest[:SHOWN]} here, and {known[:SHOWN]} in {self.record}, "
                "which another version made or a person changed",
                self.way_out,
            )
