"""Commands in comments: what a person asks the bot to do (pure).

A command is a line that begins with ``/incumbent``, in plain text (:mod:`incumbent.github.markdown_text`).  The bot
does not guess at an unclear line: it is :class:`Misspelt`, and the reply asks the person.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from incumbent.github.markdown_text import seen
from incumbent.text.did_you_mean import did_you_mean
from incumbent.text.masking import masked
from incumbent.text.plain_text import is_invisible

LONGEST_LINE: Final = 120
"""The most characters of a misspelt line that are shown."""

_COMMAND: Final = re.compile(r" {0,3}/incumbent(?=[\s:,;]|$)(.*)", re.ASCII | re.IGNORECASE | re.DOTALL)
SEPARATOR: Final = re.compile(r":|--|–")


@lru_cache(maxsize=256)
def command_lines(body: str) -> tuple[tuple[int, str, str], ...]:
    """The command lines of ``body``: number (1-based), the line, and its words after ``/incumbent``."""
    lines = re.split(r"\r\n|\r|\n", body)
    found: dict[int, str] = {}
    for number, line in enumerate(lines, 1):
        command = _COMMAND.match("".join(character for character in line if not is_unseen(character)))
        if command:
            found[number] = command[1]
    return tuple((number, lines[number - 1], found[number]) for number in (seen(lines, found) if found else ()))


class Backticks:
    """The runs of backticks in a text, to find the end of a code span."""

    def __init__(self, text: str) -> None:
        self._starts: dict[int, list[int]] = {}
        for run in re.finditer("`+", text):
            self._starts.setdefault(len(run[0]), []).append(run.start())

    def end(self, opened: int, length: int) -> int | None:
        """The end of the span whose opening run of ``length`` ends at ``opened``."""
        starts = self._starts.get(length, [])
        index = bisect_left(starts, opened)
        return starts[index] + length if index < len(starts) else None


def first_word(words: str) -> str:
    """The first of ``words``, in lower case."""
    return next(tokens_of(words), ("", 0, 0))[0].lower()


def things(words: str) -> tuple[str, ...]:
    """The words after the first of ``words``, up to a reason after a colon or a dash."""
    found = []
    for token, _, _ in list(tokens_of(words))[1:]:
        if SEPARATOR.match(token):
            break
        found.append(bare(token.removesuffix(":")))
        if token.endswith(":"):
            break
    return tuple(found)


def cut(line: str) -> str:
    """The shown part of ``line``."""
    return line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 1] + "…"


def is_unseen(character: str) -> bool:
    """Whether ``character`` is invisible."""
    return character != "\t" and is_invisible(character)


def bare(text: str) -> str:
    """``text`` without the backticks around it."""
    return text.strip("`").strip() if text[:1] == text[-1:] == "`" else text


def tokens_of(text: str) -> Iterator[tuple[str, int, int]]:
    """The parts between spaces and commas outside backticks, each with start and end."""
    backticks = Backticks(text)
    at = 0
    while begin := re.compile(r"[^\s,]").search(text, at):
        start = at = begin.start()
        while piece := re.compile(r"`+|[^\s,`]+").match(text, at):
            at = piece.end()
            if piece[0][0] == "`":
                at = backticks.end(at, len(piece[0])) or at
        yield text[start:at], start, at


MOST_COMMANDS: Final = 20
"""The most command lines of a comment that are read."""
LONGEST_REASON: Final = 500
"""The most characters, after collapsing white space."""


class Verb(StrEnum):
    """The action of a command."""

    ACCEPT = "accept"
    REJECT = "reject"
    CORRECT = "correct"
    PIN = "pin"
    UNPIN = "unpin"
    UNDO = "undo"
    RESTORE = "restore"
    KEEP = "keep"
    SUGGEST = "suggest"
    RUN = "run"
    HELP = "help"


USAGE: Final[Mapping[Verb, str]] = {
    Verb.ACCEPT: "/incumbent accept ID… [reason]",
    Verb.REJECT: "/incumbent reject ID… reason",
    Verb.CORRECT: "/incumbent correct ID… +CAPABILITY… -CAPABILITY… [reason]",
    Verb.PIN: "/incumbent pin ID… reason",
    Verb.UNPIN: "/incumbent unpin ID…",
    Verb.UNDO: "/incumbent undo ENTRY…",
    Verb.RESTORE: "/incumbent restore ENTRY…",
    Verb.KEEP: "/incumbent keep ENTRY…",
    Verb.SUGGEST: "/incumbent suggest ENTRY…",
    Verb.RUN: "/incumbent run",
    Verb.HELP: "/incumbent help",
}
"""How each command is written."""

ON_ENTRIES: Final = frozenset({Verb.UNDO, Verb.RESTORE, Verb.KEEP, Verb.SUGGEST})
"""The verbs on present or evicted entries of the regression set; :mod:`incumbent.reconcile.requests` reads them."""
_ALONE: Final = frozenset({Verb.RUN, Verb.HELP})
_REASONED: Final = frozenset({Verb.REJECT, Verb.PIN})


@dataclass(frozen=True, slots=True)
class Tag:
    """A capability in a command: ``+`` means that the query exercises it, ``-`` that it does not.

    ``name`` is as the person wrote it: an id, or a short name.
    """

    value: bool
    name: str

    def __str__(self) -> str:
        return f"{'+' if self.value else '-'}{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One command, on ``line`` of the comment (1-based).

    ``names`` are the queries that it names, one by one or by ranges, in their order.  ``every``: it has the word
    ``all``, which adds nothing to ``names``.  ``tags`` are those to correct.
    """

    verb: Verb
    names: tuple[str, ...] = ()
    every: bool = False
    tags: tuple[Tag, ...] = ()
    reason: str | None = None
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Misspelt:
    """A command line that cannot be followed.

    ``text`` is the beginning of the line; ``message`` says what is wrong and how to write it.  Both quote untrusted
    text: escape them where they are shown.
    """

    line: int
    text: str
    message: str


