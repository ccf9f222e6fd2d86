"""Runs before anything is installed: finds out with the runner's own Python whether an event needs a full run.

Most pull requests of a repository change no Incumbent files and have no Incumbent comments: they only need the check,
which may be required.  Unusual or unknown cases are left to the full run.  Only the standard library is available, so
this imports only modules of the product that need no more.
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

from incumbent.errors import UsageError
from incumbent.github.events import Event, Flow, page_of_run, read_event, with_repository
from incumbent.github.governing import is_ours
from incumbent.text.digests import digest
from incumbent.text.plain_text import is_invisible

CHECK = "Incumbent"
TITLE = "Nothing to curate"
LABELS = "incumbent: "
RECORD = "/contents/pull_requests/{}.json?ref=incumbent/ledger"
OWN = "incumbent"
"""The prefix of the bot's branches, drafts of candidates too."""
QUIET = "quiet"
"""The only key of the document in the place of the facts: the commit that had nothing to look at."""
TURNED_AWAY = "Not curated here"

_PAGE = 100
_MOST_FILES = 3_000
"""The most files that GitHub lists for a pull request; for a comparison it is 300."""
_MOST_COMMITS = 250
"""The most commits that GitHub lists for a pull request."""
_MOST_PULLS = 1_000
_MOST_BYTES = 200
"""The most bytes of a document with only ``QUIET``."""
_SAID = ("/issues/{}/comments", "/pulls/{}/reviews", "/pulls/{}/comments")
_OURS = re.compile(r"<!-- incumbent:", re.IGNORECASE)
_COMMENTED = re.compile(rf"{_OURS.pattern}|(?:^|[\r\n]) {{0,3}}/incumbent", re.IGNORECASE)
_SECONDS = 20
_PAUSES = (1, 3)
"""Seconds before each new attempt if GitHub fails or cannot be reached."""


class _NoRedirects(HTTPRedirectHandler):
    """Refuses redirects: the token goes nowhere else."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Hub:
    """One repository on GitHub."""

    def __init__(self, repository: str, token: str, api_url: str) -> None:
        self._place = f"{api_url.rstrip('/')}/repos/{repository}"
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"}
        self._opener: OpenerDirector = build_opener(_NoRedirects())

    def ask(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """GitHub's answer to a request, or to a post of ``body``; with new attempts after temporary failures."""
        for pause in _PAUSES:
            try:
                return self._ask(path, body)
            except HTTPError as error:
                if error.code != 429 and error.code < 500:
                    raise
                error.close()
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
        """Whether ``path`` exists."""
        try:
            self.ask(path)
        except HTTPError as error:
            if error.code != 404:
                raise
            error.close()
            return False
        return True


def quiet_commit(event: Event, hub: Hub, noted_quiet: bool = False) -> str | None:
    """The commit for which there is certainly nothing to curate; ``None`` if that is not certain.

    With ``noted_quiet`` commands do not count: they came after the first job had looked, and have runs of their own.
    """
    if event.flow is Flow.GROUP:
        files = hub.ask(f"/compare/{event.group_base}...{event.head}")["files"]
        return event.head if len(files) < 300 and not _touch_ours(files) else None
    if event.head is None or not (event.flow is Flow.REVIEW or _is_about_closing(event)):
        # The event of a comment with a command names no commit.
        return None
    # Read before and after, so that all pages of files and commits are of this head.
    before = hub.ask(f"/pulls/{event.pull_request}")
    files = _pages(hub, f"/pulls/{event.pull_request}/files", _MOST_FILES)
    commits = _pages(hub, f"/pulls/{event.pull_request}/commits", _MOST_COMMITS)
    pull = hub.ask(f"/pulls/{event.pull_request}")
    has_moved = (before["head"]["sha"], before["updated_at"]) != (pull["head"]["sha"], pull["updated_at"])
    is_whole = pull["changed_files"] == len(files) and pull["commits"] == len(commits) < _MOST_COMMITS
    is_known = pull["head"]["sha"] == event.head and is_whole and not has_moved
    # A merge may undo changes of the default branch; GitHub compares with one commit and does not show that.
    has_merge = any(len(commit["parents"]) != 1 for commit in commits)
    labelled = any(str(label["name"]).casefold().startswith(LABELS) for label in pull["labels"])
    if not is_known or has_merge or not _matches_event(pull, event) or labelled or _touch_ours(files):
        return None
    word = _OURS if noted_quiet else _COMMENTED
    commented = any(
        _has_commented(hub.ask(f"{place.format(event.pull_request)}?per_page={_PAGE}"), word) for place in _SAID
    )
    return None if commented or hub.has(RECORD.format(event.pull_request)) else event.head


def _is_about_closing(event: Event) -> bool:
    """Whether ``event`` may be the closing of an unmerged pull request."""
    return event.flow is Flow.RECONCILE and event.pull_request is not None


def _matches_event(pull: Mapping[str, Any], event: Event) -> bool:
    """Whether ``pull`` is open or closed as in ``event``, and is no answer to an offer of the bot."""
    if pull["base"]["ref"] != event.default_branch:
        return False
    if not _is_about_closing(event):
        return bool(pull["state"] == "open")
    is_ours = str(pull["head"]["ref"]).casefold().startswith(OWN)
    return pull["state"] == "closed" and not pull["merged"] and not is_ours


def _has_commented(items: Sequence[Mapping[str, Any]], word: re.Pattern[str]) -> bool:
    """Whether ``items``, or perhaps another page of them, have a comment of the bot or one with a command."""
    return len(items) == _PAGE or any(word.search(_shown(item["body"])) for item in items)


def _shown(body: str | None) -> str:
    """``body`` without invisible characters, which could hide a command."""
    return "".join(each for each in body or "" if each in "\r\n" or not is_invisible(each))


