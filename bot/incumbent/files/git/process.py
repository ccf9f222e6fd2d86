"""Runs git with explicit settings only, isolated from the configuration of the user and the machine."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import threading
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from incumbent.errors import IncompleteError, OutsideError, UsageError

OUTPUT_BYTES = 64 * 2**20
"""Maximum output of one git command: a few objects can describe a tree that would fill any memory."""
REASON_LENGTH = 500
"""Maximum number of characters of git's error output that an error quotes, from its end."""

_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "file:http:https",
    "GIT_ASKPASS": "",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_PARAMETERS": "",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
# A redirect could send the token to another host.  A remote that sends nothing for a minute is given up.
_CONFIG = (
    ("core.hooksPath", os.devnull),
    ("credential.helper", ""),
    ("http.followRedirects", "false"),
    ("http.lowSpeedLimit", "1"),
    ("http.lowSpeedTime", "60"),
)
# These print git's requests, which contain the token.  GIT_CURL_VERBOSE works with any value, so it must be unset.
# GitPython passes on all variables, so it runs only the commands that read local objects, without a trace.
_TRACES = re.compile(r"GIT_TRACE\w*|GIT_CURL_VERBOSE|GIT_REDIRECT_STD\w+")
_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_NOT_IN_REFS = re.compile(r"[\0- \x7f~^:?*\[\\\ud800-\udfff]|\.\.|@\{|\.lock(/|\Z)|\.\Z")


def is_id(text: str) -> bool:
    """Whether ``text`` is a full object id, which git cannot take for anything else."""
    return _ID.fullmatch(text) is not None


def is_ref_name(text: str) -> bool:
    """Whether ``text`` is a valid name of a reference, by the rules of ``git check-ref-format``."""
    parts = text.split("/")
    return len(parts) > 1 and not _NOT_IN_REFS.search(text) and all(part and part[0] != "." for part in parts)


def checked(commit: str) -> str:
    """``commit`` if it is a full id; raises :class:`UsageError` otherwise."""
    if not is_id(commit):
        raise UsageError(f"{commit!r} is no id of a commit: give all of its 40 (or 64) digits")
    return commit


def environment(*more: tuple[str, str]) -> dict[str, str]:
    """Environment variables that replace all of git's settings; ``more`` are settings too secret for the arguments."""
    found = {**_ENVIRONMENT, "GIT_CONFIG_COUNT": str(len(_CONFIG) + len(more))}
    for number, (key, value) in enumerate((*_CONFIG, *more)):
        found |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return found


def _untraced() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not _TRACES.fullmatch(name)}


def damaged(object_id: str) -> OutsideError:
    """The error for an object that cannot be read."""
    return OutsideError(f"the object {object_id} is missing or damaged: fetch the repository anew")


def refused(command: str, reason: str) -> OutsideError:
    """The error for a ``command`` of git that fails."""
    return OutsideError(f"git {command} fails: {reason[-REASON_LENGTH:]}; check the repository, or fetch it anew")


def moment_of(commit: str, seconds: str | bytes) -> str:
    """The time of ``commit``, which git gives as ``seconds`` since 1970: ISO 8601 in UTC."""
    try:
        at = datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        raise OutsideError(f"the commit {commit} has a time that no calendar knows: amend its date") from None
    return at.isoformat(timespec="seconds").replace("+00:00", "Z")


def library() -> Any:
    """GitPython, imported late: few commands need git, and it is slow to load."""
    try:
        import git
    except ImportError:
        raise OutsideError("git is missing, or does not run: install it") from None
    return git


