"""What promptfoo's prompts need of the template language Nunjucks: variables with filters, and no code.

A template is text and parts: ``{{ name.path[0] | filter('text') }}``, comments, ``{% raw %}``, and loops over
``_conversation``.  Only a run of the conversation has a history, so such a loop is empty here.  One pattern
describes all parts.  Anything else that opens like a part is a fault, and the search ends there: so its time is in
proportion to the text, and nothing of a text is evaluated.

Source: https://mozilla.github.io/nunjucks/templating.html, and promptfoo's ``renderPrompt``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from incumbent.errors import untrusted
from incumbent.files.documents import Data, as_list, as_mapping
from incumbent.intake.eval_sets.columns import QUERY_NAMES, SPOKEN_NAMES
from incumbent.intake.eval_sets.table import plain_key
from incumbent.text.did_you_mean import did_you_mean

_CLOSE: Final = {"{{": "}}", "{%": "%}", "{#": "#}"}
# Quantifiers are possessive, so that no character is tried twice.  A `-` strips the white space beside a part.
_STRING: Final = r"""(?:'[^']*+'|"[^"]*+")"""
_PATH: Final = rf"[A-Za-z_]\w*+(?:\.\w++|\[\s*+(?:\d++|{_STRING})\s*+\])*+"
_ARGUMENT: Final = rf"{_STRING}|-?(?:0|[1-9]\d{{0,8}})(?:\.\d{{1,9}})?|true|false"
_FILTER: Final = rf"\|\s*+(\w++)\s*+(?:\(\s*+({_ARGUMENT})?\s*+\)\s*+)?"
_HISTORY: Final = r"for\s++\w++\s++in\s++_conversation(?![\w.(\[])[^%]*+"
_OPEN: Final = r"\{%-?\s*+"
_END: Final = r"\s*+(?:-%\}\s*+|%\})"
_LOOP: Final = rf"{_OPEN}for\b.*?{_OPEN}endfor{_END}"
"""A loop within one over the conversation; deeper ones are refused."""
_PARTS: Final = (
    rf"\{{\{{-?\s*+(?P<path>{_PATH})\s*+(?P<filters>(?:{_FILTER})*+)(?:-\}}\}}\s*+|\}}\}})",
    r"\{#.*?(?:-#\}\s*+|#\})",
    rf"{_OPEN}(?P<raw>raw|verbatim)\s*+-?%\}}(?P<text>.*?){_OPEN}end(?P=raw){_END}",
    rf"{_OPEN}{_HISTORY}%\}}(?P<loop>(?:{_LOOP}|(?!{_OPEN}(?:for|endfor)\b).)*+){_OPEN}endfor{_END}",
    r"(?P<other>\{[{%#])",
)
_PART: Final = re.compile("|".join(_PARTS), re.DOTALL)
_STEP: Final = re.compile(rf"\w+|{_STRING}")
_BLOCK: Final = re.compile(rf"raw|verbatim|{_HISTORY}")

_COMPARISON: Final = 20
"""So many characters are written in the time in which two names are compared."""


class TemplateFault(Exception):  # noqa: N818 - it becomes a problem, with a place
    """What cannot be rendered: what is wrong, how to mend it, and on which line of the template (from 1)."""

    def __init__(self, message: str, fix: str, line: int = 1) -> None:
        super().__init__(message)
        self.message, self.fix, self.line = message, fix, line


class _Undefined:
    """The value of what is not given."""


_UNDEFINED: Final = _Undefined()
Value: TypeAlias = "Data | _Undefined"


@dataclass(frozen=True, slots=True)
class Expression:
    """A value by its path, and the filters it goes through, each with its argument."""

    path: tuple[str, ...]
    filters: tuple[tuple[str, Data], ...]


@dataclass(frozen=True, slots=True)
class Template:
    """Texts and expressions in turn; ``history`` says whether there are loops over the conversation so far.

    ``source`` is the text without those loops and without comments.
    """

    parts: tuple[str | Expression, ...]
    history: bool
    source: str


def compiled(text: str) -> Template:
    """``text`` as a template; raises :class:`TemplateFault`."""
    parts: list[str | Expression] = []
    source: list[str] = []
    start, history = 0, False
    for found in _PART.finditer(text):
        before = text[start : found.start()]
        before = before.rstrip() if found[0][2:3] == "-" else before
        start = found.end()
        parts.append(before)
        source.append(before)
        if found["other"]:
            if _CLOSE[found[0]] in text[start:] or any(isinstance(part, Expression) for part in parts):
                raise _fault(found)
            # As in promptfoo, a text that only looks like a template is text.
            return Template((text,), False, text)
        elif found["path"] or found["raw"]:
            parts.append(_expression(found) if found["path"] else found["text"])
            source.append(found[0].rstrip())
        elif found["loop"] is not None:
            history = True
    return Template((*parts, text[start:]), history, "".join((*source, text[start:])))


def is_template(text: str) -> bool:
    """Whether ``text`` may hold anything to be rendered."""
    return _PART.search(text) is not None


def _line(found: re.Match[str]) -> int:
    return found.string.count("\n", 0, found.start()) + 1


