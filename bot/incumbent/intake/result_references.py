"""Whether an argument of an expected call refers to the result of an earlier one (semantics, section 2.1b).

docs/formats.md lists the forms.  A placeholder that names neither an earlier tool nor a step or result, such as
``{{customer_id}}``, is filled in by the eval set's own runner and refers to nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from incumbent.files.documents import Data
from incumbent.intake.eval_sets.table import plain_key
from incumbent.intake.tool_calls import decoded, is_distinctive

_PLACEHOLDER: Final = re.compile(
    r"\{\{([^{}]{1,200})\}\}|\$\{([^{}]{1,200})\}|\{([^{}]{1,200})\}|<([^<>]{1,200})>|\$([^\W\d]\w{0,100}[\w.\[\]]{0,100})"
)
"""A part of a text that stands for a value: ``{{…}}``, ``${…}``, ``{…}``, ``<…>``, ``$name``."""
_RESULT: Final = r"(?:results?|outputs?|responses?|return(?:ed)?)"
_STEP: Final = re.compile(
    rf"(?:step|call|node|task|tool|action|var|{_RESULT})s?[\W_]{{0,3}}\d{{1,4}}(?!\d).*"
    rf"|prev(?:ious)?(?:[\W_].*)?"
    rf"|(?:the )?(?:(?:last|prior|earlier|first)[\W_]{{1,3}})?{_RESULT}(?:[.\[].*|[\W_]{{1,3}}(?:of|from)[\W_].*)?",
    re.IGNORECASE | re.DOTALL,
)
"""The name of a step or a result: ``step_1.id``, ``previous``, ``result of find``."""
_ALONE: Final = re.compile(
    rf"api[_ ]call[_ ]\d{{1,4}}.*|#e\d{{1,4}}|(?:the )?(?:previous|prev|prior|last)[_ ]?{_RESULT}(?:[.\[].*)?",
    re.IGNORECASE | re.DOTALL,
)
"""A whole text that stands for a result: ``API_call_0``, ``#E1``, ``previous_result``."""
_RESULT_OF: Final = re.compile(rf"(?:the )?{_RESULT}[_ ](?:of|from)[_ :]\s?(.+)", re.IGNORECASE | re.DOTALL)
"""A whole text that stands for the result of what it names: ``result_of_find``."""
_SUFFIX: Final = re.compile(rf"[_ ]?{_RESULT}", re.IGNORECASE)
"""What may follow the name of a tool: ``find_slip_result``."""
_CALLED: Final = re.compile(r"(?:the )?(?:\w+ )?(?:call|step|tool|action)\b.*", re.IGNORECASE | re.DOTALL)
"""What has a result: ``the first call``."""
_NUMBERED: Final = re.compile(r"\$(\d{1,4})(?:\[.*|\.[^\W\d].*)?", re.DOTALL)
"""A whole text that stands for the result of a call by its number: ``$1.id``."""
_HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
"""Where a word begins in ``lastResult``."""
_PATH: Final = re.compile(r"\$?\w{1,100}(?:\.[.\[\]\w]{1,100}|\([^\s()]{0,100}\))")
"""A name with a path or arguments, and nothing else: ``cancel.id``."""
_NAMED: Final = re.compile(r"\$?([^\W\d][\w/:-]{0,200})\s{0,3}(?:[.\[(].*)?", re.DOTALL)
_KEYS: Final = re.compile(
    r"\$?ref|(?:from|source)[_ ]?(?:call|step|tool)|(?:result|output)[_ ]?(?:of|from)", re.IGNORECASE
)
"""Keys of an object that stands for a result: ``{"$ref": …}``."""
_LONGEST: Final = 2_000
_DEEPEST: Final = 20


def refers(arguments: Data, earlier: Collection[str], count: int) -> bool:
    """Whether one of the ``arguments`` of a call refers to the result of one of ``count`` calls before it.

    ``earlier`` are the names and ids of these.
    """
    return any(_refers(text, earlier, count) for text in _texts(arguments, _DEEPEST))


def _texts(value: Data, depth: int) -> Iterator[str]:
    """The texts in ``value``; the key of a reference is one as well."""
    found = decoded(value)
    if isinstance(found, str):
        yield found[:_LONGEST]
    elif depth and isinstance(found, list):
        for item in found:
            yield from _texts(item, depth - 1)
    elif depth and isinstance(found, dict):
        for key, item in found.items():
            if _KEYS.fullmatch(key):
                yield "{result}"
            yield from _texts(item, depth - 1)


def _refers(text: str, earlier: Collection[str], count: int) -> bool:
    bare = text.strip()
    numbered = _NUMBERED.fullmatch(bare)
    # A higher number is an amount of money.
    # An ordinary word is a value of its own.
    named = _names(bare.removeprefix("$.").strip("[]"), earlier)
    is_name = named is not None and (is_distinctive(named) or _PATH.fullmatch(bare) is not None)
    of = _RESULT_OF.fullmatch(bare)
    is_result = of is not None and (_names(of[1], earlier) is not None or _CALLED.fullmatch(of[1]) is not None)
    is_number = numbered is not None and int(numbered[1]) <= count
    if is_name or is_result or is_number or _ALONE.fullmatch(bare):
        return True
    for match in _PLACEHOLDER.finditer(bare):
        inner = next(filter(None, match.groups())).strip().strip("#$.")
        if _STEP.fullmatch(_HUMP.sub("_", inner)):
            return True
        named_parts = [name for part in re.split(r"[\s.|]+", inner) if (name := _names(part, earlier)) is not None]
        # Among other words an ordinary one is a word.
        if any(len(inner.split()) == 1 or is_distinctive(name) for name in named_parts):
            return True
    return False


def _names(text: str, earlier: Collection[str]) -> str | None:
    """The ``earlier`` tool whose name ``text`` is, in any spelling and perhaps with a path or arguments."""
    match = _NAMED.fullmatch(text)
    if match is None:
        return None
    said = {plain_key(match[1]), plain_key(_SUFFIX.sub("", match[1]))}
    return next((name for name in earlier if name and plain_key(name) in said), None)
