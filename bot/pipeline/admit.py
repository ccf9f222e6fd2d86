"""What an admission would do to the regression set: planned for a whole package, or for those that wait for a slot.

The time of writing belongs to whoever applies the plan; nothing here writes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bot.classifier.model import Backend, Classification, Progress
from bot.classifier.usage import Usage
from bot.curator.decisions import Answer
from bot.curator.entry import Entry
from bot.curator.staging import AuditStamp, Staging, stage_waiting
from bot.errors import InputError, Problem, untrusted_list
from bot.pipeline.preconditions import refuse_incomplete, refuse_lag, refuse_uncorrected
from bot.pipeline.review import Platform, Review, classify_package, judge, stage_admissions
from bot.pipeline.submission import Package


@dataclass(frozen=True, kw_only=True)
class Admission:
    """A ``staging`` to apply, and what the classifier said of the entries that come with it, under their ids.

    ``shortfalls`` say of queries why they have no verdict, ``problems`` are unread rows.  ``outcome`` has the verdicts
    that lead there, where a package was judged.
    """

    staging: Staging
    outcome: Review | None = None
    classified: tuple[Classification, ...] = ()
    shortfalls: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    usage: Usage | None = None


@dataclass(frozen=True, kw_only=True)
class CallerTerms:
    """How faults name what a person gives and does: as options of the command, or as arguments of a tool.

    ``accept`` gives an acceptance and ``reason`` why; ``line`` lets in those that wait for a slot.
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
) -> Admission:
    """The direct admissions of ``package``, and the queries that a person ``accepted``.

    ``reason`` says why those enter whose verdict is EXCLUDE; ``text_of`` gives the file of an entry that is edited;
    ``words`` are those of whoever asks.
    Raises :class:`InputError` where entries lag behind, where others come first, and for an acceptance without effect.
    """
    classified = classify_package(platform, package, backend, progress)
    if classified.result.stopped is not None:
        # Who enters depends on who else is judged, and the next run goes on where this one ended.  A query that
        # falls short by itself may do so for ever, and holds up nobody.
        raise classified.result.stopped
    answers = [
        Answer(id=id, accepts=True, by=now.by or "a person", reason=reason, insists=reason is not None)
        for id in accepted
    ]
    outcome = judge(platform, [classified], backend.identity, answers)
    refuse_lag(outcome.lags)
    _serve_the_line_first(platform, now, words)
    _refuse_without_effect(outcome, answers, words)
    texts = {entry.id: text_of(entry.id) for entry in outcome.edited.values()}
    staging = stage_admissions(outcome, texts, now)
    staged = {entry.id for entry in (*staging.admitted, *staging.waiting)}
    return Admission(
        staging=staging,
        outcome=outcome,
        classified=tuple(
            replace(item, query_id=outcome.targets[name])
            for name, item in outcome.classifications.items()
            if outcome.targets[name] in staged
        ),
        shortfalls=outcome.shortfalls,
        problems=outcome.problems,
        usage=backend.usage,
    )


def entered_before(outcome: Review) -> dict[str, str]:
    """Query → the entry, in the set or waiting for a slot, that its content is already."""
    return {name: record.id for name, record in outcome.settled.items() if isinstance(record, Entry)}


def admit_waiting(platform: Platform, now: AuditStamp) -> Staging:
    """Those of the entries in line that find a slot, judged again.

    Raises :class:`InputError` where entries lag behind, or behind what curators corrected of their texts.
    """
    refuse_uncorrected(platform)
    known = platform.regression_set
    residents, lags = known.residents(platform.taxonomy)
    _, lags_in_line = known.in_line(platform.taxonomy)
    refuse_lag((*lags, *lags_in_line))
    return stage_waiting(tuple(known.waiting.values()), residents, platform.config, platform.taxonomy, now)


def _serve_the_line_first(platform: Platform, now: AuditStamp, words: CallerTerms) -> None:
    """Newcomers do not pass those that wait for a slot."""
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
    """Raise what is wrong with acceptances that change nothing: whoever gave them thinks that they do."""
    named = {answer.id for answer in answers}
    refuse_incomplete({id: why for id, why in outcome.shortfalls.items() if id in named}, None)

    def refused(id: str, message: str, fix: str) -> Problem:
        return Problem(f"{words.accept} {id}", None, message, fix)

    # Who runs the same again, after an interruption for example, is told that it is done and not that it is wrong.
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
            said = (
                "what it would add enters with the direct admissions"
                if answer.id in outcome.overtaken
                else f"its verdict is EXCLUDE ({', '.join(verdict.reasons)}) after what was admitted before it"
            )
            fix = f"leave it out, or give {words.reason} to override the verdict"
            problems.append(refused(answer.id, said, fix))
    if problems:
        raise InputError(problems)
