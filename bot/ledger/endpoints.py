"""The ledger file with the abilities of language-model endpoints (docs/ledger.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from bot.classifier.language_model.features_cache import KeptAbilities
from bot.files.validation import FileModel
from bot.ledger.model import Digest

MOST_ENDPOINTS = 20
"""The abilities of at most this many endpoints and models are kept; those found longest ago are dropped first."""

Learnt: TypeAlias = Annotated[dict[Digest, KeptAbilities | None], Field(max_length=MOST_ENDPOINTS)]
"""What a run learnt about endpoints; ``None``: the known abilities turned out to be wrong."""


class AbilityRecord(FileModel):
    """``abilities.json``: which endpoints have all abilities, so that not every run probes them; no address and no key.

    Others may write this file, so no lesser abilities are taken from it: an endpoint refuses what it cannot do, and is
    probed again, whereas a false lesser ability would raise costs and change answers.
    """

    format: Literal[1] = 1
    endpoints: Annotated[dict[Digest, KeptAbilities], Field(max_length=MOST_ENDPOINTS)] = Field(
        default_factory=dict, description="digest of endpoint, version of its API, model and samples: what it can do"
    )

    def until(self, now: float) -> AbilityRecord:
        """The part that can be relied on at ``now`` (seconds since 1970): full abilities that were not found in the
        future.
        """
        kept = {key: item for key, item in self.endpoints.items() if item.abilities.is_all and item.found <= now}
        return AbilityRecord(endpoints=kept)

    def after(self, learnt: Mapping[str, KeptAbilities | None]) -> AbilityRecord:
        """The record updated by what a run has ``learnt``."""
        known = {**self.endpoints, **learnt}
        found = {key: item for key, item in known.items() if item is not None and item.abilities.is_all}
        latest = sorted(found, key=lambda key: (-found[key].found, key))[:MOST_ENDPOINTS]
        return AbilityRecord(endpoints={key: found[key] for key in sorted(latest)})


NO_ABILITIES = AbilityRecord()
"""A record of no endpoint."""
