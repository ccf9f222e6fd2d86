"""What is released: a wheel and a source distribution that build the same package, notes, and a container image."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest

from dev.project_urls import ProjectUrls
from dev.release_notes import main, notes
from tests.factories import REPOSITORY

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
    assert {name.partition("/")[0] for name in names} == {"incumbent", "incumbent-1.0.0.dist-info"}
    assert "incumbent/py.typed" in names
    for name in ("taxonomy.yaml", "curation.yaml", "incumbent.yml", "incumbent-pages.yml", "CODEOWNERS"):
        assert f"incumbent/pipeline/setup_files/{name}" in names
    tracked = subprocess.run(["git", "ls-files", "bot"], cwd=REPOSITORY, check=True, capture_output=True, text=True)
    assert {name.removeprefix("bot/") for name in tracked.stdout.split()} - names == set()


def test_it_works_beside_a_package_of_somebody_else_that_is_called_bot(released: Path, tmp_path: Path) -> None:
    foreign = tmp_path / "bot" / "__init__.py"
    foreign.parent.mkdir()
    foreign.write_text("WHOSE = 'theirs'\n", encoding="utf-8")
    wheel = str(one(released, "*.whl"))
    install = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    subprocess.run([*install, "--no-index", "--no-deps", "--target", str(tmp_path), wheel], check=True)
    code = "import bot, incumbent.cli.main as ours; print(bot.WHOSE, ours.__file__)"
    said = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert said.split() == ["theirs", str(tmp_path / "incumbent" / "cli" / "main.py")]


def test_the_wheel_is_small_without_the_fitted_model(released: Path) -> None:
    with zipfile.ZipFile(one(released, "*.whl")) as archive:
        packed = {item.filename: item.compress_size for item in archive.infolist()}
    fitted = sum(size for name, size in packed.items() if name.startswith("incumbent/classifier/embedded/fitted/"))
    assert not [name for name in packed if name.endswith(".bin")]
    assert one(released, "*.whl").stat().st_size - fitted <= 3_000_000


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


CHANGELOG = "# Changelog\n\n## [Unreleased]\n\nNext.\n\n## [1.2.0] - 2026-11-30\n\n- New.\n\n## [1.1.0]\n\n- Old.\n"


def test_the_notes_of_a_release_are_its_section_of_the_changelog() -> None:
    assert notes("v1.2.0", "1.2.0", CHANGELOG) == "- New.\n"


@pytest.mark.parametrize(
    ("tag", "version", "fault"),
    [
        ("v1.3.0", "1.2.0", "pyproject.toml has version 1.2.0"),
        ("v1.1.0", "1.1.0", r"give the section \[1.1.0\] a date"),
        ("v2.0.0", "2.0.0", r"rename \[Unreleased\] to \[2.0.0\] - YYYY-MM-DD"),
    ],
)
def test_a_tag_without_its_version_or_notes_is_refused(tag: str, version: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        notes(tag, version, CHANGELOG)


def test_the_changelog_of_this_repository_can_be_released(capsys: pytest.CaptureFixture[str]) -> None:
    """The section to release is there, and a tag of another version than the package's is refused."""
    text = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## \[(.*?)\]", text, re.MULTILINE)[0] == "Unreleased"
    assert notes("v9.0.0", "9.0.0", text.replace("## [Unreleased]", "## [9.0.0] - 2026-12-01"))
    assert main(["v9.0.0"]) == 1
    assert "the tag is v9.0.0" in capsys.readouterr().err


def test_the_image_pins_what_it_takes_and_runs_without_rights() -> None:
    text = (REPOSITORY / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    bases = re.findall(r"^FROM (\S+)", text, re.MULTILINE)
    assert len(bases) == 2
    assert all(re.fullmatch(r"python:3\.\d+\.\d+-slim-\w+@sha256:[0-9a-f]{64}", base) for base in bases)
    installs = re.findall(r"pip install (.*?)(?:&&|$)", text, re.MULTILINE)
    assert installs
    assert all("--require-hashes --only-binary :all: --no-deps" in each or "--no-index" in each for each in installs)
    assert re.findall(r"^USER (\d+)", text, re.MULTILINE)[-1] != "0"
    sent = {line[1:] for line in (REPOSITORY / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = {name for words in re.findall(r"^COPY (?!--from)(.*)", text, re.MULTILINE) for name in words.split()[:-1]}
    assert all((REPOSITORY / name).exists() for name in copied)
    assert all(any(name == each or name.startswith(f"{each}/") for each in sent) for name in copied)
