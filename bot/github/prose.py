"""What a Markdown comment says, told from what it only shows: code, quotes, HTML comments, folded HTML (pure).

It follows the blocks of CommonMark (https://spec.commonmark.org/0.31.2/) as far as that takes, in linear time.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from enum import Enum, auto
from typing import Final


def said(lines: Sequence[str]) -> tuple[int, ...]:
    """The numbers (1-based) of the ``lines`` of a comment that begin with words of its author's own.

    Not said is what stands in code (fenced, indented, spans over several lines), in block quotes and the lines of text
    right after them, in HTML comments, and in HTML elements that fold, quote or show code.
    """
    return _Page().read(lines)


class Backticks:
    """The runs of backticks of a text, to find the one that closes a code span."""

    def __init__(self, text: str) -> None:
        self._starts: dict[int, list[int]] = {}
        for run in re.finditer("`+", text):
            self._starts.setdefault(len(run[0]), []).append(run.start())

    def end(self, opened: int, length: int) -> int | None:
        """Where the span ends whose opening run of ``length`` ends at ``opened``."""
        starts = self._starts.get(length, [])
        index = bisect_left(starts, opened)
        return starts[index] + length if index < len(starts) else None


class _Kind(Enum):
    """What the block is that the next line may go on with."""

    NONE = auto()
    PARAGRAPH = auto()
    QUOTE = auto()
    FENCE = auto()
    HTML = auto()  # until a blank line
    RAW = auto()  # until its end mark


_DEEPEST: Final = 20  # lists in lists on one line
_MARKER: Final = re.compile(r"(?:[-+*]|([0-9]{1,9})[.)])(?: +|$)")
_FENCE: Final = re.compile(r"(`{3,})[^`]*$|(~{3,})")
_HEADING: Final = re.compile(r"#{1,6}(?: |$)")
_RULE: Final = re.compile(r"([-_*])(?: *\1){2,}$")
_UNDERLINE: Final = re.compile(r"(?:=+|-+)$")
_RAW: Final = tuple(
    (re.compile(start, re.IGNORECASE), re.compile(end, re.IGNORECASE))
    for start, end in (
        (r"<(?:pre|script|style|textarea)(?:[\s>]|$)", r"</(?:pre|script|style|textarea)>"),
        ("<!--", "-->"),
        (r"<\?", r"\?>"),
        (r"<!\[CDATA\[", r"\]\]>"),
        ("<![a-z]", ">"),
    )
)
_HTML: Final = re.compile(
    r"</?(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl"
    r"|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main"
    r"|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|source|summary|table|tbody|td|tfoot|th|thead"
    r"|title|tr|track|ul)(?:\s|/?>|$)",
    re.IGNORECASE,
)
_LONE_TAG: Final = re.compile(
    r"(?:<[a-z][a-z0-9-]*+"
    r"""(?:\s++[a-z_:][\w.:-]*+(?:\s*+=\s*+(?:[^\s"'=<>`]++|'[^']*+'|"[^"]*+"))?)*+\s*+/?>|</[a-z][a-z0-9-]*+\s*+>)\s*$""",
    re.ASCII | re.IGNORECASE,
)
_COMMENT: Final = {"<!--": "-->", "<?": "?>"}
_TAG: Final = r"|(?P<mark></?)(?P<tag>blockquote|code|details|pre|script|style|textarea)(?=[\s/>])[^<>]*>"
_IN_PROSE: Final = re.compile(r"\\[!-/:-@\[-`{-~]|`+|<!--|<\?" + _TAG, re.IGNORECASE)
_IN_HTML: Final = re.compile(r"<!--|<\?" + _TAG, re.IGNORECASE)


class _Page:
    """Follows the blocks of CommonMark as far as it takes to tell which lines are said."""

    def __init__(self) -> None:
        self._said: list[int] = []
        self._kind = _Kind.NONE
        self._block: list[tuple[int, str]] = []
        self._items: list[int] = []  # the columns where the contents of the open list items begin
        self._bare_item = False  # the line before was a list marker alone
        self._fence = ""
        self._end_mark = re.compile("")
        self._open: Counter[str] = Counter()  # HTML elements whose contents are shown, not said

    def read(self, lines: Sequence[str]) -> tuple[int, ...]:
        """See :func:`said`."""
        for number, line in enumerate(lines, 1):
            self._take(number, line.expandtabs(4).rstrip(" "))
        self._close()
        return tuple(self._said)

    def _take(self, number: int, text: str) -> None:
        bare_item, self._bare_item = self._bare_item, False
        if not text:
            if bare_item:
                self._items.pop()
            if self._kind not in (_Kind.FENCE, _Kind.RAW):
                self._close()
            return
        begin = len(text) - len(text.lstrip(" "))
        depth = bisect_right(self._items, begin)
        if self._kind in (_Kind.FENCE, _Kind.RAW, _Kind.HTML):
            if depth == len(self._items):
                self._continue(number, text, begin)
                return
            self._close()
        self._start(number, text, begin, depth)

    def _continue(self, number: int, text: str, begin: int) -> None:
        if self._kind is _Kind.FENCE:
            rest = text[begin:]
            near = begin - (self._items[-1] if self._items else 0) < 4
            if near and len(rest) >= len(self._fence) and not rest.strip(self._fence[0]):
                self._close()
            return
        self._block.append((number, text))
        if self._kind is _Kind.RAW and self._end_mark.search(text):
            self._close()

    def _start(self, number: int, text: str, begin: int, depth: int) -> None:
        """A line outside of code and HTML: list markers are taken off, then it begins a block or goes on with one."""
        base = self._items[depth - 1] if depth else 0
        goes_on = self._kind is _Kind.PARAGRAPH and depth == len(self._items)
        for _ in range(_DEEPEST):
            if begin - base >= 4:
                break
            if self._begins_block(number, text, begin, depth, goes_on):
                return
            marker = _MARKER.match(text, begin)
            if not marker or (goes_on and (marker.end() == len(text) or int(marker[1] or 1) != 1)):
                break
            self._close(depth)
            width = len(marker[0].rstrip(" "))
            spaces = len(marker[0]) - width
            base = begin + width + (spaces if 1 <= spaces <= 4 else 1)
            begin = marker.end()
            self._items.append(base)
            depth, goes_on = depth + 1, False
            if begin == len(text):
                self._bare_item = True
                return
        else:
            self._kind = _Kind.QUOTE  # deeper than anybody writes: nothing of it is said
        if self._kind is _Kind.NONE:
            self._close(depth)
            if begin - base < 4:
                self._kind = _Kind.PARAGRAPH
        if self._kind is _Kind.PARAGRAPH:
            self._block.append((number, text))

    def _begins_block(self, number: int, text: str, begin: int, depth: int, goes_on: bool) -> bool:
        fence = _FENCE.match(text, begin)
        raw = next((end for start, end in _RAW if start.match(text, begin)), None)
        kind = _Kind.NONE
        if text[begin] == ">":
            # Any line of text right after goes on with the quote, unless nothing was quoted.
            kind = _Kind.QUOTE if text[begin:].strip("> ") else _Kind.NONE
        elif fence:
            kind, self._fence = _Kind.FENCE, fence[1] or fence[2]
        elif raw:
            kind, self._end_mark = _Kind.RAW, raw
        elif _HTML.match(text, begin) or (
            self._kind not in (_Kind.PARAGRAPH, _Kind.QUOTE) and _LONE_TAG.match(text, begin)
        ):
            kind = _Kind.HTML
        elif _HEADING.match(text, begin):
            kind = _Kind.PARAGRAPH
        elif not _RULE.match(text, begin) and not (goes_on and _UNDERLINE.match(text, begin)):
            return False
        self._close(depth)
        self._kind = kind
        if kind in (_Kind.RAW, _Kind.HTML, _Kind.PARAGRAPH):
            self._block.append((number, text))
        if kind is _Kind.PARAGRAPH or (raw and self._end_mark.search(text, begin)):
            self._close()
        return True

    def _close(self, depth: int | None = None) -> None:
        """End the open block, and the items deeper than ``depth``; its lines are said unless something hides them."""
        if self._block:
            text = "\n".join(line for _, line in self._block)
            marks = self._marks(text)
            at = 0
            for number, line in self._block:
                if self._kind is not _Kind.RAW and marks[bisect_right(marks, at, key=lambda mark: mark[0]) - 1][1]:
                    self._said.append(number)
                at += len(line) + 1
        self._kind, self._block = _Kind.NONE, []
        if depth is not None:
            del self._items[depth:]

    def _marks(self, text: str) -> list[tuple[int, bool]]:
        """From which offsets on ``text`` is said (or not, False): not in code spans, comments and hiding elements."""
        prose = self._kind is _Kind.PARAGRAPH
        backticks = Backticks(text)
        last_end = {mark: text.rfind(mark) for mark in _COMMENT.values()}
        marks = [(0, not self._open.total())]
        at = 0
        while found := (_IN_PROSE if prose else _IN_HTML).search(text, at):
            at = found.end()
            if found["tag"]:
                tag = found["tag"].lower()
                self._open[tag] = max(0, self._open[tag] + (1 if found["mark"] == "<" else -1))
            elif end_mark := _COMMENT.get(found[0]):
                if at - 2 <= last_end[end_mark]:
                    at = text.index(end_mark, at - 2) + len(end_mark)
                elif not prose:
                    at = len(text)
            elif found[0][0] == "`":
                at = backticks.end(at, len(found[0])) or at
            marks += [(found.start(), False), (at, not self._open.total())]
        return marks
