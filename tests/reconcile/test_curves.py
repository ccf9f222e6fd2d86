"""The dashboard's curves rest on git's history: what came back was gone meanwhile, whoever brought it back."""

from __future__ import annotations

import re

from tests.reconcile.hub import MAIN, Hub
from tests.reconcile.runs import config_text, imported, platform_files, reconcile, text_of

DAY = 24 * 60 * 60


def sizes(hub: Hub) -> list[int]:
    """The line of the first chart on the dashboard."""
    (body,) = hub.issues.values()
    found = re.search(r'title "Entries, .*?  line \[([^]]*)\]', body, re.DOTALL)
    assert found is not None
    return [int(count) for count in found[1].split(", ")]


def test_an_eviction_that_somebody_reverted_is_a_gap() -> None:
    entries = [imported(f"r{place}", text_of(f"text {place}", {"a": 0.9}), "2026-11-20T00:00:00Z") for place in (0, 1)]
    hub = Hub(platform_files(entries, config_text()))
    path = "regression_set/r1.yaml"
    before = hub.repository.files(MAIN)[path]
    hub.wait(2 * DAY)
    hub.push(MAIN, {path: None})
    hub.wait(3 * DAY)
    hub.push(MAIN, {path: before})
    assert reconcile(hub)
    assert sizes(hub) == [2, 2, 2, 1, 1, 1, 2]
