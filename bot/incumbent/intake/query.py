"""Queries and eval sets, as the pipeline uses them and as files contain them, and the fixtures that queries name."""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal, Self, TypeAlias, cast

from pydantic import Field, JsonValue, TypeAdapter, model_validator, with_config

from incumbent.errors import Problem, untrusted_list
from incumbent.files.documents import Data
from incumbent.files.snapshot import Snapshot, normal_path
from incumbent.files.validation import FILE_CONFIG, Checked, ConstraintError, FileModel, Text, Tuple
from incumbent.text.compare import normalise
from incumbent.text.personal_data.detector import personal_in_name
from incumbent.text.plain_text import digits_of, is_shown
from incumbent.text.secrets import holds_key

AttachmentKind: TypeAlias = Literal["image", "audio", "file"]

_KINDS: Final[tuple[tuple[AttachmentKind, re.Pattern[str]], ...]] = (
    # A media type, the type of a message's part, or a file's ending, possibly in a URL.
    (
        "image",
        re.compile(
            r"^(?:input_)?image(?:_url)?(?:/|\s\(|$)|\.(?:png|jpe?g|gif|webp|bmp|svg|tiff?|heic)(?:[?#].*)?$",
            re.IGNORECASE | re.DOTALL,
        ),
    ),
    (
        "audio",
        re.compile(
            r"^(?:input_)?audio(?:/|\s\(|$)|\.(?:mp3|wav|m4a|ogg|flac|aac|opus|wma|amr)(?:[?#].*)?$",
            re.IGNORECASE | re.DOTALL,
        ),
    ),
)


MOST_COST: Final = 1_000_000_000
"""The greatest cost of a mock set-up, so that the total of a set is a finite number."""
SetupCost: TypeAlias = Annotated[float, Field(ge=0, le=MOST_COST, allow_inf_nan=False)]
"""How dear a mock set-up is, relative to others."""


@with_config(FILE_CONFIG)
@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """``setup``: the mock set-up behind a query."""

    cost: Annotated[
        SetupCost,
        Field(description="how dear the set-up is, relative to others: of two prunable entries the dearer goes"),
    ] = 1.0
    tenant: Annotated[Text | None, Field(description="the mock tenant the query runs in")] = None
    connectors: Annotated[tuple[Text, ...], Field(description="mocked connectors the query needs")] = ()
    fixtures: Annotated[tuple[Text, ...], Field(description="data fixtures the query needs")] = ()
    attachments: Annotated[
        tuple[Text, ...],
        Field(
            exclude_if=lambda value: not value,
            description="names of what the user attaches, such as images; never opened",
        ),
    ] = ()
    ready: Annotated[
        bool,
        Field(
            exclude_if=lambda value: value,
            description="whether the set-up is ready; while it is false, `incumbent export` leaves the query out",
        ),
    ] = True


@with_config(FILE_CONFIG)
@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """The smallest unit of curation: one turn, or an ordered list of turns.

    ``id`` is unique within its eval set: the file's own id, or one made from the content.  ``expected`` is the
    customer's expectation of the answer, unchanged.  ``file`` and ``line`` say where it was read.
    """

    id: Annotated[str, Field(min_length=1)]
    turns: Annotated[tuple[str, ...], Field(min_length=1)]
    expected: JsonValue = None
    setup: Setup = field(default_factory=Setup)
    file: str
    line: Annotated[int, Field(ge=1)] | None

    @property
    def classified_turns(self) -> tuple[str, ...]:
        """The turns as the classifier gets them: the last one lists the attachments, which its text may not mention."""
        notes = [f"(attached {_kind(name)}: {name})" for name in self.setup.attachments]
        return (*self.turns[:-1], "\n".join([*self.turns[-1:], *notes])) if notes else self.turns

    @property
    def texts(self) -> tuple[str, ...]:
        """All texts of it that an entry keeps: turns, expectation and set-up."""
        setup = self.setup
        named = (*([setup.tenant] if setup.tenant else []), *setup.connectors, *setup.fixtures, *setup.attachments)
        return (*self.turns, *texts_in(self.expected), *named)

    @property
    def attachment_kinds(self) -> tuple[AttachmentKind, ...] | None:
        """The kinds of attachments, sorted, each once; ``None`` if the eval set names no attachment."""
        return tuple(sorted({_kind(name) for name in self.setup.attachments})) or None


