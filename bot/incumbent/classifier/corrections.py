"""Curators' corrections of tags, applied over the classifier's results (semantics, section 2; pure).

A correction is bound to a text, for any agent.  It overrides all that was inferred, and no fact that a rule states.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, TypeAlias

from pydantic import Field

from incumbent.classifier.model import EVEN, RULED, Classification, Judgement
from incumbent.files.validation import Text, Timestamp
from incumbent.taxonomy.model import Capability, Taxonomy
from incumbent.text.compare import rounded


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """A curator's word on one capability of a text: who said it (``None``: unknown), when, and why."""

    value: Annotated[bool, Field(description="whether the text exercises the capability")]
    by: Text | None = None
    at: Timestamp
    reason: Text | None = None


Corrections: TypeAlias = Mapping[str, Mapping[str, Correction]]
"""Digest of a text (:func:`incumbent.text.compare.text_key`) → capability → the correction that applies."""


def values_of(corrections: Mapping[str, Correction]) -> dict[str, bool]:
    """Capability → its value, from the ``corrections`` of one text."""
    return {name: item.value for name, item in corrections.items()}


def unheeded(said: Mapping[str, Correction], known: Mapping[str, bool], taxonomy: Taxonomy) -> tuple[str, ...]:
    """The capabilities of ``taxonomy`` for which a curator's correction of a text differs from the ``known`` value."""
    return tuple(name for name, value in values_of(said).items() if name in taxonomy.by_id and known.get(name) != value)


def merged(taxonomy: Taxonomy, sources: Iterable[Corrections]) -> dict[str, dict[str, Correction]]:
    """The corrections of all ``sources``: for one tag the latest applies; if times are equal, that of the last source.

    In an ``exactly-one`` group the member that was last corrected to TRUE is TRUE.
    """
    said: dict[str, list[tuple[str, Correction]]] = {}
    for source in sources:
        for text, tags in source.items():
            said.setdefault(text, []).extend(tags.items())
    found: dict[str, dict[str, Correction]] = {}
    for text, items in sorted(said.items()):
        tags = {}
        for name, item in sorted(items, key=lambda pair: pair[1].at):
            gone = _ended(taxonomy, {name: item.value})
            tags = {other: kept for other, kept in tags.items() if not (kept.value and other in gone)} | {name: item}
        found[text] = dict(sorted(tags.items()))
    return found


def overlaid(taxonomy: Taxonomy, values: Mapping[str, bool], later: Mapping[str, bool]) -> dict[str, bool]:
    """The corrected ``values`` of one text with ``later`` ones over them, by the rule of :func:`merged`."""
    gone = _ended(taxonomy, later)
    return {name: value for name, value in values.items() if not (value and name in gone)} | dict(later)


def _ended(taxonomy: Taxonomy, values: Mapping[str, bool]) -> frozenset[str]:
    """The capabilities that cannot be TRUE as well, given ``values``."""
    return frozenset(other for name, value in values.items() if value for other in _rivals(taxonomy, name))


def _rivals(taxonomy: Taxonomy, name: str) -> tuple[str, ...]:
    """The other members of the ``exactly-one`` group of the capability ``name``."""
    capability = taxonomy.by_id.get(name)
    members = () if capability is None else taxonomy.exactly_one.get(capability.group, ())
    return tuple(member.id for member in members if member.id != name)


def contradictory(taxonomy: Taxonomy, values: Mapping[str, bool]) -> tuple[str, ...]:
    """The ``values`` that are TRUE although another member of their ``exactly-one`` group is, too."""
    gone = _ended(taxonomy, values)
    return tuple(name for name, value in values.items() if value and name in gone)


def obstacle(item: Classification, taxonomy: Taxonomy, name: str, value: bool) -> str | None:
    """Why a correction of the capability ``name`` to ``value`` cannot apply to ``item``; ``None`` if it can.

    A rule's value for the specification, or for what is counted in the query, is a fact.
    """
    own = item.judgements[name]
    if own.path in RULED:
        source = "the agent's specification" if own.path == "specification" else "what is counted in the query"
        said = f"{name} is {'TRUE' if own.value else 'FALSE'} by {source}, which no correction changes"
        required = taxonomy.by_id[name].requires
        return said if required is None else f"{said}; it requires {required}, which may be corrected"
    fact = next((other for other in _rivals(taxonomy, name) if _is_fact(item.judgements[other])), None)
    if value and fact is not None:
        return f"{fact} is TRUE by a rule, which no correction changes, and only one of its group can be"
    return None


def _is_fact(judgement: Judgement) -> bool:
    return judgement.value and judgement.path in RULED


