"""The definitions, transcribed: everything is computed again from the live R at every step, and nothing is clever.

In this module R is always a list in order of admission (see ``in_admission_order``), so that "earlier admission, then
smaller id" is an entry's place in the list. A query admitted in a cycle is appended: it is later than all before it.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from fractions import Fraction
from itertools import combinations as subsets

from tests.oracle.values import Facts, Grounds, Item, Knobs, Moment, Options, Verdict

Similarity = Callable[[str, str], float]
Combination = frozenset[str]


def rounded(value: float) -> float:
    """Both sides of every comparison go through here."""
    return round(value, 9)


def in_admission_order(entries: Collection[Item]) -> list[Item]:
    """By moment of admission, then by id. Numbers come before text, so that a mixture is at least ordered."""

    def when(entry: Item) -> tuple[bool, int, str, str]:
        at = entry.admitted_at
        return (True, 0, at, entry.id) if isinstance(at, str) else (False, at, "", entry.id)

    return sorted(entries, key=when)


# Rater, relational half (section 4)


def counting(item: Item, knobs: Knobs) -> dict[str, float]:
    """The scores that count: those on trial count for nothing."""
    return {c: score for c, score in item.scores.items() if c not in knobs.trial}


def caps(item: Item, knobs: Knobs) -> frozenset[str]:
    """caps_τ(x)."""
    return frozenset(c for c in counting(item, knobs) if rounded(item.scores[c]) >= rounded(knobs.bar(c)))


def strength(item: Item, capability: str, entries: Sequence[Item], knobs: Knobs) -> float:
    """What a score counts for champions and wins: cs · 2^(−age / half-life) on the inference path.

    The age is that of the entry when the newest entry came. What has not been admitted yet has none.
    """
    score = item.scores[capability]
    if knobs.recency is None or capability not in item.inferred or not isinstance(item.admitted_at, str):
        return rounded(score)
    days = [datetime.fromisoformat(str(entry.admitted_at)) for entry in entries if str(entry.admitted_at)[:1] == "2"]
    if item.admitted_at[:1] != "2":
        return rounded(score)
    age = (max(days) - datetime.fromisoformat(item.admitted_at)) / timedelta(days=1)
    return rounded(rounded(score) * 2 ** (-age / knobs.recency))


def champion(capability: str, entries: Sequence[Item], knobs: Knobs) -> Item | None:
    """Highest score; ties: more competent capabilities, then the place in the order of admission."""
    best: Item | None = None
    for entry in entries:
        if capability not in counting(entry, knobs):
            continue
        if best is None:
            best = entry
            continue
        mine, theirs = (strength(one, capability, entries, knobs) for one in (entry, best))
        if mine > theirs or (mine == theirs and len(caps(entry, knobs)) > len(caps(best, knobs))):
            best = entry
    return best


def new_capabilities(q: Item, entries: Sequence[Item], knobs: Knobs) -> frozenset[str]:
    """newCaps(q)."""
    return frozenset(c for c in caps(q, knobs) if not any(c in caps(r, knobs) for r in entries))


def fills(q: Item, entries: Sequence[Item], knobs: Knobs, options: Options) -> frozenset[str]:
    """fills(q): covered by somebody, by too few, and by nobody of the same customer."""
    found = set()
    for c in caps(q, knobs) if options.fill_floor else ():
        covering = [r for r in entries if c in caps(r, knobs)]
        if 1 <= len(covering) < knobs.floor(c) and not any(r.customer == q.customer for r in covering):
            found.add(c)
    return frozenset(found)


def wins(q: Item, entries: Sequence[Item], knobs: Knobs) -> dict[str, str]:
    """wins(q), each with the champion it beats."""
    found = {}
    for c in sorted(counting(q, knobs)):
        holder = champion(c, entries, knobs)
        if holder is None:
            continue
        if rounded(q.scores[c]) > rounded(strength(holder, c, entries, knobs) + knobs.margin(c)):
            found[c] = holder.id
    return found


def combinations(x: Item, knobs: Knobs, options: Options) -> list[Combination]:
    """What x exercises together."""
    if options.novelty == "signature":
        signature = frozenset(counting(x, knobs))
        return [signature] if signature else []
    competent = caps(x, knobs) if options.novelty == 1 else caps(x, knobs) - options.base
    if not competent:
        return []
    if len(competent) < options.novelty:
        return [competent]
    return [frozenset(chosen) for chosen in subsets(sorted(competent), options.novelty)]


def carries(r: Item, combination: Combination, knobs: Knobs, options: Options) -> bool:
    """Whether r carries the combination."""
    if options.novelty == "signature":
        return frozenset(counting(r, knobs)) == combination
    return combination <= caps(r, knobs)


def new_combinations(q: Item, entries: Sequence[Item], knobs: Knobs, options: Options) -> list[Combination]:
    """newCombos(q)."""
    return [m for m in combinations(q, knobs, options) if not any(carries(r, m, knobs, options) for r in entries)]


def text_of(item: Item) -> str:
    """The turns, each normalised, joined by newlines."""
    return "\n".join(" ".join(unicodedata.normalize("NFKC", turn).casefold().split()) for turn in item.turns)


def most_similar(q: Item, entries: Sequence[Item], sim: Similarity) -> tuple[float, str | None]:
    """maxSim(q) and who attains it."""
    best: tuple[float, str | None] = (0.0, None)
    for r in sorted(entries, key=lambda entry: entry.id):
        likeness = sim(text_of(q), text_of(r))
        if best[1] is None or rounded(likeness) > rounded(best[0]):
            best = (likeness, r.id)
    return best


def facts(
    q: Item, entries: Sequence[Item], knobs: Knobs, options: Options, sim: Similarity, waiting: Sequence[Item] = ()
) -> Facts:
    """The relational facts of q against R; for novelty alone the waiting queries count as well."""
    missing_in_r = new_combinations(q, entries, knobs, options)
    missing = new_combinations(q, [*entries, *waiting], knobs, options)
    likeness, who = most_similar(q, entries, sim)
    needed = new_capabilities(q, entries, knobs) | fills(q, entries, knobs, options)
    offered = frozenset(c for w in waiting for c in caps(w, knobs))
    return Facts(
        fills={c: coverers(c, entries, knobs) for c in sorted(fills(q, entries, knobs, options))},
        met_by=tuple(w.id for w in waiting if caps(w, knobs) & needed) if needed <= offered else (),
        competent=tuple(sorted(caps(q, knobs))),
        new_capabilities=tuple(sorted(new_capabilities(q, entries, knobs))),
        new_combinations=tuple(sorted(tuple(sorted(m)) for m in missing)),
        wins=wins(q, entries, knobs),
        max_similarity=likeness,
        most_similar=who,
        held_by=tuple(w.id for w in waiting if any(carries(w, m, knobs, options) for m in missing_in_r)),
    )


# Verdict engine (section 5)


def coverers(capability: str, entries: Sequence[Item], knobs: Knobs) -> int:
    """How many competently cover the capability."""
    return sum(capability in caps(r, knobs) for r in entries)


def decide(q: Item, known: Facts, entries: Sequence[Item], knobs: Knobs, options: Options) -> Verdict:
    """Gates 0 to 6. R is consulted only about E and its capabilities (gate 4)."""
    verdict = gates(q, known, entries, knobs, options)
    if q.familiar:
        return verdict
    return replace(verdict, route="review", reasons=(*verdict.reasons, "UNFAMILIAR"))


def gates(q: Item, known: Facts, entries: Sequence[Item], knobs: Knobs, options: Options) -> Verdict:
    """Gates 0 to 6, but for familiarity."""

    def exclude(reason: str, alternate_of: tuple[str, ...] = ()) -> Verdict:
        return Verdict(q.id, "EXCLUDE", "direct", (reason,), known, alternate_of=alternate_of)

    if not set(q.scores) - q.arbitrated:
        return exclude("OFF_TAXONOMY")
    if rounded(known.max_similarity) >= rounded(knobs.clone_cutoff):
        if options.clone_rescue and known.new_capabilities:
            return Verdict(q.id, "INCLUDE", "review", ("CLONE", "NEW_COVERAGE"), known)
        return exclude("CLONE")
    if not known.new_capabilities and not known.fills and not known.wins and not known.novel:
        return exclude("REDUNDANT", known.held_by)
    if known.new_capabilities:
        verdict = Verdict(q.id, "INCLUDE", "direct", ("NEW_COVERAGE",), known)
    elif known.fills:
        verdict = Verdict(q.id, "INCLUDE", "direct", ("FILLS_FLOOR",), known)
    elif known.wins:
        verdict = challenge(q, known, entries, knobs)
    else:
        verdict = Verdict(q.id, "INCLUDE", "review", ("NOVEL_COMBO",), known)
    if verdict.route == "direct":
        evidence = {*known.new_capabilities, *known.fills, *known.wins}
        floor = knobs.honesty_floor
        if options.honesty_scope == "all":
            evidence = set(counting(q, knobs))
        elif not known.fills and not known.wins:
            floor = options.first_floor
        if rounded(max(q.scores[c] for c in evidence)) < rounded(floor):
            verdict = replace(verdict, route="review", reasons=(*verdict.reasons, "LOW_CONFIDENCE"))
    return verdict


def challenge(q: Item, known: Facts, entries: Sequence[Item], knobs: Knobs) -> Verdict:
    """Gate 4: q beats champions and brings no new coverage."""
    beaten = set(known.wins.values())
    leaving = [r for r in entries if r.id in beaten]
    after = [r for r in entries if r.id not in beaten] + [q]
    keep_both = Verdict(q.id, "KEEP-BOTH", "direct", ("SPLIT_OR_FLOOR",), known)
    roles = roles_of([*entries, q], knobs)
    for r in leaving:
        if not caps(r, knobs) <= caps(q, knobs) or r.id in roles:
            return keep_both
    for r in leaving:
        for c in caps(r, knobs):
            if coverers(c, after, knobs) < knobs.floor(c):
                return keep_both
    sole = [c for c in caps(q, knobs) if coverers(c, after, knobs) == 1]
    if len(sole) > knobs.concentration_cap:
        return Verdict(q.id, "REPLACE", "review", ("CONCENTRATION",), known, displaces=tuple(sorted(beaten)))
    return Verdict(q.id, "REPLACE", "direct", ("DOMINATES",), known, displaces=tuple(sorted(beaten)))


# A cycle (section 6)


def key(
    q: Item, entries: Sequence[Item], waiting: Sequence[Item], knobs: Knobs, options: Options
) -> tuple[int, int, int, int, float]:
    """key(q); the greatest is taken first."""
    won = wins(q, entries, knobs)
    open_to_q = [c for c in counting(q, knobs) if champion(c, entries, knobs) is None or c in won]
    return (
        len(new_capabilities(q, entries, knobs)),
        len(fills(q, entries, knobs, options)),
        len(open_to_q),
        len(new_combinations(q, [*entries, *waiting], knobs, options)),
        rounded(math.fsum(counting(q, knobs).values())),
    )


def cycle(
    queries: Collection[Item], residents: Collection[Item], knobs: Knobs, options: Options, sim: Similarity
) -> list[Verdict]:
    """The verdicts, in the order in which the queries were taken."""
    entries = in_admission_order(residents)
    waiting: list[Item] = []
    left = list(queries)
    verdicts = []
    while left:
        keys = {q.id: key(q, entries, waiting, knobs, options) for q in left}
        greatest = max(keys.values())
        q = min((q for q in left if keys[q.id] == greatest), key=lambda candidate: candidate.id)
        left = [other for other in left if other.id != q.id]
        verdict = turn(q, entries, waiting, knobs, options, sim)
        if "REDUNDANT" in verdict.reasons:
            calls = close_calls(q, entries, waiting, knobs, options, sim)
            verdict = replace(verdict, close_calls=tuple(calls))
        verdicts.append(verdict)
        if verdict.decision != "EXCLUDE" and verdict.route == "direct":
            entries.append(q)
        elif verdict.decision != "EXCLUDE" and q.familiar:
            waiting.append(q)
    return verdicts


def turn(
    q: Item, entries: Sequence[Item], waiting: Sequence[Item], knobs: Knobs, options: Options, sim: Similarity
) -> Verdict:
    """The verdict at q's turn: it waits behind others that a person is asked about anyway, if they offer as much."""
    known = facts(q, entries, knobs, options, sim, waiting)
    verdict = decide(q, known, entries, knobs, options)
    asks = verdict.decision != "EXCLUDE" and verdict.route == "review"
    if asks and q.familiar and known.met_by and not known.wins:
        return Verdict(q.id, "EXCLUDE", "direct", ("REDUNDANT",), known, alternate_of=known.met_by)
    return verdict


