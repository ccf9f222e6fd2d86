"""Proposals as an edit of the config file: a value, which somebody else may offer; nothing here writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.files.yaml_writer import amend
from bot.review.calibration import Estimate, in_unit
from bot.text.digests import digest


@dataclass(frozen=True, slots=True)
class ConfigEdit:
    """The ``text`` that the config at ``path`` would have; ``name`` tells proposals apart: equal ones, equal names."""

    path: str
    text: str
    name: str


def edit_config(path: str, text: str, estimates: Sequence[Estimate]) -> ConfigEdit | None:
    """The config ``text`` at ``path`` with what is proposed, comments and order kept; ``None`` if nothing is."""
    proposed = [item for item in estimates if item.proposed is not None]
    if not proposed:
        return None
    values: dict[str, dict[str, float | int]] = {}
    for item in proposed:
        assert item.proposed is not None
        values.setdefault(item.capability, {})[item.knob.value] = in_unit(item.knob, item.proposed)
    return ConfigEdit(path, amend(text, {"per_capability": values}), digest(values))
