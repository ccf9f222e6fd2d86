"""A commit on a branch that is not checked out: the working tree and its index stay as they are."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from bot.errors import OutsideError
from bot.git.process import GitProcess, is_ref_name, library, refused

_NOTHING = "0" * 40


def commit_on_branch(
    folder: Path, branch: str, parent: str | None, files: Mapping[str, str | None], message: str, at: str, author: str
) -> str:
    """Commit ``files`` on top of ``parent`` and let the local ``branch`` point there; the id of the commit.

    ``folder`` is the top of the working tree.  A file whose content is ``None`` is deleted; without a ``parent`` the
    branch begins with these files.  ``at`` is the time (ISO 8601) and ``author`` the name in the commit.  Raises
    :class:`OutsideError` if git fails, or if the branch was moved meanwhile.
    """
    reference = f"refs/heads/{branch}"
    if not is_ref_name(reference):
        raise refused("update-ref", f"{branch!r} cannot be the name of a branch")
    repository = library().Repo(folder)
    process = GitProcess(repository.git, Path(repository.git_dir))
    status, known, _ = process.run("rev-parse", "--verify", "--quiet", reference)
    before = "" if status else known.decode().strip()
    with tempfile.TemporaryDirectory() as scratch:
        tree = _tree(process, Path(scratch), parent, files)
    name = author.replace("<", " ").replace(">", " ").strip() or "incumbent"
    made = process.run(
        *("commit-tree", tree, *(("-p", parent) if parent else ()), "-m", message),
        environment={
            f"GIT_{who}_{what}": value
            for who in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", name), ("EMAIL", ""), ("DATE", at))
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
