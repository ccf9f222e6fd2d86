"""Workflow files as values: their jobs, what each may do, which actions they use, and one job cut out to run alone."""

from __future__ import annotations

import base64
import io
import json
import re
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from tests.e2e.harness.errors import HarnessError
from tests.e2e.harness.people import PERMISSIONS

PROBE = "harness-probe"
STUB = "harness-stub"
USES = re.compile(r"^(?P<repository>[^/@]+/[^/@]+)(?P<path>/[^@]+)?@(?P<ref>.+)$")


@dataclass(frozen=True)
class Ended:
    """How a job ended, as later jobs see it."""

    result: str
    outputs: dict[str, str] = field(default_factory=dict)


class Workflow:
    """One workflow file."""

    def __init__(self, content: str) -> None:
        self.data: dict[str, Any] = YAML().load(content)
        self.jobs: dict[str, Any] = self.data["jobs"]

    def needs(self, job: str) -> list[str]:
        """The jobs that a job waits for."""
        needs = self.jobs[job].get("needs", [])
        return [needs] if isinstance(needs, str) else list(needs)

    def order(self) -> list[str]:
        """All jobs, each after those it needs, else as written."""
        placed: list[str] = []
        while len(placed) < len(self.jobs):
            ready = [job for job in self.jobs if job not in placed and set(self.needs(job)) <= set(placed)]
            if not ready:
                raise HarnessError("jobs need each other in a circle")
            placed += ready
        return placed

    def permissions(self, job: str) -> dict[str, str]:
        """What a job's token may do, from its own block or else the workflow's.

        Raises:
            HarnessError: neither has one, so that GitHub would take the repository's setting.

        """
        block = self.jobs[job].get("permissions", self.data.get("permissions"))
        if block is None:
            raise HarnessError(f"job {job} has no permissions block, nor has its workflow")
        if isinstance(block, str):
            return dict.fromkeys(PERMISSIONS, block.removesuffix("-all"))
        return dict(block)

    def alone(self, job: str, ended: Mapping[str, Ended], report: Path) -> str:
        """The workflow with one job only; the jobs it needs are stubs that end as they did, a probe tells how it ended.

        The probe writes what a later job would see as ``needs`` to ``report``.
        """
        jobs: dict[str, Any] = {name: _stub(ended[name]) for name in self.needs(job)}
        jobs[job] = self.jobs[job]
        say = {"NEEDS": "${{ toJSON(needs) }}", "REPORT": str(report)}
        jobs[PROBE] = {
            "needs": [job],
            "if": "${{ always() }}",
            "runs-on": "ubuntu-latest",
            "steps": [{"shell": "bash", "env": say, "run": 'printf "%s" "$NEEDS" > "$REPORT"'}],
        }
        stream = io.StringIO()
        YAML().dump({**self.data, "jobs": jobs}, stream)
        return stream.getvalue()


def _stub(ended: Ended) -> dict[str, Any]:
    """A job that ends in a given way; its outputs go in encoded, so that nothing in them is taken for an expression."""
    lines: list[str] = []
    for name, value in ended.outputs.items():
        end = secrets.token_hex(8)
        lines.append(f"{name}<<{end}\n{value}\n{end}\n")
    encoded = base64.b64encode("".join(lines).encode()).decode()
    run = f'echo {encoded} | base64 -d >> "$GITHUB_OUTPUT"' + ("; exit 1" if ended.result == "failure" else "")
    stub: dict[str, Any] = {
        "runs-on": "ubuntu-latest",
        "outputs": {name: f"${{{{ steps.{STUB}.outputs.{name} }}}}" for name in ended.outputs},
        "steps": [{"id": STUB, "shell": "bash", "run": run}],
    }
    return stub | ({"if": False} if ended.result == "skipped" else {})


def uses(data: Any) -> Iterator[str]:
    """Every ``uses:`` in a workflow or an action, local ones left out."""
    if isinstance(data, dict):
        for key, value in data.items():
            if key == "uses" and isinstance(value, str) and not value.startswith((".", "docker:")):
                yield value
            else:
                yield from uses(value)
    elif isinstance(data, list):
        for each in data:
            yield from uses(each)


def local_repositories(data: Any, known: Mapping[str, Path]) -> dict[str, Path]:
    """``owner/name@ref`` of every action used, also by the actions themselves → the folder that stands for it.

    Raises:
        HarnessError: an action that nothing here stands for.

    """
    found: dict[str, Path] = {}
    waiting = list(uses(data))
    while waiting:
        use = waiting.pop()
        parts = USES.match(use)
        if parts is None or parts["repository"] not in known:
            raise HarnessError(f"nothing here stands for {use}; there are {', '.join(sorted(known))}")
        key = f"{parts['repository']}@{parts['ref']}"
        folder = known[parts["repository"]]
        definition = folder / (parts["path"] or "").strip("/") / "action.yml"
        if not definition.is_file():
            raise HarnessError(f"{use}: {definition} is missing")
        if key not in found:
            waiting += uses(YAML().load(definition))
        found[key] = folder
    return found


def read_report(report: Path, job: str) -> Ended | None:
    """What the probe wrote about a job."""
    if not report.is_file():
        return None
    said = json.loads(report.read_text(encoding="utf-8"))[job]
    return Ended(said["result"], {name: str(value) for name, value in (said.get("outputs") or {}).items()})
