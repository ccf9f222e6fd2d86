"""Checks of a taxonomy beyond its schema: references, rules, patterns and exemplars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from incumbent.errors import Problem
from incumbent.files.documents import Data, Document, Path, as_list, as_mapping
from incumbent.taxonomy.config import AppraisalSettings
from incumbent.taxonomy.model import Capability, Source, Taxonomy
from incumbent.taxonomy.patterns import PatternError, compile_pattern
from incumbent.taxonomy.rules import SUBJECTS, RuleError, compile_rule, probe
from incumbent.text.compare import normalise
from incumbent.text.did_you_mean import did_you_mean


@dataclass(frozen=True, slots=True)
class RawPart:
    """A group or capability at ``path`` of a taxonomy file."""

    document: Document
    path: Path
    data: Mapping[str, Data]

    def text(self, key: str) -> str | None:
        """The value of ``key`` if it is a text."""
        value = self.data.get(key)
        return value if isinstance(value, str) else None

    @property
    def id(self) -> str | None:
        """The part's id, if it has one."""
        return self.text("id")

    @property
    def name(self) -> str:
        """The name of the part in messages: its id, or else its path."""
        return self.id or ".".join(str(step) for step in self.path)

    def problem(self, at: Path, message: str, fix: str) -> Problem:
        """A problem at ``at``, a path relative to the part."""
        return self.document.problem((*self.path, *at), f"{self.name}: {message}", fix)


def raw_parts(document: Document, key: str) -> Iterator[RawPart]:
    """The parts in the list ``key``: ``groups`` or ``capabilities``."""
    for place, item in enumerate(as_list(as_mapping(document.data).get(key))):
        if isinstance(item, dict):
            yield RawPart(document, (key, place), item)


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
"""What decides the capabilities of each source that is not inferred."""


def structure_problems(document: Document) -> Iterator[Problem]:
    """All faults of ids, groups, requirements and origins in a taxonomy file."""
    groups = list(raw_parts(document, "groups"))
    capabilities = list(raw_parts(document, "capabilities"))
    yield from _ids(document, [*groups, *capabilities])
    yield from _parents(groups)
    yield from _cycles(groups)
    yield from _members(groups, capabilities)
    yield from _requirements(capabilities)
    yield from _combines(capabilities)
    yield from _expected_calls(capabilities)
    yield from _origins(document, capabilities)
    if as_mapping(document.data).get("capabilities") == []:
        message = "capabilities: the taxonomy has none"
        yield document.problem(("capabilities",), message, "add at least one capability, and its group")


def _ids(document: Document, parts: list[RawPart]) -> Iterator[Problem]:
    """Ids that occur twice, or are used although they are retired."""
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
    """Parents that do not exist, or may contain capabilities only."""
    by_id = {group.id: group for group in groups if group.id is not None}
    for group in groups:
        parent = group.text("parent")
        if parent is None:
            continue
        if parent not in by_id:
            message = f"no group has the id {parent!r}, the parent{did_you_mean(parent, by_id)}"
            yield group.problem(("parent",), message, "name a group of this file, or leave `parent` out")
        elif by_id[parent].text("constraint") == _EXACTLY_ONE:
            message = f"the parent {parent!r} is an exactly-one group, and such a group holds capabilities only"
            yield group.problem(("parent",), message, "choose another parent, or make that group's constraint `any`")


def _cycles(groups: list[RawPart]) -> Iterator[Problem]:
    """Cycles of parents; each cycle once."""
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
    """Capabilities in groups that do not exist, and groups with too few members to divide anything."""
    by_id = {group.id: group for group in groups if group.id is not None}
    counts = dict.fromkeys(by_id, 0)
    for capability in capabilities:
        group = capability.text("group")
        if group is None:
            continue
        if group in counts:
            counts[group] += 1
        else:
            message = f"no group has the id {group!r}{did_you_mean(group, by_id)}"
            yield capability.problem(("group",), message, "name a group of this file, or add the group")
    if all(capability.text("group") is None for capability in capabilities):
        # The capabilities are at fault, not every group.
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
    """Requirements that do not exist or are not inferred, or of a capability that may have none."""
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
            message = f"it requires {required!r}, which no capability has as its id{did_you_mean(required, intents)}"
            yield capability.problem(("requires",), message, "name an intent capability of this file")
        elif (decided := _DECIDED_BY.get(by_id[required].text("source") or "")) is not None:
            message = f"it requires {required!r}, which is itself decided by {decided}"
            yield capability.problem(("requires",), message, "name a capability with `source: intent`")


