"""What people made of verdicts and suggestions: one response per person and thing they were shown (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.ledger.events import VerdictFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """A person's word on one verdict, or on one suggested eviction.

    ``subject`` tells what it is on: responses with the same one answer the same question (content and verdict of a
    query; branch of a suggestion, which names entry and grounds).  ``decision`` is INCLUDE, EXCLUDE, REPLACE or
    KEEP-BOTH, or EVICT, SWAP or ADMIT for a suggestion; ``route`` direct or review; ``reasons`` are codes of the
    verdict, or the kind of the suggestion.  ``agrees`` tells whether the person wants what the verdict says.  An
    ``explicit`` response is a command, or the merge or the closing of a suggestion; an implicit one is the merge of a
    pull request whose comment showed the verdict.  ``author`` brought the query (``None`` for a suggestion, and where
    no event shows the verdict); it and ``by`` are in lower case, as GitHub compares logins.  ``said`` is the person's
    reason.  ``reversed`` tells that it did not last: its comment went, the same person said otherwise on the same
    content later, or the entry was taken out or undone by people.  ``base`` is the commit that the verdict was judged
    against, ``place`` its place in the cycle, ``facts`` are its facts as they were shown.  ``remaining`` tells of a
    suggestion how many competent coverers each capability would keep.  ``corrected`` is what curators say of tags of
    this content.
    """

    subject: str
    entry: str
    content: str
    decision: str
    route: str
    reasons: tuple[str, ...]
    agrees: bool
    explicit: bool
    by: str
    at: str
    pull_request: int
    author: str | None = None
    said: str | None = None
    reversed: bool = False
    base: str | None = None
    place: int = 0
    facts: VerdictFacts | None = None
    remaining: Mapping[str, int] = field(default_factory=dict)
    corrected: Mapping[str, bool] = field(default_factory=dict)

    @property
    def overrides(self) -> bool:
        """Whether the person wants something else than the verdict."""
        return not self.agrees

    @property
    def rests_on_wrong_tag(self) -> bool:
        """Whether the verdict rested on a tag that curators corrected since: then it is no word on a knob.

        An admission rests on what was new or won, an EXCLUDE on every tag that could have given merit.
        """
        if self.facts is None:
            return False
        facts = self.facts
        wrong = {name for name, value in self.corrected.items() if value != (name in facts.scores)}
        return bool(wrong if self.decision == "EXCLUDE" else wrong & {*facts.new, *facts.won})
