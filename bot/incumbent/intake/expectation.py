"""Reads the expected answers and tool calls of a query, in any known format, and matches calls with declared tools.

Queries carry their expectations unchanged; reports and exports read them through this module.  Expectations with
unknown keys are carried all the same.  Recorded behaviour (``tools_called``, ``actions``, ``tool_calls`` with
identifiers or results) and available tools (``tool_definitions``) are not expectations.

Eval sets name tools as their runner does: with the server before the name, or in another spelling.  A name that does
not clearly mean one declared tool counts as undeclared, so that no call is taken for another.  If not all tools are
listed, an unknown name counts as an unlisted tool (semantics, section 2, called tools).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field, with_config

from incumbent.files.documents import Data, as_list, as_mapping
from incumbent.files.validation import FILE_CONFIG, Text
from incumbent.intake.eval_sets.inputs import path_of
from incumbent.intake.eval_sets.table import plain_key
from incumbent.intake.expectation_forms import asserted_answer, replied, replies, reply_text
from incumbent.intake.export_round_trip import carried
from incumbent.intake.result_references import refers
from incumbent.intake.specification import UNLISTED, Tool
from incumbent.intake.tool_calls import (
    IsTool,
    ToolCall,
    ToolStatement,
    canonical,
    decoded,
    each_once,
    no_tool,
    repeated,
)
from incumbent.intake.tool_statements import (
    AGENT,
    ANSWERS,
    TOOLS_OF_ANSWERS,
    names_tools,
    states_calls,
    tool_statements,
)


@dataclass(frozen=True, slots=True)
class Expectation:
    """The expected answer of each turn (``None``: not given), and the expected tool calls of the query.

    ``tool_calls`` has each call once, including those that must not be made.  ``wanted`` are the calls that must be
    made, in order, each as often as it is expected: of each turn if they are stated by turn, else all in one.
    ``no_tools`` means that the eval set says explicitly that no tool is called; it is false if nothing is said.
    ``denied`` are the names of tools that must not be called in any turn, or in one that expects them as well.
    """

    answers: tuple[str | None, ...]
    tool_calls: tuple[ToolCall, ...]
    wanted: tuple[tuple[ToolCall, ...], ...] = ()
    no_tools: bool = False
    denied: tuple[str, ...] = ()

    @property
    def answer(self) -> str | None:
        """The answer to the last turn."""
        return self.answers[-1] if self.answers else None

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls that must be made, in order."""
        return tuple(call for calls in self.wanted for call in calls)

    @property
    def called(self) -> tuple[str, ...]:
        """The names of these calls; of alternatives the first."""
        return tuple(call.name for call in self.calls)

    @property
    def forbidden(self) -> tuple[str, ...]:
        """The names of the tools that must not be called."""
        return tuple(name for call in self.tool_calls if call.unwanted for name in call.names)


def understand(expected: Data, turns: int = 1, is_tool: IsTool = no_tool) -> Expectation:
    """The expectation in ``expected``, for a query of so many ``turns`` to an agent with the tools of ``is_tool``.

    An answer to the whole query is that to its last turn.  An export of a regression set may store further expectations
    next to the format's own; these apply where the format says nothing.
    """
    found = _understood(expected, turns, is_tool)
    beyond = carried(expected).get("expected")
    if beyond is None:
        return found
    more = understand(beyond, turns, is_tool)
    answers = tuple(
        stated if stated is not None else other for stated, other in zip(found.answers, more.answers, strict=True)
    )
    # Few formats can say which calls must not be made, and none knows alternatives.
    unwanted = tuple(call for call in more.tool_calls if call.unwanted)
    calls = tuple(each_once([*found.tool_calls, *unwanted])) if found.tool_calls else more.tool_calls
    stated = found if found.wanted or found.no_tools else more
    denied = tuple(dict.fromkeys((*found.denied, *more.denied)))
    return Expectation(answers, calls, stated.wanted, stated.no_tools, denied)


