"""The capability taxonomy: a versioned, typed hierarchy (paper, section 2.1; semantics, section 1)."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field, JsonValue, PrivateAttr, SkipValidation
from pydantic.json_schema import SkipJsonSchema

from incumbent.files.validation import FileFormat, FileModel, Text, Tuple
from incumbent.text.did_you_mean import did_you_mean
from incumbent.text.digests import digest

Version: TypeAlias = Annotated[str, Field(pattern=r"^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$")]
"""A semantic version, such as ``2.1.0``: major, minor, patch."""
Identifier = Annotated[str, Field(pattern=r"^[A-Za-z0-9]+([._-][A-Za-z0-9]+)*$", max_length=100)]
"""A stable id such as ``request.auth.oauth``, never reused."""

Turns = Tuple[Text]

Source: TypeAlias = Literal["spec", "tool", "structure", "intent"]
"""Where a capability's value comes from (semantics, section 2.1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exemplar:
    """A row of ``taxonomy/exemplars/*.tsv``: a query, the capabilities it exercises, and those it only resembles.

    ``hand`` is its author, the stem of its file.  A translation has the author of its original and its own
    ``language`` (``None``: an original).  Whether it exercises the ``unknown`` capabilities is undecided.  A row
    that is not in a file yet has neither id nor author.
    """

    id: str = ""
    hand: str = ""
    language: str | None = None
    turns: tuple[str, ...]
    exercises: tuple[str, ...] = ()
    resembles: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


class Exemplars(FileModel):
    """Queries that exercise a capability (positive), or only seem to (negative).

    A string is a query of one turn, a list a conversation.
    """

    positive: Tuple[Text | Turns] = ()
    negative: Tuple[Text | Turns] = ()

    # The numbers of originals, which precede the translations; ``None``: all are originals.
    _originals: tuple[int, int] | None = PrivateAttr(None)

    @property
    def originals(self) -> Exemplars:
        """The exemplars that are not translations."""
        if self._originals is None:
            return self
        positive, negative = self._originals
        return Exemplars.model_construct(positive=self.positive[:positive], negative=self.negative[:negative])

    @staticmethod
    def of(rows: Iterable[Exemplar], capabilities: Collection[str]) -> dict[str, Exemplars]:
        """The exemplars of each of ``capabilities``, in the order of ``rows``, where originals come first."""
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
            # The rows were checked already.
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

    ``source: spec`` carries the rule ``when`` over the agent's specification (see :mod:`incumbent.taxonomy.rules`);
    ``requires`` names an intent capability that must hold as well.  ``source: tool`` carries a rule over one declared
    tool, ``source: structure`` one over what can be counted in the query.  ``source: intent`` is inferred from the
    query; its rule, if it has one, is a condition on the specification: if it is false, so is the capability.
    ``expected_calls: several`` marks one that number and order of the calls that an eval set expects decide, where it
    states them; ``chained`` the one of these in which a call needs an earlier one's result (semantics, section 2.1b).
    One that does not ``combine`` takes no part in combinations of two or more (semantics, section 4): the ordinary
    case of its group, or what matters to no model together with others.  ``fill_from`` says whose tests may fill its
    floor: those of ``others`` than the customers who cover it already, or ``any``.  On ``trial`` it is judged and
    shown, but no verdict depends on it.  ``was`` is the retired id that it was known by before; ``split`` the retired
    capability that it is a part of (:mod:`incumbent.taxonomy.migration`).
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
    combines: bool = True
    fill_from: Literal["others", "any"] = "others"
    expected_calls: Literal["several"] | None = None
    chained: bool = False
    was: Identifier | None = None
    split: Identifier | None = None
    trial: bool = False

    def with_exemplars(self, exemplars: Exemplars) -> Capability:
        """A new capability with these exemplars; not a copy, which would keep cached properties."""
        fields = {name: getattr(self, name) for name in Capability.model_fields}
        return Capability.model_construct(**fields | {"exemplars": exemplars})

    @property
    def is_judged_from_text(self) -> bool:
        """Whether the query itself shows it, independent of the agent: its request, its structure or its calls.

        A ``tool`` capability without exemplars depends on tools alone.
        """
        return self.source in ("intent", "structure") or (self.source == "tool" and bool(self.exemplars.positive))

    @property
    def is_appraised(self) -> bool:
        """Whether its value may be inferred from the text, so that its quality needs an appraisal.

        A capability with a rule and no exemplars is FALSE if the rule is undecided.
        """
        return self.source == "intent" or bool(self.exemplars.positive)

    @property
    def seen(self) -> dict[str, JsonValue]:
        """The classifier's input about this capability: all but name, group, trial, origin, what combinations and
        floors make of it, and what expected calls decide, which gives rule values alone.
        """
        beside = {"name", "group", "combines", "fill_from", "expected_calls", "chained", "trial", "was", "split"}
        return self.model_dump(mode="json", exclude=beside)

    @cached_property
    def definition(self) -> str:
        """A digest of the classifier's input about this capability.

        Scores under one digest are comparable; changes elsewhere in the taxonomy do not invalidate them (semantics,
        section 2).
        """
        return hashlib.sha256(json.dumps(self.seen, sort_keys=True).encode()).hexdigest()[:12]

    @cached_property
    def question(self) -> str:
        """A digest of a language model's input about this capability: description and original exemplars."""
        return digest([self.id, self.description, self.exemplars.originals.model_dump(mode="json")])


