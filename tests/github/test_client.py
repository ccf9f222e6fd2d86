"""What the client asks of GitHub, and how often."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl

import pytest

from incumbent.errors import OutsideError
from incumbent.github import client
from incumbent.github.client import (
    PAGE,
    SHOWN,
    BlockedBranchError,
    GitHubClient,
    LostRaceError,
    ProtectedBranchError,
    RefusedError,
)
from incumbent.github.models import (
    AddLabels,
    Annotation,
    CheckRun,
    CloseIssue,
    ClosePullRequest,
    Commit,
    CreateComment,
    CreateIssue,
    DeleteBranch,
    DeleteComment,
    EditComment,
    EditDescription,
    EditIssue,
    Issue,
    MadeCommit,
    OpenPullRequest,
    Operation,
    PostCheck,
    PullRequest,
    PushBranch,
    PushCommits,
    React,
    RemoveLabel,
    WriteLedger,
    makers_of,
)


class Hub:
    """A GitHub on loopback with these ``answers``, 404 for all else; ``asked`` is what it was asked, and ``told`` with
    which parameters and body.
    """

    def __init__(self) -> None:
        self.answers: dict[str, tuple[int, Any]] = {}
        self.asked: list[str] = []
        self.bodies: list[Any] = []
        self.told: list[tuple[str, dict[str, str], Any]] = []
        self.pages: dict[str, list[Any]] = {}
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                hub.bodies.append(json.loads(sent or b"{}"))
                path, _, query = self.path.partition("?")
                question = f"{self.command} {path.removeprefix('/repos/o/r')}"
                hub.asked.append(question)
                asked = dict(parse_qsl(query))
                hub.told.append((question, asked, json.loads(sent) if sent else None))
                status, found = hub.answers.get(question, (404, {"message": "Not Found"}))
                if question in hub.pages:
                    status, found = 200, hub.pages[question][int(asked["page"]) - 1]
                body = json.dumps(found).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self) -> None:
                self.do_GET()

            def do_PATCH(self) -> None:
                self.do_GET()

            def do_DELETE(self) -> None:
                self.do_GET()

            def log_message(self, *_: object) -> None:
                """Nothing on standard error."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    def client(self) -> GitHubClient:
        return GitHubClient("o/r", "t", f"http://127.0.0.1:{self.server.server_address[1]}", "bot")


@pytest.fixture
def hub() -> Iterator[Hub]:
    made = Hub()
    thread = Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    thread.join()


def test_many_large_files_are_sent_in_several_requests(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "SENT_AT_ONCE", 10)
    made = (201, {"sha": "c" * 40})
    hub.answers = dict.fromkeys(MAKE, made)
    texts = {"a": "x" * 20, "b": "x" * 6, "c": None, "d": "x" * 4, "e": "x"}
    write = WriteLedger(parent=None, files=tuple(texts.items()), message="m")
    assert hub.client().write_ledger(write, None) == ("c" * 40, "c" * 40)
    trees = [body for question, body in zip(hub.asked, hub.bodies, strict=True) if question == MAKE[0]]
    assert [[item["path"] for item in body["tree"]] for body in trees] == [["a"], ["b", "c", "d"], ["e"]]
    assert [body.get("base_tree") for body in trees] == [None, "c" * 40, "c" * 40]


def test_what_a_person_may_do_is_asked_once(hub: Hub) -> None:
    place = "GET /collaborators/{}/permission".format
    hub.answers = {place("mara"): (200, {"permission": "write"}), place("rob"): (403, {"message": "barred"})}
    client = hub.client()
    for _ in range(2):
        assert [client.permission(login) for login in ("mara", "rob", "nina")] == ["write", "untold", "none"]
    assert hub.asked == [place("mara"), place("rob"), place("nina")]


WHEN = "2026-11-21T10:00:00Z"
SAID = {"id": 44, "user": {"login": "mara", "type": "User"}, "body": "/incumbent accept q1"}


