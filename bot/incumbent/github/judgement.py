"""From facts to a judgement on a pull request: verdicts under people's decisions, and what may pass (pure)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from incumbent.classifier.model import CERTAIN
from incumbent.consolidator.admissions import Answer
from incumbent.consolidator.verdict_engine import TrustGate
from incumbent.curator import file_changes as changes
from incumbent.curator.file_changes import FileChange
from incumbent.curator.losses import Departure, departure
from incumbent.curator.roles import EvictionKind
from incumbent.curator.staging import restoration
from incumbent.curator.suggestions import suggest
from incumbent.files.git import ChangedFile, blob_id
from incumbent.github.authority import Author, may_write
from incumbent.github.facts import ChangedEntryFile, JudgedFacts, classified_of
from incumbent.github.governing import WHO_DECIDES
from incumbent.ledger.keys import verdict_digest
from incumbent.ledger.model import DecisionRecord, DisplayedVerdict
from incumbent.pipeline.matching import settle
from incumbent.pipeline.review import ClassifiedSubmission, Platform, Review, judge, under_corrections
from incumbent.report.verdict_text import codes
from incumbent.text.digests import digest

NO_VERDICT: Final = "none"
"""The codes of queries that are displayed without a verdict: already decided, or rejected by people."""

SET_NAME = "regression_set"
"""The name of changes of the regression set by hand in commands: `/incumbent accept regression_set`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedEviction:
    """An eviction of ``entry`` that people refused on ``pull_request``, or in a comment of the person ``by``.

    ``at`` is when: a comment was written, or the pull request ended.
    """

    entry: str
    pull_request: int
    by: str | None = None
    at: str


