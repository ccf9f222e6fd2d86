"""The effect of a tool by the verb in its name.

``docs/specification.md`` has the rules.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from incumbent.intake.specification import Effect


@dataclass(frozen=True, slots=True)
class EffectReason:
    """An effect with its reason in words.

    ``verb`` is the word of the name that decided it.  ``doubt`` describes a contradiction, if that is the only reason
    why the effect is unknown.
    """

    effect: Effect
    reason: str
    verb: str = ""
    doubt: str = ""


UNKNOWN_EFFECT: Final = EffectReason("unknown", "nothing declares it, and the name does not tell")


def words_in(text: str) -> frozenset[str]:
    """The set of words that a text lists."""
    return frozenset(text.split())


# Computing something from the input of a call changes nothing, and counts as reading.
READ_VERBS: Final = words_in("""
    get fetch retrieve find describe read list search query lookup view show browse count check calculate estimate
    compare preview download detect analyze analyse validate translate predict classify summarize summarise extract
    parse explain inspect recommend suggest diagnose
""")
WRITE_VERBS: Final = words_in("""
    create add update delete remove set write send submit cancel post put patch insert upsert upload append move
    rename enable disable assign unassign approve reject dismiss close reopen merge push fork star unstar
    unresolve mark manage edit modify change save replace publish unpublish archive unarchive restore
    reset clear start stop restart pause resume schedule reschedule book place buy purchase pay charge register
    unregister subscribe unsubscribe invite share revoke grant import sync deploy install uninstall provision
    reserve reply notify transfer complete attach detach lock unlock trigger enroll checkin checkout
    accept decline activate deactivate suspend refund renew terminate reboot block unblock freeze unfreeze
    regenerate rotate associate disassociate tag untag purge erase acknowledge apply confirm dispatch migrate
    destroy wipe toggle increment decrement withdraw overwrite truncate discard evict deduct redeem revert undo abort
    disconnect logout resend reassign recreate undelete unlink unpin unfollow invalidate
""")
# Verbs for changes that are as often a noun or part of a question (`run_query`, `issue_read`, `store_hours`).  A name
# that begins with one does not decide the effect, but is no evidence of reading either.
_DOUBTFUL_WRITE_VERBS: Final = words_in("""
    run execute store issue record order log credit debit drop email deposit launch claim flag ban
""")
# Verbs that write only if they are joined to another verb (`fetchAndStore`).
_JOINED_WRITE_VERBS: Final = words_in("run execute store email fix repair drop swap")
# Verbs that mostly compute or ask, but may change something (`convert` a price, or a lead into a customer).
ASKING_VERBS: Final = words_in("""
    filter sort match rank rerank score evaluate convert geocode ask compute render simulate forecast infer encode
    decode hash normalize tokenize transcribe embed solve aggregate
""")
# Phrasal verbs.
_PHRASAL_WRITE_VERBS: Final = frozenset({
    ("check", "in"), ("check", "out"), ("turn", "on"), ("turn", "off"), ("switch", "on"), ("switch", "off"),
    ("log", "out"), ("log", "off"), ("sign", "out"), ("shut", "down"), ("roll", "back"), ("opt", "in"), ("opt", "out"),
})  # fmt: skip
# Verbs that are as often a noun (`search_index_delete`, `list_create`, `place_details`).
_READ_NOUNS: Final = words_in("read list search query lookup view show browse count check preview download extract")
_WRITE_NOUNS: Final = words_in("""
    archive block book change charge deploy fork import lock place post refund schedule set star tag transfer
""")
# Words that are a verb even at the end of a name (`issue_read`, `label_write`).
_LAST_READ_VERBS: Final = words_in("""
    get list read search query find fetch lookup retrieve describe show validate diagnose analyze translate summarize
""")
_LAST_WRITE_VERBS: Final = words_in("""
    create add update upsert delete remove set write send submit cancel put patch insert append upload rename enable
    disable approve reject publish restart activate deactivate unregister unsubscribe revoke
""")
# Verbs that are hardly ever a noun or an adjective, so that they clearly say what a call does.
PLAIN_WRITE_VERBS: Final = words_in("""
    accept acknowledge activate add append approve assign attach cancel confirm create deactivate delete detach disable
    disassociate dismiss enable enroll erase insert install invite migrate modify notify publish purge reactivate reboot
    reject remove rename reopen reschedule restart restore revoke send submit subscribe suspend terminate unarchive
    unassign unblock uninstall unlock unpublish unregister unsubscribe untag update upsert write
    destroy wipe toggle increment decrement withdraw overwrite truncate discard evict deduct redeem disconnect logout
    resend reassign recreate undelete unlink unpin unfollow invalidate
