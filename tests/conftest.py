"""What holds for all tests: how long a drawn example takes is measured in `bench/`, and asserted nowhere.

By default examples are drawn anew each time.  A gate has to say the same twice: with `--hypothesis-profile=gate`, as
`.ci/run` has it, the same are drawn each time, and fewer.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

from bot.masking import mask_by
from bot.personal_data.detector import Detector

settings.register_profile("incumbent", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("gate", settings.get_profile("incumbent"), derandomize=True, max_examples=40)
settings.load_profile("incumbent")


@pytest.fixture(autouse=True)
def _masks_of_no_platform() -> Iterator[None]:
    """What one test opens says nothing of what another masks."""
    yield
    mask_by(Detector())


def pytest_configure(config: pytest.Config) -> None:
    """Hypothesis draws constants of the modules that are loaded; a gate's examples must not hang on which those are."""
    if config.getoption("--hypothesis-profile", default=None) == "gate":
        none = Constants()
        providers._get_local_constants = lambda: none
