"""What happens on the real GitHub, which no emulator can stand for; run by .github/workflows/smoke.yml.

``python -m dev.smoke here`` opens a pull request in the repository at hand, a platform repository such as this one,
reviews it and cleans up.  ``python -m dev.smoke scratch`` follows a pull request from a second account's fork to the
regression set, in a repository that was made for it: SMOKE_REPOSITORY, set up by `incumbent init` and pushed, with a
workflow of its own that runs.  SMOKE_TOKEN merges there; SMOKE_AUTHOR_TOKEN is the second account's, best that of a
member of the organisation whose membership is private.  What is not given is skipped, and said; with SMOKE_STRICT=true
that is a failure.

Exit code 0: GitHub did as the tests expect; anything else says what it did.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from github import Auth, Github, UnknownObjectException
from github.PullRequest import PullRequest
from github.Repository import Repository

from incumbent.cli.main import run
from incumbent.github.models import CHECK

ROOT = Path(__file__).resolve().parent.parent
CUSTOMER = ROOT / "examples" / "customers" / "harbor-parcels" / "dispatch"
FOLDER = "eval_sets/smoke-{run}/dispatch"
QUERY = "q-50aae39b32"
"""One of that customer's: `all` would be none where no query needs a person."""


ADMISSIONS = "Regression set: admit"
_skipped: list[str] = []
LOOKS = 60
"""So often is looked whether the workflow has done its part, with a pause before each."""


def main(story: str, pause: Callable[[], None] = lambda: time.sleep(20)) -> int:
    """The ``story``, step by step; each says what it expects."""
    _skipped.clear()
    code = here() if story == "here" else scratch(pause)
    return code or int(bool(_skipped) and os.environ.get("SMOKE_STRICT") == "true")


def here() -> int:
    """A review in this process, with the job's token."""
    environment = os.environ
    login = environment.get("INCUMBENT_LOGIN", "github-actions[bot]")
    repository = _hub(environment["GITHUB_TOKEN"]).get_repo(environment["GITHUB_REPOSITORY"])
    with _pull_request(repository, environment.get("GITHUB_RUN_ID", "0")) as pull:
        event = _event(repository, pull)
        first = _review(event, login)
        _expect("a first review writes", bool(first["writes"]))
        ours = [item for item in pull.as_issue().get_comments() if item.user.login == login]
        _expect("there is one comment of ours", len(ours) == 1)
        _expect("it speaks of the head", pull.head.sha[:12] in ours[0].body)
        checks = [item for item in repository.get_commit(pull.head.sha).get_check_runs() if item.name == CHECK]
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


def scratch(pause: Callable[[], None]) -> int:
    """A pull request from a fork, its merge, and what the push lets enter, all by the workflow that is there."""
    given = {name: os.environ.get(f"SMOKE_{name}", "") for name in ("REPOSITORY", "TOKEN", "AUTHOR_TOKEN")}
    lacking = [f"SMOKE_{name}" for name, value in given.items() if not value]
    if lacking:
        _skip("a private member's pull request from a fork, a protected branch, a push that reconciles", lacking)
        return 0
    login = os.environ.get("INCUMBENT_LOGIN", "github-actions[bot]")
    number = os.environ.get("GITHUB_RUN_ID", "0")
    repository = _hub(given["TOKEN"]).get_repo(given["REPOSITORY"])
    theirs = _hub(given["AUTHOR_TOKEN"])
    author = theirs.get_user().login
    main_branch = repository.default_branch
    fork = _fork(theirs, author, given["REPOSITORY"])
    branch = f"incumbent-smoke/{number}"
    base = repository.get_branch(main_branch)
    with _branch(fork, branch, base.commit.sha, base.commit.commit.tree.sha, number):
        pull = theirs.get_repo(given["REPOSITORY"]).create_pull(
            base=main_branch, head=f"{author}:{branch}", title="Smoke test: a customer's set", body="From a fork."
        )
        association = pull.raw_data["author_association"]
        permission = repository.get_collaborator_permission(author)
        print(f"to know: {author} is {association} to GitHub, and may {permission}")
        if association not in ("CONTRIBUTOR", "NONE", "FIRST_TIMER", "FIRST_TIME_CONTRIBUTOR"):
            _skip("a member whom GitHub does not call one", ["an author whose membership is private"])
        checks = _until("the workflow posts its check on the fork's commit", pause, lambda: _checks(repository, pull))
        _expect("it leads to the run", "/actions/runs/" in checks[0].details_url)
        _expect("it passes, so that the branch lets it merge", checks[0].conclusion == "success")
        ours = [item.body for item in pull.as_issue().get_comments() if item.user.login == login]
        _expect("there is one comment", len(ours) == 1)
        if permission in ("admin", "write"):
            _expect("who may write is trusted, whatever GitHub calls them", "UNTRUSTED_AUTHOR" not in ours[0])
        said = repository.get_issue(pull.number).create_comment(f"/incumbent accept {QUERY}: for the smoke test")
        followed = "what a maintainer says is followed"
        _until(followed, pause, lambda: [item for item in said.get_reactions() if item.content == "+1"])
        _expect("it is merged", repository.get_pull(pull.number).merge().merged)
    rules = {rule["type"] for rule in _get(repository, f"rules/branches/{main_branch}")}
    protected = rules & {"pull_request", "required_status_checks", "update"}
    if protected:
        what = "the push leads to a pull request that admits, since the branch is protected"
        _until(what, pause, lambda: _admissions(repository, login))
    else:
        _skip("a protected default branch", [f"a rule of {main_branch} that asks for pull requests"])
        what = "the push lets a query enter the regression set"
        _until(what, pause, lambda: [item for item in _entries(repository) if f"smoke-{number}" in item])
    return 0


