"""The bench of verdicts: what it counts as confirmed, lost, covered and sensible, on invented rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.classifier.model import Classification, Judgement
from bot.config import Curation, load_config
from bot.files.snapshot import WorkingTree
from bot.intake.query import Query
from bot.rater.model import ScoredQuery
from bot.taxonomy.loading import load_taxonomy
from bot.taxonomy.model import Taxonomy
from dev.bench import verdicts as bench
from dev.bench.classifier import LABELS, REPOSITORY

CALL = "execution.tools.call"
CHAIN = "execution.orchestration.sequential-chain"
BRANCHING = "execution.orchestration.branching"
PICTURE = "execution.knowledge.picture"
TABLE = "response.format.table"


@pytest.fixture(scope="module")
def taxonomy() -> Taxonomy:
    """The shipped one."""
    return load_taxonomy(WorkingTree(REPOSITORY))


@pytest.fixture(scope="module")
def config(taxonomy: Taxonomy) -> Curation:
    """The shipped one, under the taxonomy."""
    found = load_config(WorkingTree(REPOSITORY), frozenset(taxonomy.by_id))
    return found.under(taxonomy.uncombinable, taxonomy.trial, taxonomy.fill_from_any)


def item(id: str, said: dict[str, float], labels: dict[str, bool | None], customer: str = "one") -> bench.Item:
    """A query without tools; what is not labelled is FALSE, but *Table*, of which labels do not speak."""
    known: dict[str, bool | None] = dict.fromkeys((CALL, CHAIN, BRANCHING, PICTURE), False)
    known |= labels
    right = {name: 1.0 for name, value in known.items() if value}
    turns = (f"{id} {id[::-1] * 9}",)
    return bench.Item(
        scored=ScoredQuery(id=id, turns=turns, scores=said, customer=customer),
        right=ScoredQuery(id=id, turns=turns, scores=right, customer=customer),
        possible={name: 1.0 for name, value in known.items() if value is not False},
        labels=known,
    )


def test_direct_admissions_are_confirmed_by_labels(config: Curation) -> None:
    rows = [
        item("a", {CHAIN: 0.99, BRANCHING: 0.97}, {CHAIN: True, BRANCHING: None}),
        item("b", {PICTURE: 0.95}, {}),
        item("c", {TABLE: 0.95}, {}),
    ]
    stream = bench.Stream.of([rows], [], config)
    found = {each.id: wrong for each, wrong in stream.admissions()}
    assert found == {"a": (), "b": (PICTURE,)}  # labels do not speak of tables
    assert sum(verdict.admitted for _, verdict in stream.judged) == 3


def test_what_labels_give_merit_and_the_classifier_does_not_see_is_lost(config: Curation) -> None:
    rows = [
        item("a", {CHAIN: 0.99}, {CHAIN: True, PICTURE: True}),
        item("b", {}, {PICTURE: True}, "two"),
        item("c", {}, {BRANCHING: True}, "two"),
    ]
    stream = bench.Stream.of([rows[:1], rows[1:]], [], config)
    assert stream.deserving() == 3
    lost = {each.item.id: each for each in stream.lost()}
    assert {id: each.merit for id, each in lost.items()} == {"b": ((PICTURE,),), "c": ((BRANCHING,),)}
    assert not lost["b"].is_covered  # one more test of it is wanted, by another customer than that of "a"
    assert not lost["c"].is_covered


def test_a_query_is_not_lost_whose_merit_another_one_brings(config: Curation) -> None:
    rows = [item("a", {}, {PICTURE: True}), item("b", {CHAIN: 0.99}, {CHAIN: True, PICTURE: None})]
    (lost,) = bench.Stream.of([rows], [], config).lost()
    assert (lost.item.id, lost.is_covered) == ("a", True)


def test_a_review_is_sensible_if_one_thing_that_it_names_is_there(config: Curation) -> None:
    single = [item(name[-4:], {name: 0.99}, {name: True}, "zero") for name in (CHAIN, BRANCHING, PICTURE)]
    rows = [
        item("a", {CHAIN: 0.9, BRANCHING: 0.9}, {CHAIN: True, BRANCHING: True}),
        item("b", {CHAIN: 0.9, PICTURE: 0.9}, {CHAIN: True}),
        item("c", {TABLE: 0.8}, {}),
    ]
    again = [item(f"{each.id}2", dict(each.scored.scores), dict(each.labels), "one") for each in single]
    stream = bench.Stream.of([single, again, rows], [], config)
    assert {each.id: sense for each, _, sense in stream.reviews()} == {"a": True, "b": False}
    assert stream.questions() == 3


def test_right_tags_are_labels_and_the_facts_of_called_tools(taxonomy: Taxonomy) -> None:
    judgements = {name: Judgement(False, 0.1, "inference") for name in taxonomy.by_id}
    judgements |= {
        "request.auth.oauth": Judgement(True, 0.8, "tool"),
        PICTURE: Judgement(False, 0.0, "specification"),
        TABLE: Judgement(True, 0.9, "inference"),
    }
    query = Query(id="q", turns=("Text",), file="", line=None)
    said = Classification(judgements=judgements, off_taxonomy=(), arbitrated=frozenset())

    def right(labels: dict[str, bool | None]) -> bench.Item:
        return bench.item_of(query, said, "one", labels, taxonomy)

    called = right({CALL: True, CHAIN: None, PICTURE: True})
    assert called.right.scores == {CALL: 1.0, "request.auth.oauth": 0.8}  # the agent generates no pictures
    assert right({CALL: False, CHAIN: True}).right.scores == {CHAIN: 1.0}
    unsure = right({CALL: None})
    assert (unsure.right.scores, unsure.possible) == ({}, {"request.auth.oauth": 0.8})


@pytest.mark.parametrize("name", bench.SETS)
def test_label_files_name_capabilities_of_the_taxonomy(name: str, taxonomy: Taxonomy) -> None:
    found = bench.read_label_file(LABELS / "verdicts" / f"{name}.tsv")
    named = {capability for labels in found.values() for capability in labels}
    assert named <= taxonomy.by_id.keys()
    assert CALL in named
    assert all(any(labels.values()) for labels in found.values())


def test_agents_are_found_by_the_id_of_their_query(tmp_path: Path) -> None:
    folder = tmp_path / "agents" / "pnp-copilot-pro-dev-samples" / "samples" / "da-one"
    folder.mkdir(parents=True)
    assert bench.package_of("pnp/copilot-pro-dev-samples:samples/da-one/appPackage/agent.json#0", tmp_path) == folder
    assert bench.package_of("pnp/copilot-pro-dev-samples:samples/da-two/appPackage/agent.json#0", tmp_path) is None
    assert bench.package_of("someone/else:samples/da-one/agent.json#0", tmp_path) is None
