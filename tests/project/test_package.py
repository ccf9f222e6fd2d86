"""What is released: a wheel and a source distribution that build the same package."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest

from tests.factories import REPOSITORY
from tools.project_urls import ProjectUrls

ADDRESS = "https://github.com/example/incumbent"


def build(source: Path, into: Path, *targets: str, repository: str) -> None:
    """Build ``targets`` of ``source`` as ``pyproject.toml`` says, without the network."""
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(into)]
    command += [word for target in targets for word in ("--target", target)]
    environment = os.environ | {"INCUMBENT_REPOSITORY": repository}
    subprocess.run(command, cwd=source, env=environment, check=True, capture_output=True)


def content(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def metadata(wheel: Path) -> Message:
    (name,) = (name for name in content(wheel) if name.endswith(".dist-info/METADATA"))
    return Parser().parsestr(content(wheel)[name].decode())


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both, as the release workflow builds them."""
    folder = tmp_path_factory.mktemp("released")
    build(REPOSITORY, folder, "sdist", "wheel", repository=ADDRESS)
    return folder


def one(folder: Path, pattern: str) -> Path:
    (found,) = folder.glob(pattern)
    return found


def test_the_wheel_has_the_package_its_type_marker_and_what_init_writes(released: Path) -> None:
    names = set(content(one(released, "*.whl")))
    assert {name.partition("/")[0] for name in names} == {"bot", "incumbent-0.1.0.dist-info"}
    assert "bot/py.typed" in names
    for name in ("taxonomy.yaml", "curation.yaml", "incumbent.yml", "CODEOWNERS"):
        assert f"bot/setup_files/{name}" in names
    tracked = subprocess.run(["git", "ls-files", "bot"], cwd=REPOSITORY, check=True, capture_output=True, text=True)
    assert set(tracked.stdout.split()) - names == set()


def test_the_source_distribution_builds_the_same_wheel(released: Path, tmp_path: Path) -> None:
    with tarfile.open(one(released, "*.tar.gz")) as archive:
        archive.extractall(tmp_path, filter="data")
    build(one(tmp_path, "incumbent-*"), tmp_path / "again", "wheel", repository="")
    first, second = (content(one(folder, "*.whl")) for folder in (released, tmp_path / "again"))
    assert first == second


def test_the_addresses_are_those_of_the_repository_that_releases(
    released: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    urls = dict(line.split(", ", 1) for line in metadata(one(released, "*.whl")).get_all("Project-URL", []))
    assert urls["Source"] == ADDRESS
    assert all(url.startswith(ADDRESS) for url in urls.values())
    monkeypatch.delenv("INCUMBENT_REPOSITORY", raising=False)
    without: dict[str, object] = {}
    ProjectUrls(str(REPOSITORY), {}).update(without)
    assert without == {"urls": {}}
