"""Files of the product that go into other repositories lead to where its pages lie."""

from __future__ import annotations

import pytest

from bot.cli.documentation import product_files, without_own_paths

ACTION = "example/incumbent@0123456789012345678901234567890123456789"
ROOT = f"https://github.com/{ACTION.replace('@', '/blob/')}"
TEXT = "# Names: docs/configuration.md, config/paper.yaml.\na: 1 # docs/similarity.md\nconfig/curation.yaml\n"


@pytest.mark.parametrize("action", [None, "example/incumbent", "example/incumbent@", f"{ACTION}\n"])
def test_without_a_version_it_is_not_known_where_they_lie(action: str | None) -> None:
    assert product_files(action, {}) is None


def test_they_lie_on_the_server_of_the_action() -> None:
    assert product_files(ACTION, {}) == ROOT
    own = product_files(ACTION, {"GITHUB_SERVER_URL": "https://git.acme.example/"})
    assert own == ROOT.replace("github.com", "git.acme.example")


def test_paths_of_the_product_become_names_and_the_address_is_said_once() -> None:
    names = "# Names: Incumbent's configuration.md, Incumbent's paper.yaml.\n"
    rest = "a: 1 # Incumbent's similarity.md\nconfig/curation.yaml\n"
    assert without_own_paths(TEXT, None) == names + rest
    assert (
        without_own_paths(TEXT, ROOT) == f"{names}# Incumbent's pages: {ROOT}/docs (paper.yaml: {ROOT}/config)\n{rest}"
    )
    assert without_own_paths("a: 1\n", ROOT) == "a: 1\n"
