"""What the name of a tool says of its effect: the verb in it, wherever names put one.

The rules are written out in ``docs/specification.md``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from bot.intake.specification import Effect


@dataclass(frozen=True, slots=True)
class Decision:
    """An effect and the reason for it, in words for people.

    ``verb`` is the word of a name that it rests on.  ``doubt`` says what contradicts what, where the effect is unknown
    for that reason alone.
    """

    effect: Effect
    reason: str
    verb: str = ""
    doubt: str = ""


UNTOLD: Final = Decision("unknown", "nothing declares it, and the name does not tell")


def _verbs(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Computing something from what a call brings changes nothing, and is reading.
READ_VERBS: Final = _verbs("""
    get fetch retrieve find describe read list search query lookup view show browse count check calculate estimate
    compare preview download detect analyze analyse validate translate predict classify summarize summarise extract
    parse explain inspect recommend suggest diagnose
""")
WRITE_VERBS: Final = _verbs("""
    create add update delete remove set write send submit cancel post put patch insert upsert upload append move
    rename enable disable assign unassign approve reject dismiss close reopen merge push fork star unstar
    unresolve mark manage edit modify change save replace publish unpublish archive unarchive restore
    reset clear start stop restart pause resume schedule reschedule book place buy purchase pay charge register
    unregister subscribe unsubscribe invite share revoke grant import sync deploy install uninstall provision
    reserve reply notify transfer complete attach detach lock unlock trigger enroll checkin checkout
    accept decline activate deactivate suspend refund renew terminate reboot block unblock freeze unfreeze
    regenerate rotate associate disassociate tag untag purge erase acknowledge apply confirm dispatch migrate
""")
# Of these, the ones that are as often a thing (`search_index_delete`, `list_create`, `place_details`).
_READ_NOUNS: Final = _verbs("read list search query lookup view show browse count check preview download extract")
_WRITE_NOUNS: Final = _verbs("""
    archive block book change charge deploy fork import lock place post refund schedule set star tag transfer
""")
# Words that are a verb even where they end a name (`issue_read`, `label_write`).
_LAST_READ_VERBS: Final = _verbs("""
    get list read search query find fetch lookup retrieve describe show validate diagnose analyze translate summarize
""")
_LAST_WRITE_VERBS: Final = _verbs("""
    create add update upsert delete remove set write send submit cancel put patch insert append upload rename enable
    disable approve reject publish restart activate deactivate unregister unsubscribe revoke
""")
# Of the verbs, those that are hardly ever a thing or a quality: they say plainly what a call does.
PLAIN_WRITE_VERBS: Final = _verbs("""
    accept acknowledge activate add append approve assign attach cancel confirm create deactivate delete detach disable
    disassociate dismiss enable enroll erase insert install invite migrate modify notify publish purge reactivate reboot
    reject remove rename reopen reschedule restart restore revoke save send submit subscribe suspend terminate unarchive
    unassign unblock uninstall unlock unpublish unregister unsubscribe untag update upsert write
""")
_PLAIN_READ_VERBS: Final = (READ_VERBS - _READ_NOUNS) | {"search", "query"}
# What stands right before one of these, and may be a thing, is no verb.
THINGS: Final = _verbs("""
    data date detail details history info information log logs metadata names options reason report schema settings
    stats status statistics summary type types usage
