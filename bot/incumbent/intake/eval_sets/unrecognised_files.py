"""Reports files beside an eval set that no reader recognises but that could contain queries.

It skips files of an agent and its project: those that another file of the folder names, those in a folder of an agent
package below the eval set folder, and those with a known name or content.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Final

from incumbent.errors import InputError, Problem, untrusted
from incumbent.files.documents import Data, as_list, as_mapping
from incumbent.files.snapshot import Snapshot
from incumbent.intake.agents.reader import fitting as fitting_agents
from incumbent.intake.eval_sets.columns import FORMATS_FILE, declaring, query_keys
from incumbent.intake.eval_sets.formats.plain_records import records_in
from incumbent.intake.eval_sets.plain import declaration, kind_of
from incumbent.intake.eval_sets.reader import SourceFile, fitting, glance, names_of, open_source, readers
from incumbent.taxonomy.config import Limits
from incumbent.text.did_you_mean import did_you_mean

AGENT_FILE: Final = re.compile(
    r"manifest\.json|declarativeagent.*\.json|ai-plugin.*\.json|agent\.ya?ml|agent[-_]card\.json", re.IGNORECASE
)
"""Names that belong to agents, regardless of content."""

_DATA: Final = (".yaml", ".yml", ".json", ".jsonl", ".csv", ".tsv")
_TEXTS: Final = (".yaml", ".yml", ".json")
_PROJECT_FILE: Final = re.compile(
    r"\..*|package(-lock)?\.json|pnpm-lock\.yaml|tsconfig.*\.json|host\.json|[\w.]*settings[\w.]*\.json|azure\.ya?ml"
    r"|(docker-)?compose.*\.ya?ml|(teamsapp|m365agents)(\..+)?\.ya?ml"
)
# Keys that together identify other kinds of files; `$schema` does so by itself.
_OTHER_KINDS: Final = tuple(
    frozenset(keys)
    for keys in (
        ("$schema",),
        ("agent",),
        ("manifestVersion",),
        ("schema_version",),
        ("instructions", "name"),
        ("openapi",),
        ("swagger",),
        ("tools",),
        ("jsonrpc", "result"),
        ("apiVersion", "kind"),
        ("kind", "displayName"),
        ("mcs.metadata",),
    )
)
# Keys of queries, even outside a list.
_SPOKEN: Final = frozenset(
    ("query", "prompt", "question", "input", "inputs", "turns", "messages", "conversation", "utterance", "user", "text")
)
_CALLED: Final = re.compile(r"eval|golden|benchmark|test[-_ ]?(?:set|case)|dataset|promptfoo|quer(?:y|ies)|question")
"""Words in paths of eval sets."""
_KEYS: Final = ("eval_set", "queries", "items", "prompts")
# Names of files in a text: bare, or in quotes with spaces and other characters.
_WORD: Final = re.compile(r"[\w.-]++")
_QUOTED: Final = re.compile(r"""["']([^"'\n]{1,300})(?=["'])""")
_ELSEWHERE: Final = "if it is no eval set, move it into a sub-folder"
_AS_ONE: Final = f"write it in one of these formats, which `incumbent formats` describes; {_ELSEWHERE}"


def find_unrecognised(
    snapshot: Snapshot, limits: Limits, taken: Collection[str], *, is_empty: bool = False
) -> dict[str, tuple[Problem, ...]]:
    """The problems of files and links that may be meant as an eval set; ``taken`` are the files that are read.

    It checks the folder itself, folders of eval sets, links in all folders, and files that have an agent's name but
    contain an eval set.  If the folder ``is_empty`` (has no eval set), it also checks files in other folders with names
    of eval sets.
    """
    paths = snapshot.paths()
    packages = _packages(paths)
    folders = {"", *map(posixpath.dirname, taken)}

    def foreign(path: str) -> bool:
        return _is_foreign(path, packages)

    unrecognised: dict[str, tuple[Problem, ...]] = {}
    suspects: dict[str, tuple[Problem, ...]] = {}
    for path in paths:
        if path in taken or not path.lower().endswith(_DATA):
            continue
        if AGENT_FILE.fullmatch(posixpath.basename(path)):
            unrecognised[path] = _misnamed(snapshot, path, limits)
        elif not foreign(path) and (posixpath.dirname(path) in folders or (is_empty and _CALLED.search(path.lower()))):
            suspects[path] = _unrecognised(snapshot, path, limits)
    for link in snapshot.links():
        ending = posixpath.splitext(link)[1].lower()
        # A link without an ending may lead to a folder of eval sets.
        if not foreign(link) and (ending in _DATA or not ending):
            (suspects if ending else unrecognised)[link] = _refusal(snapshot, link, limits)
    suspects = {path: problems for path, problems in suspects.items() if problems}
    named = _named(snapshot, paths, limits, suspects)
    unrecognised |= {path: problems for path, problems in suspects.items() if path not in named}
    return {path: problems for path, problems in unrecognised.items() if problems}


def foreign_files(paths: Collection[str]) -> frozenset[str]:
    """The ``paths`` that belong to an agent or its project by folder or name."""
    packages = _packages(paths)
    return frozenset(path for path in paths if _is_foreign(path, packages))


def files_of_the_agent(snapshot: Snapshot, limits: Limits, candidates: Collection[str]) -> set[str]:
    """The ``candidates`` that a file of an agent names, such as its knowledge."""
    if not candidates:
        return set()
    paths = [path for path in snapshot.paths() if path.lower().endswith(_TEXTS) and path not in candidates]
    foreign = foreign_files(snapshot.paths())
    agents = [path for path in paths if path in foreign or _speaks_for_an_agent(snapshot, path, limits)]
    return _named(snapshot, agents, limits, candidates)


def _speaks_for_an_agent(snapshot: Snapshot, path: str, limits: Limits) -> bool:
    if AGENT_FILE.fullmatch(posixpath.basename(path)):
        return True
    try:
        return _is_other(open_source(snapshot, path, limits))
    except InputError:
        return False


def _packages(paths: Iterable[str]) -> set[str]:
    """The folders of agent packages below the eval set folder."""
    return {posixpath.dirname(path) for path in paths if AGENT_FILE.fullmatch(posixpath.basename(path))} - {""}


def _is_foreign(path: str, packages: Iterable[str]) -> bool:
    inside = any(path.startswith(f"{package}/") for package in packages)
    return inside or _PROJECT_FILE.fullmatch(posixpath.basename(path).lower()) is not None


def _named(snapshot: Snapshot, paths: Iterable[str], limits: Limits, suspects: Collection[str]) -> set[str]:
    """The ``suspects`` whose name is in another file, as names of an agent's files and of fixtures are."""
    if not suspects:
        return set()
    names = {posixpath.basename(path) for path in suspects}
    are_unusual = not all(map(_WORD.fullmatch, names))
    found: set[str] = set()
    for path in paths:
        if path.lower().endswith(_TEXTS):
            try:
                text = glance(snapshot.read(path, limits.reading))
            except InputError:
                continue
            # Compare words with all names at once: a pattern of a thousand names would be tried at every character.
            words = (match.group().rstrip(".") for match in _WORD.finditer(text))
            found |= {word for word in words if word in names and word != posixpath.basename(path)}
            quoted = (posixpath.basename(match[1]) for match in _QUOTED.finditer(text)) if are_unusual else ()
            found |= {name for name in quoted if name in names and name != posixpath.basename(path)}
    return {path for path in suspects if posixpath.basename(path) in found}


