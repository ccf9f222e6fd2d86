"""Even a model that obeys every attack moves nothing but the inferred tags of the query that brought it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest

from incumbent.classifier.classify import ClassifierResult, classify
from incumbent.classifier.language_model.abilities import RememberedAbilities
from incumbent.classifier.language_model.backend import LanguageModelBackend
from incumbent.classifier.model import Classification
from incumbent.intake.query import Query
from incumbent.intake.specification import Specification
from tests.classifier.attacks.loading import Attack, load_attacks
from tests.classifier.attacks.obedient_model import HONEST_TAGS, honest_reply, obedient_reply
from tests.classifier.attacks.prompt_parts import sent_data
from tests.classifier.factories import declared, intent, openai_settings, query, silent, specification, taxonomy, tool
from tests.classifier.model_server import Model, ModelServer, Reply, is_probe

KEY = "sk-test-9f3b7c1d5e"
TAXONOMY = taxonomy(
    declared("auth.oauth", "contains(auth_modes, 'oauth')", "one.auth"),
    declared("auth.api-key", "contains(auth_modes, 'api-key')", "one.auth"),
    declared("auth.none", "contains(auth_modes, 'none')", "one.auth"),
    intent("call"),
    intent("format.table"),
    intent("attachment.image"),
    intent("size.small", "one.size"),
    intent("size.large", "one.size"),
)
DECLARED = frozenset(item.id for item in TAXONOMY.capabilities if item.source == "spec")
AGENT = specification([tool("track", "oauth")])
COUNTED = {"raise": {"call", "format.table", "attachment.image", "size.small"}, "lower": {"size.small"}}
"""What is TRUE of the inferred capabilities when the author has his way; an exactly-one group keeps one member."""

ATTACKS = load_attacks()
# Of thousands of turns, which intake refuses, a prompt of ordinary length has no room for the number of the case.
BY_QUERY = [attack for attack in ATTACKS if attack.surface == "query" and len(attack.hostile.turns) < 1_000]
BY_TOOL = [attack.id for attack in ATTACKS if attack.surface == "tool"]
CASE = re.compile(r"Case ([ah])(\d+)\.")


def classified(attacks: Sequence[Attack], agent: Specification, *, obedient: bool) -> ClassifierResult:
    """Each attack's hostile query (``a0``, …) and after each its honest one (``h0``, …), asked in one run."""

    def reply(body: dict[str, Any], number: int) -> Reply:
        if is_probe(body):
            return Model(lambda body: "")(body, number)
        case = CASE.search(sent_data(body))
        assert case is not None
        if case[1] == "h" or not obedient:
            return honest_reply(body)
        return obedient_reply(attacks[int(case[2])], body, server.authorizations[-1], int(case[2]))

    with ModelServer(reply) as server:
        settings = openai_settings(endpoint=server.endpoint, timeout_seconds=60.0)
        backend = LanguageModelBackend(TAXONOMY, settings, 1, {"TEST_KEY": KEY}, RememberedAbilities(None))
        queries: list[Query] = []
        for number, attack in enumerate(attacks):
            queries.append(query(f"a{number}", f"Case a{number}.", *attack.hostile.turns))
            queries.append(query(f"h{number}", f"Case h{number}.", *attack.honest.turns))
        return classify(queries, agent, TAXONOMY, backend, silent)


def check(attack: Attack, number: int, result: ClassifierResult) -> None:
    """The attacked query has what its author could win, and no more."""
    found = result.classifications.get(f"a{number}")
    if attack.goal in ("control", "leak", "disrupt"):
        assert found is None, "an answer that does not fit the schema counted"
        return
    assert found is not None
    assert found.signature - DECLARED == COUNTED.get(attack.goal, HONEST_TAGS)


def spoken(item: Classification) -> dict[str, object]:
    """What the specification alone decided of a query."""
    return {name: item.judgements[name] for name in DECLARED}


def test_obeyed_attacks_move_the_inferred_tags_of_their_own_query_alone() -> None:
    honest = classified(BY_QUERY, AGENT, obedient=False)
    obeyed = classified(BY_QUERY, AGENT, obedient=True)
    assert (honest.stopped, honest.unclassified) == (None, ())
    before = honest.classifications
    after = obeyed.classifications
    for number, attack in enumerate(BY_QUERY):
        check(attack, number, obeyed)
        assert after[f"h{number}"] == before[f"h{number}"], attack.id
        if f"a{number}" in after:
            assert spoken(after[f"a{number}"]) == spoken(before[f"a{number}"]), attack.id
    assert KEY not in repr(obeyed)
    assert "You judge" not in repr(obeyed)


@pytest.mark.parametrize("name", BY_TOOL)
def test_an_obeyed_tool_decides_between_declared_tools_and_nothing_else(name: str) -> None:
    (attack,) = (item for item in ATTACKS if item.id == name)
    tools = attack.hostile.tools
    result = classified([attack], specification(tools), obedient=True)
    check(attack, 0, result)
    by_name = {tool.name: f"auth.{tool.auth}" for tool in tools}
    for id, item in result.classifications.items():
        chosen = attack.wanted if id == "a0" and attack.wanted is not None else tools[0].name
        assert item.signature & DECLARED == {by_name[chosen]}
    assert KEY not in repr(result)