def _pages(hub: Hub, path: str, most: int, query: str = "") -> list[Any]:
    found: list[Any] = []
    for page in range(1, -(-most // _PAGE) + 1):
        items = hub.ask(f"{path}?per_page={_PAGE}&page={page}{query}")
        found += items
        if len(items) < _PAGE:
            break
    return found


def _touch_ours(files: Sequence[Mapping[str, Any]]) -> bool:
    paths = [str(file[key]) for file in files for key in ("filename", "previous_filename") if file.get(key)]
    return any(map(is_ours, paths))


def is_turned_away(event: Event, hub: Hub) -> bool | None:
    """Whether a pull request to another branch needs the check that says so; ``None``: not certain.

    Checks belong to a commit: an existing one, or that of a curated pull request with the same head, takes precedence.
    """
    if event.left or event.head is None:
        # Its comment and labels must be removed.
        return None
    if _newest_check(event.head, hub) is not None:
        return False
    pulls = _pages(hub, "/pulls", _MOST_PULLS, f"&state=open&base={quote(event.default_branch, safe='')}")
    if len(pulls) == _MOST_PULLS:
        return None
    return all(pull["head"]["sha"] != event.head for pull in pulls)


def post(
    commit: str, hub: Hub, page: str | None, conclusion: str = "success", title: str = TITLE, why: str = ""
) -> bool:
    """Post the check on ``commit``, unless the same is there; ``page`` is that of this run."""
    text = why or f"{title}."
    name = digest([conclusion, title, text, []])
    newest = _newest_check(commit, hub)
    if newest is not None and (newest["conclusion"], newest.get("external_id")) == (conclusion, name):
        return False
    body = {
        "name": CHECK,
        "head_sha": commit,
        "status": "completed",
        "conclusion": conclusion,
        "external_id": name,
        "output": {"title": title, "summary": text},
        **({"details_url": page} if page else {}),
    }
    hub.ask("/check-runs", body)
    return True


def _newest_check(commit: str, hub: Hub) -> Mapping[str, Any] | None:
    query = f"check_name={quote(CHECK)}&filter=latest&per_page={_PAGE}"
    runs = hub.ask(f"/commits/{commit}/check-runs?{query}")["check_runs"]
    return max((run for run in runs if run["name"] == CHECK), key=lambda run: int(run["id"]), default=None)


def look(environment: Mapping[str, str]) -> dict[str, str]:
    """The outputs of the Action's first step; without ``needed`` = ``false`` the full run follows.

    If ``analyse`` ends early, it writes a note in the place of the facts.  The note is no verdict: ``publish`` looks
    for itself before it posts a check, and relies on the note only if no check is needed.
    """
    step, facts = environment["INCUMBENT_STEP"], Path(environment["INCUMBENT_ANALYSIS"])
    if step == "analyse":
        # A reused machine may still have the facts of another run, which would be handed over as this one's.
        facts.unlink(missing_ok=True)
    payload = json.loads(Path(environment["GITHUB_EVENT_PATH"]).read_bytes())
    name = environment["GITHUB_EVENT_NAME"]
    event = read_event(name, with_repository(name, payload, environment))
    if event.flow is Flow.NOTHING:
        return _ended("none", event.why)
    if event.flow is Flow.NOT_CURATED and step == "analyse":
        return _ended("none", event.why)
    noted_quiet = step == "publish" and _says_quiet(facts, event.head)
    if step == "publish" and facts.exists() and not noted_quiet:
        return {"needed": "true"}
    if noted_quiet and event.flow is Flow.RECONCILE:
        return _ended("none", TITLE)
    api_url = environment.get("GITHUB_API_URL", "https://api.github.com")
    hub = Hub(event.repository, environment["GITHUB_TOKEN"], api_url)
    page = page_of_run(event.repository, environment)
    if event.flow is Flow.NOT_CURATED:
        return _turn_away(event, hub, page)
    commit = quiet_commit(event, hub, noted_quiet)
    if commit is None:
        return {"needed": "true"}
    if step != "publish":
        facts.write_text(json.dumps({QUIET: commit}) + "\n", encoding="utf-8")
        return _ended("none", TITLE)
    if event.flow is Flow.RECONCILE:
        return _ended("none", TITLE)
    posted = post(commit, hub, page)
    return _ended("success", TITLE, [f"check on {commit[:12]}: success, {TITLE}"] if posted else [])


def _says_quiet(facts: Path, head: str | None) -> bool:
    """Whether the other job found nothing to look at in ``head``."""
    try:
        with facts.open("rb") as stream:
            return head is not None and bool(json.loads(stream.read(_MOST_BYTES)) == {QUIET: head})
    except (OSError, ValueError):
        return False


def _turn_away(event: Event, hub: Hub, page: str | None) -> dict[str, str]:
    wants = is_turned_away(event, hub)
    if wants is None:
        return {"needed": "true"}
    if not wants:
        return _ended("none", event.why)
    head = str(event.head)
    post(head, hub, page, "neutral", TURNED_AWAY, event.why)
    return _ended("neutral", TURNED_AWAY, [f"check on {head[:12]}: neutral, {TURNED_AWAY}"])


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
    """Write the outputs; returns 1 if nothing could be found out, for which the caller starts a full run."""
    try:
        found = look(os.environ)
    except (AttributeError, LookupError, OSError, TypeError, UsageError, ValueError) as error:
        sys.stderr.write(f"nothing could be found out beforehand ({type(error).__name__}); all of it runs\n")
        return 1
    with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as stream:
        stream.writelines(f"{name}={value}\n" for name, value in found.items())
    if found["needed"] == "false":
        # Titles are the bot's own, so nothing in the log can be a command to the runner.
        sys.stderr.write("nothing to do: see the output `report`\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
