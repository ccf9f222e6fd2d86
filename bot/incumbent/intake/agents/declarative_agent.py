"""Declarative agents (v1.0–1.8): ``manifest.json``, the agent's file and its plugins.

``manifest.json`` → ``copilotAgents.declarativeAgents`` (older: ``copilotExtensions.declarativeCopilots``) → the agent →
``actions`` → plugins → OpenAPI files.  An agent's file without a manifest is read as well.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from incumbent.errors import InputError, Problem
from incumbent.files.documents import Data, Document, Node, Parsed, as_list, as_mapping, parse_json
from incumbent.files.snapshot import Snapshot
from incumbent.intake.agents.package import (
    MANIFEST,
    AgentPackage,
    base_name,
    by_precedence,
    check_keys,
    check_version,
    first_fitting,
)
from incumbent.intake.agents.plugin import Plugin, read_plugins, too_many
from incumbent.intake.agents.reader import AgentReader
from incumbent.intake.specification import Knowledge, Specification
from incumbent.taxonomy.config import Limits
from incumbent.text.did_you_mean import did_you_mean

PLATFORM: Final = "declarative-agent"
_VERSIONS: Final = tuple(f"v1.{minor}" for minor in range(9))
_AGENT_KEYS: Final = tuple(
    (outer, inner)
    for outer in ("copilotAgents", "copilotExtensions")
    for inner in ("declarativeAgents", "declarativeCopilots")
)
_USUAL_NAME: Final = re.compile(r"manifest\.json|declarativeagent.*\.json")
_TOKEN: Final = re.compile(r"\[\[\s*([A-Za-z_][A-Za-z0-9_]*)\s*\]\]")


class DeclarativeAgentReader:
    """Reads the app package of a declarative agent."""

    name = PLATFORM
    looked_for = "a manifest.json with copilotAgents.declarativeAgents, or a declarative agent's own JSON file"
    nests = False
    is_fallback = False

    def fits(self, document: Document) -> bool:
        """Whether this is a manifest that names an agent, or an agent's own file."""
        return names_agents(document.data) or _is_agent(document.data)

    def recognise(self, snapshot: Snapshot, limits: Limits) -> tuple[str, ...]:
        """Manifests that name an agent; else agents' own files; else broken files with such a name."""
        broken: set[str] = set()

        def data(path: str) -> Data:
            try:
                return parse_json(snapshot.read(path, limits.reading), path, limits.reading).data
            except InputError:
                broken.add(path)
                return None

        def is_manifest(path: str) -> bool:
            return names_agents(data(path))

        named, similar, others = by_precedence(snapshot.paths())
        agents = ([*named, *similar, *others], lambda path: _is_agent(data(path)))
        found = first_fitting(((named, is_manifest), (similar, is_manifest), agents))
        return found or tuple(sorted(path for path in broken if _USUAL_NAME.fullmatch(base_name(path))))

    def parts(self, snapshot: Snapshot, path: str, limits: Limits) -> tuple[str, ...]:
        """Empty: an agent's file and its manifest are never both recognised."""
        return ()

    def read(self, snapshot: Snapshot, path: str, limits: Limits) -> Specification:
        """The agent of the manifest or agent file at ``path``."""
        package = AgentPackage(snapshot, posixpath.dirname(path), limits)
        first = package.open(path)
        if _agent_places(first.root):
            return _read_agent(package, first, _agent_of(package, first))
        package.notes.extend(_broken_manifests(snapshot, limits))
        return _read_agent(package, first, first)


def names_agents(data: object) -> bool:
    """Whether this is a manifest that names a declarative agent."""
    return any(as_list(as_mapping(as_mapping(data).get(outer)).get(inner)) for outer, inner in _AGENT_KEYS)


def _is_agent(data: object) -> bool:
    root = as_mapping(data)
    schema = str(root.get("$schema", ""))
    if "declarative-agent" in schema or "declarative-copilot" in schema:
        return True
    return "instructions" in root and "name" in root and str(root.get("version", "")).startswith("v1")


def _broken_manifests(snapshot: Snapshot, limits: Limits) -> Iterator[Problem]:
    """Problems of broken manifests, for an agent's own file that is read without one."""
    for path in snapshot.paths():
        if base_name(path) == MANIFEST:
            try:
                parse_json(snapshot.read(path, limits.reading), snapshot.name(path), limits.reading)
            except InputError as error:
                for problem in error.problems:
                    message = f"{problem.message}; the agent's own file is read without the manifest"
                    yield replace(problem, message=message)


def _agent_places(root: Node) -> tuple[Node, ...]:
    return tuple(place for outer, inner in _AGENT_KEYS for place in root[outer][inner].items)


def _agent_of(package: AgentPackage, manifest: Parsed) -> Parsed:
    """The agent of a manifest; raises :class:`InputError` for several, or if it cannot be read."""
    places = _agent_places(manifest.root)
    if len(places) > 1:
        names = ", ".join(place["file"].text or place["id"].text or place.name for place in places)
        raise InputError(
            [places[1].problem(f"the manifest names several agents: {names}", "keep one agent per eval set folder")]
        )
    agent = package.follow(places[0]["file"], what="the agent", required=True)
    package.check()
    if agent is None or not agent.root.is_mapping:
        note = package.notes[-1] if package.notes else None
        message = note.message if note is not None else f"{places[0].name}: the agent's file is not a JSON object"
        raise InputError([places[0]["file"].problem(message, "name the agent's JSON file, relative to the manifest")])
    return agent


