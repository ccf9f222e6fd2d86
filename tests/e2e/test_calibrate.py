"""``incumbent calibrate --pull-request`` on GitHub: one pull request, people's own branch of main left as it is."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from unittest.mock import patch

import pytest
import yaml

from incumbent.cli.main import run
from incumbent.ledger.model import BRANCH
from tests.cli.test_calibrate import CAPABILITY, answers
from tests.e2e.bot import platform_files
from tests.e2e.harness.people import CURATOR, token_of
from tests.e2e.harness.world import World

pytestmark = pytest.mark.exhaustive
CONFIG = "config/curation.yaml"


def calibrate(world: World, clone: Path) -> int:
    environment = {
        "GITHUB_API_URL": world.url,
        "GITHUB_SERVER_URL": world.url,
        "GITHUB_REPOSITORY": world.full_name,
        "GITHUB_TOKEN": token_of(CURATOR),
    }
    with patch.dict(os.environ, environment):
        return run(["calibrate", "--repo", str(clone), "--pull-request"])


def test_it_offers_once_what_people_close_or_merge(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = world.push("main", platform_files())
    world.push(BRANCH, answers(base))
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", f"{world.url}/{world.full_name}", str(clone)], check=True)

    assert calibrate(world, clone) == 0
    (pull,) = world.pages("/pulls")
    assert pull["head"]["ref"].startswith("incumbent-calibration/")
    assert f"`{CAPABILITY}` competence_bar: 0.5 -> 0.7" in pull["body"]
    offered = world.read(pull["head"]["ref"], CONFIG)
    assert offered is not None
    assert yaml.safe_load(offered)["per_capability"][CAPABILITY] == {"competence_bar": 0.7}
    assert world.head("main") == base

    assert calibrate(world, clone) == 0
    assert f"#{pull['number']} offers the same already" in capsys.readouterr().err
    assert len(world.pages("/pulls")) == 1

    world.close(pull["number"])
    assert calibrate(world, clone) == 0
    assert "was closed unmerged" in capsys.readouterr().err
    assert world.pages("/pulls") == []
