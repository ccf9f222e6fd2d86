"""Plugin manifests (v2.1–2.4): which functions an agent can call, over which runtime, and how they are bound.

``docs/specification.md`` has the binding rules: where ``functions`` is given, it is the inventory; where it is absent
or empty, what the runtimes offer is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from bot.errors import Problem
from bot.intake.agents.authentication import RuntimeAuth, Scheme, read_runtime_auth, required_mode, settle
from bot.intake.agents.effects import UNTOLD, Decision, effect_of_data_handling, effect_of_name
from bot.intake.agents.inventory import Entry, Inventory
from bot.intake.agents.mcp import discovers, read_tools
from bot.intake.agents.openapi import read_openapi
from bot.intake.agents.package import Package
from bot.intake.agents.place import Place, Source
from bot.intake.agents.structure import check_keys, check_version
from bot.intake.specification import AuthDeclaration, AuthMode, Protocol, Tool

UNLISTED: Final = "*"
"""The name of the tool that stands for those a runtime offers but no file of the package lists."""

_VERSIONS: Final = frozenset({"v2.1", "v2.2", "v2.3", "v2.4"})
_PROTOCOLS: Final[dict[str, tuple[Protocol, str]]] = {
    "OpenApi": ("rest", "v2.1"),
    "LocalPlugin": ("local", "v2.2"),
    "RemoteMCPServer": ("mcp", "v2.4"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """What one plugin file declares."""

    auth: tuple[AuthDeclaration, ...]
    tools: tuple[Tool, ...]


@dataclass(frozen=True, kw_only=True)
class _Runtime:
    """A runtime: ``patterns`` as ``run_for_functions`` has them (``None``: absent), ``inventory`` if it was read."""

    place: Place
    protocol: Protocol
    patterns: tuple[Place, ...] | None
    inventory: Inventory | None
    unused: tuple[Scheme, ...]
    discovers: bool
    auth: RuntimeAuth

    def names(self, name: str) -> bool:
        """Whether ``run_for_functions`` has exactly this name."""
        return any(pattern.text == name for pattern in self.patterns or ())

    def covers(self, name: str) -> bool:
        """Whether ``run_for_functions`` has a wildcard for this name, or is absent and so has all."""
        return self.patterns is None or any(
            "*" in pattern.text and _matches(pattern.text, name) for pattern in self.patterns
        )

    def offers(self, name: str) -> bool:
        """Whether the runtime is known to have something of this name."""
        return self.inventory is not None and name in self.inventory


@dataclass(frozen=True, kw_only=True)
class _Binding:
    """A name that can be called, with what declares it; ``runtime`` is ``None`` if no runtime runs it."""

    name: str
    function: Place | None
    entry: Entry | None
    runtime: _Runtime | None


def read_plugin(package: Package, source: Source) -> Plugin:
    """The plugin in ``source``; faults and remarks go to ``package``."""
    root = source.root
    check_version(package, root["schema_version"], _VERSIONS)
    check_keys(package, root, ("schema_version", "name_for_human", "namespace", "description_for_human"))
    runtimes = tuple(_read_runtime(package, place) for place in root["runtimes"].items if place.is_mapping)
    functions = _functions(package, root)
    bindings = [*_bind_functions(package, functions, runtimes), *_bind_rest(package, root, functions, runtimes)]
    if len(bindings) > package.limits.tools:
        package.faults.append(_too_many(package, root))
        return Plugin(auth=(), tools=())
    auth: list[AuthDeclaration] = []
    modes: dict[str, AuthMode | None] = {}
    for runtime in runtimes:
        bound = [binding for binding in bindings if binding.runtime is runtime]
        declared = _settle(package, runtime, bound)
        modes[runtime.place.name] = declared[0].mode if len({item.mode for item in declared}) == 1 else None
        auth += declared
    return Plugin(auth=tuple(auth), tools=tuple(_tool(package, binding, modes) for binding in bindings))


def _too_many(package: Package, root: Place) -> Problem:
    return root["functions"].problem(
        f"the plugin brings more tools than the limit of {package.limits.tools}",
        "bring fewer tools, or raise limits.tools in config/curation.yaml",
    )


def _read_runtime(package: Package, place: Place) -> _Runtime:
    kind = place["type"].text
    version = place.source.root["schema_version"].text
    protocol, since = _PROTOCOLS.get(kind, ("function", ""))
    if not since:
        package.note(
            place["type"],
            f"{place['type'].name}: the runtime type {kind!r} is not a known one; what it offers is not read",
            f"use one of: {', '.join(_PROTOCOLS)}",
        )
    elif version in _VERSIONS and version < since:
        package.note(
            place["type"],
            f"{place['type'].name}: {kind} came with schema_version {since}, and the plugin says {version}; read all the same",
            f"set schema_version to {since} or later",
        )
    check_keys(package, place, ("type", "spec"))
    openapi = read_openapi(package, place["spec"]) if protocol == "rest" else None
    patterns = place["run_for_functions"]
    return _Runtime(
        place=place,
        protocol=protocol,
        patterns=tuple(item for item in patterns.items if item.text) if patterns.is_list else None,
        inventory=openapi.operations if openapi else read_tools(package, place) if protocol == "mcp" else None,
        unused=openapi.unused if openapi else (),
        discovers=protocol == "mcp" and discovers(place),
        auth=read_runtime_auth(package, place),
    )


def _functions(package: Package, root: Place) -> dict[str, Place]:
    found: dict[str, Place] = {}
    for place in root["functions"].items:
        name = place["name"].text
        if not name:
            package.note(place, f"{place.name}: the function has no name and is not read", "give the function a name")
        elif name in found:
            package.note(
                place, f"{place.name}: the function {name!r} is listed twice; the first one counts", "remove one of the two"
            )
        else:
            found[name] = place
    return found


def _bind_functions(
    package: Package, functions: dict[str, Place], runtimes: tuple[_Runtime, ...]
) -> Iterator[_Binding]:
    """Each listed function with the runtime that runs it: by name before wildcard, with an operation before without."""
    for name, place in functions.items():
        named = [runtime for runtime in runtimes if runtime.names(name)]
        covering = [runtime for runtime in runtimes if runtime.covers(name)]
        covering.sort(key=lambda runtime: not runtime.offers(name))
        if len(named) > 1:
            package.note(
                named[1].place["run_for_functions"],
                f"{named[1].place.name}: runs {name!r}, which {named[0].place.name} runs already; the first one counts",
                "name every function in one runtime only",
            )
        runtime = (named or covering or [None])[0]
        entry = runtime.inventory.get(name) if runtime is not None and runtime.inventory is not None else None
        if runtime is None:
            package.note(
                place, f"{place.name}: no runtime runs {name!r}", "name the function in a runtime's run_for_functions"
            )
        elif entry is None and runtime.inventory is not None:
            package.note(
                place,
                f"{place.name}: {runtime.place.name} has nothing called {name!r}; "
                f"what the function does is taken from its name alone",
                "give the function the name of an operation",
            )
        yield _Binding(name=name, function=place, entry=entry, runtime=runtime)


def _bind_rest(
    package: Package, root: Place, functions: dict[str, Place], runtimes: tuple[_Runtime, ...]
) -> Iterator[_Binding]:
    """What can be called without being listed under ``functions``."""
    claimed = {pattern.text for runtime in runtimes for pattern in runtime.patterns or () if "*" not in pattern.text}
    claimed |= set(functions)
    for runtime in runtimes:
        for pattern in runtime.patterns or ():
            name = pattern.text
            if "*" in name or name in functions:
                continue
            if functions:
                package.note(
                    pattern, f"{pattern.name}: `functions` does not list {name!r}; it is no tool", "list it, or remove it"
                )
            else:
                entry = runtime.inventory.get(name) if runtime.inventory is not None else None
                yield _Binding(name=name, function=None, entry=entry, runtime=runtime)
        all_listed = bool(functions) and runtime.patterns is None
        for name, entry in (runtime.inventory or {}).items():
            if not all_listed and name not in claimed and runtime.covers(name):
                claimed.add(name)
                yield _Binding(name=name, function=None, entry=entry, runtime=runtime)
        listed = functions or runtime.inventory is not None
        if runtime.discovers or (not listed and runtime.covers("")):
            yield from _unlisted(package, root, runtime)


def _unlisted(package: Package, root: Place, runtime: _Runtime) -> Iterator[_Binding]:
    """One stand-in for tools that exist but are listed nowhere, so that what is declared of them is not lost."""
    reason = "are discovered at run time" if runtime.protocol == "mcp" else "could not be read"
    package.note(
        runtime.place,
        f"{runtime.place.name}: its tools {reason}: their names and effects are not declared; they are read as one "
        f"tool called {UNLISTED!r} of unknown effect",
        "list the tools under `functions`" if runtime.protocol != "mcp" else "describe them in `mcp_tool_description`",
    )
    description = root["description_for_model"].text or root["description_for_human"].text
    entry = Entry(UNLISTED, description, Decision("unknown", f"its tools {reason}"), None, runtime.place)
    yield _Binding(name=UNLISTED, function=None, entry=entry, runtime=runtime)


def _settle(package: Package, runtime: _Runtime, bound: list[_Binding]) -> list[AuthDeclaration]:
    """The auth declarations of a runtime: the plugin's own, or what its OpenAPI file requires, or none."""
    required = [
        (binding.name, binding.entry.security)
        for binding in bound
        if binding.entry is not None and binding.entry.security is not None
    ]
    mode = settle(package, runtime.auth, required, runtime.unused)
    if mode is not None:
        return [AuthDeclaration(mode=mode, declared_in=str(runtime.auth.place))]
    found: dict[AuthMode, AuthDeclaration] = {}
    for _, alternatives in required:
        mode = required_mode(alternatives)
        place = next((scheme.place for scheme in alternatives[0] if scheme.mode == mode), runtime.place)
        found.setdefault(mode, AuthDeclaration(mode=mode, declared_in=str(place)))
    instead = f"; its OpenAPI file says {', '.join(map(repr, found))}, and that holds" if found else ""
    package.note(
        runtime.place,
        f"{runtime.place.name}: the plugin declares no auth{instead or ': the auth mode is not declared'}",
        "add `auth` with type None, OAuthPluginVault or ApiKeyPluginVault",
    )
    return list(found.values())


