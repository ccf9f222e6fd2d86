"""Tests of promptfoo configs, and the variables and files that they name.

Tests are inline, in files, or in scenarios (all combinations of their data and tests).

Source: https://www.promptfoo.dev/docs/configuration/test-cases/ and ``reference/#test-case``.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from incumbent.errors import InputError, Problem
from incumbent.files.documents import Data, Node, as_list, as_mapping
from incumbent.intake.eval_sets.formats.promptfoo.template import (
    TemplateFault,
    TooLongFault,
    compiled,
    is_template,
    rendered,
)
from incumbent.intake.eval_sets.reader import SourceFile, too_many
from incumbent.intake.export_round_trip import as_template, from_template

PREFIX: Final = "file://"

_PATTERN: Final = re.compile(r"[*?\[]")
_PROGRAMS: Final = re.compile(
    r"\.(?:[cm]?[jt]s|py|rb|go|sh|bash|exe|bat|cmd|ps1|pl)(?::[\w.]+)?$|^(?:exec|package|python|golang|ruby):"
)
_ELSEWHERE: Final = re.compile(r"^(?!file:)[A-Za-z][A-Za-z0-9+.-]*://")
_BINARY: Final = re.compile(r"\.(?:xlsx?|docx?|pptx?)(?:#.*)?$", re.IGNORECASE)


@dataclass
class ReferencedFiles:
    """Opens the files to which a config refers; ``used`` are the paths of those that were read."""

    config: SourceFile
    used: set[str] = field(default_factory=set)
    _opened: dict[tuple[str, str, bool], SourceFile] = field(default_factory=dict)

    def all(self, place: Node, reference: str, within: SourceFile | None = None) -> tuple[SourceFile, ...]:
        """The files that ``reference``, a name or a pattern, means; ``within`` is the file that contains it.

        Raises :class:`InputError` for programs, references to anything but files, and unreadable files.
        """
        return tuple(self._open(place, name, within or self.config) for name in self.names(place, reference, within))

    def text(self, place: Node, name: str) -> SourceFile:
        """The file ``name``, not parsed; raises :class:`InputError` if it cannot be read."""
        return self._open(place, name, self.config, parsed=False)

    def names(self, place: Node, reference: str, within: SourceFile | None = None) -> tuple[str, ...]:
        """The names of the files that ``reference`` means."""
        name = reference.strip().removeprefix(PREFIX)
        if _PROGRAMS.search(name):
            message = f"{place.name}: {name[:80]!r} is a program, which is not run"
            raise InputError([place.problem(message, "write what it gives into a file of the folder, and name that")])
        if _ELSEWHERE.match(name):
            message = f"{place.name}: {name[:80]!r} is no file of the folder, and nothing outside is ever read"
            raise InputError([place.problem(message, "put a copy of it into the folder, and name that")])
        if _BINARY.search(name):
            message = f"{place.name}: {name[:80]!r} is not read"
            raise InputError([place.problem(message, "save it as CSV, and name that")])
        if not _PATTERN.search(name):
            return (name,)
        found = (within or self.config).matching(place, name)
        if not found:
            message = f"{place.name}: no file of the folder fits {name[:80]!r}"
            raise InputError([place.problem(message, "name a file that there is")])
        return found

    def _open(self, place: Node, name: str, within: SourceFile, *, parsed: bool = True) -> SourceFile:
        key = (posixpath.dirname(within.path), name, parsed)
        if key not in self._opened:
            try:
                self._opened[key] = (within.beside if parsed else within.text_beside)(place, name)
            except InputError as error:
                raise InputError(self._located(place, name, problem) for problem in error.problems) from None
            self.used.add(self._opened[key].path)
        return self._opened[key]

    def _located(self, place: Node, name: str, problem: Problem) -> Problem:
        """A problem of a whole file, reported where the config names it."""
        if problem.line is not None:
            return problem
        return place.problem(f"{place.name}: {name[:80]}: {problem.message}", problem.given_fix)


_ATTACHED: Final = re.compile(
    r".*\.(?:png|jpe?g|gif|bmp|webp|svg|tiff?|ico|avif|heic|mp3|wav|ogg|m4a|flac|aac|mp4|webm|mov|mkv|avi|pdf)",
    re.IGNORECASE,
)
_ROUNDS: Final = 5
"""promptfoo replaces variables in variables so many times."""


@dataclass(frozen=True, slots=True)
class Ready:
    """The values of a test's variables, ready for prompts, and the names of attached files."""

    values: Mapping[str, Data]
    attached: tuple[str, ...]


@dataclass
class Variables:
    """Prepares variables for prompts.

    ``most`` is the maximum number of characters of one rendered text, ``room`` the number left for all together.
    """

    files: ReferencedFiles
    most: int
    room: int

    def ready(self, place: Node, values: Mapping[str, Data]) -> Ready:
        """``values`` of the test at ``place``, ready for prompts.

        Raises :class:`~incumbent.errors.InputError` for a file that cannot be read, and
        :class:`~incumbent.intake.eval_sets.formats.promptfoo.template.TooLongFault`.
        """
        found = dict(values)
        attached: list[str] = []
        # Variables that are one escaped text: nothing in it is replaced.
        said: set[str] = set()
        for name, value in values.items():
            if isinstance(value, str) and value.startswith(PREFIX):
                found[name] = self._content(place, value, attached)
            elif isinstance(value, str):
                text = from_template(value)
                if text != value and as_template(text) == value:
                    said.add(name)
                    found[name] = text
                else:
                    found[name] = value.removesuffix("\n")
        for _ in range(_ROUNDS):
            changed = False
            for name, value in found.items():
                if isinstance(value, str) and name not in said and is_template(value):
                    found[name] = self._rendered(value, found)
                    changed = changed or found[name] != value
            if not changed:
                break
        return Ready(found, tuple(attached))

    def _rendered(self, value: str, others: Mapping[str, Data]) -> str:
        """``value`` with the others replaced in it; as in promptfoo, an invalid template is a text."""
        try:
            text, size = rendered(compiled(value), others, self.most)
        except TooLongFault:
            raise
        except TemplateFault:
            return value
        self.room -= size
        return text

    def _content(self, place: Node, reference: str, attached: list[str]) -> str:
        """The text of the file in a variable; a picture is attached, and its name is the text."""
        name = reference.removeprefix(PREFIX)
        if _ATTACHED.fullmatch(name):
            attached.append(name)
            return f"[{name}]"
        (source,) = self.files.all(place, reference)
        if source.document is not None and not source.document.is_json:
            return json.dumps(source.document.data, ensure_ascii=False)
        return source.text.strip()


_KEYS: Final = frozenset(
    {
        *("description", "vars", "provider", "providers", "prompts", "providerOutput", "assert"),
        *("assertScoringFunction", "options", "threshold", "metadata"),
    }
)
_FIX: Final = "write `vars:` and `assert:`, or the name of a file"
_FIX_OF_VARS: Final = "write variables as `name: value`, or the name of a file that has them"


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
        if not name.text:
            problems.append(name.problem(f"{name.name}: must be a mapping or the name of a file", _FIX_OF_VARS))
            continue
        for source in _named(name, files, problems, within):
            found = source.document.data if source.document is not None else None
            if isinstance(found, dict):
                variables |= found
            else:
                message = f"{name.name}: {source.path} holds no variables"
                problems.append(name.problem(message, "write them there as `name: value`"))
    return data | {"vars": variables} if len(problems) == before else None
