"""Queries that come with their scores: the input of `incumbent consolidate`, the paper's cs-to-verdict range."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated

from pydantic import Field

from bot.documents import Document
from bot.errors import InputError, Problem
from bot.rater.model import ScoredQuery
from bot.suggest import perhaps
from bot.validation import FileModel, Score, Text, Tuple, validate


class ScoredQueryFile(FileModel):
    """One query with cs(q, c) for its TRUE capabilities."""

    id: Text
    turns: Annotated[Tuple[Text], Field(min_length=1)]
    scores: dict[str, Score]
    arbitrated: Tuple[Text] = Field(default=(), description="capabilities that arbitration alone made TRUE")
    attempt: bool = Field(default=False, description="whether it argued with the classifier: a person has to see it")


class ScoresFile(FileModel):
    """`incumbent consolidate --scores FILE`."""

    queries: Tuple[ScoredQueryFile]


def read_scores(document: Document, capabilities: Collection[str]) -> tuple[ScoredQuery, ...]:
    """The scored queries of ``document``; every fault at once as :class:`InputError`."""
    parsed = validate(ScoresFile, document)
    problems: list[Problem] = []
    seen: set[str] = set()
    for place, query in enumerate(parsed.queries):
        if query.id in seen:
            problems.append(
                document.problem(
                    ("queries", place, "id"), f"the id {query.id!r} is used twice", "give every query an id of its own"
                )
            )
        seen.add(query.id)
        for name in sorted(set(query.scores) - set(capabilities)):
            problems.append(
                document.problem(
                    ("queries", place, "scores", name),
                    f"the taxonomy has no capability {name!r}{perhaps(name, capabilities)}",
                    "use a capability id of taxonomy/taxonomy.yaml",
                )
            )
    if problems:
        raise InputError(problems)
    return tuple(
        ScoredQuery(
            id=query.id,
            turns=query.turns,
            scores=query.scores,
            arbitrated=frozenset(query.arbitrated),
            attempt=query.attempt,
        )
        for query in parsed.queries
    )