""")
_PLAIN_READ_VERBS: Final = (READ_VERBS - _READ_NOUNS) | {"search", "query"}
# Nouns that are no object of these verbs: `updateHistory` and `publishDates` are nouns as a whole.
NO_OBJECTS: Final = words_in("history throughput latency date dates time times reason reasons")
_PHRASAL_VERBS: Final = _PHRASAL_WRITE_VERBS | {("look", "up")}
_PLAIN_PHRASAL_VERBS: Final = frozenset(" ".join(words) for words in _PHRASAL_WRITE_VERBS if words[0] != "check")
_CALLS: Final[tuple[tuple[frozenset[str], Effect], ...]] = (
    (WRITE_VERBS - _WRITE_NOUNS, "write"),
    (READ_VERBS - _READ_NOUNS | {"list", "search", "query"}, "read"),
)
# The end of a POST route that marks something as read, or counts a view.
_UNSURE_ALONE: Final = words_in("read view show check")
# A word right before one of these is not a verb, if it may be a noun.
_THINGS: Final = words_in("""
    data date detail details history info information log logs metadata names options reason report schema settings
    stats status statistics summary type types usage
""")
# Words that may precede the verb, without meaning for the effect.
_ADVERBS: Final = words_in("batch bulk")
MAX_PARTS: Final = 12
"""Of a long name, at most so many parts are read at the beginning and at the end."""
MAX_CHARACTERS_AT_EACH_END: Final = 1_000
"""Of a long name or part of a route, at most so many characters are read at the beginning and at the end."""


def shortened(name: str) -> str:
    """A name or a part of a route; only the beginning and the end of a long one."""
    ends = MAX_CHARACTERS_AT_EACH_END
    return name if len(name) <= 2 * ends else f"{name[:ends]}_{name[-ends:]}"


def effect_of_name(name: str) -> EffectReason:
    """The effect by the verb in a tool's ``name``.

    The verb is first (``listRepairs``), after a prefix (``jira_create_issue``), first in the last part
    (``Products_SearchProducts``) or last (``issue_read``).  A verb at the end overrides words that are as often a noun
    (``search_index_delete`` writes, ``book_search`` reads).  ``get_or_create_user`` writes.  The effect of a name
    without a well-known verb is ``unknown``.
    """
    name = shortened(name)
    parts = [part for text in re.split(r"[\W_]+", name) if (part := words_of(text))]
    words = [word for part in parts for word in part]
    for joint, verb in pairwise(words):
        if joint in ("or", "and", "then") and verb in WRITE_VERBS | _JOINED_WRITE_VERBS:
            return EffectReason("write", f"the name says '{joint} {verb}'", verb)
    # Everything before the last of these marks is a namespace: `drive.files.list`, `mcp__github__create_issue`.
    own = re.split(r"[./:]", name)[-1]
    for text in (own, own.split("__")[-1], name):
        decision = _effect_of_parts(
            _outer_parts([part for piece in re.split(r"[\W_]+", text) if (part := words_of(piece))])
        )
        if decision is not UNKNOWN_EFFECT:
            return decision
    return UNKNOWN_EFFECT


def says_plainly(decision: EffectReason) -> bool:
    """Whether the verb that decided the effect is hardly ever a noun."""
    return decision.verb in PLAIN_WRITE_VERBS | _PLAIN_READ_VERBS | _PLAIN_PHRASAL_VERBS


def words_of(text: str) -> list[str]:
    """The words of a name or a sentence, in lower case: ``listMyOrders`` → list, my, orders."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", shortened(text))]


def is_noun_of_reading(decision: EffectReason, name: str) -> bool:
    """Whether a name reads only because of its last word, which may be a noun: ``shoppingList``."""
    return decision.verb in _READ_NOUNS and own_words(name)[:1] != [decision.verb]


def own_words(name: str) -> list[str]:
    """The words of a name without its namespace and adverbs: ``documents.batchGet`` → get."""
    return [word for word in words_of(re.split(r"[./:]", name)[-1]) if word not in _ADVERBS]


