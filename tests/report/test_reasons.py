"""What the reason of a verdict says of the floor that a query fills."""

from __future__ import annotations

import pytest

from incumbent.consolidator.cycle import run_cycle
from incumbent.curator.store import RegressionSet
from incumbent.pipeline.review import Platform
from incumbent.report.verdict_text import PlainStyle, why
from tests.factories import make_config, make_taxonomy, query, resident
from tests.report.test_on_trial import Seen

TAXONOMY = make_taxonomy("a", "b")


@pytest.mark.parametrize(
    ("open_to_any", "customer", "words"),
    [
        ("", "globex", "A test by another customer, where there are too few: A 0.90 (1 test of 2)"),
        ("b", "globex", "A test by another customer, where there are too few: A 0.90 (1 test of 2)"),
        ("a", "globex", "A test, where there are too few: A 0.90 (1 test of 2)"),
        ("a", "acme", "A test, where there are too few: A 0.90 (1 test of 2)"),
    ],
)
def test_another_customer_is_named_only_where_it_has_to_be_one(open_to_any: str, customer: str, words: str) -> None:
    config = make_config(redundancy_floor=2).under(fill_from_any=frozenset(open_to_any))
    residents = [resident("r", {"a": 0.9}, customer="acme")]
    (verdict,) = run_cycle([query("q", {"a": 0.9}, customer=customer)], residents, config)
    platform = Platform(taxonomy=TAXONOMY, config=config, regression_set=RegressionSet({}, {}, {}))
    assert words in why(verdict, Seen(platform), PlainStyle(TAXONOMY))
