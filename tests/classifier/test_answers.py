"""Which answers of a language model count, and the probabilities in them."""

from __future__ import annotations

import json
from collections import Counter
from math import log
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.classifier.language_model.answers import SampledCalls, Vote, agree_on_calls, finding_of, read_answer
from incumbent.classifier.language_model.completions import ModelAnswer, Token, answers_of, tokens_of
from incumbent.classifier.language_model.prompt import MOST_STEPS, STEPS_KEY, Asked
from incumbent.classifier.model import CalledTools, InferenceRequest
from incumbent.classifier.paths import probability
from tests.classifier.model_server import log_probabilities

ASKED = Asked(("call", "format.table"), "canary", (), True)
WITH_TOOLS = Asked(("call", "format.table"), "canary", ("get_bills", "get_boats"), True)
VOTES = Asked(("call", "format.table"), "canary", (), False)
GOOD: dict[str, Any] = {
    "call": {"exercised": True, "certainty": 90},
    "canary": {"exercised": False, "certainty": 100},
    "table": {"exercised": False, "certainty": 80},
}
PLAIN_VOTES = {"call": True, "canary": False, "table": False}


def read(value: object, asked: Asked = ASKED, *, prose: bool = False) -> Vote | str:
    text = value if isinstance(value, str) else json.dumps(value)
    return read_answer(ModelAnswer(text), asked, embedded_in_prose=prose)


def valid(value: object, asked: Asked = ASKED, *, prose: bool = False) -> Vote:
    vote = read(value, asked, prose=prose)
    assert isinstance(vote, Vote), vote
    return vote


def with_vote(value: object, name: str = "call") -> dict[str, Any]:
    return GOOD | {name: value}


def test_a_vote_with_its_certainty_is_a_probability_of_true() -> None:
    vote = valid(GOOD)
    assert vote.sample.votes == {"call": True, "format.table": False}
    assert vote.sample.probabilities == {"call": 0.9, "format.table": pytest.approx(0.2)}
    assert vote.sample.basis == "stated"
    assert (vote.canary, vote.calls) == (False, None)
    assert valid(with_vote({"exercised": True, "certainty": 90}, "canary")).canary


@pytest.mark.parametrize(
    ("exercised", "certainty", "probability"),
    [
        (True, 100, 1.0),
        (False, 100, 0.0),
        (True, 50, 0.5),
        (False, 50, 0.5),
        (True, 3, 0.5),
        (False, 0, 0.5),
        (True, 97.0, 0.97),
        (True, 0.0, 0.5),
        (False, 1, 0.5),
    ],
)
def test_a_certainty_never_contradicts_its_vote(exercised: bool, certainty: float, probability: float) -> None:
    vote = valid(with_vote({"exercised": exercised, "certainty": certainty}))
    assert vote.sample.probabilities["call"] == pytest.approx(probability)


def test_where_no_certainty_was_asked_for_the_votes_count() -> None:
    vote = valid(PLAIN_VOTES, VOTES)
    assert vote.sample.probabilities == {"call": 1.0, "format.table": 0.0}
    assert vote.sample.basis == "vote"


def scaled(certainty: object) -> dict[str, Any]:
    """A good answer with that certainty everywhere."""
    return {name: value | {"certainty": certainty} for name, value in GOOD.items()}


