"""The archive: queries of eval sets that were excluded, since R had what they would bring (semantics, section 7)."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from bot.classifier.model import Identity
from bot.curator.entry import Admitted, Entry
from bot.curator.staging import AuditStamp, entry_of
from bot.pipeline.matching import settle
from bot.pipeline.review import ClassifiedSubmission, Platform, candidate_of, under_corrections
from bot.rater.contextualizer import LiveSet, without_merit


def archived_entries(
    platform: Platform,
    classified: Iterable[ClassifiedSubmission],
    identity: Identity,
    occasion: AuditStamp,
    left_out: Collection[str] = (),
) -> dict[str, Entry]:
    """The entry that each archived query of ``classified`` would have, by id.

    Archived are undecided queries without merit against R and the waitlist.  Those on which a person has the last word
    are left out: queries that argue with the classifier, that it does not know the like of, or that contain personal
    data.  So are those named in ``left_out``.
    """
    known, taxonomy, config = platform.regression_set, platform.taxonomy, platform.config
    present = (*known.residents(taxonomy, identity)[0], *known.in_line(taxonomy, identity)[0])
    live = LiveSet.knowing(taxonomy.by_id, present, config)
    admitted = Admitted(at=occasion.at, decision="EXCLUDE", route="direct", reasons=("REDUNDANT",))
    found: dict[str, Entry] = {}
    for item in classified:
        submission = item.submission
        result = under_corrections(platform, submission.queries, item.result)
        targets = settle([submission], known).targets
        queries = {
            query.id: query
            for query in submission.queries
            if query.id in targets and targets[query.id] not in known.on_record
        }
        for said in result.classifications:
            query = queries.get(said.query_id)
            if query is None or query.id in left_out:
                continue
            scored = platform.rate(said, query, submission.customer)
            if scored.attempt or scored.personal or not scored.familiar or not scored.scores:
                continue
            if without_merit(live.key(live.profile(scored))):
                id = targets[query.id]
                candidate = candidate_of(platform, submission, query, scored, id, occasion.commit)
                found[id] = entry_of(candidate, admitted, taxonomy, identity)
    return found
