"""What asking a model has cost: requests, tokens, and money where prices are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bot.config import Prices

_PER: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Requests sent, retries and probing included, and tokens as the endpoint counted them.

    ``tokens_cached`` are those of ``tokens_in`` that the endpoint had cached; ``probing`` are the requests that only
    found out what the endpoint can do.  ``prices`` are per million tokens.
    """

    requests: int = 0
    probing: int = 0
    tokens_in: int = 0
    tokens_cached: int = 0
    tokens_out: int = 0
    prices: Prices | None = None

    @property
    def tokens(self) -> int:
        """Tokens in and out."""
        return self.tokens_in + self.tokens_out

    @property
    def cost(self) -> float | None:
        """Money, in the currency of the prices; ``None`` without prices."""
        if self.prices is None:
            return None
        fresh = self.tokens_in - self.tokens_cached
        per_million = (
            fresh * self.prices.input + self.tokens_cached * self.prices.cached + self.tokens_out * self.prices.output
        )
        return per_million / _PER
