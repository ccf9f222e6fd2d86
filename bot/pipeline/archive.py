"""The archive: queries of eval sets that were excluded, since R had what they would bring (semantics, section 7)."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from bot.classifier.corrections import values_of
from bot.classifier.model import Identity
from bot.curator.entry import Admitted, Entry, Source
from bot.curator.staging import AdmissionCandidate, AuditStamp, entry_of
from bot.pipeline.matching import settle
from bot.pipeline.review import ClassifiedSubmission, Platform, under_corrections
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
            query.id: query for query in submission.queries if targets.get(query.id, "") not in {"", *known.on_record}
        }
        for said in result.classifications:
            query = queries.get(said.query_id)
            if query is None or query.id in left_out:
                continue
            scored = platform.rate(said, query, submission.customer)
            if scored.attempt or scored.personal or not scored.familiar or not scored.scores:
                continue
            if without_merit(live.key(live.profile(scored))):
                candidate = AdmissionCandidate(
                    query=query,
                    scored=scored,
                    source=Source(
                        customer=submission.customer,
                        agent=submission.agent,
                        eval_set=query.file,
                        item=submission.item(query.id),
                        commit=occasion.commit,
                    ),
                    entry_id=targets[query.id],
                    corrected=values_of(platform.corrections_of(query.turns)),
                )
                found[candidate.entry_id] = entry_of(candidate, admitted, taxonomy, identity)
    return found
