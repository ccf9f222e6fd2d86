"""The bot in a world: the two jobs of the shipped workflow, run in this process with the tokens that it grants them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import yaml

from incumbent.cli.main import run
from incumbent.curator.entry import Entry, entry_id
from incumbent.curator.file_changes import render
from incumbent.files.documents import parse_yaml
from incumbent.files.snapshot import EmptySnapshot, Overlay
from incumbent.files.validation import validate
from incumbent.intake.query import SETUP_FILE
from incumbent.taxonomy.config import REVIEWED_FILES
from incumbent.taxonomy.loading import load_taxonomy
from tests.e2e.harness.gateway import Call
from tests.e2e.harness.people import JOB
from tests.e2e.harness.workflow import Workflow
from tests.e2e.harness.world import World
from tests.factories import REPOSITORY, config_with

WORKFLOW = REPOSITORY / "bot" / "incumbent" / "pipeline" / "setup_files" / "incumbent.yml"
EXAMPLE = REPOSITORY / "tests" / "service_desk"
CARD_LINE = "eval_sets/tarnbeck-bank/card-line"
BRANCH_LINE = "eval_sets/quillow-savings/branch-line"
EVALS = f"{BRANCH_LINE}/evals.yaml"


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
    """Runs ``incumbent ci`` on events of ``world``.

    git fetches from ``server``, or else from the hosted repository's folder: what goes over HTTP is slower, and tested
    where it matters.  ``login`` is whose token the job that writes is given: its own, or an app's, with the same
    permissions.
    """

    def __init__(self, world: World, folder: Path, server: str | None = None, login: str = JOB) -> None:
        self.world = world
        self.folder = folder
        self.server = server or _linked(world)
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
                "GITHUB_REF": "refs/heads/main",
                "GITHUB_REPOSITORY": self.world.full_name,
                "GITHUB_RUN_ID": str(1000 + self.runs),
                "GITHUB_OUTPUT": str(place / "output"),
                "GITHUB_STEP_SUMMARY": str(place / "summary.md"),
                "GITHUB_TOKEN": self.world.app_token(login, self.permissions(step)),
                # The Action passes its input on, which is empty where the workflow asks for no page.
                "INCUMBENT_SITE": "",
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


def _linked(world: World) -> str:
    """The address of a folder in which the hosted repository is found by its full name, as others of the same test."""
    folder = world.folder / "hosted"
    link = folder / world.full_name
    link.parent.mkdir(parents=True, exist_ok=True)
    if not link.is_symlink():
        link.symlink_to(world.hosted.bare.folder)
    return f"file://{folder}"


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


CALLS = dict.fromkeys(("backend.call", "backend.change", "backend.lookup", "identity.signed-in"), 0.6055962)
RESIDENTS = {
    "c04": {"speech.spell-out": 0.556078, "speech.form": 1.0},
    "c05": {**CALLS, "dialog.correction": 0.9857226, "dialog.long": 1.0},
    "c07": {"dialog.handover": 0.8694094},
    "c08": {**dict.fromkeys(CALLS, 0.538943), "speech.language": 0.8765738, "speech.recording": 1.0},
    "c10": {"dialog.handover": 0.7939138, "dialog.upset": 0.992726},
}
"""The regression set: queries of the card line by these scores, whatever the classifier of the day makes of them."""

COUNTED = """
  - id: speech.picture
    name: Picture
    group: speech
    description: The caller sends a picture along.
    source: structure
    when: attachments != `null` && contains(attachments, 'image')

  - id: speech.recording
    name: Recording
    group: speech
    description: The caller plays a recording.
    source: structure
    when: attachments != `null` && contains(attachments, 'audio')

  - id: speech.form
    name: Form
    group: speech
    description: The caller sends a form along.
    source: structure
    when: attachments != `null` && contains(attachments, 'file')

  - id: dialog.long
    name: Long call
    group: dialog
    description: The call has three turns or more.
    source: structure
    when: user_turns > `2`
"""
"""Capabilities that are counted, not inferred, so that the stories below come out alike under every classifier."""

ADMITTED = "b03"
WAITING = ("b05", "b06")
EXCLUDED = "b12"
PICTURE = ["door.png"]
ATTACHED = {"b03": PICTURE, "b05": ["ring.mp3", "form.pdf"], "b06": ["ring.mp3"]}
"""What the branch line's queries come with, which decides the verdicts on them.

``ADMITTED`` has the only picture, and alone enters by itself: a direct admission by an inferred score is below
the honesty floor of :func:`platform_files`.  Each of ``WAITING`` combines what no other query does, and so waits for a
person.  ``EXCLUDED`` is a farewell.  Of the others nothing is known but that none enters by itself.
"""


def platform_files(*, without: str = BRANCH_LINE, **config: str) -> dict[str, str]:
    """The example platform's files with ``COUNTED``; ``config`` replaces the values of plain keys of its config."""
    files = dict(_platform_files(without))
    lines = files["config/curation.yaml"].splitlines()
    for key, value in config.items():
        lines = [f"{key}: {value}" if line.startswith(f"{key}:") else line for line in lines]
    files["config/curation.yaml"] = "\n".join(lines) + "\n"
    return files


