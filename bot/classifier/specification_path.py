"""The specification path: what an agent's specification alone decides (paper, section 2.2; semantics, section 2.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from bot.intake.specification import Specification
from bot.taxonomy.model import Taxonomy
from bot.taxonomy.rules import compile_rule, evaluate

Declared: TypeAlias = Mapping[str, bool | None]
"""What the rule of each ``spec`` capability says: true, false, or ``None`` where the specification does not speak."""


def declared_values(taxonomy: Taxonomy, specification: Specification) -> dict[str, bool | None]:
    """The rules of all ``spec`` capabilities over ``specification``, in the taxonomy's order.

    Raises :class:`bot.taxonomy.rules.RuleError` for a rule that fails, which loading a taxonomy rules out.
    """
    facts = specification.facts()
    return {
        capability.id: None if capability.when is None else evaluate(compile_rule(capability.when), facts)
        for capability in taxonomy.capabilities
        if capability.source == "spec"
    }


def inferred_capabilities(taxonomy: Taxonomy, declared: Declared) -> tuple[str, ...]:
    """The capabilities that go to the inference path, in the taxonomy's order.

    These are the ``intent`` ones, and the ``spec`` ones that the specification is silent about, if they have exemplars
    to infer from; without exemplars they are FALSE by the path ``undeclared`` (architecture, section 7).
    """
    return tuple(
        capability.id
        for capability in taxonomy.capabilities
        if capability.source == "intent" or (declared[capability.id] is None and capability.exemplars.positive)
    )


def tool_decides(taxonomy: Taxonomy, declared: Declared) -> bool:
    """Whether the specification made several members of an ``exactly-one`` group TRUE.

    The tool that a query would call then decides between them (semantics, section 2.3).
    """
    return any(
        sum(declared.get(member.id) is True for member in members) > 1 for members in taxonomy.exactly_one.values()
    )
