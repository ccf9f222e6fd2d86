"""Plugin manifests (v2.1–2.4): the tools an agent can call, and how each runtime authenticates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Final

from bot.errors import Problem
from bot.files.documents import Data, Document, as_list, as_mapping
from bot.intake.agents.authentication import read_runtime_auth, required_mode, settle
from bot.intake.agents.binding import Binding, Runtime, bind
from bot.intake.agents.effects import effect_of_data_handling, note_doubt
from bot.intake.agents.inventory import Entry
from bot.intake.agents.mcp import discovers, read_tools
from bot.intake.agents.names import Decision, effect_of_name
from bot.intake.agents.openapi import OpenApi, read_openapi
from bot.intake.agents.package import Package
from bot.intake.agents.parameters import of_schema
from bot.intake.agents.security import required_modes
from bot.intake.agents.structure import check_keys, check_version
from bot.intake.place import Parsed, Place
from bot.intake.specification import UNLISTED, AuthDeclaration, AuthMode, Parameter, Protocol, Tool

_VERSIONS: Final = ("v2.1", "v2.2", "v2.3", "v2.4")
_PROTOCOLS: Final[dict[str, tuple[Protocol, str]]] = {
    "OpenApi": ("rest", "v2.1"),
    "LocalPlugin": ("local", "v2.2"),
    "RemoteMCPServer": ("mcp", "v2.4"),
}
_LISTS: Final = ("functions", "runtimes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """What one plugin file, of which ``root`` is the whole, declares.

    ``complete``: nothing that may declare tools was left out as unreadable.
    """

    root: Place
    auth: tuple[AuthDeclaration, ...]
    tools: tuple[Tool, ...]
    complete: bool = True


def read_plugins(package: Package, named: Place, references: Sequence[Place]) -> tuple[list[Plugin], bool]:
    """The plugins that ``references``, listed at ``named``, name in their ``file``; and whether all are read."""
    found: dict[str, Plugin] = {}
    known: dict[str, OpenApi] = {}
    complete = True
    runtimes = 0
    for reference in references:
        source = package.follow(reference["file"], what="the plugin", required=True)
        if source is None:
            complete = False
        elif source.path in found:
            package.note(reference, f"{reference.name}: this plugin is named twice", "name it once")
        elif not lists_tools(source.document.data):
            complete = False
            why = why_no_plugin(source.document)
            message = f"{reference.name}: {source.document.file} is no plugin and is not read: {why.message}"
            package.note(reference, message, why.fix)
            _note_no_lists(package, source.root)
        else:
            runtimes += len(source.root["runtimes"].items)
            if runtimes <= package.limits.tools:
                found[source.path] = read_plugin(package, source, known)
    plugins = list(found.values())
    tools = sum(len(plugin.tools) for plugin in plugins)
    if max(len(references), runtimes, tools) > package.limits.tools:
        package.faults.append(too_many(package, named))
    return plugins, complete and all(plugin.complete for plugin in plugins)


def too_many(package: Package, place: Place) -> Problem:
    """What is wrong with an agent that brings more of anything than ``limits.tools``."""
    return place.problem(
        f"the agent brings more actions, runtimes, tools or capabilities than the limit of {package.limits.tools}",
        "bring fewer, or raise limits.tools in config/curation.yaml",
    )


def is_plugin(data: Data) -> bool:
    """Whether a file is a plugin manifest: it lists functions or runtimes, and has another key that only these have."""
    root = as_mapping(data)
    listed = [key for key in _LISTS if isinstance(root.get(key), list)]
    return bool(listed) and (len(listed) == 2 or any(key in root for key in ("schema_version", "name_for_human")))


def lists_tools(data: Data) -> bool:
    """Whether a file that is named as a plugin can be read as one: it lists functions or runtimes."""
    return any(isinstance(as_mapping(data).get(key), list) for key in _LISTS)


def why_no_plugin(document: Document) -> Problem:
    """Why ``document``, which is meant as a plugin, is not read as one."""
    there = (key for key in _LISTS if as_mapping(document.data).get(key) is not None)
    return document.problem(
        tuple(islice(there, 1)),
        "it lists neither `functions` nor `runtimes`, as plugin manifests do since v2.1",
        "bring a plugin manifest of v2.1 or later, or the OpenAPI file that it names",
    )


def read_plugin(package: Package, source: Parsed, known: dict[str, OpenApi]) -> Plugin:
    """The plugin in ``source``; faults and remarks go to ``package``, OpenAPI files that were read to ``known``."""
    root = source.root
    limit = package.limits.tools
    check_version(package, root["schema_version"], _VERSIONS)
    check_keys(package, root, ("schema_version", "name_for_human", "namespace", "description_for_human"))
    named = [pattern for runtime in root["runtimes"].items for pattern in as_list(runtime["run_for_functions"].data)]
    if max(len(root["runtimes"].items), len(root["functions"].items), len(named)) > limit:
        return _refuse(package, root)
    _note_no_lists(package, root)
    runtimes = tuple(_read_runtime(package, place, known) for place in root["runtimes"].items if place.is_mapping)
    functions = _functions(package, root)
    unread = _unread_runtimes(package, root)
    # Where functions are listed, these are all the tools there are.
    callable_names = chain(bind(package, root, functions, runtimes), () if functions else unread)
    bindings = list(islice(callable_names, limit + 1))
    if len(bindings) > limit:
        return _refuse(package, root)
    auth: list[AuthDeclaration] = []
    modes: dict[str, AuthMode | None] = {}
    for runtime in runtimes:
        bound = [binding for binding in bindings if binding.runtime is runtime]
        modes[runtime.place.name], declared = _settle(package, runtime, bound)
        auth += declared
    tools = tuple(_tool(package, binding, modes) for binding in bindings)
    return Plugin(root=root, auth=tuple(auth), tools=tools, complete=_is_complete(root))


def _note_no_lists(package: Package, root: Place) -> None:
    """Remark ``functions`` and ``runtimes`` that are there and no lists."""
    for key in _LISTS:
        if not root[key].absent and not root[key].is_list:
            package.note(root[key], f"{key}: not a list, and not read", "write a list of objects")


def _unread_runtimes(package: Package, root: Place) -> list[Binding]:
    """For each runtime that is no object a stand-in for its tools, which are not known: that is not nothing."""
    found = []
    for place in root["runtimes"].items:
        if not place.is_mapping:
            package.note(
                place, f"{place.name}: must be an object, and is not read", "write an object with `type` and `spec`"
            )
            entry = Entry(UNLISTED, "", Decision("unknown", f"{place.name} is not read"), None, place)
            found.append(Binding(name=UNLISTED, function=None, entry=entry, runtime=None))
    return found


def _is_complete(root: Place) -> bool:
    """Whether nothing that names tools is of a wrong type: the lists, the functions, what the runtimes run."""
    patterns = [place["run_for_functions"] for place in root["runtimes"].items]
    return (
        all(root[key].absent or root[key].is_list for key in _LISTS)
        and all(place["name"].text for place in root["functions"].items)
        and all(item.text for place in patterns for item in place.items)
    )


def _refuse(package: Package, root: Place) -> Plugin:
    place = root["functions"] if root.has("functions") else root
    package.faults.append(
        place.problem(
            f"the plugin brings more tools or runtimes than the limit of {package.limits.tools}",
            "bring fewer, or raise limits.tools in config/curation.yaml",
        )
    )
    return Plugin(root=root, auth=(), tools=())


def _read_runtime(package: Package, place: Place, known: dict[str, OpenApi]) -> Runtime:
    kind = place["type"]
    version = place.source.root["schema_version"].text
    protocol, since = _PROTOCOLS.get(kind.text, ("function", ""))
    check_keys(package, place, ("type", "spec"))
    if not since:
        package.note(
            kind,
            f"{kind.name}: the runtime type {kind.text!r} is not a known one; what it offers is not read",
            f"use one of: {', '.join(_PROTOCOLS)}",
        )
    elif version in _VERSIONS and version < since:
        package.note(
            kind,
            f"{kind.name}: {kind.text} came with schema_version {since}, this plugin says {version}; read all the same",
            f"set schema_version to {since} or later",
        )
    openapi = read_openapi(package, place["spec"], known) if protocol == "rest" else None
    return Runtime(
        place=place,
        protocol=protocol,
        patterns=_patterns(package, place["run_for_functions"]),
        inventory=openapi.operations if openapi else read_tools(package, place) if protocol == "mcp" else None,
        unused=openapi.unused if openapi else (),
        discovers=protocol == "mcp" and discovers(place),
        auth=read_runtime_auth(package, place),
    )


def _patterns(package: Package, place: Place) -> tuple[Place, ...] | None:
    """The names and patterns in ``run_for_functions``; ``None`` where it is absent, or no text and no list."""
    if place.absent:
        return None
    fix = "write a list of names of functions"
    if place.text:
        package.note(place, f"{place.name}: not a list; it is read as a list of this one name", fix)
        return (place,)
    if not place.is_list:
        package.note(place, f"{place.name}: not a list; it is read as if it were absent", fix)
        return None
    for item in place.items:
        if not item.text:
            package.note(item, f"{item.name}: not the name of a function, and not read", fix)
    return tuple(item for item in place.items if item.text)


def _functions(package: Package, root: Place) -> dict[str, Place]:
    found: dict[str, Place] = {}
    for place in root["functions"].items:
        name = place["name"].text
        if not name:
            package.note(place, f"{place.name}: the function has no name and is not read", "give the function a name")
        elif name in found:
            package.note(
                place,
                f"{place.name}: the function {name!r} is listed twice; the first one counts",
                "remove one of the two",
            )
        else:
            found[name] = place
    return found


def _settle(package: Package, runtime: Runtime, bound: list[Binding]) -> tuple[AuthMode | None, list[AuthDeclaration]]:
    """The mode the plugin declares for a runtime, and all declarations: its own, or what its OpenAPI file requires."""
    required = [
        (binding.name, binding.entry.security)
        for binding in bound
        if binding.entry is not None and binding.entry.security is not None
    ]
    mode = settle(package, runtime.auth, required, runtime.unused)
    if mode is not None:
        return mode, [AuthDeclaration(mode=mode, declared_in=str(runtime.auth.place))]
    found = required_modes((alternatives, runtime.place["spec"]) for _, alternatives in required)
    if found:
        said = f"its OpenAPI file says {', '.join(repr(each) for each in found)}, and that holds"
    elif runtime.unused:
        scheme = runtime.unused[0]
        said = f"{scheme.place} defines {scheme.mode!r}, which no operation requires; the auth mode is not declared"
    else:
        said = "the auth mode is not declared"
    if runtime.protocol == "local" and not found:
        # What runs inside the app is called without a request that could authenticate.
        return None, []
    package.note(
        runtime.place,
        f"{runtime.place.name}: the plugin declares no auth; {said}",
        "add `auth` with type None, OAuthPluginVault or ApiKeyPluginVault",
    )
    return None, list(found.values())


def _tool(package: Package, binding: Binding, modes: dict[str, AuthMode | None]) -> Tool:
    function, entry, runtime = binding.function, binding.entry, binding.runtime
    effect = entry.effect if entry is not None else _effect_without_entry(binding)
    confirmation, card, description = None, False, ""
    if function is not None:
        capabilities = function["capabilities"]
        description = function["description"].text
        if entry is not None and entry.described is not None:
            effect = entry.described(description)
        effect = effect_of_data_handling(capabilities["security_info"]["data_handling"].data) or effect
        confirmation = _confirmation(capabilities["confirmation"])
        card = _card(package, capabilities["response_semantics"])
    if entry is not None:
        note_doubt(package, entry.place, binding.name, effect)
    auth = None if runtime is None else modes[runtime.place.name]
    if auth is None and entry is not None and entry.security is not None:
        auth = required_mode(entry.security)
    declared_in = next((place for place in (function, entry and entry.place, runtime and runtime.place) if place), None)
    return Tool(
        name=binding.name,
        description=description or (entry.description if entry is not None else ""),
        protocol="function" if runtime is None else runtime.protocol,
        effect=effect.effect,
        effect_from=effect.reason,
        confirmation=confirmation,
        card=card,
        auth=auth,
        declared_in=str(declared_in),
        parameters=_parameters(package, function, entry),
    )


def _parameters(package: Package, function: Place | None, entry: Entry | None) -> tuple[Parameter, ...]:
    """What the function says that it takes; where it says nothing, what its operation takes."""
    own = () if function is None else of_schema(package, function, function["parameters"])
    return own or (() if entry is None else entry.parameters())


def _effect_without_entry(binding: Binding) -> Decision:
    """Only the name is left to tell the effect of a function whose operation is not known."""
    told = effect_of_name(binding.name)
    if binding.runtime is not None and binding.runtime.protocol == "rest":
        return Decision(told.effect, f"{told.reason}; its operation is not read")
    return told


def _confirmation(place: Place) -> bool | None:
    """Whether the user is asked first; ``None`` where nothing is declared and the host decides for itself."""
    return place["type"].text != "None" if place.is_mapping else None


def _card(package: Package, semantics: Place) -> bool:
    """Whether answers are declared to be shown as a card: by a template here, in a file, or in the answer."""
    template = semantics["static_template"]
    if template.has("file"):
        package.expect(template["file"], what="the card template")
        return True
    return bool(template.data) or bool(semantics["properties"]["template_selector"].text)