class Taxonomy(FileModel):
    """``taxonomy/taxonomy.yaml``; the order of capabilities in the file is the taxonomy's order.

    ``exemplars`` are the rows of the tables beside it, originals before translations; none if the file itself has
    exemplars.  They are not a key of the file.
    """

    format: FileFormat[Literal[1]] = 1
    version: Version
    retired: Tuple[Identifier] = ()
    groups: Tuple[Group]
    capabilities: Tuple[Capability]
    exemplars: SkipJsonSchema[SkipValidation[tuple[Exemplar, ...]]] = Field(default=(), exclude=True, repr=False)

    @cached_property
    def by_id(self) -> dict[str, Capability]:
        """Capabilities by id, in the taxonomy's order."""
        return {capability.id: capability for capability in self.capabilities}

    @property
    def uncombinable(self) -> frozenset[str]:
        """The capabilities that take no part in combinations."""
        return frozenset(capability.id for capability in self.capabilities if not capability.combines)

    @property
    def fill_from_any(self) -> frozenset[str]:
        """The capabilities whose floor one customer may fill alone."""
        return frozenset(capability.id for capability in self.capabilities if capability.fill_from == "any")

    @property
    def split_on_trial(self) -> frozenset[str]:
        """The retired capabilities that were split, and of which a part is on trial."""
        return frozenset(item.split for item in self.capabilities if item.trial and item.split is not None)

    @property
    def trial(self) -> frozenset[str]:
        """The capabilities on trial, which verdicts do not use."""
        return frozenset(capability.id for capability in self.capabilities if capability.trial)

    @cached_property
    def gated(self) -> tuple[Capability, ...]:
        """The capabilities that the number and order of expected calls decide, without those on trial."""
        return tuple(item for item in self.capabilities if item.expected_calls is not None and not item.trial)

    @cached_property
    def required_first(self) -> tuple[Capability, ...]:
        """The capabilities, each after the one that it requires, independent of the order of the file."""
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
        """A digest of everything that a classification depends on: version, groups, and each definition."""
        groups = [group.model_dump(mode="json") for group in self.groups]
        gated = [[item.id, item.chained] for item in self.gated]
        known = [self.version, groups, [item.definition for item in self.capabilities]]
        return digest([*known, gated] if gated else known)

    def called(self, version: str) -> Taxonomy:
        """A new taxonomy with another version; not a copy, which would keep cached properties."""
        return Taxonomy(
            version=version,
            retired=self.retired,
            groups=self.groups,
            capabilities=self.capabilities,
            exemplars=self.exemplars,
        )

    def with_exemplars(self, rows: tuple[Exemplar, ...]) -> Taxonomy:
        """A new taxonomy with the exemplars of ``rows``, originals before translations, in place of these."""
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
        """The major version, which increases when a capability is removed or changes its meaning."""
        return int(self.version.split(".")[0])


_LONGEST_SHOWN: Final = 64


class UnknownCapabilityError(Exception):
    """A text means no capability, or several; the message suggests some."""


class ShortNames:
    """Finds the capabilities of a taxonomy by their short names."""

    def __init__(self, taxonomy: Taxonomy) -> None:
        self._taxonomy = taxonomy

    @cached_property
    def _meant(self) -> Mapping[str, tuple[str, ...]]:
        found: dict[str, dict[str, None]] = {}
        for capability in self._taxonomy.capabilities:
            for name in {*_ends(capability.id), _plain(capability.name)}:
                found.setdefault(name, {})[capability.id] = None
        # A full id always means its capability, even if other ids end with it.
        ids = {_plain(id): (id,) for id in self._taxonomy.by_id}
        return {name: tuple(meant) for name, meant in found.items()} | ids

    def find(self, text: str, *, helpful: bool = True) -> str:
        """The id of the capability that ``text`` means; raises :class:`UnknownCapabilityError`.

        A ``helpful`` error suggests capabilities, which takes time.
        """
        meant = self._meant.get(_plain(text), ())
        if len(meant) == 1:
            return meant[0]
        shown = repr(text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…")
        if meant:
            raise UnknownCapabilityError(f"{shown} may mean {' or '.join(meant)}: write the whole id")
        raise UnknownCapabilityError(f"the taxonomy has no capability {shown}{self._near(text) if helpful else ''}")

    def _near(self, text: str) -> str:
        said = _plain(text)
        near = did_you_mean(text, self._taxonomy.by_id) or did_you_mean(said, self._meant)
        within = [item.id for item in self._taxonomy.capabilities if said in _plain(item.name).split("-")]
        return near or (f"; perhaps you meant {within[0]!r}" if len(within) == 1 else "")


def is_end(text: str, id: str) -> bool:
    """Whether ``text`` is the capability ``id``, or the end of it."""
    return _plain(text) in _ends(id)


def _ends(id: str) -> frozenset[str]:
    """``id`` and its ends, at the dots."""
    parts = id.split(".")
    return frozenset(_plain(".".join(parts[place:])) for place in range(len(parts)))


def _plain(text: str) -> str:
    """``text`` with case, white space and hyphens normalised."""
    return re.sub(r"[\s_-]+", "-", text.casefold()).strip("-")
