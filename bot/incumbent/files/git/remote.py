"""Fetches from a remote repository, with a token that is never shown.

A fetch gets the commits and trees of the whole history, but only the contents of requested folders, in as few requests
as possible: the rest of the repository may be of any size.  A server without partial clones sends everything.
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from incumbent.errors import OutsideError, UsageError
from incumbent.files.git.process import REASON_LENGTH, GitProcess, environment, is_id, is_ref_name

PLACE = "refs/incumbent/"
"""The prefix of local references to fetched commits."""
PAUSES = (1.0, 4.0, 16.0)
"""Seconds before each further attempt."""

_FETCH = ("fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-auto-maintenance", "--no-write-fetch-head")
_NO_HAVES = ("-c", "fetch.negotiationAlgorithm=noop")
_REMOTE = "incumbent"
_WITHOUT_CONTENTS = "--filter=blob:none"
_MOST_AT_ONCE = 10_000
"""Maximum number of ids in one command: the system limits arguments to about two million bytes."""
MOST_PLACES = 200
"""Maximum number of paths, each of any length, in one command."""
_ADDRESS = re.compile(r"https?://[!-.0-?A-~]+(/[!-~]*)?|(file://)?/[^\0]+")
_NOT_THERE = re.compile(r"(?:not our ref|unadvertised object|couldn't find remote ref) (\S+)")
_HOPELESS = re.compile(r"Authentication failed|could not read Username|error: (30.|40[134])\b|not found|not allowed")


Result = TypeVar("Result")


class RemoteError(Exception):
    """A remote repository failed to answer correctly; another attempt may succeed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remote:
    """A repository to fetch from.

    ``partial`` fetches requested contents only, and marks the local repository as partial permanently.  ``alone`` are
    the commits that were fetched without their ancestors, and ``here`` is local name → commit of the last fetch.
    ``complete`` are the places, as (commit, path), whose contents are here; an empty path means all of them.
    """

    url: str
    token: str | None
    sleep: Callable[[float], None]
    partial: bool
    alone: set[str]
    here: dict[str, str]
    complete: set[tuple[str, str]]


def fetch(
    git: GitProcess, remote: Remote, refs: Mapping[str, str], optional: Collection[str], ends: Collection[str]
) -> dict[str, str]:
    """See :meth:`incumbent.files.git.ObjectStore.fetch`."""
    url = remote.url
    if not _ADDRESS.fullmatch(url):
        raise UsageError("there is no fetching from this address: give https://HOST/PATH, without user and password")
    for local, name in refs.items():
        known = is_id(name) or name == "HEAD" or (name.startswith("refs/") and is_ref_name(name))
        if not known or not is_ref_name(f"{PLACE}{local}"):
            raise UsageError(f"{name!r} cannot be fetched as {local!r}: name a reference (refs/…) or a commit id")
    wanted = ", ".join(sorted(set(refs.values())))
    return _repeat(remote, wanted, lambda secret: _attempt(git, remote, refs, secret, optional, ends))


def bring(git: GitProcess, remote: Remote, folders: Mapping[str, Sequence[str]]) -> None:
    """Fetch missing contents: for each commit in ``folders`` the given folders and files, or all if none is given."""
    missing: set[str] = set()
    left = {
        commit: [place for place in named or ("",) if remote.complete.isdisjoint({(commit, place), (commit, "")})]
        for commit, named in folders.items()
    }
    for commit, places in ((commit, lot) for commit, named in left.items() for lot in _lots(named)):
        options = ("--objects", "--no-object-names", "--missing=print", "--no-walk")
        # List the tree, not the commit: rev-list would skip a commit that does not change these places.
        listed = git.ask("rev-list", *options, f"{commit}^{{tree}}", "--", *places).decode("ascii").split()
        missing |= {name[1:] for name in listed if name.startswith("?")}
    ids = sorted(missing)
    for start in range(0, len(ids), _MOST_AT_ONCE):
        lot = ids[start : start + _MOST_AT_ONCE]
        _repeat(remote, f"{len(lot)} files", partial(_take, git, lot))
    remote.complete.update((commit, place) for commit, named in left.items() for place in named)


def _lots(places: Sequence[str]) -> list[list[str]]:
    """``places`` as git's pathspecs, in lots that fit into one command; an empty place, or lot, means everything."""
    if "" in places:
        return [[]]
    named = [f":(literal){place}" for place in places]
    return [named[start : start + MOST_PLACES] for start in range(0, len(named), MOST_PLACES)]


