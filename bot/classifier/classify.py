"""From queries to classifications: the specification path, the inference path and arbitration in one place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from bot.classifier.arbitration import Evidence, arbitrate
from bot.classifier.cleaning import hides_text
from bot.classifier.model import Backend, Classification, Finding, InferenceRequest, Progress
from bot.classifier.specification_path import declared_values, inferred_capabilities, tool_decides
from bot.errors import IncompleteError, IncumbentError, OutsideError
from bot.intake.query import Query
from bot.intake.specification import Specification, Tool
from bot.taxonomy.model import Taxonomy


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassifierResult:
    """``classifications`` in the order of the queries; ``unclassified`` are the ids of the others.

    ``shortfalls`` says of each of those why; ``stopped`` is what kept the backend from going on, if anything did: what
    it had found by then is here.
    """

    classifications: tuple[Classification, ...]
    unclassified: tuple[str, ...]
    shortfalls: Mapping[str, str] = field(default_factory=dict)
    stopped: IncumbentError | None = None


def classify(
    queries: Sequence[Query], specification: Specification, taxonomy: Taxonomy, backend: Backend, progress: Progress
) -> ClassifierResult:
    """What each query exercises of ``taxonomy`` (paper, section 2.2; semantics, section 2).

    ``backend`` is asked only for what the specification does not decide, and for the tool that a query would call only
    where that decides between declared members.
    """
    declared = declared_values(taxonomy, specification)
    capabilities = inferred_capabilities(taxonomy, declared)
    tools = distinct(specification.tools or ()) if tool_decides(taxonomy, declared) else ()
    findings: dict[int, Finding] = {}
    stopped: IncumbentError | None = None
    if capabilities or tools:
        requests = [
            InferenceRequest(query_id=query.id, turns=query.heard, capabilities=capabilities, tools=tools)
            for query in queries
        ]
        try:
            for place, finding in backend.infer(requests):
                findings[place] = finding
                progress(len(findings), len(requests))
        except (OutsideError, IncompleteError) as error:
            stopped = error
    else:
        findings = dict.fromkeys(range(len(queries)), Finding())
    by_tool: dict[str, frozenset[str]] = {}
    for tool in tools:
        implied = declared_values(taxonomy, specification.for_tool(tool))
        by_tool[tool.name] = frozenset(name for name, value in implied.items() if value)
    classifications: list[Classification] = []
    shortfalls: dict[str, str] = {}
    for place, query in enumerate(queries):
        found = findings.get(place, Finding(shortfall=f"it was not asked about: {stopped}"))
        if found.shortfall is not None:
            shortfalls[query.id] = found.shortfall
            continue
        evidence = Evidence(
            declared=declared,
            inferred=found.consensus,
            tool=found.tool,
            implied=frozenset() if found.tool is None else by_tool[found.tool.tool],
            attempt=found.attempt or hides_text(query.heard),
        )
        classifications.append(arbitrate(query.id, taxonomy, evidence))
    return ClassifierResult(
        classifications=tuple(classifications),
        unclassified=tuple(shortfalls),
        shortfalls=shortfalls,
        stopped=stopped,
    )


def distinct(tools: Sequence[Tool]) -> tuple[Tool, ...]:
    """``tools`` under names of their own: two plugins may declare a function of one name, and mean different things."""
    taken = {tool.name for tool in tools}
    seen: set[str] = set()
    renamed: list[Tool] = []
    for tool in tools:
        name, number = tool.name, 1
        while name in seen or (number > 1 and name in taken):
            number += 1
            name = f"{tool.name} {number}"
        seen.add(name)
        renamed.append(tool if name == tool.name else replace(tool, name=name))
    return tuple(renamed)
