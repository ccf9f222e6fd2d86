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
    if knobs.recency is None or capability in item.by_rule or not isinstance(item.admitted_at, str):
        return rounded(score)
    days = [datetime.fromisoformat(str(entry.admitted_at)) for entry in entries if str(entry.admitted_at)[:1] == "2"]
    if item.admitted_at[:1] != "2":
        return rounded(score)
    age = (max(days) - datetime.fromisoformat(item.admitted_at)) / timedelta(days=1)
    return rounded(rounded(score) * 2 ** (-age / knobs.recency))


def may_win(item: Item, knobs: Knobs) -> frozenset[str]:
    """The capabilities in which the item may win, or be champion."""
    found = caps(item, knobs) if knobs.win_needs_bar else frozenset(counting(item, knobs))
    return found if knobs.rule_values == "scored" else found - item.by_rule


def champion(
    capability: str, entries: Sequence[Item], knobs: Knobs, worth: Callable[..., float] = strength
) -> Item | None:
    """Highest score, as much as it is ``worth``; ties: more competent capabilities, then the order of admission."""
    best: Item | None = None
    for entry in entries:
        if capability not in may_win(entry, knobs):
            continue
        if best is None:
            best = entry
            continue
        mine, theirs = (worth(one, capability, entries, knobs) for one in (entry, best))
        if mine > theirs or (mine == theirs and len(caps(entry, knobs)) > len(caps(best, knobs))):
            best = entry
    return best


def plain(item: Item, capability: str, entries: Sequence[Item], knobs: Knobs) -> float:
    """cs, whatever the age: by it a champion is pinned."""
    return rounded(item.scores[capability])


def new_capabilities(q: Item, entries: Sequence[Item], knobs: Knobs) -> frozenset[str]:
    """newCaps(q)."""
    return frozenset(c for c in caps(q, knobs) if not any(c in caps(r, knobs) for r in entries))


def fills(q: Item, entries: Sequence[Item], knobs: Knobs, options: Options) -> frozenset[str]:
    """fills(q): covered by somebody, by too few, and by nobody of the same customer, unless anybody may fill it."""
    found = set()
    for c in caps(q, knobs) if options.fill_floor else ():
        covering = [r for r in entries if c in caps(r, knobs)]
        own = any(r.customer == q.customer for r in covering)
        if 1 <= len(covering) < knobs.floor(c) and (c in options.fill_from_any or not own):
            found.add(c)
    return frozenset(found)


def wins(q: Item, entries: Sequence[Item], knobs: Knobs) -> dict[str, str]:
    """wins(q), each with the champion it beats."""
    found = {}
    for c in sorted(may_win(q, knobs)):
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
    competent = caps(x, knobs) if options.novelty == 1 else caps(x, knobs) - options.uncombinable
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
    missing = new_combinations(q, [*entries, *waiting], knobs, options)
    likeness, who = most_similar(q, entries, sim)
    return Facts(
        fills={c: coverers(c, entries, knobs) for c in sorted(fills(q, entries, knobs, options))},
        competent=tuple(sorted(caps(q, knobs))),
        new_capabilities=tuple(sorted(new_capabilities(q, entries, knobs))),
        new_combinations=tuple(sorted(tuple(sorted(m)) for m in missing)),
        wins=wins(q, entries, knobs),
        max_similarity=likeness,
        most_similar=who,
    )


# Verdict engine (section 5)


def coverers(capability: str, entries: Sequence[Item], knobs: Knobs) -> int:
    """How many competently cover the capability."""
    return sum(capability in caps(r, knobs) for r in entries)


def decide(q: Item, known: Facts, entries: Sequence[Item], knobs: Knobs, options: Options) -> Verdict:
    """Gates 0 to 6. R is consulted only about E and its capabilities (gate 4)."""
    verdict = gates(q, known, entries, knobs, options)
    if q.familiar or (verdict.decision == "EXCLUDE" and "CLONE" in verdict.reasons):
        return verdict
    return replace(verdict, route="review", reasons=(*verdict.reasons, "UNFAMILIAR"))


