"""Reads how a repository is set up, for :mod:`incumbent.doctor.diagnosis`.  Nothing here writes.

A setting that the token may not see becomes :class:`UnreadSetting`; only a GitHub that does not answer is an error.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import PurePosixPath
from typing import Any, Final, Literal, Protocol
from urllib.parse import quote

from incumbent.classifier.embedded.weights import WeightsError
from incumbent.classifier.exemplars import FittedBackend
from incumbent.classifier.model import silent
from incumbent.doctor.findings import UnreadSetting
from incumbent.doctor.settings import (
    FORBIDDING,
    NO_BYPASS,
    RESTRICTING,
    ActionsPolicy,
    BranchRule,
    BranchSettings,
    Bypass,
    Facts,
    JobTokens,
    PagesSettings,
    Protection,
    RepositoryFiles,
    RequiredCheck,
    TokenFacts,
    owners,
)
from incumbent.doctor.workflow import Workflow, read_workflow
from incumbent.errors import InputError, OutsideError, Problem
from incumbent.extras import require_extra
from incumbent.files.documents import decode, parse_yaml
from incumbent.files.snapshot import Snapshot
from incumbent.github.managed_pull_request import BEGINNING, in_the_way
from incumbent.ledger.model import BRANCH
from incumbent.pipeline.review import load_platform
from incumbent.pipeline.setup_files import CODEOWNERS, PAGES, WORKFLOW, setup_file
from incumbent.pipeline.workspace import open_backend_or_halt
from incumbent.taxonomy.config import REVIEWED_FILES, Curation, load_config

OWNED = ("config/", "regression_set/", "taxonomy/", WORKFLOW)
"""The files that verdicts rest on; CODEOWNERS should cover all of them."""


def shipped_workflow() -> Workflow:
    """The workflow as ``incumbent init`` writes it."""
    return read_workflow(parse_yaml(setup_file("incumbent.yml").encode(), WORKFLOW, REVIEWED_FILES), WORKFLOW)


def read_files(snapshot: Snapshot) -> RepositoryFiles:
    """The contents of the files of ``snapshot``, including their faults."""
    workflow, workflow_faults = _workflow(snapshot)
    faults: tuple[Problem, ...] = ()
    own_model = False
    try:
        platform = load_platform(snapshot)
        faults = platform.left_out
        config: Curation | None = platform.config
        backend = open_backend_or_halt(platform, silent)
        own_model = isinstance(backend, FittedBackend) and backend.is_own
    except InputError as error:
        faults = error.problems
        config = _config_alone(snapshot)
    place = next((path for path in CODEOWNERS if snapshot.exists(path)), None)
    return RepositoryFiles(
        workflow=workflow,
        workflow_faults=workflow_faults,
        faults=faults,
        config=config,
        code_owners=place,
        publishes=snapshot.exists(PAGES),
        own_model=own_model,
        unowned=() if place is None else _unowned(snapshot, place, WORKFLOW if workflow is None else workflow.file),
    )


def _config_alone(snapshot: Snapshot) -> Curation | None:
    try:
        return load_config(snapshot, None)
    except InputError:
        return None


def _workflow(snapshot: Snapshot) -> tuple[Workflow | None, tuple[Problem, ...]]:
    """The workflow that runs the Action: the one with our name, or else the first that has a job with a step of it."""
    found: list[Workflow] = []
    faults: tuple[Problem, ...] = ()
    names = sorted(snapshot.paths(PurePosixPath(WORKFLOW).parent.as_posix()), key=lambda path: (path != WORKFLOW, path))
    for path in names:
        if not path.endswith((".yml", ".yaml")):
            continue
        try:
            document = parse_yaml(snapshot.read(path, REVIEWED_FILES), path, REVIEWED_FILES)
        except InputError as error:
            # Faults of other workflows are not reported.
            faults += error.problems if path == WORKFLOW else ()
            continue
        workflow = read_workflow(document, path)
        if path == WORKFLOW or any(job.steps for job in workflow.jobs):
            found.append(workflow)
    return (found[0] if found else None), faults


def _unowned(snapshot: Snapshot, place: str, workflow: str) -> tuple[str, ...]:
    """The places of :data:`OWNED` with a file that has no owner, or that would have none once it is there."""
    try:
        text = decode(snapshot.read(place, REVIEWED_FILES), place, REVIEWED_FILES)
    except InputError:
        return OWNED
    found = []
    for owned in (*OWNED[:-1], workflow):
        paths = (*snapshot.paths(owned), f"{owned}any.yaml") if owned.endswith("/") else (owned,)
        if not all(owners(text, path) for path in paths):
            found.append(owned)
    return tuple(found)


ADMINISTRATION = "Administration: read"
CONTENTS = "Contents: read"
METADATA = "Metadata: read"
PAGES_RIGHT = "Pages: read"
COLLABORATORS = "Metadata: read, of an account that may write"
_PUSHING = ("always", "exempt")
"""Modes of a bypass that apply to a push, and not only in a pull request."""
MOST_CURATORS = 100
"""At most this many configured curators are looked up, each with a request."""


class ReadRefusedError(OutsideError):
    """GitHub refuses a read: ``status`` is HTTP's, ``reason`` GitHub's."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(f"GitHub refuses ({status}): {reason}")
        self.status = status
        self.reason = reason