def parse(
    body: str, names: Sequence[str], entries: Mapping[str, str] = MappingProxyType({})
) -> tuple[Command | Misspelt, ...]:
    """The commands in the comment ``body``, in order; ``names`` are the pull request's queries in eval-set order.

    ``entries`` maps the ids that queries have as entries, by which they may be called as well, to the names.

    Without those :data:`ON_ENTRIES`.  Never raises; the time is proportional to the length of ``body``.
    """
    known = _QueryNames(names, entries)
    found: list[Command | Misspelt] = []
    for number, line, words in command_lines(body):
        if first_word(words) in ON_ENTRIES:
            continue
        message = f"this comment has more than {MOST_COMMANDS} commands; write the rest in another comment"
        if len(found) < MOST_COMMANDS:
            try:
                _refuse_unseen(line)
                found.append(_read(words, number, known))
                continue
            except _MisspeltError as error:
                message = str(error)
        found.append(Misspelt(line=number, text=cut(line), message=message))
        if len(found) > MOST_COMMANDS:
            break
    return tuple(found)


def verbs(body: str) -> frozenset[Verb]:
    """The verbs at the beginning of the command lines of ``body``, valid or not."""
    words = {first_word(words) for _, _, words in command_lines(body)}
    return frozenset(verb for verb in Verb if verb in words)


def tags_said(body: str) -> frozenset[Tag]:
    """The tags that lines of ``body`` correct, whichever queries they name."""
    found: set[Tag] = set()
    for _, _, words in command_lines(body):
        begin = next((start for token, start, _ in tokens_of(words) if _is_signed(token)), None)
        if first_word(words) == Verb.CORRECT and begin is not None:
            with suppress(_MisspeltError):
                found.update(_tags(words, begin)[0])
    return frozenset(found)


# -- One command line --------------------------------------------------------------------------------------------------

_JOINERS: Final = frozenset({"and", "or", "to", "through", "not", "&", "+", "-", "--", "–", "—", "..", "…"})
_EXCEPTIONS: Final = frozenset({"except", "excepting", "excluding", "but", "without", "apart", "minus", "save"})
_LONGEST_SHOWN: Final = 64  # characters of a name in a message
# Comparing names takes time: proportional to their number, quadratic in their length.
_LONGEST_COMPARED: Final = 40
_MOST_COMPARED: Final = 500
_LONGEST_RANGE: Final = 1000


class _MisspeltError(Exception):
    """A command line cannot be read; the text of the error is the message."""


def _refuse_unseen(line: str) -> None:
    code = next((ord(character) for character in line if is_unseen(character)), None)
    if code is not None:
        raise _MisspeltError(f"the line holds the invisible character U+{code:04X}; type it anew, without pasting")


