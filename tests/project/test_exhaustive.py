"""What has the mark ``exhaustive`` is left out by `make test`, and by nothing else that runs all tests."""

from __future__ import annotations

import re
import subprocess
from typing import Any

import pytest

from tests.factories import REPOSITORY
from tests.variants import exhaustive, one_in

LEFT_OUT = '-m "not exhaustive"'


def recipe(target: str) -> str:
    """What make would run."""
    command = ["make", "--dry-run", "--no-print-directory", target]
    return subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True, text=True).stdout


def test_make_test_leaves_out_what_ci_and_the_night_run() -> None:
    assert LEFT_OUT in recipe("test")
    assert recipe("test").replace(f" {LEFT_OUT} --hypothesis-profile=gate", "").split() == recipe("test-all").split()
    for place in (".ci/run", ".github/workflows/nightly.yml"):
        text = (REPOSITORY / place).read_text(encoding="utf-8")
        assert "make test-all" in text, place
        assert not re.search(r"make test(?![\w-])|not exhaustive", text), place


def run_by_make_test(cases: list[Any]) -> list[Any]:
    """The values of those that have no mark."""
    return [case for case in cases if not getattr(case, "marks", ())]


def test_the_first_of_every_so_many_cases_is_run() -> None:
    cases = one_in(3, [1, 2, pytest.param(3, id="three"), 4, (5, 6), 7])
    assert run_by_make_test(cases) == [1, 4]
    marked = [case for case in cases if case not in (1, 4)]
    assert [(case.values, case.id) for case in marked] == [((2,), None), ((3,), "three"), ((5, 6), None), ((7,), None)]
    assert {mark.name for case in marked for mark in case.marks} == {"exhaustive"}
    assert run_by_make_test([8, *exhaustive([9])]) == [8]
