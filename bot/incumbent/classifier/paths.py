"""The paths that rules decide: specification, structure and called tools (paper, 2.2; semantics, section 2; pure)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from math import fsum, prod
from typing import Final, TypeAlias

from incumbent.classifier.model import EVEN, CalledTools, Consensus, Contradiction, Judgement
from incumbent.intake.expectation import ExpectedTools, Order, expected_tools
from incumbent.intake.query import Query
from incumbent.intake.specification import UNLISTED, Specification, Tool
from incumbent.taxonomy.model import Capability, Taxonomy
from incumbent.taxonomy.rules import SUBJECTS, Rule, compile_rule, evaluate
from incumbent.text.compare import rounded

Declared: TypeAlias = Mapping[str, bool | None]
"""The rules' values for capabilities: true, false, or ``None`` if their facts are missing."""


def declared_values(taxonomy: Taxonomy, specification: Specification) -> dict[str, bool | None]:
    """The values that ``specification`` decides, in the taxonomy's order: the rules of ``spec`` capabilities, and
    closed gates.

    The rule of an ``intent`` capability is a gate: false closes it, and anything else leaves it to inference.  Raises
    :class:`incumbent.taxonomy.rules.RuleError` for a rule that fails; loading a taxonomy excludes these.
    """
    facts = specification.facts()
    found: dict[str, bool | None] = {}
    for capability in taxonomy.capabilities:
        if capability.source not in ("spec", "intent") or (capability.source == "intent" and capability.when is None):
            continue
        value = _value(_rule(capability), facts)
        found[capability.id] = None if capability.source == "intent" and value else value
    return found


def inferred_capabilities(
    taxonomy: Taxonomy, decided: Declared, silent_tools: Collection[str] | None = None
) -> tuple[str, ...]:
    """The capabilities that go to the inference path, in the taxonomy's order.

    These are the ``intent`` ones whose gate is not closed, and the ``spec`` and ``structure`` ones that ``decided`` has
    no value for, if they have exemplars to infer from; without exemplars they are FALSE by the path
    ``undeclared``.  Of the ``tool`` ones, those for which some declared tool lacks the facts
    (``silent_tools``); if it is not declared whether there are tools (``None``), all that have exemplars.
    """
    return tuple(item.id for item in taxonomy.capabilities if _is_inferred(item, decided, silent_tools))


def _is_inferred(capability: Capability, decided: Declared, silent_tools: Collection[str] | None) -> bool:
    if capability.source == "tool" and silent_tools is not None:
        return capability.id in silent_tools
    if decided.get(capability.id) is not None:
        return False
    return capability.source == "intent" or bool(capability.exemplars.positive)


def tool_decides(taxonomy: Taxonomy, declared: Declared) -> bool:
    """Whether the specification made several members of an ``exactly-one`` group TRUE.

    The tool that a query would call then decides between them (semantics, section 2.3).
    """
    return any(
        sum(declared.get(member.id) is True for member in members) > 1 for members in taxonomy.exactly_one.values()
    )


StructureRules: TypeAlias = Mapping[str, Rule | None]
"""The compiled rule of each ``structure`` capability; ``None`` for one without a rule."""


def structure_rules(taxonomy: Taxonomy) -> dict[str, Rule | None]:
    """The rules of all ``structure`` capabilities, in the taxonomy's order."""
    return {item.id: _rule(item) for item in taxonomy.capabilities if item.source == "structure"}


def structure_facts(query: Query) -> dict[str, object]:
    """The counts in ``query``: its user turns (≥ 1), and the kinds of attachments that the eval set names.

    ``attachments`` is ``None`` if it names none: there may still be some.
    """
    kinds = query.attachment_kinds
    return {"user_turns": len(query.turns), "attachments": None if kinds is None else list(kinds)}


def counted_values(rules: StructureRules, query: Query) -> dict[str, bool | None]:
    """The value of each of ``rules`` for ``query``; ``None`` if it cannot be counted.

    Raises :class:`incumbent.taxonomy.rules.RuleError` for a rule that fails; loading a taxonomy excludes these.
    """
    facts = structure_facts(query)
    return {name: _value(rule, facts) for name, rule in rules.items()}


ToolValues: TypeAlias = Mapping[str, Mapping[str, bool | None]]
"""``tool`` capability → declared tool → the value of the rule for it; ``None`` if the tool lacks the facts."""

