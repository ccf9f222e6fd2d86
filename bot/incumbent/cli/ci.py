"""``incumbent ci``: what the Action runs; anyone can run it by hand with an event file."""

from __future__ import annotations

import functools
import json
import logging
import os
import random
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

import click
from pydantic import BaseModel

from incumbent.cli.options import FILE, note_platform, read_all_named, whole_text
from incumbent.cli.output import log, print_json, progress_bar, show_usage
from incumbent.errors import InputError, OutsideError, Problem, UsageError
from incumbent.github.events import DEFAULT_BRANCH_EVENTS, page_of_run, product_files, server_of
from incumbent.taxonomy.config import RESULT_FILES
from incumbent.text.masking import masked_data

if TYPE_CHECKING:
    from incumbent.github.client import GitHubClient
    from incumbent.github.events import Event
    from incumbent.github.facts import Absence, Analysis, Quiet, StoppedFacts
    from incumbent.github.git_state import World
    from incumbent.github.model_opener import ModelOpener
    from incumbent.github.publication import Publication
    from incumbent.github.publish_plan import PublishPlan
    from incumbent.reconcile.inventory import Inventory

Model = TypeVar("Model", bound=BaseModel)
DOCUMENT = "incumbent-analysis.json"
LARGEST_OUTPUT = 900_000
"""GitHub's limit for an output of a job (1 MB)."""


