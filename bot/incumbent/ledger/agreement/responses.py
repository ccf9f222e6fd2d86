"""People's answers to verdicts and suggestions: one response per person and verdict, from events (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from incumbent.consolidator.verdict import Decision, Route
from incumbent.ledger.events import (
    ADMISSION,
    Answered,
    ChangedByHand,
    Corrected,
    CorrectionEnded,
    Decided,
    LedgerEvent,
    Passed,
    Requested,
    Settled,
    Shown,
    Suggested,
    VerdictFacts,
    Withdrawn,
)
from incumbent.ledger.model import CommentKey, comment_order
from incumbent.ledger.people import is_person
from incumbent.text.digests import digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """A person's response to one verdict, or to one suggested eviction.

    ``subject`` identifies the question: responses with the same one answer the same question (content and verdict of a
    query; branch of a suggestion, which names entry and grounds).  ``decision`` is INCLUDE, EXCLUDE, REPLACE or
    KEEP-BOTH, or EVICT, SWAP, REPACK, TOP-UP or ADMIT for a suggestion.  ``route`` is direct or review.  ``reasons``
    are codes of the verdict, or the kind of the suggestion.

    ``agrees``: the person wants what the verdict says.  ``explicit``: the response is a command, or the merge or the
    closing of a suggestion; an implicit one is the merge of a pull request whose comment showed the verdict.
    ``by`` is in lower case, as GitHub compares logins.  ``said`` is the person's reason.  ``reversed``: the response
    did not last.  Its comment is gone, or the same person later said the opposite on the same content, or people
    evicted the entry or undid the admission.

    ``seen`` is the event that showed the verdict (``None`` for a suggestion, and if no event did).  ``remaining`` is,
    for a suggestion, how many competent coverers each capability would keep.  ``corrected`` are curators' corrections
    of tags of this content.
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
    said: str | None = None
    reversed: bool = False
    seen: Shown | None = None
    remaining: Mapping[str, int] = field(default_factory=dict)
    corrected: Mapping[str, bool] = field(default_factory=dict)

    @property
    def author(self) -> str | None:
        """Who brought the query, in lower case, if an event shows the verdict."""
        return None if self.seen is None else _person(self.seen.author)

    @property
    def facts(self) -> VerdictFacts | None:
        """The facts of the verdict as they were shown, if they were."""
        return None if self.seen is None else self.seen.facts

    @property
    def overrides(self) -> bool:
        """Whether the person wants the opposite of the verdict."""
        return not self.agrees

    @property
    def rests_on_wrong_tag(self) -> bool:
        """Whether the verdict rested on a tag that curators corrected since: then the response says nothing about a
        knob.

        An admission rests on what was new or won, an EXCLUDE on every tag that could have given merit.
        """
        if self.facts is None:
            return False
        facts = self.facts
        wrong = {name for name, value in self.corrected.items() if value != (name in facts.scores)}
        return bool(wrong if self.decision == "EXCLUDE" else wrong & {*facts.new, *facts.won})


EVICT: Final = "EVICT"
SWAP: Final = "SWAP"
ADMIT: Final = "ADMIT"
REPACK: Final = "REPACK"
TOP_UP: Final = "TOP-UP"
SUGGESTIONS: Final = (EVICT, SWAP, REPACK, TOP_UP, ADMIT)
"""The decisions of suggestions, besides those of verdicts."""
_OFFERED: Final = {"swap": SWAP, "repack": REPACK, "top-up": TOP_UP, ADMISSION: ADMIT}

# The time and the comment of a statement: the sort key of one person's statements.
_Word: TypeAlias = tuple[str, tuple[int, str]]
_NEVER: Final[_Word] = ("", (0, ""))


def responses_of(events: Sequence[LedgerEvent]) -> tuple[Response, ...]:
    """People's responses, by time; ``events`` may come in any order, and more than once.

    Left out are bots, accounts that GitHub no longer knows, pins, and decisions on queries without a verdict.  A person
    who says the same on the same content and verdict again, without the opposite in between, counts once, with the
    first statement.  A merge is implicit agreement only if no command on that pull request decided on that content, or
    if all such commands were withdrawn.  Logins are in lower case: GitHub compares them so.
    """
    history = _History()
    # Events that end something go first: a withdrawn statement reverses no other, and a request without effect nothing.
    for event in sorted(
        _each_once(events), key=lambda item: not isinstance(item, Withdrawn | Settled | CorrectionEnded)
    ):
        history.note(event)
    found = [
        *(item for decided in history.decided if (item := _of_decision(decided, history)) is not None),
        *(item for passed in history.passed if (item := _of_merge(passed, history)) is not None),
        *(_of_answer(answered, history) for answered in history.answered),
    ]
    return _without_repetitions(sorted(found, key=_order))


