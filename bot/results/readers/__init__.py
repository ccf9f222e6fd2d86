"""The formats of results that are read, one module each."""

from __future__ import annotations

from bot.results.reader import ResultReader
from bot.results.readers import (
    azure_ai_evaluation,
    copilot_studio,
    deepeval,
    inspect_log,
    json_lines,
    junit,
    m365_copilot_eval,
    promptfoo,
)


def result_readers() -> tuple[ResultReader, ...]:
    """All readers; of those that fit a file the first one reads it."""
    return (
        promptfoo.READER,
        inspect_log.READER,
        deepeval.READER,
        azure_ai_evaluation.READER,
        m365_copilot_eval.READER,
        copilot_studio.READER,
        junit.READER,
        json_lines.READER,
    )
