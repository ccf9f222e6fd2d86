"""Keep the two halves of a hosted repository in step: the bare git repository and the emulator's own object store.

Object ids come out identical; where they would not, the harness stops rather than test something that is not git.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from urllib.parse import quote

from tests.e2e.harness.bare import BareRepository, Change
from tests.e2e.harness.errors import HarnessError
from tests.e2e.harness.messages import Response

IDENTITY = re.compile(r"^(?P<name>.*?) ?<(?P<email>[^>]*)> (?P<seconds>\d+) (?P<zone>[+-]\d{4})$")

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
ENTRY = ("path", "mode", "type", "sha")

Ask = Callable[[str, str, Any], Response]
"""Ask the emulator as an administrator: method, path, data."""


class Twin:
    """One repository's two halves."""

    def __init__(self, ask: Ask, full_name: str, bare: BareRepository) -> None:
        self._ask = ask
        self._path = f"/repos/{full_name}"
        self.bare = bare
        self._known: set[str] = set()
        self._trees: dict[str, str] = {}
        """Of each commit that was carried over, its tree."""

    def call(self, method: str, path: str, data: Any = None) -> Any:
        """Ask the emulator about this repository; None where it is not there.

        Raises:
            HarnessError: any other refusal.

        """
        answer = self._ask(method, self._path + path, data)
        if answer.status == 404:
            return None
        if not answer.ok:
            raise HarnessError(f"{method} {self._path}{path}: {answer.status} {answer.body[:300]!r}")
        return answer.json

    # --- git to emulator -----------------------------------------------------------------------------------------

    def import_reference(self, name: str) -> None:
        """Carry a reference, or its absence, from git into the emulator."""
        short = quote(name.removeprefix("refs/"))
        tip = self.bare.resolve(name)
        current = self.call("GET", f"/git/ref/{short}")
        if tip is None:
            if current is not None:
                self.call("DELETE", f"/git/refs/{short}")
            return
        self.import_history(tip)
        if current is None:
            self.call("POST", "/git/refs", {"ref": name, "sha": tip})
        elif current["object"]["sha"] != tip:
            self.call("PATCH", f"/git/refs/{short}", {"sha": tip, "force": True})

    def import_history(self, tip: str) -> None:
        """Carry a commit and what it needs from git into the emulator."""
        if tip in self._known:
            return
        new = self.bare.history(tip, self._known)
        for commit, content in zip(new, self.bare.objects(new), strict=True):
            headers, _, message = content.decode().partition("\n\n")
            fields = [line.partition(" ")[::2] for line in headers.split("\n")]
            parents = [value for name, value in fields if name == "parent"]
            known = dict(fields)
            tree = self._trees[commit] = known["tree"]
            self._import_tree(commit, parents[0] if parents else None, tree)
            made = self.call(
                "POST",
                "/git/commits",
                {
                    "tree": tree,
                    "parents": parents,
                    "message": message,
                    "author": _identity(known["author"]),
                    "committer": _identity(known["committer"]),
                },
            )
            if made is None or made["sha"] != commit:
                raise HarnessError(f"commit {commit} came out of the emulator as {made}")
            self._known.add(commit)

    def _import_tree(self, commit: str, parent: str | None, expected: str) -> None:
        base = None
        if parent is not None:
            base = self._trees.get(parent) or self.bare.tree(parent)
        if base == expected:
            return
        changes = self.bare.changes(commit, parent)
        kept = [change for change in changes if change.mode not in {"000000", "160000"}]
        contents = dict(zip((each.object_id for each in kept), self._contents(kept), strict=True))
        entries = [self._entry(change, contents.get(change.object_id)) for change in changes]
        made = self.call("POST", "/git/trees", {"tree": entries} | ({"base_tree": base} if base else {}))
        if self.pruned(made["sha"]) != expected:
            raise HarnessError(f"tree {expected} of {commit} came out of the emulator as {made['sha']}")

    def pruned(self, tree: str) -> str:
        """The same tree of the emulator without empty folders, which it leaves behind, and git and GitHub do not."""
        entries = self.call("GET", f"/git/trees/{tree}?recursive=1")["tree"]
        if all(entry["sha"] != EMPTY_TREE for entry in entries):
            return tree
        kept = [{name: entry[name] for name in ENTRY} for entry in entries if entry["type"] != "tree"]
        return str(self.call("POST", "/git/trees", {"tree": kept})["sha"])

    def _contents(self, changes: list[Change]) -> list[bytes]:
        return self.bare.objects([change.object_id for change in changes]) if changes else []

    def _entry(self, change: Change, content: bytes | None) -> dict[str, Any]:
        if change.mode == "000000":
            return {"path": change.path, "mode": "100644", "type": "blob", "sha": None}
        if content is None:
            return {"path": change.path, "mode": change.mode, "type": "commit", "sha": change.object_id}
        entry = {"path": change.path, "mode": change.mode, "type": "blob"}
        try:
            return entry | {"content": content.decode()}
        except UnicodeDecodeError:
            encoded = {"content": base64.b64encode(content).decode(), "encoding": "base64"}
            return entry | {"sha": self.call("POST", "/git/blobs", encoded)["sha"]}

    # --- emulator to git -----------------------------------------------------------------------------------------

    def export_reference(self, name: str) -> None:
        """Carry a reference, or its absence, from the emulator into git."""
        found = self.call("GET", f"/git/ref/{quote(name.removeprefix('refs/'))}")
        if found is None:
            self.bare.set_reference(name, None)
        else:
            self.export_commit(found["object"]["sha"])
            self.bare.set_reference(name, found["object"]["sha"])

    def export_commit(self, commit: str) -> None:
        """Carry a commit and what it needs from the emulator into git."""
        if commit in self._known or self.bare.has(commit):
            return
        data = self.call("GET", f"/git/commits/{commit}")
        parents = [parent["sha"] for parent in data["parents"]]
        for parent in parents:
            self.export_commit(parent)
        self._export_tree(data["tree"]["sha"])
        message = data["message"] if data["message"].endswith("\n") else data["message"] + "\n"
        lines = [
            f"tree {data['tree']['sha']}",
            *(f"parent {parent}" for parent in parents),
            f"author {_stamp(data['author'])}",
            f"committer {_stamp(data['committer'])}",
        ]
        made = self.bare.write("commit", ("\n".join(lines) + "\n\n" + message).encode())
        if made != commit:
            raise HarnessError(f"commit {commit} of the emulator came out of git as {made}")
        self._known.add(commit)

    def _export_tree(self, tree: str) -> None:
        if self.bare.has(tree):
            return
        entries = self.call("GET", f"/git/trees/{tree}")["tree"]
        for entry in entries:
            if entry["type"] == "tree":
                self._export_tree(entry["sha"])
            elif entry["type"] == "blob" and not self.bare.has(entry["sha"]):
                self.bare.write("blob", base64.b64decode(self.call("GET", f"/git/blobs/{entry['sha']}")["content"]))
        ordered = sorted(entries, key=lambda entry: (entry["path"] + "/" * (entry["type"] == "tree")).encode())
        content = b"".join(
            f"{entry['mode'].lstrip('0')} {entry['path']}\0".encode() + bytes.fromhex(entry["sha"]) for entry in ordered
        )
        if self.bare.write("tree", content) != tree:
            raise HarnessError(f"tree {tree} of the emulator came out of git otherwise")


def _identity(line: str) -> dict[str, str]:
    """``Name <email> seconds zone`` as the API takes it."""
    found = IDENTITY.match(line)
    if found is None:
        raise HarnessError(f"not an identity: {line}")
    zone = found["zone"]
    offset = timedelta(hours=int(zone[1:3]), minutes=int(zone[3:5])) * (-1 if zone[0] == "-" else 1)
    when = datetime.fromtimestamp(int(found["seconds"]), timezone(offset))
    return {"name": found["name"], "email": found["email"], "date": when.isoformat()}


def _stamp(identity: dict[str, str]) -> str:
    """What the API says, as a commit has it."""
    when = datetime.fromisoformat(identity["date"].replace("Z", "+00:00"))
    zone = "+0000" if when.tzinfo is UTC else when.strftime("%z")
    return f"{identity['name']} <{identity['email']}> {int(when.timestamp())} {zone}"
