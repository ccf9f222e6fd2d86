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
APP = 15368
INSTALLATION = 100
PERMISSIONS = ("actions", "administration", "checks", "contents", "issues", "models", "pull_requests", "statuses")
"""What a job may be given, by the names of the API."""

LEVELS = {CUSTOMER: "push", CURATOR: "push"}
"""Who is a collaborator; the owner administers, everyone else may read what is public."""


def token_of(login: str) -> str:
    """A person's token."""
    return f"token-of-{login}"


def seed() -> dict[str, Any]:
    """What the emulator starts with: people and an organisation that owns what the tests make."""
    people = (OWNER, CUSTOMER, CURATOR, STRANGER, OUTSIDER)
    users = [{"login": "nobody", "name": "Nobody"}]  # whom the emulator takes the bearer of an unknown token for
    users += [{"login": login, "name": login.title(), "email": f"{login}@example.com"} for login in people]
    tokens = {token_of(login): {"login": login, "scopes": ["repo", "workflow"]} for login in people}
    tokens[ADMINISTRATOR] = {"login": OWNER, "scopes": ["repo", "workflow", "admin:org"]}
    allowed = dict.fromkeys(PERMISSIONS, "write")
    installation = {"installation_id": INSTALLATION, "account": ORGANISATION, "permissions": allowed}
    app = {"app_id": APP, "slug": "github-actions", "name": "GitHub Actions", "permissions": allowed, "events": []}
    return {
        "tokens": tokens,
        "github": {
            "users": users,
            "orgs": [{"login": ORGANISATION, "members": [{"login": OWNER, "role": "admin"}]}],
            "apps": [app | {"installations": [installation | {"repository_selection": "all"}]}],
        },
    }
