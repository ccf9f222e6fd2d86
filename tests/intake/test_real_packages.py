"""The whole review over real agent packages that nobody here wrote; skipped where the corpus is not at hand."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from incumbent.classifier.backends import make_backend
from incumbent.classifier.model import Backend
from incumbent.errors import InputError
from incumbent.files.snapshot import ReadingLimits, WorkingTree
from incumbent.intake.agents.reading import read_specification
from incumbent.pipeline.review import Platform, load_platform, review
from incumbent.pipeline.submission import read_package
from incumbent.report.review_json import ReviewOutput
from incumbent.report.review_markdown import render_markdown
from tests.factories import REPOSITORY, SHIPPED

CORPUS = os.environ.get("INCUMBENT_CORPUS")
pytestmark = pytest.mark.skipif(CORPUS is None, reason="INCUMBENT_CORPUS names no corpus of real agent packages")

SAMPLES = Path(CORPUS or ".") / "agents" / "pnp-copilot-pro-dev-samples" / "samples"
PACKAGES = sorted(path.name for path in SAMPLES.iterdir()) if CORPUS else []


class WithStarters(WorkingTree):
    """A package whose conversation starters lie beside it as an eval set."""

    def __init__(self, root: Path, starters: tuple[str, ...]) -> None:
        super().__init__(root, root.name)
        queries = [{"id": f"starter-{place:02d}", "turns": [text]} for place, text in enumerate(starters, 1)]
        self.evals = json.dumps({"eval_set": 1, "queries": queries}).encode()

    def paths(self, folder: str = "") -> tuple[str, ...]:
        return tuple(sorted((*super().paths(folder), "evals.yaml")))

    def read(self, path: str, limits: ReadingLimits) -> bytes:
        return self.evals if path == "evals.yaml" else super().read(path, limits)


@pytest.fixture(scope="module")
def platform() -> Platform:
    return load_platform(WorkingTree(REPOSITORY))


@pytest.fixture(scope="module")
def backend(platform: Platform) -> Backend:
    return make_backend(platform.config.classifier, platform.taxonomy)


@pytest.mark.parametrize("name", PACKAGES)
def test_review_of_a_real_package_by_its_conversation_starters(name: str, platform: Platform, backend: Backend) -> None:
    tree = WorkingTree(SAMPLES / name, name)
    try:
        starters = read_specification(tree, SHIPPED.limits).starters
    except InputError as error:
        pytest.fail(f"{name} cannot be read: {error}")
    if not starters:
        pytest.skip(f"{name} declares no conversation starters")
    package = read_package(WithStarters(tree.root, starters), "corpus", name, name, SHIPPED.limits)
    submission = package.submission
    assert [query.turns[0] for query in submission.queries] == list(starters)
    outcome = review(platform, package, backend, lambda done, total: None)
    assert sorted(verdict.id for verdict in outcome.verdicts) == sorted(query.id for query in submission.queries)
    comment = render_markdown(outcome)
    assert all(f"`{query.id}`" in comment for query in submission.queries)
    assert ReviewOutput.of(outcome).headline in comment
