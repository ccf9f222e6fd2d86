"""What the summary or description of an operation says that it does: that it changes something, or only answers.

Only what is said plainly counts, in the first sentence or in words that leave no doubt; anything else tells nothing.
The rules are written out in ``docs/specification.md``.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from bot.intake.agents.names import PLAIN_WRITE_VERBS, READ_VERBS, THINGS, WRITE_VERBS, words_of

MAX_CHARACTERS: Final = 2_000
"""Of a longer text the beginning is read."""


def _forms(verb: str) -> tuple[str, ...]:
    """A verb as sentences begin with it: cancel, cancels, canceling, cancelling."""
    third = f"{verb[:-1]}ies" if re.search(r"[^aeo]y$", verb) else f"{verb}s"
    stem = verb[:-1] if verb.endswith("e") else verb
    return (verb, third, f"{verb}es", f"{stem}ing", f"{stem}{stem[-1]}ing")


_ALL_CHANGES: Final = {form: verb for verb in sorted(WRITE_VERBS) for form in _forms(verb)}
_OTHER_READS: Final = frozenset({"answer", "compute", "return", "tell"})
_READS: Final = {form: verb for verb in sorted(READ_VERBS | _OTHER_READS) for form in _forms(verb)}
_VAGUE: Final = frozenset({"accept", "apply", "complete", "manage", "put"})
"""Said of what only answers, too: “Applies the filter and returns …”."""
_CHANGES: Final = {form: verb for form, verb in _ALL_CHANGES.items() if verb in PLAIN_WRITE_VERBS - _VAGUE}
_MAYBE_CHANGES: Final = {form: verb for form, verb in _ALL_CHANGES.items() if verb not in PLAIN_WRITE_VERBS | _VAGUE}
_WEAK: Final = "return"
"""Said of what a call answers with, too, whatever it does."""

# What a sentence says before it comes to the verb.
_CALL: Final = r"(?:endpoint|operation|method|call|function|api|tool|action|service|route|request|resource)"
_LEAD: Final = re.compile(
    rf"(?:(?:use|call|invoke) (?:this|it|the)(?: {_CALL})? (?:to|for) |used (?:to|for) "
    rf"|(?:this|the|an?) (?:\w+ )?{_CALL} (?:(?:can be|is) used (?:to|for) |will |to |that |which )?"
    rf"|{_CALL} (?:to|for|that|which) )",
    re.IGNORECASE,
)
_ENABLING: Final = frozenset({"allow", "allows", "enable", "enables"})
"""Before *to*: “Allows an administrator to find …” says find."""
_REACH: Final = 10
"""Words within which that *to* stands."""
_PASSED_OVER: Final = frozenset({"batch", "bulk", "soft", "hard", "also", "then"})
_DETERMINERS: Final = frozenset(
    {"a", "an", "the", "this", "that", "these", "those", "its", "their", "your", "one", "new", "all", "any", "every"}
)
_PRONOUNS: Final = frozenset({"it", "them"})
_OF: Final = frozenset({"of", "for", "from", "in", "on", "by", "about", "at", "since"})
"""What follows a thing: “Updates of an order” are no change."""
_ASKED: Final = re.compile(
    r"\b(?:search|query|queries|question|prompt|lookup|(?:get|http|https|api|rest|read|graphql) requests?)\b",
    re.IGNORECASE,
)
"""Sending or creating one of these is asking."""
_ASKING: Final = frozenset({"create", "send", "submit", "insert"})
_ONLY: Final = re.compile(
    r"(?:only|just|simply|merely) (?:returns?|reads?|answers?|responds?|calculates?|computes?|looks? up|search(?:es)?"
    r"|lists?|retrieves?|shows?|gets?|fetch(?:es)?|finds?|validates?|checks?|estimates?|previews?)\b",
    re.IGNORECASE,
)
_THING: Final = r"(?:anything|(?:any |the )?(?:data|state|records?|resources?|database))"
_UNCHANGED: Final = re.compile(
    r"\bread[- ]only (?:operation|call|endpoint|method|request|action|query|tool|api)\b|^\W*read[- ]only\b"
    rf"|\b(?:{_CALL}|this|it) is read[- ]only\b|\b(?:no|without(?: any)?|free of) side[- ]effects?\b"
    r"|\b(?:does|will)(?: not|n['’]t) (?:change|modify|alter|affect|create|update|persist|store|save|write) "
    rf"{_THING}\b"
    rf"|\bwithout (?:changing|modifying|altering|creating|updating|persisting|storing|saving|writing) {_THING}\b"
    r"|\bnothing (?:is|gets|will be) (?:changed|modified|altered|created|updated|persisted|stored|saved|written|sent)\b"
    r"|\b(?:changes|modifies|alters|creates|updates|stores|saves|writes|sends) nothing\b",
    re.IGNORECASE,
)


def first_sentence(prose: str) -> str:
    """The first sentence of a text, without markup and without what leads up to its verb (“This endpoint …”)."""
    plain = re.sub(r"<[^<>]*>|[*_`#]+", " ", prose[:MAX_CHARACTERS]).strip()
    sentence = " ".join(re.split(r"[.:;](?:\s|$)|\n\s*\n", plain, maxsplit=1)[0].split())
    return _LEAD.sub("", sentence, count=1) if _LEAD.match(sentence) else sentence


def stated_change(prose: str) -> str:
    """The verb by which a text plainly says that something is changed; empty if none does.

    It begins the first sentence, or follows *and*, *or* or *then* in it with what it changes (“and marks it as read”).
    A verb that is as often a thing has what it changes behind it: “Books a table”, but not “Books by author”.
    """
    words = _from_verb(first_sentence(prose))
    if not words:
        return ""
    first, asked = words[0], _ASKED.search(" ".join(words[1:7])) is not None
    if first in _CHANGES and not _is_thing(words) and not (asked and _CHANGES[first] in _ASKING):
        return first
    if first in _MAYBE_CHANGES and words[1:2] and words[1] in _DETERMINERS and not asked:
        return first
    for joint, verb, what in zip(words, words[1:], words[2:], strict=False):
        known = _ALL_CHANGES if what in _PRONOUNS else _CHANGES if what in _DETERMINERS else {}
        if joint in ("and", "or", "then") and verb in known:
            return verb
    return ""


def stated_answer(prose: str) -> str:
    """The words by which a text says that a call only answers; empty if it does not.

    The first sentence begins with a reading verb, as it is or in the third person, and joins no writing verb to it.
    """
    if said := stated_only(prose):
        return said
    words = _from_verb(first_sentence(prose))
    if words[:2] in (["look", "up"], ["looks", "up"]):
        return f"{words[0]} up"
    if not words or words[0] not in _READS:
        return ""
    joined = any(joint in ("and", "or", "then") and verb in _ALL_CHANGES for joint, verb in pairwise(words))
    moved = _READS[words[0]] == "check" and words[1:2] in (["in"], ["out"])
    return "" if joined or moved else words[0]


def stated_only(prose: str) -> str:
    """The words by which a text says outright that nothing is changed, or that a call only answers; empty if none."""
    found = _ONLY.match(first_sentence(prose)) or _UNCHANGED.search(prose[:MAX_CHARACTERS])
    return " ".join(found.group().split()) if found else ""


def is_weak(said: str) -> bool:
    """Whether the words of :func:`stated_answer` may be said of a call that changes something, too (“returns”)."""
    return _READS.get(said, "") == _WEAK


def _from_verb(sentence: str) -> list[str]:
    """The words of a sentence from where its verb may stand, in lower case."""
    words = words_of(sentence)
    start = 0
    while start < len(words) and (words[start] in _PASSED_OVER or words[start].endswith("ly")):
        start += 1
    words = words[start:]
    if words and words[0] in _ENABLING and "to" in words[:_REACH]:
        return words[words.index("to") + 1 :]
    return words


def _is_thing(words: list[str]) -> bool:
    """Whether a sentence that begins like a change names a thing: “Update history”, “Updates of an order”."""
    return len(words) < 2 or words[1] in _OF or words[1] == "ons" or (words[1] in THINGS and len(words) == 2)
