"""The script of the site is what its sources and pinned packages make."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.factories import REPOSITORY


@pytest.mark.integration
def test_the_script_is_made_of_its_sources() -> None:
    if shutil.which("npm") is None:
        pytest.skip("npm is not on PATH: install Node 20 or newer")
    command = ["sh", "dev/site/build.sh", "--check"]
    checked = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    if checked.returncode == 4:
        pytest.skip("the packages of dev/site/package-lock.json could not be installed")
    assert checked.returncode == 0, "run `sh dev/site/build.sh`: " + checked.stdout + checked.stderr
