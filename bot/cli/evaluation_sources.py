"""The labels and predictions of ``incumbent evaluate``: from files, the ledger, and classifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from bot.classifier.classify import classify
from bot.classifier.corrections import Corrections, merged
from bot.classifier.usage import Usage
from bot.cli.options import progress_bar, say, show_usage
from bot.config import REVIEWED_FILES, ClassifierSettings
from bot.curator.corrections import by_hand, load_corrections
from bot.errors import IncumbentError, InputError, OutsideError, Problem, UsageError
from bot.evaluation.labels import (
    DOCUMENTS,
    LEFT_OUT,
    CorrectedQueries,
    LabelledQuery,
    LabelVocabulary,
    corrected,
    join,
    read_labelled_queries,
)
from bot.evaluation.measures import Predictions, predict
from bot.files.documents import parse_json
from bot.files.snapshot import WorkingTree
from bot.files.validation import validate
from bot.intake.agents import read_specification
from bot.intake.eval_sets.folder import read_eval_sets
from bot.intake.query import Query
from bot.intake.specification import UNDECLARED, Specification
from bot.ledger.migrated import corrections_in
from bot.ledger.model import BRANCH, CorrectionRecord
from bot.ledger.store import load_corrections as load_recorded
from bot.ledger.store import open_ledger
from bot.pipeline.matching import content_of
from bot.pipeline.review import Platform
from bot.pipeline.submission import submission_folders
from bot.taxonomy.migration import lineage
from bot.taxonomy.model import Taxonomy
from bot.text.compare import text_key
from bot.text.did_you_mean import did_you_mean

LABELS_FOLDER = "labels"


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


def label_files(given: Sequence[Path], repo: Path, ledger: bool) -> tuple[Path, ...]:
    """The label files: those ``given``, or else, unless the ledger is read, those in the folder ``labels/``."""
    if given or ledger:
        return tuple(given)
    folder = repo / LABELS_FOLDER
    found = tuple(path for path in sorted(folder.glob("*")) if path.name.lower().endswith((".tsv", *DOCUMENTS)))
    if not found:
        raise UsageError(f"there are no labels: give --labels FILE or --ledger, or put files into {folder.as_posix()}/")
    return found


def read_label_files(
    files: Sequence[Path], vocabulary: LabelVocabulary, platform: Platform
) -> tuple[LabelledQuery, ...]:
    """The labelled queries of ``files``; raises one :class:`InputError` with all their faults."""
    contents: dict[str, bytes] = {}
    problems: list[Problem] = []
    for path in files:
        try:
            contents[path.as_posix()] = read_label_file(path)
        except InputError as error:
            problems.extend(error.problems)
    try:
        found = read_labelled_queries(contents, vocabulary, platform.config.limits)
    except InputError as error:
        problems.extend(error.problems)
    if problems:
        raise InputError(problems)
    return found


def read_label_file(path: Path) -> bytes:
    """The content of the file at ``path``, which people named: a link or a pipe is allowed, an endless one is not."""
    try:
        with path.open("rb") as stream:
            content = stream.read(REVIEWED_FILES.file_bytes + 1)
    except OSError as error:
        fault = Problem(path.as_posix(), None, f"the file cannot be read: {error.strerror}", "check its name")
        raise InputError([fault]) from None
    if len(content) > REVIEWED_FILES.file_bytes:
        message = f"the file has more than {REVIEWED_FILES.file_bytes:,} bytes"
        raise InputError([Problem(path.as_posix(), None, message, "split the file")])
    return content


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
            record = load_recorded(found.snapshot) or CorrectionRecord()
            # Corrections do not record a version.
            named = {name for tags in record.texts.values() for name in tags}
            recorded = corrections_in(record, lineage(platform.taxonomy, named, found.previous_taxonomies))
    said = merged(platform.taxonomy, [by_hand(texts), recorded])
    known = {text: item.turns for text, item in texts.items()} | _texts(repo, platform)
    return corrected(said, known, vocabulary)


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
    queries = read_label_files(label_files(files, repo, ledger), vocabulary, platform)
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
    from bot.classifier.backends import make_backend

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
        queries={item.query_id: predict(item, vocabulary.capabilities) for item in result.classifications},
    )
    return Predicted(predictions=predictions, shortfalls=result.shortfalls, stopped=result.stopped, usage=backend.usage)


def load_predictions(path: Path, specification: Specification) -> Predicted:
    """Predictions saved earlier; raises :class:`UsageError` for those of another agent."""
    found = validate(Predictions, parse_json(read_label_file(path), path.as_posix(), REVIEWED_FILES))
    if found.specification != specification.digest:
        raise UsageError(f"{path} holds predictions for another agent: give the same --agent as then")
    return Predicted(predictions=found)


def write_files(files: Mapping[Path, str]) -> None:
    """Write ``files`` and create their folders; raises :class:`OutsideError` if the file system refuses."""
    for path, text in files.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        except OSError as error:
            raise OutsideError(f"{path} cannot be written: {error.strerror}; name another place") from None
