"""Names for plain data: the same data, the same name, on every machine."""

from __future__ import annotations

import hashlib
import json
from typing import Final

LENGTH: Final = 24


def digest(value: object) -> str:
    """A digest of plain data: 24 hexadecimal digits of SHA-256 over its canonical JSON."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:LENGTH]
