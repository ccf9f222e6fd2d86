"""The edge to git: addresses of remotes."""

from __future__ import annotations

from pathlib import Path

import git
import pytest

from bot.git import owner_and_name, read_remote


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("https://github.com/acme/platform", "acme/platform"),
        ("https://github.com/acme/platform.git", "acme/platform"),
        ("https://robin:x@github.com/acme/platform/", "acme/platform"),
        ("git@github.com:acme/platform.git", "acme/platform"),
        ("ssh://git@github.com:22/acme/my.platform", "acme/my.platform"),
        ("http://localhost:8080/acme/platform", "acme/platform"),
        ("/srv/git/acme/platform", None),
        ("file:///srv/acme/platform", None),
        ("../acme/platform", None),
        ("https://github.com/acme", None),
        ("https://github.com/a/b/c", None),
        ("", None),
    ],
)
def test_a_remotes_address_names_owner_and_repository(address: str, found: str | None) -> None:
    assert owner_and_name(address) == found


def test_without_a_repository_or_a_remote_there_is_none(tmp_path: Path) -> None:
    assert read_remote(tmp_path) is None
    repository = git.Repo.init(tmp_path / "r")
    assert read_remote(tmp_path / "r") is None
    repository.create_remote("origin", "git@github.com:acme/platform.git")
    repository.close()
    assert read_remote(tmp_path / "r") == "acme/platform"