class Ask(Protocol):
    """GET ``/repos/OWNER/NAME`` + ``path``; ``missing``, unless None, replaces a 404.

    Raises :class:`ReadRefusedError` if GitHub refuses, and :class:`OutsideError` if it does not answer.
    """

    def __call__(self, path: str, missing: Any = None) -> Any:
        """GitHub's answer."""
        ...


BypassOf = Callable[[int], Bypass | UnreadSetting]
"""Gives the actors that may push past the ruleset of an id."""


_ABSENT: Final = object()
"""Replaces a 404 where every other value is a possible answer."""


def asker(repository: str, token: str, api_url: str) -> Ask:
    """A function that asks about ``repository`` with ``token``."""
    require_extra("github", "what asks GitHub")
    # Imported here: few commands need it, and it is slow to load.
    import requests
    from github import Auth, Github, GithubException, GithubRetry, RateLimitExceededException

    # A person waits for the answer: wait less long than a run of the bot would.
    patience = GithubRetry(total=3, backoff_factor=0.2, max_rate_limit_wait=10)
    requester = Github(
        auth=Auth.Token(token),
        base_url=api_url,
        retry=patience,
        seconds_between_requests=None,
        seconds_between_writes=None,
    ).requester

    def ask(path: str, missing: Any = None) -> Any:
        try:
            return requester.requestJsonAndCheck("GET", f"/repos/{repository}{path}")[1]
        except GithubException as error:
            if error.status == 404 and missing is not None:
                return missing
            said = error.data.get("message") if isinstance(error.data, dict) else None
            if error.status >= 500 or isinstance(error, RateLimitExceededException):
                raise OutsideError(f"GitHub does not answer GET {path} ({error.status}): {said}; try later") from None
            raise ReadRefusedError(error.status, str(said or "no reason given")) from None
        except (requests.RequestException, OSError) as error:
            raise OutsideError(f"GitHub cannot be reached: GET {path}: {type(error).__name__}") from None

    return ask


def examine(ask: Ask, token: str, open_files: Callable[[str], Snapshot], *, on_github_com: bool) -> Facts:
    """Everything that :func:`incumbent.doctor.diagnosis.diagnose` judges.

    Only the first letters of ``token`` are looked at.  ``open_files`` gives the files of a branch, or raises
    :class:`OutsideError`.  Raises :class:`ReadRefusedError` if the repository itself cannot be seen, and
    :class:`OutsideError` if GitHub does not answer.
    """
    repository = ask("")
    default = str(repository["default_branch"])
    bypass = cache(lambda ruleset: _read(partial(_bypass, ask, ruleset), ADMINISTRATION))
    branch = _branch(ask, default, _read(partial(_branches, ask, default), CONTENTS), bypass)
    own = _read(partial(_branches, ask, BEGINNING), CONTENTS)
    files = _files(open_files, default) if branch.exists else UnreadSetting(right=CONTENTS, reason="there is no commit")
    outsiders: tuple[str, ...] | UnreadSetting = ()
    owner_faults: tuple[str, ...] | UnreadSetting = ()
    state: str | UnreadSetting | None = None
    curators: tuple[str, ...] = ()
    pages: PagesSettings | UnreadSetting | None = None
    weights: str | None = None
    if isinstance(files, RepositoryFiles):
        if files.config is not None:
            weights = _weights(files.config)
            curators = tuple(files.config.curators)
            outsiders = _outsiders(ask, curators)
        if files.code_owners is not None:
            owner_faults = _read(lambda: _owner_faults(ask), CONTENTS)
        if files.workflow is not None:
            state = _workflow_state(ask, files.workflow.file)
        if files.publishes:
            pages = _read(lambda: _pages(ask), PAGES_RIGHT)
    return Facts(
        name=str(repository["full_name"]),
        default_branch=default,
        archived=bool(repository.get("archived")),
        actions=_read(lambda: _actions(ask), ADMINISTRATION),
        job_tokens=_read(lambda: _job_tokens(ask), ADMINISTRATION),
        shipped=shipped_workflow(),
        workflow_state=state,
        branch=branch,
        ledger=_branch(ask, BRANCH, own, bypass),
        blocking=own if isinstance(own, UnreadSetting) else in_the_way(own),
        files=files,
        outsiders=outsiders,
        owner_faults=owner_faults,
        token=TokenFacts(
            kind=_kind(token),
            writes=(repository.get("permissions") or {}).get("push"),
            unread=_lacking(ask, files, branch),
        ),
        on_github_com=on_github_com,
        pages=pages,
        permissions=_permissions(ask, curators or (str(repository["owner"]["login"]),)),
        weights=weights,
    )


