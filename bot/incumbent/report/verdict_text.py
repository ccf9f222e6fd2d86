"""The words of verdicts: shared by comment, console, JSON and `explain`, which differ in how they write a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from incumbent.classifier.model import EVEN, CalledTools, Contradiction, Unfamiliar
from incumbent.classifier.usage import Usage
from incumbent.consolidator.verdict import CloseCall, Decision, Reason, Route, Verdict
from incumbent.consolidator.verdict_engine import deciding, honesty
from incumbent.intake.specification import UNLISTED
from incumbent.pipeline.review import Platform, Review
from incumbent.pipeline.submission import Submission
from incumbent.report.escaping import code, plain, shortened, visible
from incumbent.taxonomy.model import Taxonomy
from incumbent.text.compare import rounded
from incumbent.text.masking import masked
from incumbent.text.personal_data.detector import kinds_in_words


def usage_line(usage: Usage) -> str:
    """One line on ``usage``."""
    if not usage.requests:
        return "asked no model: all of it was known"
    requests = f"{usage.requests:,} {'request' if usage.requests == 1 else 'requests'}"
    probing = f" ({usage.probing} of them to find out what the endpoint can do)" if usage.probing else ""
    tokens = f"{usage.tokens_in:,} tokens in ({usage.tokens_cached:,} cached), {usage.tokens_out:,} out"
    cost = usage.cost
    price = "" if cost is None or usage.prices is None else f", {cost:.4f} {usage.prices.currency}"
    return f"asked a model: {requests}{probing}, {tokens}{price}"


def quoted(text: str) -> str:
    """Foreign ``text`` in Markdown: a short code span on one line, without what looks like a secret."""
    return code(shortened(visible(masked(text))))


@dataclass(frozen=True, slots=True)
class MarkdownStyle:
    """Ids and foreign text in code spans; capability names, which are reviewed, as words."""

    taxonomy: Taxonomy

    def name(self, id: str) -> str:
        return quoted(id)

    def capability(self, id: str) -> str:
        return f"*{plain(self.taxonomy.by_id[id].name)}*{_on_trial(id, self.taxonomy)}"

    def quote(self, text: str) -> str:
        return quoted(text)


@dataclass(frozen=True, slots=True)
class PlainStyle:
    """Names as they are, with what would move a cursor made visible."""

    taxonomy: Taxonomy

    def name(self, id: str) -> str:
        return shortened(visible(masked(id)))

    def capability(self, id: str) -> str:
        return f"{visible(self.taxonomy.by_id[id].name)}{_on_trial(id, self.taxonomy)}"

    def quote(self, text: str) -> str:
        return shortened(visible(masked(text)))


def _on_trial(id: str, taxonomy: Taxonomy) -> str:
    return " (on trial)" if taxonomy.by_id[id].trial else ""


SHOWN_NAMES = 3
"""Lists of names are cut after this many; the rest is counted."""


class TextStyle(Protocol):
    """How a medium writes names."""

    def name(self, id: str) -> str:
        """The id of a query or an entry."""
        ...

    def capability(self, id: str) -> str:
        """The name of a capability."""
        ...

    def quote(self, text: str) -> str:
        """Text that somebody else wrote."""
        ...


class VerdictContext(Protocol):
    """What the reason of a verdict is told from."""

    @property
    def platform(self) -> Platform:
        """By what it was judged."""
        ...

    @property
    def origins(self) -> Mapping[str, Submission]:
        """Who brought each query."""
        ...


COMMANDED: Final = 20
"""How many queries a command to copy names at most."""

WAYS_OUT: Final = (
    "Such verdicts mean little. Ways out: a language model as the classifier's backend, exemplars in that language "
    "(`taxonomy/exemplars/translations/`), or your own word on what a query exercises"
)
"""What to do about queries that the classifier cannot judge."""

PERSONAL_WAYS_OUT: Final = (
    "Ways out: replace it in the eval set (`incumbent scan DIR --replace`), allow the value in `personal_data.allowed` "
    "of the config, or have a curator accept the query as written"
)
"""What to do about queries that hold personal data."""


@dataclass(frozen=True, slots=True)
class HeadlineCounts:
    """The numbers of a headline."""

    queries: int
    deserve: int
    need_you: int
    waiting_for_slot: int
    excluded: int
    settled: int
    unclassified: int


def count(review: Review) -> HeadlineCounts:
    """How many queries had which outcome."""
    return HeadlineCounts(
        queries=len(review.queries),
        deserve=len(review.plan.admitted) + len(review.plan.waiting_for_slot),
        need_you=questions(review.plan.waiting_for_review),
        waiting_for_slot=len(review.plan.waiting_for_slot),
        excluded=len(review.plan.excluded),
        settled=len(review.settled),
        unclassified=len(review.unclassified),
    )


def questions(waiting: Sequence[Verdict]) -> int:
    """How many questions people are asked: all that the classifier cannot judge are one."""
    familiar = [verdict for verdict in waiting if verdict.facts.familiar]
    return len(familiar) + (len(familiar) < len(waiting))


def headline(review: Review) -> str:
    """One line that people act on, such as “3 of 20 deserve a slot; 1 needs you”."""
    numbers = count(review)
    judged = numbers.queries - numbers.settled
    if not judged:
        parts = ["nothing new to judge"]
    elif numbers.deserve:
        parts = [f"{numbers.deserve} of {judged} {'deserves' if numbers.deserve == 1 else 'deserve'} a slot"]
    else:
        parts = [f"none of {judged} deserves a slot by itself"]
    if numbers.need_you:
        parts.append(f"{numbers.need_you} {'needs' if numbers.need_you == 1 else 'need'} you")
    if numbers.waiting_for_slot:
        parts.append(f"{numbers.waiting_for_slot} must wait for a free slot")
    if numbers.unclassified:
        parts.append(f"incomplete: {numbers.unclassified} without a verdict")
    # Of a file without a query it is the file that is lost, however many faults it has.
    read = {query.file for query in review.queries.values()}
    files = len({problem.file for problem in review.problems} - read)
    rows = sum(problem.file in read for problem in review.problems)
    unread = [f"{many} {kind if many == 1 else f'{kind}s'}" for many, kind in ((files, "file"), (rows, "row")) if many]
    if unread:
        parts.append(f"{' and '.join(unread)} could not be read")
    sentence = "; ".join(parts)
    return sentence[0].upper() + sentence[1:]


def verdict_words(verdict: Verdict) -> str:
    """The decision in words people use."""
    if verdict.decision is Decision.EXCLUDE:
        return "Exclude?" if verdict.asks else "Exclude"
    action = {Decision.INCLUDE: "Admit", Decision.REPLACE: "Admit, displace", Decision.KEEP_BOTH: "Admit beside"}
    words = action[verdict.decision]
    return f"{words}?" if verdict.route is Route.REVIEW else words


def why(verdict: Verdict, review: VerdictContext, style: TextStyle) -> str:
    """The reason of a verdict in plain words, naming entries, champions, capabilities and margins."""
    parts = [_EXPLANATIONS[reason](verdict, review, style) for reason in verdict.reasons]
    on_trial = [name for name in verdict.facts.scores if name in review.platform.taxonomy.trial]
    if on_trial:
        names = listed([style.capability(name) for name in on_trial])
        parts.append(f"{names} {agreeing(on_trial, 'counts', 'count')} for nothing yet.")
    return " ".join(parts)


def why_of_group(verdict: Verdict, review: VerdictContext, style: TextStyle) -> str:
    """:func:`why` of an excluded query, in words that all queries of its group share: the heading of their list."""
    if Reason.CLONE in verdict.reasons and not verdict.alternate_of:
        return "Nearly the same text as an entry:"
    if verdict.alternate_of or not verdict.facts.competent:
        return why(verdict, review, style)
    return _adds_nothing("") + ":"


def _adds_nothing(names: str) -> str:
    """That a query is redundant, with the ``names`` of its capabilities in brackets, or without."""
    return f"Adds nothing new: its capabilities{names} are covered, it beats no champion and brings no new combination"


def why_with_advice(verdict: Verdict, review: VerdictContext, style: TextStyle) -> str:
    """:func:`why` for ``incumbent explain``: with the ways out, where its text is the reason."""
    reason = why(verdict, review, style)
    return f"{reason} {PERSONAL_WAYS_OUT}." if Reason.PERSONAL_DATA in verdict.reasons else reason


def beside(verdict: Verdict, review: Review, style: TextStyle) -> list[str]:
    """What else is to be said of a query that waits for a person: who would take its place."""
    behind = review.alternates.get(verdict.id, ())
    return [f"Alternates: {listed([style.name(id) for id in behind])}."] if behind else []


def contradicts(id: str, found: Contradiction, style: TextStyle) -> str:
    """That the eval set and the classifier expect different calls of tools for the query ``id``, and which counts."""
    said = _tools(found.likeliest, style, "a tool call") if rounded(found.probability) >= EVEN else _NO_CALL
    expected = _tools(found.expected, style, _NO_CALL)
    return f"{style.name(id)}: the eval set expects {expected}; the classifier expected {said}. The expectation counts."


def called(calls: CalledTools, style: TextStyle) -> str:
    """The most likely tool of each likely step, and the probability of any call."""
    steps = ", then ".join(f"{style.name(name)} {share:.2f}" for name, share in calls.likely)
    any_call = f"any call: {calls.probability:.2f}"
    if rounded(calls.probability) >= EVEN:
        return f"{steps or 'none'} ({any_call})"
    return f"none ({any_call}; nearest: {steps})" if steps else f"none ({any_call})"


def is_unfamiliar(id: str, why: Unfamiliar, style: TextStyle) -> str:
    """That the classifier cannot judge the text of the query ``id``, and why."""
    return f"{style.name(id)}: the classifier cannot judge this kind of text: {_UNFAMILIAR[why]}."


_UNFAMILIAR: Final[Mapping[Unfamiliar, str]] = {
    "language": "its exemplars are in other languages",
    "script": "its exemplars are in other scripts",
    "gibberish": "it is not in words",
    "code": "it is code or data",
}


def first_turn(turns: Sequence[str], style: TextStyle) -> str:
    """The first of the ``turns`` of a query, and how many more there are."""
    more = len(turns) - 1
    return style.quote(turns[0]) + (f" (and {counted(more, 'more turn', 'more turns')})" if more else "")


_NO_CALL = "no tool call"


def _tools(names: Sequence[str], style: TextStyle, none: str) -> str:
    """``names`` of tools, each once; ``none`` where there are none."""
    shown = ["a tool that is not listed" if name == UNLISTED else style.name(name) for name in dict.fromkeys(names)]
    return listed(shown) if shown else none


def listed(names: Sequence[str], most: int = SHOWN_NAMES, total: int | None = None) -> str:
    """``a, b and c``, cut after ``most`` names; ``total`` is how many there are where only the first are given."""
    shown = list(names[:most])
    rest = (len(names) if total is None else total) - len(shown)
    if rest > 0:
        shown.append(f"{rest} more")
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " and " + shown[-1]


def counted(count: int, one: str, many: str) -> str:
    """``count`` of something, such as “1 entry” and “2 entries”."""
    return f"{count} {one if count == 1 else many}"


def figure(number: float) -> str:
    """A cost as people write it: two decimals at most."""
    return f"{number:.2f}".rstrip("0").rstrip(".")


def cost_change(review: Review) -> str:
    """R's total cost, or what it is now and once the admissions of ``review`` are in."""
    before, after = figure(review.platform.regression_set.cost), figure(review.cost_after)
    return before if before == after else f"{before} → {after}"


