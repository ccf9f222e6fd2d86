"""Variants of a test: `make test` runs some of them, `make test-all` every one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

PARAMETERS = type(pytest.param())


def one_in(step: int, cases: Iterable[Any]) -> list[Any]:
    """The ``cases`` of a parametrised test, of which all but the first of every ``step`` are ``exhaustive``.

    A tuple is the values of several parameters, as without this.
    """
    return [case if place % step == 0 else _exhaustive(case) for place, case in enumerate(cases)]


def named(step: int, cases: Mapping[str, Any]) -> list[Any]:
    """The same of ``cases`` by their ids."""
    return one_in(step, [pytest.param(case, id=id) for id, case in cases.items()])


def _exhaustive(case: Any) -> Any:
    if isinstance(case, PARAMETERS):
        return pytest.param(*case.values, id=case.id, marks=[*case.marks, pytest.mark.exhaustive])
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.exhaustive)
