"""Where the emulator differs from GitHub, made good: one module an area, each mend with a test of its own."""

from __future__ import annotations

from dataclasses import dataclass

from tests.e2e.harness.hub import Hub, Mend
from tests.e2e.harness.mends.access import Access
from tests.e2e.harness.mends.checks import Checks
from tests.e2e.harness.mends.comments import Comments
from tests.e2e.harness.mends.identity import Identity
from tests.e2e.harness.mends.issues import Issues
from tests.e2e.harness.mends.protection import Protection
from tests.e2e.harness.mends.pulls import Pulls
from tests.e2e.harness.mends.references import References
from tests.e2e.harness.mends.reviews import Reviews
from tests.e2e.harness.mends.trees import Trees
from tests.e2e.harness.mends.wording import Wording


@dataclass(frozen=True)
class Mends:
    """All mends, in the order in which they see a request and its answer."""

    pulls: Pulls
    all: list[Mend]

    @classmethod
    def of(cls, hub: Hub, base_url: str) -> Mends:
        """The mends of one gateway."""
        pulls = Pulls(hub, base_url)
        chain: list[Mend] = [
            Access(hub, pulls),
            Comments(hub, base_url),
            Reviews(hub, base_url),
            Checks(hub, base_url),
            Trees(hub),
            pulls,
            Issues(hub, pulls, base_url),
            Identity(hub),
            Wording(hub, base_url),
            Protection(hub),
            References(hub),
        ]
        return cls(pulls, chain)
