"""``incumbent impact``: what a change of taxonomy or config would do, before it is merged."""

from __future__ import annotations

from pathlib import Path

import click

from bot.cli.options import json_option, print_json, progress_bar, say, show_usage
from bot.errors import IncompleteError, InputError, UsageError

NOT_ASKED = "a language model would be asked, which costs: say --ask"


@click.command("impact")
@click.argument("commits", metavar="BASE..HEAD")
@click.option("--ask", is_flag=True, help="Ask a language model, where the config names one, within its budget.")
@click.option(
    "--repo",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    metavar="DIR",
    help="The platform repository, at the top of a git repository (default: this folder).",
)
@json_option
def command(commits: str, ask: bool, repo: Path, as_json: bool) -> int:
    """Say what HEAD changes of taxonomy and config since it left BASE, and what that would do to BASE's set.

    What changed in words, the version that the taxonomy must bear, what to expect of new and changed capabilities, what
    has to be classified again and at what cost, and both sides of champions, pins, floors, suggestions and verdicts.
    Writes nothing. A wrong version is a fault, and so is a capability that must go on trial first.

    \b
    Examples:
      incumbent impact main..HEAD
      incumbent impact HEAD~1..HEAD --json
    """
    from bot.git import ObjectStore
    from bot.git.working_copy import read_commit, read_top
    from bot.github.git_state import rejections_of, remembered_of
    from bot.ledger.keys import under, with_findings
    from bot.ledger.store import find_ledger
    from bot.pipeline.impact.appraisal import trial_problems
    from bot.pipeline.impact.measure import measure, read_agents
    from bot.pipeline.impact.reading import backends_of, read_change
    from bot.pipeline.workspace import open_backend, with_masks
    from bot.report.impact_text import impact_text
    from bot.taxonomy.migration import carried_questions

    base, dots, head = commits.partition("..")
    if not (base and dots) or head.startswith("."):
        raise UsageError(f"{commits!r} names no two commits: write BASE..HEAD, as in main..HEAD")
    top = read_top(repo)
    if top is None or top.resolve() != repo.resolve():
        raise UsageError(f"{repo} is not the top folder of a git repository: name that with --repo DIR")

    store = ObjectStore.open(repo)
    try:
        old, new = read_commit(repo, base), read_commit(repo, head or "HEAD")
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
        identity = open_backend(change.after).identity
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
