"""The local clone: its commit, whose time replaces the clock, its changes and branches, git's user, and a new commit.

A new commit is on a branch that is not checked out: the working tree and its index stay as they are.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from incumbent.errors import OutsideError, UsageError
from incumbent.files.git.process import GitProcess, is_ref_name, library, moment_of, refused
from incumbent.text.compare import seconds

_OWNER_AND_NAME = re.compile(
    r"(?:(?:https?|ssh|git)://[^/]+/|[^/:@]+@[^/:]+:)([A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+?)(?:\.git)?/?"
)
_NOTHING = "0" * 40
_BRANCHES = ("refs/heads/", "refs/remotes/origin/")


@dataclass(frozen=True, slots=True)
class Head:
    """The commit that is checked out: its id, its time (ISO 8601, UTC), and git's configured user, if any."""

    commit: str
    at: str
    user: str | None


def read_head(folder: Path) -> Head:
    """The commit checked out in the repository of ``folder``.

    Raises :class:`UsageError` without a repository or a commit, :class:`OutsideError` if git fails.
    """
    repository = _opened(folder)
    if repository is None:
        raise UsageError(
            f"{folder} is not inside a git repository, so there is no commit to take the time from; "
            "run `git init` and commit"
        )
    commit = _asked(lambda: str(repository.git.rev_parse("--verify", "--quiet", "HEAD^{commit}")), quiet=True)
    if not commit:
        # If git cannot read the repository, this raises its reason; if HEAD has no commit, git is silent.
        _asked(lambda: repository.git.status("--porcelain", "--untracked-files=no"))
        raise UsageError(f"the git repository of {folder} has no commit yet, so there is no time to record; commit")
    seconds = _asked(lambda: str(repository.git.show("--no-patch", "--format=%ct", commit)))
    at = moment_of(commit, seconds)
    name = _asked(lambda: str(repository.git.config("--get", "user.name")), quiet=True)
    return Head(commit, at, name or None)


def _opened(folder: Path) -> Any:
    """The repository of ``folder``; ``None`` without one."""
    git = library()
    try:
        return git.Repo(folder, search_parent_directories=True)
    except (git.InvalidGitRepositoryError, git.NoSuchPathError):
        return None


def _asked(question: Callable[[], str], quiet: bool = False) -> str:
    """git's answer, empty if ``quiet`` and git exits with 1; raises :class:`OutsideError` for any other failure."""
    git = library()
    try:
        return question()
    except git.GitCommandError as error:
        if quiet and error.status == 1:
            return ""
        reason = str(error.stderr).strip().removeprefix("stderr:").strip(" '\n")
        raise OutsideError(f"git failed: {reason or error}; fix this and run again") from None
    except git.GitCommandNotFound:
        raise OutsideError("git is missing: install it") from None


