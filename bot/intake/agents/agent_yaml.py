"""``agent.yaml``: our own plain form of an agent specification, for any platform."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from typing import Final

from bot.config import Limits
from bot.errors import InputError, Problem
from bot.files.documents import Data, Document, Path, as_list, as_mapping, parse_yaml
from bot.files.snapshot import Snapshot, path_beside
from bot.files.validation import validate
from bot.intake.agents.agent_file import AgentFile, AgentTool, WholeAgentFile
from bot.intake.agents.extending import read_bases
from bot.intake.agents.knowledge import NORMAL_KINDS
from bot.intake.agents.layering import lay_over
from bot.intake.agents.parameters import DESCRIBE_FEWER, bounded
from bot.intake.agents.reader import Reader
from bot.intake.place import Parsed
from bot.intake.specification import AuthDeclaration, Knowledge, Specification, Tool
from bot.text.did_you_mean import perhaps

_NAMES: Final = ("agent.yaml", "agent.yml")


class AgentYamlReader:
    """Reads ``agent.yaml``."""

    name = "agent.yaml"
    looked_for = "an agent.yaml with the key `agent`"
    nests = True
    is_fallback = False

    def fits(self, document: Document) -> bool:
        """Whether the file has the key ``agent`` with a version."""
        return isinstance(as_mapping(document.data).get("agent"), int)

    def recognise(self, snapshot: Snapshot, limits: Limits) -> tuple[str, ...]:
        """Every ``agent.yaml`` with a version under ``agent``, and every broken one, so that its fault is shown."""
        found = []
        for path in snapshot.paths():
            if posixpath.basename(path).casefold() in _NAMES:
                try:
                    document = parse_yaml(snapshot.read(path, limits.reading), path, limits.reading)
                except InputError:
                    found.append(path)
                    continue
                if _says_version(as_mapping(document.data)):
                    found.append(path)
        return tuple(found)

    def parts(self, snapshot: Snapshot, path: str, limits: Limits) -> tuple[str, ...]:
        """The files that the one at ``path`` extends."""
        try:
            document = parse_yaml(snapshot.read(path, limits.reading), path, limits.reading)
        except InputError:
            return ()
        found = (path_beside(path, reference) for _, reference in _references(document))
        return tuple(part for part in found if part is not None)

    def read(self, snapshot: Snapshot, path: str, limits: Limits) -> Specification:
        """The agent in the file at ``path``; raises :class:`InputError` with all its faults."""
        document = parse_yaml(snapshot.read(path, limits.reading), snapshot.name(path), limits.reading)
        extends = as_mapping(document.data).get("extends") is not None
        # Before each of them is looked at: a file has room for a hundred thousand.
        count = len(as_list(as_mapping(document.data).get("tools")))
        if count > limits.tools:
            message = f"tools: {count:,} tools, more than the limit of {limits.tools:,}"
            fix = "bring fewer tools, or raise limits.tools in config/curation.yaml"
            raise InputError([document.problem(("tools",), message, fix)])
        agent = validate(AgentFile if extends else WholeAgentFile, document)
        problems = _inconsistencies(agent, document, limits)
        if problems:
            raise InputError(problems)
        specification = _specification(agent, document)
        if not extends:
            return specification
        base = read_bases(snapshot, path, Parsed(path, document), _references(document), limits)
        return lay_over(base, specification, agent, document, limits)


def _says_version(root: Mapping[str, Data]) -> bool:
    """Whether ``agent`` holds a version, be it a wrong one; other platforms have names and whole agents there."""
    value = root.get("agent", {})
    return re.match(r"[vV]?\d", value) is not None if isinstance(value, str) else not isinstance(value, dict | list)


def _references(document: Document) -> list[tuple[Path, str]]:
    """What the file extends, with the place that says so; whatever is no string is left to the model."""
    extends = as_mapping(document.data).get("extends")
    if isinstance(extends, str):
        return [(("extends",), extends)]
    return [(("extends", index), item) for index, item in enumerate(as_list(extends)) if isinstance(item, str)]


def _inconsistencies(agent: AgentFile, document: Document, limits: Limits) -> list[Problem]:
    problems = []
    if agent.auth_modes == ():
        message = "auth_modes: names no mode"
        problems.append(document.problem(("auth_modes",), message, "write [none], or leave it out if it is not known"))
    seen: set[str] = set()
    for index, tool in enumerate(agent.tools or ()):
        if tool.name in seen:
            message = f"tools[{index}].name: {tool.name!r} is the name of an earlier tool"
            problems.append(document.problem(("tools", index, "name"), message, "give every tool a name of its own"))
        seen.add(tool.name)
        if not bounded(tool.named_parameters, limits)[1]:
            message = (
                f"tools[{index}].parameters: more than the limit of {limits.tools:,}, or of "
                f"{limits.turn_characters:,} characters together"
            )
            problems.append(document.problem(("tools", index, "parameters"), message, DESCRIBE_FEWER))
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
    return Specification(
        platform=agent.platform or "",
        name=agent.name or "",
        description=agent.description or "",
        instructions=agent.instructions or "",
        auth=_auth(agent, file),
        tools=None
        if agent.tools is None
        else tuple(_tool(tool, f"{file}: tools[{index}]") for index, tool in enumerate(agent.tools)),
        knowledge=None
        if agent.knowledge is None
        else tuple(
            Knowledge(kind=kind, declared_in=f"{file}: knowledge[{index}]")
            for index, kind in enumerate(agent.knowledge)
        ),
        starters=agent.starters or (),
        notes=tuple(_remarks(agent, document)),
    )


def _tool(tool: AgentTool, declared_in: str) -> Tool:
    return Tool(
        name=tool.name,
        description=tool.description,
        protocol=tool.protocol,
        effect=tool.effect,
        effect_from="not declared" if tool.effect == "unknown" else "declared",
        confirmation=tool.confirmation,
        card=tool.card,
        auth=tool.auth,
        declared_in=declared_in,
        parameters=tuple({parameter.name: parameter for parameter in tool.named_parameters}.values()),
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
