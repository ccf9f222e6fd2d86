"""Corrections by hand: a curator corrects tags of one query, as a change of a reviewed file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from incumbent.classifier.classify import ClassifierResult
from incumbent.classifier.corrections import Correction, contradictory, merged, obstacle, overlaid
from incumbent.classifier.model import Identity
from incumbent.consolidator.verdict import Verdict
from incumbent.curator.corrections import CorrectedText, written
from incumbent.curator.entry import CorrectedCost
from incumbent.curator.file_changes import FileChange
from incumbent.curator.staging import AuditStamp
from incumbent.errors import InputError, Problem
from incumbent.intake.query import Query
from incumbent.pipeline.matching import settle
from incumbent.pipeline.review import ClassifiedSubmission, Platform, judge
from incumbent.pipeline.submission import Submission
from incumbent.taxonomy.model import ShortNames, Taxonomy, UnknownCapabilityError
from incumbent.text.compare import text_key
from incumbent.text.did_you_mean import did_you_mean

SIGNS = {"+": True, "-": False, "\u2212": False}


@dataclass(frozen=True, kw_only=True)
class CorrectionPlan:
    """What a correction of ``query`` to ``values``, or to a ``cost``, writes, and its ``verdicts`` before and after.

    No verdict rests on a cost.  A query that an ``entry`` or a tombstone already decides has none either: its entry
    follows when it is classified again.  ``others`` are the other queries of the eval set whose verdicts change with
    it, before and after.
    """

    query: Query
    file_change: FileChange
    entry: str | None
    values: Mapping[str, bool] = field(default_factory=dict)
    cost: CorrectedCost | None = None
    verdicts: tuple[Verdict, Verdict] | None = None
    others: Sequence[tuple[Verdict, Verdict]] = ()


def query_called(submission: Submission, name: str) -> Query:
    """The query ``name`` of ``submission``; raises :class:`InputError` if there is none."""
    found = {query.id: query for query in submission.queries}
    if name not in found:
        message = f"there is no such query{did_you_mean(name, found)}"
        raise InputError([Problem(name, None, message, "take an id that `incumbent review` shows")])
    return found[name]


def values_said(tags: Sequence[str], taxonomy: Taxonomy) -> dict[str, bool]:
    """Capability → value, from ``tags`` such as ``+oauth``; raises one :class:`InputError` with every fault."""
    names = ShortNames(taxonomy)
    values: dict[str, bool] = {}
    problems: list[Problem] = []
    for tag in (f"-{item[1:]}" if SIGNS.get(item[:1]) is False else item for item in tags):
        sign, name = SIGNS.get(tag[:1]), tag[1:].strip().strip("`")
        if sign is None or not name:
            fix = "write +CAPABILITY where the query exercises it, -CAPABILITY where it does not"
            problems.append(Problem(tag, None, "it is no tag to correct", fix))
            continue
        try:
            capability = names.find(name)
        except UnknownCapabilityError as error:
            problems.append(Problem(tag, None, str(error), "take an id of taxonomy/taxonomy.yaml"))
            continue
        if values.setdefault(capability, sign) != sign:
            problems.append(Problem(tag, None, f"both + and - are said of {capability}", "keep one of the two"))
    together = contradictory(taxonomy, values)
    if together:
        message = f"a query exercises one of {', '.join(together)}, and no more"
        problems.append(Problem(together[0], None, message, "keep one of them"))
    if problems:
        raise InputError(problems)
    return values


def plan_cost(
    platform: Platform,
    submission: Submission,
    query: Query,
    cost: CorrectedCost,
    existing: tuple[CorrectedText | None, str | None],
) -> CorrectionPlan:
    """The plan that corrects the cost of ``query`` of ``submission``.

    ``existing`` are earlier corrections of its text by hand, with the text of that file.
    """
    known, text = existing
    corrected = CorrectedText(turns=query.turns, tags={} if known is None else known.tags, cost=cost)
    settled = settle([submission], platform.regression_set).settled.get(query.id)
    return CorrectionPlan(
        query=query,
        file_change=written(corrected, text),
        entry=None if settled is None else settled.id,
        cost=cost,
    )


def plan_correction(
    platform: Platform,
    submission: Submission,
    result: ClassifierResult,
    identity: Identity,
    query: Query,
    values: Mapping[str, bool],
    existing: tuple[CorrectedText | None, str | None],
    occasion: AuditStamp,
    reason: str | None,
) -> CorrectionPlan:
    """The plan that corrects ``query`` of ``submission``, which the classifier judged as ``result``, to ``values``.

    ``existing`` are earlier corrections of its text by hand, with the text of that file.  Raises :class:`InputError`
    with every value that cannot apply, and if the query could not be classified.
    """
    found = result.classifications.get(query.id)
    if found is None:
        why = result.shortfalls.get(query.id, "the classifier did not get to it")
        raise InputError([Problem(query.id, None, f"it is not classified: {why}", "run again, or see the endpoint")])
    whys = [obstacle(found, platform.taxonomy, name, value) for name, value in values.items()]
    problems = [
        Problem(query.file, query.line, f"{query.id}: {why}", "take that tag out, or change what the rule reads")
        for why in whys
        if why is not None
    ]
    if problems:
        raise InputError(problems)
    known, text = existing
    tags = {} if known is None else dict(known.tags)
    kept = overlaid(platform.taxonomy, {name: item.value for name, item in tags.items()}, values)
    said = {
        name: Correction(value=value, by=occasion.by, at=occasion.at, reason=reason) for name, value in values.items()
    }
    corrected = CorrectedText(
        turns=query.turns,
        tags={name: item for name, item in sorted((tags | said).items()) if name in kept},
        cost=None if known is None else known.cost,
    )
    classified = [ClassifiedSubmission(submission=submission, result=result)]
    now = merged(platform.taxonomy, [platform.corrections, {text_key(query.turns): corrected.tags}])
    before = judge(platform, classified, identity)
    after = judge(replace(platform, corrections=now), classified, identity)
    settled = before.settled.get(query.id)
    was = {verdict.id: verdict for verdict in before.verdicts}
    return CorrectionPlan(
        query=query,
        file_change=written(corrected, text),
        entry=None if settled is None else settled.id,
        values=values,
        verdicts=next(((was[query.id], verdict) for verdict in after.verdicts if verdict.id == query.id), None),
        others=[
            (was[verdict.id], verdict)
            for verdict in after.verdicts
            if verdict.id != query.id and verdict.ruling != was[verdict.id].ruling
        ],
    )