def reads_alone(part: str) -> bool:
    """Whether a part of a route is a reading verb, not a noun: ``search``, ``getOrders``, but not ``mailing-list``."""
    words = own_words(part)
    if words == ["look", "up"]:
        return True
    if len(words) == 1:
        return words[0] in READ_VERBS - _UNSURE_ALONE
    # Words joined by hyphens may be a noun (`search-jobs`); words written as one are a name.
    known = READ_VERBS - _READ_NOUNS if re.search(r"[-_]", part) else READ_VERBS - _UNSURE_ALONE
    return bool(words) and words[0] in known and effect_of_name(part).effect == "read"


def begins_doubtfully(words: Sequence[str]) -> bool:
    """Whether a name begins with a verb that often changes something: ``recordView``, but not ``runQuery``."""
    is_query = words[:1] in (["run"], ["execute"]) and not {"query", "queries", "search"}.isdisjoint(words)
    return bool(words) and words[0] in _DOUBTFUL_WRITE_VERBS and not is_query


def _outer_parts(parts: list[list[str]]) -> list[list[str]]:
    """The first and the last parts of a name, so that the time is linear in its length."""
    return parts if len(parts) <= 2 * MAX_PARTS else parts[:MAX_PARTS] + parts[-MAX_PARTS:]


def _effect_of_parts(parts: list[list[str]]) -> EffectReason:
    parts = [plain for part in parts if (plain := [word for word in part if word not in _ADVERBS])]
    words = [word for part in parts for word in part]
    if not words:
        return UNKNOWN_EFFECT
    call = parts[-1]
    if len(parts) > 1 and len(parts[0]) > 1 and len(call) > 1 and not _is_thing(call):
        # `SendGrid_getStats`: a part written as one word is the name, so everything before it is a namespace.
        for verbs, effect in _CALLS:
            if call[0] in verbs:
                return EffectReason(effect, f"a part of the name begins with '{call[0]}'", call[0])
    if words[0] in READ_VERBS | WRITE_VERBS or tuple(words[:2]) in _PHRASAL_VERBS:
        return _effect_of_first(words)
    return _effect_inside(parts)


def _effect_of_first(words: list[str]) -> EffectReason:
    """The effect of a name that begins with a verb, or with a word that may be one."""
    first, last = words[0], words[-1]
    if tuple(words[:2]) in _PHRASAL_VERBS:
        verb = f"{first} {words[1]}"
        return EffectReason("read" if first == "look" else "write", f"the name begins with '{verb}'", verb)
    if first in _WRITE_NOUNS:
        if last in _LAST_READ_VERBS - {"list", "read"}:
            return EffectReason("read", f"the name ends with '{last}'", last)
        if _is_thing(words):
            return UNKNOWN_EFFECT
    if first in _READ_NOUNS and last in _LAST_WRITE_VERBS:
        return EffectReason("write", f"the name ends with '{last}'", last)
    if first in _READ_NOUNS and words[1:2] and words[1] in WRITE_VERBS - _WRITE_NOUNS:
        # `query-delete-all` deletes, `list_update_requests` lists.
        return UNKNOWN_EFFECT
    return EffectReason("write" if first in WRITE_VERBS else "read", f"the name begins with '{first}'", first)


def _effect_inside(parts: list[list[str]]) -> EffectReason:
    """The effect of a name that begins with something else, such as a prefix or its object."""
    last = parts[-1][-1]
    rests = [[word for part in parts[start:] for word in part] for start in range(1, len(parts))]
    for rest in (rest for rest in rests if len(rest) > 1 and not _is_thing(rest)):
        if rest[0] in WRITE_VERBS - _WRITE_NOUNS:
            return EffectReason("write", f"a part of the name begins with '{rest[0]}'", rest[0])
        if rest[0] in READ_VERBS - _READ_NOUNS:
            return EffectReason("read", f"a part of the name begins with '{rest[0]}'", rest[0])
    if last in _LAST_WRITE_VERBS:
        return EffectReason("write", f"the name ends with '{last}'", last)
    if last in _LAST_READ_VERBS:
        return EffectReason("read", f"the name ends with '{last}'", last)
    after = rests[0] if rests and not _is_thing(rests[0]) and last not in WRITE_VERBS else [""]
    if after[0] == "post":
        return EffectReason("write", "the name says 'post' after a prefix", "post")
    if after[0] in _READ_NOUNS:
        return EffectReason("read", f"the name says '{after[0]}' after a prefix", after[0])
    return UNKNOWN_EFFECT


def _is_thing(words: list[str]) -> bool:
    """Whether two words are a noun and not a call: ``place_details``, ``order_cancel_reason``."""
    return len(words) == 2 and words[1] in _THINGS and words[0] not in ("get", "set", "change")