def _understood(expected: Data, turns: int, is_tool: IsTool) -> Expectation:
    """The expectation in ``expected`` itself, without data from an export."""
    held = as_mapping(expected)
    answers, listed = _per_turn(held, turns, is_tool)
    whole: list[ToolStatement] = []
    if isinstance(expected, dict):
        # OpenAI's Evals API nests the fields of an item below `item`.
        places = [place for place in (_mapped(held), held, as_mapping(held.get("item"))) if place]
        answer = next((found for place in places if (found := answer_of(place))), None)
        whole = [statement for place in places for statement in tool_statements(place, is_tool, turns)]
    else:
        answer = text_of(expected)
    if answer is not None and turns > 0 and answers[-1] is None:
        answers[-1] = answer
    per_turn = tuple(repeated(statements) for statements in listed)
    of_turns = ToolStatement(
        calls=tuple(call for calls in per_turn for call in calls),
        none=bool(listed) and all(any(each.none for each in statements) for statements in listed),
        by_turn=per_turn,
    )
    statements = [*whole, of_turns]
    calls = repeated(statements)
    by_turn = next((each.by_turn for each in statements if _is_all(each, calls)), (calls,))
    in_turns = [statement for statements in listed for statement in statements]
    groups = [tuple(call for each in statements for call in each.calls) for statements in listed]
    groups += [calls for statement in whole for calls in statement.by_turn]
    return Expectation(
        answers=tuple(answers),
        tool_calls=tuple(each_once(call for each in (*whole, *in_turns) for call in each.calls)),
        wanted=tuple(tuple(call for call in found if not call.unwanted) for found in by_turn) if calls else (),
        no_tools=not calls and any(each.none for each in statements),
        denied=tuple(dict.fromkeys(_denied([each.calls for each in whole if not each.by_turn], groups))),
    )


def _denied(whole: Iterable[Sequence[ToolCall]], by_turn: Sequence[Sequence[ToolCall]]) -> Iterator[str]:
    """The names that must not be called: what one turn forbids, another may expect."""
    for call in (call for calls in whole for call in calls if call.unwanted):
        yield from call.names
    wanted = [{name for call in calls if not call.unwanted for name in call.names} for calls in by_turn]
    anywhere = set[str]().union(*wanted)
    for calls, here in zip(by_turn, wanted, strict=True):
        names = [name for call in calls if call.unwanted for name in call.names]
        yield from (name for name in names if name in here or name not in anywhere)


def _is_all(statement: ToolStatement, calls: tuple[ToolCall, ...]) -> bool:
    """Whether ``statement`` has all of ``calls``, by turn."""
    wanted = [call.names for found in statement.by_turn for call in found if not call.unwanted]
    return bool(statement.by_turn) and Counter(wanted) == Counter(call.names for call in calls)


def _per_turn(
    held: Mapping[str, Data], turns: int, is_tool: IsTool
) -> tuple[list[str | None], list[list[ToolStatement]]]:
    """The answers and the tool statements for each turn in ``held``; no answers if it does not list turns."""
    # ADK lists the turns of a conversation.
    listed = as_list(decoded(held.get("turns"))) or as_list(decoded(held.get("conversation")))
    if len(listed) == turns and not any("role" in as_mapping(item) for item in listed):
        answers = [
            answer_of(as_mapping(item)) or (None if isinstance(item, dict) else text_of(item)) for item in listed
        ]
        return answers, [list(tool_statements(as_mapping(item), is_tool)) for item in listed]
    found = answers_of_messages(as_mapping(held.get("conversation")).get("messages"), turns)
    return (found if any(found) else replies(held.get("messages"), turns)), []


def _mapped(held: Mapping[str, Data]) -> Mapping[str, Data]:
    """The field that ``data_mapping`` names as the ground truth, with the fields that tell its kind."""
    path = path_of(as_mapping(held.get("data_mapping")).get("ground_truth"), held)
    if not path:
        return {}
    value: Data = dict(held)
    for step in path:
        value = as_mapping(value).get(step)
    return {"ground_truth": value, **{key: held[key] for key in (*AGENT, "response") if key in held}}


_DEPTH: Final = 8
"""Maximum depth of an answer in the expectation."""


def answers_of_messages(messages: Data, turns: int) -> list[str | None]:
    """The ``ground_truth`` of the answer to each turn, in conversations of Azure AI Evaluation."""
    answers: list[str | None] = []
    for message in map(as_mapping, as_list(messages)):
        if message.get("role") == "user":
            answers.append(None)
        elif message.get("role") == "assistant" and answers and answers[-1] is None:
            answers[-1] = text_of(message.get("ground_truth"))
    return answers if len(answers) == turns else [None] * turns


def answer_of(held: Mapping[str, Data], depth: int = _DEPTH) -> str | None:
    """The answer under the most specific key of a mapping, or else in an assertion."""
    # promptfoo's columns `__expected` are assertions.
    by_key = {plain_key(key): value for key, value in reversed(list(held.items())) if not key.startswith("__")}
    for key in (key for key in ANSWERS if key in by_key):
        value = by_key[key]
        text = None if key == "groundtruth" and names_tools(value, held) else text_of(value, depth)
        if text:
            return text
    return asserted_answer(held) or (text_of(held["response"], depth) if _states_response(held) else None)


