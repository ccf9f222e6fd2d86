"""The addresses in the package's metadata: those of the repository that builds the release.

The Action is forked or mirrored, so no address is fixed here.  The release workflow sets ``INCUMBENT_REPOSITORY``, for
example to ``https://github.com/OWNER/NAME``.  A build without it has no addresses.
"""

from __future__ import annotations

import os
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_PAGES = {
    "Homepage": "",
    "Source": "",
    "Documentation": "/tree/HEAD/docs",
    "Changelog": "/blob/HEAD/CHANGELOG.md",
    "Issues": "/issues",
}


class ProjectUrls(MetadataHookInterface):
    """Called by hatchling when it reads ``pyproject.toml``."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add ``urls`` to the metadata."""
        repository = os.environ.get("INCUMBENT_REPOSITORY", "").rstrip("/")
        metadata["urls"] = {label: repository + page for label, page in _PAGES.items()} if repository else {}
