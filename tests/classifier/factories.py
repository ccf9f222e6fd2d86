"""Small taxonomies, specifications and requests for the classifier's tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from incumbent.classifier.model import Backend, CalledTools, Finding, Identity, InferenceRequest, Sample, agree
from incumbent.classifier.usage import Usage
from incumbent.errors import IncumbentError
from incumbent.intake.query import Query
from incumbent.intake.specification import UNDECLARED, AuthDeclaration, AuthMode, Specification, Tool
from incumbent.taxonomy.config import OpenAISettings
from incumbent.taxonomy.model import Capability, Exemplar, Exemplars, Group, Taxonomy


def intent(id: str, group: str = "any", **more: Any) -> Capability:
    """A capability that is inferred, with one exemplar unless more are given."""
    defaults: dict[str, Any] = {"exemplars": Exemplars(positive=(f"{id} please",))}
    return Capability(id=id, name=id, group=group, description=f"about {id}", source="intent", **defaults | more)


def declared(id: str, when: str, group: str = "any", **more: Any) -> Capability:
    """A capability that the specification decides by the rule ``when``."""
    return Capability(id=id, name=id, group=group, description=f"about {id}", source="spec", when=when, **more)


def of_tools(id: str, when: str, group: str = "any", **more: Any) -> Capability:
    """A capability of the called tools, by the rule ``when`` over one of them."""
    return Capability(id=id, name=id, group=group, description=f"about {id}", source="tool", when=when, **more)


def counted(id: str, when: str, group: str = "any", **more: Any) -> Capability:
    """A capability that the structure of a query decides by the rule ``when``."""
    return Capability(id=id, name=id, group=group, description=f"about {id}", source="structure", when=when, **more)


def taxonomy(*capabilities: Capability, exemplars: tuple[Exemplar, ...] = ()) -> Taxonomy:
    """A taxonomy with the groups that ``capabilities`` name; those called ``one…`` are exactly-one groups."""
    groups = dict.fromkeys(capability.group for capability in capabilities)
    return Taxonomy(
        version="1.0.0",
        groups=tuple(
            Group(id=group, name=group, constraint="exactly-one" if group.startswith("one") else "any")
            for group in groups
        ),
        capabilities=capabilities,
        exemplars=exemplars,
    )


def tool(name: str, auth: AuthMode | None = None, description: str = "", **more: Any) -> Tool:
    """A declared tool that reads."""
    defaults: dict[str, Any] = {
        "protocol": "rest",
        "effect": "read",
        "effect_from": "test",
        "confirmation": None,
        "card": False,
        "declared_in": "test",
    }
    return Tool(name=name, auth=auth, description=description, **defaults | more)


def specification(tools: Sequence[Tool] | None = None, auth: Sequence[AuthMode] | None = None) -> Specification:
    """A specification with the auth modes of its ``tools``, or with those given."""
    if auth is None and tools is not None:
        auth = [item.auth for item in tools if item.auth is not None]
    return Specification(
        platform="test",
        name="test",
        description="",
        instructions="",
        auth=None if auth is None else tuple(AuthDeclaration(mode=mode, declared_in="test") for mode in auth),
        tools=None if tools is None else tuple(tools),
        knowledge=None,
        starters=(),
    )


def query(id: str, *turns: str) -> Query:
    """A query from no file."""
    return Query(id=id, turns=turns or (id,), file="", line=None)


def request(*turns: str, capabilities: Sequence[str] = (), tools: Sequence[Tool] = ()) -> InferenceRequest:
    """A request to a backend."""
    return InferenceRequest(query_id="q", turns=turns, capabilities=tuple(capabilities), tools=tuple(tools))


def sample(**probabilities: float) -> Sample:
    """A sample that votes for what is likelier than not; ``a__b`` stands for the id ``a.b``."""
    by_id = {name.replace("__", "."): value for name, value in probabilities.items()}
    return Sample(votes={name: value > 0.5 for name, value in by_id.items()}, probabilities=by_id)


def openai_settings(**overrides: Any) -> OpenAISettings:
    """Settings of the openai backend, patient and rich unless told otherwise."""
    defaults: dict[str, Any] = {
        "endpoint": None,
        "api_version": None,
        "model": "test-model",
        "key_variable": "TEST_KEY",
        "temperature": 0.7,
        "seed": 7,
        "timeout_seconds": 10.0,
        "response_bytes": 16_000_000,
        "retries": 0,
        "in_flight": 4,
        "prompt_bytes": 36_000,
        "examples": 1,
        "answer_tokens": 1_000,
        "budget": {"requests": 10_000, "tokens": 100_000_000},
        "prices": None,
    }
    return OpenAISettings.model_validate(defaults | overrides)


def silent(done: int, total: int) -> None:
    """Progress that nobody watches."""


@dataclass
class ScriptedBackend:
    """A backend whose answers are written down per query id; it remembers what it was asked."""

    answers: Mapping[str, Finding]
    samples: int = 1
    asked: list[InferenceRequest] = field(default_factory=list)
    fails: IncumbentError | None = None
    """What it raises after its answers."""
    usage: Usage | None = None

    @property
    def identity(self) -> Identity:
        return Identity(backend="scripted", model="test", prompt="none", samples=self.samples)

    def infer(self, requests: Sequence[InferenceRequest]) -> Iterator[tuple[int, Finding]]:
        for place, item in enumerate(requests):
            if self.fails is None or item.query_id in self.answers:
                self.asked.append(item)
                yield place, self.answers[item.query_id]
        if self.fails is not None:
            raise self.fails


def says(tool: str | None = None, confidence: float = 1.0, **probabilities: float) -> Finding:
    """The finding of one sample, and perhaps a tool that is called for certain, this one with ``confidence``."""
    calls = None if tool is None else CalledTools(1.0, ({tool: confidence},))
    one = sample(**probabilities)
    return Finding(consensus=agree([one], one.votes, 1) or {}, calls=calls)


def answers(backend: Backend, *requests: InferenceRequest) -> tuple[Finding, ...]:
    """What ``backend`` finds, in the order of ``requests``."""
    found = dict(backend.infer(requests))
    return tuple(found[place] for place in range(len(requests)))


NOTHING = UNDECLARED
"""A specification that says nothing."""
