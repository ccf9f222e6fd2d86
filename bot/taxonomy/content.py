"""What the capabilities of a taxonomy hold: rules, patterns and exemplars."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, TypeAlias, get_args

from bot.config import AppraisalSettings
from bot.errors import Problem
from bot.files.documents import Data, Document, Path, as_list, as_mapping
from bot.taxonomy.model import Capability, Source, Taxonomy
from bot.taxonomy.patterns import PatternError, compile_pattern
from bot.taxonomy.raw import RawPart, raw_parts
from bot.taxonomy.rule_facts import SUBJECTS
from bot.taxonomy.rules import RuleError, compile_rule, probe
from bot.text.compare import normalise

ExemplarKind: TypeAlias = Literal["positive", "negative"]

_RULED: Final = ("spec", "tool", "structure")
"""The sources that decide by a rule; that of an intent capability is a gate, which it may do without."""


def content_problems(document: Document, *, has_tables: bool) -> Iterator[Problem]:
    """Every fault of rules, patterns and exemplars in a taxonomy file, which may have tables of exemplars beside it."""
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
    """What is wrong with ``when``, for the source that the capability has."""
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
    """What a taxonomy may lack and still be used: an LLM judges by descriptions, the embedded backend by exemplars.

    ``document`` is the file of ``taxonomy``; ``settings`` say how many exemplars an appraisal asks for (``None``: they
    cannot be read).
    """
    parts = list(raw_parts(document, "capabilities"))
    for part, capability in zip(parts, taxonomy.capabilities, strict=True):
        lacking = {} if settings is None or not capability.is_appraised else lacking_exemplars(capability, settings)
        if lacking:
            counts = " and ".join(few_exemplars(kind, *numbers) for kind, numbers in lacking.items())
            message = f"it has {counts}, fewer than an appraisal asks for"
            fix = "add queries that exercise it, and others that only look like it, to a file of taxonomy/exemplars/"
            yield part.problem(("exemplars",), message, fix)
    own = next(filter(_has_own, parts), None)
    if own is not None:
        message = "the exemplars stand in this file, each under every capability that it exercises"
        fix = "run `incumbent migrate`: it moves them to taxonomy/exemplars/exemplars.tsv, one row each"
        yield own.problem(("exemplars",), message, fix)


def lacking_exemplars(capability: Capability, settings: AppraisalSettings) -> dict[ExemplarKind, tuple[int, int]]:
    """The kinds of exemplars of which ``capability`` has too few: how many it has, and how many are asked for."""
    exemplars = capability.exemplars.originals
    counts: dict[ExemplarKind, tuple[int, int]] = {
        "positive": (len(exemplars.positive), settings.positive),
        "negative": (len(exemplars.negative), settings.negative),
    }
    return {kind: (has, wanted) for kind, (has, wanted) in counts.items() if has < wanted}


def few_exemplars(kind: ExemplarKind, has: int, wanted: int) -> str:
    """That a capability has too few exemplars of a ``kind``, such as “5 of 12 lookalikes”."""
    return f"{has} of {wanted} {'positive exemplars' if kind == 'positive' else 'lookalikes'}"


def _has_own(capability: RawPart) -> bool:
    """Whether the file itself holds exemplars of it."""
    return any(as_list(value) for value in as_mapping(capability.data.get("exemplars")).values())


def _exemplars(capability: RawPart) -> Iterator[Problem]:
    """Exemplars that a capability has twice."""
    seen: dict[str, tuple[str, Path]] = {}
    for kind in ("positive", "negative"):
        for path, text in _normalised(capability, kind):
            if text not in seen:
                seen[text] = (kind, path)
                continue
            other, first = seen[text]
            line = capability.document.line((*capability.path, *first))
            if other == kind:
                yield capability.problem(path, f"the exemplar stands in line {line} already", "remove one of the two")
            else:
                message = f"the exemplar is positive in line {line} and negative here"
                yield capability.problem(path, message, "decide which it is and remove the other")


def _shared_exemplars(document: Document, capabilities: list[RawPart]) -> Iterator[Problem]:
    """Positive exemplars of several members of one exactly-one group: a query exercises only one of them."""
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
    """The well-formed exemplars of a kind: where they stand, and their text as far as it tells them apart."""
    for place, exemplar in enumerate(as_list(as_mapping(capability.data.get("exemplars")).get(kind))):
        turns: list[Data] = [exemplar] if isinstance(exemplar, str) else as_list(exemplar)
        texts = [turn for turn in turns if isinstance(turn, str) and turn.strip()]
        if texts and len(texts) == len(turns):
            yield ("exemplars", kind, place), normalise(texts)
