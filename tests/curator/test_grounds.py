"""The grounds of a suggestion, and how long a refusal of them holds (semantics, section 7)."""

from __future__ import annotations

from bot.curator.prune import prune
from tests.curator.test_prune import BEST, suggested
from tests.factories import make_config, resident


def test_a_refusal_holds_until_its_grounds_change() -> None:
    spare = resident("spare", {"a": 0.6})
    (suggestion,) = prune([*BEST, spare], make_config(), 1).suggestions
    refused = {suggestion.grounds.digest}
    assert suggested([*BEST, spare], refused=refused) == []
    newcomers = [resident(f"new{n}", {"a": 0.7, "b": 0.7, "c": 0.5 + n / 100}) for n in range(10)]
    assert "spare" not in suggested([*BEST, spare, *newcomers], refused=refused)
    displacer = resident("winner", {"a": 0.95}, displaces=("spare",))
    assert "spare" in suggested([*BEST, spare, displacer], refused=refused)
    assert [item.id for item in prune([*BEST, spare], make_config(), 2, refused=refused).suggestions] == ["spare"]
    edited = resident("spare", {"a": 0.6}, "another text")
    assert suggested([*BEST, edited], refused=refused) == ["spare"]
