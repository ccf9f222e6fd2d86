"""Corrections by hand: a reviewed file for each text (`config/corrections/<digest of the text>.yaml`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from incumbent.classifier.corrections import Correction, Corrections
from incumbent.curator.entry import CorrectedCost, Costs
from incumbent.curator.file_changes import FileChange, edit, render
from incumbent.errors import InputError, Problem
from incumbent.files.documents import Document, parse_yaml
from incumbent.files.snapshot import Snapshot
from incumbent.files.validation import Checked, ConstraintError, FileFormat, FileModel, Text, Tuple, validate
from incumbent.taxonomy.config import REVIEWED_FILES
from incumbent.taxonomy.model import Identifier, Taxonomy
from incumbent.text.compare import text_key
from incumbent.text.did_you_mean import did_you_mean

FOLDER: Final = "config/corrections"


class CorrectedText(FileModel):
    """``config/corrections/<digest>.yaml``: what curators said of one text, whatever the agent.

    At least one of ``tags`` and ``cost`` is given.
    """

    format: FileFormat[Literal[1]] = 1
    turns: Annotated[Tuple[Text], Field(min_length=1)]
    tags: dict[Identifier, Checked[Correction]] = Field(default_factory=dict, exclude_if=lambda value: not value)
    cost: CorrectedCost | None = Field(default=None, exclude_if=lambda value: value is None)

    @model_validator(mode="after")
    def _corrects_something(self) -> Self:
        if not self.tags and self.cost is None:
            raise ConstraintError("corrections of `tags` or of `cost`", "give one of them, or delete the file")
        return self

    @property
    def path(self) -> str:
        """The path of its file."""
        return f"{FOLDER}/{text_key(self.turns)}.yaml"


def load_corrections(snapshot: Snapshot, taxonomy: Taxonomy | None) -> dict[str, CorrectedText]:
    """All corrections by hand, by the digest of their text; raises one :class:`InputError` with every fault of every
    file.

    Links are left out.  Without a ``taxonomy`` (it cannot be read) capabilities are not checked.
    """
    problems: list[Problem] = []
    found: dict[str, CorrectedText] = {}
    for path in snapshot.paths(FOLDER):
        if not path.endswith((".yaml", ".yml")):
            continue
        try:
            document = parse_yaml(snapshot.read(path, REVIEWED_FILES), snapshot.name(path), REVIEWED_FILES)
            item = validate(CorrectedText, document)
        except InputError as error:
            problems.extend(error.problems)
            continue
        if path != item.path:
            message = "the file is not named after the digest of its turns"
            problems.append(document.problem(("turns",), message, f"name it {item.path}, or restore it from git"))
        problems.extend(_unknown(item, document, taxonomy))
        found[text_key(item.turns)] = item
    if problems:
        raise InputError(problems)
    return dict(sorted(found.items()))


def _unknown(item: CorrectedText, document: Document, taxonomy: Taxonomy | None) -> list[Problem]:
    known = () if taxonomy is None else (*taxonomy.by_id, *taxonomy.retired)
    return [
        document.problem(
            ("tags", name),
            f"tags.{name}: the taxonomy has no such capability{did_you_mean(name, known)}",
            "use an id of taxonomy/taxonomy.yaml, or take the tag out",
        )
        for name in item.tags
        if taxonomy is not None and name not in known
    ]


def by_hand(texts: Mapping[str, CorrectedText]) -> Corrections:
    """The corrections of the tags of ``texts``."""
    return {key: item.tags for key, item in texts.items() if item.tags}


def corrected_costs(texts: Mapping[str, CorrectedText]) -> Costs:
    """The corrected costs of ``texts``."""
    return {key: item.cost for key, item in texts.items() if item.cost is not None}


def written(item: CorrectedText, existing: str | None) -> FileChange:
    """The file of ``item``; comments and unchanged parts of the ``existing`` file's text are kept."""
    return FileChange(item.path, render(item) if existing is None else edit(existing, item))
