"""Plans what an admission does to the regression set: for a whole package, or for the waitlist.

It also says what must hold first, and which entries excluded queries would have.  The caller applies the plan and
decides the time of writing; nothing here writes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from incumbent.classifier.corrections import unheeded
from incumbent.classifier.model import Backend, Classification, Identity, Progress
from incumbent.classifier.usage import Usage
from incumbent.consolidator.admissions import Answer
from incumbent.consolidator.verdict import Reason
from incumbent.curator import file_changes
from incumbent.curator.entry import Admitted, Entry, StaleEntry
from incumbent.curator.provisions import Provision, to_provision
from incumbent.curator.staging import AuditStamp, Staging, entry_of, stage_waiting
from incumbent.errors import IncompleteError, IncumbentError, InputError, Problem, untrusted_list
from incumbent.pipeline.matching import settle
from incumbent.pipeline.review import (
    ClassifiedSubmission,
    Platform,
    Review,
    candidate_of,
    classify_package,
    judge,
    stage_admissions,
    under_corrections,
)
from incumbent.pipeline.submission import Package
from incumbent.rater.contextualizer import LiveSet
from incumbent.rater.profile import Profile
from incumbent.taxonomy.config import Curation
from incumbent.text.compare import normalise, rounded


@dataclass(frozen=True, kw_only=True)
class Admission:
    """A ``staging`` to apply, and the classifications of the entries that come with it, under their ids.

    ``provisions`` are what the admitted entries need and no entry in R needs yet.  ``shortfalls`` say why queries have
    no verdict, ``problems`` are unreadable rows.  ``outcome`` has the verdicts
    behind the admissions, if a package was judged.
    """

    staging: Staging
    outcome: Review | None = None
    classified: Mapping[str, Classification] = field(default_factory=dict)
    shortfalls: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    usage: Usage | None = None
    provisions: tuple[Provision, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CallerTerms:
    """The words for a person's input in error messages: options of the command, or arguments of a tool.

    ``accept`` gives an acceptance and ``reason`` its reason; ``line`` admits entries of the waitlist.
    """

    accept: str
    reason: str
    line: str


def admit_package(
    platform: Platform,
    package: Package,
    backend: Backend,
    progress: Progress,
    now: AuditStamp,
    accepted: Sequence[str],
    reason: str | None,
    text_of: Callable[[str], str],
    words: CallerTerms,
    every: bool = False,
) -> Admission:
    """The direct admissions of ``package``, and the queries that a person ``accepted``; ``every``: and all others that
    need review, except those that would add nothing after the ones before them.

    ``reason`` is why queries whose verdict is EXCLUDE are accepted nevertheless; ``text_of`` gives the file of an entry
    that is edited; ``words`` are the caller's.  Raises :class:`InputError` for stale entries, if entries of the
    waitlist come first, and for an acceptance without effect.
    """
    classified = classify_package(platform, package, backend, progress)
    if classified.result.stopped is not None:
        # A verdict depends on all queries that are judged, and the next run continues where this one ended.  A single
        # query that cannot be classified may stay so forever, and does not block the others.
        raise classified.result.stopped
    if every:
        accepted = _every(judge(platform, [classified], backend.identity), accepted)
    answers = [
        Answer(id=id, accepts=True, by=now.by or "a person", reason=reason, insists=reason is not None)
        for id in accepted
    ]
    outcome = judge(platform, [classified], backend.identity, answers)
    refuse_stale(outcome.stale)
    _serve_the_line_first(platform, now, words)
    _refuse_without_effect(outcome, answers, words)
    texts = {entry.id: text_of(entry.id) for entry in outcome.edited.values()}
    staging = stage_admissions(outcome, texts, now)
    wanted = _wanted_in_line(platform, outcome, answers)
    if wanted:
        staging = replace(
            staging,
            waiting=(*staging.waiting, *wanted),
            file_changes=(*staging.file_changes, *map(file_changes.let_wait, wanted)),
        )
    staged = {entry.id for entry in (*staging.admitted, *staging.waiting)}
    return Admission(
        staging=staging,
        outcome=outcome,
        classified={
            outcome.targets[name]: item
            for name, item in outcome.classifications.items()
            if outcome.targets[name] in staged
        },
        shortfalls=outcome.shortfalls,
        problems=outcome.problems,
        usage=backend.usage,
        provisions=provisions_of(staging, platform),
    )


def _wanted_in_line(platform: Platform, outcome: Review, answers: Sequence[Answer]) -> tuple[Entry, ...]:
    """The entries of the waitlist that a person accepts now: they enter on any verdict once a slot is free."""
    line, found = platform.regression_set.waiting, []
    for answer in answers:
        record = outcome.settled.get(answer.id)
        if isinstance(record, Entry) and record.id in line and not record.is_wanted:
            now = record.admitted.model_copy(update={"by": answer.by})
            found.append(record.model_copy(update={"admitted": now}))
    return tuple(found)


def _every(outcome: Review, accepted: Sequence[str]) -> tuple[str, ...]:
    """``accepted``, and what else may enter of the queries of ``outcome`` that need review.

    Queries that the rules would exclude, or whose evidence is contradicted, are accepted one by one.
    """
    asked = [
        verdict.id
        for verdict in outcome.plan.waiting_for_review
        if verdict.decision.admits and Reason.CONTRADICTED not in verdict.reasons
    ]
    named = [id for id in accepted if id in outcome.scored]
    return tuple(dict.fromkeys([*accepted, *outcome.together([*dict.fromkeys([*named, *asked])])]))


def provisions_of(staging: Staging, platform: Platform) -> tuple[Provision, ...]:
    """What the entries that ``staging`` admits need, and no entry in R needs yet."""
    return to_provision({entry.id: entry.setup for entry in staging.admitted}, platform.regression_set.setups)


def entered_before(outcome: Review) -> dict[str, str]:
    """Query → the entry, in the set or on the waitlist, that already has its content."""
    return {name: record.id for name, record in outcome.settled.items() if isinstance(record, Entry)}


def admit_waiting(platform: Platform, now: AuditStamp) -> Staging:
    """The waitlist judged again: the entries that get a slot.

    Raises :class:`InputError` for entries that are stale, or that lack curators' corrections of their texts.
    """
    refuse_uncorrected(platform)
    known = platform.regression_set
    refuse_stale(known.present(platform.taxonomy)[1])
    residents, _ = known.residents(platform.taxonomy)
    return stage_waiting(tuple(known.waiting.values()), residents, platform.config, platform.taxonomy, now)


def _serve_the_line_first(platform: Platform, now: AuditStamp, words: CallerTerms) -> None:
    """Raise :class:`InputError` if an entry of the waitlist could enter: newcomers do not overtake it."""
    ready = admit_waiting(platform, now).admitted
    if ready:
        raise InputError(
            [
                Problem(
                    f"regression_set/waiting/{entry.id}.yaml",
                    None,
                    "the entry waits for a slot, and one is free",
                    f"{words.line} first",
                )
                for entry in ready
            ]
        )


def _refuse_without_effect(outcome: Review, answers: Sequence[Answer], words: CallerTerms) -> None:
    """Raise the problems of acceptances that change nothing, since the person expects an effect."""
    named = {answer.id for answer in answers}
    refuse_incomplete({id: why for id, why in outcome.shortfalls.items() if id in named}, None)

    def refused(id: str, message: str, fix: str) -> Problem:
        return Problem(f"{words.accept} {id}", None, message, fix)

    # Running the same command again, for example after an interruption, is no error: the query is admitted already.
    admitted = entered_before(outcome)
    problems = [
        refused(
            id,
            "there is no such query that is not decided yet",
            f"use one of: {untrusted_list(sorted(outcome.scored))}",
        )
        for id in dict.fromkeys(answer.id for answer in answers)
        if id not in outcome.scored and id not in admitted
    ]
    verdicts = {verdict.id: verdict for verdict in outcome.verdicts}
    for answer in outcome.derivation.unheard:
        verdict = verdicts[answer.id]
        if verdict.admitted:
            problems.append(refused(answer.id, "it is admitted already, without a person", "leave it out"))
        else:
            said = f"its verdict is EXCLUDE ({', '.join(verdict.reasons)}) after what was admitted before it"
            fix = f"leave it out, or give {words.reason} to override the verdict"
            problems.append(refused(answer.id, said, fix))
    for answer in outcome.derivation.accepted:
        if answer.reason is None and Reason.CONTRADICTED in verdicts[answer.id].reasons:
            fix = f"give {words.reason}, or leave it out"
            problems.append(refused(answer.id, "it rests on expected tool calls that are doubtful", fix))
    if problems:
        raise InputError(problems)


SHOWN_SHORTFALLS = 10
"""The most queries without a verdict that an error names."""


def refuse_incomplete(shortfalls: Mapping[str, str], stopped: IncumbentError | None) -> None:
    """Raise what stopped the classifier, or that queries lack a verdict; ``shortfalls`` gives the reason of each."""
    if stopped is not None:
        raise stopped
    if shortfalls:
        shown = [f"{id}: {why}" for id, why in list(shortfalls.items())[:SHOWN_SHORTFALLS]]
        if len(shortfalls) > len(shown):
            shown.append(f"and {len(shortfalls) - len(shown)} more")
        raise IncompleteError(f"not classified: {'; '.join(shown)}; run again, or see the endpoint")


def refuse_uncorrected(platform: Platform) -> None:
    """Raise :class:`InputError` if curators' corrections are not in the entries of the corrected texts yet."""
    known = platform.regression_set
    behind = [
        id
        for id, entry in (*known.entries.items(), *known.waiting.items())
        if unheeded(platform.corrections_of(entry.turns), entry.classified.corrected, platform.taxonomy)
    ]
    if behind:
        message = "a curator corrected tags of its text, and the entry does not have them yet"
        raise InputError(Problem(id, None, message, "run `incumbent reclassify` and commit") for id in behind)


