"""Classifications: what ``incumbent classify`` prints, as JSON and as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, TypeAlias

from pydantic import BaseModel, Field, PlainSerializer

from incumbent.classifier.classify import ClassifierResult
from incumbent.classifier.model import (
    Basis,
    CalledTools,
    Classification,
    Contradiction,
    Judgement,
    LikelyTool,
    Unfamiliar,
)
from incumbent.classifier.usage import Usage
from incumbent.files.validation import Checked
from incumbent.files.views import View
from incumbent.intake.query import Query
from incumbent.report.console import Printer
from incumbent.report.output import PreviewNote, Spent
from incumbent.report.query_context import remarks_on, without_secrets
from incumbent.report.verdict_text import PlainStyle, called, counted, first_turn
from incumbent.taxonomy.model import Taxonomy

CallsOutput: TypeAlias = Annotated[
    CalledTools, View("probability steps=likely", steps=tuple[Annotated[LikelyTool, View("tool probability")], ...])
]


@dataclass(frozen=True)
class ClassifiedQuery:
    """One classified query; ``said`` is the classifier's."""

    id: str
    said: Classification
    turns: tuple[str, ...]

    @property
    def exercises(self) -> dict[str, float]:
        """Confidence κ in [0, 1] by capability that is TRUE."""
        return {name: judged.confidence for name, judged in self.said.judgements.items() if judged.value}


ClassifiedQueryOutput: TypeAlias = Annotated[
    ClassifiedQuery,
    View(
        "id turns values=said.judgements off_taxonomy=said.off_taxonomy attempt=said.attempt "
        "basis=said.basis unfamiliar=said.unfamiliar calls=said.calls contradiction=said.contradiction",
        values=Annotated[Mapping[str, Checked[Judgement]], Field(description="by capability, in the taxonomy's order")],
        off_taxonomy=Annotated[tuple[str, ...], Field(description="exactly-one groups none of whose members fits")],
        attempt=Annotated[bool, Field(description="whether it argues with the classifier, or hides text from people")],
        basis=Annotated[
            Basis | None,
            Field(description="the weakest that an inferred confidence rests on; null: none was inferred"),
        ],
        unfamiliar=Annotated[
            Unfamiliar | None, Field(description="why the classifier cannot judge this kind of text; null: it can")
        ],
        calls=Annotated[
            CallsOutput | None, Field(description="the called tools that count; null: the question did not arise")
        ],
        contradiction=Annotated[
            Annotated[Contradiction, PlainSerializer(without_secrets)] | None,
            Field(description="null: the eval set does not contradict the classifier"),
        ],
    ),
]


class ClassifyOutput(BaseModel):
    """`incumbent classify --json`."""

    taxonomy: str = Field(description="version of the taxonomy")
    queries: list[ClassifiedQueryOutput]
    unclassified: list[str] = Field(description="queries that could not be classified")
    shortfalls: dict[str, str] = Field(description="query: why it could not be classified")
    usage: Spent
    preview: PreviewNote

    @staticmethod
    def of(
        result: ClassifierResult,
        queries: tuple[Query, ...],
        taxonomy: Taxonomy,
        usage: Usage | None,
        preview: str | None = None,
    ) -> ClassifyOutput:
        """``result`` for output; ``preview`` is why a quick model judged."""
        turns = {query.id: query.turns for query in queries}
        return ClassifyOutput(
            taxonomy=taxonomy.version,
            queries=[ClassifiedQuery(id, item, turns[id]) for id, item in result.classifications.items()],
            unclassified=list(result.unclassified),
            shortfalls=dict(result.shortfalls),
            usage=usage,
            preview=preview,
        )


def print_classified(result: ClassifierResult, queries: Sequence[Query], taxonomy: Taxonomy, out: Printer) -> None:
    """Print the capabilities of each query; a terminal shows the first queries with their texts."""
    style = PlainStyle(taxonomy)
    found = result.classifications
    texts = {query.id: first_turn(query.turns, style) for query in queries}
    out.line(f"{counted(len(found), 'query', 'queries')}; taxonomy {taxonomy.version}", "bold")
    header = ("query", "capability", "confidence", "decided by")
    if out.is_terminal:
        for id, item in islice(found.items(), out.shown(len(found))):
            rows = _rows(item) or [("exercises no capability", "", "")]
            out.title(f"{style.name(id)}  {texts[id]}")
            out.table("", header[1:], rows, bare=True, whole=True)
            for line in (*_besides(item, style), *remarks_on({id: item}).lines(style)):
                out.line(line)
        out.rest(len(found))
        return
    judged = [(style.name(id), *row) for id, item in found.items() for row in _rows(item) or [("", "", "")]]
    out.table("Capabilities", header, judged)
    besides = [f"{style.name(id)}: {line}" for id, item in found.items() for line in _besides(item, style)]
    out.lines("More on each query", besides)
    out.lines("Remarks", remarks_on(found).lines(style))


def _rows(item: Classification) -> list[tuple[str, str, str]]:
    return [(name, f"{judged.confidence:.2f}", judged.path) for name, judged in item.judgements.items() if judged.value]


def _besides(item: Classification, style: PlainStyle) -> list[str]:
    """What else is known of a query, beside its capabilities."""
    lines = [f"not {name} (corrected)" for name, value in item.corrected.items() if not value]
    lines += [] if item.calls is None else [f"called tools: {called(item.calls, style)}"]
    lines += [f"off taxonomy: {group}" for group in item.off_taxonomy]
    return lines + (["argues with the classifier, or hides text from people"] if item.attempt else [])
