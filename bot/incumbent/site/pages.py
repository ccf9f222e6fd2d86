"""The pages of a site: which there are, under which addresses, and what each needs (pure but for the templates).

Here is decided who sees what.  Templates name entries, customers and agents by :class:`SiteReader` alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain, islice
from typing import Any, Final

from markupsafe import Markup, escape

from incumbent.curator.entry import Entry
from incumbent.curator.store import State
from incumbent.ledger.calibration.fit import KnobOutcome
from incumbent.ledger.releases.history import CapabilityEvidence, EntryHistory
from incumbent.report.escaping import address_parameters, printable, visible
from incumbent.report.results import capability_words, record_words
from incumbent.report.status import history_words
from incumbent.site.audience import Audience
from incumbent.site.charts import Draw, agreement_chart, evidence_chart, growth_charts, releases_chart
from incumbent.site.content import PairTable, SiteContent, SiteCustomer, SiteEntry
from incumbent.site.templating import SitePage, assets, environment, shown
from incumbent.taxonomy.model import Capability, Group, Source
from incumbent.text.digests import digest, slug
from incumbent.text.masking import masked_json, masked_together

SHOWN: Final = 10
"""How many of the last admissions, evictions, suggestions and changes a page names."""
_PATHS: Final[Mapping[Source, str]] = {
    "spec": "the specification",
    "tool": "tools called",
    "structure": "structure",
    "intent": "the text",
}
IN_SET: Final = "in the set"
# What is added to these is escaped.
_OPENING: Final = Markup('<a href="')
_BETWEEN: Final = Markup('">')
_CLOSING: Final = Markup("</a>")
COULD_GO: Final = "could go"
"""How the table of entries names the state of those in the set."""
SHOWN_NAMES: Final = 5
"""Lists within a cell are cut after this many; the rest is counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LastEvent:
    """An admission or an eviction, for the lists of what happened last."""

    at: str
    id: str
    customer: str | None


