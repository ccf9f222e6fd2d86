"""Whether a change that turns a verdict at the query's own turn turns it in the whole cycle, too (pure).

A change may also change what is judged before: an entry that is gone makes room for other queries, a knob judges all
of them, and a query with other scores has its turn at another time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bot.config import Curation
from bot.consolidator.changes import Absence, Change, Outcome, ScoreChange, rescored, with_knob
from bot.consolidator.cycle import run_cycle
from bot.consolidator.judging import Trust
from bot.consolidator.trust import doubt_text
from bot.rater.model import Resident, ScoredQuery


@dataclass(frozen=True, kw_only=True)
class WholeCycle:
    """The cycle over ``queries`` against ``residents``, to be judged again with a change.

    ``tick`` is called before that, and ends it by raising.
    """

    queries: Sequence[ScoredQuery]
    residents: Sequence[Resident]
    config: Curation
    trust: Trust = doubt_text
    tick: Callable[[], None] = lambda: None

    def outcome(self, id: str, change: Change) -> Outcome:
        """What becomes of the query ``id`` where everybody is judged with ``change``."""
        self.tick()
        queries, residents, config = self.queries, self.residents, self.config
        match change:
            case ScoreChange():
                queries = [rescored(each, change.capability, change.to) if each.id == id else each for each in queries]
            case Absence():
                queries = [each for each in queries if each.id != change.id]
                residents = [each for each in residents if each.id != change.id]
            case _:
                config = with_knob(config, change.knob, change.capability, change.to)
        verdicts = run_cycle(queries, residents, config, self.trust)
        return next(Outcome.of(verdict.ruling) for verdict in verdicts if verdict.id == id)
