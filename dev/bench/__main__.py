"""`make bench`: the speed promises as ratios, both sides measured in this one run.  Exits 1 if a promise is broken.

`make bench ARGS=quick` measures those that need no fitted classifier, in a minute.
`make bench ARGS=attacks` measures instead what attacks on the classifier achieve (dev/bench/attacks.py),
`make bench ARGS=cost` what asking a language model costs (dev/bench/cost.py),
`make bench ARGS=called-tools` how well the tools that a query calls are found, or fits the weights for it
(dev/bench/called_tools.py),
`make bench ARGS=classifier` how good the classifier is on texts that its fit has not seen (dev/bench/classifier.py),
`make bench ARGS=verdicts` how often verdicts on sets of others are right by people's labels (dev/bench/verdicts.py),
`make bench ARGS=familiarity` which texts are called unfamiliar (dev/bench/familiarity.py),
`make bench ARGS=background` and `ARGS=structure-scale` fit two data files of the classifier,
`make bench ARGS=stream` what becomes of R while customers come, beside the optimum (dev/bench/stream.py),
`make bench ARGS=extension` how often a capability that the taxonomy lacks is found (dev/bench/extension.py),
`make bench ARGS=personal-data` how well personal data is found (dev/bench/personal_data.py),
and `make bench ARGS=calibration` how well calibration finds what simulated reviewers go by (dev/bench/calibration.py).
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from functools import cache, partial
from itertools import count
from pathlib import Path

import numpy as np

from dev.bench import ledger
from dev.bench.promises import ROUNDS, compared, measured
from incumbent.classifier.embedded.backend import EmbeddedBackend
from incumbent.classifier.embedded.cache import ModelCache
from incumbent.classifier.embedded.fitting import fit_model
from incumbent.classifier.embedded.model import FittedModel, rows_by_text, to_arrays
from incumbent.consolidator.counterfactuals import Turn
from incumbent.consolidator.cycle import run_cycle
from incumbent.consolidator.explanation import explain
from incumbent.consolidator.verdict import Reason
from incumbent.curator.entry import Admitted, Entry, EntryClassification
from incumbent.curator.file_changes import render
from incumbent.curator.store import entry_path
from incumbent.files.snapshot import WorkingTree
from incumbent.rater.expected_detection import ExpectedDetection
from incumbent.rater.model import RatedEntry, ScoredQuery
from incumbent.rater.profile import Capabilities
from incumbent.rater.similarity import similarity_matrix
from incumbent.taxonomy.config import Curation, load_config
from incumbent.taxonomy.loading import load_taxonomy
from incumbent.taxonomy.model import Taxonomy
from incumbent.text.compare import normalise

REPOSITORY = Path(__file__).parents[2]
CAPABILITIES = 30

# What a process does that has read nothing yet; it prints the seconds, without those of its imports.
LOADED = """
import os
from incumbent.curator.store import load_regression_set
from incumbent.files.snapshot import WorkingTree
from incumbent.taxonomy.loading import load_taxonomy
from incumbent.files.user_cache import RememberedFiles, user_cache_folder
remembered = RememberedFiles(user_cache_folder(os.environ), root)
taxonomy = load_taxonomy(WorkingTree(Path.cwd()))
begun = time.process_time()
load_regression_set(WorkingTree(root), taxonomy, remembered)
print(time.process_time() - begun)
"""
PARSED = """
import yaml
begun = time.process_time()
for file in sorted((root / "regression_set").iterdir()):
    yaml.load(file.read_bytes(), Loader=yaml.CSafeLoader)
