"""Rows that an export of a regression set wrote: the entry's set-up, where the format has no place for one."""

from __future__ import annotations

from dataclasses import replace

from pydantic import ValidationError

from bot.intake.eval_sets.formats.own_yaml import SetupFile
from bot.intake.eval_sets.rows import Row
from bot.intake.expected.carried import carried
from bot.intake.query import Setup


def with_setup(row: Row) -> Row:
    """``row`` with the set-up of the entry that an export wrote it from, unless its file says one itself."""
    told = carried(row.expected).get("setup")
    if told is None or row.setup != Setup():
        return row
    try:
        return replace(row, setup=SetupFile.model_validate(told).setup)
    except ValidationError:
        # Somebody's own key of that name, or changed by hand: it stays in what is expected.
        return row
