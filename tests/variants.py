"""Variants of a test: `make test` runs some of them, `make test-all` every one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

PARAMETERS = type(pytest.param())


def exhaustive(cases: Iterable[Any]) -> list[Any]:
    """These cases of a parametrised test, which `make test` leaves out.

    A tuple is the values of several parameters, as without this.
    """
    return [_marked(case) for case in cases]


def one_in(step: int, cases: Iterable[Any]) -> list[Any]:
    """These cases, of which `make test` runs the first of every ``step``."""
    return [case if place % step == 0 else _marked(case) for place, case in enumerate(cases)]


def _marked(case: Any) -> Any:
    if isinstance(case, PARAMETERS):
        return pytest.param(*case.values, id=case.id, marks=[*case.marks, pytest.mark.exhaustive])
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.exhaustive)
