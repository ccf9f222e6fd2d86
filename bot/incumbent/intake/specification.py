"""The model of an agent's specification, the same for every format.

Every fact says where it was declared.  A fact that a format does not declare is ``None``, never false.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, Literal, TypeAlias

from incumbent.errors import Problem

AuthMode: TypeAlias = Literal["none", "api-key", "oauth", "sso", "other"]
Protocol: TypeAlias = Literal["rest", "mcp", "local", "function"]
Effect: TypeAlias = Literal["read", "write", "unknown"]
OwnFact: TypeAlias = str | bool | int | float | tuple[str | bool | int | float, ...]
"""A fact that only the taxonomy of its platform knows: a text, a number, true or false, or a list of these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthDeclaration:
    """An auth mode and the place that declared it, for example ``ai-plugin.json: runtimes[0].auth``."""

    mode: AuthMode
    declared_in: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter of a tool, limited to what the classifier reads."""

    name: str
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """Something the agent can call.

    ``effect`` says whether a call reads or writes, ``effect_from`` why.  ``confirmation`` says whether the user is
    asked first (``None``: not declared), ``card`` whether the answer is rendered as a card (``None``: the format cannot
    declare it).  ``auth`` is the mode of its runtime (``None``: not declared).  ``parameters`` are the named ones, in
    the order of declaration.
    """

    name: str
    description: str
    protocol: Protocol
    effect: Effect
    effect_from: str
    confirmation: bool | None
    card: bool | None
    auth: AuthMode | None
    declared_in: str
    parameters: tuple[Parameter, ...] = ()

    def facts(self) -> dict[str, object]:
        """The tool as plain data, the input of ``when`` rules of a taxonomy."""
        return {
            "name": self.name,
            "protocol": self.protocol,
            "effect": self.effect,
            "confirmation": self.confirmation,
            "card": self.card,
            "auth": self.auth,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """A declared source the agent may answer from, by its normalised kind (``web-search``, ``files``, …)."""

    kind: str
    declared_in: str


@dataclass(frozen=True, kw_only=True)
class Specification:
    """What an agent declares about itself.

    ``auth``, ``tools`` and ``knowledge`` are ``None`` if nothing was declared or nothing could be read, and empty if
    the agent declares to have none.  ``own_facts`` are facts under names of the platform's own, which its taxonomy
    gives meaning.  ``notes`` are warnings about parts that were not read, about sources that disagree and about
    violations of a published schema; they never stop a review.
    """

    platform: str
    name: str
    description: str
    instructions: str
    auth: tuple[AuthDeclaration, ...] | None
    tools: tuple[Tool, ...] | None
    knowledge: tuple[Knowledge, ...] | None
    starters: tuple[str, ...]
    own_facts: Mapping[str, OwnFact] = field(default_factory=dict)
    notes: tuple[Problem, ...] = ()

    @property
    def auth_modes(self) -> tuple[AuthMode, ...] | None:
        """The declared auth modes, sorted, each once."""
        return None if self.auth is None else tuple(sorted({item.mode for item in self.auth}))

    def facts(self) -> dict[str, object]:
        """The normalised specification as plain data, the input of ``when`` rules of a taxonomy."""
        return {
            "platform": self.platform,
            "name": self.name,
            "auth_modes": None if self.auth_modes is None else list(self.auth_modes),
            "tools": None if self.tools is None else [tool.facts() for tool in self.tools],
            "knowledge": None if self.knowledge is None else sorted({item.kind for item in self.knowledge}),
            "starters": list(self.starters),
            "facts": {
                name: list(value) if isinstance(value, tuple) else value for name, value in self.own_facts.items()
            },
        }

    def for_tool(self, tool: Tool) -> Specification:
        """The part of the specification that a call of ``tool`` exercises (semantics, section 2, arbitration)."""
        auth = None if tool.auth is None else (AuthDeclaration(mode=tool.auth, declared_in=tool.declared_in),)
        return replace(self, auth=auth, tools=(tool,))

    @cached_property
    def digest(self) -> str:
        """A digest of everything on which a classification may depend."""
        # Without own facts, the digest is that of specifications before there were any.
        seen = {name: value for name, value in self.facts().items() if value or name != "facts"} | {
            "description": self.description,
            "tool_descriptions": None if self.tools is None else [tool.description for tool in self.tools],
            "tool_parameters": None
            if self.tools is None
            else [[[each.name, each.description] for each in tool.parameters] for tool in self.tools],
        }
        return hashlib.sha256(json.dumps(seen, sort_keys=True).encode()).hexdigest()[:16]


UNLISTED: Final = "*"
"""The name of the placeholder for tools that a runtime offers but no file of the package lists."""

UNDECLARED = Specification(
    platform="",
    name="",
    description="",
    instructions="",
    auth=None,
    tools=None,
    knowledge=None,
    starters=(),
)
"""A specification without declarations."""