def _refusal(snapshot: Snapshot, path: str, limits: Limits) -> tuple[Problem, ...]:
    """Why ``path`` cannot be read."""
    try:
        snapshot.read(path, limits.reading)
    except InputError as error:
        return error.problems
    return ()


def _misnamed(snapshot: Snapshot, path: str, limits: Limits) -> tuple[Problem, ...]:
    """The problem of an eval set with the name of an agent's file; the agent readers report broken files."""
    name = snapshot.name(path)
    try:
        source = open_source(snapshot, path, limits)
    except InputError:
        return ()
    possible = [reader for reader in readers() if name.lower().endswith(reader.endings)]
    if not fitting(source, possible) or _is_other(source):
        return ()
    message = "the eval set in this file is not read, since the name is that of an agent's file"
    fix = f"give it another name, for example evals{untrusted(posixpath.splitext(name)[1])}"
    return (Problem(name, None, message, fix),)


def _unrecognised(snapshot: Snapshot, path: str, limits: Limits) -> tuple[Problem, ...]:
    """Why the file at ``path`` is not an eval set; empty if its content identifies it as something else."""
    name = snapshot.name(path)
    ending = posixpath.splitext(path)[1].lower()
    possible = [reader for reader in readers() if ending in reader.endings]
    if not possible:
        message = f"eval sets are not read from {ending} files; looked for: {names_of(readers())}"
        return (Problem(name, None, message, _AS_ONE),)
    try:
        source = open_source(snapshot, path, limits)
        # If all lines are broken, report only their faults.
        if source.lines is not None and not source.lines.documents and source.lines.problems:
            raise InputError(source.lines.problems)
        source.check()
    except InputError as error:
        return tuple(replace(problem, fix=f"{problem.fix}; {_ELSEWHERE}") for problem in error.problems)
    if not source.text.strip():
        return (Problem(name, None, "the file is empty", "write the eval set into it, or remove it"),)
    if _is_other(source):
        return ()
    if posixpath.basename(path) == "formats.yml" and "formats" in as_mapping(source.root.data):
        return (Problem(name, None, f"the file is not read: it is called {FORMATS_FILE}", "rename it"),)
    line, hint = _slip(source)
    if not hint and source.document is not None and _is_settings(source.document.data):
        return ()
    fix = _AS_ONE
    columns = sorted(source.keys_of(records_in(source)))
    if query_keys(columns) and not hint:
        hint = f"; it may hold queries ({', '.join(query_keys(columns))}), and nothing says that it is an eval set"
        fix = f"say so: {declaring(source.file, source.path, kind_of(source))}; {_ELSEWHERE}"
    elif columns and not hint:
        hint = f"; what the user says is in none of its columns by a known name: {', '.join(columns[:20])}"
        fix = f"name the column: {declaration(source, 'query', 'NAME')}; {_ELSEWHERE}"
    cells = " (tables whose cells are separated by commas, semicolons or tabs)" if source.is_table else ""
    message = f"no eval set is recognised in this file{hint}; looked for: {names_of(possible)}{cells}"
    return (Problem(name, line, message, fix),)