def _off_taxonomy(verdict: Verdict, review: VerdictContext, style: TextStyle) -> str:
    return "Exercises no capability of the taxonomy."


def _clone(verdict: Verdict, review: VerdictContext, style: TextStyle) -> str:
    if verdict.alternate_of:
        leaders = listed([style.name(id) for id in verdict.alternate_of])
        verb = agreeing(verdict.alternate_of, "awaits", "await")
        return f"Nearly the same text as a query in review, and offers only what {leaders} {verb} your decision on."
    other = verdict.facts.most_similar
    assert other is not None  # a clone resembles somebody
    return f"Nearly the same text as {style.name(other)} (similarity {verdict.facts.max_similarity:.2f})."


def _redundant(verdict: Verdict, review: VerdictContext, style: TextStyle) -> str:
    if verdict.alternate_of:
        leaders = listed([style.name(id) for id in verdict.alternate_of])
        return (
            f"Offers only what {leaders} {agreeing(verdict.alternate_of, 'offers', 'offer')}, awaiting your decision."
        )
    competent = verdict.facts.competent
    if not competent:
        return "Covers nothing competently and beats no champion."
    names = listed([style.capability(name) for name in competent])
    return f"{_adds_nothing(f' ({names})')}."


def _new_coverage(verdict: Verdict, review: VerdictContext, style: TextStyle) -> str:
    return f"First competent test of {listed(_scored(verdict.facts.new_capabilities, verdict, style))}."


