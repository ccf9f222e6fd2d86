"""A bare OpenAPI file (2.0 or 3.x): its operations are the agent's tools."""

from __future__ import annotations

import re
from typing import Final

from bot.intake.agents.bare import BareReader
from bot.intake.agents.inventory import bare_tools
from bot.intake.agents.openapi import is_openapi, read_operations, why_no_openapi
from bot.intake.agents.package import Package
from bot.intake.agents.security import required_modes
from bot.intake.place import Parsed
from bot.intake.specification import Specification


def _describe(package: Package, source: Parsed) -> Specification:
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
