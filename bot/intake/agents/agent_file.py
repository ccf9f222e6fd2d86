"""The shape of ``agent.yaml``, our own plain form of an agent specification."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from bot.files.validation import FileModel, Text, Tuple
from bot.intake.specification import AuthMode, Effect, Parameter, Protocol

Kind = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=100)]


class AgentTool(FileModel):
    """A tool of the agent; what is not given is not declared."""

    name: Text
    description: str = Field(default="", description="what the tool is for, as the agent is told")
    protocol: Protocol = Field(default="function", description="how the tool is called")
    effect: Effect = Field(default="unknown", description="what a call does to the world")
    auth: AuthMode | None = Field(default=None, description="how a call is authenticated; one of auth_modes")
    confirmation: bool | None = Field(default=None, description="whether the user is asked before a call")
    card: bool | None = Field(default=None, description="whether the answer is shown as a card")
    parameters: Tuple[Text] | dict[Text, str] = Field(
        default=(), description="what the tool takes, in order: a list of names, or each name with its description"
    )

    @property
    def named_parameters(self) -> tuple[Parameter, ...]:
        """The parameters, whichever way they are given."""
        if isinstance(self.parameters, dict):
            return tuple(Parameter(name=name, description=text) for name, text in self.parameters.items())
        return tuple(Parameter(name=name) for name in self.parameters)


class AgentFile(FileModel):
    """``agent.yaml``: an agent of any platform; what is not given is not declared, or as the extended files say."""

    model_config = ConfigDict(
        json_schema_extra={"anyOf": [{"required": ["extends"]}, {"required": ["name", "platform"]}]}
    )

    agent: Literal[1] = Field(description="version of this format")
    extends: Text | Annotated[Tuple[Text], Field(min_length=1)] | None = Field(
        default=None, description="files of the folder that the specification starts from, relative to this one"
    )
    name: Text | None = Field(default=None, description="name of the agent; may be left out with extends")
    platform: Text | None = Field(
        default=None, description="name of the platform that runs the agent, free text; may be left out with extends"
    )
    description: str | None = None
    instructions: str | None = None
    auth_modes: Tuple[AuthMode] | None = Field(
        default=None, description="how the agent's tools authenticate; [none] if they do not, never empty"
    )
    tools: Tuple[AgentTool] | None = Field(default=None, description="what the agent can call; [] for nothing")
    knowledge: Tuple[Kind] | None = Field(
        default=None, description="what the agent may answer from, such as web-search or files; [] for nothing"
    )
    starters: Tuple[Text] | None = Field(default=None, description="conversation starters shown to people")


class WholeAgentFile(AgentFile):
    """An ``agent.yaml`` that extends nothing, and so says who the agent is."""

    name: Text
    platform: Text