def gates(q: Item, known: Facts, entries: Sequence[Item], knobs: Knobs, options: Options) -> Verdict:
    """Gates 0 to 6, but for familiarity."""

    def exclude(reason: str) -> Verdict:
        return Verdict(q.id, "EXCLUDE", "direct", (reason,), known)

    if not set(q.scores) - q.arbitrated:
        return exclude("OFF_TAXONOMY")
    if rounded(known.max_similarity) >= rounded(knobs.clone_cutoff):
        if options.clone_rescue and known.new_capabilities:
            return Verdict(q.id, "INCLUDE", "review", ("CLONE", "NEW_COVERAGE"), known)
        return exclude("CLONE")
    if not known.new_capabilities and not known.fills and not known.wins and not known.novel:
        return exclude("REDUNDANT")
    evidence: Collection[str]
    if known.new_capabilities:
        evidence, verdict = known.new_capabilities, Verdict(q.id, "INCLUDE", "direct", ("NEW_COVERAGE",), known)
    elif known.fills:
        evidence, verdict = known.fills, Verdict(q.id, "INCLUDE", "direct", ("FILLS_FLOOR",), known)
    elif known.wins:
        evidence, verdict = known.wins, challenge(q, known, entries, knobs)
    else:
        return Verdict(q.id, "INCLUDE", "review", ("NOVEL_COMBO",), known)
    whole = options.honesty_scope == "all"
    score = max(counting(q, knobs).values()) if whole else min(q.scores[c] for c in evidence)
    if verdict.route == "direct" and rounded(score) < rounded(knobs.honesty_floor):
        return replace(verdict, route="review", reasons=(*verdict.reasons, "LOW_CONFIDENCE"))
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
    if knobs.rule_values == "scored":
        open_to_q = [c for c in counting(q, knobs) if champion(c, entries, knobs) is None or c in won]
    else:
        open_to_q = [c for c in may_win(q, knobs) if champion(c, entries, knobs) is None or c in won]
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
    """The verdicts, each in the order of its last turn: waiting queries and alternates are looked at again."""
    entries = in_admission_order(residents)
    last: list[Verdict] = []
    left = list(queries)
    while True:
        before = len(entries)
        found, waiting = once(left, entries, knobs, options, sim)
        again = {v.id for v in found if v.route == "review" or v.alternate_of} if len(entries) > before else set()
        last += [v for v in found if v.id not in again]
        left = [q for q in left if q.id in again]
        if not left:
            break
    calls = close_calls(queries, last, entries, waiting, knobs, options)
    return [replace(v, close_call=calls.get(v.id)) for v in last]


def once(
    queries: Collection[Item], entries: list[Item], knobs: Knobs, options: Options, sim: Similarity
) -> tuple[list[Verdict], list[Item]]:
    """The verdicts in the order in which the queries were taken, and those that wait; ``entries`` grows."""
    waiting: list[Item] = []
    left = list(queries)
    verdicts = []
    while left:
        keys = {q.id: key(q, entries, offering(waiting), knobs, options) for q in left}
        greatest = max(keys.values())
        q = min((q for q in left if keys[q.id] == greatest), key=lambda each: (each.setup_cost, each.id))
        left = [other for other in left if other.id != q.id]
        verdict = turn(q, entries, waiting, knobs, options, sim)
        verdicts.append(verdict)
        if verdict.decision != "EXCLUDE" and verdict.route == "direct":
            entries.append(q)
        elif verdict.route == "review":
            waiting.append(q)
    return verdicts, waiting


def offering(waiting: Sequence[Item]) -> list[Item]:
    """Those that offer something: an unfamiliar query offers nothing."""
    return [w for w in waiting if w.familiar]


