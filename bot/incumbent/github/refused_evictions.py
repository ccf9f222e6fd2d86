"""Evictions by hand that people refused before: the check passes, and its comment says who refused (pure)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from incumbent.github.commands import Verb
from incumbent.github.decisions import is_as_read
from incumbent.github.judgement import RefusedEviction
from incumbent.github.models import PullRequest, ThreadComment
from incumbent.ledger.model import CommentKey, Refusal, Request, RequestRecord, SuggestionRecord
from incumbent.ledger.refusals import standing_refusals


def refused_before(
    evicted: Mapping[str, str],
    record: SuggestionRecord | None,
    requests: RequestRecord | None,
    pull_request: Callable[[int], PullRequest | None],
    remark: Callable[[CommentKey], ThreadComment | None],
) -> tuple[RefusedEviction, ...]:
    """Which of the entries ``evicted`` people refused to evict, on the same grounds; those are given by digest.

    ``record`` and ``requests`` are the ledger's.  What they say is looked up: ``pull_request`` and ``remark`` do so.
    """
    standing = standing_refusals(record or SuggestionRecord(), requests)
    found = []
    for entry, grounds in sorted(evicted.items()):
        match standing.get(grounds):
            case Refusal(pull_request=number, branch=branch):
                pull = pull_request(number)
                if pull is not None and pull.closed_at is not None and pull.branch == branch:
                    found.append(RefusedEviction(entry=entry, pull_request=number, at=pull.closed_at))
            case Request(comment=comment, by=by, said=said):
                said_there = remark(comment)
                if said_there is not None and is_as_read(said_there.comment, by, said, Verb.KEEP):
                    at = said_there.comment.created_at
                    found.append(RefusedEviction(entry=entry, pull_request=said_there.number, by=by, at=at))
            case _:
                pass
    return tuple(found)
