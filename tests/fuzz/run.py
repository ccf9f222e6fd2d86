"""Fuzzing with coverage: ``make fuzz SECONDS=600``.

An input is a line that names the template and the file that takes its file's place.  The reading itself is
:mod:`tests.fuzz.targets`; changes are made by :mod:`tests.fuzz.mutation`, and a third of them by libFuzzer itself.
Arguments go to libFuzzer: a folder to keep inputs in, ``-max_total_time=SECONDS`` and so on.  What fails is written to
a file ``crash-…`` beside, and can be given as the only argument to see it again.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from random import Random

import atheris

with atheris.instrument_imports(include=["incumbent"]):
    from incumbent.intake.agents.reader import bare_readers, whole_readers
    from incumbent.intake.eval_sets.reader import readers
    from tests.fuzz.mutation import mutate
    from tests.fuzz.seeds import joined, parted, seeds
    from tests.fuzz.targets import check

    # What is imported when it is first asked for is to be instrumented as well.
    readers()
    whole_readers()
    bare_readers()

MOST_SECONDS = 5.0
"""Of one reading twice over, under instrumentation."""


def one_input(data: bytes) -> None:
    """Read one input."""
    template, content = parted(data)
    began = time.process_time()
    check(template, content)
    took = time.process_time() - began
    assert took < MOST_SECONDS, f"{took:.1f} seconds"


def change(data: bytes, most: int, seed: int) -> bytes:
    """Another input, made of ``data``."""
    if seed % 3 == 0:
        changed: bytes = atheris.Mutate(data, most)
        return changed
    template, content = parted(data)
    return joined(template, mutate(template, content, Random(seed)))[:most]


def main() -> None:
    """Fuzz until libFuzzer has enough."""
    folders = [Path(argument) for argument in sys.argv[1:] if not argument.startswith("-")]
    if folders and not folders[0].is_file():
        folders[0].mkdir(parents=True, exist_ok=True)
        for number, (template, content) in enumerate(seeds()):
            (folders[0] / f"seed-{number:04}").write_bytes(joined(template, content))
    atheris.Setup(sys.argv, one_input, custom_mutator=change)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
