"""What the gateway and the mends share: who holds which token, the repositories, a way to ask the emulator."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from tests.e2e.harness.bare import BareRepository
from tests.e2e.harness.emulator import Emulator
from tests.e2e.harness.messages import Request, Response, json_response
from tests.e2e.harness.twin import Twin

ADMINISTRATOR = "admin-token"
REPOSITORY_PATH = re.compile(r"^/repos/(?P<name>[^/]+/[^/]+)(?P<rest>/.*)?$")


@dataclass(frozen=True)
class Actor:
    """Who a token speaks for.  ``permissions`` are a job's (by their API names); None is a person."""

    login: str
    token: str
    permissions: dict[str, str] | None = None
    label_token: str | None = None
    """A token that may also write issues: the emulator asks for that to label a pull request, GitHub does not."""

    @property
    def is_app(self) -> bool:
        """Whether an app's installation acts, such as a job."""
        return self.permissions is not None

    def may_write(self, *areas: str) -> bool:
        """Whether an app may write any of these areas."""
        return any((self.permissions or {}).get(area) == "write" for area in areas)


@dataclass
class Hosted:
    """One repository with both halves; ``network`` is the repository it was forked from.

    ``protected`` maps each branch that a ruleset protects to those who may write to it past that.
    """

    full_name: str
    bare: BareRepository
    twin: Twin
    network: str | None = None
    private: bool = False
    protected: dict[str, frozenset[str]] = field(default_factory=dict)


@dataclass
class Hub:
    """The shared state."""

    emulator: Emulator
    folder: Path
    actors: dict[str, Actor] = field(default_factory=dict)
    repositories: dict[str, Hosted] = field(default_factory=dict)
    associations: dict[str, dict[str, str]] = field(default_factory=dict)
    """By repository and login, what GitHub states of somebody, where a test says so."""

    def ask(self, method: str, path: str, data: Any = None) -> Response:
        """Ask the emulator as its administrator, past every mend."""
        return self.emulator.call(method, path, ADMINISTRATOR, data)

    def host(
        self, full_name: str, network: str | None = None, private: bool = False, token: str = ADMINISTRATOR
    ) -> Hosted:
        """Give a repository of the emulator its git half, empty; ``token`` is one that may write to it."""

        def ask(method: str, path: str, data: Any) -> Response:
            return self.emulator.call(method, path, token, data)

        bare = BareRepository.create(self.folder / f"{full_name.replace('/', '--')}.git")
        hosted = Hosted(full_name, bare, Twin(ask, full_name, bare), network, private)
        self.repositories[full_name] = hosted
        return hosted

    def permission(self, full_name: str, login: str) -> str | None:
        """A person's permission as GitHub words it (admin, write, read, none); None for nobody known."""
        answer = self.ask("GET", f"/repos/{full_name}/collaborators/{login}/permission")
        if answer.ok:
            words = {"push": "write", "maintain": "write", "triage": "read", "pull": "read"}
            said = str(answer.json["permission"])
            return words.get(said, said)
        if not self.ask("GET", f"/users/{login}").ok:
            return None
        return "none" if self.repositories[full_name].private else "read"

    def may_read(self, full_name: str, actor: Actor) -> bool:
        """Whether an actor may read the contents of a private repository."""
        if actor.permissions is not None:
            return actor.permissions.get("contents") in {"read", "write"}
        return self.permission(full_name, actor.login) != "none"

    def may_push(self, full_name: str, actor: Actor) -> bool:
        """Whether an actor may write the contents of a repository."""
        if actor.is_app:
            return actor.may_write("contents")
        return self.permission(full_name, actor.login) in {"admin", "write"}


class Mend(Protocol):
    """One place where the emulator differs from GitHub, made good."""

    def before(self, request: Request, actor: Actor | None) -> Response | None:
        """Answer in the emulator's place, or leave it to it."""

    def after(self, request: Request, actor: Actor | None, response: Response) -> Response:
        """Correct what the emulator answered."""


class Unchanged:
    """A mend that does nothing; mends take what they need from it."""

    def before(self, request: Request, actor: Actor | None) -> Response | None:
        """Leave it to the emulator."""
        del request, actor
        return None

    def after(self, request: Request, actor: Actor | None, response: Response) -> Response:
        """Leave the answer as it is."""
        del request, actor
        return response


def page(request: Request, items: list[Any], base_url: str) -> Response:
    """One page of a list, with the link to its neighbours, as GitHub cuts it."""
    size = max(1, min(int(request.parameters.get("per_page", "30")), 100))
    number = max(1, int(request.parameters.get("page", "1")))
    last = max(1, -(-len(items) // size))
    places = {"prev": number - 1, "next": number + 1, "last": last, "first": 1}
    shown = {"prev": number > 1, "next": number < last, "last": number < last, "first": number > 1}
    url = f"{base_url}{request.path}?per_page={size}"
    links = [f'<{url}&page={places[name]}>; rel="{name}"' for name in places if shown[name]]
    cut = items[(number - 1) * size : number * size]
    return json_response(200, cut, **({"link": ", ".join(links)} if links else {}))
