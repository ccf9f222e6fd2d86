"""``incumbent classify``, ``correct``, ``fit`` and ``reclassify``: which capabilities queries and entries exercise."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from incumbent.classifier.classify import classify
from incumbent.cli.options import (
    agent_options,
    all_option,
    at_option,
    batch_options,
    by_option,
    dry_run_option,
    eval_set_argument,
    json_option,
    occasion,
    one_at_a_time,
    open_backend,
    reason_given,
    repository_options,
    submission_options,
    whole_text,
)
from incumbent.cli.output import (
    print_json,
    progress_bar,
    progress_lines,
    report_batches,
    say,
    show_preview,
    show_problems,
    show_usage,
)
from incumbent.curator.file_changes import admit, apply, let_wait
from incumbent.errors import InputError, Problem, UsageError
from incumbent.files.snapshot import WorkingTree
from incumbent.intake.query import MOST_COST
from incumbent.pipeline.admit import refuse_incomplete
from incumbent.pipeline.review import Platform, under_corrections
from incumbent.pipeline.workspace import entry_text, open_package, open_platform

if TYPE_CHECKING:
    from collections.abc import Iterable

    from incumbent.classifier.model import Backend, Progress
    from incumbent.curator.entry import Entry
    from incumbent.pipeline.correct import CorrectionPlan
    from incumbent.pipeline.reclassify import Renewal

_MINUS: Final = "\u2212"


@click.command("classify")
@submission_options
@repository_options
@all_option
@json_option
def classify_command(
    eval_set_dir: Path,
    customer: str | None,
    agent: str | None,
    repo: Path,
    config_path: str,
    everything: bool,
    as_json: bool,
) -> int:
    """Show which capabilities each query of EVAL_SET_DIR exercises, with confidences.

    \b
    Examples:
      incumbent classify eval_sets/contoso/repairs
      incumbent classify eval_sets/contoso/repairs --json | jq '.queries[0].values'
    """
    from incumbent.report.classify import ClassifyOutput, print_classified
    from incumbent.report.console import Printer

    platform = open_platform(repo, config_path)
    package = open_package(platform, repo, eval_set_dir, customer, agent)
    submission = package.submission
    backend = open_backend(platform, progress_bar, preview=True)
    result = classify(
        submission.queries, package.specification, platform.taxonomy, backend, progress_bar("classifying")
    )
    result = under_corrections(platform, submission.queries, result)
    preview = show_preview(backend)
    if as_json:
        print_json(ClassifyOutput.of(result, submission.queries, platform.taxonomy, backend.usage, preview))
    else:
        print_classified(result, submission.queries, platform.taxonomy, Printer(everything))
    show_problems(submission.problems)
    show_usage(backend)
    refuse_incomplete(result.shortfalls, result.stopped)
    return InputError.exit_code if submission.problems else 0


class _Tagged(click.Command):
    """A command whose arguments may begin with a minus sign."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        options = {name: item for item in self.params for name in (*item.opts, *item.secondary_opts)}
        found: list[str] = []
        takes_value = False
        for arg in args:
            own = arg.partition("=")[0]
            if not takes_value and arg.startswith("-") and not arg.startswith("--") and own not in ("-h", "-"):
                arg = _MINUS + arg[1:]
            item = options.get(own)
            takes_value = not takes_value and isinstance(item, click.Option) and not item.is_flag and "=" not in arg
            found.append(arg)
        return super().parse_args(ctx, found)


def _finite(_: click.Context, __: click.Parameter, value: float | None) -> float | None:
    if value is not None and not (math.isfinite(value) and 0 <= value <= MOST_COST):
        raise click.BadParameter(f"a number from 0 to {MOST_COST:,}")
    return value


