"""What holds for all tests: how long a drawn example takes is measured in `dev/bench/`, and asserted nowhere.

By default examples are drawn anew each time.  A gate has to say the same twice: with `--hypothesis-profile=gate`, as
`make test` and `.ci/run` have it, the same are drawn each time, and fewer.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Generator, Iterator
from fnmatch import fnmatch
from functools import _lru_cache_wrapper
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

from dev.times import PROCESSOR_SECONDS
from incumbent.text.masking import mask_by
from incumbent.text.personal_data.detector import Detector

settings.register_profile("incumbent", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("gate", settings.get_profile("incumbent"), derandomize=True, max_examples=15)
# mutmut runs many sessions in copies of one process, which hypothesis takes for a fault of the tests.
settings.register_profile(
    "mutants",
    settings.get_profile("gate"),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.differing_executors],
)
settings.load_profile("incumbent")

LEVELS: Final = {
    "e2e": ("e2e/*",),
    "model": ("model/*",),
    "integration": (
        *("github/test_command_times.py", "text/test_personal_data_times.py"),
        *("cli/*", "fuzz/*", "hostile/*", "mcp_server/*", "project/*", "runners/*", "site/browser/*"),
        *("classifier/attacks/*", "classifier/test_batches.py", "classifier/test_embedded_*.py"),
        *("classifier/test_hostile_endpoint.py", "classifier/test_language_model.py"),
        *("classifier/test_shipped_taxonomy.py", "triage/test_out.py"),
        *("git/test_working_copy.py", "git/test_store.py", "intake/test_real_packages.py"),
    ),
    "unit": ("*",),
}
"""The level of each test, by its file below this folder; the first that fits (tests/README.md)."""


LONGEST: Final = (
    *("e2e/test_action.py", "e2e/test_groups.py", "e2e/test_suggestions.py", "e2e/test_ticks.py"),
    *("e2e/test_overlap.py", "e2e/test_reconcile.py", "e2e/test_requests.py", "e2e/test_offers_beside.py"),
    *("e2e/test_offers.py", "e2e/test_crash.py", "e2e/test_first_contact.py", "e2e/test_tokens.py"),
    "site/browser/test_pages.py",
    *("triage/test_cluster.py", "cli/test_triage.py", "mcp_server/test_http.py", "project/test_docs.py"),
    *("hostile/test_attacks.py", "cli/test_interrupts.py", "mcp_server/test_stdio.py", "model/test_backend.py"),
    *("golden/test_golden.py", "hostile/test_folders.py", "mcp_server/test_leaving.py", "reconcile/test_model.py"),
)
"""The files that take longest: they begin, or one worker would be left alone with them."""


def place_of(path: Path) -> str:
    """The name of the file at ``path`` below this folder."""
    return path.relative_to(Path(__file__).parent).as_posix()


def level_of(path: Path) -> str:
    """The level of the tests in the file at ``path``."""
    place = place_of(path)
    return next(level for level, patterns in LEVELS.items() if any(fnmatch(place, each) for each in patterns))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """`-m unit` reads the files of that level alone: reading all of them takes longer than running these."""
    asked = config.option.markexpr
    if asked not in LEVELS or not collection_path.match("test_*.py"):
        return None
    # Files of unit tests may hold tests that are integration tests by their own mark.
    return None if level_of(collection_path) in {asked, "unit" if asked == "integration" else asked} else True


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort the longest to the front, and mark each test with its level, unless it has another by its own mark."""
    ranks = {place: rank for rank, place in enumerate(LONGEST)}
    items.sort(key=lambda item: ranks.get(place_of(item.path), len(LONGEST)))
    for item in items:
        if not any(item.get_closest_marker(level) for level in LEVELS):
            item.add_marker(level_of(item.path))
        # Tracing doubles the time of a test, and what properties reach is covered by tables of cases.
        if is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker("untraced")


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Coverage sees nothing of a test that is ``untraced``.

    The mark ``no_cover`` of pytest-cov ends no tracing in a worker of pytest-xdist.
    """
    if not item.config.getoption("--cov", default=None) or not item.get_closest_marker("untraced"):
        return (yield)
    tracer = sys.gettrace()
    sys.settrace(None)
    try:
        return (yield)
    finally:
        sys.settrace(tracer)


BEGUN: Final = pytest.StashKey[float]()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """Note what processor time this process and those it waited for have taken so far."""
    item.stash[BEGUN] = sum(os.times()[:4])
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """Say in the file of ``--junitxml`` what the test has taken of it, from which `dev/times.py` makes a table."""
    try:
        return (yield)
    finally:
        item.user_properties.append((PROCESSOR_SECONDS, round(sum(os.times()[:4]) - item.stash[BEGUN], 2)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One process more than processors: for a quarter of their time tests wait for servers, browsers and commands."""
    return (os.cpu_count() or 1) + 1


NEW_OBJECTS: Final = 50_000
"""As many are made before garbage is looked for, as in a process of ``incumbent``."""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Modules and tests live to the end: no search for garbage goes through them, while they are loaded or later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(NEW_OBJECTS)
        gc.enable()


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache of fitted models for all processes of the session, apart from the user's own."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    cache = folder / "cache-of-all"
    cache.mkdir(exist_ok=True)
    return cache


@pytest.fixture(autouse=True)
def _masks_of_no_platform() -> Iterator[None]:
    """What one test opens says nothing of what another masks."""
    yield
    mask_by(Detector())


def pytest_configure(config: pytest.Config) -> None:
    """Hypothesis draws constants of the modules that are loaded; a gate's examples must not hang on which those are."""
    if config.getoption("--hypothesis-profile", default=None) in ("gate", "mutants"):
        none = Constants()
        providers._get_local_constants = lambda: none
    if config.getoption("--hypothesis-profile", default=None) == "mutants":
        _forget_answers()


def _forget_answers() -> None:
    """A mutant is tried in a copy of a process that ran the same tests: what is cached there would hide it."""
    for name, module in [*sys.modules.items()]:
        if name.startswith(("incumbent.consolidator.", "incumbent.rater.", "incumbent.curator.")):
            for known in vars(module).values():
                if isinstance(known, _lru_cache_wrapper):
                    known.cache_clear()
