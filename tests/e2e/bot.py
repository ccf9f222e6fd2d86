"""The bot in a world: the two jobs of the shipped workflow, run in this process with the tokens that it grants them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from bot.cli.main import run
from bot.config import REVIEWED_FILES
from bot.curator.changes import render
from bot.curator.entry import Entry
from bot.documents import parse_yaml
from bot.snapshot import WorkingTree
from bot.taxonomy.loading import load_taxonomy
from bot.validation import validate
from tests.e2e.harness.gateway import Call
from tests.e2e.harness.people import JOB
from tests.e2e.harness.workflow import Workflow
from tests.e2e.harness.world import World
from tests.factories import REPOSITORY

WORKFLOW = REPOSITORY / "bot" / "setup_files" / "incumbent.yml"
EXAMPLE = REPOSITORY / "examples" / "other-platform"
CARD_LINE = "eval_sets/tarnbeck-bank/card-line"
BRANCH_LINE = "eval_sets/quillow-savings/branch-line"


@dataclass(frozen=True)
class BotRun:
    """How the jobs ended, what they said, and the API calls that they made."""

    codes: tuple[int, ...]
    outputs: dict[str, str]
    summary: str
    calls: list[Call]

    @property
    def report(self) -> Any:
        return json.loads(self.outputs["report"])


@dataclass(frozen=True)
class Job:
    """One job of a workflow run: what ``incumbent ci`` is called with, and the token that tells its requests apart."""

    step: str
    document: Path
    environment: dict[str, str]
    login: str = JOB

    @property
    def token(self) -> str:
        return self.environment["GITHUB_TOKEN"]

    def run(self) -> int:
        """Its exit code.  Only its start reads the process's environment."""
        with patch.dict(os.environ, self.environment):
            return self.run_here()

    def run_here(self) -> int:
        """The same in an environment that is in place."""
        return run(["ci", self.step, "--analysis", str(self.document), "--login", self.login])


@dataclass(frozen=True)
class Started:
    """A workflow run that an event has started: its two jobs, of which none has run yet."""

    place: Path
    analyse: Job
    publish: Job

    @property
    def outputs(self) -> dict[str, str]:
        return dict(line.split("=", 1) for line in _read(self.place / "output").splitlines())

    @property
    def summary(self) -> str:
        return _read(self.place / "summary.md")


class Bot:
    """Runs ``incumbent ci`` on events of ``world``; ``server`` is where git fetches from, if not over HTTP.

    ``login`` is whose token the job that writes is given: its own, or an app's, with the same permissions.
    """

    def __init__(self, world: World, folder: Path, server: str | None = None, login: str = JOB) -> None:
        self.world = world
        self.folder = folder
        self.server = server or world.url
        self.login = login
        self.permissions = Workflow(WORKFLOW.read_text(encoding="utf-8")).permissions
        self.runs = 0

    def start(self, name: str, **about: Any) -> Started:
        """The jobs for the event ``name`` about ``about`` (see ``Events``), to be run one by one."""
        self.runs += 1
        place = self.folder / f"run-{self.runs}"
        place.mkdir(parents=True)
        event = place / "event.json"
        event.write_text(json.dumps(self.world.event(name, **about)), encoding="utf-8")

        def job(step: str, login: str = JOB) -> Job:
            environment = {
                "GITHUB_API_URL": self.world.url,
                "GITHUB_SERVER_URL": self.server,
                "GITHUB_EVENT_NAME": name,
                "GITHUB_EVENT_PATH": str(event),
                "GITHUB_RUN_ID": str(1000 + self.runs),
                "GITHUB_OUTPUT": str(place / "output"),
                "GITHUB_STEP_SUMMARY": str(place / "summary.md"),
                "GITHUB_TOKEN": self.world.app_token(login, self.permissions(step)),
            }
            return Job(step, place / "facts.json", environment, login)

        return Started(place, job("analyse"), job("publish", self.login))

    def on(
        self,
        name: str,
        *,
        die_after_analyse: bool = False,
        lose_facts: bool = False,
        mangle: Callable[[str], str] | None = None,
        **about: Any,
    ) -> BotRun:
        """Both jobs on the event ``name`` about ``about`` (see ``Events``); ``mangle`` changes what one hands over."""
        started = self.start(name, **about)
        mark = self.world.gateway.mark()
        codes = [started.analyse.run()]
        facts = started.publish.document
        if lose_facts:
            facts.unlink()
        if mangle is not None and not die_after_analyse:
            facts.write_text(mangle(facts.read_text(encoding="utf-8")), encoding="utf-8")
        if not die_after_analyse:
            codes.append(started.publish.run())
        return BotRun(
            codes=tuple(codes),
            outputs=started.outputs,
            summary=started.summary,
            calls=self.world.gateway.calls_since(mark),
        )


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


CALLS = dict.fromkeys(("backend.call", "backend.change", "backend.lookup", "identity.signed-in"), 0.6055962)
SCORES = {
    "c05": {**CALLS, "dialog.correction": 0.9857226},
    "c07": {"dialog.handover": 0.8694094},
    "c08": {**dict.fromkeys(CALLS, 0.538943), "speech.language": 0.8765738},
    "c10": {"dialog.handover": 0.7939138, "dialog.upset": 0.992726},
}
"""What the stories rest on, whatever the classifier of the day makes of these entries."""


def _rescored(path: str, text: str) -> str:
    """The entry at ``path`` with its scores of :data:`SCORES`."""
    scores = next((found for item, found in SCORES.items() if f"-{item}-" in path), None)
    if scores is None:
        return text
    entry = validate(Entry, parse_yaml(text.encode(), path, REVIEWED_FILES))
    capabilities = load_taxonomy(WorkingTree(EXAMPLE)).by_id
    definitions = {name: capabilities[name].definition for name in scores}
    classified = entry.classified.model_copy(update={"definitions": definitions})
    return render(entry.model_copy(update={"scores": scores, "classified": classified}))


def platform_files(*, without: str = BRANCH_LINE, **config: str) -> dict[str, str]:
    """The example platform's files; ``config`` replaces the values of plain keys of its config."""
    files = {}
    for path in sorted(EXAMPLE.rglob("*")):
        name = path.relative_to(EXAMPLE).as_posix()
        if path.is_file() and not name.startswith(without):
            files[name] = _rescored(name, path.read_text(encoding="utf-8"))
    lines = files["config/curation.yaml"].splitlines()
    for key, value in config.items():
        lines = [f"{key}: {value}" if line.startswith(f"{key}:") else line for line in lines]
    files["config/curation.yaml"] = "\n".join(lines) + "\n"
    return files


def customer_files(folder: str = BRANCH_LINE) -> dict[str, str]:
    """An eval set of the example platform, as a pull request brings it."""
    return {
        path.relative_to(EXAMPLE).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted((EXAMPLE / folder).rglob("*"))
        if path.is_file()
    }
