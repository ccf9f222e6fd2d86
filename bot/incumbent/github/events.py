"""What a run is started by: from GitHub's event to a flow, and the addresses in its environment (pure).

No other module reads an event's name or payload.  The pre-flight check runs before anything
is installed, so this imports only modules that need the standard library alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from incumbent.errors import UsageError
from incumbent.ledger.people import GHOST
from incumbent.report.task_list import Ticks, ticks_of

_REFERRED: Final = re.compile(r"[A-Za-z0-9._-]+/[A-Za-z0-9._-]+@[A-Za-z0-9._/-]+")
"""``OWNER/NAME@REFERENCE``."""


class Flow(StrEnum):
    """What an event leads to."""

    REVIEW = "review"
    """A pull request to the default branch was opened, changed or commented on."""
    GROUP = "group"
    """A merge group needs the check."""
    RECONCILE = "reconcile"
    """The default branch may have moved, or there may be decisions on what was merged."""
    NOT_CURATED = "not-curated"
    """A pull request to another branch."""
    NOTHING = "nothing"
    """Nothing to do; ``why`` says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """An event as the flows see it.

    ``repository`` is ``owner/name``; ``head`` is the commit of the event, if it names one; ``group_base`` the commit
    that a merge group builds on.  ``left``: the base of a pull request was just changed from the default branch to
    another.  ``inside``: its branch is in the repository itself, so people who push to it may write.  ``author`` opened
    the pull request, with GitHub's ``association``, which proves little.  ``commented``: the event is a comment, and
    does not have the base of the pull request.  ``seeks``: the run looks for missing capabilities, for which it reads
    all queries, not only new ones.  ``ticks`` are the boxes that the edit ticked.
    """

    flow: Flow
    repository: str
    default_branch: str
    why: str = ""
    pull_request: int | None = None
    head: str | None = None
    group_base: str | None = None
    author: str = ""
    association: str = ""
    commented: bool = False
    left: bool = False
    inside: bool = False
    seeks: bool = False
    ticks: Ticks | None = None


OWN_BRANCHES = "incumbent/"
"""Branches of the repository itself with this prefix are the bot's."""
DEFAULT_BRANCH_EVENTS = frozenset({"push", "schedule", "workflow_dispatch"})
"""The events whose workflow runs are of no pull request: what they write to the Action's cache, later runs may read."""
_PULL_REQUEST_ACTIONS = frozenset({"opened", "reopened", "synchronize", "edited", "ready_for_review"})
_RECONCILING = frozenset({"schedule", "workflow_dispatch"})
_PULL_REQUEST_EVENTS = frozenset({"pull_request", "pull_request_target"})


def is_own(branch: str | None) -> bool:
    """Whether a pull request from ``branch`` of the repository itself may be the bot's."""
    return branch is not None and branch.startswith(OWN_BRANCHES)


def with_repository(name: str, payload: Mapping[str, Any], environment: Mapping[str, str]) -> Mapping[str, Any]:
    """``payload``, with the repository if GitHub leaves it out: scheduled runs use the default branch."""
    if name != "schedule" or "repository" in payload:
        return payload
    branch = environment.get("GITHUB_REF", "").removeprefix("refs/heads/")
    return {**payload, "repository": {"full_name": environment.get("GITHUB_REPOSITORY"), "default_branch": branch}}


def read_event(name: str, payload: Mapping[str, Any]) -> Event:
    """The event ``name`` with GitHub's ``payload``; raises :class:`UsageError` for an incomplete one."""
    try:
        here = Event(
            flow=Flow.NOTHING,
            repository=str(payload["repository"]["full_name"]),
            default_branch=str(payload["repository"]["default_branch"]),
            why=f"nothing is done on {name}",
        )
        if name in _PULL_REQUEST_EVENTS:
            return _pull_request(payload, here)
        if name == "merge_group":
            return _merge_group(payload, here)
        if name == "issue_comment":
            return _comment(payload, here)
        if name == "issues":
            return _issue(payload, here)
        if name in _RECONCILING or (name == "push" and _is_default(payload, here)):
            return replace(here, flow=Flow.RECONCILE, why="", seeks=_seeks(name, payload))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UsageError(f"the payload of the event {name} is not whole: {error!r}") from None
    return here


def _seeks(name: str, payload: Mapping[str, Any]) -> bool:
    """Runs by hand, and on a schedule with days of the week; GitHub says which schedule of the workflow it is."""
    days = str(payload.get("schedule") or "").split()[4:]
    return name == "workflow_dispatch" or (name == "schedule" and days not in ([], ["*"]))