def texts_in(data: Data) -> Iterator[str]:
    """The texts in ``data``, in order, including keys and numbers."""
    if isinstance(data, Mapping):
        for name, item in data.items():
            yield name
            yield from texts_in(item)
    elif isinstance(data, list | tuple):
        for item in data:
            yield from texts_in(item)
    elif isinstance(data, str):
        yield data
    elif (digits := digits_of(data)) is not None:
        yield digits


def _kind(attachment: str) -> AttachmentKind:
    """The kind of an attachment, by its media type or the ending of its name; otherwise a file."""
    return next((kind for kind, pattern in _KINDS if pattern.search(attachment)), "file")


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalSet:
    """The queries of one eval set file, in the file's order, and the problems of rows that could not be read."""

    file: str
    format: str
    queries: tuple[Query, ...]
    problems: tuple[Problem, ...] = ()


class SpokenFile(FileModel):
    """A query of one turn, or of several."""

    query: Text | None = Field(default=None, description="the only turn of the query; instead of `turns`")
    turns: Annotated[Tuple[Text], Field(min_length=1)] | None = Field(
        default=None, description="what the user says, in order; instead of `query`"
    )

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.query is None) == (self.turns is None):
            wanted = "given as exactly one of `query` (one turn) or `turns` (a list)"
            raise ConstraintError(wanted, "give exactly one of `query` or `turns`")
        return self

    @property
    def spoken(self) -> tuple[str, ...]:
        """The turns, from either form."""
        return self.turns or (cast(str, self.query),)


SETUP_FILE: Final[TypeAdapter[Setup]] = TypeAdapter(Checked[Setup])
"""A set-up on its own, as in files."""


@dataclass(frozen=True, slots=True)
class FixtureFolder:
    """The ``names`` of all files and folders below ``path``.

    What a customer names is compared with these and is never opened, so that no name leads out of the folder.
    """

    path: str
    names: frozenset[str]

    @staticmethod
    def of(snapshot: Snapshot, path: str) -> FixtureFolder:
        """The folder at ``path`` of ``snapshot``; without names if it is not there."""
        names: set[str] = set()
        for file in snapshot.paths(path):
            name = file.removeprefix(f"{path}/")
            while name and name not in names:
                names.add(name)
                name = posixpath.dirname(name)
        return FixtureFolder(path, frozenset(names))

    def missing(self, setup: Setup) -> tuple[str, ...]:
        """The fixtures that ``setup`` names and that are not here, each once."""
        return tuple(name for name in dict.fromkeys(setup.fixtures) if normal_path(name) not in self.names)


def missing_fixtures(queries: Iterable[Query], folder: FixtureFolder) -> list[Problem]:
    """A problem for each of ``queries`` that names fixtures that are not in ``folder``."""
    return [
        Problem(
            query.file,
            query.line,
            f"{query.id}: not in {folder.path}/: {', '.join(missing)}",
            f"commit below {folder.path}/: {untrusted_list(missing)}; or correct `setup.fixtures`",
        )
        for query in queries
        if (missing := folder.missing(query.setup))
    ]


ID_CHARACTERS: Final = 200
"""Maximum length of a query id."""


class MadeIds:
    """Makes ids from content: ``q-`` and the first 10 hex digits of the SHA-256 of the normalised turns.

    An id stays the same if its query moves in the file.  If it is taken, by a given id or by an equal query before it,
    the smallest free suffix from ``-2`` on is added.
    """

    def __init__(self, given: Iterable[str]) -> None:
        self._taken = set(given)
        self._counts: dict[str, int] = {}

    def make(self, turns: Sequence[str]) -> str:
        """A free id for a query with these turns."""
        base = f"q-{hashlib.sha256(normalise(turns).encode()).hexdigest()[:10]}"
        count = self._counts.get(base, 1)
        made = base if count == 1 else f"{base}-{count}"
        while made in self._taken:
            count += 1
            made = f"{base}-{count}"
        self._taken.add(made)
        self._counts[base] = count
        return made


def fault_of_id(name: str) -> str | None:
    """The fault of a query id in a file, or ``None``."""
    if not name.strip():
        return "the id is empty"
    if len(name) > ID_CHARACTERS:
        return f"the id has {len(name)} characters, more than {ID_CHARACTERS}"
    if holds_key(name):
        return "the id contains what looks like a key"
    if not is_shown(name):
        return "the id holds characters that cannot be seen, such as a line break or a tab"
    if personal := personal_in_name(name):
        return f"the id holds {personal}"
    return None
