"""A platform with a taxonomy of its own: the default branch fits its model once, and reviews use no other."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from incumbent.classifier.embedded import fitting
from incumbent.classifier.embedded.cache import ModelCache
from incumbent.github.check import PLATFORM_ACTS, PullRequestLabel
from incumbent.report.impact import PREVIEW
from tests.e2e.bot import Bot, Job, Started, customer_files, platform_files
from tests.e2e.harness.people import CURATOR
from tests.e2e.harness.world import World
from tests.e2e.test_reconcile import LEDGER, sticky
from tests.factories import REPOSITORY

RECORD = "models.json"
EXEMPLARS = "taxonomy/exemplars/exemplars.tsv"


@pytest.fixture(autouse=True)
def models_may_be_unrecorded() -> None:
    """Here they may not."""


@pytest.fixture
def fits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many exemplars each fit had."""
    found: list[int] = []
    fit = fitting.fit_model

    def counted(taxonomy: Any, *arguments: Any) -> Any:
        found.append(len(taxonomy.exemplars))
        return fit(taxonomy, *arguments)

    monkeypatch.setattr(fitting, "fit_model", counted)
    return found


class Runner:
    """The steps of the Action: each job is on a machine of its own, and ``cache`` is what outlives them."""

    def __init__(self, bot: Bot) -> None:
        self.bot = bot
        self.cache = bot.folder / "actions-cache"
        self.machines = 0

    def analyse(self, name: str, **about: Any) -> Started:
        """The job `analyse` of a run on an event, which names a model, takes it, and goes on."""
        started = self.bot.start(name, **about)
        job = self._on_a_machine(started.analyse)
        assert replace(job, environment={**job.environment, "INCUMBENT_NAME_MODEL": "true"}).run() == 0
        key = started.outputs.get("model")
        if key is not None:
            restored = self.machine / "incumbent-models"
            if (self.cache / key).exists():
                shutil.copytree(self.cache / key, restored)
            assert replace(job, environment={**job.environment, "INCUMBENT_MODELS": str(restored)}).run() == 0
        return started

    def run(self, name: str, *, code: int = 0, **about: Any) -> Started:
        """A whole run: `analyse` and `publish`, which ends with ``code``, and `fit` where that is asked for."""
        started = self.analyse(name, **about)
        assert started.publish.run() == code
        if started.outputs.get("fit") == "needed":
            self.fit()
        return started

    def fit(self, *, keeps: bool = True) -> Started:
        """The job `fit`; unless it ``keeps`` the model, it dies before that."""
        started = self.bot.start("workflow_dispatch")
        token = self.bot.world.app_token("github-actions[bot]", self.bot.permissions("fit"))
        job = self._on_a_machine(replace(started.analyse, step="fit"))
        folder = self.machine / "incumbent-models"
        environment = {**job.environment, "GITHUB_TOKEN": token, "INCUMBENT_MODELS": str(folder)}
        assert replace(job, environment=environment).run() == 0
        key = started.outputs.get("model")
        if keeps and key is not None and not (self.cache / key).exists():
            shutil.copytree(folder, self.cache / key)
        return started

    @property
    def machine(self) -> Path:
        return self.bot.folder / f"machine-{self.machines}"

    def _on_a_machine(self, job: Job) -> Job:
        self.machines += 1
        return replace(job, environment={**job.environment, "INCUMBENT_CACHE": str(self.machine / "user")})


def without_embedding() -> dict[str, str]:
    """The example platform without an embedding, so that a fit takes no time."""
    found = platform_files()
    config, count = re.subn(r"embedding: [0-9a-f]{64}", "embedding: none", found["config/curation.yaml"])
    assert count == 1
    return found | {"config/curation.yaml": config}


@pytest.fixture
def runner(world: World, tmp_path: Path) -> Runner:
    world.push("main", without_embedding())
    return Runner(Bot(world, tmp_path / "runs"))


def recorded(world: World) -> list[Any]:
    text = world.read(LEDGER, RECORD) if world.head(LEDGER) else None
    return [] if text is None else list(json.loads(text)["models"])


