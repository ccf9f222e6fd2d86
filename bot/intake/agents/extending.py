"""The files that an ``agent.yaml`` extends: opened, read each by its own reader, and joined in order."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TypeVar

from bot.config import Limits
from bot.errors import InputError, Problem
from bot.files.documents import Path, parse
from bot.files.snapshot import Snapshot, path_beside
from bot.intake.agents.bare import BareReader
from bot.intake.agents.registry import bare_readers, fitting, whole_readers
from bot.intake.place import Parsed, Place
from bot.intake.specification import UNLISTED, Specification, Tool
from bot.text.did_you_mean import perhaps

Item = TypeVar("Item")


def read_bases(
    snapshot: Snapshot, path: str, source: Parsed, references: Sequence[tuple[Path, str]], limits: Limits
) -> Specification:
    """What the files that ``references`` of ``source`` name declare together.

    Raises :class:`InputError` with the faults of all of them: a file that is missing, outside the folder, broken, of no
    known format, named twice, or an ``agent.yaml`` itself.
    """
    faults: list[Problem] = []
    found: list[tuple[Place, Specification]] = []
    seen = {path}
    for at, reference in references:
        place = Place(source, at, reference)
        target = path_beside(path, reference)
        if target is None:
            message = f"{place.name}: {reference} leads out of the folder, and nothing outside is ever read"
            faults.append(place.problem(message, "put a copy of the file into the folder, and name that"))
        elif target in seen:
            message = "the file extends itself" if target == path else f"{reference} is named twice"
            faults.append(place.problem(f"{place.name}: {message}", "name every file once, and other files only"))
        else:
            seen.add(target)
            try:
                found.append((place, _read(snapshot, target, place, limits)))
            except InputError as error:
                faults += error.problems
    if faults:
        raise InputError(faults)
    return _joined(found, source, limits)


def _read(snapshot: Snapshot, path: str, place: Place, limits: Limits) -> Specification:
    """The specification in the file at ``path``, by the one reader that takes it for its own."""
    name = snapshot.name(path)
    try:
        content = snapshot.read(path, limits.reading)
    except InputError as error:
        message = f"{place.name}: {error.problems[0].message}"
        near = "" if snapshot.exists(path) else perhaps(path, snapshot.paths())
        raise InputError(
            [place.problem(f"{message}{near}", "name a file of the folder, relative to this one")]
        ) from None
    document = parse(content, name, limits.reading)
    fit = fitting(document)
    if len(fit) == 1:
        if isinstance(fit[0], BareReader):
            return fit[0].read(snapshot, path, document, limits)
        if not fit[0].nests:
            return fit[0].read(snapshot, path, limits)
    if not fit:
        packages = [reader.looked_for for reader in whole_readers() if not reader.nests]
        looked_for = "; ".join([*packages, *(reader.looked_for for reader in bare_readers())])
        message = f"{name} is no agent specification; looked for: {looked_for}"
        fix = "name a file of one of these formats"
    elif len(fit) == 1:
        message, fix = f"{name} is an agent.yaml as well", "name the files that it describes or extends"
    else:
        message = f"{name} can be read in several ways: {', '.join(reader.name for reader in fit)}"
        fix = "split the file"
    raise InputError([place.problem(f"{place.name}: {message}", fix)])


def _joined(found: Sequence[tuple[Place, Specification]], source: Parsed, limits: Limits) -> Specification:
    """The specifications as one: the first name, and so on, that any has; tools, auth, knowledge, starters of all."""
    specifications = [specification for _, specification in found]
    notes = list(chain.from_iterable(item.notes for item in specifications))
    tools: list[Tool] = []
    known: dict[str, Tool] = {}
    for place, specification in found:
        for tool in specification.tools or ():
            first = known.setdefault(tool.name, tool)
            if first is tool or tool.name == UNLISTED:
                tools.append(tool)
            else:
                message = (
                    f"{place.name}: the tool {tool.name!r} ({tool.declared_in}) is there already "
                    f"({first.declared_in}); the first one counts"
                )
                notes.append(place.problem(message, "name only one of the files, or rename the tool in one"))
    if len(tools) > limits.tools:
        message = f"extends: {len(tools):,} tools together, more than the limit of {limits.tools:,}"
        fix = "extend fewer files, or raise limits.tools in config/curation.yaml"
        raise InputError([Place(source, ("extends",), None).problem(message, fix)])
    return Specification(
        platform=next((item.platform for item in specifications if item.platform), ""),
        name=next((item.name for item in specifications if item.name), ""),
        description=next((item.description for item in specifications if item.description), ""),
        instructions=next((item.instructions for item in specifications if item.instructions), ""),
        auth=_all([item.auth for item in specifications]),
        tools=None if all(item.tools is None for item in specifications) else tuple(tools),
        knowledge=_all([item.knowledge for item in specifications]),
        starters=tuple(dict.fromkeys(chain.from_iterable(item.starters for item in specifications))),
        notes=tuple(dict.fromkeys(notes)),
    )


def _all(parts: Sequence[tuple[Item, ...] | None]) -> tuple[Item, ...] | None:
    """All parts together; ``None`` if no part says anything."""
    said = [part for part in parts if part is not None]
    return tuple(dict.fromkeys(chain.from_iterable(said))) if said else None
