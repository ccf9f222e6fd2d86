"""The id that git gives a content."""

from __future__ import annotations

import hashlib


def blob_id(content: str | bytes) -> str:
    """The id that git gives a file of this content, a text in UTF-8."""
    data = content.encode("utf-8") if isinstance(content, str) else content
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
