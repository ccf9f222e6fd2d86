"""``incumbent evaluate``: the classifier against labels, from files, the ledger, and classifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from incumbent.classifier.classify import classify
from incumbent.classifier.corrections import Corrections, merged
from incumbent.classifier.evaluation.labels import (
    LEFT_OUT,
    CorrectedQueries,
    LabelledQuery,
    LabelVocabulary,
    corrected,
    join,
    read_labelled_queries,
)
from incumbent.classifier.evaluation.measures import (
    Predictions,
    Sampling,
    compare,
    evaluate,
    lay_out,
    predict,
    unpredicted,
)
from incumbent.classifier.usage import Usage
from incumbent.cli.options import (
    FOLDER,
    LABELS,
    Command,
    json_option,
    labels_in,
    note_config,
    read_named,
    repository_options,
)
from incumbent.cli.output import print_json, progress_bar, say, show_usage, write_files
from incumbent.curator.corrections import by_hand, load_corrections
from incumbent.errors import IncompleteError, IncumbentError, InputError, Problem, UsageError
from incumbent.files.documents import parse_json
from incumbent.files.snapshot import WorkingTree
from incumbent.files.validation import validate
from incumbent.intake.agents.reading import read_specification
from incumbent.intake.eval_sets.folder import read_eval_sets
from incumbent.intake.query import Query
from incumbent.intake.specification import UNDECLARED, Specification
from incumbent.ledger.migrated import corrections_in
from incumbent.ledger.model import BRANCH, CORRECTIONS, CorrectionRecord
from incumbent.ledger.store import load, open_ledger
from incumbent.pipeline.matching import content_of
from incumbent.pipeline.review import Platform
from incumbent.pipeline.submission import submission_folders
from incumbent.pipeline.workspace import open_platform
from incumbent.taxonomy.config import REVIEWED_FILES, ClassifierSettings, load_config
from incumbent.taxonomy.migration import lineage
from incumbent.taxonomy.model import Taxonomy
from incumbent.text.compare import text_key
from incumbent.text.did_you_mean import did_you_mean

if TYPE_CHECKING:
    from incumbent.report.evaluation import EvaluateOutput

_FILE: Final = click.Path(path_type=Path, dir_okay=False)
_PLACES: Final = 10
"""The most queries without a prediction that a message names."""


def _source_options(function: Command) -> Command:
    """Options for the sources of labels and predictions."""
    for option in (
        click.option(
            "--against",
            metavar="CONFIG|FILE.json",
            help="Compare with another classifier: that of another config, or predictions that --save wrote.",
        ),
        click.option(
            "--save", type=_FILE, metavar="FILE", help="Keep the predictions, for --predictions and --against."
        ),
        click.option(
            "--predictions",
            type=_FILE,
            metavar="FILE",
            help="Measure predictions that --save wrote; ask no classifier.",
        ),
        click.option(
            "--agent",
            type=FOLDER,
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
        click.option("--labels", multiple=True, type=_FILE, metavar="FILE...", help="Label files, TSV or YAML."),
        click.argument("more", nargs=-1, type=_FILE, metavar=""),
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
def evaluate_command(
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
    if more and not labels:
        raise UsageError(f"say what {more[0]} is: `--labels {more[0]}`")
    if save is not None and predictions is not None:
        raise UsageError("--predictions are saved already: leave out --save, or --predictions")
    platform = open_platform(repo, config_path)
    vocabulary = LabelVocabulary(
        taxonomy=platform.taxonomy,
        meanings=read_meanings(names, platform.taxonomy),
        with_agent=agent is not None,
    )
    specification = agent_specification(agent, platform)

    # Read everything that people wrote before a classifier is asked.
    queries = labelled_queries((*labels, *more), ledger, repo, platform, vocabulary)
    ours = None if predictions is None else load_predictions(predictions, specification)
    theirs, other = None, None
    if against is not None and against.lower().endswith(".json"):
        theirs = load_predictions(Path(against), specification)
    elif against is not None:
        config = load_config(WorkingTree(repo), frozenset(platform.taxonomy.by_id), against)
        note_config(config)
        other = config.classifier
    names_count = platform.config.personal_data.names
    if ours is None:
        note_config(platform.config)
        ours = ask(queries, specification, platform.config.classifier, vocabulary, names=names_count)
    if save is not None:
        write_files({save: ours.predictions.text})
    if other is not None:
        theirs = ask(queries, specification, other, vocabulary, names=names_count)

    output = _measure(queries, ours, theirs, against or "", vocabulary.capabilities, Sampling(resamples, seed), bins)
    if as_json:
        print_json(output)
    else:
        from incumbent.report.evaluation import print_evaluation

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
    from incumbent.report import evaluation as outputs

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicted:
    """Predictions by query key.

    ``shortfalls`` says why a query has none, ``stopped`` what stopped the classifier, if anything did, and ``usage``
    what it cost.
    """

    predictions: Predictions
    shortfalls: Mapping[str, str] = field(default_factory=dict)
    stopped: IncumbentError | None = None
    usage: Usage | None = None


def read_meanings(given: Sequence[str], taxonomy: Taxonomy) -> dict[str, str]:
    """``--name NAME=CAPABILITY`` as a mapping; raises :class:`UsageError` for any other form."""
    meanings: dict[str, str] = {}
    for item in given:
        name, equals, meaning = (part.strip() for part in item.partition("="))
        if not (name and equals and meaning):
            raise UsageError(f"--name must be NAME=CAPABILITY, and is {item!r}")
        if meaning != LEFT_OUT and meaning not in taxonomy.by_id:
            raise UsageError(
                f"--name: the taxonomy has no capability {meaning!r}{did_you_mean(meaning, taxonomy.by_id)}"
            )
        if meanings.setdefault(name, meaning) != meaning:
            raise UsageError(f"--name: {name!r} means two capabilities; keep one of the two")
    return meanings


def agent_specification(folder: Path | None, platform: Platform) -> Specification:
    """The specification of the agent in ``folder``; without a folder, an empty one."""
    if folder is None:
        return UNDECLARED
    return read_specification(WorkingTree(folder, folder.as_posix()), platform.config.limits)


def read_label_files(
    files: Sequence[Path], vocabulary: LabelVocabulary, platform: Platform
) -> tuple[LabelledQuery, ...]:
    """The labelled queries of ``files``; raises one :class:`InputError` with all their faults."""
    contents: dict[str, bytes] = {}
    problems: list[Problem] = []
    for path in files:
        try:
            contents[path.as_posix()] = read_named(path, REVIEWED_FILES.file_bytes)
        except InputError as error:
            problems.extend(error.problems)
    try:
        found = read_labelled_queries(contents, vocabulary, platform.config.limits)
    except InputError as error:
        problems.extend(error.problems)
    if problems:
        raise InputError(problems)
    return found


def read_corrections(repo: Path, platform: Platform, vocabulary: LabelVocabulary) -> CorrectedQueries:
    """People's corrections, from files and the local clone's ledger, joined with the texts in the working tree."""
    texts = load_corrections(WorkingTree(repo), platform.taxonomy)
    recorded: Corrections = {}
    with ExitStack() as stack:
        found = open_ledger(repo, stack)
        if isinstance(found, str):
            if not texts:
                raise UsageError(found)
        else:
            record = load(found.snapshot, CORRECTIONS, CorrectionRecord) or CorrectionRecord()
            # Corrections do not record a version.
            named = {name for tags in record.texts.values() for name in tags}
            recorded = corrections_in(record, lineage(platform.taxonomy, named, found.previous_taxonomies))
    said = merged(platform.taxonomy, [by_hand(texts), recorded])
    known = {text: item.turns for text, item in texts.items()} | _texts(repo, platform)
    return corrected(said, known, vocabulary, CORRECTIONS)


def _texts(repo: Path, platform: Platform) -> dict[str, tuple[str, ...]]:
    """The digests of all texts of the regression set and of the eval sets in the working tree, with their turns."""
    known = platform.regression_set
    found = [content_of(item)[0] for part in (known.entries, known.waiting, known.tombstones) for item in part.values()]
    for folder in submission_folders(WorkingTree(repo)):
        try:
            eval_sets = read_eval_sets(WorkingTree(repo / folder, folder), platform.config.limits)
        except InputError:
            # `incumbent validate` reports the faults of this one; the texts of the others are still useful.
            continue
        found += [query.turns for eval_set in eval_sets for query in eval_set.queries]
    return {text_key(turns): turns for turns in found}


def labelled_queries(
    files: Sequence[Path], ledger: bool, repo: Path, platform: Platform, vocabulary: LabelVocabulary
) -> tuple[LabelledQuery, ...]:
    """The labels of all sources in one; raises :class:`InputError` if there are none."""
    if not files and not ledger:
        files = labels_in(repo)
        if not files:
            place = (repo / LABELS).as_posix()
            raise UsageError(f"there are no labels: give --labels FILE or --ledger, or put files into {place}/")
    queries = read_label_files(files, vocabulary, platform)
    if ledger:
        found = read_corrections(repo, platform, vocabulary)
        queries = join([*queries, *found.queries])
        say(f"queries that people corrected: {len(found.queries)}", err=True)
        if found.lost:
            say(f"left out: corrections of texts that are not here any more: {len(found.lost)}", err=True)
        if found.unlabelled:
            say(f"left out: corrections of {', '.join(found.unlabelled)}, which cannot be labelled here", err=True)
    queries = tuple(query for query in queries if query.values)
    if not queries:
        source = ", ".join(path.as_posix() for path in files) or BRANCH
        raise InputError(
            [Problem(source, None, "nothing is labelled there", "label some queries (docs/evaluation.md)")]
        )
    return queries


def ask(
    queries: Sequence[LabelledQuery],
    specification: Specification,
    settings: ClassifierSettings,
    vocabulary: LabelVocabulary,
    *,
    names: bool,
) -> Predicted:
    """The predictions for ``queries`` of the classifier in ``settings``; reports its cost on standard error.

    ``names``: people's names are masked, too, before a query is sent.  Raises what stopped the classifier if it has
    predicted nothing by then.
    """
    # Imported here: saved predictions need none of it, and it is slow to load.
    from incumbent.classifier.backends import make_backend

    backend = make_backend(settings, vocabulary.taxonomy, stages=progress_bar, names=names)
    asked = [Query(id=query.key, turns=query.turns, file=query.file, line=query.line) for query in queries]
    result = classify(asked, specification, vocabulary.taxonomy, backend, progress_bar("classifying"))
    show_usage(backend)
    if result.stopped is not None and not result.classifications:
        raise result.stopped
    predictions = Predictions(
        classifier=backend.identity,
        taxonomy=vocabulary.taxonomy.version,
        specification=specification.digest,
        queries={id: predict(item, vocabulary.capabilities) for id, item in result.classifications.items()},
    )
    return Predicted(predictions=predictions, shortfalls=result.shortfalls, stopped=result.stopped, usage=backend.usage)


def load_predictions(path: Path, specification: Specification) -> Predicted:
    """Predictions saved earlier; raises :class:`UsageError` for those of another agent."""
    found = validate(
        Predictions, parse_json(read_named(path, REVIEWED_FILES.file_bytes), path.as_posix(), REVIEWED_FILES)
    )
    if found.specification != specification.digest:
        raise UsageError(f"{path} holds predictions for another agent: give the same --agent as then")
    return Predicted(predictions=found)
