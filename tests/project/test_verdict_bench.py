"""The bench of verdicts: what it counts as right, lost and sensible, on invented rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from dev.bench import verdicts as bench
from dev.bench.classifier import LABELS, REPOSITORY
from incumbent.classifier.model import Classification, Judgement
from incumbent.files.snapshot import WorkingTree
from incumbent.intake.query import Query
from incumbent.rater.model import ScoredQuery
from incumbent.taxonomy.config import Curation, load_config
from incumbent.taxonomy.loading import load_taxonomy
from incumbent.taxonomy.model import Taxonomy

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
    right = {name: bench.RIGHT for name, value in known.items() if value}
    turns = (f"{id} {id[::-1] * 9}",)
    return bench.Item(
        scored=ScoredQuery(id=id, turns=turns, scores=said, customer=customer),
        right=ScoredQuery(id=id, turns=turns, scores=right, customer=customer),
        labels=known,
    )


def figures(config: Curation, *customers: list[bench.Item]) -> dict[str, tuple[int, int]]:
    """What is counted of these customers' queries, against an empty set."""
    stream = bench.Stream.of(customers, [], config)
    return {what: count(stream) for what, (_, count) in bench.COUNTS.items()}


def test_direct_admissions_are_right_if_labels_say_so_of_all_evidence(config: Curation) -> None:
    rows = [
        item("a", {CHAIN: 0.99, BRANCHING: 0.97}, {CHAIN: True, BRANCHING: None}),
        item("b", {PICTURE: 0.95, CALL: 0.99}, {CALL: True}),
        item("c", {TABLE: 0.95}, {}),
    ]
    found = figures(config, rows)
    assert found["direct admissions, evidence right"] == (1, 2)  # labels do not speak of tables
    assert found["false pieces of what enters"] == (1, 4)


def test_merit_that_the_classifier_does_not_see_is_lost_unless_something_that_waits_offers_it(config: Curation) -> None:
    unseen = item("b", {}, {PICTURE: True})
    assert figures(config, [unseen])["merit, excluded"] == (1, 1)
    waits = item("a", {CHAIN: 0.85}, {CHAIN: True, PICTURE: True})
    assert figures(config, [unseen, waits])["merit, excluded"] == (0, 1)


def test_a_question_is_sensible_if_the_query_deserves_a_slot(config: Curation) -> None:
    rows = [item("a", {CHAIN: 0.85}, {CHAIN: True}), item("b", {PICTURE: 0.85}, {})]
    assert figures(config, rows)["questions, sensible"] == (1, 2)
    assert figures(config, rows)["questions, per query"] == (2, 2)


def test_close_calls_are_right_if_the_query_deserves_a_slot(config: Curation) -> None:
    rows = [item("a", {CHAIN: 0.7}, {CHAIN: True}), item("b", {PICTURE: 0.6}, {})]
    found = figures(config, rows)
    assert (found["close calls, per query"], found["close calls, the best ten right"]) == ((2, 2), (1, 2))
    assert found["merit, excluded"] == (1, 1)  # it counts as excluded


def test_right_tags_are_labels_the_facts_of_called_tools_and_what_labels_leave_open(taxonomy: Taxonomy) -> None:
    judgements = {name: Judgement(False, 0.1, "inference") for name in taxonomy.by_id}
    judgements |= {
        "request.auth.oauth": Judgement(True, 0.8, "tool"),
        PICTURE: Judgement(False, 0.0, "specification"),
        TABLE: Judgement(True, 0.9, "inference"),
    }
    query = Query(id="q", turns=("Text",), file="", line=None)
    said = Classification(judgements=judgements, off_taxonomy=(), arbitrated=frozenset())

    def right(labels: dict[str, bool | None]) -> dict[str, float]:
        return dict(bench.item_of(query, said, "one", labels, taxonomy).right.scores)

    # The agent generates no pictures.
    assert right({CALL: True, CHAIN: None, PICTURE: True}) == {CALL: 0.95, "request.auth.oauth": 0.95, TABLE: 0.9}
    assert right({CALL: False, CHAIN: True}) == {CHAIN: 0.95, TABLE: 0.9}
    assert right({CALL: None}) == {"request.auth.oauth": 0.8, TABLE: 0.9}


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