def turn(
    q: Item,
    entries: Sequence[Item],
    waiting: Sequence[Item],
    knobs: Knobs,
    options: Options,
    sim: Similarity,
    unseen: bool = False,
) -> Verdict:
    """The verdict at q's turn: it waits behind others that a person is asked about anyway, if they offer as much.

    One that is ``unseen`` does not enter directly (gate 7).
    """
    offers = offering(waiting)
    known = facts(q, entries, knobs, options, sim, offers)
    verdict = decide(q, known, entries, knobs, options)
    if unseen and verdict.decision != "EXCLUDE":
        verdict = replace(verdict, route="review", reasons=(*verdict.reasons, "UNSEEN"))
    if verdict.route == "direct" and (verdict.decision != "EXCLUDE" or verdict.reasons != ("REDUNDANT",)):
        return verdict

    needed = new_capabilities(q, entries, knobs) | fills(q, entries, knobs, options)
    lacking_in_r = new_combinations(q, entries, knobs, options)
    lacking = new_combinations(q, [*entries, *offers], knobs, options)
    stands = {
        c
        for c in known.wins
        if all(
            rounded(q.scores[c]) > rounded(rounded(w.scores[c]) + knobs.margin(c))
            for w in offers
            if c in may_win(w, knobs)
        )
    }

    def in_the_way(w: Item) -> bool:
        return any(
            c in may_win(w, knobs) and rounded(q.scores[c]) <= rounded(rounded(w.scores[c]) + knobs.margin(c))
            for c in known.wins
        )

    def offer(w: Item) -> bool:
        return bool(caps(w, knobs) & needed) or any(carries(w, m, knobs, options) for m in lacking_in_r)

    def behind(reason: str, first: Collection[str] = ()) -> Verdict:
        names = [w.id for w in waiting if w.id in first or (w in offers and (offer(w) or in_the_way(w)))]
        return Verdict(q.id, "EXCLUDE", "direct", (reason,), known, alternate_of=tuple(names))

    covered = frozenset(c for w in offers for c in caps(w, knobs))
    clones = [
        w.id
        for w in waiting
        if rounded(sim(text_of(q), text_of(w))) >= rounded(knobs.clone_cutoff)
        and needed <= covered | caps(w, knobs)
        and all(carries(w, m, knobs, options) for m in lacking)
    ]
    if clones and not stands:
        return behind("CLONE", clones)
    if not q.familiar:
        return verdict
    if verdict.decision == "EXCLUDE":
        return behind("REDUNDANT")
    if not lacking and stands <= needed and needed <= covered:
        return behind("REDUNDANT")
    return verdict


Piece = tuple[str, ...]


def close_calls(
    queries: Collection[Item],
    verdicts: Sequence[Verdict],
    entries: Sequence[Item],
    waiting: Sequence[Item],
    knobs: Knobs,
    options: Options,
) -> dict[str, tuple[Piece, float]]:
    """The queries that are listed, each with the piece that is shown."""
    by_id = {q.id: q for q in queries}
    offers = offering(waiting)
    candidates = []
    for v in verdicts:
        if v.decision == "EXCLUDE" and v.route == "direct" and v.reasons == ("REDUNDANT",) and not v.alternate_of:
            found = pieces(by_id[v.id], entries, offers, knobs, options)
            ranked = sorted(found, key=lambda piece: (-found[piece], len(piece), piece))
            if ranked and found[ranked[0]] >= rounded(options.close_call):
                candidates.append((-found[ranked[0]], v.id, ranked, found))
    listed: dict[str, tuple[Piece, float]] = {}
    offered: set[Piece] = set()
    for _, id, ranked, found in sorted(candidates, key=lambda candidate: candidate[:2]):
        left = [piece for piece in ranked if found[piece] >= rounded(options.close_call) and piece not in offered]
        if left:
            listed[id] = left[0], found[left[0]]
            offered |= {piece for piece in ranked if found[piece] >= rounded(options.close_call / 2)}
    return listed


