"""Which queries are called unfamiliar, and the files that this rests on.

python -m dev.bench familiarity --exemplars DIR            how many of what is called unfamiliar, exemplars held out
python -m dev.bench familiarity --exemplars DIR --write    fits familiarity.json to that, and measures again
python -m dev.bench familiarity --exemplars DIR --on FILE  of a label file, after learning all exemplars
python -m dev.bench familiarity --table                    writes languages.npz; needs py3langid (see below)

DIR has tab-separated files whose last columns are `turns`; a file named by a language code (`de.tsv`) has translations.
Each fifth of the exemplars is judged by what the others taught.  What should be unfamiliar is
`tests/labels/unfamiliar.tsv`, and each language once more where its translations were left out.

The table is made of the model of py3langid 0.4.0 (BSD-3-Clause; `pip install py3langid` in an environment of its own;
the project does not need it).  Its naive Bayes classes have probabilities of byte sequences, of which the longest
known one counts at each place.  Case is folded by adding up the probabilities of sequences that differ in case alone;
sequences of few use for telling languages of one script apart are added to their longest kept ending.  What is
kept are costs in 16 steps against the language in which the sequence is most frequent.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from incumbent.classifier.embedded import familiarity
from incumbent.classifier.embedded import familiarity as language_table
from incumbent.classifier.embedded.familiarity import Familiarity, Settings, TextFamiliarity, script_of, settings
from incumbent.classifier.model import Unfamiliar
from incumbent.ledger.agreement.statistics import wilson

REPOSITORY: Final = Path(__file__).parents[2]
LABELS: Final = REPOSITORY / "tests" / "labels" / "unfamiliar.tsv"
FOLDS: Final = 5

SEQUENCES: Final = {"LATIN": 24_000}
OTHER_SEQUENCES: Final = 1_500
"""Most sequences that the table keeps, by script."""
LEVELS: Final = 16
STEP: Final = 0.4
"""Costs are 0 to 15 steps of that many nats."""
LEAST_MASS: Final = 0.3
"""Share of a language's sequences that must be in a script for the language to be among its languages."""

LEFT_OUT: Final = ("pcm",)
"""Languages that are too like a large one: Nigerian Pidgin is taken for English."""

MEASURES: Final[Mapping[Unfamiliar, tuple[str, ...]]] = {
    "language": ("foreign", "unknown"),
    "gibberish": ("foreign", "matched", "known", "strange", "blobs"),
    "code": ("signs", "digits", "marks", "many_marks", "code_words", "frequent", "wordless"),
}
FALSE_ALARMS: Final[Mapping[Unfamiliar, float]] = {"language": 0.01, "gibberish": 0.003, "code": 0.004}
"""Share of the familiar texts, the mean of all languages, that may be called unfamiliar for each reason."""

COMMENT: Final = (
    "Bounds and weights of bot/incumbent/classifier/embedded/familiarity.py, where each is explained. "
    "Written by `python -m dev.bench familiarity --write`, which fits the weights; the other values are edited here."
)


@dataclass(frozen=True)
class Text:
    """A query: ``kind`` is `familiar`, `language`, `gibberish` or `code`; ``origin`` groups the tables."""

    kind: str
    origin: str
    turns: tuple[str, ...]
    code: str | None = None


def main(arguments: Sequence[str]) -> int:
    """Measure and print; returns the exit code."""
    parser = argparse.ArgumentParser("bench familiarity", description="Which queries are called unfamiliar.")
    parser.add_argument("--exemplars", type=Path)
    parser.add_argument("--on", type=Path, action="append", default=[])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--show", action="store_true", help="print what is judged wrongly")
    options = parser.parse_args(arguments)
    if options.table:
        write_table()
    if options.exemplars is None:
        return 0
    exemplars = read_exemplars(options.exemplars)
    if options.on:
        known = learn(exemplars)
        for path in options.on:
            print(f"\n{path.name}")
            report([(text, known.judge(text.turns)) for text in read_texts(path)], options.show)
        return 0
    cases = held_out(exemplars)
    if options.write:
        write_weights(cases)
    report([(text, known.judge(text.turns)) for known, text in cases], options.show)
    return 0


# ------------------------------------------------------------------------------------------------------------- texts


