"""What the plan of admissions is made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from bot.github.decisions import NOTHING_RECORDED, RecordedCorrections
from bot.github.models import IssueComment, PullRequest
from bot.ledger.model import NO_ABILITIES, AbilityRecord, FolderIndex, FolderRecord, Reconciled, Rejection, Request
from bot.reconcile.admission_pull_request import NOTHING_REFUSED, Refused


@dataclass(frozen=True, kw_only=True)
class AdmissionInputs:
    """GitHub as the plan finds it: the default branch ``branch`` at ``commit``, comments by pull request, the ledger's
    commit.

    ``ended`` are closed pull requests of which nothing has to be remembered unless a query of theirs was merged and
    needs a person; ``merges`` are those that were merged, and ``merged_by`` tells who merged one, and when.
    ``rejections`` were given before; their comments are among the others.  ``ledger_files`` are the ledger's files by
    path, ``reconciled``, the ``index`` and, by path, what is known of ``folders`` that were read or are gone are among
    them; ``fresh`` tells whether eval sets were merged that it does not know of.
    ``texts`` reads a file as it is at ``commit``.  ``offering`` tells that the branch takes no commits of ours, so that
    people are asked to merge them; ``refused`` is what they turned down then.  ``restores`` are tombstones whose entry
    is to come back, and who asks for it.  ``corrections`` is what is recorded of the texts that are here,
    ``abilities`` what is known of endpoints.
    ``over`` are pull requests with queries that needed a person, none of which
    is there any more, ``unmerged`` those that were closed without being merged.
    """

    login: str
    branch: str
    commit: str
    comments: Mapping[int, tuple[IssueComment, ...]]
    ended: tuple[int, ...]
    ledger: str | None
    rejections: tuple[Rejection, ...]
    reconciled: Reconciled | None
    fresh: bool
    ledger_files: Mapping[str, str]
    permission: Callable[[str], str]
    merged_by: Callable[[int], tuple[str, str]]
    texts: Callable[[str], str]
    run: str | None
    index: FolderIndex | None = None
    folders: Mapping[str, FolderRecord | None] = field(default_factory=dict)
    product: str | None = None
    offering: bool = False
    refused: Refused = NOTHING_REFUSED
    restores: Mapping[str, Request] = field(default_factory=dict)
    over: tuple[PullRequest, ...] = ()
    unmerged: tuple[PullRequest, ...] = ()
    merges: frozenset[int] = frozenset()
    corrections: RecordedCorrections = NOTHING_RECORDED
    abilities: AbilityRecord = NO_ABILITIES
