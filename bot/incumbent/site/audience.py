"""For whom a site is made: what it shows of texts, and of which customers (pure)."""

from __future__ import annotations

from dataclasses import dataclass

from incumbent.curator.entry import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience:
    """The readers of a site.

    Without ``texts`` the site has no text that customers wrote: no turns, no expectations.  With a ``customer`` it
    has the entries, names and numbers of that customer; of all others together it has only counts.  What people wrote
    in reasons and commits may name others, so one customer does not see it.
    """

    texts: bool = True
    customer: str | None = None

    @property
    def is_one_customer(self) -> bool:
        """Whether the site is for one customer."""
        return self.customer is not None

    def sees(self, customer: str | None) -> bool:
        """Whether the site names ``customer`` (``None``: of an entry without a source)."""
        return self.customer is None or customer == self.customer

    def sees_entry(self, entry: Entry) -> bool:
        """Whether the site has a page of ``entry``."""
        return self.sees(None if entry.source is None else entry.source.customer)