def _read_agent(package: AgentPackage, first: Parsed, agent: Parsed) -> Specification:
    root = agent.root
    check_version(package, root["version"], _VERSIONS)
    check_keys(package, root, ("version", "name", "description"))
    strings = LocalisedTexts(package, first.root)
    plugins, complete = _plugins(package, root)
    tools = tuple(tool for plugin in plugins for tool in plugin.tools)
    auth = tuple(declaration for plugin in plugins for declaration in plugin.auth)
    knowledge = _knowledge(package, root)
    package.check()
    for place in (*root["worker_agents"].items, *first.root["agentConnectors"].items):
        package.note(place, f"{place.name}: not part of this agent's own declaration, and not read", "nothing to do")
    return Specification(
        platform=PLATFORM,
        name=strings.text(root["name"]) or first.root["name"]["short"].text,
        description=strings.text(root["description"]),
        instructions=package.include(root["instructions"], what="the text"),
        auth=auth or None,
        tools=tools if tools or complete else None,
        knowledge=knowledge,
        starters=tuple(text for place in root["conversation_starters"].items if (text := starter_at(strings, place))),
        notes=tuple(dict.fromkeys(package.notes)),
    )


def _plugins(package: AgentPackage, root: Node) -> tuple[list[Plugin], bool]:
    """The plugins of the agent's actions, and whether all were read."""
    actions = root["actions"]
    if not actions.absent and not actions.is_list:
        package.note(actions, "actions: not a list, and not read", "write a list of objects with `id` and `file`")
        return [], False
    return read_plugins(package, actions, actions.items)


def _knowledge(package: AgentPackage, root: Node) -> tuple[Knowledge, ...] | None:
    """The declared capabilities; an agent's file is complete, so an absent list means none."""
    capabilities = root["capabilities"]
    if not capabilities.absent and not capabilities.is_list:
        package.note(capabilities, "capabilities: not a list, and not read", "write a list of objects with `name`")
        return None
    if len(capabilities.items) > package.limits.tools:
        package.faults.append(too_many(package, capabilities))
        return None
    version = root["version"].text
    found = []
    for place in capabilities.items:
        named = place if place.text else place["name"]
        if not named.text:
            package.note(place, f"{place.name}: the capability has no name and is not read", "give it a name")
            continue
        kind, remark = normal_kind(named.text)
        if remark:
            package.note(named, f"{named.name}: {remark}", f"use one of: {', '.join(KINDS)}")
        elif version in _VERSIONS and version < (since := KINDS[named.text][1]):
            package.note(
                named,
                f"{named.name}: {named.text} came with version {since}, this agent says {version}; read all the same",
                f"set version to {since} or later",
            )
        found.append(Knowledge(kind=kind, declared_in=str(place)))
    return tuple(found)


def starter_at(strings: LocalisedTexts, place: Node) -> str:
    """The conversation starter at ``place``; empty, with a note, if it has no text."""
    text = strings.text(place if place.text else place["text"])
    if not text:
        strings.package.note(place, f"{place.name}: the conversation starter has no text", "give it a `text`")
    return text


class LocalisedTexts:
    """Visible texts of an agent or plugin: includes ``$[file('…')]``, puts ``[[keys]]`` in the default language.

    Placeholders such as ``${{APP_NAME_SUFFIX}}`` stay: their values are not part of the package.
    """

    def __init__(self, package: AgentPackage, manifest: Node) -> None:
        self.package = package
        self.manifest = manifest
        self._words: dict[str, str] | None = None

    def text(self, place: Node) -> str:
        """The visible text at ``place``."""
        return _TOKEN.sub(lambda match: self._word(match, place), self.package.include(place, what="the text"))

    def _word(self, match: re.Match[str], place: Node) -> str:
        if self._words is None:
            self._words = self._default_language()
        word = self._words.get(match.group(1))
        if word is None:
            self.package.note(
                place,
                f"{place.name}: the localisation key {match.group()} has no text in the default language",
                "add it to localizationKeys of the default language file",
            )
            return match.group()
        return word

    def _default_language(self) -> dict[str, str]:
        info = self.manifest["localizationInfo"]
        tag = info["defaultLanguageTag"].text
        files = [info["defaultLanguageFile"]]
        files += [item["file"] for item in info["additionalLanguages"].items if item["languageTag"].text == tag]
        words = {key: place.text for key, place in self.manifest["localizationKeys"].entries if place.text}
        for named in files:
            source = self.package.follow(named, what="the language file") if named.text else None
            if source is not None:
                return words | {key: place.text for key, place in source.root["localizationKeys"].entries if place.text}
        return words


READER: Final[AgentReader] = DeclarativeAgentReader()


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
