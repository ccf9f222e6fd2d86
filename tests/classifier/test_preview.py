"""Previews: a quick model where a few exemplars differ from those of a fitted one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from incumbent.classifier.embedded import backend as backends
from incumbent.classifier.embedded.backend import EmbeddedBackend
from incumbent.classifier.embedded.cache import ModelCache
from incumbent.classifier.embedded.fitting import fit_model, folds_of, ordered
from incumbent.classifier.embedded.preview import preview_of
from incumbent.classifier.exemplars import training_data
from incumbent.taxonomy.model import Exemplar, Taxonomy
from tests.classifier.exemplary import SAMPLES, SETTINGS, TOPICS
from tests.classifier.factories import intent, taxonomy

pytestmark = pytest.mark.untraced

FORMS = ("Show me {}", "Put {} in a table", "A table of {}, please", "Where are {}?", "Count {}", "Print {} as a table")
TEXTS = tuple(form.format(topic) for form in FORMS for topic in TOPICS)


def row(text: str, exercises: tuple[str, ...] | None = None, unknown: tuple[str, ...] = ()) -> Exemplar:
    known = ("table" if "table" in text else "plain",) if exercises is None else exercises
    return Exemplar(id=text, hand=f"h{len(text) % 3}", turns=(text,), exercises=known, unknown=unknown)


def taught(*new: Exemplar, without: int = 0, **changes: object) -> Taxonomy:
    """What ``TEXTS`` teach but for some of the first ones, and what is new."""
    known = taxonomy(intent("table", patterns=(r"\btable\b",)), intent("plain"))
    return known.model_copy(update=changes).with_exemplars((*map(row, TEXTS[without:]), *new))


NEW = (row("List the ferries in a table"), row("Which ferries are late?"), row("?", exercises=(), unknown=("plain",)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with the fitted model of :func:`taught`."""
    found = tmp_path_factory.mktemp("previews")
    backend(taught(), found, preview=False).fit()
    return found


def backend(known: Taxonomy, folder: Path, *, preview: bool = True, samples: int = SAMPLES) -> EmbeddedBackend:
    return EmbeddedBackend(known, SETTINGS, samples, ModelCache(folder), preview=preview)


@pytest.fixture(autouse=True)
def _nothing_ships(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends, "SHIPPED", ModelCache(None))


@pytest.mark.parametrize(
    ("known", "why"),
    [
        (taught(NEW[0]), "1 of 85 exemplars is newer than the fitted model"),
        (taught(*NEW), "3 of 87 exemplars are newer than the fitted model"),
        (taught(*NEW, without=1), "3 of 86 exemplars are newer than the fitted model"),
        (taught(without=1), "the fitted model knows 1 exemplar too many"),
        (taught(without=2), "the fitted model knows 2 exemplars too many"),
        (taught(row(TEXTS[0], unknown=("table",)), without=1), "1 of 84 exemplars is newer than the fitted model"),
        (
            taught().with_exemplars(tuple(map(row, TEXTS[::-1]))),
            "the fitted model knows the exemplars in another order or from other authors",
        ),
    ],
)
def test_a_preview_judges_nearly_as_the_whole_fit_and_is_not_kept(known: Taxonomy, why: str, folder: Path) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir()}
    quick = backend(known, folder)
    texts = [[text] for text in (*TEXTS[::9], "List the ferries in a table", "Which ferries sail?", "?")]
    found = quick.fit().probabilities(texts)
    assert quick.preview == why
    assert quick.handed_over() is None
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    assert quick.file is None
    whole = fit_model(known, SETTINGS, SAMPLES).probabilities(texts)
    assert np.abs(found - whole).mean() < 0.03
    assert ((found >= 0.5) == (whole >= 0.5)).mean() > 0.95


def test_a_member_gives_no_weight_to_what_is_new_and_left_out(folder: Path) -> None:
    known = taught(*NEW)
    found = backend(known, folder).fit()
    data = ordered(training_data(known), SETTINGS, SAMPLES)
    weights = found.weights.reshape(len(found.rows), -1, SAMPLES)
    for member, fold in enumerate(folds_of(data, SETTINGS, SAMPLES)):
        assert (weights[fold, :, member] == 0).all()
    assert (weights != 0).any(axis=(1, 2)).all()


@pytest.mark.parametrize(
    ("change", "samples"),
    [
        pytest.param(lambda: taught(without=6), SAMPLES, id="too many are gone"),
        pytest.param(lambda: taught(*(row(f"{number} trams") for number in range(6))), SAMPLES, id="too many are new"),
        pytest.param(
            lambda: taught(capabilities=(intent("table", patterns=("x",)), intent("plain"))), SAMPLES, id="patterns"
        ),
        pytest.param(lambda: taught(NEW[0]), SAMPLES + 1, id="members"),
        pytest.param(
            lambda: taught(row("Draw it", exercises=("new",)), capabilities=(*taught().capabilities, intent("new"))),
            SAMPLES,
            id="capabilities",
        ),
        pytest.param(lambda: taxonomy(intent("table")), SAMPLES, id="no exemplars"),
    ],
)
def test_what_differs_more_is_fitted_whole(
    change: Callable[[], Taxonomy], samples: int, folder: Path, tmp_path: Path
) -> None:
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
        (tmp_path / path.name).chmod(0o600)
    whole = backend(change(), tmp_path, samples=samples)
    whole.fit()
    assert whole.preview is None
    assert whole.file is not None
    earlier = fit_model(taught(), SETTINGS, SAMPLES)
    assert preview_of(earlier, change(), SETTINGS, samples) is None


def test_only_those_who_ask_for_a_preview_get_one(folder: Path, tmp_path: Path) -> None:
    known = taught(NEW[0])
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    assert (
        backend(known, tmp_path, preview=False).fit().weights.tolist()
        == fit_model(known, SETTINGS, SAMPLES).weights.tolist()
    )
    # From then on it is the fitted one that serves.
    fitted = backend(known, tmp_path)
    fitted.fit()
    assert fitted.preview is None


def test_without_a_fitted_model_there_is_no_preview(tmp_path: Path) -> None:
    first = backend(taught(), tmp_path)
    first.fit()
    assert first.preview is None
    assert first.handed_over() is not None
