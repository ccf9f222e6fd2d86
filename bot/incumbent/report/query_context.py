"""What is beside a verdict: attachments, expected tools, remarks, personal data, corrections, what is in the way."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from pydantic import BaseModel, Field

from incumbent.classifier.model import Classification, Contradiction, Unfamiliar
from incumbent.consolidator.verdict import CloseCall, Reason, Verdict
from incumbent.files.validation import Checked
from incumbent.intake.expectation import tool_names, understand
from incumbent.intake.query import Query
from incumbent.intake.specification import UNLISTED
from incumbent.pipeline.replace_personal_data import Replacement
from incumbent.pipeline.review import Review
from incumbent.pipeline.submission import Submission
from incumbent.rater.contextualizer import LiveSet
from incumbent.report.escaping import code, code_block
from incumbent.report.tables import TableWriter, folded
from incumbent.report.verdict_text import (
    MarkdownStyle,
    TextStyle,
    agreeing,
    contradicts,
    counted,
    is_unfamiliar,
    listed,
    why_of_group,
)
from incumbent.text.masking import masked, masked_together
from incumbent.text.personal_data.detector import kinds_in_words


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedTool:
    """A tool that an eval set expects to be called, or not to be if ``unwanted``; of alternatives, all in one name.

    ``declared`` tells whether the agent's specification has a tool of exactly this name; ``None``: that is not known,
    since it lists no tools, or not all of them.
    """

    name: str
    unwanted: bool
    declared: bool | None


def expected_tools(query: Query, submission: Submission) -> tuple[ExpectedTool, ...] | None:
    """The tools that ``query`` expects, each once and in the order of its eval set; none where it expects no call.

    ``None`` where the eval set does not say.
    """
    listed_tools = frozenset(submission.tools or ())
    is_whole = submission.tools is not None and UNLISTED not in listed_tools
    expectation = understand(query.expected, len(query.turns), tool_names(submission.tools or ()).is_declared)
    if not (expectation.tool_calls or expectation.no_tools):
        return None
    return tuple(
        ExpectedTool(
            name=" or ".join(names),
            unwanted=unwanted,
            declared=True if listed_tools.issuperset(names) else False if is_whole else None,
        )
        for names, unwanted in dict.fromkeys((call.names, call.unwanted) for call in expectation.tool_calls)
    )


def evidence(query: Query, submission: Submission, style: TextStyle) -> str:
    """What is attached to ``query``, and the tools that it expects, a sentence each; empty where there is nothing."""
    attached = [style.name(name) for name in query.setup.attachments]
    sentences = [f"Attached: {listed(attached)}."] if attached else []
    return " ".join([*sentences, *_tool_sentences(query, submission, style)])


def _tool_sentences(query: Query, submission: Submission, style: TextStyle) -> list[str]:
    tools = expected_tools(query, submission)
    if not tools:
        return [] if tools is None else ["Expected: no tool call."]
    wanted, unwanted = ([tool for tool in tools if tool.unwanted is each] for each in (False, True))
    parts = [f"Expected tools: {_named(wanted, style)}"] if wanted else []
    parts += [f"{'not' if wanted else 'Tools not'} to be called: {_named(unwanted, style)}"] if unwanted else []
    return [f"{'; '.join(parts)}."] if parts else []


def _named(tools: Sequence[ExpectedTool], style: TextStyle) -> str:
    # Of many only the first are named: those that are missing first.
    shown = sorted(tools, key=lambda tool: tool.declared is not False)
    return listed([f"{style.name(tool.name)}{' (not declared)' * (tool.declared is False)}" for tool in shown])


def without_secrets(found: Contradiction) -> Contradiction:
    """``found`` for output."""
    return replace(found, expected=tuple(map(masked, found.expected)), likeliest=tuple(map(masked, found.likeliest)))


class RemarksOutput(BaseModel):
    """The classifier's remarks on queries or entries, by their ids."""

    contradictions: dict[str, Checked[Contradiction]] = Field(
        description="where the eval set expects other calls of tools than the classifier; those that it expects count"
    )
    unfamiliar: dict[str, Unfamiliar] = Field(description="why the classifier cannot judge this kind of text")

    def lines(self, style: TextStyle) -> list[str]:
        """The remarks, a sentence or two each."""
        found = [contradicts(id, item, style) for id, item in self.contradictions.items()]
        return found + [is_unfamiliar(id, why, style) for id, why in self.unfamiliar.items()]