@pytest.mark.parametrize(
    ("key", "place", "state", "of", "found"),
    [
        ("review:5:44", "/pulls/5/reviews/44", "APPROVED", 5, True),
        ("review:5:44", "/pulls/5/reviews/44", "DISMISSED", 5, False),
        ("review:5:44", "/pulls/5/reviews/44", "APPROVED", 15, False),
        ("inline:5:44", "/pulls/comments/44", None, 5, True),
        ("inline:5:44", "/pulls/comments/44", None, 6, False),
        ("inline:5:44", "/pulls/comments/45", None, 5, False),
    ],
)
def test_a_comment_of_a_review_is_found_on_its_own_pull_request_alone(
    hub: Hub, key: str, place: str, state: str | None, of: int, found: bool
) -> None:
    times = {"submitted_at": WHEN, "state": state} if state else {"created_at": WHEN, "updated_at": WHEN}
    url = f"https://api.github.example/repos/o/r/pulls/{of}"
    hub.answers = {f"GET {place}": (200, {**SAID, **times, "pull_request_url": url})}
    remark = hub.client().find_remark(key)
    assert (remark is not None) is found
    if remark is not None:
        comment = remark.comment
        assert (remark.number, comment.key, comment.author, comment.body) == (5, key, "mara", SAID["body"])
        # Nobody was asked whether it was edited, so that it counts as edited.
        assert comment.is_edited


MAKE = ["POST /git/trees", "POST /git/commits", "POST /git/refs"]
LOOK = "GET /git/ref/heads/incumbent/evict/x"
PUSH = PushBranch(branch="incumbent/evict/x", tip=None, base="b" * 40, parents=("b" * 40,), files=(), message="m")


def refusing(hub: Hub, status: int, message: str, **found: tuple[int, Any]) -> None:
    """GitHub makes the commit, and refuses the branch."""
    made: dict[str, tuple[int, Any]] = dict.fromkeys(MAKE[:2], (201, {"sha": "c" * 40}))
    hub.answers = {**made, MAKE[2]: (status, {"message": message}), **found}


def test_commits_that_follow_are_made_before_the_branch_moves(hub: Hub) -> None:
    hub.answers = {name: (201, {"sha": "c" * 40}) for name in MAKE}
    then = (Commit(files=(), message="second"), Commit(files=(), message="third"))
    hub.client().apply(None, replace(PUSH, then=then), "e" * 40)
    assert hub.asked == [*MAKE[:2] * 3, MAKE[2]]


@pytest.mark.parametrize(
    ("author", "state", "commented", "expected"),
    [
        ("mara", "APPROVED", False, True),
        ("mara", "DISMISSED", False, False),
        ("copilot[bot]", "COMMENTED", False, False),
        ("copilot[bot]", "COMMENTED", True, True),
    ],
)
def test_only_people_review(hub: Hub, author: str, state: str, commented: bool, expected: bool) -> None:
    def user(login: str) -> dict[str, str]:
        return {"login": login, "type": "Bot" if login.endswith("[bot]") else "User"}

    when = {"created_at": "2026-11-21T10:00:00Z", "updated_at": "2026-11-21T10:00:00Z"}
    said = [{"id": 1, "user": user("mara" if commented else "ci[bot]"), "body": "x", **when}]
    review = {"user": user(author), "state": state, "submitted_at": "2026-11-21T10:00:00Z"}
    hub.answers = {"GET /issues/5/comments": (200, said), "GET /pulls/5/reviews": (200, [review])}
    assert hub.client().is_reviewed(5) is expected


def test_a_lost_first_write_costs_one_request(hub: Hub) -> None:
    refusing(hub, 422, "Reference already exists", **{LOOK: (200, {"object": {"sha": "d" * 40}})})
    with pytest.raises(LostRaceError):
        hub.client().apply(None, PUSH, "e" * 40)
    assert hub.asked == [*MAKE, LOOK]


def test_a_protected_first_write_costs_one_request(hub: Hub) -> None:
    refusing(hub, 422, "Repository rule violations found")
    with pytest.raises(ProtectedBranchError):
        hub.client().apply(None, PUSH, "e" * 40)
    assert hub.asked == [*MAKE, LOOK]


def test_a_branch_in_the_way_is_named(hub: Hub) -> None:
    below = "GET /git/matching-refs/heads/incumbent/evict/x/"
    parent = {"GET /git/ref/heads/incumbent": (200, {"object": {"sha": "d" * 40}}), below: (200, [])}
    refusing(hub, 422, "Reference update failed", **parent)
    with pytest.raises(BlockedBranchError, match="delete or rename the branch `incumbent`, and run this again"):
        hub.client().apply(None, PUSH, "e" * 40)


