"""How the parts of a taxonomy refer to each other: ids, groups, what capabilities require, and what they were."""

from __future__ import annotations

from collections.abc import Iterator

from bot.errors import Problem
from bot.files.documents import Document, as_list, as_mapping
from bot.taxonomy.raw import RawPart, raw_parts
from bot.text.did_you_mean import perhaps

_EXACTLY_ONE = "exactly-one"
_REQUIRE_NOTHING = {
    "tool": "it is about a call already",
    "structure": "it is counted in the query",
    "intent": "it is inferred from the query",
}
_DECIDED_BY = {
    "spec": "the specification",
    "tool": "the tools that the query calls",
    "structure": "what is counted in the query",
}
"""What decides the capabilities that are not inferred."""


def structure_problems(document: Document) -> Iterator[Problem]:
    """Every fault of ids, groups, requirements and origins in a taxonomy file."""
    groups = list(raw_parts(document, "groups"))
    capabilities = list(raw_parts(document, "capabilities"))
    yield from _ids(document, [*groups, *capabilities])
    yield from _parents(groups)
    yield from _cycles(groups)
    yield from _members(groups, capabilities)
    yield from _requirements(capabilities)
    yield from _origins(document, capabilities)
    if as_mapping(document.data).get("capabilities") == []:
        message = "capabilities: the taxonomy has none"
        yield document.problem(("capabilities",), message, "add at least one capability, and its group")


def _ids(document: Document, parts: list[RawPart]) -> Iterator[Problem]:
    """Ids that are given twice, or come back although they are retired."""
    retired = {name for name in as_list(as_mapping(document.data).get("retired")) if isinstance(name, str)}
    first: dict[str, RawPart] = {}
    for part in parts:
        if part.id is None:
            continue
        if part.id in retired:
            yield part.problem(("id",), "the id is retired, and an id is never used again", "choose a new id")
        if part.id in first:
            line = document.line((*first[part.id].path, "id"))
            message = f"the id is given twice, first in line {line}"
            yield part.problem(("id",), message, "give every group and every capability an id of its own")
        first.setdefault(part.id, part)


def _parents(groups: list[RawPart]) -> Iterator[Problem]:
    """Parents that do not exist, or may hold capabilities only."""
    by_id = {group.id: group for group in groups if group.id is not None}
    for group in groups:
        parent = group.text("parent")
        if parent is None:
            continue
        if parent not in by_id:
            message = f"no group has the id {parent!r}, the parent{perhaps(parent, by_id)}"
            yield group.problem(("parent",), message, "name a group of this file, or leave `parent` out")
        elif by_id[parent].text("constraint") == _EXACTLY_ONE:
            message = f"the parent {parent!r} is an exactly-one group, and such a group holds capabilities only"
            yield group.problem(("parent",), message, "choose another parent, or make that group's constraint `any`")


def _cycles(groups: list[RawPart]) -> Iterator[Problem]:
    """Groups that are, over some steps, their own parents; each cycle once."""
    parents = {group.id: group.text("parent") for group in groups}
    known: set[str] = set()
    for group in groups:
        chain: list[str] = []
        step: str | None = group.id
        while step is not None and step in parents and step not in known:
            if step in chain:
                cycle = " → ".join([*chain[chain.index(step) :], step])
                yield group.problem(("parent",), f"the group is its own ancestor: {cycle}", "break the cycle")
                break
            chain.append(step)
            step = parents[step]
        known.update(chain)


def _members(groups: list[RawPart], capabilities: list[RawPart]) -> Iterator[Problem]:
    """Capabilities of groups that do not exist, and groups that divide nothing: they have fewer than two members."""
    by_id = {group.id: group for group in groups if group.id is not None}
    counts = dict.fromkeys(by_id, 0)
    for capability in capabilities:
        group = capability.text("group")
        if group is None:
            continue
        if group in counts:
            counts[group] += 1
        else:
            message = f"no group has the id {group!r}{perhaps(group, by_id)}"
            yield capability.problem(("group",), message, "name a group of this file, or add the group")
    if all(capability.text("group") is None for capability in capabilities):
        # The fault is in the capabilities, and not in every group.
        return
    for part in groups:
        parent = part.text("parent")
        if parent in counts:
            counts[parent] += 1
    for name, part in by_id.items():
        if counts[name] < 2:
            message = f"a group needs two members or more, this one has {counts[name]}"
            yield part.problem((), message, "add capabilities to it, or put what it holds into its parent")


def _requirements(capabilities: list[RawPart]) -> Iterator[Problem]:
    """Requirements that do not exist or are not inferred, and those of capabilities that may have none."""
    by_id = {capability.id: capability for capability in capabilities if capability.id is not None}
    intents = [name for name, capability in by_id.items() if capability.text("source") == "intent"]
    for capability in capabilities:
        required, source = capability.text("requires"), capability.text("source")
        if capability.data.get("requires") is not None and source in _REQUIRE_NOTHING:
            message = f"a capability with `source: {source}` has no `requires`: {_REQUIRE_NOTHING[source]}"
            yield capability.problem(("requires",), message, "remove `requires`, or make it `source: spec`")
        elif required is None:
            continue
        elif required not in by_id:
            message = f"it requires {required!r}, which no capability has as its id{perhaps(required, intents)}"
            yield capability.problem(("requires",), message, "name an intent capability of this file")
        elif (decided := _DECIDED_BY.get(by_id[required].text("source") or "")) is not None:
            message = f"it requires {required!r}, which is itself decided by {decided}"
            yield capability.problem(("requires",), message, "name a capability with `source: intent`")


def _origins(document: Document, capabilities: list[RawPart]) -> Iterator[Problem]:
    """Former ids (`was`) and retired wholes (`split`) that are none, or that were given away in two ways.

    One part of a whole may stand alone: the others may have been renamed or removed since.
    """
    retired = [name for name in as_list(as_mapping(document.data).get("retired")) if isinstance(name, str)]
    living = {capability.id for capability in capabilities}
    first: dict[str, tuple[str, RawPart]] = {}
    for capability in capabilities:
        if capability.text("was") is not None and capability.text("split") is not None:
            message = "it has both `was` and `split`"
            fix = "keep `was` if it is the whole under another id, `split` if it is a part"
            yield capability.problem(("split",), message, fix)
            continue
        for key in ("was", "split"):
            origin = capability.text(key)
            if origin is None:
                continue
            yield from _unfit_origin(capability, key, origin, retired, living)
            other_key, other = first.setdefault(origin, (key, capability))
            if other is not capability and (key, other_key) != ("split", "split"):
                line = document.line((*other.path, other_key))
                message = f"{other.name} has {other_key}: {origin} already (line {line}), and {key} takes it as well"
                fix = f"if it became several capabilities, write `split: {origin}` in each of them"
                yield capability.problem((key,), message, fix)


def _unfit_origin(
    capability: RawPart, key: str, origin: str, retired: list[str], living: set[str | None]
) -> Iterator[Problem]:
    if origin == capability.id:
        yield capability.problem((key,), f"`{key}` names the capability itself", f"remove `{key}`")
    elif origin in living and origin not in retired:
        message = f"`{key}` names {origin}, which is a capability of this file"
        yield capability.problem((key,), message, f"name a retired id, or remove `{key}`")
    elif origin not in retired:
        message = f"`{key}` names {origin!r}, which is not under `retired`{perhaps(origin, retired)}"
        yield capability.problem((key,), message, "name the id as it was, and add it to `retired`")
