"""From queries to classifications: the specification path, the inference path and arbitration in one place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.classifier.arbitration import Evidence, arbitrate
from bot.classifier.consistency import agree
from bot.classifier.model import Backend, Classification, Inference, InferenceRequest, Progress
from bot.classifier.specification_path import declared_values, inferred_capabilities, tool_decides
from bot.intake.query import Query
from bot.intake.specification import Specification, Tool
from bot.taxonomy.model import Taxonomy


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassifierResult:
    """``classifications`` in the order of the queries; ``unclassified`` are the ids with too few valid samples."""

    classifications: tuple[Classification, ...]
    unclassified: tuple[str, ...]


def classify(
    queries: Sequence[Query], specification: Specification, taxonomy: Taxonomy, backend: Backend, progress: Progress
) -> ClassifierResult:
    """What each query exercises of ``taxonomy`` (paper, section 2.2; semantics, section 2).

    ``backend`` is asked only for what the specification does not decide, and for the tool that a query would call only
    where that decides between declared members.  Raises :class:`bot.errors.OutsideError` when it cannot be reached.
    """
    declared = declared_values(taxonomy, specification)
    capabilities = inferred_capabilities(taxonomy, declared)
    tools = distinct(specification.tools or ()) if tool_decides(taxonomy, declared) else ()
    if capabilities or tools:
        requests = [
            InferenceRequest(query_id=query.id, turns=query.turns, capabilities=capabilities, tools=tools)
            for query in queries
        ]
        asked_for = backend.identity.samples
        answers = backend.infer(requests, progress) if requests else ()
    else:
        asked_for = 0
        answers = (Inference(samples=()),) * len(queries)
    by_tool: dict[str, frozenset[str]] = {}
    for tool in tools:
        implied = declared_values(taxonomy, specification.for_tool(tool))
        by_tool[tool.name] = frozenset(name for name, value in implied.items() if value)
    classifications: list[Classification] = []
    unclassified: list[str] = []
    for query, answer in zip(queries, answers, strict=True):
        inferred = agree(answer.samples, capabilities, asked_for) if asked_for else {}
        if inferred is None:
            unclassified.append(query.id)
            continue
        evidence = Evidence(
            declared=declared,
            inferred=inferred,
            tool=answer.tool,
            implied=frozenset() if answer.tool is None else by_tool[answer.tool.tool],
        )
        classifications.append(arbitrate(query.id, taxonomy, evidence))
    return ClassifierResult(classifications=tuple(classifications), unclassified=tuple(unclassified))


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
