"""What people bring, say and change: drawn from few values, so that clones, edits and ties are the rule."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.reconcile.people import CURATORS
from tests.reconcile.runs import CAPABILITIES, text_of

CUSTOMER = "mara"
ITEMS = tuple(f"q{place}" for place in range(1, 6))
WORDS = ("parcel", "invoice", "weather", "budget", "queue", "photo", "zip", "translate", "my", "jump", "echo", "tax")


def texts(*scores: float) -> st.SearchStrategy[str]:
    """Queries with these scores."""
    chosen = st.dictionaries(st.sampled_from(CAPABILITIES), st.sampled_from(scores), min_size=1, max_size=3)
    return st.builds(text_of, st.sampled_from(WORDS), chosen)


WIDE = st.builds(
    text_of, st.sampled_from(WORDS), st.fixed_dictionaries(dict.fromkeys("abc", st.sampled_from((0.7, 0.8))))
)
"""Queries that do the work of all of ``PAIRS``."""
TEXTS = st.one_of(*[texts(0.3, 0.45, 0.5, 0.55, 0.6, 0.7, 0.8, 0.9, 1.0)] * 3, WIDE)
OLD_TEXTS = texts(0.45, 0.5, 0.55, 0.6, 0.7)
BEST = [text_of(word, {name: 0.95}) for word, name in zip(("lamp", "moon", "fish"), "abc", strict=True)]
PAIRS = [
    text_of(word, dict.fromkeys(pair, 0.65))
    for word, pair in zip(("tree", "road", "wool"), ("ab", "bc", "ac"), strict=True)
]
CHANGES = st.tuples(st.sampled_from(("put", "put", "put", "delete", "rename")), st.sampled_from(ITEMS), TEXTS)
COMMANDS = st.tuples(
    st.sampled_from(("accept", "accept", "reject", "pin", "unpin")),
    st.integers(-1, 4),
    st.sampled_from((*CURATORS * 2, CUSTOMER, "eve")),
    st.booleans(),
)
"""A verb, which query (-1: all), who says it, and whether with a reason where none is needed."""
KNOBS: dict[str, tuple[Any, ...]] = {
    "ceiling": (8, 3, 4, 5, 12),
    "redundancy_floor": (0, 1, 2),
    "competence_bar": (0.5, 0.6, 0.75),
    "clone_cutoff": (0.9, 0.6, 1.0),
    "open_evictions": (6, 1, 10, 2),
    "open_repacks": (3, 1, 0),
    "group": (1, 2, 3, 50),
    "customer_share": (1.0, 0.5),
}
PLACES = st.integers(0, 7)
