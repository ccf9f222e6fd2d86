"""What is carried, as rests and ends, against plain sets of masks on thousands of random cases."""

from __future__ import annotations

import random

import pytest
from hypothesis import settings

from bot.rater.profile import Capabilities, CarriedCombinations, Novelty, Profile, counted, spelled_out
from tests.factories import make_config

CASES = settings().max_examples * 10
NAMES = [f"c{number}" for number in range(7)]


def drawn(draw: random.Random, capabilities: Capabilities) -> Profile:
    held = draw.sample(NAMES, draw.randint(0, len(NAMES)))
    return capabilities.profile("x", (), {name: draw.choice((0.2, 0.5, 0.9)) for name in held})


@pytest.mark.parametrize("novelty", ["signature", 1, 2, 3])
def test_it_is_what_sets_of_all_combinations_say(novelty: Novelty) -> None:
    draw = random.Random(7)
    for _ in range(CASES):
        base = frozenset(draw.sample(NAMES, draw.randint(0, 2)))
        capabilities = Capabilities(NAMES, make_config(novelty=novelty).under(base, frozenset()))
        carried, plain = CarriedCombinations(novelty), set[int]()
        for _ in range(draw.randint(0, 6)):
            asked, member, first = (drawn(draw, capabilities) for _ in range(3))
            missing = asked.combinations - plain
            lacking = carried.lacking(asked.combined)
            assert (spelled_out(lacking), counted(lacking)) == (missing, len(missing))
            if not missing:
                opening = 0
                for bit in (1 << place for place in range(len(NAMES))):
                    mask = capabilities.combined(asked.signature | bit, asked.caps | bit)
                    other = Profile("y", "", (), (), (), mask, mask, 0, 0.0, mask, novelty, None, -1, None)
                    opening |= bit if other.combinations - plain else 0
                all_bits = capabilities.combinable((1 << len(NAMES)) - 1)
                assert carried.opened_by(all_bits, asked.combined) == opening
            carried.add(member.combined)
            plain |= capabilities.carried(member)
            before = carried.lacking(first.combined)
            grown = carried.copy()
            grown.add(first.combined)
            assert carried.lacking(first.combined) == before
            assert grown.lacking(first.combined) == []
