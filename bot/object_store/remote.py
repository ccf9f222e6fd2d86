"""Fetching from a remote repository, with a token that nobody gets to see."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Callable, Collection, Mapping

from bot.errors import OutsideError, UsageError
from bot.object_store.process import REASON_LENGTH, GitProcess, environment, is_id, is_ref_name

PLACE = "refs/incumbent/"
"""Where fetched commits are kept."""
PAUSES = (1.0, 4.0, 16.0)
"""Seconds before each further attempt."""

_FETCH = ("fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-auto-maintenance", "--no-write-fetch-head")
_ADDRESS = re.compile(r"https?://[!-.0-?A-~]+(/[!-~]*)?|(file://)?/[^\0]+")
_NOT_THERE = re.compile(r"(?:not our ref|unadvertised object|couldn't find remote ref) (\S+)")
_HOPELESS = re.compile(r"Authentication failed|could not read Username|error: (30.|40[134])\b|not found|not allowed")


class RemoteError(Exception):
    """A remote repository that does not answer as it should; another attempt may succeed."""


def fetch(
    git: GitProcess,
    url: str,
    refs: Mapping[str, str],
    token: str | None,
    optional: Collection[str],
    sleep: Callable[[float], None],
) -> dict[str, str]:
    """See :meth:`bot.object_store.ObjectStore.fetch`."""
    if not _ADDRESS.fullmatch(url):
        raise UsageError("there is no fetching from this address: give https://HOST/PATH, without user and password")
    for local, remote in refs.items():
        known = is_id(remote) or remote == "HEAD" or (remote.startswith("refs/") and is_ref_name(remote))
        if not known or not is_ref_name(f"{PLACE}{local}"):
            raise UsageError(f"{remote!r} cannot be fetched as {local!r}: name a reference (refs/…) or a commit id")
    # Credentials that the repository's own configuration keeps would go along: an empty value drops them.
    header = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    key = f"http.{url}.extraheader"
    secret = environment((key, ""), (key, f"Authorization: Basic {header}")) if token else environment()
    reason = ""
    for pause in (*PAUSES, None):
        try:
            return _attempt(git, url, refs, secret, optional)
        except RemoteError as error:
            reason = str(error)
        for hidden in (header, token) if token else ():
            reason = reason.replace(hidden, "***")
        if pause is None or _HOPELESS.search(reason):
            break
        sleep(pause)
    names = ", ".join(sorted(set(refs.values())))
    raise OutsideError(
        f"cannot fetch {names} from {url}: {reason[-REASON_LENGTH:]}; check the network and the token, and run again"
    )


def _attempt(
    git: GitProcess, url: str, refs: Mapping[str, str], secret: Mapping[str, str], optional: Collection[str]
) -> dict[str, str]:
    named = sorted({remote for remote in refs.values() if not is_id(remote)})
    missing: set[str] = set()
    if named:
        status, listed, reason = git.run("ls-remote", "--quiet", "--", url, *named, environment=secret)
        if status:
            raise RemoteError(reason)
        rows = [os.fsdecode(row).partition("\t") for row in listed.split(b"\n")]
        there = {name: commit for commit, _, name in rows}
        missing = set(named) - there.keys()
        known = {local: there[remote] for local, remote in refs.items() if remote in there}
        if known and all(remote in there or local in optional for local, remote in refs.items()) and _has(git, known):
            return known
    while True:
        wanted = {local: remote for local, remote in sorted(refs.items()) if remote not in missing}
        absent = sorted({remote for local, remote in refs.items() if remote in missing and local not in optional})
        if absent:
            raise OutsideError(f"{url} has no {', '.join(absent)}: check that it was not deleted, and run again")
        if not wanted:
            return {}
        # Without the whole history there would be no common ancestors.
        shallow = git.ask("rev-parse", "--is-shallow-repository").strip() == b"true"
        depth = "--unshallow" if shallow else "--update-shallow"
        specs = [f"+{remote}:{PLACE}{local}" for local, remote in wanted.items()]
        status, _, reason = git.run(*_FETCH, depth, "--", url, *specs, environment=secret)
        if status == 0:
            return {local: git.ask_id(f"{PLACE}{local}^{{commit}}") for local in wanted}
        # An id is found missing only now, and a reference may have gone since it was listed.
        gone = _NOT_THERE.search(reason)
        if gone is None or gone[1] not in wanted.values():
            raise RemoteError(reason)
        missing.add(gone[1])


def _has(git: GitProcess, known: Mapping[str, str]) -> bool:
    """Whether branches were fetched before as they are ``known`` to be now, with their whole history."""
    if git.ask("rev-parse", "--is-shallow-repository").strip() == b"true":
        return False
    listed = git.ask("for-each-ref", "--format=%(refname) %(objectname) %(objecttype)", PLACE)
    present = set(listed.decode("ascii", "replace").splitlines())
    return all(f"{PLACE}{local} {commit} commit" in present for local, commit in known.items())
