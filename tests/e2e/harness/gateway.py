"""The one address that everything under test talks to: git over HTTP, and GitHub's API by way of the emulator.

Each API exchange is recorded, its request checked against GitHub's own description (what does not fit is refused as on
GitHub) and its answer too (what does not fit is kept in ``mismatches``).  Requests are served one after another.
"""

from __future__ import annotations

import base64
import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import unquote

from tests.e2e.harness.emulator import Emulator
from tests.e2e.harness.errors import HarnessError
from tests.e2e.harness.faults import Fault, Faults, How, Predicate
from tests.e2e.harness.hub import Actor, Hub, Mend
from tests.e2e.harness.mends import Mends
from tests.e2e.harness.mends.reviews import GRAPHQL
from tests.e2e.harness.messages import Request, Response, error, json_response
from tests.e2e.harness.openapi import Mismatch, Specification
from tests.e2e.harness.server import Server
from tests.e2e.harness.smart_http import ADDRESS, is_push, serve_git

WRITES_REFERENCE = re.compile(r"^/repos/(?P<name>[^/]+/[^/]+)/(?P<what>git/refs|contents)(?:/(?P<rest>.+))?$")


@dataclass(frozen=True)
class Call:
    """One API exchange; ``status`` None means that the client got no answer."""

    method: str
    path: str
    query: str
    status: int | None
    actor: str | None
    data: Any = None


