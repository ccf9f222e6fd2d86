"""Expected tool calls, and the forms in which a value states them: names, objects, lists, groups and call syntax."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, repeat
from typing import Any, Final, TypeAlias

from incumbent.files.documents import Data, as_list, as_mapping
from incumbent.intake.eval_sets.table import plain_key
from incumbent.intake.expectation_keys import (
    Role,
    group_role,
    is_claimed,
    is_negative,
    role_of,
    states_optional,
    states_unwanted,
)

IsTool: TypeAlias = Callable[[str], bool]
"""Whether a name means a declared tool."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """An expected tool call, or an ``unwanted`` one that must not be made; ``arguments`` are unchanged.

    ``others`` are the tools of which any may be called in its place.  By ``id`` others refer to its result.
    """

    name: str
    arguments: Data = None
    unwanted: bool = False
    others: tuple[str, ...] = ()
    id: str = field(default="", compare=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The tools of which any will do."""
        return (self.name, *self.others)


@dataclass(frozen=True, slots=True)
class ToolStatement:
    """A statement about tools at one place: the ``calls`` in order, or that there must be ``none``.

    ``by_turn`` has the same calls for each turn of the query, if they are stated so.
    """

    calls: tuple[ToolCall, ...] = ()
    none: bool = False
    by_turn: tuple[tuple[ToolCall, ...], ...] = ()


def no_tool(name: str) -> bool:
    """An :data:`IsTool` where no declared tools are known."""
    return False


def each_once(calls: Iterable[ToolCall]) -> Iterator[ToolCall]:
    """``calls`` without duplicates."""
    seen: set[tuple[object, ...]] = set()
    for number, call in enumerate(calls):
        # What is nested too deeply to compare equals nothing; this only happens if the limits are far too high.
        key = (call.names, call.unwanted, canonical(call.arguments) or f"#{number}")
        if key not in seen:
            seen.add(key)
            yield call


def canonical(arguments: Data) -> str | None:
    """A text that equal ``arguments`` have in common, as JSON in a text or not; ``None`` if nested too deeply."""
    try:
        return json.dumps(decoded(arguments), sort_keys=True)
    except (RecursionError, ValueError):
        return None


def repeated(statements: Iterable[ToolStatement]) -> tuple[ToolCall, ...]:
    """The calls that must be made, in order, without repetitions between statements.

    A name counts as often as in the statement that has it most often, and with the arguments of the first that has any.
    """
    found: list[ToolCall] = []
    places: dict[tuple[tuple[str, ...], int], int] = {}
    for statement in statements:
        here: Counter[tuple[str, ...]] = Counter()
        for call in statement.calls:
            if call.unwanted:
                continue
            here[call.names] += 1
            key = (call.names, here[call.names])
            if key not in places:
                places[key] = len(found)
                found.append(call)
            elif found[places[key]].arguments is None:
                found[places[key]] = call
    return tuple(found)


_GROUPS: Final = 4
"""Maximum depth of groups in a value."""


def stated(
    value: Data, role: Role, is_tool: IsTool, turns: int = 1, *, empty: bool = False, depth: int = _GROUPS
) -> ToolStatement:
    """The statement in ``value`` under a key of this ``role``, for a query of so many ``turns``.

    With ``empty``, an empty list means that no tool is called; words that say so always do.  ``depth`` is that to which
    groups are read.
    """
    found = decoded(value)
    if role.alternatives:
        calls = stated(found, replace(role, alternatives=False), is_tool, depth=depth).calls
        return ToolStatement(_alternatives(calls))
    if (role.unwanted and (found is True or found in _EVERY)) or (role.denies and found is False):
        return ToolStatement(none=True)
    if isinstance(found, str):
        return _stated_in_text(found, role)
    items = as_list(found) or ([found] if isinstance(found, dict) else [])
    if _is_pair(items):
        return ToolStatement(tuple(_pair(items, role)))
    listed = _by_turn(items, turns)
    if listed:
        each = [stated(item, role, is_tool, 0, empty=empty, depth=depth) for item in listed]
        by_turn = tuple(statement.calls for statement in each)
        calls = tuple(call for found in by_turn for call in found)
        return ToolStatement(calls, all(statement.none for statement in each), by_turn)
    calls = tuple(call for item in items for call in calls_in(item, is_tool, role, depth))
    said = [item.strip() for item in items if isinstance(item, str)]
    is_empty = found == [] and empty
    if isinstance(found, dict):
        # An empty list under `expected`, in what may also be the tools that there are, is a statement as well.
        is_empty = any(value == [] and (is_claimed(key) or (empty and _is_claim(key))) for key, value in found.items())
    none = not calls and not role.unwanted and (is_empty or (role.is_plain and any(map(_NO_CALL.fullmatch, said))))
    return ToolStatement(calls, none)


