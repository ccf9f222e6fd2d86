"""Declared knowledge: the platform's capability names as the kinds that taxonomy rules speak of."""

from __future__ import annotations

import re
from typing import Final

from bot.suggest import perhaps

KINDS: Final[dict[str, tuple[str, tuple[int, int]]]] = {
    "WebSearch": ("web-search", (1, 0)),
    "OneDriveAndSharePoint": ("files", (1, 0)),
    "GraphConnectors": ("connectors", (1, 0)),
    "CodeInterpreter": ("code-interpreter", (1, 2)),
    "GraphicArt": ("image-generation", (1, 2)),
    "People": ("people", (1, 3)),
    "Email": ("email", (1, 3)),
    "TeamsMessages": ("messages", (1, 3)),
    "Dataverse": ("dataverse", (1, 3)),
    "ScenarioModels": ("scenario-models", (1, 4)),
    "Meetings": ("meetings", (1, 5)),
    "EmbeddedKnowledge": ("embedded-files", (1, 6)),
    "EmailActions": ("email-actions", (1, 8)),
    "MeetingActions": ("meeting-actions", (1, 8)),
}
"""Capability name of a declarative agent → normalised kind, and the schema version that brought it."""

NORMAL_KINDS: Final[frozenset[str]] = frozenset(kind for kind, _ in KINDS.values())


def normal_kind(name: str) -> tuple[str, str]:
    """The kind of the capability ``name``, and a remark if the name is not a known one (else empty).

    An unknown name becomes its own kind, in lower case with hyphens.
    """
    if name in KINDS:
        return KINDS[name][0], ""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^\W_A-Z]+", name)
    kind = "-".join(word.lower() for word in words) or "unnamed"
    return kind, f"the capability {name!r} is not a known one and is read as {kind!r}{perhaps(name, KINDS)}"
