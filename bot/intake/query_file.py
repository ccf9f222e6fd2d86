"""A query and the set-up behind it, as files of ours hold them: eval sets, entries and labels alike."""

from __future__ import annotations

from typing import Annotated, Self, cast

from pydantic import Field, model_validator

from bot.files.validation import DemandError, FileModel, Text, Tuple
from bot.intake.query import Setup


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


class SetupFile(FileModel):
    """``setup``: the mock set-up behind a query."""

    cost: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        default=1.0, description="how dear the set-up is, relative to others: of two prunable entries the dearer goes"
    )
    tenant: Text | None = Field(default=None, description="the mock tenant the query runs in")
    connectors: Tuple[Text] = Field(default=(), description="mocked connectors the query needs")
    fixtures: Tuple[Text] = Field(default=(), description="data fixtures the query needs")
    attachments: Annotated[Tuple[Text], Field(exclude_if=lambda value: not value)] = Field(
        default=(), description="names of what the user attaches, such as images; never opened"
    )
    ready: Annotated[bool, Field(exclude_if=lambda value: value)] = Field(
        default=True,
        description="whether the set-up stands; while it is false, `incumbent export` leaves the query out",
    )

    @staticmethod
    def of(setup: Setup) -> SetupFile:
        """``setup`` as files hold it."""
        return SetupFile(
            cost=setup.cost,
            tenant=setup.tenant,
            connectors=setup.connectors,
            fixtures=setup.fixtures,
            attachments=setup.attachments,
            ready=setup.ready,
        )

    @property
    def setup(self) -> Setup:
        """The set-up as the pipeline sees it."""
        return Setup(
            cost=self.cost,
            tenant=self.tenant,
            connectors=self.connectors,
            fixtures=self.fixtures,
            attachments=self.attachments,
            ready=self.ready,
        )
