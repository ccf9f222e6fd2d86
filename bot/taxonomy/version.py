"""The version of a taxonomy: as its file has it, and whether it may follow another."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import yaml

from bot.config import REVIEWED_FILES
from bot.errors import InputError, Problem
from bot.files.documents import Document, as_mapping, parse_yaml
from bot.taxonomy.changes import changes_between, heaviest, required_version
from bot.taxonomy.model import Taxonomy

_KEY: Final = "version"
_VERSION: Final = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")


def read_version(content: str | bytes) -> str | None:
    """The version in ``content``, which may be faulty after it; ``None`` where there is none.

    The text is read up to the version only, so that it costs little for a file that has it at the top.
    """
    event = _version_event(content)
    return None if event is None or not _VERSION.fullmatch(event.value) else str(event.value)


def with_version(text: str, file: str, version: str) -> str:
    """The valid ``text`` of the taxonomy ``file`` with another version; all else stays byte for byte.

    Raises :class:`InputError` where that cannot be, for example because an alias takes the version from elsewhere.
    """
    plain = text.removeprefix("\ufeff")
    mark = text[: len(text) - len(plain)]
    event = _version_event(plain)
    if event is not None and event.value == version:
        return text
    if event is not None:
        # An anchor or a tag may be before the value, and quotes around it.
        start = plain.rfind(event.value, _index(event.start_mark), _index(event.end_mark))
        written = plain[:start] + version + plain[start + len(event.value) :]
        if start >= 0 and _says(written, file) == {**_says(plain, file), _KEY: version}:
            return mark + written
    line = parse_yaml(plain.encode("utf-8"), file, REVIEWED_FILES).line((_KEY,))
    message = f"the version must become {version}, and it cannot be set without changing what else the file says"
    raise InputError([Problem(file, line, message, f"write `version: {version}`, and run this again")])


def _says(text: str, file: str) -> dict[str, object]:
    return dict(as_mapping(parse_yaml(text.encode("utf-8"), file, REVIEWED_FILES).data))


def _version_event(content: str | bytes) -> yaml.ScalarEvent | None:
    """The value of the key ``version`` of the outermost mapping, if it is a single value."""
    depth, is_key, found = 0, True, False
    try:
        for event in yaml.parse(content, Loader=yaml.CSafeLoader):
            if isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            elif isinstance(event, yaml.NodeEvent):
                scalar = event if isinstance(event, yaml.ScalarEvent) else None
                if depth == 0 and not isinstance(event, yaml.MappingStartEvent):
                    return None
                if depth == 1 and found:
                    return scalar
                if depth == 1:
                    found = is_key and scalar is not None and scalar.value == _KEY
                    is_key = not is_key
                if isinstance(event, yaml.CollectionStartEvent):
                    depth += 1
    except yaml.YAMLError:
        return None
    return None


def _index(mark: Any) -> int:
    """The place in the text; libyaml gives it for every event."""
    return int(mark.index)


def succession_problems(old: Taxonomy, new: Taxonomy, document: Document) -> tuple[Problem, ...]:
    """Every fault of ``new`` as what follows ``old``; ``document`` is the file that ``new`` was read from."""
    version = version_problem(old, new, document)
    return (*(() if version is None else (version,)), *declaration_problems(old, new, document))


def declaration_problems(old: Taxonomy, new: Taxonomy, document: Document) -> tuple[Problem, ...]:
    """Those of the faults that do not hang on exemplars: what is retired, and what capabilities say that they were."""
    return (*_retired(old, new, document), *_origins(old, new, document))


def version_problem(old: Taxonomy, new: Taxonomy, document: Document) -> Problem | None:
    """What is wrong with the version of ``new``, and which is right; ``None`` where nothing is.

    Right is exactly the next one of the step that the weightiest change asks for, so that versions tell how much a
    change means.
    """
    right = required_version(old, new)
    if new.version == right:
        return None
    deciding = heaviest(changes_between(old, new))
    if deciding is None:
        message = f"version: nothing changed since {old.version}, and the version is {new.version}"
    else:
        message = (
            f"version: it is {new.version}, and after {old.version} it must be {right}, "
            f"since this is a {deciding.step} change: {deciding.sentence}"
        )
    return document.problem(("version",), message, f"write `version: {right}`")


def _retired(old: Taxonomy, new: Taxonomy, document: Document) -> Iterator[Problem]:
    """Ids that were used and could be used again."""
    retired = set(new.retired)
    for id in old.by_id:
        if id not in new.by_id and id not in retired:
            message = f"retired: {id} was a capability of {old.version} and is missing, so that its id could come back"
            yield document.problem(("retired",), message, f"add {id} to `retired`")
    for id in sorted(set(old.retired) - retired):
        message = f"retired: {id} was retired in {old.version} and is missing, so that its id could come back"
        yield document.problem(("retired",), message, f"put {id} back into `retired`")


def _origins(old: Taxonomy, new: Taxonomy, document: Document) -> Iterator[Problem]:
    """Origins of capabilities that existed beside what they name, and wholes that are split here into one part."""
    declared = Counter(item.split for item in new.capabilities)
    for place, item in enumerate(new.capabilities):
        if item.id not in old.by_id:
            if item.split in old.by_id and item.split not in new.by_id and declared[item.split] == 1:
                message = f"{item.id}: it is the only part of {item.split}, and a split has two or more"
                fix = f"write `was: {item.split}` if this is the whole under another id, or name the other parts"
                yield document.problem(("capabilities", place, "split"), message, fix)
            continue
        for key, origin in (("was", item.was), ("split", item.split)):
            if origin in old.by_id and origin not in new.by_id:
                message = f"{item.id}: it is no new id of {origin}, for {old.version} has both"
                fix = f"remove `{key}`, and give what became of {origin} an id of its own if it lives on"
                yield document.problem(("capabilities", place, key), message, fix)
