"""``incumbent triage``: from production traffic to a shortlist."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import click

from incumbent.cli.options import FILE, FOLDER, batch_options, json_option, open_backend, repository_options
from incumbent.cli.output import (
    print_json,
    progress_lines,
    report_batches,
    say,
    show_problems,
    show_usage,
)
from incumbent.errors import IncompleteError, InputError, Problem, UsageError
from incumbent.extras import require_extra
from incumbent.files.snapshot import WorkingTree
from incumbent.pipeline.admit import refuse_stale
from incumbent.pipeline.review import Platform
from incumbent.pipeline.submission import Package, Submission, faults_of_names
from incumbent.pipeline.workspace import open_platform


@click.command("triage")
@click.argument("inputs", nargs=-1, required=True, type=FILE)
@click.option(
    "--agent",
    "agent_folder",
    type=FOLDER,
    metavar="DIR",
    help="The folder of the agent that was asked.",
)
@click.option(
    "--agents",
    "agents_folder",
    type=FOLDER,
    metavar="DIR",
    help="A folder of agents, each in CUSTOMER/AGENT.",
)
@click.option("--agent-column", metavar="NAME", help="With --agents: the column with the folder of each row's agent.")
@click.option("--customer", metavar="NAME", help="The customer's name (default: of the folder above the agent's).")
@click.option("--query-column", metavar="NAME", help="The column with the query (default: by its usual names).")
@click.option("--id-column", metavar="NAME", help="The column with the ids (default: by its usual names, if any).")
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="DIR", help="Where the result goes.")
@click.option("--work", type=click.Path(path_type=Path), metavar="DIR", help="Where work is kept (default: OUT.work).")
@click.option("--processes", type=click.IntRange(1, 256), metavar="N", help="Processes (default: one per core).")
@click.option("--ray", "address", metavar="ADDRESS", help="Classify on this Ray cluster: HOST:PORT, or auto.")
@click.option("--show-personal-data", "shows", is_flag=True, help="Carry personal data as it was; keys never.")
@click.option("--force", is_flag=True, help="Overwrite OUT, and start over where its work is of other inputs.")
@batch_options
@json_option
@repository_options
def triage_command(
    inputs: tuple[Path, ...],
    agent_folder: Path | None,
    agents_folder: Path | None,
    agent_column: str | None,
    customer: str | None,
    query_column: str | None,
    id_column: str | None,
    out: Path,
    work: Path | None,
    processes: int | None,
    address: str | None,
    shows: bool,
    force: bool,
    batch: bool,
    wait: bool,
    as_json: bool,
    repo: Path,
    config_path: str,
) -> int:
    """Find the few raw queries of production traffic that would have merit.

    INPUTS are Parquet, JSON Lines or CSV files, optionally gzipped. Give the folder of the agent that they were
    sent to with --agent, or of several with --agents and --agent-column. The folder OUT gets an eval set, a report and
    tables. Personal data and keys are masked on the way in. An interrupted run resumes where it stopped.

    \b
    Examples:
      incumbent triage traffic.parquet --agent eval_sets/contoso/repairs --out shortlist
      incumbent triage logs/*.jsonl.gz --agents eval_sets --agent-column bot --out shortlist
    """
    require_extra("triage", "`incumbent triage`")
    if address is not None:
        require_extra("cluster", "--ray")
    if (agent_folder is None) == (agents_folder is None) or (agents_folder is None) != (agent_column is None):
        raise UsageError("give --agent DIR, or --agents DIR with --agent-column NAME")
    if not out.name:
        raise UsageError(f"--out {out}: name a folder that can be replaced")
    folder = work or out.with_name(f"{out.name}.work")
    given = [path for path in (*inputs, agent_folder, agents_folder, repo) if path is not None]
    _refuse_nested(out, folder, given)
    from incumbent.classifier.backends import verify_weights
    from incumbent.text.digests import digest
    from incumbent.triage.cluster import RayCluster, reach
    from incumbent.triage.processes import TriageWorkers
    from incumbent.triage.reading import TrafficColumns, stamp
    from incumbent.triage.run import Assignment, refuse_other, triage
    from incumbent.triage.work_folder import open_work, writing_to

    refuse_other(out, replaces=force)

    platform = open_platform(repo, config_path)
    cluster = None
    if address is not None:
        if platform.config.classifier.backend != "embedded":
            raise UsageError("--ray: a language model is asked from one process, whose budget holds; leave --ray out")
        cluster = RayCluster(address=address, seconds=platform.config.triage.cluster_seconds)
        reach(cluster)
    packages = _packages(platform, agent_folder, agents_folder, customer)
    verify_weights(platform.config.classifier)
    backend = open_backend(platform, progress_lines, batch=batch)
    # What is stale counts for nothing, and the shortlist would repeat it.
    refuse_stale(platform.regression_set.present(platform.taxonomy, backend.identity)[1])
    assignment = Assignment(
        platform=platform,
        inputs=inputs,
        stamps=tuple(map(stamp, inputs)),
        columns=TrafficColumns(query=query_column, id=id_column, agent=agent_column),
        packages=packages,
        workers=TriageWorkers(
            processes=processes or os.cpu_count() or 1, megabytes=platform.config.triage.megabytes, cluster=cluster
        ),
        shows=shows,
    )
    of = {
        "inputs": [[str(path.resolve()), *stamp(path)] for path in inputs],
        "columns": [query_column, id_column, agent_column],
        "agents": digest([[name, repr(each.specification), repr(each.submission)] for name, each in packages.items()]),
        "shows": shows,
        "version": version("incumbent"),
        "identity": repr(backend.identity),
        "platform": digest(
            [
                platform.taxonomy.model_dump_json(),
                # How much memory there is, and how long to wait, changes no result.
                platform.config.model_dump_json(
                    exclude={"triage": {"megabytes", "reading_megabytes", "cluster_seconds"}}
                ),
                sorted(repr(each) for each in platform.regression_set.on_record.items()),
                sorted(repr(each) for each in platform.corrections.items()),
            ]
        ),
    }
    fix = (
        f"free some of its disk, and the same command goes on where it was; or delete {folder}, and start over with "
        "--work on another disk"
    )
    with writing_to(folder, fix, spilling=True), open_work(folder, of, anew=force) as kept:
        outcome = triage(
            assignment, backend, kept, out, progress_lines, wait=wait, report=report_batches, replaces=force
        )
    if as_json:
        from incumbent.triage.outcome import PrintedTriage, TriageOutput

        print_json(PrintedTriage(outcome, str(out), backend.usage), TriageOutput)
    else:
        chosen, counts = outcome.shortlist.chosen, outcome.summary.counts
        entering = sum(item.verdict.admitted for item in chosen)
        say(f"{outcome.rows:,} rows read, {outcome.unreadable:,} unreadable; {outcome.texts:,} texts")
        say(f"{counts.representatives:,} representatives, {len(chosen):,} in the shortlist:")
        if counts.unseen:
            say(f"looked at {counts.looked:,}, until many in a row brought no merit; {counts.unseen:,} are left")
        say(f"{entering:,} would enter, {len(chosen) - entering:,} would wait for a person")
        say(f"see {out / 'report.md'}")
    show_problems(outcome.problems)
    show_usage(backend)
    if outcome.unclassified:
        count = outcome.summary.counts.unclassified
        raise IncompleteError(f"{count:,} not classified, see the report; the same command with --force asks for these")
    return InputError.exit_code if outcome.unreadable else 0


def _refuse_nested(out: Path, work: Path, given: Sequence[Path]) -> None:
    """Raise :class:`UsageError` if one of ``out`` and ``work`` is inside the other, or contains what is ``given``."""
    places = out.resolve(), work.resolve()
    if places[0].is_relative_to(places[1]) or places[1].is_relative_to(places[0]):
        raise UsageError(f"{out} and {work} must not be one in the other; name another folder with --work")
    for option, place in zip(("--out", "--work"), places, strict=True):
        for path in given:
            if path.resolve().is_relative_to(place):
                raise UsageError(f"{path} is in the folder that {option} names; name another folder with {option}")


def _packages(
    platform: Platform, agent_folder: Path | None, agents_folder: Path | None, customer: str | None
) -> dict[str, Package]:
    """The agents by their names in rows: ``customer/agent``, or the agent's name alone if that is unique."""
    if agent_folder is not None:
        package = _package(platform, agent_folder, customer)
        return {package.submission.agent: package}
    if agents_folder is None:
        raise UsageError("give --agents DIR")
    problems: list[Problem] = []
    found: dict[str, Package] = {}
    for folder in sorted(path for path in agents_folder.glob("*/*") if path.is_dir()):
        try:
            found[f"{folder.parent.name}/{folder.name}"] = _package(platform, folder, customer)
        except InputError as error:
            problems += error.problems
    names: dict[tuple[str, str], str] = {}
    for name, package in found.items():
        place = package.submission.customer, package.submission.agent
        if (other := names.setdefault(place, name)) != name:
            said = f"the customer {place[0]} has two agents {place[1]}: {other} and {name}"
            problems.append(Problem(str(agents_folder), None, said, "rename one of them, or leave --customer out"))
    if problems:
        raise InputError(problems)
    if not found:
        fix = "put each agent in a folder CUSTOMER/AGENT of it"
        raise InputError([Problem(str(agents_folder), None, "there is no agent in it", fix)])
    return found


def _package(platform: Platform, folder: Path, customer: str | None) -> Package:
    """The agent in ``folder``, without queries."""
    from incumbent.intake.agents.reading import read_specification

    resolved = folder.resolve()
    names = customer or resolved.parent.name or "customer", resolved.name or "agent"
    problems = faults_of_names(*names, str(folder))
    if problems:
        raise InputError(problems)
    specification = read_specification(WorkingTree(folder, str(folder)), platform.config.limits)
    submission = Submission(customer=names[0], agent=names[1], folder=str(folder), queries=())
    return Package(submission=submission, specification=specification)
