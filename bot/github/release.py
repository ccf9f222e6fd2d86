"""Whether a pull request's data may cost model calls before a curator has looked at it.

Each fact is looked up on GitHub once, and only if the answer depends on it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from bot.config import Curation
from bot.github.authority import Person, author_permission, may_write, refusal
from bot.github.client import GitHubClient, RefusedError
from bot.github.commands import Command, Verb, parse
from bot.github.events import Event
from bot.github.models import IssueComment
from bot.ledger.model import PullRequestRecord

CONTRIBUTED = "CONTRIBUTOR"
"""GitHub's association of someone who has committed to the repository and has no other role."""
UNCLEAR = frozenset({"COLLABORATOR", "MEMBER"})
"""Associations that hide whether someone has committed before."""


@dataclass(frozen=True, kw_only=True)
class ReleaseInputs:
    """The pull request of ``event`` and its author; ``record`` is the ledger's record of it.

    What the token may not look up counts as missing: a curator has to release it.
    """

    event: Event
    config: Curation
    record: PullRequestRecord | None
    github: Callable[[], GitHubClient]

    @cached_property
    def is_vouched(self) -> bool:
        """Whether a person with write permission opened, pushed or released it."""
        event = self.event
        if event.pull_request is None:
            return False
        known = event.inside or event.author.casefold() in {login.casefold() for login in self.config.trusted_authors}
        return (
            known
            or (self.record is not None and self.record.released is not None)
            or may_write(author_permission(event.author, event.association, self.github().permission))
            or any(map(self._releases, self._comments(event.pull_request)))
        )

    @property
    def is_held(self) -> bool:
        """Whether it is a first contribution that waits for a curator."""
        config = self.config
        if config.mode == "observe" or not config.hold_first_time_contributors or self.event.pull_request is None:
            return False
        return self._is_first and not self.is_vouched

    @property
    def _is_first(self) -> bool:
        event = self.event
        if event.association in UNCLEAR:
            return not self.github().has_committed(event.author)
        return event.association != CONTRIBUTED

    def _comments(self, number: int) -> tuple[IssueComment, ...]:
        try:
            return self.github().said_on(number)
        except RefusedError:
            return ()

    def _releases(self, comment: IssueComment) -> bool:
        """Whether ``comment`` is a curator's `/incumbent run`, by the same rules as in the publish job."""
        if comment.is_edited or not any(
            isinstance(item, Command) and item.verb is Verb.RUN for item in parse(comment.body, ())
        ):
            return False
        person = Person(login=comment.author, is_bot=comment.is_bot)
        return refusal(Verb.RUN, person, None, self.config.curators, self.github().permission) is None
