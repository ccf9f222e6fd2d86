"""What a call of a tool does to the world – read or write – and how that was decided.

A declaration decides first (``security_info``, MCP annotations), then the HTTP method, then words: the verb of the
name.  Where nothing tells, the effect is ``unknown``.  The rules are written out in ``docs/specification.md``.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from bot.documents import Data, as_list, as_mapping
from bot.intake.agents.names import READ_VERBS, WRITE_VERBS, Decision, effect_of_name, words_of

READING_METHODS: Final = frozenset({"get", "head", "options", "trace", "query"})
WRITING_METHODS: Final = frozenset({"put", "patch", "delete"})
METHODS: Final = READING_METHODS | WRITING_METHODS | {"post"}

_SUMMARY_VERBS: Final = (
    READ_VERBS | {f"{verb}s" for verb in READ_VERBS} | {"returns", "searches", "queries", "fetches", "classifies"}
)


def effect_of_operation(method: str, route: str, operation_id: str, summary: str) -> Decision:
    """The effect of a REST operation; ``method`` in lower case.

    GET, HEAD, OPTIONS, TRACE and QUERY read; PUT, PATCH and DELETE write.  POST writes unless its operationId, the
    last fixed part of its route or the first sentence of its summary says that it only reads, asked in this order.
    """
    call = f"{method.upper()} {route}"
    if method in READING_METHODS:
        return Decision("read", call)
    if method in WRITING_METHODS:
        return Decision("write", call)
    by_name = effect_of_name(operation_id)
    if by_name.effect != "unknown":
        return Decision(by_name.effect, f"{call}; {by_name.reason}")
    # `/orders/{id}:search` ends with the call's own name.
    fixed = [part for part in re.sub(r"\{[^{}]*\}", "", route.split("?")[0]).split("/") if part.strip(":")]
    if fixed and effect_of_name(fixed[-1]).effect == "read":
        return Decision("read", f"{call}; the route ends with '{fixed[-1].lstrip(':')}'")
    verb = _reading_verb(summary)
    if verb:
        return Decision("read", f"{call}; the summary begins with '{verb}'")
    return Decision("write", f"{call}; nothing says that it only reads")


def _reading_verb(summary: str) -> str:
    """The reading verb that a summary begins with; nothing if its first sentence says that more is done."""
    sentence = re.split(r"[.:;](?:\s|$)|\n\s*\n", re.sub(r"<[^<>]*>", " ", summary).strip(), maxsplit=1)[0]
    words = words_of(sentence)
    joined = any(joint in ("and", "or", "then") and WRITE_VERBS & _plain_forms(verb) for joint, verb in pairwise(words))
    moved = words[:2] in (["check", "in"], ["check", "out"], ["checks", "in"], ["checks", "out"])
    return words[0] if words and words[0] in _SUMMARY_VERBS and not joined and not moved else ""


def _plain_forms(verb: str) -> frozenset[str]:
    """What a verb may be without the ending of the third person: cancels → cancel, publishes → publish."""
    return frozenset({verb, verb.removesuffix("s"), verb.removesuffix("es")})


def effect_of_annotations(annotations: Data) -> Decision | None:
    """The effect that the annotations of an MCP tool declare, or ``None`` if they are silent.

    ``readOnlyHint`` decides.  Without it, a ``destructiveHint`` of either value says that the tool writes: the
    protocol gives it a meaning only for tools that are not read-only.
    """
    hints = as_mapping(annotations)
    read_only = hints.get("readOnlyHint")
    if isinstance(read_only, bool):
        return Decision("read" if read_only else "write", f"readOnlyHint is {str(read_only).lower()}")
    destructive = hints.get("destructiveHint")
    if isinstance(destructive, bool):
        return Decision("write", f"destructiveHint is {str(destructive).lower()}, which only a writing tool has")
    return None


def effect_of_data_handling(values: Data) -> Decision | None:
    """The effect that ``security_info.data_handling`` of a function attests, or ``None`` if it says nothing."""
    stated = [value for value in as_list(values) if isinstance(value, str)]
    for value in stated:
        if value in ("ResourceStateUpdate", "DataExport"):
            return Decision("write", f"security_info says {value}")
    for value in stated:
        if value in ("GetPublicData", "GetPrivateData", "DataTransform"):
            return Decision("read", f"security_info says {value}")
    return None
