"""From queries to classifications: runs all paths and arbitration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from incumbent.classifier.arbitration import PathFindings, arbitrate
from incumbent.classifier.model import (
    Backend,
    CalledTools,
    Classification,
    Finding,
    InferenceRequest,
    Progress,
    StatedCalls,
)
from incumbent.classifier.paths import (
    UNKNOWN_NAMES,
    Declared,
    StructureRules,
    ToolValues,
    call_capability,
    called_values,
    contradiction,
    counted_values,
    declared_values,
    expectation,
    expected_calls,
    fits_none,
    inferred_capabilities,
    ordered_values,
    silent_capabilities,
    structure_rules,
    tool_decides,
    tool_values,
    unlisted_values,
    without,
)
from incumbent.classifier.visible_text import hides_text
from incumbent.errors import IncompleteError, IncumbentError, OutsideError
from incumbent.intake.query import Query
from incumbent.intake.specification import UNLISTED, Specification, Tool
from incumbent.taxonomy.model import Taxonomy


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassifierResult:
    """``classifications`` by query, in the order of the queries; ``shortfalls`` says why the others have none.

    ``stopped`` is what stopped the backend, if anything did: its findings up to then are here.
    """

    classifications: Mapping[str, Classification]
    shortfalls: Mapping[str, str] = field(default_factory=dict)
    stopped: IncumbentError | None = None

    @property
    def unclassified(self) -> tuple[str, ...]:
        """The queries that could not be classified."""
        return tuple(self.shortfalls)


def classify(
    queries: Sequence[Query], specification: Specification, taxonomy: Taxonomy, backend: Backend, progress: Progress
) -> ClassifierResult:
    """The capabilities of ``taxonomy`` that each query exercises (paper, section 2.2; semantics, section 2).

    ``backend`` is asked only about what neither the specification nor the structure of a query decides, and about
    called tools only if something depends on them.
    """
    agent = _Agent.of(taxonomy, specification)
    counted = _counted(agent.structure, queries)
    distinct = {id(found): found for found in counted}
    inferred = {key: agent.inferred(found) for key, found in distinct.items()}
    requests = [agent.request(query, inferred[id(found)]) for query, found in zip(queries, counted, strict=True)]
    asked = [place for place, request in enumerate(requests) if request.capabilities or request.tools]
    findings = {place: Finding() for place in set(range(len(queries))).difference(asked)}
    stopped: IncumbentError | None = None
    try:
        for number, finding in backend.infer([requests[place] for place in asked]) if asked else ():
            findings[asked[number]] = finding
            progress(len(findings) - len(queries) + len(asked), len(asked))
    except (OutsideError, IncompleteError) as error:
        stopped = error
    why_not = "" if stopped is None else f"it was not asked about: {stopped.brief}"
    classifications: dict[str, Classification] = {}
    shortfalls: dict[str, str] = {}
    for place, query in enumerate(queries):
        found = findings.get(place, Finding(shortfall=why_not))
        if found.shortfall is not None:
            shortfalls[query.id] = found.shortfall
            continue
        classifications[query.id] = arbitrate(taxonomy, agent.evidence(query, counted[place], found))
    return ClassifierResult(
        classifications=classifications,
        shortfalls=shortfalls,
        stopped=stopped,
    )


def ruled_out(taxonomy: Taxonomy, specification: Specification) -> tuple[str, ...]:
    """The capabilities that no query to an agent with this ``specification`` can exercise, in the taxonomy's order.

    These are facts that its specification or all of its tools deny, capabilities that can be neither declared nor
    inferred, the other members of an ``exactly-one`` group that the specification decides, and what requires any of
    these.  What can be counted in a query is never ruled out.
    """
    agent = _Agent.of(taxonomy, specification)
    open_to = {*agent.inferred({}), *agent.structure}
    open_to.update(name for name, value in agent.declared.items() if value)
    open_to.update(name for name, by_tool in agent.values.items() if True in by_tool.values())
    for members in taxonomy.exactly_one.values():
        counting = [item for item in members if not item.trial]
        if any(agent.declared.get(item.id) for item in counting):
            others = (item for item in counting if item.source != "structure" and not agent.declared.get(item.id))
            open_to.difference_update(item.id for item in others)
    for item in taxonomy.required_first:
        if item.requires is not None and item.requires not in open_to:
            open_to.discard(item.id)
    return tuple(item.id for item in taxonomy.capabilities if item.id not in open_to)


@dataclass(frozen=True, kw_only=True)
class _Agent:
    """The part of the evidence from taxonomy and specification that is the same for all queries.

    ``tools`` are the declared tools under unique names, ``depends`` whether anything depends on which tools a query
    calls, and ``names`` their unique names by the declared one.  ``values`` are the rules' values for each tool,
    ``silent`` the capabilities for which some tool lacks the facts (``None``: it is not declared whether there are
    tools; ``names`` and ``values`` are then those of the tool that an eval set may expect).
    """

    taxonomy: Taxonomy
    specification: Specification
    declared: Declared
    structure: StructureRules
    tools: tuple[Tool, ...]
    depends: bool
    names: Mapping[str, Sequence[str]]
    values: ToolValues
    silent: tuple[str, ...] | None
    call_capability: str | None
    implied: Mapping[str, frozenset[str]]

    @staticmethod
    def of(taxonomy: Taxonomy, specification: Specification) -> _Agent:
        declared = declared_values(taxonomy, specification)
        tools = distinct(specification.tools or ())
        is_known = specification.tools is not None
        values = tool_values(taxonomy, tools) if is_known else unlisted_values(taxonomy)
        names: dict[str, list[str]] = {}
        for tool, other in zip(specification.tools or (), tools, strict=True):
            names.setdefault(tool.name, []).append(other.name)
        decides = tool_decides(taxonomy, declared)
        return _Agent(
            taxonomy=taxonomy,
            specification=specification,
            declared=declared,
            structure=structure_rules(taxonomy),
            tools=tools,
            depends=bool(values) or decides or bool(taxonomy.gated),
            names=names if is_known else UNKNOWN_NAMES,
            values=values,
            silent=silent_capabilities(taxonomy, values) if is_known else None,
            call_capability=call_capability(taxonomy, values),
            implied=_implied(taxonomy, specification, tools) if decides else {},
        )

    @property
    def asks(self) -> bool:
        """Whether the backend must judge which of the declared tools a query calls."""
        return self.depends and bool(self.tools)

    def inferred(self, counted: Declared) -> tuple[str, ...]:
        """The capabilities that have to be inferred of a query with what is ``counted`` in it."""
        return inferred_capabilities(self.taxonomy, {**self.declared, **counted}, self.silent)

    def request(self, query: Query, capabilities: tuple[str, ...]) -> InferenceRequest:
        """What has to be asked about ``query``; of nothing a request without capabilities and tools."""
        return InferenceRequest(
            query_id=query.id,
            turns=query.classified_turns,
            capabilities=capabilities,
            tools=self.tools if self.asks else (),
            starters=self.specification.starters,
            call_capability=self.call_capability if self.asks else None,
        )

    def evidence(self, query: Query, counted: Declared, found: Finding) -> PathFindings:
        """The results of all paths for ``query``; ``found`` is the backend's answer."""
        expected = expectation(query, self.specification) if self.depends else None
        said = self._said(found)
        calls = found.calls or CalledTools(0.0)
        states_calls = expected is not None and expected.states_calls
        if expected is not None:
            calls = expected_calls(expected.steps, self.names) if states_calls else calls
            calls = without(calls, expected.forbidden, self.names)
        # If it is not declared whether there are tools, `tool` capabilities are inferred like others.
        is_known = states_calls or self.asks or (self.specification.tools is not None and bool(self.values))
        return PathFindings(
            declared=self.declared,
            counted=counted,
            found=replace(
                found,
                calls=calls if is_known else None,
                attempt=found.attempt or hides_text(query.classified_turns),
            ),
            called=called_values(calls, self.values, found.consensus, expected=states_calls) if is_known else {},
            ordered={}
            if expected is None
            else ordered_values(self.taxonomy, expected.order, self.declared, found.consensus),
            expected=states_calls,
            stated=StatedCalls(probability=None if said is None else said.probability, different=expected.different)
            if expected is not None and expected.steps
            else None,
            contradiction=contradiction(expected.names, self.names, said)
            if expected is not None and states_calls and said is not None
            else None,
            implied=self._implied_by(calls),
            misfits=self._misfits(calls) if is_known else frozenset(),
        )

    def _said(self, found: Finding) -> CalledTools | None:
        """The calls that the backend expects: without findings on tools, a call of any tool, if one can be inferred."""
        inferred = found.consensus.get(self.call_capability or "")
        if self.specification.tools is not None or inferred is None:
            return found.calls
        return CalledTools(inferred.confidence, ({UNLISTED: 1.0},))

    def _implied_by(self, calls: CalledTools) -> frozenset[str]:
        """The capabilities whose rules are true for what the most likely tool of all steps exercises; none
        without one.
        """
        likeliest = max(calls.likeliest, key=lambda item: item[1], default=None) if self.implied else None
        return frozenset() if likeliest is None else self.implied.get(likeliest[0], frozenset())

    def _misfits(self, calls: CalledTools) -> frozenset[str]:
        """The ``exactly-one`` groups of ``tool`` members none of which fits the call."""
        groups = self.taxonomy.exactly_one.items()
        return frozenset(
            group
            for group, members in groups
            if all(item.source == "tool" for item in members)
            and fits_none(calls, self.values, [item.id for item in members])
        )


def _counted(rules: StructureRules, queries: Sequence[Query]) -> list[Declared]:
    """The values of ``rules`` for each query; evaluated once for all queries with the same counts."""
    found: dict[tuple[int, tuple[str, ...] | None], Declared] = {}
    counted: list[Declared] = []
    for query in queries:
        key = (len(query.turns), query.attachment_kinds)
        if key not in found:
            found[key] = counted_values(rules, query)
        counted.append(found[key])
    return counted


def _implied(taxonomy: Taxonomy, specification: Specification, tools: Sequence[Tool]) -> dict[str, frozenset[str]]:
    """Tool → the capabilities whose rules are true for its part of the specification."""
    found = {}
    for tool in tools:
        values = declared_values(taxonomy, specification.for_tool(tool))
        found[tool.name] = frozenset(name for name, value in values.items() if value)
    return found


def distinct(tools: Sequence[Tool]) -> tuple[Tool, ...]:
    """``tools`` under unique names: two plugins may declare different functions with one name."""
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
