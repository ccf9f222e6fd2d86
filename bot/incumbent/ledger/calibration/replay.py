"""Replays past verdicts, under the config of their time or another one (pure; the caller provides the files).

The real rater and the real rule cascade judge again, in the order in which the queries were judged then.  A query is
restored from its recorded scores and its recorded similarity, since the ledger contains no texts.  Queries of the same
review that were judged before it are in R or wait for a person, as the replay decides.  Gate 7's findings about people
are reused as recorded.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from incumbent.consolidator.cycle import CycleState
from incumbent.consolidator.verdict import GATE_7, Route, Ruling
from incumbent.curator.store import load_regression_set
from incumbent.errors import IncumbentError
from incumbent.files.documents import as_mapping, parse_yaml
from incumbent.files.snapshot import Snapshot
from incumbent.files.validation import validate
from incumbent.ledger.events import Shown, VerdictFacts
from incumbent.rater.contextualizer import LiveSet
from incumbent.rater.model import RatedEntry, ScoredQuery, Similarity
from incumbent.rater.profile import Profile
from incumbent.taxonomy.config import REVIEWED_FILES, Curation, Knobs, Options, Overrides
from incumbent.taxonomy.loading import load_taxonomy
from incumbent.taxonomy.migration import Lineage
from incumbent.text.compare import rounded
from incumbent.text.digests import digest


@dataclass(frozen=True, slots=True, kw_only=True)
class PastSet:
    """The set and config of one commit, which verdicts were judged against: R with the waitlist."""

    residents: tuple[RatedEntry, ...]
    config: Curation


Reader: TypeAlias = Callable[[str], PastSet | None]
"""The set and config of a commit; ``None`` if it can no longer be read."""

Judged: TypeAlias = tuple[int, str, str, str, int]
"""Pull request, entry, content, base and place: together they identify a verdict that was shown."""

_Showing: TypeAlias = tuple[str, str, str]  # when, against which base, at which head
_ShownFacts: TypeAlias = tuple[Shown, VerdictFacts]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """A verdict that was ``shown``, and its replay.

    ``uncovered`` maps capabilities of the query with a score under the bar that had no competent coverer in R to that
    score.  ``behind`` maps those in which it beat the champion, but not by the margin, to its lead (> 0).
    """

    shown: Shown
    ruling: Ruling
    uncovered: Mapping[str, float]
    behind: Mapping[str, float]

    @property
    def codes(self) -> str:
        """The ruling in codes, in the form of :attr:`Shown.codes`."""
        return " ".join([self.ruling.decision, self.ruling.route, *self.ruling.reasons])

    @property
    def changed(self) -> bool:
        """Whether it differs from the verdict shown."""
        return self.codes != self.shown.codes


def judged(shown: Shown) -> Judged:
    """The key of the verdict that was ``shown``."""
    return shown.pull_request, shown.entry, shown.content, shown.base, shown.place


def replay(shown: Iterable[Shown], read: Reader, config: Curation | None) -> dict[Judged, Replayed]:
    """The verdicts that were ``shown``, judged again under ``config`` (``None``: under that of their time).

    Showings without facts (there was no verdict), and those of an unreadable commit, are missing.
    """
    showings: dict[int, dict[_Showing, list[Shown]]] = defaultdict(lambda: defaultdict(list))
    for item in shown:
        showings[item.pull_request][item.at, item.base, item.head].append(item)
    found: dict[Judged, Replayed] = {}
    for _, showing in sorted(showings.items()):
        latest: list[_ShownFacts] = []
        # Showings at one time may have several bases: these stay in the order of recording.
        for (_, base, _), new in sorted(showing.items(), key=lambda item: item[0][0]):
            latest = _with(latest, new)
            entries = {item.entry for item in new}
            standing = read(base)
            if standing is None:
                continue
            for each in _review(latest, standing, config or standing.config):
                if each.shown.entry in entries:
                    found[judged(each.shown)] = each
    return found


def _with(latest: Sequence[_ShownFacts], new: Sequence[Shown]) -> list[_ShownFacts]:
    """The queries of a pull request in the order of their cycle, after ``new`` was shown; ``latest`` are the earlier
    ones.

    A later comment shows only what changed, at its place then; the rest stays, in its order.
    """
    by_entry = {item.entry: item for item in new}
    found = [item for item in latest if item[0].entry not in by_entry]
    for item in sorted(by_entry.values(), key=lambda item: (item.place, item.entry)):
        if item.facts is not None:
            found.insert(item.place, (item, item.facts))
    return found


def _review(items: Sequence[_ShownFacts], standing: PastSet, config: Curation) -> list[Replayed]:
    """One cycle over ``items``, in their order, against R without their own entries."""
    own = {item.entry for item, _ in items}
    queries = [
        ScoredQuery(
            id=item.entry,
            turns=(),
            scores=facts.scores,
            by_rule=frozenset(facts.by_rule),
            customer=facts.customer,
            arbitrated=frozenset(facts.arbitrated),
            familiar=facts.familiar,
        )
        for item, facts in items
    ]
    codes = {item.entry: item.codes for item, _ in items}
    live = LiveSet([_unnamed(each) for each in standing.residents if each.id not in own], queries, config)
    moment = CycleState(
        live, config, lambda query, facts, ruling, admitted: _doubted(ruling, codes[query.id]), [], has_texts=False
    )
    found: list[Replayed] = []
    for (item, facts), query in zip(items, queries, strict=True):
        profile = live.profile(query)
        _, ruling = moment.judge(query, profile, Similarity(facts.similarity, facts.most_similar))
        uncovered, behind = _shortfalls(live, profile)
        found.append(Replayed(shown=item, ruling=ruling, uncovered=uncovered, behind=behind))
        moment.follow(query, profile, ruling)
    return found


def _unnamed(resident: RatedEntry) -> RatedEntry:
    """``resident`` with its customer as the ledger has it."""
    return replace(resident, customer=None if resident.customer is None else digest(resident.customer))


def _doubted(ruling: Ruling, codes: str) -> Ruling:
    """``ruling``; a direct admission goes on the review route, with the doubts in ``codes``."""
    doubts = [reason for reason in GATE_7 if reason in codes.split()]
    if not doubts or not ruling.decision.admits:
        return ruling
    return Ruling(ruling.decision, Route.REVIEW, (*ruling.reasons, *doubts))


def _shortfalls(live: LiveSet, profile: Profile) -> tuple[dict[str, float], dict[str, float]]:
    """Where a knob alone kept the query from merit: capabilities under the bar, and leads within the margin."""
    known = live.capabilities
    uncovered: dict[str, float] = {}
    behind: dict[str, float] = {}
    for index, score in sorted(profile.items):
        champion = live.champions[index]
        if not profile.caps >> index & 1 and not live.covered >> index & 1:
            uncovered[known.names[index]] = score
        lead = 0.0 if champion is None else rounded(score - champion.counted_score(index))
        if 0 < lead <= rounded(known.margins[index]):
            behind[known.names[index]] = lead
    return uncovered, behind


def reader(open_commit: Callable[[str], Snapshot | None], present: Curation, path: str, lineage: Lineage) -> Reader:
    """A reader that reads each commit once.

    ``open_commit`` gives a commit's files (``None``: unknown commit); ``path`` is the config's.  Capabilities have the
    ids that ``lineage`` gives them.  The parts of the old config that verdicts rest on are used; the rest is from
    ``present``, since an older file lacks keys that are now required.
    """
    known: dict[str, PastSet | None] = {}

    def read(commit: str) -> PastSet | None:
        if commit not in known:
            try:
                snapshot = open_commit(commit)
                known[commit] = None if snapshot is None else _standing(snapshot, present, path, lineage)
            except IncumbentError:
                # A commit that today's rules cannot read cannot be judged again; the report counts these.
                known[commit] = None
        return known[commit]

    return read


def _standing(snapshot: Snapshot, present: Curation, path: str, lineage: Lineage) -> PastSet:
    taxonomy = load_taxonomy(snapshot)
    regression_set = load_regression_set(snapshot, taxonomy)
    residents = tuple(
        replace(item, scores={lineage.renamed(name): score for name, score in item.scores.items()})
        for item in regression_set.present(taxonomy)[0]
    )
    document = parse_yaml(snapshot.read(path, REVIEWED_FILES), snapshot.name(path), REVIEWED_FILES)
    raw = as_mapping(document.data)
    overrides = {
        lineage.renamed(str(name)): validate(Overrides, document, item, ("per_capability", str(name)))
        for name, item in as_mapping(raw.get("per_capability")).items()
    }
    decisive = {
        "knobs": validate(Knobs, document, raw.get("knobs"), ("knobs",)),
        "options": validate(Options, document, raw.get("options"), ("options",)),
        "per_capability": overrides,
    }
    return PastSet(residents=residents, config=present.model_copy(update=decisive))
