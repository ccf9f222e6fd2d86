"""``incumbent correct``: a curator corrects tags of a query by hand."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Final

import click

from bot.classifier.classify import classify
from bot.cli.options import (
    agent_options,
    at_option,
    by_option,
    dry_run_option,
    json_option,
    occasion,
    one_at_a_time,
    print_json,
    progress_bar,
    reason_given,
    repository_options,
    say,
    show_usage,
    whole_text,
)
from bot.curator.corrections import load_corrections
from bot.curator.costs import CorrectedCost
from bot.curator.file_changes import apply
from bot.errors import InputError, Problem, UsageError
from bot.files.snapshot import WorkingTree
from bot.intake.query import MOST_COST
from bot.pipeline.correct import CorrectionPlan, plan_correction, plan_cost, query_called, values_said
from bot.pipeline.preconditions import refuse_incomplete
from bot.pipeline.review import Platform
from bot.pipeline.submission import collect
from bot.pipeline.workspace import open_backend, open_package, open_platform
from bot.report.output import CorrectOutput
from bot.report.verdict_text import codes, figure
from bot.text.compare import text_key

_MINUS: Final = "\u2212"


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
@click.argument("eval_set_dir", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="EVAL_SET_DIR")
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
def command(
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
    if not dry_run:
        apply([plan.file_change], repo)
    if as_json:
        print_json(CorrectOutput.of(plan, dry_run))
        return
    said = ", ".join(f"{'+' if value else '-'}{name}" for name, value in plan.values.items())
    if plan.cost is not None:
        said = f"cost {figure(plan.cost.value)} (the eval set says {figure(plan.query.setup.cost)})"
    say(f"{'would be ' if dry_run else ''}corrected: {plan.query.id}: {said}; in {plan.file_change.path}")
    if plan.before is not None and plan.after is not None:
        say(f"verdict: {codes(plan.before)} -> {codes(plan.after)}")
    for name in plan.values:
        if name in platform.taxonomy.trial:
            say(f"{name} is on trial: no verdict rests on it yet")
    for before, after in plan.others:
        say(f"follows: {after.id}: {codes(before)} -> {codes(after)}")
    if plan.entry is not None and plan.values:
        say(f"the entry {plan.entry} has this text: `incumbent reclassify` updates its scores")