def _is_other(source: SourceFile) -> bool:
    """Whether a parsed file identifies itself as something other than an eval set."""
    data = None if source.document is None else source.document.data
    keys = as_mapping(data).keys()
    return (
        any(kind <= keys for kind in _OTHER_KINDS)
        or as_mapping(data).get("type") == "AdaptiveCard"
        or (source.document is not None and bool(fitting_agents(source.document)))
    )


def _is_settings(data: Data) -> bool:
    """Whether a file is an object without a list of sentences or records, and so has no queries."""
    if not isinstance(data, dict):
        return False
    rest: list[Data] = [data]
    while rest:
        part = rest.pop()
        if isinstance(part, dict):
            if any(key.casefold() in _SPOKEN for key in part):
                return False
            rest += part.values()
        elif isinstance(part, list):
            if any(_is_record(item) for item in part):
                return False
            rest += part
    return True


def _is_record(item: Data) -> bool:
    """Whether an item of a list may be a query: a sentence, or an object with a text."""
    if isinstance(item, dict):
        return any(isinstance(value, str) for value in item.values())
    return isinstance(item, str) and (" " in item.strip() or not item.isascii())


def _slip(source: SourceFile) -> tuple[int | None, str]:
    """The likely mistake in an unrecognised file of the product's own format, and its line."""
    if source.document is None:
        return None, ""
    data: Data = source.document.data
    if any({"query", "turns"} & as_mapping(item).keys() for item in as_list(data)):
        return None, "; perhaps the list is meant to stand under `queries`, with `eval_set: 1` before it"
    for key in as_mapping(data):
        if key not in _KEYS and (hint := did_you_mean(key, _KEYS)):
            return source.document.line((key,)), hint
    return None, ""
