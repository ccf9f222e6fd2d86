"""What people call the columns and lists of files that follow no format, without case, white space and punctuation.

See :func:`~bot.intake.eval_sets.table.plain_key`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from bot.intake.eval_sets.table import plain_key

QUERY_NAMES: Final = frozenset(
    {
        *("query", "question", "prompt", "input", "utterance", "instruction", "turns", "messages"),
        *("userquery", "userinput", "userprompt", "usermessage", "userquestion", "userutterance", "testutterance"),
    }
)
"""Of what the user says."""

_SPEAKERS: Final = ("user", "customer", "client", "employee", "test", "sample", "example", "eval", "input")
_SAID: Final = ("query", "question", "prompt", "input", "utterance", "message", "text", "request", "turns")
SPOKEN_NAMES: Final = frozenset(
    {
        *(speaker + said for speaker in _SPEAKERS for said in _SAID),
        *(f"{said}text" for said in ("query", "question", "prompt", "utterance", "message")),
    }
)
"""Of what the user says as well, by who says it, or as the text of it."""

_LIKELY: Final = frozenset({"message", "request", "ticket", "task", "queries", "questions", "prompts", "utterances"})
"""Of what the user says in records that say what is expected; records of other things have them too."""

ID_NAMES: Final = frozenset(
    {
        *("id", "qid", "queryid", "questionid", "promptid", "testid", "testcaseid", "caseid"),
        *("evalid", "exampleid", "sampleid"),
    }
)

CONVERSATION_NAMES: Final = frozenset({"conversation", "conversationid", "conversationnumber", "conversationname"})

TELLING_LIST_NAMES: Final = frozenset(
    {
        *("cases", "testcases", "tests", "evals", "evalcases", "evaluations", "questions", "queries", "conversations"),
        *("goldens", "goldenset", "goldendataset", "evalset", "testset", "benchmark"),
    }
)
LIST_NAMES: Final = TELLING_LIST_NAMES | frozenset(
    {"examples", "samples", "records", "rows", "data", "dataset", "items", "entries", "prompts", "tasks", "scenarios"}
)
"""Of the list of records in a file that says more than these; lists of other things have those that are not telling."""

_EXPECTING: Final = re.compile(
    r"expect|ground_?truth|reference|ideal|gold|must|should|rubric|criteria|assert|target|answer|accepted",
    re.IGNORECASE,
)


_BEGINNING: Final = 1_000
"""Characters of a key that are looked at."""


def expects(keys: Iterable[str]) -> bool:
    """Whether one of the keys of a record says what is expected, as records of eval sets do and other data do not."""
    return any(_EXPECTING.search(key, 0, _BEGINNING) for key in keys)


def named(keys: Iterable[str], names: frozenset[str]) -> list[str]:
    """Those of ``keys`` that are among ``names``."""
    return [key for key in keys if plain_key(key) in names]


def query_keys(keys: Iterable[str]) -> list[str]:
    """Those of ``keys`` that may hold what the user says: by the usual names, else by others in a record of an eval."""
    known = list(keys)
    usual = named(known, QUERY_NAMES)
    if usual or not (expects(known) or len(known) == 1):
        return usual
    return named(known, SPOKEN_NAMES) or named(known, _LIKELY)
