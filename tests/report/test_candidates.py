"""Candidates for a capability: what is printed of them, and the draft pull request of one."""

from __future__ import annotations

import json

from incumbent.extension.model import DistinctiveTrait, DraftExemplar, Member, Signal, Trait
from incumbent.report.candidates import CandidatesOutput, render_candidate
from incumbent.report.pull_request_bodies import SHOWN
from incumbent.text.masking import masked_json
from incumbent.text.secrets import STAND_IN
from tests.extension.builders import make_candidate

SECRET = "admin:hunter2secret"
TURN = f"zigzag https://{SECRET}@db.example/"
CLEAN = f"zigzag https://{STAND_IN}@db.example/"


def test_whatever_looks_like_a_secret_has_a_stand_in() -> None:
    candidate = make_candidate(
        name=TURN,
        description=TURN,
        members=(Member(id=TURN, customer="c", turns=("well", TURN), digest="0" * 24, signals=(Signal.FAR,)),),
        customers=(TURN,),
        telling=(DistinctiveTrait(**Trait("word", TURN)._asdict(), members=1, observed=1, expected=0.0, surprise=5.0),),
        positive=(DraftExemplar(turns=(TURN,), source=TURN),),
        negative=(DraftExemplar(turns=(TURN,), source="deeds.say"),),
    )
    text = masked_json(CandidatesOutput.of(1, [candidate], None).model_dump(mode="json"))
    assert "hunter2" not in text
    (found,) = json.loads(text)["candidates"]
    assert found["queries"][0]["turns"] == ["well", CLEAN]
    named = [found["name"], found["description"], found["positive"][0]["source"], found["customers"][0]]
    assert named == [CLEAN] * 4
    assert STAND_IN in found["telling"][0]["trait"]
    assert found["negative"][0]["turns"] == [CLEAN]


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
