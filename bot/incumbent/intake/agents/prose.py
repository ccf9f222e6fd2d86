"""Whether the summary or description of an operation says that it changes something, or that it only answers.

Only clear statements count: in the first sentence, or in unambiguous words.  The verbs are English; texts in other
languages decide nothing.  ``docs/specification.md`` has the rules.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import Final

from incumbent.intake.agents.name_effects import (
    ASKING_VERBS,
    DOUBTFUL_WRITE_VERBS,
    NO_OBJECTS,
    PHRASAL_WRITE_VERBS,
    PLAIN_IN_THIRD_PERSON,
    PLAIN_WRITE_VERBS,
    READ_VERBS,
    THINGS,
    WRITE_VERBS,
    words_in,
    words_of,
)

MAX_CHARACTERS: Final = 2_000
"""Only so many characters of a text are read."""
MAX_LABEL_WORDS: Final = 3
"""Maximum number of words of a label before the first sentence (“Admin only:”)."""


def _forms(verb: str) -> tuple[str, ...]:
    """The forms of a verb at the beginning of a sentence: cancel, cancels, canceling, cancelling."""
    third = f"{verb[:-1]}ies" if re.search(r"[^aeo]y$", verb) else f"{verb}s"
    stem = verb[:-1] if verb.endswith("e") else verb
    return (verb, third, f"{verb}es", f"{stem}ing", f"{stem}{stem[-1]}ing")


def _participles(verb: str) -> tuple[str, ...]:
    """The possible participles of a regular verb: created, added, cancelled, applied."""
    return (f"{verb}d", f"{verb}ed", f"{verb}{verb[-1]}ed", f"{verb[:-1]}ied")


_ALL_CHANGES: Final = {form: verb for verb in sorted(WRITE_VERBS | DOUBTFUL_WRITE_VERBS) for form in _forms(verb)}
_OTHER_READS: Final = frozenset({"answer", "compute", "return"})
# “Used by workers to tell the service that …” is not an answer, “Tells where a ship is” is one.
_READS: Final = {form: verb for verb in sorted(READ_VERBS | _OTHER_READS) for form in _forms(verb)} | {"tells": "tell"}
_ASKS: Final = {form: verb for verb in sorted(ASKING_VERBS) for form in _forms(verb)}
_PHRASAL: Final = {form: verb for verb, _ in sorted(PHRASAL_WRITE_VERBS) for form in _forms(verb)}
_VAGUE: Final = frozenset({"accept", "apply", "complete", "manage", "put"})
"""Verbs that descriptions also use for calls that only answer: “Applies the filter and returns …”."""
_CHANGES: Final = {form: verb for form, verb in _ALL_CHANGES.items() if verb in PLAIN_WRITE_VERBS - _VAGUE}
_CHANGES_IN_THIRD: Final = frozenset(form for verb in PLAIN_IN_THIRD_PERSON for form in _forms(verb)[1:3])
_MARKS: Final = frozenset(_forms("mark"))
_MAYBE_CHANGES: Final = {form: verb for form, verb in _ALL_CHANGES.items() if verb not in PLAIN_WRITE_VERBS | _VAGUE}
_CHANGED: Final = frozenset(participle for verb in PLAIN_WRITE_VERBS for participle in _participles(verb)) | words_in(
    "new sent stored saved placed booked uploaded registered"
)
"""Participles for the result of a change: “Returns the created order”."""
_WEAK: Final = frozenset({"return"})
"""Verbs that describe the answer of any call, also of a change."""
_WEAK_WITH_CHANGE: Final = frozenset({"list", "check", "show", "shows", "view", "read"})
"""Verbs also used for calls that are named after a change: “Shows a notification”, “Read the comment and add it”."""

_BASE_FORMS: Final = frozenset(_ALL_CHANGES.values()) | frozenset(_READS.values())

# Words of a sentence before its verb.
_CALL: Final = r"(?:endpoint|operation|method|call|function|api|tool|action|service|route|request|resource)"
_LEAD: Final = re.compile(
    r"(?:\[[^\[\]]{0,80}\]|\([^()]{0,80}\)|\d{1,3}\b|\W)\s*"
    rf"|(?:use|call|invoke|run|execute) (?:this|it|the)(?: {_CALL})? (?:to|for) "
    r"|(?:(?:is|are|can be) )?(?:used|called|invoked|needed|meant|intended|designed)"
    r"(?: by(?: \w+){1,4}?)? (?:to|for) "
    rf"|(?:this|the|an?) (?:\w+ )?{_CALL} (?:(?:can be|is) used (?:to|for) |to |that |which )?"
    rf"|(?:{_CALL} (?:to|for|that|which)|responsible for) "
    rf"|(?:by )?calling (?:this|it|the)(?: {_CALL})?,? (?:you )?"
    r"|(?:this|it) (?=(?:also|only|just|simply|merely|will|can|permanently|\w+s)\b)"
    r"|(?:lets?|helps?) (?:you|(?:an? |the )?\w+) (?:to )?|(?:will|please|attempts to|tries to) "
    r"|provides? (?:a |an |the )?(?:way|ability|means|option) (?:to|of) "
    r"|for \w+(?: \w+)?, ",
    re.IGNORECASE,
)
MAX_LEADS: Final = 5
"""Maximum number of leads that are skipped before a sentence (“[Admin only] This endpoint will …”)."""
_MARKERS: Final = words_in("""
    admin admins alpha attention beta caution danger deprecated experimental important internal legacy note obsolete
    only preview private public restricted unstable use v warning
