"""Arbitration: requirements and ``exactly-one`` groups, after both paths (semantics, section 2, points 1 and 3).

Inference never overrides a value the specification gave: what the rules made FALSE stays FALSE, and what they made TRUE
becomes FALSE only through its requirement, or where a group has several such members and the tool decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from bot.classifier.model import BASES, Classification, Consensus, Judgement, ToolChoice
from bot.classifier.specification_path import Declared
from bot.rounding import rounded
from bot.taxonomy.model import Capability, Taxonomy


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What both paths say of one query.

    ``declared``: what the rules say; ``inferred``: the samples' consensus on what went to the inference path;
    ``tool``: the declared tool that the query would call, if that was asked and there is one; ``implied``: the
    capabilities whose rules hold over that tool's part of the specification; ``attempt``: the query argued with the
    classifier.
    """

    declared: Declared
    inferred: Mapping[str, Consensus]
    tool: ToolChoice | None = None
    implied: frozenset[str] = frozenset()
    attempt: bool = False


def arbitrate(query_id: str, taxonomy: Taxonomy, evidence: Evidence) -> Classification:
    """The classification of a query: each capability's own judgement, its requirement, then the groups."""
    state = _State(evidence, {item.id: _own(item, evidence) for item in taxonomy.capabilities})
    groups = [(group, members, _bound(members)) for group, members in taxonomy.exactly_one.items()]
    # A requirement asks for what its capability comes out as, so groups without requirements are settled before.
    for group, members, bound in groups:
        if not bound:
            state.settle(group, members)
    state.require(taxonomy.capabilities)
    for group, members, bound in groups:
        if bound:
            state.settle(group, members)
    return Classification(
        query_id=query_id,
        judgements=state.judgements,
        off_taxonomy=tuple(group for group in taxonomy.exactly_one if group in state.off_taxonomy),
        arbitrated=frozenset(state.arbitrated),
        attempt=evidence.attempt,
        basis=max((item.basis for item in evidence.inferred.values()), key=BASES.index, default=None),
    )


def _required_first(capabilities: Iterable[Capability]) -> Iterable[Capability]:
    """``capabilities`` with what each requires before it, so that their order says nothing."""
    by_id = {item.id: item for item in capabilities}
    ordered: dict[str, Capability] = {}
    for item in by_id.values():
        chain: dict[str, Capability] = {}
        step: Capability | None = item
        while step is not None and step.id not in ordered and step.id not in chain:
            chain[step.id] = step
            step = None if step.requires is None else by_id[step.requires]
        ordered |= dict(reversed(chain.items()))
    return ordered.values()


def _bound(members: Iterable[Capability]) -> bool:
    return any(member.requires for member in members)


def _own(capability: Capability, evidence: Evidence) -> Judgement:
    """What its path says of ``capability``, whatever the others say."""
    declared = evidence.declared.get(capability.id)
    if declared is not None:
        return Judgement(declared, 1.0, "specification")
    consensus = evidence.inferred.get(capability.id)
    if consensus is None:
        return Judgement(False, 0.0, "undeclared")
    return Judgement(consensus.value, consensus.confidence, "inference")


class _State:
    """The judgements of one query while they are settled; ``unmet`` are the capabilities whose requirement fails."""

    def __init__(self, evidence: Evidence, judgements: dict[str, Judgement]) -> None:
        self.evidence = evidence
        self.judgements = judgements
        self.unmet: set[str] = set()
        self.off_taxonomy: set[str] = set()
        self.arbitrated: set[str] = set()

    def require(self, capabilities: Iterable[Capability]) -> None:
        """``requires``: TRUE only if the required capability is TRUE as well.

        A declared value takes the κ of what it requires; an inferred one keeps its own, or the smaller if it fails.
        """
        for capability in _required_first(capabilities):
            if capability.requires is None:
                continue
            required = self.judgements[capability.requires]
            own = self.judgements[capability.id]
            if not required.value:
                self.unmet.add(capability.id)
            if not own.value:
                continue
            if self.evidence.declared.get(capability.id):
                self.judgements[capability.id] = replace(own, value=required.value, confidence=required.confidence)
            elif not required.value:
                confidence = min(own.confidence, required.confidence)
                self.judgements[capability.id] = Judgement(False, confidence, "inference")

    def settle(self, group: str, members: Sequence[Capability]) -> None:
        """Leave at most one member of an ``exactly-one`` group TRUE."""
        names = [member.id for member in members]
        declared = [name for name in names if self.evidence.declared.get(name) is True]
        if declared:
            self._settle_declared(group, names, declared)
        elif all(self.evidence.declared.get(name) is False for name in names):
            self.off_taxonomy.add(group)
        else:
            self._settle_inferred(names)

    def _settle_declared(self, group: str, names: Sequence[str], declared: Sequence[str]) -> None:
        """The specification made one member TRUE, or several of which the query exercises one."""
        met = [name for name in declared if name not in self.unmet]
        if len(met) <= 1:
            # None: the declared member fails its requirement, so the group is not exercised.
            self._only(names, met)
            return
        tool = self.evidence.tool
        if tool is None:
            # What the members require holds, so a tool would be called, and it fits none of those declared.
            self._only(names, [])
            self.off_taxonomy.add(group)
            return
        fitting = [name for name in declared if name in self.evidence.implied]
        exercised = [name for name in fitting if name in met][:1]
        self._only(names, exercised)
        for name in exercised:
            self.judgements[name] = Judgement(True, tool.confidence, "arbitration")
        if not fitting:
            self.off_taxonomy.add(group)

    def _settle_inferred(self, names: Sequence[str]) -> None:
        """The specification made no member TRUE, and not every one FALSE."""
        true = [name for name in names if self.judgements[name].value]
        if true:
            self._only(names, [self._surest(true)])
            return
        open_members = [name for name in names if self._is_open(name)]
        if open_members:
            name = self._surest(open_members)
            self.judgements[name] = Judgement(True, self.judgements[name].confidence, "arbitration")
            self.arbitrated.add(name)

    def _is_open(self, name: str) -> bool:
        """Whether arbitration may make a member TRUE: only inference spoke of it, and its requirement holds."""
        evidence = self.evidence
        return name in evidence.inferred and evidence.declared.get(name) is None and name not in self.unmet

    def _surest(self, names: Sequence[str]) -> str:
        """The one with the highest κ; ties by the taxonomy's order, which ``names`` has."""
        return max(names, key=lambda name: rounded(self.judgements[name].confidence))

    def _only(self, names: Sequence[str], kept: Sequence[str]) -> None:
        """Make every TRUE member but ``kept`` FALSE; what inference said of it stays its confidence."""
        for name in names:
            if self.judgements[name].value and name not in kept:
                consensus = self.evidence.inferred.get(name)
                confidence = 0.0 if consensus is None else consensus.confidence
                self.judgements[name] = Judgement(False, confidence, "arbitration")