@dataclass(slots=True)
class _History:
    """What people did, by subject; of repeated times the last one counts."""

    decided: list[Decided] = field(default_factory=list)
    passed: list[Passed] = field(default_factory=list)
    answered: list[Answered] = field(default_factory=list)
    shown: dict[tuple[int, str, str, str], list[Shown]] = field(default_factory=dict)
    verdicts: dict[tuple[int, str, str], list[Shown]] = field(default_factory=dict)
    withdrawn: set[tuple[int, CommentKey, str, str, str]] = field(default_factory=set)
    decided_contents: set[tuple[int, str]] = field(default_factory=set)
    last_words: dict[tuple[str, str, str], _Word] = field(default_factory=dict)
    last_answers: dict[tuple[str, str, bool], str] = field(default_factory=dict)
    remaining: dict[tuple[int, str], Mapping[str, int]] = field(default_factory=dict)
    let_in: dict[int, str] = field(default_factory=dict)
    taken_out: dict[str, str] = field(default_factory=dict)
    brought_back: dict[str, str] = field(default_factory=dict)
    without_effect: set[tuple[str, str, int]] = field(default_factory=set)
    corrections: dict[str, dict[str, Corrected]] = field(default_factory=dict)
    ended: set[tuple[str, str, CommentKey]] = field(default_factory=set)

    def note(self, event: LedgerEvent) -> None:
        """Keep ``event`` if a person did it, or if it records what people saw."""
        match event:
            case Shown():
                self.shown.setdefault(_question(event), []).append(event)
                if _is_verdict(event.codes):
                    self.verdicts.setdefault(_query(event), []).append(event)
            case Withdrawn():
                self.withdrawn.add(_decision(event))
            case CorrectionEnded():
                self.ended.add(_correction(event))
            case Corrected() if _correction(event) not in self.ended and is_person(event.by):
                tags = self.corrections.setdefault(event.content, {})
                if event.capability not in tags or _when(tags[event.capability]) < _when(event):
                    tags[event.capability] = event
            case Decided(action="accept" | "reject") if is_person(event.by):
                self._decide(event)
            case Passed(by_bot=False) if is_person(event.by):
                self.passed.append(event)
            case Suggested():
                self.remaining[event.pull_request, event.branch] = event.remaining
                if event.admits is not None:
                    self.let_in[event.pull_request] = event.admits
            case Answered(by_bot=False) if is_person(event.by):
                self.answered.append(event)
                answer = _person(event.by), event.branch, event.agrees
                self.last_answers[answer] = max(self.last_answers.get(answer, ""), event.at)
            case Settled(happened=False):
                self.without_effect.add(_request(event))
            case Requested(action="undo" | "restore") if _request(event) not in self.without_effect and is_person(
                event.by
            ):
                _keep_last(self.taken_out if event.action == "undo" else self.brought_back, [event.entry], event.at)
            case ChangedByHand(by_bot=False) if is_person(event.by):
                _keep_last(self.taken_out, event.removed, event.at)
                _keep_last(self.brought_back, event.added, event.at)
            case _:
                pass

    def _decide(self, event: Decided) -> None:
        self.decided.append(event)
        if _decision(event) not in self.withdrawn:
            self.decided_contents.add((event.pull_request, event.content))
            words = _person(event.by), event.content, event.action
            self.last_words[words] = max(self.last_words.get(words, _NEVER), _when(event))

    def is_out(self, entry: str, since: str) -> bool:
        """Whether people removed ``entry`` after ``since`` and have not restored it."""
        return self.taken_out.get(entry, "") > max(since, self.brought_back.get(entry, ""))

    def is_back(self, entry: str, since: str) -> bool:
        """Whether people restored ``entry`` after ``since`` and have not removed it again."""
        return self.brought_back.get(entry, "") > max(since, self.taken_out.get(entry, ""))

    def seen(self, event: Decided | Passed) -> Shown | None:
        """The last showing, before ``event``, of the verdict that the event answers.

        If the comment showed no verdict then, because the query had been rejected, it is the last showing that had one.
        """
        shown = self.shown.get(_question(event), [])
        return _last(shown if _is_verdict(event.codes) else self.verdicts.get(_query(event), []), event.at)


def _of_decision(event: Decided, history: _History) -> Response | None:
    accepts = event.action == "accept"
    other = _person(event.by), event.content, "reject" if accepts else "accept"
    ended = (
        _decision(event) in history.withdrawn
        # One comment that says both counts as neither.
        or history.last_words.get(other, _NEVER) >= _when(event)
        or (accepts and history.is_out(event.entry, event.at))
    )
    return _of_verdict(event, history, wanted=accepts, said=event.reason, reversed=ended)


def _of_merge(event: Passed, history: _History) -> Response | None:
    if (event.pull_request, event.content) in history.decided_contents:
        return None
    return _of_verdict(event, history, wanted=None, said=None, reversed=history.is_out(event.entry, event.at))


