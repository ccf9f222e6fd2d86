"""Addresses of GitHub's server, by the environment of a run."""

from __future__ import annotations

import pytest

from bot.github.addresses import page_of_run, server_of


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, "https://github.com"),
        ({"GITHUB_SERVER_URL": "https://git.example"}, "https://git.example"),
        ({"GITHUB_SERVER_URL": "https://git.example/"}, "https://git.example"),
    ],
)
def test_the_server_has_no_slash_at_its_end(environment: dict[str, str], expected: str) -> None:
    assert server_of(environment) == expected


@pytest.mark.parametrize("run", ["", "1/../2", "x"])
def test_only_a_number_leads_to_a_run(run: str) -> None:
    assert page_of_run("acme/platform", {"GITHUB_RUN_ID": run}) is None


def test_the_page_of_a_run() -> None:
    environment = {"GITHUB_SERVER_URL": "https://git.example/", "GITHUB_RUN_ID": "12"}
    assert page_of_run("acme/platform", environment) == "https://git.example/acme/platform/actions/runs/12"
