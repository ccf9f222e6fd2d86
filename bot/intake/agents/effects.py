"""What a call of a tool does to the world – read or write – and how that was decided.

A declaration decides first (``security_info``, MCP annotations), then the HTTP method, then words: the verb of the
name.  Where nothing tells, the effect is ``unknown``.  The rules are written out in ``docs/specification.md``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from bot.documents import Data, as_list, as_mapping
from bot.intake.specification import Effect


@dataclass(frozen=True, slots=True)
class Decision:
    """An effect and the reason for it, in words for people."""

    effect: Effect
    reason: str


UNTOLD: Final = Decision("unknown", "nothing declares it, and the name does not tell")

READING_METHODS: Final = frozenset({"get", "head", "options", "trace", "query"})
WRITING_METHODS: Final = frozenset({"put", "patch", "delete"})
METHODS: Final = READING_METHODS | WRITING_METHODS | {"post"}


def _verbs(text: str) -> frozenset[str]:
    return frozenset(text.split())


_READ_VERBS: Final = _verbs("""
    get fetch retrieve find describe read list search query lookup view show browse count check calculate estimate
    compare preview
""")
# Of these, the ones that are as often a thing (`search_index_delete`, `list_create`).
_READ_NOUNS: Final = _verbs("read list search query lookup view show browse count check preview")
_WRITE_VERBS: Final = _verbs("""
    create add update delete remove set write send submit cancel post put patch insert upsert upload append move
    rename enable disable assign unassign approve reject dismiss close reopen merge push fork star unstar
    resolve unresolve mark manage edit modify change save replace publish unpublish archive unarchive restore
    reset clear start stop restart pause resume schedule reschedule book place buy purchase pay charge register
    unregister subscribe unsubscribe invite share revoke grant import sync deploy install uninstall provision
    reserve reply notify transfer complete attach detach lock unlock trigger enroll checkin checkout
""")
_WRITE_NOUNS: Final = _verbs("archive book change charge fork import lock place post schedule star transfer")
# Words that are a verb even where they end a name (`issue_read`, `label_write`).
_LAST_READ_VERBS: Final = _verbs("get list read search query find fetch lookup retrieve describe")
_LAST_WRITE_VERBS: Final = _verbs("""
    create add update upsert delete remove set write send submit cancel put patch insert append upload rename enable
    disable approve reject
""")
_SUMMARY_VERBS: Final = (
    _READ_VERBS | {f"{verb}s" for verb in _READ_VERBS} | {"returns", "searches", "queries", "fetches"}
)


def effect_of_name(name: str) -> Decision:
    """The effect that the verb of a tool's ``name`` tells.

    The verb stands first (``listRepairs``), first in the last part (``Products_SearchProducts``) or last
    (``issue_read``).  Words that are as often a thing yield to a verb at the end (``search_index_delete`` writes,
    ``book_search`` reads), ``get_or_create_user`` writes, and a name without a well-known verb is ``unknown``.
    """
    parts = [words for part in re.split(r"[_.:/\s]+", name) if (words := _words(part))]
    words = [word for part in parts for word in part]
    if not words:
        return UNTOLD
    for joint, verb in pairwise(words):
        if joint in ("or", "and") and verb in _WRITE_VERBS:
            return Decision("write", f"the name says '{joint} {verb}'")
    first, last = words[0], words[-1]
    if first in _WRITE_NOUNS and last in _LAST_READ_VERBS - {"list", "read"}:
        return Decision("read", f"the name ends with '{last}'")
    if first in _WRITE_VERBS:
        return Decision("write", f"the name begins with '{first}'")
    if words[:2] == ["look", "up"]:
        return Decision("read", "the name begins with 'look up'")
    if first in _READ_VERBS:
        if words[:2] in (["check", "in"], ["check", "out"]):
            return Decision("write", f"the name begins with '{' '.join(words[:2])}'")
        if first in _READ_NOUNS and last in _LAST_WRITE_VERBS:
            return Decision("write", f"the name ends with '{last}'")
        return Decision("read", f"the name begins with '{first}'")
    inner = parts[-1][0] if len(parts) > 1 and len(parts[-1]) > 1 else ""
    if inner in _WRITE_VERBS:
        return Decision("write", f"the name's last part begins with '{inner}'")
    if inner in _READ_VERBS:
        return Decision("read", f"the name's last part begins with '{inner}'")
    if last in _LAST_WRITE_VERBS:
        return Decision("write", f"the name ends with '{last}'")
    if last in _LAST_READ_VERBS:
        return Decision("read", f"the name ends with '{last}'")
    return UNTOLD


def effect_of_operation(method: str, route: str, operation_id: str, summary: str) -> Decision:
    """The effect of a REST operation; ``method`` in lower case.

    GET, HEAD, OPTIONS, TRACE and QUERY read; PUT, PATCH and DELETE write.  POST writes unless its operationId, the
    last fixed part of its route or the first word of its summary says that it only reads, asked in this order.
    """
    call = f"{method.upper()} {route}"
    if method in READING_METHODS:
        return Decision("read", call)
    if method in WRITING_METHODS:
        return Decision("write", call)
    by_name = effect_of_name(operation_id)
    if by_name.effect != "unknown":
        return Decision(by_name.effect, f"{call}; {by_name.reason}")
    fixed = [part for part in route.split("?")[0].split("/") if part and "{" not in part]
    if fixed and effect_of_name(fixed[-1]).effect == "read":
        return Decision("read", f"{call}; the route ends with '{fixed[-1]}'")
    words = _words(summary)
    joined = any(joint == "and" and _WRITE_VERBS & _plain_forms(verb) for joint, verb in pairwise(words))
    if words and words[0] in _SUMMARY_VERBS and not joined:
        return Decision("read", f"{call}; the summary begins with '{words[0]}'")
    return Decision("write", f"{call}; nothing says that it only reads")


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


def _words(text: str) -> list[str]:
    """The words of a name or a sentence, in lower case: ``listMyOrders`` → list, my, orders."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", text)]
