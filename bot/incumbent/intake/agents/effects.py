"""The effect of a tool call – read or write – and the reason for it.

Declarations decide first (``security_info``, MCP annotations), then the HTTP method, then the verb of the name.
Without any of these, or if method and names contradict each other, the effect is ``unknown``.
``docs/specification.md`` has the rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from incumbent.files.documents import Data, Node, as_list, as_mapping
from incumbent.intake.agents.name_effects import (
    ASKING_VERBS,
    NO_OBJECTS,
    PLAIN_WRITE_VERBS,
    READ_VERBS,
    EffectReason,
    begins_doubtfully,
    effect_of_name,
    is_noun_of_reading,
    own_words,
    reads_alone,
    says_plainly,
    shortened,
    words_of,
)
from incumbent.intake.agents.package import AgentPackage
from incumbent.intake.specification import Effect

READING_METHODS: Final = frozenset({"get", "head", "options", "trace", "query"})
WRITING_METHODS: Final = frozenset({"put", "patch", "delete"})
METHODS: Final = READING_METHODS | WRITING_METHODS | {"post"}
_READING_WORDS: Final = tuple([verb] for verb in READ_VERBS)
_MANY_CALLS: Final = re.compile(r"graph-?ql|\b(?:gql|rpc)\b|(?:json|xml)[-_]?rpc", re.IGNORECASE)
"""Routes that accept both reading and changing calls."""
_ACTION: Final = re.compile(
    r"[?&]_?(?:action|act|command|cmd|do|method|op|operation|task)=([\w-]{1,80})", re.IGNORECASE
)


def effect_of_operation(method: str, route: str, operation_id: str) -> EffectReason:
    """The effect of a REST operation; ``method`` in lower case.

    GET, HEAD, OPTIONS, TRACE and QUERY read; PUT, PATCH and DELETE write.  POST reads if its operationId or the last
    fixed part of its route says so, else it writes.  If method, operationId and route plainly contradict each other,
    the effect is unknown.
    """
    call, name = f"{method.upper()} {route}", effect_of_name(operation_id)
    named = name.reason.replace("the name", "the operationId")
    if method == "post":
        return _effect_of_post(route, operation_id, name, named)
    if method in READING_METHODS:
        is_change = name.effect == "write" and says_plainly(name) and not _is_noun(operation_id)
        # `findCancelledOrders` at `/orders/cancel` reads.
        routed = "" if own_words(operation_id)[:1] in _READING_WORDS else _routed_change(route)
        return _unless(EffectReason("read", call), f"{method.upper()} reads", [named if is_change else "", routed])
    reads = method != "delete" and name.effect == "read" and says_plainly(name)
    return _unless(EffectReason("write", call), f"{method.upper()} writes", [named if reads else ""])


def _effect_of_post(route: str, operation_id: str, name: EffectReason, named: str) -> EffectReason:
    """The effect of a POST: by its operationId, else by its route; without either it writes."""
    call, place, words = f"POST {route}", last_fixed_part(route), own_words(operation_id)
    alone = f"the route ends with '{place}'" if reads_alone(place) else ""
    begins = f"the operationId begins with '{words[0]}'" if words else ""
    if many := _takes_many_calls(place, name, operation_id):
        return _unless(EffectReason("write", call), "POST writes", [f"{many}, which takes reads and changes alike"])
    if name.effect == "read":
        if is_noun_of_reading(name, operation_id) and (begins_doubtfully(words) or not alone):
            return _unless(EffectReason("write", call), "POST writes", [named])
        return _unless(EffectReason("read", f"{call}; {name.reason}"), named, [_routed(place, "write")])
    if name.effect == "write":
        return _unless(EffectReason("write", f"{call}; {name.reason}"), named, [alone])
    if alone:
        doubtful = begins if begins_doubtfully(words) else ""
        return _unless(EffectReason("read", f"{call}; {alone}"), alone, [doubtful])
    asks = begins if words and words[0] in ASKING_VERBS else ""
    decision = EffectReason("write", f"{call}; nothing says that it only reads")
    if routed := _routed(place, "write"):
        return _unless(decision, routed, [asks])
    return _unless(decision, "POST writes", [asks, _reads_doubtfully(place)])


def _takes_many_calls(place: str, name: EffectReason, operation_id: str) -> str:
    """The reason if a route accepts calls of any kind and the operationId does not say which this is."""
    reads = name.effect == "read" and name.verb != "query" and words_of(operation_id)[:1] == [name.verb]
    if reads or name.effect == "write":
        return ""
    if _MANY_CALLS.search(place):
        return f"the route ends with '{place}'"
    return f"the operationId is '{operation_id}'" if _MANY_CALLS.search(operation_id) else ""


def _reads_doubtfully(place: str) -> str:
    """The reason if a route ends with a word for reading or a noun: ``background-check``, ``view``, ``convert``."""
    place = place.split(":")[-1]
    words = words_of(place)
    may_read = bool(words) and (words[0] in ASKING_VERBS or words[-1] in READ_VERBS)
    return f"the route ends with '{place}'" if may_read or effect_of_name(place).effect == "read" else ""


def _is_noun(operation_id: str) -> bool:
    """Whether an operationId that begins with a verb is a noun as a whole: ``updateHistory``."""
    words = words_of(operation_id)
    return len(words) == 2 and words[1] in NO_OBJECTS


def _routed_change(route: str) -> str:
    """The reason if a route clearly names a change: in its last part, in a part that is a verb, or in its query."""
    if last := _routed(last_fixed_part(route), "write"):
        return last
    for part in _fixed_parts(route):
        if part.lower() in PLAIN_WRITE_VERBS:
            return f"the route says '{part}'"
    for found in _ACTION.finditer(route):
        if _routed(found.group(1), "write"):
            return f"the route says '{found.group()[1:]}'"
    return ""


def _routed(place: str, effect: Effect) -> str:
    """The reason if ``place``, the end of a route, begins or ends with a clear verb of ``effect``."""
    decision, words = effect_of_name(place), words_of(place)
    plain = decision.effect == effect and says_plainly(decision)
    plain = plain and decision.verb.split()[0] in (words[0], words[-1])
    return f"the route ends with '{place}'" if plain else ""


def last_fixed_part(route: str) -> str:
    """The last part of a route that is not a parameter: ``search`` in ``/orders/{id}:search``."""
    parts = _fixed_parts(route)
    return parts[-1] if parts else ""


def _fixed_parts(route: str) -> list[str]:
    """The parts of a route that are not parameters."""
    path = re.sub(r"\{[^{}]*\}", "", route.split("?")[0])
    return [shortened(part.lstrip(":")) for part in path.split("/") if part.strip(":")]


def _unless(decision: EffectReason, because: str, against: Iterable[str]) -> EffectReason:
    """``decision``, made ``because`` of a reason; unknown if there is anything ``against`` it."""
    said = next((words for words in against if words), "")
    if not said:
        return decision
    doubt = f"{because}, but {said}"
    return EffectReason("unknown", f"{decision.reason.split(';')[0]}; {doubt}", doubt=doubt)


def note_doubt(package: AgentPackage, place: Node, name: str, decision: EffectReason) -> None:
    """Note at ``place`` why the effect of the tool ``name`` is unknown, if words contradict each other."""
    if decision.doubt:
        package.note(
            place,
            f"{place.name}: {decision.doubt}{unknown_effect(name)}",
            "let what declares and describes it agree, or give its `effect` in an agent.yaml that extends this",
        )


def unknown_effect(name: str) -> str:
    """The end of a note on why the effect of the tool ``name`` is unknown."""
    return f"; the effect of {name!r} is unknown"


def effect_of_annotations(annotations: Data, name: str) -> EffectReason | None:
    """The effect in the annotations of the MCP tool ``name``; ``None`` if they declare none.

    ``readOnlyHint`` decides.  If it is true, but ``destructiveHint`` is true as well or the name clearly names a
    change, the effect is unknown.  Without it, ``destructiveHint: true`` means that the tool writes; ``false`` decides
    nothing.
    """
    hints = as_mapping(annotations)
    read_only, destructive = hints.get("readOnlyHint"), hints.get("destructiveHint")
    if isinstance(read_only, bool):
        declared = f"readOnlyHint is {str(read_only).lower()}"
        if not read_only:
            return EffectReason("write", declared)
        named = effect_of_name(name)
        against = [
            "destructiveHint is true" if destructive is True else "",
            named.reason if named.effect == "write" and says_plainly(named) else "",
        ]
        return _unless(EffectReason("read", declared), declared, against)
    if destructive is True:
        return EffectReason("write", "destructiveHint is true, which only a writing tool has")
    return None


def effect_of_tool(package: AgentPackage, annotations: Node, name: str) -> EffectReason:
    """The effect of the MCP tool ``name``: by its annotations, else by its name; notes hints that are not boolean."""
    for key in ("readOnlyHint", "destructiveHint"):
        hint = annotations[key]
        if hint.data is not None and not isinstance(hint.data, bool):
            message = f"{hint.name}: must be true or false, and is not read"
            package.note(hint, message, "write true or false, without quotes")
    return effect_of_annotations(annotations.data, name) or effect_of_name(name)


def effect_of_data_handling(values: Data) -> EffectReason | None:
    """The effect in ``security_info.data_handling`` of a function; ``None`` if it declares none."""
    stated = [value for value in as_list(values) if isinstance(value, str)]
    for value in stated:
        if value in ("ResourceStateUpdate", "DataExport"):
            return EffectReason("write", f"security_info says {value}")
    for value in stated:
        if value in ("GetPublicData", "GetPrivateData", "DataTransform"):
            return EffectReason("read", f"security_info says {value}")
    return None