@dataclass(frozen=True, kw_only=True)
class SiteReader:
    """What the readers of a site see of its ``content``, and how it is addressed from a page ``depth`` folders down.

    All text from outside goes through :meth:`text`, which masks personal data and shows what cannot be seen; markup is
    escaped by the templates.
    """

    content: SiteContent
    audience: Audience
    depth: int = 0

    def url(self, path: str) -> str:
        """The address of ``path`` from this page; relative, so that the site works in any folder."""
        return "../" * self.depth + path

    text = staticmethod(shown)

    def entry(self, id: str) -> Markup:
        """The entry ``id`` as a link, or only that it is another customer's."""
        known = self.content.entries.get(id)
        if known is None:
            return escape(self.text(id)) if not self.audience.is_one_customer else escape("another entry")
        if not self.audience.sees_entry(known.entry):
            return escape("an entry of another customer")
        return self._link(f"entries/{id}.html", id)

    def entries(self, ids: Iterable[str], most: int = SHOWN_NAMES) -> Markup:
        """Entries in a row: the first ones named, those of others and the rest counted; a dash if there are none."""
        known = list(ids)
        seen = [id for id in known if id in self.named] if self.audience.is_one_customer else known
        return self._row(seen[:most], len(seen), len(known))

    def others(self, id: str, capability: str) -> Markup:
        """:meth:`entries` of those in R that cover ``capability`` competently, apart from the entry ``id``."""
        seen = self.coverers_named.get(capability, {})
        first = [other for other in islice(seen, SHOWN_NAMES + 1) if other != id][:SHOWN_NAMES]
        return self._row(first, len(seen) - (id in seen), self.count_others(id, capability))

    def count_others(self, id: str, capability: str) -> int:
        """How many entries of R but ``id`` cover ``capability`` competently."""
        known = self.coverers.get(capability, frozenset())
        return len(known) - (id in known)

    def _row(self, first: Sequence[str], seen: int, known: int) -> Markup:
        key = tuple(first), seen, known
        if key not in self._rows:
            parts = [self.entry(id) for id in first]
            if seen > len(parts):
                parts.append(escape(f"{seen - len(parts)} more"))
            if known > seen:
                parts.append(escape(f"{known - seen} of other customers"))
            self._rows[key] = Markup(", ").join(parts) if parts else escape("–")
        return self._rows[key]

    @cached_property
    def _rows(self) -> dict[tuple[tuple[str, ...], int, int], Markup]:
        """The same first coverers of a capability stand on the page of each entry that covers it."""
        return {}

    def customer(self, name: str | None) -> Markup:
        """A customer as a link, or only that it is another one."""
        if name is None:
            return escape("no source" if self.audience.sees(None) else "another customer")
        if not self.audience.sees(name):
            return escape("another customer")
        return self._link(customer_path(name), self.text(name))

    def agents(self, names: Sequence[str], most: int = SHOWN_NAMES, total: int | None = None) -> Markup:
        """Agents, as ``customer/agent``, in a row; those of others and the rest of ``total`` counted.

        Where it is every agent that is known, their number says more than their names; but one customer wants to know
        which of theirs it is.
        """
        count = len(names) if total is None else total
        if count == len(self.content.agents) > most and not self.audience.is_one_customer:
            return escape(f"each of {count} agents")
        seen = [name for name in names if self.audience.sees(name.partition("/")[0])]
        parts = [escape(self.text(name)) for name in seen[:most]]
        rest = count - len(parts)
        if rest:
            parts.append(escape(f"{rest} {'of other customers' if self.audience.is_one_customer else 'more'}"))
        return Markup(", ").join(parts) if parts else escape("no agent yet")

    def capability(self, id: str) -> Markup:
        """A capability by its name, as a link; an id that the taxonomy no longer has as it is."""
        known = self.content.platform.taxonomy.by_id.get(id)
        if known is None:
            return escape(self.text(id))
        return self._link(f"capabilities/{id}.html", visible(known.name))

    def capabilities(self, ids: Iterable[str]) -> Markup:
        """Capabilities in a row; a dash if there are none."""
        return Markup(", ").join(map(self.capability, ids)) or escape("–")

    def _link(self, path: str, words: str) -> Markup:
        # Not with Markup.format: a site has some 70 links for each entry, and that takes four times as long.
        return _OPENING + self.url(path) + _BETWEEN + words + _CLOSING

    def turns(self, entry: Entry) -> list[str]:
        """The turns of ``entry``, masked, with their lines; empty if texts are left out."""
        return [printable(turn) for turn in masked_together(entry.turns)] if self.audience.texts else []

    def first_turn(self, entry: Entry) -> str:
        """The first turn on one line; empty if texts are left out."""
        if not self.audience.texts:
            return ""
        if entry.id not in self._first_turns:
            self._first_turns[entry.id] = visible(masked_together(entry.turns)[0])
        return self._first_turns[entry.id]

    @cached_property
    def _first_turns(self) -> dict[str, str]:
        """By entry: a turn stands on the page of each capability, and finding what to mask in it takes long."""
        return {}

    def expected(self, entry: Entry) -> str:
        """What the customer expects of the answer, as JSON; empty if there is nothing, or texts are left out."""
        if entry.expected is None or not self.audience.texts:
            return ""
        return printable(masked_json(entry.expected))

    def filtered(self, *capabilities: str, customer: str | None = None) -> str:
        """The address of the table of entries of the set that cover all ``capabilities`` and are of ``customer``."""
        chosen = [("state", IN_SET), *(("capability", name) for name in capabilities)]
        if customer is not None:
            chosen.append(("customer", self.text(customer)))
        return f"{self.url('entries.html')}#{address_parameters(chosen)}"

    def listed(self, name: str, value: str) -> str:
        """The address of the table of entries with ``value`` chosen in the filter ``name``."""
        return f"{self.url('entries.html')}#{address_parameters([(name, value)])}"

    @staticmethod
    def level(count: int) -> int:
        """How dark the cell of a ``count`` is, from 0 to 4."""
        return min(count, 2) if count < 3 else 3 if count < 5 else 4

    def visible(self, ids: Iterable[str]) -> int:
        """How many of the entries the site names."""
        return sum(map(self.sees_entry, ids))

    def path(self, entry: Entry, capability: str) -> str:
        """What the value of a capability comes from, in a word."""
        known = self.content.platform.taxonomy.by_id.get(capability)
        if capability in entry.classified.corrected:
            return "a curator"
        return "–" if known is None else _PATHS[known.source]

    def covers(self, item: SiteEntry) -> list[str]:
        """The capabilities that an entry covers competently, the surest first."""
        bar = self.content.platform.config.competence_bar
        return [name for name, found in item.shown.capabilities.items() if found.score >= bar(name)]

    def roles(self, item: SiteEntry) -> list[str]:
        """What keeps an entry, or may make it go, in a word each."""
        roles = item.shown.roles
        held = {
            "champion": roles.champion_of,
            "pinned": roles.pin,
            "quarantined": roles.quarantined,
            "displaced": roles.displaced_by,
            COULD_GO: item.id in self.suggested,
        }
        return [name for name, value in held.items() if value]

    def cost(self, item: SiteEntry) -> float:
        """What the set-up of an entry costs, as it counts."""
        return self.content.platform.regression_set.cost_of(item.entry.turns, item.entry.setup)

    @staticmethod
    def record(item: SiteEntry) -> str:
        """What releases show of an entry, in one or two words."""
        history = item.history
        if history is None or not history.releases:
            return "never ran"
        return "flaps" if history.flapping else "failed" if history.failing else "never failed"

    def history(self, history: EntryHistory) -> str:
        """What releases show of an entry, as a sentence."""
        return _sentence(self.text(record_words(history)))

    @staticmethod
    def evidence(item: CapabilityEvidence) -> str:
        """Whether anything that covers a capability was ever able to fail, as a sentence."""
        return _sentence(capability_words(item))

    @cached_property
    def visible_entries(self) -> tuple[SiteEntry, ...]:
        """The entries with a page, by id."""
        return tuple(item for item in self.content.entries.values() if self.audience.sees_entry(item.entry))

    @cached_property
    def visible_customers(self) -> tuple[SiteCustomer, ...]:
        """The customers with a page, by name."""
        return tuple(item for item in self.content.customers if self.audience.sees(item.name))

    def in_state(self, state: State) -> tuple[SiteEntry, ...]:
        """The visible entries in ``state``, by id."""
        return tuple(item for item in self.visible_entries if item.state == state)

    @cached_property
    def covered(self) -> Mapping[str, Mapping[str, int]]:
        """Capability → customer → how many of its entries in R cover it competently; of visible customers."""
        entries = self.content.entries
        found: dict[str, Counter[str]] = {}
        for item in self.content.status.capabilities:
            names = [entries[id].customer for id in item.coverers if id in entries]
            found[item.id] = Counter(name for name in names if name is not None and self.audience.sees(name))
        return found

    @cached_property
    def coverers(self) -> Mapping[str, frozenset[str]]:
        """Capability → the entries of R that cover it competently."""
        return {item.id: frozenset(item.coverers) for item in self.content.status.capabilities}

    @cached_property
    def coverers_named(self) -> Mapping[str, Mapping[str, None]]:
        """Capability → those of its :attr:`coverers` that the site names, in the order of their ids."""
        return {
            item.id: dict.fromkeys(id for id in item.coverers if self.sees_entry(id))
            for item in self.content.status.capabilities
        }

    @cached_property
    def suggested(self) -> frozenset[str]:
        """The entries that are suggested for eviction."""
        return frozenset(item.id for item in self.content.suggestions.suggestions)

    @cached_property
    def named(self) -> frozenset[str]:
        """The entries with a page."""
        return frozenset(item.id for item in self.visible_entries)

    def sees_entry(self, id: str) -> bool:
        """Whether the site names the entry ``id``."""
        return id in self.named or not self.audience.is_one_customer


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


