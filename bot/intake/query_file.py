"""What a query says, as files of ours hold it: eval sets and labels alike."""

from __future__ import annotations

from typing import Annotated, Self, cast

from pydantic import Field, model_validator

from bot.validation import DemandError, FileModel, Text, Tuple


class SpokenFile(FileModel):
    """A query of one turn, or of several."""

    query: Text | None = Field(default=None, description="the only turn of the query; instead of `turns`")
    turns: Annotated[Tuple[Text], Field(min_length=1)] | None = Field(
        default=None, description="what the user says, in order; instead of `query`"
    )

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.query is None) == (self.turns is None):
            wanted = "given as `query` (one turn) or as `turns` (a list), and not as both"
            raise DemandError(wanted, "keep one of the two, or add the one that is missing")
        return self

    @property
    def spoken(self) -> tuple[str, ...]:
        """The turns, whichever way they are given."""
        return self.turns or (cast(str, self.query),)
