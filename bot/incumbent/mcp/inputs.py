"""Parameters that several tools share, as types with their meaning, units and ranges."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, replace
from typing import Annotated, Any, Final, Literal, TypeAlias, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, Strict

from incumbent.classifier.model import Identity
from incumbent.errors import InputError, Problem, UsageError
from incumbent.files.documents import parse_json
from incumbent.files.snapshot import EmptySnapshot, Overlay
from incumbent.files.validation import Checked, FileModel, Text, Tuple
from incumbent.intake.agents.agent_yaml import AgentTool, Kind
from incumbent.intake.specification import AuthMode
from incumbent.mcp.untrusted import Named, ends_in_digest, without_mark, without_marks
from incumbent.pipeline.review import Platform
from incumbent.pipeline.submission import Package, read_package, refuse_shared_ids
from incumbent.rater.scores import KeptScores, ScoredQueryFile, read_scores
from incumbent.taxonomy.config import Limits

Read = TypeVar("Read")

MOST_ROWS: Final = 200
MOST_INLINE: Final = 500
"""The most queries that one call may bring; more belong in a folder."""

LONGEST_FOLDER: Final = 1_000
"""The most characters of a folder's name.  It is shown in full, so that it can be given back."""

_AGENT: Final = "`agent`"
_QUERY: Final = "query"


class QueryInput(FileModel):
    """A query of one turn or several."""

    id: Named | None = Field(default=None, description="unique in this call; made from the turns if absent")
    turns: Annotated[Tuple[Named], Field(min_length=1)] = Field(description="what the user says, in order")
    tool_calls: Tuple[Named] | None = Field(default=None, description="declared tools that it should call; [] for none")
    attachments: Tuple[Named] = Field(default=(), description="names or media types of what the user attaches")

    @property
    def as_in_files(self) -> dict[str, Any]:
        """The query as in an eval-set file."""
        row: dict[str, Any] = {"turns": self.turns}
        if self.id is not None:
            row["id"] = self.id
        if self.tool_calls is not None:
            row["expected"] = {"tool_calls": self.tool_calls}
        if self.attachments:
            row["setup"] = {"attachments": self.attachments}
        return row


# Not the class of agent.yaml: its keys for files and instructions have no meaning in a call.
class AgentInput(FileModel):
    """What the agent declares, as in agent.yaml (docs/specification.md); leave out what it does not declare."""

    name: Text = Field(description="its name")
    platform: Text = Field(default="inline", description="platform that runs it")
    description: str | None = None
    auth_modes: Tuple[AuthMode] | None = Field(default=None, description="how its tools authenticate; [none] if not")
    tools: Tuple[AgentTool] | None = Field(default=None, description="what it can call; [] for nothing")
    knowledge: Tuple[Kind] | None = Field(default=None, description="what it answers from; [] for nothing")
    starters: Tuple[Text] | None = Field(default=None, description="conversation starters")
    # Checked when it is read as a file: the schema of a fact, in three tools, would cost each question too much.
    facts: dict[str, Any] = Field(default_factory=dict, description="own facts")


