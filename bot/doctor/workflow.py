"""A workflow file as a value: its triggers, and what its jobs may do and use (pure)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from bot.files.documents import Document, Path, as_list, as_mapping

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
        return tuple(job for job in self.jobs if step in job.steps)

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
