"""What people and other programs see changes only on purpose.

``INCUMBENT_GOLDEN=update`` writes the files anew.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden import chat, commands, faults, stories
from tests.golden.golden import FILES, Case, difference

CASES = [*commands.CASES, *faults.CASES, *chat.CASES, *stories.CASES]


@pytest.fixture(scope="session")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("golden")


@pytest.fixture(scope="module", autouse=True)
def _environment(work: Path) -> object:
    """A terminal of one width, a cache of its own, and nothing that tells of a user, a token or a job."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("GITHUB_TOKEN", "GH_TOKEN", "GITHUB_REPOSITORY", "GITHUB_ACTIONS", "NO_COLOR", "FORCE_COLOR"):
            patch.delenv(name, raising=False)
        for name, value in {"COLUMNS": "100", "TERM": "xterm", "INCUMBENT_CACHE": str(work / "cache")}.items():
            patch.setenv(name, value)
        yield


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_is_seen_is_what_was_agreed_to(case: Case, work: Path) -> None:
    found = difference(case, work)
    if found:
        pytest.fail(f"{found}\nif this is meant: INCUMBENT_GOLDEN=update python -m pytest tests/golden", pytrace=False)


def test_every_file_is_of_a_case() -> None:
    found = {path.relative_to(FILES).as_posix() for path in FILES.rglob("*") if path.is_file()}
    assert found == {case.name for case in CASES}
