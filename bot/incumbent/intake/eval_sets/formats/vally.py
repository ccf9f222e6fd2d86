"""Eval specs of Microsoft's Vally, in YAML.

A *stimulus* is a ``prompt`` (or several ``turns``) with its graders; its ``name`` is its unique identifier.  The file's
data for all stimuli – environment, defaults, scoring, tags – is kept under ``eval_spec``.

Source: the eval spec reference, https://microsoft.github.io/vally/reference/eval-spec/.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial
from typing import Final

from incumbent.errors import Problem
from incumbent.files.documents import Data, Node, as_list, as_mapping
from incumbent.intake.eval_sets.inputs import read_prompted
from incumbent.intake.eval_sets.reader import (
    EvalSetReader,
    EvalSetRow,
    EvalSetRows,
    SourceFile,
    read_records,
    rest_of,
    text_id,
)
from incumbent.intake.eval_sets.records import listed
from incumbent.intake.query import Setup

_STIMULI: Final = "stimuli"
_OF_A_STIMULUS: Final = frozenset({"prompt", "turns", "graders", "rubric"})
_OF_A_SPEC: Final = frozenset({"defaults", "config", "scoring", "environment", "type"})


def _recognises(source: SourceFile) -> bool:
    data = as_mapping(source.document.data if source.document else None)
    if _STIMULI not in data:
        return False
    items = [as_mapping(item) for item in as_list(data[_STIMULI])]
    return any(item.keys() & _OF_A_STIMULUS for item in items) or bool(data.keys() & _OF_A_SPEC)


def _read(source: SourceFile) -> EvalSetRows:
    if source.document is None:
        return EvalSetRows(())
    root = source.root
    stimuli = root[_STIMULI]
    if not stimuli.is_list:
        message = f"{_STIMULI}: must be a list of stimuli"
        return EvalSetRows((), (root[_STIMULI].problem(message, "write `- name:` and `prompt:` for each"),))
    shared = rest_of(root, _STIMULI)
    return read_records(listed(stimuli), partial(_row, root["environment"], shared), source.folder_limits.queries)


def _row(common: Node, shared: dict[str, Data], stimulus: Node, problems: list[Problem]) -> EvalSetRow:
    turns, attached, expected = read_prompted(stimulus, "prompt", ("name",), problems)
    if shared:
        expected["eval_spec"] = shared
    return EvalSetRow(
        id=text_id(stimulus["name"], problems),
        turns=turns,
        line=stimulus.line,
        expected=expected or None,
        setup=_setup(stimulus, common, attached),
    )


def _setup(stimulus: Node, common: Node, attached: tuple[str, ...]) -> Setup:
    """The environment of a stimulus merged with that of the file: a name is the tenant, its files are fixtures."""
    environments = (common, stimulus["environment"])
    # Each run replaces a parameter such as `${ENVIRONMENT}`, so it is not the name of a tenant.
    named = [place.text for place in environments if place.text and "${" not in place.text]
    return Setup(
        tenant=named[-1] if named else None,
        connectors=_once(name for place in environments for name, _ in place["mcpServers"].entries),
        fixtures=_once(name for place in environments for name in _files(place["files"])),
        attachments=_once([*attached, *_files(stimulus["attachments"])]),
    )


def _files(place: Node) -> list[str]:
    """The names of the files in a list of texts or objects."""
    names = (item.text or item["src"].text or item["path"].text for item in place.items)
    return [name for name in names if name]


def _once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


READER: Final = EvalSetReader(
    name="vally",
    title="Vally eval spec in YAML with `stimuli`",
    endings=(".yaml", ".yml", ".json"),
    mark=re.compile(r"""\bstimuli["']?\s*:"""),
    recognises=_recognises,
    read=_read,
)
