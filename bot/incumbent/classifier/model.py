"""The classifier's results for a query, the findings that they rest on, and the interface of inference backends.

Definitions: semantics, section 2; of the consensus also the paper, section 2.2.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import fsum
from typing import Annotated, Any, Final, Literal, NamedTuple, Protocol, TypeAlias, get_args

from pydantic import (
    Field,
    PlainSerializer,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    field_validator,
    with_config,
)

from incumbent.classifier.usage import Usage
from incumbent.files.validation import FILE_CONFIG, Checked, FileModel, Score, Text
from incumbent.intake.specification import Tool
from incumbent.taxonomy.model import Taxonomy
from incumbent.text.compare import rounded
from incumbent.text.digests import digest

Path: TypeAlias = Literal[
    "specification", "tool", "structure", "expected", "inference", "arbitration", "undeclared", "corrected"
]
"""The path that decided a value.

That is: a rule over the specification, the called tools, a count in the query, the tool calls that the eval set
expects, inference from the text, arbitration of a group, nothing at all, or a curator's correction.
"""
EVEN: Final = 0.5
"""The least probability of a TRUE value: an even one is TRUE."""
RULED: Final[frozenset[Path]] = frozenset(("specification", "structure"))
"""The paths without inference: a rule decides, from what is declared or counted."""
CERTAIN: Final[frozenset[Path]] = RULED | {"corrected"}
"""The paths that do not depend on inference: a rule decides, or a curator's correction."""
Basis: TypeAlias = Literal["calibrated", "log-probabilities", "stated", "vote"]
"""The basis of a probability: a calibrated score, the log-probabilities of the words true and false, the certainty that
a model states, or only its vote.
"""
BASES: Final[tuple[Basis, ...]] = get_args(Basis)
"""From the strongest to the weakest."""
Unfamiliar: TypeAlias = Literal["language", "script", "gibberish", "code"]
"""Why a classifier cannot judge a text: its language, or that it is not text in words (semantics, section 2.4)."""
Progress: TypeAlias = Callable[[int, int], None]
"""Receives the number done and the total."""
Stages: TypeAlias = Callable[[str], Progress]
"""Opens the progress of a stage of long work, by its name."""


def silent(_: str) -> Progress:
    """Progress that is not shown."""
    return lambda done, total: None


@with_config(FILE_CONFIG)
@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Identity:
    """The classifier of predictions or scores; those of different classifiers are never compared."""

    backend: Text
    model: Text
    prompt: Text
    samples: Annotated[int, Field(ge=1)]


@dataclass(frozen=True, slots=True)
class Judgement:
    """A value, its confidence κ ∈ [0, 1], and the path that decided it."""

    value: bool
    confidence: Annotated[Score, Field(description="κ")]
    path: Annotated[Path, Field(description="what decided it")]

    @property
    def probability(self) -> float:
        """The probability of TRUE, in [0, 1] (semantics, sections 2 and 8).

        1 or 0 if the specification, a count in the query, a curator, or the facts of the expected tools decided; else
        κ, which is the probability of TRUE for either value.
        """
        certain = self.path in CERTAIN or (self.path == "expected" and self.confidence == 1)
        return float(self.value) if certain else self.confidence


@lru_cache(maxsize=100_000)
def shared_judgement(value: bool, confidence: float, path: Path) -> Judgement:
    """The judgement with these parts; equal ones are one object, as a history has hundreds of thousands."""
    return Judgement(value, confidence, path)


def _interned(value: object, validate: ValidatorFunctionWrapHandler) -> Judgement:
    if isinstance(value, Judgement):
        return value
    found: Judgement = validate(value)
    return shared_judgement(found.value, found.confidence, found.path)


@dataclass(frozen=True, slots=True)
class Sample:
    """One inference sample: a boolean vote and an exercise probability in [0, 1] per capability."""

    votes: Mapping[str, bool]
    probabilities: Mapping[str, float]
    basis: Basis = "calibrated"


@with_config(FILE_CONFIG)
@dataclass(frozen=True, slots=True)
class Consensus:
    """The valid samples' consensus on one capability: the majority's value, and κ, their mean probability in [0, 1].

    ``basis`` is the weakest basis of a sample's probability.  ``attempt``: the query argued with the classifier.
    """

    value: bool
    confidence: Score
    basis: Basis = "calibrated"
    attempt: bool = False


