"""What an endpoint can do is found out by asking, and believed only where the answer bears it out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from incumbent.classifier.language_model.abilities import (
    BEST,
    LEAST,
    Abilities,
    Draw,
    Format,
    LengthKey,
    RememberedAbilities,
    find_out,
    parameters,
)
from incumbent.classifier.language_model.completions import ModelAnswer, Token
from tests.classifier.factories import openai_settings

FITTING = ModelAnswer('{"works": true}', (Token('{"works": true}', {"x": 0.0}),))
DRAW = Draw(messages=[{"role": "user", "content": "x"}], schema={"type": "object"}, samples=5, seed=3, tokens=70)


class Endpoint:
    """Takes what ``abilities`` say; does what it takes, unless it only ``pretends``."""

    def __init__(self, abilities: Abilities, pretends: frozenset[str] = frozenset(), lengths: int = 1) -> None:
        self.abilities = abilities
        self.pretends = pretends
        self.asked: list[Mapping[str, Any]] = []

    def __call__(self, asked: dict[str, Any], final: bool = False) -> Sequence[ModelAnswer] | None:
        self.asked.append(asked)
        known = self.abilities
        form = asked.get("response_format", {}).get("type", "plain")
        formats = {"json_schema": ("json_schema", "json_object", "plain"), "json_object": ("json_object", "plain")}
        if form not in formats.get(known.format, ("plain",)) and "format" not in self.pretends:
            return None
        if "n" in asked and not known.several and "several" not in self.pretends:
            return None
        if "logprobs" in asked and not known.log_probabilities and "log_probabilities" not in self.pretends:
            return None
        if "seed" in asked and not known.seed:
            return None
        if any(key in asked and key != known.length for key in ("max_tokens", "max_completion_tokens")):
            return None
        fits = form in formats.get(known.format, ("plain",)) and form != "plain"
        answer = FITTING if fits else ModelAnswer("Sure, it works!", FITTING.tokens)
        if not ("logprobs" in asked and known.log_probabilities):
            answer = ModelAnswer(answer.text)
        return [answer] * (asked.get("n", 1) if known.several else 1)

    def demand(self, asked: dict[str, Any]) -> Sequence[ModelAnswer]:
        found = self(asked)
        assert found is not None
        return found


FORMATS: tuple[Format, ...] = ("json_schema", "json_object", "plain")
LENGTHS: tuple[LengthKey | None, ...] = ("max_tokens", "max_completion_tokens", None)
ALL = [
    Abilities(format=form, several=several, log_probabilities=measured, seed=seed, length=length)
    for form, several, measured, seed, length in product(FORMATS, (True, False), (True, False), (True, False), LENGTHS)
]


@pytest.mark.parametrize(
    "abilities", ALL, ids=lambda item: "-".join(str(value) for value in item.model_dump().values())
)
def test_whatever_an_endpoint_can_do_is_found_out_in_few_requests(abilities: Abilities) -> None:
    endpoint = Endpoint(abilities)
    assert find_out(endpoint, endpoint.demand, 5) == abilities
    assert len(endpoint.asked) <= 12
    if abilities == BEST:
        assert len(endpoint.asked) == 1


@pytest.mark.parametrize("pretended", ["format", "several", "log_probabilities"])
def test_what_is_accepted_and_not_done_does_not_count(pretended: str) -> None:
    endpoint = Endpoint(LEAST, frozenset({pretended}))
    assert find_out(endpoint, endpoint.demand, 5) == LEAST


@pytest.mark.parametrize("text", ["[" * 50_000, '{"works": "yes"}', '{"works": true, "x": 1}', "null", None])
def test_an_answer_to_the_probe_that_does_not_fit_shows_nothing(text: str | None) -> None:
    def ask(asked: dict[str, Any], final: bool = False) -> Sequence[ModelAnswer]:
        return [ModelAnswer(text, FITTING.tokens)] * asked.get("n", 1)

    found = find_out(ask, ask, 5)
    assert (found.format, found.several, found.log_probabilities) == ("plain", True, True)


def test_a_refusal_of_what_everybody_knows_is_raised() -> None:
    def demand(asked: dict[str, Any]) -> Sequence[ModelAnswer]:
        raise LookupError(str(asked))

    with pytest.raises(LookupError):
        find_out(lambda asked, final: None, demand, 5)


@pytest.mark.parametrize(
    ("abilities", "expected"),
    [
        (LEAST, {}),
        (LEAST.model_copy(update={"several": True}), {"n": 5}),
        (LEAST.model_copy(update={"seed": True}), {"seed": 3}),
        (LEAST.model_copy(update={"length": "max_completion_tokens"}), {"max_completion_tokens": 70}),
        (LEAST.model_copy(update={"log_probabilities": True}), {"logprobs": True, "top_logprobs": 5}),
        (
            LEAST.model_copy(update={"format": "json_object"}),
            {"response_format": {"type": "json_object", "schema": DRAW.schema}},
        ),
        (
            LEAST.model_copy(update={"format": "json_schema"}),
            {
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "classification", "strict": True, "schema": DRAW.schema},
                }
            },
        ),
    ],
)
def test_only_what_the_endpoint_knows_is_sent(abilities: Abilities, expected: dict[str, Any]) -> None:
    assert parameters(DRAW, abilities) == {"messages": DRAW.messages} | expected


def test_what_was_found_is_remembered_as_long_as_the_config_says(tmp_path: Path) -> None:
    settings, days = openai_settings(abilities_days=2), 86_400
    memory = RememberedAbilities(tmp_path, clock=lambda: 1_000.0)
    assert memory.load(settings, 5) is None
    memory.store(settings, 5, BEST)
    assert [kept.abilities for kept in memory.learnt.values() if kept] == [BEST]
    for now, expected in ((1_000.0, BEST), (1_000.0 + 2 * days, BEST), (1_001.0 + 2 * days, None), (999.0, None)):
        assert RememberedAbilities(tmp_path, clock=lambda now=now: now).load(settings, 5) == expected  # type: ignore[misc]
    assert memory.load(settings, 4) is None
    assert memory.load(openai_settings(model="another"), 5) is None


@pytest.mark.parametrize("has_folder", [True, False])
def test_what_turned_out_to_be_wrong_is_forgotten(has_folder: bool, tmp_path: Path) -> None:
    settings, folder = openai_settings(), tmp_path if has_folder else None
    known = RememberedAbilities(folder)
    known.store(settings, 5, BEST)
    memory = RememberedAbilities(folder)
    memory.recall({key: kept for key, kept in known.learnt.items() if kept is not None})
    assert memory.load(settings, 5) == BEST
    memory.forget(settings, 5)
    assert memory.load(settings, 5) is None
    assert list(memory.learnt.values()) == [None]


def test_only_an_endpoint_with_every_ability_has_all() -> None:
    assert [item for item in ALL if item.is_all] == [BEST, BEST.model_copy(update={"length": "max_completion_tokens"})]
