"""Looks up who counts as an author of a pull request beside who opened it."""

from __future__ import annotations

from functools import cache

from bot.git import CommitSnapshot
from bot.github.authority import CoAuthors
from bot.github.client import GitHubClient
from bot.github.git_state import records_of


def co_authors_of(number: int, ledger: CommitSnapshot | None, github: GitHubClient) -> CoAuthors:
    """Who else counts as an author of the pull request ``number``, each asked at most once.

    The ledger's records tell which pull requests bring a text, GitHub which of them are open and who made their
    commits.
    """

    @cache
    def elsewhere(text: str) -> frozenset[str]:
        found: set[str] = set()
        for other, record in records_of(ledger).items():
            if other == number or record.merged is not None or text not in record.texts.values():
                continue
            pull = github.find_pull_request(other)
            if pull is not None and not pull.closed:
                # Of more commits than GitHub lists, who opened it has to do.
                found |= {pull.author.casefold(), *(github.commit_authors(other) or ())}
        return frozenset(found)

    return CoAuthors(commits=cache(lambda: github.commit_authors(number)), elsewhere=elsewhere)