def refuse_stale(stale: Sequence[StaleEntry]) -> None:
    """Raise :class:`InputError` if there are stale entries: old and new scores cannot be compared."""
    if stale:
        raise InputError(
            Problem(
                item.id,
                None,
                f"the entry is stale: it was {item.reason}",
                "run `incumbent reclassify` and commit, so that old and new scores can be compared",
            )
            for item in stale
        )


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
    data.  So are those named in ``left_out``, those that rest on a doubted expectation or whose customer has no slot
    left (gate 7), and clones of R, of the waitlist and of queries that have merit.
    """
    known, taxonomy, config = platform.regression_set, platform.taxonomy, platform.config
    live = LiveSet.knowing(taxonomy.by_id, known.present(taxonomy, identity)[0], config)
    admitted = Admitted(at=occasion.at, decision="EXCLUDE", route="direct", reasons=("REDUNDANT",))
    most = rounded(config.limits.customer_share * config.ceiling)
    found: dict[str, Entry] = {}
    others = list(live.members)
    for item in classified:
        submission = item.submission
        result = under_corrections(platform, submission.queries, item.result)
        targets = settle([submission], known).targets
        queries = {
            query.id: query
            for query in submission.queries
            if query.id in targets and targets[query.id] not in known.on_record
        }
        for name, said in result.classifications.items():
            query = queries.get(name)
            if query is None or query.id in left_out:
                continue
            scored = platform.rate(said, query, submission.customer)
            profile = live.profile(scored)
            if live.has_merit(profile):
                others.append(profile)
            elif not (
                scored.attempt
                or scored.personal
                or not scored.familiar
                or not scored.scores
                or not scored.doubted.isdisjoint(live.capabilities.named(profile.caps))
                or known.held.get(submission.customer, 0) + 1 > most
            ):
                id = targets[query.id]
                candidate = candidate_of(platform, submission, query, scored, id, occasion.commit)
                found[id] = entry_of(candidate, admitted, taxonomy, identity)
    return {id: entry for id, entry in found.items() if not _is_clone(entry, others, config)}


def _is_clone(entry: Entry, others: Sequence[Profile], config: Curation) -> bool:
    if not others:
        return False
    # A late import: what reads the default branch needs no numpy.
    from incumbent.rater.similarity import most_similar

    _, likeness = most_similar(normalise(entry.turns), [other.text for other in others])
    return rounded(likeness) >= rounded(config.knobs.clone_cutoff)
