"""Run a workflow of a world's repository with ``act``, job by job, each with a token of its own permissions.

act knows one token a run and no ``permissions:``.  So each job runs alone, in the order of ``needs``: the jobs before
it are stubs that end as they ended, artifacts are handed on through act's own artifact server, over one folder.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.e2e.harness.bare import ENVIRONMENT
from tests.e2e.harness.errors import HarnessError
from tests.e2e.harness.joblog import Log, read_log
from tests.e2e.harness.needs import FOLDER, MODULES, act_binary
from tests.e2e.harness.people import OWNER
from tests.e2e.harness.workflow import PROBE, Ended, Workflow, local_repositories, read_report
from tests.e2e.harness.world import World

ACTIONS = FOLDER / "harness" / "actions"
STAND_INS = {f"actions/{folder.name}": folder for folder in sorted(ACTIONS.iterdir()) if folder.is_dir()}
OURS = "incumbent/incumbent"
PATIENCE_SECONDS = 300
INHERITED = {
    *("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
}
"""What a job sees of this machine's environment, besides what tells pip where packages come from."""


@dataclass(frozen=True)
class JobRun:
    """One job: ``result`` is success, failure, cancelled or skipped."""

    name: str
    result: str
    outputs: dict[str, str]
    token: str
    log: Log

    @property
    def summary(self) -> str:
        """The job summary, all steps together."""
        return self.log.summary


@dataclass(frozen=True)
class WorkflowRun:
    """The jobs of one run that were asked for, in the order in which they ran."""

    jobs: dict[str, JobRun]
    artifacts: Path

    @property
    def ok(self) -> bool:
        """Whether no job failed."""
        return all(job.result in {"success", "skipped"} for job in self.jobs.values())

    def explain(self) -> str:
        """Everything that was printed, to say why a test failed."""
        return "\n".join(f"--- {job.name}: {job.result}\n{job.log.text}" for job in self.jobs.values())


@dataclass(frozen=True)
class Runner:
    """Runs workflows in ``folder``; ``actions`` are further or other folders that stand for actions."""

    folder: Path
    actions: Mapping[str, Path]

    @property
    def caches(self) -> Path:
        """Where caches are kept, by key, and in the file ``restores`` which were asked for."""
        return self.folder.with_name(f"{self.folder.name}-caches")

    def run(
        self,
        world: World,
        workflow: str,
        event: str,
        payload: Mapping[str, Any],
        *,
        jobs: Sequence[str] | None = None,
        earlier: WorkflowRun | None = None,
        revision: str | None = None,
        secrets: Mapping[str, str] | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> WorkflowRun:
        """Run the workflow file at ``workflow`` for one event, as it is in the branch ``revision``.

        The branch is GitHub's choice when None: the merge group's own, else the default branch.

        ``jobs`` limits the run to some jobs, as when it dies between two; a later call takes it up with ``earlier``.

        Raises:
            HarnessError: the workflow cannot be run here; a job that fails is a result, not an error.

        """
        group = payload.get("merge_group", {"head_ref": "refs/heads/main"})
        revision = revision or str(group["head_ref"]).removeprefix("refs/heads/")
        content = world.read(revision, workflow)
        if content is None:
            raise HarnessError(f"{workflow} is not in {revision}")
        parsed = Workflow(content)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.caches.mkdir(exist_ok=True)
        place = self.folder / f"run-{len(list(self.folder.iterdir()))}"
        artifacts = earlier.artifacts if earlier else place / "artifacts"
        artifacts.mkdir(parents=True, exist_ok=True)
        place.mkdir(exist_ok=True)
        world.hosted.bare.git("clone", "--quiet", "--no-hardlinks", ".", str(place / "repository"))
        _git(place / "repository", "checkout", "--quiet", "-B", revision, f"origin/{revision}")
        _git(place / "repository", "remote", "set-url", "origin", f"https://github.com/{world.full_name}")
        (place / "event.json").write_text(json.dumps(payload), encoding="utf-8")
        done = dict(earlier.jobs) if earlier else {}
        for name in parsed.order():
            if name in done or (jobs is not None and name not in jobs):
                continue
            ended = {each: Ended(done[each].result, done[each].outputs) for each in parsed.needs(name)}
            token = world.job_token(parsed.permissions(name))
            text = parsed.alone(name, ended, place / f"{name}.needs.json")
            (place / f"{name}.yml").write_text(text, encoding="utf-8")
            stand_ins = local_repositories(parsed.jobs[name], {**STAND_INS, **self.actions})
            command = [
                *_command(world, place, name, event, str(payload.get("sender", {"login": OWNER})["login"])),
                f"--env=INCUMBENT_E2E_CACHES={self.caches}",
                *([f"--env=GITHUB_REF={group['head_ref']}"] if event == "merge_group" else []),
                *("--artifact-server-path", str(artifacts)),
                *(f"--local-repository={use}={folder}" for use, folder in sorted(stand_ins.items())),
                *(f"--secret={key}={value}" for key, value in {**(secrets or {}), "GITHUB_TOKEN": token}.items()),
                *(f"--var={key}={value}" for key, value in (variables or {}).items()),
            ]
            done[name] = _run_job(command, place, name, token)
        return WorkflowRun(done, artifacts)


def _command(world: World, place: Path, job: str, event: str, actor: str) -> list[str]:
    environment = {
        "GITHUB_API_URL": world.url,
        "GITHUB_SERVER_URL": world.url,
        "GITHUB_REPOSITORY": world.full_name,
        "INCUMBENT_E2E_MODULES": str(MODULES),
    }
    return [
        str(act_binary()),
        *(event, "--job", PROBE, "--directory", str(place / "repository"), "--workflows", str(place / f"{job}.yml")),
        *("--eventpath", str(place / "event.json"), "--actor", actor, "--json", "--no-cache-server"),
        *("--platform", "ubuntu-latest=-self-hosted", "--container-daemon-socket", "-", "--concurrent-jobs", "1"),
        *("--action-cache-path", str(place / "cache"), "--artifact-server-addr", "127.0.0.1"),
        *("--artifact-server-port", str(_free_port())),
        *(f"--env={name}={value}" for name, value in environment.items()),
    ]


def _run_job(command: list[str], place: Path, name: str, token: str) -> JobRun:
    inherited = {key: value for key, value in os.environ.items() if key in INHERITED or key.startswith("PIP_")}
    done = subprocess.run(
        command, cwd=place, capture_output=True, text=True, env=inherited, timeout=PATIENCE_SECONDS, check=False
    )
    (place / f"{name}.log").write_text(done.stdout + done.stderr, encoding="utf-8")
    ended = read_report(place / f"{name}.needs.json", name)
    if ended is None:
        raise HarnessError(f"act could not run {name}:\n{done.stderr[-2000:]}\n{done.stdout[-2000:]}")
    return JobRun(name, ended.result, ended.outputs, token, read_log(done.stdout, name))


def action_copy(target: Path) -> Path:
    """The working tree as a download of the action would have it: what git knows of, or would take in."""
    root = FOLDER.parents[1]
    listed = _git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    for name in sorted({each for each in listed if each and not each.startswith("tests/")}):
        if (root / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, target / name)
    return target


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, env=ENVIRONMENT, check=False)
    if done.returncode:
        raise HarnessError(f"git {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
