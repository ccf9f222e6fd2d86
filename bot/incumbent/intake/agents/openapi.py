"""Reads OpenAPI 2.0 and 3.x files of a package into an inventory of operations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, islice
from typing import Final
from urllib.parse import unquote

from incumbent.errors import Problem
from incumbent.files.documents import Document, Node, Parsed, Path, as_list, as_mapping
from incumbent.intake.agents.authentication import Security, SecurityScheme, required_modes, scheme_mode
from incumbent.intake.agents.effects import METHODS, effect_of_operation
from incumbent.intake.agents.inventory import Inventory, InventoryOperation, bare_tools, items_at, kept, properties
from incumbent.intake.agents.name_effects import EffectReason
from incumbent.intake.agents.package import AgentPackage
from incumbent.intake.agents.reader import BareReader
from incumbent.intake.specification import UNLISTED, Parameter, Specification

_WHAT: Final = "the OpenAPI file"


@dataclass(frozen=True, slots=True)
class OpenApi:
    """The operations of a file by operationId, in order; ``unused`` are its schemes if nothing requires any."""

    operations: Inventory
    unused: tuple[SecurityScheme, ...]


def read_openapi(package: AgentPackage, spec: Node, known: dict[str, OpenApi]) -> OpenApi | None:
    """The OpenAPI description of a runtime's ``spec``, or ``None`` with a note why it is not read.

    ``api_description`` contains it inline and has precedence over ``url``, which names a file of the package.
    ``known`` caches results by path, so that a file is read once even if several runtimes name it.
    """
    inline = spec["api_description"]
    named = spec["url"] if inline.absent else inline
    source = package.follow(named, what=_WHAT) if inline.absent else package.inline(named, what=_WHAT)
    if source is None:
        return None
    if inline.absent and source.path in known:
        return known[source.path]
    if not is_openapi(source.document):
        package.note(
            named,
            f"{named.name}: {_WHAT} is not read: {source.document.file} has no `openapi` or `swagger` key with `paths`",
            "name an OpenAPI 2.0 or 3.x file",
        )
        return None
    read = read_operations(package, source)
    if inline.absent:
        known[source.path] = read
    return read


def is_openapi(document: Document) -> bool:
    """Whether ``document`` declares itself as OpenAPI of any version, and has paths."""
    root = as_mapping(document.data)
    return isinstance(root.get("paths"), dict) and ("openapi" in root or "swagger" in root)


def why_no_openapi(document: Document) -> Problem | None:
    """Why ``document`` declares itself as OpenAPI but is not read; ``None`` if it is read or declares no such thing."""
    root = as_mapping(document.data)
    if is_openapi(document) or not ("openapi" in root or "swagger" in root):
        return None
    if "paths" in root:
        return document.problem(("paths",), "`paths` must be an object", "list the operations under `paths`")
    more = "; its `webhooks` are calls that it makes, and no tools" if "webhooks" in root else ""
    return document.problem((), f"it has no `paths`{more}", "list the operations under `paths`")


def read_operations(package: AgentPackage, source: Parsed) -> OpenApi:
    """The operations of the OpenAPI file in ``source``; adds notes to ``package``."""
    return _OpenApiReader(package, source.root).read()


class _OpenApiReader:
    """Reads one file: its schemes, resolved references, and the notes made already."""

    def __init__(self, package: AgentPackage, root: Node) -> None:
        self.package = package
        self.root = root
        self.resolved: dict[tuple[str, str], Node] = {}
        self.shared: dict[tuple[str, Path], tuple[Parameter, ...]] = {}
        schemes = root["components"]["securitySchemes"]
        if schemes.absent:
            schemes = root["securityDefinitions"]
        found: dict[str, SecurityScheme] = {}
        for name, place in schemes.entries:
            target = self.resolve(place)
            mode, bearer = scheme_mode(Node(place.source, place.path, target.data))
            found[name] = SecurityScheme(name, mode, bearer, place)
        self.security = Security(package, found)

    def read(self) -> OpenApi:
        operations: dict[str, InventoryOperation] = {}
        for route, item in self._paths():
            found = self.resolve(item)
            if not found.is_mapping:
                self._unread(operations, item, found)
            for method, place in found.entries:
                if method.lower() in METHODS and not place.is_mapping:
                    self._unread(operations, place, place)
                elif method.lower() in METHODS:
                    operation = self.operation(method.lower(), route, found, place)
                    if operation.name in operations:
                        self.package.note(
                            place["operationId"],
                            f"{place.name}: the operationId {operation.name!r} is given twice; the first one counts",
                            "give every operation an id of its own",
                        )
                    operations.setdefault(operation.name, operation)
        required = any(any(operation.security or ()) for operation in operations.values())
        return OpenApi(operations, () if required else tuple(self.security.schemes.values()))

    def _paths(self) -> tuple[tuple[str, Node], ...]:
        """The routes and their path items, without extensions."""
        paths = self.resolve(self.root["paths"])
        if not paths.is_mapping:
            return (("", self.root["paths"]),)
        return tuple((route, item) for route, item in paths.entries if not route.startswith("x-"))

    def _unread(self, operations: dict[str, InventoryOperation], item: Node, found: Node) -> None:
        """Add a placeholder for the unknown operations at ``item``, which resolves to ``found``."""
        # A reference to nothing has a note already.
        if item is found or not found.absent:
            self.package.note(
                item, f"{item.name}: must be an object, and is not read", "write the object, or remove the key"
            )
        effect = EffectReason("unknown", f"the operations at {item.name} are not read")
        operations.setdefault(UNLISTED, InventoryOperation(UNLISTED, "", effect, None, item))

    def operation(self, method: str, route: str, item: Node, place: Node) -> InventoryOperation:
        operation_id, summary = place["operationId"].text, place["summary"].text
        security = place["security"] if place.has("security") else self.root["security"]
        description = place["description"].text
        return InventoryOperation(
            name=operation_id or f"{method.upper()} {route}",
            description=description or summary,
            effect=effect_of_operation(method, route, operation_id),
            security=self.security.alternatives(security),
            place=place,
            parameters=cache(partial(self.parameters, item, place)),
        )

    def parameters(self, item: Node, place: Node) -> tuple[Parameter, ...]:
        """The parameters of the operation at ``place``: in path and query, also those of ``item``, and in the body."""
        own = {parameter.name: parameter for parameter in self._addressed(place["parameters"])}
        shared = (own.pop(parameter.name, parameter) for parameter in self._shared(item["parameters"]))
        # Shared parameters come first, as in the file; the operation may override them.
        addressed = [*shared, *own.values()]
        return kept(self.package, place, chain(addressed, self._sent(place)))

    def _shared(self, listed: Node) -> tuple[Parameter, ...]:
        """The parameters shared by all operations of a path."""
        key = (listed.source.path, listed.path)
        if key not in self.shared:
            self.shared[key] = tuple(self._addressed(listed))
        return self.shared[key]

    def _addressed(self, listed: Node) -> Iterator[Parameter]:
        """The listed parameters that a user may mention: those of path, query and form."""
        for item in islice(items_at(listed), self.package.limits.tools):
            parameter = self.resolve(item)
            name = parameter["name"].text
            if name and parameter["in"].text in ("path", "query", "formData"):
                yield Parameter(name=name, description=parameter["description"].text)

    def _sent(self, place: Node) -> Iterator[Parameter]:
        """The properties of the operation's body; JSON is preferred among several media types."""
        bodies = [self.resolve(item) for item in islice(items_at(place["parameters"]), self.package.limits.tools)]
        schemas = [body["schema"] for body in bodies if body["in"].text == "body"]
        content = self.resolve(place["requestBody"])["content"].entries
        media = [item for kind, item in content if "json" in kind] or [item for _, item in content]
        schemas += [item["schema"] for item in media[:1]]
        for schema in schemas:
            yield from properties(schema, self.package.limits, self.resolve)

    def resolve(self, place: Node) -> Node:
        """``place`` with its ``$ref`` resolved in this file or another of the package; absent if that fails."""
        steps: list[tuple[str, str]] = []
        while isinstance(as_mapping(place.data).get("$ref"), str):
            reference = place["$ref"]
            step = (place.source.path, reference.text)
            if step in self.resolved:
                place = self.resolved[step]
                break
            most = self.package.limits.nesting_depth
            if step in steps or len(steps) >= most:
                why = "in a circle" if step in steps else f"over more than {most} others"
                message = f"{reference.name}: the reference leads {why} and is not read"
                self.package.note(reference, message, "write the value out")
                place = Node(place.source, place.path, None)
                break
            steps.append(step)
            place = self.target(reference)
        for step in steps:
            self.resolved[step] = place
        return place

    def target(self, reference: Node) -> Node:
        """The target of the string at ``reference``; absent, with a note, if it does not exist."""
        file, _, pointer = reference.text.partition("#")
        source: Parsed | None = reference.source
        if file:
            named = Node(reference.source, reference.path, file)
            source = self.package.follow(named, what="the referenced file")
        if source is None:
            return Node(reference.source, reference.path, None)
        target = _pointed(source.root, pointer)
        if target.absent:
            message = f"{reference.name}: {reference.text} points to nothing and is not read"
            self.package.note(reference, message, "correct the reference")
        return target


