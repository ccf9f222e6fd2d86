"""What people refuse to evict, and keep, by the records of the ledger (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from incumbent.ledger.model import Refusal, Request, RequestRecord, SuggestionRecord
from incumbent.text.compare import utc

GROUP_BRANCHES: Final = "incumbent/group/"
"""The folder of the branches that suggest several evictions."""
OPPOSITES: Final = ("keep", "suggest")
"""Two requests about an entry that contradict each other."""


def grounds_in(branch: str) -> str:
    """The digest of the grounds that a branch of ours is named after."""
    return branch.rpartition("-")[2]


def refused_grounds(item: Refusal) -> frozenset[str]:
    """The digests of the grounds that ``item`` refuses."""
    is_group = item.branch.startswith(GROUP_BRANCHES)
    return frozenset(item.entries.values()) if is_group else frozenset({grounds_in(item.branch)})


def still_refused(item: Refusal, asked: Sequence[Request], closed_at: Mapping[int, str | None]) -> frozenset[str]:
    """The grounds that ``item`` refuses, without those that curators ``asked`` to suggest since.

    ``closed_at`` tells when pull requests were last closed, as far as that is known.
    """
    number = item.pull_request
    return frozenset(
        grounds
        for grounds in refused_grounds(item)
        if not any(each.grounds == grounds and is_since(each, number, closed_at.get(number)) for each in asked)
    )


def is_since(request: Request, number: int, closed_at: str | None) -> bool:
    """Whether ``request`` came after people closed the pull request ``number``, which they may open and close again."""
    late = closed_at is not None and request.at is not None and utc(closed_at) > utc(request.at)
    return number <= (request.pull_request or 0) and not late


def in_effect(requests: Sequence[Request]) -> tuple[Request, ...]:
    """Those of ``requests`` that no later one contradicts: of to keep an entry and to suggest it, the last one.

    The other is noted all the same: it holds again once the last one is taken back.
    """
    last: dict[str, int] = {}
    for item in requests:
        if item.action in OPPOSITES:
            last[item.entry] = max(item.comment, last.get(item.entry, 0))
    return tuple(item for item in requests if item.action not in OPPOSITES or item.comment == last[item.entry])


def standing_refusals(record: SuggestionRecord, requests: RequestRecord | None) -> dict[str, Refusal | Request]:
    """The digest of grounds → what ``record`` refuses or ``requests`` keep, unless asked for again since."""
    standing = in_effect(() if requests is None else requests.requests)
    asked = [item for item in standing if item.action == "suggest"]
    found: dict[str, Refusal | Request] = {
        grounds: item
        for item in sorted(record.refusals, key=lambda item: item.pull_request)
        for grounds in still_refused(item, asked, {})
    }
    return found | {item.grounds: item for item in standing if item.action == "keep" and item.grounds is not None}
