"""Finds and reads the agent specification of an eval set folder, in any format."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Final

from incumbent.errors import InputError, Problem, untrusted, untrusted_list
from incumbent.files.snapshot import ByteBudgetSnapshot, Snapshot
from incumbent.intake.agents.agent_yaml import NAMES as AGENT_YAML_NAMES
from incumbent.intake.agents.api_plugin import PLATFORM, unread_plugins
from incumbent.intake.agents.reader import AgentReader, BareFiles, bare_readers, find_bare, whole_readers
from incumbent.intake.specification import Specification
from incumbent.taxonomy.config import Limits

# A usual name on many platforms.
_AGENT_FILE: Final = re.compile(r"(^|/)(agents?(\.\w+)?\.ya?ml|ai-?plugin[^/]*\.json)$", re.IGNORECASE)
_SHOWN: Final = 5
_COULD_BE: Final = (".json", ".yaml", ".yml", ".md")
_NO_AGENT: Final = frozenset({"formats.yaml", "readme.md"})
_NAME_IT: Final = "name it under `extends` of an agent.yaml, together with the agent, if it describes the agent's tools"


def read_specification(snapshot: Snapshot, limits: Limits, others: Collection[str] = ()) -> Specification:
    """The agent specification in ``snapshot``, which is rooted at an eval set folder.

    Raises :class:`InputError` if there is none or several, if the folder has more files than ``limits.package_files``,
    or if the specification is invalid.  Without one, the error names files that could be meant as one, except
    ``others``, names of files that are known to be something else.
    """
    folder = snapshot.name("").rstrip("/") or "."
    _check_size(snapshot, limits)
    whole = _whole(snapshot, limits)
    if len(whole) > 1:
        candidates = [(reader.name, path) for reader, path in whole]
        # These may be parts of one agent, such as plugins.
        are_parts = all(reader.is_fallback for reader, _ in whole)
        raise _several(snapshot, folder, candidates, _joining(whole) if are_parts else "keep one agent per folder")
    if whole:
        reader, path = whole[0]
        read = ByteBudgetSnapshot(snapshot, limits.package_bytes)
        specification = reader.read(read, path, limits)
        notes = _unread(snapshot, path, read.taken, limits)
        return replace(specification, notes=(*specification.notes, *notes))
    bare = find_bare(snapshot, limits)
    if len(bare.found) > 1:
        parts = [(reader, path) for reader, path, _ in bare.found]
        raise _several(snapshot, folder, [(reader.name, path) for reader, path in parts], _joining(parts))
    if bare.found:
        part, path, document = bare.found[0]
        specification = part.read(snapshot, path, document, limits)
        notes = _unread(snapshot, path, [path], limits)
        return replace(specification, notes=(*specification.notes, *notes))
    if bare.faults:
        raise InputError(bare.faults)
    reasons = dict(_reasons(snapshot, bare, limits))
    unread = [path for path in snapshot.paths() if path not in reasons and snapshot.name(path) not in others]
    near = [path for path in unread if path in bare.unfit or _AGENT_FILE.search(path)]
    missing: tuple[Problem, ...] = ()
    if near or not reasons:
        near += [path for path in unread if path not in near and _could_describe(path)]
        missing = _missing(folder, [snapshot.name(path) for path in near]).problems
    raise InputError([*reasons.values(), *missing])


def _could_describe(path: str) -> bool:
    """Whether a file of this name could be meant to describe the agent."""
    name = posixpath.basename(path).casefold()
    return name.endswith(_COULD_BE) and name not in _NO_AGENT


def _add_one(folder: str, near: Sequence[str] = ()) -> str:
    """The fix for a ``folder`` without an agent specification; ``near`` are files that could be meant to describe one.

    Other platforms have files of the name agent.yaml too, so that one without the key ``agent`` is not read as ours.
    """
    name = untrusted(json.dumps(posixpath.basename(folder).strip(".") or "NAME", ensure_ascii=False))
    lines = f"`agent: 1`, `name: {name}`, `platform: PLATFORM` (what runs the agent)"
    fix = f"add the agent's app package, or write an agent.yaml of three lines: {lines}"
    ours = next((item for item in near if posixpath.basename(item).casefold() in AGENT_YAML_NAMES), None)
    if ours is None:
        return fix
    return f"if {untrusted(ours)} is meant for Incumbent, give it the key `agent: 1`; if not, {fix}"


def _missing(folder: str, near: Sequence[str]) -> InputError:
    """The error for a folder without an agent; ``near`` are files that could be meant to describe one."""
    known = [*(reader.looked_for for reader in whole_readers()), *(reader.looked_for for reader in bare_readers())]
    looked_for = "; ".join(known)
    seen = f" ({', '.join(near[:_SHOWN])} {'is' if len(near) == 1 else 'are'} of none of these formats)" if near else ""
    return _fault(folder, f"no agent specification is here{seen}; looked for: {looked_for}", _add_one(folder, near))


def _reasons(snapshot: Snapshot, bare: BareFiles, limits: Limits) -> Iterator[tuple[str, Problem]]:
    """The files that are clearly meant to have a format, each with the reason why it is not read."""
    add_one = _add_one(snapshot.name("").rstrip("/"))
    plugins = ((PLATFORM, path, why) for path, why in unread_plugins(snapshot, (), limits) if why is not None)
    for name, path, why in (*((reader.name, path, why) for reader, path, why in bare.misfits), *plugins):
        message = f"no agent specification is here; this file ({name}) is not read: {why.message}"
        yield path, replace(why, file=snapshot.name(path), message=message, fix=f"{why.given_fix}, or {add_one}")


def _unread(snapshot: Snapshot, path: str, taken: Collection[str], limits: Limits) -> Iterator[Problem]:
    """Notes on files that describe a part of an agent and were not ``taken`` for the one at ``path``."""
    beside = [(reader.name, at) for reader, at, _ in find_bare(snapshot, limits).found]
    beside += [(reader.name, at) for reader, at in _found(snapshot, limits, is_fallback=True)]
    whys = dict(unread_plugins(snapshot, taken, limits))
    beside += [(PLATFORM, at) for at in whys if at not in {known for _, known in beside}]
    for name, at in beside:
        if at not in taken:
            unnamed = Problem(at, 1, f"the agent of {snapshot.name(path)} does not name it", _NAME_IT)
            why = whys.get(at) or unnamed
            yield replace(why, file=snapshot.name(at), message=f"this file ({name}) is not read: {why.message}")


def find_specifications(snapshot: Snapshot, limits: Limits) -> tuple[str, ...]:
    """The main files of the agent specifications in ``snapshot``; bare ones only without a complete agent.

    Raises :class:`InputError` if the folder has more files than ``limits.package_files``.
    """
    _check_size(snapshot, limits)
    whole = tuple(path for _, path in _whole(snapshot, limits))
    return whole or tuple(path for _, path, _ in find_bare(snapshot, limits).found)


def _check_size(snapshot: Snapshot, limits: Limits) -> None:
    count = len(snapshot.paths())
    if count > limits.package_files:
        raise _fault(
            snapshot.name("").rstrip("/") or ".",
            f"the folder holds {count:,} files, more than the limit of {limits.package_files:,}",
            "bring the agent package and the eval set only, or raise limits.package_files in config/curation.yaml",
        )


def _whole(snapshot: Snapshot, limits: Limits) -> list[tuple[AgentReader, str]]:
    """The complete agents of ``snapshot``; those of a fallback format only without others."""
    return _found(snapshot, limits, is_fallback=False) or _found(snapshot, limits, is_fallback=True)


def _found(snapshot: Snapshot, limits: Limits, *, is_fallback: bool) -> list[tuple[AgentReader, str]]:
    """The complete agents of fallback or other formats, without those that are parts of another."""
    readers = [reader for reader in whole_readers() if reader.is_fallback is is_fallback]
    found = [(reader, path) for reader in readers for path in reader.recognise(snapshot, limits)]
    parts = {part for reader, path in found for part in reader.parts(snapshot, path, limits) if part != path}
    return [(reader, path) for reader, path in found if path not in parts]


def _joining(found: Sequence[tuple[object, str]]) -> str:
    """The fix that joins the files ``found`` to one agent."""
    listed = untrusted_list(json.dumps(path, ensure_ascii=False) for _, path in found)
    return f"write an agent.yaml with `agent: 1` and `extends: [{listed}]`, which joins them, or keep one"


def _several(snapshot: Snapshot, folder: str, found: Sequence[tuple[str, str]], fix: str) -> InputError:
    candidates = ", ".join(f"{snapshot.name(path)} ({name})" for name, path in found)
    return _fault(folder, f"several agent specifications are here: {candidates}", fix)


def _fault(folder: str, message: str, fix: str) -> InputError:
    return InputError([Problem(folder, None, message, fix)])
