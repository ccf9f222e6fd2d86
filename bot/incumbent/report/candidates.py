"""Candidates for a capability: what ``incumbent candidates --json`` prints, and the draft pull request of one.

All texts of customers are in code spans.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, TypeAlias

from pydantic import BaseModel, Field

from incumbent.classifier.usage import Usage
from incumbent.extension.model import DistinctiveTrait, DraftExemplar, ExtensionCandidate, Member, Signal
from incumbent.files.views import View
from incumbent.report.escaping import code
from incumbent.report.output import UsageOutput
from incumbent.report.pull_request_bodies import SHOWN
from incumbent.report.verdict_text import counted, listed, quoted

CandidateOutput: TypeAlias = Annotated[
    ExtensionCandidate,
    View(
        "id name group description named_by kind belongs_to core customers signals surprise excess "
        "cohesion telling queries=members positive negative",
        telling=tuple[
            Annotated[DistinctiveTrait, View("trait=trait.words members observed expected surprise")],
            ...,
        ],
        queries=tuple[Annotated[Member, View("id turns signals")], ...],
    ),
]
"""As people read it: traits in words, and signals counted."""


class CandidatesOutput(BaseModel):
    """The candidates, the most surprising first."""

    observed: int = Field(description="queries that were looked at")
    candidates: list[CandidateOutput]
    usage: UsageOutput | None = Field(description="what asking a language model has cost; null: none was asked")

    @staticmethod
    def of(observed: int, candidates: Sequence[ExtensionCandidate], usage: Usage | None) -> CandidatesOutput:
        """``candidates`` among so many queries for output."""
        return CandidatesOutput(observed=observed, candidates=list(candidates), usage=usage)


_KINDS = {
    "new-behaviour": "A new behaviour: no capability of the taxonomy seems to cover it",
    "missed-capability": "A missed capability: it seems to be one that the taxonomy has, and is not recognised",
    "new-combination": "A new combination: known capabilities together, often enough to be worth a name",
}
_SIGNALS = {
    Signal.LOW_PROBABILITY: "no capability is probable",
    Signal.OFF_TAXONOMY: "its agent fits no member of a group",
    Signal.SPLIT_VOTE: "the samples are torn",
    Signal.FAR: "no exemplar resembles it",
    Signal.UNFAMILIAR: "exemplars hardly have what it has",
}
_HOW = """\
- **To take it**, edit name, description and exemplars on this branch until a person and a model could judge by them, \
and merge. The exemplars are customers' words: leave out what should not stand in the taxonomy.
- **To refuse it**, close this pull request: what has the same core is not raised again."""


def candidate_title(candidate: ExtensionCandidate) -> str:
    """The title of the pull request: only ids of ours stand in it."""
    return f"Taxonomy: a capability {candidate.id}? ({candidate.kind.replace('-', ' ')})"[:250]


def render_candidate(candidate: ExtensionCandidate) -> str:
    """The description of the pull request."""
    customers = counted(len(candidate.customers), "customer", "customers")
    named = listed([quoted(name) for name in candidate.customers], SHOWN)
    about = f" ({listed([code(name) for name in candidate.belongs_to], SHOWN)})" if candidate.belongs_to else ""
    queries = counted(len(candidate.members), "query", "queries")
    by = "the language model" if candidate.named_by == "language model" else "counting its most telling terms"
    strength = (
        f"Cohesion {candidate.cohesion:.2f}; {100 * candidate.excess:.0f} % of it is more than the exemplars lead to "
        f"expect (chance 1 in 10^{candidate.surprise:.1f}). Name and description are by {by}."
    )
    blocks = [
        f"{_KINDS[candidate.kind]}{about}. {queries} of {customers} ({named}) have it in common.",
        "#### Why it was raised",
        "\n".join(
            f"- {quoted(item.trait.words)}: {item.members} of its queries; {item.observed} of all, where the exemplars "
            f"lead to expect {item.expected:.1f}"
            for item in candidate.telling
        ),
        "\n".join(f"- {_SIGNALS[signal]}: {count}" for signal, count in candidate.signals.items()),
        strength,
        f"#### Exemplars drawn ({len(candidate.positive)})",
        _rows(candidate.positive, "exemplar", "from"),
        f"#### Queries ({len(candidate.members)})",
        _rows([DraftExemplar(turns=item.turns, source=item.id) for item in candidate.members], "query", "from"),
        f"#### Hard negatives ({len(candidate.negative)})",
        _rows(candidate.negative, "exemplar", "of"),
        _HOW,
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _rows(items: Sequence[DraftExemplar], what: str, whence: str) -> str:
    if not items:
        return ""
    rows = [f"| {what} | {whence} |", "| --- | --- |"]
    rows += [f"| {quoted(' / '.join(item.turns))} | {quoted(item.source)} |" for item in items[:SHOWN]]
    if len(items) > SHOWN:
        rows.append(f"| and {len(items) - SHOWN} more | |")
    return "\n".join(rows)