""")
"""Labels that may precede a separate sentence: “Deprecated. Deletes …”."""
_LATER: Final = re.compile(
    r"(?:(?:additionally|in addition|furthermore|moreover|finally|afterwards|as a side effect),? )?"
    rf"(?:(?:please )?note that )?(?:(?:this(?: {_CALL})?|calling (?:this|it)(?: {_CALL})?"
    r"|the (?:endpoint|operation|method|call|request)|doing so)(?: will)? "
    r"|(?:it|and|will) (?=also|then|automatically)|(?=(?:also|then) ))"
    r"(?:(?:also|then|automatically|immediately|permanently) ){0,2}",
    re.IGNORECASE,
)
"""The beginning of a later sentence about the call."""
_ENABLING: Final = frozenset({"allow", "allows", "enable", "enables"})
"""Verbs before *to*: “Allows an administrator to find …” means find."""
_REACH: Final = 10
"""Maximum number of words up to that *to*."""
_PASSED_OVER: Final = frozenset({"batch", "bulk", "soft", "hard", "also", "then"})
_DETERMINERS: Final = frozenset(
    {"a", "an", "the", "this", "that", "these", "those", "its", "their", "your", "one", "new", "all", "any", "every"}
)
_CLEAR_DETERMINERS: Final = _DETERMINERS - {"that", "those"}
"""After these, the third person of a verb for a change is clear; “issues that match” is a noun."""
_RELATIVES: Final = frozenset({"that", "which", "who"})
_PRONOUNS: Final = frozenset({"it", "them"})
_NONE: Final = frozenset({"no", "nothing", "none", "neither"})
_OF: Final = frozenset({"of", "for", "from", "in", "on", "by", "about", "at", "since"})
"""Words after a noun: “Updates of an order” is not a change."""
_AFTER_THING: Final = _OF | words_in("""
    to with between within per that which available pending sent made received needed required is are was were can may
    will must should has have held
