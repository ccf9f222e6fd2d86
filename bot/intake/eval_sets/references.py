"""References of configuration to columns of data: a bare name, ``${data.name}`` or ``{{item.name}}``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from bot.files.documents import Data, as_mapping

_TEMPLATE: Final = re.compile(r"\$\{\s*data\.([^{}]*[^{}\s])\s*\}|\{\{\s*item\.([^{}]*[^{}\s])\s*\}\}")


def column_of(reference: Data) -> str | None:
    """The name of the column that ``reference`` means, a path with dots if it lies deeper; ``None`` if it means none.

    Templates of anything but the data, such as ``{{sample.output_text}}``, mean no column.
    """
    if not isinstance(reference, str) or not reference.strip():
        return None
    template = _TEMPLATE.fullmatch(reference.strip())
    if template is not None:
        return template[1] or template[2]
    return None if "{" in reference else reference.strip()


def path_of(reference: Data, record: Mapping[str, Data]) -> tuple[str, ...]:
    """The keys that lead to what ``reference`` means in ``record``; none if there is no such place."""
    column = column_of(reference)
    if column is None:
        return ()
    if column in record:
        return (column,)
    steps = tuple(column.split("."))
    held: Data = dict(record)
    for step in steps:
        if step not in as_mapping(held):
            return ()
        held = as_mapping(held)[step]
    return steps
