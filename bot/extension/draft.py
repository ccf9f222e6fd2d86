"""The taxonomy file with a candidate's capability in it: what a draft pull request proposes (text in, text out).

Every text of a customer stands between double quotes, where YAML knows escapes and nothing else: it can neither end its
line nor begin anything.
"""

from __future__ import annotations

import io
from collections.abc import Sequence

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import YAMLError
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from bot.errors import InputError, Problem
from bot.extension.model import Candidate, Exemplar
from bot.taxonomy.loading import TAXONOMY_FILE

# No line of a taxonomy is this long: what people wrote on one line stays there.
_WIDTH = 1_000_000


def with_capability(taxonomy_text: str, candidate: Candidate) -> str:
    """``taxonomy_text`` with the capability of ``candidate`` at the end, and a new minor version.

    Comments, order and quoting of all else stay.  Raises :class:`InputError` if the text is no taxonomy file.
    """
    try:
        document = _yaml().load(taxonomy_text)
        capabilities, version = document["capabilities"], str(document["version"])
        major, minor, _ = map(int, version.split("."))
        capabilities[0]
    except (YAMLError, LookupError, TypeError, ValueError):
        message = "it holds no version and no capabilities to add one to"
        raise InputError([Problem(TAXONOMY_FILE, None, message, "see `incumbent validate`")]) from None
    document["version"] = f"{major}.{minor + 1}.0"
    capabilities.append(_capability(candidate))
    if not capabilities.fa.flow_style():
        # An empty line before it, as between the others.
        capabilities.yaml_set_comment_before_after_key(len(capabilities) - 1, before="\n")
    stream = io.StringIO()
    _yaml().dump(document, stream)
    return stream.getvalue()


def _yaml() -> YAML:
    yaml = YAML()
    yaml.width = _WIDTH
    yaml.preserve_quotes = True
    yaml.indent(mapping=2, sequence=4, offset=2)
    return yaml


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