class GitProcess:
    """Runs git in the repository with the git folder ``folder``, through GitPython's ``process``."""

    def __init__(self, process: Any, folder: Path, output_bytes: int = OUTPUT_BYTES) -> None:
        self._process = process
        self._output_bytes = output_bytes
        # git neither searches for a folder given explicitly, nor refuses one that belongs to another user.
        self._folder = folder.resolve()
        self._environment = environment() | {"GIT_DIR": str(self._folder)}
        untraced = {name: "0" for name in os.environ if name.startswith("GIT_TRACE")}
        process.update_environment(**self._environment, **untraced)

    def run(
        self, *arguments: str, environment: Mapping[str, str] | None = None, given: bytes = b""
    ) -> tuple[int, bytes, str]:
        """Status, output, and error output on one line; :class:`IncompleteError` for too much output.

        What is ``given`` is its standard input; a command that is given something says little.
        """
        command = [self._process.GIT_PYTHON_GIT_EXECUTABLE, *arguments]
        try:
            process = subprocess.Popen(
                command,
                cwd=self._process.working_dir,
                env=_untraced() | self._environment | dict(environment or {}),
                stdin=subprocess.PIPE if given else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            raise refused(arguments[0], str(error.strerror)) from None
        complaints: list[bytes] = []
        with process as child:
            said, complained = child.stdout, child.stderr
            assert said is not None
            assert complained is not None
            # Read both pipes at the same time: git blocks if one of them is full.
            reader = threading.Thread(target=lambda: complaints.append(complained.read()))
            reader.start()
            if child.stdin is not None:
                with suppress(OSError):  # it has ended: its status says so
                    child.stdin.write(given)
                    child.stdin.close()
            output: bytes = said.read(self._output_bytes + 1)
            if len(output) > self._output_bytes:
                child.kill()
            reader.join()
            status: int = child.wait()
        if len(output) > self._output_bytes:
            raise IncompleteError(
                f"git {arguments[0]} says more than {self._output_bytes:,} bytes: make do with fewer files"
            )
        reason = " ".join(b"".join(complaints).decode("utf-8", "replace").split())
        reason = "".join(sign if sign.isprintable() else "\ufffd" for sign in reason)
        return status, output, reason or f"it ends with status {status}"

    def ask(self, *arguments: str) -> bytes:
        """The output; raises :class:`OutsideError` if git fails."""
        status, output, reason = self.run(*arguments)
        if status:
            raise refused(arguments[0], reason)
        return output

    def id_of(self, name: str) -> str | None:
        """The id of the object ``name``, an id or a full reference, as with ``^{tree}``; ``None`` without one here.

        It asks a persistent process, since to start one takes forty times as long.
        """
        try:
            return str(self._process.get_object_header(name)[0].decode("ascii"))
        except OSError:
            # The process has ended.
            self.close()
        except ValueError:
            # There is none, or it has a longer id than GitPython knows.
            pass
        status, output, _ = self.run("rev-parse", "--verify", "--quiet", name)
        return None if status else output.decode().strip()

    def shallow(self) -> set[str]:
        """The commits that were fetched without their parents, as git notes them; none if every history is whole."""
        try:
            shared = self._folder / "commondir"
            # A further working tree has a folder of its own, and most files in that of the repository.
            folder = self._folder / shared.read_text("utf-8").strip() if shared.exists() else self._folder
            noted = folder / "shallow"
            return set(noted.read_text("ascii").split()) if noted.exists() else set()
        except (OSError, UnicodeError) as error:
            raise refused("fetch", str(error)) from None

    def content(self, object_id: str, kind: Literal["blob", "commit"] = "blob") -> bytes:
        """The content of an object of this ``kind``, checked against its id; reads through a persistent process."""
        # GitPython's persistent process only knows the shorter ids.
        short = len(checked(object_id)) == 40
        try:
            data = self._process.get_object_data(object_id)[3] if short else self.ask("cat-file", kind, object_id)
        except (ValueError, OSError):
            data = b""
        digest = hashlib.new("sha1" if short else "sha256", usedforsecurity=False)
        digest.update(b"%s %d\0" % (kind.encode("ascii"), len(data)))
        digest.update(data)
        if digest.hexdigest() != object_id:
            # The process may have ended because of this.
            self.close()
            raise damaged(object_id)
        return bytes(data)

    def close(self) -> None:
        """End the persistent processes; reading starts others."""
        self._process.clear_cache()
