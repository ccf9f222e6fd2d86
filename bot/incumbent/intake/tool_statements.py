"""Where an expectation states tool calls, in the forms of all formats: one routine for all readers.

Keys decide (:mod:`incumbent.intake.expectation_keys`), here or one level deeper; so do the assertions and messages of
known formats.  Call syntax and, under the key of an expected answer, names of declared tools are read without such a
key.  docs/formats.md lists what is a record of a run, or states nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from incumbent.files.documents import Data, as_list, as_mapping
from incumbent.intake.eval_sets.table import plain_key
from incumbent.intake.expectation_forms import asserted_calls, asserts_no_call, replied, reply_tool_calls, reply_turns
from incumbent.intake.expectation_keys import Role, is_about_texts, is_expected, is_negative, is_record, role_of
from incumbent.intake.tool_calls import (
    IsTool,
    ToolCall,
    ToolStatement,
    call_syntax,
    calls_in,
    decoded,
    is_distinctive,
    named_tools,
    no_tool,
    repeated,
    stated,
)

ANSWERS: Final = (
    "expectedresponse",
    "expectedanswer",
    "expectedoutput",
    "referenceanswer",
    "referenceoutput",
    "referenceoutputs",
    "groundtruth",
    "target",
    "ideal",
    "idealanswer",
    "correctanswer",
    "correctlabel",
    "expected",
    "expect",
    "goldenanswer",
    "goldanswer",
    "expectedoutcome",
    "reference",
    "answer",
    "outputs",
    "output",
)
"""Keys of expected answers (see :func:`~incumbent.intake.eval_sets.table.plain_key`), the most specific first."""

TOOLS_OF_ANSWERS: Final = ("toolcalls", "trajectory")
"""Keys of recorded calls; inside an expected answer they are expected calls."""

AGENT: Final = ("actions", "expected_actions", "tool_calls", "tool_definitions")
"""Keys that only records about an agent's tools have."""

_TOOLS: Final = "tools"
"""The key of expected tools, or of the available ones: an empty list under it says nothing."""
_TURN_OF_ADK: Final = "intermediatedata"
"""The key of the calls that a turn of an ADK eval set expects."""
_RECORDED: Final = frozenset({"answer", "messages", "output", "outputs"})
"""Keys of answers that are often recorded, with an empty list if the run called nothing."""
_RECORDS: Final = frozenset(
    {"actions", "actualoutput", "conversation", "messages", "runid", "sampleoutput", "tooldefinitions", "toolscalled"}
)
"""Next to one of these keys, `tool_calls` are recorded calls."""
_RETURNED: Final = ("id", "tool_call_id", "call_id", "tool_result", "result", "output")
"""Keys of a recorded call."""
_REMARKS: Final = frozenset({"comment", "comments", "criteria", "note", "notes", "response", "rubric"})
ELSEWHERE: Final = frozenset(
    {"constraints", "evalset", "evalspec", "config", "incumbent", "datamapping", "turns", "conversation", "messages"}
)
"""Keys of Vally's constraints, what is beside the rows of a file, what no customer wrote, and turns: read elsewhere."""
_CONSTRAINTS: Final = "constraints"
_REJECTED: Final = "rejecttools"
"""The key of Vally's constraints that forbids calls."""
_KINDS: Final = frozenset({"type", "kind", "assertion", "check", "metric"})
"""Keys of the kind of an assertion."""
_EVERYWHERE: Final = 4
"""Depth to which calls are looked for under any key."""


