"""The capability taxonomy: a versioned, typed hierarchy (paper, section 2.1; semantics, section 1)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Literal, TypeAlias

from pydantic import Field, JsonValue, PrivateAttr, SkipValidation
from pydantic.json_schema import SkipJsonSchema

from bot.files.validation import FileModel, Text, Tuple
from bot.text.digests import digest

Identifier = Annotated[str, Field(pattern=r"^[A-Za-z0-9]+([._-][A-Za-z0-9]+)*$", max_length=100)]
"""A stable id such as ``request.auth.oauth``; never reused."""

Turns = Tuple[Text]

Source: TypeAlias = Literal["spec", "tool", "structure", "intent"]
"""Where a capability's value comes from (semantics, section 2.1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exemplar:
    """A row of ``taxonomy/exemplars/*.tsv``: a query, the capabilities it exercises, and those it only looks like.

    ``hand`` is its author, the stem of its file; a translation has that of its original, and its ``language``
    (``None``: an original).  Of the ``unknown`` capabilities nobody can tell.
    """

    id: str
    hand: str
    language: str | None = None
    turns: tuple[str, ...]
    exercises: tuple[str, ...]
    resembles: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


class Exemplars(FileModel):
    """Queries that do (positive) or only seem to (negative) exercise a capability.

    A plain string is a query of one turn, a list a conversation.
    """

    positive: Tuple[Text | Turns] = ()
    negative: Tuple[Text | Turns] = ()

    # How many of each are originals, which come before their translations; ``None``: all are.
    _originals: tuple[int, int] | None = PrivateAttr(None)

    @property
    def originals(self) -> Exemplars:
        """Those that are no translations."""
        if self._originals is None:
            return self
        positive, negative = self._originals
        return Exemplars.model_construct(positive=self.positive[:positive], negative=self.negative[:negative])

    @staticmethod
    def of(rows: Iterable[Exemplar], capabilities: Collection[str]) -> dict[str, Exemplars]:
        """The exemplars of each of ``capabilities``, in the order of ``rows``, which have their originals first."""
        positive: dict[str, list[str | tuple[str, ...]]] = {id: [] for id in capabilities}
        negative: dict[str, list[str | tuple[str, ...]]] = {id: [] for id in capabilities}
        originals: dict[str, tuple[int, int]] | None = None
        for row in rows:
            if originals is None and row.language is not None:
                originals = {id: (len(positive[id]), len(negative[id])) for id in capabilities}
            query = row.turns[0] if len(row.turns) == 1 else row.turns
            for id in row.exercises:
                positive[id].append(query)
            for id in row.resembles:
                negative[id].append(query)
        found: dict[str, Exemplars] = {}
        for id in capabilities:
            # They were checked row by row.
            one = Exemplars.model_construct(positive=tuple(positive[id]), negative=tuple(negative[id]))
            if originals is not None and originals[id] != (len(positive[id]), len(negative[id])):
                one._originals = originals[id]
            found[id] = one
        return found


class Group(FileModel):
    """An inner node; ``exactly-one`` groups have capabilities only, of which a query exercises one."""

    id: Identifier
    name: Text
    parent: Identifier | None = None
    constraint: Literal["any", "exactly-one"] = "any"


