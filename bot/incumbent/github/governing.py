"""What changes who decides: the files that say whose word counts and what runs (pure).

The step that runs before anything is installed imports this, so that it needs the standard library alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from incumbent.files.git import ChangedFile

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


_KEY: Final = re.compile(r"([a-z_]+):")
_PLAIN: Final = re.compile(
    r"(?:- )?(?:[A-Za-z0-9_.-]+:)?(?: *(?:[A-Za-z0-9_.+-]+|\{[A-Za-z0-9_.:, -]*\}|\[[A-Za-z0-9_., -]*\]))?"
    r"(?: *#[^\x00-\x1f\x85\u2028\u2029]*)?"
)
"""A line of a YAML file, without spaces around it, that can neither open nor end what another line goes on with."""


def keeps_who_decides(before: str, after: str) -> bool:
    """Whether the config ``after`` certainly says the same of who decides as the reviewed one ``before``.

    The text is compared, not read: it is hostile.  The lines of each governing key must be the same, and where others
    differ, both sides must be of the plainest kind: a name, a value, nothing that spans lines.
    """
    old, new = _blocks(before), _blocks(after)
    if old is None or new is None:
        return False
    if any(old.get(key) != new.get(key) for key in GOVERNING_KEYS):
        return False
    differing = [key for key in {*old, *new} if old.get(key) != new.get(key)]
    lines = [line for key in differing for line in (*old.get(key, ()), *new.get(key, ()))]
    return all(_PLAIN.fullmatch(line.strip(" ")) for line in lines)


def _blocks(text: str) -> dict[str, list[str]] | None:
    """Key at the top → its lines; the lines before the first under the empty key.  ``None`` if a key comes twice."""
    found: dict[str, list[str]] = {"": []}
    key = ""
    for line in text.split("\n"):
        if line and not line[0].isspace() and (name := _KEY.match(line)) is not None:
            key = name[1]
            if key in found:
                return None
            found[key] = []
        found[key].append(line)
    return found


def is_ours(path: str) -> bool:
    """Whether a pull request that changes ``path`` concerns Incumbent, whatever else it changes."""
    is_workflow = path.startswith(_WORKFLOWS) and "incumbent" in path.casefold()
    return path.partition("/")[0] in PLACES or path in _CODE_OWNERS or is_workflow


def governing_changes(changes: Sequence[ChangedFile], *, config_keeps: bool = False) -> tuple[ChangedFile, ...]:
    """Those of ``changes``, by path, that change who decides; none if no change concerns Incumbent.

    ``changes`` are all of a pull request, as git or GitHub lists them;
    with ``config_keeps`` that of the config is none.
    """
    if not any(is_ours(path) for change in changes for path in _paths(change)):
        return ()
    found = [change for change in changes if any(effect_of(path) for path in _paths(change))]
    return tuple(change for change in found if not (config_keeps and _paths(change) == [CONFIG]))


def effects(change: ChangedFile) -> list[tuple[str, str]]:
    """The paths of ``change`` that change who decides, each with what that changes."""
    found = ((path, effect_of(path)) for path in _paths(change))
    return [(path, effect) for path, effect in found if effect is not None]


def _paths(change: ChangedFile) -> list[str]:
    return [change.path, *([] if change.before is None else [change.before])]