@lru_cache(maxsize=4096)
def customer_path(name: str) -> str:
    """The page of a customer: a readable slug, and a digest so that no two share it."""
    return f"customers/{'-'.join(filter(None, (slug(name, 60), digest(name)[:8])))}.html"


def pages(content: SiteContent, audience: Audience) -> Iterator[SitePage]:
    """The pages of the site of ``content`` for ``audience``, the first one first."""
    reader = SiteReader(content=content, audience=audience)
    yield from _first_pages(reader)
    yield from _pages_below(reader)


def _first_pages(reader: SiteReader) -> Iterator[SitePage]:
    """The pages to which each page has a link."""
    content, audience = reader.content, reader.audience
    yield SitePage(path="index.html", template="index.html", title="Overview", values=_overview(reader))
    yield SitePage(path="coverage.html", template="coverage.html", title="Coverage", values=_coverage(reader))
    if content.pairs is not None:
        yield SitePage(path="pairs.html", template="pairs.html", title="Pairs", values=_pairs(reader, content.pairs))
    yield SitePage(path="entries.html", template="entries.html", title="Entries", values={})
    yield SitePage(path="customers.html", template="customers.html", title="Customers", values={})
    if content.results is not None:
        yield SitePage(path="results.html", template="results.html", title="Results", values=_results(reader))
    if not audience.is_one_customer:
        yield SitePage(path="people.html", template="people.html", title="People", values=_people(content))


