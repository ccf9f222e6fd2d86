"""When a triage stops looking: each representative is judged as its turn comes, until many in a row bring no merit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from incumbent.consolidator.cycle import CycleState
from incumbent.consolidator.verdict_engine import doubt_text
from incumbent.rater.contextualizer import LiveSet, without_merit
from incumbent.rater.model import ScoredQuery, Similarity
from incumbent.rater.similarity import nearest_of
from incumbent.taxonomy.config import Curation


class StoppingRule:
    """Follows the representatives in the order in which they are looked at (pure).

    ``live`` is R before the triage; it grows by those that would enter, or wait for a person, if each were judged at
    its turn.  ``most`` is how many in a row may bring nothing; with ``None`` all representatives are looked at.
    """

    def __init__(self, live: LiveSet, config: Curation, most: int | None) -> None:
        self._state = CycleState(live, config, doubt_text, [])
        self._most = math.inf if most is None else most
        # The position after the last one that brought something; how many since then have no classification; and the
        # position after the last one that was looked at.
        self._gained = 0
        self._lacking = 0
        self.looked = 0

    def wants(self, names: Sequence[str], score: float) -> bool:
        """Whether a query would bring something now that exercised these capabilities alone, competently, with this
        ``score`` or the bar.
        """
        state = self._state
        scores = {name: max(score, state.config.competence_bar(name)) for name in names}
        query = ScoredQuery(id="", turns=("",), scores=scores)
        profile = state.live.profile(query)
        return state.verdict(query, profile, Similarity(0.0, None)).decision.admits

    def follow(self, rows: Iterable[tuple[int, ScoredQuery | None]], end: int) -> bool:
        """Look at the positions before ``end`` that follow; whether looking is over, and only ``looked`` count.

        ``rows`` are those with merit against R, by position, and ``None`` for each that could not be classified: it may
        have merit, so it does not count as one without.
        """
        for position, query in rows:
            if position >= self._end:
                break
            if query is None:
                self._lacking += 1
            elif self.brings(query):
                self._gained, self._lacking = position + 1, 0
        over = end >= self._end
        self.looked = int(self._end) if over else end
        return over

    @property
    def _end(self) -> float:
        return self._gained + self._lacking + self._most

    def brings(self, query: ScoredQuery) -> bool:
        """Judge ``query`` at its turn: whether it enters, or waits for a person."""
        live = self._state.live
        profile = live.profile(query)
        if without_merit(live.key(profile)):
            return False
        verdict = self._state.verdict(query, profile, nearest_of(profile, live.members))
        self._state.follow(query, profile, verdict.ruling)
        return verdict.decision.admits
