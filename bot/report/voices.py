"""How Markdown and the console write names and foreign text (see :class:`bot.report.wording.Voice`)."""

from __future__ import annotations

from dataclasses import dataclass

from bot.report.escaping import code, plain, shortened, visible
from bot.taxonomy.model import Taxonomy
from bot.text.masking import masked


def quoted(text: str) -> str:
    """Foreign ``text`` in Markdown: a short code span on one line, without what looks like a secret."""
    return code(shortened(visible(masked(text))))


@dataclass(frozen=True, slots=True)
class MarkdownVoice:
    """Ids and foreign text in code spans; capability names, which are reviewed, as words."""

    taxonomy: Taxonomy

    def name(self, id: str) -> str:
        return quoted(id)

    def capability(self, id: str) -> str:
        return f"*{plain(self.taxonomy.by_id[id].name)}*{_on_trial(id, self.taxonomy)}"

    def quote(self, text: str) -> str:
        return quoted(text)


@dataclass(frozen=True, slots=True)
class PlainVoice:
    """Names as they are, with what would move a cursor made visible."""

    taxonomy: Taxonomy

    def name(self, id: str) -> str:
        return shortened(visible(masked(id)))

    def capability(self, id: str) -> str:
        return f"{visible(self.taxonomy.by_id[id].name)}{_on_trial(id, self.taxonomy)}"

    def quote(self, text: str) -> str:
        return shortened(visible(masked(text)))


def _on_trial(id: str, taxonomy: Taxonomy) -> str:
    return " (on trial)" if taxonomy.by_id[id].trial else ""