def pieces(
    q: Item, entries: Sequence[Item], offers: Sequence[Item], knobs: Knobs, options: Options
) -> dict[Piece, float]:
    """The new pieces of q, each with its likelihood; only those that are not impossible."""
    sure = caps(q, knobs)
    likely = {c: rounded(score) for c, score in counting(q, knobs).items() if c not in sure}
    likely |= {c: rounded(p) for c, (p, _) in q.doubts.items() if c not in knobs.trial}
    never = {frozenset((c, other)) for c, (_, others) in q.doubts.items() for other in others}
    found: dict[Piece, float] = {}
    for c, p in likely.items():
        if p > 0 and not any(c in caps(w, knobs) for w in offers):
            other = replace(q, scores={**q.scores, c: 1.0})
            if c in new_capabilities(other, entries, knobs) | fills(other, entries, knobs, options):
                found[(c,)] = p
    if options.novelty == "signature":
        return found
    possible = sorted(c for c in likely if likely[c] > 0)
    for size in range(1, options.novelty + 1):
        for chosen in subsets(possible, size):
            if any(frozenset(pair) in never for pair in subsets(chosen, 2)):
                continue
            left = {c for c in sure if not any(frozenset((c, each)) in never for each in chosen)}
            scores = {c: q.scores[c] for c in left} | dict.fromkeys(chosen, 1.0)
            likelihood = 1.0
            for c in chosen:
                likelihood *= likely[c]
            for m in combinations(replace(q, scores=scores), knobs, options):
                if set(chosen) <= m and not any(carries(r, m, knobs, options) for r in [*entries, *offers]):
                    found[tuple(sorted(m))] = rounded(likelihood)
    return found


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
    combinable = caps(x, knobs) - (options.uncombinable if most > 1 else frozenset())
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
        champions = [
            c for c in sorted(counting(r, knobs)) if c in caps(r, knobs) and champion(c, ordered, knobs, plain) is r
        ]
        reasons = (["person"] if r.pin is not None else []) + champions
        if reasons:
            roles[r.id] = tuple(reasons)
    return roles


def grounds(r: Item, entries: Collection[Item], knobs: Knobs, options: Options) -> Grounds:
    """Displaced, with ``signature`` alone, while somebody in R lists r and still covers all of it; else redundant."""
    if options.novelty != "signature":
        return Grounds(r.id, "redundant")
    takers = sorted(q.id for q in entries if q.id != r.id and r.id in q.displaces and caps(r, knobs) <= caps(q, knobs))
    return Grounds(r.id, "displaced", tuple(takers)) if takers else Grounds(r.id, "redundant")


def class_by_results(r: Item, options: Options) -> int:
    """The place of the entry's class, by results of releases."""
    ran, failed = r.results.ran, r.results.failed
    if ran >= options.trusted and failed == 0:
        return 1
    if failed == 0:
        return 2
    return 3 if failed == ran else 4


def prune(
    residents: Collection[Item],
    open: Collection[str],
    refused_grounds: Collection[Grounds],
    knobs: Knobs,
    options: Options,
    first: Sequence[str] = (),
    losses: Mapping[str, float] | None = None,
    filled: bool = True,
) -> list[Grounds]:
    """S, in the order in which its members join, each with its grounds; those of ``first`` are tried before others.

    ``losses`` are the ΔD of each, if they are not those in ``residents``.  Unless ``filled``, ``fill_to`` is ignored.
    """
    entries = in_admission_order(residents)
    roles = roles_of(entries, knobs)
    why = {r.id: grounds(r, entries, knobs, options) for r in entries}

    if losses is None:
        losses = taken_away(entries, knobs, options)

    def order(place: int) -> tuple[int, bool, bool, int, float, float, int]:
        r = entries[place]
        displaced = why[r.id].kind == "displaced"
        total = rounded(math.fsum(counting(r, knobs).values()))
        before = first.index(r.id) if r.id in first else len(first)
        shown = class_by_results(r, options)
        return (before, r.id not in open, not displaced, shown, losses[r.id], total, place)

    least = math.ceil(rounded((options.fill_to or 0.0) * options.ceiling))
    chosen: list[Grounds] = []
    for place in sorted(range(len(entries)), key=order):
        r = entries[place]
        already = {suggestion.id for suggestion in chosen}
        gone = {r.id} | already
        rest = [other for other in entries if other.id not in gone]
        why[r.id] = grounds(r, [other for other in entries if other.id not in already], knobs, options)
        if r.id in roles or {why[r.id], grounds(r, entries, knobs, options)} & set(refused_grounds):
            continue
        is_enough = filled and options.fill_to is not None and len(entries) - len(chosen) <= least
        if is_enough and why[r.id].kind == "redundant":
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