INVALID: list[Any] = [
    pytest.param("", id="empty"),
    pytest.param("Sure! The query calls a tool.", id="prose"),
    pytest.param(f"```json\n{json.dumps(GOOD)}\n```", id="fenced"),
    pytest.param(json.dumps(GOOD)[:-3], id="truncated"),
    pytest.param([GOOD], id="a list"),
    pytest.param("[" * 100_000, id="very deep"),
    pytest.param('{"a":' * 100_000, id="very deep objects"),
    pytest.param(" " * 300_000 + json.dumps(GOOD), id="far too long"),
    pytest.param({name: value for name, value in GOOD.items() if name != "call"}, id="a capability is missing"),
    pytest.param({name: value for name, value in GOOD.items() if name != "canary"}, id="the canary is missing"),
    pytest.param(GOOD | {"note": "x"}, id="a key too many"),
    pytest.param(GOOD | {"other": GOOD["call"]}, id="a capability too many"),
    pytest.param(with_vote({"exercised": "true", "certainty": 90}), id="a text for a boolean"),
    pytest.param(with_vote({"exercised": 1, "certainty": 90}), id="a number for a boolean"),
    pytest.param(with_vote({"certainty": 90}), id="no decision"),
    pytest.param(with_vote({"exercised": True, "certainty": 101}), id="too certain"),
    pytest.param(with_vote({"exercised": True, "certainty": -1}), id="too uncertain"),
    pytest.param(with_vote({"exercised": True, "certainty": "90"}), id="a text for a number"),
    pytest.param(with_vote({"exercised": True, "certainty": True}), id="a boolean for a number"),
    pytest.param(with_vote({"exercised": True, "certainty": None}), id="nothing for a number"),
    pytest.param(with_vote({"exercised": True, "certainty": [90]}), id="a list for a number"),
    pytest.param(with_vote({"exercised": True, "certainty": 0.97}), id="a share of 1"),
    pytest.param(with_vote({"exercised": True, "certainty": 97.5}), id="not a whole number"),
    pytest.param(with_vote({"exercised": True}), id="one certainty is missing"),
    pytest.param(with_vote({"exercised": False}, "table"), id="the last certainty is missing"),
    pytest.param(with_vote({"exercised": False}, "canary"), id="the canary's certainty is missing"),
    pytest.param(with_vote(True), id="a bare vote among certainties"),
    pytest.param({"call": True, "canary": False, "table": False}, id="bare votes where certainties were asked for"),
    pytest.param(scaled(1), id="certainties are shares of 1"),
    pytest.param(scaled(1.0), id="shares of 1 written as such"),
    pytest.param(with_vote({"exercised": True, "certainty": 90, "why": "x"}), id="an explanation"),
    pytest.param(with_vote("true"), id="a text for a vote"),
    pytest.param(with_vote(None), id="nothing for a vote"),
    pytest.param(json.dumps(GOOD).replace("90", "NaN"), id="NaN"),
    pytest.param(json.dumps(GOOD).replace("90", "1e999"), id="infinite"),
    pytest.param(json.dumps(GOOD).replace("90", "9" * 6_000), id="a number that is far too long"),
    pytest.param(json.dumps(GOOD)[:-1] + ', "call": true}', id="a key twice"),
]


@pytest.mark.parametrize("value", INVALID)
def test_what_does_not_fit_the_schema_is_no_answer(value: object) -> None:
    assert isinstance(read(value), str)


@pytest.mark.parametrize("value", [GOOD, PLAIN_VOTES | {"call": {"exercised": True}}, PLAIN_VOTES | {"call": 1}])
def test_what_was_not_asked_for_does_not_fit_either(value: object) -> None:
    assert isinstance(read(value, VOTES), str)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from([*GOOD, "x"]), inner),
    )
)
def test_no_json_is_taken_for_an_answer_by_half(value: object) -> None:
    found = read(value)
    assert isinstance(found, str) or set(found.sample.votes) == {"call", "format.table"}


@pytest.mark.parametrize("text", [None, ""])
def test_nothing_at_all_is_no_answer(text: str | None) -> None:
    assert read_answer(ModelAnswer(text), ASKED, embedded_in_prose=True) == "the answer was empty"


def test_an_answer_that_was_cut_off_or_refused_does_not_count_whatever_it_holds() -> None:
    assert read_answer(
        ModelAnswer(json.dumps(GOOD), fault="the answer was cut off"), ASKED, embedded_in_prose=False
    ) == ("the answer was cut off")


# Endpoints that cannot be held to JSON.


@pytest.mark.parametrize(
    "text",
    [
        "```json\n@\n```",
        "Let me think: { is a brace, {} is empty.\n@",
        '<think>perhaps {"call": true, ...}</think>@',
        "@",
        "@ I hope this helps { :-)",
    ],
)
def test_the_one_object_that_fits_is_found_in_prose(text: str) -> None:
    assert valid(text.replace("@", json.dumps(GOOD)), prose=True) == valid(GOOD)


def test_of_two_objects_that_fit_nobody_knows_which_is_the_answer() -> None:
    other = with_vote({"exercised": False, "certainty": 90})
    assert read(f"{json.dumps(GOOD)}\n{json.dumps(other)}", prose=True) == "the text held several answers"


@pytest.mark.parametrize("text", ["{" * 150_000, "{}" * 75_000, '{"a":' * 30_000 + "1" + "}" * 30_000])
def test_hostile_prose_ends_in_time(text: str) -> None:
    assert isinstance(read(text, prose=True), str)


