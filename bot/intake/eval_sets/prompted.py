"""Records that hold what the user says as a ``prompt``, or as ``turns`` that have a ``prompt`` each."""

from __future__ import annotations

from typing import Final

from bot.errors import Problem
from bot.files.documents import Data
from bot.intake.eval_sets.messages import is_messages, read_spoken
from bot.intake.eval_sets.rows import rest_of
from bot.intake.place import Place
from bot.text.did_you_mean import perhaps

_FIX: Final = "write what the user says, in quotes"


def read_prompted(
    record: Place, key: str, used: tuple[str, ...], problems: list[Problem]
) -> tuple[tuple[str, ...], tuple[str, ...], dict[str, Data]]:
    """The turns of ``record``, the names of what is attached to them, and what the record holds beside them.

    ``key`` is where a single turn stands, ``used`` are other keys that are told elsewhere.  Of a turn that is an object
    the rest stays under ``turns``; messages that are more than plain turns stay under their own key.
    """
    several, single = record["turns"], record[key]
    if several.absent == single.absent:
        meant = perhaps(key, {name for name, _ in record.entries} - {key, "turns"}) if single.absent else ""
        message = f"{record.name}: must have either `{key}` or `turns`{meant}"
        fix = f"write `{key}` for a single turn, `turns` for a conversation"
        problems.append(record.problem(message, fix))
        return (), (), {}
    if several.absent or is_messages(several):
        held, name = (single, key) if several.absent else (several, "turns")
        spoken = read_spoken(held, problems)
        kept = rest_of(record, *used, *((name,) if spoken.is_text else ()))
        return spoken.turns, spoken.attachments, kept
    turns, rests = _turns(several, problems)
    kept = rest_of(record, *used, "turns")
    if any(rests):
        kept["turns"] = rests
    return turns, (), kept


def _turns(place: Place, problems: list[Problem]) -> tuple[tuple[str, ...], list[Data]]:
    if not place.items:
        problems.append(place.problem(f"{place.name}: must be a list of at least one turn", "write the turns"))
    turns: list[str] = []
    rests: list[Data] = []
    for item in place.items:
        held = next((item[key] for key in ("prompt", "content") if item.has(key)), item)
        if not isinstance(held.data, str):
            problems.append(item.problem(f"{item.name}: must be a text, or an object with a `prompt`", _FIX))
            continue
        turns.append(held.data)
        rests.append(rest_of(item, held.name.rpartition(".")[2]) if item.is_mapping else {})
    return tuple(turns), rests
