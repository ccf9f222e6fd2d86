"""The embedded backend: from a query to samples, fitted or restored."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from incumbent.classifier.embedded import backend as backends
from incumbent.classifier.embedded.backend import EmbeddedBackend
from incumbent.classifier.embedded.cache import ModelCache
from incumbent.classifier.embedded.fitting import fit_model
from incumbent.classifier.embedded.model import METHOD, from_arrays, model_key, rows_by_text, to_arrays
from incumbent.classifier.model import EVEN, Consensus, Identity, Progress, Sample, agree
from incumbent.taxonomy.model import Taxonomy
from tests.classifier.exemplary import PLAIN, SAMPLES, SETTINGS
from tests.classifier.factories import answers, request, tool

CAPABILITIES = ("format.table", "attachment.image", "orchestration.branching", "turns.single", "turns.several")


def ask(backend: EmbeddedBackend, *turns: str, capabilities: tuple[str, ...] = CAPABILITIES) -> tuple[Sample, ...]:
    """What each member says."""
    model = backend.fit()
    rows = dict(zip(model.capabilities, model.probabilities([turns])[0].tolist(), strict=True))
    found = [{name: rows[name][member] for name in capabilities} for member in range(model.members)]
    return tuple(Sample({name: value >= EVEN for name, value in each.items()}, each) for each in found)


@pytest.mark.parametrize(
    ("turns", "true"),
    [
        (("Put the ferry prices in a table.",), {"format.table"}),
        (("Look at the attached photo of my bicycle, what is wrong?",), {"attachment.image"}),
        (("If the pump is on, stop it, otherwise open a ticket.",), {"orchestration.branching"}),
        (("Show me the tram stops.",), set()),
        (("Count the trams.", "Only the older ones.", "Thanks, and by town?"), {"turns.several"}),
        (("Count the trams.",), {"turns.single"}),
    ],
)
def test_unseen_queries_get_the_tags_their_exemplars_teach(
    fitted: EmbeddedBackend, turns: tuple[str, ...], true: set[str]
) -> None:
    votes = [sample.votes for sample in ask(fitted, *turns)]
    assert {name for name in CAPABILITIES if 2 * sum(vote[name] for vote in votes) > len(votes)} == true


def test_every_sample_is_valid_and_votes_for_what_is_likelier_than_not(fitted: EmbeddedBackend) -> None:
    for text in (*PLAIN, "Put that in a table if you can"):
        samples = ask(fitted, text)
        assert len(samples) == SAMPLES
        for sample in samples:
            assert tuple(sample.votes) == tuple(sample.probabilities) == CAPABILITIES
            assert all(0 <= probability <= 1 for probability in sample.probabilities.values())
            assert all(sample.votes[name] is (sample.probabilities[name] >= 0.5) for name in CAPABILITIES)


def test_only_what_was_asked_is_answered(fitted: EmbeddedBackend) -> None:
    (sample, *_) = ask(fitted, "In a table", capabilities=("turns.single", "format.table"))
    assert tuple(sample.votes) == ("turns.single", "format.table")


def test_a_capability_that_nothing_taught_is_never_true(fitted: EmbeddedBackend) -> None:
    (finding,) = answers(fitted, request("anything", capabilities=("untaught",)))
    assert finding.consensus == {"untaught": Consensus(False, 0.0)}


def test_findings_are_the_consensus_of_the_samples_in_the_order_of_the_requests(fitted: EmbeddedBackend) -> None:
    requests = [request(text, capabilities=CAPABILITIES) for text in PLAIN[:3]]
    found = list(fitted.infer(requests))
    assert [place for place, _ in found] == [0, 1, 2]
    for (_, finding), text in zip(found, PLAIN, strict=False):
        assert finding.consensus == agree(ask(fitted, text), CAPABILITIES, SAMPLES)
        assert (finding.attempt, finding.shortfall) == (False, None)
    assert fitted.usage is None


def test_a_query_is_judged_alike_whatever_stands_beside_it(fitted: EmbeddedBackend) -> None:
    (alone,) = answers(fitted, request("In a table", capabilities=CAPABILITIES))
    requests = [request(text, capabilities=CAPABILITIES) for text in ("If so, stop", "In a table", "!!!")]
    assert answers(fitted, *requests)[1] == alone


@pytest.mark.parametrize(
    "text", ["", "\u202e\u200b", "\ud800", "\0", "a" * 3_000_000, "\U0010ffff" * 1000, "?" * 50_000]
)
def test_odd_and_huge_queries_are_judged_in_time(fitted: EmbeddedBackend, text: str) -> None:
    ask(fitted, "warm up")
    started = time.process_time()
    assert len(ask(fitted, text)) == SAMPLES
    assert time.process_time() - started < 2.0


class Letters:
    """An embedder of tests: how often each letter occurs."""

    name = "letters-1"

    def embed(self, texts: Sequence[str]) -> NDArray[np.int8]:
        counts = [[min(9, text.count(letter)) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts]
        return np.pad(np.array(counts, np.int8).reshape(len(texts), 26), ((0, 0), (0, 384 - 26)))


# Identity.


def test_the_identity_names_the_method_and_its_settings_not_the_exemplars(exemplary: Taxonomy) -> None:
    def identity(tax: Taxonomy, **overrides: object) -> object:
        return EmbeddedBackend(tax, SETTINGS.model_copy(update=overrides), SAMPLES, ModelCache(None)).identity

    smaller = exemplary.model_copy(update={"capabilities": exemplary.capabilities[:2]})
    assert identity(exemplary) == identity(smaller)
    assert identity(exemplary) != identity(exemplary, seed=1)
    assert identity(exemplary, seed=1) == identity(exemplary, seed=1)


def test_the_identity_names_the_embedder_if_there_is_one(exemplary: Taxonomy) -> None:
    def identity(embedder: Letters | None) -> Identity:
        return EmbeddedBackend(exemplary, SETTINGS, SAMPLES, ModelCache(None), embedder).identity

    assert identity(Letters()).model == f"{METHOD}+letters-1"
    assert identity(None).model == METHOD


def test_a_model_with_embeddings_is_kept_apart_from_one_without(exemplary: Taxonomy, tmp_path: Path) -> None:
    cache = ModelCache(tmp_path)
    plain = EmbeddedBackend(exemplary, SETTINGS, SAMPLES, cache)
    embedded = EmbeddedBackend(exemplary, SETTINGS, SAMPLES, cache, Letters())
    first = ask(embedded, PLAIN[0])
    assert first != ask(plain, PLAIN[0])
    assert len(list(tmp_path.iterdir())) == 2
    assert ask(EmbeddedBackend(exemplary, SETTINGS, SAMPLES, cache, Letters()), PLAIN[0]) == first
    kept = cache.load(embedded.key)
    assert kept is not None
    assert from_arrays(kept, exemplary, SAMPLES, None) is None
    assert rows_by_text(kept, None) == {}


# Restoring.


def test_a_restored_model_predicts_the_same_bits(
    fitted: EmbeddedBackend, exemplary: Taxonomy, model_folder: Path
) -> None:
    first = [ask(fitted, text) for text in PLAIN]
    assert list(model_folder.glob("*.npz"))
    restored = EmbeddedBackend(exemplary, SETTINGS, SAMPLES, ModelCache(model_folder))
    assert [ask(restored, text) for text in PLAIN] == first
    model = fit_model(exemplary, SETTINGS, SAMPLES)
    again = from_arrays(to_arrays(model), exemplary, SAMPLES, None)
    assert again is not None
    texts = [[text] for text in PLAIN]
    assert again.probabilities(texts).tobytes() == model.probabilities(texts).tobytes()


def test_queries_judged_together_have_the_bits_that_each_has_alone(exemplary: Taxonomy) -> None:
    model = fit_model(exemplary, SETTINGS, SAMPLES)
    texts = [[text] for text in (*PLAIN, "Hi, could you put that in a table, please?", "Покажи фото", "", "表にして")]
    together = model.probabilities(texts).tobytes()
    assert together == np.concatenate([model.probabilities([turns]) for turns in texts]).tobytes()


def test_many_queries_have_the_findings_that_each_has_alone(
    fitted: EmbeddedBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = (tool("photo_get"), tool("table_create"))
    asked = [
        replace(
            request(text, capabilities=CAPABILITIES, tools=tools if place % 3 else ()),
            starters=("Show a photo",) if place % 2 else (),
        )
        for place, text in enumerate(
            [*PLAIN, "Покажи фото", "", "first show me the photo, and then delete it. Thanks!"] * 3
        )
    ]
    alone = [finding for each in asked for _, finding in fitted.infer([each])]
    monkeypatch.setattr(backends, "_TOGETHER", 8)
    assert [finding for _, finding in fitted.infer(asked)] == alone


def test_a_model_that_is_handed_over_is_not_fitted_again(fitted: EmbeddedBackend, exemplary: Taxonomy) -> None:
    elsewhere = EmbeddedBackend(exemplary, SETTINGS, SAMPLES, ModelCache(None), stages=refused)
    elsewhere.hand_over(fitted.handed_over() or {})
    assert [ask(elsewhere, text) for text in PLAIN] == [ask(fitted, text) for text in PLAIN]


def refused(stage: str) -> Progress:
    raise AssertionError(f"{stage}: it is fitted again")


@pytest.mark.parametrize("damage", ["truncated", "of another shape"])
def test_a_damaged_model_is_fitted_again(
    fitted: EmbeddedBackend, exemplary: Taxonomy, tmp_path: Path, damage: str
) -> None:
    cache = ModelCache(tmp_path)
    key = EmbeddedBackend(exemplary, SETTINGS, SAMPLES, cache).key
    arrays = to_arrays(fit_model(exemplary, SETTINGS, SAMPLES))
    cache.store(key, arrays if damage == "truncated" else arrays | {"weights": arrays["weights"][:-1]})
    (path,) = tmp_path.iterdir()
    if damage == "truncated":
        path.write_bytes(path.read_bytes()[:-1000])
    assert ask(EmbeddedBackend(exemplary, SETTINGS, SAMPLES, cache), PLAIN[0]) == ask(fitted, PLAIN[0])
    restored = cache.load(key)
    assert restored is not None
    assert restored["weights"].tobytes() == arrays["weights"].tobytes()


@pytest.mark.parametrize(
    "change",
    [
        {"structure": np.zeros((3, 2), np.int8)},
        {"structure": np.zeros((2, 2), np.int8)},
        {"embedding": np.zeros((3, 384), np.int8)},
        {"cues": np.zeros((1, 5), np.int8)},
        {"cues": -1},
        {"gaps": 255},
        {"sizes": 0},
        {"sizes": np.zeros(0, np.int32)},
        {"values": np.zeros(1, np.uint8)},
        {"digests": np.zeros(8, np.uint8)},
        {"intercepts": np.zeros(1)},
        {"calibration": np.zeros((1, 3))},
        {"weights": None},
        {"unit": float("nan")},
        {"unit": 3.0},
        {"intercepts": float("inf")},
        {"basis": np.zeros(3, np.uint8)},
        {"taught": np.zeros(3, np.int32)},
    ],
)
def test_arrays_of_no_such_model_are_refused(exemplary: Taxonomy, change: dict[str, object]) -> None:
    arrays = to_arrays(fit_model(exemplary, SETTINGS, 1))
    for name, value in change.items():
        if value is None:
            del arrays[name]
        else:
            arrays[name] = value if isinstance(value, np.ndarray) else np.full_like(arrays[name], value)
    assert from_arrays(arrays, exemplary, 1, None) is None


def test_the_key_follows_exemplars_patterns_settings_and_samples(exemplary: Taxonomy) -> None:
    first, *others = exemplary.capabilities
    keys = {
        model_key(exemplary, SETTINGS, SAMPLES, None),
        model_key(exemplary, SETTINGS, SAMPLES + 1, None),
        model_key(exemplary, SETTINGS.model_copy(update={"seed": 1}), SAMPLES, None),
        model_key(exemplary, SETTINGS, SAMPLES, Letters()),
    }
    for update in ({"patterns": ()}, {"exemplars": others[0].exemplars}, {"id": "renamed"}):
        changed = (first.model_copy(update=update), *others)
        keys.add(model_key(exemplary.model_copy(update={"capabilities": changed}), SETTINGS, SAMPLES, None))
    assert len(keys) == 7
    reworded = (first.model_copy(update={"description": "other words"}), *others)
    same = exemplary.model_copy(update={"capabilities": reworded})
    assert model_key(same, SETTINGS, SAMPLES, None) == model_key(exemplary, SETTINGS, SAMPLES, None)


SCRIPT = """
import json, sys
from pathlib import Path
from incumbent.classifier.embedded.backend import EmbeddedBackend
from incumbent.classifier.embedded.cache import ModelCache
from tests.classifier.exemplary import PLAIN, SAMPLES, SETTINGS, exemplary_taxonomy
from tests.classifier.factories import request
tax = exemplary_taxonomy()
backend = EmbeddedBackend(tax, SETTINGS, SAMPLES, ModelCache(Path(sys.argv[1])))
asked = [request(text, capabilities=tuple(tax.by_id)) for text in PLAIN]
numbers = backend.fit().probabilities([each.turns for each in asked]).tolist()
print(json.dumps({"numbers": numbers, "imported": sorted({"sklearn", "scipy"} & set(sys.modules))}))
"""


def in_a_process(folder: Path, **environment: str) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(folder)],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        env=os.environ | environment,
    )
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_neither_threads_nor_hash_seeds_move_a_bit_and_restoring_needs_no_scikit_learn(tmp_path: Path) -> None:
    one = in_a_process(tmp_path / "a", PYTHONHASHSEED="1", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    two = in_a_process(tmp_path / "b", PYTHONHASHSEED="2", OMP_NUM_THREADS="4", OPENBLAS_NUM_THREADS="4")
    assert one == two
    (file_a,), (file_b,) = (tmp_path / "a").iterdir(), (tmp_path / "b").iterdir()
    assert file_a.name == file_b.name
    assert file_a.read_bytes() == file_b.read_bytes()
    warm = in_a_process(tmp_path / "a")
    assert warm == {"numbers": one["numbers"], "imported": []}


def test_warm_prediction_is_quick(fitted: EmbeddedBackend, exemplary: Taxonomy, model_folder: Path) -> None:
    ask(fitted, "fit if need be")
    restored = EmbeddedBackend(exemplary, SETTINGS, SAMPLES, ModelCache(model_folder))
    started = time.process_time()
    answers(restored, *(request(f"{text} {number}", capabilities=CAPABILITIES) for number, text in enumerate(PLAIN)))
    assert time.process_time() - started < 0.3


# The choice of a tool.

TOOLS = (
    tool("getRepairs", description="Lists repair jobs of a customer"),
    tool("create_invoice", description="Creates an invoice"),
    tool("searchParts", description="Search the spare parts catalogue"),
)


def chosen(backend: EmbeddedBackend, text: str, *tools: str) -> tuple[str, float]:
    declared = [item for item in TOOLS if item.name in tools] if tools else list(TOOLS)
    (answer,) = answers(backend, request(text, tools=declared))
    assert answer.calls is not None
    return answer.calls.likeliest[0]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Which repairs are open for Karin?", "getRepairs"),
        ("Make an invoice for job 12", "create_invoice"),
        ("Do we have spare parts for the pump?", "searchParts"),
    ],
)
def test_the_tool_most_similar_to_the_query_is_chosen(fitted: EmbeddedBackend, text: str, name: str) -> None:
    assert chosen(fitted, text)[0] == name
    assert 0.5 < chosen(fitted, text)[1] <= 1.0


def test_the_only_tool_is_certain(fitted: EmbeddedBackend) -> None:
    assert chosen(fitted, "repairs please", "getRepairs") == ("getRepairs", 1.0)
    assert chosen(fitted, "zzz", "getRepairs") == ("getRepairs", 1.0)


def test_a_query_that_resembles_no_tool_gets_one_with_little_confidence(fitted: EmbeddedBackend) -> None:
    _, confidence = chosen(fitted, "xyzzy")
    assert confidence < 0.5


def test_tools_that_are_equally_similar_share_the_confidence(fitted: EmbeddedBackend) -> None:
    twins = (tool("abc", description="open bills"), tool("xyz", description="open bills"))
    (answer,) = answers(fitted, request("open bills", tools=twins))
    assert answer.calls is not None
    assert answer.calls.steps == ({"abc": 0.5, "xyz": 0.5},)


def test_the_text_says_whether_a_tool_is_called_where_a_capability_stands_for_it(fitted: EmbeddedBackend) -> None:
    text = "Put the overdue repairs in a table"
    asked = [
        replace(request(text, tools=TOOLS), call_capability=name)
        for name in ("format.table", "orchestration.branching")
    ]
    exercised, other = answers(fitted, *asked)
    assert exercised.calls is not None
    assert other.calls is not None
    assert exercised.calls.probability > other.calls.probability
    assert exercised.calls.steps == other.calls.steps
    assert exercised.consensus == {}


def test_no_tool_is_chosen_unless_asked(fitted: EmbeddedBackend) -> None:
    assert answers(fitted, request("repairs", capabilities=CAPABILITIES))[0].calls is None


def test_many_long_tool_descriptions_are_read_in_time(fitted: EmbeddedBackend) -> None:
    tools = [tool(f"tool{number}", description=f"w{number} " + "lorem ipsum dolor " * 5_000) for number in range(500)]
    started = time.process_time()
    (answer, *_) = answers(fitted, *(request(f"w7 {number} lorem", tools=tools) for number in range(20)))
    assert answer.calls is not None
    assert time.process_time() - started < 10.0
