"""The description of a candidate's pull request."""

from __future__ import annotations

from bot.extension.model import DraftExemplar
from bot.report.candidates import render_candidate
from bot.report.pull_request_bodies import SHOWN
from bot.text.secrets import STAND_IN
from tests.extension.builders import make_candidate


def test_each_exemplar_is_told_with_its_source_before_the_queries() -> None:
    drawn = (
        DraftExemplar(turns=("zigzag", "and back"), source="acme/desk/7"),
        DraftExemplar(turns=("zigzag via https://admin:hunter2@db.example/",), source="acme/desk/8"),
    )
    body = render_candidate(make_candidate(positive=drawn))
    assert (
        "#### Exemplars drawn (2)\n\n"
        "| exemplar | from |\n"
        "| --- | --- |\n"
        "| `zigzag / and back` | `acme/desk/7` |\n"
        f"| `zigzag via https://{STAND_IN}@db.example/` | `acme/desk/8` |\n\n"
        "#### Queries (1)\n"
    ) in body


def test_of_many_exemplars_the_first_are_told() -> None:
    drawn = tuple(DraftExemplar(turns=(f"zigzag {number}",), source=f"c/a/{number}") for number in range(SHOWN + 2))
    body = render_candidate(make_candidate(positive=drawn))
    assert f"#### Exemplars drawn ({SHOWN + 2})" in body
    assert "| and 2 more | |" in body
