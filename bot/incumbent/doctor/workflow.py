"""A workflow file as a value, and whether it does what the shipped one does, with no more rights (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from incumbent.doctor.findings import SetupFinding, UnreadSetting, bad, doubtful, good, unchecked
from incumbent.errors import Problem
from incumbent.files.documents import Document, Path, as_list, as_mapping
from incumbent.taxonomy.config import Curation

_ABOUT: Final = "workflow"
_OPTIONAL: Final = frozenset({"models"})
"""Read rights that only some need and that the shipped workflow lacks: for a model of GitHub's."""
_SIGNS: Final = re.compile(r"\*\*|\*|\\.|\[[^\]]*\]|[?+]|.", re.DOTALL)


def lets_through(filters: Mapping[str, Sequence[str]], branch: str) -> bool:
    """Whether an event on ``branch`` passes ``filters`` (``branches-ignore`` and the like, with their values)."""
    if "branches" in filters:
        return _last_match(filters["branches"], branch)
    if "branches-ignore" in filters:
        return not _last_match(filters["branches-ignore"], branch)
    # If only tags are named, branches start nothing.
    return not {"tags", "tags-ignore"} & set(filters)


def _last_match(patterns: Sequence[str], branch: str) -> bool:
    """Whether the last matching pattern includes ``branch``: one that begins with ``!`` excludes."""
    found = False
    for pattern in patterns:
        if _matches(pattern.removeprefix("!"), branch):
            found = not pattern.startswith("!")
    return found


@dataclass(frozen=True, slots=True)
class _PatternStep:
    """A character of ``form`` in a pattern; it may be optional or repeated."""

    form: re.Pattern[str]
    optional: bool
    again: bool


def _matches(pattern: str, branch: str) -> bool:
    """Whether ``pattern`` matches all of ``branch``; the time grows with the product of their lengths."""
    try:
        steps = _steps(pattern)
    except re.error:
        return pattern == branch
    places = _reached({0}, steps)
    for character in branch:
        ahead = {place for place in places if place < len(steps) and steps[place].form.fullmatch(character)}
        stays = {place for place in ahead if steps[place].again}
        places = _reached({place + 1 for place in ahead} | stays, steps)
    return len(steps) in places


def _reached(places: set[int], steps: Sequence[_PatternStep]) -> set[int]:
    """``places`` and those that are reached from them over optional steps."""
    found = set(places)
    for place, step in enumerate(steps):
        if step.optional and place in found:
            found.add(place + 1)
    return found


def _steps(pattern: str) -> list[_PatternStep]:
    """The steps of ``pattern``; ``?`` and ``+`` repeat the sign before them or make it optional, as in a regex."""
    steps: list[_PatternStep] = []
    for sign in _SIGNS.findall(pattern):
        if sign in ("?", "+"):
            if not steps:
                raise re.error("nothing to repeat")
            last = steps[-1]
            if sign == "?":
                steps[-1] = replace(last, optional=True)
            elif not last.again:
                steps.append(replace(last, optional=True, again=True))
        else:
            form = {"**": ".", "*": "[^/]"}.get(sign) or _form(sign)
            steps.append(_PatternStep(re.compile(form, re.DOTALL), sign in ("**", "*"), sign in ("**", "*")))
    return steps


def _form(sign: str) -> str:
    if sign.startswith("[") and len(sign) > 2:
        return sign
    return re.escape(sign.removeprefix("\\") or sign)


STEPS: Final = ("analyse", "publish")
"""The Action's two steps, each in a job of its own."""
FIT: Final = "fit"
"""The step of a third job, which only a taxonomy of one's own needs."""
FILTERS: Final = ("branches", "branches-ignore", "paths", "paths-ignore", "tags", "tags-ignore")
EVERYTHING: Final = "*"
"""The name for all rights, where a block says ``read-all`` or ``write-all``."""