def check(world: World, number: int) -> tuple[str, str]:
    """The conclusion and the title of the newest check."""
    newest = max(world.checks(world.pull(number)["head"]["sha"]), key=lambda item: int(item["id"]))
    return newest["conclusion"], newest["output"]["title"]


def push(world: World) -> dict[str, Any]:
    return {"before": world.head("main"), "after": world.head("main")}


def test_a_review_waits_for_the_model_and_then_fits_nothing(world: World, runner: Runner, fits: list[int]) -> None:
    pull = world.open_pull_request("quillow", customer_files())
    first = runner.run("pull_request_target", number=pull.number)
    conclusion, title = check(world, pull.number)
    assert conclusion == "failure"
    assert title.startswith(f"{PLATFORM_ACTS}: ")
    assert f"`{RECORD}` of the ledger lacks the fitted model " in sticky(world, pull.number)
    assert "Actions → Incumbent → Run workflow" in sticky(world, pull.number)
    assert PullRequestLabel.INCOMPLETE.value in world.labels(pull.number)
    assert (fits, first.outputs.get("fit"), recorded(world)) == ([], None, [])
    # The run of the default branch judges by its reviewed files at once, and asks for the job that records them.
    assert runner.run("push", **push(world)).outputs["fit"] == "needed"
    assert len(fits) == 2
    (known,) = recorded(world)
    assert [path.name for path in runner.cache.iterdir()] == [known["key"]]
    assert known["commit"] == world.head("main")
    del fits[:]
    runner.run("pull_request_target", number=pull.number, action="synchronize")
    conclusion, title = check(world, pull.number)
    assert PLATFORM_ACTS not in title
    assert PullRequestLabel.INCOMPLETE.value not in world.labels(pull.number)
    assert "fit" not in runner.run("schedule").outputs
    assert fits == []
    tip = world.head(LEDGER)
    assert runner.analyse("workflow_dispatch").outputs["fit"] == "needed", "who starts it by hand wants it made again"
    runner.fit()
    assert (len(fits), world.head(LEDGER)) == (1, tip)


