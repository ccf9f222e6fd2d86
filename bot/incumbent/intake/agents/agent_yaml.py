"""``agent.yaml``: the product's own format of an agent specification, for any platform."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Annotated, Any, Final, TypeVar

from pydantic import BeforeValidator, ConfigDict, Field

from incumbent.errors import InputError, Problem
from incumbent.files.documents import Data, Document, Node, Parsed, Path, as_list, as_mapping, parse, parse_yaml
from incumbent.files.snapshot import Snapshot, path_beside
from incumbent.files.validation import ConstraintError, FileModel, FormatVersion, Text, Tuple, validate
from incumbent.intake.agents.declarative_agent import NORMAL_KINDS
from incumbent.intake.agents.effects import unknown_effect
from incumbent.intake.agents.inventory import DESCRIBE_FEWER, bounded
from incumbent.intake.agents.reader import AgentReader, BareReader, bare_readers, fitting, whole_readers
from incumbent.intake.specification import (
    UNLISTED,
    AuthDeclaration,
    AuthMode,
    Effect,
    Knowledge,
    OwnFact,
    Parameter,
    Protocol,
    Specification,
    Tool,
)
from incumbent.taxonomy.config import Limits
from incumbent.text.did_you_mean import did_you_mean

Kind = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=100)]

_LARGEST: Final = 2**53
"""Whole numbers beyond this one are not the same in every JSON reader."""


def _fact(value: object) -> object:
    """``value`` of a fact; refuses what is neither a scalar nor a list of scalars."""
    for item in value if isinstance(value, list | tuple) else [value]:
        known = isinstance(item, str | bool | int | float)
        if not known or (isinstance(item, int | float) and abs(item) > _LARGEST):
            raise ConstraintError(
                "a text, a number up to 2^53, true or false, or a list of these",
                "write one of these; leave out what is not known",
            )
    return value


FactName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=100)]
Fact = Annotated[str | bool | int | float | Tuple[str | bool | int | float], BeforeValidator(_fact)]


# Docstrings of these two are in a schema that people read, so that the reason for a second class is here.  A `Tool` and
# a `Specification` say where each fact was declared; these say which keys were written, since only those override the
# extended files.
class AgentTool(FileModel):
    """A tool of the agent; an absent key is not declared."""

    name: Text
    description: str = Field(default="", description="what the tool is for, as described to the agent")
    protocol: Protocol = Field(default="function", description="how the tool is called")
    effect: Effect = Field(default="unknown", description="what a call does to the world")
    auth: AuthMode | None = Field(default=None, description="how a call is authenticated; one of auth_modes")
    confirmation: bool | None = Field(default=None, description="whether the user is asked before a call")
    card: bool | None = Field(default=None, description="whether the answer is shown as a card")
    parameters: Tuple[Text] | dict[Text, str] = Field(
        default=(), description="what the tool takes, in order: a list of names, or each name with its description"
    )

    @property
    def named_parameters(self) -> tuple[Parameter, ...]:
        """The parameters, from either form."""
        if isinstance(self.parameters, dict):
            return tuple(Parameter(name=name, description=text) for name, text in self.parameters.items())
        return tuple(Parameter(name=name) for name in self.parameters)


class AgentFile(FileModel):
    """``agent.yaml``: an agent of any platform; an absent key is not declared, or comes from the extended files."""

    model_config = ConfigDict(
        json_schema_extra={"anyOf": [{"required": ["extends"]}, {"required": ["name", "platform"]}]}
    )

    agent: FormatVersion = Field(description="version of this format")
    extends: Text | Annotated[Tuple[Text], Field(min_length=1)] | None = Field(
        default=None, description="files of the folder that the specification starts from, relative to this one"
    )
    name: Text | None = Field(default=None, description="name of the agent; may be left out with extends")
    platform: Text | None = Field(
        default=None, description="name of the platform that runs the agent, free text; may be left out with extends"
    )
    description: str | None = None
    instructions: str | None = None
    auth_modes: Tuple[AuthMode] | None = Field(
        default=None, description="how the agent's tools authenticate; [none] if they do not, never empty"
    )
    tools: Tuple[AgentTool] | None = Field(default=None, description="what the agent can call; [] for nothing")
    knowledge: Tuple[Kind] | None = Field(
        default=None, description="what the agent may answer from, such as web-search or files; [] for nothing"
    )
    starters: Tuple[Text] | None = Field(default=None, description="conversation starters shown to people")
    facts: dict[FactName, Fact] = Field(
        default_factory=dict, description="what else is true of the agent; the rules of your taxonomy give it meaning"
    )


class WholeAgentFile(AgentFile):
    """An ``agent.yaml`` without ``extends``, which must name the agent."""

    name: Text
    platform: Text


_SAYS: Final = "declared in agent.yaml"


def lay_over(
    base: Specification, own: Specification, agent: AgentFile, document: Document, limits: Limits
) -> Specification:
    """``base`` overridden by the ``agent`` in ``document``; ``own`` is the specification of ``agent`` alone.

    Given fields override those of a tool in ``base``.  Any other tool is new and must have a ``protocol``, so that a
    mistyped name adds no tool.  Raises :class:`InputError` with all such names.
    """
    problems: list[Problem] = []
    tools = _tools(base, own, agent, document, problems)
    if tools is not None and len(tools) > limits.tools:
        message = f"tools: {len(tools):,} tools with the extended ones, more than the limit of {limits.tools:,}"
        fix = "bring fewer tools, or raise limits.tools in config/curation.yaml"
        problems.append(document.problem(("tools",), message, fix))
    if problems:
        raise InputError(problems)
    auth = own.auth if agent.auth_modes is not None else _layered_auth(base, tools)
    decided = tuple(unknown_effect(tool.name) for tool in agent.tools or () if "effect" in tool.model_fields_set)
    # Drop notes that ask for an effect which is now given.
    notes = [*(note for note in base.notes if not note.message.endswith(decided)), *own.notes]
    if agent.auth_modes is not None:
        notes += _disagreements(agent, tools, document)
    return Specification(
        platform=own.platform or base.platform,
        name=own.name or base.name,
        description=base.description if agent.description is None else own.description,
        instructions=base.instructions if agent.instructions is None else own.instructions,
        auth=auth,
        tools=tools,
        knowledge=base.knowledge if agent.knowledge is None else own.knowledge,
        starters=base.starters if agent.starters is None else own.starters,
        own_facts=own.own_facts,
        notes=tuple(notes),
    )


def _tools(
    base: Specification, own: Specification, agent: AgentFile, document: Document, problems: list[Problem]
) -> tuple[Tool, ...] | None:
    if agent.tools is None or own.tools is None:
        return base.tools
    if base.tools is None:
        return own.tools
    if not agent.tools and base.tools:
        message = "tools: an empty list takes no tool of the extended files away"
        problems.append(document.problem(("tools",), message, "leave it out, or extend other files"))
    tools = list(base.tools)
    places = {tool.name: index for index, tool in reversed(list(enumerate(tools)))}
    for index, (said, tool) in enumerate(zip(agent.tools, own.tools, strict=True)):
        if tool.name in places:
            place = places[tool.name]
            tools[place] = _overridden(tools[place], said, tool)
        elif "protocol" in said.model_fields_set:
            tools.append(tool if tool.effect == "unknown" else replace(tool, effect_from=_SAYS))
        else:
            message = f"tools[{index}].name: no extended file has a tool {tool.name!r}{did_you_mean(tool.name, places)}"
            fix = "correct the name; a new tool says its `protocol`"
            problems.append(document.problem(("tools", index, "name"), message, fix))
    return tuple(tools)


def _overridden(base: Tool, said: AgentTool, own: Tool) -> Tool:
    """``base`` with the fields given in ``agent.yaml``; absent fields are unchanged."""
    given = said.model_fields_set - {"name"}
    changes: dict[str, Any] = {key: getattr(own, key) for key in given}
    if not changes:
        return base
    if "effect" in given:
        changes["effect_from"] = _SAYS
    return replace(base, **changes, declared_in=f"{base.declared_in}; {own.declared_in}")


def _layered_auth(base: Specification, tools: tuple[Tool, ...] | None) -> tuple[AuthDeclaration, ...] | None:
    """The modes of ``base`` after tools changed theirs: without modes no longer used, with the new ones."""
    before = {tool.auth for tool in base.tools or ()}
    after = {tool.auth: tool for tool in reversed(tools or ()) if tool.auth is not None}
    kept = [item for item in base.auth or () if item.mode in after or item.mode not in before]
    known = {item.mode for item in kept}
    new = {mode: tool.declared_in for mode, tool in after.items() if mode not in known}
    return (*kept, *(AuthDeclaration(mode=mode, declared_in=new[mode]) for mode in sorted(new))) or None


def _disagreements(agent: AgentFile, tools: tuple[Tool, ...] | None, document: Document) -> list[Problem]:
    """A note on the first tool of each mode that is not in ``auth_modes``."""
    odd: dict[str, Tool] = {}
    for tool in tools or ():
        if tool.auth is not None and tool.auth not in (agent.auth_modes or ()):
            odd.setdefault(tool.auth, tool)
    return [
        document.problem(
            ("auth_modes",),
            f"auth_modes: does not name {mode!r}, which {tool.declared_in} declares for {tool.name!r}",
            "name it, or give the tool its `auth`",
        )
        for mode, tool in odd.items()
    ]


Item = TypeVar("Item")


def read_bases(
    snapshot: Snapshot, path: str, source: Parsed, references: Sequence[tuple[Path, str]], limits: Limits
) -> Specification:
    """The joint specification of the files in ``references`` of ``source``.

    Raises :class:`InputError` with the faults of all of them: a file that is missing, outside the folder, broken, of an
    unknown format, named twice, or itself an ``agent.yaml``.
    """
    faults: list[Problem] = []
    found: list[tuple[Node, Specification]] = []
    seen = {path}
    for at, reference in references:
        place = Node(source, at, reference)
        target = path_beside(path, reference)
        if target is None:
            message = f"{place.name}: {reference} leads out of the folder, and nothing outside is ever read"
            faults.append(place.problem(message, "put a copy of the file into the folder, and name that"))
        elif target in seen:
            message = "the file extends itself" if target == path else f"{reference} is named twice"
            faults.append(place.problem(f"{place.name}: {message}", "name every file once, and other files only"))
        else:
            seen.add(target)
            try:
                found.append((place, _read(snapshot, target, place, limits)))
            except InputError as error:
                faults += error.problems
    if faults:
        raise InputError(faults)
    return _joined(found, source, limits)


def _read(snapshot: Snapshot, path: str, place: Node, limits: Limits) -> Specification:
    """The specification in the file at ``path``, by the one reader that recognises it."""
    name = snapshot.name(path)
    try:
        content = snapshot.read(path, limits.reading)
    except InputError as error:
        message = f"{place.name}: {error.problems[0].message}"
        near = "" if snapshot.exists(path) else did_you_mean(path, snapshot.paths())
        raise InputError(
            [place.problem(f"{message}{near}", "name a file of the folder, relative to this one")]
        ) from None
    document = parse(content, name, limits.reading)
    fit = fitting(document)
    if len(fit) == 1:
        if isinstance(fit[0], BareReader):
            return fit[0].read(snapshot, path, document, limits)
        if not fit[0].nests:
            return fit[0].read(snapshot, path, limits)
    if not fit:
        packages = [reader.looked_for for reader in whole_readers() if not reader.nests]
        looked_for = "; ".join([*packages, *(reader.looked_for for reader in bare_readers())])
        message = f"{name} is no agent specification; looked for: {looked_for}"
        fix = "name a file of one of these formats"
    elif len(fit) == 1:
        message, fix = f"{name} is an agent.yaml as well", "name the files that it describes or extends"
    else:
        message = f"{name} can be read in several ways: {', '.join(reader.name for reader in fit)}"
        fix = "split the file"
    raise InputError([place.problem(f"{place.name}: {message}", fix)])


def _joined(found: Sequence[tuple[Node, Specification]], source: Parsed, limits: Limits) -> Specification:
    """The specifications merged: the first name, platform and description; all tools, auth, knowledge, starters."""
    specifications = [specification for _, specification in found]
    notes = list(chain.from_iterable(item.notes for item in specifications))
    tools: list[Tool] = []
    known: dict[str, Tool] = {}
    for place, specification in found:
        for tool in specification.tools or ():
            first = known.setdefault(tool.name, tool)
            if first is tool or tool.name == UNLISTED:
                tools.append(tool)
            else:
                message = (
                    f"{place.name}: the tool {tool.name!r} ({tool.declared_in}) is there already "
                    f"({first.declared_in}); the first one counts"
                )
                notes.append(place.problem(message, "name only one of the files, or rename the tool in one"))
    if len(tools) > limits.tools:
        message = f"extends: {len(tools):,} tools together, more than the limit of {limits.tools:,}"
        fix = "extend fewer files, or raise limits.tools in config/curation.yaml"
        raise InputError([Node(source, ("extends",), None).problem(message, fix)])
    return Specification(
        platform=next((item.platform for item in specifications if item.platform), ""),
        name=next((item.name for item in specifications if item.name), ""),
        description=next((item.description for item in specifications if item.description), ""),
        instructions=next((item.instructions for item in specifications if item.instructions), ""),
        auth=_all([item.auth for item in specifications]),
        tools=None if all(item.tools is None for item in specifications) else tuple(tools),
        knowledge=_all([item.knowledge for item in specifications]),
        starters=tuple(dict.fromkeys(chain.from_iterable(item.starters for item in specifications))),
        notes=tuple(dict.fromkeys(notes)),
    )


def _all(parts: Sequence[tuple[Item, ...] | None]) -> tuple[Item, ...] | None:
    """All parts together, without duplicates; ``None`` if every part is ``None``."""
    said = [part for part in parts if part is not None]
    return tuple(dict.fromkeys(chain.from_iterable(said))) if said else None


NAMES: Final = ("agent.yaml", "agent.yml")


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
        """Every ``agent.yaml`` with a version under ``agent``, and every broken one, so that its fault is reported."""
        found = []
        for path in snapshot.paths():
            if posixpath.basename(path).casefold() in NAMES:
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
        # Check this first: a file has room for a hundred thousand tools.
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
    """Whether ``agent`` is a version, even a wrong one; other platforms have names or whole agents there."""
    value = root.get("agent", {})
    return re.match(r"[vV]?\d", value) is not None if isinstance(value, str) else not isinstance(value, dict | list)


def _references(document: Document) -> list[tuple[Path, str]]:
    """The paths and the references of ``extends``; the model reports values that are not strings."""
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
    if not _few(agent.facts, limits):
        message = (
            f"facts: more than the limit of {limits.tools:,} values, those of lists included, or of "
            f"{limits.turn_characters:,} characters together"
        )
        problems.append(document.problem(("facts",), message, "keep to the facts that the rules of the taxonomy read"))
    return problems


def _few(facts: Mapping[str, OwnFact], limits: Limits) -> bool:
    """Whether ``facts`` keep to the limits."""
    items = [item for value in facts.values() for item in (value if isinstance(value, tuple) else (value,))]
    characters = sum(len(text) for text in (*facts, *items) if isinstance(text, str))
    return max(len(facts), len(items)) <= limits.tools and characters <= limits.turn_characters


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
        own_facts=agent.facts,
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
    """The auth in ``auth_modes``; without it, the auth of the tools."""
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
    """Notes on kinds of knowledge that look mistyped; a custom kind is valid if the taxonomy uses it."""
    return [
        document.problem(
            ("knowledge", index),
            f"knowledge[{index}]: {kind!r} is not a kind of declarative agents{did_you_mean(kind, NORMAL_KINDS)}",
            "use that kind if it is meant; keep this one if your taxonomy speaks of it",
        )
        for index, kind in enumerate(agent.knowledge or ())
        if kind not in NORMAL_KINDS and did_you_mean(kind, NORMAL_KINDS)
    ]


READER: Final[AgentReader] = AgentYamlReader()