def _combines(capabilities: list[RawPart]) -> Iterator[Problem]:
    """Capabilities that say by the key of an earlier version (`base`) the opposite of what `combines` says."""
    for capability in capabilities:
        former, combines = capability.data.get("base"), capability.data.get("combines")
        if isinstance(former, bool) and former is combines:
            message = f"`base: {_said(former)}` is what `combines: {_said(not former)}` was called, and it says both"
            yield capability.problem(("base",), message, "remove `base`, and keep the `combines` that is meant")


def _said(value: bool) -> str:
    return "true" if value else "false"


def _expected_calls(capabilities: list[RawPart]) -> Iterator[Problem]:
    """Capabilities that expected calls cannot decide, or of which only one may be chained."""
    first: RawPart | None = None
    for capability in capabilities:
        is_gated = capability.data.get("expected_calls") is not None
        if is_gated and capability.text("source") not in (None, "intent"):
            message = "`expected_calls` is for capabilities that are inferred where an eval set states no calls"
            yield capability.problem(("expected_calls",), message, "remove it, or make the capability `source: intent`")
        if capability.data.get("chained") is not True:
            continue
        if not is_gated:
            message = "`chained` is for capabilities with `expected_calls: several`"
            yield capability.problem(("chained",), message, "add `expected_calls: several`, or remove `chained`")
        if first is not None:
            message = f"{first.name} is chained already, and a chain of expected calls decides for one capability"
            yield capability.problem(("chained",), message, "keep `chained` in one of them")
        first = first or capability


def _origins(document: Document, capabilities: list[RawPart]) -> Iterator[Problem]:
    """Former ids (`was`) and split capabilities (`split`) that are not retired, or are declared in two ways.

    A single part of a split is allowed: the others may have been renamed or removed since.
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
        message = f"`{key}` names {origin!r}, which is not under `retired`{did_you_mean(origin, retired)}"
        yield capability.problem((key,), message, "name the id as it was, and add it to `retired`")


ExemplarKind: TypeAlias = Literal["positive", "negative"]

_RULED: Final = ("spec", "tool", "structure")
"""The sources that require a rule; the rule of an intent capability is an optional gate."""


def content_problems(document: Document, *, has_tables: bool) -> Iterator[Problem]:
    """All faults of rules, patterns and exemplars in a taxonomy file; ``has_tables``: exemplar tables are beside it."""
    capabilities = list(raw_parts(document, "capabilities"))
    for capability in capabilities:
        yield from _rule(capability)
        yield from _patterns(capability)
        yield from _exemplars(capability)
        if has_tables and _has_own(capability):
            message = "it has exemplars here, and there are tables of exemplars in taxonomy/exemplars/"
            yield capability.problem(("exemplars",), message, "move them to a table: run `incumbent migrate`")
    yield from _shared_exemplars(document, capabilities)


def _rule(capability: RawPart) -> Iterator[Problem]:
    """Faults of ``when`` for the capability's source."""
    named = capability.text("source")
    source = next((item for item in get_args(Source) if item == named), None)
    if source in _RULED and capability.data.get("when") is None:
        message = f"a {source} capability needs a rule over {SUBJECTS[source].name}"
        yield capability.problem(("when",), message, "add `when`, or make it `source: intent`")
    when = capability.text("when")
    if source is None or when is None or not when.strip():
        return
    try:
        probe(compile_rule(when, source), source)
    except RuleError as error:
        yield capability.problem(("when",), error.message, error.fix)


def _patterns(capability: RawPart) -> Iterator[Problem]:
    for place, pattern in enumerate(as_list(capability.data.get("patterns"))):
        if not isinstance(pattern, str) or not pattern.strip():
            continue
        try:
            compile_pattern(pattern)
        except PatternError as error:
            yield capability.problem(("patterns", place), f"pattern {pattern!r}: {error.message}", error.fix)


