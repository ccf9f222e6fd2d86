"""Digests of plain data, equal on every machine."""

from __future__ import annotations

import hashlib
import json
from typing import Final

LENGTH: Final = 24


def digest(value: object) -> str:
    """The first 24 hexadecimal digits of SHA-256 over the canonical JSON of ``value``."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:LENGTH]