def close_calls(
    q: Item, entries: Sequence[Item], waiting: Sequence[Item], knobs: Knobs, options: Options, sim: Similarity
) -> list[tuple[str, float]]:
    """What would have given q merit if it were TRUE at the bar, with its P; the likeliest first."""
    found = []
    possible: dict[str, tuple[float, tuple[str, ...]]] = {}
    for c in sorted(q.scores):
        if rounded(q.scores[c]) < rounded(knobs.bar(c)):
            possible[c] = (q.scores[c], ())
    for c, (probability, instead_of) in (possible | dict(q.doubts)).items():
        if rounded(probability) < rounded(options.close_call):
            continue
        scores = {name: score for name, score in q.scores.items() if name not in instead_of}
        other = replace(q, scores=scores | {c: max(knobs.bar(c), probability)})
        if turn(other, entries, waiting, knobs, options, sim).decision != "EXCLUDE":
            found.append((c, probability))
    return sorted(found, key=lambda call: -rounded(call[1]))


def set_after(
    queries: Collection[Item], residents: Collection[Item], verdicts: Sequence[Verdict], moment: Callable[[int], Moment]
) -> list[Item]:
    """R with the direct admissions in it; the n-th one (from 0) enters at ``moment(n)``. There is no ceiling here."""
    by_id = {q.id: q for q in queries}
    direct = [v for v in verdicts if v.route == "direct" and v.decision != "EXCLUDE"]
    entered = [replace(by_id[v.id], admitted_at=moment(place), displaces=v.displaces) for place, v in enumerate(direct)]
    return in_admission_order([*residents, *entered])