def _fault(found: re.Match[str]) -> TemplateFault:
    """Why what opens at ``found`` is no part of a template."""
    opening, line = found[0], _line(found)
    end = found.string.find(_CLOSE[opening], found.end())
    if end < 0:
        return TemplateFault(f"`{opening}` is not closed", f"write `{_CLOSE[opening]}`, or the text in `raw`", line)
    inner = found.string[found.end() : end].removeprefix("-").removesuffix("-").strip()
    shown = f"`{opening} {inner[:60]} {_CLOSE[opening]}`"
    if opening == "{{":
        return TemplateFault(f"{shown} is more than a variable and filters", "write the text, or a variable", line)
    if _BLOCK.fullmatch(inner):
        fix = f"write `{{% end{inner.split()[0]} %}}` behind it"
        return TemplateFault(f"{shown} is not closed", fix, line)
    fix = "write a prompt for each case, with variables alone"
    return TemplateFault(f"{shown} is a program, which is not run", fix, line)


def _expression(found: re.Match[str]) -> Expression:
    path = tuple(step.strip("'\"") for step in _STEP.findall(found["path"]))
    if path[0] in ("env", "_conversation"):
        what = "the environment" if path[0] == "env" else "earlier answers"
        message = f"`{found[0][:66].strip()}` depends on {what} of a run"
        raise TemplateFault(message, "write the text, or a variable of the tests", _line(found))
    filters = [(name, _literal(argument)) for name, argument in re.findall(_FILTER, found["filters"])]
    unknown = next((name for name, _ in filters if name not in _FILTERS), None)
    if unknown is not None:
        known = ", ".join(sorted(_FILTERS))
        raise TemplateFault(f"the filter `{unknown}` is not known", f"use one of: {known}", _line(found))
    return Expression(path, tuple(filters))


def _literal(text: str) -> Data:
    """The value of an argument; :data:`_ARGUMENT` says what there may be."""
    value: Data = text[1:-1] if text.startswith(("'", '"')) else json.loads(text or "null")
    return value


def rendered(template: Template, variables: Mapping[str, Data], room: int) -> tuple[str, int]:
    """The text of ``template``, and the work that it took: characters written, texts between filters included.

    Raises :class:`TemplateFault`, also where that is more than ``room``.  A variable that is not given is empty, as
    in promptfoo, but where it is the only one, or seems to be a slip or what the user says.
    """
    pieces: list[str] = []
    left = room
    asked = [part.path for part in template.parts if isinstance(part, Expression)]
    used = {path[0] for path in asked if not isinstance(_found(path, variables), _Undefined)}
    for part in template.parts:
        if isinstance(part, Expression):
            value, left = _value(part, variables, left - 1)
            # The name of one that is not given is compared with all that are.
            left -= _COMPARISON * len(variables) if isinstance(value, _Undefined) else 0
            piece = _text(part, value, variables, used) if left >= 0 else ""
        else:
            piece = part
        left -= len(piece)
        if left < 0:
            raise TooLongFault
        pieces.append(piece)
    return "".join(pieces), room - left


class TooLongFault(TemplateFault):
    """The text would be longer than there is room for."""

    def __init__(self) -> None:
        super().__init__("the rendered prompts are too long", "shorten the variables, or the prompts")


def _value(expression: Expression, variables: Mapping[str, Data], room: int) -> tuple[Value, int]:
    """What ``expression`` comes to, and the ``room`` that its filters leave."""
    value = _found(expression.path, variables)
    for name, argument in expression.filters:
        if isinstance(value, _Undefined) and name not in _DEFAULTS:
            break
        if isinstance(argument, str) and isinstance(value, list):
            room -= len(argument) * len(value)
        if room < 0:
            raise TooLongFault
        try:
            value = _FILTERS[name](value, argument)
        except (TypeError, ValueError):
            message = f"the filter `{name}` does not fit the value of `{'.'.join(expression.path)}`"
            raise TemplateFault(message, "write another filter, or another value") from None
        room -= len(value) if isinstance(value, str) else 1
    return value, room


def _text(expression: Expression, value: Value, variables: Mapping[str, Data], used: Collection[str]) -> str:
    """What is written of a ``value``; ``used`` are the variables that the template names as well."""
    shown = ".".join(expression.path)
    if isinstance(value, _Undefined):
        name = expression.path[0]
        hint = "" if name in variables else did_you_mean(name, variables.keys() - used)
        if used and not hint and not any(plain_key(name) in names for names in SAID):
            return ""
        message = f"the variable `{shown}` is not given{hint}"
        raise TemplateFault(message, f"add `{untrusted(shown)}` to `vars`")
    if isinstance(value, dict) or (isinstance(value, list) and any(isinstance(item, dict | list) for item in value)):
        message = f"the variable `{shown}` is an object, which has no text of its own"
        fix = f"write `{{{{ {untrusted(shown)} | dump }}}}`, or name what is meant in it"
        raise TemplateFault(message, fix)
    return _written(value)


def _found(path: Sequence[str], variables: Mapping[str, Data]) -> Value:
    value: Value = variables.get(path[0], _UNDEFINED)
    for step in path[1:]:
        inner = as_mapping(value)
        if step in inner:
            value = inner[step]
        elif isinstance(value, list) and step.isdecimal() and int(step[:9]) < len(value):
            value = value[int(step[:9])]
        else:
            return _UNDEFINED
    return value


def _written(value: Value) -> str:
    """``value`` as JavaScript writes it."""
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
"""Names of variables that the user says, the more telling first."""
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
