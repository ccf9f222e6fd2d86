"""What is left on GitHub once all runs have ended, without what differs between two tellings of the same story."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

from incumbent.github.models import CHECK, IssueComment
from incumbent.github.publish_plan import displayed_in, find_sticky
from incumbent.ledger.events import EVENTS
from incumbent.ledger.model import BRANCH, COUNTED_FILES, RECONCILED, RUNS, PullRequestRecord, record_path
from tests.e2e.harness.people import JOB
from tests.e2e.harness.world import World

_RUN = re.compile(r"/actions/runs/\d+")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
_HASH = re.compile(r"(?<![0-9a-f])(?:[0-9a-f]{40}|[0-9a-f]{24}|[0-9a-f]{12})(?![0-9a-f])")
_REPLY = re.compile(r"(incumbent:reply )([1-9]\d*)")
_COMMENT_KEYS = ("comment", "cursor")


def final_state(world: World, login: str = JOB) -> dict[str, Any]:
    """Branches, files, comments with their reactions, labels and latest checks of ``world``; the bot is ``login``.

    Times and that name are left out; commits, digests and comments are called by the order in which they are met, so
    that two that are the same must be the same in both tellings.
    """
    pulls = sorted(world.pages("/pulls?state=all"), key=lambda pull: int(pull["number"]))
    said = {pull["number"]: world.comments(pull["number"]) for pull in pulls}
    people = [item["id"] for items in said.values() for item in items if item["user"]["login"] != login]
    found = {
        "branches": sorted(world.hosted.bare.references()),
        # By where they stand, as two of one second have no other order.
        "commits": world.hosted.bare.git("log", "--topo-order", "--format=%s", "main").splitlines(),
        "main": _files(world, "main"),
        "pull requests": {str(pull["number"]): _pull(world, pull, said[pull["number"]]) for pull in pulls},
        "issues": [_without_runs(item["body"]) for item in world.pages("/issues?state=open") if _is_issue(item)],
        "ledger": _ledger(world, login, said) if world.head(BRANCH) else None,
    }
    names = _Names(world, login, {str(id): f"<comment {place}>" for place, id in enumerate(sorted(people), 1)})
    state: dict[str, Any] = names.put_into(found)
    return state


def differences(one: Any, other: Any, place: str = "") -> list[str]:
    """Where two states differ, for people who read a failing test."""
    if isinstance(one, dict) and isinstance(other, dict):
        keys = sorted({*one, *other})
        return [text for key in keys for text in differences(one.get(key), other.get(key), f"{place}/{key}")]
    if isinstance(one, list) and isinstance(other, list):
        pairs = enumerate(zip_longest(one, other))
        return [text for number, pair in pairs for text in differences(*pair, f"{place}/{number}")]
    return [] if one == other else [f"{place}: {one!r} != {other!r}"]


def _is_issue(item: Any) -> bool:
    return "pull_request" not in item


def _without_runs(body: str) -> str:
    return re.sub(r"#### Last runs.*?</details>\n\n", "", body, flags=re.DOTALL)


def _pull(world: World, pull: Any, comments: list[Any]) -> dict[str, Any]:
    checks = [check for check in world.checks(pull["head"]["sha"]) if check["name"] == CHECK]
    latest = max(checks, key=lambda check: int(check["id"]), default=None)
    return {
        "by": pull["user"]["login"],
        "comments": [
            {"by": item["user"]["login"], "body": item["body"], "reactions": _reactions(world, item)}
            for item in sorted(comments, key=lambda item: int(item["id"]))
        ],
        "labels": world.labels(pull["number"]),
        "check": None if latest is None else _check(latest),
    }


def _reactions(world: World, comment: Any) -> list[str]:
    if not comment["reactions"]["total_count"]:
        return []
    found = world.pages(f"/issues/comments/{comment['id']}/reactions")
    return sorted(f"{item['user']['login']} {item['content']}" for item in found)


def _check(run: Any) -> dict[str, Any]:
    remarks = [[item["path"], item["start_line"], item["title"], item["message"]] for item in run["annotations"]]
    words = {"title": run["output"]["title"], "summary": run["output"]["summary"]}
    return {"conclusion": run["conclusion"], "annotations": remarks, **words}


def _files(world: World, branch: str) -> dict[str, str]:
    bare = world.hosted.bare
    rows = [row.split(None, 3) for row in bare.git("ls-tree", "-r", branch).splitlines()]
    contents = bare.objects([row[2] for row in rows])
    return {row[3]: content.decode() for row, content in zip(rows, contents, strict=True)}


def _ledger(world: World, login: str, said: Mapping[int, list[Any]]) -> dict[str, Any]:
    """The ledger's files by what they mean: two of their values may be told in more than one way."""
    found: dict[str, Any] = {}
    files = _files(world, BRANCH)
    for path, text in files.items():
        if path == RUNS:
            # How many runs it took is what may differ.
            continue
        found[path] = json.loads(text) if path.endswith(".json") else text
        if path.endswith(".jsonl"):
            found[path] = [json.loads(line) for line in text.splitlines()]
        if path.startswith(f"{COUNTED_FILES}/"):
            # Numbers of comments in the events have more digits in a later telling.
            for name, counted in found[path]["files"].items():
                length = len(files[f"{EVENTS}/{name}"].encode())
                counted["size"] = "whole" if counted["size"] == length else counted["size"]
    reconciled = found[RECONCILED]
    # What is known up to here are the eval sets; whether the bot's own commit on top counts as seen means nothing.
    reconciled["commit"] = world.hosted.bare.git("rev-parse", f"{reconciled['commit']}:eval_sets")
    for number, comments in said.items():
        file = found.get(record_path(number))
        if file is not None:
            sticky, _ = find_sticky(login, [_comment(item) for item in comments])
            displayed = displayed_in(sticky, PullRequestRecord.model_validate(file))
            # What the comment was about to show counts as displayed once it bears its digest.
            file["displayed"] = {entry: [shown.verdict, shown.codes] for entry, shown in displayed.items()}
    return found


def _comment(item: Any) -> IssueComment:
    return IssueComment(
        id=item["id"],
        author=item["user"]["login"],
        is_bot=False,
        body=item["body"],
        created_at=item["created_at"],
        updated_at=item["updated_at"],
    )


class _Names:
    """Words for what has another name in each telling."""

    def __init__(self, world: World, login: str, comments: dict[str, str]) -> None:
        self._world = world
        self._login = login
        self._comments = comments
        self._hashes: dict[str, str] = {}

    def put_into(self, found: Any) -> Any:
        """``found`` with these words; keys stay, as they name places."""
        if isinstance(found, dict):
            return {
                key: self._comments.get(str(value), value) if key in _COMMENT_KEYS else self.put_into(value)
                for key, value in found.items()
            }
        if isinstance(found, list):
            return [self.put_into(value) for value in found]
        return self._plain(found) if isinstance(found, str) else found

    def _plain(self, text: str) -> str:
        for server in (self._world.full_name, self._world.url):
            text = text.replace(server, "<here>")
        text = text.replace(self._login, "<bot>")
        text = _TIME.sub("<time>", _RUN.sub("/actions/runs/<run>", text))
        text = _REPLY.sub(lambda found: found[1] + self._comments.get(found[2], found[2]), text)
        return _HASH.sub(lambda found: self._hash(found[0]), text)

    def _hash(self, value: str) -> str:
        return self._hashes.setdefault(value[:12], f"<id {len(self._hashes) + 1}>")