# Expected detection (section 4), in fractions: exact, until a result is rounded


def faults(x: Item, knobs: Knobs, options: Options) -> set[Combination]:
    """The sets that ΔD(x) sums up."""
    most = 2 if options.novelty == "signature" else options.novelty
    combinable = caps(x, knobs) - (options.base if most > 1 else frozenset())
    return {frozenset(chosen) for size in range(1, most + 1) for chosen in subsets(combinable, size)}


def missed(fault: Combination, entries: Collection[Item], options: Options) -> Fraction:
    """The chance that no entry shows the fault: 1 − f."""
    chance = Fraction(1)
    for r in entries:
        exercised = math.prod(Fraction(rounded(r.scores.get(c, 0.0))) for c in fault)
        chance *= 1 - Fraction(options.flakiness) * exercised
    return chance


def exchange(
    entering: Collection[Item], leaving: Collection[Item], entries: Collection[Item], knobs: Knobs, options: Options
) -> float:
    """ΔD of an exchange, over all sets of what comes and what goes."""
    after = [r for r in entries if r not in leaving] + [*entering]
    concerned = frozenset[Combination]().union(*(faults(x, knobs, options) for x in (*entering, *leaving)))
    return rounded(float(sum(missed(fault, entries, options) - missed(fault, after, options) for fault in concerned)))


