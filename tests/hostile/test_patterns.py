"""Every regular expression of ours, searched for in texts that are made to keep it busy.

The texts are made from the expression itself: its own characters, in runs and pairs, and what its repeats repeat, each
with an end that does not fit.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import pkgutil
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from re import _constants, _parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any

import pytest

import incumbent
from incumbent.classifier.visible_text import clean
from tests.variants import one_in

CHARACTERS = 20_000
MOST_SECONDS = 1.0
"""Of processor time, for one search; what is proportional to the text takes a few thousandths."""
SIZES = (16, 24, 500, 4_000)
SUSPECT = 0.005
"""Seconds for the last of these sizes, after which ``LONGER`` ones are tried."""
LONGER = (6_000, CHARACTERS)
OUR_OWN = {"incumbent.mcp.resources": "reads documents of ours alone"}

METHODS = frozenset({"search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"})
ANCHORED = frozenset({"match", "fullmatch"})
Key = tuple[str | bytes, int]


def modules() -> list[ModuleType]:
    names = [found.name for found in pkgutil.walk_packages(incumbent.__path__, "incumbent.")]
    return [importlib.import_module(name) for name in names if not name.endswith("__main__")]


def held(value: Any, name: str, depth: int = 4) -> Iterator[tuple[re.Pattern[Any], str]]:
    """The compiled patterns in a value of a module, each with the name that it is used by; ``*`` without one."""
    if isinstance(value, re.Pattern):
        yield value, name
    elif depth and isinstance(value, dict):
        yield from (found for each in [*value, *value.values()] for found in held(each, "*", depth - 1))
    elif depth and isinstance(value, list | tuple | set | frozenset):
        yield from (found for each in value for found in held(each, "*", depth - 1))
    elif depth and dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from held(getattr(value, field.name, None), f".{field.name}", depth - 1)


def written(module: ModuleType, nodes: Sequence[ast.AST]) -> Iterator[tuple[re.Pattern[Any], str]]:
    """The patterns that a module writes where it uses them, with the function of ``re`` that they are given to."""
    at_once = {id(node.value): node.attr for node in nodes if isinstance(node, ast.Attribute) and node.attr in METHODS}
    for node in nodes:
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=function), args=[first, *others]) if (
                function in METHODS or function == "compile"
            ):
                flags = [word.value for word in node.keywords if word.arg == "flags"]
                flags += others[:1] if function == "compile" else []
                try:
                    pattern, *flag = (
                        eval(compile(ast.Expression(each), "", "eval"), vars(module)) for each in [first, *flags]
                    )
                except NameError:
                    continue  # It is put together from what comes in.
                yield (
                    (pattern if isinstance(pattern, re.Pattern) else re.compile(pattern, *flag)),
                    at_once.get(id(node), function),
                )


def uses(nodes: Sequence[ast.AST]) -> Iterator[tuple[str, str]]:
    """Names, attributes with a dot before them, and the methods called on them; ``*`` for a name that is handed on."""
    called: set[int] = set()
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr in METHODS:
            called.add(id(node.value))
            if isinstance(node.value, ast.Name):
                yield node.value.id, node.attr
            elif isinstance(node.value, ast.Attribute):
                yield f".{node.value.attr}", node.attr
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in called:
            yield node.id, "*"


def collected() -> dict[Key, tuple[str, frozenset[str]]]:
    """Every pattern, with the module that has it, and how it is used: anchored, or searched for."""
    found: dict[Key, str] = {}
    methods: dict[Key, set[str]] = {}
    trees = {
        module: [*ast.walk(ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8")))] for module in modules()
    }
    used: dict[tuple[str, str], set[str]] = {}
    for module, nodes in trees.items():
        for name, method in uses(nodes):
            used.setdefault(("" if name.startswith(".") else module.__name__, name), set()).add(method)
    for module, nodes in trees.items():
        named = [each for name, value in vars(module).items() for each in held(value, name)]
        for pattern, function in written(module, nodes):
            key = pattern.pattern, pattern.flags
            found.setdefault(key, module.__name__)
            methods.setdefault(key, set()).update({function} & METHODS)
        for pattern, name in named:
            key = pattern.pattern, pattern.flags
            found.setdefault(key, module.__name__)
            methods.setdefault(key, set()).update(
                used.get(("" if name.startswith(".") else module.__name__, name), {"*"} if name == "*" else set())
            )
    return {
        key: (place, frozenset(methods[key]) if methods[key] and methods[key] <= ANCHORED else frozenset({"search"}))
        for key, place in found.items()
    }


CATEGORIES = {"DIGIT": "7", "WORD": "a", "SPACE": " ", "NOT_DIGIT": "a", "NOT_WORD": "!", "NOT_SPACE": "a"}


def members(items: Any) -> list[str]:
    """Characters of a class."""
    some: list[str] = []
    negated = False
    for kind, value in items:
        if kind is _constants.NEGATE:
            negated = True
        elif kind is _constants.LITERAL:
            some.append(chr(value))
        elif kind is _constants.RANGE:
            some += [chr(value[0]), chr(value[1])]
        else:
            some.append(CATEGORIES[str(value).removeprefix("CATEGORY_")])
    if not negated:
        return some
    return [sign for sign in "a! 7_-.<é\n" if sign not in some][:3] or ["☃"]


class Attack:
    """What keeps a pattern busy: its characters, and before what its repeats stand."""

    def __init__(self, pattern: re.Pattern[Any]) -> None:
        self.alphabet: set[str] = set()
        self.pumps: set[tuple[str, str]] = set()
        text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
        flags = pattern.flags | (0 if isinstance(pattern.pattern, str) else re.UNICODE)
        self.whole = self._some(_parser.parse(text, flags), "")

    def units(self) -> list[tuple[str, str]]:
        """What to begin with, and what to repeat."""
        signs, pumps = sorted(self.alphabet)[:8], sorted(self.pumps)[:10]
        runs = [*signs, *(one + other for one in signs[:4] for other in signs[:4] if one != other), self.whole]
        pairs = [("", run) for run in runs] + pumps + [("", before + unit) for before, unit in pumps]
        return [pair for pair in pairs if pair[1]]

    def _some(self, tree: Any, before: str) -> str:
        """A text that the part ``tree`` may match behind ``before``."""
        text = ""
        for kind, value in tree:
            name = str(kind)
            if name in ("LITERAL", "NOT_LITERAL", "ANY", "IN"):
                signs = members(value) if name == "IN" else [chr(value) if name == "LITERAL" else "a"]
                self.alphabet.update(signs[:4])
                text += signs[0]
            elif name == "BRANCH":
                parts = [self._some(branch, before + text) for branch in value[1]]
                text += parts[0]
            elif name in ("SUBPATTERN", "ATOMIC_GROUP", "ASSERT"):
                part = self._some(value if name == "ATOMIC_GROUP" else value[-1], before + text)
                text += "" if name == "ASSERT" else part
            elif name.endswith("_REPEAT"):
                least, most, inner = value
                unit = self._some(inner, before + text)
                if most > 4:
                    self.pumps.add((before + text, unit))
                text += unit * max(least, 1)
        return text


def busiest(pattern: re.Pattern[Any], place: str, methods: frozenset[str]) -> tuple[float, str]:
    """The longest time of one search, and what was searched in."""
    worst = (0.0, "")
    for before, unit in Attack(pattern).units():
        seconds = 0.0
        for size in (*SIZES, *LONGER):
            if size in LONGER and seconds < SUSPECT:
                break
            text: Any = before + unit * (size // len(unit) + 1) + "\0!"
            if place.startswith("incumbent.classifier.embedded"):
                text = clean(text, CHARACTERS)
            if isinstance(pattern.pattern, bytes):
                text = text.encode("latin-1", "replace")
            began = time.process_time()
            for method in methods:
                getattr(pattern, method)(text)
            seconds = time.process_time() - began
            worst = max(worst, (seconds, f"{before!r} {unit!r} x {size}"))
            if seconds > MOST_SECONDS:
                return worst
    return worst


@pytest.mark.parametrize("text", one_in(3, ["(a+)+$", "x.*y.*z!", r"(?:\w|_|-)*\."]))
def test_what_takes_long_is_found(text: str) -> None:
    assert busiest(re.compile(text, re.DOTALL), "", frozenset({"search"}))[0] > MOST_SECONDS


def test_no_pattern_takes_long_whatever_it_is_searched_in() -> None:
    patterns = {key: where for key, where in collected().items() if where[0] not in OUR_OWN}
    assert len(patterns) > 250
    slow = []
    for (pattern, flags), (place, methods) in patterns.items():
        seconds, text = busiest(re.compile(pattern, flags), place, methods)
        if seconds > MOST_SECONDS:
            slow.append(f"{place}: {pattern!r:.120}: {seconds:.1f} s for {text}")
    assert slow == []