def read_texts(path: Path) -> list[Text]:
    """The rows of a label file; a row without a kind is familiar."""
    lines = path.read_text(encoding="utf-8").splitlines()
    header = lines[0].split("\t")
    place = header.index("turns") if "turns" in header else header.index("text")
    texts: list[Text] = []
    for line in lines[1:]:
        cells = line.split("\t")
        row = dict(zip(header, cells, strict=False))
        turns = tuple(cell.replace("\\n", "\n") for cell in cells[place:])
        texts.append(Text(row.get("kind", "familiar"), row.get("language", path.stem), turns))
    return texts


def read_exemplars(folder: Path) -> list[Text]:
    """All exemplars below ``folder``, each once."""
    found: dict[tuple[str, ...], Text] = {}
    for path in sorted(folder.rglob("*.tsv")):
        code = path.stem if len(path.stem) == 2 else None
        for text in read_texts(path):
            found.setdefault(text.turns, replace(text, origin=code or "originals", code=code, kind="familiar"))
    return list(found.values())


def learn(texts: Iterable[Text]) -> Familiarity:
    """What a fit of ``texts`` is familiar with."""
    own = list(texts)
    return Familiarity.learn([text.turns for text in own], [text.code for text in own])


def held_out(exemplars: Sequence[Text]) -> list[tuple[Familiarity, Text]]:
    """Texts with a fit that did not see them, and for each language a fit that did not see the language."""
    folds = [crc32("\n".join(text.turns).encode(errors="replace")) % FOLDS for text in exemplars]
    cases: list[tuple[Familiarity, Text]] = []
    for fold in range(FOLDS):
        known = learn(text for text, own in zip(exemplars, folds, strict=True) if own != fold)
        cases += [(known, text) for text, own in zip(exemplars, folds, strict=True) if own == fold]
    every = learn(exemplars)
    cases += [
        (every, replace(text, origin="terse") if text.kind == "familiar" else text) for text in read_texts(LABELS)
    ]
    cases += [(every, text) for text in (*generated_gibberish(exemplars), *code_of_repository())]
    originals = learn(text for text in exemplars if text.code is None)
    for code in sorted({text.code for text in exemplars if text.code is not None}):
        others = learn(text for text in exemplars if text.code != code)
        own_texts = [text for text in exemplars if text.code == code]
        cases += [(others, Text("language", f"without {code}", text.turns)) for text in own_texts]
        cases += [(originals, Text("language", f"{code}, originals only", text.turns)) for text in own_texts]
    return cases


def generated_gibberish(exemplars: Sequence[Text]) -> list[Text]:
    """Rows of keys, random letters, encoded texts, and exemplars whose words are shuffled or written backwards."""
    chance = random.Random(19)
    rows = ("qwertyuiop", "asdfghjkl", "zxcvbnm", "qwertzuiop", "yxcvbnm", "azertyuiop", "qsdfghjklm")
    latin = [text for text in exemplars if familiarity.read(text.turns).script == "LATIN"]

    def mashed() -> str:
        row = chance.choice(rows)
        start = chance.randrange(len(row) - 3)
        return "".join(chance.sample(row, 4) if chance.random() < 0.5 else row[start : start + chance.randint(3, 7)])

    def shuffled(word: str) -> str:
        return "".join(chance.sample(word, len(word)))

    kinds: dict[str, Callable[[str], str]] = {
        "keys": lambda _: " ".join(mashed() for _ in range(chance.randint(2, 8))),
        "letters": lambda _: " ".join(
            "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(3, 9)))
            for _ in range(chance.randint(3, 10))
        ),
        "base64": lambda text: base64.b64encode(text.encode()).decode()[: chance.randint(24, 120)],
        "hexadecimal": lambda text: hashlib.sha256(text.encode()).hexdigest()[: chance.randint(24, 64)],
        "shuffled": lambda text: " ".join(shuffled(word) for word in text.split()),
        "backwards": lambda text: text[::-1],
    }
    return [
        Text("gibberish", name, (make(" ".join(text.turns)),))
        for name, make in kinds.items()
        for text in chance.sample(latin, 60)
    ]


