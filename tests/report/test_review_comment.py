"""What the regression set loses, in words that fit on a pull request."""

from __future__ import annotations

from incumbent.curator.losses import losses
from incumbent.report.review_comment import render_no_longer_true
from tests.factories import make_config, make_taxonomy, resident

NAMES = tuple("abcdefghijkl")


def test_a_long_list_is_cut_and_the_rest_is_counted() -> None:
    found = losses({"x"}, [resident("x", dict.fromkeys(NAMES, 0.9))], make_config(redundancy_floor=2))
    lines = render_no_longer_true({"x": found}, make_taxonomy(*NAMES)).splitlines()
    shown = [line for line in lines if line.startswith("- ")]
    assert len(shown) == 11
    assert shown[0] == "- *A* has 0 competent coverers without `x`: short of 2"
    assert shown[-1] == "- and 4 more"
