"""Plugin manifests (v2.1–2.4): the tools of an agent, and the authentication of each runtime."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from typing import Final

from incumbent.errors import Problem
from incumbent.files.documents import Data, Document, Node, Parsed, as_list, as_mapping
from incumbent.intake.agents.authentication import (
    RuntimeAuth,
    SecurityScheme,
    read_runtime_auth,
    required_mode,
    required_modes,
    settle,
)
from incumbent.intake.agents.effects import effect_of_data_handling, note_doubt
from incumbent.intake.agents.inventory import Inventory, InventoryOperation, of_schema
from incumbent.intake.agents.mcp_tools import discovers, read_tools
from incumbent.intake.agents.name_effects import EffectReason, effect_of_name
from incumbent.intake.agents.openapi import OpenApi, read_openapi
from incumbent.intake.agents.package import AgentPackage, check_keys, check_version
from incumbent.intake.specification import UNLISTED, AuthDeclaration, AuthMode, Parameter, Protocol, Tool


@dataclass(frozen=True, kw_only=True)
class Runtime:
    """A runtime of a plugin.

    ``patterns`` are the strings of ``run_for_functions`` (``None``: the key is absent), ``inventory`` its known
    operations (``None``: nothing could be read), ``unused`` the security schemes of its OpenAPI file if nothing
    requires any.  ``discovers`` means that it declares to discover its tools at run time.
    """

    place: Node
    protocol: Protocol
    patterns: tuple[Node, ...] | None
    inventory: Inventory | None
    unused: tuple[SecurityScheme, ...]
    discovers: bool
    auth: RuntimeAuth

    @cached_property
    def exact(self) -> frozenset[str]:
        """The names in ``run_for_functions`` without a wildcard."""
        return frozenset(item.text for item in self.patterns or () if "*" not in item.text)

    @cached_property
    def wildcards(self) -> tuple[str, ...]:
        """The patterns with a ``*``; an absent ``run_for_functions`` means ``*``."""
        if self.patterns is None:
            return ("*",)
        return tuple(dict.fromkeys(item.text for item in self.patterns if "*" in item.text))

    def covers(self, name: str) -> bool:
        """Whether a wildcard of ``run_for_functions`` matches this name."""
        return any(_matches(pattern, name) for pattern in self.wildcards)

    def entry(self, name: str) -> InventoryOperation | None:
        """The known operation of this name."""
        return None if self.inventory is None else self.inventory.get(name)


@dataclass(frozen=True, kw_only=True)
class Binding:
    """A callable name with its declaration; ``runtime`` is ``None`` if no runtime runs it."""

    name: str
    function: Node | None
    entry: InventoryOperation | None
    runtime: Runtime | None


def bind(
    package: AgentPackage, root: Node, functions: Mapping[str, Node], runtimes: tuple[Runtime, ...]
) -> Iterator[Binding]:
    """Every callable name: first the listed functions, then further operations of runtimes."""
    for name, function in functions.items():
        yield _bind_function(package, name, function, runtimes)
    claimed = set(functions).union(*(runtime.exact for runtime in runtimes))
    named: set[str] = set()
    for runtime in runtimes:
        for binding in _bind_named(package, functions, runtime):
            if binding.name not in named:
                named.add(binding.name)
                yield binding
        # An absent `run_for_functions` runs the listed functions; an explicit `*` also unlisted ones.
        if not functions or runtime.patterns is not None:
            for name, entry in (runtime.inventory or {}).items():
                if name not in claimed and runtime.covers(name):
                    claimed.add(name)
                    yield Binding(name=name, function=None, entry=entry, runtime=runtime)
        listed = bool(functions) or runtime.inventory is not None
        if runtime.discovers or (runtime.wildcards and not listed):
            yield _stand_in(package, root, runtime)


def _bind_function(package: AgentPackage, name: str, function: Node, runtimes: tuple[Runtime, ...]) -> Binding:
    """A listed function with its runtime: a name beats a wildcard, a runtime with the operation one without."""
    named = [runtime for runtime in runtimes if name in runtime.exact]
    covering = sorted(
        (runtime for runtime in runtimes if runtime.covers(name)), key=lambda runtime: runtime.entry(name) is None
    )
    if len(named) > 1:
        package.note(
            named[1].place["run_for_functions"],
            f"{named[1].place.name}: runs {name!r}, which {named[0].place.name} runs already; the first one counts",
            "name every function in one runtime only",
        )
    if not named and not covering:
        package.note(
            function,
            f"{function.name}: no runtime runs {name!r}; its protocol and auth are not declared",
            "name the function in a runtime's run_for_functions",
        )
        return Binding(name=name, function=function, entry=None, runtime=None)
    runtime = (named or covering)[0]
    entry = runtime.entry(name)
    if entry is None and runtime.inventory is not None:
        package.note(
            function,
            f"{function.name}: {runtime.place.name} has nothing called {name!r}; only the function itself is read",
            "give the function the name of an operation or tool of its runtime",
        )
    return Binding(name=name, function=function, entry=entry, runtime=runtime)


def _bind_named(package: AgentPackage, functions: Mapping[str, Node], runtime: Runtime) -> Iterator[Binding]:
    """Names in ``run_for_functions`` that ``functions`` does not list."""
    for pattern in runtime.patterns or ():
        name = pattern.text
        if "*" in name or name in functions:
            continue
        if functions:
            package.note(
                pattern, f"{pattern.name}: `functions` does not list {name!r}; it is no tool", "list it, or remove it"
            )
        else:
            yield Binding(name=name, function=None, entry=runtime.entry(name), runtime=runtime)


def _stand_in(package: AgentPackage, root: Node, runtime: Runtime) -> Binding:
    """A placeholder for unlisted tools, so that declarations that apply to all of them are kept."""
    if runtime.protocol == "mcp":
        reason, fix = "are discovered at run time", "describe them in `mcp_tool_description`"
    elif runtime.protocol == "rest":
        reason, fix = "are operations of a file that is not read", "list them under `functions`"
    else:
        reason, fix = "are listed nowhere", "list them under `functions`"
    package.note(
        runtime.place,
        f"{runtime.place.name}: its tools {reason}; their names and effects are not declared, and they are read as one "
        f"tool {UNLISTED!r} of unknown effect",
        fix,
    )
    description = root["description_for_model"].text or root["description_for_human"].text
    entry = InventoryOperation(
        UNLISTED, description, EffectReason("unknown", f"the runtime's tools {reason}"), None, runtime.place
    )
    return Binding(name=UNLISTED, function=None, entry=entry, runtime=runtime)


def _matches(pattern: str, name: str) -> bool:
    """Whether ``name`` matches ``pattern``, in which ``*`` matches anything; without backtracking."""
    first, *middle, last = pattern.split("*")
    if not name.startswith(first):
        return False
    position = len(first)
    for part in middle:
        found = name.find(part, position)
        if found < 0:
            return False
        position = found + len(part)
    return name.endswith(last) and len(name) - len(last) >= position


_VERSIONS: Final = ("v2.1", "v2.2", "v2.3", "v2.4")
_PROTOCOLS: Final[dict[str, tuple[Protocol, str]]] = {
    "OpenApi": ("rest", "v2.1"),
    "LocalPlugin": ("local", "v2.2"),
    "RemoteMCPServer": ("mcp", "v2.4"),
}
_LISTS: Final = ("functions", "runtimes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """The declarations of one plugin file with the root node ``root``.

    ``complete`` means that everything that may declare tools could be read.
    """

    root: Node
    auth: tuple[AuthDeclaration, ...]
    tools: tuple[Tool, ...]
    complete: bool = True


def read_plugins(package: AgentPackage, named: Node, references: Sequence[Node]) -> tuple[list[Plugin], bool]:
    """The plugins of ``references`` (listed at ``named``) by their ``file``, and whether all were read."""
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


def too_many(package: AgentPackage, place: Node) -> Problem:
    """The problem of an agent with more of anything than ``limits.tools``."""
    return place.problem(
        f"the agent brings more actions, runtimes, tools or capabilities than the limit of {package.limits.tools}",
        "bring fewer, or raise limits.tools in config/curation.yaml",
    )


def is_plugin(data: Data) -> bool:
    """Whether a file is a plugin manifest: it lists functions or runtimes, and has another typical key."""
    root = as_mapping(data)
    listed = [key for key in _LISTS if isinstance(root.get(key), list)]
    return bool(listed) and (len(listed) == 2 or any(key in root for key in ("schema_version", "name_for_human")))


def lists_tools(data: Data) -> bool:
    """Whether a file that is referenced as a plugin can be read as one: it lists functions or runtimes."""
    return any(isinstance(as_mapping(data).get(key), list) for key in _LISTS)


def why_no_plugin(document: Document) -> Problem:
    """Why ``document``, meant as a plugin, is not read as one."""
    there = (key for key in _LISTS if as_mapping(document.data).get(key) is not None)
    return document.problem(
        tuple(islice(there, 1)),
        "it lists neither `functions` nor `runtimes`, as plugin manifests do since v2.1",
        "bring a plugin manifest of v2.1 or later, or the OpenAPI file that it names",
    )


def read_plugin(package: AgentPackage, source: Parsed, known: dict[str, OpenApi]) -> Plugin:
    """The plugin in ``source``; adds faults and notes to ``package``, and OpenAPI files to ``known``."""
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
    # Listed functions are all the tools.
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


def _note_no_lists(package: AgentPackage, root: Node) -> None:
    """Note ``functions`` and ``runtimes`` that are not lists."""
    for key in _LISTS:
        if not root[key].absent and not root[key].is_list:
            package.note(root[key], f"{key}: not a list, and not read", "write a list of objects")


def _unread_runtimes(package: AgentPackage, root: Node) -> list[Binding]:
    """A placeholder for the unknown tools of each runtime that is not an object."""
    found = []
    for place in root["runtimes"].items:
        if not place.is_mapping:
            package.note(
                place, f"{place.name}: must be an object, and is not read", "write an object with `type` and `spec`"
            )
            entry = InventoryOperation(UNLISTED, "", EffectReason("unknown", f"{place.name} is not read"), None, place)
            found.append(Binding(name=UNLISTED, function=None, entry=entry, runtime=None))
    return found


def _is_complete(root: Node) -> bool:
    """Whether everything that names tools has the right type: lists, functions, ``run_for_functions``."""
    patterns = [place["run_for_functions"] for place in root["runtimes"].items]
    return (
        all(root[key].absent or root[key].is_list for key in _LISTS)
        and all(place["name"].text for place in root["functions"].items)
        and all(item.text for place in patterns for item in place.items)
    )


def _refuse(package: AgentPackage, root: Node) -> Plugin:
    place = root["functions"] if root.has("functions") else root
    package.faults.append(
        place.problem(
            f"the plugin brings more tools or runtimes than the limit of {package.limits.tools}",
            "bring fewer, or raise limits.tools in config/curation.yaml",
        )
    )
    return Plugin(root=root, auth=(), tools=())


def _read_runtime(package: AgentPackage, place: Node, known: dict[str, OpenApi]) -> Runtime:
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


def _patterns(package: AgentPackage, place: Node) -> tuple[Node, ...] | None:
    """The names and patterns in ``run_for_functions``; ``None`` if it is absent, or neither text nor list."""
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


def _functions(package: AgentPackage, root: Node) -> dict[str, Node]:
    found: dict[str, Node] = {}
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


def _settle(
    package: AgentPackage, runtime: Runtime, bound: list[Binding]
) -> tuple[AuthMode | None, list[AuthDeclaration]]:
    """The mode that the plugin declares for a runtime, and all declarations: its own or those of its OpenAPI file."""
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
        # Local functions are called without a request that could authenticate.
        return None, []
    package.note(
        runtime.place,
        f"{runtime.place.name}: the plugin declares no auth; {said}",
        "add `auth` with type None, OAuthPluginVault or ApiKeyPluginVault",
    )
    return None, list(found.values())


def _tool(package: AgentPackage, binding: Binding, modes: dict[str, AuthMode | None]) -> Tool:
    function, entry, runtime = binding.function, binding.entry, binding.runtime
    effect = entry.effect if entry is not None else _effect_without_entry(binding)
    confirmation, card, description = None, False, ""
    if function is not None:
        capabilities = function["capabilities"]
        description = function["description"].text
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


def _parameters(
    package: AgentPackage, function: Node | None, entry: InventoryOperation | None
) -> tuple[Parameter, ...]:
    """The parameters that the function declares; else those of its operation."""
    own = () if function is None else of_schema(package, function, function["parameters"])
    return own or (() if entry is None else entry.parameters())


def _effect_without_entry(binding: Binding) -> EffectReason:
    """The effect of a function with an unknown operation, by its name alone."""
    by_name = effect_of_name(binding.name)
    if binding.runtime is not None and binding.runtime.protocol == "rest":
        return EffectReason(by_name.effect, f"{by_name.reason}; its operation is not read")
    return by_name


def _confirmation(place: Node) -> bool | None:
    """Whether the user is asked first; ``None`` if nothing is declared, so that the host decides."""
    return place["type"].text != "None" if place.is_mapping else None


def _card(package: AgentPackage, semantics: Node) -> bool:
    """Whether answers are declared as cards: by a template here, in a file, or in the answer."""
    template = semantics["static_template"]
    if template.has("file"):
        package.expect(template["file"], what="the card template")
        return True
    return bool(template.data) or bool(semantics["properties"]["template_selector"].text)
