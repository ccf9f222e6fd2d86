"""Looks up who counts as an author of a pull request beside who opened it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache

from incumbent.files.git import CommitSnapshot
from incumbent.github.authority import CoAuthors
from incumbent.github.client import GitHubClient
from incumbent.github.git_state import records_of
from incumbent.text.compare import text_key
from incumbent.text.digests import digest


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
            # One that was merged counts until reconcile has taken it in.
            if pull is not None and (not pull.closed or pull.merge is not None):
                # Names in commits would let anybody keep curators from deciding about what others bring.
                found |= {pull.author.casefold(), *(github.commit_authors(other, proven=True) or ())}
        return frozenset(found)

    return CoAuthors(commits=cache(lambda: github.commit_authors(number)), elsewhere=elsewhere)


def bringing(
    texts: Iterable[Sequence[str]], wanted: Collection[str], ledger: CommitSnapshot | None, github: GitHubClient
) -> Callable[[int, str], frozenset[str]]:
    """Who brings a text in another open pull request than one with a number, for corrections.

    ``texts`` are the turns of all that are known, ``wanted`` the keys of those that may be asked about.
    """
    digests: dict[str, set[str]] = {}
    for turns in texts:
        key = text_key(turns)
        if key in wanted:
            digests.setdefault(key, set()).add(digest(list(turns)))
    of = cache(lambda number: co_authors_of(number, ledger, github))

    def found(number: int, key: str) -> frozenset[str]:
        return frozenset(login for text in digests.get(key, ()) for login in of(number).elsewhere(text))

    return found