def content_notes(document: Document, taxonomy: Taxonomy, settings: AppraisalSettings | None) -> Iterator[Problem]:
    """Notes on a usable taxonomy: keys as earlier versions wrote them, and what the embedded backend needs.

    ``document`` is the file of ``taxonomy``; ``settings`` gives the number of exemplars that an appraisal needs
    (``None``: the config cannot be read).
    """
    parts = list(raw_parts(document, "capabilities"))
    for part, capability in zip(parts, taxonomy.capabilities, strict=True):
        lacking = {} if settings is None or not capability.is_appraised else lacking_exemplars(capability, settings)
        if lacking:
            counts = " and ".join(few_exemplars(kind, *numbers) for kind, numbers in lacking.items())
            message = f"it has {counts}, fewer than an appraisal asks for"
            fix = "add queries that exercise it, and others that only look like it, to a file of taxonomy/exemplars/"
            yield part.problem(("exemplars",), message, fix)
        if "base" in part.data:
            message = "`base: true` is called `combines: false` now, and read as that"
            fix = "write `combines: false` in place of `base: true`, nothing in place of `base: false`: "
            yield part.problem(("base",), message, f"{fix}or run `incumbent migrate`")
    own = next(filter(_has_own, parts), None)
    if own is not None:
        message = "the exemplars stand in this file, each under every capability that it exercises"
        fix = "run `incumbent migrate`: it moves them to taxonomy/exemplars/exemplars.tsv, one row each"
        yield own.problem(("exemplars",), message, fix)


def lacking_exemplars(capability: Capability, settings: AppraisalSettings) -> dict[ExemplarKind, tuple[int, int]]:
    """Kind → (present, required), for the kinds of exemplars that ``capability`` has too few of."""
    exemplars = capability.exemplars.originals
    counts: dict[ExemplarKind, tuple[int, int]] = {
        "positive": (len(exemplars.positive), settings.positive),
        "negative": (len(exemplars.negative), settings.negative),
    }
    return {kind: (has, wanted) for kind, (has, wanted) in counts.items() if has < wanted}


def few_exemplars(kind: ExemplarKind, has: int, wanted: int) -> str:
    """The shortage of a ``kind`` in words, such as “5 of 12 lookalikes”."""
    return f"{has} of {wanted} {'positive exemplars' if kind == 'positive' else 'lookalikes'}"


def _has_own(capability: RawPart) -> bool:
    """Whether the taxonomy file itself contains exemplars of it."""
    return any(as_list(value) for value in as_mapping(capability.data.get("exemplars")).values())


def _exemplars(capability: RawPart) -> Iterator[Problem]:
    """Duplicate exemplars of a capability."""
    seen: dict[str, tuple[str, Path]] = {}
    for kind in ("positive", "negative"):
        for path, text in _normalised(capability, kind):
            if text not in seen:
                seen[text] = (kind, path)
                continue
            other, first = seen[text]
            line = capability.document.line((*capability.path, *first))
            if other == kind:
                yield capability.problem(path, f"the exemplar is in line {line} already", "remove one of the two")
            else:
                message = f"the exemplar is positive in line {line} and negative here"
                yield capability.problem(path, message, "decide which it is and remove the other")


def _shared_exemplars(document: Document, capabilities: list[RawPart]) -> Iterator[Problem]:
    """Positive exemplars shared by members of one exactly-one group: a query exercises only one of them."""
    for group in raw_parts(document, "groups"):
        if group.text("constraint") != "exactly-one" or group.id is None:
            continue
        owners: dict[str, tuple[RawPart, Path]] = {}
        for capability in capabilities:
            if capability.text("group") != group.id:
                continue
            for path, text in _normalised(capability, "positive"):
                owner, first = owners.setdefault(text, (capability, path))
                if owner is not capability:
                    line = document.line((*owner.path, *first))
                    message = f"the exemplar is also one of {owner.name} (line {line}), and {group.id} is exactly-one"
                    yield capability.problem(path, message, "keep it under the capability that it exercises")


def _normalised(capability: RawPart, kind: str) -> Iterator[tuple[Path, str]]:
    """The path and the normalised text of each well-formed exemplar of a kind."""
    for place, exemplar in enumerate(as_list(as_mapping(capability.data.get("exemplars")).get(kind))):
        turns: list[Data] = [exemplar] if isinstance(exemplar, str) else as_list(exemplar)
        texts = [turn for turn in turns if isinstance(turn, str) and turn.strip()]
        if texts and len(texts) == len(turns):
            yield ("exemplars", kind, place), normalise(texts)