print(time.process_time() - begun)
"""


LIBRARIES = "import numpy, pydantic, yaml, click"


def main(quick: bool = False) -> int:
    """Measure every promise, or if ``quick`` those that need no fitted classifier; returns the exit code."""
    config = load_config(WorkingTree(REPOSITORY), None)
    print(f"ratios of the least seconds of a processor, of {ROUNDS} rounds or more in which both sides ran in turn\n")
    kept = [*consolidating(config), growth(config), detecting(config), *opening(quick), starting()]
    kept.append(ledger.measure(ledger.QUERIES // 10 if quick else ledger.QUERIES))
    if not quick:
        kept += [consolidated(config, 1_000, 10_000, 1.2), waiting(config), explaining(config)]
        kept += [reviewing(), fitting(), judging()]
    return 0 if all(kept) else 1


def consolidating(config: Curation) -> list[bool]:
    """A large set and few queries; a small set and many queries, where little is compared.

    The second was at most 2.0 until close calls were pieces and texts were compared with waiting ones.
    """
    return [consolidated(config, 10_000, 1_000, 1.2), consolidated(config, 300, 10_000, 2.8)]


def consolidated(config: Curation, entries: int, asked: int, bound: float) -> bool:
    """Scored queries against entries, over a bare cdist of exactly the pairs compared."""
    residents, queries = _set(entries), _queries(asked)
    texts = [normalise(query.turns) for query in queries]
    choices = [normalise(resident.turns) for resident in residents]
    return compared(
        f"consolidate {asked:,} queries against {entries:,} entries over a bare cdist of the same pairs",
        bound,
        lambda: run_cycle(queries, residents, config),
        lambda: similarity_matrix(texts, choices),
    )


def growth(config: Curation) -> bool:
    """Twice the queries cost at most about twice the time."""
    residents = _set(300)
    small, large = _queries(5_000), _queries(10_000)
    return compared(
        "consolidate 10,000 queries over 5,000 queries (linear: 2)",
        2.6,
        lambda: run_cycle(large, residents, config),
        lambda: run_cycle(small, residents, config),
    )


def detecting(config: Curation) -> bool:
    """What each of 100,000 queries adds to a set of 1,000 entries, what each entry takes away, and D.

    The yardstick multiplies for each query all pairs of scores with one number a pair, and adds them up.
    """
    capabilities = Capabilities([f"capability-{number:02d}" for number in range(CAPABILITIES)], config)
    residents = [capabilities.profile(each.id, (), each.scores) for each in _set(1_000)]
    queries = [capabilities.profile(each.id, (), each.scores) for each in _queries(10_000)] * 10
    scores = np.zeros((len(queries), CAPABILITIES))
    for row, query in zip(scores, queries, strict=True):
        row[list(query.places)] = query.values
    pairs = np.ones((CAPABILITIES, CAPABILITIES))

    def detect() -> None:
        detection = ExpectedDetection(residents, capabilities, 0.3)
        for query in queries:
            detection.gain(query)
        for resident in residents:
            detection.loss(resident)
        detection.share(2, [*residents, *queries])

    return compared(
        "expected detection of 1,000 entries and 100,000 queries over the bare products of all their pairs of scores",
        8.0,
        detect,
        lambda: np.einsum("qa,ab,qb->q", scores, pairs, scores),
    )


def waiting(config: Curation) -> bool:
    """The same where half of the queries wait for a person, and the others offer what many of them do."""
    large = [replace(query, personal={"email": 1}) for query in _queries(8_000)]
    large[::2] = [
        replace(query, scores={name: min(score, 0.8) for name, score in query.scores.items()}) for query in large[::2]
    ]
    residents = [
        RatedEntry(id=name, turns=(name,), scores={name: 0.76}, admitted_at="2026-01-01T00:00:00Z")
        for name in sorted({name for query in large for name in query.scores})
    ]
    small = large[:4_000]
    return compared(
        "consolidate 8,000 queries over 4,000, where half wait for a person (linear: 2)",
        2.4,
        lambda: run_cycle(large, residents, config),
        lambda: run_cycle(small, residents, config),
    )


def explaining(config: Curation) -> bool:
    """The smallest changes that turn a verdict, over a cycle that gives 1,000 verdicts."""
    residents, queries = _set(1_000), _queries(1_000)
    verdicts = run_cycle(queries, residents, config)
    redundant = next(verdict.id for verdict in verdicts if Reason.REDUNDANT in verdict.reasons)
    turn = Turn.of(redundant, queries, residents, verdicts)
    names = {name for query in queries for name in query.scores}
    return compared(
        "explain a verdict against 1,000 entries over a cycle of 1,000 queries against them",
        8.0,
        lambda: explain(turn, config, names),
        lambda: run_cycle(queries, residents, config),
    )


def opening(quick: bool) -> list[bool]:
    """A platform of 1,000 entries that nobody opened before, and again; if ``quick``, by one command alone."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        _write_platform(root, 1_000)
        return [
            *loading(root),
            *(_commanded(command, root) for command in ("status", "prune")[: 1 if quick else 2]),
            *showing(root, quick),
        ]


def loading(root: Path) -> list[bool]:
    """The entries from disk, over parsing the same files with the YAML library alone: the first time, and again."""
    numbers = count()

    def first() -> float:
        return _timed(LOADED, root, root / f"cache{next(numbers)}")

    first()
    parsed, again = partial(_timed, PARSED, root, root), partial(_timed, LOADED, root, root / "cache0")
    what = "1,000 entries over parsing them with the YAML library alone, each in a process of its own"
    return [measured(f"load {what}", 2.7, first, parsed), measured(f"load again {what}", 0.5, again, parsed)]


