"""Counts what a run has spent, with several queries in flight, and whether it may spend more."""

from __future__ import annotations

import threading
from dataclasses import replace

from bot.classifier.usage import Usage
from bot.config import Budget, Prices
from bot.errors import IncompleteError


class Meter:
    """Counts requests and tokens against a ``budget``: no request exceeds it, and none begins once tokens do."""

    def __init__(self, budget: Budget, prices: Prices | None) -> None:
        self._budget = budget
        self._usage = Usage(prices=prices)
        self._probing = False
        self._lock = threading.Lock()

    @property
    def usage(self) -> Usage:
        """What has been spent up to now."""
        with self._lock:
            return self._usage

    def probe(self, probing: bool) -> None:
        """Set whether requests from now on only probe the endpoint's abilities."""
        self._probing = probing

    def sending(self) -> None:
        """Count a request, retries included; raises :class:`IncompleteError` instead of exceeding the budget."""
        with self._lock:
            if self._usage.requests >= self._budget.requests:
                raise self._used_up("requests", self._budget.requests)
            self._usage = replace(
                self._usage, requests=self._usage.requests + 1, probing=self._usage.probing + self._probing
            )

    def received(self, tokens_in: int, tokens_cached: int, tokens_out: int) -> None:
        """Count the tokens that the endpoint reported for one answer."""
        with self._lock:
            self._usage = replace(
                self._usage,
                tokens_in=self._usage.tokens_in + tokens_in,
                tokens_cached=self._usage.tokens_cached + min(tokens_cached, tokens_in),
                tokens_out=self._usage.tokens_out + tokens_out,
            )

    def check(self) -> int:
        """The number of requests left, at least one; raises :class:`IncompleteError` when a budget is used up."""
        usage = self.usage
        if usage.requests >= self._budget.requests:
            raise self._used_up("requests", self._budget.requests)
        if usage.tokens >= self._budget.tokens:
            raise self._used_up("tokens", self._budget.tokens)
        return self._budget.requests - usage.requests

    @staticmethod
    def _used_up(kind: str, size: int) -> IncompleteError:
        return IncompleteError(
            f"the run's budget of {size:,} {kind} is used up (classifier.openai.budget.{kind}); what is done is kept: "
            "run again, or raise the budget"
        )