def _weights(config: Curation) -> str | None:
    """What is wrong with the weights that ``config`` names, on this machine."""
    # A late import: all classifiers come with it.
    from incumbent.classifier.backends import verify_weights

    try:
        verify_weights(config.classifier)
    except WeightsError as error:
        return error.brief
    return None


def _pages(ask: Ask) -> PagesSettings:
    found = ask("/pages", missing={})
    source = str(found.get("build_type") or "legacy") if found else None
    return PagesSettings(source=source, for_all=found.get("public") is not False)


def _kind(token: str) -> Literal["app", "person", "unknown"]:
    if token.startswith("ghs_"):
        return "app"
    return "person" if token.startswith(("ghp_", "gho_", "ghu_", "github_pat_")) else "unknown"


def _read(question: Callable[[], Any], right: str) -> Any:
    """The answer to ``question``, or the ``right`` that it needs if GitHub refuses."""
    try:
        return question()
    except ReadRefusedError as error:
        return UnreadSetting(right=right, reason=error.reason)


def _actions(ask: Ask) -> ActionsPolicy:
    found = ask("/actions/permissions")
    allowed: Any = found.get("allowed_actions") or "all"
    selected = ask("/actions/permissions/selected-actions") if found["enabled"] and allowed == "selected" else {}
    return ActionsPolicy(
        enabled=found["enabled"],
        allowed=allowed,
        github_owned=bool(selected.get("github_owned_allowed")),
        verified=bool(selected.get("verified_allowed")),
        patterns=tuple(sorted(selected.get("patterns_allowed") or ())),
    )


def _job_tokens(ask: Ask) -> JobTokens:
    found = ask("/actions/permissions/workflow")
    return JobTokens(
        default=found["default_workflow_permissions"],
        opens_pull_requests=found["can_approve_pull_request_reviews"],
    )


def _workflow_state(ask: Ask, file: str) -> Any:
    name = quote(file.rsplit("/", 1)[-1], safe="")
    found = _read(lambda: ask(f"/actions/workflows/{name}", missing={}), "Actions: read")
    return found if isinstance(found, UnreadSetting) else found.get("state")


def _branch(ask: Ask, name: str, names: tuple[str, ...] | UnreadSetting, bypass: BypassOf) -> BranchSettings:
    """The settings of the branch ``name``; ``names`` are those of branches, among which it is if it exists."""
    # Asking for the branch itself would not distinguish an absent one from one that the token may not see.
    place = quote(name, safe="")
    exists = isinstance(names, UnreadSetting) or name in names
    branch: Any = names
    if not isinstance(names, UnreadSetting):
        branch = _read(partial(ask, f"/branches/{place}"), CONTENTS) if exists else None
    protection: Protection | UnreadSetting | None = None
    if isinstance(branch, UnreadSetting):
        protection = branch
    elif branch and branch.get("protected"):
        protection = _protection(ask, place)
    rules = _read(lambda: _rules(ask, place, bypass), METADATA)
    return BranchSettings(name=name, exists=exists, rules=rules, protection=protection)


def _branches(ask: Ask, beginning: str) -> tuple[str, ...]:
    try:
        found = ask(f"/git/matching-refs/heads/{quote(beginning)}")
    except ReadRefusedError as error:
        if error.status == 409:  # The repository is empty.
            return ()
        raise
    return tuple(item["ref"].removeprefix("refs/heads/") for item in found)


def _rules(ask: Ask, place: str, bypass: BypassOf) -> tuple[BranchRule, ...]:
    found: list[Any] = []
    page = 1
    while True:
        items = ask(f"/rules/branches/{place}?per_page=100&page={page}")
        found += items
        if len(items) < 100:
            break
        page += 1
    # Bypass lists matter only for rules that forbid a push.
    kinds = FORBIDDING | RESTRICTING | {"creation", "required_signatures"}
    ids = sorted({item["ruleset_id"] for item in found if item["type"] in kinds and item.get("ruleset_id")})
    passes = {id: bypass(id) for id in ids}
    rules = [_rule(item, passes.get(item.get("ruleset_id"), NO_BYPASS)) for item in found]
    return tuple(sorted(rules, key=lambda rule: (rule.kind, rule.ruleset)))


def _rule(item: Any, bypass: Bypass | UnreadSetting) -> BranchRule:
    settings = item.get("parameters") or {}
    return BranchRule(
        kind=item["type"],
        ruleset=f"the ruleset {item.get('ruleset_id')} of {item.get('ruleset_source')}",
        checks=_checks(settings.get("required_status_checks"), "integration_id"),
        needs_code_owners=bool(settings.get("require_code_owner_review")),
        bypass=bypass,
    )


