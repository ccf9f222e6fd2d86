"""Before anything is installed: whether an event needs a whole run, found out with the runner's own Python.

Most pull requests of a repository touch nothing of ours, and of those nothing was ever said: all that is left to do is
the check, since it may be required.  Whatever is unusual, or cannot be found out, is left to the whole run.  Only the
standard library is there, so that of our own modules only those may be used here that need no more.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener

from bot.digests import digest
from bot.errors import UsageError
from bot.github.events import Event, Flow, read_event, with_repository
from bot.invisible import is_invisible

PLACES = ("config", "eval_sets", "regression_set", "taxonomy")
WORKFLOW = ".github/workflows/incumbent.yml"
CHECK = "Incumbent"
TITLE = "Nothing to curate"
LABELS = "incumbent: "
RECORD = "/contents/pull_requests/{}.json?ref=incumbent/ledger"

_PAGE = 100
_MOST_FILES = 3_000
"""GitHub lists no more of a pull request, and of a comparison 300."""
_MOST_COMMITS = 250
"""GitHub lists no more of a pull request."""
_SAID = ("/issues/{}/comments", "/pulls/{}/reviews", "/pulls/{}/comments")
_SPOKEN = re.compile(r"<!-- incumbent:|(?:^|[\r\n]) {0,3}/incumbent", re.IGNORECASE)
_SECONDS = 20
_PAUSES = (1, 3)
"""Seconds before another attempt, where GitHub fails or cannot be reached for a moment."""


class _Stay(HTTPRedirectHandler):
    """The token goes nowhere else."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Hub:
    """One repository on GitHub."""

    def __init__(self, repository: str, token: str, api_url: str) -> None:
        self._place = f"{api_url.rstrip('/')}/repos/{repository}"
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"}
        self._opener: OpenerDirector = build_opener(_Stay())

    def ask(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """GitHub's answer to a question, or to the post of ``body``; asked again where it fails for a moment."""
        for pause in _PAUSES:
            try:
                return self._ask(path, body)
            except HTTPError as error:
                if error.code != 429 and error.code < 500:
                    raise
            except (URLError, TimeoutError, ConnectionError):
                pass
            time.sleep(pause)
        return self._ask(path, body)

    def _ask(self, path: str, body: Mapping[str, Any] | None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = Request(self._place + path, data, self._headers)
        with self._opener.open(request, timeout=_SECONDS) as answer:
            return json.load(answer)

    def has(self, path: str) -> bool:
        """Whether there is something at ``path``."""
        try:
            self.ask(path)
        except HTTPError as error:
            if error.code == 404:
                return False
            raise
        return True


def quiet_commit(event: Event, hub: Hub) -> str | None:
    """The commit of which there is nothing to say but that there is nothing to curate; none where that is not sure."""
    if event.flow is Flow.GROUP:
        files = hub.ask(f"/compare/{event.group_base}...{event.head}")["files"]
        return event.head if len(files) < 300 and not _touch_ours(files) else None
    if event.flow is not Flow.REVIEW or event.head is None:
        # A comment's event names no commit: it holds a command.
        return None
    # Asked for before and after: the files and commits are those of this head, on every page.
    before = hub.ask(f"/pulls/{event.pull_request}")
    files = _pages(hub, f"/pulls/{event.pull_request}/files", _MOST_FILES)
    commits = _pages(hub, f"/pulls/{event.pull_request}/commits", _MOST_COMMITS)
    pull = hub.ask(f"/pulls/{event.pull_request}")
    has_moved = (before["head"]["sha"], before["updated_at"]) != (pull["head"]["sha"], pull["updated_at"])
    is_whole = pull["changed_files"] == len(files) and pull["commits"] == len(commits) < _MOST_COMMITS
    is_known = pull["head"]["sha"] == event.head and is_whole and not has_moved
    # A merge may take back what the default branch has, of which GitHub, that compares with one commit, shows nothing.
    has_merge = any(len(commit["parents"]) != 1 for commit in commits)
    is_open = pull["state"] == "open" and pull["base"]["ref"] == event.default_branch
    labelled = any(str(label["name"]).casefold().startswith(LABELS) for label in pull["labels"])
    if not is_known or has_merge or not is_open or labelled or _touch_ours(files):
        return None
    spoken = any(_has_spoken(hub.ask(f"{place.format(event.pull_request)}?per_page={_PAGE}")) for place in _SAID)
    return None if spoken or hub.has(RECORD.format(event.pull_request)) else event.head


def _has_spoken(items: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the bot, or somebody with a command, is among ``items``, or may be among those of another page."""
    return len(items) == _PAGE or any(_SPOKEN.search(_shown(item["body"])) for item in items)


def _shown(body: str | None) -> str:
    """``body`` without characters that show nothing: they hide no command."""
    return "".join(each for each in body or "" if each in "\r\n" or not is_invisible(each))


def _pages(hub: Hub, path: str, most: int) -> list[Any]:
    found: list[Any] = []
    for page in range(1, -(-most // _PAGE) + 1):
        items = hub.ask(f"{path}?per_page={_PAGE}&page={page}")
        found += items
        if len(items) < _PAGE:
            break
    return found


def _touch_ours(files: Sequence[Mapping[str, Any]]) -> bool:
    paths = [str(file[key]) for file in files for key in ("filename", "previous_filename") if file.get(key)]
    return any(path == WORKFLOW or path.partition("/")[0] in PLACES for path in paths)


def post(commit: str, hub: Hub, page: str | None) -> bool:
    """Post the check on ``commit``, unless it says so already; ``page`` is that of this run."""
    name = digest(["success", TITLE, f"{TITLE}.", []])
    query = f"check_name={quote(CHECK)}&filter=latest&per_page={_PAGE}"
    runs = hub.ask(f"/commits/{commit}/check-runs?{query}")["check_runs"]
    newest = max((run for run in runs if run["name"] == CHECK), key=lambda run: int(run["id"]), default=None)
    if newest is not None and (newest["conclusion"], newest.get("external_id")) == ("success", name):
        return False
    body = {
        "name": CHECK,
        "head_sha": commit,
        "status": "completed",
        "conclusion": "success",
        "external_id": name,
        "output": {"title": TITLE, "summary": f"{TITLE}."},
        **({"details_url": page} if page else {}),
    }
    hub.ask("/check-runs", body)
    return True


def look(environment: Mapping[str, str]) -> dict[str, str]:
    """The outputs of the Action's first step; without ``needed`` = ``false`` the whole run follows."""
    step, facts = environment["INCUMBENT_STEP"], Path(environment["INCUMBENT_ANALYSIS"])
    if step == "analyse":
        # A machine that is used again may still hold those of another run, which would be handed over as this one's.
        facts.unlink(missing_ok=True)
    payload = json.loads(Path(environment["GITHUB_EVENT_PATH"]).read_bytes())
    name = environment["GITHUB_EVENT_NAME"]
    event = read_event(name, with_repository(name, payload, environment))
    if event.flow is Flow.NOTHING:
        return _ended("none", event.why)
    if event.flow is Flow.NOT_CURATED and step == "analyse":
        return _ended("none", event.why)
    if step == "publish" and facts.exists():
        return {"needed": "true"}
    api_url = environment.get("GITHUB_API_URL", "https://api.github.com")
    hub = Hub(event.repository, environment["GITHUB_TOKEN"], api_url)
    commit = quiet_commit(event, hub)
    if commit is None:
        return {"needed": "true"}
    if step != "publish":
        return _ended("none", TITLE)
    server, run = environment.get("GITHUB_SERVER_URL", "https://github.com"), environment.get("GITHUB_RUN_ID", "")
    posted = post(commit, hub, f"{server}/{event.repository}/actions/runs/{run}" if run.isdigit() else None)
    return _ended("success", TITLE, [f"check on {commit[:12]}: success, {TITLE}"] if posted else [])


def _ended(conclusion: str, title: str, writes: Sequence[str] = ()) -> dict[str, str]:
    report: dict[str, object] = {
        "conclusion": None if conclusion == "none" else conclusion,
        "title": title,
        "labels": [],
        "dry_run": False,
        "writes": list(writes),
        "problems": [],
        "decisions": [],
        "review": None,
        "usage": None,
    }
    return {"needed": "false", "conclusion": conclusion, "report": json.dumps(report)}


def main() -> int:
    """Write the outputs; 1 where nothing could be found out, which the caller takes for a whole run."""
    try:
        found = look(os.environ)
    except (AttributeError, LookupError, OSError, TypeError, UsageError, ValueError) as error:
        sys.stderr.write(f"nothing could be found out beforehand ({type(error).__name__}); all of it runs\n")
        return 1
    with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as stream:
        stream.writelines(f"{name}={value}\n" for name, value in found.items())
    if found["needed"] == "false":
        # Titles are ours; nothing in the log can be a command to the runner.
        sys.stderr.write("nothing to do: see the output `report`\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