def _pages_below(reader: SiteReader) -> Iterator[SitePage]:
    """The pages of each capability, customer and entry."""
    for capability in reader.content.platform.taxonomy.capabilities:
        yield SitePage(
            path=f"capabilities/{capability.id}.html",
            template="capability.html",
            title=visible(capability.name),
            values=_capability(reader, capability),
        )
    for item in reader.visible_customers:
        path = customer_path(item.name)
        yield SitePage(path=path, template="customer.html", title=reader.text(item.name), values={"customer": item})
    for entry in reader.visible_entries:
        yield SitePage(
            path=f"entries/{entry.id}.html", template="entry.html", title=entry.id, values=_entry(reader, entry)
        )


def _overview(reader: SiteReader) -> dict[str, Any]:
    content = reader.content
    last = _last(reader, ("in-set", "evicted"), lambda item: item.entry.admitted.at)
    gone = _last(reader, ("evicted",), lambda item: item.shown.eviction.at if item.shown.eviction else None)
    suggested = [item for item in content.suggestions.suggestions if reader.sees_entry(item.id)]
    noun = "pairs" if content.platform.config.options.novelty == 2 else "combinations"
    swaps = [item for item in content.suggestions.swaps if reader.sees_entry(item.admit)]
    return {
        "noun": noun,
        "charts": growth_charts(content.status, noun),
        "untold": "" if content.status.growth is None else history_words(content.status.growth),
        "admitted": last,
        "evicted": gone,
        "suggested": suggested,
        "swaps": swaps,
        "waiting": reader.in_state("waiting"),
        "waiting_for": _waiting_for(reader),
        "stale": [item for item in reader.visible_entries if item.shown.stale is not None and item.state != "evicted"],
        "flapping": [
            item
            for item in reader.visible_entries
            if item.history is not None and item.history.flapping and not item.history.quarantined
        ],
        "stable": [
            item
            for item in reader.visible_entries
            if item.history is not None and item.history.quarantined and item.history.stable
        ],
    }


def _waiting_for(reader: SiteReader) -> dict[str, list[str]]:
    """Capability → the visible entries on the waitlist that exercise it."""
    found: dict[str, list[str]] = {}
    for item in reader.in_state("waiting"):
        for name in item.shown.capabilities:
            found.setdefault(name, []).append(item.id)
    return found


def _last(reader: SiteReader, states: Sequence[State], moment: Callable[[SiteEntry], str | None]) -> list[LastEvent]:
    found = [
        LastEvent(at=at, id=item.id, customer=item.customer)
        for item in reader.visible_entries
        if item.state in states and (at := moment(item)) is not None
    ]
    return sorted(found, key=lambda item: (item.at, item.id), reverse=True)[:SHOWN]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaxonomyBranch:
    """A group of the taxonomy with its capabilities and the groups below it; ``name`` begins with those above it."""

    name: str
    group: Group
    capabilities: tuple[Capability, ...]
    branches: tuple[TaxonomyBranch, ...]


def _tree(
    groups: Sequence[Group], capabilities: Sequence[Capability], above: TaxonomyBranch | None
) -> tuple[TaxonomyBranch, ...]:
    found = []
    for group in groups:
        if group.parent != (None if above is None else above.group.id):
            continue
        name = group.name if above is None else f"{above.name} / {group.name}"
        branch = TaxonomyBranch(
            name=name,
            group=group,
            capabilities=tuple(item for item in capabilities if item.group == group.id),
            branches=(),
        )
        found.append(replace(branch, branches=_tree(groups, capabilities, branch)))
    return tuple(found)


