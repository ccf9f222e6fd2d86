"""The ledger files with counts of people's answers to verdicts (docs/ledger.md, Events)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from bot.curator.entry import Timestamp
from bot.files.validation import FileModel, Text, Tuple
from bot.ledger.model import COUNTED_FILES, CommitId, Digest

Count = Annotated[int, Field(ge=1)]


class CountedAnswers(FileModel):
    """How many responses have this in common."""

    decision: str
    route: str
    reasons: Tuple[str]
    month: str
    explicit: bool
    agrees: bool
    count: Count


class CountedQuestions(FileModel):
    """How many questions ``judged`` people answered explicitly, of whom ``wanted`` want the query in the set."""

    table: str
    name: str
    wanted: Annotated[int, Field(ge=0)]
    judged: Annotated[int, Field(ge=2)]
    count: Count


class CountedWordings(FileModel):
    """How many responses give this reason at this moment; ``same`` is equal where only the spelling differs."""

    same: str
    at: Timestamp
    text: str
    overrides: bool
    count: Count


class CountedCapabilities(FileModel):
    """How many responses are to verdicts that rest on a capability."""

    capability: str
    explicit: bool
    overrides: bool
    count: Count


class AgreementRecord(FileModel):
    """``agreement.json``: what people made of verdicts, counted, so that events are not read again to tell of it.

    It is derived from the events alone: where it is missing, or of other ones, it is derived again.
    """

    format: Literal[1] = 1
    events: CommitId = Field(description="git's id of the folder of events that was counted")
    conditions: Digest = Field(description="of the taxonomy's history and the version of the product")
    files: Digest = Field(description="of the files that were counted, as `agreement/` lists them")
    people: dict[str, Count] = Field(default_factory=dict, description="responses that stand, by who gave them")
    answers: Tuple[CountedAnswers] = ()
    questions: Tuple[CountedQuestions] = Field(default=(), description="those that several people answered")
    wordings: Tuple[CountedWordings] = Field(default=(), description="reasons that people gave")
    rested: Tuple[CountedCapabilities] = ()
    gone_explicit: Annotated[int, Field(ge=0)] = Field(default=0, description="commands and answers that did not last")
    gone_implicit: Annotated[int, Field(ge=0)] = Field(default=0, description="merges whose effect was undone")


class CountedFile(FileModel):
    """A file of events as it was counted; what is added below is counted by itself."""

    blob: CommitId = Field(description="git's id of the content")
    size: Annotated[int, Field(ge=0)] = Field(description="bytes")
    about: Annotated[str, Field(pattern=r"^([0-9a-f]{5})*$")] = Field(
        description="the first five digits of the contents, and of digests of the entries, that it speaks of"
    )
    of_set: bool = Field(description="whether it tells of suggestions, requests or changes by hand")


class CountedFiles(FileModel):
    """``agreement/<part>.json``: some of the files of events that were counted, by name."""

    format: Literal[1] = 1
    files: dict[Text, CountedFile]


def counted_path(name: str) -> str:
    """The path of the counts of the file of events called ``name``; a hundred pull requests share one."""
    number = name.removesuffix(".jsonl")
    part = str(int(number) // 100) if number.isascii() and number.isdigit() and len(number) < 20 else "set"
    return f"{COUNTED_FILES}/{part}.json"