@click.command("correct", cls=_Tagged)
@eval_set_argument
@click.argument("query", metavar="QUERY")
@click.argument("tags", nargs=-1, metavar="[+CAPABILITY... -CAPABILITY...]")
@click.option("--cost", type=float, callback=_finite, metavar="N", help="What its set-up costs, instead of tags.")
@click.option("--reason", metavar="TEXT", callback=whole_text, help="Why the tags or the cost are wrong.")
@agent_options
@by_option
@at_option
@dry_run_option
@repository_options
@json_option
@one_at_a_time
def correct_command(
    eval_set_dir: Path,
    query: str,
    tags: tuple[str, ...],
    cost: float | None,
    reason: str | None,
    customer: str | None,
    agent: str | None,
    by: str | None,
    at: str | None,
    dry_run: bool,
    repo: Path,
    config_path: str,
    as_json: bool,
) -> None:
    """Correct tags of QUERY of the eval set in EVAL_SET_DIR: it exercises a capability (+), or does not (-). Or
    correct what its mock set-up costs (--cost).

    A capability is named by its id, by the end of its id, or by its name. The correction is written to
    config/corrections/ and holds for every query of this text, under any classifier; what a rule says of the
    specification stays. A corrected cost counts in place of `setup.cost`, whatever the eval set says later, for as
    long as the text is the same. Commit it by review: on a pull request it counts once it is on the default branch.

    \b
    Examples:
      incumbent correct eval_sets/contoso/repairs q07 -urls --reason "the link is the subject"
      incumbent correct eval_sets/contoso/repairs q07 +oauth "-audio attached" --dry-run
      incumbent correct eval_sets/contoso/repairs q07 --cost 3 --reason "needs a tenant of its own"
    """
    from incumbent.curator.corrections import load_corrections
    from incumbent.curator.entry import CorrectedCost
    from incumbent.pipeline.correct import plan_correction, plan_cost, query_called, values_said
    from incumbent.pipeline.submission import collect
    from incumbent.text.compare import text_key

    if bool(tags) == (cost is not None):
        raise UsageError("give either +CAPABILITY or -CAPABILITY, or --cost")
    platform = open_platform(repo, config_path)
    package = open_package(platform, repo, eval_set_dir, customer, agent)
    submission = package.submission
    problems: list[Problem] = []
    found = collect(lambda: query_called(submission, query), problems)
    values = collect(lambda: values_said(tags, platform.taxonomy), problems)
    if found is None or values is None:
        raise InputError(problems)
    why = None if reason is None else reason_given(reason)
    now = occasion(repo, at, by)
    known = load_corrections(WorkingTree(repo), platform.taxonomy).get(text_key(found.turns))
    existing = None if known is None else (repo / known.path).read_text(encoding="utf-8")
    if cost is not None:
        said = CorrectedCost(value=cost, by=now.by, at=now.at, reason=why)
        _finish(plan_cost(platform, submission, found, said, (known, existing)), platform, repo, dry_run, as_json)
        return
    backend = open_backend(platform, progress_bar)
    result = classify(
        submission.queries, package.specification, platform.taxonomy, backend, progress_bar("classifying")
    )
    show_usage(backend)
    refuse_incomplete({}, result.stopped)
    plan = plan_correction(platform, submission, result, backend.identity, found, values, (known, existing), now, why)
    _finish(plan, platform, repo, dry_run, as_json)


def _finish(plan: CorrectionPlan, platform: Platform, repo: Path, dry_run: bool, as_json: bool) -> None:
    """Write what is planned, and report it."""
    from incumbent.report.output import CorrectOutput, PrintedCorrection
    from incumbent.report.verdict_text import codes, figure

    if not dry_run:
        apply([plan.file_change], repo)
    if as_json:
        print_json(PrintedCorrection(plan, dry_run), CorrectOutput)
        return
    said = ", ".join(f"{'+' if value else '-'}{name}" for name, value in plan.values.items())
    if plan.cost is not None:
        said = f"cost {figure(plan.cost.value)} (the eval set says {figure(plan.query.setup.cost)})"
    say(f"{'would be ' if dry_run else ''}corrected: {plan.query.id}: {said}; in {plan.file_change.path}")
    if plan.verdicts is not None:
        before, after = plan.verdicts
        say(f"verdict: {codes(before)} -> {codes(after)}")
    for name in plan.values:
        if name in platform.taxonomy.trial:
            say(f"{name} is on trial: no verdict rests on it yet")
    for before, after in plan.others:
        say(f"follows: {after.id}: {codes(before)} -> {codes(after)}")
    if plan.entry is not None and plan.values:
        say(f"the entry {plan.entry} has this text: `incumbent reclassify` updates its scores")


