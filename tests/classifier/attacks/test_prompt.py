"""Whatever a query or a tool says, the prompt keeps its structure: one block of data, which nothing in it can leave."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.classifier.model import InferenceRequest
from incumbent.files.snapshot import WorkingTree
from incumbent.taxonomy.loading import load_taxonomy
from tests.classifier.attacks.loading import Case, Control, load_attacks, load_controls
from tests.classifier.attacks.prompt_parts import DELIMITERS, MOST_PER_CHARACTER, prompt_of, schema_of
from tests.classifier.factories import request, tool
from tests.factories import REPOSITORY, SHIPPED

TAXONOMY = load_taxonomy(WorkingTree(REPOSITORY))
INFERRED = tuple(item.id for item in TAXONOMY.capabilities if item.source == "intent")
ATTACKS = {attack.id: attack for attack in load_attacks()}
BY_TOOL = [attack.id for attack in ATTACKS.values() if attack.surface == "tool"]

# Default ignorable code points (Unicode, DerivedCoreProperties.txt) that no category names, and signs that look blank.
IGNORABLE = (
    range(0x034F, 0x0350),
    range(0x115F, 0x1161),
    range(0x17B4, 0x17B6),
    range(0x180B, 0x1810),
    range(0x2800, 0x2801),
    range(0x3164, 0x3165),
    range(0xFE00, 0xFE10),
    range(0xFFA0, 0xFFA1),
    range(0xE0000, 0xE1000),
)


def hidden(character: str) -> bool:
    """Whether people may not see it: controls, formats, surrogates, private use, non-characters, fillers."""
    code = ord(character)
    return (
        unicodedata.category(character) in {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}
        or code & 0xFFFE == 0xFFFE
        or 0xFDD0 <= code <= 0xFDEF
        or any(code in some for some in IGNORABLE)
    )


def asked(case: Case) -> InferenceRequest:
    return request(*case.turns, capabilities=INFERRED, tools=case.tools)


def check(case: Case, like: Case) -> None:
    """All that must hold of the prompt for ``case``, whose unchanging part must be that of ``like``."""
    prompt = prompt_of(TAXONOMY, asked(case))
    assert prompt.fixed == prompt_of(TAXONOMY, asked(like)).fixed
    assert isinstance(prompt.parsed, dict)
    assert [character for character in sorted(set(prompt.data)) if hidden(character)] == []
    # Some tokenizers normalise to NFKC, so what becomes a bracket there is one here.
    readings = (prompt.data, unicodedata.normalize("NFKC", prompt.data))
    assert not any(set("<>") & set(reading) for reading in readings)
    assert not any(delimiter in reading.casefold() for delimiter in DELIMITERS for reading in readings)
    prompt.data.encode("utf-8")
    brought = sum(map(len, case.turns)) + sum(len(each.name) + len(each.description) for each in case.tools)
    overhead = 100 * (1 + len(case.turns) + len(case.tools))
    assert len(prompt.data) <= MOST_PER_CHARACTER * brought + overhead


# The longest are left to the test of lengths: normalising many combining marks takes quadratic time.
QUICK = [name for name, attack in ATTACKS.items() if sum(map(len, attack.hostile.turns)) <= 1_000_000]


@pytest.mark.parametrize("name", [name for name in QUICK if name != "long-combining"])
def test_no_attack_changes_the_structure_of_the_prompt(name: str) -> None:
    check(ATTACKS[name].hostile, like=ATTACKS[name].honest)


def test_all_queries_share_one_unchanging_part_and_so_do_all_queries_with_tools() -> None:
    for surface in ("query", "tool"):
        cases = [
            case for attack in ATTACKS.values() if attack.surface == surface for case in (attack.honest, attack.hostile)
        ]
        assert len({prompt_of(TAXONOMY, asked(case), size=36_000).fixed for case in cases}) == 1


@pytest.mark.parametrize("name", QUICK)
def test_the_honest_query_arrives_with_its_attack(name: str) -> None:
    limits = SHIPPED.limits
    attack = ATTACKS[name]
    turns = attack.hostile.turns
    if len(turns) <= limits.turns and all(len(turn) <= limits.turn_characters for turn in turns):
        assert attack.honest.turns[-1] in "\n".join(prompt_of(TAXONOMY, asked(attack.hostile)).parsed["turns"])


def visible(turns: Sequence[str]) -> list[str]:
    """What there is to see of each turn, white space apart."""
    normal = (unicodedata.normalize("NFKC", turn) for turn in turns)
    return ["".join(sign for sign in turn if not (sign.isspace() or hidden(sign))) for turn in normal]


@pytest.mark.parametrize("control", load_controls(), ids=lambda control: control.id)
def test_all_that_people_see_of_an_innocent_query_arrives(control: Control) -> None:
    arrived = prompt_of(TAXONOMY, request(*control.turns, capabilities=INFERRED)).parsed["turns"]
    assert visible(arrived) == visible(control.turns)


ANYTHING = st.text(st.characters(exclude_categories=()) | st.sampled_from('<>/data"\\{}\n\u202e\U000e0041\ufe0f\uff1c'))


@given(st.lists(ANYTHING, min_size=1, max_size=4), st.lists(st.tuples(ANYTHING, ANYTHING), max_size=3))
def test_no_text_changes_the_structure_of_the_prompt(turns: list[str], declared: list[tuple[str, str]]) -> None:
    tools = tuple(tool(name, description=description) for name, description in declared)
    check(Case(turns=tuple(turns), tools=tools), like=Case(turns=("Hi",), tools=(tool("track"),) if tools else ()))


def test_no_tool_name_reaches_the_schema_as_it_was_written() -> None:
    for name in BY_TOOL:
        schema = json.dumps(schema_of(TAXONOMY, asked(ATTACKS[name].hostile)), ensure_ascii=False)
        assert not any(hidden(character) or character in "<>" for character in schema), name
