"""How good the detector of personal data is, on texts that others wrote and labelled: make bench ARGS=personal-data.

A span is right if a label of its kind and it share at least 80 % of the characters of the two.  Intervals are Wilson's,
95 %.  Names are looked for too, since the labels have them; only other kinds count as false alarms in a text that has
no label but names.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from incumbent.ledger.agreement.statistics import wilson
from incumbent.text.personal_data.detector import Detector
from incumbent.text.personal_data.model import Found, PersonalDataKind, Sureness

FOLDER: Final = Path(__file__).parents[2] / "tests" / "labels" / "personal_data"
SHARED: Final = 0.8
"""So much of the characters that either of two spans covers is covered by both."""


@dataclass(frozen=True)
class LabelledText:
    """A text and what is personal in it."""

    text: str
    spans: tuple[Found, ...]


@dataclass
class Counts:
    """Spans by kind; texts without labels but names, and how many of these raise a false alarm."""

    right: Counter[PersonalDataKind] = field(default_factory=Counter)
    found: Counter[PersonalDataKind] = field(default_factory=Counter)
    labelled: Counter[PersonalDataKind] = field(default_factory=Counter)
    clean: int = 0
    alarms: int = 0

    def precision(self, kinds: Iterable[PersonalDataKind]) -> tuple[int, int]:
        """How many of the spans that were found are right."""
        kinds = list(kinds)
        return sum(self.right[kind] for kind in kinds), sum(self.found[kind] for kind in kinds)

    def recall(self, kinds: Iterable[PersonalDataKind]) -> tuple[int, int]:
        """How many of the labelled spans were found."""
        kinds = list(kinds)
        return sum(self.right[kind] for kind in kinds), sum(self.labelled[kind] for kind in kinds)


def read_labels(path: Path) -> list[LabelledText]:
    """The labelled texts of a file, one JSON object a line."""
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [
        LabelledText(
            row["text"],
            tuple(Found(PersonalDataKind(kind), start, end, Sureness.NAMED) for start, end, kind in row["spans"]),
        )
        for row in rows
    ]


def measure(texts: Iterable[LabelledText]) -> Counts:
    """What the detector finds in ``texts``, against their labels."""
    detector, counts = Detector(names=True), Counts()
    for item in texts:
        found = detector.find(item.text)
        counts.found.update(it.kind for it in found)
        counts.labelled.update(it.kind for it in item.spans)
        counts.right.update(it.kind for it in item.spans if any(matches(it, other) for other in found))
        if all(it.kind is PersonalDataKind.NAME for it in item.spans):
            counts.clean += 1
            counts.alarms += any(it.kind is not PersonalDataKind.NAME for it in found)
    return counts


def matches(first: Found, second: Found) -> bool:
    """Whether two spans are of one kind and nearly the same."""
    both = min(first.end, second.end) - max(first.start, second.start)
    either = max(first.end, second.end) - min(first.start, second.start)
    return first.kind is second.kind and both >= SHARED * either


def labelled_files() -> dict[str, list[LabelledText]]:
    """The labelled texts by the name of their file."""
    return {path.name: read_labels(path) for path in sorted(FOLDER.glob("*.jsonl"))}


def main() -> int:
    """Print the table for each file of labels, and for all; returns the exit code, which is always 0."""
    files = labelled_files()
    for name, texts in {**files, "all": [text for all_ in files.values() for text in all_]}.items():
        _print_table(name, len(texts), measure(texts))
    return 0


def _print_table(name: str, texts: int, counts: Counts) -> None:
    print(f"{name}: {texts} texts")
    groups: list[tuple[str, Sequence[PersonalDataKind]]] = [(kind.value, [kind]) for kind in PersonalDataKind]
    groups.append(("all but names", [kind for kind in PersonalDataKind if kind is not PersonalDataKind.NAME]))
    for label, kinds in groups:
        print(f"  {label:14} precision {_share(*counts.precision(kinds))}   recall {_share(*counts.recall(kinds))}")
    print(f"  texts without, in which some was found: {_share(counts.alarms, counts.clean)}\n")


def _share(right: int, of: int) -> str:
    found = wilson(right, of)
    if found is None:
        return f"{right:4}/{of:<4}      -"
    return f"{right:4}/{of:<4} {right / of:6.1%} [{found.low:.1%}, {found.high:.1%}]"


if __name__ == "__main__":
    sys.exit(main())