def _whole(value: object) -> object:
    """JSON has one kind of number: 5.0 is an integer."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


WHOLE: Final = BeforeValidator(_whole)
"""After the bounds, so that the published schema has them."""


def _itself(name: str) -> str:
    """A name that is written to files; one that was shortened for display is refused."""
    if ends_in_digest(name):
        raise ValueError("this name is shortened for display: give the full name, or leave it out")
    return name


Folder: TypeAlias = Annotated[
    str,
    BeforeValidator(without_mark),
    Field(
        min_length=1,
        max_length=LONGEST_FOLDER + 20,  # and a digest
        description="folder of an agent and its eval sets, such as eval_sets/CUSTOMER/AGENT",
    ),
]
Inline: TypeAlias = Annotated[
    list[QueryInput],
    Field(min_length=1, max_length=MOST_INLINE, description="instead of `folder`"),
]
Agent: TypeAlias = Annotated[AgentInput, Field(description="the agent of `queries`; left out: nothing is declared")]
Scored: TypeAlias = Annotated[
    list[Annotated[ScoredQueryFile, BeforeValidator(without_marks)]],
    Field(min_length=1, max_length=MOST_INLINE, description="rows of `rate`, in any order"),
]
Version: TypeAlias = Annotated[
    Text, Field(max_length=200, description="taxonomy of the scores (from `rate`); default: the platform's")
]
Classifier: TypeAlias = Annotated[
    Checked[Identity],
    Field(description="who gave the scores (from `rate`): entries of another do not count; default: that of the set"),
]
FolderName: TypeAlias = Annotated[
    Text,
    BeforeValidator(without_mark),
    AfterValidator(_itself),
    Field(max_length=200, pattern=r"^[^/\x00-\x1f]+$", description="default: the name of the folder"),
]
Flag: TypeAlias = Annotated[bool, Strict()]
Limit: TypeAlias = Annotated[int, Strict(), Field(ge=1, le=MOST_ROWS, description="rows of this page"), WHOLE]
Offset: TypeAlias = Annotated[
    int, Strict(), Field(ge=0, description="rows to leave out first: the last `next_offset`"), WHOLE
]
Texts: TypeAlias = Annotated[Flag, Field(description="whether to show the queries' texts")]
Facts: TypeAlias = Annotated[Flag, Field(description="whether to show what each verdict rests on")]
Rows: TypeAlias = Literal[
    "matters", "all", "admitted", "waiting-for-slot", "waiting-for-review", "excluded", "attempts"
]
RemarkedRows: TypeAlias = Literal[Rows, "contradictions", "unfamiliar"]
_ROWS: Final = "`matters`: all but the excluded; `attempts`: that argue with the classifier, or hide text"
Show: TypeAlias = Annotated[Rows, Field(description=_ROWS)]
ShowRemarked: TypeAlias = Annotated[RemarkedRows, Field(description=_ROWS)]


class _Arguments(Overlay):
    """What a call brings, as files; problems name them as the caller knows them."""

    _CALLED: Final = {"agent.yaml": _AGENT, "queries.json": _QUERY}

    def __init__(self, agent: str, queries: str) -> None:
        super().__init__(EmptySnapshot(), {"agent.yaml": agent, "queries.json": queries})

    def name(self, path: str) -> str:
        """The argument that the file at ``path`` was made from."""
        return self._CALLED.get(path, path)


def inline_package(platform: Platform, queries: list[QueryInput], agent: AgentInput | None) -> Package:
    """The package of ``queries`` and ``agent``, read as if they were files.

    So the checks and limits of files apply; raises :class:`InputError`.
    """
    limits: Limits = platform.config.limits
    declared = {} if agent is None else agent.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    name = "inline" if agent is None else agent.name
    stated = {"agent": 1, "name": name, "platform": "inline"} | declared
    files = _Arguments(
        json.dumps(stated, ensure_ascii=False), f'{{"eval_set": 1, {_listed(query.as_in_files for query in queries)}}}'
    )
    package = _placed(lambda: read_package(files, "inline", name, "inline", limits), len(queries))
    (package,) = refuse_shared_ids([package], platform.regression_set)
    problems = tuple(_in_call(problem, len(queries)) for problem in package.submission.problems)
    return replace(package, submission=replace(package.submission, problems=problems))


def kept_scores(
    platform: Platform, queries: list[ScoredQueryFile], taxonomy: str | None, classifier: Identity | None
) -> KeptScores:
    """``queries`` as input of the consolidator; raises :class:`InputError` with every fault."""
    given = {"taxonomy": taxonomy, "classifier": None if classifier is None else asdict(classifier)}
    listed = _listed(query.model_dump(mode="json", exclude_none=True) for query in queries)
    content = f"{{{listed},\n{json.dumps(given, ensure_ascii=False)[1:]}".encode("utf-8", "replace")
    limits = platform.config.limits.reading
    return _placed(lambda: read_scores(parse_json(content, _QUERY, limits), platform.taxonomy), len(queries))


def _placed(read: Callable[[], Read], count: int) -> Read:
    """What ``read`` returns for ``count`` queries; problems name the argument and the query."""
    try:
        return read()
    except InputError as error:
        raise InputError(_in_call(problem, count) for problem in error.problems) from None


def _in_call(problem: Problem, count: int) -> Problem:
    """``problem`` with a place that the caller knows; the line of each of ``count`` queries is its number."""
    if problem.line is None:
        return problem
    place = problem.file
    if place == _QUERY:
        place = f"{_QUERY} {problem.line}" if problem.line <= count else "the call"
    return replace(problem, file=place, line=None)


def _listed(queries: Iterable[Mapping[str, Any]]) -> str:
    """``queries`` as JSON, one per line, so that the line of a problem is the number of its query."""
    return '"queries": [' + ",\n".join(json.dumps(query, ensure_ascii=False) for query in queries) + "]"


def one_of_both(folder: str | None, queries: list[QueryInput] | None, agent: AgentInput | None) -> None:
    """Raise :class:`UsageError` unless the queries come from exactly one of a folder and the call."""
    if (folder is None) == (queries is None):
        raise UsageError("give either `folder` or `queries`")
    if folder is not None and agent is not None:
        raise UsageError("`agent` goes with `queries`: a folder holds its own specification")
