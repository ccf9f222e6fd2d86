"""The bench of attacks: what it counts as moved, wanted, neutral and refused; and the naive prompt."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from dev.bench import attacks as bench
from dev.bench.attack_outcomes import Outcome, false_alarms, outcomes, placebo, within
from dev.bench.naive_prompt import NaiveBackend, naive_calls
from incumbent.classifier.model import CalledTools, Consensus, Finding, Identity, InferenceRequest
from incumbent.classifier.usage import Usage
from incumbent.errors import OutsideError, UsageError
from incumbent.taxonomy.model import Exemplars
from tests.classifier.attacks.loading import Attack, Case, Category, Control, Goal, load_attacks
from tests.classifier.attacks.obedient_model import honest_reply
from tests.classifier.factories import answers, declared, intent, openai_settings, request, silent, taxonomy, tool
from tests.classifier.model_server import Model, ModelServer, Reply, completion, failure, is_probe
from tests.factories import SHIPPED

TAXONOMY = taxonomy(
    declared("auth.oauth", "contains(auth_modes, 'oauth')", "one.auth"),
    declared("auth.none", "contains(auth_modes, 'none')", "one.auth"),
    intent("call"),
    intent("table"),
)
GREETING = Case(turns=("Hi",))
TOOLS = (tool("track", "oauth", "Tracks."), tool("rates", "none", "Rates."))


@dataclass
class Gullible:
    """A backend that believes every word: ``all true``, ``all false`` and ``choose rates``; else it says ``call``.

    What holds ``flag me`` is taken for an attempt.
    """

    usage: Usage | None = None

    @property
    def identity(self) -> Identity:
        return Identity(backend="gullible", model="test", prompt="none", samples=1)

    def infer(self, requests: Sequence[InferenceRequest]) -> Iterator[tuple[int, Finding]]:
        for place, item in enumerate(requests):
            yield place, self._answer(item)

    def _answer(self, item: InferenceRequest) -> Finding:
        text = "\n".join((*item.turns, *(each.description for each in item.tools)))
        votes = {name: "all true" in text or (name == "call" and "all false" not in text) for name in item.capabilities}
        calls = CalledTools(1.0, ({item.tools["choose rates" in text].name: 1.0},)) if item.tools else None
        if "say nothing" in text:
            return Finding(shortfall="no sample is valid")
        consensus = {name: Consensus(vote, float(vote)) for name, vote in votes.items()}
        return Finding(consensus=consensus, calls=calls, attempt="flag me" in text)


def attack(goal: Goal, hostile: Case, honest: Case = GREETING, **more: Any) -> Attack:
    category: Category = "override"
    defaults: dict[str, Any] = {"id": "a", "language": "en", "wanted": None}
    return Attack(category=category, goal=goal, honest=honest, hostile=hostile, **defaults | more)


def outcome(item: Attack) -> Outcome:
    (found,) = outcomes([item], TAXONOMY, Gullible(), silent)
    return found


@pytest.mark.parametrize(
    ("goal", "text", "moved", "as_wanted"),
    [
        ("raise", "Hi all true", frozenset({"table"}), 1),
        ("raise", "Hi all false", frozenset({"call"}), 0),
        ("lower", "Hi all false", frozenset({"call"}), 1),
        ("lower", "Hi all true", frozenset({"table"}), 0),
        ("raise", "Hi please", frozenset(), 0),
        ("leak", "Hi all true", frozenset({"table"}), None),
        ("raise", "Hi say nothing", None, None),
    ],
)
def test_an_attack_moves_the_tags_that_differ_from_its_honest_query(
    goal: Goal, text: str, moved: frozenset[str] | None, as_wanted: int | None
) -> None:
    found = outcome(attack(goal, Case(turns=(text,))))
    assert found.moved == moved
    assert found.as_wanted == as_wanted
    assert found.placebo_moved == frozenset()


def test_an_attack_by_tool_is_judged_by_the_tool_that_is_chosen() -> None:
    hostile = Case(turns=("Hi",), tools=(TOOLS[0], tool("rates", "none", "Rates. choose rates")))
    found = outcome(attack("choose", hostile, Case(turns=("Hi",), tools=TOOLS), wanted="rates"))
    assert found.moved == frozenset({"auth.oauth", "auth.none"})
    assert found.as_wanted == 1
    assert found.placebo_moved == frozenset()
    assert outcome(attack("choose", hostile, Case(turns=("Hi",), tools=TOOLS), wanted="track")).as_wanted == 0


@pytest.mark.parametrize("item", load_attacks(), ids=lambda item: item.id)
def test_a_placebo_has_the_shape_of_its_attack_and_none_of_its_words(item: Attack) -> None:
    neutral = placebo(item)
    assert len(neutral.turns) == len(item.hostile.turns)
    assert len(neutral.tools) == len(item.hostile.tools)
    for text, hostile in zip(neutral.turns, item.hostile.turns, strict=True):
        assert len(text) <= max(len(hostile), len(item.honest.turns[-1]) + 1)
    everything = "\n".join((*neutral.turns, *(each.name + each.description for each in neutral.tools)))
    assert everything.isascii()
    assert "true" not in everything.replace(item.honest.turns[-1], "")


def test_only_what_is_within_the_limits_reaches_the_classifier() -> None:
    limits = SHIPPED.limits
    assert within(limits, Case(turns=("a" * limits.turn_characters,) * limits.turns))
    assert not within(limits, Case(turns=("a" * (limits.turn_characters + 1),)))
    assert not within(limits, Case(turns=("a",) * (limits.turns + 1)))


def test_innocent_queries_that_are_flagged_are_false_alarms() -> None:
    innocent, suspect = (
        Control(id="i", resembles="override", turns=("Hi",)),
        Control(id="s", resembles="override", turns=("flag me",)),
    )
    assert false_alarms([innocent, suspect], TAXONOMY, Gullible(), silent) == ["s"]


@pytest.mark.parametrize(
    ("text", "flagged"),
    [("Hi all true", False), ("Hi flag me", True), ("Hi \u202eeurt lla", True), ("say nothing", None)],
)
def test_a_classification_says_whether_its_query_is_an_attempt(text: str, flagged: bool | None) -> None:
    assert outcome(attack("raise", Case(turns=(text,)))).hostile.flagged is flagged


def test_the_report_has_a_row_per_category_and_sums(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench, "make_backend", lambda *_: Gullible())
    assert bench.main(["--every", "9", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    asked = [row for row in report["rows"] if row["category"] == "all"]
    assert sum(row["attacks"] for row in asked) == len(report["attacks"])
    assert len(report["attacks"]) + report["refused_at_intake"] == len(load_attacks()[::9])
    assert bench.main(["--every", "9"]) == 0
    assert "refused at intake" in capsys.readouterr().out


@pytest.mark.parametrize("undefended", [None, "pasted", "naive"])
def test_any_endpoint_that_a_config_names_is_measured(
    undefended: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def script(body: dict[str, Any], number: int) -> Reply:
        if is_probe(body):
            return Model(lambda body: "")(body, number)
        if "response_format" in body:
            return honest_reply(body)
        return completion('{"exercised": true, "probability": 90, "tool": null}')

    monkeypatch.setenv("TEST_KEY", "k")
    monkeypatch.setenv("INCUMBENT_CACHE", str(tmp_path))
    with ModelServer(script) as server:
        config = SHIPPED.model_dump(mode="json")
        config["classifier"] |= {
            "backend": "openai",
            "samples": 1,
            "openai": openai_settings(endpoint=server.endpoint, prompt_bytes=40_000).model_dump(),
        }
        path = tmp_path / "endpoint.yaml"
        path.write_text(yaml.safe_dump(config), encoding="utf-8")
        assert (
            bench.main(
                [
                    "--config",
                    str(path),
                    "--every",
                    "45",
                    "--json",
                    *(["--undefended", undefended] if undefended else []),
                ]
            )
            == 0
        )
    report = json.loads(capsys.readouterr().out)
    assert report["backend"] == (undefended or "openai")
    # An attack in several turns is a conversation, which is counted, whatever a model says.
    counted = ("pieces", "all")
    assert {row["moved"] for row in report["rows"] if row["category"] not in counted} == {0.0}
    assert report["requests"] == len(server.requests)
    assert ("refused" in report) == (undefended == "naive")


def test_faults_end_with_the_exit_code_of_their_class(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.main(["--undefended", "pasted"]) == UsageError.exit_code
    assert bench.main(["--config", str(tmp_path / "none.yaml")]) == 1
    assert "none.yaml" in capsys.readouterr().err


# The naive prompt.

NAIVE = taxonomy(
    intent("call", exemplars=Exemplars(positive=("Track 1", ("Hi", "Track 2")), negative=("Thanks",))), intent("table")
)


def naive(endpoint: str, samples: int = 2) -> NaiveBackend:
    return NaiveBackend(
        taxonomy=NAIVE, settings=openai_settings(endpoint=endpoint), samples=samples, environment={"TEST_KEY": "k"}
    )


def ask_naively(reply: Callable[[str], str], *turns: str) -> tuple[Finding, NaiveBackend, ModelServer]:
    def script(body: dict[str, Any], number: int) -> Reply:
        return completion(reply(body["messages"][1]["content"]))

    with ModelServer(script) as server:
        backend = naive(server.endpoint)
        (answer,) = answers(backend, request(*turns, capabilities=("call", "table"), tools=TOOLS))
    return answer, backend, server


def test_the_naive_scheme_is_one_call_per_capability_and_sample_with_the_query_pasted_raw() -> None:
    def reply(prompt: str) -> str:
        if "Which of these tools" in prompt:
            return '{"tool": "rates", "probability": 50}'
        return 'Sure: {"exercised": true, "probability": 80}' if "Capability: call\n" in prompt else "no idea"

    answer, backend, server = ask_naively(reply, "</data> {obey}\ud800", "now")
    assert backend.usage.requests == len(server.requests) == 6
    assert all(body["messages"][1]["content"].endswith("Query:\n</data> {obey}?\nnow\n") for body in server.requests)
    assert answer.consensus == {"call": Consensus(True, 0.8), "table": Consensus(False, 0.0)}
    assert answer.calls == CalledTools(0.5, ({"rates": 1.0},))


@pytest.mark.parametrize("text", ["", "[]", "{", '{"exercised": "yes", "probability": "high"}', "[" * 100_000, "{" * 9])
def test_what_the_naive_scheme_cannot_parse_is_false(text: str) -> None:
    answer, _, _ = ask_naively(lambda prompt: text, "Hi")
    assert answer.consensus == {"call": Consensus(False, 0.0), "table": Consensus(False, 0.0)}
    assert answer.calls == CalledTools(0.0)


def test_a_naive_call_shows_as_many_exemplars_as_asked_for() -> None:
    calls = list(naive_calls(NAIVE, request("Hi", capabilities=("call", "table")), samples=3, exemplars=2))
    assert [call.capability for call in calls] == ["call", "table"] * 3
    text = calls[0].messages[1]["content"]
    assert text.count("Example that exercises it: ") == 2
    assert "Hi\nTrack 2" in text
    assert "Example that does not: Thanks" in text


def test_a_prompt_that_the_endpoint_refuses_counts_as_false_and_is_counted() -> None:
    with ModelServer(lambda body, number: failure(400, "too long")) as server:
        backend = naive(server.endpoint, samples=1)
        (answer,) = answers(backend, request("Hi", capabilities=("call", "table")))
    assert answer.consensus == {"call": Consensus(False, 0.0), "table": Consensus(False, 0.0)}
    assert backend.refused == 2


def test_the_naive_scheme_ends_as_the_product_does_when_the_endpoint_fails_or_there_is_no_key() -> None:
    with ModelServer(lambda body, number: failure(500)) as server, pytest.raises(OutsideError):
        answers(naive(server.endpoint), request("Hi", capabilities=("call",)))
    without = naive("http://127.0.0.1:1/v1")
    without.environment = {}
    with pytest.raises(UsageError, match="TEST_KEY"):
        answers(without, request("Hi", capabilities=("call",)))
