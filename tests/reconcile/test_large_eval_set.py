"""The largest eval set that the limits allow is reviewed, decided, changed and reconciled, as any other is."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence

import pytest
import yaml

from incumbent.classifier.caching_backend import FindingsInMemory, RememberingBackend
from incumbent.classifier.model import CalledTools, Consensus, Finding, InferenceRequest
from incumbent.files.snapshot import WorkingTree
from incumbent.ledger.classifications import SHARDS
from incumbent.ledger.model import BRANCH, FOLDER, folder_path, record_path
from incumbent.taxonomy.config import CONFIG_FILE, load_config
from incumbent.taxonomy.loading import TAXONOMY_FILE
from tests.factories import REPOSITORY, make_taxonomy
from tests.reconcile import runs
from tests.reconcile.hub import MAIN, Hub
from tests.reconcile.runs import IDENTITY, agent_files, config_text, reconcile, review

CAPABILITIES = 200
TAXONOMY = make_taxonomy(*(f"group-{number // 10}.capability-{number}" for number in range(CAPABILITIES)))
MOST = load_config(WorkingTree(REPOSITORY), None).limits.queries
LARGE = MOST if "INCUMBENT_LONG" in os.environ else MOST // 25
AGENT = ("acme", "desk")
OWN = f"{FOLDER}{SHARDS}/"


class Drawing:
    """Says of each capability what the text draws, and remembers how many queries it was asked about."""

    identity = IDENTITY
    usage = None
    asked = 0

    def infer(self, requests: Sequence[InferenceRequest]) -> Iterator[tuple[int, Finding]]:
        Drawing.asked += len(requests)
        for place, request in enumerate(requests):
            draw = random.Random(request.turns[0])
            probabilities = {
                name: 0.95 if draw.random() < 0.01 else draw.random() / 10 for name in request.capabilities
            }
            consensus = {name: Consensus(found >= 0.5, found, "stated") for name, found in probabilities.items()}
            yield place, Finding(consensus=consensus, calls=CalledTools(0.0))


def remembering() -> RememberingBackend:
    return RememberingBackend(Drawing(), TAXONOMY, FindingsInMemory({}))


def text(number: int, word: str = "") -> str:
    draw = random.Random(number)
    return " ".join([f"Query {number}{word}:", *(f"word{draw.randrange(10_000)}" for _ in range(6))])


@pytest.mark.untraced
@pytest.mark.parametrize("reader", [Drawing, remembering], ids=["embedded", "language model"])
@pytest.mark.exhaustive
def test_a_large_eval_set_is_reviewed_decided_and_reconciled(
    reader: type[Drawing], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "Reader", reader)
    monkeypatch.setattr(Drawing, "asked", 0)
    reviewed = {
        TAXONOMY_FILE: yaml.safe_dump(TAXONOMY.model_dump(mode="json"), sort_keys=False),
        CONFIG_FILE: config_text(curators=["cora"]),
    }
    hub = Hub(reviewed)
    hub.permissions["mara"] = "none"
    assert reconcile(hub)
    queries = {f"q{number:05d}": text(number) for number in range(LARGE)}
    hub.push("work", agent_files(AGENT, queries), hub.repository.branches[MAIN], author="mara")
    pull = hub.offer("work", "mara")
    review(hub, pull.number)
    assert Drawing.asked == LARGE
    shards = shards_of(hub)
    assert len(shards) > 1

    hub.say(pull.number, "cora", "/incumbent accept all")
    review(hub, pull.number)
    assert Drawing.asked == LARGE, "what is known is not asked again"
    assert shards_of(hub) == shards
    (comment,) = hub.comments(pull.number)[:1]
    assert "Accepted by `cora`" in comment.body
    assert "not displayed yet" not in "".join(item.body for item in hub.comments(pull.number))

    changed = queries | {f"q{number:05d}": text(number, " again") for number in range(LARGE - 5, LARGE)}
    hub.push("work", agent_files(AGENT, changed), author="mara")
    review(hub, pull.number)
    assert Drawing.asked == LARGE + 5
    assert 0 < sum(shards_of(hub)[path] != said for path, said in shards.items()) <= 10

    hub.merge(pull, "cora", False)
    assert reconcile(hub)
    assert Drawing.asked == 2 * LARGE + 5, "the merged files alone count"
    entries = [path for path in hub.repository.files(MAIN) if path.startswith("regression_set/")]
    assert len(entries) > 1
    files = hub.repository.files(BRANCH)
    assert folder_path("eval_sets/acme/desk") in files
    assert bool(shards_of(hub)) is (record_path(pull.number) in files), "they are kept as long as the record"
    before = hub.repository.branches[BRANCH]
    assert reconcile(hub)
    assert Drawing.asked == 2 * LARGE + 5
    assert hub.repository.branches[BRANCH] == before


def shards_of(hub: Hub) -> dict[str, str]:
    return {path: said for path, said in hub.repository.files(BRANCH).items() if path.startswith(OWN)}
