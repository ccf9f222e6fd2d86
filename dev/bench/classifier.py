"""How good the embedded classifier is on texts that its fit has not seen: python -m dev.bench classifier.

By author, by language and by wording the exemplars themselves are judged, by fits without them: everything that an
author wrote is left out in turn, every language together with a fifth of the originals and all their translations, and
of the wordings a fifth of the requests.  Thresholds are those of the shipped fit, which rest on the first of the three.

The label files of other authors (tests/labels) are judged by the shipped fit.  Intervals are percentile intervals of a
bootstrap over queries, 95 %.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from incumbent.classifier.backends import named_embedder
from incumbent.classifier.classify import classify
from incumbent.classifier.embedded.backend import EmbeddedBackend
from incumbent.classifier.embedded.cache import ModelCache
from incumbent.classifier.embedded.fitting import Regression, ordered
from incumbent.classifier.embedded.model import FittedModel
from incumbent.classifier.evaluation.labels import LabelledQuery, LabelVocabulary, read_tsv, resolve
from incumbent.classifier.exemplars import ExemplarLabel, training_data
from incumbent.classifier.model import silent
from incumbent.errors import InputError
from incumbent.files.snapshot import WorkingTree
from incumbent.intake.query import Query
from incumbent.intake.specification import UNDECLARED
from incumbent.taxonomy.config import ClassifierSettings, Curation, load_config
from incumbent.taxonomy.loading import load_taxonomy
from incumbent.taxonomy.model import Taxonomy

Booleans = NDArray[np.bool_]
Floats = NDArray[np.float64]

REPOSITORY: Final = Path(__file__).parents[2]
LABELS: Final = REPOSITORY / "tests" / "labels"
UNSEEN: Final = (("unseen_1.tsv", "unseen_2.tsv"), ("unseen_3.tsv", "unseen_4.tsv"))
"""Label files by the capabilities that their authors were to write of."""
WORDINGS: Final = ("wordings.tsv", "wordings_2.tsv", "wordings_3.tsv")
MANUAL: Final = "hand-1", "hand-2", "hand-3"
"""Authors whose exemplars were written by capability, not as whole queries with all their labels."""
FOLDS: Final = 5
ENOUGH: Final = 10
"""So many queries exercise a capability at least that is part of a mean over capabilities."""
RESAMPLES: Final = 1_000


@dataclass(frozen=True)
class Judged:
    """Queries by capabilities: what is said, and what is right (1, 0, or not a number where nobody can tell)."""

    said: Booleans
    right: Floats

    def __getitem__(self, places: NDArray[np.intp]) -> Judged:
        return Judged(self.said[places], self.right[places])

    def __len__(self) -> int:
        return len(self.said)

    @property
    def well_supported(self) -> Judged:
        """The capabilities that enough of the queries exercise to say how well they are judged."""
        enough = np.nansum(self.right, axis=0) >= ENOUGH
        return Judged(self.said[:, enough], self.right[:, enough])


def main() -> int:
    """Measure everything; returns the exit code, which is always 0."""
    tree = WorkingTree(REPOSITORY)
    taxonomy = load_taxonomy(tree)
    config = load_config(tree, frozenset(taxonomy.by_id))
    classifier = config.classifier
    embedder = named_embedder(classifier.embedded)
    backend = EmbeddedBackend(taxonomy, classifier.embedded, classifier.samples, ModelCache(None), embedder)
    print(f"{backend.identity.model}; taxonomy {taxonomy.version}\n")
    held_out(taxonomy, backend.fit(), classifier)
    labelled(taxonomy, backend, config)
    return 0


# Exemplars, by fits without them.


def held_out(taxonomy: Taxonomy, model: FittedModel, classifier: ClassifierSettings) -> None:
    """By author, language and wording."""
    data = ordered(training_data(taxonomy), classifier.embedded, classifier.samples)
    labels = np.array(data.labels, np.int8)
    known = labels != ExemplarLabel.UNKNOWN
    truth = np.where(known, np.where(labels == ExemplarLabel.POSITIVE, 1.0, 0.0), np.nan)
    thresholds = model.calibration[:, 0]
    languages, hands, ids = (np.array([str(item) for item in part]) for part in (data.languages, data.hands, data.ids))
    regression = Regression.of(
        model.rows, np.where(labels == ExemplarLabel.POSITIVE, 1.0, -1.0), known, classifier.embedded.ridge, silent("")
    )
    scores = regression.left_out([np.flatnonzero(hands == hand) for hand in sorted(set(data.hands))])
    original = languages == "None"
    print("by author, macro phi")
    for hand in sorted(set(data.hands) - set(MANUAL), key=lambda name: int(name.partition("-")[2])):
        _print_measure(hand, _judged(scores, truth, thresholds, np.flatnonzero((hands == hand) & original)), macro)
    written = np.flatnonzero(original & ~np.isin(hands, MANUAL))
    together = _judged(scores, truth, thresholds, written)
    _print_measure("together", together, macro)
    for name, value in zip(data.capabilities, phis(together), strict=True):
        print(f"    {name:44s} {value:.2f}")
    folds = _folds(ids)
    print("\nby language, pooled phi")
    for language in sorted({code for code in data.languages if code is not None and "-x-" not in code}):
        own = languages == language
        found = np.zeros_like(scores)
        for fold in folds:
            found[own & fold] = regression.left_out([np.flatnonzero(own | fold)])[own & fold]
        _print_measure(language, _judged(found, truth, thresholds, np.flatnonzero(own)), pooled)
    print("\nby wording, queries with another tag than the plain request")
    scores = regression.left_out([np.flatnonzero(fold) for fold in folds])
    said = scores >= thresholds
    plain = {id: said[place] for place, id in enumerate(data.ids) if original[place]}
    for language in sorted({code for code in data.languages if code is not None and "-x-" in code}):
        places = np.flatnonzero(languages == language)
        _flips(language, [(plain[data.ids[place]], said[place]) for place in places], data.capabilities)


def _folds(ids: NDArray[np.str_]) -> list[Booleans]:
    """Fifths of the requests; an exemplar is in one with all its translations."""
    numbers = {id: place % FOLDS for place, id in enumerate(sorted(set(ids.tolist())))}
    own = np.array([numbers[id] for id in ids.tolist()])
    return [own == number for number in range(FOLDS)]


def _judged(scores: Floats, truth: Floats, thresholds: Floats, places: NDArray[np.intp]) -> Judged:
    return Judged(scores[places] >= thresholds, truth[places])


# Label files, by the shipped fit.


def labelled(taxonomy: Taxonomy, backend: EmbeddedBackend, config: Curation) -> None:
    """The label files of authors who saw the definitions alone, and requests in several wordings."""
    vocabulary = LabelVocabulary(taxonomy=taxonomy, meanings={}, with_agent=False)

    def judged(files: Sequence[Path]) -> Judged:
        queries = [query for file in files for query in _read(file, vocabulary, config)]
        right = [[query.values.get(name, np.nan) for name in vocabulary.capabilities] for query in queries]
        said = _said([query.turns for query in queries], taxonomy, backend, vocabulary)
        return Judged(said, np.array(right, np.float64))

    print("\nlabel files of other authors, macro phi")
    for names in UNSEEN:
        unseen = [LABELS / name for name in names]
        for file in unseen:
            _print_measure(file.stem, judged([file]), macro)
        together = judged(unseen)
        _print_measure("together", together, macro)
        for name, value, count in zip(
            vocabulary.capabilities, phis(together), np.nansum(together.right, axis=0), strict=True
        ):
            if count:
                print(f"    {name:44s} {value:.2f}  {int(count):4d}")
    print("\nthe same by language, pooled phi")
    for file in sorted((LABELS / "languages").iterdir()):
        _print_measure(file.stem, judged([file]), pooled)
    print("\nthe same request in other wordings, queries with another tag than the plain one")
    for name in WORDINGS:
        header, *rows = [line.split("\t") for line in (LABELS / name).read_text(encoding="utf-8").splitlines()]
        said = {
            wording: _said([(row[place],) for row in rows], taxonomy, backend, vocabulary)
            for place, wording in enumerate(header)
        }
        for wording in header[1:]:
            pairs = list(zip(said[header[0]], said[wording], strict=True))
            _flips(f"{name} {wording}", pairs, vocabulary.capabilities)


def _read(file: Path, vocabulary: LabelVocabulary, config: Curation) -> tuple[LabelledQuery, ...]:
    queries, problems = resolve(read_tsv(file.read_text(encoding="utf-8"), str(file), config.limits), vocabulary)
    if problems:
        raise InputError(problems)
    return queries


def _said(
    several: Sequence[tuple[str, ...]], taxonomy: Taxonomy, backend: EmbeddedBackend, vocabulary: LabelVocabulary
) -> Booleans:
    """What the product says of queries without an agent."""
    queries = [Query(id=str(number), turns=turns, file="", line=None) for number, turns in enumerate(several)]
    found = classify(queries, UNDECLARED, taxonomy, backend, lambda done, total: None).classifications
    return np.array([[item.judgements[name].value for name in vocabulary.capabilities] for item in found.values()])


# Measures.


def macro(judged: Judged) -> float:
    """The mean over capabilities of phi."""
    return float(np.nanmean(phis(judged)))


def pooled(judged: Judged) -> float:
    """Phi of all labels of all capabilities."""
    return float(phis(Judged(judged.said.reshape(-1, 1), judged.right.reshape(-1, 1)))[0])


def phis(judged: Judged) -> Floats:
    """Phi of each capability; not a number where all labels are the same."""
    known = ~np.isnan(judged.right)
    counts = np.maximum(known.sum(axis=0), 1)
    said, right = np.where(known, judged.said, 0.0), np.where(known, judged.right, 0.0)
    tagged, true = said.sum(axis=0) / counts, right.sum(axis=0) / counts
    covariance = (said * right).sum(axis=0) / counts - tagged * true
    spread = np.sqrt(tagged * (1 - tagged) * true * (1 - true))
    found: Floats = np.where(true * (1 - true) > 0, covariance / np.where(spread > 0, spread, 1.0), np.nan)
    return found


def _print_measure(name: str, judged: Judged, measure: Callable[[Judged], float]) -> None:
    draw = np.random.default_rng(5)
    judged = judged.well_supported if measure is macro else judged
    again = [measure(judged[draw.integers(0, len(judged), len(judged))]) for _ in range(RESAMPLES)]
    low, high = np.nanquantile(again, [0.025, 0.975])
    print(f"  {name:24s} {measure(judged):.3f}  [{low:.3f}, {high:.3f}]  {len(judged):5d} queries")


def _flips(name: str, pairs: Sequence[tuple[Booleans, Booleans]], capabilities: Sequence[str]) -> None:
    """Of pairs of plain and other wording, the share with another tag, and which tags those are."""
    differ = np.array([plain != other for plain, other in pairs])
    most = Counter({name: int(count) for name, count in zip(capabilities, differ.sum(axis=0), strict=True)})
    leading = ", ".join(f"{name} {count}" for name, count in most.most_common(5))
    print(f"  {name:24s} {differ.any(axis=1).mean():.3f}  of {len(pairs):4d}: {leading}")
