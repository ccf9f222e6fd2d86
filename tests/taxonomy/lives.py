"""Lives of a taxonomy: random edits, one version each, and a backend whose word rests on what it is told alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from hypothesis import strategies as st

from incumbent.classifier.model import CalledTools, Finding, Identity, InferenceRequest, Sample, agree
from incumbent.intake.specification import UNDECLARED, Specification
from incumbent.taxonomy.migration import Migration
from incumbent.taxonomy.model import Capability, Exemplars, Group, Taxonomy
from incumbent.text.digests import digest
from tests.classifier.factories import specification, tool

GROUPS = ("g0", "g1", "g2")
MODES = ("oauth", "api-key")
IDENTITY = Identity(backend="told", model="m1", prompt="p1", samples=1)
EDITS = ("add", "remove", "reword", "exemplars", "name", "move", "divide", "require", "rename", "split", "swap", "rule")


def inverse(renaming: Migration) -> Migration:
    """The way back, which a migration without splits has."""
    assert not renaming.splits
    return Migration(renames={new: old for old, new in renaming.renames.items()})


def number_of(text: str, below: int) -> int:
    """A number that ``text`` alone decides."""
    return int(digest(text), 16) % below


def confidence_of(turn: str, meaning: str) -> float:
    """How surely ``turn`` exercises what ``meaning`` says: no part of something more surely than the whole."""
    whole, _, _ = meaning.rpartition(" / ")
    own = number_of(f"{turn} of {meaning}", 10) / 10
    return min(own, confidence_of(turn, whole)) if whole else own


@dataclass
class DescriptionBackend:
    """A backend that goes by descriptions and exemplars, whatever the ids; it remembers what it was asked."""

    taxonomy: Taxonomy
    asked: list[tuple[str, str]] = field(default_factory=list)
    tools: list[str] = field(default_factory=list)
    identity = IDENTITY
    usage = None

    def infer(self, requests: Sequence[InferenceRequest]) -> Iterator[tuple[int, Finding]]:
        for place, item in enumerate(requests):
            self.asked += [(item.query_id, name) for name in item.capabilities]
            asked_for = {name: self.taxonomy.by_id[name] for name in item.capabilities}
            found = {name: confidence_of(item.turns[0], each.description) for name, each in asked_for.items()}
            sample = Sample(votes={name: value > 0.5 for name, value in found.items()}, probabilities=found)
            calls = None
            if item.tools:
                self.tools.append(item.query_id)
                picked = number_of(f"{item.turns[0]} calls", len(item.tools) + 1)
                calls = CalledTools(1.0, () if picked == len(item.tools) else ({item.tools[picked].name: 0.8},))
            yield place, Finding(consensus=agree([sample], item.capabilities, 1) or {}, calls=calls)


SPECIFICATIONS: tuple[Specification, ...] = (
    UNDECLARED,
    specification([]),
    specification([tool("parts", "oauth")]),
    specification([tool("parts", "oauth"), tool("fares", "api-key"), tool("news")]),
)


@st.composite
def lives(draw: st.DrawFn, steps: int = 5) -> list[Taxonomy]:
    """The versions of a taxonomy, oldest first: no id comes back, and each says what became of the one before it."""
    count = draw(st.integers(3, 7))
    made = [_new(draw, number, ()) for number in range(count)]
    for item in list(made):
        made = _replaced(made, item, requires=_requirement(draw, item, made))
    ones = {group: draw(st.booleans()) for group in GROUPS}
    line = [_taxonomy(0, made, ones)]
    for version in range(1, draw(st.integers(1, steps)) + 1):
        made = [item.model_copy(update={"was": None, "split": None}) for item in made]
        for kind in draw(st.lists(st.sampled_from(EDITS), min_size=1, max_size=3)):
            item, count = draw(st.sampled_from(made)), count + 2
            made, ones = _edited(draw, kind, item, made, ones, count)
        line.append(_taxonomy(version, made, ones))
    return line


def _edited(
    draw: st.DrawFn, kind: str, item: Capability, made: list[Capability], ones: dict[str, bool], count: int
) -> tuple[list[Capability], dict[str, bool]]:
    place = made.index(item)
    if item.split is not None and kind in ("reword", "exemplars", "require"):
        kind = "name"  # A part is one when it arises; what it becomes later is another matter.
    if kind == "add":
        return [*made[:place], _new(draw, count, made), *made[place:]], ones
    if kind == "remove" and len(made) > 2:
        return _released(made, item), ones
    if kind == "reword":
        return _replaced(made, item, description=f"meaning {count}"), ones
    if kind == "exemplars":
        return _replaced(made, item, exemplars=Exemplars(positive=(f"like {count}",))), ones
    if kind == "name":
        return _replaced(made, item, name=f"Name {count}"), ones
    if kind == "move":
        return _replaced(made, item, group=draw(st.sampled_from(GROUPS))), ones
    if kind == "divide":
        group = draw(st.sampled_from(GROUPS))
        return made, {**ones, group: not ones[group]}
    if kind == "require":
        return _replaced(made, item, requires=_requirement(draw, item, made)), ones
    if kind == "rename" and item.was is None and item.split is None:
        id = f"c{count}"
        renamed = _replaced(made, item, id=id, was=item.id)
        return [
            other.model_copy(update={"requires": id}) if other.requires == item.id else other for other in renamed
        ], ones
    if kind == "split" and item.source == "intent" and item.was is None and item.split is None:
        parts = [
            item.model_copy(
                update={"id": f"c{number}", "split": item.id, "description": f"{item.description} / {number}"}
            )
            for number in (count, count + 1)
        ]
        rest = _released(made, item)
        return [*rest[:place], *parts, *rest[place:]], ones
    if kind == "swap":
        other = draw(st.sampled_from(made))
        order = {item.id: other, other.id: item}
        return [order.get(each.id, each) for each in made], ones
    if kind == "rule" and item.source == "spec":
        return _replaced(made, item, when=_rule(draw)), ones
    return made, ones


def _new(draw: st.DrawFn, number: int, others: Sequence[Capability]) -> Capability:
    spec = draw(st.sampled_from((True, False, False)))
    made = Capability(
        id=f"c{number}",
        name=f"Name {number}",
        group=draw(st.sampled_from(GROUPS)),
        description=f"meaning {number}",
        source="spec" if spec else "intent",
        when=_rule(draw) if spec else None,
        exemplars=Exemplars(positive=(f"like {number}",)) if draw(st.booleans()) or not spec else Exemplars(),
    )
    return made.model_copy(update={"requires": _requirement(draw, made, others)})


def _rule(draw: st.DrawFn) -> str:
    return f"contains(auth_modes, '{draw(st.sampled_from(MODES))}')"


def _requirement(draw: st.DrawFn, item: Capability, others: Sequence[Capability]) -> str | None:
    """An older intent capability: so nothing requires itself, however far about."""
    older = [other.id for other in others if other.source == "intent" and int(other.id[1:]) < int(item.id[1:])]
    return draw(st.sampled_from([None, *older]))


def _released(made: list[Capability], gone: Capability) -> list[Capability]:
    """``made`` without ``gone``, which nobody requires any more."""
    rest = [item for item in made if item != gone]
    return [item.model_copy(update={"requires": None}) if item.requires == gone.id else item for item in rest]


def _replaced(made: list[Capability], item: Capability, **update: object) -> list[Capability]:
    return [other.model_copy(update=update) if other.id == item.id else other for other in made]


def _taxonomy(version: int, made: Sequence[Capability], ones: dict[str, bool]) -> Taxonomy:
    groups = tuple(Group(id=name, name=name, constraint="exactly-one" if one else "any") for name, one in ones.items())
    # Digests of a capability are kept with it, and a copy would keep those of what it was copied from.
    fresh = tuple(Capability.model_validate(item.model_dump(), strict=False) for item in made)
    return Taxonomy(version=f"1.{version}.0", groups=groups, capabilities=fresh)
