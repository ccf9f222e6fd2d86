"""The taxonomy file with a candidate's capability in it: what a draft pull request proposes (text in, text out).

Every text of a customer stands between double quotes, where YAML knows escapes and nothing else: it can neither end its
line nor begin anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from bot.config import REVIEWED_FILES
from bot.errors import InputError, Problem
from bot.extension.model import Candidate, Exemplar
from bot.taxonomy.loading import TAXONOMY_FILE
from bot.yaml_writing import edited


def with_capability(taxonomy_text: str, candidate: Candidate) -> str:
    """``taxonomy_text`` with the capability of ``candidate`` at the end, and a new minor version.

    Comments, order, quoting, indentation and line ends of all else stay.  Raises :class:`InputError` if the text is no
    taxonomy file, or cannot be edited so that all else says what it said.
    """

    def change(document: Any) -> None:
        version = _next_version(document)
        # In the quotes that the old one has.
        document["version"] = type(document["version"])(version)
        capabilities = document["capabilities"]
        capabilities.append(_capability(candidate))
        if isinstance(capabilities, CommentedSeq) and not capabilities.fa.flow_style():
            # An empty line before it, as between the others.
            capabilities.yaml_set_comment_before_after_key(len(capabilities) - 1, before="\n")

    return edited(taxonomy_text.encode("utf-8"), TAXONOMY_FILE, REVIEWED_FILES, change)


def _next_version(document: Any) -> str:
    """The next minor version of the taxonomy ``document``, which must hold capabilities."""
    try:
        major, minor, _ = map(int, document["version"].split("."))
        has_capabilities = isinstance(document["capabilities"], list) and bool(document["capabilities"])
    except (AttributeError, LookupError, TypeError, ValueError):
        has_capabilities = False
    if not has_capabilities:
        message = "it holds no version and no capabilities to add one to"
        raise InputError([Problem(TAXONOMY_FILE, None, message, "see `incumbent validate`")])
    return f"{major}.{minor + 1}.0"


def _capability(candidate: Candidate) -> CommentedMap:
    return CommentedMap(
        {
            "id": candidate.id,
            "name": DoubleQuotedScalarString(candidate.name),
            "group": candidate.group,
            "description": DoubleQuotedScalarString(candidate.description),
            "source": "intent",
            "exemplars": CommentedMap(
                {"positive": _exemplars(candidate.positive), "negative": _exemplars(candidate.negative)}
            ),
        }
    )


def _exemplars(exemplars: Sequence[Exemplar]) -> CommentedSeq:
    return CommentedSeq(
        DoubleQuotedScalarString(item.turns[0]) if len(item.turns) == 1 else _conversation(item.turns)
        for item in exemplars
    )


def _conversation(turns: Sequence[str]) -> CommentedSeq:
    sequence = CommentedSeq(DoubleQuotedScalarString(turn) for turn in turns)
    sequence.fa.set_flow_style()
    return sequence
