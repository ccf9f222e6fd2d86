"""``formats.yaml``: what a customer says of eval sets that do not say it themselves – format, and columns by name."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Final, Literal

from pydantic import Field

from bot.errors import InputError, Problem, foreign
from bot.files.documents import Document
from bot.files.validation import FileModel, Text, validate
from bot.text.did_you_mean import perhaps

_HINTS: Final = 10

FORMATS_FILE: Final = "formats.yaml"
"""Stands beside the eval sets that it speaks of."""


class Columns(FileModel):
    """Which column (or key) holds what, `inputs.question` being inside another; others are found by usual names."""

    query: Text | None = Field(default=None, description="what the user says: a text, a list of turns or of messages")
    id: Text | None = Field(default=None, description="the query's id")
    conversation: Text | None = Field(
        default=None, description="rows with the same value here are the turns of one conversation"
    )
    answer: Text | None = Field(default=None, description="the expected answer")
    tools: Text | None = Field(default=None, description="the expected tool calls")


class DeclaredFile(FileModel):
    """What is said of one file."""

    format: Text = Field(description="name of the format, as in `incumbent formats`")
    columns: Columns | None = Field(
        default=None, description="for plain files, and where a format leaves open what holds the query"
    )


class FormatsFile(FileModel):
    """``formats.yaml`` in an eval set folder: the formats of files that fit several, or none."""

    formats: Literal[1] = Field(description="version of this format")
    files: dict[str, DeclaredFile] = Field(description="file name, relative to this file → what it is")


def _quoted(name: str) -> str:
    return foreign(json.dumps(name, ensure_ascii=False))


def declaring(file: str, path: str, format: str, columns: Columns | None = None, **named: str) -> str:
    """How to say in ``formats.yaml`` what a file is: the lines to write, and where; for a fix.

    ``path`` is where the file stands in its folder, ``file`` how messages call it; ``named`` columns are said beside
    ``columns``, which are said already.
    """
    said = {} if columns is None else columns.model_dump(exclude_none=True)
    told = ", ".join(f"{what}: {_quoted(name)}" for what, name in {**said, **named}.items())
    inner = f"format: {format}, columns: {{{told}}}" if told else f"format: {format}"
    line = f"files: {{{_quoted(path)}: {{{inner}}}}}"
    where = f"{foreign(file.removesuffix(path))}{FORMATS_FILE}"
    return f"write `formats: 1` and `{line}` into {where}; if it has `files` already, add this one to them"


def read_formats(
    document: Document, paths: Collection[str], known: Collection[str], named: Collection[str]
) -> Mapping[str, DeclaredFile]:
    """What ``document`` says by path; raises :class:`~bot.errors.InputError` with all its faults.

    ``paths`` are the files there are, ``known`` the names of the formats, ``named`` those whose columns may be named.
    """
    declared = validate(FormatsFile, document).files
    problems: list[Problem] = []
    for path, file in declared.items():
        if path not in paths:
            # To look for slips takes long, and of many nobody reads all.
            hint = perhaps(path, paths) if len(problems) < _HINTS else ""
            message = f"files.{path}: there is no such file{hint}"
            problems.append(document.problem(("files", path), message, "name a file of this folder"))
        if file.format not in known:
            message = f"files.{path}.format: {file.format!r} is no format{perhaps(file.format, known)}"
            fix = f"use one of: {', '.join(sorted(known))}"
            problems.append(document.problem(("files", path, "format"), message, fix))
        elif file.columns is not None and file.format not in named:
            message = f"files.{path}.columns: {file.format} has columns of its own"
            fix = f"remove `columns`, or use one of: {', '.join(sorted(named))}"
            problems.append(document.problem(("files", path, "columns"), message, fix))
    if problems:
        raise InputError(problems)
    return declared