UNKNOWN_NAMES: Final[Mapping[str, Sequence[str]]] = {UNLISTED: (UNLISTED,)}
"""The name of the tools of an agent that does not declare whether it has any."""


def tool_values(taxonomy: Taxonomy, tools: Sequence[Tool]) -> dict[str, dict[str, bool | None]]:
    """The rules of all ``tool`` capabilities for each of ``tools``, whose names differ; in the taxonomy's order.

    Raises :class:`incumbent.taxonomy.rules.RuleError` for a rule that fails; loading a taxonomy excludes these.
    """
    facts = {tool.name: tool.facts() for tool in tools}
    found: dict[str, dict[str, bool | None]] = {}
    for capability in _of_tools(taxonomy):
        rule = _rule(capability)
        found[capability.id] = {name: _value(rule, each) for name, each in facts.items()}
    return found


def unlisted_values(taxonomy: Taxonomy) -> dict[str, dict[str, bool | None]]:
    """The rules of all ``tool`` capabilities for a tool without declared facts, in the taxonomy's order.

    A rule has the value that it has for every tool, and none if tools differ.
    """
    return {capability.id: {UNLISTED: _of_every_tool(_rule(capability))} for capability in _of_tools(taxonomy)}


def silent_capabilities(taxonomy: Taxonomy, values: ToolValues) -> tuple[str, ...]:
    """The ``tool`` capabilities for which some declared tool lacks the facts, and that can be inferred from
    the text.
    """
    return tuple(
        name for name, by_tool in values.items() if None in by_tool.values() and taxonomy.by_id[name].exemplars.positive
    )


def call_capability(taxonomy: Taxonomy, values: ToolValues) -> str | None:
    """The capability for a tool call as such: its rule is true of every tool, and it has exemplars.

    The first in the taxonomy's order; ``None`` if there is none.
    """
    for capability in _of_tools(taxonomy):
        if (
            capability.exemplars.positive
            and all(values.get(capability.id, {}).values())
            and _of_every_tool(_rule(capability))
        ):
            return capability.id
    return None


def probability(calls: CalledTools, facts: Mapping[str, float]) -> float:
    """P = p · (1 − Π_steps (1 − Σ_t π_step(t) · r(t))), in [0, 1]: that the query calls a tool with these ``facts``.

    ``facts`` contains r ∈ [0, 1] by tool; it is 0 for a missing tool.
    """
    # Each sum is exactly rounded: the order of the tools decides nothing.
    missed = [1 - fsum([step.get(name, 0.0) * fact for name, fact in facts.items()]) for step in calls.steps]
    # A step's distribution may exceed 1 by what floating point adds.
    return calls.probability * (1 - prod([max(0.0, each) for each in missed]))


def called_values(
    calls: CalledTools, values: ToolValues, text: Mapping[str, Consensus], *, expected: bool
) -> dict[str, Judgement]:
    """The value of every ``tool`` capability under ``calls``: TRUE iff P ≥ 0.5, with P as its confidence.

    ``text`` is the inference from the query's text: its mean probability replaces the facts that a tool lacks, 0 if
    there is none.  ``expected``: the eval set names these calls; what the facts of these tools exclude is then FALSE
    with certainty, κ = 1.
    """
    return {name: _judgement(calls, by_tool, text.get(name), expected=expected) for name, by_tool in values.items()}


def _judgement(
    calls: CalledTools, by_tool: Mapping[str, bool | None], text: Consensus | None, *, expected: bool
) -> Judgement:
    unsaid = 0.0 if text is None else text.confidence
    facts = {name: unsaid if value is None else 1.0 for name, value in by_tool.items() if value is not False}
    found = probability(calls, facts)
    if not expected:
        return Judgement(rounded(found) >= EVEN, found, "tool")
    is_ruled_out = all(by_tool[name] is False for step in calls.steps for name in step)
    return Judgement(rounded(found) >= EVEN, 1.0 if is_ruled_out else found, "expected")


def fits_none(calls: CalledTools, values: ToolValues, members: Iterable[str]) -> bool:
    """Whether the query probably calls a tool, and probably one whose facts make all ``members`` FALSE."""
    if rounded(calls.probability) < EVEN:
        return False
    rules = [values[name] for name in members]
    tools = {name for step in calls.steps for name in step}
    misfits = {name: float(all(by_tool.get(name) is False for by_tool in rules)) for name in tools}
    return rounded(probability(CalledTools(1.0, calls.steps), misfits)) >= EVEN


