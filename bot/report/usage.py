"""What asking a model has cost, in words."""

from __future__ import annotations

from bot.classifier.usage import Usage


def told(usage: Usage) -> str:
    """One line on ``usage``."""
    if not usage.requests:
        return "asked no model: all of it was known"
    requests = f"{usage.requests:,} {'request' if usage.requests == 1 else 'requests'}"
    probing = f" ({usage.probing} of them to find out what the endpoint can do)" if usage.probing else ""
    tokens = f"{usage.tokens_in:,} tokens in ({usage.tokens_cached:,} cached), {usage.tokens_out:,} out"
    cost = usage.cost
    price = "" if cost is None or usage.prices is None else f", {cost:.4f} {usage.prices.currency}"
    return f"asked a model: {requests}{probing}, {tokens}{price}"
