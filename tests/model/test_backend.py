"""The product against real servers with a real small model: the protocol end to end, not what the model thinks."""

from __future__ import annotations

import json
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest

from incumbent.classifier.language_model.abilities import RememberedAbilities
from incumbent.classifier.language_model.backend import LanguageModelBackend
from incumbent.classifier.model import Finding
from incumbent.cli.main import run
from incumbent.errors import OutsideError
from incumbent.taxonomy.config import OpenAISettings
from tests.classifier.factories import answers, intent, openai_settings, request, taxonomy
from tests.factories import REPOSITORY
from tests.model.serving import Server

KEY = "sk-test-1f7c2b9e4d"
KEY_VARIABLE = "TEST_KEY"
TAXONOMY = taxonomy(intent("track"), intent("cancel"))
NAMES = tuple(TAXONOMY.by_id)
QUERY = "Where is my parcel?"

EXAMPLE = REPOSITORY / "tests" / "service_desk"
EVAL_SET = "eval_sets/quillow-savings/branch-line"


def settings(server: Server, **overrides: Any) -> OpenAISettings:
    """Those of the backend for ``server``."""
    small = {"timeout_seconds": 120.0, "answer_tokens": 120, "key_variable": KEY_VARIABLE, "in_flight": 1}
    return openai_settings(**{"endpoint": server.endpoint, **small} | overrides)


def infer(server: Server, *queries: str, samples: int = 1, **overrides: Any) -> tuple[Finding, ...]:
    """One finding per query: whole, or a shortfall that says why."""
    backend = LanguageModelBackend(
        TAXONOMY, settings(server, **overrides), samples, {KEY_VARIABLE: KEY}, RememberedAbilities(None)
    )
    found = answers(backend, *(request(query, capabilities=NAMES) for query in queries))
    for finding in found:
        assert (finding.shortfall is None) == (tuple(finding.consensus) == NAMES)
        assert all(0 <= item.confidence <= 1 for item in finding.consensus.values())
    assert backend.usage.requests >= len(queries)
    assert backend.usage.tokens_in > 0
    return found


def test_a_query_is_judged_or_its_samples_left_out(server: Server) -> None:
    infer(server, QUERY, samples=2)


def test_a_server_that_comes_back_is_asked_again(tmp_path: Path) -> None:
    with Server("llama.cpp", tmp_path / "log") as server:
        server.kill()
        back = threading.Timer(1.0, server.start)
        back.start()
        infer(server, QUERY, retries=6)
        back.join()


def test_a_server_that_dies_in_the_middle_of_an_answer_is_an_outside_error_without_the_key(tmp_path: Path) -> None:
    with Server("llama.cpp", tmp_path / "log", {"--context": "4096"}) as server:
        threading.Timer(0.5, server.kill).start()
        with pytest.raises(OutsideError, match="127\\.0\\.0\\.1") as caught:
            infer(server, "Count parcels. " * 400)
    assert KEY not in str(caught.value)


@pytest.fixture
def platform(server: Server, tmp_path: Path) -> Path:
    """The example platform, its classifier set to ``server``, with one query to judge."""
    folder = tmp_path / "platform"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("regression_set"))
    config = folder / "config" / "curation.yaml"
    text = config.read_text(encoding="utf-8")
    for old, new in (
        ("backend: embedded", "backend: openai"),
        ("samples: 5", "samples: 1"),
        ("openai: null", f"openai: {settings(server).model_dump_json()}"),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new)
    config.write_text(text, encoding="utf-8")
    evals = folder / EVAL_SET / "evals.yaml"
    evals.write_text(json.dumps({"eval_set": 1, "queries": [{"id": "q1", "query": QUERY}]}), encoding="utf-8")
    return folder


def test_review_ends_with_verdicts_or_as_incomplete(
    platform: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    code = run(["review", str(platform / EVAL_SET), "--repo", str(platform), "--json"])
    captured = capsys.readouterr()
    assert code in (0, 3), captured.err
    assert {item["id"] for item in json.loads(captured.out)["verdicts"]} <= {"q1"}
    assert KEY not in captured.out + captured.err
    assert "Traceback" not in captured.err