def _fills(verdict: Verdict, review: VerdictContext, style: TextStyle) -> str:
    floor = review.platform.config.redundancy_floor
    names = [
        f"{scored} ({counted(count, 'test', 'tests')} of {floor(name)})"
        for (name, count), scored in zip(
            verdict.facts.fills.items(), _scored(tuple(verdict.facts.fills), verdict, style), strict=True
        )
    ]
    others = verdict.facts.fills.keys().isdisjoint(review.platform.config.fill_from_any)
    return f"A test{' by another customer' if others else ''}, where there are too few: {listed(names)}."


def _novel(verdict: Verdict, review: VerdictContext, style: TextStyle) -> str:
    found = [" + ".join(_scored(names, verdict, style)) for names in strongest_first(verdict)]
    return f"First to combine {listed(found)}; otherwise covered."


def _scored(names: Sequence[str], verdict: Verdict, style: TextStyle) -> list[str]:
    """Capabilities of the query by name, each with its score."""
    return [f"{style.capability(name)} {verdict.facts.scores[name]:.2f}" for name in names]


def strongest_first(verdict: Verdict) -> list[tuple[str, ...]]:
    """The new combinations, the one with the surest weakest part first."""
    scores = verdict.facts.scores

    def weakness(names: tuple[str, ...]) -> tuple[float, tuple[str, ...]]:
        return -rounded(min(scores[name] for name in names)), names

    return sorted(verdict.facts.new_combinations, key=weakness)


