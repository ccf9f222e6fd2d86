"""The cost of asking a model: requests, tokens, and money if prices are known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Final, TypeAlias

from pydantic import Field

from bot.config import Prices

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
