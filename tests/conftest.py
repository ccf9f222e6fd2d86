"""What holds for all tests: how long a drawn example takes is measured in `bench/`, and asserted nowhere.

By default examples are drawn anew each time.  A gate has to say the same twice: with `--hypothesis-profile=gate`, as
`.ci/run` has it, the same are drawn each time, and fewer.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("incumbent", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("gate", settings.get_profile("incumbent"), derandomize=True, max_examples=40)
settings.load_profile("incumbent")
