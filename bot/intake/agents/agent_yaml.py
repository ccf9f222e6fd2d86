"""``agent.yaml``: our own plain form of an agent specification, for any platform."""

from __future__ import annotations

import posixpath
from typing import Annotated, Final, Literal

from pydantic import Field

from bot.config import Limits
from bot.documents import Document, as_mapping, parse_yaml
from bot.errors import InputError, Problem
from bot.intake.agents.knowledge import NORMAL_KINDS
from bot.intake.agents.reader import Reader
from bot.intake.specification import AuthDeclaration, AuthMode, Effect, Knowledge, Protocol, Specification, Tool
from bot.snapshot import Snapshot
from bot.suggest import perhaps
from bot.validation import FileModel, Text, Tuple, validate

_NAMES: Final = ("agent.yaml", "agent.yml")

Kind = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=100)]


class AgentTool(FileModel):
    """A tool of the agent; what is not given is not declared."""

    name: Text
    description: str = Field(default="", description="what the tool is for, as the agent is told")
    protocol: Protocol = Field(default="function", description="how the tool is called")
    effect: Effect = Field(default="unknown", description="what a call does to the world")
    auth: AuthMode | None = Field(default=None, description="how a call is authenticated; one of auth_modes")
    confirmation: bool | None = Field(default=None, description="whether the user is asked before a call")
    card: bool | None = Field(default=None, description="whether the answer is shown as a card")


class AgentFile(FileModel):
    """``agent.yaml``: an agent of any platform; what is not given is not declared."""

    agent: Literal[1] = Field(description="version of this format")
    name: Text
    platform: Text = Field(description="name of the platform that runs the agent, free text")
    description: str = ""
    instructions: str = ""
    auth_modes: Tuple[AuthMode] | None = Field(
        default=None, description="how the agent's tools authenticate; [none] if they do not, never empty"
    )
    tools: Tuple[AgentTool] | None = Field(default=None, description="what the agent can call; [] for nothing")
    knowledge: Tuple[Kind] | None = Field(
        default=None, description="what the agent may answer from, such as web-search or files; [] for nothing"
    )
    starters: Tuple[Text] = Field(default=(), description="conversation starters shown to people")


class AgentYamlReader:
    """Reads ``agent.yaml``."""

    name = "agent.yaml"
    looked_for = "an agent.yaml with the key `agent`"

    def recognise(self, snapshot: Snapshot, limits: Limits) -> tuple[str, ...]:
        """Every ``agent.yaml`` with the key ``agent``, and every broken one, so that its fault is shown."""
        found = []
        for path in snapshot.paths():
            if posixpath.basename(path).casefold() in _NAMES:
                try:
                    document = parse_yaml(snapshot.read(path, limits.reading), path, limits.reading)
                except InputError:
                    found.append(path)
                    continue
                if "agent" in as_mapping(document.data):
                    found.append(path)
        return tuple(found)

    def read(self, snapshot: Snapshot, path: str, limits: Limits) -> Specification:
        """The agent in the file at ``path``; raises :class:`InputError` with all its faults."""
        document = parse_yaml(snapshot.read(path, limits.reading), snapshot.name(path), limits.reading)
        agent = validate(AgentFile, document)
        problems = _inconsistencies(agent, document, limits)
        if problems:
            raise InputError(problems)
        return _specification(agent, document)


def _inconsistencies(agent: AgentFile, document: Document, limits: Limits) -> list[Problem]:
    tools = agent.tools or ()
    if len(tools) > limits.tools:
        return [
            document.problem(
                ("tools",),
                f"tools: {len(tools):,} tools, more than the limit of {limits.tools:,}",
                "bring fewer tools, or raise limits.tools in config/curation.yaml",
            )
        ]
    problems = []
    if agent.auth_modes == ():
        message = "auth_modes: names no mode"
        problems.append(document.problem(("auth_modes",), message, "write [none], or leave it out if it is not known"))
    seen: set[str] = set()
    for index, tool in enumerate(tools):
        if tool.name in seen:
            message = f"tools[{index}].name: {tool.name!r} is the name of an earlier tool"
            problems.append(document.problem(("tools", index, "name"), message, "give every tool a name of its own"))
        seen.add(tool.name)
        if tool.auth is not None and agent.auth_modes and tool.auth not in agent.auth_modes:
            problems.append(
                document.problem(
                    ("tools", index, "auth"),
                    f"tools[{index}].auth: {tool.auth!r} is not among auth_modes",
                    f"add {tool.auth!r} to auth_modes, or use one of: {', '.join(agent.auth_modes)}",
                )
            )
    return problems


def _specification(agent: AgentFile, document: Document) -> Specification:
    file = document.file
    tools = None
    if agent.tools is not None:
        tools = tuple(
            Tool(
                name=tool.name,
                description=tool.description,
                protocol=tool.protocol,
                effect=tool.effect,
                effect_from="not declared" if tool.effect == "unknown" else "declared",
                confirmation=tool.confirmation,
                card=tool.card,
                auth=tool.auth,
                declared_in=f"{file}: tools[{index}]",
            )
            for index, tool in enumerate(agent.tools)
        )
    return Specification(
        platform=agent.platform,
        name=agent.name,
        description=agent.description,
        instructions=agent.instructions,
        auth=_auth(agent, file),
        tools=tools,
        knowledge=None
        if agent.knowledge is None
        else tuple(
            Knowledge(kind=kind, declared_in=f"{file}: knowledge[{index}]")
            for index, kind in enumerate(agent.knowledge)
        ),
        starters=agent.starters,
        notes=tuple(_remarks(agent, document)),
    )


def _auth(agent: AgentFile, file: str) -> tuple[AuthDeclaration, ...] | None:
    """``auth_modes``; without them, what the tools declare."""
    if agent.auth_modes is not None:
        return tuple(
            AuthDeclaration(mode=mode, declared_in=f"{file}: auth_modes[{index}]")
            for index, mode in enumerate(agent.auth_modes)
        )
    of_tools = tuple(
        AuthDeclaration(mode=tool.auth, declared_in=f"{file}: tools[{index}].auth")
        for index, tool in enumerate(agent.tools or ())
        if tool.auth is not None
    )
    return of_tools or None


def _remarks(agent: AgentFile, document: Document) -> list[Problem]:
    """Kinds of knowledge that look like a slip; a kind of one's own is fine where the taxonomy knows it."""
    return [
        document.problem(
            ("knowledge", index),
            f"knowledge[{index}]: {kind!r} is not a kind of declarative agents{perhaps(kind, NORMAL_KINDS)}",
            "use that kind if it is meant; keep this one if your taxonomy speaks of it",
        )
        for index, kind in enumerate(agent.knowledge or ())
        if kind not in NORMAL_KINDS and perhaps(kind, NORMAL_KINDS)
    ]


READER: Final[Reader] = AgentYamlReader()