def test_a_model_that_somebody_put_into_the_cache_is_refused(
    world: World, runner: Runner, fits: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    runner.fit()
    (known,) = recorded(world)
    cache = ModelCache(runner.cache / known["key"])
    arrays = dict(cache.load(known["key"]) or {})
    cache.store(known["key"], arrays | {"weights": np.zeros_like(arrays["weights"])})
    del fits[:]
    pull = world.open_pull_request("quillow", customer_files())
    capsys.readouterr()
    runner.run("pull_request_target", number=pull.number)
    log = capsys.readouterr().err
    assert f"embedded-{known['key']}.npz in the Action's cache is not used: its digest is " in log
    assert "delete it (Actions → Caches)" in log
    assert PLATFORM_ACTS not in check(world, pull.number)[1]
    assert len(fits) == 1, "it is fitted here, and equals the one on the ledger"
    assert runner.analyse("schedule").outputs["fit"] == "needed"


@pytest.mark.exhaustive
def test_a_ledger_that_records_another_model_judges_nothing_until_it_is_made_again(
    world: World, runner: Runner, capsys: pytest.CaptureFixture[str]
) -> None:
    runner.fit()
    (known,) = recorded(world)
    world.push(LEDGER, {RECORD: json.dumps({"format": 1, "models": [known | {"digest": "f" * 64}]})})
    pull = world.open_pull_request("quillow", customer_files())
    runner.run("pull_request_target", number=pull.number)
    conclusion, title = check(world, pull.number)
    assert conclusion == "failure"
    assert title.startswith(f"{PLATFORM_ACTS}: ")
    said = sticky(world, pull.number)
    assert f"has the digest {known['digest'][:12]} here, and ffffffffffff in `{RECORD}` of the ledger" in said
    capsys.readouterr()
    runner.run("schedule", code=3)
    assert f"the ledger recorded {'f' * 64} before" in capsys.readouterr().out
    assert [item["digest"] for item in recorded(world)] == [known["digest"]]
    runner.run("pull_request_target", number=pull.number, action="synchronize")
    assert PLATFORM_ACTS not in check(world, pull.number)[1]


@pytest.mark.parametrize("lost", ["the record", "the model"])
@pytest.mark.exhaustive
def test_a_fit_that_was_ended_in_the_middle_is_made_again(
    world: World, runner: Runner, fits: list[int], lost: str
) -> None:
    runner.fit(keeps=lost != "the model")
    (known,) = recorded(world)
    if lost == "the record":
        world.push(LEDGER, {RECORD: json.dumps({"format": 1, "models": []})})
    pull = world.open_pull_request("quillow", customer_files())
    runner.run("pull_request_target", number=pull.number)
    assert (PLATFORM_ACTS in check(world, pull.number)[1]) == (lost == "the record")
    assert runner.run("schedule").outputs["fit"] == "needed"
    assert [item["digest"] for item in recorded(world)] == [known["digest"]]
    assert [path.name for path in runner.cache.iterdir()] == [known["key"]]
    tip = world.head(LEDGER)
    runner.fit()
    assert world.head(LEDGER) == tip, "once it is recorded nothing is written again"
    del fits[:]
    runner.run("pull_request_target", number=pull.number, action="synchronize")
    assert PLATFORM_ACTS not in check(world, pull.number)[1]
    assert fits == []


@pytest.mark.exhaustive
def test_a_changed_taxonomy_is_fitted_as_a_preview_that_leaves_nothing(
    world: World, runner: Runner, fits: list[int]
) -> None:
    runner.fit()
    (known,) = recorded(world)
    rows = without_embedding()[EXEMPLARS].rstrip("\n").split("\n")
    fewer = {EXEMPLARS: "\n".join(rows[:-1]) + "\n"}
    pull = world.open_pull_request("fewer", fewer, user=CURATOR)
    del fits[:]
    runner.run("pull_request_target", number=pull.number)
    assert len(fits) == 1
    assert PREVIEW in sticky(world, pull.number)
    left = {path.name for path in runner.machine.rglob("embedded-*.npz")}
    assert left == {f"embedded-{known['key']}.npz"}, "what was restored"
    assert recorded(world) == [known]
    before = world.head("main")
    started = runner.run("push", before=before, after=world.merge(pull.number))
    assert started.outputs["fit"] == "needed"
    assert [item["key"] for item in recorded(world)] == [fresh := recorded(world)[0]["key"], known["key"]]
    assert fresh != known["key"]


@pytest.mark.exhaustive
def test_a_changed_taxonomy_is_not_measured_against_one_that_nobody_has_recorded(
    world: World, runner: Runner, fits: list[int]
) -> None:
    rows = without_embedding()[EXEMPLARS].rstrip("\n").split("\n")
    pull = world.open_pull_request("fewer", {EXEMPLARS: "\n".join(rows[:-1]) + "\n"}, user=CURATOR)
    runner.run("pull_request_target", number=pull.number)
    conclusion, title = check(world, pull.number)
    assert conclusion == "failure"
    assert title.startswith(f"{PLATFORM_ACTS}: ")
    assert f"`{RECORD}` of the ledger lacks the fitted model " in sticky(world, pull.number)
    assert "What it would do is not known in full" in sticky(world, pull.number)
    assert PullRequestLabel.INCOMPLETE.value in world.labels(pull.number)
    assert len(fits) <= 1, "at most the preview"
    assert recorded(world) == []


def test_the_shipped_taxonomy_needs_none_of_this(world: World, tmp_path: Path) -> None:
    parts = [path for place in ("taxonomy", "config") for path in (REPOSITORY / place).rglob("*") if path.is_file()]
    world.push("main", {path.relative_to(REPOSITORY).as_posix(): path.read_text(encoding="utf-8") for path in parts})
    runner = Runner(Bot(world, tmp_path / "runs"))
    assert not {"model", "fit"} & runner.analyse("push", **push(world)).outputs.keys()
    assert "model" not in runner.fit().outputs
    assert recorded(world) == []
