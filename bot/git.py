"""The thin edge to git: the commit at hand, whose time stands in for the clock, and the person at the keyboard."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bot.errors import UsageError


@dataclass(frozen=True, slots=True)
class Head:
    """The commit at hand: its id, its time (ISO 8601, UTC), and the user that git knows, if any."""

    commit: str
    at: str
    user: str | None


def read_head(folder: Path) -> Head:
    """The commit checked out in the repository that holds ``folder``; raises :class:`UsageError` without one."""
    # Imported here: only commands that write need git, and GitPython is slow to load.
    import git

    try:
        repository = git.Repo(folder, search_parent_directories=True)
        commit = repository.head.commit
    except (git.InvalidGitRepositoryError, git.NoSuchPathError):
        raise UsageError(
            f"{folder} is not inside a git repository, so there is no commit to take the time from; "
            "run `git init` and commit, or give --at TIME"
        ) from None
    except ValueError:
        raise UsageError(
            f"the git repository of {folder} has no commit yet, so there is no time to record; "
            "commit, or give --at TIME"
        ) from None
    at = datetime.fromtimestamp(commit.committed_date, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    name = repository.config_reader().get_value("user", "name", "")
    return Head(commit.hexsha, at, str(name) or None)
