"""What releases said of each entry, and what that shows: failures, flips, and how much a row of passes is worth (pure).

A release is the unit: runs within one release are of the same agent, and so tell little more than one of them.  An
entry's *history* is of its present content alone, wherever that was: its id may have changed, and it may have been
evicted and restored.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from math import exp, lgamma, log, log1p
from typing import Annotated, Final

from pydantic import Field

from incumbent.curator.entry import Entry
from incumbent.curator.store import RegressionSet
from incumbent.files.validation import Score
from incumbent.ledger.agreement.statistics import ShareInterval, wilson
from incumbent.ledger.events import Amount
from incumbent.ledger.releases.record import EntryResult, ReleaseRecord, content_of
from incumbent.rater.model import ReleaseResults
from incumbent.taxonomy.config import ResultSettings

_MOST_STEPS: Final = 500
_EXACT: Final = 1e-14
_HALF: Final = 0.5
"""Jeffreys' prior for a share of which nothing is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseOutcome:
    """What one release said of an entry."""

    release: str
    result: EntryResult

    @property
    def ran(self) -> bool:
        """Whether a run told anything of the agent."""
        return bool(self.result.passed or self.result.failed)

    @property
    def failed(self) -> bool:
        """Whether a run of it failed."""
        return self.result.failed > 0

    @property
    def mixed(self) -> bool:
        """Whether runs of the same release disagree."""
        return self.result.passed > 0 and self.result.failed > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryHistory:
    """What the releases say of one entry, of its present content; counts are of releases, unless they name runs.

    ``flips`` are changes between passing and failing from one release to the next, without ``mixed`` ones, in which
    runs disagree.  ``steady`` are the last releases in a row that ended alike.  ``failure_rate`` is the expected share
    of releases in which it fails, drawn towards those of its customer and its capabilities.  ``hidden`` is the chance
    that an entry that never failed fails in more than ``results.defect_rate`` of the releases.
    """

    entry: str
    releases: Annotated[Amount, Field(description="releases in which it ran")]
    failing: Annotated[Amount, Field(description="releases in which a run of it failed")]
    interval: Annotated[ShareInterval | None, Field(description="of the share of failing releases; null: it never ran")]
    mixed: Annotated[Amount, Field(description="releases whose runs disagree")]
    flips: Annotated[Amount, Field(description="changes between passing and failing between releases")]
    flapping: Annotated[bool, Field(description="whether it changes more than `results` in the config allows")]
    steady: Annotated[Amount, Field(description="the last releases in a row that ended alike, and whose runs agree")]
    stable: Annotated[bool, Field(description="whether these are as many as `results` in the config asks for")]
    quarantined: Annotated[bool, Field(description="whether it is quarantined: exports leave it out")]
    failure_rate: Annotated[Score, Field(description="expected share of failing releases")]
    hidden: Annotated[
        Score | None, Field(description="chance of a defect that never showed; null: it failed, or never ran")
    ]
    last_failure: Annotated[str | None, Field(description="the last release in which it failed")]
    runs: Annotated[Amount, Field(description="runs that passed or failed")]
    errors: Annotated[Amount, Field(description="runs that ended in an error")]
    skipped: Annotated[Amount, Field(description="runs that were skipped")]
    seconds: Annotated[float | None, Field(description="mean duration of a run")]
    tokens: Annotated[float | None, Field(description="mean tokens of a run")]
    cost: Annotated[float | None, Field(description="mean cost of a run, as runners state it")]

    @property
    def in_effect(self) -> bool:
        """Whether it tests anything of a release: it does not flap, and is not quarantined."""
        return not (self.flapping or self.quarantined)


@dataclass(frozen=True, slots=True, kw_only=True)
class CapabilityEvidence:
    """Whether anything that covers a capability was ever able to fail."""

    capability: str
    coverers: Annotated[tuple[str, ...], Field(description="its competent coverers")]
    ran: Annotated[Amount, Field(description="coverers that ran in a release")]
    failed: Annotated[Amount, Field(description="coverers that failed in a release")]
    flapping: Annotated[Amount, Field(description="coverers that flap")]
    ineffective: Annotated[Amount, Field(description="coverers that flap or are quarantined")]
    proven: Annotated[Amount, Field(description="other coverers that failed in a release")]
    releases: Annotated[Amount, Field(description="releases in which a coverer ran")]

    @property
    def in_effect(self) -> bool:
        """Whether a coverer of it neither flaps nor is quarantined."""
        return self.ineffective < len(self.coverers)

    @property
    def is_proven(self) -> bool:
        """Whether such a coverer ever failed."""
        return self.proven > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CombinationEvidence:
    """Of the combinations that the set carries, how many anything was ever able to fail at."""

    carried: Annotated[Amount, Field(description="combinations of several capabilities that an entry carries")]
    ran: Annotated[Amount, Field(description="those with an entry that ran in a release")]
    failed: Annotated[Amount, Field(description="those with an entry that failed in a release")]
    flapping: Annotated[Amount, Field(description="those that only flapping or quarantined entries carry")]