@dataclass(frozen=True, kw_only=True)
class ReviewJudgement:
    """A judgement on ``facts`` under ``decisions``.

    ``review`` is ``None`` if no eval set is changed, or if a first contribution is held.  ``governing`` are the changes
    of files that say who decides.  ``refused`` are evictions by hand that people refused before.
    """

    platform: Platform
    facts: JudgedFacts
    decisions: tuple[DecisionRecord, ...]
    review: Review | None
    governing: tuple[ChangedFile, ...] = ()
    refused: tuple[RefusedEviction, ...] = ()

    @property
    def may_allow_set(self) -> bool:
        """Whether a command can name the regression set: it is changed by hand, and no query has its name."""
        return SET_NAME in self._files and self._is_free(SET_NAME)

    @property
    def may_allow_governing(self) -> bool:
        """Whether a command can name the changes of who decides: there are some, and no query has their name."""
        return WHO_DECIDES in self._files and self._is_free(WHO_DECIDES)

    def _is_free(self, name: str) -> bool:
        return self.review is None or name not in self.review.queries

    @cached_property
    def _files(self) -> Mapping[str, str]:
        """The name of changes of files that a curator may allow → digest of the head and of these changes."""
        found = {}
        if self.facts.set_changes:
            changes = [[item.file.path, item.file.kind, item.file.before] for item in self.facts.set_changes]
            found[SET_NAME] = digest([self.facts.head, changes])
        if self.governing:
            governing = [[item.path, item.kind, item.before] for item in self.governing]
            found[WHO_DECIDES] = digest([self.facts.head, WHO_DECIDES, governing])
        return found

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names for commands: queries in the order of the eval sets, and changes of files that may be allowed."""
        queries = () if self.review is None else tuple(self.review.queries)
        return (*queries, *filter(self._is_free, self._files))

    @cached_property
    def entries(self) -> Mapping[str, str]:
        """Name → its id in the ledger."""
        found = {} if self.review is None else {name: self.review.entry_id(name) for name in self.review.queries}
        return {**found, **{name: name for name in self._files if self._is_free(name)}}

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """Entry → digest of its text."""
        review = self.review
        return {} if review is None else {self.entries[id]: digest(item.turns) for id, item in review.queries.items()}

    @cached_property
    def contents(self) -> Mapping[str, str]:
        """Entry → digest of its content; for changes that a curator may allow, of the head and the changes."""
        contents = self.facts.contents
        found = {} if self.review is None else {self.entries[name]: contents[name] for name in self.review.queries}
        return {**found, **self._files}

    @cached_property
    def shown(self) -> Mapping[str, DisplayedVerdict]:
        """Entry → its displayed verdict, also for already decided and rejected queries."""
        found: dict[str, DisplayedVerdict] = {}
        if self.review is not None:
            judged = {verdict.id: verdict for verdict in self.review.verdicts}
            for name in self.review.queries:
                entry = self.entries[name]
                content = self.contents[entry]
                verdict = judged.get(name)
                found[entry] = (
                    DisplayedVerdict(content=content, verdict=digest([content, NO_VERDICT]), codes=NO_VERDICT)
                    if verdict is None
                    else DisplayedVerdict(
                        content=content, verdict=verdict_digest(verdict, content), codes=codes(verdict)
                    )
                )
        said = {SET_NAME: "regression set changed by hand", WHO_DECIDES: "who decides is changed"}
        for name, content in self._files.items():
            found[name] = DisplayedVerdict(content=content, verdict=content, codes=said[name])
        return found

    @cached_property
    def departure(self) -> Departure | None:
        """What the regression set would lose because the head removes queries from the eval sets."""
        kinds = {id: EvictionKind(kind) for id, kind in self.facts.departing.items()}
        platform = self.platform
        return departure(kinds, platform.regression_set, platform.taxonomy, platform.config)

    @property
    def removed_for_good(self) -> tuple[ChangedEntryFile, ...]:
        """Entries that the head removes without a tombstone: no one could restore them."""
        return tuple(item for item in self.facts.set_changes if _removes(item.file) and not item.buried)

    @property
    def changed_by_hand(self) -> bool:
        """Whether the regression set is changed, and no curator allowed that for this head."""
        return bool(self.facts.set_changes) and self.allowed(SET_NAME) is None

    @property
    def governed_anew(self) -> bool:
        """Whether it is changed who decides, and no curator allowed that for this head."""
        return bool(self.governing) and self.allowed(WHO_DECIDES) is None

    def allowed(self, name: str) -> DecisionRecord | None:
        """The latest decision that allows the changes of files called ``name`` for this head, if one does."""
        found = [item for item in self.decisions if item.action == "accept" and item.entry == name]
        return found[-1] if found else None


def _removes(change: ChangedFile) -> bool:
    lost = change.path if change.kind == "deleted" else change.before
    return lost is not None and lost.count("/") == 1 and lost.endswith((".yaml", ".yml"))


def judge_facts(
    facts: JudgedFacts,
    platform: Platform,
    author: Author | None,
    decisions: Sequence[DecisionRecord],
    contested: Collection[str] = (),
    unseen: Collection[str] = (),
    governing: Sequence[ChangedFile] = (),
) -> ReviewJudgement:
    """The judgement on ``facts``; ``author`` is ``None`` for a merge group, whose pull requests were judged one by one.

    ``governing`` are the head's changes of who decides.  Those of ``decisions`` count whose content is present; the
    last one on a content decides.  ``contested`` are contents that were rejected in a comment that has changed,
    ``unseen`` queries that no one saw as admitted.
    """
    classified = [_corrected(classified_of(item), platform) for item in facts.submissions]
    bare = ReviewJudgement(platform=platform, facts=facts, decisions=(), review=None, governing=tuple(governing))
    names = _KnownEntries.of(facts, classified)
    standing = tuple(item for item in decisions if bare.contents.get(item.entry) == item.content or names.meant(item))
    if not classified:
        return replace(bare, decisions=standing)
    answers = [
        Answer(
            id=name,
            accepts=item.action == "accept",
            by=item.by,
            reason=item.reason,
            insists=item.reason is not None and not item.all and item.codes.startswith("EXCLUDE"),
        )
        for item in standing
        if item.action in ("accept", "reject")
        for name in names.meant(item)
    ]
    trust = _trust(classified, platform, author)
    disputed = frozenset(name for content in contested for name in names.by_content.get(content, ()))
    trust = replace(trust, contested=disputed, unseen=frozenset(unseen))
    review = judge(platform, classified, facts.identity, answers, trust)
    return replace(bare, decisions=standing, review=review)


def _corrected(item: ClassifiedSubmission, platform: Platform) -> ClassifiedSubmission:
    return replace(item, result=under_corrections(platform, item.submission.queries, item.result))


@dataclass(frozen=True)
class _KnownEntries:
    """The queries by content, and their present or future entries."""

    by_content: Mapping[str, Sequence[str]]
    entries: Mapping[str, str]

    @classmethod
    def of(cls, facts: JudgedFacts, classified: Sequence[ClassifiedSubmission]) -> _KnownEntries:
        by_content: dict[str, list[str]] = {}
        for name, content in facts.contents.items():
            by_content.setdefault(content, []).append(name)
        pairs = [(query.id, item.submission) for item in classified for query in item.submission.queries]
        return cls(by_content, {name: submission.entry_id(name) for name, submission in pairs})

    def meant(self, item: DecisionRecord) -> Sequence[str]:
        """The queries that ``item`` applies to: it follows its content through renames, a rejection to every copy."""
        same = self.by_content.get(item.content, ())
        if item.action == "reject":
            return same
        return [name for name in same if self.entries[name] == item.entry] or same[:1]


def _trust(classified: Sequence[ClassifiedSubmission], platform: Platform, author: Author | None) -> TrustGate:
    config = platform.config
    trusted = {login.casefold() for login in config.trusted_authors}
    return TrustGate(
        author_trusted=author is None or may_write(author.permission) or author.login.casefold() in trusted,
        declared={
            id: frozenset(name for name, judged in item.judgements.items() if judged.value and judged.path in CERTAIN)
            for each in classified
            for id, item in each.result.classifications.items()
        },
        customers={query.id: item.submission.customer for item in classified for query in item.submission.queries},
        held=platform.regression_set.held,
        updates=frozenset(settle([item.submission for item in classified], platform.regression_set).edited),
        share=config.limits.customer_share,
        ceiling=config.ceiling,
    )


def without_derived(facts: JudgedFacts, platform: Platform) -> JudgedFacts:
    """``facts`` without changes of the set that equal an allowed plan, byte for byte.

    People may restore an entry, or evict a suggested one, on the command line and open a pull request: they could ask
    the bot for the same.
    """
    found: dict[str, str | None] = {}
    for change in facts.set_changes:
        if change.file.before is not None:
            found[change.file.before] = None
        found[change.file.path] = change.file.object_after
    derived: set[str] = set()
    for plan in _plans(facts, platform):
        files = {item.path: None if item.content is None else blob_id(item.content) for item in plan}
        if files.items() <= found.items():
            derived |= files.keys()
    left = [
        change
        for change in facts.set_changes
        if not derived.issuperset({change.file.path, change.file.before or change.file.path})
    ]
    return facts if len(left) == len(facts.set_changes) else replace(facts, set_changes=tuple(left))


def evicted_by_hand(facts: JudgedFacts, platform: Platform) -> dict[str, str]:
    """Entry → the digest of the grounds on which it is suggested, of the suggested evictions in ``facts``."""
    gone = {change.eviction.entry for change in facts.set_changes if change.eviction is not None}
    if not gone:
        return {}
    found = suggest(platform.regression_set, platform.taxonomy, platform.config).evictions
    return {item.id: item.grounds.digest for item in found if item.id in gone}


def _plans(facts: JudgedFacts, platform: Platform) -> Iterator[tuple[FileChange, ...]]:
    """The plans that may be meant: restored entries, and any of the suggested evictions together."""
    known = platform.regression_set
    full = len(known.entries) >= platform.config.ceiling
    touched = {change.file.path.rpartition("/")[2] for change in facts.set_changes}
    back = [item for id, item in known.tombstones.items() if f"{id}.yaml" in touched]
    if full or len(known.entries) + len(back) <= platform.config.ceiling:
        yield from (restoration(item, full).file_changes for item in back)
    gone = [change.eviction for change in facts.set_changes if change.eviction is not None]
    if gone:
        safe = {item.id for item in suggest(known, platform.taxonomy, platform.config).evictions}
        yield from (changes.evict(known.entries[item.entry], item.evicted) for item in gone if item.entry in safe)