def showing(root: Path, quick: bool) -> list[bool]:
    """`incumbent site` of 1,000 entries that were opened before, and unless ``quick`` how it grows with the set."""
    small = partial(_site, root)
    small()  # keeps the parsed entries
    kept = [
        compared(
            f'incumbent site of 1,000 entries, opened before, over python -c "{LIBRARIES}"',
            18.0,
            small,
            partial(_run, "-c", LIBRARIES),
        )
    ]
    if not quick:
        with tempfile.TemporaryDirectory() as folder:
            large = partial(_site, Path(folder))
            _write_platform(Path(folder), 3_000)
            large()
            kept.append(compared("incumbent site of 3,000 entries over 1,000 (linear: 3)", 2.4, large, small))
    return kept


def _site(root: Path) -> None:
    """Write the site of the platform in ``root`` beside its entries."""
    arguments = ["site", "--repo", str(root), "--output", str(root / "site")]
    _run("-c", f"from incumbent.cli.main import main; main({arguments!r})", cache=root / "cache")


def _commanded(command: str, root: Path) -> bool:
    """A command on a platform that was opened before, over an interpreter with the libraries."""
    run = f"from incumbent.cli.main import main; main([{command!r}, '--repo', {str(root)!r}])"
    cache = root / "cache"
    _run("-c", run, cache=cache)  # keeps the parsed entries
    return compared(
        f'incumbent {command} of 1,000 entries, opened before, over python -c "{LIBRARIES}"',
        5.5,
        lambda: _run("-c", run, cache=cache),
        lambda: _run("-c", LIBRARIES),
    )


def starting() -> bool:
    """`incumbent --help`, over an interpreter that imports click."""
    return compared(
        'incumbent --help over python -c "import click"',
        3.0,
        lambda: _run("-c", "from incumbent.cli.main import main; main(['--help'])"),
        lambda: _run("-c", "import click"),
    )


def reviewing() -> bool:
    """A warm `incumbent review` of 20 queries, over an interpreter with the same imports."""
    folder = "examples/customers/northwind-tracker/tracker"
    review = f"from incumbent.cli.main import main; main(['review', {folder!r}, '--format', 'markdown'])"
    names = "pipeline.review", "cli.main", "cli.review", "classifier.backends", "report.review_markdown"
    imports = f"import {', '.join(f'incumbent.{name}' for name in names)}"
    _run("-c", review)  # warms the cache of fitted models
    return compared(
        "incumbent review of 20 queries, warm, over interpreter and imports",
        4.0,
        lambda: _run("-c", review),
        lambda: _run("-c", imports),
    )


def fitting() -> bool:
    """The classifier fitted anew after a change of the taxonomy, over a bare inversion of its kernel matrix."""
    taxonomy, model = _fitted()
    known = rows_by_text(to_arrays(model), None)
    settings = load_config(WorkingTree(REPOSITORY), None).classifier
    kernel = np.eye(len(model.rows)) + 1.0
    return compared(
        f"fit {len(kernel):,} exemplars, rows known, over a bare inversion of a matrix of their number",
        1.5,
        lambda: fit_model(taxonomy, settings.embedded, settings.samples, None, known),
        lambda: np.linalg.inv(kernel),
    )


def judging() -> bool:
    """200 queries without embeddings, over the bare products of similarities and weights."""
    _, model = _fitted()
    queries = [query.turns for query in _queries(200)]
    weights, similarities = model.weights.astype(np.float64), np.ones(len(model.rows))
    return compared(
        "tags of 200 queries without embeddings over bare products with the weights",
        20.0,
        lambda: model.probabilities(queries),
        lambda: [np.einsum("i,ij->j", similarities, weights) for _ in queries],
    )


def _write_platform(root: Path, size: int) -> None:
    """A regression set of so many entries under the taxonomy and config of this repository."""
    for part in ("taxonomy", "config"):
        shutil.copytree(REPOSITORY / part, root / part)
    taxonomy = load_taxonomy(WorkingTree(REPOSITORY))
    names = list(taxonomy.by_id)
    draw = random.Random(1)
    (root / "regression_set").mkdir()
    for number in range(size):
        entry = Entry(
            id=f"entry-{number:04d}",
            turns=(_text(draw),),
            scores={name: round(draw.random(), 4) for name in sorted(draw.sample(names, 6))},
            classified=EntryClassification(
                taxonomy=taxonomy.version, backend="embedded", model="m", prompt="p", samples=5
            ),
            admitted=Admitted(at="2026-01-01T00:00:00Z", decision="INCLUDE", route="direct"),
        )
        (root / entry_path(entry.id)).write_text(render(entry), encoding="utf-8")


