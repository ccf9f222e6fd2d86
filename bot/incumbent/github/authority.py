"""Who may give which command, and whose queries are trusted (pure)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final

from incumbent.github.commands import Verb
from incumbent.github.models import PullRequest
from incumbent.ledger.people import GHOST, is_bot

_DECISIONS: Final = frozenset(set(Verb) - {Verb.RUN, Verb.HELP})
UNKNOWN_PERMISSION: Final = "untold"
"""In the place of a permission that the token may not look up."""
NO_PERMISSION: Final = "none"
_WRITERS: Final = frozenset({"write", "maintain", "admin"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """The account of a comment; for a deleted one GitHub gives none, or ``ghost``."""

    login: str | None
    is_bot: bool


@dataclass(frozen=True, kw_only=True)
class Author:
    """Who opened the pull request, and their ``permission`` on the repository as looked up."""

    login: str
    permission: str


UNKNOWN_AUTHOR: Final = Author(login="", permission=NO_PERMISSION)


@dataclass(frozen=True, kw_only=True)
class CoAuthors:
    """Who counts as an author of a pull request beside who opened it, as logins in lower case.

    ``commits`` looks up who made its commits (``None``: not all are known); ``elsewhere`` looks up, for the digest of a
    text, who brings it in another open pull request.  Both are asked only about people who may decide otherwise.
    """

    commits: Callable[[], Collection[str] | None]
    elsewhere: Callable[[str], Collection[str]]


NO_CO_AUTHORS: Final = CoAuthors(commits=tuple, elsewhere=lambda _: ())


def may_write(permission: str) -> bool:
    """Whether ``permission`` allows to write to the repository; an unknown one does not."""
    return permission.casefold() in _WRITERS


def author_permission(login: str, association: str, permission: Callable[[str], str]) -> str:
    """The permission of a pull request's author on the repository; ``permission`` looks it up if needed.

    GitHub's ``association`` is proof only for the owner: collaborators and members may have no right to write, and
    members whose membership is private appear as outsiders.
    """
    if login.casefold() in {"", GHOST} or is_bot(login):
        return NO_PERMISSION
    return "admin" if association == "OWNER" else permission(login)


def author_of(pull: PullRequest, permission: Callable[[str], str]) -> Author:
    """Who opened ``pull``; ``permission`` looks up the permission of a login."""
    return Author(login=pull.author, permission=author_permission(pull.author, pull.association, permission))


@dataclass(frozen=True, kw_only=True)
class Authority:
    """Who may give commands: the configured ``curators`` (logins), or everyone with write permission if there are none.

    ``permission`` looks the permission of a login up (``none``, ``read``, ``triage``, ``write``, ``maintain``,
    ``admin``, or :data:`UNKNOWN_PERMISSION`).  Logins are compared without regard to case.
    """

    curators: Collection[str]
    permission: Callable[[str], str]

    def refusal(
        self,
        verb: Verb,
        person: Person,
        pull_request_author: str | None,
        commit_authors: Callable[[], Collection[str] | None] = tuple,
    ) -> str | None:
        """Why ``person`` may not use the command ``verb``, as a sentence for a reply; ``None`` if they may.

        A permission is looked up at most once, and only if nothing else decides; so are ``commit_authors``, as
        :class:`CoAuthors` has them.  What that raises is passed on.
        """
        written = person.login or ""
        login = written.casefold()
        if login in {"", GHOST}:
            return "The account that wrote this does not exist any more, so its rights are unknown."
        if person.is_bot or is_bot(login):
            return "Bots cannot give commands; a person has to."
        if verb is Verb.HELP:
            return None
        if verb in _DECISIONS and login == (pull_request_author or "").casefold():
            return f"The author of a pull request cannot {verb} their own queries; another curator has to."
        why = self._without_permission(verb, written)
        if why is not None or verb not in _DECISIONS:
            return why
        authors = commit_authors()
        if authors is None:
            return (
                "GitHub does not list all commits of this pull request, so its authors are unknown: squash them, or "
                "open another one."
            )
        if login in authors:
            return f"You made a commit of this pull request, so another curator has to {verb}."
        return None

    def _without_permission(self, verb: Verb, login: str) -> str | None:
        """Why ``login`` is no curator."""
        if self.curators:
            if login.casefold() in {curator.casefold() for curator in self.curators}:
                return None
            return f"Only curators may say {verb}, and you are not among the curators in config/curation.yaml."
        found = self.permission(login).casefold()
        if may_write(found):
            return None
        if found == UNKNOWN_PERMISSION:
            return "This token may not look up your permission here: name the curators in config/curation.yaml."
        return f"Only curators may say {verb}: here, people who may write to this repository, and you may not."
