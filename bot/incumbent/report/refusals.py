"""What is said of suggestions that are left out, since people refused them."""

from __future__ import annotations

from incumbent.curator.suggestions import Suggestions
from incumbent.ledger.clone import LocalRefusals
from incumbent.report.verdict_text import counted


def refusal_remarks(refused: LocalRefusals, found: Suggestions) -> tuple[str, ...]:
    """What to say below ``found``: how many suggestions it leaves out, or that nothing is known of refusals."""
    if refused.unknown is not None:
        return (f"what people refused on GitHub is unknown: {refused.unknown}",)
    held = refused.left_out(found)
    return (left_out_words(held),) if held else ()


def left_out_words(held: int) -> str:
    """What is said where ``held`` suggestions are left out."""
    return f"{counted(held, 'suggestion', 'suggestions')} left out: people refused"
