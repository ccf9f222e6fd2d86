"""The agents that a platform repository declares, and what each rules out."""

from __future__ import annotations

from pathlib import Path

from bot.curator.store import RegressionSet
from bot.pipeline.review import Platform
from bot.pipeline.workspace import declared_agents
from tests.classifier.factories import intent, of_tools, taxonomy
from tests.factories import make_config

PLATFORM = Platform(
    taxonomy=taxonomy(
        intent("web", when="contains(knowledge, 'web-search')"), intent("table"), of_tools("call", "`true`")
    ),
    config=make_config(),
    regression_set=RegressionSet({}, {}, {}),
)


def write(folder: Path, agent: str) -> None:
    folder.mkdir(parents=True)
    (folder / "agent.yaml").write_text(agent, encoding="utf-8")


def test_each_agent_has_what_its_specification_rules_out(tmp_path: Path) -> None:
    write(tmp_path / "eval_sets/acme/desk", "agent: 1\nname: Desk\nplatform: x\ntools: []\nknowledge: []\n")
    write(tmp_path / "eval_sets/acme/open", "agent: 1\nname: Open\nplatform: x\n")
    write(tmp_path / "eval_sets/bolt/line", "agent: 1\nname: [")
    assert declared_agents(PLATFORM, tmp_path) == {"acme/desk": ("web", "call"), "acme/open": ()}


def test_without_eval_sets_there_are_no_agents(tmp_path: Path) -> None:
    assert declared_agents(PLATFORM, tmp_path) == {}