def code_of_repository() -> list[Text]:
    """A few lines each of this repository's sources, settings and schemas, without prose."""
    chance = random.Random(19)
    found: list[Text] = []
    for pattern in (
        "bot/incumbent/**/*.py",
        "config/*.yaml",
        "schemas/*.json",
        ".github/workflows/*.yml",
        "pyproject.toml",
    ):
        pieces: list[str] = []
        for path in sorted(REPOSITORY.glob(pattern)):
            lines = [
                line.split("  #")[0]
                for line in path.read_text(encoding="utf-8").splitlines()
                if line.strip() and not re.search(r'"""|^\s*#|\w+ \w+ \w+ \w+', line)
            ]
            pieces += ["\n".join(lines[start : start + 5]) for start in range(0, len(lines) - 4, 5)]
        chosen = chance.sample(pieces, min(60, len(pieces)))
        found += [Text("code", Path(pattern).suffix, (piece,)) for piece in chosen]
    return found


def report(judged: Sequence[tuple[Text, TextFamiliarity]], show: bool) -> None:
    """How many of each kind and origin are unfamiliar, with Wilson intervals, and why."""
    groups: dict[tuple[str, str], list[TextFamiliarity]] = defaultdict(list)
    for text, answer in judged:
        groups[text.kind, "all" if text.kind == "familiar" else "all listed"].append(answer)
        groups[text.kind, text.origin].append(answer)
        if show and (text.kind == "familiar") != answer.familiar:
            print(f"  {text.kind:10} {text.origin:12} {answer.why} {answer.language} {answer.score:+.2f} {text.turns}")
    for (kind, origin), answers in sorted(groups.items()):
        wrong = sum(not answer.familiar for answer in answers)
        share = wilson(wrong, len(answers))
        assert share is not None  # each group has an answer
        why = Counter(answer.why for answer in answers if answer.why is not None)
        print(
            f"{kind:10} {origin:22} unfamiliar {wrong:5} of {len(answers):5} = {wrong / len(answers):6.1%} "
            f"({share.low:.1%} to {share.high:.1%})  {dict(why)}"
        )


# ----------------------------------------------------------------------------------------------------------- weights


def write_weights(cases: Sequence[tuple[Familiarity, Text]]) -> None:
    """Fit the weights of each reason by logistic regression, set the biases by :data:`FALSE_ALARMS`, write the file."""
    measured = [(text, known.measures([familiarity.read(text.turns)])[0][0]) for known, text in cases]
    weights = {why: _fit(why, names, measured) for why, names in MEASURES.items()}
    chosen = replace(settings(), weights=weights)
    familiarity.SETTINGS.write_text(_render(chosen), encoding="utf-8")
    settings.cache_clear()


def _fit(
    why: Unfamiliar, names: Sequence[str], measured: Sequence[tuple[Text, Mapping[str, float]]]
) -> dict[str, float]:
    from sklearn.linear_model import LogisticRegression

    chosen = [
        (text, [measures[name] for name in names])
        for text, measures in measured
        if text.kind in ("familiar", why)
        and all(name in measures for name in names)
        and Familiarity.is_decidable(why, measures)
    ]
    rows = np.array([row for _, row in chosen])
    truth = np.array([text.kind == why for text, _ in chosen])
    counts = Counter((text.kind, text.origin) for text, _ in chosen)
    groups = {kind: sum(own == kind for own, _ in counts) for kind in ("familiar", why)}
    balance = np.array([1 / counts[text.kind, text.origin] / groups[text.kind] for text, _ in chosen]) * len(chosen)
    regression = LogisticRegression(C=10.0, max_iter=10_000).fit(rows, truth, sample_weight=balance)
    slopes = [float(value) for value in regression.coef_[0]]
    scores = rows @ np.array(slopes)
    bias = -_quantile(scores[~truth], balance[~truth], 1 - FALSE_ALARMS[why])
    return {"bias": round(bias, 3)} | {name: round(slope, 3) for name, slope in zip(names, slopes, strict=True)}


def _quantile(values: NDArray[np.float64], weights: NDArray[np.float64], share: float) -> float:
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order]) / weights.sum()
    return float(values[order][np.searchsorted(reached, share)])


def _render(chosen: Settings) -> str:
    from dataclasses import asdict

    return json.dumps({"comment": COMMENT} | asdict(chosen), indent=2, default=sorted) + "\n"


# ------------------------------------------------------------------------------------------------------------- table


