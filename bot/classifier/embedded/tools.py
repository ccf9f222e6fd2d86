"""Which declared tool a query would call, by similarity of texts (architecture, section 7)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from bot.classifier.embedded.terms import character_terms, learn_vocabulary
from bot.classifier.embedded.text import read_text
from bot.classifier.model import CalledTools
from bot.intake.specification import Tool
from bot.rounding import rounded

_READ_CHARACTERS: Final = 2_000
"""How much of a tool's description is read."""

_CAMEL_CASE: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class ToolIndex:
    """The names and descriptions of the declared tools, by their weighted character sequences."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self.tools = tools
        documents = [character_terms(read_text([_text(tool)])) for tool in tools]
        self.vocabulary = learn_vocabulary(documents, 1)
        self.holders: defaultdict[int, list[tuple[int, float]]] = defaultdict(list)
        for place, document in enumerate(documents):
            for term, value in zip(*self.vocabulary.weigh(document), strict=True):
                self.holders[term].append((place, value))

    def calls(self, turns: Sequence[str], probability: float) -> CalledTools:
        """Which tool the query calls, in one step, where it calls one with ``probability``.

        The tool whose declaration is most similar to the query shares a probability of 1 with its nearest rival, in the
        ratio of their similarities; all tools share it alike if none has anything in common with the query.
        """
        similarities = self._similarities(turns)
        first, *others = self.ranked(turns)
        total = similarities[first] + (similarities[others[0]] if others else 0.0)
        if not total:
            return CalledTools(probability, ({tool.name: 1 / len(self.tools) for tool in self.tools},))
        shares = {self.tools[place].name: round(similarities[place] / total, 6) for place in (first, *others[:1])}
        return CalledTools(probability, (shares,))

    def ranked(self, turns: Sequence[str]) -> list[int]:
        """The places of the tools, the most similar to the query first; ties by the order of declaration."""
        similarities = self._similarities(turns)
        return sorted(range(len(self.tools)), key=lambda place: -similarities[place])

    def _similarities(self, turns: Sequence[str]) -> list[float]:
        similarities = [0.0] * len(self.tools)
        for term, value in zip(*self.vocabulary.weigh(character_terms(read_text(turns))), strict=True):
            for place, own in self.holders[term]:
                similarities[place] += value * own
        return [rounded(value) for value in similarities]


def _text(tool: Tool) -> str:
    """Name and description as words: ``getRepairs`` and ``get_repairs`` are “get Repairs”."""
    name = _CAMEL_CASE.sub(" ", tool.name[:_READ_CHARACTERS]).replace("_", " ")
    return f"{name}\n{tool.description[:_READ_CHARACTERS]}"
