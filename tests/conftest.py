"""What holds for all tests: how long a drawn example takes is measured in `bench/`, and asserted nowhere."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("incumbent", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("incumbent")
