"""The notices above the verdicts: what is special about this pull request (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from incumbent.consolidator.verdict import Reason
from incumbent.curator.roles import derive_roles
from incumbent.github.authority import UNKNOWN_AUTHOR, UNKNOWN_PERMISSION, Author
from incumbent.github.check import PLATFORM_ACTS
from incumbent.github.command_processing import CommandOutcome
from incumbent.github.decisions import Ended, matter
from incumbent.github.facts import Analysis, whole
from incumbent.github.fitted_models import WAYS_OUT
from incumbent.github.governing import CONFIG, WHO_DECIDES, effects
from incumbent.github.judgement import SET_NAME, RefusedEviction, ReviewJudgement
from incumbent.ledger.model import PullRequestRecord
from incumbent.ledger.releases.history import EntryHistory, evidence
from incumbent.pipeline.review import Review
from incumbent.report.escaping import code
from incumbent.report.query_context import corrected_lines
from incumbent.report.verdict_text import MarkdownStyle, listed, quoted
from incumbent.text.compare import text_key
from incumbent.text.secrets import holds_secret

LOST = (
    "The ledger lost its record of this pull request: the file cannot be read. Decisions that were given here before "
    "no longer count: give the commands again."
)
SHOWN = 5
"""The most decisions of a kind that are named; the rest are counted."""


def notices_of(
    judgement: ReviewJudgement,
    outcome: CommandOutcome,
    record: PullRequestRecord,
    analysis: Analysis | None = None,
    ended: Sequence[Ended] = (),
    author: Author = UNKNOWN_AUTHOR,
    known: Mapping[str, EntryHistory] = MappingProxyType({}),
    *,
    lost: bool = False,
) -> tuple[str, ...]:
    """The notices above the verdicts, most important first; all texts are escaped.

    ``analysis`` is that of the head, if it is not merged yet; ``ended`` are corrections that no longer count;
    ``author`` opened the pull request; ``known`` is what release runs say of entries; ``lost``: the ledger's record of
    the pull request cannot be read.
    """
    notices = [] if analysis is None else _governing(judgement, analysis)
    notices += [LOST] if lost else []
    notices += [] if analysis is None else _of_head(judgement, outcome, analysis)
    notices += _corrected(judgement, ended)
    notices += _void(judgement, outcome)
    notices += _unheard(judgement)
    notices += _untold(judgement, author)
    if judgement.review is not None:
        places = [
            f"{query.file}:{query.line}" if query.line else query.file
            for query in judgement.review.queries.values()
            if any(map(holds_secret, (query.id, *query.turns)))
        ]
        if places:
            shown = listed([quoted(place) for place in dict.fromkeys(places)], 10)
            notices.append(f"There is what looks like a secret in {shown}: revoke it and remove it.")
        notices += _in_releases(judgement.review, known)
    rerolled = sum(1 for count in changes_of(judgement, record).values() if count > 2)
    if rerolled:
        notices.append(f"{rerolled} of the queries had their text changed three times or more in this pull request.")
    return tuple(notices)


def _governing(judgement: ReviewJudgement, analysis: Analysis) -> list[str]:
    """What the head changes about who decides: this is above all else."""
    if not judgement.governing:
        return []
    if not judgement.governed_anew:
        return [_allowed(judgement, WHO_DECIDES, "of who decides")]
    found = [item for change in judgement.governing for item in effects(change)]
    files = [f"{quoted(whole(path))} ({effect})" for path, effect in found]
    line = f"**This changes who decides**: {'; '.join(_counted(files, 'more files'))}."
    if analysis.impact is not None and analysis.impact.config and any(path == CONFIG for path, _ in found):
        keys = [quoted(item.key) for item in analysis.impact.config]
        line += f" The job that reads the config names as changed: {listed(keys, SHOWN)}."
    if not judgement.may_allow_governing:
        return [f"{line} A query is called `{WHO_DECIDES}`: rename it first."]
    how = f"comment `/incumbent accept {WHO_DECIDES}` with the reason. That applies to this commit alone."
    return [f"{line} Take the change out, or let a curator who did not make it {how}"]


def _allowed(judgement: ReviewJudgement, name: str, what: str) -> str:
    """Who allowed the changes of files called ``name``, which somebody did."""
    found = judgement.allowed(name)
    assert found is not None
    return f"{quoted(found.by)} allowed this change {what}: {quoted(found.reason or '')}"


def _of_head(judgement: ReviewJudgement, outcome: CommandOutcome, analysis: Analysis) -> list[str]:
    """What holds up a pull request, and what it changes apart from eval sets."""
    config = judgement.platform.config
    notices = []
    if config.mode == "observe":
        notices.append("Observing: only this comment and a passing check are written.")
    if analysis.held and config.mode != "observe":
        notices.append(
            "This is a first contribution: a curator starts the review with `/incumbent run`."
            if outcome.released is None
            else "Released, but this run had not read the data yet: run it again, or comment `/incumbent run` again."
        )
    stopped = analysis.work.stopped
    if stopped is not None and stopped.lacks is not None:
        notices.append(
            f"**{PLATFORM_ACTS}**: {quoted(stopped.message)}. {WAYS_OUT[stopped.lacks]}. Then comment `/incumbent run`."
        )
    elif stopped is not None:
        notices.append(f"The classifier stopped: {quoted(stopped.message)}.")
    if judgement.removed_for_good:
        names = ", ".join(quoted(item.file.before or item.file.path) for item in judgement.removed_for_good[:10])
        notices.append(
            f"{names}: removed without a tombstone, so that it could not be restored. Run "
            "`incumbent evict ID --reason …` and commit what it writes."
        )
    if judgement.changed_by_hand and not judgement.may_allow_set:
        notices.append(
            "This changes `regression_set/` by hand, and a query is called `regression_set`: rename it first."
        )
    elif judgement.changed_by_hand:
        notices.append(
            "This changes `regression_set/` by hand. Entries enter with their eval set, and leave by eviction. Take "
            "the change out, or let a curator comment `/incumbent accept regression_set` with the reason. That applies "
            "to this commit alone."
        )
    elif analysis.judged.set_changes:
        notices.append(_allowed(judgement, SET_NAME, "of `regression_set/` by hand"))
    notices += _counted([_refused(item) for item in judgement.refused], "more evictions were refused before.")
    reviewed = [place for place in analysis.touches if place in ("taxonomy", "config")]
    if reviewed and "eval_sets" in analysis.touches:
        notices.append(
            f"This changes {' and '.join(f'`{place}/`' for place in reviewed)} as well: its queries are judged by "
            "those of the base, and again after the merge."
        )
    return notices


def _refused(item: RefusedEviction) -> str:
    place, day = f"#{item.pull_request}", item.at[:10]
    if item.by is None:
        who = f"people refused that in {place} on {day}"
    else:
        who = f"{quoted(item.by)} keeps it ({place}, {day})"
    return f"This evicts {code(item.entry)}: {who}, and the grounds are the same. Merging this overrules that."


def _in_releases(review: Review, known: Mapping[str, EntryHistory]) -> list[str]:
    """Capabilities that admitted queries cover, and whose present tests showed nothing for certain in release runs."""
    platform, style = review.platform, MarkdownStyle(review.platform.taxonomy)
    gained = [item.capability for item in review.coverage if item.after > item.before]
    residents = platform.regression_set.residents(platform.taxonomy)[0]
    found = evidence(derive_roles(residents, platform.config).coverers, known, gained)
    doubtful = [item for item in found if item.ran and not item.is_proven]
    unsteady = [style.capability(item.capability) for item in doubtful if not item.in_effect]
    silent = [style.capability(item.capability) for item in doubtful if item.in_effect]
    is_quarantined = any(item.ineffective > item.flapping for item in doubtful)
    flap, flaps = (
        ("flap or are quarantined", "neither flaps nor is quarantined") if is_quarantined else ("flap", "does not flap")
    )
    said = [f"all present tests of {listed(unsteady)} {flap}"] if unsteady else []
    said += [f"no present test of {listed(silent)} that {flaps} ever failed"] if silent else []
    return [f"In release runs {'; '.join(said)}. What is admitted here covers this, too."] if said else []


def changes_of(judgement: ReviewJudgement, record: PullRequestRecord) -> dict[str, int]:
    """Entry → how often the pull request has changed its text, if it has."""
    texts = judgement.texts.items()
    return record.changes | {
        entry: record.changes.get(entry, 0) + 1 for entry, text in texts if record.texts.get(entry, text) != text
    }


def _corrected(judgement: ReviewJudgement, ended: Sequence[Ended]) -> list[str]:
    """Whose corrections decide tags of which queries, and whose no longer do."""
    review = judgement.review
    if review is None:
        return []
    names = {text_key(query.turns): name for name, query in reversed([*review.queries.items()])}
    gone = [
        f"The correction of {quoted(item.correction.by)} ({code(item.capability)}) on {quoted(names[item.text])} is "
        "void: its comment was deleted or edited, or its author may not decide here any more."
        for item in ended
        if item.text in names
    ]
    lines = corrected_lines(review, MarkdownStyle(judgement.platform.taxonomy))
    return [*lines, *_counted(gone, "more corrections are void.")]


def _void(judgement: ReviewJudgement, outcome: CommandOutcome) -> list[str]:
    """Decisions that have no effect now, and were not replaced by one on the present content."""
    called = {entry: name for name, entry in judgement.entries.items()}
    decided = {(item.content, matter(item)) for item in judgement.decisions}
    changed = [
        item
        for item in outcome.dormant
        if item.entry in judgement.contents and (judgement.contents[item.entry], matter(item)) not in decided
    ]
    gone = [item for item in outcome.void if (item.content, matter(item)) not in decided]
    said = [(item, "its content has changed") for item in changed]
    said += [(item, "its comment was deleted or edited, or its author may not decide here any more") for item in gone]
    lines = [
        f"The decision of {quoted(item.by)} ({item.action}) on {quoted(called.get(item.entry, item.entry))} is void: "
        f"{why}."
        for item, why in said
    ]
    if judgement.review is not None and not judgement.facts.problems:
        # A rejected query may come again under another name.
        lines += [
            f"{quoted(item.by)} rejected {quoted(item.entry)}, which is not there any more."
            for item in outcome.dormant
            if item.action == "reject" and item.entry not in judgement.contents
        ]
    return _counted(lines, "more decisions count for nothing now.")


def _untold(judgement: ReviewJudgement, author: Author) -> list[str]:
    """The notice that an author counts as an outside one only because their permission could not be looked up."""
    found = () if judgement.review is None else judgement.review.verdicts
    if author.permission != UNKNOWN_PERMISSION or not any(
        Reason.UNTRUSTED_AUTHOR in verdict.reasons for verdict in found
    ):
        return []
    line = (
        f"This token may not look up the permission of {quoted(author.login)} in this repository, so that they count "
        "as an outside author. List them under `trusted_authors` in `config/curation.yaml`, or give the bot a token "
        "that may look it up."
    )
    return [line]


def _unheard(judgement: ReviewJudgement) -> list[str]:
    """Acceptances that no longer fit since the base has changed: the displayed verdict needs a new decision."""
    review = judgement.review
    if review is None:
        return []
    excluded = {verdict.id for verdict in review.verdicts if not verdict.decision.admits}
    lines = [
        f"The decision of {quoted(item.by)} (accept) on {quoted(item.id)} has no effect: its verdict is EXCLUDE "
        "by now. Accept it again with a reason, or let it go."
        for item in review.derivation.unheard
        if item.id in excluded
    ]
    return _counted(lines, "more acceptances have no effect.")


def _counted(lines: Sequence[str], more: str) -> list[str]:
    rest = [f"{len(lines) - SHOWN} {more}"] if len(lines) > SHOWN else []
    return [*lines[:SHOWN], *rest]