""")
# What may stand before the verb, and says nothing of the effect.
_ADVERBS: Final = _verbs("batch bulk")


def effect_of_name(name: str) -> Decision:
    """The effect that the verb of a tool's ``name`` tells.

    The verb stands first (``listRepairs``), after a prefix (``jira_create_issue``), first in the last part
    (``Products_SearchProducts``) or last (``issue_read``).  Words that are as often a thing yield to a verb at the end
    (``search_index_delete`` writes, ``book_search`` reads), ``get_or_create_user`` writes, and a name without a
    well-known verb is ``unknown``.
    """
    parts = [part for text in re.split(r"[\W_]+", name) if (part := words_of(text))]
    words = [word for part in parts for word in part]
    for joint, verb in pairwise(words):
        if joint in ("or", "and", "then") and verb in WRITE_VERBS:
            return Decision("write", f"the name says '{joint} {verb}'", verb)
    # What stands before the last of these marks is a namespace: `drive.files.list`, `mcp__github__create_issue`.
    own = re.split(r"[./:]", name)[-1]
    for text in (own, own.split("__")[-1], name):
        decision = _told_by([part for piece in re.split(r"[\W_]+", text) if (part := words_of(piece))])
        if decision is not UNTOLD:
            return decision
    return UNTOLD


def says_plainly(decision: Decision) -> bool:
    """Whether the verb of a name that decides its effect is hardly ever a thing."""
    return decision.verb in PLAIN_WRITE_VERBS | _PLAIN_READ_VERBS


def words_of(text: str) -> list[str]:
    """The words of a name or a sentence, in lower case: ``listMyOrders`` → list, my, orders."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", text)]


def _told_by(parts: list[list[str]]) -> Decision:
    parts = [plain for part in parts if (plain := [word for word in part if word not in _ADVERBS])]
    words = [word for part in parts for word in part]
    if not words:
        return UNTOLD
    if words[0] in READ_VERBS | WRITE_VERBS or words[:2] == ["look", "up"]:
        return _told_by_first(words)
    return _told_inside(parts)


def _told_by_first(words: list[str]) -> Decision:
    """What a name says that begins with a verb, or with a word that may be one."""
    first, last = words[0], words[-1]
    if words[:2] in (["look", "up"], ["check", "in"], ["check", "out"]):
        return Decision("read" if first == "look" else "write", f"the name begins with '{first} {words[1]}'", first)
    if first in _WRITE_NOUNS:
        if last in _LAST_READ_VERBS - {"list", "read"}:
            return Decision("read", f"the name ends with '{last}'", last)
        if _is_thing(words):
            return UNTOLD
    if first in _READ_NOUNS and last in _LAST_WRITE_VERBS:
        return Decision("write", f"the name ends with '{last}'", last)
    if first in _READ_NOUNS and words[1:2] and words[1] in WRITE_VERBS - _WRITE_NOUNS:
        # `query-delete-all` deletes, `list_update_requests` lists.
        return UNTOLD
    return Decision("write" if first in WRITE_VERBS else "read", f"the name begins with '{first}'", first)


def _told_inside(parts: list[list[str]]) -> Decision:
    """What a name says that begins with something else: with a prefix, or with the thing that it is about."""
    last = parts[-1][-1]
    rests = [[word for part in parts[start:] for word in part] for start in range(1, len(parts))]
    for rest in (rest for rest in rests if len(rest) > 1 and not _is_thing(rest)):
        if rest[0] in WRITE_VERBS - _WRITE_NOUNS:
            return Decision("write", f"a part of the name begins with '{rest[0]}'", rest[0])
        if rest[0] in READ_VERBS - _READ_NOUNS:
            return Decision("read", f"a part of the name begins with '{rest[0]}'", rest[0])
    if last in _LAST_WRITE_VERBS:
        return Decision("write", f"the name ends with '{last}'", last)
    if last in _LAST_READ_VERBS:
        return Decision("read", f"the name ends with '{last}'", last)
    after = rests[0] if rests and not _is_thing(rests[0]) and last not in WRITE_VERBS else [""]
    if after[0] == "post":
        return Decision("write", "the name says 'post' after a prefix", "post")
    if after[0] in _READ_NOUNS:
        return Decision("read", f"the name says '{after[0]}' after a prefix", after[0])
    return UNTOLD


def _is_thing(words: list[str]) -> bool:
    """Whether two words name a thing and not a call: ``place_details``, ``order_cancel_reason``."""
    return len(words) == 2 and words[1] in THINGS and words[0] not in ("get", "set", "change")
