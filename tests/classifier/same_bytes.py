"""Writes the digest of what the classifier computes: python -m tests.classifier.same_bytes TEXTS TOGETHER.

Of so many texts of all languages, some at a time, the vectors; and which tools of some agents they call.  Run in a
process of its own, since kernels are chosen once, when numpy is loaded.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator

from bot.classifier.embedded.embedding import E5Embedder, Embedder
from bot.classifier.embedded.tools import ToolIndex
from bot.classifier.embedded.weights import SHIPPED_DIGEST, required_weights
from bot.intake.specification import Tool
from tests.classifier.factories import tool
from tests.classifier.many_languages import LABELS, texts

AGENTS = 3


def agents() -> Iterator[tuple[Tool, ...]]:
    """The tools of some labelled agents."""
    for line in (LABELS / "called_tools.jsonl").read_text(encoding="utf-8").splitlines():
        if "tools" in (found := json.loads(line)):
            yield tuple(tool(item["name"], description=item["description"]) for item in found["tools"])


def digest(number: int, together: int, embedder: Embedder) -> str:
    """Of the vectors of so many texts, and of the tools that they call."""
    asked = texts(number)
    found = hashlib.sha256()
    for start in range(0, len(asked), together):
        found.update(embedder.embed(asked[start : start + together]).tobytes())
    for _, tools in zip(range(AGENTS), agents(), strict=False):
        index = ToolIndex(tools, (), embedder)
        for start in range(0, len(asked), together):
            for each in index.all_calls([((text,), None) for text in asked[start : start + together]]):
                found.update(repr((each.probability, [dict(step) for step in each.steps])).encode())
    return found.hexdigest()


if __name__ == "__main__":
    sys.stdout.write(digest(int(sys.argv[1]), int(sys.argv[2]), E5Embedder(required_weights(SHIPPED_DIGEST))))