# Log-probabilities.


def tokens(text: str, sure: float = 0.8) -> tuple[Token, ...]:
    return tuple(
        Token(item["token"], {each["token"]: each["logprob"] for each in item["top_logprobs"]})
        for item in log_probabilities(text, sure)
    )


@pytest.mark.parametrize(
    "value",
    [
        PLAIN_VOTES,
        GOOD,
        {name: {"certainty": 97.0, "exercised": item["exercised"]} for name, item in GOOD.items()},
    ],
)
def test_log_probabilities_of_true_and_false_are_the_firmest_basis(value: object) -> None:
    text = json.dumps(value)
    vote = read_answer(
        ModelAnswer(text, tokens(text)), VOTES if value is PLAIN_VOTES else ASKED, embedded_in_prose=False
    )
    assert isinstance(vote, Vote)
    assert vote.sample.basis == "log-probabilities"
    assert vote.sample.votes == {"call": True, "format.table": False}
    assert vote.sample.probabilities == pytest.approx({"call": 0.8, "format.table": 0.2})


def measured(*alternatives: dict[str, float], token: str = "true", before: str = "") -> float | str:
    """P(true) of a capability whose vote is ``token``, with these alternatives."""
    text = '{"call": ' + "true" + ', "canary": false, "table": false}'
    head, _, tail = text.partition("true")
    if before:
        head = head.removesuffix(before)
    parts = [Token(head, {head: 0.0}), Token(before + token, alternatives[0]), *tokens(tail)]
    vote = read_answer(ModelAnswer(text, tuple(parts)), VOTES, embedded_in_prose=False)
    assert isinstance(vote, Vote)
    return vote.sample.probabilities["call"] if vote.sample.basis == "log-probabilities" else vote.sample.basis


@pytest.mark.parametrize(
    ("alternatives", "before", "expected"),
    [
        ({"true": log(0.6), "false": log(0.4)}, "", 0.6),
        ({" true": log(0.6), " false": log(0.4)}, " ", 0.6),
        ({" true": log(0.5), " false": log(0.25), "true": log(0.25)}, " ", 0.75),
        ({"true": log(0.3), "false": log(0.1), "maybe": log(0.6)}, "", 0.75),
        ({"true": log(0.5)}, "", 0.75),
        ({"false": log(0.9)}, "", 0.05),
        ({"true": 0.0}, "", 1.0),
        ({"tr": log(0.6), "fal": log(0.4)}, "", 0.6),
        ({"true": 3.0}, "", 1.0),
        ({"maybe": log(0.9)}, "", "vote"),
        ({"": 0.0}, "", "vote"),
    ],
)
def test_probability_is_shared_between_true_and_false_alone(
    alternatives: dict[str, float], before: str, expected: float | str
) -> None:
    found = measured(alternatives, before=before)
    assert found == (expected if isinstance(expected, str) else pytest.approx(expected))


def test_tokens_that_are_not_those_of_the_text_are_not_believed() -> None:
    text = json.dumps(PLAIN_VOTES)
    vote = read_answer(ModelAnswer(text, tokens(text + " ")), VOTES, embedded_in_prose=False)
    assert isinstance(vote, Vote)
    assert vote.sample.basis == "vote"


def test_a_vote_that_cannot_be_placed_leaves_the_stated_certainties() -> None:
    text = json.dumps(GOOD).replace('"call"', '"c\\u0061ll"')
    vote = read_answer(ModelAnswer(text, tokens(text)), ASKED, embedded_in_prose=False)
    assert isinstance(vote, Vote)
    assert vote.sample.basis == "stated"


def test_what_is_quoted_beside_the_answer_lends_it_no_probability() -> None:
    quoted = '"call": true '
    text = quoted + json.dumps(PLAIN_VOTES | {"call": False})
    vote = read_answer(ModelAnswer(text, tokens(text)), VOTES, embedded_in_prose=True)
    assert isinstance(vote, Vote)
    assert vote.sample.basis == "log-probabilities"
    assert vote.sample.probabilities["call"] == pytest.approx(0.2)


# The tools that are called.


def with_steps(*steps: object) -> dict[str, Any]:
    return GOOD | {STEPS_KEY: list(steps)}


def step(id: str | None, certainty: float) -> dict[str, Any]:
    return {"id": id, "certainty": certainty}