def exchanges(
    waiting: Sequence[Item],
    archived: Collection[Item],
    residents: Collection[Item],
    open: Collection[str],
    most: int,
    knobs: Knobs,
    options: Options,
) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Each exchange: who enters, what it frees, and whose exchanges it rests on.

    First swaps, then repacks, then top-ups; of each kind the best, then all again with it applied.  What it admits
    stays, and what prune(R) suggests counts as open.
    """
    opened = {*open, *(each.id for each in prune(residents, open, (), knobs, options))}
    entries, made = list(residents), list[tuple[Item, list[Item]]]()
    found: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = []
    filled = -1.0 if options.fill_to is None else rounded(options.fill_to * options.ceiling)

    def gone(q: Item) -> list[Item]:
        stays = {item.id for item, _ in made}
        by_id = {r.id: r for r in entries}
        return [by_id[id] for id in freed(q, entries, opened, knobs, options, stays)]

    def add(q: Item, leaving: list[Item]) -> None:
        nonlocal entries
        shared = {c for r in leaving for c in r.scores}
        rests = [item.id for item, those in made if shared & set(item.scores) or (not leaving and len(those) >= 2)]
        found.append((q.id, tuple(r.id for r in leaving), tuple(rests)))
        entries = [r for r in entries if r not in leaving] + [replace(q, admitted_at=f"~~{len(made):03}")]
        made.append((q, leaving))

    line = list(waiting)
    while line:
        changes = [(-exchange([q], gone(q), entries, knobs, options), place) for place, q in enumerate(line) if gone(q)]
        if not changes:
            break
        best = line.pop(min(changes)[1])
        add(best, gone(best))
    left = {a.id: a for a in archived}
    while len(entries) > filled:
        repacks = [
            (-len(gone(a)), -exchange([a], gone(a), entries, knobs, options), a.setup_cost, a.id)
            for a in left.values()
            if len(gone(a)) >= 2
        ]
        if not repacks or most == 0:
            break
        best = left.pop(min(repacks)[3])
        add(best, gone(best))
    while len(entries) < filled:
        gains = {a.id: exchange([a], [], entries, knobs, options) for a in left.values()}
        ranked = sorted((-gains[a.id], a.setup_cost, a.id) for a in left.values() if gains[a.id] > 0)
        if not ranked:
            break
        add(left.pop(ranked[0][2]), [])
    return found


def top_ups(
    archived: Collection[Item], residents: Collection[Item], most: int, knobs: Knobs, options: Options
) -> list[str]:
    """The top-ups: while too few are in R, the greatest ΔD above 0, then the lowest cost, then the smallest id."""
    entries, found = list(residents), list[str]()
    while options.fill_to is not None and len(entries) < rounded(options.fill_to * options.ceiling):
        left = [a for a in archived if a.id not in found]
        gains = {a.id: exchange([a], [], entries, knobs, options) for a in left}
        ranked = sorted((-gains[a.id], a.setup_cost, a.id) for a in left if gains[a.id] > 0)
        if not ranked or len(found) == most:
            break
        found.append(ranked[0][2])
        entries += [a for a in archived if a.id == found[-1]]
    return found


def freed(
    q: Item,
    residents: Collection[Item],
    open: Collection[str],
    knobs: Knobs,
    options: Options,
    stay: Collection[str] = (),
) -> list[str]:
    """prune(R ∪ {q}) \\ prune(R), q the last to be admitted; what prune(R) suggests is suggested already.

    ``fill_to`` is ignored.  Those of ``stay`` do.
    """
    residents = [replace(r, pin=r.pin or "stays") if r.id in stay else r for r in residents]
    suggested = [suggestion.id for suggestion in prune(residents, open, (), knobs, options)]
    all_of_it = prune(residents, open, (), knobs, options, suggested, filled=False)
    already = [suggestion.id for suggestion in all_of_it]
    losses = taken_away(residents, knobs, options) | {q.id: exchange([q], [], residents, knobs, options)}
    with_q = [suggestion.id for suggestion in prune([*residents, q], open, (), knobs, options, already, losses, False)]
    assert with_q[: len(already)] == already
    return [] if q.id in with_q else [id for id in with_q if id not in already]
