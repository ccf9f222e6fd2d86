"""Plugins without a declarative agent: named by a ``manifest.json`` under ``plugins``, or a single file.

The plugin's tools are the agent's tools.  Additions of the host, such as knowledge, are not declared.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterator
from typing import Final

from incumbent.errors import InputError, Problem
from incumbent.files.documents import Data, Document, Node, Parsed, as_list, as_mapping, parse_json
from incumbent.files.snapshot import Snapshot
from incumbent.intake.agents.declarative_agent import LocalisedTexts, names_agents, starter_at
from incumbent.intake.agents.package import AgentPackage, base_name, by_precedence, first_fitting
from incumbent.intake.agents.plugin import Plugin, is_plugin, read_plugin, read_plugins, why_no_plugin
from incumbent.intake.agents.reader import AgentReader
from incumbent.intake.specification import Specification
from incumbent.taxonomy.config import Limits

PLATFORM: Final = "api-plugin"
_OUTER_KEYS: Final = ("copilotAgents", "copilotExtensions")
_USUAL_NAME: Final = re.compile(r"ai-?plugin.*\.json")
_MARK: Final = re.compile(rb"\"(?:plugins|functions|runtimes)\"")


class PluginAgentReader:
    """Reads plugins that do not belong to a declarative agent."""

    name = PLATFORM
    looked_for = "a plugin manifest (ai-plugin.json), or a manifest.json with copilotAgents.plugins"
    nests = False
    is_fallback = True

    def fits(self, document: Document) -> bool:
        """Whether this is a plugin, or a manifest that names plugins and no agent."""
        return _names_plugins(document.data) or is_plugin(document.data)

    def recognise(self, snapshot: Snapshot, limits: Limits) -> tuple[str, ...]:
        """Manifests that name plugins; else plugins; else broken files with a usual name of plugins."""

        def is_manifest(path: str) -> bool:
            return _fits(snapshot, path, limits, _names_plugins)

        plugins = (snapshot.paths(), lambda path: _fits(snapshot, path, limits, is_plugin))
        manifests = ((paths, is_manifest) for paths in by_precedence(snapshot.paths()))
        return first_fitting((*manifests, plugins)) or tuple(_broken(snapshot, limits))

    def parts(self, snapshot: Snapshot, path: str, limits: Limits) -> tuple[str, ...]:
        """Empty: a plugin and its manifest are never both recognised."""
        return ()

    def read(self, snapshot: Snapshot, path: str, limits: Limits) -> Specification:
        """The plugins of the manifest at ``path``, or the plugin itself."""
        document = parse_json(snapshot.read(path, limits.reading), snapshot.name(path), limits.reading)
        first = Parsed(path, document)
        if is_plugin(document.data):
            # It may name any file of the folder, like any file that describes a part of an agent.
            package = AgentPackage(snapshot, "", limits)
            plugin = read_plugin(package, first, {})
            plugins, complete = [plugin], plugin.complete
        else:
            package = AgentPackage(snapshot, posixpath.dirname(path), limits)
            named = [place for key in _OUTER_KEYS for place in first.root[key]["plugins"].items]
            plugins, complete = read_plugins(package, first.root, named)
        package.check()
        return _specification(package, first, plugins, complete=complete)


def unread_plugins(snapshot: Snapshot, taken: Collection[str], limits: Limits) -> Iterator[tuple[str, Problem | None]]:
    """The plugins of ``snapshot`` that are not ``taken``, and files that only have the name of a plugin.

    The latter come with the reason why they are not read.
    """
    plugins = [path for path in snapshot.paths() if _fits(snapshot, path, limits, is_plugin)]
    yield from ((path, None) for path in plugins if path not in taken)
    for path in snapshot.paths():
        if _USUAL_NAME.fullmatch(base_name(path)) and path not in plugins and path not in taken:
            document = _parsed(snapshot, path, limits)
            yield path, None if document is None else why_no_plugin(document)


def _names_plugins(data: Data) -> bool:
    """Whether this is a manifest that names plugins and no declarative agent."""
    root = as_mapping(data)
    return any(as_list(as_mapping(root.get(key)).get("plugins")) for key in _OUTER_KEYS) and not names_agents(data)


def _fits(snapshot: Snapshot, path: str, limits: Limits, fits: Callable[[Data], bool]) -> bool:
    """Whether there is a JSON file at ``path`` whose content ``fits``."""
    document = _parsed(snapshot, path, limits)
    return document is not None and fits(document.data)


def _parsed(snapshot: Snapshot, path: str, limits: Limits) -> Document | None:
    """The JSON file at ``path``; ``None`` if it cannot be read, or has no mark of a plugin."""
    if not path.casefold().endswith(".json"):
        return None
    try:
        content = snapshot.read(path, limits.reading)
        if _MARK.search(content) or _USUAL_NAME.fullmatch(base_name(path)):
            return parse_json(content, path, limits.reading)
    except InputError:
        pass
    return None


def _broken(snapshot: Snapshot, limits: Limits) -> Iterator[str]:
    """Broken files with a usual name of plugins, so that their faults are reported."""
    for path in snapshot.paths():
        if _USUAL_NAME.fullmatch(base_name(path)) and _parsed(snapshot, path, limits) is None:
            yield path


def _specification(package: AgentPackage, first: Parsed, plugins: list[Plugin], *, complete: bool) -> Specification:
    texts = LocalisedTexts(package, first.root)
    tools = tuple(tool for plugin in plugins for tool in plugin.tools)
    auth = tuple(declaration for plugin in plugins for declaration in plugin.auth)
    starters = [
        text
        for plugin in plugins
        for place in plugin.root["capabilities"]["conversation_starters"].items
        if (text := starter_at(texts, place))
    ]
    app = first.root if not is_plugin(first.document.data) else Node(first, (), None)
    return Specification(
        platform=PLATFORM,
        name=_first(texts, [app["name"]["short"], *_all(plugins, "name_for_human")]),
        description=_first(texts, [*_all(plugins, "description_for_human"), app["description"]["short"]]),
        instructions="\n\n".join(
            text for place in _all(plugins, "description_for_model") if (text := texts.text(place))
        ),
        auth=auth or None,
        tools=tools if tools or complete else None,
        knowledge=None,
        starters=tuple(dict.fromkeys(starters)),
        notes=tuple(dict.fromkeys(package.notes)),
    )


def _all(plugins: list[Plugin], key: str) -> list[Node]:
    return [plugin.root[key] for plugin in plugins]


def _first(texts: LocalisedTexts, places: list[Node]) -> str:
    """The first text among ``places``."""
    return next((text for place in places if (text := texts.text(place))), "")


READER: Final[AgentReader] = PluginAgentReader()