def in_order(records: Iterable[ReleaseRecord]) -> tuple[ReleaseRecord, ...]:
    """``records`` from the oldest release to the newest."""
    return tuple(sorted(records, key=lambda item: (item.at, item.release)))


def outcomes_of(entry: Entry, records: Sequence[ReleaseRecord]) -> tuple[ReleaseOutcome, ...]:
    """What each of ``records`` says of ``entry`` as it is now; a record of another content says nothing of it."""
    content = content_of(entry)
    found = []
    for record in records:
        result = record.entries.get(entry.id)
        if result is None or result.content != content:
            # The entry may have had another id then.
            same = [item for _, item in sorted(record.entries.items()) if item.content == content]
            result = same[0] if same else None
        if result is not None:
            found.append(ReleaseOutcome(release=record.release, result=result))
    return tuple(found)


def histories(
    entries: Mapping[str, Entry], records: Sequence[ReleaseRecord], settings: ResultSettings
) -> dict[str, EntryHistory]:
    """The history of each of ``entries`` over the last releases among ``records``, which are in order."""
    last = records[-settings.window :]
    outcomes = {id: outcomes_of(entry, last) for id, entry in entries.items()}
    ran = {id: sum(1 for item in found if item.ran) for id, found in outcomes.items()}
    failing = {id: sum(1 for item in found if item.failed) for id, found in outcomes.items()}
    groups = _groups(entries)
    totals = {name: (sum(failing[id] for id in ids), sum(ran[id] for id in ids)) for name, ids in groups.items()}
    kin: dict[str, list[str]] = {id: [] for id in entries}
    for name, ids in groups.items():
        for id in ids:
            kin[id].append(name)
    return {
        id: _history(entry, outcomes[id], _prior([totals[name] for name in kin[id]], (failing[id], ran[id])), settings)
        for id, entry in entries.items()
    }


def results_in(
    known: RegressionSet, records: Sequence[ReleaseRecord], settings: ResultSettings
) -> dict[str, ReleaseResults]:
    """What the last of ``records`` showed of each entry of R, of the waitlist and of tombstones that ran in one."""
    last = records[-settings.window :]
    everyone = {**known.evicted, **known.waiting, **known.entries}
    ran = {id: [item for item in outcomes_of(entry, last) if item.ran] for id, entry in everyone.items()}
    return {id: _results(found, settings.trusted) for id, found in ran.items() if found}


def _results(ran: Sequence[ReleaseOutcome], trusted: int) -> ReleaseResults:
    if not any(item.failed for item in ran):
        return ReleaseResults.PASSED if len(ran) >= trusted else ReleaseResults.UNKNOWN
    return ReleaseResults.BOTH if any(item.result.passed for item in ran) else ReleaseResults.FAILED


def evidence(
    coverers: Mapping[str, Sequence[str]],
    known: Mapping[str, EntryHistory],
    capabilities: Iterable[str],
) -> tuple[CapabilityEvidence, ...]:
    """What the histories of their ``coverers`` say of ``capabilities``, in their order."""
    found = []
    for name in capabilities:
        ids = tuple(coverers.get(name, ()))
        items = [known[id] for id in ids if id in known]
        found.append(
            CapabilityEvidence(
                capability=name,
                coverers=ids,
                ran=sum(1 for item in items if item.releases),
                failed=sum(1 for item in items if item.failing),
                flapping=sum(1 for item in items if item.flapping),
                ineffective=sum(1 for item in items if not item.in_effect),
                proven=sum(1 for item in items if item.in_effect and item.failing),
                releases=max((item.releases for item in items), default=0),
            )
        )
    return tuple(found)


def combination_evidence(carriers: Iterable[Sequence[str]], known: Mapping[str, EntryHistory]) -> CombinationEvidence:
    """What the histories of their ``carriers`` say of combinations, each carried by at least one entry."""
    groups = [[known[id] for id in ids] for ids in carriers]
    return CombinationEvidence(
        carried=len(groups),
        ran=sum(1 for items in groups if any(item.releases for item in items)),
        failed=sum(1 for items in groups if any(item.failing for item in items)),
        flapping=sum(1 for items in groups if not any(item.in_effect for item in items)),
    )


def ever_failed(id: str, known: Mapping[str, EntryHistory]) -> bool:
    """Whether the entry ``id`` failed in a release."""
    return id in known and known[id].failing > 0


def only_failing(
    known: Mapping[str, EntryHistory], coverers: Mapping[str, Sequence[str]]
) -> dict[str, tuple[str, ...]]:
    """Entry → the capabilities that it alone, of all their ``coverers``, ever failed at; other entries are left out."""
    found: dict[str, list[str]] = {}
    for name, ids in sorted(coverers.items()):
        failing = [id for id in ids if ever_failed(id, known)]
        if len(failing) == 1:
            found.setdefault(failing[0], []).append(name)
    return {id: tuple(names) for id, names in found.items()}