def tool_statements(held: Mapping[str, Data], is_tool: IsTool = no_tool, turns: int = 1) -> Iterator[ToolStatement]:
    """The statements about tool calls in a mapping, in the forms of all formats, for a query of so many ``turns``."""
    cells = {key: decoded(value) for key, value in held.items()}
    names = {plain_key(key) for key in cells}
    # DeepEval always writes both keys of a golden, even if they are empty.
    claims = "toolscalled" not in names
    for key, value in cells.items():
        name, role = plain_key(key), role_of(key)
        if role is not None:
            yield stated(value, role, is_tool, turns, empty=role.is_claim and claims)
        elif name == _TOOLS or (name == "groundtruth" and names_tools(value, held)):
            # Beside expected tools, these are the ones that there are.
            if not (name == _TOOLS and isinstance(value, list) and any(map(_is_wanted, cells))):
                yield stated(value, Role(), is_tool, turns)
        elif name == _TURN_OF_ADK:
            yield stated(as_mapping(value).get("tool_uses"), Role(), is_tool, empty=True)
        elif name in TOOLS_OF_ANSWERS:
            if states_calls(held):
                yield stated(value, Role(), is_tool, turns, empty=names <= {*ANSWERS, *TOOLS_OF_ANSWERS, *_REMARKS})
        else:
            yield from _below(key, value, is_tool, turns)
            if not is_record(key):
                yield from _anywhere(value, is_tool, turns, key)
    yield from _of_answers(cells, is_tool, turns)
    for grader in map(as_mapping, as_list(cells.get("graders"))):
        config = as_mapping(grader.get("config"))
        if grader.get("type") == "tool-calls":
            for key, unwanted in (("required", False), ("disallowed", True)):
                yield _listed(as_list(config.get(key)), unwanted=unwanted)
    for asserted, unwanted in asserted_calls(cells):
        yield _listed(asserted, unwanted=unwanted)
    yield ToolStatement(none=asserts_no_call(cells))


def _is_wanted(key: str) -> bool:
    role = role_of(key)
    return role is not None and not role.unwanted


def _below(above: str, value: Data, is_tool: IsTool, turns: int) -> Iterator[ToolStatement]:
    """The statements under the keys of the mappings in ``value``, which is under the key ``above``.

    A list with a mapping for each turn states calls by turn.
    """
    if replied(value):
        return
    items = [as_mapping(item) for item in (value if isinstance(value, list) else [value])]
    found = [list(_of_keys(above, held, is_tool, turns)) for held in items]
    statements = [statement for each in found for statement in each]
    if turns > 1 and isinstance(value, list) and len(items) == turns and statements:
        by_turn = tuple((*repeated(each), *_unwanted(each)) for each in found)
        yield ToolStatement(
            calls=tuple(call for calls in by_turn for call in calls),
            none=all(any(statement.none for statement in each) for each in found),
            by_turn=by_turn,
        )
    else:
        yield from statements


def _unwanted(statements: Iterable[ToolStatement]) -> Iterator[ToolCall]:
    return (call for statement in statements for call in statement.calls if call.unwanted)


def _of_keys(above: str, held: Mapping[str, Data], is_tool: IsTool, turns: int) -> Iterator[ToolStatement]:
    """The statements under the keys of ``held``, which is under the key ``above``."""
    kinds = [kind for key, kind in held.items() if plain_key(key) in _KINDS and isinstance(kind, str)]
    for key, inner in held.items():
        role = role_of(key, above)
        # Of what is read elsewhere, other formats' constraints may forbid calls.
        forbids = (
            plain_key(above) == _CONSTRAINTS and plain_key(key) != _REJECTED and role is not None and role.unwanted
        )
        if role is None or (plain_key(above) in ELSEWHERE and not forbids):
            continue
        role = replace(role, unwanted=role.unwanted or any(map(is_negative, kinds)))
        yield stated(inner, role, is_tool, turns, empty=role.is_claim)


def _anywhere(
    value: Data,
    is_tool: IsTool,
    turns: int,
    above: str,
    *,
    unwanted: bool = False,
    expected: bool = False,
    depth: int = _EVERYWHERE,
) -> Iterator[ToolStatement]:
    """The statements in call syntax of declared tools in ``value``, which is under the key ``above``.

    They are ``unwanted`` below a key that forbids, and ``expected`` below a word of expectation.
    """
    found = decoded(value)
    if is_negative(above) and is_about_texts(above):
        return
    unwanted = unwanted or (is_negative(above) and not is_tool(above))
    expected = expected or is_expected(above)

    def within(inner: Data, key: str) -> Iterator[ToolStatement]:
        return _anywhere(inner, is_tool, turns, key, unwanted=unwanted, expected=expected, depth=depth - 1)

    if isinstance(found, dict) and depth > 0:
        for key, inner in found.items():
            if not is_record(key, expected=expected) and role_of(key) is None:
                yield from within(inner, key)
        return
    items = found if isinstance(found, list) else [found]
    if len(items) == turns and all(isinstance(item, list) for item in items):
        by_turn = [_syntax(item, is_tool, unwanted=unwanted) for item in items]
        if any(by_turn):
            yield ToolStatement(tuple(call for calls in by_turn for call in calls), by_turn=tuple(by_turn))
    elif calls := _syntax(items, is_tool, unwanted=unwanted):
        yield ToolStatement(calls)
    elif depth > 0:
        for item in items:
            if isinstance(item, dict):
                yield from within(item, above)


