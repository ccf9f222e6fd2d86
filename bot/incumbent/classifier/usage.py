"""The cost of asking a model: requests, tokens, and money if prices are known; and whether a run may spend more."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Annotated, Final, TypeAlias

from pydantic import Field

from incumbent.errors import IncompleteError
from incumbent.taxonomy.config import Budget, Prices

_PER: Final = 1_000_000
Count: TypeAlias = Annotated[int, Field(ge=0)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What asking has cost.

    Tokens are as the endpoint counted them; ``tokens_cached`` are among ``tokens_in``.  ``prices`` are per million.
    """

    requests: Annotated[Count, Field(description="requests sent, retries and probing included")] = 0
    probing: Annotated[Count, Field(description="requests that only found out what the endpoint can do")] = 0
    tokens_in: Count = 0
    tokens_cached: Annotated[Count, Field(description="tokens of prompts that were cached")] = 0
    tokens_out: Count = 0
    prices: Prices | None = None

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out

    @property
    def cost(self) -> float | None:
        """Money; null without prices."""
        if self.prices is None:
            return None
        fresh = self.tokens_in - self.tokens_cached
        per_million = (
            fresh * self.prices.input + self.tokens_cached * self.prices.cached + self.tokens_out * self.prices.output
        )
        return per_million / _PER

    @property
    def currency(self) -> str | None:
        """Of the money; null without prices."""
        return None if self.prices is None else self.prices.currency


def total(usages: Iterable[Usage | None]) -> Usage | None:
    """The sum of ``usages``, with prices only if all have the same; ``None`` for none."""
    found = [item for item in usages if item is not None]
    if not found:
        return None
    prices = {item.prices for item in found}
    return Usage(
        requests=sum(item.requests for item in found),
        probing=sum(item.probing for item in found),
        tokens_in=sum(item.tokens_in for item in found),
        tokens_cached=sum(item.tokens_cached for item in found),
        tokens_out=sum(item.tokens_out for item in found),
        prices=prices.pop() if len(prices) == 1 else None,
    )


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
