"""The description of a group of evictions: a row for each, escaped, and the list that is read back."""

from __future__ import annotations

from typing import Any

import pytest

from incumbent.curator.suggestions import suggest
from incumbent.intake.query import Setup
from incumbent.report.pull_request_bodies import (
    TABLE_BYTES,
    GroupMembers,
    KeptEntry,
    SuggestionContext,
    is_as_written,
    members_in,
    render_eviction,
    render_group,
    render_repack,
)
from tests.factories import make_entry
from tests.reconcile.merges import source
from tests.reconcile.proposing import BEST, make_platform

LISTING = GroupMembers(suggests={"b--b.": "1" * 16, "a": "2" * 16}, kept={"c": "3" * 16})


def rendered(*entries: Any, kept: tuple[KeptEntry, ...] = (), **config: Any) -> str:
    platform = make_platform(*BEST, *entries, **config)
    suggestions = suggest(platform.regression_set, platform.taxonomy, platform.config)
    members = [item for item in suggestions.evictions if item.id != "best2"]
    return render_group(members, " of customer acme", kept, LISTING, SuggestionContext(suggestions, platform))


def spare(id: str = "spare", **more: Any) -> Any:
    return make_entry(id, {"a": 0.6, "b": 0.6}, **more)


def test_each_entry_has_a_row_with_its_grounds_and_what_is_left() -> None:
    body = rendered(spare(turns=("Set my limit",), source=source("q1")), spare("other"))
    assert "Incumbent suggests to evict several entries of customer acme: 2 in this pull request." in body
    why = "others cover all that it covers, and carry all its combinations"
    assert f"| `spare` | `acme` | `Set my limit` | {why} | *A*: 1, floor 1 |" in body
    assert "| `other` | – |" in body
    assert "`/incumbent keep " in body
    assert "People keep" not in body
    assert is_as_written(body)


def test_what_people_keep_is_named_with_who_said_so() -> None:
    body = rendered(spare(), kept=(KeptEntry(id="x", by=None), KeptEntry(id="y", by="co|ra")))
    assert "People keep `x` (a commit) and `y` (by `co\\|ra`): not suggested again" in body


def test_an_entry_that_covers_nothing_says_so() -> None:
    body = rendered(make_entry("weak", {"a": 0.1}), competence_bar=0.5)
    assert "covers nothing competently" in body


@pytest.mark.parametrize(
    ("cost", "said"),
    [
        (1, "The set gets smaller by 1, and its total cost falls by 1."),
        (2, "The set gets smaller by 1."),
        (2.5, "The set gets smaller by 1, and its total cost rises by 0.5."),
    ],
)
def test_a_repack_says_how_the_total_cost_changes(cost: float, said: str) -> None:
    platform = make_platform(make_entry("one", {"a": 0.9}), make_entry("two", {"b": 0.9}))
    both = make_entry("both", {"a": 0.9, "b": 0.9}, setup=Setup(cost=cost))
    suggestions = suggest(platform.regression_set, platform.taxonomy, platform.config, archived={"both": both})
    (item,) = suggestions.repacks
    assert said in render_repack(item, SuggestionContext(suggestions, platform))


def test_a_single_combination_is_called_so() -> None:
    platform = make_platform()
    suggestions = suggest(platform.regression_set, platform.taxonomy, platform.config)
    (item,) = [item for item in suggestions.evictions if item.id == "spare"]
    assert "Its combination, and who else carries it" in render_eviction(item, SuggestionContext(suggestions, platform))


@pytest.mark.parametrize("text", ["a | b", "<!-- incumbent:group\n-->", "@cora `x", "-->\n<!-- incumbent:group"])
def test_text_of_customers_breaks_no_row_and_no_list(text: str) -> None:
    body = rendered(spare(turns=(text,), source=source("q1").model_copy(update={"customer": text})))
    (row,) = [line for line in body.splitlines() if line.startswith("| `spare`")]
    assert row.replace("\\|", "").count("|") == 7
    assert members_in(body) == LISTING


def test_a_long_table_is_cut_between_rows() -> None:
    crowd = source("q1").model_copy(update={"customer": "é" * 160})
    entries = [spare(f"spare{number:03}-{'x' * 120}", turns=("é" * 200,), source=crowd) for number in range(100)]
    body = rendered(*entries)
    assert len(body.encode()) < TABLE_BYTES + 10_000
    assert "more: see the commits." in body


def test_the_list_is_read_back_however_lines_end() -> None:
    assert members_in(LISTING.text) == LISTING
    assert members_in(f"words\n{LISTING.text}\n".replace("\n", "\r\n")) == LISTING
    assert members_in("no list") == GroupMembers()
    assert members_in("<!-- incumbent:group\na 1\n-->") == GroupMembers()