def _states_response(held: Mapping[str, Data]) -> bool:
    """Whether a ``response`` is an expectation: it is alone, or together with expected calls only.

    With other results it is a recorded answer.
    """
    others = {key for key in held if plain_key(key) not in TOOLS_OF_ANSWERS}
    return others == {"response"} and states_calls(held)


def text_of(value: Data, depth: int = _DEPTH) -> str | None:
    """The text of an expected answer; the first of several acceptable ones."""
    if depth == 0:
        return None
    said = replied(value)
    if said:
        return reply_text(said)
    match value:
        case str():
            return value if value.strip() else None
        case bool():
            return None
        case int() | float():
            return str(value)
        case [*items]:
            return _first(items, depth)
        case {"content": str(content)}:
            return content if content.strip() else None
        case dict():
            texts = [item for item in value.values() if isinstance(item, str) and item.strip()]
            return answer_of(value, depth - 1) or (texts[0] if len(texts) == 1 else None)
        case _:
            return None


def _first(items: Sequence[Data], depth: int) -> str | None:
    return text_of(items[0], depth - 1) if items else None


MAX_PREFIXES: Final = 8
"""Maximum number of prefixes of a name: servers and namespaces."""
_SEPARATOR: Final = re.compile(r"__|[./:-]")
"""Separators between server and tool; a single underscore is not one, since it joins the words of most names."""
_IGNORED: Final = re.compile(r"[\W_]+")

_Index: TypeAlias = Mapping[str, Sequence[str]]
"""Spelling → the names with this spelling."""


Order: TypeAlias = Literal["single", "several", "chain"]
"""At most one call in every turn; several in one; several of which one needs an earlier one's result."""


