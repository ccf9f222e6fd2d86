"""The agents that a platform repository declares, and what each rules out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from incumbent.curator.store import RegressionSet
from incumbent.pipeline import declared_agents as module
from incumbent.pipeline import submission
from incumbent.pipeline.declared_agents import declared_agents
from incumbent.pipeline.review import Platform
from tests.classifier.factories import intent, of_tools, taxonomy
from tests.factories import make_config

PLATFORM = Platform(
    taxonomy=taxonomy(
        intent("web", when="contains(knowledge, 'web-search')"), intent("table"), of_tools("call", "`true`")
    ),
    config=make_config(),
    regression_set=RegressionSet({}, {}, {}),
)


DESK, OPEN, LINE = "eval_sets/acme/desk", "eval_sets/acme/open", "eval_sets/bolt/line"


def write(folder: Path, agent: str) -> None:
    folder.mkdir(parents=True)
    (folder / "agent.yaml").write_text(agent, encoding="utf-8")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    write(folder / DESK, "agent: 1\nname: Desk\nplatform: x\ntools: []\nknowledge: []\n")
    write(folder / OPEN, "agent: 1\nname: Open\nplatform: x\n")
    write(folder / LINE, "agent: 1\nname: [")
    return folder


@pytest.fixture
def ask(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[dict[str, Any], list[str]]]:
    """The agents of ``repo``, and whose specifications were read for the answer."""
    read: list[str] = []
    finds = submission.find_specification

    def heard(snapshot: Any, limits: Any) -> Any:
        read.append(snapshot.label)
        return finds(snapshot, limits)

    monkeypatch.setattr(module, "find_specification", heard)

    def call(platform: Platform = PLATFORM) -> tuple[dict[str, Any], list[str]]:
        read.clear()
        found = declared_agents(platform, repo, {"INCUMBENT_CACHE": str(tmp_path / "cache")})
        return found, list(read)

    return call


def test_each_agent_has_what_its_specification_rules_out(ask: Callable[..., Any]) -> None:
    assert ask() == ({"acme/desk": ("web", "call"), "acme/open": ()}, [DESK, OPEN, LINE])


def test_without_eval_sets_there_are_no_agents(tmp_path: Path) -> None:
    assert declared_agents(PLATFORM, tmp_path) == {}


def test_what_did_not_change_is_not_read_again(ask: Callable[..., Any]) -> None:
    first, _ = ask()
    assert ask() == (first, [])


def change(path: str, text: str | None) -> Callable[[Path], object]:
    def apply(repo: Path) -> None:
        file = repo / path
        if text is None:
            file.unlink()
        else:
            file.write_text(text, encoding="utf-8")

    return apply


def link(repo: Path) -> None:
    (repo / DESK / "other.yaml").symlink_to("agent.yaml")


@pytest.mark.parametrize(
    ("changes", "agents", "read"),
    [
        (
            change(f"{OPEN}/agent.yaml", "agent: 1\nname: Open\nplatform: x\ntools: []\n"),
            {"acme/open": ("call",)},
            [OPEN],
        ),
        (change(f"{LINE}/agent.yaml", "agent: 1\nname: L\nplatform: x\n"), {"bolt/line": ()}, [LINE]),
        (change(f"{DESK}/agent.yaml", "agent: ["), {"acme/desk": None}, [DESK]),
        (change(f"{DESK}/second.yaml", "agent: 1\nname: Desk\nplatform: x\n"), {}, [DESK]),
        (link, {}, [DESK]),
        (change(f"{OPEN}/agent.yaml", None), {"acme/open": None}, []),
    ],
    ids=["changed", "mended", "broken", "another file", "a link", "gone"],
)
def test_a_folder_that_changed_is_read_again(
    ask: Callable[..., Any],
    repo: Path,
    changes: Callable[[Path], object],
    agents: dict[str, tuple[str, ...] | None],
    read: list[str],
) -> None:
    before, _ = ask()
    changes(repo)
    expected = {name: value for name, value in (before | agents).items() if value is not None}
    found = ask()
    assert found == (expected, read)
    assert ask() == (expected, [])


def test_what_was_kept_holds_for_one_taxonomy_and_config(ask: Callable[..., Any]) -> None:
    ask()
    for other in (
        replace(PLATFORM, taxonomy=taxonomy(intent("web", when="contains(knowledge, 'web-search')"))),
        replace(PLATFORM, config=make_config(ceiling=7)),
    ):
        assert ask(other)[1] == [DESK, OPEN, LINE]
    assert ask(replace(PLATFORM, taxonomy=taxonomy(intent("table"))))[0] == {"acme/desk": (), "acme/open": ()}


def test_a_cache_that_cannot_be_read_is_no_cache(ask: Callable[..., Any], tmp_path: Path) -> None:
    first, _ = ask()
    (pack,) = (tmp_path / "cache" / "packed").iterdir()
    pack.write_bytes(b"{")
    assert ask() == (first, [DESK, OPEN, LINE])
    assert ask() == (first, [])
