"""Maps the platform's names of capabilities to the kinds of knowledge used in taxonomy rules."""

from __future__ import annotations

import re
from typing import Final

from bot.text.did_you_mean import did_you_mean

KINDS: Final[dict[str, tuple[str, str]]] = {
    "WebSearch": ("web-search", "v1.0"),
    "OneDriveAndSharePoint": ("files", "v1.0"),
    "GraphConnectors": ("connectors", "v1.0"),
    "CodeInterpreter": ("code-interpreter", "v1.2"),
    "GraphicArt": ("image-generation", "v1.2"),
    "People": ("people", "v1.3"),
    "Email": ("email", "v1.3"),
    "TeamsMessages": ("messages", "v1.3"),
    "Dataverse": ("dataverse", "v1.3"),
    "ScenarioModels": ("scenario-models", "v1.4"),
    "Meetings": ("meetings", "v1.5"),
    "EmbeddedKnowledge": ("embedded-files", "v1.6"),
    "EmailActions": ("email-actions", "v1.8"),
    "MeetingActions": ("meeting-actions", "v1.8"),
}
"""Capability name of a declarative agent → normalised kind, and the schema version that introduced it."""

NORMAL_KINDS: Final[frozenset[str]] = frozenset(kind for kind, _ in KINDS.values())


def normal_kind(name: str) -> tuple[str, str]:
    """The kind of the capability ``name``, and a note if the name is unknown (else empty).

    An unknown name becomes its own kind, in lower case with hyphens.
    """
    if name in KINDS:
        return KINDS[name][0], ""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^\W_A-Z]+", name)
    kind = "-".join(word.lower() for word in words) or "unnamed"
    return kind, f"the capability {name!r} is not a known one and is read as {kind!r}{did_you_mean(name, KINDS)}"
