"""Lists in an answer are cut: a count says how many there are, whatever their number."""

from __future__ import annotations

import pytest

from incumbent.curator.losses import Loss
from incumbent.curator.suggestions import Swap
from incumbent.mcp.answers import Combinations, Names, StatusAnswer, SuggestionsAnswer, Unclassified
from incumbent.mcp.set_tools import status_page, suggestions_page
from incumbent.mcp.strict_tool import parts_of
from incumbent.mcp.tool_runner import shown_in_chat
from incumbent.mcp.untrusted import mark
from incumbent.rater.pair_coverage import MissingPair, PairCoverage
from incumbent.report.detection import Detection
from incumbent.report.output import PruneOutput, StatusOutput
from tests.mcp_server.snapshots import published

# Bounded otherwise: by the rows that were asked for, the taxonomy, the codes that there are, or one query's turns.
BOUNDED = {
    "queries",
    "verdicts",
    "entries",
    "capabilities",
    "releases",
    "suggestions",
    "swaps",
    "least_loss",
    "missing_pairs",
    "said",
    "overridden",
    "first",
    "turns",
    "exercises",
    "personal_data",
    "values",
    "off_taxonomy",
    "scores",
    "arbitrated",
    "by_rule",
    "competent",
    "new_capabilities",
    "wins",
    "reasons",
    "counts",
    "champion_of",
    "pinned",
    "remaining",
    "coverage_gained",
    "decisions",
    "months",
    # Of one missing pair.
    "first_agents",
    # Of one verdict: at most one entry for each capability, or one waiting query for each combination.
    "displaces",
    "alternate_of",
    "yields_to",
    "remove",
    # Told by `explain`, whose rows are cut by `most`.
    "contests",
    "absences",
    "close_calls",
    "doubts",
    "fills",
    "knobs",
}


def test_of_many_there_are_a_count_and_a_few() -> None:
    ids = [f"q{number}" for number in range(1_000)]
    assert shown_in_chat(ids, Names) == {"count": 1_000, "first": [mark(id) for id in ids[:5]]}
    assert shown_in_chat((("a", "b"),) * 400, Combinations) == {"count": 400, "first": [["a", "b"]] * 5}
    left = shown_in_chat(dict.fromkeys(ids, "too few samples"), Unclassified)
    assert (left["count"], len(left["first"]), left["first"][4]["id"]) == (1_000, 5, mark("q4"))


def test_swaps_and_least_losses_come_in_pages_too() -> None:
    output = PruneOutput(
        pinned={},
        suggestions=[],
        swaps=[Swap(admit=f"n{number}", remove=("e",)) for number in range(5)],
        least_loss=[
            Loss(admit="w", id=f"e{number}", capabilities=("c",), combinations=(("a", "b"),) * 9) for number in range(3)
        ],
        over_ceiling=0,
        refused=2,
        only_failing={},
    )
    first, last = (shown_in_chat(suggestions_page(output, offset, 4), SuggestionsAnswer) for offset in (0, 4))
    assert first["refused"] == 2
    assert (first["total"], first["all_swaps"], first["all_least_loss"]) == (0, 5, 3)
    assert (len(first["swaps"]), len(first["least_loss"]), first["next_offset"]) == (4, 3, 4)
    assert [swap["admit"] for swap in last["swaps"]] == [mark("n4")]
    assert (last["least_loss"], last["next_offset"]) == ([], None)
    combinations = first["least_loss"][0]["combinations"]
    assert (combinations["count"], len(combinations["first"])) == (9, 5)


def test_missing_pairs_come_in_pages_and_their_waiting_entries_are_counted() -> None:
    waiting = tuple(f"w{number}" for number in range(9))
    missing = tuple(
        MissingPair(capabilities=("a", f"b{number}"), agents=1, first_agents=("acme/desk",), waiting=waiting)
        for number in range(5)
    )
    pairs = PairCoverage(strength=2, agents=1, possible=6, carried=1, missing=missing, unexpected=())
    output = StatusOutput(
        detection=Detection(single=0.5, pairs=0.25, on_record=3),
        size=0,
        ceiling=1,
        cost=0.0,
        taxonomy="1.0.0",
        capabilities=[],
        combinations=0,
        pairs=pairs,
        missing_pairs=list(missing),
        unexpected_pairs=[],
        growth=None,
        pinned={},
        quarantined=[],
        waiting=[],
        evicted=[],
        stale=[],
    )
    first, last = (shown_in_chat(status_page(output, "all", offset, 4), StatusAnswer) for offset in (0, 4))
    assert (len(first["missing_pairs"]), first["next_offset"], last["next_offset"]) == (4, 4, None)
    (row,) = last["missing_pairs"]
    assert (row["capabilities"], row["first_agents"]) == (["a", "b4"], [mark("acme/desk")])
    assert (row["waiting"]["count"], row["waiting"]["first"]) == (9, [mark(id) for id in waiting[:5]])
    unasked = status_page(output.model_copy(update={"missing_pairs": None}), "all", 0, 4)
    assert shown_in_chat(unasked, StatusAnswer)["missing_pairs"] == []


@pytest.mark.parametrize("tool", sorted(published()))
def test_no_answer_holds_a_list_without_a_bound(tool: str) -> None:
    lists = {
        name
        for part in parts_of(published()[tool]["outputSchema"])
        for name, field in part.get("properties", {}).items()
        for kind in (field, *field.get("anyOf", ()))
        if kind.get("type") == "array" or isinstance(kind.get("additionalProperties"), dict)
    }
    assert lists <= BOUNDED