def remarks_on(items: Mapping[str, Classification]) -> RemarksOutput:
    """The remarks on ``items``, by query."""
    found = items.items()
    return RemarksOutput(
        contradictions={
            id: without_secrets(item.contradiction) for id, item in found if item.contradiction is not None
        },
        unfamiliar={id: item.unfamiliar for id, item in found if item.unfamiliar is not None},
    )


SHOWN_QUERIES: Final = 20
"""Queries whose replaced text is shown; the command replaces all."""

LONGEST_OFFER: Final = 2000
"""Characters of the replaced turns of a query that are shown; longer ones are left to the command."""


def personal_blocks(review: Review, style: MarkdownStyle, table: TableWriter) -> list[str]:
    """The queries that hold personal data, where they are, and what to write instead; no value of them is shown."""
    if not review.personal:
        return []
    rows = [
        (
            f"**{style.name(id)}**",
            code(_place(review.queries[id])),
            f"{kinds_in_words(kinds)}{_beyond_turns(review, id)}",
        )
        for id, kinds in review.personal.items()
    ]
    folders = dict.fromkeys(review.origins[id].folder for id in review.personal)
    commands = listed([code(f"incumbent scan {shlex.quote(folder)} --replace") for folder in folders])
    about = (
        f"Replace it: copy the texts below, or run {commands}. A made-up value can be allowed in "
        "`personal_data.allowed` of the config, and a curator may accept a query as written."
    )
    blocks = [f"#### Personal data ({len(rows)})", about, table(("Query", "Where", "Holds"), rows)]
    ids = list(review.personal)
    offers = [block for id in ids[:SHOWN_QUERIES] for block in _offer(review, style, id)]
    if offers and table.detail.folds:
        rest = len(ids) - SHOWN_QUERIES
        more = [f"And {counted(rest, 'more query', 'more queries')}, which the command replaces."] if rest > 0 else []
        blocks.append(folded("Replaced texts to copy", "\n\n".join([*offers, *more])))
    return blocks


def personal_lines(review: Review, style: TextStyle) -> list[str]:
    """Where personal data is, and of which kinds, a query a line."""
    return [
        f"{style.name(id)} ({style.quote(_place(review.queries[id]))}) holds {kinds_in_words(kinds)}"
        for id, kinds in review.personal.items()
    ]


def _place(query: Query) -> str:
    return query.file if query.line is None else f"{query.file}:{query.line}"


def _beyond_turns(review: Review, id: str) -> str:
    within = review.platform.personal_in(review.queries[id].turns, review.origins[id].customer)
    return "" if within == review.personal[id] else "; not in its turns alone: the command finds all of it"


def _offer(review: Review, style: MarkdownStyle, id: str) -> list[str]:
    """The turns of the query ``id`` that change, each as a block to copy."""
    turns = review.queries[id].turns
    detector = review.platform.config.personal_data.detector(review.origins[id].customer)
    # As the command replaces them: numbers are those of all texts of the query.
    replacement = Replacement.of([review.queries[id].texts], detector)
    replaced = [*map(replacement.text, turns)]
    changed = [place for place, turn in enumerate(turns) if replaced[place] != turn]
    if sum(len(replaced[place]) for place in changed) > LONGEST_OFFER:
        return [f"{style.name(id)}: too long to be shown here; the command replaces it."]
    shown = masked_together(replaced)
    blocks = []
    for place in changed:
        blocks.append(f"{style.name(id)}:" if len(turns) == 1 else f"{style.name(id)}, turn {place + 1}:")
        blocks.append(code_block(shown[place]))
    return blocks


