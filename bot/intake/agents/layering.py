"""What an ``agent.yaml`` says itself, laid over the files that it extends."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from bot.config import Limits
from bot.errors import InputError, Problem
from bot.files.documents import Document
from bot.intake.agents.agent_file import AgentFile, AgentTool
from bot.intake.agents.effects import unknown_effect
from bot.intake.specification import AuthDeclaration, Specification, Tool
from bot.text.did_you_mean import perhaps

_SAYS: Final = "declared in agent.yaml"


def lay_over(
    base: Specification, own: Specification, agent: AgentFile, document: Document, limits: Limits
) -> Specification:
    """``base`` with what the ``agent`` in ``document`` says, which ``own`` is by itself.

    A tool that ``base`` has takes over the fields that are given for it; any other tool is a new one and must say its
    ``protocol``, so that a slip in a name adds no tool.  Raises :class:`InputError` with all such slips.
    """
    problems: list[Problem] = []
    tools = _tools(base, own, agent, document, problems)
    if tools is not None and len(tools) > limits.tools:
        message = f"tools: {len(tools):,} tools with the extended ones, more than the limit of {limits.tools:,}"
        fix = "bring fewer tools, or raise limits.tools in config/curation.yaml"
        problems.append(document.problem(("tools",), message, fix))
    if problems:
        raise InputError(problems)
    auth = own.auth if agent.auth_modes is not None else _auth(base, tools)
    decided = tuple(unknown_effect(tool.name) for tool in agent.tools or () if "effect" in tool.model_fields_set)
    # What a remark asks for is done.
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
            message = f"tools[{index}].name: no extended file has a tool {tool.name!r}{perhaps(tool.name, places)}"
            fix = "correct the name; a new tool says its `protocol`"
            problems.append(document.problem(("tools", index, "name"), message, fix))
    return tuple(tools)


def _overridden(base: Tool, said: AgentTool, own: Tool) -> Tool:
    """``base`` with the fields that ``agent.yaml`` gives, absent ones as they were."""
    given = said.model_fields_set - {"name"}
    changes: dict[str, Any] = {key: getattr(own, key) for key in given}
    if not changes:
        return base
    if "effect" in given:
        changes["effect_from"] = _SAYS
    return replace(base, **changes, declared_in=f"{base.declared_in}; {own.declared_in}")


def _auth(base: Specification, tools: tuple[Tool, ...] | None) -> tuple[AuthDeclaration, ...] | None:
    """The modes of ``base``, without those of tools that have another one now, and with these."""
    before = {tool.auth for tool in base.tools or ()}
    after = {tool.auth: tool for tool in reversed(tools or ()) if tool.auth is not None}
    kept = [item for item in base.auth or () if item.mode in after or item.mode not in before]
    known = {item.mode for item in kept}
    new = {mode: tool.declared_in for mode, tool in after.items() if mode not in known}
    return (*kept, *(AuthDeclaration(mode=mode, declared_in=new[mode]) for mode in sorted(new))) or None


def _disagreements(agent: AgentFile, tools: tuple[Tool, ...] | None, document: Document) -> list[Problem]:
    """A remark on the first tool of each mode that ``auth_modes`` does not name."""
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