def _beats(verdict: Verdict, style: TextStyle) -> str:
    facts = verdict.facts
    by_champion: dict[str, list[str]] = {}
    for capability, champion in facts.wins.items():
        margin = f"{facts.scores[capability]:.2f} over {facts.champion_scores[capability]:.2f}"
        if capability in facts.faded:
            margin += f", which was {facts.faded[capability]:.2f} when it was new"
        by_champion.setdefault(champion, []).append(f"{style.capability(capability)} ({margin})")
    return "; ".join(
        f"beats {style.name(champion)} at {listed(wins)}" for champion, wins in sorted(by_champion.items())
    )


def _dominates(verdict: Verdict, review: VerdictContext, style: TextStyle) -> str:
    beaten = listed([style.name(id) for id in verdict.displaces])
    verb = agreeing(verdict.displaces, "becomes a candidate", "become candidates")
    return f"{_sentence(_beats(verdict, style))} and covers all they cover: {beaten} {verb} for eviction."


def _split_or_floor(verdict: Verdict, review: VerdictContext, style: TextStyle) -> str:
    facts = verdict.facts
    stays = []
    if facts.undominated:
        verb = agreeing(facts.undominated, "covers", "cover")
        stays.append(f"{listed([style.name(id) for id in facts.undominated])} {verb} more than this query")
    if facts.protected:
        verb = agreeing(facts.protected, "is", "are")
        stays.append(f"{listed([style.name(id) for id in facts.protected])} {verb} pinned or best at something else")
    if facts.short_floors:
        names = listed([style.capability(name) for name in facts.short_floors])
        stays.append(f"{names} would fall below the redundancy floor")
    return f"{_sentence(_beats(verdict, style))}; both stay, since {' and '.join(stays)}."


def _concentration(verdict: Verdict, review: VerdictContext, style: TextStyle) -> str:
    names = listed([style.capability(name) for name in verdict.facts.sole])
    return f"{_sentence(_beats(verdict, style))}, but would be the only competent test of {names}."


def _low_confidence(verdict: Verdict, review: VerdictContext, style: TextStyle) -> str:
    config = review.platform.config
    score, floor = honesty(verdict.facts, config.options), config.knobs.honesty_floor
    shown = f"{score:.2f}" if f"{score:.2f}" != f"{floor:.2f}" else f"{score:.9f}".rstrip("0")
    if config.options.honesty_scope == "all":
        return f"Its evidence is weak: no score reaches the honesty floor ({floor:.2f}); the best is {shown}."
    weak = [name for name in deciding(verdict.facts) if rounded(verdict.facts.scores[name]) < rounded(floor)]
    names = listed([style.capability(name) for name in weak])
    return f"Its evidence is weak: {names} {agreeing(weak, 'is', 'are')} below the honesty floor ({floor:.2f})."