def _is_claim(key: str) -> bool:
    """Whether an empty list under ``key``, in a value that states calls, is an empty list of calls: ``tool_names``."""
    role = group_role(key)
    return role is not None and role.is_claim


def _by_turn(items: list[Data], turns: int) -> list[Data]:
    """``items`` if each is what one of so many ``turns`` states, or by the number of the turn that each has; else
    empty.
    """
    if items and len(items) == turns and all(isinstance(item, list) for item in items):
        return items
    if 1 < len(items) == turns and all(any(map(role_of, as_mapping(item))) for item in items):
        return items
    numbers = [
        next((value for key, value in as_mapping(item).items() if plain_key(key) in _TURNS), None) for item in items
    ]
    said = [_TURN.fullmatch(str(number).strip()) for number in numbers]
    if turns < 2 or not items or not all(said):
        return []
    found: dict[int, list[Data]] = {}
    for match, item in zip(said, items, strict=True):
        found.setdefault(0 if match is None else int(match[1]), []).append(item)
    return [found[number] for number in sorted(found)]


_TURNS: Final = frozenset({"turn", "turnindex", "turnnumber", "turnid"})
"""Keys of the number of a turn."""
_TURN: Final = re.compile(r"(?:turn|t)?[ _-]?(\d{1,4})(?:\.0)?", re.IGNORECASE)
_NO_CALL: Final = re.compile(
    r"no(?:ne)?|no[ _-]?(?:tool|function|action)s?(?:[ _-]?calls?)?|no[ _-]?calls?", re.IGNORECASE
)
"""Ways to say that no tool is called."""
EMPTY_CELL: Final = re.compile(r"|-|null|n/a|true|false|yes", re.IGNORECASE)
"""Ways to leave a cell empty."""
_NO_NAME: Final = re.compile(rf"{EMPTY_CELL.pattern}|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", re.IGNORECASE)
"""Ways to leave a cell empty, and numbers, which say nothing."""
_SEPARATORS: Final = re.compile(r"[|;,\n]|->|=>|→|\s(?:then|and)\s")
_BULLET: Final = re.compile(r"^[ \t]*(?:[-*•]|\d{1,3}[.)])\s", re.MULTILINE)
_EVERY: Final[tuple[Data, ...]] = ("*", ["*"])
"""Values by which every call is forbidden."""
_LIST: Final = re.compile(r"\[([^\[\]{}()\"]*)\]")
"""A list of names as Python or a table writes it, which is no JSON."""
_QUOTES: Final = "\"'`"
_OR: Final = re.compile(r"\sor\s", re.IGNORECASE)
_EITHER: Final = re.compile(r"either\s+", re.IGNORECASE)
_MARK: Final = re.compile(r"([!~]|-(?=\w)|(?:not|no|never)[:\s])|\+(?=\w)")
"""Before the name of a tool: that it must not be called, or that it must."""
_ARROW: Final = re.compile(r"->|=>|→|\sthen\s")


