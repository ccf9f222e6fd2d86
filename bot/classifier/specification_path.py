"""The specification path: what an agent's specification alone decides (paper, section 2.2; semantics, section 2.1)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TypeAlias

from bot.intake.specification import Specification
from bot.taxonomy.model import Capability, Taxonomy
from bot.taxonomy.rules import compile_rule, evaluate

Declared: TypeAlias = Mapping[str, bool | None]
"""The rules' values for capabilities: true, false, or ``None`` if their facts are missing."""


def declared_values(taxonomy: Taxonomy, specification: Specification) -> dict[str, bool | None]:
    """The values that ``specification`` decides, in the taxonomy's order: the rules of ``spec`` capabilities, and
    closed gates.

    The rule of an ``intent`` capability is a gate: false closes it, and anything else leaves it to inference.  Raises
    :class:`bot.taxonomy.rules.RuleError` for a rule that fails; loading a taxonomy excludes these.
    """
    facts = specification.facts()
    found: dict[str, bool | None] = {}
    for capability in taxonomy.capabilities:
        if capability.source not in ("spec", "intent") or (capability.source == "intent" and capability.when is None):
            continue
        value = None if capability.when is None else evaluate(compile_rule(capability.when), facts)
        found[capability.id] = None if capability.source == "intent" and value else value
    return found


def inferred_capabilities(
    taxonomy: Taxonomy, decided: Declared, silent_tools: Collection[str] | None = None
) -> tuple[str, ...]:
    """The capabilities that go to the inference path, in the taxonomy's order.

    These are the ``intent`` ones whose gate is not closed, and the ``spec`` and ``structure`` ones that ``decided`` has
    no value for, if they have exemplars to infer from; without exemplars they are FALSE by the path ``undeclared``
    (architecture, section 7).  Of the ``tool`` ones, those for which some declared tool lacks the facts
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
