"""The facts that ``when`` rules are about: what each source has, of which kind, and with which values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from bot.taxonomy.model import Source

FACTS: Final = ("platform", "name", "auth_modes", "tools", "knowledge", "starters")
"""The fields of the normalised specification."""

TOOL_FACTS: Final = ("name", "protocol", "effect", "confirmation", "card", "auth")
"""The fields of a tool: of each item of ``tools``, or of the one tool that a ``tool`` rule is about."""

STRUCTURE_FACTS: Final = ("user_turns", "attachments")
"""What is counted in a query: its user turns (≥ 1), and the kinds of attachments that the eval set names (or null)."""

AUTH_MODES: Final = ("none", "api-key", "oauth", "sso", "other")
PROTOCOLS: Final = ("rest", "mcp", "local", "function")
EFFECTS: Final = ("read", "write", "unknown")
ATTACHMENT_KINDS: Final = ("image", "audio", "file")
"""The values of fields that have no others."""

Kind: TypeAlias = Literal["mapping", "list", "text", "number", "boolean"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shape:
    """What a part of the facts is: a mapping with ``fields``, a list of ``items``, or a single value.

    One is another only where it is the same object: to compare what they hold takes exponentially long where a rule
    nests each in the next.

    ``name`` is how messages call it.  ``values`` are all that it can be, where that is known; null aside, which every
    part can be.  ``None`` in place of a shape: it can be anything.
    """

    name: str
    kind: Kind
    fields: Mapping[str, Shape | None] = field(default_factory=dict)
    items: Shape | None = None
    values: tuple[str, ...] = ()


def _value(name: str, kind: Kind = "text", values: tuple[str, ...] = ()) -> Shape:
    return Shape(name=repr(name), kind=kind, values=values)


def _values(name: str, values: tuple[str, ...] = ()) -> Shape:
    """A list of texts."""
    items = Shape(name=f"an item of {name!r}", kind="text", values=values)
    return Shape(name=repr(name), kind="list", items=items)


_ONE_TOOL: Final = Shape(
    name="one tool",
    kind="mapping",
    fields={
        "name": _value("name"),
        "protocol": _value("protocol", values=PROTOCOLS),
        "effect": _value("effect", values=EFFECTS),
        "confirmation": _value("confirmation", "boolean"),
        "card": _value("card", "boolean"),
        "auth": _value("auth", values=AUTH_MODES),
    },
)
_ONE_SPECIFICATION: Final = Shape(
    name="the normalised specification",
    kind="mapping",
    fields={
        "platform": _value("platform"),
        "name": _value("name"),
        "auth_modes": _values("auth_modes", AUTH_MODES),
        "tools": Shape(name="'tools'", kind="list", items=_ONE_TOOL),
        # An unknown kind of knowledge keeps its own name.
        "knowledge": _values("knowledge"),
        "starters": _values("starters"),
    },
)
_ONE_STRUCTURE: Final = Shape(
    name="the structure of the query",
    kind="mapping",
    fields={
        "user_turns": _value("user_turns", "number"),
        "attachments": _values("attachments", ATTACHMENT_KINDS),
    },
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What the rules of a source are evaluated over.

    ``inner`` are the fields of the items of its lists.  ``probes`` are facts of every kind that it can have.
    """

    shape: Shape
    inner: tuple[str, ...] = ()
    probes: tuple[Mapping[str, object], ...]

    @property
    def name(self) -> str:
        """How messages call it."""
        return self.shape.name

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of its own."""
        return tuple(self.shape.fields)


# Tools of every kind of value.
_TOOL: Final[dict[str, object]] = {
    "name": "a",
    "protocol": "rest",
    "effect": "read",
    "confirmation": None,
    "card": False,
    "auth": None,
}
_TOOLS: Final[tuple[dict[str, object], ...]] = (
    _TOOL,
    _TOOL | {"protocol": "mcp", "effect": "write", "confirmation": True, "card": True, "auth": "oauth"},
    _TOOL | {"protocol": "local", "effect": "unknown", "confirmation": False, "auth": "none"},
    _TOOL | {"protocol": "function", "effect": "write", "card": None, "auth": "api-key"},
)
# Nothing declared, everything declared to be absent, and each kind of value.
_SPECIFICATIONS: Final[tuple[Mapping[str, object], ...]] = tuple(
    {
        "platform": platform,
        "name": platform,
        "auth_modes": modes,
        "tools": tools,
        "knowledge": knowledge,
        "starters": ["a"] if platform else [],
    }
    for platform, modes, tools, knowledge in (
        ("", None, None, None),
        ("a", None, [], None),
        ("a", None, None, []),
        ("a", ["none"], [], []),
        ("a", ["api-key", "oauth", "other", "sso"], list(_TOOLS), ["files", "web-search"]),
        *(("a", ["oauth"], [tool], ["files"]) for tool in _TOOLS),
    )
)
_STRUCTURES: Final[tuple[Mapping[str, object], ...]] = tuple(
    {"user_turns": turns, "attachments": attachments}
    for turns in (1, 3)
    for attachments in (None, [], ["image"], ["audio"], ["file"], ["audio", "file", "image"])
)

_SPECIFICATION: Final = Subject(shape=_ONE_SPECIFICATION, inner=TOOL_FACTS, probes=_SPECIFICATIONS)
SUBJECTS: Final[Mapping[Source, Subject]] = {
    "spec": _SPECIFICATION,
    "tool": Subject(shape=_ONE_TOOL, probes=_TOOLS),
    "structure": Subject(shape=_ONE_STRUCTURE, probes=_STRUCTURES),
    "intent": _SPECIFICATION,
}
"""What the rules of each source are about; that of an ``intent`` capability is a gate over the specification."""

CONDITIONS: Final[Mapping[Source, tuple[str, ...]]] = {
    "spec": ("contains(auth_modes, 'oauth')", "length(tools[?effect == 'write']) > `0`", "platform == 'x'"),
    "tool": ("effect == 'write'", "contains(name, 'x')", "card"),
    "structure": ("contains(attachments, 'image')", "user_turns > `1`"),
    "intent": ("contains(auth_modes, 'oauth')", "length(tools[?effect == 'write']) > `0`", "platform == 'x'"),
}
"""Rules of each source."""
_OVER_TOOLS: Final[Mapping[Kind, str]] = {
    "list": "compare its items, as in contains(auth_modes, 'oauth') or length(tools[?effect == 'write']) > `0`",
    "text": "compare the text itself, as in platform == 'x' or contains(auth_modes, 'oauth')",
    "number": "compare the number itself, as in length(tools) > `1`",
    "boolean": "use it as it is, as in length(tools[?card && !confirmation]) > `0`",
}
COMPARED: Final[Mapping[Source, Mapping[Kind, str]]] = {
    "spec": _OVER_TOOLS,
    "tool": {
        "list": "compare its items, as in contains([effect, auth], 'none')",
        "text": "compare the text itself, as in effect == 'write'",
        "number": "compare the number itself, as in length(name) > `1`",
        "boolean": "use it as it is, as in card && !confirmation",
    },
    "structure": {
        "list": "compare its items, as in contains(attachments, 'image')",
        "text": "compare the text itself, as in contains(attachments, 'image')",
        "number": "compare the number itself, as in user_turns > `1`",
        "boolean": "use it as it is, as in !contains(attachments, 'image')",
    },
    "intent": _OVER_TOOLS,
}
"""How a rule of each source uses a part of each kind."""