def test_what_is_in_the_way_cannot_hide_why_github_refused(hub: Hub) -> None:
    below = {"GET /git/matching-refs/heads/incumbent/evict/x/": (409, {"message": "another matter"})}
    refusing(hub, 422, "Object does not exist", **below)
    with pytest.raises(OutsideError, match="Object does not exist"):
        hub.client().apply(None, PUSH, "e" * 40)


def made(author: str | None, committer: str | None = None, message: str = "x", **more: Any) -> dict[str, Any]:
    """A commit as GitHub lists it in a pull request."""
    people = {"author": author, "committer": committer or author}
    return {
        **{role: None if login is None else {"login": login} for role, login in people.items()},
        "commit": {"message": message, "verification": {"verified": more.get("signed", False)}},
        "parents": [{"sha": "a"}] * more.get("parents", 1),
    }


CO_AUTHORED = """Improve

Co-authored-by: Ines <ines@users.noreply.github.com>
co-authored-by: Kim <12345+Kim-K@users.noreply.github.com>
Co-Authored-By: Una <una@example.com>
Said: Co-authored-by: Vic <vic@users.noreply.github.com>
"""


@pytest.mark.parametrize(
    ("commits", "logins"),
    [
        ([], set()),
        ([made("Mara"), made("mara")], {"mara"}),
        ([made("mara", "Wanda")], {"mara", "wanda"}),
        ([made(None), made(None, "wanda")], {"wanda"}),
        ([made("mara", "web-flow")], {"mara"}),
        ([made("mara", message=CO_AUTHORED)], {"mara", "ines", "kim-k"}),
        ([made("cora", "web-flow", parents=2, signed=True)], set()),
        ([made("cora", "web-flow", parents=2)], {"cora"}),
        ([made("cora", "cora", parents=2, signed=True)], {"cora"}),
        ([made("cora", "web-flow", signed=True)], {"cora"}),
    ],
)
def test_who_made_commits(commits: list[dict[str, Any]], logins: set[str]) -> None:
    assert makers_of(commits) == logins


def test_a_name_in_a_commit_proves_nothing_unless_it_is_signed() -> None:
    spoofed = made("cora", "mallory", message=CO_AUTHORED)
    assert makers_of([spoofed]) >= {"cora", "mallory", "ines"}
    assert makers_of([spoofed], proven=True) == frozenset()
    assert makers_of([spoofed, made("Mara", "web-flow", message=CO_AUTHORED, signed=True)], proven=True) == {"mara"}


@pytest.mark.parametrize("count", [1, 100, 249, 250])
def test_of_more_commits_than_github_lists_the_authors_are_unknown(hub: Hub, count: int) -> None:
    pages = [made("mara")] * count
    client = hub.client()
    client._pages = lambda *_: pages  # type: ignore[method-assign]
    assert client.commit_authors(7) == (frozenset({"mara"}) if count < 250 else None)


def test_the_commits_of_a_pull_request_cost_one_request(hub: Hub) -> None:
    hub.answers["GET /pulls/7/commits"] = (200, [made("mara")])
    assert hub.client().commit_authors(7) == frozenset({"mara"})
    assert hub.asked == ["GET /pulls/7/commits"]


# What is written


CHECKED = PostCheck(
    commit="c" * 40,
    conclusion="failure",
    title="t",
    summary="s",
    annotations=(Annotation(path="a.yaml", line=3, level="warning", title="n", message="m"),),
    external_id="e",
)
CHECK_BODY = {
    "name": "Incumbent",
    "head_sha": "c" * 40,
    "status": "completed",
    "conclusion": "failure",
    "external_id": "e",
    "output": {
        "title": "t",
        "summary": "s",
        "annotations": [
            {
                "path": "a.yaml",
                "start_line": 3,
                "end_line": 3,
                "annotation_level": "warning",
                "title": "n",
                "message": "m",
            }
        ],
    },
}
OPEN = OpenPullRequest(title="t", body="b", branch="incumbent/evict/x", base="main")
OPEN_BODY = {"title": "t", "head": "incumbent/evict/x", "base": "main", "body": "b", "maintainer_can_modify": True}


