"""The taxonomy with a candidate's capability, as a draft pull request proposes it (texts in, texts out).

In the taxonomy's file every customer text is in double quotes, where YAML interprets only escapes: the text can neither
end its line nor begin anything.  In a table it is a cell without tabs and line ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from incumbent.errors import InputError, Problem
from incumbent.extension.model import DraftExemplar, ExtensionCandidate
from incumbent.files.documents import as_list, as_mapping, parse_yaml
from incumbent.files.validation import FileFormat, FileModel, Tuple
from incumbent.files.yaml_writer import edited
from incumbent.taxonomy.config import REVIEWED_FILES
from incumbent.taxonomy.exemplars import EXEMPLARS_FOLDER
from incumbent.taxonomy.loading import TAXONOMY_FILE
from incumbent.taxonomy.model import Exemplar
from incumbent.taxonomy.table_edits import table_head, with_rows
from incumbent.text.digests import digest

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{24}$")]


class RefusedCandidates(FileModel):
    """``incumbent candidates --refused FILE``: the refused candidates, each by its core as in ``--json``."""

    format: FileFormat[Literal[1]] = 1
    cores: Tuple[Annotated[Tuple[Digest], Field(min_length=1)]]


_DIGITS = 8


def drafted(files: Mapping[str, str], candidate: ExtensionCandidate) -> dict[str, str]:
    """The texts that change, by path, so that the taxonomy in ``files`` has the capability of ``candidate``.

    ``files`` are the taxonomy's file and the tables of exemplars beside it.  Exemplars go to a table of their own, and
    a query that is in a table already is labelled there.  If the taxonomy's file itself contains exemplars, they go
    there.  Raises :class:`InputError` if a file cannot be edited without changing anything else in it.
    """
    text = files[TAXONOMY_FILE]
    tables = {path: content for path, content in files.items() if path != TAXONOMY_FILE}
    if not tables and _holds_exemplars(text):
        return {TAXONOMY_FILE: with_capability(text, candidate, inline=True)}
    name = digest(candidate.core)[:_DIGITS]
    rows = [Exemplar(turns=item.turns, exercises=(candidate.id,)) for item in candidate.positive]
    rows += [Exemplar(turns=item.turns, resembles=(candidate.id,)) for item in candidate.negative]
    head = table_head([f"Queries of customers, drawn for {candidate.id}."], ())
    added = with_rows(tables, rows, f"{EXEMPLARS_FOLDER}/candidate-{name}.tsv", f"c{name}-", head)
    return {TAXONOMY_FILE: with_capability(text, candidate, inline=False), **added}


def _holds_exemplars(text: str) -> bool:
    """Whether the taxonomy's file itself contains exemplars."""
    data = as_mapping(parse_yaml(text.encode("utf-8"), TAXONOMY_FILE, REVIEWED_FILES).data)
    return any(as_mapping(item).get("exemplars") for item in as_list(data.get("capabilities")))


def with_capability(taxonomy_text: str, candidate: ExtensionCandidate, *, inline: bool) -> str:
    """``taxonomy_text`` with the capability of ``candidate`` at the end, and a new minor version.

    ``inline``: whether its exemplars are written there.  Comments, order, quoting, indentation and line ends stay.
    Raises :class:`InputError` if the text is no taxonomy file, or cannot be edited without changing anything else in
    it.
    """

    def change(document: Any) -> None:
        version = _next_version(document)
        # In the quotes of the old version.
        document["version"] = type(document["version"])(version)
        capabilities = document["capabilities"]
        capabilities.append(_capability(candidate, _shared(capabilities, candidate.group), inline=inline))
        if isinstance(capabilities, CommentedSeq) and not capabilities.fa.flow_style():
            # An empty line before it, as between the others.
            capabilities.yaml_set_comment_before_after_key(len(capabilities) - 1, before="\n")

    return edited(taxonomy_text.encode("utf-8"), TAXONOMY_FILE, REVIEWED_FILES, change)


def _next_version(document: Any) -> str:
    """The next minor version of the taxonomy ``document``, which must have capabilities."""
    try:
        major, minor, _ = map(int, document["version"].split("."))
        has_capabilities = isinstance(document["capabilities"], list) and bool(document["capabilities"])
    except (AttributeError, LookupError, TypeError, ValueError):
        has_capabilities = False
    if not has_capabilities:
        message = "it holds no version and no capabilities to add one to"
        raise InputError([Problem(TAXONOMY_FILE, None, message, "see `incumbent validate`")])
    return f"{major}.{minor + 1}.0"


def _shared(capabilities: Sequence[Any], group: str) -> dict[str, Any]:
    """What every capability of ``group`` says of combinations and floors beside the defaults; a new one says it too."""
    members = [item for item in capabilities if item.get("group") == group]
    said: dict[str, Any] = {"combines": False, "fill_from": "any"}
    return {key: value for key, value in said.items() if members and all(item.get(key) == value for item in members)}


def _capability(candidate: ExtensionCandidate, shared: Mapping[str, Any], *, inline: bool) -> CommentedMap:
    found = CommentedMap(
        {
            "id": candidate.id,
            "name": DoubleQuotedScalarString(candidate.name),
            "group": candidate.group,
            **shared,
            "description": DoubleQuotedScalarString(candidate.description),
            "source": "intent",
            # It has not been appraised: the pull request's comment says what it lacks, and when this key may be
            # removed.
            "trial": True,
        }
    )
    if inline:
        exemplars = {"positive": _exemplars(candidate.positive), "negative": _exemplars(candidate.negative)}
        found["exemplars"] = CommentedMap(exemplars)
    return found


def _exemplars(exemplars: Sequence[DraftExemplar]) -> CommentedSeq:
    return CommentedSeq(
        DoubleQuotedScalarString(item.turns[0]) if len(item.turns) == 1 else _conversation(item.turns)
        for item in exemplars
    )


def _conversation(turns: Sequence[str]) -> CommentedSeq:
    sequence = CommentedSeq(DoubleQuotedScalarString(turn) for turn in turns)
    sequence.fa.set_flow_style()
    return sequence
