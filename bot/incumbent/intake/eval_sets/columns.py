"""Columns: their usual names, and their declaration in ``formats.yaml``."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from pydantic import Field

from incumbent.errors import InputError, Problem, untrusted
from incumbent.files.documents import Document
from incumbent.files.validation import FileModel, FormatVersion, Text, validate
from incumbent.intake.eval_sets.table import plain_key
from incumbent.text.did_you_mean import did_you_mean

QUERY_NAMES: Final = frozenset(
    {
        *("query", "question", "prompt", "input", "utterance", "instruction", "turns", "messages"),
        *("userquery", "userinput", "userprompt", "usermessage", "userquestion", "userutterance", "testutterance"),
    }
)
"""Usual keys of the user's words."""

_SPEAKERS: Final = ("user", "customer", "client", "employee", "test", "sample", "example", "eval", "input")
_SAID: Final = ("query", "question", "prompt", "input", "utterance", "message", "text", "request", "turns")
SPOKEN_NAMES: Final = frozenset(
    {
        *(speaker + said for speaker in _SPEAKERS for said in _SAID),
        *(f"{said}text" for said in ("query", "question", "prompt", "utterance", "message")),
    }
)
"""Further keys of the user's words: the speaker, or a word for text."""

_LIKELY: Final = frozenset({"message", "request", "ticket", "task", "queries", "questions", "prompts", "utterances"})
"""Keys of the user's words only in records with an expectation; other records have them too."""

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
"""Usual keys of the list of records in a file; lists of other things may have the less specific ones."""

_EXPECTING: Final = re.compile(
    r"expect|ground_?truth|reference|ideal|gold|must|should|rubric|criteria|assert|target|answer|accepted",
    re.IGNORECASE,
)


_BEGINNING: Final = 1_000
"""Only so many characters of a key are read."""


def expects(keys: Iterable[str]) -> bool:
    """Whether a key of a record names an expectation, which only records of eval sets have."""
    return any(_EXPECTING.search(key, 0, _BEGINNING) for key in keys)


def named(keys: Iterable[str], names: frozenset[str]) -> list[str]:
    """The ``keys`` whose :func:`~incumbent.intake.eval_sets.table.plain_key` is among ``names``."""
    return [key for key in keys if plain_key(key) in names]


def query_keys(keys: Iterable[str]) -> list[str]:
    """The ``keys`` that may contain the user's words: those with usual names, else others in a record of an eval."""
    known = list(keys)
    usual = named(known, QUERY_NAMES)
    if usual or not (expects(known) or len(known) == 1):
        return usual
    return named(known, SPOKEN_NAMES) or named(known, _LIKELY)


_HINTS: Final = 10

FORMATS_FILE: Final = "formats.yaml"
"""Declares formats of the eval sets in the same folder."""


class Columns(FileModel):
    """The column (or key) of each field, `inputs.question` for a nested one; others are found by usual names."""

    query: Text | None = Field(default=None, description="what the user says: a text, a list of turns or of messages")
    id: Text | None = Field(default=None, description="the query's id")
    conversation: Text | None = Field(
        default=None, description="rows with the same value here are the turns of one conversation"
    )
    answer: Text | None = Field(default=None, description="the expected answer")
    tools: Text | None = Field(default=None, description="the expected tool calls")


class DeclaredFile(FileModel):
    """The declaration of one file."""

    format: Text = Field(description="name of the format, as in `incumbent formats`")
    columns: Columns | None = Field(
        default=None, description="for plain files, and where a format leaves open what holds the query"
    )


class FormatsFile(FileModel):
    """``formats.yaml`` in an eval-set folder: the formats of files that fit several formats, or none."""

    formats: FormatVersion = Field(description="version of this format")
    files: dict[str, DeclaredFile] = Field(description="file name, relative to this file → what it is")


def _quoted(name: str) -> str:
    return untrusted(json.dumps(name, ensure_ascii=False))


def declaring(file: str, path: str, format: str, columns: Columns | None = None, **named: str) -> str:
    """A fix: the lines that declare a file in ``formats.yaml``, and where to write them.

    ``path`` is the file's path in its folder, ``file`` its name in messages; ``named`` columns are added to
    ``columns``, which are declared already.
    """
    said = {} if columns is None else columns.model_dump(exclude_none=True)
    listed = ", ".join(f"{what}: {_quoted(name)}" for what, name in {**said, **named}.items())
    inner = f"format: {format}, columns: {{{listed}}}" if listed else f"format: {format}"
    line = f"files: {{{_quoted(path)}: {{{inner}}}}}"
    where = f"{untrusted(file.removesuffix(path))}{FORMATS_FILE}"
    return f"write `formats: 1` and `{line}` into {where}; if it has `files` already, add this one to them"


def read_formats(
    document: Document, paths: Collection[str], known: Collection[str], named: Collection[str]
) -> Mapping[str, DeclaredFile]:
    """The declarations in ``document`` by path; raises :class:`~incumbent.errors.InputError` with all its faults.

    ``paths`` are the existing files, ``known`` the names of the formats, ``named`` those that allow column names.
    """
    declared = validate(FormatsFile, document).files
    problems: list[Problem] = []
    for path, file in declared.items():
        if path not in paths:
            # Suggestions are slow to find, and no one reads many of them.
            hint = did_you_mean(path, paths) if len(problems) < _HINTS else ""
            message = f"files.{path}: there is no such file{hint}"
            problems.append(document.problem(("files", path), message, "name a file of this folder"))
        if file.format not in known:
            message = f"files.{path}.format: {file.format!r} is no format{did_you_mean(file.format, known)}"
            fix = f"use one of: {', '.join(sorted(known))}"
            problems.append(document.problem(("files", path, "format"), message, fix))
        elif file.columns is not None and file.format not in named:
            message = f"files.{path}.columns: {file.format} has columns of its own"
            fix = f"remove `columns`, or use one of: {', '.join(sorted(named))}"
            problems.append(document.problem(("files", path, "columns"), message, fix))
    if problems:
        raise InputError(problems)
    return declared