def _stated_in_text(text: str, role: Role) -> ToolStatement:
    """The statement in a ``text``: calls, names, or that there is none; nothing in prose."""
    calls = call_syntax(text)
    if calls:
        return ToolStatement(tuple(replace(call, unwanted=role.unwanted) for call in calls))
    listed = _LIST.fullmatch(text.strip())
    # The format's reader reports invalid JSON.
    bare = "" if listed is None and text.lstrip().startswith(("[", "{")) else _BULLET.sub("", text)
    bare = bare if listed is None else listed[1]
    parts = [_choice(part) for part in _SEPARATORS.split(bare)]
    names = [name for part in parts for name in part]
    if any(map(_NO_CALL.fullmatch, names)) and not any(map(_is_name, names)):
        return ToolStatement(none=role.is_plain and not role.unwanted)
    # If one part has white space, the whole text is prose.
    if any(len(name.split()) > 1 for name in names):
        return ToolStatement()
    named = [tuple(filter(_is_name, part)) for part in parts]
    return ToolStatement(tuple(_named(part, role) for part in named if part))


def _choice(text: str) -> list[str]:
    """The names in ``text`` of which any will do, without quotes."""
    bare = text.strip()
    either = _EITHER.match(bare)
    return [name.strip().strip(_QUOTES).strip() for name in _OR.split(bare[either.end() :] if either else bare)]


def _named(names: Sequence[str], role: Role) -> ToolCall:
    """The call of one of ``names``; one with the mark of what is never called must not be made."""
    unmarked = [_unmarked(name) for name in names]
    bare = [name for name, _ in unmarked]
    return ToolCall(bare[0], None, role.unwanted or unmarked[0][1], tuple(bare[1:]))


def _unmarked(text: str) -> tuple[str, bool]:
    """``text`` without the mark before it, and whether the mark says that it must not be called."""
    bare = text.strip()
    mark = _MARK.match(bare)
    return (bare, False) if mark is None else (bare[mark.end() :].strip(), bool(mark[1]))


def _is_name(text: str) -> bool:
    """Whether ``text`` may be the name of a tool, not a word for none."""
    said = text.strip()
    return _NO_NAME.fullmatch(said) is None and _NO_CALL.fullmatch(said) is None


