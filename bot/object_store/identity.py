"""The id that git gives a content."""

from __future__ import annotations

import hashlib


def blob_id(text: str) -> str:
    """The id that git gives a file of this text."""
    data = text.encode("utf-8")
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