def _tool(package: Package, binding: _Binding, modes: dict[str, AuthMode | None]) -> Tool:
    function, entry, runtime = binding.function, binding.entry, binding.runtime
    effect = entry.effect if entry is not None else effect_of_name(binding.name)
    confirmation: bool | None = None
    card = False
    described = ""
    if function is not None:
        capabilities = function["capabilities"]
        effect = effect_of_data_handling(capabilities["security_info"]["data_handling"].data) or effect
        confirmation = _confirmation(capabilities["confirmation"])
        card = _card(package, capabilities["response_semantics"])
        described = function["description"].text
    auth = None
    if runtime is not None:
        auth = modes[runtime.place.name]
        if auth is None and runtime.auth.mode is None and entry is not None and entry.security is not None:
            auth = required_mode(entry.security)
    place = function or (entry.place if entry is not None else runtime.place if runtime is not None else None)
    return Tool(
        name=binding.name,
        description=described or (entry.description if entry is not None else ""),
        protocol="function" if runtime is None else runtime.protocol,
        effect=effect.effect,
        effect_from=effect.reason if entry is not None or effect is UNTOLD else f"{effect.reason}; its operation is not read",
        confirmation=confirmation,
        card=card,
        auth=auth,
        declared_in=str(place),
    )


def _confirmation(place: Place) -> bool | None:
    """``None`` where nothing is declared: the host then decides for itself when to ask."""
    return place["type"].text != "None" if place.is_mapping else None


def _card(package: Package, semantics: Place) -> bool:
    """Whether answers are declared to be rendered as a card: by a template here, in a file, or in the answer."""
    template = semantics["static_template"]
    if template.has("file"):
        package.resolve_existing(template["file"], what="the card template")
        return True
    return bool(template.data) or bool(semantics["properties"]["template_selector"].text)


def _matches(pattern: str, name: str) -> bool:
    """Whether ``name`` fits ``pattern``, in which ``*`` stands for anything; in time linear in both."""
    first, *rest = pattern.split("*")
    if not name.startswith(first):
        return False
    position = len(first)
    for part in rest[:-1]:
        found = name.find(part, position)
        if found < 0:
            return False
        position = found + len(part)
    return len(name) - position >= len(rest[-1]) and name.endswith(rest[-1])
