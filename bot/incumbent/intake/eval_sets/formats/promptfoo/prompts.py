"""Prompts of promptfoo configs: texts, chats, and files of them.

Source: https://www.promptfoo.dev/docs/configuration/prompts/, and promptfoo's ``prompts/processors``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from io import StringIO
from itertools import chain, islice
from typing import Final, TypeAlias

from incumbent.errors import InputError, Problem, untrusted
from incumbent.files.documents import Data, Document, Node, Parsed, as_list, as_mapping, parse_json_text, parse_yaml
from incumbent.files.snapshot import ReadingLimits
from incumbent.intake.eval_sets.formats.promptfoo.template import Template, compiled, rendered
from incumbent.intake.eval_sets.formats.promptfoo.tests import PREFIX, ReferencedFiles
from incumbent.intake.eval_sets.messages import UserTurns, has_messages, is_messages, read_spoken
from incumbent.intake.eval_sets.reader import SourceFile, rest_of

DEFAULT: Final = "{{prompt}}"
"""The prompt of a config without prompts."""

_FILE: Final = re.compile(r"[^\s{}]+\.(?:txt|md|j2|json|jsonl|ya?ml|csv|[cm]?[jt]s|py)(?::\w+)?")
_ELSEWHERE: Final = re.compile(r"(?:exec|python|portkey|langfuse|helicone|package|https?):\S")
_BETWEEN: Final = re.compile(r"^[ \t]*---[ \t]*\r?$", re.MULTILINE)
_CHAT: Final = re.compile(r"\s*[\[{].*\"role\"", re.DOTALL)
_YAML_CHAT: Final = re.compile(r"\s*-\s+role\s*:")

_Leaves: TypeAlias = "Template | list[_Leaves] | dict[str, _Leaves] | int | float | bool | None"


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """A prompt with variables; ``fields`` is other data of the config about it."""

    raw: str
    file: str
    line: int | None
    name: str
    fields: dict[str, Data]

    def is_meant(self, wanted: str) -> bool:
        """Whether a test's reference ``wanted`` means this prompt."""
        names = [str(self.fields[key]) for key in ("label", "id") if key in self.fields] or [self.raw]
        if wanted.endswith("*"):
            return any(name.startswith(wanted[:-1]) for name in names)
        return any(name == wanted or name.startswith(f"{wanted}:") for name in names)


@dataclass(frozen=True, slots=True)
class Compiled:
    """A prompt ready to render: a text or a chat; ``history``: it repeats the conversation so far."""

    leaves: _Leaves
    history: bool


def read_prompts(
    place: Node, files: ReferencedFiles, problems: list[Problem], otherwise: str = ""
) -> list[PromptTemplate]:
    """The prompts at ``place`` of a config; adds faults to ``problems``.

    ``otherwise`` is a fix for prompts that cannot be read.
    """
    if place.absent:
        return [PromptTemplate(DEFAULT, files.config.file, 1, "prompts", {})]
    if place.is_mapping and not place.has("raw") and not place.has("id"):
        # An older form: names of files, each with its label.
        items = [(Node(item.source, item.path, key), {"label": item.data}) for key, item in place.entries]
    else:
        items = [(item, {}) for item in (place.items if place.is_list else (place,))]
    found: list[PromptTemplate] = []
    # Each prompt makes at least one query, so more prompts would exceed the limit.
    most = files.config.folder_limits.queries + 1
    for item, fields in items:
        try:
            found.extend(islice(_prompts(item, dict(fields), files), most - len(found)))
        except InputError as error:
            more = f"; {otherwise}" if otherwise else ""
            problems.extend(replace(problem, fix=f"{problem.fix}{more}") for problem in error.problems)
    if not found and not problems:
        problems.append(place.problem("prompts: there are none", "write at least one prompt"))
    return found


def _prompts(item: Node, fields: dict[str, Data], files: ReferencedFiles) -> Iterator[PromptTemplate]:
    held = item
    if item.is_mapping:
        fields = fields | rest_of(item, "raw")
        held = item["raw"] if item.has("raw") else item["id"]
    if isinstance(held.data, str):
        text = held.data
        single = text.strip()
        if single.startswith(PREFIX) or _FILE.fullmatch(single) or _ELSEWHERE.match(single):
            for name in files.names(held, single):
                if name.lower().endswith(".json"):
                    # It is a template, and JSON only after variables are replaced.
                    source = files.text(held, name)
                    yield PromptTemplate(source.text, source.file, 1, f"{held.name}: {source.path}", fields)
                    continue
                (source,) = files.all(held, name)
                yield from _in_file(source, held, fields)
            return
        if text.strip() and (held is item or item.has("raw")):
            yield PromptTemplate(text, item.source.document.file, item.line, item.name, fields)
            return
    elif is_messages(held) or (held is not item and has_messages(held.data)):
        yield PromptTemplate(_dumped(held.data), item.source.document.file, item.line, item.name, fields)
        return
    message = f"{item.name}: is no prompt"
    raise InputError([item.problem(message, "write a text, a list of messages, or `file://` and the name of a file")])