def _coverage(reader: SiteReader) -> dict[str, Any]:
    taxonomy = reader.content.platform.taxonomy
    held = [item for item in reader.visible_customers if item.entries.get("in-set")]
    return {
        "tree": _tree(taxonomy.groups, taxonomy.capabilities, None),
        "status": {item.id: item for item in reader.content.status.capabilities},
        "evidence": _evidence(reader),
        "customers": held,
    }


def _evidence(reader: SiteReader) -> dict[str, Any]:
    results = reader.content.results
    return {} if results is None else {item.capability: item for item in results.capabilities}


def _pairs(reader: SiteReader, table: PairTable) -> dict[str, Any]:
    missing = reader.content.status.missing_pairs or ()
    return {
        "table": table,
        "missing": missing,
        "waiting": any(item.waiting for item in missing),
        "pair": lambda a, b: frozenset((a, b)),
    }


def _results(reader: SiteReader) -> dict[str, Any]:
    results = reader.content.results
    assert results is not None
    histories = [item for item in results.entries if reader.sees_entry(item.entry)]
    histories.sort(key=lambda item: (not item.flapping, -item.failing, -item.flips, item.releases > 0, item.entry))
    rows: Counter[tuple[str, bool]] = Counter()
    for item in reader.visible_entries:
        for outcome in item.outcomes:
            if outcome.ran:
                rows[outcome.release, outcome.failed] += 1
    releases = [(item.release, rows[item.release, True], rows[item.release, False]) for item in results.releases]
    return {"histories": histories, "releases": releases, "chart_of": releases_chart(releases)}


def _people(content: SiteContent) -> dict[str, Any]:
    report, finding = content.agreement, content.calibration
    months = () if report is None else report.agreement.months
    estimates = () if finding is None else finding.estimates
    return {
        "report": report,
        "chart_of": agreement_chart(months),
        "finding": finding,
        "estimates": [(item, evidence_chart(item)) for item in estimates if item.outcome is not KnobOutcome.THIN],
    }


def _capability(reader: SiteReader, capability: Capability) -> dict[str, Any]:
    content = reader.content
    status = next(item for item in content.status.capabilities if item.id == capability.id)
    missing = [
        pair
        for pair in content.status.missing_pairs or ()
        if capability.id in pair.capabilities and len(pair.capabilities) == 2
    ]
    table = content.pairs
    carried = {} if table is None else {pair: ids for pair, ids in table.carriers.items() if capability.id in pair}
    return {
        "capability": capability,
        "status": status,
        "evidence": _evidence(reader).get(capability.id),
        "coverers": [content.entries[id] for id in status.coverers if reader.sees_entry(id)],
        "others": sum(not reader.sees_entry(id) for id in status.coverers),
        "able": content.able(capability.id),
        "missing": missing,
        "carried": sorted(
            ((next(iter(pair - {capability.id})), ids) for pair, ids in carried.items()),
            key=lambda item: (-len(item[1]), item[0]),
        ),
        "waiting": [item for item in reader.in_state("waiting") if capability.id in item.shown.capabilities],
        "group": next(item for item in content.platform.taxonomy.groups if item.id == capability.group),
    }


def _entry(reader: SiteReader, item: SiteEntry) -> dict[str, Any]:
    return {
        "item": item,
        # What would be missed most comes first.
        "capabilities": sorted(
            item.shown.capabilities.items(), key=lambda pair: reader.count_others(item.id, pair[0]) - pair[1].floor
        ),
        "neighbours": [near for near in item.neighbours if reader.sees_entry(near.id)],
        "changes": item.changes[:SHOWN],
        "more_changes": max(0, len(item.changes) - SHOWN),
    }


def render_site(content: SiteContent, audience: Audience, draw: Draw) -> Iterator[tuple[str, bytes]]:
    """Path → bytes of each file of the site of ``content`` for ``audience``; the static files come last."""
    templates = environment()
    readers = {depth: SiteReader(content=content, audience=audience, depth=depth) for depth in (0, 1)}
    navigation = tuple(_first_pages(readers[0]))
    # One page after another is made and written, so that memory does not hold all of them.
    for page in chain(navigation, _pages_below(readers[0])):
        text: str = templates.get_template(page.template).render(
            page=page,
            navigation=navigation,
            site=content,
            audience=audience,
            see=readers[page.depth],
            draw=draw,
            **page.values,
        )
        yield page.path, text.encode()
    yield from assets()
