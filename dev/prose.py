"""Measure how plain the prose is: ``python -m dev.prose [PAGE …]`` prints a table, or the long sentences of pages.

Pages are the README and ``docs/``, by their paragraphs and lists: code, tables and headings do not count, and a code
span or the address of a link is one word. Messages are the string literals of ``bot/`` and the help of its commands.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).resolve().parent.parent
PAGES: Final = (REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md")))

MAX_MEAN: Final = 16.0
"""Words a sentence, on average of a page."""

MAX_WORDS: Final = 30
"""Words of one sentence."""

_NO_MESSAGES: Final = frozenset(
    {
        "bot/incumbent/classifier/embedded/courtesies.py",
        "bot/incumbent/classifier/embedded/word_lists.py",
        "bot/incumbent/classifier/embedded/wording.py",
        "bot/incumbent/classifier/language_model/prompt.py",
        "bot/incumbent/extension/naming.py",
        "bot/incumbent/ledger/events.py",
        "bot/incumbent/text/personal_data/mail.py",
    }
)
"""Modules whose strings are words to recognise, what a model is asked, or words of the ledger's format."""

_FIELDS: Final = re.compile(r" ?[a-z_]+(=[a-z_.]+)?( [a-z_]+(=[a-z_.]+)?)*")
"""Names, each perhaps with where its value is found."""

_DIALECT: Final = re.compile(
    r"\b(told|nobody|whoever|stands|stood|mend(?:s|ed|ing)?|heal(?:s|ed|ing)?|strangers?|at hand|as it is|of which"
    r"|lag(?:s|ged|ging)?|settled|(?:waiting|waits?|stays?|entry|entries|set or) in line|a bug of ours"
    r"|is no (?:commit|name) of)\b",
    re.IGNORECASE,
)
_HIDDEN: Final = re.compile(r"^```.*?^```$|<!--.*?-->|^> .*?$|^\|.*?$|^#.*?$|^</?(?:details|sub|p)\b.*?$", re.M | re.S)
_CODE: Final = re.compile(r"(`+).+?\1", re.DOTALL)
_LINK: Final = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_ITEM: Final = re.compile(r"^\s*(?:[-*]|\d+\.)\s+", re.MULTILINE)
_END: Final = re.compile(r"(?<=[.!?])[*_)”\"]*\s+(?=[*_(“\"]*[A-Z0-9§])|(?<=[.!?:])$")


@dataclass(frozen=True)
class Prose:
    """What one page reads like."""

    sentences: tuple[str, ...]
    dialect: tuple[str, ...]

    @property
    def mean(self) -> float:
        """Words a sentence."""
        return sum(map(words, self.sentences)) / max(1, len(self.sentences))

    @property
    def long(self) -> tuple[str, ...]:
        """The sentences over the limit, the longest first."""
        return tuple(sorted((each for each in self.sentences if words(each) > MAX_WORDS), key=words, reverse=True))


def words(sentence: str) -> int:
    """How many words ``sentence`` has; a sign between blanks is none."""
    return sum(any(sign.isalnum() for sign in word) for word in sentence.split())


def prose_of(page: str) -> Prose:
    """The sentences of a page in Markdown, and words of the dialect anywhere outside its code."""
    text = re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL)
    plain = _LINK.sub(r"\1", _CODE.sub("X", text))
    return Prose(tuple(_sentences(_LINK.sub(r"\1", _CODE.sub("X", _HIDDEN.sub("\n", page))))), dialect_in(plain))


def _sentences(text: str) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n", _ITEM.sub("\n\n", text)):
        for sentence in _END.split(" ".join(paragraph.split())):
            if words(sentence):
                yield sentence


def dialect_in(text: str) -> tuple[str, ...]:
    """The words of the old dialect in ``text``, in their order."""
    return tuple(found.group().lower() for found in _DIALECT.finditer(" ".join(text.split())))


def messages(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of each string literal of a module, and of each docstring that is the help of a command.

    A name, and a list of fields such as ``size=whole.size``, is no message.
    """
    tree = ast.parse(source)
    internal = {id(node) for node in _docstrings(tree)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in internal:
            is_name = _FIELDS.fullmatch(node.value) and ("=" in node.value or " " not in node.value)
            if not is_name:
                yield node.lineno, node.value


def _docstrings(tree: ast.Module) -> Iterator[ast.expr]:
    """What documents the code itself; the docstring of a decorated function may be shown as help."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any("click" in ast.unparse(each) for each in node.decorator_list):
            continue
        for statement in getattr(node, "body", ()) if not isinstance(node, ast.Lambda | ast.IfExp) else ():
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                yield statement.value


def dialect_of_messages() -> Iterator[tuple[str, str]]:
    """Place and word of each word of the dialect in what the product says."""
    for module in sorted((REPOSITORY / "bot" / "incumbent").rglob("*.py")):
        name = module.relative_to(REPOSITORY).as_posix()
        for line, text in () if name in _NO_MESSAGES else messages(module.read_text(encoding="utf-8")):
            yield from ((f"{name}:{line}", word) for word in dialect_in(text))


def _print_table() -> None:
    print(f"{'page':34}{'sentences':>10}{'mean':>7}{'longest':>9}{'over ' + str(MAX_WORDS):>9}  dialect")
    for page in PAGES:
        prose = prose_of(page.read_text(encoding="utf-8"))
        longest = max(map(words, prose.sentences), default=0)
        counted = ", ".join(f"{word} {count}" for word, count in Counter(prose.dialect).most_common())
        name = str(page.relative_to(REPOSITORY))
        print(f"{name:34}{len(prose.sentences):10}{prose.mean:7.1f}{longest:9}{len(prose.long):9}  {counted}")
    for place, word in dialect_of_messages():
        print(f"{place}: {word}")


def _print_sentences(page: Path) -> None:
    prose = prose_of(page.read_text(encoding="utf-8"))
    print(f"{page}: {prose.mean:.1f} words a sentence; {', '.join(prose.dialect)}")
    for sentence in prose.long:
        print(f"{words(sentence):4} {sentence}")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        _print_sentences(Path(name))
    if not sys.argv[1:]:
        _print_table()