@cache
def _platform_files(without: str) -> dict[str, str]:
    files = {}
    for path in sorted(EXAMPLE.rglob("*")):
        name = path.relative_to(EXAMPLE).as_posix()
        if path.is_file() and not name.startswith((without, "regression_set/")):
            files[name] = _attached(name, path.read_text(encoding="utf-8"))
    files["taxonomy/taxonomy.yaml"] = files["taxonomy/taxonomy.yaml"].rstrip() + "\n" + COUNTED
    files |= _residents(files)
    text = files["config/curation.yaml"]
    # A single query enters by itself, and no floor is filled, so that a story says who else does.
    text = config_with(text, competence_bar=0.5, honesty_floor=0.78, fill_floor="false")
    # A picture is new for certain, whatever the text says of who calls.
    text = text.replace("per_capability: {}", "per_capability: {identity.anonymous: {competence_bar: 0.765}}")
    files["config/curation.yaml"] = text
    return files


def customer_files(folder: str = BRANCH_LINE) -> dict[str, str]:
    """An eval set of the example platform, as a pull request brings it."""
    return dict(_customer_files(folder))


@cache
def _customer_files(folder: str) -> dict[str, str]:
    return {
        name: _attached(name, path.read_text(encoding="utf-8"))
        for path in sorted((EXAMPLE / folder).rglob("*"))
        if path.is_file()
        for name in [path.relative_to(EXAMPLE).as_posix()]
    }


def in_words(queries: Mapping[str, str], attached: Mapping[str, Sequence[str]] | None = None) -> dict[str, str]:
    """The branch line with these ``queries`` alone, by their ids, and what they come with."""
    rows = [
        {"id": id, "query": text, "setup": {"attachments": [*(attached or {}).get(id, ())]}}
        for id, text in queries.items()
    ]
    text = yaml.safe_dump({"eval_set": 1, "queries": rows}, sort_keys=False, allow_unicode=True, width=1000)
    return customer_files() | {EVALS: text}


def notes_what_it_read(run: BotRun) -> bool:
    """Whether ``run`` read all eval sets again, since entries had changed, and did no more than to note it."""
    writes = [call.path for call in run.calls if call.method != "GET"]
    return run.codes == (0, 0) and bool(writes) and all("/git/" in path for path in writes)


def ids_of(report: Any, outcome: str, least: int = 1) -> list[str]:
    """The ids of the queries to which a review's ``report`` gives ``outcome``, of which a story needs some."""
    found = [str(item["id"]) for item in report["verdicts"] if item["outcome"] == outcome]
    assert len(found) >= least, f"the story needs {least} with the outcome {outcome}, and has {found}"
    return found


def _attached(name: str, text: str) -> str:
    """The file ``name`` with what ``ATTACHED`` says, if it is the branch line's eval set."""
    if name != EVALS:
        return text
    head, *queries = re.split(r"(?m)^(?=  - id: )", text)
    for place, query in enumerate(queries):
        given = ATTACHED.get(query.split()[2])
        if given is not None:
            queries[place] = query.replace("setup: {", f"setup: {{attachments: [{', '.join(given)}], ")
            assert queries[place] != query
    return head + "".join(queries)


def _residents(files: dict[str, str]) -> dict[str, str]:
    """The files of ``RESIDENTS``, under the taxonomy of ``files`` and by the classifier of the example's entries."""
    capabilities = load_taxonomy(Overlay(EmptySnapshot(), files)).by_id
    path = min((EXAMPLE / "regression_set").glob("*.yaml"))
    known = validate(Entry, parse_yaml(path.read_bytes(), path.name, REVIEWED_FILES))
    assert known.source is not None
    customer, agent = CARD_LINE.split("/")[1:]
    queries = {item["id"]: item for item in yaml.safe_load(files[f"{CARD_LINE}/evals.yaml"])["queries"]}
    found = {}
    for item, scores in RESIDENTS.items():
        query, definitions = queries[item], {name: capabilities[name].definition for name in scores}
        entry = known.model_copy(
            update={
                "id": entry_id(customer, agent, item),
                "turns": tuple(query.get("turns") or [query["query"]]),
                "scores": scores,
                "classified": known.classified.model_copy(update={"definitions": definitions}),
                "source": known.source.model_copy(update={"item": item}),
                "expected": query.get("expected"),
                "setup": SETUP_FILE.validate_python(query.get("setup", {})),
            }
        )
        found[f"regression_set/{entry.id}.yaml"] = render(entry)
    return found