class _QueryNames:
    """The names of the pull request's queries, and words that look like one."""

    def __init__(self, names: Sequence[str], entries: Mapping[str, str]) -> None:
        self._entries = entries
        self.ordered = tuple(dict.fromkeys(names))
        self._place = {name: place for place, name in enumerate(self.ordered)}
        self._folded: dict[str, list[str]] = {}
        for name in self.ordered:
            self._folded.setdefault(name.casefold(), []).append(name)
        self._shapes = {shape for name in self._folded for shape in _shapes(name)}
        self._compared = [name for name in self.ordered if len(name) <= _LONGEST_COMPARED][:_MOST_COMPARED]
        self._nearest: dict[str, str] = {}

    def find(self, text: str) -> str | None:
        """The name ``text``: exact, or the only one that differs in case."""
        if text in self._place:
            return text
        alike = self._folded.get(text.casefold(), [])
        return alike[0] if len(alike) == 1 else self._entries.get(text)

    def expand(self, text: str) -> tuple[str, ...]:
        """The names that ``text`` means: one, or a range; none if it is no id."""
        name = self.find(text)
        if name is not None:
            return (name,)
        ranges = set()
        if len(text) <= _LONGEST_RANGE:
            for separator in re.finditer(r"\.\.|-", text):
                first, last = (self.find(bare(end)) for end in (text[: separator.start()], text[separator.end() :]))
                if first is not None and last is not None:
                    ranges.add((self._place[first], self._place[last]))
        if not ranges:
            return ()
        if len(ranges) > 1:
            raise _MisspeltError(f"the range {_quoted(text)} can be read in more than one way; name the queries")
        first_place, last_place = ranges.pop()
        if first_place > last_place:
            raise _MisspeltError(f"the range {_quoted(text)} runs backwards; write the earlier query first")
        return self.ordered[first_place : last_place + 1]

    def resembles(self, token: str) -> bool:
        """Whether ``token``, which is no id, may be meant as one or several."""
        parts = {token, *re.split(r"\.\.|[\s`,;:&+–—…-]", token)}
        parts = {part.strip("`'\"()[].,;:!?").casefold() for part in parts} - {""}
        if any(part in self._folded or part == "all" or self._shapes.intersection(_shapes(part)) for part in parts):
            return True
        return bool(self._near(token))

    def hint(self, token: str) -> str:
        """The most similar name, for a message; without one, an example of the names."""
        near = self._near(token)
        if near:
            return near
        same_end = [name for name in self.ordered if name.casefold().endswith(f"/{bare(token).casefold()}")]
        if len(same_end) == 1:
            return f"; perhaps you meant {_quoted(same_end[0])}"
        return f"; queries are named like {_quoted(self.ordered[0])}" if self.ordered else ""

    def _near(self, token: str) -> str:
        plain = bare(token)
        if len(plain) > _LONGEST_COMPARED:
            return ""
        if plain not in self._nearest:
            self._nearest[plain] = did_you_mean(plain, self._compared)
        return self._nearest[plain]


def _shapes(name: str) -> Iterator[str]:
    """The pattern of a folded ``name``: its digits stand for any digits, or its part before the last mark."""
    for part in {name, name.rpartition("/")[2]}:
        shape = re.sub(r"\d+", "0", part)
        if "0" in shape:
            yield shape
    prefix = re.match(r".*\w[-_./]", name, re.DOTALL)
    if prefix:
        yield f"{prefix[0]}*"


