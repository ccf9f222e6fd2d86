"""One review on the real GitHub, which no emulator can stand for: opens a pull request here, reviews it, cleans up.

Run by .github/workflows/smoke.yml in one click, in a platform repository such as this one.  Exit code 0: GitHub did as
the tests expect; anything else says what it did.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from github import Auth, Github
from github.PullRequest import PullRequest
from github.Repository import Repository

from bot.cli.main import run
from bot.github.check import NAME

ROOT = Path(__file__).resolve().parent.parent
CUSTOMER = ROOT / "examples" / "customers" / "harbor-parcels" / "dispatch"
FOLDER = "eval_sets/smoke-{run}/dispatch"


def main() -> int:
    """The whole story; each step says what it expects."""
    environment = os.environ
    login = environment.get("INCUMBENT_LOGIN", "github-actions[bot]")
    hub = Github(
        auth=Auth.Token(environment["GITHUB_TOKEN"]),
        base_url=environment.get("GITHUB_API_URL", "https://api.github.com"),
    )
    repository = hub.get_repo(environment["GITHUB_REPOSITORY"])
    with _pull_request(repository, environment.get("GITHUB_RUN_ID", "0")) as pull:
        event = _event(repository, pull)
        first = _review(event, login)
        _expect("a first review writes", bool(first["writes"]))
        ours = [item for item in pull.as_issue().get_comments() if item.user.login == login]
        _expect("there is one comment of ours", len(ours) == 1)
        _expect("it speaks of the head", pull.head.sha[:12] in ours[0].body)
        checks = [item for item in repository.get_commit(pull.head.sha).get_check_runs() if item.name == NAME]
        _expect("there is one check", [item.conclusion for item in checks] == [first["conclusion"]])
        names = {label.name for label in pull.as_issue().get_labels()}
        _expect("its labels are there", names >= set(first["labels"]))
        said = pull.create_issue_comment("Does a reaction count as an edit?")
        said.create_reaction("+1")
        since = pull.get_issue_comment(said.id)
        _expect("a reaction does not edit a comment", since.updated_at == said.updated_at == said.created_at)
        again = _review(event, login)
        _expect("a second review writes nothing", again["writes"] == [])
    return 0


@contextmanager
def _pull_request(repository: Repository, number: str) -> Iterator[PullRequest]:
    """A pull request with an example customer's eval set, closed and its branch deleted afterwards."""
    base = repository.get_branch(repository.default_branch)
    branch = f"incumbent-smoke/{number}"
    elements: list[Any] = []
    for path in sorted(CUSTOMER.rglob("*")):
        if path.is_file():
            place = f"{FOLDER.format(run=number)}/{path.relative_to(CUSTOMER).as_posix()}"
            elements.append({"path": place, "mode": "100644", "type": "blob", "content": path.read_text("utf-8")})
    tree = _post(repository, "git/trees", {"base_tree": base.commit.commit.tree.sha, "tree": elements})
    message = {"message": "A customer's eval set, to try the bot", "tree": tree["sha"], "parents": [base.commit.sha]}
    commit = _post(repository, "git/commits", message)
    reference = repository.create_git_ref(f"refs/heads/{branch}", commit["sha"])
    try:
        pull = repository.create_pull(
            base=repository.default_branch, head=branch, title="Smoke test: please ignore", body="Closes by itself."
        )
        try:
            yield pull
        finally:
            pull.edit(state="closed")
    finally:
        reference.delete()


def _post(repository: Repository, path: str, body: dict[str, Any]) -> Any:
    _, data = repository.requester.requestJsonAndCheck("POST", f"{repository.url}/{path}", input=body)
    return data


def _event(repository: Repository, pull: PullRequest) -> dict[str, Any]:
    return {"action": "opened", "repository": repository.raw_data, "pull_request": pull.raw_data}


def _review(event: dict[str, Any], login: str) -> dict[str, Any]:
    """`incumbent ci` on ``event``; its report."""
    with tempfile.TemporaryDirectory() as folder:
        file, out = Path(folder, "event.json"), Path(folder, "output")
        file.write_text(json.dumps(event), encoding="utf-8")
        with _environment(GITHUB_OUTPUT=str(out)):
            arguments = ["--event-name", "pull_request_target", "--event", str(file), "--login", login]
            code = run(["ci", *arguments, "--analysis", str(Path(folder, "facts.json"))])
        _expect("the review ends well", code == 0)
        lines = dict(line.split("=", 1) for line in out.read_text("ascii").splitlines())
        report: dict[str, Any] = json.loads(lines["report"])
        return report


@contextmanager
def _environment(**values: str) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _expect(what: str, holds: bool, say: Callable[[str], Any] = print) -> None:
    say(f"{'yes' if holds else 'NO '}: {what}")
    if not holds:
        raise SystemExit(f"GitHub differs from what the tests expect: {what}")


if __name__ == "__main__":
    sys.exit(main())
