"""Refused candidates as a file: the cores of those that people closed."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bot.files.validation import FileModel, Tuple

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{24}$")]


class RefusedCandidates(FileModel):
    """``incumbent candidates --refused FILE``: what stays away, each by the core that ``--json`` prints."""

    cores: Tuple[Annotated[Tuple[Digest], Field(min_length=1)]]
