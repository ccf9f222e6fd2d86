"""Who there is in every test, and what the emulator starts with."""

from __future__ import annotations

from typing import Any

from tests.e2e.harness.hub import ADMINISTRATOR

ORGANISATION = "acme"
OWNER = "olive"
CUSTOMER = "casey"
CURATOR = "quinn"
STRANGER = "sam"
OUTSIDER = "orla"
JOB = "github-actions[bot]"
OUR_APP = "incumbent-acme[bot]"
APPS = {JOB: (15368, 100), OUR_APP: (20001, 101)}
"""By the account that its token acts as, the id of an app and that of its installation."""
PERMISSIONS = ("actions", "administration", "checks", "contents", "issues", "models", "pull_requests", "statuses")
"""What a job or an app may be given, by the names of the API."""

LEVELS = {CUSTOMER: "push", CURATOR: "push"}
"""Who is a collaborator; the owner administers, everyone else may read what is public."""


def token_of(login: str) -> str:
    """A person's token."""
    return f"token-of-{login}"


def app_name(login: str) -> str:
    """What an app is called."""
    return login.removesuffix("[bot]").replace("-", " ").title().replace("Github", "GitHub")


def seed() -> dict[str, Any]:
    """What the emulator starts with: people and an organisation that owns what the tests make."""
    people = (OWNER, CUSTOMER, CURATOR, STRANGER, OUTSIDER)
    users = [{"login": "nobody", "name": "Nobody"}]  # whom the emulator takes the bearer of an unknown token for
    users += [{"login": login, "name": login.title(), "email": f"{login}@example.com"} for login in people]
    tokens = {token_of(login): {"login": login, "scopes": ["repo", "workflow"]} for login in people}
    tokens[ADMINISTRATOR] = {"login": OWNER, "scopes": ["repo", "workflow", "admin:org"]}
    allowed = dict.fromkeys(PERMISSIONS, "write")
    return {
        "tokens": tokens,
        "github": {
            "users": users,
            "orgs": [{"login": ORGANISATION, "members": [{"login": OWNER, "role": "admin"}]}],
            "apps": [_app(login, allowed) for login in APPS],
        },
    }


def _app(login: str, permissions: dict[str, str]) -> dict[str, Any]:
    """An app that the organisation has installed for all its repositories."""
    app, installation = APPS[login]
    installed = {"installation_id": installation, "account": ORGANISATION, "repository_selection": "all"}
    return {
        "app_id": app,
        "slug": login.removesuffix("[bot]"),
        "name": app_name(login),
        "permissions": permissions,
        "events": [],
        "installations": [installed | {"permissions": permissions}],
    }
