"""``incumbent evaluate``: the classifier against labels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.cli.options import Command, json_option, print_json, repository_options
from bot.errors import IncompleteError, UsageError
from bot.pipeline.workspace import open_platform

if TYPE_CHECKING:
    from bot.cli.evaluation_sources import Predicted
    from bot.evaluation.labels import LabelledQuery
    from bot.evaluation.measures import Sampling
    from bot.report.evaluation import EvaluateOutput

FILE = click.Path(path_type=Path, dir_okay=False)
_PLACES = 10  # the most queries without a prediction that a message names


def _source_options(function: Command) -> Command:
    """Options for the sources of labels and predictions."""
    for option in (
        click.option(
            "--against",
            metavar="CONFIG|FILE.json",
            help="Compare with another classifier: that of another config, or predictions that --save wrote.",
        ),
        click.option(
            "--save", type=FILE, metavar="FILE", help="Keep the predictions, for --predictions and --against."
        ),
        click.option(
            "--predictions", type=FILE, metavar="FILE", help="Measure predictions that --save wrote; ask no classifier."
        ),
        click.option(
            "--agent",
            type=click.Path(exists=True, file_okay=False, path_type=Path),
            metavar="DIR",
            help="The agent package that all queries are for, so that `source: spec` capabilities can be labelled.",
        ),
        click.option(
            "--name",
            "names",
            multiple=True,
            metavar="NAME=CAPABILITY",
            help="The meaning of a name in label files; `NAME=-` leaves it out. Repeatable.",
        ),
        click.option("--ledger", is_flag=True, help="People's corrections in the local branch incumbent/ledger."),
        click.option("--labels", multiple=True, type=FILE, metavar="FILE...", help="Label files, TSV or YAML."),
        click.argument("more", nargs=-1, type=FILE, metavar=""),
    ):
        function = option(function)
    return function


def _measure_options(function: Command) -> Command:
    """Options for computing and showing measures."""
    for option in (
        click.option(
            "--bins",
            type=click.IntRange(2, 100),
            default=10,
            show_default=True,
            help="Bins of equal width that calibration is judged in.",
        ),
        click.option(
            "--seed",
            type=click.IntRange(0, 2**32 - 1),
            default=20260101,
            show_default=True,
            help="Seed of the bootstrap.",
        ),
        click.option(
            "--resamples",
            type=click.IntRange(100, 100_000),
            default=2000,
            show_default=True,
            help="Resamples of the bootstrap.",
        ),
    ):
        function = option(function)
    return function


@click.command("evaluate")
@_source_options
@_measure_options
@repository_options
@json_option
def command(
    labels: tuple[Path, ...],
    more: tuple[Path, ...],
    ledger: bool,
    names: tuple[str, ...],
    agent: Path | None,
    predictions: Path | None,
    save: Path | None,
    against: str | None,
    resamples: int,
    seed: int,
    bins: int,
    repo: Path,
    config_path: str,
    as_json: bool,
) -> None:
    """Measure the classifier against labels: correlation with intervals, and calibration.

    Without --labels and --ledger, the label files in labels/ of the platform repository are taken.

    \b
    Examples:
      incumbent evaluate --labels labels/*.yaml
      incumbent evaluate --labels queries.tsv --name attach_audio=request.attachments.audio
      incumbent evaluate --labels queries.tsv --against config/other.yaml
      incumbent evaluate --labels queries.tsv --save before.json
      incumbent evaluate --labels queries.tsv --against before.json --json
    """
    from bot.cli import evaluation_sources as sources
    from bot.config import load_config
    from bot.evaluation.labels import LabelVocabulary
    from bot.evaluation.measures import Sampling
    from bot.files.snapshot import WorkingTree

    if more and not labels:
        raise UsageError(f"say what {more[0]} is: `--labels {more[0]}`")
    if save is not None and predictions is not None:
        raise UsageError("--predictions are saved already: leave out --save, or --predictions")
    platform = open_platform(repo, config_path)
    vocabulary = LabelVocabulary(
        taxonomy=platform.taxonomy,
        meanings=sources.read_meanings(names, platform.taxonomy),
        with_agent=agent is not None,
    )
    specification = sources.agent_specification(agent, platform)

    # Read everything that people wrote before a classifier is asked.
    queries = sources.labelled_queries((*labels, *more), ledger, repo, platform, vocabulary)
    ours = None if predictions is None else sources.load_predictions(predictions, specification)
    theirs, other = None, None
    if against is not None and against.lower().endswith(".json"):
        theirs = sources.load_predictions(Path(against), specification)
    elif against is not None:
        other = load_config(WorkingTree(repo), frozenset(platform.taxonomy.by_id), against).classifier
    names_count = platform.config.personal_data.names
    if ours is None:
        ours = sources.ask(queries, specification, platform.config.classifier, vocabulary, names=names_count)
    if save is not None:
        sources.write_files({save: ours.predictions.text})
    if other is not None:
        theirs = sources.ask(queries, specification, other, vocabulary, names=names_count)

    output = _measure(queries, ours, theirs, against or "", vocabulary.capabilities, Sampling(resamples, seed), bins)
    if as_json:
        print_json(output)
    else:
        from bot.report.evaluation import print_evaluation

        print_evaluation(output)
    _refuse_incomplete(queries, output, [each for each in (ours, theirs) if each is not None])


def _refuse_incomplete(queries: Sequence[LabelledQuery], output: EvaluateOutput, asked: Sequence[Predicted]) -> None:
    """Raise what stopped a classifier, or that queries were left out, each with the reason if that is known."""
    for each in asked:
        if each.stopped is not None:
            raise each.stopped
    if not output.unclassified:
        return
    why = {
        (query.file, query.line): each.shortfalls[query.key]
        for each in asked
        for query in queries
        if query.key in each.shortfalls
    }
    places = []
    for item in output.unclassified[:_PLACES]:
        place = item.file if item.line is None else f"{item.file}:{item.line}"
        reason = why.get((item.file, item.line))
        places.append(place if reason is None else f"{place} ({reason})")
    count = len(output.unclassified)
    more = f" and {count - _PLACES} more" if count > _PLACES else ""
    raise IncompleteError(
        f"left out, having no prediction: {count} {'query' if count == 1 else 'queries'}: "
        f"{', '.join(places)}{more}; run again"
    )


def _measure(
    queries: Sequence[LabelledQuery],
    ours: Predicted,
    theirs: Predicted | None,
    name: str,
    capabilities: Sequence[str],
    sampling: Sampling,
    bins: int,
) -> EvaluateOutput:
    """The measures over the ``queries`` that all classifiers have predicted; ``name`` is the user's name of the other
    one.

    If there are none, raises what stopped a classifier, or else :class:`IncompleteError`.
    """
    from bot.evaluation.measures import compare, evaluate, lay_out, unpredicted
    from bot.report import evaluation as outputs

    asked = [each for each in (ours, theirs) if each is not None]
    missing = {item.key for each in asked for item in unpredicted(queries, each.predictions)}
    measured = [query for query in queries if query.key not in missing]
    if not measured:
        for each in asked:
            if each.stopped is not None:
                raise each.stopped
        raise IncompleteError(f"no query has a prediction, of {len(queries)} that are labelled; run again")
    cells = lay_out(measured, ours.predictions, capabilities)
    against = None
    if theirs is None:
        evaluation = evaluate(cells, sampling, bins)
    else:
        other = theirs.predictions
        evaluation, comparison = compare(cells, lay_out(measured, other, capabilities), sampling, bins)
        against = outputs.against(name, comparison, other.classifier, bins, theirs.usage)
    left_out = (query for query in queries if query.key in missing)
    unclassified = sorted(left_out, key=lambda query: (query.file, query.line or 0))
    own = ours.predictions
    return outputs.EvaluateOutput.of(
        evaluation, own.classifier, own.taxonomy, unclassified, sampling, bins, against, ours.usage
    )
