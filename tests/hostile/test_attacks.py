"""Every attack on a file, on every format: an error with file, line and fix, or a stated limit, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from zlib import crc32

import pytest

from incumbent.intake.agents.reader import bare_readers, whole_readers
from incumbent.intake.eval_sets.reader import readers
from tests.formats import EVAL_SETS
from tests.hostile import structural, values
from tests.hostile.agents import AGENTS
from tests.hostile.attacks import ALL, Attack, sampled
from tests.hostile.judging import Worker
from tests.hostile.templates import Template, folder_of, written

TEMPLATES = (*EVAL_SETS, *AGENTS)
ATTACKS: tuple[Attack, ...] = (
    *(*structural.ENCODINGS, *structural.EMPTY, *sampled(structural.SIZES), *structural.DEPTHS),
    *(*values.NUMBERS, *values.KEYS, *values.IDS, *values.TEXT, *values.YAML, *values.JSON, *values.CSV),
)


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    worker = Worker(tmp_path_factory.mktemp("hostile"))
    yield worker
    worker.close()


def known() -> frozenset[str]:
    """The names of all readers, and of the file that speaks of formats."""
    return frozenset(
        {reader.name for reader in readers()}
        | {reader.name for reader in whole_readers()}
        | {reader.name for reader in bare_readers()}
        | {"formats.yaml"}
    )


def test_every_reader_has_a_template() -> None:
    assert known() - {template.reader for template in TEMPLATES} == frozenset()


@pytest.mark.parametrize("template", TEMPLATES, ids=str)
def test_every_template_is_valid(worker: Worker, template: Template) -> None:
    outcome = worker.judge(folder_of(template))
    assert outcome.wrong == ()
    if template.reader in known():
        assert outcome.problems == ()
        assert outcome.queries


_TRIED = 1
"""On so many readers each attack is tried by default; on others from attack to attack."""


def chosen(attack: Attack) -> Iterator[tuple[Template, bytes]]:
    """The templates to try, attacked; with ``INCUMBENT_HOSTILE=all`` all of them, for most of an hour.

    Which come first depends on the names of attack and template alone: a new format changes no other's attacks.
    """
    most = len(TEMPLATES) if ALL else _TRIED
    for template in sorted(TEMPLATES, key=lambda each: crc32(f"{attack.name} {each}".encode())):
        content = attack.make(template)
        if content is not None:
            yield template, content
            most -= 1
        if not most:
            return


@pytest.mark.parametrize("attack", ATTACKS, ids=[attack.name for attack in ATTACKS])
def test_attack(worker: Worker, attack: Attack) -> None:
    failures, tried = [], set[tuple[str, bytes]]()
    for template, content in chosen(attack):
        # What a file is meant as is told by its content, of agents also by its name.
        named = template.path if template.is_agent else template.kind
        if (named, content) in tried:
            continue
        tried.add((named, content))
        # The file of an agent is read whatever its manifest is.
        is_known = template.reader in known() and not template.path.endswith("manifest.json")
        expected = attack.expects(template) if is_known else ""
        outcome = worker.judge(folder_of(template, content), expected)
        failures += [f"{template}: {fault}" for fault in outcome.wrong]
        if expected:
            lines = {line for file, line in outcome.said if not file.endswith(template.path) or line is not None}
            if not outcome.said:
                failures.append(f"{template}: nothing says {expected!r}: {outcome.problems[:5]}")
            elif attack.has_line and expected != "." and not lines:
                failures.append(f"{template}: no line: {outcome.problems[:5]}")
    assert tried, "the attack applies to no format"
    assert not failures, "\n".join(failures)


def test_names_are_told_apart() -> None:
    names = [attack.name for attack in ATTACKS]
    assert len(set(names)) == len(names)
    assert len({str(template) for template in TEMPLATES}) == len(TEMPLATES)


def test_a_template_is_written_as_it_is() -> None:
    assert all(written(template).decode() for template in TEMPLATES)
