"""A bare git repository: the half of a hosted repository that speaks git."""

from __future__ import annotations

import hashlib
import os
import subprocess
import time
import zlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tests.e2e.harness.errors import HarnessError

Kind = Literal["blob", "tree", "commit"]

ENVIRONMENT = {
    name: value for name, value in os.environ.items() if not name.startswith("GIT_") and name != "GH_TOKEN"
} | {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_CONFIG_COUNT": "3",
    "GIT_CONFIG_KEY_0": "gc.auto",
    "GIT_CONFIG_VALUE_0": "0",
    "GIT_CONFIG_KEY_1": "maintenance.auto",
    "GIT_CONFIG_VALUE_1": "false",
    "GIT_CONFIG_KEY_2": "transfer.unpackLimit",
    "GIT_CONFIG_VALUE_2": "100000",
    "GIT_AUTHOR_NAME": "Hosted",
    "GIT_AUTHOR_EMAIL": "hosted@example.com",
    "GIT_COMMITTER_NAME": "Hosted",
    "GIT_COMMITTER_EMAIL": "hosted@example.com",
}
"""An environment in which git reads nobody's configuration, asks nothing, tidies nothing up, and makes no packs.

What is in no pack is read without a process (:meth:`BareRepository.objects`)."""

PROTECTED = "protected"
DECLINE = f"""#!/bin/sh
# A push is refused whole if it writes a reference that is listed, unless who pushes is listed with it.
declined=0
while read -r before after reference; do
    if grep -qxF "$reference" {PROTECTED} && ! grep -qxF "$reference $REMOTE_USER" {PROTECTED}; then
        declined=1
        printf '%s\\n' "error: GH013: Repository rule violations found for $reference." \\
            "" "- Changes must be made through a pull request." >&2
    fi
done
exit $declined
"""


@dataclass(frozen=True)
class Change:
    """One path that a commit changes; ``mode`` is ``000000`` when it removes it."""

    mode: str
    object_id: str
    path: str


Entries = Mapping[bytes, tuple[str, str]]
"""Of a tree: name → mode and object id."""
FOLDER, GONE = "40000", ("000000", "0" * 40)


