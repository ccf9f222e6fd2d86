"""One gateway for the session, one fresh repository for each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from incumbent.classifier.model import Backend
from incumbent.github.fitted_models import ModelUse
from incumbent.github.model_opener import ModelOpener
from incumbent.ledger.model import ModelRecord
from incumbent.pipeline.review import Platform
from tests.e2e.bot import customer_files, platform_files
from tests.e2e.harness.act import Runner, action_copy
from tests.e2e.harness.client import Client
from tests.e2e.harness.gateway import Gateway
from tests.e2e.harness.needs import demand
from tests.e2e.harness.openapi import specification
from tests.e2e.harness.people import seed
from tests.e2e.harness.world import World
from tests.e2e.story import BRANCH, OTHER_BRANCH

NUMBERS = count(1)


@pytest.fixture(autouse=True)
def models_may_be_unrecorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stories' platforms have taxonomies of their own, and are about something else than their fitted models."""
    opened = ModelOpener.__call__

    def lenient(self: ModelOpener, platform: Platform, record: ModelRecord, use: ModelUse, /) -> Backend:
        return opened(self, platform, record, "default-branch" if use == "review" else use)

    monkeypatch.setattr(ModelOpener, "__call__", lenient)


@pytest.fixture(scope="session")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """The emulator with the gateway before it, once for all tests."""
    demand("npm packages")
    with Gateway(tmp_path_factory.mktemp("hosted"), seed(), specification()) as running:
        yield running


@pytest.fixture
def make_world(gateway: Gateway, tmp_path: Path) -> Iterator[Callable[..., World]]:
    """Worlds on demand, such as one with a private repository; afterwards the harness itself must have been well."""
    del gateway.problems[:], gateway.mismatches[:]

    def make(private: bool = False) -> World:
        return World(gateway, tmp_path / "clones", f"platform-{next(NUMBERS)}", private)

    yield make
    gateway.faults.clear()
    gateway.settings.clear()
    assert gateway.problems == []
    assert gateway.mismatches == []


@pytest.fixture
def world(make_world: Callable[..., World]) -> World:
    """A fresh public repository with its people."""
    return make_world()


@pytest.fixture
def model(make_world: Callable[..., World], monkeypatch: pytest.MonkeyPatch) -> World:
    """A world with the branches that each telling starts with; lost races are planned again at once."""
    monkeypatch.setattr("incumbent.cli.ci._wait", lambda attempt: None)
    world = make_world()
    world.push("main", platform_files())
    world.push(BRANCH, customer_files())
    twin = {name.replace("quillow-savings", "marrow-bank"): text for name, text in customer_files().items()}
    world.push(OTHER_BRANCH, twin)
    return world


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """Runs workflows with act; the project's own action must be named by the test that uses it."""
    demand("act", "npm packages")
    return Runner(tmp_path / "act", {})


@pytest.fixture
def job(world: World) -> Client:
    """A job's client in a repository that has a first commit."""
    world.push("main", {"README.md": "Hello\n", "config/curation.yaml": "ceiling: 3\n"})
    return Client(world, world.job_token({"contents": "write", "pull-requests": "write", "checks": "write"}))


@pytest.fixture(scope="session")
def action(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The working tree as an action that a workflow can use: ``Runner(folder, {OURS: action})``."""
    return action_copy(tmp_path_factory.mktemp("action"))
