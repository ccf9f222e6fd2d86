"""Events under the ids of a new taxonomy: what verdicts rest on follows a rename, and nothing else moves."""

from __future__ import annotations

from bot.ledger.events import Shown, Suggested
from bot.ledger.migrated import migrated_events
from bot.taxonomy.migration import NOTHING, Migration
from tests.review.factories import day, decided, facts, shown

TOLD = shown(facts=facts(new=("a",), won={"b": 0.5}, arbitrated=("a",)))
SUGGESTED = Suggested(
    at=day(3), pull_request=9, branch="b", suggestion="redundant", entries=("x",), remaining={"a": 2, "c": 1}
)


def test_a_rename_is_followed_by_all_that_a_verdict_rests_on() -> None:
    migration = Migration(renames={"a": "z"}, splits={"b": ("y", "x")})
    first, second, third, fourth = migrated_events([TOLD, SUGGESTED, decided(), shown(facts=None)], migration)
    assert isinstance(first, Shown)
    assert first.facts is not None
    assert first.facts.scores == {"z": 0.9, "b": 0.6}
    assert (first.facts.new, first.facts.won, first.facts.arbitrated) == (("z",), {"b": 0.5}, ("z",))
    assert isinstance(second, Suggested)
    assert second.remaining == {"z": 2, "c": 1}
    assert (third, fourth) == (decided(), shown(facts=None))


def test_where_nothing_is_renamed_all_stays() -> None:
    assert migrated_events([TOLD, SUGGESTED], NOTHING) == (TOLD, SUGGESTED)
    there, back = Migration(renames={"a": "z"}), Migration(renames={"z": "a"})
    assert migrated_events(migrated_events([TOLD, SUGGESTED], there), back) == (TOLD, SUGGESTED)
