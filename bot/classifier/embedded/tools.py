"""Which declared tool a query would call, by similarity of texts (architecture, section 7)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from bot.classifier.embedded.terms import character_terms, learn_vocabulary
from bot.classifier.embedded.text import read_text
from bot.classifier.model import ToolChoice
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

    def choose(self, turns: Sequence[str]) -> ToolChoice:
        """The tool whose declaration is most similar to the query; ties by the order of declaration.

        Its confidence is its similarity's share of the sum with its nearest rival's: 1 if no other tool has anything in
        common with the query, 0.5 if another one is as similar; 1 / n if none of the n tools has anything in common.
        """
        similarities = self._similarities(turns)
        best = max(range(len(self.tools)), key=lambda place: similarities[place])
        rival = max((value for place, value in enumerate(similarities) if place != best), default=0.0)
        total = similarities[best] + rival
        confidence = similarities[best] / total if total else 1 / len(self.tools)
        return ToolChoice(self.tools[best].name, round(confidence, 6))

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
