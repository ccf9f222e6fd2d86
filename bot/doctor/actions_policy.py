"""Which actions a repository's policy lets run (pure)."""

from __future__ import annotations

import re

from bot.doctor.settings import ActionsPolicy


def permitted(action: str, policy: ActionsPolicy, owner: str) -> bool | None:
    """Whether the policy of a repository of ``owner`` lets ``action`` run.

    None where that hangs on whether GitHub has verified the action's owner, which cannot be asked.
    """
    if policy.allowed == "all" or action.startswith(("./", "docker://")):
        return True
    its_owner = action.partition("/")[0].casefold()
    if its_owner == owner.casefold():
        return True
    if policy.allowed == "local_only":
        return False
    if any(item.startswith("!") and _matches(action, item[1:]) for item in policy.patterns):
        return False
    if policy.github_owned and its_owner in ("actions", "github"):
        return True
    if any(_matches(action, item) for item in policy.patterns):
        return True
    return None if policy.verified else False


def _matches(action: str, pattern: str) -> bool:
    """Whether ``pattern`` of the list of allowed actions holds: only ``*`` is special; no version means any."""
    name, _, version = action.partition("@")
    wanted, _, wanted_version = pattern.strip().partition("@")
    fits = _fits(name, wanted) or _fits("/".join(name.split("/")[:2]), wanted)
    return fits and (not wanted_version or not version or _fits(version, wanted_version))


def _fits(text: str, pattern: str) -> bool:
    expression = ".*".join(re.escape(piece) for piece in pattern.split("*"))
    return re.fullmatch(expression, text, re.IGNORECASE) is not None
