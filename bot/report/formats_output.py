"""What ``incumbent formats --json`` prints."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from bot.intake.agents.registry import bare_readers, whole_readers
from bot.intake.eval_sets.registry import readers


class EvalSetFormat(BaseModel):
    """A format of eval sets."""

    model_config = ConfigDict(frozen=True)

    name: str = Field(description="as `formats.yaml` names it")
    title: str
    endings: tuple[str, ...] = Field(description="endings of the files that it is read from")
    plain: bool = Field(description="whether it is asked only where no other format fits")


class AgentFormat(BaseModel):
    """A format of agent specifications."""

    model_config = ConfigDict(frozen=True)

    name: str
    looked_for: str = Field(description="what is looked for in the folder")


class FormatsOutput(BaseModel):
    """The formats that are read, each by name."""

    model_config = ConfigDict(frozen=True)

    eval_sets: tuple[EvalSetFormat, ...]
    agents: tuple[AgentFormat, ...]

    @classmethod
    def known(cls) -> FormatsOutput:
        """Those of this version."""
        return cls(
            eval_sets=tuple(
                EvalSetFormat(name=reader.name, title=reader.title, endings=reader.endings, plain=reader.plain)
                for reader in readers()
            ),
            agents=tuple(
                AgentFormat(name=name, looked_for=looked_for)
                for name, looked_for in (
                    *((reader.name, reader.looked_for) for reader in whole_readers()),
                    *((reader.name, reader.looked_for) for reader in bare_readers()),
                )
            ),
        )