class LikelyTool(NamedTuple):
    """The tool that a step of a query most likely calls."""

    tool: str
    probability: Annotated[Score, Field(description="given that the query calls a tool")]


@dataclass(frozen=True, slots=True)
class CalledTools:
    """Which declared tools a query calls (semantics, section 2.1).

    ``probability``: that it calls a tool at all, in [0, 1]. ``steps``: for each part of the query that asks for
    something, the probability of each declared tool by its name, given that the query calls one; each sums to ≤ 1.
    ``attempt``: the query argued with the classifier.
    """

    probability: Annotated[Score, Field(description="that it calls a tool at all")]
    steps: Annotated[tuple[Mapping[Text, Score], ...], Field(description="of each step: tool: its probability")] = ()
    attempt: bool = False

    @property
    def likeliest(self) -> tuple[LikelyTool, ...]:
        """Of each step that has one, the most likely tool and its probability; ties by the step's own order."""
        return _leading(self.steps)

    @property
    def likely(self) -> tuple[LikelyTool, ...]:
        """The same of the steps that likelier than not call a tool; where none does, of that which most likely does."""
        totals = [rounded(fsum(step.values())) for step in self.steps]
        least = min(EVEN, max(totals, default=EVEN))
        return _leading(step for step, total in zip(self.steps, totals, strict=True) if total >= least)


