"""Reads scored queries, the input of `incumbent consolidate`: the paper's range from cs to verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field, Strict

from incumbent.classifier.model import Identity
from incumbent.errors import InputError, Problem
from incumbent.files.documents import Document
from incumbent.files.validation import Checked, FileFormat, FileModel, Score, Text, Tuple, validate
from incumbent.rater.adapter import doubts_of
from incumbent.rater.model import ScoredQuery
from incumbent.taxonomy.model import Taxonomy
from incumbent.text.did_you_mean import did_you_mean
from incumbent.text.personal_data.model import PersonalDataKind


# Not `ScoredQuery`: here doubts are a mapping, which needs no taxonomy, and the query may come with its entry.
class ScoredQueryFile(FileModel):
    """A query with its scores."""

    id: Text = Field(description="unique")
    turns: Annotated[Tuple[Text], Field(min_length=1)] = Field(description="what the user says, in order")
    scores: dict[str, Score] = Field(description="cs by capability id, of what the query exercises")
    by_rule: Tuple[Text] = Field(default=(), description="of these, decided by a rule")
    arbitrated: Tuple[Text] = Field(default=(), description="of these, TRUE by arbitration alone")
    customer: Text | None = Field(default=None, description="who brought it")
    doubts: dict[str, Score] = Field(default_factory=dict, description="capability that it may exercise: probability")
    attempt: bool = Field(default=False, description="it argued with the classifier")
    personal_data: dict[Annotated[PersonalDataKind, Strict(False)], Annotated[int, Field(ge=1)]] = Field(
        default_factory=dict, description="kind in the query: values"
    )
    familiar: bool = Field(default=True, description="the classifier can judge its text")
    setup_cost: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        default=1.0, description="of its set-up; decides between equals"
    )
    entry: Text | None = Field(default=None, description="the entry that it has or would have")
    content: Text | None = Field(default=None, description="digest to compare that entry with")

    @staticmethod
    def of(query: ScoredQuery, least_doubt: float, entry: str | None, content: str | None) -> ScoredQueryFile:
        """``query`` with its doubts from the probability ``least_doubt`` on; ``content`` is a digest of it."""
        return ScoredQueryFile(
            id=query.id,
            turns=query.turns,
            scores=dict(query.scores),
            by_rule=tuple(sorted(query.by_rule)),
            arbitrated=tuple(sorted(query.arbitrated & query.scores.keys())),
            customer=query.customer,
            doubts={item.capability: item.probability for item in query.doubts if item.probability >= least_doubt},
            attempt=query.attempt,
            personal_data={PersonalDataKind(kind): count for kind, count in query.personal.items()},
            familiar=query.familiar,
            setup_cost=query.setup_cost,
            entry=entry,
            content=content,
        )


class ScoresFile(FileModel):
    """`incumbent consolidate --scores FILE`."""

    format: FileFormat[Literal[1]] = 1
    queries: Tuple[ScoredQueryFile]
    taxonomy: Text | None = Field(
        default=None, description="version of the taxonomy that the queries were scored under; null: the platform's"
    )
    classifier: Checked[Identity] | None = Field(
        default=None, description="by whom they were scored: entries of another do not count; null: by that of the set"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptScores:
    """Scored queries with the data stored beside them.

    ``entries`` maps queries to the unique ids of their existing or future entries, ``contents`` to the digests of the
    scored content.  ``identity`` is the classifier's (``None``: not given).
    """

    queries: tuple[ScoredQuery, ...]
    entries: Mapping[str, str] = field(default_factory=dict)
    contents: Mapping[str, str] = field(default_factory=dict)
    identity: Identity | None = None


def read_scores(document: Document, taxonomy: Taxonomy) -> KeptScores:
    """The scored queries of ``document`` under ``taxonomy``; raises :class:`InputError` with every fault."""
    parsed = validate(ScoresFile, document)
    problems = [*_shared(document, parsed), *_astray(document, parsed)]
    if parsed.taxonomy not in (None, taxonomy.version):
        message = f"taxonomy: the scores are of version {parsed.taxonomy}, and the platform has {taxonomy.version}"
        problems.append(
            document.problem(("taxonomy",), message, "rate the queries again under the platform's taxonomy")
        )
    else:
        # Unknown capabilities are not a second fault if the version differs.
        problems += _unknown(document, parsed, taxonomy)
    if problems:
        raise InputError(problems)
    return KeptScores(
        queries=tuple(
            ScoredQuery(
                id=query.id,
                turns=query.turns,
                scores=query.scores,
                customer=query.customer,
                by_rule=frozenset(query.by_rule),
                arbitrated=frozenset(query.arbitrated),
                doubts=doubts_of(query.doubts, taxonomy),
                attempt=query.attempt,
                personal={kind.value: count for kind, count in query.personal_data.items()},
                familiar=query.familiar,
                setup_cost=query.setup_cost,
            )
            for query in parsed.queries
        ),
        entries={query.id: query.entry for query in parsed.queries if query.entry is not None},
        contents={query.id: query.content for query in parsed.queries if query.content is not None},
        identity=parsed.classifier,
    )


def _shared(document: Document, parsed: ScoresFile) -> list[Problem]:
    """Ids of queries and of entries that two queries have."""
    problems: list[Problem] = []
    seen: set[str] = set()
    owners: dict[str, str] = {}
    for place, query in enumerate(parsed.queries):
        if query.id in seen:
            message = f"the id {query.id!r} is used twice"
            problems.append(document.problem(("queries", place, "id"), message, "give every query an id of its own"))
        elif query.entry is not None and query.entry in owners:
            message = f"the entry {query.entry!r} is that of {owners[query.entry]!r} already"
            fix = "leave out one of the two queries, or the `entry` that is not its own"
            problems.append(document.problem(("queries", place, "entry"), message, fix))
        elif query.entry is not None:
            owners[query.entry] = query.id
        seen.add(query.id)
    return problems


def _unknown(document: Document, parsed: ScoresFile, taxonomy: Taxonomy) -> list[Problem]:
    """Scores of, and doubts about, capabilities that ``taxonomy`` does not have."""
    return [
        document.problem(
            ("queries", place, key, name),
            f"the taxonomy has no capability {name!r}{did_you_mean(name, taxonomy.by_id)}",
            "use a capability id of taxonomy/taxonomy.yaml",
        )
        for place, query in enumerate(parsed.queries)
        for key, named in (("scores", query.scores), ("doubts", query.doubts))
        for name in sorted(set(named) - set(taxonomy.by_id))
    ]


def _astray(document: Document, parsed: ScoresFile) -> list[Problem]:
    """Data about a score or an entry that the query does not have."""
    problems: list[Problem] = []
    for place, query in enumerate(parsed.queries):
        for name in sorted(set(query.arbitrated) - set(query.scores)):
            message = f"{name!r} is arbitrated and has no score{did_you_mean(name, query.scores)}"
            fix = "name capabilities of `scores` alone"
            problems.append(document.problem(("queries", place, "arbitrated"), message, fix))
        for name in sorted(set(query.doubts) & set(query.scores)):
            message = f"{name!r} is exercised, and there is doubt whether it is"
            fix = "leave it out of `doubts`, or out of `scores`"
            problems.append(document.problem(("queries", place, "doubts", name), message, fix))
        if query.content is not None and query.entry is None:
            message = "`content` is what an entry is compared with, and there is no `entry`"
            fix = "give the `entry` too, or leave `content` out"
            problems.append(document.problem(("queries", place, "content"), message, fix))
    return problems
