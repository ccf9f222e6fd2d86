"""Arbitration: requirements and ``exactly-one`` groups, after all paths (semantics, sections 2.1 and 2.3).

Inference never overrides a value that specification, structure or expectation gave.  A value that the rules made FALSE
stays FALSE.  One that they made TRUE becomes FALSE only by its requirement, or if a group has several such members.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from incumbent.classifier.model import BASES, Classification, Contradiction, Finding, Judgement, StatedCalls
from incumbent.classifier.paths import Declared
from incumbent.taxonomy.model import Capability, Taxonomy
from incumbent.text.compare import rounded


@dataclass(frozen=True, slots=True, kw_only=True)
class PathFindings:
    """The results of all paths for one query.

    ``declared``: what the specification decides; ``counted``: what the structure of the query decides; ``called``: what
    the called tools make of each ``tool`` capability, empty if it is not declared whether there are tools; ``found``:
    what the backend found on what went to the inference path, with the called tools that count.

    ``expected``: whether the eval set names the called tools, and ``contradiction`` how the classifier differed;
    ``ordered``: what the number and order of these calls decide; ``stated``: that there are such calls.
    ``implied``: the capabilities whose rules are true for the part of the specification that the most likely tool
    exercises; ``misfits``: the groups of ``tool`` members none of which fits the call.
    """

    declared: Declared
    found: Finding
    counted: Declared = field(default_factory=dict)
    called: Mapping[str, Judgement] = field(default_factory=dict)
    ordered: Mapping[str, Judgement] = field(default_factory=dict)
    expected: bool = False
    stated: StatedCalls | None = None
    contradiction: Contradiction | None = None
    implied: frozenset[str] = frozenset()
    misfits: frozenset[str] = frozenset()

    @property
    def fixed(self) -> dict[str, bool]:
        """What specification and structure decide; inference overrides none of it."""
        ruled = {**self.declared, **self.counted}
        return {name: value for name, value in ruled.items() if value is not None}


def arbitrate(taxonomy: Taxonomy, evidence: PathFindings) -> Classification:
    """The classification of a query: each capability's own judgement, its requirement, then the groups."""
    state = _ArbitrationState(evidence, {item.id: _own(item, evidence) for item in taxonomy.capabilities})
    # Members on trial must not affect those that count, so they are left out of the groups.
    counting = {group: [item for item in members if not item.trial] for group, members in taxonomy.exactly_one.items()}
    groups = [(group, members, _bound(members)) for group, members in counting.items()]
    # A requirement needs the final value of its capability, so groups without requirements are decided first.
    for group, members, bound in groups:
        if not bound:
            state.settle(group, members)
    state.require(taxonomy.required_first)
    for group, members, bound in groups:
        if bound:
            state.settle(group, members)
    said = evidence.stated
    return Classification(
        judgements=state.judgements,
        off_taxonomy=tuple(group for group in taxonomy.exactly_one if group in state.off_taxonomy),
        arbitrated=frozenset(state.arbitrated),
        attempt=evidence.found.attempt,
        basis=max((item.basis for item in evidence.found.consensus.values()), key=BASES.index, default=None),
        unfamiliar=evidence.found.unfamiliar,
        calls=evidence.found.calls,
        contradiction=evidence.contradiction,
        stated=None if said is None else replace(said, capabilities=state.resting(taxonomy.required_first)),
    )


def _bound(members: Iterable[Capability]) -> bool:
    return any(member.requires for member in members)


def _own(capability: Capability, evidence: PathFindings) -> Judgement:
    """The result of its path for ``capability``, independent of the others."""
    declared, counted = evidence.declared.get(capability.id), evidence.counted.get(capability.id)
    if declared is not None:
        return Judgement(declared, 1.0, "specification")
    if counted is not None:
        return Judgement(counted, 1.0, "structure")
    ruled = evidence.called.get(capability.id) or evidence.ordered.get(capability.id)
    if ruled is not None:
        return ruled
    consensus = evidence.found.consensus.get(capability.id)
    if consensus is None:
        return Judgement(False, 0.0, "undeclared")
    return Judgement(consensus.value, consensus.confidence, "inference")


