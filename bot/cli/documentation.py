"""Where the product's documentation is: a platform repository has no copy of it.

It is in the repository of the Action, at the commit that runs, so that it matches the installed version.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Final

from bot.errors import OutsideError, UsageError
from bot.git.working_copy import is_pushed, owner_and_name, read_head, read_remote
from bot.github.events import server_of

ACTION: Final = re.compile(r"[A-Za-z0-9._-]+/[A-Za-z0-9._-]+@[0-9a-f]{40}")
"""``OWNER/NAME@COMMIT``."""

_REFERRED: Final = re.compile(r"[A-Za-z0-9._-]+/[A-Za-z0-9._-]+@[A-Za-z0-9._/-]+")

_OWN_FILES: Final = re.compile(r"\b(docs|config)/([a-z0-9-]+\.md|paper\.yaml)")


def own_action() -> str | None:
    """The Action of this installation: the repository and commit that it was installed from, or its checkout."""
    try:
        origin = metadata.distribution("incumbent").read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        origin = None
    source = json.loads(origin) if origin else {}
    version = source.get("vcs_info") or {}
    found = owner_and_name(str(source.get("url", ""))) if version else None
    if found:
        return f"{found}@{version.get('commit_id')}"
    checkout = Path(__file__).parents[2]
    remote = read_remote(checkout) if (checkout / "action.yml").is_file() else None
    if remote is None:
        return None
    try:
        return f"{remote}@{read_head(checkout).commit}"
    except (OutsideError, UsageError):
        return None


def own_action_is_pushed() -> bool:
    """Whether GitHub can know the commit of :func:`own_action`: a checkout's may never have been pushed."""
    checkout = Path(__file__).parents[2]
    if not (checkout / "action.yml").is_file():
        return True
    try:
        return is_pushed(checkout, read_head(checkout).commit)
    except (OutsideError, UsageError):
        return True


def product_files(action: str | None, environment: Mapping[str, str]) -> str | None:
    """The base address of the product's files; ``None`` if its ``action`` is unknown."""
    if action is None or not _REFERRED.fullmatch(action):
        return None
    return f"{server_of(environment)}/{action.replace('@', '/blob/')}"


def without_own_paths(text: str, root: str | None) -> str:
    """``text`` of the product, a file with comments, for other repositories: its own files are named without paths.

    A line below the first such name says where they are, if their ``root`` is known.
    """
    first = _OWN_FILES.search(text)
    if first is not None and root is not None:
        end = text.index("\n", first.end()) + 1
        text = f"{text[:end]}# Incumbent's pages: {root}/docs (paper.yaml: {root}/config)\n{text[end:]}"
    return _OWN_FILES.sub(r"Incumbent's \2", text)
