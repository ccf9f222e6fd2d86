"""``incumbent candidates``, ``impact`` and ``migrate``: what a taxonomy may lack, and what a change of it does."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from incumbent.classifier.usage import total
from incumbent.cli.options import (
    FILE,
    dry_run_option,
    json_option,
    labels_in,
    one_at_a_time,
    open_backend,
    read_named,
    repo_option,
    repository_options,
    tree_of,
    two_commits,
)
from incumbent.cli.output import print_json, progress_bar, say, show_problems, show_usage
from incumbent.errors import IncompleteError, InputError, Problem, UnreadyError, UsageError
from incumbent.files.git import ObjectStore
from incumbent.files.git.working_copy import read_commit, read_top
from incumbent.files.snapshot import WorkingTree
from incumbent.pipeline.admit import refuse_incomplete
from incumbent.pipeline.submission import agent_name, refuse_shared_ids, with_agent_in_ids
from incumbent.pipeline.workspace import open_platform, read_packages
from incumbent.report.verdict_text import counted
from incumbent.taxonomy.config import REVIEWED_FILES
from incumbent.taxonomy.loading import load_taxonomy
from incumbent.taxonomy.model import Taxonomy

if TYPE_CHECKING:
    from incumbent.curator.entry import Entry
    from incumbent.extension.model import Core, ExtensionCandidate
    from incumbent.pipeline.impact.model import CapabilityImpact, Impact
    from incumbent.pipeline.migrate import MigrationPlan
    from incumbent.pipeline.review import Platform
    from incumbent.pipeline.submission import Package

NOT_ASKED: Final = "a language model would be asked, which costs: say --ask"
SHOWN: Final = 5
"""The number of queries of a candidate that the text output shows; the JSON has all."""
_LABELS: Final = click.Path(path_type=Path, dir_okay=False)


@click.command("candidates")
@repository_options
@click.option(
    "--refused",
    type=FILE,
    metavar="FILE",
    help="Cores of candidates that stay away (YAML or JSON: `cores`, a list of lists of digests).",
)
@json_option
def candidates_command(repo: Path, config_path: str, refused: Path | None, as_json: bool) -> int:
    """Find groups of queries that the taxonomy seems to have no capability for; writes nothing.

    Looks at eval_sets/ and, by the scores that they were admitted with, at the entries of the regression set.

    \b
    Examples:
      incumbent candidates
      incumbent candidates --json | jq '.candidates[] | {id, kind, core}'
    """
    from incumbent.classifier.classify import classify
    from incumbent.extension.candidates import find_candidates, why_none
    from incumbent.extension.naming import named
    from incumbent.extension.signals import observe_all, observe_entry
    from incumbent.report.candidates import CandidatesOutput

    platform = open_platform(repo, config_path)
    cores = () if refused is None else _cores(refused)
    backend = open_backend(platform, progress_bar)
    observed = {item.id: item for item in (observe_entry(each, platform.taxonomy) for each in _entries(platform))}
    problems: list[Problem] = []
    shortfalls: dict[str, str] = {}
    for package in read_packages(platform, repo, problems):
        submission = package.submission
        place = agent_name(submission.folder)
        problems.extend(submission.problems)
        progress = progress_bar(f"classifying {submission.folder}")
        result = classify(submission.queries, package.specification, platform.taxonomy, backend, progress)
        for item in observe_all(submission, result.classifications, platform.taxonomy, platform.config.extension):
            observed[item.id] = item
        shortfalls |= {f"{place}/{id}": why for id, why in result.shortfalls.items()}
        if result.stopped is not None:
            show_usage(backend)
            refuse_incomplete(shortfalls, result.stopped)
    queries = tuple(observed.values())
    personal = platform.config.personal_data
    found = find_candidates(queries, platform.taxonomy, platform.config.extension, cores, personal.shown)
    found, naming = named(found, platform.taxonomy, platform.config.classifier, os.environ, names=personal.names)
    if as_json:
        print_json(CandidatesOutput.of(len(queries), found, total([backend.usage, naming])))
    else:
        _show_candidates(found)
        say(f"{counted(len(found), 'candidate', 'candidates')} in {counted(len(queries), 'query', 'queries')}")
        if not found:
            say(f"none was found, since {why_none(queries, platform.taxonomy, platform.config.extension)}")
    show_problems(tuple(problems))
    show_usage(backend, besides=naming)
    refuse_incomplete(shortfalls, None)
    return InputError.exit_code if problems else 0


def _cores(path: Path) -> tuple[Core, ...]:
    from incumbent.extension.draft import RefusedCandidates
    from incumbent.files.documents import parse_yaml
    from incumbent.files.validation import validate

    tree = WorkingTree(path.resolve().parent)
    document = parse_yaml(tree.read(path.name, REVIEWED_FILES), path.as_posix(), REVIEWED_FILES)
    return validate(RefusedCandidates, document).cores


def _entries(platform: Platform) -> list[Entry]:
    """The entries whose scores are of the present classifier and taxonomy."""
    known = platform.regression_set
    stale = {item.id for item in known.residents(platform.taxonomy)[1]}
    return [entry for id, entry in known.entries.items() if id not in stale]


def _show_candidates(found: tuple[ExtensionCandidate, ...]) -> None:
    from incumbent.report.escaping import shortened, visible
    from incumbent.text.masking import masked, masked_together

    def shown(text: str) -> str:
        return visible(masked(text))

    for place, item in enumerate(found, 1):
        about = f" ({', '.join(item.belongs_to)})" if item.belongs_to else ""
        say(f"{place}. {item.id}: {shown(item.name)}")
        say(f"   kind: {item.kind}{about}; group {item.group}")
        say(
            f"   {len(item.members)} queries of {len(item.customers)} customers "
            f"({', '.join(map(shown, item.customers))}); "
            f"{100 * item.excess:.0f} % more than the exemplars lead to expect; chance 1 in 10^{item.surprise:.1f}; "
            f"cohesion {item.cohesion:.2f}"
        )
        say(f"   signals: {', '.join(f'{signal.value} {count}' for signal, count in item.signals.items())}")
        for feature in item.telling:
            say(
                f"   - {shown(feature.trait.words)}: {feature.members} of its queries; {feature.observed} of all, "
                f"{feature.expected:.1f} expected"
            )
        for member in item.members[:SHOWN]:
            # Each turn is masked separately, so that no turn hides the secret of another.
            turns = shortened(visible(" / ".join(masked_together(member.turns))))
            say(f"     {shown(member.id)}: {turns}")
        if len(item.members) > SHOWN:
            say(f"     and {len(item.members) - SHOWN} more")
        say(f"   refuse it with the core {' '.join(item.core)}")


@click.command("impact")
@click.argument("commits", metavar="BASE..HEAD")
@click.option("--ask", is_flag=True, help="Ask a language model, where the config names one, within its budget.")
@repo_option("The platform repository, at the top of a git repository (default: this folder).")
@json_option
def impact_command(commits: str, ask: bool, repo: Path, as_json: bool) -> int:
    """Say what HEAD changes of taxonomy and config since it left BASE, and what that would do to BASE's set.

    The report lists what changed, the version that the taxonomy must have, and what to expect of new and changed
    capabilities. It says what has to be classified again and at what cost. It compares champions, pins, floors,
    suggestions and verdicts before and after. Writes nothing. A wrong version is a fault, and so is a capability that
    must go on trial first.

    \b
    Examples:
      incumbent impact main..HEAD
      incumbent impact HEAD~1..HEAD --json
    """
    from incumbent.github.git_state import rejections_of, remembered_of
    from incumbent.ledger.keys import under, with_findings
    from incumbent.ledger.store import find_ledger
    from incumbent.pipeline.impact.appraisal import trial_problems
    from incumbent.pipeline.impact.measure import backends_of, measure, read_agents, read_change
    from incumbent.pipeline.workspace import with_masks
    from incumbent.report.impact import impact_text
    from incumbent.taxonomy.migration import carried_questions

    old, new = two_commits(commits, repo)
    store = ObjectStore.open(repo)
    try:
        change, problems = read_change(store, old, new)
        with_masks(change.before)
        snapshot = store.snapshot(old)
        agents = read_agents(snapshot, snapshot.within, change.before)
        found = find_ledger(store)
        ledger = None if found is None else store.snapshot(found)
        known = under(
            remembered_of(ledger), carried_questions(change.migration, change.before.taxonomy, change.after.taxonomy)
        )
        rejected = {item.decision.content for item in rejections_of(ledger)}
        backends, why = backends_of(
            change,
            lambda platform: with_findings(open_backend(platform, progress_bar), known),
            None if ask else NOT_ASKED,
        )
        identity = open_backend(change.after, progress_bar).identity
        impact, _ = measure(change, agents, backends, why, identity, progress_bar("classifying"), rejected)
        problems = (*problems, *trial_problems(impact.appraisals, change.after.taxonomy, change.document))
    finally:
        store.close()
    if as_json:
        print_json(impact)
    else:
        say(impact_text(impact))
    show_usage(*(backends or ()))
    if problems:
        raise InputError(problems)
    if impact.is_incomplete:
        raise IncompleteError(str(impact.unmeasured))
    return 0


@click.command("migrate")
@click.option("--from", "since", default="HEAD", show_default=True, metavar="COMMIT", help="The taxonomy before.")
@click.option(
    "--labels", multiple=True, type=_LABELS, metavar="FILE...", help="Label files (default: those in labels/)."
)
@click.argument("more", nargs=-1, type=_LABELS, metavar="")
@dry_run_option
@repository_options
@json_option
@one_at_a_time
def migrate_command(
    since: str,
    labels: tuple[Path, ...],
    more: tuple[Path, ...],
    dry_run: bool,
    repo: Path,
    config_path: str,
    as_json: bool,
) -> None:
    """Carry `was` and `split` of the working tree's taxonomy through overrides, entries and labels.

    The taxonomy is compared with that of a commit, and refused if its version or its declarations are wrong. Renamed
    capabilities keep their scores. Split or redefined ones become stale: refresh them with `incumbent reclassify`. A
    config that says `embedding: auto` gets the digest of the weights. A config of an earlier format gets the keys that
    are new, with the values that ship, and loses those without effect. A value that shipped when its key meant
    something else is replaced. What all this changes is shown as by `incumbent impact`. `base: true` in the taxonomy
    becomes `combines: false`. A second run changes nothing.

    \b
    Examples:
      incumbent migrate --dry-run
      incumbent migrate --from HEAD~1 --labels labels/*.yaml
    """
    from incumbent.curator.file_changes import apply
    from incumbent.curator.journal import refuse_half_written
    from incumbent.pipeline.migrate import plan_migration
    from incumbent.report.output import MigrateOutput

    if more and not labels:
        raise UsageError(f"there is no place for {more[0].as_posix()!r}: label files come after --labels")
    refuse_half_written(repo)
    commit, old = taxonomy_at(repo, since)
    named = (*labels, *more) or labels_in(repo)
    contents = {_path(path, repo): read_named(path, REVIEWED_FILES.file_bytes) for path in named}
    plan = plan_migration(tree_of(repo), old, contents, config_path)
    impact = _impact_of_format(plan, repo, config_path) if plan.updates_config else None
    if not dry_run:
        apply(plan.file_changes, repo)
    output = MigrateOutput(
        commit=commit,
        from_version=plan.old.version,
        to_version=plan.new.version,
        changes=list(plan.changes),
        renames=dict(plan.migration.renames),
        splits={whole: list(parts) for whole, parts in plan.migration.splits.items()},
        files=[change.path for change in plan.file_changes],
        stale=list(plan.stale),
        weights=list(plan.weights),
        updates_config=plan.updates_config,
        impact=impact,
        dry_run=dry_run,
    )
    if as_json:
        print_json(output)
    else:
        _show_migration(plan, dry_run)
        if impact is not None:
            from incumbent.report.impact import impact_text

            say(impact_text(impact))


def _impact_of_format(plan: MigrationPlan, repo: Path, config_path: str) -> Impact | None:
    """What the values of the newest config format change, all other files being as planned.

    ``None`` if the config means what it meant, and with a word on standard error if the classifier cannot judge here.
    """
    from incumbent.files.documents import parse_yaml
    from incumbent.files.snapshot import Overlay
    from incumbent.pipeline.impact.comparison import config_changes
    from incumbent.pipeline.impact.measure import PlatformChange, backends_of, measure, read_agents
    from incumbent.pipeline.review import load_platform
    from incumbent.taxonomy.config import load_config
    from incumbent.taxonomy.loading import TAXONOMY_FILE

    tree = tree_of(repo)
    planned = Overlay(tree, {change.path: change.content for change in plan.file_changes})
    after = load_platform(planned, config_path)
    known = after.taxonomy
    former = load_config(tree, None, config_path).under(known.uncombinable, known.trial, known.fill_from_any)
    if not config_changes(former, after.config):
        return None
    change = PlatformChange(
        before=replace(after, config=former),
        after=after,
        previous=lambda version: (),
        document=parse_yaml(planned.read(TAXONOMY_FILE, REVIEWED_FILES), TAXONOMY_FILE, REVIEWED_FILES),
    )
    agents = read_agents(tree, lambda folder: WorkingTree(repo / folder, tree.name(folder)), change.before)
    try:
        backends, why = backends_of(change, lambda platform: open_backend(platform, progress_bar), NOT_ASKED)
        identity = open_backend(after, progress_bar).identity
    except UnreadyError as error:
        say(f"what the new values change is not known: {error}", err=True)
        return None
    return measure(change, agents, backends, why, identity, progress_bar("classifying"))[0]


def _path(file: Path, repo: Path) -> str:
    """The path under which ``file`` is written: relative to ``repo``, or else absolute."""
    target, root = file.resolve(), repo.resolve()
    return (target.relative_to(root) if target.is_relative_to(root) else target).as_posix()


def _show_migration(plan: MigrationPlan, dry_run: bool) -> None:
    for change in plan.changes:
        say(f"{change.step}: {change.sentence}")
    for file in plan.file_changes:
        say(f"{'would be ' if dry_run else ''}written: {file.path}")
    for path in plan.weights:
        say(f"{path}: `embedding` names the weights by their digest in place of `auto`; no verdict changes by that")
    if plan.updates_config:
        say("the config has the newest format: new keys with the values that ship, and none without effect")
    for item in plan.stale:
        say(f"to classify again: {item.id}: {', '.join(item.capabilities)}")
    files = counted(len(plan.file_changes), "file", "files")
    say(
        f"taxonomy {plan.old.version} → {plan.new.version}: {len(plan.migration.renames)} renamed, "
        f"{len(plan.migration.splits)} split, {files}"
    )
    if plan.stale:
        say("run `incumbent reclassify`, and commit")


def taxonomy_at(repo: Path, name: str) -> tuple[str, Taxonomy]:
    """The commit that ``name`` means, and its taxonomy of the platform repository in ``repo``."""
    top = read_top(repo)
    if top is None:
        raise UsageError(f"{repo} is not inside a git repository, so there is no taxonomy to compare with")
    commit = read_commit(repo, name)
    with ObjectStore.open(top) as store:
        folder = repo.resolve().relative_to(top.resolve()).as_posix()
        try:
            return commit, load_taxonomy(store.snapshot(commit, folder), is_past=True)
        except InputError as error:
            # The working tree has a file of the same name.
            raise InputError(
                replace(problem, file=f"{commit[:12]}:{problem.file}") for problem in error.problems
            ) from None


def appraised(
    old: Taxonomy, platform: Platform, packages: Sequence[Package], repo: Path
) -> tuple[CapabilityImpact, ...]:
    """What to expect of the capabilities that ``platform``, the working tree at ``repo``, adds to ``old`` or changes.

    A model that costs money is not asked.
    """
    from incumbent.classifier.exemplars import MeasuredBackend
    from incumbent.cli.classification import classified_again
    from incumbent.pipeline.impact.appraisal import appraise
    from incumbent.pipeline.impact.measure import held_out_of, judged_texts
    from incumbent.pipeline.review import classify_package

    new, settings = platform.taxonomy, platform.config.appraisal
    found = appraise(old, new, settings)
    backend = open_backend(platform, progress_bar)  # nothing is read or fitted before it is asked
    if not found or not isinstance(backend, MeasuredBackend):
        return found
    progress = progress_bar("classifying")
    entries = (*platform.regression_set.entries.values(), *platform.regression_set.waiting.values())
    renewal = classified_again(entries, platform, repo, backend, progress)
    known = [with_agent_in_ids(item) for item in refuse_shared_ids(packages, platform.regression_set)]
    classified = [classify_package(platform, item, backend, progress) for item in known]
    before = open_backend(replace(platform, taxonomy=old), progress_bar)
    texts = judged_texts(entries, renewal, classified)
    was, now = (held_out_of(asked, platform.config) for asked in (before, backend))
    return appraise(old, new, settings, was, now, texts)
