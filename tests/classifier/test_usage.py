"""The bench of costs counts what a server was really asked, and says what it needs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from dev.bench import cost as bench
from incumbent.classifier.usage import Meter
from incumbent.errors import IncompleteError, UsageError
from incumbent.files.snapshot import WorkingTree
from incumbent.taxonomy.config import Budget
from incumbent.taxonomy.loading import load_taxonomy
from tests.classifier.factories import intent, openai_settings, request, taxonomy

NAMES = ("call", "table", "image")
TAXONOMY = taxonomy(*map(intent, NAMES))
TURNS = ("Where is my parcel?", "Track parcel 17, please", "Hello there")
SAMPLES = 2


def words(text: str) -> Sequence[object]:
    """A tokenizer that needs nothing."""
    return text.split()


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    requests = [request(text, capabilities=NAMES) for text in TURNS]
    return bench.measure(requests, TAXONOMY, SAMPLES, openai_settings(), words)


@pytest.mark.untraced
def test_requests_are_one_a_query_or_one_a_sample_and_the_naive_scheme_asks_for_each_capability(
    report: dict[str, Any],
) -> None:
    queries, capabilities = len(TURNS), len(NAMES)
    assert (report["queries"], report["capabilities"], report["samples"]) == (queries, capabilities, SAMPLES)
    assert [each["requests"] for each in report["costs"]] == [
        queries,
        queries,
        queries * SAMPLES,
        queries * capabilities * SAMPLES,
        queries * capabilities * SAMPLES,
    ]
    assert [each["probing"] > 0 for each in report["costs"]] == [True, True, True, False, False]
    assert [each["requests"] for each in report["ratios"]] == [6, 6, 6, 6, 3, 3]


def test_samples_in_one_request_pay_for_the_prompt_once(report: dict[str, Any]) -> None:
    once, measured, each, bare, careful = report["costs"]
    assert each["prompt_tokens"] == SAMPLES * once["prompt_tokens"]
    assert once["answer_tokens"] == each["answer_tokens"] > measured["answer_tokens"]
    assert careful["prompt_tokens"] > max(bare["prompt_tokens"], each["prompt_tokens"])
    assert all(item["cached"] <= item["repeated"] < item["prompt_tokens"] for item in report["costs"])


def test_what_ships_takes_a_twentieth_of_the_careful_naive_prompts() -> None:
    """Counted in words, since the tokenizer is not installed here: of tokens it is 22 times as many."""
    known = load_taxonomy(WorkingTree(bench.REPOSITORY))
    asked = bench._requests(known)[:4]
    report = bench.measure(asked, known, bench.SAMPLES, bench._settings(None, known), words)
    (ratio,) = (
        each["prompt_tokens"]
        for each in report["ratios"]
        if (each["ours"], each["naive"]) == ("ours, samples in one request", "naive, careful")
    )
    assert ratio >= 20


def test_the_parts_of_the_prompt_are_the_whole(report: dict[str, Any]) -> None:
    prompt, once = report["prompt"], report["costs"][0]
    assert set(NAMES) < set(prompt["capabilities"])
    parts = prompt["instructions"] + sum(prompt["capabilities"].values()) + prompt["query"] + prompt["around"]
    parts += prompt["examples"]
    assert len(TURNS) * parts == pytest.approx(once["prompt_tokens"], abs=1)


def test_without_a_tokenizer_it_says_which_one_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(bench, "import_module", missing)
    assert bench.main([]) == UsageError.exit_code
    assert bench.TOKENIZER in capsys.readouterr().err


@pytest.mark.untraced
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_the_report_is_printed(
    form: list[str],
    report: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(bench, "tokenizer", lambda: words)
    monkeypatch.setattr(bench, "measure", lambda *arguments: report)
    assert bench.main(form) == 0
    out = capsys.readouterr().out
    if form:
        assert json.loads(out) == report
    else:
        assert "naive, careful / ours, samples in one request" in out


def test_a_config_that_names_no_model_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.main(["--config", str(bench.REPOSITORY / "config" / "curation.yaml")]) == UsageError.exit_code
    assert "has no classifier.openai" in capsys.readouterr().err


def test_what_is_left_shrinks_with_every_request_until_nothing_is() -> None:
    meter = Meter(Budget(requests=3, tokens=1_000), None)
    for _ in range(3):
        meter.check()
        meter.sending()
    with pytest.raises(IncompleteError, match="budget of 3 requests"):
        meter.check()
    with pytest.raises(IncompleteError, match="budget of 3 requests"):
        meter.sending()
    assert meter.usage.requests == 3


@pytest.mark.parametrize(("spent", "over"), [((900, 0, 99), False), ((900, 0, 100), True), ((2_000, 1_900, 0), True)])
def test_tokens_count_in_and_out_cached_ones_too(spent: tuple[int, int, int], over: bool) -> None:
    meter = Meter(Budget(requests=3, tokens=1_000), None)
    meter.received(*spent)
    if over:
        with pytest.raises(IncompleteError, match="budget of 1,000 tokens"):
            meter.check()
    else:
        meter.check()


def test_no_more_is_cached_than_was_sent() -> None:
    meter = Meter(Budget(requests=3, tokens=1_000), None)
    meter.received(10, 50, 1)
    assert (meter.usage.tokens_in, meter.usage.tokens_cached, meter.usage.tokens_out) == (10, 10, 1)


def test_probing_is_told_apart() -> None:
    meter = Meter(Budget(requests=9, tokens=1_000), None)
    meter.probe(True)
    meter.sending()
    meter.probe(False)
    meter.sending()
    assert (meter.usage.requests, meter.usage.probing) == (2, 1)


def test_counting_loses_nothing_among_threads() -> None:
    meter = Meter(Budget(requests=1_500, tokens=1_000), None)
    with ThreadPoolExecutor(8) as pool:
        sent = [pool.submit(meter.sending) for _ in range(2_000)]
    assert sum(future.exception() is None for future in sent) == meter.usage.requests == 1_500