def _pointed(root: Node, pointer: str) -> Node:
    place = root
    for token in unquote(pointer).split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        if place.is_list:
            index = int(key) if key.isascii() and key.isdigit() and len(key) < 10 else -1
            items = as_list(place.data)
            data = items[index] if 0 <= index < len(items) else None
            place = Node(place.source, (*place.path, index), data)
        else:
            place = place[key]
    return place


def _describe(package: AgentPackage, source: Parsed) -> Specification:
    root = source.root
    openapi = read_operations(package, source)
    entries = openapi.operations.values()
    tools = bare_tools(package, root["paths"], entries, "rest")
    modes = required_modes(
        (entry.security, entry.place["security"] if entry.place.has("security") else root["security"])
        for entry in entries
        if entry.security is not None
    )
    if openapi.unused and not modes:
        scheme = openapi.unused[0]
        package.note(
            scheme.place,
            f"{scheme.place.name}: defines {scheme.mode!r}, which no operation requires; the auth mode is not declared",
            "require it under `security`, or remove it",
        )
    return Specification(
        platform="",
        name=root["info"]["title"].text,
        description=root["info"]["description"].text or root["info"]["summary"].text,
        instructions="",
        auth=tuple(modes.values()) or None,
        tools=tools,
        knowledge=None,
        starters=(),
        notes=tuple(dict.fromkeys(package.notes)),
    )


READER: Final = BareReader(
    name="openapi",
    looked_for="an OpenAPI file (2.0 or 3.x)",
    endings=(".json", ".yaml", ".yml"),
    mark=re.compile(rb"(openapi|swagger)[\"']?\s*:"),
    telling=re.compile(rb"(openapi|swagger)[\"']?\s*:\s*[\"']?[23]\."),
    usual=re.compile(r"(?=.*(?:openapi|swagger)).*\.(json|ya?ml)"),
    fits=is_openapi,
    describe=_describe,
    misfit=why_no_openapi,
)
