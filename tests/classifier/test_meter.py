"""Budgets: what has been spent, and whether more may be."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from bot.classifier.language_model.budget import Meter
from bot.config import Budget
from bot.errors import IncompleteError


def test_what_is_left_shrinks_with_every_request_until_nothing_is() -> None:
    meter = Meter(Budget(requests=3, tokens=1_000), None)
    for _ in range(3):
        meter.check()
        meter.sending()
    with pytest.raises(IncompleteError, match="budget of 3 requests"):
        meter.check()
    with pytest.raises(IncompleteError, match="budget of 3 requests"):
        meter.sending()
    assert meter.usage.requests == 3


@pytest.mark.parametrize(("spent", "over"), [((900, 0, 99), False), ((900, 0, 100), True), ((2_000, 1_900, 0), True)])
def test_tokens_count_in_and_out_cached_ones_too(spent: tuple[int, int, int], over: bool) -> None:
    meter = Meter(Budget(requests=3, tokens=1_000), None)
    meter.received(*spent)
    if over:
        with pytest.raises(IncompleteError, match="budget of 1,000 tokens"):
            meter.check()
    else:
        meter.check()


def test_no_more_is_cached_than_was_sent() -> None:
    meter = Meter(Budget(requests=3, tokens=1_000), None)
    meter.received(10, 50, 1)
    assert (meter.usage.tokens_in, meter.usage.tokens_cached, meter.usage.tokens_out) == (10, 10, 1)


def test_probing_is_told_apart() -> None:
    meter = Meter(Budget(requests=9, tokens=1_000), None)
    meter.probe(True)
    meter.sending()
    meter.probe(False)
    meter.sending()
    assert (meter.usage.requests, meter.usage.probing) == (2, 1)


def test_counting_loses_nothing_among_threads() -> None:
    meter = Meter(Budget(requests=1_500, tokens=1_000), None)
    with ThreadPoolExecutor(8) as pool:
        sent = [pool.submit(meter.sending) for _ in range(2_000)]
    assert sum(future.exception() is None for future in sent) == meter.usage.requests == 1_500