class BareRepository:
    """A bare repository at ``folder``; files of git are read here where a process would take longer than all else."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._parents: dict[str, list[str]] = {}

    @classmethod
    def create(cls, folder: Path) -> BareRepository:
        """A new one, served over HTTP as GitHub does: pushes allowed, any object that is there may be asked for."""
        repository = cls(folder)
        folder.mkdir(parents=True)
        repository.git("init", "--quiet", "--bare", "--initial-branch=main")
        with (folder / "config").open("a", encoding="utf-8") as config:
            config.write(
                "[http]\n\treceivepack = true\n[uploadpack]\n\tallowAnySHA1InWant = true\n\tallowFilter = true\n"
            )
            config.write("[receive]\n\tdenyDeleteCurrent = ignore\n")
        return repository

    def run(self, *arguments: str, stdin: bytes = b"") -> bytes:
        """What git prints.

        Raises:
            HarnessError: git failed.

        """
        done = subprocess.run(
            ["git", *arguments], cwd=self.folder, input=stdin, capture_output=True, env=ENVIRONMENT, check=False
        )
        if done.returncode:
            raise HarnessError(f"git {' '.join(arguments)}: {done.stderr.decode(errors='replace').strip()}")
        return done.stdout

    def git(self, *arguments: str, stdin: bytes = b"") -> str:
        """What git prints, as text without the last line end."""
        return self.run(*arguments, stdin=stdin).decode(errors="replace").rstrip("\n")

    def references(self, prefix: str = "refs/heads/") -> dict[str, str]:
        """Full reference name → object id."""
        found = {name: id for name, id in self._packed() if name.startswith(prefix)}
        for path in sorted((self.folder / prefix).rglob("*")):
            if path.is_file() and path.suffix != ".lock":
                found[path.relative_to(self.folder).as_posix()] = path.read_text(encoding="ascii").strip()
        return dict(sorted(found.items()))

    def _packed(self) -> list[tuple[str, str]]:
        path = self.folder / "packed-refs"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else ()
        return [(name, id) for id, _, name in (line.partition(" ") for line in lines if line[0] not in "#^")]

    def resolve(self, revision: str) -> str | None:
        """The commit a revision names, or None."""
        if revision.startswith("refs/heads/") and not set(revision) & set("^~@:{"):
            loose = self.folder / revision
            return loose.read_text(encoding="ascii").strip() if loose.is_file() else dict(self._packed()).get(revision)
        done = subprocess.run(
            ["git", "rev-parse", "--quiet", "--verify", f"{revision}^{{commit}}"],
            cwd=self.folder,
            capture_output=True,
            text=True,
            env=ENVIRONMENT,
            check=False,
        )
        return done.stdout.strip() or None

    def set_reference(self, name: str, object_id: str | None) -> None:
        """Point a reference at an object, or remove it."""
        if object_id is None:
            self.git("update-ref", "-d", name)
            return
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(f"{path.name}.lock")
        new.write_text(f"{object_id}\n", encoding="ascii")
        new.replace(path)

    def protect(self, references: Mapping[str, Collection[str]]) -> None:
        """Refuse pushes to these references and to no others; with each, who may push there all the same."""
        lines = [line for name, past in references.items() for line in (name, *(f"{name} {who}" for who in past))]
        (self.folder / PROTECTED).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        hook = self.folder / "hooks" / "pre-receive"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(DECLINE, encoding="utf-8")
        hook.chmod(0o755)

    def parents(self, commit: str) -> list[str]:
        """The parents of a commit."""
        if commit not in self._parents:
            headers = self.objects([commit])[0].partition(b"\n\n")[0].split(b"\n")
            self._parents[commit] = [line[7:].decode() for line in headers if line.startswith(b"parent ")]
        return self._parents[commit]

    def history(self, tip: str, without: Collection[str] = frozenset()) -> list[str]:
        """A commit and its ancestors, parents first, up to those of ``without``."""
        found: dict[str, None] = {}
        waiting = [tip] if tip not in without else []
        while waiting:
            commit = waiting[-1]
            new = [each for each in self.parents(commit) if each not in found and each not in without]
            waiting += new
            if not new:
                found[waiting.pop()] = None
        return list(found)

    def objects(self, object_ids: list[str]) -> list[bytes]:
        """The contents of objects, in the order asked."""
        contents = [self._loose(each) for each in object_ids]
        packed = [each for each, content in zip(object_ids, contents, strict=True) if content is None]
        others = iter(self._packed_objects(packed) if packed else ())
        return [next(others) if content is None else content for content in contents]

    def _loose(self, object_id: str) -> bytes | None:
        try:
            data = (self.folder / "objects" / object_id[:2] / object_id[2:]).read_bytes()
        except FileNotFoundError:
            return None
        return zlib.decompress(data).partition(b"\0")[2]

    def _packed_objects(self, object_ids: list[str]) -> Iterator[bytes]:
        output = self.run("cat-file", "--batch", stdin="".join(f"{each}\n" for each in object_ids).encode())
        at = 0
        for each in object_ids:
            end = output.index(b"\n", at)
            header = output[at:end].split()
            if len(header) != 3:
                raise HarnessError(f"object {each} is not in {self.folder.name}")
            start = end + 1
            at = start + int(header[2]) + 1
            yield output[start : at - 1]

    def tree(self, commit: str) -> str:
        """The tree of a commit."""
        return self.objects([commit])[0].partition(b"\n")[0].decode().removeprefix("tree ")

    def _entries(self, tree: str) -> Entries:
        content, found, at = self.objects([tree])[0], {}, 0
        while at < len(content):
            end = content.index(b"\0", at)
            mode, _, name = content[at:end].partition(b" ")
            at = end + 21
            found[name] = mode.decode(), content[end + 1 : at].hex()
        return found

    def changes(self, commit: str, parent: str | None) -> list[Change]:
        """What a commit changes against a parent, or all it holds."""
        before = self._entries(self.tree(parent)) if parent else {}
        return list(self._differing("", before, self._entries(self.tree(commit))))

    def _differing(self, place: str, before: Entries, after: Entries) -> Iterator[Change]:
        changed = [name for name in sorted(before.keys() | after.keys()) if before.get(name) != after.get(name)]
        for name in changed:
            path = f"{place}{name.decode()}"
            (old, old_id), (new, new_id) = before.get(name, GONE), after.get(name, GONE)
            if new == FOLDER and old not in (FOLDER, GONE[0]):
                yield Change(*GONE, path)
            if FOLDER in (old, new):
                inside = (self._entries(id) if mode == FOLDER else {} for mode, id in ((old, old_id), (new, new_id)))
                yield from self._differing(f"{path}/", *inside)
            if new != FOLDER and (old, new) != (FOLDER, GONE[0]):
                yield Change(new, new_id, path)

    def commit(
        self, reference: str, start: str | None, files: Mapping[str, bytes | None], message: str, user: str
    ) -> str:
        """Commit ``files`` (None removes one) on top of ``start`` and point ``reference`` at it; the new commit's id.

        One process does all of it, and nothing of a push is tried.
        """
        said = f"{message.strip()}\n".encode()
        who = f"{user.title()} <{user}@example.com> {int(time.time())} +0000"
        parts = [
            f"commit {reference}\nmark :1\nauthor {who}\ncommitter {who}\ndata {len(said)}\n".encode(),
            said,
            f"from {start}\n".encode() if start else b"",
        ]
        for path, content in files.items():
            place = path.encode()
            parts.append(
                b"D %b\n" % place
                if content is None
                else b"M 100644 inline %b\ndata %d\n%b\n" % (place, len(content), content)
            )
        parts.append(b"get-mark :1\ndone\n")
        # Loose objects, which are found without a process.
        options = ("-c", "fastimport.unpackLimit=100000")
        return self.git(*options, "fast-import", "--quiet", "--done", "--force", stdin=b"".join(parts)).strip()

    def has(self, object_id: str) -> bool:
        """Whether an object is there (as a loose object or in a pack)."""
        if (self.folder / "objects" / object_id[:2] / object_id[2:]).exists():
            return True
        if not any((self.folder / "objects" / "pack").glob("*.pack")):
            return False
        found = subprocess.run(
            ["git", "cat-file", "-e", object_id], cwd=self.folder, capture_output=True, env=ENVIRONMENT, check=False
        )
        return found.returncode == 0

    def write(self, kind: Kind, content: bytes) -> str:
        """Store an object as git does, and say its id."""
        data = f"{kind} {len(content)}\0".encode() + content
        object_id = hashlib.sha1(data, usedforsecurity=False).hexdigest()
        path = self.folder / "objects" / object_id[:2] / object_id[2:]
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(zlib.compress(data, 1))
        return object_id
