"""From what could go to the bot's pull requests, and to what the ledger remembers of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from bot.github.check import post_check
from bot.github.events import OWN_BRANCHES
from bot.github.managed_pull_request import PlannedPullRequest, plan_pull_requests
from bot.github.models import Operation, PullRequest, WriteLedger
from bot.ledger.event_files import appended
from bot.ledger.events import SET_EVENTS
from bot.ledger.model import SUGGESTIONS, SuggestionRecord
from bot.ledger.store import record_text
from bot.pipeline.review import Platform
from bot.reconcile.desired_suggestions import DesiredSuggestions, SuggestionInputs, withdrawn
from bot.reconcile.suggestion_groups import with_dropped
from bot.reconcile.suggestion_outcomes import answered, answered_in_groups, reopened, suggested
from bot.reconcile.suggestion_pull_requests import Proposal, is_about, is_group, is_offer, is_repack
from bot.report.escaping import code
from bot.report.verdict_text import listed

_SHOWN = 10


def plan_suggestions(
    wanted: DesiredSuggestions, platform: Platform, inputs: SuggestionInputs
) -> tuple[list[tuple[int | None, Operation]], tuple[PlannedPullRequest, ...]]:
    """The writes that make our pull requests match ``wanted``, none where they do, and what becomes of each."""
    github, limits = inputs.github, platform.config.limits
    limit = limits.open_evictions + len(wanted.suggestions.repacks)
    asked = {item.entry for item in inputs.keeps}
    # Nothing is known of these: they stay as they are.
    left = {pull.branch or "" for pull in github.open if _is_unread(pull, inputs)}
    judged = replace(
        github,
        open=tuple(pull for pull in github.open if pull.branch not in left),
        withdrawn=withdrawn(github.closed, inputs.asked),
    )
    judged = with_dropped(judged, {item.branch for item in wanted.proposals})
    planned = plan_pull_requests(wanted.proposals, judged, limit, lambda pull: _why_closed(pull, platform, asked))
    again = reopened(github.open, inputs.known, inputs.at)
    if again:
        # Before anything is closed: a run that is killed must not leave a refusal that somebody took back.
        write = WriteLedger.of(inputs.ledger, {SET_EVENTS: appended(inputs.events, again)}, "Suggestions opened again")
        return [(None, write)], planned
    writes = [write for item in planned for write in item.writes]
    for pull in inputs.misnamed:
        writes += [(pull.number, item) for item in _turn_down(pull, inputs)]
    heads = {
        item.branch: github.branches[item.branch].commit
        for item in planned
        if ((item.action == "keep" and item.number is not None) or item.action == "barred")
        and item.branch in github.branches
    }
    heads |= {branch: head for branch, head in inputs.record.heads.items() if branch in left}
    record = SuggestionRecord(
        heads=dict(sorted(heads.items())),
        refusals=wanted.refusals,
        offers=dict(wanted.offers),
        archived=dict(wanted.archived),
        takes_no_commits=inputs.takes_no_commits,
    )
    events = _events({item.branch: item for item in wanted.proposals}, heads, platform, inputs)
    if record != inputs.record or events:
        files = {SUGGESTIONS: record_text(record), **events}
        writes.append((None, WriteLedger.of(inputs.ledger, files, f"Suggestions on {github.base[:12]}")))
    return writes, planned


def _events(
    proposals: Mapping[str, Proposal], heads: Collection[str], platform: Platform, inputs: SuggestionInputs
) -> dict[str, str | None]:
    """The file of events with what became of our suggestions; none where nothing did."""
    github, known = inputs.github, inputs.known
    shown = [pull for pull in github.open if pull.branch in heads]
    known_set = platform.regression_set
    ids = (*known_set.entries, *known_set.waiting, *known_set.tombstones, *inputs.archived)
    found = (
        *suggested(shown, proposals, known, inputs.at),
        *answered(github.closed, known, ids, inputs.merged_by, github.closed_by),
        *answered_in_groups(
            github.closed,
            known,
            platform.regression_set.entries,
            inputs.merged_by,
            github.closed_by,
            inputs.keeps,
        ),
    )
    return {SET_EVENTS: appended(inputs.events, found)} if found else {}


def _is_unread(pull: PullRequest, inputs: SuggestionInputs) -> bool:
    """Whether ``pull`` repacks a query whose eval set was not read."""
    return is_repack(pull.branch) and any(is_about(pull.branch or "", id) for id in inputs.unread)


def _turn_down(pull: PullRequest, inputs: SuggestionInputs) -> list[Operation]:
    title = f"Branches under {OWN_BRANCHES} are Incumbent's"
    text = "Offer this change from a branch with another name."
    return post_check(pull.head, "failure", title, text, inputs.github.check(pull.head))


def _why_closed(pull: PullRequest, platform: Platform, kept: Collection[str]) -> str:
    """Why what ``pull`` suggests is not suggested any more; ``kept`` are entries that curators asked to keep."""
    known = platform.regression_set
    if is_offer(pull.branch):
        return "what it offers does not enter unchanged any more; the rest is in another one, or on the dashboard."
    if is_repack(pull.branch):
        return "the query that it admits has changed, or the set needs what it removes, or others save more."
    if is_group(pull.branch):
        return "nothing is left of it: people keep its entries, or their grounds do not hold any more."
    about = [id for id in (*known.entries, *known.waiting) if is_about(pull.branch or "", id)]
    if not about:
        return "what it is about is not in the regression set any more."
    names = listed([code(id) for id in about], _SHOWN)
    pins = [known.entries[id].pin for id in about if id in known.entries and known.entries[id].pin is not None]
    if pins:
        return f"{names} was pinned by a person."
    if any(id in kept for id in about):
        return f"a curator asked to keep {names}. It is not suggested again until the grounds change."
    return f"its grounds do not hold any more. What {names} covers has changed, or whom it yields to, or its text."