def _syntax(items: list[Data], is_tool: IsTool, *, unwanted: bool) -> tuple[ToolCall, ...]:
    """The calls of ``items`` if all of them are call syntax of declared tools, else none."""
    found = [call_syntax(item) if isinstance(item, str) else () for item in items]
    calls = tuple(replace(call, unwanted=unwanted) for each in found for call in each)
    if any(not isinstance(call.arguments, dict) and not is_distinctive(call.name) for call in calls):
        # An ordinary word with a remark in brackets.
        return ()
    return calls if all(found) and all(is_tool(call.name) for call in calls) else ()


def states_calls(held: Mapping[str, Data]) -> bool:
    """Whether calls under a key of recorded calls (``tool_calls``) are expected calls.

    They are if nothing in ``held`` looks like a recorded run: an identifier or a result of a call, the available tools,
    messages, an actual answer.
    """
    if any(plain_key(key) in _RECORDS for key in held) or isinstance(held.get("response"), list):
        return False
    called = [as_list(decoded(value)) for key, value in held.items() if plain_key(key) in TOOLS_OF_ANSWERS]
    return not any(key in as_mapping(item) for items in called for item in items for key in _RETURNED)


def _of_answers(held: Mapping[str, Data], is_tool: IsTool, turns: int) -> Iterator[ToolStatement]:
    """The statements in the expected answers of ``held``: calls of messages, declared tools, or calls next to the
    answer's text.
    """
    waiting = _answers_in(held)
    while waiting:
        name, answer = waiting.pop(0)
        said = replied(answer)
        if said:
            found = _listed(reply_tool_calls(said))
            by_turn = tuple(_listed(reply_tool_calls(each)).calls for each in reply_turns(said))
            is_whole = len(by_turn) == turns and sum(map(len, by_turn)) == len(found.calls)
            yield replace(found, by_turn=by_turn) if is_whole else found
            continue
        if name in ANSWERS and name not in _RECORDED and named_tools(answer, is_tool):
            yield stated(answer, Role(), is_tool, turns)
        inner = as_mapping(answer)
        for key, value in inner.items():
            if plain_key(key) in (_TOOLS, *TOOLS_OF_ANSWERS):
                yield stated(value, Role(), is_tool, empty=name not in _RECORDED)
        waiting += _answers_in(inner)


def _answers_in(held: Mapping[str, Data]) -> list[tuple[str, Data]]:
    """The expected answers of ``held`` with their plain keys."""
    named = ((key, plain_key(key), decoded(value)) for key, value in held.items())
    return [
        (name, value)
        for key, name, value in named
        if name in (*ANSWERS, "messages") or (is_expected(key) and role_of(key) is None)
    ]


def names_tools(value: Data, held: Mapping[str, Data]) -> bool:
    """Whether ``value``, the ground truth of the record ``held``, lists tools, as in Azure's task navigation.

    A list of texts may also be answers.  They are tools if none has white space, and if the record is about an agent's
    tools or one of the texts is a name with an underscore.
    """
    names = as_list(decoded(value))
    match names:
        case [[str(), *others], dict()] if all(isinstance(name, str) for name in others):
            return True
        case [*texts] if texts and all(isinstance(text, str) and len(text.split()) == 1 for text in texts):
            about_tools = any(held.get(key) for key in AGENT) or isinstance(held.get("response"), list)
            return about_tools or any("_" in str(text).strip("_") for text in texts)
        case _:
            return False


def _listed(items: list[Data], *, unwanted: bool = False) -> ToolStatement:
    """The calls in ``items``."""
    return ToolStatement(tuple(call for item in items for call in calls_in(item, no_tool, Role(unwanted=unwanted))))