def _alternatives(calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
    """``calls`` of which any will do, as one."""
    if len(calls) < 2:
        return calls
    names = tuple(dict.fromkeys(name for call in calls for name in call.names))
    return (ToolCall(names[0], None, calls[0].unwanted, names[1:]),)


def _is_pair(items: list[Data]) -> bool:
    """Whether ``items`` is a list of names and a mapping of their arguments."""
    match items:
        case [[*names], dict()]:
            return bool(names) and all(isinstance(name, str) for name in names)
        case _:
            return False


def _pair(items: list[Data], role: Role) -> Iterator[ToolCall]:
    arguments = as_mapping(items[1])
    for name in as_list(items[0]):
        if isinstance(name, str) and name.strip():
            yield ToolCall(name.strip(), arguments.get(name), role.unwanted)


_INNER: Final = frozenset({"function", "functioncall", "tool", "tooluse", "toolcall", "call", "action"})
"""Keys below which a call may be in an object."""
_NAMES: Final = (
    "command",
    "tool",
    "toolname",
    "function",
    "functionname",
    "action",
    "actionname",
    "name",
    "operationid",
)
"""Keys of a tool's name.  In Vally `name` may be the server's, and the command is the tool."""
_ARGUMENTS: Final = frozenset(
    {
        *("arguments", "args", "kwargs", "parameters", "params", "input", "inputs", "inputparameters"),
        *("toolinput", "toolargs", "toolarguments", "toolparameters", "toolparams"),
    }
)
_SCHEMAS: Final = ("parameters", "input_schema", "inputSchema")
_TIMES: Final = frozenset({"times", "count"})
_MOST: Final = _TIMES | {"max", "maxcalls"}
_IDS: Final = frozenset({"id", "callid", "toolcallid"})


def _number(value: Data) -> float | None:
    """How often a call is made by what stands behind its name: a number, a word, or a mapping of nothing but that.

    ``None``: it says nothing of it.
    """
    if isinstance(value, str):
        return 0 if is_negative(value) else None
    if isinstance(value, dict) and value and all(plain_key(key) in _MOST for key in value):
        return min(float(each) if isinstance(each, int) else 1.0 for each in value.values())
    return value if isinstance(value, int) else None


def _times(number: Data) -> int:
    """How often a call is stated: twice stands for any greater number."""
    return 2 if isinstance(number, int | float) and number > 1 else 1


def calls_in(item: Data, is_tool: IsTool, role: Role, depth: int = _GROUPS) -> Iterator[ToolCall]:
    """The calls in an ``item`` of a list: a name, call syntax, an object with a name, or a group of such items."""
    if isinstance(item, str):
        bare, unwanted = _unmarked(item)
        calls = call_syntax(bare)
        parts = [part.strip() for part in _ARROW.split(item)]
        if calls:
            yield from (replace(call, unwanted=role.unwanted or unwanted) for call in calls)
        elif len(parts) > 1 and all(len(part.split()) == 1 for part in parts):
            yield from (_named([part], role) for part in parts)
        elif _is_name(item):
            names = list(filter(_is_name, _choice(item)))
            # Names may have spaces, but alternatives may not: that is prose.
            is_choice = len(names) > 1 and all(len(name.split()) == 1 for name in names)
            yield _named(names if is_choice else [item.strip()], role)
        return
    held = as_mapping(item)
    if any(states_optional(key, value) for key, value in held.items()):
        return
    inner = next((value for key, value in held.items() if plain_key(key) in _INNER and isinstance(value, dict)), held)
    if any(
        as_mapping(inner.get(key)).get("type") == "object" or (inner.get(key) == {} and "description" in inner)
        for key in _SCHEMAS
    ):
        # The definition of an available tool, not a call.
        return
    named = {plain_key(key): value for key, value in inner.items() if isinstance(value, str) and value.strip()}
    names = [named[key].strip() for key in _NAMES if key in named]
    if names:
        name = next(filter(is_tool, names), names[0])
        arguments = next((value for key, value in inner.items() if plain_key(key) in _ARGUMENTS), None)
        never = any(value == 0 and value is not False for key, value in held.items() if plain_key(key) in _MOST)
        never = never or any(states_unwanted(key, value) for key, value in held.items())
        id = next((value for key, value in held.items() if plain_key(key) in _IDS and isinstance(value, str)), "")
        times = next((value for key, value in held.items() if plain_key(key) in _TIMES), 1)
        yield from repeat(ToolCall(name, arguments, role.unwanted or never, id=id), _times(times))
    elif depth:
        yield from _group(held, is_tool, role, depth - 1)


def _group(held: Mapping[str, Data], is_tool: IsTool, role: Role, depth: int) -> Iterator[ToolCall]:
    """The calls in a mapping that is none itself: lists under keys such as ``any_of``, or arguments by tool."""
    roles = {key: inner for key in held if not is_tool(key) and (inner := group_role(key)) is not None}
    if roles:
        for key, inner in roles.items():
            both = Role(unwanted=role.unwanted or inner.unwanted, alternatives=inner.alternatives)
            yield from stated(held[key], both, is_tool, depth=depth).calls
        return
    # Without declared tools a single key with a mapping may be a name with its arguments, as in BFCL.
    is_single = len(held) == 1 and all(isinstance(each, dict) for each in held.values())
    if is_single and any(plain_key(key) in _INNER | _ARGUMENTS for key in held):
        return
    if held and (is_single or all(map(is_tool, held))):
        for name, arguments in held.items():
            if isinstance(arguments, str) and states_optional("status", arguments):
                continue
            number = _number(arguments)
            if number is not None:
                yield from repeat(ToolCall(name, None, role.unwanted or not number), _times(number))
            else:
                yield ToolCall(name, arguments if isinstance(arguments, dict) else None, role.unwanted)


def named_tools(value: Data, is_tool: IsTool) -> bool:
    """Whether an expected answer, ``value``, is nothing but calls of declared tools whose names are no mere words."""
    found = decoded(value)
    items = found if isinstance(found, list) else [found]
    for item in items:
        calls = _stated_in_text(item, Role()).calls if isinstance(item, str) else tuple(calls_in(item, is_tool, Role()))
        names = [name for call in calls for name in call.names]
        is_bare = isinstance(item, str) and not call_syntax(item)
        if not names or not all(is_tool(name) and (is_distinctive(name) or not is_bare) for name in names):
            return False
    return bool(items)


def is_distinctive(name: str) -> bool:
    """Whether the ``name`` of a tool is no ordinary word, so that a text with it means the tool."""
    return re.fullmatch(r"[^\W\d_][^\W\d_A-Z]*", name) is None


_CALL: Final = re.compile(r"([^\W\d][\w./:-]{0,200})\(")
_GAP: Final = re.compile(r"\s*(?:[;,|]|->|=>|→|then\b|and\b)?\s*")
_LONGEST_CALLS: Final = 20_000
"""Longer texts are no calls."""


_NESTED: Final = 3
"""Maximum depth of calls among the arguments of calls."""


def call_syntax(text: str, depth: int = _NESTED) -> tuple[ToolCall, ...]:
    """The calls in a ``text`` that is nothing but calls, as in ``f(x=1); g(y="a")``; else none.

    A call among the arguments of another comes before it.
    """
    bare = text.strip().strip("`").strip()
    if len(bare) > _LONGEST_CALLS or not bare.rstrip(";]").endswith(")"):
        return ()
    if bare.startswith("[") and bare.endswith("]"):
        bare = bare[1:-1].strip()
    found: list[ToolCall] = []
    place = 0
    while place < len(bare):
        match = _CALL.match(bare, place)
        end = None if match is None else _end_of(bare, match.end())
        if match is None or end is None:
            return ()
        arguments = _arguments(bare[match.end() : end])
        for value in arguments.values() if isinstance(arguments, dict) else ():
            if isinstance(value, str) and depth > 0:
                found.extend(call_syntax(value, depth - 1))
        found.append(ToolCall(match[1], arguments))
        gap = _GAP.match(bare, end + 1)
        place = end + 1 if gap is None else gap.end()
    return tuple(found)


def _end_of(text: str, start: int) -> int | None:
    """The place of the bracket that closes the one before ``start``; quoted brackets do not count."""
    return next((place for place, depth in _depths(text, start) if depth < 0), None)


def _depths(text: str, start: int = 0) -> Iterator[tuple[int, int]]:
    """Each place of ``text`` outside quotes, and how many brackets are open after it."""
    depth, quote = 0, ""
    place = start
    while place < len(text):
        mark = text[place]
        if quote:
            place += mark == "\\"
            quote = "" if mark == quote else quote
        elif mark in "\"'":
            quote = mark
        else:
            depth += (mark in "([{") - (mark in ")]}")
            yield place, depth
        place += 1


_ARGUMENT: Final = re.compile(r"\s*[\"']?([^\W\d]\w*)[\"']?\s*[=:]\s*(.+)", re.DOTALL)
_WORDS: Final[Mapping[str, Data]] = {"True": True, "False": False, "None": None}


def _arguments(text: str) -> Data:
    """The arguments of a call as a mapping; their ``text`` if they have no names."""
    bare = text.strip()
    if not bare:
        return {}
    if bare.startswith("{") and isinstance(whole := decoded(bare), dict):
        return whole
    cuts = [-1, *(place for place, depth in _depths(bare) if depth == 0 and bare[place] == ","), len(bare)]
    parts = [bare[before + 1 : after] for before, after in pairwise(cuts)]
    named = [_ARGUMENT.fullmatch(part) for part in parts if part.strip()]
    if not all(named):
        return bare
    return {match[1]: _literal(match[2].strip()) for match in named if match is not None}


def _literal(text: str) -> Data:
    if text in _WORDS:
        return _WORDS[text]
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1]
    try:
        value: Data = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return text
    return value


_FLAGS: Final[Mapping[str, Data]] = {"true": True, "false": False, "null": None}


def decoded(value: Data) -> Any:
    """The value of JSON in a text, as in tables, or of a word such as TRUE; else ``value`` itself."""
    found = value
    while isinstance(found, str):
        if (word := found.strip().casefold()) in _FLAGS:
            return _FLAGS[word]
        if not _may_be_json(found):
            break
        try:
            found = json.loads(found, parse_constant=_refuse)
        except (ValueError, RecursionError):
            break
    return found


def _may_be_json(text: str) -> bool:
    return text.lstrip().startswith(("[", "{", '"'))


def _refuse(word: str) -> None:
    raise ValueError(word)
