"""Which lines of a Markdown comment readers see as plain text (pure).

The comment is rendered as on GitHub and read as by a browser.  Text in code, quotes, tables, links, attributes, HTML
comments, folded or other HTML, footnotes and formulas does not count, nor does text that renders to nothing.  In doubt
a line is not seen.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_MARK: Final = "\ue000"
"""Encloses the number of a line; from a private use area, so that Markdown treats it as a letter."""
_MARKED: Final = re.compile(f"{_MARK}([0-9]+){_MARK}")
_PAIRS: Final = (
    (re.compile(r"\$(?=[^ \t\r\n])"), re.compile(r"(?<=[^ \t\r\n])\$(?![0-9])")),
    (re.compile(r"(?<!~)~(?=[^~ \t\r\n])"), re.compile(r"(?<=[^~ \t\r\n])~(?!~)")),
)
"""The beginning and end of a formula, and text struck through by single tildes, which Markdown leaves unchanged."""
# An unused footnote is not shown; lines right after a footnote belong to it, as after a quote.
_FOOTNOTE: Final = re.compile(r"^((?:[ \t]|[-+*>]|[0-9]{1,9}[.)])*)\[\^[^\]\s]+\]:", re.MULTILINE)
_BLOCKS: Final = frozenset({"center", "div", "h1", "h2", "li", "ol", "p", "ul"})
_PLAIN: Final = _BLOCKS | frozenset({"b", "em", "i", "span", "strong", "u"})
"""Elements whose text is seen as plain text, unless they have attributes."""
_EMPTY: Final = re.compile("area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr")
_IMPLIED: Final = frozenset({"li", "p"})
"""Elements that end with the one around them."""
_ELEMENTS: Final = re.compile(
    "a|abbr|acronym|address|applet|article|aside|audio|bdi|bdo|big|blink|blockquote|body|button|canvas|caption|cite"
    "|code|colgroup|data|datalist|dd|del|details|dfn|dialog|dir|dl|dt|fieldset|figcaption|figure|font|footer|form|frame"
    "|frameset|h3|h4|h5|h6|head|header|hgroup|html|iframe|ins|kbd|label|legend|listing|main|map|mark|marquee|math|menu"
    "|menuitem|meter|nav|nobr|noembed|noframes|noscript|object|optgroup|option|output|picture|plaintext|portal|pre"
    "|progress|q|rb|rp|rt|rtc|ruby|s|samp|script|search|section|select|slot|small|strike|style|sub|summary|sup|svg"
    "|table|tbody|td|template|textarea|tfoot|th|thead|time|title|tr|tt|var|video|xmp"
)
"""The elements of HTML; GitHub leaves out other tags and shows their contents."""


def seen(lines: Sequence[str], asked: Iterable[int]) -> tuple[int, ...]:
    """The ``asked`` numbers (1-based) of those ``lines`` of a comment that are seen as plain text."""
    marked = [line.replace(_MARK, "x") for line in lines]
    for number in asked:
        rest = marked[number - 1].lstrip(" ")
        indent = len(marked[number - 1]) - len(rest)
        marked[number - 1] = f"{' ' * indent}{_MARK}{number}{_MARK}{rest}"
    reader = _MarkReader()
    reader.feed(_markdown().render(_FOOTNOTE.sub(r"\1> ", "\n".join(marked))))
    # Text counts once something follows it; an element that is never closed hides this too.
    reader.feed("<p></p>")
    return tuple(sorted(reader.seen))


@cache
def _markdown() -> MarkdownIt:
    # Imported here: only needed where comments are read.
    from markdown_it import MarkdownIt

    found = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    # The character of an entity could be taken for a mark.
    found.disable("entity")
    found.add_render_rule("html_inline", _html_inline)
    return found


def _html_inline(renderer: object, tokens: Sequence[Any], place: int, options: object, env: object) -> str:
    """HTML in a text, without comments and the like, whose ends differ between Markdown and HTML."""
    del renderer, options, env
    content = str(tokens[place].content)
    return "" if content.startswith(("<!", "<?")) else content


class _MarkReader(HTMLParser):
    """Reads HTML for the marks in plain text; ``seen`` are their numbers."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.seen: set[int] = set()
        self._open: list[str] = []
        self._names: Counter[str] = Counter()  # of the open elements
        self._hiding = 0  # the number of open elements, from the first that hides its contents
        self._text: list[str] = []  # the plain text of the block so far

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._fill(tag)
        if _EMPTY.fullmatch(tag) or not _is_element(tag):
            return
        self._end_block(tag)
        plain = tag in _PLAIN and all((tag, name) == ("ol", "start") for name, _ in attrs)
        self._open.append(tag)
        self._names[tag] += 1
        self._hiding += bool(self._hiding) or not plain

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        # HTML ignores the slash.
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        self._fill(tag)
        if not _is_element(tag):
            return
        self._end_block(tag)
        # An end tag that does not match is ignored: HTML has many rules for these, and this shows no more than they do.
        if not self._names[tag]:
            return
        while self._open[-1] == tag or (self._open[-1] in _IMPLIED and tag not in _IMPLIED):
            ended = self._open.pop()
            self._names[ended] -= 1
            self._hiding -= bool(self._hiding)
            if ended == tag:
                break

    def handle_data(self, data: str) -> None:
        self._text.append("x" if self._hiding else data)

    def handle_entityref(self, name: str) -> None:
        self.handle_data("x")

    def handle_charref(self, name: str) -> None:
        self.handle_data("x")

    def _fill(self, tag: str) -> None:
        """Something that is not text; not a blank either, with which a formula cannot begin or end."""
        if tag not in _BLOCKS and tag != "br":
            self._text.append("x")

    def _end_block(self, tag: str) -> None:
        """Look through the text of the block that ends at ``tag``, without possible formulas and struck text."""
        if tag not in _BLOCKS:
            return
        text = "".join(self._text)
        self._text = []
        between = []
        for opening, closing in _PAIRS:
            first, last = opening.search(text), [found.start() for found in closing.finditer(text)]
            if first and last:
                between.append((first.start(), last[-1]))
        marks = _MARKED.finditer(text)
        self.seen |= {int(mark[1]) for mark in marks if not any(a < mark.start() < b for a, b in between)}


def _is_element(tag: str) -> bool:
    return tag in _PLAIN or _ELEMENTS.fullmatch(tag) is not None
