"""What set-ups need that is not there, each thing once."""

from __future__ import annotations

import pytest

from incumbent.curator.provisions import to_provision
from incumbent.intake.query import Setup

FULL = Setup(tenant="t1", connectors=("orders", "cards"), fixtures=("week.json",))


@pytest.mark.parametrize(
    ("needed", "known", "told"),
    [
        ({}, [FULL], []),
        ({"q1": Setup(cost=9, attachments=("a.png",))}, [], []),
        (
            {"q1": FULL},
            [],
            ["tenant t1 q1", "connector orders q1", "connector cards q1", "fixture week.json q1"],
        ),
        ({"q1": FULL}, [FULL], []),
        (
            {"q1": FULL},
            [Setup(tenant="t1"), Setup(connectors=("cards",))],
            ["connector orders q1", "fixture week.json q1"],
        ),
        # One name of two kinds is two things.
        ({"q1": Setup(tenant="x")}, [Setup(connectors=("x",), fixtures=("x",))], ["tenant x q1"]),
        # Tenants come first, and each thing is named once with all that need it.
        (
            {"q1": Setup(fixtures=("f", "f")), "q2": Setup(tenant="t", fixtures=("g", "f"))},
            [],
            ["tenant t q2", "fixture f q1 q2", "fixture g q2"],
        ),
    ],
)
def test_what_is_needed_and_not_there_is_named_once(
    needed: dict[str, Setup], known: list[Setup], told: list[str]
) -> None:
    found = to_provision(needed, known)
    assert [" ".join([item.kind, item.name, *item.needed_by]) for item in found] == told