def expectation(query: Query, specification: Specification) -> ExpectedTools | None:
    """The tools that the eval set expects ``query`` to call.

    They are declared ones, or :data:`UNLISTED` for those that are not in the specification.  ``None`` if the eval set
    does not say, or if the agent declares that it has no tools.
    """
    if query.expected is None or (specification.tools is not None and not specification.tools):
        return None
    return expected_tools(query.expected, len(query.turns), specification.tools)


def expected_calls(expected: Sequence[Sequence[str]], names: Mapping[str, Sequence[str]]) -> CalledTools:
    """The calls that an eval set expects: a step for each of ``expected``, the tools of which any will do.

    ``names`` maps a declared name to the unique names of its tools: any of several tools with one name may be meant.
    """
    meant = [dict.fromkeys(each for name in step for each in names[name]) for step in expected]
    return CalledTools(float(bool(meant)), tuple({each: 1 / len(step) for each in step} for step in meant))


def without(calls: CalledTools, forbidden: Iterable[str], names: Mapping[str, Sequence[str]]) -> CalledTools:
    """``calls`` with π = 0 for the ``forbidden`` tools, which an eval set says are not called."""
    gone = {each for name in forbidden for each in names[name]}
    steps = tuple({name: share for name, share in step.items() if name not in gone} for step in calls.steps)
    return replace(calls, steps=steps) if gone else calls


def ordered_values(
    taxonomy: Taxonomy, order: Order | None, declared: Declared, text: Mapping[str, Consensus]
) -> dict[str, Judgement]:
    """The values that number and ``order`` of the expected calls decide (semantics, section 2.1b).

    One call at most in every turn: all are FALSE.  Several: exactly one is TRUE, the chained one if a call needs an
    earlier one's result, else the likelier by ``text``, with its share of their probabilities as κ.  ``None``, which
    leaves it open, decides nothing; neither does any order where ``declared`` has closed a gate.
    """
    gated = [item for item in taxonomy.gated if declared.get(item.id) is None]
    if order is None or not gated:
        return {}
    if order == "single":
        return {item.id: Judgement(False, 1.0, "expected") for item in gated}
    if order == "chain" and any(item.chained for item in gated):
        return {item.id: Judgement(item.chained, 1.0, "expected") for item in gated}
    likely = {item.id: text[item.id].confidence if item.id in text else 0.0 for item in gated}
    total = fsum(likely.values())
    shares = {name: each / total if total else 1 / len(likely) for name, each in likely.items()}
    chosen = max(shares, key=lambda name: rounded(shares[name]))
    return {name: Judgement(name == chosen, share, "expected") for name, share in shares.items()}


def contradiction(
    expected: Sequence[str], names: Mapping[str, Sequence[str]], said: CalledTools
) -> Contradiction | None:
    """How the classifier's calls (``said``) contradict those that an eval set expects; ``None`` if they do not.

    They differ on whether a tool is called, or on which: no expected tool is the most likely one in any step.
    """
    is_called = rounded(said.probability) >= EVEN
    meant = {each for name in expected for each in names[name]}
    agrees = is_called == bool(expected) and (not is_called or any(_leads(meant, step) for step in said.steps))
    if agrees:
        return None
    return Contradiction(
        expected=tuple(expected),
        likeliest=tuple(name for name, _ in said.likely) if is_called else (),
        probability=said.probability,
    )


def _leads(names: set[str], step: Mapping[str, float]) -> bool:
    """Whether one of ``names`` is the most likely tool of ``step``, or ties with it."""
    greatest = max(map(rounded, step.values()), default=0.0)
    return greatest > 0 and any(rounded(share) == greatest for name, share in step.items() if name in names)


def _of_tools(taxonomy: Taxonomy) -> list[Capability]:
    return [item for item in taxonomy.capabilities if item.source == "tool"]


def _of_every_tool(rule: Rule | None) -> bool | None:
    """The value of ``rule`` for every tool; ``None`` if values differ, or if there is none."""
    said = set() if rule is None else {evaluate(rule, facts) for facts in SUBJECTS["tool"].probes}
    return said.pop() if len(said) == 1 else None


def _rule(capability: Capability) -> Rule | None:
    return None if capability.when is None else compile_rule(capability.when)


def _value(rule: Rule | None, facts: Mapping[str, object]) -> bool | None:
    return None if rule is None else evaluate(rule, facts)
