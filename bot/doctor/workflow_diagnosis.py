"""Whether a repository's workflow does what the shipped one does, with no more rights (pure)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bot.doctor.model import RepositoryFiles, SetupFinding, UnreadSetting, bad, doubtful, good, unchecked
from bot.doctor.workflow import STEPS, Job, Trigger, Workflow, lets_through

_ABOUT: Final = "workflow"
_OPTIONAL: Final = frozenset({"models"})
"""Read rights that only some need and that the shipped workflow lacks: for a model of GitHub's."""


def diagnose_workflow(
    files: RepositoryFiles, shipped: Workflow, state: str | UnreadSetting | None, merge_queue: bool, branch: str
) -> tuple[SetupFinding, ...]:
    """Everything about the workflow file of the default ``branch``, compared with the ``shipped`` one."""
    found = [*_faults(files)]
    workflow = files.workflow
    if workflow is None:
        if not found:
            found.append(
                bad(
                    _ABOUT,
                    "no workflow of the default branch runs the Action",
                    "nothing is reviewed without it; pull requests run the default branch's workflow",
                    "run `incumbent init --action OWNER/NAME@COMMIT`, "
                    f"commit {shipped.file}, and push it to the default branch",
                )
            )
        return tuple(found)
    found += [*_state(workflow, state), *_triggers(workflow, shipped, merge_queue, branch), *_jobs(workflow, shipped)]
    found += [*_pins(workflow), *_login(workflow), *_model_key(workflow, files)]
    if not any(item.severity == "error" for item in found):
        found.append(good(_ABOUT, f"{workflow.file} runs both jobs, with the rights they need and no more"))
    return tuple(found)


def _faults(files: RepositoryFiles) -> Iterator[SetupFinding]:
    for fault in files.workflow_faults:
        place = fault.file if fault.line is None else f"{fault.file}:{fault.line}"
        yield bad(_ABOUT, f"{place}: {fault.message}", "GitHub runs no workflow that it cannot read", fault.fix)


def _state(workflow: Workflow, state: str | UnreadSetting | None) -> Iterator[SetupFinding]:
    why = "a disabled workflow does not start, and a required check that is never posted blocks every merge"
    if isinstance(state, UnreadSetting):
        yield unchecked(_ABOUT, f"whether {workflow.file} is enabled", state, why)
    elif state is not None and state.startswith("disabled"):
        yield bad(_ABOUT, f"{workflow.file} is disabled ({state})", why, "Actions → Incumbent → Enable workflow")


def _triggers(workflow: Workflow, shipped: Workflow, merge_queue: bool, branch: str) -> Iterator[SetupFinding]:
    reasons = {
        "pull_request_target": "pull requests are not reviewed without it; `pull_request` gets no rights for forks",
        "issue_comment": "commands in comments are answered only when the next push comes",
        "issues": "boxes of the dashboard that people tick are not read",
        "push": "what was merged enters the regression set only at the next scheduled run",
        "schedule": "what a run that died left undone waits for the next merge",
        "merge_group": "the merge queue waits for the check for ever" if merge_queue else "a merge queue would need it",
    }
    for name, trigger in shipped.triggers.items():
        needed = name == "pull_request_target" or (name == "merge_group" and merge_queue)
        finding = bad if needed else doubtful
        why, change = reasons.get(name, "the shipped workflow has it"), f"add it below `on:` in {workflow.file}"
        present = workflow.triggers.get(name)
        if present is None:
            yield finding(_ABOUT, f"{workflow.file} does not start on `{name}`", why, change)
            continue
        missing = sorted(trigger.types - present.types) if present.types else ()
        if missing:
            what = f"`{name}` in {workflow.file} lacks the types {', '.join(missing)}"
            yield doubtful(_ABOUT, what, "such events are not reviewed", f"add them to its `types:` in {workflow.file}")
        yield from _filters(name, present, f"{why}: nothing on {branch} starts it", workflow.file, branch)


def _filters(name: str, trigger: Trigger, why: str, file: str, branch: str) -> Iterator[SetupFinding]:
    known = {key: f"{key}: [{', '.join(values)}]" for key, values in trigger.filters.items()}
    refs = ", ".join(text for key, text in known.items() if not key.startswith("paths"))
    paths = ", ".join(text for key, text in known.items() if key.startswith("paths"))
    passes = lets_through(trigger.filters, branch)
    if not passes:
        yield bad(
            _ABOUT,
            f"`{name}` in {file} leaves out the default branch {branch} ({refs})",
            why,
            f"let it through: `branches: [{branch}]`, or take the workflow that `incumbent init` writes now, "
            "which names no branch",
        )
    if paths and name == "push":
        yield doubtful(
            _ABOUT,
            f"`push` in {file} has the filters {paths}",
            "what waits for a merge that touches no such file waits until the next scheduled run",
            f"remove them from {file}",
        )
    elif known and name != "push" and passes:
        yield doubtful(
            _ABOUT,
            f"`{name}` in {file} has the filters {', '.join(known.values())}",
            "a required check that a filter leaves out blocks the merge for ever",
            f"remove them from {file}: what there is nothing to curate of passes quickly",
        )


