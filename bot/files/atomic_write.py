"""Cache files: written atomically, and treated as missing if they cannot be written or read."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

Model = TypeVar("Model", bound=BaseModel)


def write_whole(path: Path, content: bytes) -> bool:
    """Write ``content`` to ``path`` atomically; ``False`` if that fails."""
    temporary: Path | None = None
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(suffix=".tmp", dir=path.parent)
        temporary = Path(name)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        temporary.replace(path)
    except OSError:
        if temporary is not None:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
        return False
    return True


def remove_whole(path: Path) -> None:
    """Remove the file at ``path``, if it exists and can be removed."""
    with suppress(OSError):
        path.unlink(missing_ok=True)


def read_model(path: Path, model: type[Model], largest: int) -> Model | None:
    """The ``model`` in the JSON file at ``path``; ``None`` if it is invalid, or larger than ``largest`` bytes."""
    # Pydantic's ValidationError is a ValueError.
    with suppress(OSError, ValueError):
        if path.is_file() and path.stat().st_size <= largest:
            return model.model_validate_json(path.read_bytes())
    return None