def _take(git: GitProcess, ids: Sequence[str], secret: Mapping[str, str]) -> None:
    # Without this option git would tell the server that a commit fetched alone is complete here.
    status, _, reason = git.run(*_NO_HAVES, *_FETCH, _WITHOUT_CONTENTS, _REMOTE, *ids, environment=secret)
    if status:
        raise RemoteError(reason)


def _repeat(remote: Remote, wanted: str, attempt: Callable[[Mapping[str, str]], Result]) -> Result:
    """Call ``attempt`` with an environment that contains the token, and retry errors that may be temporary."""
    url, token = remote.url, remote.token
    # An empty value drops credentials in the repository's own configuration, which git would send as well.
    header = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    key = f"http.{url}.extraheader"
    known = (f"remote.{_REMOTE}.url", url)
    secret = environment(known, (key, ""), (key, f"Authorization: Basic {header}")) if token else environment(known)
    reason = ""
    for pause in (*PAUSES, None):
        try:
            return attempt(secret)
        except RemoteError as error:
            reason = str(error)
        for hidden in (header, token) if token else ():
            reason = reason.replace(hidden, "***")
        if pause is None or _HOPELESS.search(reason):
            break
        remote.sleep(pause)
    raise OutsideError(
        f"cannot fetch {wanted} from {url}: {reason[-REASON_LENGTH:]}; check the network and the token, and run again"
    )


def _attempt(
    git: GitProcess,
    remote: Remote,
    refs: Mapping[str, str],
    secret: Mapping[str, str],
    optional: Collection[str],
    ends: Collection[str],
) -> dict[str, str]:
    url = remote.url
    named = sorted({name for name in refs.values() if not is_id(name)})
    missing: set[str] = set()
    known: dict[str, str] = {}
    # Each reference that is missing costs an attempt, unless one asks before.
    if named and (not remote.here.keys().isdisjoint(refs) or len(optional) > 1):
        status, listed, reason = git.run("ls-remote", "--quiet", "--", url, *named, environment=secret)
        if status:
            raise RemoteError(reason)
        rows = [os.fsdecode(row).partition("\t") for row in listed.split(b"\n")]
        there = {name: commit for commit, _, name in rows}
        missing = set(named) - there.keys()
        known = _unmoved(git, remote, {local: there[name] for local, name in refs.items() if name in there})
    while True:
        wanted = {local: name for local, name in sorted(refs.items()) if name not in missing and local not in known}
        absent = sorted({name for local, name in refs.items() if name in missing and local not in optional})
        if absent:
            raise OutsideError(f"{url} has no {', '.join(absent)}: check that it was not deleted, and run again")
        if not wanted:
            return known
        # Finding common ancestors needs the whole history.
        depth = "--unshallow" if is_shallow(git, remote.alone) else "--update-shallow"
        place = (_WITHOUT_CONTENTS, _REMOTE) if remote.partial else ("--", url)
        status, reason = 0, ""
        for lot, far in (([local for local in wanted if local not in ends], depth), (sorted(ends), "--depth=1")):
            specs = [f"+{wanted[local]}:{PLACE}{local}" for local in lot if local in wanted]
            if specs and status == 0:
                status, _, reason = git.run(*_FETCH, far, *place, *specs, environment=secret)
        if status == 0:
            ids = {local: git.id_of(f"{PLACE}{local}^{{commit}}") for local in wanted}
            found = {local: id for local, id in ids.items() if id is not None}
            if len(found) < len(wanted):
                raise RemoteError("what was fetched is no commit")
            remote.alone.update(commit for local, commit in found.items() if local in ends)
            remote.here.update(found)
            return known | found
        # A missing id is noticed only now, and a reference may have been deleted since it was listed.
        gone = _NOT_THERE.search(reason)
        if gone is None or gone[1] not in wanted.values():
            raise RemoteError(reason)
        missing.add(gone[1])


def is_shallow(git: GitProcess, alone: Collection[str] = ()) -> bool:
    """Whether the repository lacks the beginning of a history, other than those of commits fetched ``alone``."""
    return not git.shallow() <= set(alone)


def _unmoved(git: GitProcess, remote: Remote, there: Mapping[str, str]) -> dict[str, str]:
    """Those of the commits ``there``, by local name, that were fetched already under it, with all that was wanted."""
    if is_shallow(git, remote.alone):
        return {}
    return {local: commit for local, commit in there.items() if remote.here.get(local) == commit}
