"""Suggestions as pull requests: branches named after their grounds, files as the command line writes them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import yaml

from incumbent.curator.entry import Admitted
from incumbent.curator.roles import EvictionKind
from incumbent.curator.store import RegressionSet
from incumbent.curator.suggestions import suggest
from incumbent.files.git import blob_id
from incumbent.intake.query import Setup
from incumbent.ledger.refusals import grounds_in
from incumbent.pipeline.review import Platform
from incumbent.reconcile.suggestion_pull_requests import (
    ADMIT,
    EVICT,
    SAFE,
    SWAP,
    Proposal,
    branch_of,
    is_about,
    is_offer,
    is_repack,
    is_suggestion,
    looks_back,
    proposals_of,
    slug,
)
from tests.factories import make_config, make_entry, make_taxonomy
from tests.reconcile.merges import with_set

DIGEST = "0123456789abcdef"
BEST = (make_entry("best1", {"a": 0.9, "b": 0.9}), make_entry("best2", {"a": 0.8, "b": 0.8}))
SPARE = make_entry("spare", {"a": 0.6, "b": 0.6})


def make_platform(*entries: Any, waiting: tuple[Any, ...] = (), **config: Any) -> Platform:
    bare = Platform(
        taxonomy=make_taxonomy("a", "b"),
        config=make_config(**{"redundancy_floor": 1} | config),
        regression_set=RegressionSet({}, {}, {}),
    )
    return with_set(bare, *entries, waiting=waiting)


def proposed(platform: Platform, departed: dict[str, EvictionKind] | None = None) -> tuple[Proposal, ...]:
    found = suggest(platform.regression_set, platform.taxonomy, platform.config, departed or {})
    return proposals_of(found, platform)


def test_an_eviction_is_a_tombstone_in_the_place_of_the_entry() -> None:
    platform = make_platform(*BEST, SPARE)
    first, second = proposed(platform)
    (suggestion, _) = suggest(platform.regression_set, platform.taxonomy, platform.config).evictions
    assert (first.title, first.kind, first.entries) == ("Evict spare: redundant", "redundant", ("spare",))
    assert (second.entries, first.check[0]) == (("best2",), SAFE)
    assert first.branch == f"incumbent/evict/spare-{suggestion.grounds.digest}"
    assert list(dict(first.files)) == ["regression_set/evicted/spare.yaml", "regression_set/spare.yaml"]
    (grave, entry) = (text for _, text in first.files)
    assert entry is None
    assert yaml.safe_load(grave or "")["evicted"] == {
        "at": None,
        "by": None,
        "reason": "redundant: others cover all that it covers",
        "grounds": {"kind": "redundant", "yields_to": [], "digest": suggestion.grounds.digest},
    }
    assert first.blobs == {"regression_set/evicted/spare.yaml": blob_id(grave or ""), "regression_set/spare.yaml": None}
    assert "Incumbent suggests to evict `spare`" in first.body


def test_what_falls_short_without_it_is_named() -> None:
    (proposal,) = proposed(make_platform(BEST[0]), {"best1": EvictionKind.CUSTOMER_LEFT})
    assert (proposal.kind, proposal.check[0]) == ("customer-left", "Without it 2 capabilities fall below the floor")


def test_a_swap_comes_first_and_lets_in_what_waits_in_the_place_of_what_it_displaces() -> None:
    waiting = make_entry(
        "better", {"a": 0.9}, admitted=Admitted(at="2026-01-02T00:00:00Z", decision="INCLUDE", route="direct")
    )
    platform = make_platform(
        make_entry("weak", {"a": 0.6}), make_entry("other", {"b": 0.9}), waiting=(waiting,), ceiling=2
    )
    swap, *_ = proposed(platform)
    assert (swap.title, swap.kind, swap.entries) == ("Swap better for weak", "swap", ("weak",))
    assert swap.branch.startswith("incumbent/swap/better-")
    files = dict(swap.files)
    assert {path: text is not None for path, text in files.items()} == {
        "regression_set/better.yaml": True,
        "regression_set/evicted/weak.yaml": True,
        "regression_set/waiting/better.yaml": False,
        "regression_set/weak.yaml": False,
    }
    admitted = yaml.safe_load(files["regression_set/better.yaml"] or "")["admitted"]
    assert (admitted["decision"], admitted["displaces"]) == ("REPLACE", ["weak"])
    grave = yaml.safe_load(files["regression_set/evicted/weak.yaml"] or "")
    assert grave["evicted"]["reason"] == "redundant: others cover all that it covers, with better"


@pytest.mark.parametrize(
    ("cost", "freed", "work", "gain"),
    [
        (1.0, ("ab", "bc"), "work of 2 entries", "The set gets smaller by 1, and its total cost falls by 1."),
    ],
)
def test_a_repack_lets_in_an_excluded_query_in_the_place_of_what_it_frees(
    cost: float, freed: tuple[str, ...], work: str, gain: str
) -> None:
    best = [make_entry(f"best-{name}", {name: 0.95}) for name in "abc"]
    bare = make_platform(*best, *(make_entry(id, dict.fromkeys(id, 0.7)) for id in freed), novelty=2)
    platform = replace(bare, taxonomy=make_taxonomy("a", "b", "c"))
    archived = make_entry("abc", dict.fromkeys("abc", 0.75), setup=Setup(cost=cost))
    found = suggest(platform.regression_set, platform.taxonomy, platform.config, archived={"abc": archived})
    (repack,) = proposals_of(found, platform)
    assert (repack.title, repack.kind) == (f"Repack: abc instead of {', '.join(freed)}", "repack")
    assert (repack.entries, repack.admits) == (freed, "abc")
    assert repack.branch.startswith("incumbent/repack/abc-")
    assert is_repack(repack.branch)
    assert is_about(repack.branch, "abc")
    assert {path for path, text in repack.files if text is None} == {f"regression_set/{id}.yaml" for id in freed}
    assert {path for path, text in repack.files if text is not None} == {
        "regression_set/abc.yaml",
        *(f"regression_set/evicted/{id}.yaml" for id in freed),
    }
    assert work in repack.body
    assert gain in repack.body


def test_a_top_up_lets_in_an_excluded_query_and_evicts_none() -> None:
    best = [make_entry(f"best-{name}", {name: 0.95}) for name in "ab"]
    platform = make_platform(*best, novelty=2, ceiling=10, fill_to=0.5)
    archived = make_entry("ab", {"a": 0.8, "b": 0.8})
    found = suggest(platform.regression_set, platform.taxonomy, platform.config, archived={"ab": archived})
    (top_up,) = proposals_of(found, platform)
    assert (top_up.title, top_up.kind, top_up.entries, top_up.admits) == ("Top up: admit ab", "top-up", ("ab",), "ab")
    assert top_up.branch.startswith("incumbent/top-up/ab-")
    assert (looks_back(top_up.branch), is_repack(top_up.branch), is_about(top_up.branch, "ab")) == (True, False, True)
    assert [(path, text is not None) for path, text in top_up.files] == [("regression_set/ab.yaml", True)]
    assert "Slots are free (`fill_to` asks for 5 of 10 entries), and it raises expected detection" in top_up.body
    assert "No entry goes." in top_up.body
    assert "bring it back" not in top_up.body


@pytest.mark.parametrize(("id", "expected"), [("x", "x"), ("v1..2", "v1.2"), ("a...b", "a.b"), ("x" * 150, "x" * 100)])
def test_a_branch_bears_the_id_as_git_allows_it(id: str, expected: str) -> None:
    assert slug(id) == expected
    branch = branch_of(EVICT, id, DIGEST)
    assert branch == f"incumbent/evict/{expected}-{DIGEST}"
    assert is_about(branch, id)
    assert is_about(branch_of(SWAP, id, DIGEST), id)
    assert grounds_in(branch) == DIGEST


@pytest.mark.parametrize(("branch", "id"), [("incumbent/evict/x-y-0", "x"), ("incumbent/evict/x-0", "x-0"), ("x", "x")])
def test_a_branch_is_about_nobody_else(branch: str, id: str) -> None:
    assert not is_about(branch, id)


@pytest.mark.parametrize(
    ("branch", "expected"),
    [
        (f"incumbent/evict/x-{DIGEST}", True),
        (f"incumbent/swap/x-{DIGEST}", True),
        (f"incumbent/admit/set-7-{DIGEST}", True),
        (f"incumbent/other/x-{DIGEST}", False),
        (f"incumbent/evict/x/y-{DIGEST}", False),
        (f"incumbent/evict/{DIGEST}", False),
        ("incumbent/evict/x-0123", False),
        (f"incumbent/evict/x-{DIGEST}0g", False),
        (f"people/incumbent/evict/x-{DIGEST}", False),
        (None, False),
    ],
)
def test_a_suggestion_is_known_by_the_name_of_its_branch(branch: str | None, expected: bool) -> None:
    assert is_suggestion(branch) is expected


def test_an_offer_is_known_by_its_branch() -> None:
    assert is_offer(f"{ADMIT}set-7-0123456789abcdef")
    assert not is_offer(f"{ADMIT}mine")
    assert not is_offer(f"{EVICT}x-0123456789abcdef")
    assert not is_offer(None)
