"""Labels in YAML, or the same in JSON (docs/evaluation.md)."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import AfterValidator, Field

from bot.config import Limits
from bot.errors import InputError, Problem
from bot.evaluation.label_tsv import turn_problems
from bot.evaluation.labels import LabelFile, LabelRow
from bot.files.documents import Data, Document, as_mapping
from bot.files.label_tables import Word
from bot.files.validation import DemandError, FileModel, Text, Tuple, validate
from bot.intake.query import SpokenFile

FORMAT_VERSION: Final = 1


def _known_version(version: int) -> int:
    if version != FORMAT_VERSION:
        raise DemandError(
            f"{FORMAT_VERSION}, the only version of the format there is", f"write `labels: {FORMAT_VERSION}`"
        )
    return version


class LabelledQueryFile(SpokenFile):
    """One query and its labels."""

    true: Tuple[Text] = Field(description="capabilities that the query exercises; the others are FALSE")
    unknown: Tuple[Text] = Field(default=(), description="capabilities of which nobody can tell; left out of measures")
    note: Text | None = Field(default=None, description="why, for other people; nothing reads it")


class LabelsFile(FileModel):
    """Labels of queries, for example ``labels/intent.yaml``."""

    labels: Annotated[int, AfterValidator(_known_version)] = Field(
        description="version of the format", json_schema_extra={"const": FORMAT_VERSION}
    )
    capabilities: Tuple[Text] | None = Field(
        default=None,
        description="what the file labels at all; the rest is unknown. Absent: the capabilities that occur in it",
    )
    names: dict[str, Text] = Field(
        default_factory=dict, description="name that the file uses: the capability's id, or `-` to leave it out"
    )
    queries: Tuple[LabelledQueryFile]


def read_yaml(document: Document, limits: Limits) -> LabelFile:
    """The rows of ``document``, with the faults of those that cannot be read.

    Raises :class:`InputError`, with the faults of all rows, where the rest of the file is at fault.
    """
    data = dict(as_mapping(document.data))
    rows: list[LabelRow] = []
    problems: list[Problem] = []
    items = data.get("queries")
    if isinstance(items, list):
        # Queries are validated one by one, so that a broken one hides no fault of another.
        data["queries"] = []
        for place, item in enumerate(items):
            try:
                rows.append(_row(document, item, place, limits))
            except InputError as error:
                problems.extend(error.problems)
    try:
        file = validate(LabelsFile, document, data if isinstance(document.data, dict) else document.data)
    except InputError as error:
        raise InputError([*problems, *error.problems]) from None
    listed = file.capabilities
    return LabelFile(
        file=document.file,
        rows=tuple(rows),
        capabilities=None
        if listed is None
        else tuple(Word(name, document.line(("capabilities", place))) for place, name in enumerate(listed)),
        meanings={name: Word(meaning, document.line(("names", name))) for name, meaning in file.names.items()},
        problems=tuple(problems),
    )


def _row(document: Document, item: Data, place: int, limits: Limits) -> LabelRow:
    query = validate(LabelledQueryFile, document, item, ("queries", place))
    turns = query.spoken
    line = document.line(("queries", place))
    problems = turn_problems(document.file, line, list(turns), limits)
    if problems:
        raise InputError(problems)
    return LabelRow(turns=turns, true=query.true, unknown=query.unknown, line=line)