SHOWN = 5
"""Queries that one sentence names, and sentences that are shown; the rest is counted."""


def corrected_lines(review: Review, style: TextStyle) -> list[str]:
    """A sentence for each curator and what they corrected."""
    said: dict[tuple[str, str], list[str]] = {}
    for name, tags in review.corrected.items():
        by: dict[str, list[str]] = {}
        for id, item in tags.items():
            words = style.capability(id) if item.value else f"not {style.capability(id)}"
            by.setdefault("a curator" if item.by is None else style.name(item.by), []).append(words)
        for person, tagged in by.items():
            said.setdefault((person, listed(tagged, len(tagged))), []).append(name)
    lines = [
        f"Corrected by {person}: {listed(list(map(style.name, names)), SHOWN)} "
        f"{agreeing(names, 'exercises', 'exercise')} {words}."
        for (person, words), names in said.items()
    ]
    rest = [f"{len(lines) - SHOWN} more corrections hold."] if len(lines) > SHOWN else []
    return [*lines[:SHOWN], *rest]


@dataclass(frozen=True, slots=True)
class ExcludedGroup:
    """Excluded queries that share a ``reason``, in words; ``verdicts`` in the cycle's order."""

    reason: str
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True)
class Excluded:
    """The excluded queries of ``review``, written in ``style``."""

    review: Review
    style: TextStyle

    @cached_property
    def close_calls(self) -> tuple[tuple[str, CloseCall], ...]:
        """Those that are close calls, by id, the likeliest first."""
        found = [(item.id, item.close_call) for item in self.review.plan.excluded if item.close_call is not None]
        return tuple(sorted(found, key=lambda item: (-item[1].likelihood, item[0])))

    @property
    def shown_close_calls(self) -> tuple[tuple[str, CloseCall], ...]:
        """The first of them, as many as `limits.close_calls` says."""
        return self.close_calls[: self.review.platform.config.limits.close_calls]

    @cached_property
    def groups(self) -> tuple[ExcludedGroup, ...]:
        """All of them by reason, the largest group first, then by the reason's words."""
        found: dict[str, list[Verdict]] = {}
        for verdict in self.review.plan.excluded:
            found.setdefault(why_of_group(verdict, self.review, self.style), []).append(verdict)
        groups = (ExcludedGroup(reason, tuple(verdicts)) for reason, verdicts in found.items())
        return tuple(sorted(groups, key=lambda group: (-len(group.verdicts), group.reason)))

    def in_the_way(self, verdict: Verdict) -> str:
        """The entry that covers all that the query does, or else the one with the most similar text."""
        facts = verdict.facts
        near = "" if facts.most_similar is None else self.style.name(facts.most_similar)
        if Reason.CLONE in verdict.reasons:
            return f"{near} ({facts.max_similarity:.2f})"
        covering = self._coverer(frozenset(facts.competent))
        if covering:
            return f"{self.style.name(covering)} covers all of it"
        return f"nearest text: {near}" if near else ""

    def _coverer(self, competent: frozenset[str]) -> str:
        """The first member of the set, by admission, that covers ``competent``; empty if none does by itself."""
        if competent not in self._coverers:
            index = self._live.capabilities.index
            wanted = sum(1 << index[name] for name in competent if name in index)
            known = bool(competent) and index.keys() >= competent
            covering = (member.id for member in self._live.members if known and not wanted & ~member.caps)
            self._coverers[competent] = next(covering, "")
        return self._coverers[competent]

    @cached_property
    def _coverers(self) -> dict[frozenset[str], str]:
        return {}

    @cached_property
    def _live(self) -> LiveSet:
        """The set once the direct admissions are in."""
        entered = [self.review.scored[verdict.id] for verdict in self.review.verdicts if verdict.admitted]
        live = LiveSet(self.review.residents, entered, self.review.platform.config)
        for query in entered:
            live.admit(live.profile(query))
        return live