def taken_away(entries: Collection[Item], knobs: Knobs, options: Options) -> dict[str, float]:
    """ΔD(r) of each entry."""
    return {r.id: -exchange([], [r], entries, knobs, options) for r in entries}


# Curator (section 7)


def pinned(entries: Collection[Item], knobs: Knobs) -> dict[str, tuple[str, ...]]:
    """Who may not be evicted: ``person`` first, then each capability whose champion, at or above the bar, it is."""
    return roles_of(in_admission_order(entries), knobs)


def roles_of(ordered: Sequence[Item], knobs: Knobs) -> dict[str, tuple[str, ...]]:
    """The roles that pin, for entries already in order of admission."""
    roles: dict[str, tuple[str, ...]] = {}
    for r in ordered:
        champions = [c for c in sorted(counting(r, knobs)) if c in caps(r, knobs) and champion(c, ordered, knobs) is r]
        reasons = (["person"] if r.pin is not None else []) + champions
        if reasons:
            roles[r.id] = tuple(reasons)
    return roles


def grounds(r: Item, entries: Collection[Item], knobs: Knobs) -> Grounds:
    """Displaced while somebody in R lists r and still covers all that r covers; redundant otherwise."""
    takers = sorted(q.id for q in entries if q.id != r.id and r.id in q.displaces and caps(r, knobs) <= caps(q, knobs))
    return Grounds(r.id, "displaced", tuple(takers)) if takers else Grounds(r.id, "redundant")


