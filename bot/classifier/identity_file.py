"""The classifier's identity as files, commands and tools name it."""

from __future__ import annotations

from pydantic import Field

from bot.classifier.model import Identity
from bot.files.validation import FileModel, Text


class IdentityFile(FileModel):
    """The classifier that predicted or scored; what different ones say is never compared."""

    backend: Text
    model: Text
    prompt: Text
    samples: int = Field(ge=1)

    @staticmethod
    def of(identity: Identity) -> IdentityFile:
        """``identity`` for storage."""
        return IdentityFile(
            backend=identity.backend, model=identity.model, prompt=identity.prompt, samples=identity.samples
        )

    @property
    def identity(self) -> Identity:
        """The identity as the pipeline sees it."""
        return Identity(backend=self.backend, model=self.model, prompt=self.prompt, samples=self.samples)
