"""Which names of a plugin can be called, and which runtime runs each (the binding rules of plugin manifests).

Where ``functions`` is given, it is the inventory; where it is absent or empty, what the runtimes offer is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from bot.intake.agents.authentication import RuntimeAuth, Scheme
from bot.intake.agents.inventory import Entry, Inventory
from bot.intake.agents.names import Decision
from bot.intake.agents.package import Package
from bot.intake.place import Place
from bot.intake.specification import UNLISTED, Protocol


@dataclass(frozen=True, kw_only=True)
class Runtime:
    """A runtime of a plugin.

    ``patterns`` are the strings of ``run_for_functions`` (``None``: the key is absent), ``inventory`` what the
    runtime is known to offer (``None``: nothing could be read), ``unused`` the security schemes of its OpenAPI file if
    nothing requires any, and ``discovers`` whether it says that its tools are found at run time.
    """

    place: Place
    protocol: Protocol
    patterns: tuple[Place, ...] | None
    inventory: Inventory | None
    unused: tuple[Scheme, ...]
    discovers: bool
    auth: RuntimeAuth

    @cached_property
    def exact(self) -> frozenset[str]:
        """The names that ``run_for_functions`` writes out."""
        return frozenset(item.text for item in self.patterns or () if "*" not in item.text)

    @cached_property
    def wildcards(self) -> tuple[str, ...]:
        """The patterns with a ``*``; an absent ``run_for_functions`` is one for everything."""
        if self.patterns is None:
            return ("*",)
        return tuple(dict.fromkeys(item.text for item in self.patterns if "*" in item.text))

    def covers(self, name: str) -> bool:
        """Whether a wildcard of ``run_for_functions`` fits this name."""
        return any(_matches(pattern, name) for pattern in self.wildcards)

    def entry(self, name: str) -> Entry | None:
        """What the runtime is known to offer under this name."""
        return None if self.inventory is None else self.inventory.get(name)


@dataclass(frozen=True, kw_only=True)
class Binding:
    """A name that can be called, with what declares it; ``runtime`` is ``None`` if none runs it."""

    name: str
    function: Place | None
    entry: Entry | None
    runtime: Runtime | None


def bind(
    package: Package, root: Place, functions: Mapping[str, Place], runtimes: tuple[Runtime, ...]
) -> Iterator[Binding]:
    """Every name that can be called: the listed functions first, then what runtimes offer beside them."""
    for name, function in functions.items():
        yield _bind_function(package, name, function, runtimes)
    claimed = set(functions).union(*(runtime.exact for runtime in runtimes))
    named: set[str] = set()
    for runtime in runtimes:
        for binding in _bind_named(package, functions, runtime):
            if binding.name not in named:
                named.add(binding.name)
                yield binding
        # An absent `run_for_functions` runs the listed functions, a written `*` also what is not listed.
        if not functions or runtime.patterns is not None:
            for name, entry in (runtime.inventory or {}).items():
                if name not in claimed and runtime.covers(name):
                    claimed.add(name)
                    yield Binding(name=name, function=None, entry=entry, runtime=runtime)
        listed = bool(functions) or runtime.inventory is not None
        if runtime.discovers or (runtime.wildcards and not listed):
            yield _stand_in(package, root, runtime)


def _bind_function(package: Package, name: str, function: Place, runtimes: tuple[Runtime, ...]) -> Binding:
    """A listed function with its runtime: by name before wildcard, one that has the operation before one without."""
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


def _bind_named(package: Package, functions: Mapping[str, Place], runtime: Runtime) -> Iterator[Binding]:
    """Names that ``run_for_functions`` writes out and ``functions`` does not list."""
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


def _stand_in(package: Package, root: Place, runtime: Runtime) -> Binding:
    """One stand-in for tools that are listed nowhere, so that what is declared of all of them is not lost."""
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
    entry = Entry(UNLISTED, description, Decision("unknown", f"the runtime's tools {reason}"), None, runtime.place)
    return Binding(name=UNLISTED, function=None, entry=entry, runtime=runtime)


def _matches(pattern: str, name: str) -> bool:
    """Whether ``name`` fits ``pattern``, in which ``*`` stands for anything; without backtracking."""
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