""")
"""Words that follow a noun, not a verb: “Updates available for …”, “Delete markers are …”."""
_FINITE: Final = frozenset({"is", "are", "was", "were", "can", "may", "will", "must", "should", "has", "have"})
_OWNED: Final = frozenset({"has", "have", "holds", "hold", "owns", "own", "made", "received", "can", "may", "sent"})
"""Words at the end of a relative clause: “Locks a user holds”."""
_CLAUSES: Final = frozenset({"to", "that", "which", "who", "you", "when", "if", "needed", "used", "while", "can"})
"""Words that begin another clause, whose verbs do not describe the call."""
_ASKED: Final = re.compile(
    r"\b(?:search|query|queries|question|prompt|lookup|read only|(?:get|http|https|api|rest|read|graphql) requests?)\b",
    re.IGNORECASE,
)
"""Sending or creating one of these is a question, not a change."""
_ASKING: Final = frozenset({"create", "send", "submit", "insert"})
_ADVICE: Final = re.compile(
    r"\w+ [^.]{0,60}?(?:\b(?:filters?|limit|offset|page|cursor|fields?|headers?|option|flag|body)\b|[?&={}])[^.]{0,40}?"
    r" to (?:get|list|find|see|show|narrow|page|paginate|limit|restrict|include|exclude|expand|filter|sort|receive"
    r"|retrieve|reduce|return|fetch|view|search|specify|control)\b"
    r"|\w+ [^.]{0,40}?\b(?:param|params|parameters?|query string)\b",
    re.IGNORECASE,
)
"""An imperative about the use of the call: “Set the limit parameter to page through orders”."""
_NOMINAL: Final = re.compile(
    r"(?:trigger|perform|request|initiate|start|cause|force)(?:s|ing)? (?:a |an |the )?(?:\w+ )?"
    r"(deletion|removal|cancellation|creation|deactivation|activation|termination|delete|reset) of\b",
    re.IGNORECASE,
)
"""“Triggers the deletion of an account”."""
_TO: Final = re.compile(rf"to (\w+) [^.]{{1,60}}, (?:call|use|invoke) (?:this|it)(?: {_CALL})?$", re.IGNORECASE)
"""“To delete an account, call this”."""
_FORM: Final = re.compile(
    r"\b(?:the|an?) (?:\w+ ){0,3}(?:form|page|template|screen|dialog|wizard) (?:for|to|that|used|where)\b",
    re.IGNORECASE,
)
_ONLY: Final = re.compile(
    r"(?:only|just|simply|merely) (?:returns?|reads?|answers?|responds?|calculates?|computes?|looks? up|search(?:es)?"
    r"|lists?|retrieves?|shows?|gets?|fetch(?:es)?|finds?|validates?|checks?|estimates?|previews?)\b",
    re.IGNORECASE,
)
_ONLY_LATER: Final = re.compile(
    rf"(?:this|it|the)(?: {_CALL})? (?:only|just|simply|merely) "
    r"(?:reads?|answers?|calculates?|computes?|looks? up|search(?:es)?|validates?|estimates?|previews?)\b",
    re.IGNORECASE,
)
_UNQUALIFIED: Final = r"(?=\W*$|[,;:)]| (?:and|or|so|by|anywhere|permanently|to disk|in the (?:database|system))\b)"
_DATA: Final = r"(?:data|state|records?|resources?|database|information)"
_THING: Final = rf"(?:anything|(?:any |the )?{_DATA})\b{_UNQUALIFIED}"
_CHANGE: Final = r"(?:change|modify|alter|affect|create|update|persist|store|save|write|touch|mutate)"
_CHANGES_IT: Final = (
    r"(?:changes|modifies|alters|affects|creates|updates|deletes|persists|stores|saves|writes|sends|touches)"
)
_DONE: Final = r"(?:changed|modified|altered|created|updated|deleted|persisted|stored|saved|written|sent)"
_UNCHANGED: Final = re.compile(
    r"\bread[- ]only (?:operation|call|endpoint|method|request|action|query|tool|api)\b|^\W*read[- ]only\b"
    rf"|\b(?:{_CALL}|this|it) is read[- ]only\b|\b(?:no|without(?: any)?|free of) side[- ]effects?\b"
    rf"|\b(?:does|will|would|wo)(?: not|n['’]t) {_CHANGE} {_THING}"
    r"|\b(?:does|will|would|wo)(?: not|n['’]t) (?:create|delete) anything(?=\W*$)"
    r"|\b(?:does|will|would|wo)(?: not|n['’]t) (?:change|modify|alter|affect) (?:the|your) \w+(?=\W*$)"
    r"|\b(?:does|will|wo)(?: not|n['’]t) make (?:any )?changes\b(?! (?:in|on|for)\b)"
    rf"|\bnever {_CHANGES_IT} {_THING}"
    rf"|\bwithout (?:changing|modifying|altering|creating|updating|deleting|persisting|storing|saving|writing) {_THING}"
    rf"|\bnothing (?:is|gets|will be) (?:ever |actually )?{_DONE}\b{_UNQUALIFIED}"
    rf"|\bno (?:changes?|modifications?|{_DATA}) (?:is|are|gets?|will be) (?:ever |actually )?(?:made|{_DONE})\b"
    r"(?! (?:in|on|for|until|at|from|with|outside|to (?:the |any )?(?:others?|existing))\b)"
    rf"|\b(?:makes|making|causes) no changes?\b(?! (?:in|on|for)\b)|\b{_CHANGES_IT} nothing\b{_UNQUALIFIED}"
    r"|^(?:the|this|it)(?: \w+){0,2} (?:is|are) (?:not|never) (?:stored|saved|persisted)(?=\W*$)",
    re.IGNORECASE,
)
_WEAKLY_UNCHANGED: Final = re.compile(
    rf"(?:change|modify|alter|affect) the (?!{_DATA}$)\w+$|(?:is|are) (?:not|never) \w+$", re.IGNORECASE
)
"""Also used for calls that change something else: “Renames a file. Does not change the folder.”"""
_CONDITION: Final = re.compile(
    r"\b(?:if|when|whenever|unless|until|otherwise|once|while|where|in case|already|mode|true|false|default"
    r"|(?:in|during|for|with|on) (?:a |the )?(?:dry|test|sandbox)\b)",
    re.IGNORECASE,
)
"""A condition: the statement does not apply to every call."""


def stated_change(prose: str) -> str:
    """The verb with which a text clearly says that something is changed; empty if there is none.

    The verb begins the first sentence, or follows *and*, *or* or *then* in it, with an object (“and marks it as read”).
    A verb that is as often a noun needs an object after it: “Books a table”, but not “Books by author”.  A later
    sentence counts if it is about the call in the third person (“Also deletes …”, “This call resets …”).
    """
    first, later = _sentences(prose)
    return _changed_first(first) or next((verb for sentence in later if (verb := _changed_later(sentence))), "")


def stated_answer(prose: str) -> str:
    """The words with which a text says that a call only answers; empty if it does not.

    The first sentence begins with a reading verb, in base form or third person, and joins no writing verb to it.
    """
    if said := stated_only(prose):
        return said
    words = _from_verb(_sentences(prose)[0])
    if words[:2] in (["look", "up"], ["looks", "up"]):
        return f"{words[0]} up"
    if not words or words[0] not in _READS:
        return ""
    moved = _READS[words[0]] == "check" and words[1:2] in (["in"], ["out"])
    made = (_READS[words[0]] in _WEAK and _names_result(words)) or _offers(words)
    return "" if _joins_change(words) or moved or made else words[0]


def stated_only(prose: str) -> str:
    """The words with which a text says explicitly that nothing is changed, or that a call only answers; or empty.

    Statements under a condition do not count: “If the item exists, nothing is changed”.
    """
    found = _ONLY.match(_sentences(prose)[0])
    for sentence in re.split(r"(?<=[.!?;])\s+|\n\s*\n", _plain(prose)):
        if found is None and not _CONDITION.search(sentence):
            found = _UNCHANGED.search(sentence.rstrip(" .!?;")) or _ONLY_LATER.match(sentence.strip())
    return " ".join(found.group().split()) if found else ""


def stated_asking(prose: str) -> str:
    """The words with which a text says that a call computes or asks, possibly nothing more; empty if it does not.

    “Filters the tickets”, “Executes a query”.
    """
    words = _from_verb(_sentences(prose)[0])
    if words and words[0] in _ASKS and not _joins_change(words):
        return words[0]
    runs = bool(words) and _ALL_CHANGES.get(words[0]) in ("run", "execute")
    asked = next((word for word in words[1:5] if word in ("query", "queries", "search", "searches")), "")
    return f"{words[0]} … {asked}" if runs and asked and not _changed_first(_sentences(prose)[0]) else ""


def names_form(prose: str) -> bool:
    """Whether a text says that a call answers with an input form: “Shows the form for creating an order”."""
    return bool(stated_answer(prose)) and _FORM.search(_sentences(prose)[0]) is not None


def names_thing(prose: str, verb: str) -> bool:
    """Whether a text uses the word ``verb`` in a noun: “The cancel policy”."""
    first = _sentences(prose)[0]
    return re.search(rf"\b(?:the|an?|its|their|your|this) {re.escape(verb)} \w+", first, re.IGNORECASE) is not None


def is_weak(said: str) -> bool:
    """Whether the words of :func:`stated_answer` may also describe a change (“returns”)."""
    return _READS.get(said, "") in _WEAK


def is_weak_with_change(said: str) -> bool:
    """Whether the words of :func:`stated_answer` may also describe a call that is named after a change."""
    return is_weak(said) or said in _WEAK_WITH_CHANGE or _WEAKLY_UNCHANGED.search(said) is not None


def _plain(prose: str) -> str:
    """The beginning of a text without markup."""
    return re.sub(r"<[^<>]*>|[*_`#]+", " ", prose[:MAX_CHARACTERS]).strip()


def _sentences(prose: str) -> tuple[str, list[str]]:
    """The first sentence of a text without the words before its verb (“This endpoint …”), and the later ones.

    A label (“Admin:”, “1.”) is not a sentence.  A sentence after a label must be in the third person, unless the label
    is well-known: “Orders. Cancel one by DELETE” says nothing about the call.
    """
    pieces = re.split(r"(?<![.:;!?])[.:;!?]+(?:\s+|$)|\n\s*\n|(?<!\s)\s+[-–—]+\s+", _plain(prose))
    sentences = [" ".join(piece.split()) for piece in pieces if piece.strip()]
    start, marked = 0, True
    while start < len(sentences) - 1 and _is_label(words := words_of(sentences[start])):
        marked = marked and all(word in _MARKERS or word.isdigit() for word in words)
        start += 1
    if not sentences:
        return "", []
    first = _without_leads(sentences[start])
    words = _from_verb(first)
    if not marked and words and words[0] in _ALL_CHANGES.values():
        first = sentences[0]
    return first, sentences[start + 1 :]


def _is_label(words: list[str]) -> bool:
    """Whether these words are a label: few, and not beginning with a verb."""
    return len(words) <= MAX_LABEL_WORDS and not any(word in _READS or word in _ALL_CHANGES for word in words[:1])


def _without_leads(sentence: str) -> str:
    """A sentence from the place where its verb may be."""
    for _ in range(MAX_LEADS):
        found = _LEAD.match(sentence)
        if found is None:
            break
        sentence = sentence[found.end() :]
    return sentence


def _changed_first(sentence: str) -> str:
    """The verb of a change in the first sentence."""
    if found := _NOMINAL.match(sentence):
        return found.group(1).lower()
    if (found := _TO.match(sentence)) and found.group(1).lower() in _CHANGES:
        return found.group(1).lower()
    words = _from_verb(sentence)
    if not words or (words[0] in _ALL_CHANGES.values() and _ADVICE.match(sentence)):
        return ""
    return _changed_by(words) or _joined_change(words)


def _changed_by(words: list[str]) -> str:
    """The verb with which these words begin, if it means a change."""
    first, asked = words[0], _ASKED.search(" ".join(words[1:7])) is not None
    if particle := _particle(words):
        return f"{first} {particle}"
    if not _NONE.isdisjoint(words[1:2]):
        return ""
    if first in _CHANGES_IN_THIRD and words[1:2] != [] and words[1] in THINGS and len(words) == 2:
        return first
    if _is_thing(words):
        return ""
    if first in _CHANGES_IN_THIRD or (first in _MARKS and "as" in words[1:_REACH]):
        return first
    if first in _CHANGES and not (asked and _CHANGES[first] in _ASKING):
        return first
    if first in _MAYBE_CHANGES and words[1:2] and words[1] in _DETERMINERS | _PRONOUNS and not asked:
        return first
    return ""


def _particle(words: list[str]) -> str:
    """The particle of a phrasal verb at the beginning of the words: “Turns on the lights”, “Turns the lights on”."""
    verb = _PHRASAL.get(words[0], "")
    near = words[1:2] if words[1:2] != ["the"] else words[2:5]
    plain = words[0] != verb or "the" in words[1:3]
    return next((word for word in near if plain and (verb, word) in PHRASAL_WRITE_VERBS), "")


def _joined_change(words: list[str]) -> str:
    """The verb of a change that *and*, *or* or *then* joins to the first verb of the words.

    It has the form of the first verb and an object after it, and no other clause begins before it (“that you can cancel
    or update”).  In the third person more verbs are clear (“and stores the token”).
    """
    for place, joint in enumerate(words):
        verb, what = _two_after(words, place)
        if joint not in ("and", "or", "then") or verb not in _ALL_CHANGES:
            continue
        third = verb not in _ALL_CHANGES.values() and not verb.endswith("ing")
        known = _CHANGES if what in _DETERMINERS else {}
        if what in _PRONOUNS or (third and _is_done(words, place, verb, what)):
            known = _ALL_CHANGES
        apart = not third and not _CLAUSES.isdisjoint(words[1:place])
        same = third == (words[0] not in _BASE_FORMS) or verb.endswith("ing")
        advised = not third and what == "one" and joint != "or"
        if verb in known and same and not advised and not apart:
            return verb
    return ""


def _is_done(words: list[str], place: int, verb: str, what: str) -> bool:
    """Whether ``verb``, in the third person after the joint at ``place``, is not a noun: “and stores the token”.

    It is a verb before a determiner, alone between two verbs (“Reads and deletes messages”), or if it is never a noun.
    After “that runs and” it describes a thing, not the call.
    """
    own = words[place - 2 : place - 1]
    if _is_thing(words[words.index(verb, place) :]) or (not _RELATIVES.isdisjoint(own) and words[place - 1][-1] == "s"):
        return False
    alone = place == 1 and verb in _CHANGES
    return what in _CLEAR_DETERMINERS or alone or verb in _CHANGES_IN_THIRD


def _two_after(words: list[str], place: int) -> tuple[str, str]:
    """The next two words after ``place``, skipping at most two adverbs; empty if there are none."""
    near = words[place + 1 : place + 5]
    rest = [word for word in near if not (word in ("also", "then", "thus") or word.endswith("ly"))]
    first, second, *_ = [*rest, "", ""]
    return first, second


def _changed_later(sentence: str) -> str:
    """The verb of a change in a later sentence about the call, in the third person or with *will*."""
    found = _LATER.match(sentence)
    words = words_of(sentence[found.end() :] if found else sentence)
    if not words or words[0] not in _ALL_CHANGES or words[0] in _ENABLING or _CONDITION.search(sentence):
        return ""
    said = found.group().lower() if found else ""
    third = words[0] not in _ALL_CHANGES.values() and not words[0].endswith("ing")
    plain = bool(said) and (words[0] in _CHANGES or words[0] in _CHANGES_IN_THIRD)
    what = words[1:2] != ["every"] and (plain or not (_DETERMINERS | _PRONOUNS).isdisjoint(words[1:2]))
    return _changed_by(words) if what and (third or " will " in said) else ""


def _joins_change(words: list[str]) -> bool:
    """Whether a verb of a change is joined to the words: “and cancels”, “before creating”."""
    for place, joint in enumerate(words):
        verb, _ = _two_after(words, place)
        joined = joint in ("and", "or", "then") or (joint in ("before", "after", "by") and verb.endswith("ing"))
        if joined and verb in _ALL_CHANGES:
            return True
    return False


def _offers(words: list[str]) -> bool:
    """Whether *list* means to offer something: “List your item for sale”, but not “List a user's orders”."""
    one = _READS[words[0]] == "list" and words[1:2] != [] and words[1] in ("a", "an", "your") and len(words) > 2
    return one and not words[2].endswith("s") and words[3:4] != ["s"] and not {"of", "from", "in"} & set(words[3:5])


