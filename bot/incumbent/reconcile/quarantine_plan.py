"""Offers of quarantine as pull requests: to leave a flapping entry out of exports, and to end that (pure).

A refusal is known by the pull request that people closed.  It holds until later releases alone show the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from incumbent.curator import file_changes
from incumbent.curator.store import entry_path
from incumbent.github.events import OWN_BRANCHES
from incumbent.github.managed_pull_request import (
    DesiredPullRequest,
    PlannedPullRequest,
    PullRequestState,
    own_heads,
    plan_pull_requests,
    was_closed,
)
from incumbent.github.models import Operation, PullRequest, WriteLedger
from incumbent.ledger.model import QUARANTINES, QuarantineRecord, Refusal
from incumbent.ledger.releases.history import EntryHistory
from incumbent.ledger.releases.quarantine import QuarantineOffer, others_in, quarantine_offers
from incumbent.ledger.releases.record import ReleaseRecord
from incumbent.ledger.store import record_text
from incumbent.pipeline.review import Platform
from incumbent.reconcile.suggestion_pull_requests import LABEL, branch_of, slug
from incumbent.report.escaping import code
from incumbent.report.quarantine import quarantine_title, render_quarantine

QUARANTINE: Final = f"{OWN_BRANCHES}quarantine/"
CHECK: Final = ("No verdict changes", "The description says what release runs showed.")

_NAME: Final = re.compile(rf"{QUARANTINE}([^/]+)-[0-9a-f]{{16}}")


def is_quarantine(branch: str | None) -> bool:
    """Whether a branch of ours offers a quarantine, or to end one."""
    return branch is not None and _NAME.fullmatch(branch) is not None


@dataclass(frozen=True, kw_only=True)
class QuarantineInputs:
    """GitHub as the plan finds it, with the pull requests of this kind, and what releases say.

    ``records`` are the last releases, in order, and ``histories`` what they say of the entries of R.  ``record`` is
    what the commit ``ledger`` of the ledger knows.  ``pull_request`` looks one up that is not here, ``texts`` reads a
    file of the set.
    """

    github: PullRequestState
    records: Sequence[ReleaseRecord]
    histories: Mapping[str, EntryHistory]
    record: QuarantineRecord
    ledger: str | None
    pull_request: Callable[[int], PullRequest | None]
    texts: Callable[[str], str]


@dataclass(frozen=True, kw_only=True)
class OfferedQuarantine(DesiredPullRequest):
    """The pull request of an ``offer``."""

    offer: QuarantineOffer
    reason: str = "Suggested by Incumbent; the pull request says why."
    followed: bool = True
    label: str = LABEL
    check: tuple[str, str] = CHECK


@dataclass(frozen=True, kw_only=True)
class QuarantineStatus:
    """What becomes of the pull request of an ``offer``."""

    offer: QuarantineOffer
    planned: PlannedPullRequest


@dataclass(frozen=True, kw_only=True)
class DesiredQuarantines:
    """What people should be asked, most urgent first, and the ``refusals`` that are remembered."""

    wanted: tuple[OfferedQuarantine, ...]
    refusals: tuple[Refusal, ...]


def desired_quarantines(platform: Platform, inputs: QuarantineInputs) -> DesiredQuarantines:
    """The pull requests that the releases call for.

    What the ledger says of a refusal is looked up again before it holds anything back, unless GitHub lists it.
    """
    entries, settings = platform.regression_set.entries, platform.config.results
    subjects = {slug(id): id for id in entries}
    here = {pull.number for pull in (*inputs.github.open, *inputs.github.closed)}
    known = {item.pull_request for item in inputs.record.refusals}
    closed = {
        pull.number: pull
        for pull in inputs.github.closed
        if was_closed(pull) and (pull.number in known or inputs.github.was_refused(pull))
    }
    refusals = [Refusal(pull_request=number, branch=pull.branch or "") for number, pull in closed.items()]
    refusals += [item for item in inputs.record.refusals if item.pull_request not in here]
    refusals = [item for item in refusals if _subject(item.branch) in subjects]

    def offered(refused: Mapping[str, str]) -> tuple[QuarantineOffer, ...]:
        return quarantine_offers(entries, inputs.histories, inputs.records, settings, refused)

    asked = {item.entry.id for item in offered({})}
    refused: dict[str, str] = {}
    kept = []
    for item in refusals:
        id = subjects[_subject(item.branch)]
        if id in asked:
            pull = closed.get(item.pull_request) or _looked_up(item, inputs)
            if pull is None or pull.closed_at is None:
                continue
            refused[id] = max(refused.get(id, ""), pull.closed_at)
        kept.append(item)
    return DesiredQuarantines(
        wanted=tuple(_pull_request(item, platform, inputs) for item in offered(refused)),
        refusals=tuple(sorted(kept, key=lambda item: item.pull_request)),
    )


def plan_quarantines(
    desired: DesiredQuarantines, platform: Platform, inputs: QuarantineInputs
) -> tuple[tuple[tuple[int | None, Operation], ...], tuple[QuarantineStatus, ...]]:
    """The writes that make GitHub show what is ``desired``, none where it does, and what becomes of each offer."""
    github = replace(inputs.github, heads=inputs.record.heads)
    limit = platform.config.limits.open_quarantines
    planned = plan_pull_requests(desired.wanted, github, limit, lambda pull: _why_closed(pull, platform))
    writes = [write for item in planned for write in item.writes]
    heads = own_heads(planned, github.branches)
    record = inputs.record.model_copy(update={"heads": dict(sorted(heads.items())), "refusals": desired.refusals})
    if record != inputs.record:
        files: dict[str, str | None] = {QUARANTINES: record_text(record)}
        writes.append((None, WriteLedger.of(inputs.ledger, files, f"Quarantines on {github.base[:12]}")))
    offers = {item.branch: item.offer for item in desired.wanted}
    found = [QuarantineStatus(offer=offers[item.branch], planned=item) for item in planned if item.branch in offers]
    return tuple(writes), tuple(found)


def _pull_request(offer: QuarantineOffer, platform: Platform, inputs: QuarantineInputs) -> OfferedQuarantine:
    path, known = entry_path(offer.entry.id), platform.regression_set
    others = others_in(offer.entry, known.entries, inputs.records, platform.config.uncombinable)
    return OfferedQuarantine(
        branch=branch_of(QUARANTINE, offer.entry.id, offer.grounds),
        title=quarantine_title(offer),
        body=render_quarantine(offer, others, platform),
        files=((path, file_changes.edit(inputs.texts(path), offer.changed)),),
        offer=offer,
    )


def _subject(branch: str) -> str:
    """The slug of the entry that a branch of ours is about; empty for any other branch."""
    found = _NAME.fullmatch(branch)
    return "" if found is None else found[1]


def _looked_up(item: Refusal, inputs: QuarantineInputs) -> PullRequest | None:
    """The pull request that ``item`` names, if people closed it."""
    pull = inputs.pull_request(item.pull_request)
    is_real = pull is not None and pull.branch == item.branch and inputs.github.was_refused(pull)
    return pull if is_real else None


def _why_closed(pull: PullRequest, platform: Platform) -> str:
    about = [id for id in platform.regression_set.entries if slug(id) == _subject(pull.branch or "")]
    if not about:
        return "what it is about is not in the regression set any more."
    return (
        f"its grounds do not hold any more. Whether {code(about[0])} is quarantined has changed, or its text, or what "
        "release runs show of it."
    )
