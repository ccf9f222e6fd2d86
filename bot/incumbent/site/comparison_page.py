"""What a merge would change, as a site of one page: who sees what of it, and its files (pure but for the templates).

Like :class:`incumbent.site.pages.SiteReader`, but nothing here leads to a page of an entry: there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from incumbent.consolidator.verdict import Verdict
from incumbent.report.escaping import visible
from incumbent.report.verdict_text import codes, headline, listed, verdict_words, why
from incumbent.site.audience import Audience
from incumbent.site.comparison import ChangedEntry, CoverageSides, MergeComparison, Pair
from incumbent.site.templating import SitePage, assets, environment, shown
from incumbent.text.masking import masked_together

SHOWN_NAMES: Final = 5
"""Lists within a sentence are cut after this many; the rest is counted."""
_OTHERS: Final = "another customer's"


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictRow:
    """A verdict for the page: query, its first turn (empty: texts are left out), who brought it, and the reason."""

    name: str
    turn: str
    customer: str
    agent: str
    outcome: str
    words: str
    codes: str
    why: str


@dataclass(frozen=True, kw_only=True)
class ComparisonReader:
    """What the readers of a ``comparison`` see of it.

    All text from outside goes through :meth:`text`, which masks personal data and shows what cannot be seen; markup is
    escaped by the template.  It is the style of the reasons of verdicts
    (:class:`incumbent.report.verdict_text.TextStyle`), so that these name nothing else.
    """

    comparison: MergeComparison
    audience: Audience

    @staticmethod
    def url(path: str) -> str:
        """The address of ``path`` from the page, which is in no folder."""
        return path

    text = staticmethod(shown)

    @cached_property
    def _own(self) -> frozenset[str]:
        """The names that one customer may see: its own, and those of its queries and entries."""
        customer = self.audience.customer
        found = set() if customer is None else {customer}
        for platform in (self.comparison.before, self.comparison.after):
            states = platform.regression_set.states
            found |= {id for id, (_, entry) in states.items() if self.audience.sees_entry(entry)}
        review = self.comparison.review
        if review is not None:
            own = {name for name, item in review.origins.items() if item.customer == customer}
            # A query of another customer may be called as an entry is.
            found = {id for id in found if id not in review.origins or id in own}
            found |= own | {review.targets[name] for name in own if name in review.targets}
        return frozenset(found)

    def sees(self, id: str) -> bool:
        """Whether the page names the query, entry or customer ``id``."""
        return not self.audience.is_one_customer or id in self._own

    def name(self, id: str) -> str:
        """A query, an entry or a customer; or only that it is of another customer."""
        return self.text(id) if self.sees(id) else _OTHERS

    def quote(self, text: str) -> str:
        """Foreign ``text``, for those who read the texts of all."""
        return "…" if self.audience.is_one_customer or not self.audience.texts else self.text(text)

    def names(self, ids: Iterable[str], most: int = SHOWN_NAMES) -> str:
        """Entries in a row: the first ones named, those of others and the rest counted."""
        known = list(ids)
        seen = [id for id in known if self.sees(id)]
        parts = [self.text(id) for id in seen[:most]]
        if len(seen) > most:
            parts.append(f"{len(seen) - most} more")
        if len(known) > len(seen):
            parts.append(f"{len(known) - len(seen)} of other customers")
        return ", ".join(parts)

    def capability(self, id: str) -> str:
        """A capability by its name after the merge; one that is gone by its name before."""
        known = {**self.comparison.before.taxonomy.by_id, **self.comparison.after.taxonomy.by_id}
        return visible(known[id].name)

    def capabilities(self, items: Sequence[CoverageSides]) -> str:
        """The capabilities of ``items`` in a row."""
        return ", ".join(self.capability(item.after or item.before or "") for item in items)

    def pair(self, pair: Pair) -> str:
        """A combination of capabilities by their names."""
        return " + ".join(map(self.capability, pair))

    @cached_property
    def changed(self) -> tuple[ChangedEntry, ...]:
        """The entries that change and may be named."""
        return tuple(item for item in self.comparison.entries if self.sees(item.id))

    @property
    def hidden(self) -> int:
        """How many entries of others change."""
        return len(self.comparison.entries) - len(self.changed)

    @cached_property
    def verdicts(self) -> tuple[VerdictRow, ...]:
        """The verdicts on the queries that may be named."""
        review = self.comparison.review
        if review is None:
            return ()
        return tuple(
            self._row(verdict)
            for verdict in self.comparison.verdicts
            if self.audience.sees(review.origins[verdict.id].customer)
        )

    @property
    def headline(self) -> str:
        """The verdicts in a line; empty without an eval set."""
        return "" if self.comparison.review is None else headline(self.comparison.review)

    @property
    def no_verdict(self) -> tuple[str, ...]:
        """The queries that could not be classified."""
        return () if self.comparison.review is None else tuple(self.comparison.review.shortfalls)

    @property
    def rejected(self) -> tuple[str, ...]:
        """The queries that people rejected."""
        review = self.comparison.review
        return () if review is None else tuple(answer.id for answer in review.derivation.rejected)

    @property
    def files(self) -> str:
        """The files of the set that are not counted."""
        return listed([self.text(path) for path in self.comparison.unread], SHOWN_NAMES)

    def _row(self, verdict: Verdict) -> VerdictRow:
        review = self.comparison.review
        assert review is not None
        origin = review.origins[verdict.id]
        turns = review.queries[verdict.id].turns
        return VerdictRow(
            name=self.text(verdict.id),
            turn=visible(masked_together(turns)[0]) if self.audience.texts else "",
            customer=self.text(origin.customer),
            agent=self.text(origin.agent),
            outcome=self.comparison.outcomes[verdict.id],
            words=verdict_words(verdict),
            codes=codes(verdict),
            why=why(verdict, review, self),
        )


def render_comparison(comparison: MergeComparison, audience: Audience) -> Iterator[tuple[str, bytes]]:
    """Path → bytes of each file of the site: one page, and the static files."""
    see = ComparisonReader(comparison=comparison, audience=audience)
    page = SitePage(path="index.html", template="comparison.html", title="What a merge would change", values={})
    sides = comparison.capabilities
    values = {
        "reaches": [item for item in sides if item.reaches],
        "loses": [item for item in sides if item.loses],
        "differing": sorted((item for item in sides if item.differs), key=lambda item: item.rank),
        "same": [item for item in sides if not item.differs],
    }
    links = [("#entries", "Entries"), ("#verdicts", "Verdicts"), ("#coverage", "Coverage"), ("#pairs", "Pairs")]
    navigation = [replace(page, path=path, title=title) for path, title in links]
    text: str = (
        environment()
        .get_template(page.template)
        .render(page=page, navigation=navigation, site=comparison, audience=audience, see=see, **values)
    )
    yield page.path, text.encode()
    yield from assets()
