"""A backend's findings about a query, stored by content.

No question is asked twice, and a new capability is asked about alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Protocol

from pydantic import Field, field_validator

from bot.classifier.model import CalledTools, Consensus, Finding, Identity, InferenceRequest
from bot.files.validation import Checked, FileModel, Score, Text, Tuple
from bot.intake.specification import Tool
from bot.taxonomy.model import Taxonomy
from bot.text.digests import digest

FindingsKey = Annotated[str, Field(pattern=r"^[0-9a-f]{24}$")]
"""A digest of the turns, the classifier identity and its conditions."""


class KeptCalls(FileModel):
    """Which of the tools that were shown the query calls."""

    probability: Score = Field(description="that it calls a tool at all")
    steps: Tuple[dict[Text, Score]] = Field(default=(), description="of each step: tool: its probability")
    attempt: bool = False

    @staticmethod
    def of(calls: CalledTools, *, attempt: bool) -> KeptCalls:
        """``calls`` for storage; ``attempt``: the query argued with the classifier."""
        return KeptCalls(probability=calls.probability, steps=tuple(map(dict, calls.steps)), attempt=attempt)

    @property
    def calls(self) -> CalledTools:
        """The calls as the classifier's value."""
        return CalledTools(self.probability, self.steps)


class Findings(FileModel):
    """All that was found of one query: by digests of what was asked about a capability, and of lists of tools."""

    capabilities: dict[str, Checked[Consensus]] = Field(default_factory=dict)
    tools: dict[str, KeptCalls] = Field(default_factory=dict)

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
        return Findings(capabilities=self.capabilities | other.capabilities, tools=self.tools | other.tools)

    def under(self, questions: Mapping[str, str]) -> Findings:
        """These findings, with answers to former questions also as answers to the new ones, unless these were asked.

        ``questions`` maps former to new ones; see :func:`bot.taxonomy.migration.carried_questions`.
        """
        carried = {new: self.capabilities[old] for old, new in questions.items() if old in self.capabilities}
        return Findings(capabilities=carried, tools={}) | self

    def with_finding(self, asked: InferenceRequest, finding: Finding, taxonomy: Taxonomy) -> Findings:
        """These findings with the answers of ``finding`` to ``asked``."""
        capabilities = {
            taxonomy.by_id[name].question: replace(item, attempt=finding.attempt)
            for name, item in finding.consensus.items()
        }
        tools: dict[str, KeptCalls] = {}
        if asked.tools and finding.calls is not None:
            tools[tools_digest(asked.tools)] = KeptCalls.of(finding.calls, attempt=finding.attempt)
        return self | Findings(capabilities=capabilities, tools=tools)

    def finding(self, request: InferenceRequest, taxonomy: Taxonomy) -> Finding:
        """The answer to ``request``, all of which is known."""
        kept = {name: self.capabilities[taxonomy.by_id[name].question] for name in request.capabilities}
        known = self._calls(request.tools)
        return Finding(
            consensus=kept,
            calls=None if known is None else known.calls,
            attempt=any(item.attempt for item in (*kept.values(), *([known] if known else ()))),
        )

    def _calls(self, tools: Sequence[Tool]) -> KeptCalls | None:
        """The stored calls for ``tools``, if all tools that they name are among these."""
        kept = self.tools.get(tools_digest(tools)) if tools else None
        names = {tool.name for tool in tools}
        return kept if kept is not None and all(step.keys() <= names for step in kept.steps) else None


class FindingsStore(Protocol):
    """A store of findings."""

    def get(self, key: str) -> Findings:
        """The findings under ``key``; empty if there are none."""
        ...

    def put(self, key: str, findings: Findings) -> None:
        """Save ``findings`` under ``key``."""
        ...


class FindingsInMemory:
    """Findings ``known`` to this run, on top of another store."""

    def __init__(self, known: Mapping[str, Findings], beneath: FindingsStore | None = None) -> None:
        self._known = dict(known)
        self._beneath = beneath

    def get(self, key: str) -> Findings:
        """The findings of the other store, and of this run."""
        known = self._known.get(key, Findings())
        return known if self._beneath is None else self._beneath.get(key) | known

    def put(self, key: str, findings: Findings) -> None:
        """Save ``findings`` here and in the other store."""
        self._known[key] = findings
        if self._beneath is not None:
            self._beneath.put(key, findings)


def findings_key(turns: Sequence[str], identity: Identity, conditions: str) -> str:
    """The key of findings on ``turns``.

    ``conditions`` are further dependencies: scores are comparable under one identity, but after a change of an endpoint
    or its settings the new answers are wanted.
    """
    classifier = [identity.backend, identity.model, identity.prompt, identity.samples, conditions]
    return digest([list(turns), classifier])


def tools_digest(tools: Sequence[Tool]) -> str:
    """A digest of the part of ``tools`` that a backend sees."""
    return digest([[tool.name, tool.description] for tool in tools])