def last_failing(
    known: Mapping[str, EntryHistory], coverers: Mapping[str, Sequence[str]], gone: Collection[str]
) -> dict[str, tuple[str, ...]]:
    """Capability → its ``coverers`` that ever failed, where all of these are ``gone``; others are left out."""
    failing = {name: tuple(id for id in ids if ever_failed(id, known)) for name, ids in sorted(coverers.items())}
    return {name: ids for name, ids in failing.items() if ids and set(gone).issuperset(ids)}


def _groups(entries: Mapping[str, Entry]) -> dict[str, list[str]]:
    """What entries have in common, each with their ids: a customer, a capability."""
    found: dict[str, list[str]] = {}
    for id, entry in entries.items():
        names = [f"capability {name}" for name in entry.scores]
        names += [] if entry.source is None else [f"customer {entry.source.customer}"]
        for name in names:
            found.setdefault(name, []).append(id)
    return found


def _prior(groups: Sequence[tuple[int, int]], own: tuple[int, int]) -> float:
    """The mean of the failure rates of an entry's groups without the entry itself, by Jeffreys' prior each."""
    rates = [(failed - own[0] + _HALF) / (ran - own[1] + 2 * _HALF) for failed, ran in groups]
    return sum(rates) / len(rates) if rates else _HALF


def _history(entry: Entry, outcomes: Sequence[ReleaseOutcome], prior: float, settings: ResultSettings) -> EntryHistory:
    ran = [item for item in outcomes if item.ran]
    failing = [item for item in ran if item.failed]
    # Beta(alpha, beta): as if so many releases of its kin had been seen before its own.
    alpha = settings.prior_releases * prior + len(failing)
    beta = settings.prior_releases * (1 - prior) + len(ran) - len(failing)
    results = [item.result for item in outcomes]
    return EntryHistory(
        entry=entry.id,
        releases=len(ran),
        failing=len(failing),
        interval=wilson(len(failing), len(ran)),
        mixed=_mixed(ran),
        flips=_flips(ran),
        flapping=_flaps(ran, settings),
        steady=_steady(ran),
        stable=_steady(ran) >= settings.stable,
        quarantined=entry.quarantined is not None,
        failure_rate=alpha / (alpha + beta),
        hidden=_exceeds(alpha, beta, settings.defect_rate) if ran and not failing else None,
        last_failure=failing[-1].release if failing else None,
        runs=sum(item.passed + item.failed for item in results),
        errors=sum(item.errors for item in results),
        skipped=sum(item.skipped for item in results),
        seconds=_mean((item.seconds, item.timed) for item in results),
        tokens=_mean((item.tokens, item.metered) for item in results),
        cost=_mean((item.cost, item.priced) for item in results),
    )


def _flips(outcomes: Sequence[ReleaseOutcome]) -> int:
    plain = [item.failed for item in outcomes if item.ran and not item.mixed]
    return sum(1 for before, after in pairwise(plain) if before is not after)


def _mixed(outcomes: Sequence[ReleaseOutcome]) -> int:
    return sum(1 for item in outcomes if item.mixed)


def _flaps(outcomes: Sequence[ReleaseOutcome], settings: ResultSettings) -> bool:
    return _mixed(outcomes) >= settings.mixed or _flips(outcomes) >= settings.flips


def _steady(ran: Sequence[ReleaseOutcome]) -> int:
    """How many of the last releases in a row ended alike, without one whose runs disagree."""
    kinds = [(item.mixed, item.failed) for item in reversed(ran)]
    return 0 if not kinds or kinds[0][0] else sum(1 for _ in takewhile(kinds[0].__eq__, kinds))


def _exceeds(alpha: float, beta: float, rate: float) -> float:
    """The chance that a rate drawn from Beta(``alpha``, ``beta``) exceeds ``rate``, which is in (0, 1).

    The product runs without scipy.  This is the continued fraction of DLMF 8.17.22, by Lentz's method.
    """
    if rate > (alpha + 1) / (alpha + beta + 2):
        # The fraction converges quickly on this side only.
        return 1 - _exceeds(beta, alpha, 1 - rate)
    front = exp(
        lgamma(alpha + beta) - lgamma(alpha) - lgamma(beta) + alpha * log(rate) + beta * log1p(-rate) - log(alpha)
    )
    upper, lower = 1.0, 1 / (1 - (alpha + beta) * rate / (alpha + 1))
    value = lower
    step, change = 0, 0.0
    while abs(change - 1) >= _EXACT and step < _MOST_STEPS:
        step += 1
        twice = alpha + 2 * step
        for numerator in (
            step * (beta - step) * rate / ((twice - 1) * twice),
            -(alpha + step) * (alpha + beta + step) * rate / (twice * (twice + 1)),
        ):
            lower = 1 / (1 + numerator * lower)
            upper = 1 + numerator / upper
            change = lower * upper
            value *= change
    return 1 - front * value


def _mean(parts: Iterable[tuple[float, int]]) -> float | None:
    totals, counts = zip(*parts, strict=True) if (parts := list(parts)) else ((), ())
    return sum(totals) / sum(counts) if sum(counts) else None
