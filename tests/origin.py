"""A repository for tests whose commits are made from objects alone, so that they can hold anything."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.com",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.com",
    "LC_ALL": "C",
}
Entry = tuple[str, str]


@dataclass(frozen=True)
class Origin:
    """A bare repository."""

    folder: Path

    @classmethod
    def make(cls, folder: Path, object_format: str = "sha1") -> Origin:
        origin = cls(folder)
        origin.git("init", "--quiet", "--bare", f"--object-format={object_format}", str(folder), anywhere=True)
        return origin

    def git(self, *arguments: str, stdin: bytes = b"", anywhere: bool = False, **more: str) -> str:
        place = {} if anywhere else {"GIT_DIR": str(self.folder)}
        done = subprocess.run(
            ["git", *arguments], input=stdin, capture_output=True, env={**ENVIRONMENT, **place, **more}, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.decode().strip()

    def blob(self, content: bytes) -> str:
        return self.git("hash-object", "-w", "--stdin", stdin=content)

    def tree(self, files: Mapping[str, bytes | Entry]) -> str:
        """``files``: path → content, or its mode and object id."""
        entries = []
        for path, content in files.items():
            mode, id = ("100644", self.blob(content)) if isinstance(content, bytes) else content
            entries.append(f"{mode} {id}\t".encode() + os.fsencode(path) + b"\0")
        index = str(self.folder / "index-of-the-test")
        Path(index).unlink(missing_ok=True)
        self.git("update-index", "-z", "--index-info", stdin=b"".join(entries), GIT_INDEX_FILE=index)
        return self.git("write-tree", "--missing-ok", GIT_INDEX_FILE=index)

    def commit(
        self,
        files: Mapping[str, bytes | Entry] | str,
        *parents: str,
        at: str = "1767225600 +0100",
        ref: str | None = None,
    ) -> str:
        tree = files if isinstance(files, str) else self.tree(files)
        before = [word for parent in parents for word in ("-p", parent)]
        id = self.git("commit-tree", tree, *before, "-m", "x", GIT_COMMITTER_DATE=at, GIT_AUTHOR_DATE=at)
        if ref is not None:
            self.git("update-ref", ref, id)
        return id

    def loose(self, id: str) -> Path:
        return self.folder / "objects" / id[:2] / id[2:]
