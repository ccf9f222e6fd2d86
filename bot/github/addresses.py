"""Addresses on the GitHub server of a run, from its environment."""

from __future__ import annotations

from collections.abc import Mapping


def server_of(environment: Mapping[str, str]) -> str:
    """The address of the server, without a trailing slash."""
    return environment.get("GITHUB_SERVER_URL", "https://github.com").rstrip("/")


def page_of_run(repository: str, environment: Mapping[str, str]) -> str | None:
    """The page of this run in ``repository`` (OWNER/NAME); ``None`` outside GitHub Actions."""
    run = environment.get("GITHUB_RUN_ID", "")
    return f"{server_of(environment)}/{repository}/actions/runs/{run}" if run.isdigit() else None
