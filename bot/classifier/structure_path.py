"""The structure path: what can be counted in the query itself (semantics, section 2.1; pure)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from bot.intake.query import Query
from bot.taxonomy.model import Taxonomy
from bot.taxonomy.rules import Rule, compile_rule, evaluate

StructureRules: TypeAlias = Mapping[str, Rule | None]
"""The compiled rule of each ``structure`` capability; ``None`` for one without a rule."""


def structure_rules(taxonomy: Taxonomy) -> dict[str, Rule | None]:
    """The rules of all ``structure`` capabilities, in the taxonomy's order."""
    return {
        item.id: None if item.when is None else compile_rule(item.when)
        for item in taxonomy.capabilities
        if item.source == "structure"
    }


def structure_facts(query: Query) -> dict[str, object]:
    """The counts in ``query``: its user turns (≥ 1), and the kinds of attachments that the eval set names.

    ``attachments`` is ``None`` if it names none: there may still be some.
    """
    kinds = query.attachment_kinds
    return {"user_turns": len(query.turns), "attachments": None if kinds is None else list(kinds)}


def counted_values(rules: StructureRules, query: Query) -> dict[str, bool | None]:
    """The value of each of ``rules`` for ``query``; ``None`` if it cannot be counted.

    Raises :class:`bot.taxonomy.rules.RuleError` for a rule that fails; loading a taxonomy excludes these.
    """
    facts = structure_facts(query)
    return {name: None if rule is None else evaluate(rule, facts) for name, rule in rules.items()}