def _pull_request(payload: Mapping[str, Any], here: Event) -> Event:
    action, pull = str(payload["action"]), payload["pull_request"]
    event = replace(
        here,
        pull_request=int(pull["number"]),
        head=str(pull["head"]["sha"]),
        author=_login(pull),
        association=str(pull.get("author_association") or ""),
        inside=_is_inside(pull),
    )
    curated = str(pull["base"]["ref"]) == here.default_branch
    if action == "closed" and curated and not pull.get("merged"):
        # A merge is handled by its push.  This is an answer to a suggestion, or the end of a record.
        return replace(event, flow=Flow.RECONCILE, why="")
    if action not in _PULL_REQUEST_ACTIONS:
        return replace(event, why=f"nothing is done when a pull request is {action}")
    if _is_closed(pull):
        return replace(event, why="the pull request is closed")
    before = ((payload.get("changes") or {}).get("base") or {}).get("ref") or {}
    if action == "edited" and not before:
        ticks = _ticks(payload, pull) if curated and _is_own(pull) else None
        if ticks is not None:
            return replace(event, flow=Flow.RECONCILE, why="", ticks=ticks)
        return replace(event, why="its title and its description decide nothing")
    if not curated:
        why = f"only pull requests to {here.default_branch} are curated"
        return replace(event, flow=Flow.NOT_CURATED, why=why, left=before.get("from") == here.default_branch)
    return replace(event, flow=Flow.RECONCILE if _is_own(pull) else Flow.REVIEW, why="")


def _issue(payload: Mapping[str, Any], here: Event) -> Event:
    ticks = _ticks(payload, payload["issue"])
    if ticks is None:
        return replace(here, why="no box of an issue of the bot was ticked")
    return replace(here, flow=Flow.RECONCILE, why="", ticks=ticks)


def _ticks(payload: Mapping[str, Any], item: Mapping[str, Any]) -> Ticks | None:
    """The boxes that a person ticked by editing ``item``, an issue or a pull request of a bot."""
    before = ((payload.get("changes") or {}).get("body") or {}).get("from")
    sender = payload.get("sender") or {}
    by_person = sender.get("type") != "Bot" and (item.get("user") or {}).get("type") == "Bot"
    if str(payload["action"]) != "edited" or before is None or not by_person or _is_closed(item):
        return None
    number, body = int(item["number"]), str(item.get("body") or "")
    return ticks_of(str(sender.get("login") or ""), str(item.get("updated_at") or ""), number, str(before), body)


def _login(item: Mapping[str, Any]) -> str:
    return str((item.get("user") or {"login": GHOST})["login"])


def _is_closed(pull: Mapping[str, Any]) -> bool:
    return str(pull.get("state") or "open") != "open" or bool(pull.get("merged") or pull.get("merged_at"))


def _is_own(pull: Mapping[str, Any]) -> bool:
    """Whether a pull request may be the bot's; reconcile checks who opened it."""
    return _is_inside(pull) and is_own(str(pull["head"]["ref"]))


def _is_inside(pull: Mapping[str, Any]) -> bool:
    head, base = (pull[side].get("repo") or {} for side in ("head", "base"))
    return bool(head) and head.get("full_name") == base.get("full_name")


def _is_default(payload: Mapping[str, Any], here: Event) -> bool:
    return str(payload["ref"]) == f"refs/heads/{here.default_branch}" and not payload.get("deleted")


def _merge_group(payload: Mapping[str, Any], here: Event) -> Event:
    group = payload["merge_group"]
    event = replace(here, head=str(group["head_sha"]))
    if str(payload["action"]) != "checks_requested":
        return replace(event, why="nothing is done when a merge group ends")
    if str(group["base_ref"]).removeprefix("refs/heads/") != here.default_branch:
        return replace(event, flow=Flow.NOT_CURATED, why=f"only merges into {here.default_branch} are curated")
    return replace(event, flow=Flow.GROUP, group_base=str(group["base_sha"]), why="")


def _comment(payload: Mapping[str, Any], here: Event) -> Event:
    issue, comment = payload["issue"], payload["comment"]
    # The dashboard is an issue of the bot.
    dashboard = "pull_request" not in issue and (issue.get("user") or {}).get("type") == "Bot"
    if "pull_request" not in issue and not dashboard:
        return replace(here, why="the comment is on an issue")
    merged = dashboard or bool((issue["pull_request"] or {}).get("merged_at"))
    if str(issue.get("state")) != "open" and not merged:
        return replace(here, why="the pull request is closed")
    if str(payload["action"]) != "created":
        return replace(here, why="only new comments are read")
    if (comment.get("user") or {}).get("type") == "Bot":
        return replace(here, why="bots give no commands")
    if "/incumbent" not in str(comment.get("body") or "").casefold():
        return replace(here, why="the comment holds no command")
    if merged:
        return replace(here, flow=Flow.RECONCILE, why="")
    return replace(
        here,
        flow=Flow.REVIEW,
        why="",
        pull_request=int(issue["number"]),
        author=_login(issue),
        association=str(issue.get("author_association") or ""),
        commented=True,
    )


def server_of(environment: Mapping[str, str]) -> str:
    """The address of the server, without a trailing slash."""
    return environment.get("GITHUB_SERVER_URL", "https://github.com").rstrip("/")


def page_of_run(repository: str, environment: Mapping[str, str]) -> str | None:
    """The page of this run in ``repository`` (OWNER/NAME); ``None`` outside GitHub Actions."""
    run = environment.get("GITHUB_RUN_ID", "")
    return f"{server_of(environment)}/{repository}/actions/runs/{run}" if run.isdigit() else None


def product_files(action: str | None, environment: Mapping[str, str]) -> str | None:
    """The base address of the product's files; ``None`` if its ``action`` is unknown."""
    if action is None or not _REFERRED.fullmatch(action):
        return None
    return f"{server_of(environment)}/{action.replace('@', '/blob/')}"