class Capability(FileModel):
    """A leaf of the taxonomy.

    ``source: spec`` carries the rule ``when`` over the agent's specification (see :mod:`bot.taxonomy.rules`);
    ``requires`` names an intent capability that must hold as well.  ``source: tool`` carries a rule over one declared
    tool, ``source: structure`` one over what can be counted in the query.  ``source: intent`` is inferred from the
    query; its rule, if it has one, is a gate over the specification: where it is false, so is the capability.
    ``base`` marks the ordinary case of its group, which takes no part in combinations (semantics, section 4).  On
    ``trial`` it is judged and shown, and no verdict rests on it.  ``was`` is the retired id that it was known by
    before; ``split`` the retired capability that it is a part of
    (:mod:`bot.taxonomy.migration`).
    """

    id: Identifier
    name: Text
    group: Identifier
    description: Text
    source: Source
    when: Text | None = None
    requires: Identifier | None = None
    patterns: Tuple[Text] = ()
    exemplars: Exemplars = Exemplars()
    base: bool = False
    was: Identifier | None = None
    split: Identifier | None = None
    trial: bool = False

    def with_exemplars(self, exemplars: Exemplars) -> Capability:
        """The same with other exemplars; made anew, since a copy would keep what was derived from this one."""
        fields = {name: getattr(self, name) for name in Capability.model_fields}
        return Capability.model_construct(**fields | {"exemplars": exemplars})

    @property
    def is_judged_from_text(self) -> bool:
        """Whether a query's text shows it, whatever the agent: what it asks for, how it is built, what it has called.

        A ``tool`` capability without exemplars is a fact about tools alone.
        """
        return self.source in ("intent", "structure") or (self.source == "tool" and bool(self.exemplars.positive))

    @property
    def is_appraised(self) -> bool:
        """Whether its value may come from the text, so that only an appraisal tells what it is worth.

        Without exemplars, where a rule says nothing it is FALSE.
        """
        return self.source == "intent" or bool(self.exemplars.positive)

    @property
    def seen(self) -> dict[str, JsonValue]:
        """What the classifier sees of this capability: all but its name, group and standing, and what it was before."""
        return self.model_dump(mode="json", exclude={"name", "group", "base", "trial", "was", "split"})

    @cached_property
    def definition(self) -> str:
        """A digest of what the classifier sees of this capability.

        Scores under one digest are comparable; a change of wording elsewhere in the taxonomy voids nothing
        (semantics, section 2).
        """
        return hashlib.sha256(json.dumps(self.seen, sort_keys=True).encode()).hexdigest()[:12]

    @cached_property
    def question(self) -> str:
        """A digest of what a language model is told of this capability: its description, and exemplars.

        Translations are not among them.
        """
        return digest([self.id, self.description, self.exemplars.originals.model_dump(mode="json")])


class Taxonomy(FileModel):
    """``taxonomy/taxonomy.yaml``; the order of capabilities in the file is the taxonomy's order.

    ``exemplars`` are the rows of the tables beside it, originals before translations; there are none where the file
    holds exemplars itself.  They are no key of the file.
    """

    version: Annotated[str, Field(pattern=r"^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$")]
    retired: Tuple[Identifier] = ()
    groups: Tuple[Group]
    capabilities: Tuple[Capability]
    exemplars: SkipJsonSchema[SkipValidation[tuple[Exemplar, ...]]] = Field(default=(), exclude=True, repr=False)

    @cached_property
    def by_id(self) -> dict[str, Capability]:
        """Capabilities by id, in the taxonomy's order."""
        return {capability.id: capability for capability in self.capabilities}

    @property
    def base(self) -> frozenset[str]:
        """The capabilities that are the ordinary case of their group."""
        return frozenset(capability.id for capability in self.capabilities if capability.base)

    @property
    def trial(self) -> frozenset[str]:
        """The capabilities on trial, which no verdict rests on."""
        return frozenset(capability.id for capability in self.capabilities if capability.trial)

    @cached_property
    def required_first(self) -> tuple[Capability, ...]:
        """The capabilities with what each requires before it, so that the order of the file says nothing."""
        ordered: dict[str, Capability] = {}
        for item in self.capabilities:
            chain: dict[str, Capability] = {}
            step: Capability | None = item
            while step is not None and step.id not in ordered and step.id not in chain:
                chain[step.id] = step
                step = None if step.requires is None else self.by_id[step.requires]
            ordered |= dict(reversed(chain.items()))
        return tuple(ordered.values())

    @cached_property
    def exactly_one(self) -> dict[str, tuple[Capability, ...]]:
        """The members of each ``exactly-one`` group, in the taxonomy's order."""
        return {
            group.id: tuple(item for item in self.capabilities if item.group == group.id)
            for group in self.groups
            if group.constraint == "exactly-one"
        }

    @cached_property
    def definitions(self) -> str:
        """A digest of all that a classification rests on: version, groups, and each capability's definition."""
        groups = [group.model_dump(mode="json") for group in self.groups]
        return digest([self.version, groups, [item.definition for item in self.capabilities]])

    def called(self, version: str) -> Taxonomy:
        """The same under another version; made anew, since a copy would keep what was derived from this one."""
        return Taxonomy(
            version=version,
            retired=self.retired,
            groups=self.groups,
            capabilities=self.capabilities,
            exemplars=self.exemplars,
        )

    def with_exemplars(self, rows: tuple[Exemplar, ...]) -> Taxonomy:
        """The same with the exemplars of ``rows``, originals before translations, for those it has."""
        found = Exemplars.of(rows, self.by_id)
        return Taxonomy(
            version=self.version,
            retired=self.retired,
            groups=self.groups,
            capabilities=tuple(item.with_exemplars(found[item.id]) for item in self.capabilities),
            exemplars=rows,
        )

    @property
    def major(self) -> int:
        """The major version: it rises when a capability is removed or changes its meaning."""
        return int(self.version.split(".")[0])
