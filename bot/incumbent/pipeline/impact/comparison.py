"""Compares the two sides of a change, both classified and judged (pure)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from incumbent.consolidator.verdict import Verdict
from incumbent.curator.suggestions import Suggestions, suggest
from incumbent.pipeline.impact.model import (
    CapabilitySides,
    ConfigChange,
    Effect,
    KeptOnTrial,
    PinSides,
    Remark,
    RemarkSides,
    SuggestionSides,
    VerdictSides,
)
from incumbent.pipeline.review import Platform, Review
from incumbent.taxonomy.config import Curation
from incumbent.taxonomy.migration import Migration
from incumbent.text.compare import rounded


def config_changes(old: Curation, new: Curation) -> tuple[ConfigChange, ...]:
    """The keys whose value differs, as paths such as ``knobs.competence_bar``; sorted."""
    before, after = dict(_leaves(old.model_dump(mode="json"), ())), dict(_leaves(new.model_dump(mode="json"), ()))
    keys = sorted(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))
    return tuple(
        ConfigChange(key=".".join(key), before=_dumped(before.get(key)), after=_dumped(after.get(key))) for key in keys
    )


def _leaves(value: JsonValue, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], JsonValue]]:
    """The values that are not mappings, by their paths; null counts as absent."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(item, (*path, key))
    elif value is not None:
        yield path, value


def _dumped(value: JsonValue) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False)


def compare(before: Review, after: Review, migration: Migration) -> Effect:
    """What changes from ``before`` to ``after``; ``migration`` gives the capabilities' new ids.

    R has the same queries on both sides, so that both judge the same ones: those that were merged and are not in R.
    Suggestions are those of R alone: people's refusals and sources that are gone are not known here.
    """
    was, now = (
        suggest(side.platform.regression_set, side.platform.taxonomy, side.platform.config) for side in (before, after)
    )
    return Effect(
        capabilities=_capabilities(before.platform, after.platform, was, now, migration),
        pins=_pins(was, now, migration),
        suggestions=_suggestions(was, now),
        verdicts=_verdicts(before, after),
        remarks=_remarks(before, after),
        kept=tuple(
            KeptOnTrial(entry=entry, wholes=wholes)
            for entry, wholes in after.platform.regression_set.kept_on_trial(after.platform.taxonomy).items()
        ),
    )


def _capabilities(
    before: Platform, after: Platform, was: Suggestions, now: Suggestions, migration: Migration
) -> tuple[CapabilitySides, ...]:
    old, new = before.taxonomy.by_id, after.taxonomy.by_id
    previous = {migration.renamed(name): name for name in old}
    pairs: list[tuple[str | None, str | None]] = [(previous.get(name), name) for name in new]
    pairs += [(previous[name], None) for name in previous if name not in new]
    found = []
    for first, second in pairs:
        champion_before = None if first is None else was.roles.champions.get(first)
        champion_after = None if second is None else now.roles.champions.get(second)
        sides = CapabilitySides(
            before=first,
            after=second,
            champion_before=champion_before,
            champion_after=champion_after,
            score_before=_score(before, champion_before, first),
            score_after=_score(after, champion_after, second),
            coverers_before=0 if first is None else len(was.roles.coverers.get(first, ())),
            coverers_after=0 if second is None else len(now.roles.coverers.get(second, ())),
            floor_before=0 if first is None else before.config.redundancy_floor(first),
            floor_after=0 if second is None else after.config.redundancy_floor(second),
        )
        if first is None or second is None or first != second or _differs(sides):
            found.append(sides)
    return tuple(found)


def _differs(sides: CapabilitySides) -> bool:
    """Whether the capability's coverers, their scores or its floor differ after the change.

    A score of the same champion is compared as reports show it.
    """
    return (
        sides.champion_before != sides.champion_after
        or _shown(sides.score_before) != _shown(sides.score_after)
        or sides.coverers_before != sides.coverers_after
        or sides.floor_before != sides.floor_after
    )


def _shown(score: float | None) -> str | None:
    return None if score is None else f"{score:.2f}"


def _score(platform: Platform, champion: str | None, capability: str | None) -> float | None:
    if champion is None or capability is None:
        return None
    return rounded(platform.regression_set.entries[champion].scores[capability])


def _pins(was: Suggestions, now: Suggestions, migration: Migration) -> tuple[PinSides, ...]:
    found = []
    for entry in sorted(was.roles.pinned.keys() | now.roles.pinned.keys()):
        first = was.roles.pinned.get(entry, ())
        second = now.roles.pinned.get(entry, ())
        if tuple(sorted(_renamed(reason, migration) for reason in first)) != tuple(sorted(second)):
            found.append(PinSides(entry=entry, before=first, after=second))
    return tuple(found)


def _renamed(reason: str, migration: Migration) -> str:
    kind, mark, name = reason.partition(":")
    return f"{kind}{mark}{migration.renamed(name)}" if kind == "champion" else reason


def _suggestions(was: Suggestions, now: Suggestions) -> tuple[SuggestionSides, ...]:
    first, second = (_by_entry(side) for side in (was, now))
    return tuple(
        SuggestionSides(entry=entry, before=first.get(entry), after=second.get(entry))
        for entry in sorted(first.keys() | second.keys())
        if first.get(entry) != second.get(entry)
    )


def _by_entry(suggestions: Suggestions) -> dict[str, str]:
    """Entry → why its eviction is suggested."""
    found = {item.id: item.grounds.kind.value for item in suggestions.evictions}
    swapped = {id: f"swap with {item.swap.admit}" for item in suggestions.swaps for id in item.swap.remove}
    return found | swapped


def _verdicts(before: Review, after: Review) -> tuple[VerdictSides, ...]:
    """The changed verdicts."""
    first, second = ({verdict.id: verdict for verdict in side.verdicts} for side in (before, after))
    found = []
    for name in sorted(before.targets):
        was, now = first.get(name), second.get(name)
        if _codes(was) != _codes(now):
            earns = not _admits(was) and _admits(now)
            found.append(VerdictSides(**_whose(name, before), before=_codes(was), after=_codes(now), earns=earns))
    return tuple(found)


def _remarks(before: Review, after: Review) -> tuple[RemarkSides, ...]:
    return tuple(
        RemarkSides(**_whose(name, before), remark=remark, after=remark in now)
        for name in sorted(before.targets)
        for was, now in [(_remarks_on(name, before), _remarks_on(name, after))]
        for remark in sorted(was ^ now)
    )


def _whose(name: str, review: Review) -> dict[str, str]:
    """The query ``name`` as its customer calls it, the customer, and the agent."""
    origin = review.origins[name]
    return {"query": origin.item(name), "customer": origin.customer, "agent": origin.agent}


def _remarks_on(name: str, review: Review) -> set[Remark]:
    item = review.classifications.get(name)
    found: set[Remark] = set()
    if item is not None and item.contradiction is not None:
        found.add("contradiction")
    if item is not None and item.unfamiliar is not None:
        found.add("unfamiliar")
    return found


def _admits(verdict: Verdict | None) -> bool:
    return verdict is not None and verdict.decision.admits


def _codes(verdict: Verdict | None) -> str | None:
    if verdict is None:
        return None
    return " ".join([verdict.decision.value, verdict.route.value, *(reason.value for reason in verdict.reasons)])