def _names_result(words: list[str]) -> bool:
    """Whether the words name the result of a change: “the created order”, “the id of the newly created order”."""
    plain = [word for word in words if word not in ("newly", "just", "freshly")]
    return any(
        before in ("the", "a", "an", "your")
        and word in _CHANGED
        and not what.endswith("s")
        and what not in _AFTER_THING
        for before, word, what in zip(plain, plain[1:], plain[2:], strict=False)
    )


def _from_verb(sentence: str) -> list[str]:
    """The words of a sentence from the place where its verb may be, in lower case."""
    words = words_of(sentence)
    passed = list(takewhile(lambda word: word in _PASSED_OVER or word.endswith("ly"), words))
    words = words[len(passed) :]
    if words and words[0] in _ENABLING and "to" in words[:_REACH]:
        return words[words.index("to") + 1 :]
    return words


def _is_thing(words: list[str]) -> bool:
    """Whether a sentence that begins like a change is a noun phrase: “Update history”, “Updates of an order”."""
    if len(words) < 2 or words[1] in _OF or words[1] == "ons":
        return True
    if words[1] in THINGS | NO_OBJECTS and (len(words) == 2 or words[1] in NO_OBJECTS):
        return True
    if words[0] in _BASE_FORMS:
        return words[1] not in _DETERMINERS and words[2:3] != [] and words[2] in _FINITE
    qualified = words[1].endswith("ed") and words[2:3] != [] and words[2] in _AFTER_THING
    if words[1] not in _DETERMINERS:
        return words[1] in _AFTER_THING or qualified
    # “Locks a user holds”, “Orders the user placed”, but not “Stores the file uploaded by the user”.
    owned = any(word.endswith("ed") for word in words[3:4]) and words[0] in _MAYBE_CHANGES and words[4:5] != ["by"]
    return words[-1] in _OWNED or owned