def _leading(steps: Iterable[Mapping[str, float]]) -> tuple[LikelyTool, ...]:
    found = (max(step.items(), key=lambda item: rounded(item[1]), default=None) for step in steps)
    return tuple(LikelyTool(*item) for item in found if item is not None and item[1] > 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """Where an eval set expects other calls than the classifier.

    ``expected`` are the declared tools that the eval set expects, none if it expects no call.  ``likeliest`` is what
    the classifier would have said: of each step that likely calls a tool the most likely one, none if no call is
    likelier; ``probability`` in [0, 1] that one is called.
    """

    expected: Annotated[tuple[Text, ...], Field(description="tools that the eval set expects; none: no call")] = ()
    likeliest: Annotated[
        tuple[Text, ...], Field(description="of each step, the tool that the classifier expected; none: no call")
    ] = ()
    probability: Annotated[Score, Field(description="that a tool is called, as the classifier expected")]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedCalls:
    """That an eval set expects calls, and what makes this doubtful (semantics, section 2.1a).

    ``probability`` in [0, 1]: that a tool is called, by the classifier alone (``None``: it was not asked).
    ``different`` is the number of different tools in the turn that states most.  ``capabilities`` are those whose value
    rests on the expectation.
    """

    probability: Annotated[Score | None, Field(description="that a tool is called, by the classifier alone")] = None
    different: Annotated[int, Field(ge=0, description="different tools in the turn that states most")]
    capabilities: Annotated[
        frozenset[Text],
        PlainSerializer(sorted, return_type=list[str]),
        Field(description="those whose value rests on the expectation"),
    ] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class InferenceRequest:
    """A query for a backend: its turns and the ids of the capabilities to judge, in the taxonomy's order.

    ``tools`` is not empty if the backend must judge which of these the query calls.  ``starters`` are the agent's
    conversation starters.  ``call_capability``: the capability whose exemplars show that a tool is called at all, if
    the taxonomy has one; it need not be among ``capabilities``.
    """

    query_id: str
    turns: tuple[str, ...]
    capabilities: tuple[str, ...]
    tools: tuple[Tool, ...] = ()
    starters: tuple[str, ...] = ()
    call_capability: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A backend's answer: the samples' consensus on each requested capability, and the called tools if requested.

    ``attempt``: the query argued with the classifier.  ``unfamiliar``: why the backend cannot judge this kind of text,
    ``None`` if it can.  ``shortfall`` says why fewer than a majority of the samples are valid; the rest is then empty.
    """

    consensus: Mapping[str, Consensus] = field(default_factory=dict)
    calls: CalledTools | None = None
    attempt: bool = False
    unfamiliar: Unfamiliar | None = None
    shortfall: str | None = None


class Backend(Protocol):
    """An inference backend: pure text in, findings out; it never sees specification facts or other queries."""

    @property
    def identity(self) -> Identity:
        """The identity under which its findings are comparable."""
        ...

    @property
    def usage(self) -> Usage | None:
        """Its cost so far; ``None`` for a backend that costs nothing."""
        ...

    def infer(self, requests: Sequence[InferenceRequest]) -> Iterator[tuple[int, Finding]]:
        """Place and finding of each request, in the order in which they are done.

        Raises :class:`incumbent.errors.OutsideError` if the backend cannot be reached, and
        :class:`incumbent.errors.IncompleteError` when a budget is used up; findings that were yielded before are valid.
        """
        ...


FindingsKey = Annotated[str, Field(pattern=r"^[0-9a-f]{24}$")]
"""A digest of the turns, the classifier identity and its conditions."""


class Findings(FileModel):
    """All that was found of one query: by digests of what was asked about a capability, and of lists of tools."""

    capabilities: dict[str, Checked[Consensus]] = Field(default_factory=dict)
    tools: dict[str, Checked[CalledTools]] = Field(default_factory=dict)

    @field_validator("tools", mode="before")
    @classmethod
    def _without_first_tools(cls, kept: Any) -> Any:
        """What earlier versions kept here answers another question: which tool is called first."""
        if not isinstance(kept, dict):
            return kept
        return {key: item for key, item in kept.items() if not (isinstance(item, dict) and "tool" in item)}

    def missing(self, request: InferenceRequest, taxonomy: Taxonomy) -> InferenceRequest | None:
        """The part of ``request`` that must be asked; ``None`` if all of it is known."""
        names = request.capabilities
        unknown = tuple(name for name in names if taxonomy.by_id[name].question not in self.capabilities)
        tools = () if self._calls(request.tools) else request.tools
        return replace(request, capabilities=unknown, tools=tools) if unknown or tools else None

    def __or__(self, other: Findings) -> Findings:
        """These findings and ``other``, which takes precedence."""
        # Both were validated when they were made.
        return Findings.model_construct(
            capabilities=self.capabilities | other.capabilities, tools=self.tools | other.tools
        )

    def under(self, questions: Mapping[str, str]) -> Findings:
        """These findings, with answers to former questions also as answers to the new ones, unless these were asked.

        ``questions`` maps former to new ones; see :func:`incumbent.taxonomy.migration.carried_questions`.
        """
        carried = {new: self.capabilities[old] for old, new in questions.items() if old in self.capabilities}
        return Findings(capabilities=carried, tools={}) | self

    def with_finding(self, asked: InferenceRequest, finding: Finding, taxonomy: Taxonomy) -> Findings:
        """These findings with the answers of ``finding`` to ``asked``."""
        capabilities = {
            taxonomy.by_id[name].question: replace(item, attempt=finding.attempt)
            for name, item in finding.consensus.items()
        }
        tools: dict[str, Checked[CalledTools]] = {}
        if asked.tools and finding.calls is not None:
            tools[tools_digest(asked.tools)] = replace(finding.calls, attempt=finding.attempt)
        return self | Findings(capabilities=capabilities, tools=tools)

    def finding(self, request: InferenceRequest, taxonomy: Taxonomy) -> Finding:
        """The answer to ``request``, all of which is known."""
        kept = {name: self.capabilities[taxonomy.by_id[name].question] for name in request.capabilities}
        known = self._calls(request.tools)
        return Finding(
            consensus=kept,
            calls=known,
            attempt=any(item.attempt for item in (*kept.values(), *([known] if known else ()))),
        )

    def _calls(self, tools: Sequence[Tool]) -> CalledTools | None:
        """The stored calls for ``tools``, if all tools that they name are among these; digests stand for their names.

        The ledger has digests: it keeps no text from outside.
        """
        kept = self.tools.get(tools_digest(tools)) if tools else None
        if kept is None:
            return None
        names = names_by_digest(tool.name for tool in tools)
        if not all(step.keys() <= names.keys() for step in kept.steps):
            return None
        return replace(kept, steps=tuple({names[name]: share for name, share in step.items()} for step in kept.steps))


def names_by_digest(names: Iterable[str]) -> dict[str, str]:
    """The ``names`` of tools by themselves, and by their digests."""
    found = list(names)
    return {digest(name): name for name in found} | {name: name for name in found}


def tools_digest(tools: Sequence[Tool]) -> str:
    """A digest of the part of ``tools`` that a backend sees."""
    return digest([[tool.name, tool.description] for tool in tools])


@dataclass(frozen=True, slots=True, kw_only=True)
class Classification:
    """The classifier's result for one query: a fact about its content, which the ledger keeps by a digest of that.

    ``judgements`` has every capability of the taxonomy in its order; ``off_taxonomy`` the exactly-one groups whose
    members all fail; ``arbitrated`` the members that arbitration alone made TRUE.  ``attempt``: it argued with the
    classifier; ``basis``: the weakest basis of an inferred confidence (``None``: nothing was inferred).
    ``unfamiliar``: why the classifier cannot judge this kind of text (``None``: it can).  ``calls`` are the called
    tools that count, those that the eval set expects if it names any (``None``: no question about them came up, or the
    classification is from a document, which has only the values that follow from them).  ``contradiction``: the
    classifier expected other calls than the eval set.  ``stated``: the eval set expects calls.  ``findings`` are those
    of a language model that it rests on, by what was asked; only documents have them.
    """

    judgements: Mapping[str, Annotated[Judgement, WrapValidator(_interned)]]
    off_taxonomy: tuple[Text, ...] = ()
    arbitrated: Annotated[frozenset[Text], PlainSerializer(sorted, return_type=list[str])] = frozenset()
    attempt: Annotated[bool, Field(description="whether the query argued with the classifier")] = False
    basis: Annotated[Basis | None, Field(description="the weakest that an inferred confidence rests on")] = None
    unfamiliar: Annotated[
        Unfamiliar | None, Field(description="why the classifier cannot judge this kind of text; null: it can")
    ] = None
    calls: Annotated[CalledTools | None, Field(exclude=True)] = None
    contradiction: Annotated[
        Contradiction | None, Field(description="the eval set expects other calls of tools than the classifier")
    ] = None
    stated: Annotated[StatedCalls | None, Field(description="the eval set expects calls of tools")] = None
    findings: Annotated[
        Mapping[FindingsKey, Findings], Field(description="what a language model found, by what it was asked")
    ] = field(default_factory=dict)

    @property
    def certain(self) -> frozenset[str]:
        """The capabilities that a rule or a curator decides, independent of inference."""
        return frozenset(name for name, judgement in self.judgements.items() if judgement.path in CERTAIN)

    @property
    def corrected(self) -> dict[str, bool]:
        """The capabilities that a curator's correction decides, with its value."""
        return {name: item.value for name, item in self.judgements.items() if item.path == "corrected"}

    @property
    def signature(self) -> frozenset[str]:
        """sig(q): the capabilities that are TRUE."""
        return frozenset(name for name, judgement in self.judgements.items() if judgement.value)

    def doubted(self, below: float | None, most: int | None) -> frozenset[str]:
        """The capabilities whose value rests on a doubted expectation of calls (semantics, section 2.1a).

        It is doubted where the classifier alone gives less than ``below`` for calling any tool (``None``: never), or
        where one turn states more than ``most`` different tools (``None``: any number is believed).
        """
        said = self.stated
        if said is None:
            return frozenset()
        unlikely = below is not None and said.probability is not None and rounded(said.probability) < rounded(below)
        return said.capabilities if unlikely or (most is not None and said.different > most) else frozenset()

    def fits(self, capabilities: Collection[str]) -> bool:
        """Whether these are judgements on exactly these ``capabilities``."""
        return self.judgements.keys() == set(capabilities)


def agree(samples: Sequence[Sample], capabilities: Iterable[str], asked_for: int) -> dict[str, Consensus] | None:
    """The consensus of ``samples``, the valid ones of ``asked_for``, on each of ``capabilities``.

    v = majority of the votes, an even split being FALSE; κ = mean of the probabilities.  ``None`` if fewer than a
    majority of the samples asked for are valid: the query is unclassified.
    """
    valid = len(samples)
    if 2 * valid <= asked_for:
        return None
    basis = max((sample.basis for sample in samples), key=BASES.index)
    return {
        name: Consensus(
            value=2 * sum(sample.votes[name] for sample in samples) > valid,
            confidence=fsum(sample.probabilities[name] for sample in samples) / valid,
            basis=basis,
        )
        for name in capabilities
    }


def consensus_of(probabilities: Sequence[float]) -> Consensus:
    """What :func:`agree` finds of samples that all have calibrated ``probabilities``, and vote as these say."""
    valid = len(probabilities)
    votes = sum([probability >= EVEN for probability in probabilities])
    return Consensus(value=2 * votes > valid, confidence=fsum(probabilities) / valid)
