"""A person's working copy, from which they push over HTTP."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.e2e.harness.bare import ENVIRONMENT
from tests.e2e.harness.errors import HarnessError
from tests.e2e.harness.people import token_of

Files = Mapping[str, str | bytes | None]
"""Path → content; None removes the file."""


class Clone:
    """One person's working copy of one repository."""

    def __init__(self, parent: Path, user: str, url: str, full_name: str) -> None:
        self._folder = parent / f"{user}-of-{full_name.replace('/', '--')}"
        who = {"NAME": user.title(), "EMAIL": f"{user}@example.com"}
        identity = {f"GIT_{role}_{part}": value for role in ("AUTHOR", "COMMITTER") for part, value in who.items()}
        self._environment = ENVIRONMENT | identity | {"HOME": os.devnull}
        if not self._folder.exists():
            self._folder.mkdir(parents=True)
            self._git("init", "--quiet")
            address = url.replace("://", f"://{user}:{token_of(user)}@") + f"/{full_name}.git"
            self._git("remote", "add", "origin", address)

    def push(self, branch: str, start: str | None, files: Files, message: str, force: bool) -> str:
        """Commit files on top of ``start`` (on nothing, when None) and push; the new commit's id."""
        if start is None:
            self._git("switch", "--quiet", "--orphan", branch)
        else:
            self._git("fetch", "--quiet", "origin", start)
            self._git("switch", "--quiet", "--force-create", branch, start)
        for path, content in files.items():
            target = self._folder / path
            if content is None:
                target.unlink()
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.encode() if isinstance(content, str) else content)
        self._git("add", "--all", "--force")
        self._git("commit", "--quiet", "--allow-empty", "--message", message)
        self._git("push", "--quiet", *(["--force"] if force else []), "origin", f"HEAD:refs/heads/{branch}")
        return self._git("rev-parse", "HEAD")

    def fetch(self, reference: str) -> str:
        """Fetch a reference over HTTP; the commit that came."""
        self._git("fetch", "--quiet", "origin", reference)
        return self._git("rev-parse", "FETCH_HEAD")

    def _git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=self._folder, capture_output=True, text=True, env=self._environment, check=False
        )
        if done.returncode:
            raise HarnessError(f"git {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout.strip()