def _fork(hub: Github, author: str, name: str) -> Repository:
    try:
        return hub.get_repo(f"{author}/{name.partition('/')[2]}")
    except UnknownObjectException:
        return hub.get_repo(name).create_fork()


def _hub(token: str) -> Github:
    return Github(auth=Auth.Token(token), base_url=os.environ.get("GITHUB_API_URL", "https://api.github.com"))


def _checks(repository: Repository, pull: PullRequest) -> list[Any]:
    return [item for item in repository.get_commit(pull.head.sha).get_check_runs() if item.name == CHECK]


def _admissions(repository: Repository, login: str) -> list[PullRequest]:
    opened = repository.get_pulls(state="open", base=repository.default_branch)
    return [item for item in opened if item.user.login == login and item.title.startswith(ADMISSIONS)]


def _entries(repository: Repository) -> list[str]:
    tree = repository.get_git_tree(repository.default_branch, recursive=True)
    return [item.path for item in tree.tree if item.path.startswith("regression_set/")]


def _until(what: str, pause: Callable[[], None], look: Callable[[], list[Any]]) -> list[Any]:
    """What ``look`` finds in the end."""
    found: list[Any] = []
    for _ in range(LOOKS):
        pause()
        found = look()
        if found:
            break
    _expect(what, bool(found))
    return found


def _skip(what: str, lacking: list[str]) -> None:
    _skipped.append(what)
    print(f"skipped: {what} (lacking: {', '.join(lacking)})")


@contextmanager
def _pull_request(repository: Repository, number: str) -> Iterator[PullRequest]:
    """A pull request with an example customer's eval set, closed and its branch deleted afterwards."""
    base = repository.get_branch(repository.default_branch)
    branch = f"incumbent-smoke/{number}"
    with _branch(repository, branch, base.commit.sha, base.commit.commit.tree.sha, number):
        pull = repository.create_pull(
            base=repository.default_branch, head=branch, title="Smoke test: please ignore", body="Closes by itself."
        )
        try:
            yield pull
        finally:
            pull.edit(state="closed")


@contextmanager
def _branch(repository: Repository, branch: str, base: str, tree_id: str, number: str) -> Iterator[None]:
    """A branch that adds an example customer's eval set to ``base``, deleted afterwards."""
    elements: list[Any] = []
    for path in sorted(CUSTOMER.rglob("*")):
        if path.is_file():
            place = f"{FOLDER.format(run=number)}/{path.relative_to(CUSTOMER).as_posix()}"
            elements.append({"path": place, "mode": "100644", "type": "blob", "content": path.read_text("utf-8")})
    tree = _post(repository, "git/trees", {"base_tree": tree_id, "tree": elements})
    message = {"message": "A customer's eval set, to try the bot", "tree": tree["sha"], "parents": [base]}
    commit = _post(repository, "git/commits", message)
    reference = repository.create_git_ref(f"refs/heads/{branch}", commit["sha"])
    try:
        yield
    finally:
        reference.delete()


def _get(repository: Repository, path: str) -> Any:
    _, data = repository.requester.requestJsonAndCheck("GET", f"{repository.url}/{path}")
    return data


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
    sys.exit(main(sys.argv[1]))