def _unfamiliar(verdict: Verdict, review: VerdictContext, style: TextStyle) -> str:
    return "The classifier cannot judge this kind of text."


def close_call(call: CloseCall, style: TextStyle) -> str:
    """What an excluded query would bring if it were competent in it, with its likelihood."""
    return f"{' + '.join(style.capability(name) for name in call.capabilities)} {call.likelihood:.2f}"


def _attempt(verdict: Verdict, review: VerdictContext, style: TextStyle) -> str:
    return "Its text argues with the classifier, or hides something from people."


def _personal_data(verdict: Verdict, review: VerdictContext, style: TextStyle) -> str:
    return f"It holds {kinds_in_words(verdict.facts.personal)}."


def _untrusted_author(verdict: Verdict, review: VerdictContext, style: TextStyle) -> str:
    return "It would enter on inferred tags alone, and its author is not among the trusted ones."


def _customer_share(verdict: Verdict, review: VerdictContext, style: TextStyle) -> str:
    share = f"{review.platform.config.limits.customer_share:.0%}"
    return f"{style.name(review.origins[verdict.id].customer)} would hold more than {share} of all slots."


def _unseen(verdict: Verdict, review: VerdictContext, style: TextStyle) -> str:
    return "It was not displayed as admitted when its eval set was merged."


def _contradicted(verdict: Verdict, review: VerdictContext, style: TextStyle) -> str:
    return (
        "It rests on expected tool calls that are doubtful: the text alone hardly asks for any, or one turn has many."
    )


def _contested(verdict: Verdict, review: VerdictContext, style: TextStyle) -> str:
    return "A curator rejected it: in another text, or in a comment that was deleted or edited since."


_EXPLANATIONS = {
    Reason.OFF_TAXONOMY: _off_taxonomy,
    Reason.CLONE: _clone,
    Reason.REDUNDANT: _redundant,
    Reason.NEW_COVERAGE: _new_coverage,
    Reason.FILLS_FLOOR: _fills,
    Reason.NOVEL_COMBO: _novel,
    Reason.DOMINATES: _dominates,
    Reason.SPLIT_OR_FLOOR: _split_or_floor,
    Reason.CONCENTRATION: _concentration,
    Reason.LOW_CONFIDENCE: _low_confidence,
    Reason.UNFAMILIAR: _unfamiliar,
    Reason.ATTEMPT: _attempt,
    Reason.PERSONAL_DATA: _personal_data,
    Reason.UNTRUSTED_AUTHOR: _untrusted_author,
    Reason.CUSTOMER_SHARE: _customer_share,
    Reason.UNSEEN: _unseen,
    Reason.CONTESTED: _contested,
    Reason.CONTRADICTED: _contradicted,
}


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def agreeing(things: Sequence[str] | Mapping[str, object], one: str, many: str) -> str:
    """The form of a verb that agrees with ``things``: ``one`` if there is one."""
    return one if len(things) == 1 else many


def codes(verdict: Verdict) -> str:
    """The verdict's codes, to stand beside the words."""
    return " ".join([verdict.decision.value, verdict.route.value, *(reason.value for reason in verdict.reasons)])


def admitting_route(shown: str) -> Route | None:
    """The route of the admission that these :func:`codes` tell of; ``None`` where they tell of none."""
    decision, route, *_ = [*shown.split(), "", ""]
    admits = decision in {item.value for item in Decision if item.admits}
    return Route(route) if admits else None


def asks(shown: str) -> bool:
    """Whether these :func:`codes` tell of a verdict that a person has to decide."""
    return shown.split()[1:2] == [Route.REVIEW.value]


def leaves_out(shown: str) -> bool:
    """Whether these :func:`codes` tell of an EXCLUDE that needs nobody."""
    decision, route, *_ = [*shown.split(), "", ""]
    return (decision, route) == (Decision.EXCLUDE.value, Route.DIRECT.value)