@click.command("ci")
@click.argument(
    "step", type=click.Choice(["analyse", "publish", "both", "results", "fit"]), default="both", metavar="[STEP]"
)
@click.option(
    "--event-name", envvar="GITHUB_EVENT_NAME", metavar="NAME", help="The event's name [env: GITHUB_EVENT_NAME]."
)
@click.option(
    "--event",
    "event_file",
    envvar="GITHUB_EVENT_PATH",
    type=FILE,
    metavar="FILE",
    help="The event's payload as JSON [env: GITHUB_EVENT_PATH].",
)
@click.option(
    "--analysis",
    "document",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path(DOCUMENT),
    show_default=True,
    metavar="FILE",
    help="The document of facts that analyse writes and publish reads.",
)
@click.option(
    "--login",
    default="github-actions[bot]",
    show_default=True,
    metavar="NAME",
    help="The account that the token acts as.",
)
@click.option(
    "--results",
    envvar="INCUMBENT_RESULTS",
    metavar="PATTERN",
    help="For results: the files that runners wrote, a path or a pattern such as out/*.xml; one on each line.",
)
@click.option(
    "--release",
    envvar="INCUMBENT_RELEASE",
    metavar="NAME",
    callback=whole_text,
    help="For results: the release (default: its tag or commit).",
)
@click.option(
    "--results-format",
    "form",
    envvar="INCUMBENT_RESULTS_FORMAT",
    metavar="NAME",
    help="For results: their format (default: what they look like).",
)
@click.option(
    "--site",
    envvar="INCUMBENT_SITE",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="For publish: write a page of what the pull request would change into this folder.",
)
@click.option(
    "--models",
    envvar="INCUMBENT_MODELS",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="For fit: write the fitted model into this folder. For analyse: it was restored there.",
)
@click.option(
    "--name-model",
    envvar="INCUMBENT_NAME_MODEL",
    is_flag=True,
    help="For analyse: if a model can be restored, end, and name it in the output `model`.",
)
@click.option("--dry-run", is_flag=True, help="Print the plan of writes, and write nothing to GitHub.")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print JSON (schema: `incumbent schema ci-output`; of results `results-add-output`).",
)
def ci_command(
    step: str,
    event_name: str | None,
    event_file: Path | None,
    document: Path,
    login: str,
    results: str | None,
    release: str | None,
    form: str | None,
    site: Path | None,
    models: Path | None,
    name_model: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Review the pull request that an event is about, or take in what was merged: STEP is analyse, publish or both.

    `analyse` reads what customers wrote and needs no right to write; `publish` writes, and reads none of it. The
    token is taken from GITHUB_TOKEN, addresses from GITHUB_API_URL and GITHUB_SERVER_URL.

    `results` is a step of its own for a job that ran the set: it counts what runners wrote on the ledger. So is `fit`,
    for a platform with a taxonomy of its own: it fits the model that all reviews use, and records its digest there.

    \b
    Examples:
      incumbent ci --event event.json --event-name pull_request_target --dry-run
      incumbent ci analyse
      incumbent ci publish
      incumbent ci results --results 'out/*.xml' --release v1.4
      incumbent ci fit --models fitted
    """
    from incumbent.github.events import read_event, with_repository

    if step == "results":
        return _count_results(results or "", release, form, login, dict(os.environ), dry_run, as_json)
    if step == "fit":
        return _fit_model(models, login, dict(os.environ), dry_run)
    if event_name is None or event_file is None:
        raise UsageError("say which event: --event-name NAME and --event FILE, as GitHub sends them")
    environment = dict(os.environ)
    event = read_event(event_name, with_repository(event_name, _payload(event_file), environment))
    with tempfile.TemporaryDirectory(prefix="incumbent-") as folder:
        world = replace(_world(Path(folder), event, environment), has_site=site is not None)
        lost = _LostFiles()
        logging.getLogger(_LEDGER).addHandler(lost)
        try:
            if step in ("analyse", "both"):
                opener = _opener(models, name_model, again=event.seeks)
                try:
                    _analyse(event, world, document, login, environment, as_json, opener)
                finally:
                    if event_name in DEFAULT_BRANCH_EVENTS and opener.lacks_model:
                        _set_output(environment, "fit", "needed")
            if step == "analyse":
                return 0
            publication = _publish(event, world, document, login, environment, dry_run, site)
        finally:
            logging.getLogger(_LEDGER).removeHandler(lost)
            world.store.close()
    _report(publication, environment, dry_run, as_json)
    if publication.incomplete is not None:
        log(f"incomplete: {_with_way_out(publication.incomplete)}", error=True)
        return publication.incomplete.exit_code
    if publication.result is None or (publication.judged and not dry_run):
        # The check shows how the review ended: the job itself succeeded.
        return 0
    return publication.result.exit_code


_LEDGER: Final = "incumbent.ledger.store"


class _LostFiles(logging.Handler):
    """Writes to the log of the job which files of the ledger are lost, each once."""

    def __init__(self) -> None:
        super().__init__()
        self._named: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if message not in self._named:
            self._named.add(message)
            log(message, error=True)


def _with_way_out(stopped: StoppedFacts) -> str:
    from incumbent.github.fitted_models import WAYS_OUT

    return stopped.message if stopped.lacks is None else f"{stopped.message}. {WAYS_OUT[stopped.lacks]}"


def _count_results(
    patterns: str,
    release: str | None,
    form: str | None,
    login: str,
    environment: Mapping[str, str],
    dry_run: bool,
    as_json: bool,
) -> int:
    """Count what runners wrote of a release, and say in the job's summary what all releases show."""
    from incumbent.github.events import Event, Flow
    from incumbent.github.results_job import ReleaseRun, count_run
    from incumbent.report.results import added_overview, run_summary

    repository = environment.get("GITHUB_REPOSITORY")
    if not repository:
        raise UsageError("there is no repository: set GITHUB_REPOSITORY")
    commit = environment.get("GITHUB_SHA") or None
    tag = environment.get("GITHUB_REF_NAME") if environment.get("GITHUB_REF_TYPE") == "tag" else None
    name = (release or tag or (commit or "")[:12]).strip()
    if not name:
        raise UsageError("there is no release: name it with --release")
    run = ReleaseRun(release=name, commit=commit, files=_result_files(patterns), form=form or None)
    client = _client(repository, login, environment)
    event = Event(flow=Flow.NOTHING, repository=repository, default_branch=client.default_branch())
    with tempfile.TemporaryDirectory(prefix="incumbent-") as folder:
        world = _world(Path(folder), event, environment)
        try:
            counted = count_run(run, event, world, client, _wait, dry_run)
        finally:
            world.store.close()
    output = added_overview(counted.addition, counted.commit)
    summary = run_summary(output, counted.platform, counted.releases)
    if as_json:
        print_json(output)
    else:
        written = "written to the ledger" if counted.commit else "nothing written"
        log(f"{output.release}: {output.results} results counted, {len(output.unmatched)} fit no entry; {written}")
    _hand_over(environment, "none", output, summary)
    return 0


def _fit_model(folder: Path | None, login: str, environment: Mapping[str, str], dry_run: bool) -> int:
    """Fit the model of the default branch into ``folder``, and record it on the ledger."""
    from incumbent.github.events import Event, Flow
    from incumbent.github.fit_job import fit_own_model

    repository = environment.get("GITHUB_REPOSITORY")
    if not repository:
        raise UsageError("there is no repository: set GITHUB_REPOSITORY")
    if folder is None:
        raise UsageError("say where the fitted model is to be written: --models DIR")
    client = _client(repository, login, environment)
    event = Event(flow=Flow.NOTHING, repository=repository, default_branch=client.default_branch())
    with tempfile.TemporaryDirectory(prefix="incumbent-") as place:
        world = _world(Path(place), event, environment)
        try:
            run = fit_own_model(event, world, client, folder, progress_bar, _wait, dry_run)
        finally:
            world.store.close()
    if run.model is None:
        log("the model of this taxonomy ships with Incumbent: nothing is to be fitted")
        return 0
    if run.before not in (None, run.model.digest):
        log(f"the ledger recorded {run.before} before, which another version made or a person changed")
    log(
        f"{run.model.key}: {run.model.digest}; "
        + (f"written to the ledger ({run.commit[:12]})" if run.commit else "nothing written to the ledger")
    )
    _set_output(environment, "model", run.model.key)
    return 0


def _result_files(patterns: str) -> dict[str, bytes]:
    """The files that ``patterns`` name, one on each line; raises :class:`InputError` for lines that name none."""
    named = {pattern: _matching(Path(pattern)) for pattern in filter(None, map(str.strip, patterns.splitlines()))}
    if not named:
        raise UsageError("there is nothing to count: name the files that the runner wrote with --results")
    fix = "name the files that the runner wrote"
    problems = [Problem(name, None, "there is no such file", fix) for name, found in named.items() if not found]
    try:
        contents = read_all_named(chain.from_iterable(named.values()), RESULT_FILES.file_bytes)
    except InputError as error:
        problems += error.problems
    if problems:
        raise InputError(problems)
    return contents


def _matching(pattern: Path) -> list[Path]:
    try:
        # A name may have the signs of patterns in it.
        if pattern.is_file():
            return [pattern]
        found = sorted(Path(pattern.anchor).glob(str(pattern.relative_to(pattern.anchor))))
        return [file for file in found if file.is_file()]
    except (ValueError, IndexError, OSError):
        # No pattern, or a folder that cannot be read.
        return []


def _payload(file: Path) -> Mapping[str, Any]:
    try:
        payload = json.loads(file.read_bytes())
    except (OSError, ValueError) as error:
        raise UsageError(f"{file} holds no event: {error}") from None
    if not isinstance(payload, dict):
        raise UsageError(f"{file} holds no event: it is not a JSON object")
    return payload


def _world(folder: Path, event: Event, environment: Mapping[str, str]) -> World:
    from incumbent.files.git import ObjectStore
    from incumbent.github.git_state import World

    return World(
        store=ObjectStore.create(folder / "objects.git"),
        url=f"{server_of(environment)}/{event.repository}",
        token=environment.get("GITHUB_TOKEN") or None,
        run=page_of_run(event.repository, environment),
        product=product_files(environment.get("INCUMBENT_ACTION"), environment),
    )


def _client(repository: str, login: str, environment: Mapping[str, str]) -> GitHubClient:
    from incumbent.github.client import GitHubClient

    token = environment.get("GITHUB_TOKEN")
    if not token:
        raise UsageError("there is no token: set GITHUB_TOKEN")
    api_url = environment.get("GITHUB_API_URL", "https://api.github.com")
    return GitHubClient(repository, token, api_url, login, page_of_run(repository, environment))


def _opener(models: Path | None, names: bool, again: bool) -> ModelOpener:
    from incumbent.github.model_opener import ModelOpener

    @functools.cache
    def refused(what: str) -> None:
        way_out = "delete it (Actions → Caches), and run the workflow by hand"
        log(f"{what}; the model is fitted here. To have it again, {way_out}", error=True)

    return ModelOpener(models, names, again, progress_bar, refused, note_platform)


def _analyse(
    event: Event,
    world: World,
    document: Path,
    login: str,
    environment: Mapping[str, str],
    quiet: bool,
    opener: ModelOpener,
) -> None:
    from incumbent.github.events import Flow
    from incumbent.github.model_opener import ModelWantedError
    from incumbent.github.run import analyse_event, redirected
    from incumbent.reconcile.inventory import Inventory
    from incumbent.reconcile.run import survey_event

    try:
        document.unlink(missing_ok=True)
    except OSError as error:
        raise OutsideError(f"{document} cannot be written: {error.strerror}") from None
    progress = progress_bar("classifying")
    # One for the whole run, since its waits add up.
    client = functools.cache(functools.partial(_client, event.repository, login, environment))
    event = redirected(event, lambda number: client().pull_request(number))
    found: Analysis | Inventory | str
    say: Callable[[str], None] = (lambda text: None) if quiet else log
    try:
        if event.flow is Flow.RECONCILE:
            found = survey_event(event, world, opener, progress)
        else:
            found = analyse_event(event, world, opener, progress, client)
    except ModelWantedError as error:
        _set_output(environment, "model", error.key)
        say(f"the fitted model {error.key} is to be restored first")
        return
    if isinstance(found, str):
        say(f"nothing to analyse: {found}")
        return
    # Without indentation: that of a large eval set would make it too large to be read.
    _write(document, found.model_dump_json() + "\n", "w")
    say(f"{found.work.classified} queries classified, {found.work.reused} known from before; facts in {document}")
    if isinstance(found, Inventory):
        for problem in found.problems:
            say(f"left out: {problem}")
    for backend in opener.opened:
        show_usage(backend)
    if found.work.stopped is not None:
        say(f"not every query was asked about: {_with_way_out(found.work.stopped)}")


def _publish(
    event: Event,
    world: World,
    document: Path,
    login: str,
    environment: Mapping[str, str],
    dry_run: bool,
    site: Path | None,
) -> Publication:
    from incumbent.github.events import Flow
    from incumbent.github.facts import Analysis, Quiet
    from incumbent.github.run import publish_event, redirected
    from incumbent.reconcile.inventory import Inventory
    from incumbent.reconcile.run import reconcile_event

    client = _client(event.repository, login, environment)
    facts = _read(document)
    if not isinstance(facts, Analysis):
        event = redirected(event, client.pull_request)
    absence: Absence = "unfinished"
    if facts == "other-version":
        absence = facts
    elif isinstance(facts, Quiet) and facts.quiet == event.head:
        absence = "quiet"
    if event.flow is Flow.RECONCILE:
        inventory = facts if isinstance(facts, Inventory) else None
        publication = reconcile_event(event, inventory, world, client, _wait, dry_run, absence)
    else:
        analysis = facts if isinstance(facts, Analysis) else None
        publication = publish_event(event, analysis, world, client, _wait, dry_run, absence)
    if site is not None and publication.plan is not None and publication.plan.summary:
        _write_page(site, publication.plan)
    return replace(publication, usage=facts.work.usage if isinstance(facts, Analysis | Inventory) else None)


def _write_page(folder: Path, plan: PublishPlan) -> None:
    """Write the page of what the pull request would change: from its facts and reviewed files, as the comment is."""
    from incumbent.github.comparison import comparison_of
    from incumbent.site.audience import Audience
    from incumbent.site.comparison_page import render_comparison
    from incumbent.site.folder import write_folder

    write_folder(folder, render_comparison(comparison_of(plan.analysis, plan.judgement), Audience()))


def _wait(attempt: int) -> None:
    """A few seconds, more after each attempt, and random, so that jobs that lost the race do not collide again."""
    time.sleep(random.SystemRandom().uniform(0, 2**attempt))


def _read(document: Path) -> Analysis | Inventory | Quiet | Literal["other-version"] | None:
    """The validated document; an invalid one counts as missing, which the check reports, as it does another version."""
    from incumbent.files.documents import as_mapping, parse_json
    from incumbent.files.validation import validate
    from incumbent.github.facts import DOCUMENT_LIMITS, FORMAT, Analysis, Quiet
    from incumbent.github.preflight import QUIET
    from incumbent.reconcile.inventory import Inventory

    if not document.is_file():
        return None
    try:
        found = parse_json(document.read_bytes(), document.name, DOCUMENT_LIMITS)
        data = as_mapping(found.data)
        if QUIET in data:
            return validate(Quiet, found)
        version = data.get("format")
        if type(version) is int and version != FORMAT:
            log(f"{document.name} is from another version of Incumbent: run all jobs again", error=True)
            return "other-version"
        return validate(Analysis, found) if "judged" in data else validate(Inventory, found)
    except InputError as error:
        log(f"{document.name} is no document of ours: {error}", error=True)
        return None


def _report(publication: Publication, environment: Mapping[str, str], dry_run: bool, as_json: bool) -> None:
    from incumbent.github.models import describe
    from incumbent.github.publication import CiOutput

    output = CiOutput.of(publication, dry_run)
    if as_json:
        print_json(output)
    else:
        if publication.why:
            log(publication.why)
        for operation in publication.operations:
            log(f"{'would ' if dry_run else ''}{describe(operation)}")
        log(f"check: {output.conclusion or 'none'}; {output.title}")
    _hand_over(environment, output.conclusion or "none", output, publication.summary)


def _hand_over(environment: Mapping[str, str], conclusion: str, output: BaseModel, summary: str) -> None:
    """Write the job's summary, and the outputs of the Action."""
    place, outputs = environment.get("GITHUB_STEP_SUMMARY"), environment.get("GITHUB_OUTPUT")
    if place and summary:
        _write(Path(place), summary + "\n", "a")
    if outputs:
        # One line each: JSON in ASCII escapes line breaks, so that no text can end the line.
        report = json.dumps(masked_data(output.model_dump(mode="json")), ensure_ascii=True, separators=(",", ":"))
        whole = report if len(report) <= LARGEST_OUTPUT else ""
        _write(Path(outputs), f"conclusion={conclusion}\nreport={whole}\n", "a")


def _set_output(environment: Mapping[str, str], name: str, value: str) -> None:
    """Set an output of the Action's step; ``value`` is one line."""
    outputs = environment.get("GITHUB_OUTPUT")
    if outputs:
        _write(Path(outputs), f"{name}={value}\n", "a")


def _write(file: Path, text: str, mode: str) -> None:
    try:
        with file.open(mode, encoding="utf-8", newline="\n") as stream:
            stream.write(text)
    except OSError as error:
        raise OutsideError(f"{file} cannot be written: {error.strerror}") from None