def _in_file(source: SourceFile, place: Node, fields: dict[str, Data]) -> Iterator[PromptTemplate]:
    ending = source.path.rpartition(".")[2].lower()
    name = f"{place.name}: {source.path}"
    if source.document is not None:
        yield PromptTemplate(_dumped(source.document.data), source.file, 1, name, fields)
    elif ending in ("jsonl", "ndjson"):
        for number, line in enumerate(StringIO(source.text, newline="\n"), 1):
            if line.strip():
                yield PromptTemplate(line.strip(), source.file, number, name, fields)
    elif ending == "csv":
        for record in source.records.places:
            label = {"label": record["label"].data} if record.has("label") else {}
            held = record["prompt"].data or next(iter(as_mapping(record.data).values()))
            yield PromptTemplate(str(held), source.file, record.line, name, fields | label)
    else:
        yield from _split(source, name, fields, ending == "txt")


def _split(source: SourceFile, name: str, fields: dict[str, Data], several: bool) -> Iterator[PromptTemplate]:
    """The prompts of a text; in a ``.txt`` file, lines of ``---`` separate them."""
    start = line = 0
    ends = (match.span() for match in _BETWEEN.finditer(source.text)) if several else ()
    for end, following in chain(ends, [(len(source.text), len(source.text))]):
        piece = source.text[start:end]
        if piece.strip():
            before = len(piece) - len(piece.lstrip())
            begun = line + source.text.count("\n", start, start + before) + 1
            yield PromptTemplate(piece.strip() if several else piece, source.file, begun, name, fields)
        line += source.text.count("\n", start, following)
        start = following


def compile_prompt(raw: str, limits: ReadingLimits) -> Compiled:
    """``raw``, ready to render; raises :class:`TemplateFault`."""
    template = compiled(raw)
    if template.source.lstrip().startswith(("[", "{")):
        try:
            data = parse_json_text(template.source, "", limits).data
        except InputError:
            return Compiled(template, template.history)
        return Compiled(_leaves(data), template.history)
    return Compiled(template, template.history)


def _leaves(data: Data) -> _Leaves:
    match data:
        case str():
            return compiled(data)
        case list():
            return [_leaves(item) for item in data]
        case dict():
            return {key: _leaves(item) for key, item in data.items()}
        case _:
            return data


def render(prompt: Compiled, variables: Mapping[str, Data], room: int) -> tuple[Data, int]:
    """What ``prompt`` comes to, and what it took; raises :class:`TemplateFault` (see :func:`rendered`)."""
    spent = 0

    def put(leaves: _Leaves) -> Data:
        nonlocal spent
        match leaves:
            case Template():
                text, size = rendered(leaves, variables, room - spent)
                spent += size
                return text
            case list():
                return [put(item) for item in leaves]
            case dict():
                return {key: put(item) for key, item in leaves.items()}
            case _:
                return leaves

    return put(prompt.leaves), spent


def speak(
    value: Data, prompt: PromptTemplate, path: str, limits: ReadingLimits, problems: list[Problem]
) -> tuple[UserTurns, Data]:
    """The turns of a rendered prompt, and its messages if they are more than plain turns."""
    if isinstance(value, str):
        if not _CHAT.match(value) and not _YAML_CHAT.match(value):
            return UserTurns((value,), is_text=True), None
        try:
            chat = parse_yaml(value.encode(), prompt.file, limits) if _YAML_CHAT.match(value) else None
            data = parse_json_text(value, prompt.file, limits).data if chat is None else chat.data
        except InputError as error:
            message = f"{prompt.name}: the messages cannot be read once the variables are put in"
            fix = f"write `{{{{ name | dump }}}}` for texts inside; {untrusted(error.problems[0].message)}"
            problems.append(Problem(prompt.file, prompt.line, message, fix))
            return UserTurns(), None
    else:
        data = value
    place = Parsed(path, Document(prompt.file, "", data, is_json=True, first_line=prompt.line or 1)).root
    if not is_messages(place) and not (has_messages(data) and is_messages(place["messages"])):
        return UserTurns((value if isinstance(value, str) else _indented(data),), is_text=True), None
    return read_spoken(place, problems), None if _is_one_turn(data) else data


def _is_one_turn(data: Data) -> bool:
    """Whether messages are equivalent to one plain turn."""
    match as_list(data):
        case [{"role": "user", "content": str(), **rest}]:
            return not rest
        case _:
            return False


def _dumped(data: Data) -> str:
    return data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)


def _indented(data: Data) -> str:
    return json.dumps(data, ensure_ascii=False, indent=2)