@with_config(FILE_CONFIG)
@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedTools:
    """The declared tools that an eval set expects a query to call (semantics, sections 2.1a and 2.1b).

    ``steps`` has for each call, in order, the tools of which any will do; without any, no tool is called, unless only
    ``forbidden`` tools are stated (``states_calls`` is false).  ``order`` is ``None`` if the statement leaves open
    whether several calls are different.  ``different`` is the number of different tools in the turn that states most.
    """

    steps: tuple[tuple[Text, ...], ...] = ()
    forbidden: tuple[Text, ...] = ()
    states_calls: bool = True
    order: Order | None = "single"
    different: Annotated[int, Field(ge=0)] = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The tools of all steps, in order."""
        return tuple(name for step in self.steps for name in step)


def expected_tools(expected: Data, turns: int, tools: Sequence[Tool] | None) -> ExpectedTools | None:
    """The declared ``tools`` that a query of so many ``turns`` is expected to call; ``None`` if it is not stated.

    ``tools`` is ``None`` if the specification does not declare tools.  In this case, and if one of them represents
    unlisted tools, each call of an unknown name becomes :data:`UNLISTED`.  Calls of undeclared tools are ignored; if
    all are, nothing is stated.
    """
    names = tool_names((UNLISTED,) if tools is None else tuple(tool.name for tool in tools))
    expectation = understand(expected, turns, names.is_declared)
    forbidden = tuple(filter(names.is_declared, expectation.denied))
    by_turn = [[_Step.of(call, names) for call in calls] for calls in expectation.wanted]
    steps = tuple(step.meant for calls in by_turn for step in calls if step.meant)
    denied = {names.meant_by(name) for name in forbidden}
    if not (steps or expectation.no_tools):
        return ExpectedTools(forbidden=_sorted(denied), states_calls=False, order=None) if denied else None
    return ExpectedTools(
        steps=steps,
        forbidden=_sorted(denied),
        order=_order(by_turn),
        different=max((len({step.identity for step in calls if step.meant}) for calls in by_turn), default=0),
    )


def _sorted(names: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(sorted(name for name in names if name is not None))


@dataclass(frozen=True, slots=True)
class _Step:
    """An expected ``call`` and the declared tools that it may mean: none if it is of an undeclared one."""

    call: ToolCall
    meant: tuple[str, ...]

    @staticmethod
    def of(call: ToolCall, names: ToolNames) -> _Step:
        found = dict.fromkeys(names.meant_by(name) for name in call.names)
        return _Step(call, tuple(name for name in found if name is not None))

    @property
    def identity(self) -> tuple[str, ...]:
        """The tools by the names that tell unlisted ones apart."""
        return self.call.names if self.meant == (UNLISTED,) else tuple(sorted(self.meant))


def _order(by_turn: Sequence[Sequence[_Step]]) -> Order | None:
    """The order of the calls, by turn or all in one."""
    several = [calls for calls in by_turn if _differ([step for step in calls if step.meant])]
    if any(map(_is_chain, several)):
        return "chain"
    if several:
        return "several"
    return "single" if all(len(calls) <= 1 for calls in by_turn) else None


def _differ(calls: Sequence[_Step]) -> bool:
    """Whether ``calls`` are of different tools, or of one with different arguments; alternatives may be the same."""
    seen: dict[tuple[str, ...], str] = {}
    for step in calls:
        arguments = "" if step.call.arguments is None else canonical(step.call.arguments) or ""
        known = seen.setdefault(step.identity, arguments)
        if known and arguments and known != arguments:
            return True
        if not known:
            seen[step.identity] = arguments
    if len({identity for identity in seen if len(identity) == 1}) > 1:
        return True
    # With the first alone: to compare all with all would take long where many are stated.
    first = set(next(iter(seen), ()))
    return any(first.isdisjoint(other) for other in seen)


def _is_chain(calls: Sequence[_Step]) -> bool:
    """Whether an argument of one of ``calls`` refers to the result of an earlier one."""
    earlier: set[str] = set()
    for count, step in enumerate(calls):
        if count and step.call.arguments is not None and refers(step.call.arguments, earlier, count):
            return True
        earlier.update((*step.call.names, *step.meant, step.call.id))
    return False


def stated_calls(expected: Data, turns: int) -> tuple[str, ...] | None:
    """The names of the expected calls of a query of so many ``turns``, as in ``expected``, declared or not.

    Alternatives are several names.  ``()``: it says explicitly that no tool is called.  ``None``: it does not say.
    """
    expectation = understand(expected, turns)
    names = tuple(name for call in expectation.calls for name in call.names)
    return names or (() if expectation.no_tools else None)


@dataclass(frozen=True, slots=True)
class ToolNames:
    """Declared names by spelling: ``exact`` and ``plain`` (without case and separators), whole and after a prefix.

    ``lists_all`` means that there are no other tools.
    """

    exact: _Index
    plain: _Index
    tail: _Index
    plain_tail: _Index
    lists_all: bool

    @staticmethod
    def of(declared: Collection[str]) -> ToolNames:
        """The spellings of the names ``declared``, one of which may represent unlisted tools."""
        known = tuple(name for name in dict.fromkeys(declared) if name != UNLISTED)
        return ToolNames(
            exact=_index((name, name) for name in known),
            plain=_index((_plain(name), name) for name in known),
            tail=_index((tail, name) for name in known for tail in _tails(name)),
            plain_tail=_index((_plain(tail), name) for name in known for tail in _tails(name)),
            lists_all=UNLISTED not in declared,
        )

    def is_declared(self, called: str) -> bool:
        """Whether ``called`` means a declared tool."""
        return self.meant_by(called) not in (None, UNLISTED)

    def meant_by(self, called: str) -> str | None:
        """The single name that ``called`` means; ``None`` if it means none, or several equally well.

        If not all tools are listed, a name that means none of them means :data:`UNLISTED`, if it is a name at all.

        The comparison goes from whole names to ``called`` without a prefix (the longest rest first), then to the
        declared names without a prefix; each exact first, then plain.  The first comparison with a match decides.
        """
        for form in (self.exact.get(called, ()), self.plain.get(_plain(called), ())):
            if form:
                return form[0] if len(form) == 1 else None
        if sum(part in self.exact for part in _SEPARATOR.split(called)) > 1:
            # Several tools and no server.
            return None
        for found in self._compared(called):
            if found:
                return found[0] if len(found) == 1 else None
        return UNLISTED if _plain(called) and not self.lists_all else None

    def _compared(self, called: str) -> Iterator[Sequence[str]]:
        for form in (called, *_tails(called)):
            yield self.exact.get(form, ())
            yield self.plain.get(_plain(form), ())
        yield self.tail.get(called, ())
        yield self.plain_tail.get(_plain(called), ())


@lru_cache(maxsize=16)
def tool_names(declared: tuple[str, ...]) -> ToolNames:
    """The spellings of the ``declared`` names."""
    return ToolNames.of(declared)


def _index(spellings: Iterable[tuple[str, str]]) -> _Index:
    """Spelling → names, each once; empty spellings are left out."""
    found: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for spelling, name in spellings:
        if spelling:
            found[spelling][name] = None
    return {spelling: tuple(names) for spelling, names in found.items()}


def _tails(name: str) -> list[str]:
    """The rests of ``name`` after each of its last separators, the longest first."""
    ends = [match.end() for match in _SEPARATOR.finditer(name)]
    return [name[end:] for end in ends[-MAX_PREFIXES:]]


def _plain(name: str) -> str:
    return _IGNORED.sub("", name).casefold()