def _quoted(text: str) -> str:
    return repr(text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…")


def _read(words: str, line: int, known: _QueryNames) -> Command:
    tokens = tokens_of(words)
    word, _, at = next(tokens, ("", 0, 0))
    if not word:
        raise _MisspeltError(f"it does not say what to do; say one of {', '.join(Verb)}")
    verb = next((verb for verb in Verb if verb == word.lower()), None)
    if verb is None:
        near = did_you_mean(word.lower(), [verb.value for verb in Verb]) if len(word) <= _LONGEST_COMPARED else ""
        raise _MisspeltError(f"there is no command {_quoted(word)}{near}; say one of {', '.join(Verb)}")
    try:
        if verb in _ALONE:
            if next(tokens, None):
                raise _MisspeltError(f"{verb} is used alone")
            return Command(verb=verb, line=line)
        names, every, at = _ids(words, tokens, at, known, until=_is_signed if verb is Verb.CORRECT else _never)
        if verb is Verb.CORRECT:
            if every:
                raise _MisspeltError("name the queries one by one: the same tags are never wrong in all of them")
            tags, at = _tags(words, at)
            reason = _reason(words[at:], known)
            _refuse_late_tags(words[at:])
            return Command(verb=verb, names=names, tags=tags, reason=reason, line=line)
        reason = _reason(words[at:], known)
        if verb is Verb.UNPIN and reason is not None:
            raise _MisspeltError("unpin takes no reason")
        if verb in _REASONED and reason is None:
            raise _MisspeltError(f"{verb} needs a reason")
    except _MisspeltError as error:
        raise _MisspeltError(f"{error}. Write: {USAGE[verb]}") from None
    return Command(verb=verb, names=names, every=every, reason=reason, line=line)


_SIGNS: Final = {"+": True, "-": False, "−": False}
_LONGEST_TAG: Final = 200


def _is_signed(token: str) -> bool:
    return token[:1] in _SIGNS


def _never(_: str) -> bool:
    return False


def _tag(token: str) -> Tag | None:
    """``token`` as a tag; ``None`` if it is none."""
    name = bare(token[1:]).strip()
    return Tag(_SIGNS[token[0]], name) if _is_signed(token) and name and len(name) <= _LONGEST_TAG else None


def _tags(words: str, at: int) -> tuple[tuple[Tag, ...], int]:
    """The tags in ``words`` from ``at`` on, and where the rest begins."""
    colon = re.compile(r"\s*:").match(words, at)
    begin = at = colon.end() if colon else at
    tags: dict[Tag, None] = {}
    for token, _, end in tokens_of(words[begin:]):
        if token.casefold().startswith("--cost"):
            raise _MisspeltError(
                "what a set-up costs is corrected in a reviewed file alone: "
                "`incumbent correct EVAL_SET_DIR QUERY --cost N` writes it"
            )
        # A colon directly after a tag ends the tags.
        tag = None if SEPARATOR.fullmatch(token) else _tag(token.removesuffix(":"))
        if tag is None:
            if _is_signed(token) and not SEPARATOR.match(token):
                raise _MisspeltError(f"{_quoted(token)} names no capability: write the sign and its id without a space")
            break
        tags[tag] = None
        at = begin + (end - 1 if token.endswith(":") else end)
        if token.endswith(":"):
            break
    if not tags:
        raise _MisspeltError("it corrects nothing: write +CAPABILITY where a query exercises it, -CAPABILITY where not")
    both = [tag.name for tag in tags if tag.value and Tag(False, tag.name) in tags]
    if both:
        raise _MisspeltError(f"it says both + and - of {_quoted(both[0])}")
    return tuple(tags), at


def _refuse_late_tags(text: str) -> None:
    """Refuse a tag in the words of a reason, unless a mark separates the reason."""
    if SEPARATOR.match(text.lstrip(" \t,")):
        return
    late = next((token for token, _, _ in tokens_of(text) if re.match(r"[+−-]`?[^\W\d]", token)), None)
    if late is not None:
        raise _MisspeltError(
            f"{_quoted(late)} comes after the reason began; put tags first, or a colon before the reason"
        )


def _ids(
    words: str, tokens: Iterator[tuple[str, int, int]], at: int, known: _QueryNames, until: Callable[[str], bool]
) -> tuple[tuple[str, ...], bool, int]:
    """The queries that ``tokens`` name, whether ``all`` is among them, and where in ``words`` the rest begins: at the
    latest before a token that fulfils ``until``.
    """
    names: dict[str, None] = {}
    every = False
    for token, _, end in tokens:
        if until(token):
            break
        # A colon directly after an id ends the ids.
        for word, after in ((token, end), (token.removesuffix(":"), end - 1)):
            if bare(word).casefold() == "all" and (word == bare(word) or known.find("all") is None):
                if known.find("all") is not None:
                    raise _MisspeltError("a query is called 'all'; put it in backticks, or write all as first..last")
                every, at = True, after
                break
            expanded = known.expand(word) or known.expand(bare(word))
            if expanded:
                names.update(dict.fromkeys(expanded))
                at = after
                break
        else:
            if names or every:
                break
            raise _MisspeltError(f"there is no query {_quoted(bare(token))} in this pull request{known.hint(token)}")
        if at < end:
            break
    if not names and not every:
        raise _MisspeltError("it does not say which queries")
    return tuple(names), every, at


def _reason(text: str, known: _QueryNames) -> str | None:
    """The reason in the words after the ids, unless they may be meant as more ids."""
    text = re.sub(r"\A[\s,]+", "", text)
    mark = SEPARATOR.match(text)
    if not text.startswith(":"):
        lead, _, end = next(tokens_of(text), ("", 0, 0))
        if mark:
            lead, end = mark[0], mark.end()
        following = next(tokens_of(text[end:]), ("", 0, 0))[0]
        fix = "separate ids by spaces or commas, write ranges as first..last, or put a colon before the reason"
        if lead.casefold() in _JOINERS:
            if following and known.resembles(following):
                raise _MisspeltError(f"{_quoted(lead)} after an id and before {_quoted(following)} is not clear; {fix}")
        elif lead.casefold() in _EXCEPTIONS:
            raise _MisspeltError(
                f"exceptions ({_quoted(lead)}) cannot be said; name the queries, or put a colon before"
            )
        elif lead and known.resembles(lead):
            raise _MisspeltError(f"{_quoted(bare(lead))} is no query of this pull request{known.hint(lead)}; {fix}")
    reason = masked(" ".join(text[mark.end() if mark else 0 :].split()))
    if len(reason) > LONGEST_REASON:
        raise _MisspeltError(f"the reason has {len(reason)} characters; at most {LONGEST_REASON} are kept")
    return reason or None