_LEVELS: Final = ("none", "read", "write")
_COMMIT: Final = re.compile(r"@[0-9a-f]{40}$")
_JOBS_TOKEN: Final = re.compile(r"\s*\$\{\{\s*(github\.token|secrets\.GITHUB_TOKEN)\s*\}\}\s*", re.IGNORECASE)
_IMAGE: Final = re.compile(r"^docker://.+@sha256:[0-9a-f]{64}$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """One ``uses:`` of a job; ``step`` is the Action's step that it runs, if it names one.

    ``own_token``: whether it gets a token other than the job's own; ``login`` is the account that it declares for that
    token.
    """

    action: str
    line: int | None
    step: str | None
    own_token: bool = False
    login: str | None = None

    @property
    def is_pinned(self) -> bool:
        """Whether the code that runs is fixed: by a commit, by a digest, or because it is in the same repository."""
        return self.action.startswith("./") or bool(_COMMIT.search(self.action) or _IMAGE.match(self.action))


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One job; ``permissions`` are its own or else the workflow's, None if neither has any."""

    name: str
    line: int | None
    permissions: Mapping[str, str] | None
    uses: tuple[Use, ...]
    variables: frozenset[str]

    @property
    def steps(self) -> tuple[str, ...]:
        """The Action's steps that the job runs."""
        return tuple(step for step in STEPS if any(use.step == step for use in self.uses))

    def level(self, right: str) -> str:
        """The job's access to ``right``: none, read or write."""
        granted = self.permissions or {}
        return granted.get(right, granted.get(EVERYTHING, "none"))

    def beyond(self, other: Job) -> tuple[str, ...]:
        """The rights, as ``name: level``, that this job has and ``other`` has not, sorted."""
        granted = self.permissions or {}
        return tuple(
            f"{right}: {level}"
            for right, level in sorted(granted.items())
            if _LEVELS.index(level) > _LEVELS.index(other.level(right))
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """One event of ``on:``; no ``types`` means GitHub's own choice, ``filters`` are by name with their values."""

    types: frozenset[str]
    filters: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Workflow:
    """One workflow file."""

    file: str
    triggers: Mapping[str, Trigger]
    jobs: tuple[Job, ...]

    def of_step(self, step: str) -> tuple[Job, ...]:
        """The jobs that run ``step`` of the Action."""
        return tuple(job for job in self.jobs if any(use.step == step for use in job.uses))

    @property
    def writers(self) -> tuple[Use, ...]:
        """The uses of the Action's step that writes."""
        return tuple(use for job in self.jobs for use in job.uses if use.step == STEPS[-1])

    @property
    def own_token(self) -> bool:
        """Whether every writing step gets a token other than the job's own, such as an App's."""
        return bool(self.writers) and all(use.own_token for use in self.writers)


def read_workflow(document: Document, file: str) -> Workflow:
    """The workflow in ``document``; parts of a wrong shape count as absent."""
    data = as_mapping(document.data)
    jobs = tuple(
        _job(document, str(name), as_mapping(job), data)
        for name, job in as_mapping(data.get("jobs")).items()
        if isinstance(job, Mapping)
    )
    return Workflow(file=file, triggers=_triggers(data.get("on")), jobs=jobs)


def _triggers(data: object) -> dict[str, Trigger]:
    if isinstance(data, str):
        data = [data]
    if isinstance(data, list):
        return {str(name): Trigger(types=frozenset(), filters={}) for name in data}
    found = {}
    for name, settings in as_mapping(data).items():
        given = as_mapping(settings)
        filters = {item: _words(given[item]) for item in FILTERS if item in given}
        found[str(name)] = Trigger(types=frozenset(_words(given.get("types"))), filters=filters)
    return found


def _words(value: object) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(str(item) for item in as_list(value))


def _job(document: Document, name: str, job: Mapping[str, object], workflow: Mapping[str, object]) -> Job:
    place: Path = ("jobs", name)
    block = job["permissions"] if "permissions" in job else workflow.get("permissions", _ABSENT)
    variables = {*as_mapping(workflow.get("env")), *as_mapping(job.get("env"))}
    uses = []
    for number, step in enumerate(as_list(job.get("steps"))):
        settings = as_mapping(step)
        variables |= set(as_mapping(settings.get("env")))
        if isinstance(settings.get("uses"), str):
            given = as_mapping(settings.get("with"))
            asked, token, login = given.get("step"), given.get("token"), given.get("login")
            uses.append(
                Use(
                    action=str(settings["uses"]),
                    line=document.line((*place, "steps", number, "uses")),
                    step=asked if isinstance(asked, str) else None,
                    own_token=isinstance(token, str) and not _JOBS_TOKEN.fullmatch(token),
                    login=login if isinstance(login, str) else None,
                )
            )
    return Job(
        name=name,
        line=document.line(place),
        permissions=_permissions(block),
        uses=tuple(uses),
        variables=frozenset(str(item) for item in variables),
    )


_ABSENT: Final = object()


def _permissions(block: object) -> dict[str, str] | None:
    if block is _ABSENT:
        return None
    if isinstance(block, str):
        level = block.removesuffix("-all")
        return {EVERYTHING: level if level in _LEVELS else "none"}
    return {str(right): str(level) for right, level in as_mapping(block).items() if level in _LEVELS}


def diagnose_workflow(
    workflow: Workflow | None,
    faults: Sequence[Problem],
    config: Curation | None,
    shipped: Workflow,
    state: str | UnreadSetting | None,
    merge_queue: bool,
    branch: str,
    own_model: bool = False,
) -> tuple[SetupFinding, ...]:
    """Everything about the workflow file of the default ``branch``, compared with the ``shipped`` one.

    ``faults`` are those of workflow files, ``state`` is GitHub's word for whether it is enabled, ``own_model`` says
    whether the taxonomy is fitted for this platform alone.
    """
    found = [
        bad(
            _ABOUT,
            f"{fault.file if fault.line is None else f'{fault.file}:{fault.line}'}: {fault.message}",
            "GitHub runs no workflow that it cannot read",
            fault.fix,
        )
        for fault in faults
    ]
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
    found += [
        *_state(workflow, state),
        *_missing_triggers(workflow, shipped, merge_queue, branch),
        *_jobs(workflow, shipped),
        *_fit(workflow, shipped, own_model),
    ]
    found += [*_pins(workflow), *_login(workflow), *_model_key(workflow, config)]
    if not any(item.severity == "error" for item in found):
        found.append(good(_ABOUT, f"{workflow.file} runs both jobs, with the rights they need and no more"))
    return tuple(found)


def _state(workflow: Workflow, state: str | UnreadSetting | None) -> Iterator[SetupFinding]:
    why = "a disabled workflow does not start, and a required check that is never posted blocks every merge"
    if isinstance(state, UnreadSetting):
        yield unchecked(_ABOUT, f"whether {workflow.file} is enabled", state, why)
    elif state is not None and state.startswith("disabled"):
        yield bad(_ABOUT, f"{workflow.file} is disabled ({state})", why, "Actions → Incumbent → Enable workflow")


def _missing_triggers(workflow: Workflow, shipped: Workflow, merge_queue: bool, branch: str) -> Iterator[SetupFinding]:
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


def _fit(workflow: Workflow, shipped: Workflow, own_model: bool) -> Iterator[SetupFinding]:
    jobs = workflow.of_step(FIT)
    (model,) = shipped.of_step(FIT)
    if own_model and not jobs:
        yield bad(
            _ABOUT,
            f"{workflow.file} has no job that runs the Action with `step: {FIT}`",
            "the taxonomy is the platform's own, and no review is complete before that job has recorded its model",
            f"take the job `{model.name}`, and the `outputs:` of the job `analyse`, over from the shipped workflow "
            "(`incumbent init` writes it)",
        )
    for job in jobs:
        place = f"{workflow.file}:{job.line}" if job.line else workflow.file
        yield from _rights(job, model, place)
        if "analyse" in job.steps:
            yield bad(
                _ABOUT,
                f"{place}: the job `{job.name}` both analyses and fits",
                "what all reviews rest on must be made where no untrusted input is read",
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


def _model_key(workflow: Workflow, config: Curation | None) -> Iterator[SetupFinding]:
    if config is None or config.classifier.backend != "openai" or config.classifier.openai is None:
        return
    key = config.classifier.openai.key_variable
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
