"""What ``incumbent candidates --json`` says of a candidate."""

from __future__ import annotations

import json

from bot.extension.model import DistinctiveTrait, DraftExemplar, Member, Signal, Trait
from bot.report.candidates import CandidatesOutput
from bot.text.masking import masked_json
from bot.text.secrets import STAND_IN
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