@click.command("fit")
@repository_options
def fit_command(repo: Path, config_path: str) -> None:
    """Fit the classifier on the taxonomy's exemplars, as the commands that write do when they need it.

    Commands that only look, such as `incumbent review`, make do with a preview where a few exemplars are newer than
    the fitted model, and say so; after this they use the whole fit. It is kept in the user's cache folder and has the
    same digest on every machine.

    \b
    Examples:
      incumbent fit
      incumbent fit --repo ~/platform
    """
    from incumbent.classifier.embedded.backend import EmbeddedBackend
    from incumbent.classifier.embedded.model import model_digest, to_arrays

    platform = open_platform(repo, config_path)
    backend = open_backend(platform, progress_lines)
    if not isinstance(backend, EmbeddedBackend):
        raise UsageError("the config names the backend openai, which is not fitted: there is nothing to do")
    begun = time.monotonic()
    model = backend.fit_anew()
    place = backend.file
    say(f"{len(model.rows):,} exemplars, {len(model.capabilities)} capabilities: {time.monotonic() - begun:.1f} s")
    say(f"digest: {model_digest(to_arrays(model))}")
    say("kept: nowhere, since no cache folder can be written (INCUMBENT_CACHE)" if place is None else f"kept: {place}")


@click.command("reclassify")
@dry_run_option
@batch_options
@repository_options
@json_option
@one_at_a_time
def reclassify_command(dry_run: bool, batch: bool, wait: bool, repo: Path, config_path: str, as_json: bool) -> None:
    """Classify every entry again, those that wait for a slot too, and store the new scores; commit them by review.

    An entry whose agent specification is not in the repository keeps its scores, and is reported. An imported one
    for which nothing was declared is classified by its text alone again.

    \b
    Examples:
      incumbent reclassify --dry-run
      incumbent reclassify --batch --wait
    """
    from incumbent.classifier.caching_backend import through_batches
    from incumbent.report.output import ReclassifyOutput
    from incumbent.report.query_context import remarks_on
    from incumbent.report.verdict_text import PlainStyle

    platform = open_platform(repo, config_path)
    known = platform.regression_set
    backend = open_backend(platform, progress_bar, batch=batch)
    entries = [*known.waiting.values(), *known.entries.values()]

    def ask() -> Renewal:
        return classified_again(entries, platform, repo, backend, progress_bar("classifying"))

    found, pending = through_batches(backend, ask, wait, report_batches)
    renewed = found.renewed(platform.taxonomy, backend.identity, platform.corrections)
    before = {**known.waiting, **known.entries}
    changed = [entry for id, entry in renewed.items() if entry != before[id]]
    plan = tuple(
        admit(entry, entry_text(repo, entry.id)) if entry.id in known.entries else let_wait(entry) for entry in changed
    )
    if not dry_run:
        apply(plan, repo)
    output = ReclassifyOutput(
        **dict(remarks_on(found.result.classifications)),
        changed={entry.id: dict(entry.scores) for entry in changed},
        kept=dict(found.kept),
        dry_run=dry_run,
        usage=backend.usage,
    )
    if as_json:
        print_json(output)
    else:
        for entry in changed:
            say(f"{'would be ' if dry_run else ''}classified again: {entry.id}")
        for id, why in found.kept.items():
            say(f"kept unchanged: {id}: {why}")
        for line in output.lines(PlainStyle(platform.taxonomy)):
            say(line)
        say(f"{len(changed)} changed, {len(renewed) - len(changed)} unchanged, {len(found.kept)} kept")
    show_usage(backend)
    refuse_incomplete(found.result.shortfalls, found.result.stopped or pending)


def classified_again(
    entries: Iterable[Entry], platform: Platform, repo: Path, backend: Backend, progress: Progress
) -> Renewal:
    """``entries`` classified again, each by the specification of its agent in the working tree at ``repo``."""
    from incumbent.pipeline.reclassify import all_tasks, renew
    from incumbent.pipeline.submission import find_specification

    limits = platform.config.limits
    return renew(
        all_tasks(entries, platform.taxonomy),
        platform.taxonomy,
        backend,
        lambda folder: find_specification(WorkingTree(repo / folder, folder), limits),
        progress,
    )
