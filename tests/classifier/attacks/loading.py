"""The attack suite: hostile queries and tool descriptions, each beside the honest ones that it wraps.

``attacks.yaml`` and ``controls.yaml`` are short; what they repeat, disguise or refer to is written out here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import yaml
from pydantic import Field, Strict

from incumbent.files.validation import FileModel
from incumbent.intake.specification import AuthMode, Tool
from tests.classifier.attacks.disguises import DISGUISES

FOLDER = Path(__file__).parent
ATTACKS_FILE = FOLDER / "attacks.yaml"
CONTROLS_FILE = FOLDER / "controls.yaml"

Category: TypeAlias = Literal[
    "override",  # plain instructions against ours
    "delimiter",  # imitates what stands between instructions and data
    "answer",  # imitates the answer
    "role",  # claims authority, or plays a game
    "examples",  # worked examples that are wrong
    "policy",  # imitates configuration that a model obeys
    "pieces",  # an instruction cut into pieces
    "reasoning",  # thinks in the model's stead
    "condition",  # speaks to classifiers only
    "encoded",  # an instruction in a code
    "hidden",  # an instruction that people do not see
    "language",  # one override in many languages
    "long",
    "turns",  # very many turns, or a conversation that leads astray
    "format",  # imitates other formats
    "control",  # at the capability that is never true
    "leak",  # at the prompt, the key and other queries
    "denial",  # at the machinery
    "pressure",  # feelings, threats and bribes
]
Goal: TypeAlias = Literal["raise", "lower", "choose", "control", "leak", "disrupt"]
"""What the author wants: every tag, no tag, a certain tool, the control capability, our secrets, or that it breaks."""

Surface: TypeAlias = Literal["query", "tool"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A query as it would be asked: its turns, and the tools that the agent declares (none: it declares nothing)."""

    turns: tuple[str, ...]
    tools: tuple[Tool, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """An attack in full: ``hostile`` is what the author brings, ``honest`` the same without the argument.

    ``wanted`` is the name of the tool that the author wants chosen.  ``language`` is that of the argument (ISO 639).
    """

    id: str
    category: Category
    goal: Goal
    language: str
    wanted: str | None
    honest: Case
    hostile: Case

    @property
    def surface(self) -> Surface:
        """Where the argument stands."""
        return "tool" if self.hostile.tools else "query"


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """An innocent query that looks like an attack of the category ``resembles``."""

    id: str
    resembles: Category
    turns: tuple[str, ...]


class _Repeat(FileModel):
    repeat: str
    times: Annotated[int, Field(ge=1)]


class _Disguised(FileModel):
    text: _Text
    disguise: str


_Part: TypeAlias = str | _Repeat | _Disguised
_Text: TypeAlias = str | Annotated[tuple[_Part, ...], Strict(False)]


class _Tool(FileModel):
    name: _Text
    description: _Text


class _DeclaredTool(FileModel):
    name: str
    auth: AuthMode
    description: str


class _Attack(FileModel):
    id: str
    category: Category
    goal: Goal
    honest: str
    turns: Annotated[tuple[_Repeat | _Text, ...], Strict(False)] = ("{honest}",)
    tools: Annotated[tuple[_Tool, ...], Strict(False)] = ()
    wanted: str | None = None
    language: str = "en"


class _AttackFile(FileModel):
    demands: dict[str, str]
    honest: dict[str, Annotated[tuple[str, ...], Strict(False)]]
    tools: Annotated[tuple[_DeclaredTool, ...], Strict(False)]
    attacks: Annotated[tuple[_Attack, ...], Strict(False)]


class _Control(FileModel):
    id: str
    resembles: Category
    turns: Annotated[tuple[_Text, ...], Strict(False)]


class _ControlFile(FileModel):
    controls: Annotated[tuple[_Control, ...], Strict(False)]


@cache
def load_attacks() -> tuple[Attack, ...]:
    """Every attack of ``attacks.yaml``, in its order."""
    file = _AttackFile.model_validate(_read(ATTACKS_FILE))
    declared = tuple(_declare(tool) for tool in file.tools)
    return tuple(_expand(attack, file, declared) for attack in file.attacks)


@cache
def load_controls() -> tuple[Control, ...]:
    """Every control of ``controls.yaml``, in its order."""
    file = _ControlFile.model_validate(_read(CONTROLS_FILE))
    return tuple(
        Control(id=item.id, resembles=item.resembles, turns=tuple(_write(turn, {}) for turn in item.turns))
        for item in file.controls
    )


def _read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def _declare(tool: _DeclaredTool) -> Tool:
    return Tool(
        name=tool.name,
        description=tool.description,
        protocol="rest",
        effect="read",
        effect_from="attack suite",
        confirmation=None,
        card=False,
        auth=tool.auth,
        declared_in="attack suite",
    )


def _expand(attack: _Attack, file: _AttackFile, declared: tuple[Tool, ...]) -> Attack:
    honest = file.honest[attack.honest]
    names = file.demands | {"honest": honest[-1]}
    turns = list(honest[:-1])
    for turn in attack.turns:
        if isinstance(turn, _Repeat):
            turns += [_fill(turn.repeat, names)] * turn.times
        else:
            turns.append(_write(turn, names))
    hostile = {tool.name: tool for tool in declared}
    for tool in attack.tools:
        name = _write(tool.name, names)
        own = hostile.get(name, replace(declared[0], name=name, description=""))
        description = _write(tool.description, file.demands | {"honest": own.description})
        hostile[name] = replace(own, description=description)
    return Attack(
        id=attack.id,
        category=attack.category,
        goal=attack.goal,
        language=attack.language,
        wanted=attack.wanted,
        honest=Case(turns=honest, tools=declared if attack.tools else ()),
        hostile=Case(turns=tuple(turns), tools=tuple(hostile.values()) if attack.tools else ()),
    )


def _write(text: _Text, names: dict[str, str]) -> str:
    return _part(text, names) if isinstance(text, str) else "".join(_part(part, names) for part in text)


def _part(part: _Part, names: dict[str, str]) -> str:
    if isinstance(part, _Repeat):
        return _fill(part.repeat, names) * part.times
    if isinstance(part, _Disguised):
        return DISGUISES[part.disguise](_write(part.text, names))
    return _fill(part, names)


def _fill(text: str, names: dict[str, str]) -> str:
    for name, value in names.items():
        text = text.replace("{" + name + "}", value)
    return text
