"""The file of the ledger that says what endpoints of language models can do (docs/ledger.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from bot.classifier.language_model.remembered import KeptAbilities
from bot.ledger.model import Digest
from bot.validation import FileModel

MOST_ENDPOINTS = 20
"""Of so many endpoints and models it is kept what they can do; those that were looked at longest ago go first."""

Learnt: TypeAlias = Annotated[dict[Digest, KeptAbilities | None], Field(max_length=MOST_ENDPOINTS)]
"""What a run found out of endpoints; ``None``: what was known turned out to be wrong."""


class AbilityRecord(FileModel):
    """``abilities.json``: what endpoints can do, so that not each run finds it out; no address and no key."""

    format: Literal[1] = 1
    endpoints: Annotated[dict[Digest, KeptAbilities], Field(max_length=MOST_ENDPOINTS)] = Field(
        default_factory=dict, description="digest of endpoint, version of its API, model and samples: what it can do"
    )

    def after(self, learnt: Mapping[str, KeptAbilities | None]) -> AbilityRecord:
        """What is known once that was ``learnt``."""
        found = {key: item for key, item in {**self.endpoints, **learnt}.items() if item is not None}
        latest = sorted(found, key=lambda key: (-found[key].found, key))[:MOST_ENDPOINTS]
        return AbilityRecord(endpoints={key: found[key] for key in sorted(latest)})


NO_ABILITIES = AbilityRecord()
"""Nothing is known of any endpoint."""
