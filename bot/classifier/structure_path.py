"""The structure path: what can be counted in the query itself (semantics, section 2.1; pure)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from bot.intake.query import Query
from bot.taxonomy.model import Taxonomy
from bot.taxonomy.rules import Rule, compile_rule, evaluate

StructureRules: TypeAlias = Mapping[str, Rule | None]
"""The compiled rule of each ``structure`` capability; ``None`` for one that has none."""


def structure_rules(taxonomy: Taxonomy) -> dict[str, Rule | None]:
    """The rules of all ``structure`` capabilities, in the taxonomy's order."""
    return {
        item.id: None if item.when is None else compile_rule(item.when)
        for item in taxonomy.capabilities
        if item.source == "structure"
    }


def structure_facts(query: Query) -> dict[str, object]:
    """What is counted in ``query``: its user turns (≥ 1), and the kinds of attachments that the eval set names.

    ``attachments`` is ``None`` where it names none: that is no word on whether there are any.
    """
    kinds = query.attachment_kinds
    return {"user_turns": len(query.turns), "attachments": None if kinds is None else list(kinds)}


def counted_values(rules: StructureRules, query: Query) -> dict[str, bool | None]:
    """What each of ``rules`` says of ``query``; ``None`` where that cannot be counted.

    Raises :class:`bot.taxonomy.rules.RuleError` for a rule that fails, which loading a taxonomy rules out.
    """
    facts = structure_facts(query)
    return {name: None if rule is None else evaluate(rule, facts) for name, rule in rules.items()}
