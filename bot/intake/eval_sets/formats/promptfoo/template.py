"""The part of the template language Nunjucks that promptfoo's prompts need: variables, a few filters, no code.

It supports ``{{ name }}``, dotted paths and items, filters, comments, ``{% raw %}``, and loops over ``_conversation``,
which are empty, since only a run has a history.  Everything else is a fault, never a guess.

Source: https://mozilla.github.io/nunjucks/templating.html, and promptfoo's ``renderPrompt``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from bot.errors import untrusted
from bot.files.documents import Data, as_list, as_mapping
from bot.intake.eval_sets.columns import QUERY_NAMES, SPOKEN_NAMES
from bot.intake.eval_sets.table import plain_key
from bot.text.did_you_mean import did_you_mean

CONVERSATION: Final = "_conversation"

_OPEN: Final = re.compile(r"\{[{%#]")
_CLOSE: Final = {"{{": "}}", "{%": "%}", "{#": "#}"}
_EXPRESSION: Final = re.compile(
    r"([A-Za-z_]\w*(?:\.\w+|\[\s*(?:\d+|'[^']*'|\"[^\"]*\")\s*\])*)\s*((?:\|\s*\w+\s*(?:\([^()]*\)\s*)?)*)"
)
_STEP: Final = re.compile(r"\w+|'[^']*'|\"[^\"]*\"")
_FILTER: Final = re.compile(r"\|\s*(\w+)\s*(?:\(([^()]*)\))?")
_HISTORY: Final = re.compile(r"for\s+\w+\s+in\s+_conversation(?![\w.(\[])[^%]*")
_END_OF_RAW: Final = re.compile(r"\{%-?\s*end(?:raw|verbatim)\s*-?%\}")


class TemplateFault(Exception):  # noqa: N818 - it becomes a problem, with a place
    """A fault of a template: what is wrong, how to fix it, and its line in the template (from 1)."""

    def __init__(self, message: str, fix: str, line: int = 1) -> None:
        super().__init__(message)
        self.message, self.fix, self.line = message, fix, line


class _Undefined:
    """The value of a missing variable."""


_UNDEFINED: Final = _Undefined()
Value: TypeAlias = "Data | _Undefined"


@dataclass(frozen=True, slots=True)
class Expression:
    """A path to a value, and its filters, each with its argument."""

    path: tuple[str, ...]
    filters: tuple[tuple[str, Data], ...]
    line: int


@dataclass(frozen=True, slots=True)
class Template:
    """Texts and expressions in order; ``history``: it has loops over the conversation so far.

    ``source`` is the text without these loops and without comments.
    """

    parts: tuple[str | Expression, ...]
    history: bool
    source: str


def compiled(text: str) -> Template:
    """``text`` as a template; raises :class:`TemplateFault`."""
    parts: list[str | Expression] = []
    source: list[str] = []
    start = lost = line = 0
    history = strip = False
    counted = 0

    def literal(until: int) -> None:
        nonlocal strip
        piece = text[start:until]
        piece = piece.lstrip() if strip else piece
        strip = False
        parts.append(piece)
        source.append(piece)

    while (opening := _OPEN.search(text, start)) is not None:
        at, kind = opening.start(), opening.group()
        close = text.find(_CLOSE[kind], at + 2)
        line += text.count("\n", counted, at)
        counted = at
        if close < 0:
            break
        end = close + 2
        inner = text[at + 2 : close]
        if lost == 0:
            literal(at)
            if inner.startswith("-"):
                parts[-1] = str(parts[-1]).rstrip()
                source[-1] = source[-1].rstrip()
        strip = inner.endswith("-") and len(inner) > 1
        inner = inner.removeprefix("-").removesuffix("-").strip()
        start = end
        word = inner.partition(" ")[0]
        if kind == "{%" and lost:
            lost += (word == "for") - (word == "endfor")
        elif lost or kind == "{#":
            continue
        elif kind == "{{":
            parts.append(_expression(inner, line + 1))
            source.append(text[at:end])
        elif word in ("raw", "verbatim"):
            closing = _END_OF_RAW.search(text, end)
            if closing is None:
                raise TemplateFault(f"`{word}` is not closed", f"write `{{% end{word} %}}` behind it", line + 1)
            parts.append(text[end : closing.start()])
            source.append(text[at : closing.end()])
            start = closing.end()
        elif _HISTORY.fullmatch(inner):
            history, lost = True, 1
        else:
            fix = "write a prompt for each case, with variables alone"
            raise TemplateFault(f"`{{% {inner[:60]} %}}` is a program, which is not run", fix, line + 1)
    if lost:
        raise TemplateFault("the loop over `_conversation` is not closed", "write `{% endfor %}` behind it", line + 1)
    if opening is not None:
        if any(isinstance(part, Expression) for part in parts):
            message = f"`{opening.group()}` is not closed"
            raise TemplateFault(message, f"write `{_CLOSE[opening.group()]}`, or the text in `raw`", line + 1)
        # As in promptfoo, a text that only looks like a template is a text.
        return Template((text,), False, text)
    literal(len(text))
    return Template(tuple(parts), history, "".join(source))


def _expression(inner: str, line: int) -> Expression:
    shown = f"`{{{{ {inner[:60]} }}}}`"
    match = _EXPRESSION.fullmatch(inner)
    if match is None:
        raise TemplateFault(f"{shown} is more than a variable and filters", "write the text, or a variable", line)
    path = tuple(step.strip("'\"") for step in _STEP.findall(match[1]))
    if path[0] in ("env", CONVERSATION):
        what = "the environment" if path[0] == "env" else "earlier answers"
        raise TemplateFault(f"{shown} depends on {what} of a run", "write the text, or a variable of the tests", line)
    filters: list[tuple[str, Data]] = []
    for name, argument in _FILTER.findall(match[2]):
        if name not in _FILTERS:
            known = ", ".join(sorted(_FILTERS))
            raise TemplateFault(f"the filter `{name}` is not known", f"use one of: {known}", line)
        filters.append((name, _literal(argument.strip(), line)))
    return Expression(path, tuple(filters), line)


def _literal(text: str, line: int) -> Data:
    if not text:
        return None
    if text[0] == text[-1] and text[0] in "'\"" and len(text) > 1:
        return text[1:-1]
    try:
        value: Data = json.loads(text) if len(text) < 20 else text
    except ValueError:
        value = text
    if isinstance(value, bool | int | float):
        return value
    raise TemplateFault(f"`({text[:60]})` is not read as an argument", "write a text in quotes, or a number", line)


def rendered(template: Template, variables: Mapping[str, Data], room: int) -> str:
    """The rendered ``template``; raises :class:`TemplateFault`, also if it has more than ``room`` characters.

    As in promptfoo, a missing variable is empty.  It is a fault if it is the only one, looks mistyped, or looks like
    the user's words.
    """
    pieces: list[str] = []
    asked = [part.path for part in template.parts if isinstance(part, Expression)]
    used = {path[0] for path in asked if not isinstance(_found(path, variables), _Undefined)}
    for part in template.parts:
        piece = part if isinstance(part, str) else _text(part, variables, used)
        room -= len(piece)
        if room < 0:
            raise TooLongFault
        pieces.append(piece)
    return "".join(pieces)


class TooLongFault(TemplateFault):
    """The text would be longer than there is room for."""

    def __init__(self) -> None:
        super().__init__("the rendered prompts are too long", "shorten the variables, or the prompts")


def is_template(text: str) -> bool:
    """Whether ``text`` may contain anything to render."""
    return _OPEN.search(text) is not None


def _text(expression: Expression, variables: Mapping[str, Data], used: Collection[str]) -> str:
    value: Value = _found(expression.path, variables)
    shown = ".".join(expression.path)
    for name, argument in expression.filters:
        if isinstance(value, _Undefined) and name not in _DEFAULTS:
            break
        try:
            value = _FILTERS[name](value, argument)
        except (TypeError, ValueError):
            message = f"the filter `{name}` does not fit the value of `{shown}`"
            raise TemplateFault(message, "write another filter, or another value", expression.line) from None
    if isinstance(value, _Undefined):
        name = expression.path[0]
        hint = "" if name in variables else did_you_mean(name, variables.keys() - used)
        if used and not hint and not any(plain_key(name) in names for names in SAID):
            return ""
        message = f"the variable `{shown}` is not given{hint}"
        raise TemplateFault(message, f"add `{untrusted(shown)}` to `vars`", expression.line)
    if isinstance(value, dict) or (isinstance(value, list) and any(isinstance(item, dict | list) for item in value)):
        message = f"the variable `{shown}` is an object, which has no text of its own"
        fix = f"write `{{{{ {untrusted(shown)} | dump }}}}`, or name what is meant in it"
        raise TemplateFault(message, fix, expression.line)
    return _written(value)


def _found(path: Sequence[str], variables: Mapping[str, Data]) -> Value:
    value: Value = dict(variables)
    for step in path:
        inner = as_mapping(value)
        if step in inner:
            value = inner[step]
        elif isinstance(value, list) and step.isdecimal() and int(step[:9]) < len(value):
            value = value[int(step[:9])]
        else:
            return _UNDEFINED
    return value


def _written(value: Value) -> str:
    """``value`` as JavaScript prints it."""
    match value:
        case None | _Undefined():
            return ""
        case bool():
            return str(value).lower()
        case float() if value.is_integer() and abs(value) < 1e21:
            return str(int(value))
        case list():
            return ",".join(map(_written, value))
        case _:
            return str(value)


def _dumped(value: Value, indent: Data) -> str:
    width = indent if isinstance(indent, int) and 0 < indent <= 10 else None
    compact = (",", ":") if width is None else (",", ": ")
    return json.dumps(value, ensure_ascii=False, indent=width, separators=compact)


def _joined(value: Value, separator: Data) -> str:
    return _written(separator).join(map(_written, as_list(value)))


def _sized(value: Value, _: Data) -> Data:
    if not isinstance(value, str | list | dict):
        raise TypeError
    return len(value)


def _ending(value: Value, place: int) -> Value:
    if not isinstance(value, str | list):
        raise TypeError
    return value[place] if value else None


SAID: Final = (QUERY_NAMES, SPOKEN_NAMES, frozenset({"message", "request", "ticket", "task", "text"}))
"""Names of variables with the user's words, the most specific first."""
_Filter: TypeAlias = Callable[[Value, Data], Value]
_DEFAULTS: Final = frozenset({"default", "d"})
_FILTERS: Final[Mapping[str, _Filter]] = {
    "dump": _dumped,
    "json": _dumped,
    "upper": lambda value, _: _written(value).upper(),
    "lower": lambda value, _: _written(value).lower(),
    "trim": lambda value, _: _written(value).strip(),
    "title": lambda value, _: " ".join(word.capitalize() for word in _written(value).split(" ")),
    "first": lambda value, _: _ending(value, 0),
    "last": lambda value, _: _ending(value, -1),
    "capitalize": lambda value, _: _written(value).capitalize(),
    "string": lambda value, _: _written(value),
    "safe": lambda value, _: value,
    "join": _joined,
    "length": _sized,
    "default": lambda value, argument: argument if isinstance(value, _Undefined) else value,
    "d": lambda value, argument: argument if isinstance(value, _Undefined) else value,
}
