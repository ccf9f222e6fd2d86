"""Label files, whatever their format, into one set of labelled queries; every fault of every file at once."""

from __future__ import annotations

from collections.abc import Mapping

from bot.config import REVIEWED_FILES, Limits
from bot.errors import InputError, Problem
from bot.evaluation.label_tsv import read_tsv
from bot.evaluation.label_yaml import read_yaml
from bot.evaluation.labels import LabelFile, LabelledQuery, Vocabulary, join, resolve
from bot.files.documents import decode, parse

TABLES = (".tsv", ".tab", ".txt")
DOCUMENTS = (".yaml", ".yml", ".json")


def read_file(content: bytes, file: str, limits: Limits) -> LabelFile:
    """One label file, by its ending; raises :class:`InputError` where nothing of it can be read."""
    if file.lower().endswith(TABLES):
        return read_tsv(decode(content, file, REVIEWED_FILES), file, limits)
    if file.lower().endswith(DOCUMENTS):
        return read_yaml(parse(content, file, REVIEWED_FILES), limits)
    endings = ", ".join((*TABLES, *DOCUMENTS))
    raise InputError([Problem(file, None, "the ending does not say what the file holds", f"use one of: {endings}")])


def read_labels(contents: Mapping[str, bytes], vocabulary: Vocabulary, limits: Limits) -> tuple[LabelledQuery, ...]:
    """The queries of all files; ``contents`` by the names that people gave.

    Raises :class:`InputError` with the faults of all files, contradictions between them included.
    """
    problems: list[Problem] = []
    queries: list[LabelledQuery] = []
    for file, content in contents.items():
        try:
            found, faults = resolve(read_file(content, file, limits), vocabulary)
        except InputError as error:
            problems.extend(error.problems)
            continue
        queries.extend(found)
        problems.extend(faults)
    try:
        joined = join(queries)
    except InputError as error:
        problems.extend(error.problems)
    if problems:
        raise InputError(problems)
    return joined
