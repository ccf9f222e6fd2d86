"""The first job for a pull request that changes taxonomy or config: measures its impact as far as allowed.

The changed files are only data: no endpoint that they name is called, and nothing is written because of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from incumbent.classifier.caching_backend import HaltedBackend, known_by
from incumbent.classifier.embedded.fitting_cost import too_many_exemplars
from incumbent.classifier.model import Backend, Classification, Progress
from incumbent.classifier.usage import Usage, total
from incumbent.errors import IncumbentError, InputError, Problem
from incumbent.files.git import ObjectStore
from incumbent.github.facts import MigrationFacts
from incumbent.github.fitted_models import ModelUse
from incumbent.ledger.keys import under, with_findings
from incumbent.pipeline.impact.appraisal import appraise, trial_problems
from incumbent.pipeline.impact.measure import PlatformChange, backends_of, measure, read_agents, read_change
from incumbent.pipeline.impact.model import Impact
from incumbent.pipeline.reclassify import query_of
from incumbent.pipeline.review import Platform, unsettled
from incumbent.taxonomy.migration import carried_definitions, carried_questions

ASK_A_CURATOR = "it is measured once a curator says `/incumbent run`"


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The impact (``None``: the files cannot be read), faults of the changed files, a model's answers, and the cost.

    ``follows`` is the migration that the set may follow: a change to just that is not a change by hand.  ``stopped`` is
    what kept a classifier from running here, if anything did.
    """

    impact: Impact | None = None
    problems: tuple[Problem, ...] = ()
    remembered: Mapping[str, Classification] = field(default_factory=dict)
    usage: Usage | None = None
    follows: MigrationFacts | None = None
    stopped: IncumbentError | None = None


UNTOUCHED = Measured()
"""Neither taxonomy nor config is changed."""


def measure_impact(
    store: ObjectStore,
    base: str,
    head: str,
    make: Callable[[Platform, ModelUse], Backend] | None,
    is_preview: Callable[[Backend], bool],
    known: Mapping[str, Classification],
    trusted: bool,
    progress: Progress,
    rejected: Collection[str] = (),
) -> Measured:
    """What ``head`` would do to the regression set of ``base``.

    If the author is not ``trusted``, the change is only described: they could choose how much a measurement costs.
    Without ``make`` only faults of the change are found.  The files of ``head`` are fitted as a preview at most
    (``is_preview`` says whether a backend is one).  ``known`` are the ledger's classifications, ``rejected`` the
    contents that people rejected.
    """
    try:
        change, problems = read_change(store, base, head)
    except InputError as error:
        return Measured(problems=error.problems)
    refused = too_many_exemplars(change.after.taxonomy, change.after.config)
    if refused is not None:
        return Measured(problems=(*problems, refused))
    follows = _follows(change)
    if make is None:
        old, new = change.before.taxonomy, change.after.taxonomy
        unfit = trial_problems(appraise(old, new, change.after.config.appraisal), new, change.document)
        return Measured(problems=(*problems, *unfit), follows=follows)
    known = under(known, carried_questions(change.migration, change.before.taxonomy, change.after.taxonomy))

    def opened(platform: Platform) -> Backend:
        return with_findings(make(platform, "review" if platform is change.before else "preview"), known)

    backends, why = backends_of(change, opened, None) if trusted else (None, ASK_A_CURATOR)
    snapshot = store.snapshot(base)
    agents = read_agents(snapshot, snapshot.within, change.before)
    identity = make(change.after, "preview").identity
    impact, _ = measure(change, agents, backends, why, identity, progress, rejected)
    if backends is not None and impact.effect is not None:
        impact = impact.model_copy(update={"preview": is_preview(backends[1])})
    remembered: dict[str, Classification] = {}
    if backends is not None:
        known_set = change.before.regression_set
        queries = [query_of(entry) for entry in (*known_set.entries.values(), *known_set.waiting.values())]
        queries += [query for package in agents.packages for query in unsettled(change.before, package.submission)]
        for query in queries:
            for key, findings in known_by(backends[1], query.classified_turns).items():
                if findings.capabilities or findings.tools:
                    remembered[key] = Classification(judgements={}, findings={key: findings})
    usage = total(item.usage for item in backends or ())
    unfit = trial_problems(impact.appraisals, change.after.taxonomy, change.document)
    problems = (*problems, *unfit)
    halted = [item.stopped for item in backends or () if isinstance(item, HaltedBackend) and impact.is_incomplete]
    return Measured(
        impact=impact,
        problems=problems,
        remembered=remembered,
        usage=usage,
        follows=follows,
        stopped=halted[0] if halted else None,
    )


def _follows(change: PlatformChange) -> MigrationFacts | None:
    """The migration from the taxonomy of the base to that of the head, if there is any."""
    old, new = change.before.taxonomy, change.after.taxonomy
    if old == new:
        return None
    return MigrationFacts(
        renames=dict(change.migration.renames),
        splits=dict(change.migration.splits),
        definitions=carried_definitions(change.migration, old, new),
    )