class Gateway:
    """Starts the emulator with ``seed`` and serves it; ``people`` maps each seeded token to its login."""

    def __init__(self, folder: Path, seed: dict[str, Any], specification: Specification) -> None:
        self.calls: list[Call] = []
        self.git_calls: list[Call] = []
        self.mismatches: list[Mismatch] = []
        self.problems: list[str] = []
        """What went wrong in the harness itself."""
        self.faults = Faults()
        self.settings: dict[str, tuple[int, Any]] = {}
        """Answers to GET requests that the emulator has none for, by path: repository settings, rulesets."""
        self.before_call: Callable[[Request], None] = lambda request: None
        """Told of every API request before it is served; the client waits for it, others are served meanwhile."""
        self._lock = threading.RLock()
        self._server = Server(self._handle)
        self.url = self._server.url
        self.specification = specification
        self.emulator = Emulator(seed, self.url)
        self.hub = Hub(self.emulator, folder)
        for token, person in seed["tokens"].items():
            self.hub.actors[token] = Actor(person["login"], token)
        self.mends = Mends.of(self.hub, self.url)

    def __enter__(self) -> Self:
        self.emulator.__enter__()
        self._server.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.faults.stop()
        self._server.__exit__(kind, problem, trace)
        self.emulator.__exit__(kind, problem, trace)

    # --- what tests ask ------------------------------------------------------------------------------------------

    def mark(self) -> int:
        """A place in the record."""
        return len(self.calls)

    def calls_since(self, mark: int) -> list[Call]:
        """The API calls after a mark; git over HTTP is not among them."""
        return self.calls[mark:]

    def fail(self, predicate: Predicate, how: How, times: int = 1) -> Fault:
        """Let the next ``times`` API requests that ``predicate`` holds for fail."""
        return self.faults.add(predicate, how, times)

    def ask(self, token: str, method: str, path: str, data: Any = None) -> Response:
        """Ask as GitHub would be asked, mends and checks included, but unrecorded and without failures."""
        body = b"" if data is None else json.dumps(data).encode()
        plain, _, query = path.partition("?")
        headers = {"authorization": f"token {token}", "content-type": "application/json"}
        with self._lock:
            return self._answer(Request(method, plain, query, headers, body), checked=False)

    # --- serving -------------------------------------------------------------------------------------------------

    def _handle(self, request: Request) -> Response | None:
        try:
            return self._served(request)
        except (HarnessError, LookupError, OSError, TypeError, ValueError) as problem:
            self.problems.append(f"{request.method} {request.path}: {type(problem).__name__}: {problem}")
            return error(500, "The harness failed; see Gateway.problems")

    def _served(self, request: Request) -> Response | None:
        git = ADDRESS.match(request.path)
        if git is None:
            self.before_call(request)
        with self._lock:
            if git:
                response = self._git(request, git["name"], git["service"])
                self.git_calls.append(self._call(request, response.status))
                return response
            fault = self.faults.take(request)
            if fault is None:
                response = self._answer(request)
                self.calls.append(self._call(request, response.status))
                return response
            if fault.takes_effect:
                self._answer(request)
        answer = self.faults.answer(fault)
        self.calls.append(self._call(request, answer.status if answer else None))
        return answer

    def _call(self, request: Request, status: int | None) -> Call:
        actor = self._actor(request)
        login = actor.login if actor else None
        return Call(request.method, request.path, request.query, status, login, request.json)

    def _actor(self, request: Request) -> Actor | None:
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        if kind.lower() == "basic":
            token = base64.b64decode(token).decode(errors="replace").partition(":")[2]
        return self.hub.actors.get(token.strip())

    def _answer(self, request: Request, checked: bool = True) -> Response:
        actor = self._actor(request)
        if actor is None and "authorization" in request.headers:
            return error(401, "Bad credentials")
        faults = self.specification.request_faults(request)
        if faults:
            return error(422, "Invalid request.\n\n" + "\n".join(faults), errors=faults)
        response = self._mended(request, actor)
        if response.ok and request.method != "GET":
            self._export(request, response)
        if checked and request.path != GRAPHQL:
            self.mismatches.extend(self.specification.response_mismatches(request, response))
        return response

    def _mended(self, request: Request, actor: Actor | None) -> Response:
        setting = self.settings.get(request.path) if request.method == "GET" else None
        if setting is not None:
            return json_response(*setting)
        chain: list[Mend] = self.mends.all
        response = next((answer for mend in chain if (answer := mend.before(request, actor)) is not None), None)
        if response is None:
            response = self.emulator.send(request)
        for mend in chain:
            response = mend.after(request, actor, response)
        return response

    def _export(self, request: Request, response: Response) -> None:
        """After a write by the API: carry the branch into git, and on to the pull requests made from it."""
        found = WRITES_REFERENCE.match(request.path)
        if found is None or found["name"] not in self.hub.repositories:
            return
        if found["what"] == "contents":
            name = "refs/heads/" + str((request.json or {}).get("branch") or "main")
        else:
            name = f"refs/{unquote(found['rest'])}" if found["rest"] else str(response.json["ref"])
        self.hub.repositories[found["name"]].twin.export_reference(name)
        self.mends.pulls.branch_moved(found["name"], name)

    def _git(self, request: Request, name: str, service: str) -> Response:
        hosted = self.hub.repositories.get(name)
        actor = self._actor(request)
        if actor is None and "authorization" in request.headers:
            return error(401, "Bad credentials")
        if hosted is None or (actor is not None and hosted.private and not self.hub.may_read(name, actor)):
            return error(404, "Not Found")
        if actor is None and (is_push(request) or hosted.private):
            return Response(401, b"", {"www-authenticate": 'Basic realm="GitHub"'})
        if is_push(request) and (actor is None or not self.hub.may_push(name, actor)):
            return error(403, f"Permission to {name} denied.")
        before = hosted.bare.references()
        response = serve_git(hosted.bare, service, request, actor.login if actor else None)
        if service == "git-receive-pack":
            self.pushed(name, before)
        return response

    def pushed(self, name: str, before: dict[str, str]) -> None:
        """After a write in git: carry every branch that changed into the emulator and to its pull requests."""
        now = self.hub.repositories[name].bare.references()
        for reference in sorted(before.keys() | now.keys()):
            if before.get(reference) != now.get(reference):
                self._carry(name, reference)

    def commit(self, name: str, reference: str, write: Callable[[], str]) -> str:
        """What ``write`` commits on a branch without a push, carried over like one; the new commit's id."""
        with self._lock:
            made = write()
            self._carry(name, reference)
            return made

    def _carry(self, name: str, reference: str) -> None:
        self.hub.repositories[name].twin.import_reference(reference)
        self.mends.pulls.branch_moved(name, reference)
