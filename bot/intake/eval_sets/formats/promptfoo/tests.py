"""Tests of promptfoo configs: inline, in files, and in scenarios (all combinations of their data and tests).

Source: https://www.promptfoo.dev/docs/configuration/test-cases/ and ``reference/#test-case``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from bot.errors import InputError, Problem
from bot.files.documents import Data, as_list, as_mapping
from bot.intake.eval_sets.formats.promptfoo.variables import ReferencedFiles
from bot.intake.eval_sets.reader import SourceFile, too_many
from bot.intake.node import Node

_KEYS: Final = frozenset(
    {
        *("description", "vars", "provider", "providers", "prompts", "providerOutput", "assert"),
        *("assertScoringFunction", "options", "threshold", "metadata"),
    }
)
_FIX: Final = "write `vars:` and `assert:`, or the name of a file"


@dataclass(frozen=True, slots=True)
class PromptfooTest:
    """A test: its ``data``, its place, its line in the config, and its scenario."""

    data: Mapping[str, Data]
    place: Node
    line: int | None
    scenario: int | None = None


def read_cases(root: Node, files: ReferencedFiles, problems: list[Problem]) -> Iterator[PromptfooTest]:
    """All tests of the config at ``root``; adds faults to ``problems``."""
    yield from _cases(root["tests"], files, problems)
    scenarios = root["scenarios"]
    if scenarios.absent and root["tests"].absent:
        # Without tests each prompt is sent once.
        yield PromptfooTest({}, root, root.line)
    number = 0
    for scenario in _spread(scenarios, files, problems):
        rows = list(_cases(scenario["config"], files, problems))
        tests = list(_cases(scenario["tests"], files, problems)) or [PromptfooTest({}, scenario, scenario.line)]
        if not rows:
            message = f"{scenario.name}: a scenario needs data in `config`"
            problems.append(scenario.problem(message, "write `config:` with `- vars:`"))
        description = {} if scenario["description"].absent else {"scenario": scenario["description"].data}
        for row in rows:
            for test in tests:
                yield PromptfooTest(_merged(row.data, test.data) | description, test.place, test.line, number)
            number += 1


def _merged(row: Mapping[str, Data], test: Mapping[str, Data]) -> dict[str, Data]:
    merged = {**row, **test}
    for key in ("vars", "options", "metadata"):
        if key in merged:
            merged[key] = {**as_mapping(row.get(key)), **as_mapping(test.get(key))}
    if "assert" in merged:
        merged["assert"] = [*as_list(row.get("assert")), *as_list(test.get("assert"))]
    return merged


def _spread(place: Node, files: ReferencedFiles, problems: list[Problem]) -> Iterator[Node]:
    """The objects of the list at ``place``, including those of files that it names."""
    for item in place.items if place.is_list else () if place.absent else (place,):
        if item.is_mapping:
            yield item
            continue
        for source in _named(item, files, problems):
            if source.document is not None:
                root = source.root
                yield from (inner for inner in (root.items if root.is_list else (root,)) if inner.is_mapping)


def _named(
    item: Node, files: ReferencedFiles, problems: list[Problem], within: SourceFile | None = None
) -> tuple[SourceFile, ...]:
    """The files that the text at ``item`` names."""
    if not item.text:
        problems.append(item.problem(f"{item.name}: is no test", _FIX))
        return ()
    try:
        return files.all(item, item.text, within)
    except InputError as error:
        problems.extend(error.problems)
        return ()


def _cases(place: Node, files: ReferencedFiles, problems: list[Problem]) -> Iterator[PromptfooTest]:
    for item in place.items if place.is_list else () if place.absent else (place,):
        if too_many(problems, item.problem):
            return
        if item.has("$ref") or item.has("$values"):
            problems.append(item.problem(f"{item.name}: references are not followed", "write the test here"))
        elif item.is_mapping and not item["path"].text:
            data = _with_vars(item, files, None, problems)
            if data is not None:
                yield PromptfooTest(data, item, item.line)
        else:
            named = item["path"] if item.is_mapping else item
            for source in _named(named, files, problems):
                yield from _in_file(source, named, files, problems)


def _in_file(
    source: SourceFile, named: Node, files: ReferencedFiles, problems: list[Problem]
) -> Iterator[PromptfooTest]:
    if source.document is not None:
        root = source.root
        places = root.items if root.is_list else (root,)
    elif source.lines is not None or source.path.lower().endswith((".csv", ".tsv")):
        try:
            records = source.records
        except InputError as error:
            problems.extend(error.problems)
            return
        problems.extend(records.problems)
        places = records.places
    else:
        message = f"{named.name}: tests are not read from {source.path}"
        problems.append(named.problem(message, "write them in YAML, JSON, JSON Lines or CSV"))
        return
    columns = source.header.labels().values() if source.header is not None else ()
    for item in places:
        if not item.is_mapping:
            problems.append(item.problem(f"{item.name or source.path}: a test must be an object", _FIX))
        elif columns:
            yield PromptfooTest(_from_row({column: item[column].data or "" for column in columns}), item, named.line)
        elif not item.data or as_mapping(item.data).keys() & _KEYS:
            data = _with_vars(item, files, source, problems)
            if data is not None:
                yield PromptfooTest(data, item, named.line)
        else:
            yield PromptfooTest(_from_row(as_mapping(item.data)), item, named.line)


def _from_row(row: Mapping[str, Data]) -> dict[str, Data]:
    """The test in a row of a table; its expectation stays under its own columns."""
    variables: dict[str, Data] = {}
    options: dict[str, Data] = {}
    metadata: dict[str, Data] = {}
    test: dict[str, Data] = {"vars": variables}
    for key, value in row.items():
        if not key.startswith("__"):
            variables[key] = value
        elif value in ("", None):
            continue
        elif key in ("__prefix", "__suffix"):
            options[key[2:]] = value
        elif key.startswith("__metadata:") and key.endswith("[]") and isinstance(value, str):
            metadata[key[11:-2]] = [item.strip().replace("\0", ",") for item in value.replace("\\,", "\0").split(",")]
        elif key.startswith("__metadata:"):
            metadata[key[11:]] = value
        elif key in ("__description", "__threshold", "__providerOutput"):
            test[key[2:]] = value
        else:
            test[key] = value
    return test | {key: held for key, held in (("options", options), ("metadata", metadata)) if held}


def _with_vars(
    item: Node, files: ReferencedFiles, within: SourceFile | None, problems: list[Problem]
) -> dict[str, Data] | None:
    """The test at ``item`` with variables from files; ``None`` if these cannot be read."""
    held = item["vars"]
    data = dict(as_mapping(item.data))
    if held.absent or held.is_mapping:
        return data
    variables: dict[str, Data] = {}
    before = len(problems)
    for name in held.items if held.is_list else (held,):
        for source in _named(name, files, problems, within):
            found = source.document.data if source.document is not None else None
            if isinstance(found, dict):
                variables |= found
            else:
                message = f"{name.name}: {source.path} holds no variables"
                problems.append(name.problem(message, "write them there as `name: value`"))
    return data | {"vars": variables} if len(problems) == before else None
