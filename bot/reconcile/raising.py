"""The stage of reconcile that raises extension candidates."""

from __future__ import annotations

from bot.github.git_state import raised_of
from bot.reconcile.candidate_plan import Scene, branch_of, is_candidate, plan_candidates
from bot.reconcile.suggesting import branches_of
from bot.reconcile.tip import Staged, Tip
from bot.taxonomy.loading import read_files


def raise_candidates(tip: Tip) -> Staged:
    """What customers ask for and the taxonomy may lack becomes a draft that people edit and merge, or close."""
    github, base = tip.github, tip.event.default_branch
    found = tuple(item.candidate for item in tip.inventory.candidates)
    record = raised_of(tip.ledger)
    if not found and not record.raised:
        return Staged(carried=tip.carried)
    opened = tuple(pull for pull in tip.open_pull_requests() if is_candidate(pull.branch))
    closed = tuple(pull for pull in github.closed_pull_requests(base) if is_candidate(pull.branch))
    new = {branch_of(item) for item in found}
    settings = tip.platform.config.extension
    scene = Scene(
        login=github.login,
        default_branch=base,
        base=tip.commit,
        taxonomy={path: tip.read(path) for path in read_files(tip.snapshot).contents},
        open=opened,
        closed=closed,
        branches=branches_of(tip, new) if new else {},
        checks={pull.head: github.check(pull.head) for pull in opened},
        ledger=tip.ledger_commit,
        record=record,
        barred=tip.barred,
        closed_by=github.closed_by,
    )
    operations = plan_candidates(found, settings.open_candidates, settings.core_overlap, scene)
    return Staged(writes=operations, carried=tip.carried)
