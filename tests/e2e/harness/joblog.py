"""What ``act --json`` printed about one job, step by step."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Step:
    """One step of a job: ``outcome`` is that of its main part; ``text`` is what it printed."""

    identity: str
    name: str
    outcome: str = ""
    outputs: dict[str, str] = field(default_factory=dict)
    summary: str = ""
    text: str = ""


@dataclass(frozen=True)
class Command:
    """A workflow command that the runner obeyed, from a file (``$GITHUB_OUTPUT``) or from what was printed."""

    step: str
    name: str
    entry: dict[str, Any]


@dataclass(frozen=True)
class Log:
    """One job's steps in order, and all workflow commands that came alive in it."""

    steps: dict[str, Step]
    commands: list[Command]
    text: str

    @property
    def summary(self) -> str:
        """The job summary."""
        return "".join(step.summary for step in self.steps.values())


def read_log(output: str, job: str) -> Log:
    """The log of one job out of act's output; what an action's inner steps did is counted to the step that uses it."""
    steps: dict[str, Step] = {}
    commands: list[Command] = []
    printed: list[str] = []
    for entry in _entries(output):
        if entry.get("jobID") != job:
            continue
        printed.append(entry["msg"].rstrip("\n"))
        path = entry.get("stepID")
        if not path:
            continue
        step = steps.setdefault(path[0], Step(path[0], entry.get("step", "")))
        if entry.get("raw_output"):
            step.text += entry["msg"]
        if "command" in entry and len(path) == 1:
            commands.append(Command(path[0], entry["command"], entry))
            if entry["command"] == "set-output":
                step.outputs[entry["name"]] = entry["arg"]
            elif entry["command"] == "summary":
                step.summary += entry["content"]
        if entry.get("stage") == "Main" and "stepResult" in entry and len(path) == 1:
            step.outcome = entry["stepResult"]
    return Log(steps, commands, "\n".join(printed))


def _entries(output: str) -> Iterator[dict[str, Any]]:
    for line in output.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and "msg" in entry:
            yield entry