def _of_verdict(
    event: Decided | Passed, history: _History, *, wanted: bool | None, said: str | None, reversed: bool
) -> Response | None:
    """The response; ``wanted``: whether the person wants the query in (``None``: as the verdict says)."""
    seen = history.seen(event)
    question = event if _is_verdict(event.codes) else seen
    if question is None:
        return None  # no verdict was shown: the set was changed by hand
    decision, route, *reasons = question.codes.split()
    admits = Decision(decision).admits
    return Response(
        subject=digest([question.content, question.verdict]),
        entry=event.entry,
        content=event.content,
        decision=decision,
        route=route,
        reasons=tuple(reasons),
        agrees=wanted is None or wanted == admits,
        explicit=wanted is not None,
        by=_person(event.by),
        at=event.at,
        pull_request=event.pull_request,
        said=said,
        # The merge of an EXCLUDE admitted nothing that could be removed later.
        reversed=reversed and (wanted is not None or admits),
        seen=seen,
        corrected={name: item.value for name, item in sorted(history.corrections.get(event.content, {}).items())},
    )


def _is_verdict(codes: str) -> bool:
    """Whether ``codes`` are those of a verdict, rather than of a missing one."""
    decision, route, *_ = [*codes.split(), "", ""]
    return decision in set(Decision) and route in set(Route)


def _last(shown: Sequence[Shown], at: str) -> Shown | None:
    """The last of ``shown`` at the time ``at``; a commit may claim a future time, so that there is none."""
    before = [item for item in shown if item.at <= at] or shown
    last = max((item.at for item in before), default="")
    at_last = [item for item in before if item.at == last]
    # A sort key costs time, and there is hardly ever a choice.
    return max(at_last, key=lambda item: item.key) if len(at_last) > 1 else next(iter(at_last), None)


def _of_answer(event: Answered, history: _History) -> Response:
    """One response for one pull request, even if it names several entries; it is listed under the first of them."""
    decision = _OFFERED.get(event.suggestion, EVICT)
    other = _person(event.by), event.branch, not event.agrees
    return Response(
        subject=event.branch,
        entry=next(iter(event.entries), ""),
        content="",
        decision=decision,
        route=Route.REVIEW.value,
        reasons=(event.suggestion,),
        agrees=event.agrees,
        explicit=True,
        by=_person(event.by),
        at=event.at,
        pull_request=event.pull_request,
        reversed=(event.agrees and _is_undone(event, decision, history))
        or history.last_answers.get(other, "") > event.at,
        remaining=history.remaining.get((event.pull_request, event.branch), {}),
    )


def _is_undone(event: Answered, decision: str, history: _History) -> bool:
    """Whether people undid what the merge of a suggestion did: all of an offer; for any other, a part is enough."""
    if decision == ADMIT:
        return bool(event.entries) and all(history.is_out(entry, event.at) for entry in event.entries)
    admitted = history.let_in.get(event.pull_request)
    swapped_back = admitted is not None and history.is_out(admitted, event.at)
    return swapped_back or any(history.is_back(entry, event.at) for entry in event.entries)


def _each_once(events: Iterable[LedgerEvent]) -> Iterator[LedgerEvent]:
    """The earliest of events with the same key, so that their order does not matter.

    Repeated showings are kept: they answer nothing, and are most of the events.
    """
    found: dict[str, LedgerEvent] = {}
    for event in events:
        if isinstance(event, Shown):
            yield event
            continue
        key = event.key
        known = found.setdefault(key, event)
        if event.at < known.at:
            found[key] = event
    yield from found.values()


def _without_repetitions(responses: Sequence[Response]) -> tuple[Response, ...]:
    """``responses`` without those that repeat an earlier one of the same person that still counts."""
    said: set[tuple[str, str, bool, bool]] = set()
    kept = []
    for item in responses:
        word = item.subject, item.by, item.explicit, item.agrees
        if item.reversed or word not in said:
            kept.append(item)
        if not item.reversed:
            said.add(word)
    return tuple(kept)


def _order(item: Response) -> tuple[object, ...]:
    said = item.said or ""
    shown = item.decision, item.route, item.reasons
    return item.at, item.pull_request, item.entry, item.subject, item.by, item.agrees, item.reversed, said, shown


def _query(event: Shown | Decided | Passed) -> tuple[int, str, str]:
    return event.pull_request, event.entry, event.content


def _question(event: Shown | Decided | Passed) -> tuple[int, str, str, str]:
    return event.pull_request, event.entry, event.content, event.verdict


def _when(event: Decided | Corrected) -> _Word:
    return event.at, comment_order(event.comment)


def _decision(event: Decided | Withdrawn) -> tuple[int, CommentKey, str, str, str]:
    return event.pull_request, event.comment, event.entry, event.content, event.action


def _request(event: Requested | Settled) -> tuple[str, str, int]:
    return event.entry, event.action, event.comment


def _correction(event: Corrected | CorrectionEnded) -> tuple[str, str, CommentKey]:
    return event.text, event.capability, event.comment


def _keep_last(known: dict[str, str], entries: Iterable[str], at: str) -> None:
    for entry in entries:
        known[entry] = max(known.get(entry, ""), at)


def _person(login: str) -> str:
    return login.casefold()
