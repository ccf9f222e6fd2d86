"""Digests and slugs of plain data, equal on every machine."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Final

LENGTH: Final = 24


def digest(value: object) -> str:
    """The first 24 hexadecimal digits of SHA-256 over the canonical JSON of ``value``."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:LENGTH]


def slug(text: str, length: int) -> str:
    """``text`` as a readable part of a name: at most ``length`` small letters, digits and hyphens, perhaps none.

    Different texts may have one slug: a digest beside it tells them apart.
    """
    return re.sub(r"[^a-z0-9]+", "-", text.casefold()).strip("-")[:length].strip("-")
