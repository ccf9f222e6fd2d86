"""Structural traits in words: what a query has if it has at least a number of a feature (pure)."""

from __future__ import annotations

from typing import Final

MORE: Final = ": {} or more"
"""The suffix of the name of a structural feature that occurs more than once."""

_NUMBERS: Final = {"2": "two", "3": "three"}

PHRASES: Final[dict[str, tuple[str, str]]] = {
    "turns": ("a further turn", "further turns"),
    "sentences": ("a sentence", "sentences"),
    "question marks": ("a question mark", "question marks"),
    "exclamation marks": ("an exclamation mark", "exclamation marks"),
    "commas": ("a comma", "commas"),
    "colons": ("a colon", "colons"),
    "quotes": ("a quotation mark", "quotation marks"),
    "brackets": ("a bracket", "brackets"),
    "slashes": ("a slash", "slashes"),
    "numbers": ("a number", "numbers"),
    "capitalised words": ("a capitalised word", "capitalised words"),
    "shouted words": ("a word in capitals", "words in capitals"),
    "lines": ("a further line", "further lines"),
    "dotted names": ("a dotted name", "dotted names"),
    "longest enumeration": ("an enumeration", "items in an enumeration"),
    "short coordination": ("two things joined", "pairs of things joined"),
    "actions": ("an action", "actions"),
    "coordinated actions": ("an action joined to another", "actions joined to others"),
    "later sentences with an action": ("a further order", "further orders"),
    "begins with an action": ("an order at the start", "orders at the start"),
    "begins with a question word": ("a question at the start", "questions at the start"),
    "reference after a coordination": ("a reference back to an earlier step", "references back to earlier steps"),
    "and": ("an “and”", "uses of “and”"),
    "or": ("an “or”", "uses of “or”"),
    "but": ("a “but”", "uses of “but”"),
    "condition": ("a condition", "conditions"),
    "alternative": ("an alternative", "alternatives"),
    "order": ("words for what comes first or next", "words for what comes first or next"),
    "reference": ("a word that refers back", "words that refer back"),
    "quantity": ("a word for all or every", "words for all or every"),
    "distribution": ("a word for each or both", "words for each or both"),
    "attachment": ("a mention of an attachment", "mentions of attachments"),
    "first person": ("the first person", "uses of the first person"),
    "second person": ("the second person", "uses of the second person"),
    "courtesy": ("a polite word", "polite words"),
    "negation": ("a negation", "negations"),
    "question": ("a question word", "question words"),
    "clauses": ("a clause", "clauses"),
    "clauses that begin with an action": ("a clause that gives an order", "clauses that give orders"),
    "clauses that begin with a question word": ("a clause that asks", "clauses that ask"),
    "later clauses that begin with either": ("a further order or question", "further orders or questions"),
    "conjunctions before an action": ("an order after a conjunction", "orders after conjunctions"),
    "conjunctions before a question word": ("a question after a conjunction", "questions after conjunctions"),
    "clauses that begin alike": ("clauses that begin alike", "further clauses that begin alike"),
    "shared words of neighbouring clauses": ("a word shared by clauses", "words shared by clauses"),
    "repeated words": ("a repeated word", "repeated words"),
    "repeated pairs of words": ("a repeated pair of words", "repeated pairs of words"),
    "words with digits": ("a word with digits", "words with digits"),
    "parallel items": ("parallel items", "further parallel items"),
}
"""The singular and plural name of each counted structural feature."""


def feature(text: str) -> str:
    """The structural feature of a trait's text, without its number."""
    return text.partition(": ")[0]


def spoken(text: str) -> str:
    """The text of a structural trait as people read it."""
    name, _, more = text.partition(": ")
    one, several = PHRASES[name]
    number = more.partition(" ")[0]
    return f"{_NUMBERS.get(number, number)} or more {several}" if more else one


def called(text: str) -> str:
    """The part of an id for a structural trait: without numbers."""
    name, _, more = text.partition(": ")
    return PHRASES[name][1 if more else 0]
