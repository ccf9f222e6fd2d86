"""The ledger files with counts of people's answers to verdicts (docs/ledger.md, Events)."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any, NamedTuple, TypeVar, get_args, get_type_hints

from pydantic import Field, GetCoreSchemaHandler, ValidatorFunctionWrapHandler
from pydantic_core import CoreSchema
from pydantic_core.core_schema import (
    list_schema,
    no_info_wrap_validator_function,
    plain_serializer_function_ser_schema,
    typed_dict_field,
    typed_dict_schema,
)

from incumbent.files.validation import Digest, FileModel, Text, Timestamp, Tuple
from incumbent.ledger.model import COUNTED_FILES, CommitId, LedgerFile

Count = Annotated[int, Field(ge=1)]


class ResponseGroup(NamedTuple):
    """The properties that responses of one kind share, as far as shares need them."""

    decision: str
    route: str
    reasons: Tuple[str]
    month: str
    explicit: bool
    agrees: bool


class Question(NamedTuple):
    """A question that several people judged explicitly: ``judged`` of them, of whom ``wanted`` want it in the set.

    It counts in the row ``name`` of ``table``.
    """

    table: str
    name: str
    wanted: Annotated[int, Field(ge=0)]
    judged: Annotated[int, Field(ge=2)]


class Wording(NamedTuple):
    """A reason as it was written, and when; ``same`` is equal for all spellings of it."""

    same: str
    at: Timestamp
    text: str
    overrides: bool


class Rested(NamedTuple):
    """An answer to a verdict that rests on ``capability``."""

    capability: str
    explicit: bool
    overrides: bool


class _CountedItems:
    """Writes a counter of named tuples as a list of their fields, each with its ``count``, in order."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        (kind,) = get_args(source)
        types = get_type_hints(kind, include_extras=True) | {"count": Count}
        fields = {name: typed_dict_field(handler.generate_schema(type)) for name, type in types.items()}
        rows = list_schema(typed_dict_schema(fields, config={"strict": True, "extra_fields_behavior": "forbid"}))

        def counter(value: Any, validate: ValidatorFunctionWrapHandler) -> Counter[Any]:
            if isinstance(value, Counter):
                return value
            return Counter({kind(*map(row.get, kind._fields)): row["count"] for row in validate(value)})

        written = plain_serializer_function_ser_schema(_rows_of, return_schema=rows)
        return no_info_wrap_validator_function(counter, rows, serialization=written)


def _rows_of(counts: Counter[Any]) -> list[dict[str, Any]]:
    return [{**item._asdict(), "count": count} for item, count in sorted(counts.items())]


Item = TypeVar("Item")
Counts = Annotated[Counter[Item], _CountedItems()]


class AgreementRecord(LedgerFile, extra="ignore"):
    """``agreement.json``: counts of people's answers to verdicts, so that events need not be read again.

    They are derived from the events alone; if they are missing or outdated, they are derived again.
    """

    events: CommitId = Field(description="git's id of the folder of events that was counted")
    conditions: Digest = Field(description="of the taxonomy's history and the version of the product")
    files: Digest = Field(description="of the files that were counted, as `agreement/` lists them")
    people: dict[str, Count] = Field(default_factory=dict, description="responses that stand, by who gave them")
    answers: Counts[ResponseGroup] = Field(default_factory=Counter)
    questions: Counts[Question] = Field(default_factory=Counter, description="those that several people answered")
    wordings: Counts[Wording] = Field(default_factory=Counter, description="reasons that people gave")
    rested: Counts[Rested] = Field(default_factory=Counter)
    gone_explicit: Annotated[int, Field(ge=0)] = Field(default=0, description="commands and answers that did not last")
    gone_implicit: Annotated[int, Field(ge=0)] = Field(default=0, description="merges whose effect was undone")


class CountedFile(FileModel, extra="ignore"):
    """A file of events as it was counted; events that are appended later are counted by themselves."""

    blob: CommitId = Field(description="git's id of the content")
    size: Annotated[int, Field(ge=0)] = Field(description="bytes")
    about: Annotated[str, Field(pattern=r"^([0-9a-f]{5})*$")] = Field(
        description="the first five digits of the contents, and of digests of the entries, that it speaks of"
    )
    of_set: bool = Field(description="whether it tells of suggestions, requests or changes by hand")


class CountedFiles(LedgerFile, extra="ignore"):
    """``agreement/<part>.json``: a part of the counted files of events, by name."""

    files: dict[Text, CountedFile]


def counted_path(name: str) -> str:
    """The path of the counts of the file of events called ``name``; a hundred pull requests share one."""
    number = name.removesuffix(".jsonl")
    part = str(int(number) // 100) if number.isascii() and number.isdigit() and len(number) < 20 else "set"
    return f"{COUNTED_FILES}/{part}.json"
