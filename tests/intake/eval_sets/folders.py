"""Folders of eval sets for tests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from incumbent.errors import InputError, Problem
from incumbent.files.snapshot import WorkingTree
from incumbent.intake.eval_sets.folder import read_eval_sets
from incumbent.intake.query import EvalSet
from incumbent.taxonomy.config import Limits
from tests.factories import SHIPPED


def limits(**changes: int) -> Limits:
    """The shipped limits with other numbers."""
    return SHIPPED.limits.model_copy(update=changes)


def read(folder: Path, files: Mapping[str, str | bytes], **changes: int) -> tuple[EvalSet, ...]:
    """The eval sets of ``folder`` once ``files`` are written there."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_eval_sets(WorkingTree(folder), limits(**changes))


def read_one(folder: Path, name: str, content: str | bytes, **changes: int) -> EvalSet:
    """The only eval set of ``folder``."""
    (eval_set,) = read(folder, {name: content}, **changes)
    return eval_set


def refused(folder: Path, files: Mapping[str, str | bytes], **changes: int) -> tuple[Problem, ...]:
    """The problems of a folder that cannot be read at all."""
    with pytest.raises(InputError) as caught:
        read(folder, files, **changes)
    return caught.value.problems


def messages_of(eval_set: EvalSet) -> list[tuple[int | None, str]]:
    """The lines and messages of an eval set's problems; each has its file and a fix."""
    assert all(problem.file == eval_set.file and problem.fix for problem in eval_set.problems)
    return [(problem.line, problem.message) for problem in eval_set.problems]


def turns(eval_set: EvalSet) -> list[Any]:
    """The turns of an eval set's queries; of a query with one turn, just that."""
    return [query.turns[0] if len(query.turns) == 1 else list(query.turns) for query in eval_set.queries]


def check_one_fault(eval_set: EvalSet, line: int, message: str, fix: str = "") -> None:
    """One fault is reported, at ``line``, with these words in its message and in its fix."""
    ((at, text),) = messages_of(eval_set)
    assert at == line
    assert message in text
    assert fix in eval_set.problems[0].fix
