"""Which words of people still stand: those whose comment is there, by the same person, and still says so (pure).

The ledger says where something was said; the comment, read again, says what (architecture, section 4).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from bot.github.authority import Person, refusal
from bot.github.commands import Command, Verb, parse
from bot.github.judgement import Author, Judgement
from bot.github.values import IssueComment
from bot.ledger.keys import digest
from bot.ledger.model import Decision, Displayed, KnownName, PullRequestRecord, Release

ACTIONS = {Verb.ACCEPT: "accept", Verb.REJECT: "reject", Verb.PIN: "pin", Verb.UNPIN: "unpin"}
LONGEST_NAME = 1000
"""Characters of a word in which the ends of a range are looked for."""
_VERBS = {action: verb for verb, action in ACTIONS.items()}


@dataclass(frozen=True, kw_only=True)
class Court:
    """Everything that a hearing needs besides the comments; ``permission`` looks up a login's permission."""

    judge: Callable[[Sequence[Decision]], Judgement]
    displayed: dict[str, Displayed]
    author: Author
    curators: tuple[str, ...]
    permission: Callable[[str], str]

    def refusal(self, verb: Verb, comment: IssueComment) -> str | None:
        """Why the author of ``comment`` may not say ``verb``."""
        person = Person(login=comment.author, is_bot=comment.is_bot)
        return refusal(verb, person, self.author.login, self.curators, self.permission)


@dataclass(frozen=True, kw_only=True)
class Comments:
    """The comments of a pull request by id, and how its queries were called when each was read.

    ``present`` are the names of now; of former ones digests are left, which tell them where a comment writes them.
    """

    written: Mapping[int, IssueComment]
    present: tuple[str, ...]
    names: tuple[KnownName, ...]
    read: dict[int, list[tuple[Command, frozenset[str]]]] = field(default_factory=dict)

    def command(self, id: int, by: str, verb: Verb, entry: str | None, court: Court) -> tuple[Command, bool] | None:
        """The command ``verb`` on ``entry`` in the comment ``id`` and whether it names it, if it still counts."""
        comment = self.written.get(id)
        if comment is None or comment.author != by or court.refusal(verb, comment) is not None:
            return None
        said = [(item, entries) for item, entries in self._commands(comment) if item.verb is verb]
        named = [(item, True) for item, entries in said if entry in entries]
        every = [(item, False) for item, _ in said if entry is None or item.every]
        # The last word counts, and a name says more than `all`.
        return next(reversed(named or every), None)

    def _commands(self, comment: IssueComment) -> list[tuple[Command, frozenset[str]]]:
        """The commands of ``comment``, each with the entries that it names, by the names of its time."""
        if comment.id not in self.read:
            plain = {digest(name): name for name in (*_words(comment.body), *self.present)}
            known = {plain.get(item.name, item.name): item.entry for item in self.names if item.since < comment.id}
            self.read[comment.id] = [
                (item, frozenset(known[name] for name in item.names))
                for item in parse(comment.body, tuple(known))
                if isinstance(item, Command)
            ]
        return self.read[comment.id]

    def decision(self, item: Decision, court: Court) -> Decision | None:
        """``item`` as its comment says it; ``None`` if nobody wrote it, or it was taken back."""
        found = self.command(item.comment, item.by, _VERBS[item.action], item.entry, court)
        if found is None:
            return None
        command, named = found
        return item.model_copy(update={"reason": command.reason, "all": not named})

    def release(self, item: Release | None, court: Court) -> Release | None:
        """``item`` if its comment still says so."""
        if item is None or self.command(item.comment, item.by, Verb.RUN, None, court) is None:
            return None
        return item


def known_names(record: PullRequestRecord, judgement: Judgement, cursor: int) -> tuple[KnownName, ...]:
    """What the queries of a pull request are called, and were called while a decision on one of them is remembered.

    Names that are new came after the comment ``cursor``.  The order is that of the eval sets, in which ranges run;
    former names keep their place.
    """
    before = {(item.name, item.entry): item for item in record.names}
    present = [(digest(name), entry) for name, entry in judgement.entries.items()]
    names = [before.get(here) or KnownName(name=here[0], entry=here[1], since=cursor) for here in present]
    if not (record.decisions or record.void):
        return tuple(names)
    place = 0
    for here, item in before.items():
        if here in present:
            place = names.index(item) + 1
        else:
            names.insert(place, item)
            place += 1
    return tuple(names)


def _words(text: str) -> set[str]:
    """Whatever in ``text`` may be a name: what stands between spaces, commas or backticks, and the ends of ranges."""
    words = set(re.findall(r"[^\s,`]+", text)) | set(re.findall(r"`([^`]+)`", text))
    words |= {word.removesuffix(":") for word in words}
    for word in tuple(words):
        if len(word) <= LONGEST_NAME:
            words |= {part for cut in re.finditer(r"\.\.|-", word) for part in (word[: cut.start()], word[cut.end() :])}
    return words


def displayed_now(record: PullRequestRecord, marker: str | None, updated_at: str) -> dict[str, Displayed]:
    """What the comment displays, and since when: what the record was about to show, if the comment bears its digest.

    ``marker`` is the digest in the comment as found (``None``: there is no comment) and ``updated_at`` its time.
    """
    if marker is None:
        return {}
    showing = record.showing
    if showing is None or showing.digest != marker:
        return dict(record.displayed)
    found = {}
    for entry, shown in showing.verdicts.items():
        before = record.displayed.get(entry)
        same = before is not None and before.verdict == shown.verdict
        new = Displayed(verdict=shown.verdict, codes=shown.codes, since=updated_at)
        found[entry] = before if same and before is not None else new
    return found
