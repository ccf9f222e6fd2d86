"""What a call of a tool does to the world – read or write – and how that was decided.

A declaration decides first (``security_info``, MCP annotations), then the HTTP method, then words: the verb of the
name.  Where nothing tells, or where method and words contradict each other, the effect is ``unknown``.  The rules are
written out in ``docs/specification.md``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from bot.documents import Data, as_list, as_mapping
from bot.intake.agents.names import READ_VERBS, Decision, effect_of_name, says_plainly, words_of
from bot.intake.agents.package import Package
from bot.intake.agents.prose import is_weak, stated_answer, stated_change
from bot.intake.place import Place
from bot.intake.specification import Effect

READING_METHODS: Final = frozenset({"get", "head", "options", "trace", "query"})
WRITING_METHODS: Final = frozenset({"put", "patch", "delete"})
METHODS: Final = READING_METHODS | WRITING_METHODS | {"post"}
_READING_WORDS: Final = tuple([verb] for verb in READ_VERBS)


def effect_of_operation(method: str, route: str, operation_id: str, *prose: str) -> Decision:
    """The effect of a REST operation; ``method`` in lower case.

    GET, HEAD, OPTIONS, TRACE and QUERY read; PUT, PATCH and DELETE write.  POST reads if its operationId or the last
    fixed part of its route says so, else it writes.  Where what the operation is called or said to do plainly
    contradicts that, its effect is unknown.  ``prose`` are its summary and descriptions.
    """
    call = f"{method.upper()} {route}"
    name = effect_of_name(operation_id)
    named = name.reason.replace("the name", "the operationId")
    place = last_fixed_part(route)
    if method == "post":
        return _effect_of_post(call, name, named, place, prose)
    if method in READING_METHODS:
        against = [
            named if _names_change(name, operation_id, prose) else "",
            "" if words_of(operation_id)[:1] in _READING_WORDS else _routed(place, "write"),
            _said(stated_change, prose),
        ]
        return _unless(Decision("read", call), f"{method.upper()} reads", against)
    reads = method != "delete" and name.effect == "read" and says_plainly(name)
    return _unless(Decision("write", call), f"{method.upper()} writes", [named if reads else ""])


def _effect_of_post(call: str, name: Decision, named: str, place: str, prose: Sequence[str]) -> Decision:
    """The effect of a POST whose operationId tells ``name``, and whose route ends with ``place``."""
    change = _said(stated_change, prose)
    if name.effect == "read":
        return _unless(Decision("read", f"{call}; {name.reason}"), named, [_routed(place, "write"), change])
    if name.effect == "write":
        # A call that changes something may well say what it returns.
        answer = "" if change else _said(lambda text: "" if is_weak(said := stated_answer(text)) else said, prose)
        return _unless(Decision("write", f"{call}; {name.reason}"), named, [_routed(place, "read"), answer])
    if effect_of_name(place).effect == "read":
        ends = f"the route ends with '{place}'"
        return _unless(Decision("read", f"{call}; {ends}"), ends, [change])
    decision = Decision("write", f"{call}; nothing says that it only reads")
    return _unless(decision, _routed(place, "write") or "POST writes", [_said(stated_answer, prose)])


def _names_change(name: Decision, operation_id: str, prose: Sequence[str]) -> bool:
    """Whether the operationId of a reading method, which tells ``name``, is that of a change.

    Where its verb may be a thing (``bookTable``, but ``bookCover``), it is unless the prose says that the call answers
    or the name ends like several things (``purchaseOrders``).
    """
    if name.effect != "write" or says_plainly(name):
        return name.effect == "write"
    words = words_of(operation_id)
    alone = len(words) < 2 or words[0] != name.verb or words[-1].endswith("s")
    return not alone and not any(map(stated_answer, prose))


def _routed(place: str, effect: Effect) -> str:
    """That a route ends with ``place``, if that plainly tells ``effect`` by a verb that it begins or ends with."""
    decision, words = effect_of_name(place), words_of(place)
    plain = decision.effect == effect and says_plainly(decision) and decision.verb in (words[0], words[-1])
    return f"the route ends with '{place}'" if plain else ""


def last_fixed_part(route: str) -> str:
    """The last part of a route that is no parameter: ``/orders/{id}:search`` ends with the call's own name."""
    parts = [part for part in re.sub(r"\{[^{}]*\}", "", route.split("?")[0]).split("/") if part.strip(":")]
    return parts[-1].lstrip(":") if parts else ""


def _unless(decision: Decision, because: str, against: Iterable[str]) -> Decision:
    """``decision``, which rests on ``because``; unknown if anything is said ``against`` it."""
    said = next((words for words in against if words), "")
    if not said:
        return decision
    doubt = f"{because}, but {said}"
    return Decision("unknown", f"{decision.reason.split(';')[0]}; {doubt}", doubt=doubt)


def _said(find: Callable[[str], str], prose: Sequence[str]) -> str:
    """What ``find`` finds in the first of the texts in which it finds anything."""
    words = next((words for text in prose if (words := find(text))), "")
    return f"its description says '{words}'" if words else ""


def note_doubt(package: Package, place: Place, name: str, decision: Decision) -> None:
    """Remark on the operation at ``place`` why the effect of the tool ``name`` is unknown, if words contradict it."""
    if decision.doubt:
        package.note(
            place,
            f"{place.name}: {decision.doubt}{unknown_effect(name)}",
            "let its name and description say what it does, or give its `effect` in an agent.yaml that extends this",
        )


def unknown_effect(name: str) -> str:
    """How a remark ends that says why the effect of the tool ``name`` is unknown."""
    return f"; the effect of {name!r} is unknown"


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
