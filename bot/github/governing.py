"""What changes who decides: the files that say whose word counts and what runs (pure).

The step that runs before anything is installed imports this, so that it needs the standard library alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from bot.git import ChangedFile

WHO_DECIDES: Final = "who_decides"
"""The name of such changes in commands: `/incumbent accept who_decides`."""
PLACES: Final = ("config", "eval_sets", "regression_set", "taxonomy")
"""The folders of a platform repository."""
CONFIG: Final = "config/curation.yaml"
GOVERNING_KEYS: Final = (
    "curators",
    "trusted_authors",
    "mode",
    "block_on_review",
    "hold_first_time_contributors",
)
"""The keys of the config that say whose word counts, and what fails a check."""
_WORKFLOWS: Final = ".github/workflows/"
_CODE_OWNERS: Final = frozenset({".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"})


def effect_of(path: str) -> str | None:
    """What a change of the file at ``path`` changes about who decides, in words; ``None`` if nothing."""
    if path.startswith(_WORKFLOWS):
        return "what jobs run, and with which rights"
    if path in _CODE_OWNERS:
        return "whose review GitHub asks for"
    if path.startswith(".github/actions/") or path in ("action.yml", "action.yaml"):
        return "what the steps of jobs do"
    if path == CONFIG:
        return f"its keys {', '.join(GOVERNING_KEYS)} may be among the changes"
    return None


def is_ours(path: str) -> bool:
    """Whether a pull request that changes ``path`` concerns Incumbent, whatever else it changes."""
    is_workflow = path.startswith(_WORKFLOWS) and "incumbent" in path.casefold()
    return path.partition("/")[0] in PLACES or path in _CODE_OWNERS or is_workflow


def governing_changes(changes: Sequence[ChangedFile]) -> tuple[ChangedFile, ...]:
    """Those of ``changes``, by path, that change who decides; none if no change concerns Incumbent.

    ``changes`` are all of a pull request, as git or GitHub lists them.
    """
    if not any(is_ours(path) for change in changes for path in _paths(change)):
        return ()
    return tuple(change for change in changes if any(effect_of(path) for path in _paths(change)))


def effects(change: ChangedFile) -> list[tuple[str, str]]:
    """The paths of ``change`` that change who decides, each with what that changes."""
    found = ((path, effect_of(path)) for path in _paths(change))
    return [(path, effect) for path, effect in found if effect is not None]


def _paths(change: ChangedFile) -> list[str]:
    return [change.path, *([] if change.before is None else [change.before])]