def _bypass(ask: Ask, ruleset: int) -> Bypass:
    found = ask(f"/rulesets/{ruleset}")
    actors = found.get("bypass_actors")
    apps = [
        item["actor_id"]
        for item in actors or ()
        if item["actor_type"] == "Integration" and item["bypass_mode"] in _PUSHING and item["actor_id"]
    ]
    return Bypass(
        here=found.get("current_user_can_bypass") in _PUSHING,
        apps=None if actors is None else tuple(sorted(apps)),
    )


def _checks(items: Any, app: str) -> tuple[RequiredCheck, ...]:
    # Classic protection says -1 for any app.
    return tuple(
        RequiredCheck(name=item["context"], app=None if item.get(app) in (None, -1) else item[app])
        for item in items or ()
        if isinstance(item, dict) and "context" in item
    )


def _protection(ask: Ask, place: str) -> Protection | UnreadSetting | None:
    try:
        found = ask(f"/branches/{place}/protection")
    except ReadRefusedError as error:
        # A branch that only rulesets protect has no classic protection; GitHub reports that to administrators only.
        if error.status == 404 and "not protected" in error.reason.casefold():
            return None
        return UnreadSetting(right=ADMINISTRATION, reason=error.reason)
    checks = found.get("required_status_checks") or {}
    reviews, restrictions = found.get("required_pull_request_reviews"), found.get("restrictions")
    known = _checks(checks.get("checks"), "app_id")
    named = {check.name for check in known}
    # Each setting that forbids a push, and the apps that it allows nevertheless.
    forbids = {
        "Require a pull request before merging": _apps((reviews or {}).get("bypass_pull_request_allowances"))
        if reviews is not None
        else None,
        "Require status checks to pass before merging": frozenset() if found.get("required_status_checks") else None,
        "Restrict who can push to matching branches": _apps(restrictions) if restrictions else None,
        "Lock branch": frozenset() if (found.get("lock_branch") or {}).get("enabled") else None,
    }
    passing = [apps for apps in forbids.values() if apps is not None]
    return Protection(
        checks=known
        + tuple(RequiredCheck(name=name, app=None) for name in checks.get("contexts") or () if name not in named),
        needs_code_owners=bool((reviews or {}).get("require_code_owner_reviews")),
        forbids=tuple(name for name, apps in forbids.items() if apps is not None),
        apps=tuple(sorted(frozenset.intersection(*passing))) if passing else (),
    )


def _apps(allowed: Any) -> frozenset[str]:
    return frozenset(str(item["slug"]) for item in (allowed or {}).get("apps") or ())


def _files(open_files: Callable[[str], Snapshot], branch: str) -> RepositoryFiles | UnreadSetting:
    try:
        return read_files(open_files(branch))
    except OutsideError as error:
        return UnreadSetting(right=CONTENTS, reason=str(error))


def _outsiders(ask: Ask, curators: tuple[str, ...]) -> Any:
    def question() -> tuple[str, ...]:
        asked = sorted(set(curators), key=str.casefold)[:MOST_CURATORS]
        return tuple(
            login for login in asked if ask(f"/collaborators/{quote(login, safe='')}", missing=_ABSENT) is _ABSENT
        )

    return _read(question, COLLABORATORS)


def _permissions(ask: Ask, logins: tuple[str, ...]) -> UnreadSetting | None:
    """Why the token cannot look up people's permissions, tried with the first of ``logins``; ``None`` if it can."""
    # An organisation is no user's login: GitHub answers with a 404 if the token may ask at all.
    found = _read(lambda: ask(f"/collaborators/{quote(logins[0], safe='')}/permission", missing=_ABSENT), COLLABORATORS)
    return found if isinstance(found, UnreadSetting) else None


def _owner_faults(ask: Ask) -> tuple[str, ...]:
    found = ask("/codeowners/errors")["errors"]
    return tuple(f"{item['path']}:{item['line']} ({item['kind']})" for item in found)


def _lacking(ask: Ask, files: RepositoryFiles | UnreadSetting, branch: BranchSettings) -> tuple[UnreadSetting, ...]:
    """The read rights that the bot needs and the token lacks."""
    questions = {"Pull requests: read": "/pulls?per_page=1"}
    if branch.exists:
        questions["Checks: read"] = f"/commits/{quote(branch.name, safe='')}/check-runs?per_page=1"
    found = [files] if isinstance(files, UnreadSetting) and branch.exists else []
    for right, path in sorted(questions.items()):
        answer = _read(partial(ask, path), right)
        if isinstance(answer, UnreadSetting):
            found.append(answer)
    return tuple(found)