@cache
def _fitted() -> tuple[Taxonomy, FittedModel]:
    """The taxonomy of this repository and its model without embeddings."""
    root = WorkingTree(REPOSITORY)
    taxonomy, settings = load_taxonomy(root), load_config(root, None).classifier
    return taxonomy, EmbeddedBackend(taxonomy, settings.embedded, settings.samples, ModelCache(None)).fit()


def _timed(script: str, root: Path, cache: Path) -> float:
    """The seconds that a process of its own prints, whose user's cache is the folder ``cache``."""
    done = subprocess.run(
        [sys.executable, "-c", f"import sys, time\nfrom pathlib import Path\nroot = Path(sys.argv[1])\n{script}", root],
        cwd=REPOSITORY,
        env=_environment(cache),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return float(done.stdout)


def _environment(cache: Path | None) -> dict[str, str]:
    """That of this process, where code is compiled once as on a user's machine; ``cache`` takes the place of theirs."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    own = {} if cache is None else {"INCUMBENT_CACHE": str(cache)}
    return {**kept, "PYTHONPYCACHEPREFIX": _compiled().name, **own}


@cache
def _compiled() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory()


def _run(*arguments: str, cache: Path | None = None) -> None:
    """Run Python; ``cache`` takes the place of the user's."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=REPOSITORY,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=_environment(cache),
        check=False,
    )
    if done.returncode not in (0, 1):
        raise SystemExit(f"{arguments} ended with {done.returncode}: {done.stderr}")


def _text(draw: random.Random) -> str:
    return " ".join(f"word{draw.randrange(600)}" for _ in range(draw.randint(6, 16)))


def _scores(draw: random.Random) -> dict[str, float]:
    names = [f"capability-{number:02d}" for number in range(CAPABILITIES)]
    return {name: round(draw.betavariate(5, 2), 4) for name in draw.sample(names, draw.randint(3, 10))}


def _set(size: int) -> list[RatedEntry]:
    draw = random.Random(2)
    return [
        RatedEntry(id=f"r{number}", turns=(_text(draw),), scores=_scores(draw), admitted_at="2026-01-01T00:00:00Z")
        for number in range(size)
    ]


def _queries(size: int) -> list[ScoredQuery]:
    draw = random.Random(3)
    return [ScoredQuery(id=f"q{number}", turns=(_text(draw),), scores=_scores(draw)) for number in range(size)]


if __name__ == "__main__":
    if sys.argv[1:2] == ["attacks"]:
        from dev.bench import attacks

        sys.exit(attacks.main(sys.argv[2:]))
    if sys.argv[1:2] == ["stream"]:
        from dev.bench import stream

        sys.exit(stream.main(sys.argv[2:]))
    if sys.argv[1:2] == ["cost"]:
        from dev.bench import cost

        sys.exit(cost.main(sys.argv[2:]))
    if sys.argv[1:2] == ["classifier"]:
        from dev.bench import classifier

        sys.exit(classifier.main())
    if sys.argv[1:2] == ["verdicts"]:
        from dev.bench import verdicts

        sys.exit(verdicts.main(sys.argv[2:]))
    if sys.argv[1:2] == ["called-tools"]:
        from dev.bench import called_tools

        sys.exit(called_tools.main(sys.argv[2:]))
    if sys.argv[1:2] == ["familiarity"]:
        from dev.bench import familiarity

        sys.exit(familiarity.main(sys.argv[2:]))
    if sys.argv[1:2] == ["background"]:
        from dev.bench import background

        background.main()
        sys.exit()
    if sys.argv[1:2] == ["structure-scale"]:
        from dev.bench import structure_scale

        structure_scale.main()
        sys.exit()
    if sys.argv[1:2] == ["extension"]:
        from dev.bench import extension

        sys.exit(extension.main(sys.argv[2:]))
    if sys.argv[1:2] == ["results"]:
        from dev.bench import results

        sys.exit(results.main(sys.argv[2:]))
    if sys.argv[1:2] == ["history"]:
        from dev.bench import history

        sys.exit(history.main(sys.argv[2:]))
    if sys.argv[1:2] == ["ledger"]:
        sys.exit(ledger.main(sys.argv[2:]))
    if sys.argv[1:2] == ["triage"]:
        from dev.bench import triage

        sys.exit(triage.main(sys.argv[2:]))
    if sys.argv[1:2] == ["calibration"]:
        from dev.bench import calibration

        sys.exit(calibration.main(sys.argv[2:]))
    if sys.argv[1:2] == ["personal-data"]:
        from dev.bench import personal_data

        sys.exit(personal_data.main())
    sys.exit(main(quick=sys.argv[1:2] == ["quick"]))