@pytest.mark.parametrize(
    ("operation", "question", "body"),
    [
        (CreateComment(body="hi"), "POST /issues/5/comments", {"body": "hi"}),
        (EditComment(id=9, body="hi"), "PATCH /issues/comments/9", {"body": "hi"}),
        (DeleteComment(id=9), "DELETE /issues/comments/9", None),
        (React(comment=9, reaction="+1"), "POST /issues/comments/9/reactions", {"content": "+1"}),
        (
            React(comment=9, reaction="confused", inline=True),
            "POST /pulls/comments/9/reactions",
            {"content": "confused"},
        ),
        (AddLabels(names=("x", "y")), "POST /issues/5/labels", {"labels": ["x", "y"]}),
        (RemoveLabel(name="a: b/c"), "DELETE /issues/5/labels/a%3A%20b%2Fc", None),
        (CHECKED, "POST /check-runs", CHECK_BODY),
        (OPEN, "POST /pulls", OPEN_BODY),
        (EditDescription(body="d"), "PATCH /pulls/5", {"body": "d"}),
        (ClosePullRequest(body="d"), "PATCH /pulls/5", {"state": "closed", "body": "d"}),
        (CreateIssue(title="t", body="b"), "POST /issues", {"title": "t", "body": "b"}),
        (EditIssue(number=8, body="b"), "PATCH /issues/8", {"body": "b"}),
        (CloseIssue(number=8), "PATCH /issues/8", {"state": "closed"}),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_each_write_is_one_request(hub: Hub, operation: Operation, question: str, body: Any) -> None:
    hub.answers = {question: (200, {"id": 9, "user": {"login": "bot"}})}
    assert hub.client().apply(5, operation) is None
    assert hub.told == [(question, {}, body)]


@pytest.mark.parametrize("operation", [DeleteComment(id=9), React(comment=9, reaction="+1"), RemoveLabel(name="x")])
def test_what_is_gone_already_is_no_error_to_remove_or_mark(hub: Hub, operation: Operation) -> None:
    hub.client().apply(5, operation)
    (question,) = hub.asked
    hub.answers = {question: (410, {"message": "Gone"})}
    with pytest.raises(OutsideError, match=r"GitHub refuses .* \(410\): Gone"):
        hub.client().apply(5, operation)


def test_a_check_links_to_the_page_of_its_run(hub: Hub) -> None:
    hub.answers = {"POST /check-runs": (201, {})}
    page = "https://github.example/runs/1"
    url = f"http://127.0.0.1:{hub.server.server_address[1]}"
    GitHubClient("o/r", "t", url, "bot", page).apply(5, replace(CHECKED, annotations=()))
    output = {"title": "t", "summary": "s"}
    assert hub.told[0][2] == {**CHECK_BODY, "output": output, "details_url": page}


def test_a_comment_under_another_name_is_taken_back_and_told(hub: Hub) -> None:
    hub.answers = {
        "POST /issues/5/comments": (201, {"id": 9, "user": {"login": "somebody[bot]"}}),
        "DELETE /issues/comments/9": (204, {}),
    }
    with pytest.raises(OutsideError, match=r"acts as somebody\[bot\], and not as bot: set the action's input `login`"):
        hub.client().apply(5, CreateComment(body="hi"))
    assert hub.asked == ["POST /issues/5/comments", "DELETE /issues/comments/9"]


@pytest.mark.parametrize(
    ("tip", "deletes", "answer"), [("d" * 40, True, 204), ("d" * 40, True, 422), ("e" * 40, False, 204)]
)
def test_a_branch_is_deleted_only_where_it_is_known_to_be(hub: Hub, tip: str, deletes: bool, answer: int) -> None:
    gone = "DELETE /git/refs/heads/incumbent/evict/x"
    hub.answers = {LOOK: (200, {"object": {"sha": "d" * 40}}), gone: (answer, {"message": "gone"})}
    hub.client().apply(None, DeleteBranch(branch="incumbent/evict/x", tip=tip))
    assert hub.asked == [LOOK, *([gone] if deletes else [])]


def test_a_pull_request_is_opened_as_it_can_be(hub: Hub) -> None:
    """As a draft where there are such; where it is open already, nothing is to be done."""
    draft = replace(OPEN, draft=True)
    hub.answers = {"POST /pulls": (201, {"number": 1})}
    hub.client().apply(None, draft)
    assert [body for _, _, body in hub.told] == [{**OPEN_BODY, "draft": True}]
    hub.told.clear()
    hub.answers = {"POST /pulls": (422, {"message": "no"}), "GET /pulls": (200, [{"number": 1}])}
    hub.client().apply(None, draft)
    assert hub.told == [
        ("POST /pulls", {}, {**OPEN_BODY, "draft": True}),
        ("POST /pulls", {}, OPEN_BODY),
        ("GET /pulls", {"head": "o:incumbent/evict/x", "base": "main"}, None),
    ]
    hub.answers["GET /pulls"] = (200, [])
    with pytest.raises(OutsideError, match="refuses to open a pull request for incumbent/evict/x"):
        hub.client().apply(None, OPEN)


def commits(*more: tuple[str, Any]) -> dict[str, tuple[int, Any]]:
    made = {"POST /git/trees": (201, {"sha": "a" * 40}), "POST /git/commits": (201, {"sha": "c" * 40})}
    return {**made, **{question: (200, answer) for question, answer in more}}


def test_commits_change_their_files_on_top_of_the_branch(hub: Hub) -> None:
    move = "PATCH /git/refs/heads/incumbent/ledger"
    hub.answers = commits((move, {}))
    write = WriteLedger(parent="b" * 40, files=(("a.json", "{}"), ("old.json", None)), message="m")
    assert hub.client().apply(None, write, "e" * 40) == MadeCommit("c" * 40, "a" * 40)
    blob = {"mode": "100644", "type": "blob"}
    files = [{"path": "a.json", **blob, "content": "{}"}, {"path": "old.json", **blob, "sha": None}]
    assert hub.told == [
        ("POST /git/trees", {}, {"base_tree": "e" * 40, "tree": files}),
        ("POST /git/commits", {}, {"message": "m", "tree": "a" * 40, "parents": ["b" * 40]}),
        (move, {}, {"sha": "c" * 40, "force": False}),
    ]


def test_the_first_commit_of_the_ledger_has_no_parent(hub: Hub) -> None:
    hub.answers = commits(("POST /git/refs", {}))
    made = hub.client().apply(None, WriteLedger(parent=None, files=(("a", "x"),), message="m"), None)
    assert made == MadeCommit("c" * 40, "a" * 40)
    (tree, commit, ref) = [body for _, _, body in hub.told]
    assert "base_tree" not in tree
    assert commit["parents"] == []
    assert ref == {"ref": "refs/heads/incumbent/ledger", "sha": "c" * 40}


def test_several_commits_follow_on_each_other(hub: Hub) -> None:
    hub.answers = commits(("PATCH /git/refs/heads/main", {}))
    two = tuple(Commit(files=((name, "x"),), message=name) for name in ("one", "two"))
    hub.client().apply(None, PushCommits(branch="main", parent="b" * 40, commits=two), "e" * 40)
    bodies = [body for _, _, body in hub.told]
    assert [body.get("base_tree") for body in bodies[:4:2]] == ["e" * 40, "a" * 40]
    assert [(body["message"], body["parents"]) for body in bodies[1:4:2]] == [
        ("one", ["b" * 40]),
        ("two", ["c" * 40]),
    ]


@pytest.mark.parametrize(
    ("message", "at", "error"),
    [
        ("Update is not a fast forward", "b" * 40, LostRaceError),
        ("Reference cannot be updated", "d" * 40, LostRaceError),
        ("Changes must be made through a pull request.", "b" * 40, ProtectedBranchError),
        ("Protected branch update failed", "b" * 40, ProtectedBranchError),
        ("Reference cannot be updated", "b" * 40, OutsideError),
    ],
)
def test_why_a_branch_did_not_move_is_told_apart(hub: Hub, message: str, at: str, error: type) -> None:
    look = ("GET /git/ref/heads/main", {"object": {"sha": at}})
    hub.answers = {**commits(look), "PATCH /git/refs/heads/main": (422, {"message": message})}
    with pytest.raises(OutsideError) as caught:
        hub.client().apply(
            None, PushCommits(branch="main", parent="b" * 40, commits=(Commit(files=(), message="m"),)), "e" * 40
        )
    assert type(caught.value) is error
    # Nothing can be in the way of a branch that is there.
    assert not [question for question in hub.asked if "matching-refs" in question]


def test_of_many_branches_in_the_way_some_are_named(hub: Hub) -> None:
    below = [{"ref": f"refs/heads/incumbent/evict/x/{number}"} for number in range(SHOWN + 1)]
    refusing(hub, 422, "no", **{"GET /git/matching-refs/heads/incumbent/evict/x/": (200, below)})
    with pytest.raises(BlockedBranchError) as caught:
        hub.client().apply(None, PUSH, "e" * 40)
    named = " and ".join(f"`incumbent/evict/x/{number}`" for number in range(SHOWN))
    assert f"git cannot hold the branch `incumbent/evict/x` beside {named}: delete" in str(caught.value)


# What is read


def pull(number: int, **more: Any) -> dict[str, Any]:
    return {
        "number": number,
        "state": "open",
        "user": {"login": "mara", "type": "User"},
        "author_association": "MEMBER",
        "head": {"sha": "1" * 40, "ref": "change", "repo": {"full_name": "o/r"}},
        "base": {"ref": "main", "repo": {"full_name": "o/r"}},
        "labels": [{"name": "x"}],
        "title": "t",
        "body": "b",
        "closed_at": None,
        "merged_at": None,
        "merge_commit_sha": None,
    } | more


PULL = PullRequest(
    number=5,
    head="1" * 40,
    base="main",
    author="mara",
    association="MEMBER",
    labels=("x",),
    branch="change",
    title="t",
    body="b",
)
ENDED = {"state": "closed", "closed_at": WHEN}


@pytest.mark.parametrize(
    ("found", "changes"),
    [
        ({}, {}),
        ({"body": None, "title": None, "labels": []}, {"body": "", "title": "", "labels": ()}),
        (ENDED, {"closed": True, "closed_at": WHEN}),
        # GitHub names a commit that it would merge, too.
        (ENDED | {"merge_commit_sha": "2" * 40}, {"closed": True, "closed_at": WHEN}),
        (
            ENDED | {"merged_at": WHEN, "merge_commit_sha": "2" * 40},
            {"closed": True, "closed_at": WHEN, "merge": "2" * 40},
        ),
        ({"head": {"sha": "1" * 40, "ref": "change", "repo": {"full_name": "x/r"}}}, {"branch": None}),
        ({"head": {"sha": "1" * 40, "ref": "change", "repo": None}}, {"branch": None}),
        ({"user": None}, {"author": "ghost"}),
    ],
)
def test_a_pull_request_is_read_as_it_is(hub: Hub, found: dict[str, Any], changes: dict[str, Any]) -> None:
    hub.answers = {"GET /pulls/5": (200, pull(5, **found))}
    assert hub.client().pull_request(5) == replace(PULL, **changes)
    assert hub.client().find_pull_request(5) == replace(PULL, **changes)
    assert hub.client().find_pull_request(6) is None
    with pytest.raises(OutsideError, match=r"GitHub refuses GET /pulls/6 \(404\): Not Found$"):
        hub.client().pull_request(6)


PAGED = {"per_page": str(PAGE), "page": "1"}


@pytest.mark.parametrize(
    ("ask", "question", "parameters"),
    [
        (lambda client: client.open_pull_requests("main"), "GET /pulls", {"state": "open", "base": "main", **PAGED}),
        (
            lambda client: client.pull_requests_of("x/y", "main"),
            "GET /pulls",
            {"state": "all", "head": "o:x/y", "base": "main", **PAGED},
        ),
        (
            lambda client: client.closed_pull_requests("main"),
            "GET /pulls",
            {"state": "closed", "base": "main", "sort": "updated", "direction": "desc", "per_page": str(PAGE)},
        ),
        (lambda client: client.introduced_by("abc"), "GET /commits/abc/pulls", PAGED),
    ],
)
def test_lists_of_pull_requests_are_asked_for_as_they_are_wanted(
    hub: Hub, ask: Any, question: str, parameters: dict[str, str]
) -> None:
    hub.answers = {question: (200, [pull(5), pull(4)])}
    assert {item.number for item in ask(hub.client())} == {4, 5}
    assert hub.told == [(question, parameters, None)]


def test_lists_are_read_to_their_end_and_no_further(hub: Hub) -> None:
    hub.pages["GET /pulls"] = [[pull(number) for number in range(2 * PAGE, PAGE, -1)], [pull(1)]]
    assert [item.number for item in hub.client().open_pull_requests("main")] == [1, *range(PAGE + 1, 2 * PAGE + 1)]
    assert [parameters["page"] for _, parameters, _ in hub.told] == ["1", "2"]


def test_who_did_what_and_when_is_read(hub: Hub) -> None:
    mara, app = {"login": "mara", "type": "User"}, {"login": "Copilot", "type": "Bot"}
    hub.answers = {
        "GET ": (200, {"default_branch": "trunk"}),
        "GET /user": (200, {"login": "incumbent[bot]"}),
        "GET /pulls/5": (200, {"merged_by": mara, "merged_at": WHEN}),
        "GET /issues/5": (200, {"closed_by": app, "closed_at": WHEN}),
        "GET /commits/abc": (200, {"author": mara}),
        "GET /commits/def": (200, {"author": None}),
    }
    client = hub.client()
    assert (client.default_branch(), client.account()) == ("trunk", "incumbent[bot]")
    assert (client.merged_by(5), client.closed_by(5)) == (("mara", WHEN), ("Copilot[bot]", WHEN))
    assert [client.author_of(commit) for commit in ("abc", "def")] == ["mara", "ghost"]


def test_the_bots_own_issues_are_those_that_are_no_pull_requests(hub: Hub) -> None:
    own, other = {"user": {"login": "bot"}, "body": "b"}, {"user": {"login": "mara"}, "body": "b"}
    found = [{"number": 4, **own}, {"number": 3, **own, "body": None}, {"number": 2, **other}]
    hub.answers = {"GET /issues": (200, [*found, {"number": 1, **own, "pull_request": {}}])}
    assert hub.client().own_issues() == (Issue(number=3, body=""), Issue(number=4, body="b"))
    parameters = {"state": "open", "creator": "bot", "sort": "created", "direction": "asc", **PAGED}
    assert hub.told == [("GET /issues", parameters, None)]
    hub.answers = {"GET /issues": (410, {"message": "Issues are disabled"})}
    assert hub.client().own_issues() is None


def comment(id: int, **more: Any) -> dict[str, Any]:
    url = "https://api.github.example/repos/o/r/issues/6"
    return {
        "id": id,
        "user": {"login": "mara"},
        "body": "x",
        "created_at": WHEN,
        "updated_at": WHEN,
        "issue_url": url,
    } | more


def test_comments_are_read_by_age_and_through_what_the_caller_makes_of_them(hub: Hub) -> None:
    since = "2026-11-20T10:00:00Z"
    hub.answers = {
        "GET /issues/5/comments": (200, [comment(2), comment(1)]),
        "GET /issues/comments": (200, [comment(4), comment(3)]),
        "GET /issues/comments/3": (200, comment(3)),
    }
    client = hub.client()
    plain, read = client, client.reading(lambda item: replace(item, body="read"))
    for reader, body in ((plain, "x"), (read, "read")):
        assert [(item.id, item.body) for item in reader.comments(5)] == [(1, body), (2, body)]
        assert [(item.number, item.comment.id, item.comment.body) for item in reader.comments_since(since)] == [
            (6, 3, body),
            (6, 4, body),
        ]
        found = reader.find_remark(3)
        assert found is not None
        assert (found.number, found.comment.body) == (6, body)
        assert reader.find_remark(9) is None
    asked = {"since": since, "sort": "created", "direction": "asc", **PAGED}
    assert ("GET /issues/comments", asked, None) in hub.told


def test_reviews_are_read_for_their_commands_and_when_those_were_edited(hub: Hub) -> None:
    run = {"user": {"login": "cora"}, "body": "/incumbent run", "node_id": "R1"}
    at = {"submitted_at": WHEN, "state": "COMMENTED"}
    reviews = [
        {"id": 1, **run, **at},
        {"id": 2, **run, **at, "body": "no command", "node_id": "R2"},
        {"id": 3, **run, "state": "PENDING", "node_id": "R3"},
    ]
    inline = {"id": 1, **run, "created_at": WHEN, "updated_at": WHEN, "node_id": "C1"}
    nodes = [{"id": "R1", "publishedAt": WHEN, "lastEditedAt": None}, None, {"id": "C1"}]
    hub.answers = {
        "GET /issues/5/comments": (200, [comment(7)]),
        "GET /pulls/5/reviews": (200, reviews),
        "GET /pulls/5/comments": (200, [inline]),
        "POST /graphql": (200, {"data": {"nodes": nodes}}),
    }
    found = hub.client().said_on(5)
    assert [(item.key, item.is_edited) for item in found] == [(7, False), ("review:5:1", False), ("inline:5:1", True)]
    (body,) = [body for question, _, body in hub.told if "graphql" in question]
    assert body["variables"] == {"ids": ["R1", "C1"]}
    # Nothing is asked of what is not there, and where nobody says, it counts as edited.
    del hub.answers["POST /graphql"]
    assert [item.is_edited for item in hub.client().said_on(5)] == [False, True, True]
    hub.told.clear()
    hub.answers["GET /pulls/5/reviews"] = (200, [])
    assert len(hub.client().said_on(5)) == 1
    assert [question for question, _, _ in hub.told] == ["GET /pulls/5/reviews", "GET /issues/5/comments"]


def test_of_checks_the_newest_of_the_name_counts(hub: Hub) -> None:
    named = [
        {"id": 2, "name": "Incumbent", "conclusion": "success", "external_id": "e"},
        {"id": 1, "name": "Incumbent", "conclusion": "failure", "external_id": "f"},
        {"id": 3, "name": "incumbent", "conclusion": "neutral", "external_id": "g"},
    ]
    place = "GET /commits/abc/check-runs"
    hub.answers = {place: (200, {"check_runs": named})}
    assert hub.client().check("abc") == CheckRun(conclusion="success", external_id="e")
    assert hub.told == [(place, {"check_name": "Incumbent", "filter": "latest", "per_page": str(PAGE)}, None)]
    hub.answers = {place: (200, {"check_runs": [{**named[0], "conclusion": None, "external_id": None}]})}
    assert hub.client().check("abc") == CheckRun(conclusion=None, external_id="")
    hub.answers = {place: (200, {"check_runs": named[2:]})}
    assert hub.client().check("abc") is None


@pytest.mark.parametrize(
    ("status", "found", "committed"),
    [(200, [{}], True), (200, [], False), (403, {}, False), (404, {}, False), (409, {}, False)],
)
def test_whether_somebody_has_committed_before(hub: Hub, status: int, found: Any, committed: bool) -> None:
    hub.answers = {"GET /commits": (status, found)}
    assert hub.client().has_committed("mara") is committed
    assert hub.told == [("GET /commits", {"author": "mara", "per_page": "1"}, None)]


@pytest.mark.parametrize(
    ("status", "data", "kind", "words"),
    [
        (
            403,
            {"message": "Resource not\n accessible"},
            RefusedError,
            r"\(403\): Resource not accessible; `incumbent do",
        ),
        (401, {"message": "Bad credentials"}, OutsideError, r"\(401\): Bad credentials; `incumbent doctor` says"),
        (422, {"message": None}, OutsideError, r"\(422\): no reason given$"),
    ],
)
def test_what_github_refuses_is_told_with_its_reason(
    hub: Hub, status: int, data: Any, kind: type[OutsideError], words: str
) -> None:
    hub.answers = {"GET /pulls/5": (status, data)}
    with pytest.raises(OutsideError, match=words) as caught:
        hub.client().pull_request(5)
    assert type(caught.value) is kind


def test_a_github_that_is_not_there_is_told_without_its_address(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.server.shutdown()
    hub.server.server_close()
    client = hub.client()
    monkeypatch.setattr(client._requester, "_Requester__retry", 0)
    with pytest.raises(OutsideError, match=r"^GitHub cannot be reached: GET /pulls/5: ConnectionError$"):
        client.pull_request(5)