def prune(
    residents: Collection[Item],
    open: Collection[str],
    refused_grounds: Collection[Grounds],
    knobs: Knobs,
    options: Options,
    first: Sequence[str] = (),
    losses: Mapping[str, float] | None = None,
) -> list[Grounds]:
    """S, in the order in which its members join, each with its grounds; those of ``first`` are tried before others.

    ``losses`` are the ΔD of each, if they are not those in ``residents``.
    """
    entries = in_admission_order(residents)
    roles = roles_of(entries, knobs)
    why = {r.id: grounds(r, entries, knobs) for r in entries}

    if losses is None:
        losses = taken_away(entries, knobs, options)

    def order(place: int) -> tuple[int, bool, bool, float, float, int]:
        r = entries[place]
        displaced = why[r.id].kind == "displaced"
        total = rounded(math.fsum(counting(r, knobs).values()))
        before = first.index(r.id) if r.id in first else len(first)
        return (before, r.id not in open, not displaced, losses[r.id], total, place)

    chosen: list[Grounds] = []
    for place in sorted(range(len(entries)), key=order):
        r = entries[place]
        already = {suggestion.id for suggestion in chosen}
        gone = {r.id} | already
        rest = [other for other in entries if other.id not in gone]
        why[r.id] = grounds(r, [other for other in entries if other.id not in already], knobs)
        if r.id in roles or {why[r.id], grounds(r, entries, knobs)} & set(refused_grounds):
            continue
        if any(taken.kind == "displaced" and gone >= set(taken.yields_to) for taken in chosen):
            continue
        floors_hold = all(coverers(c, rest, knobs) >= knobs.floor(c) for c in caps(r, knobs))
        carried = all(any(carries(other, m, knobs, options) for other in rest) for m in combinations(r, knobs, options))
        if floors_hold and (carried or why[r.id].kind == "displaced"):
            chosen.append(why[r.id])
    return chosen


def repack(
    archived: Collection[Item], residents: Collection[Item], open: Collection[str], knobs: Knobs, options: Options
) -> tuple[str, tuple[str, ...]] | None:
    """The first repack and what it frees: most entries, then the greatest ΔD, the lowest cost, the smallest id."""
    found = []
    for a in archived:
        gone = freed(a, residents, open, knobs, options)
        if len(gone) > 1:
            change = exchange([a], [r for r in residents if r.id in gone], residents, knobs, options)
            found.append((-len(gone), -change, a.setup_cost, a.id, tuple(gone)))
    return min(found)[-2:] if found else None


def freed(q: Item, residents: Collection[Item], open: Collection[str], knobs: Knobs, options: Options) -> list[str]:
    """prune(R ∪ {q}) \\ prune(R), q the last to be admitted; what prune(R) suggests is suggested already."""
    already = [suggestion.id for suggestion in prune(residents, open, (), knobs, options)]
    losses = taken_away(residents, knobs, options) | {q.id: exchange([q], [], residents, knobs, options)}
    with_q = [suggestion.id for suggestion in prune([*residents, q], open, (), knobs, options, already, losses)]
    assert with_q[: len(already)] == already
    return [] if q.id in with_q else [id for id in with_q if id not in already]
