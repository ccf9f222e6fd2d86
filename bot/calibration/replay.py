"""Past verdicts again, under the config of then or another one (pure; what stood then is handed in).

The real rater and the real rule cascade judge again, in the order in which the queries were judged then.  A query comes
back by its recorded scores and its recorded similarity, since the ledger holds no texts; those of the same review that
were judged before it stand in R, or wait, as the replay has it.  What gate 7 found in the people concerned is taken
over as recorded.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from bot.config import Curation
from bot.consolidator.cycle import CycleState
from bot.consolidator.verdict import Reason, Route, Ruling
from bot.ledger.events import Shown, VerdictFacts
from bot.rater.contextualizer import LiveSet, Similarity
from bot.rater.model import RatedEntry, ScoredQuery
from bot.rater.profile import Profile
from bot.text.compare import rounded
from bot.text.digests import digest

TRUST = (
    Reason.ATTEMPT,
    Reason.PERSONAL_DATA,
    Reason.UNTRUSTED_AUTHOR,
    Reason.CUSTOMER_SHARE,
    Reason.UNSEEN,
    Reason.CONTESTED,
)
"""The codes of gate 7, which looks at who brings a query and how it is written, not at what it covers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PastSet:
    """What verdicts were judged against at one commit: R with the entries that wait for a slot, and the config."""

    residents: tuple[RatedEntry, ...]
    config: Curation


Reader: TypeAlias = Callable[[str], PastSet | None]
"""What stood at a commit; ``None`` where that cannot be read any more."""

Judged: TypeAlias = tuple[int, str, str, str, int]
"""Pull request, entry, content, base and place: what tells one verdict that was shown from others."""

_Showing: TypeAlias = tuple[str, str, str]  # when, against which base, at which head
_Told: TypeAlias = tuple[Shown, VerdictFacts]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """A verdict that was ``shown``, and what it would be.

    ``uncovered`` maps the query's capabilities with a score under the bar, which nobody in R covered competently, to
    that score; ``behind`` those in which it beat the champion, but not by the margin, to its lead (> 0).
    """

    shown: Shown
    ruling: Ruling
    uncovered: Mapping[str, float]
    behind: Mapping[str, float]

    @property
    def codes(self) -> str:
        """The ruling in codes, as :attr:`Shown.codes` has that of then."""
        return " ".join([self.ruling.decision, self.ruling.route, *self.ruling.reasons])

    @property
    def changed(self) -> bool:
        """Whether it is another verdict than the one shown."""
        return self.codes != self.shown.codes


def judged(shown: Shown) -> Judged:
    """Which verdict it is that was ``shown``."""
    return shown.pull_request, shown.entry, shown.content, shown.base, shown.place


def replay(shown: Iterable[Shown], read: Reader, config: Curation | None) -> dict[Judged, Replayed]:
    """The verdicts that were ``shown``, judged again under ``config`` (``None``: under that of then).

    Those without facts (there was no verdict), and those of a commit that cannot be read, are missing.
    """
    showings: dict[int, dict[_Showing, list[Shown]]] = defaultdict(lambda: defaultdict(list))
    for item in shown:
        showings[item.pull_request][item.at, item.base, item.head].append(item)
    found: dict[Judged, Replayed] = {}
    for _, showing in sorted(showings.items()):
        latest: list[_Told] = []
        # Of one time are showings against several bases: those come as they were recorded.
        for (_, base, _), new in sorted(showing.items(), key=lambda item: item[0][0]):
            latest = _with(latest, new)
            entries = {item.entry for item in new}
            standing = read(base)
            if standing is None:
                continue
            for each in _review(latest, standing, config or standing.config):
                if each.shown.entry in entries:
                    found[judged(each.shown)] = each
    return found


def _with(latest: Sequence[_Told], new: Sequence[Shown]) -> list[_Told]:
    """The queries of a pull request in the order of their cycle, once ``new`` was shown beside the ``latest`` of each.

    A later comment tells of what changed alone, at its place of then; the rest stands as it was, in its order.
    """
    told = {item.entry: item for item in new}
    found = [item for item in latest if item[0].entry not in told]
    for item in sorted(told.values(), key=lambda item: (item.place, item.entry)):
        if item.facts is not None:
            found.insert(item.place, (item, item.facts))
    return found


def _review(items: Sequence[_Told], standing: PastSet, config: Curation) -> list[Replayed]:
    """One cycle over ``items``, in their order; their own entries of R stand aside."""
    own = {item.entry for item, _ in items}
    queries = [
        ScoredQuery(
            id=item.entry,
            turns=(),
            scores=facts.scores,
            customer=facts.customer,
            arbitrated=frozenset(facts.arbitrated),
            familiar=facts.familiar,
        )
        for item, facts in items
    ]
    codes = {item.entry: item.codes for item, _ in items}
    live = LiveSet([_unnamed(each) for each in standing.residents if each.id not in own], queries, config)
    moment = CycleState(live, config, lambda query, facts, ruling, admitted: _doubted(ruling, codes[query.id]), ())
    found: list[Replayed] = []
    for (item, told), query in zip(items, queries, strict=True):
        profile = live.profile(query)
        _, ruling = moment.judge(query, profile, Similarity(told.similarity, told.most_similar))
        uncovered, behind = _shortfalls(live, profile)
        found.append(Replayed(shown=item, ruling=ruling, uncovered=uncovered, behind=behind))
        moment.follow(query, profile, ruling)
    return found


def _unnamed(resident: RatedEntry) -> RatedEntry:
    """``resident`` with its customer as the ledger has it."""
    return replace(resident, customer=None if resident.customer is None else digest(resident.customer))


def _doubted(ruling: Ruling, codes: str) -> Ruling:
    """``ruling``, or for a direct admission the same on the review route, with the doubts that ``codes`` tell of."""
    doubts = [reason for reason in TRUST if reason in codes.split()]
    if not doubts or not ruling.decision.admits or ruling.route is Route.REVIEW:
        return ruling
    return Ruling(ruling.decision, Route.REVIEW, (*ruling.reasons, *doubts))


def _shortfalls(live: LiveSet, profile: Profile) -> tuple[dict[str, float], dict[str, float]]:
    """Where a knob alone kept the query from merit: capabilities under the bar, and leads within the margin."""
    known = live.capabilities
    uncovered: dict[str, float] = {}
    behind: dict[str, float] = {}
    for index, score in sorted(profile.items):
        champion = live.champions[index]
        if not profile.caps >> index & 1 and not live.covered >> index & 1:
            uncovered[known.names[index]] = score
        lead = 0.0 if champion is None else rounded(score - champion.score(index))
        if 0 < lead <= rounded(known.margins[index]):
            behind[known.names[index]] = lead
    return uncovered, behind
