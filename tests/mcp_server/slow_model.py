"""A platform whose classifier is a language model that takes its time: what a real process is given to work on."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from tests.classifier.factories import openai_settings
from tests.classifier.model_server import Model, ModelServer, Reply

PAUSE = 0.3
"""Seconds that the model takes for a request."""


def slow_model() -> ModelServer:
    """The endpoint; it says nothing of use, which for these tests is enough."""
    model = Model(lambda _: {})

    def reply(body: dict[str, Any], number: int) -> Reply:
        time.sleep(PAUSE)
        return model(body, number)

    return ModelServer(reply)


def asks(platform: Path, server: ModelServer) -> None:
    """Let ``platform`` ask that endpoint, one query at a time and one sample of each."""
    settings = openai_settings(endpoint=server.endpoint, key_variable="INCUMBENT_TEST_KEY", in_flight=1, examples=0)
    config = platform / "config" / "curation.yaml"
    text = config.read_text(encoding="utf-8").replace("openai: null", f"openai: {settings.model_dump_json()}")
    text = text.replace("backend: embedded", "backend: openai").replace("samples: 5", "samples: 1")
    config.write_text(text, encoding="utf-8")
