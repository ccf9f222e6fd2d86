"""The error classes of the package.

Every message says what happened and what to do next.  Every class has its own exit code, and only
``incumbent.cli.main`` catches it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar, Final, Literal, TypeAlias

from incumbent.text.masking import masked
from incumbent.text.plain_text import is_shown

_LONGEST: Final = 4_000
"""Maximum length of a message or a fix, including what it quotes."""

# Two Unicode noncharacters, which no text needs.  They mark untrusted parts of a fix inside a problem only.
_OPENS: Final = "\ufdd0"
_ENDS: Final = "\ufdd1"

Part: TypeAlias = tuple[str, bool]
"""A piece of a fix, and whether it is untrusted input."""


def untrusted(text: object) -> str:
    """Mark untrusted ``text`` (a name, a key, an id), so that a fix that quotes it can escape it."""
    return f"{_OPENS}{_plain(str(text))}{_ENDS}"


def untrusted_list(texts: Iterable[str]) -> str:
    """Mark each of the untrusted ``texts``, and join them."""
    return ", ".join(map(untrusted, texts))


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault of an input: where it is, what is wrong, and how to mend it.

    ``file`` is a path as the reader named it; ``line`` counts from 1, ``None`` where the fault has none.  ``message``
    and ``fix`` quote foreign text: what looks like a secret there is not repeated, and the middle of a long one is left
    out.  A fix is an instruction, so what it quotes goes in through :func:`untrusted`, and :attr:`parts` marks it.
    """

    file: str
    line: int | None
    message: str
    fix: str
    _parts: tuple[Part, ...] = field(default=(), compare=False, repr=False, kw_only=True)
    """The parts of a fix that quotes something; only :func:`dataclasses.replace` passes them."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", _fit_to_show(_plain(self.message)))
        if self._parts or _OPENS in self.fix or _ENDS in self.fix:
            parts = _follow(self._parts, _parts_of(self.fix))
            fix = _fit_to_show(_joined(parts))
            object.__setattr__(self, "_parts", _fit(parts, fix))
        else:
            fix = _fit_to_show(self.fix)
        object.__setattr__(self, "fix", fix)

    @property
    def parts(self) -> tuple[Part, ...]:
        """The pieces of the fix in order, each with whether it is or may be untrusted."""
        return self._parts or ((self.fix, False),)

    @property
    def given_fix(self) -> str:
        """The fix with its marks, to pass to another problem."""
        return "".join(untrusted(text) if strange else text for text, strange in self.parts)

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        # Messages quote untrusted text, which must not move a cursor or stop the output.
        return f"{_printable(place)}: {_printable(self.message)}\n    fix: {_printable(self.fix)}"

    @property
    def order(self) -> tuple[str, int, str, str]:
        """Sort key of problems: file, line, message, fix."""
        return (self.file, self.line or 0, self.message, self.fix)


def _plain(text: str) -> str:
    return text.replace(_OPENS, "").replace(_ENDS, "") if _OPENS in text or _ENDS in text else text


def _parts_of(fix: str) -> tuple[Part, ...]:
    own, *others = fix.split(_OPENS)
    parts = [(own, False)]
    for other in others:
        inside, _, after = other.partition(_ENDS)
        parts += ((inside, True), (after, False))
    return tuple((_plain(text), strange) for text, strange in parts if _plain(text))


def _joined(parts: Iterable[Part]) -> str:
    return "".join(text for text, _ in parts)


def _follow(known: tuple[Part, ...], given: tuple[Part, ...]) -> tuple[Part, ...]:
    """The parts of a fix that extends one with the parts ``known``; those after it are as ``given``."""
    before, text = _joined(known), _joined(given)
    if not text.startswith(before):
        return ((text, True),)
    rest, skipped = [], len(before)
    for piece, strange in given:
        if piece[skipped:]:
            rest.append((piece[skipped:], strange))
        skipped = max(0, skipped - len(piece))
    return (*known, *rest)


def _fit(parts: tuple[Part, ...], shown: str) -> tuple[Part, ...]:
    """``parts`` after the fix was masked and shortened to ``shown``.

    If that changed the fix, only its first and last part can still be known as trusted.
    """
    if shown == _joined(parts):
        return parts
    if not any(strange for _, strange in parts):
        return ((shown, False),)
    (first, begins_strange), (last, ends_strange) = parts[0], parts[-1]
    head = first if not begins_strange and shown.startswith(first) else ""
    inner = shown[len(head) :]
    tail = last if not ends_strange and inner.endswith(last) else ""
    pieces = ((head, False), (inner[: len(inner) - len(tail)], True), (tail, False))
    return tuple(piece for piece in pieces if piece[0])


def _fit_to_show(text: str) -> str:
    # The first cut is for speed; it keeps everything that the second one keeps.
    shown = masked(_shortened(text, 4 * _LONGEST))
    return _shortened(shown, _LONGEST)


def _shortened(text: str, longest: int) -> str:
    half = (longest - 3) // 2
    return text if len(text) <= longest else f"{text[:half]}...{text[-half:]}"


def _printable(text: str) -> str:
    if is_shown(text):
        return text
    return "".join(sign if is_shown(sign) else "\ufffd" for sign in text)


class IncumbentError(Exception):
    """The base class of all errors of the package.

    ``exit_code`` is the exit code of the command line.
    """

    exit_code: ClassVar[int] = 70

    @property
    def brief(self) -> str:
        """What happened, for a place that repeats it or says itself what to do next."""
        return str(self)


class InputError(IncumbentError):
    """The input is at fault; contains *all* its problems, sorted by file and line."""

    exit_code = 1

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(sorted(set(problems), key=lambda problem: problem.order))
        super().__init__(self.problems)

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems))


class LaterFormatError(InputError):
    """A file or the ledger has a later format than this version knows: nothing of it is used, and nothing is written.

    The exit code is 1, for the ledger as well: the way out is another version, and no later attempt helps.
    """


class UsageError(IncumbentError):
    """The command was called with arguments that it cannot follow."""

    exit_code = 2


class IncompleteError(IncumbentError):
    """Some of the work could not be finished, through no fault of the input.  Never a silent pass."""

    exit_code = 3


class UnreadyError(IncompleteError):
    """The classifier of this platform cannot judge here: who runs the platform has to act, not who brings queries.

    It ``lacks`` the weights that the config names or a fitted model; ``way_out`` says what to do.
    """

    def __init__(self, lacks: Literal["weights", "model"], what: str, way_out: str) -> None:
        super().__init__(what)
        self.lacks: Literal["weights", "model"] = lacks
        self._what, self._way_out = what, way_out

    def __str__(self) -> str:
        return f"{self._what}. {self._way_out}"

    @property
    def brief(self) -> str:
        """What is missing, without the way out."""
        return self._what


class OutsideError(IncumbentError):
    """An external service or program (network, model, git) failed after retries."""

    exit_code = 4