def _jobs(workflow: Workflow, shipped: Workflow) -> Iterator[SetupFinding]:
    for step in STEPS:
        jobs = workflow.of_step(step)
        (model, *_) = shipped.of_step(step)
        if not jobs:
            yield bad(
                _ABOUT,
                f"{workflow.file} has no job that runs the Action with `step: {step}`",
                "a review needs both: analyse reads untrusted input, publish writes",
                f"take the job `{model.name}` over from the shipped workflow (`incumbent init` writes it)",
            )
        for job in jobs:
            place = f"{workflow.file}:{job.line}" if job.line else workflow.file
            yield from _rights(job, model, place)
            if len(job.steps) > 1 and step == STEPS[0]:
                yield bad(
                    _ABOUT,
                    f"{place}: the job `{job.name}` both analyses and publishes",
                    "a job that reads untrusted input must have no token that writes",
                    "split it into two jobs, as the shipped workflow has them",
                )


def _rights(job: Job, model: Job, place: str) -> Iterator[SetupFinding]:
    block = f"`permissions:` of the job `{job.name}`"
    if job.permissions is None:
        yield bad(
            _ABOUT,
            f"{place}: the job `{job.name}` has no `permissions` block",
            "its token then gets whatever the repository's default is",
            f"set {block} to {_written(model)}",
        )
        return
    allowed = {f"{right}: read" for right in _OPTIONAL if "analyse" in model.steps}
    beyond = tuple(item for item in job.beyond(model) if item not in allowed)
    if beyond:
        yield bad(
            _ABOUT,
            f"{place}: the job `{job.name}` has more rights than it needs: {', '.join(beyond)}",
            "each right more is one more for an attacker who controls the job",
            f"set {block} to {_written(model)}",
        )
    lacking = model.beyond(job)
    if lacking:
        yield bad(
            _ABOUT,
            f"{place}: the job `{job.name}` lacks {', '.join(lacking)}",
            "GitHub refuses what it is there for",
            f"set {block} to {_written(model)}",
        )


def _written(job: Job) -> str:
    return ", ".join(f"{right}: {level}" for right, level in sorted((job.permissions or {}).items()))


def _pins(workflow: Workflow) -> Iterator[SetupFinding]:
    for job in workflow.jobs:
        for use in job.uses:
            if not use.is_pinned:
                place = f"{workflow.file}:{use.line}" if use.line else workflow.file
                name = use.action.partition("@")[0]
                yield bad(
                    _ABOUT,
                    f"{place}: {use.action} is not pinned by commit",
                    "a tag or branch can be moved to other code, which would run with the job's rights",
                    f"write {name}@ and the 40 digits of a commit, the version in a comment behind it",
                )


def _login(workflow: Workflow) -> Iterator[SetupFinding]:
    for use in workflow.writers:
        if use.own_token and use.login is None:
            place = f"{workflow.file}:{use.line}" if use.line else workflow.file
            yield bad(
                _ABOUT,
                f"{place}: the step is handed a token of its own, and no `login`",
                "the bot finds its own comments and pull requests by the account that the token acts as",
                "add `login: APP[bot]` to its `with:`, APP being the App's name in its address",
            )


def _model_key(workflow: Workflow, files: RepositoryFiles) -> Iterator[SetupFinding]:
    key = None if files.config is None else files.config.model_key
    if key is None:
        return
    if key == "GITHUB_TOKEN":
        for job in workflow.of_step("analyse"):
            if job.level("models") == "none":
                yield bad(
                    _ABOUT,
                    f"the job `{job.name}` lacks models: read",
                    "the config names a model of GitHub's, which the job's token must be let ask",
                    f"add `models: read` to its `permissions:` in {workflow.file}",
                )
        return
    line = f"{key}: ${{{{ secrets.{key} }}}}"
    for job in workflow.of_step("analyse"):
        if key not in job.variables:
            yield bad(
                _ABOUT,
                f"the job `{job.name}` does not get the model's key {key}",
                "the config names a model that asks for it",
                f"add `{line}` to the `env:` of its step in {workflow.file}, and the secret in Settings → Secrets and "
                "variables → Actions",
            )
    for job in workflow.of_step("publish"):
        if key in job.variables and "analyse" not in job.steps:
            yield bad(
                _ABOUT,
                f"the job `{job.name}` gets the model's key {key}",
                "it does not need it, and a job that writes should hold nothing more than it needs",
                f"remove {key} from its `env:` in {workflow.file}",
            )
