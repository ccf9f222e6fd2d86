"""A sample of the attacks through the command line: what people see, and how the command ends."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from incumbent.cli.main import run
from tests.factories import REPOSITORY
from tests.hostile.judging import SECRET, place
from tests.hostile.templates import folder_of
from tests.hostile.test_attacks import ATTACKS, TEMPLATES
from tests.hostile.test_folders import CASES

_EVERY = 23
"""Of the attacks, and of the folders, so many apart are tried: the rest is tried below the command line."""


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory, shared_cache: Path) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("platform")
    for part in ("config", "taxonomy"):
        shutil.copytree(REPOSITORY / "tests" / "service_desk" / part, folder / part)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("INCUMBENT_CACHE", str(shared_cache))
        yield folder


def ends_well(folder: Path, platform: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A review of ``folder`` gives verdicts, or says what is wrong; with ``--json`` as well."""
    for more in ((), ("--json",)):
        code = run(["review", str(folder), "--repo", str(platform), *more])
        said = capsys.readouterr()
        assert code in (0, 1), said.err
        assert "Traceback" not in said.err + said.out
        assert SECRET not in said.err
        assert "\x1b" not in said.err + said.out
        if code:
            assert "fix: " in said.err + said.out
        if more and said.out:
            json.loads(said.out)


@pytest.mark.parametrize("number", range(0, len(ATTACKS), _EVERY), ids=lambda number: ascii(ATTACKS[number].name)[:60])
def test_an_attack(number: int, tmp_path: Path, platform: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = ((template, ATTACKS[number].make(template)) for template in TEMPLATES[number % len(TEMPLATES) :] + TEMPLATES)
    template, content = next((template, content) for template, content in made if content is not None)
    place(tmp_path / "brought", folder_of(template, content))
    ends_well(tmp_path / "brought", platform, capsys)


@pytest.mark.parametrize("number", range(0, len(CASES), _EVERY), ids=lambda number: ascii(CASES[number].name)[:60])
def test_a_folder(number: int, tmp_path: Path, platform: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place(tmp_path / "brought", CASES[number].files)
    ends_well(tmp_path / "brought", platform, capsys)