class _ArbitrationState:
    """The judgements of one query during arbitration; ``unmet`` are the capabilities whose requirement fails."""

    def __init__(self, evidence: PathFindings, judgements: dict[str, Judgement]) -> None:
        self.evidence = evidence
        self.judgements = judgements
        self.fixed = evidence.fixed
        self.unmet: set[str] = set()
        self.off_taxonomy: set[str] = set()
        self.arbitrated: set[str] = set()
        self.by_calls: set[str] = set()

    def resting(self, capabilities: Iterable[Capability]) -> frozenset[str]:
        """The capabilities whose value rests on the calls that the eval set expects; required ones come first."""
        found = self.by_calls | {name for name, own in self.judgements.items() if own.path == "expected"}
        for capability in capabilities:
            if capability.requires in found and self.judgements[capability.id].value:
                found.add(capability.id)
        return frozenset(found)

    def require(self, capabilities: Iterable[Capability]) -> None:
        """``requires``: TRUE only if the required capability, which comes first, is TRUE as well.

        A declared value takes the κ of what it requires; an inferred one keeps its own, or the smaller if it fails.
        """
        for capability in capabilities:
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
                confidence = min(own.confidence, required.probability)
                self.judgements[capability.id] = Judgement(False, confidence, "inference")

    def settle(self, group: str, members: Sequence[Capability]) -> None:
        """Leave at most one member of an ``exactly-one`` group TRUE."""
        names = [member.id for member in members]
        decided = [name for name in names if self.fixed.get(name) is True]
        if decided:
            self._settle_decided(group, names, decided)
        elif all(self.fixed.get(name) is False for name in names):
            self.off_taxonomy.add(group)
        elif all(member.source == "tool" for member in members):
            self._settle_called(group, names)
        else:
            self._settle_inferred(members)

    def _settle_decided(self, group: str, names: Sequence[str], decided: Sequence[str]) -> None:
        """Decide a group in which rules made one member TRUE, or several of which the query exercises one."""
        met = [name for name in decided if name not in self.unmet]
        counted = [name for name in met if name in self.evidence.counted]
        if len(met) <= 1 or counted:
            # None: the declared member fails its requirement, so the group is not exercised.
            self._only(names, counted[:1] or met)
            return
        calls = self.evidence.found.calls
        likeliest = calls.likeliest if calls is not None else ()
        if not likeliest:
            # The members' requirement is met, so a tool would be called, and the call fits none of the declared ones.
            self._only(names, [])
            if not self.evidence.expected:
                self.off_taxonomy.add(group)
            return
        fitting = [name for name in decided if name in self.evidence.implied]
        exercised = [name for name in fitting if name in met][:1]
        self._only(names, exercised)
        for name in exercised:
            self.judgements[name] = Judgement(True, max(share for _, share in likeliest), "arbitration")
        self.by_calls.update(exercised)
        if not fitting:
            self.off_taxonomy.add(group)

    def _settle_called(self, group: str, names: Sequence[str]) -> None:
        """Decide a group of ``tool`` members: the likeliest, if any is TRUE; without a call the group is
        not exercised.
        """
        true = [name for name in names if self.judgements[name].value]
        if true:
            self._only(names, [self._surest(true)])
        elif group in self.evidence.misfits:
            self.off_taxonomy.add(group)

    def _settle_inferred(self, members: Sequence[Capability]) -> None:
        """Decide a group in which rules made no member TRUE, and not every one FALSE."""
        names = [member.id for member in members]
        true = [name for name in names if self.judgements[name].value]
        if true:
            self._only(names, [self._surest(true)])
            return
        open_members = [member.id for member in members if self._is_open(member)]
        if open_members:
            name = self._surest(open_members)
            self.judgements[name] = Judgement(True, self.judgements[name].confidence, "arbitration")
            self.arbitrated.add(name)

    def _is_open(self, member: Capability) -> bool:
        """Whether arbitration may make a member TRUE: only inference judged it, and its requirement is met.

        Tools are excluded: whether a tool is called is already decided.
        """
        inferred = member.id in self.evidence.found.consensus and member.id not in self.fixed
        return inferred and member.source != "tool" and member.id not in self.unmet

    def _surest(self, names: Sequence[str]) -> str:
        """The name with the highest κ; ties by the taxonomy's order, which ``names`` has."""
        return max(names, key=lambda name: rounded(self.judgements[name].confidence))

    def _only(self, names: Sequence[str], kept: Sequence[str]) -> None:
        """Make every TRUE member except ``kept`` FALSE; its path's confidence stays, but is 0 after a rule."""
        for name in names:
            own = self.judgements[name]
            if own.value and name not in kept:
                self.judgements[name] = Judgement(False, 0.0 if name in self.fixed else own.confidence, "arbitration")
