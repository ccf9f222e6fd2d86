"""One browser for the tests of a file, and one site for all of a process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from incumbent.site.audience import Audience
from incumbent.site.folder import write_folder
from tests.site.browser.chromium import browser_path, running, served
from tests.site.platforms import files_for

BELOW = "some/where"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The browser; while it runs, no other loop of events can run in this thread."""
    with running() as started:
        yield started


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the site of the example platform."""
    browser_path()  # without a browser there is no need of it
    place = tmp_path_factory.mktemp("served") / BELOW
    write_folder(place, files_for(Audience()).items())
    return place


@pytest.fixture(scope="session")
def base(folder: Path) -> str:
    """The address of that site, below a path."""
    return f"{served(folder.parents[1])}{BELOW}/"