def corrected(item: Classification, taxonomy: Taxonomy, values: Mapping[str, bool]) -> Classification:
    """``item`` with the corrected ``values`` by capability, and the consequences for requirements and groups.

    A correction has no effect if it has an :func:`obstacle`, is not in the taxonomy, or contradicts an earlier one of
    its group.  In an ``exactly-one`` group a correction to TRUE makes the other members FALSE; after one to FALSE,
    arbitration decides among the rest.
    """
    holding: dict[str, bool] = {}
    for name in taxonomy.by_id:
        value = values.get(name)
        if value is None or name not in item.judgements or obstacle(item, taxonomy, name, value):
            continue
        if not (value and any(holding.get(other) for other in _rivals(taxonomy, name))):
            holding[name] = value
    if not holding:
        return item
    state = _CorrectionState(item, holding)
    groups = taxonomy.exactly_one.items()
    # A capability may require a member of one group and be a member of another.
    for group, members in groups:
        state.settle(group, members)
    state.require(taxonomy.required_first)
    for group, members in groups:
        state.settle(group, members)
    judgements = state.judgements
    said = item.stated
    exercised = {group for group, members in groups if any(judgements[member.id].value for member in members)}
    off_taxonomy = ({*item.off_taxonomy} | state.off_taxonomy) - exercised
    return replace(
        item,
        judgements=judgements,
        off_taxonomy=tuple(group for group in taxonomy.exactly_one if group in off_taxonomy),
        # What a person said rests on no expectation, nor does what requires it.
        stated=None
        if said is None
        else replace(
            said,
            capabilities=frozenset(
                name
                for name in said.capabilities
                if name not in holding and taxonomy.by_id[name].requires not in holding
            ),
        ),
        arbitrated=frozenset(
            name for name in item.arbitrated | state.arbitrated if judgements[name].value and name not in holding
        ),
    )


class _CorrectionState:
    """The judgements of one query while corrections are applied."""

    def __init__(self, item: Classification, holding: Mapping[str, bool]) -> None:
        self.before = item.judgements
        self.holding = holding
        corrections = {name: Judgement(value, 1.0, "corrected") for name, value in holding.items()}
        self.judgements = {**item.judgements, **corrections}
        self.arbitrated: set[str] = set()
        self.off_taxonomy: set[str] = set()

    def require(self, capabilities: Iterable[Capability]) -> None:
        """Update capabilities whose requirement changed; a correction of their own takes precedence.

        Required capabilities come first in ``capabilities``.
        """
        for capability in capabilities:
            name, needed = capability.id, capability.requires
            if needed is None or name in self.holding:
                continue
            own, required, before = self.judgements[name], self.judgements[needed], self.before[needed]
            if required == before or not (required.value or before.value):
                continue
            # A false rule is certain; a true one has the κ of what it requires.
            if own.path == "specification" and (own.value or own.confidence < 1):
                self.judgements[name] = Judgement(required.value, required.probability, "specification")
            elif own.value and not required.value:
                self.judgements[name] = Judgement(False, required.probability, "inference")

    def settle(self, group: str, members: Sequence[Capability]) -> None:
        """Leave one member of an ``exactly-one`` group TRUE after corrections.

        Corrections may have made several members TRUE, or the last one FALSE.
        """
        names = [member.id for member in members]
        true = [name for name in names if self.judgements[name].value]
        if true:
            kept = max(true, key=self._weight)
            for name in true:
                own = self.judgements[name]
                if name != kept:
                    confidence = 0.0 if own.path in RULED else own.confidence
                    self.judgements[name] = Judgement(False, confidence, "arbitration")
        elif any(self.before[name].value and self.holding.get(name) is False for name in names):
            self._arbitrate(group, members)

    def _weight(self, name: str) -> tuple[bool, bool, float]:
        own = self.judgements[name]
        return name in self.holding, own.path in RULED, rounded(own.confidence)

    def _arbitrate(self, group: str, members: Sequence[Capability]) -> None:
        """Choose another member after the TRUE one became FALSE: the likeliest of the rest, if any is open."""
        called = all(member.source == "tool" for member in members)
        names = [member.id for member in members if self._is_open(member, called)]
        if names:
            name = max(names, key=lambda each: rounded(self.judgements[each].confidence))
            likely = self.judgements[name].confidence >= EVEN
            self.judgements[name] = Judgement(True, self.judgements[name].confidence, "arbitration")
            if not likely:
                self.arbitrated.add(name)
        elif all(member.id in self.holding or self.judgements[member.id].path in RULED for member in members):
            self.off_taxonomy.add(group)

    def _is_open(self, member: Capability, called: bool) -> bool:
        """Whether arbitration may make ``member`` TRUE: inference judged it, and its requirement is met.

        A tool is open only if its call is likely.
        """
        own = self.judgements[member.id]
        if member.id in self.holding or (member.requires and not self.judgements[member.requires].value):
            return False
        if called:
            return own.confidence >= EVEN and own.path in ("tool", "expected", "arbitration")
        # A member that arbitration made FALSE against a rule has no confidence.
        inferred = own.path == "inference" or (own.path == "arbitration" and own.confidence > 0)
        return inferred and member.source != "tool"