@pytest.mark.parametrize(
    ("steps", "calls"),
    [
        pytest.param([step("T2", 80)], SampledCalls(0.8, ("get_boats",)), id="one tool"),
        pytest.param([step("T2", 80.0)], SampledCalls(0.8, ("get_boats",)), id="a whole number with a point"),
        pytest.param([step(None, 80)], SampledCalls(0.2, ()), id="no call"),
        pytest.param([step(None, 100)], SampledCalls(0.0, ()), id="no call for certain"),
        pytest.param([step("T1", 20)], SampledCalls(0.5, ("get_bills",)), id="a certainty contradicts no choice"),
        pytest.param([], SampledCalls(0.0, ()), id="nothing is asked for"),
        pytest.param(
            [step("T1", 60), step(None, 90), step("T2", 90)],
            SampledCalls(0.9, ("get_bills", "get_boats")),
            id="the surest step decides, and steps without a call are left out",
        ),
        pytest.param([step(None, 90)] * MOST_STEPS + [step("T1", 90)], SampledCalls(0.1, ()), id="too many steps"),
    ],
)
def test_an_answer_names_the_tool_of_each_step_or_none(steps: list[object], calls: SampledCalls) -> None:
    found = valid(with_steps(*steps), WITH_TOOLS).calls
    assert found is not None
    assert found.tools == calls.tools
    assert found.probability == pytest.approx(calls.probability)


@pytest.mark.parametrize(
    "value",
    [
        GOOD,
        with_steps(step("T3", 90)),
        with_steps(step("T1", 90), step("T3", 90)),
        with_steps(step("T1", 200)),
        with_steps(step("T1", 0.9)),
        with_steps({"id": "T1"}),
        with_steps({"id": None}),
        with_steps(step("T1", 90), {"id": "T2"}),
        with_steps({"id": "T1", "certainty": None}),
        with_steps({"id": "T1", "certainty": 90, "why": "x"}),
        with_steps({"id": "T1", "why": "x"}),
        with_steps({"certainty": 90}),
        with_steps(step(None, 200)),
        with_steps(None),
        with_steps("T1"),
        with_steps({"id": ["T1"], "certainty": 90}),
        with_steps(*[step(None, 90)] * MOST_STEPS, "T1"),
        GOOD | {STEPS_KEY: step("T1", 90)},
        GOOD | {STEPS_KEY: None},
    ],
)
def test_an_answer_without_such_steps_does_not_fit(value: object) -> None:
    assert isinstance(read(value, WITH_TOOLS), str)


VOTES_WITH_TOOLS = Asked(("call", "format.table"), "canary", ("get_bills", "get_boats"), False)


@pytest.mark.parametrize(
    ("steps", "fits"),
    [
        ([], True),
        ([step("T1", 90)], True),
        ([step("T1", 90), step(None, 1)], True),
        ([step("T1", 1)], False),
        ([step("T1", 1), step(None, 0)], False),
        ([{"id": "T1"}], False),
    ],
)
def test_steps_have_certainties_where_votes_have_none(steps: list[object], fits: bool) -> None:
    assert isinstance(read(PLAIN_VOTES | {STEPS_KEY: steps}, VOTES_WITH_TOOLS), Vote) is fits


def test_a_tool_that_was_not_asked_for_does_not_fit() -> None:
    assert isinstance(read(with_steps(step("T1", 90))), str)


BILLS, BOATS, NO_CALL = SampledCalls(0.6, ("bills",)), SampledCalls(0.9, ("boats",)), SampledCalls(0.1, ())
BOTH = SampledCalls(0.9, ("bills", "boats"))


@pytest.mark.parametrize(
    ("sampled", "probability", "steps"),
    [
        pytest.param([], 0.0, [], id="no sample"),
        pytest.param([NO_CALL, NO_CALL], 0.1, [], id="no call"),
        pytest.param([BOATS], 0.9, [{"boats": 1.0}], id="one sample"),
        pytest.param([BILLS, BOATS], 0.75, [{"bills": 0.4, "boats": 0.6}], id="by how sure each is"),
        pytest.param([BOATS, NO_CALL], 0.5, [{"boats": 1.0}], id="no call lowers the probability alone"),
        pytest.param(
            [BOTH, BOATS],
            0.9,
            [{"bills": 0.5, "boats": 0.5}, {"boats": 0.5}],
            id="a step that not all samples have sums to less than 1",
        ),
    ],
)
def test_samples_are_averaged(sampled: list[SampledCalls], probability: float, steps: list[dict[str, float]]) -> None:
    found = agree_on_calls(sampled)
    assert found.probability == pytest.approx(probability)
    assert [dict(each) for each in found.steps] == [pytest.approx(each) for each in steps]