def read_commit(folder: Path, name: str) -> str:
    """The id of the commit ``name`` (an id, a branch, ``HEAD~1``) in the repository of ``folder``.

    The repository must exist (:func:`read_top`).  Raises :class:`UsageError` for an unknown commit.
    """
    repository = library().Repo(folder, search_parent_directories=True)
    words = ("--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    commit = _asked(lambda: str(repository.git.rev_parse(*words)), quiet=True)
    if not commit:
        raise UsageError(f"unknown commit {name!r} in {folder}; for example HEAD~1")
    return commit


def read_changed(folder: Path, base: str) -> frozenset[str]:
    """The files below ``folder``, relative to it, that changed since the common ancestor of ``HEAD`` and ``base``.

    Uncommitted changes and new files count; ignored files do not.  The repository must exist (:func:`read_top`).
    Raises :class:`UsageError` if ``base`` is an unknown commit.
    """
    commit = read_commit(folder, base)
    here = library().Git(folder)
    left = _asked(lambda: str(here.merge_base(commit, "HEAD")), quiet=True) or commit
    options = ("--name-only", "-z", "--relative", "--no-renames", "--no-ext-diff", "--no-textconv")
    differing = _asked(lambda: str(here.diff(*options, left, "--", ".")))
    new = _asked(lambda: str(here.ls_files("-z", "--others", "--exclude-standard", "--", ".")))
    return frozenset(filter(None, f"{differing}\0{new}".split("\0")))


def read_remote(folder: Path) -> str | None:
    """``OWNER/NAME`` of the remote ``origin`` of the repository of ``folder``; ``None`` without one."""
    repository = _opened(folder)
    if repository is None:
        return None
    return owner_and_name(_asked(lambda: str(repository.git.config("--get", "remote.origin.url")), quiet=True))


def read_top(folder: Path) -> Path | None:
    """The top folder of the repository of ``folder``; ``None`` without a repository.

    Raises :class:`UsageError` for a bare repository.
    """
    repository = _opened(folder)
    if repository is None:
        return None
    if repository.working_tree_dir is None:
        raise _bare(folder)
    return Path(repository.working_tree_dir)


def refuse_bare(folder: Path) -> None:
    """Raise :class:`UsageError` if ``folder`` is a bare repository or a ``.git`` folder; does not run git."""
    if (folder / "HEAD").is_file() and (folder / "config").is_file() and (folder / "objects").is_dir():
        raise _bare(folder)


def _bare(folder: Path) -> UsageError:
    return UsageError(f"{folder} is a bare repository: clone it, and go on in the clone")


def read_conflicts(folder: Path) -> tuple[str, ...]:
    """Files below ``folder`` with an unresolved conflict, from a merge for example; none without git or repository."""
    try:
        git = library()
    except OutsideError:
        return ()
    try:
        listed = str(git.Git(folder).ls_files("--unmerged", "-z"))
    except (git.GitCommandError, git.GitCommandNotFound):
        return ()
    # One row for each side of a file: mode, object and side, a tab, the path.
    return tuple(dict.fromkeys(side.partition("\t")[2] for side in listed.split("\0") if side))


def read_branches(folder: Path) -> tuple[str, ...]:
    """The local branches of the repository of ``folder`` and those of ``origin``, even a branch without a commit."""
    repository = _opened(folder)
    if repository is None:
        return ()
    listed = _asked(lambda: str(repository.git.for_each_ref("--format=%(refname)", *_BRANCHES))).splitlines()
    listed.append(_asked(lambda: str(repository.git.symbolic_ref("--quiet", "HEAD")), quiet=True))
    names = {name.removeprefix(place) for name in listed for place in _BRANCHES if name.startswith(place)}
    return tuple(sorted(names - {"HEAD"}))


def is_pushed(folder: Path, commit: str) -> bool:
    """Whether a remote branch that the repository of ``folder`` knows contains ``commit``."""
    repository = library().Repo(folder, search_parent_directories=True)
    words = ("--count=1", f"--contains={commit}", "refs/remotes/")
    return bool(_asked(lambda: str(repository.git.for_each_ref(*words)), quiet=True))


def owner_and_name(address: str) -> str | None:
    """``OWNER/NAME`` in a repository's ``address`` (https, ssh, or scp's form); ``None`` for a folder."""
    found = _OWNER_AND_NAME.fullmatch(address)
    return found[1] if found else None


def commit_on_branch(
    folder: Path, branch: str, parent: str | None, files: Mapping[str, str | None], message: str, at: str, author: str
) -> str:
    """Commit ``files`` on top of ``parent`` and let the local ``branch`` point there; the id of the commit.

    ``folder`` is the top of the working tree.  A file whose content is ``None`` is deleted; without a ``parent`` the
    branch begins with these files.  ``at`` is the time in the commit (ISO 8601; git knows none before 1970), and
    ``author`` the name.  Raises :class:`OutsideError` if git fails, or if the branch has commits that ``parent`` does
    not have: they would be lost.
    """
    reference = f"refs/heads/{branch}"
    if not is_ref_name(reference):
        raise refused("update-ref", f"{branch!r} cannot be the name of a branch")
    repository = library().Repo(folder)
    process = GitProcess(repository.git, Path(repository.git_dir))
    status, known, _ = process.run("rev-parse", "--verify", "--quiet", reference)
    before = "" if status else known.decode().strip()
    if before and (parent is None or process.run("merge-base", "--is-ancestor", before, parent)[0]):
        raise OutsideError(
            f"the branch {branch} here has commits that would be lost: another command wrote to it, or it and that of "
            "the remote went apart; run this again, or push or merge it first"
        )
    with tempfile.TemporaryDirectory() as scratch:
        tree = _tree(process, Path(scratch), parent, files)
    name = author.replace("<", " ").replace(">", " ").strip() or "incumbent"
    # Of years git reads few, and takes others for something else; of seconds it reads all from 0.
    date = f"@{max(0, int(seconds(at)))} +0000"
    made = process.run(
        *("commit-tree", tree, *(("-p", parent) if parent else ()), "-m", message),
        environment={
            f"GIT_{who}_{what}": value
            for who in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", name), ("EMAIL", ""), ("DATE", date))
        },
    )
    if made[0]:
        raise refused("commit-tree", made[2])
    commit = made[1].decode().strip()
    status, _, reason = process.run("update-ref", reference, commit, before or _NOTHING)
    if status:
        raise OutsideError(f"the branch {branch} was moved meanwhile, or cannot be written ({reason}); run this again")
    return commit


def _tree(process: GitProcess, scratch: Path, parent: str | None, files: Mapping[str, str | None]) -> str:
    """Write ``files`` over those of ``parent``; the id of the tree."""
    index = {"GIT_INDEX_FILE": str(scratch / "index")}

    def step(*arguments: str) -> str:
        status, output, reason = process.run(*arguments, environment=index)
        if status:
            raise refused(arguments[0], reason)
        return output.decode().strip()

    step("read-tree", *(("--empty",) if parent is None else (f"{parent}^{{tree}}",)))
    for path, text in sorted(files.items()):
        if text is None:
            step("update-index", "--force-remove", "--", path)
            continue
        content = scratch / "content"
        content.write_bytes(text.encode("utf-8"))
        blob = step("hash-object", "-w", "--no-filters", "--", str(content))
        step("update-index", "--add", "--cacheinfo", f"100644,{blob},{path}")
    return step("write-tree")
