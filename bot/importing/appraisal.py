"""What the rules would have said of an imported set, had it come one query at a time as all others do (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bot.classifier.model import Identity
from bot.consolidator.cycle import run_cycle
from bot.consolidator.verdict import Verdict
from bot.curator.staging import queued
from bot.importing.plan import Item
from bot.pipeline import Platform
from bot.rater.model import ScoredQuery
from bot.submission import Submission


@dataclass(frozen=True, kw_only=True)
class Appraisal:
    """Verdicts on the imported entries, in the cycle's order and by entry, of one cycle over them against R without.

    ``origins`` tells by entry which submission brought it.  ``platform`` is as it was before the import.
    """

    platform: Platform
    origins: Mapping[str, Submission]
    verdicts: tuple[Verdict, ...]


def appraise(
    items: Sequence[Item], scored: Mapping[str, ScoredQuery], platform: Platform, identity: Identity
) -> Appraisal:
    """Judge all of ``items`` that are in R after the import, whether they were there before or not.

    So the same import says the same when it is run again.  ``scored`` are those classified now, by entry.
    """
    staying = [item for item in items if item.stays]
    own = {item.id for item in staying}
    # What nobody keeps with an entry counts for nothing now.
    queries = [
        replace(scored[item.id], customer=item.submission.customer, doubts=(), familiar=True)
        for item in staying
        if item.id in scored
    ]
    queries += [
        queued(item.before, platform.taxonomy) for item in staying if item.id not in scored and item.before is not None
    ]
    known = platform.regression_set
    residents = (*known.residents(platform.taxonomy, identity)[0], *known.in_line(platform.taxonomy, identity)[0])
    verdicts = run_cycle(queries, [resident for resident in residents if resident.id not in own], platform.config)
    return Appraisal(
        platform=platform,
        origins={item.id: item.submission for item in staying},
        verdicts=verdicts,
    )