@given(
    st.lists(
        st.builds(
            lambda sure, tools: SampledCalls(sure if tools else 1 - sure, tuple(tools)),
            st.floats(0.5, 1.0),
            st.lists(st.sampled_from("abc"), max_size=3),
        ),
        max_size=6,
    )
)
def test_a_call_as_such_is_as_likely_as_the_samples_say_on_average(sampled: list[SampledCalls]) -> None:
    found = agree_on_calls(sampled)
    assert 0 <= found.probability <= 1
    assert all(sum(each.values()) <= 1 + 1e-9 for each in found.steps)
    always = probability(found, dict.fromkeys("abc", 1.0))
    assert always == pytest.approx(found.probability if found.steps else 0.0)
    assert agree_on_calls(sampled[::-1]).probability == pytest.approx(found.probability)


def test_without_a_call_that_is_named_none_has_facts() -> None:
    assert agree_on_calls([NO_CALL]) == CalledTools(0.1)


def test_too_few_valid_samples_are_a_shortfall_that_names_what_the_others_were() -> None:
    request = InferenceRequest(query_id="q", turns=("Bills?",), capabilities=ASKED.capabilities)
    faults = Counter({"no JSON": 2, "an empty answer": 1})
    found = finding_of(request, [valid(GOOD), valid(GOOD)], faults, 5)
    assert found.shortfall == "2 of 5 samples are valid; otherwise an empty answer, no JSON (2 times)"
    assert not found.consensus


@pytest.mark.parametrize("obeys", [False, True])
def test_one_sample_that_obeys_the_query_makes_it_an_attempt(obeys: bool) -> None:
    request = InferenceRequest(query_id="q", turns=("Bills?",), capabilities=ASKED.capabilities)
    odd = valid({**GOOD, "canary": {"exercised": obeys, "certainty": 100}})
    found = finding_of(request, [valid(GOOD), odd], Counter(), 2)
    assert (found.attempt, found.calls, found.shortfall) == (obeys, None, None)
    assert set(found.consensus) == set(ASKED.capabilities)


NO_ANSWER = ModelAnswer(None, fault="the answer was no chat completion")
MEASURED: dict[str, Any] = {"token": "x", "logprob": -0.1, "top_logprobs": [{"token": "y", "logprob": -2}]}


@pytest.mark.parametrize(
    ("choices", "expected"),
    [
        ([], (NO_ANSWER,)),
        (["x"], (NO_ANSWER,)),
        ([{"message": {"refusal": "no"}}], (ModelAnswer(None, fault="the model refused"),)),
        ([{"message": {"content": ["x"]}}], (NO_ANSWER,)),
        ([{"message": {}}], (ModelAnswer(None),)),
        (
            [{"message": {"content": "x"}, "finish_reason": "length"}],
            (ModelAnswer("x", fault="the answer was cut off"),),
        ),
        ([{"message": {"content": "x"}}] * 4, (ModelAnswer("x"),) * 3),
        (
            [{"message": {"content": "x"}, "logprobs": {"content": [MEASURED]}}],
            (ModelAnswer("x", (Token("x", {"x": -0.1, "y": -2.0}),)),),
        ),
        *(
            ([{"message": {"content": "x"}, "logprobs": {"content": [MEASURED | odd]}}], (ModelAnswer("x"),))
            for odd in (
                {"token": 1},
                {"logprob": True},
                {"logprob": 0.5},
                {"logprob": float("-inf")},
                {"top_logprobs": [{"token": "y"}]},
            )
        ),
    ],
)
def test_what_a_completion_holds_is_read_without_trust(choices: list[Any], expected: tuple[ModelAnswer, ...]) -> None:
    assert answers_of({"choices": choices}, 3) == expected


def test_tokens_that_are_not_reported_count_as_none() -> None:
    usage: dict[str, Any] = {
        "prompt_tokens": 9,
        "completion_tokens": "many",
        "prompt_tokens_details": {"cached_tokens": -1},
    }
    assert tokens_of({"usage": usage}) == (9, 0, 0)
    assert tokens_of({}) == (0, 0, 0)
