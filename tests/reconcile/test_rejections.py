"""What a curator rejected is not asked again, whatever becomes of where it was said."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.reconcile.hub import MAIN, Hub, Pull
from tests.reconcile.runs import agent_files, config_text, imported, platform_files, reconcile, text_of

AGENT = ("acme", "desk")
FIRST, SECOND, THIRD = (text_of(word, {name: 0.9}) for name, word in (("b", "one"), ("c", "two"), ("d", "three")))


def bring(hub: Hub, queries: Mapping[str, str]) -> Pull:
    """A customer's pull request with ``queries``, merged before anybody saw a verdict."""
    branch = f"work-{len(hub.repository.commits)}"
    hub.push(branch, dict(agent_files(AGENT, queries)), hub.repository.branches[MAIN])
    pull = hub.offer(branch, "mara")
    hub.merge(pull, "cora", True)
    assert reconcile(hub)
    return pull


def test_of_a_pull_request_that_is_over_no_reviews_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = imported("r0", text_of("zero", {"a": 0.9}), "2026-01-01T00:00:00Z")
    hub = Hub(platform_files([entry], config_text(curators=["cora"])))
    assert reconcile(hub)
    first = bring(hub, {"q1": FIRST})
    hub.push(MAIN, dict(agent_files(AGENT, {})))
    asked: list[int] = []
    monkeypatch.setattr(hub, "said_on", asked.append)
    assert reconcile(hub)
    assert "changed or taken out since" in hub.comments(first.number)[0].body
    assert asked == []


def test_a_rejection_outlasts_a_pull_request_whose_queries_have_all_gone_elsewhere() -> None:
    entry = imported("r0", text_of("zero", {"a": 0.9}), "2026-01-01T00:00:00Z")
    hub = Hub(platform_files([entry], config_text(curators=["cora"])))
    assert reconcile(hub)
    first = bring(hub, {"q1": FIRST, "q2": SECOND})
    hub.say(first.number, "cora", "/incumbent reject q1 we do not sell this")
    assert reconcile(hub)
    second = bring(hub, {"q3": FIRST, "q4": THIRD})
    assert "changed or taken out since" in hub.comments(first.number)[0].body
    (comment,) = hub.comments(second.number)
    assert "| **`q3`** | `cora` | `we do not sell this` |" in comment.body
    assert "`/incumbent accept q4`" in comment.body