def write_table() -> None:
    """Reduce the model of py3langid to ``languages.npz``; the same version, the same bytes."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    model = LanguageIdentifier.from_model_file(MODEL_FILE)
    classes: list[str] = list(model.nb_classes)
    summed: dict[bytes, NDArray[np.float64]] = {}
    probabilities = np.exp(np.asarray(model.nb_ptc, np.float64))
    for sequence, place in _sequences(model):
        summed[sequence] = summed.get(sequence, 0.0) + probabilities[place]
    sequences = sorted(summed)
    matrix = np.array([summed[sequence] for sequence in sequences])
    scripts = np.array([_script(sequence) for sequence in sequences])
    masses = {name: matrix[scripts == name].sum(0) for name in sorted(set(scripts) - {""})}
    total = np.sum(list(masses.values()), axis=0)
    arrays: dict[str, Any] = {"step": np.array(STEP)}
    kept: list[str] = []
    for name, mass in masses.items():
        own = np.flatnonzero((mass >= LEAST_MASS * total) & ~np.isin(classes, LEFT_OUT))
        if len({classes[place] for place in own}) > 1 and name not in settings().letter_weights:
            rows = np.flatnonzero(scripts == name)
            keys, costs = _reduced([sequences[row] for row in rows], matrix[np.ix_(rows, own)], name)
            arrays[f"{name}.keys"], arrays[f"{name}.costs"] = keys, costs
            arrays[f"{name}.languages"] = np.frombuffer(" ".join(classes[place] for place in own).encode(), np.uint8)
            kept.append(name)
            print(f"{name}: {len(own)} languages, {len(keys)} sequences")
    arrays["scripts"] = np.frombuffer(" ".join(kept).encode(), np.uint8)
    np.savez_compressed(language_table.TABLE, **arrays)
    language_table.load_tables.cache_clear()
    print(f"{language_table.TABLE.name}: {language_table.TABLE.stat().st_size:,} bytes")


def _sequences(model: Any) -> Iterable[tuple[bytes, int]]:
    """Each sequence of the model in folded case, and its row.

    The automaton has a state for each sequence and its beginnings; several states may give one row: their
    common ending.
    """
    moves = np.asarray(model.tk_nextmove).reshape(-1, 256)
    names: dict[int, bytes] = {0: b""}
    queue = [0]
    for state in queue:
        for byte in np.flatnonzero(moves[model.tk_row[state]]):
            following = int(moves[model.tk_row[state], byte])
            if following not in names:
                names[following] = names[state] + bytes([byte])
                queue.append(following)
    shortest: dict[int, bytes] = {}
    for state, row in enumerate(model.tk_output):
        if row >= 0 and (row not in shortest or len(names[state]) < len(shortest[row])):
            shortest[row] = names[state]
    return [(_folded(sequence), row) for row, sequence in sorted(shortest.items())]


def _folded(sequence: bytes) -> bytes:
    try:
        folded = sequence.decode().casefold().encode()
    except UnicodeDecodeError:
        folded = sequence.lower()
    folded = folded.replace(b"\n", b" ")
    return folded[-language_table.LONGEST :]


def _script(sequence: bytes) -> str:
    names = Counter(name for character in sequence.decode(errors="ignore") if (name := script_of(character)))
    return max(sorted(names), key=names.__getitem__) if names else ""


def _reduced(
    sequences: Sequence[bytes], matrix: NDArray[np.float64], script: str
) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
    """Keys and packed costs of the most telling sequences; the others count as their longest ending that is kept."""
    mean = matrix.mean(axis=1, keepdims=True)
    telling = (matrix * np.abs(np.log(np.maximum(matrix, 1e-9) / mean))).max(axis=1)
    most = SEQUENCES.get(script, OTHER_SEQUENCES)
    kept = {sequences[place] for place in np.argsort(-telling, kind="stable")[:most]}
    rows: dict[bytes, NDArray[np.float64]] = {}
    for sequence, row in zip(sequences, matrix, strict=True):
        ending = sequence
        while ending and ending not in kept:
            ending = ending[1:]
        if ending:
            rows[ending] = rows.get(ending, 0.0) + row
    ordered = sorted(rows, key=language_table.sequence_key)
    logs = np.log(np.maximum(np.array([rows[sequence] for sequence in ordered]), 1e-7))
    costs = np.minimum(np.rint((logs.max(axis=1, keepdims=True) - logs) / STEP), LEVELS - 1).astype(np.uint8)
    if costs.shape[1] % 2:
        costs = np.hstack((costs, np.zeros((len(costs), 1), np.uint8)))
    keys = np.array([language_table.sequence_key(sequence) for sequence in ordered], np.uint64)
    return keys, costs[:, ::2] << 4 | costs[:, 1::2]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
