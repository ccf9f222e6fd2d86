"""A promise of speed that is printed as broken fails the bench, and one round of other work does not break it."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from itertools import chain, repeat
from typing import Any

import pytest

from dev.bench import __main__ as bench
from dev.bench import ledger
from dev.bench.promises import MOST_ROUNDS, ROUNDS, compared, measured


def test_time_that_other_work_added_is_measured_away(capsys: pytest.CaptureFixture[str]) -> None:
    ours = chain([9.0, 5.0, 4.0, 3.0, 2.0], repeat(9.0))
    assert measured("a of b", 2.0, ours.__next__, lambda: 1.0)
    assert capsys.readouterr().out == "kept     2.00 (at most 2.0)  a of b\n"
    assert next(ours) == 9.0  # it stopped where the bound was kept


def test_each_side_is_measured_several_times_at_least() -> None:
    ours, yardstick = chain([1.0] * ROUNDS, [0.0]), chain([1.0] * ROUNDS, [0.0])
    assert measured("a of b", 2.0, ours.__next__, yardstick.__next__)
    assert (next(ours), next(yardstick)) == (0.0, 0.0)


@pytest.fixture
def few_objects() -> Iterator[None]:
    """What other tests left would be looked through for garbage before each round."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("few_objects")
def test_what_stays_above_its_bound_is_broken(capsys: pytest.CaptureFixture[str]) -> None:
    runs: list[int] = []
    assert not compared("more of less", 0.5, lambda: runs.extend(sorted(range(9_999))), lambda: None)
    assert len(runs) == MOST_ROUNDS * 9_999
    assert capsys.readouterr().out.startswith("BROKEN")


@pytest.mark.parametrize("broken", [None, "consolidating", "growth", "detecting", "opening", "starting", "ledger"])
def test_the_quick_bench_fails_on_whatever_is_broken(broken: str | None, monkeypatch: Any) -> None:
    for name in ("consolidating", "opening"):
        monkeypatch.setattr(bench, name, lambda _, kept=name != broken: [True, kept])
    for name in ("growth", "detecting", "starting"):
        monkeypatch.setattr(bench, name, lambda *_, kept=name != broken: kept)
    monkeypatch.setattr(ledger, "measure", lambda _: broken != "ledger")
    assert bench.main(quick=True) == (0 if broken is None else 1)
