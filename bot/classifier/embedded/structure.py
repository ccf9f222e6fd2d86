"""Structure of a query: enumerations, conjunctions, clauses, conditionals, sentences, turns, length.

Term weights carry a query's topic; whether it asks for several things at once, one after the other or under a condition
stands in its structure.  The signs are those of English and of punctuation at large.
"""

from __future__ import annotations

from math import log1p
from typing import Final

from bot.classifier.embedded.text import ReadText


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Words that are counted, each list a feature of that name.
_LEXICA: Final[dict[str, frozenset[str]]] = {
    "and": _set("and & plus"),
    "or": _set("or either"),
    "but": _set("but however although though except"),
    "condition": _set("if unless when whenever whether depending provided assuming should case"),
    "alternative": _set("else otherwise instead"),
    "order": _set("then next after afterwards before finally first second once later followed using based"),
    "reference": _set("it them they that those these this its their him her one ones result results"),
    "quantity": _set("all every entire whole complete completely full everything each any"),
    "distribution": _set("each both respectively separately also too simultaneously together well same"),
    "attachment": _set(
        "attached attachment attachments attach upload uploaded uploading enclosed file files document pdf docx image "
        "photo picture screenshot recording audio clip scan scanned"
    ),
    "first person": _set("i i'm i've i'd i'll me my mine myself we our us"),
    "second person": _set("you your you're you've yours"),
    "courtesy": _set("please could would can kindly thanks thank may"),
    "negation": _set("not no never don't doesn't didn't isn't won't can't cannot nothing nobody without"),
    "question": _set("what which who whom whose where when why how is are was were do does did can could should will"),
}
_ACTIONS: Final = _set(
    "add alert analyse analyze answer append apply approve archive arrange ask assign attach back book build buy "
    "calculate call cancel change check classify close collect combine compare compile compute confirm convert copy "
    "count create cut delete deliver describe design dial disable discuss display divide do download draft draw "
    "dump edit email enable estimate evaluate execute explain export extract fetch file fill filter find fix flag "
    "format forward gather generate get give go grab group help highlight identify import include increase insert "
    "install issue keep launch let link list load locate lock log look lower mail make mark match measure merge "
    "message move name navigate notify open order organise organize outline output pay pick pin ping place plan "
    "play plot post predict prepare present print process produce provide publish pull put quote raise rank read "
    "recommend record reduce refund register reject remind remove rename reopen repeat replace reply report request "
    "reschedule reserve reset resize resolve respond restart restore retrieve return review rewrite rotate route "
    "run save scan schedule score search see select send set share show shut sign simulate solve sort split start "
    "stop store submit subscribe subtract suggest sum summarise summarize switch sync tabulate tag take tell test "
    "text tidy track train transcribe transfer translate trigger try turn unlock update upload use validate verify "
    "visit wake walk warn watch weigh withdraw write"
)
# As NFKC leaves them: full-width signs are plain ones by then.
_SENTENCE_ENDS: Final = frozenset(".!?。")
_OPENING: Final = frozenset("([{<")
_QUOTES: Final = frozenset("\"“”„«»'`")

NAMES: Final = (
    "turns",
    "words",
    "characters per word",
    "sentences",
    "words per sentence",
    "question marks",
    "exclamation marks",
    "commas",
    "colons",
    "quotes",
    "brackets",
    "slashes",
    "numbers",
    "capitalised words",
    "shouted words",
    "lines",
    "dotted names",
    "longest enumeration",
    "short coordination",
    "actions",
    "coordinated actions",
    "later sentences with an action",
    "begins with an action",
    "begins with a question word",
    "reference after a coordination",
    *_LEXICA,
)
"""The features, in the order of :func:`structure`."""


def structure(read: ReadText) -> list[float]:
    """The structural features of a query, in the order of :data:`NAMES`; counts are damped by log(1 + n)."""
    scan = _Scan(read)
    tokens = read.tokens
    words = max(1, scan.words)
    signs = {sign: tokens.count(sign) for sign in set(tokens) if not sign[0].isalnum()}
    counts = [
        len(read.turns) - 1,
        scan.words,
        scan.letters / words,
        scan.sentences,
        scan.words / max(1, scan.sentences),
        signs.get("?", 0),
        signs.get("!", 0),
        signs.get(",", 0),
        signs.get(":", 0) + signs.get(";", 0),
        sum(signs.get(sign, 0) for sign in _QUOTES),
        sum(signs.get(sign, 0) for sign in _OPENING),
        signs.get("/", 0),
        scan.numbers,
        scan.capitalised,
        scan.shouted,
        signs.get("\n", 0) - (len(read.turns) - 1),
        scan.dotted,
        scan.longest_enumeration,
        scan.short_coordinations,
        scan.actions,
        scan.coordinated_actions,
        scan.later_actions,
        scan.begins_with_action,
        scan.begins_with_question,
        scan.references_after,
        *(scan.lexical[name] for name in _LEXICA),
    ]
    return [log1p(max(0.0, count)) for count in counts]


class _Scan:
    """One pass over the tokens."""

    def __init__(self, read: ReadText) -> None:
        self.words = self.letters = self.numbers = self.capitalised = self.shouted = self.dotted = 0
        self.sentences = self.actions = self.coordinated_actions = self.later_actions = 0
        self.longest_enumeration = self.short_coordinations = self.references_after = 0
        self.begins_with_action = self.begins_with_question = 0
        self.lexical = dict.fromkeys(_LEXICA, 0)
        self._items = 0
        self._gap = 0
        self._sentence_words = 0
        self._coordinated = False
        before = ""
        tokens = read.tokens
        for place, token in enumerate(tokens):
            if token[0].isalnum():
                self._word(token, before)
            else:
                self._sign(token, before, tokens[place + 1] if place + 1 < len(tokens) else "")
            before = token
        if self._sentence_words:
            self.sentences += 1

    def _word(self, token: str, before: str) -> None:
        word = token.casefold().replace("’", "'")
        first = self._sentence_words == 0
        self.words += 1
        self.letters += len(token)
        self._sentence_words += 1
        self.numbers += token[0].isdecimal()
        if len(token) > 1 and token.isupper():
            self.shouted += 1
        elif token[0].isupper() and not first:
            self.capitalised += 1
        for name, lexicon in _LEXICA.items():
            self.lexical[name] += word in lexicon
        if self._coordinated and word in _LEXICA["reference"]:
            self.references_after += 1
        joins = word in _LEXICA["and"] or word in _LEXICA["or"]
        if word in _ACTIONS:
            self._action(first, before)
        if self.words == 1:
            self.begins_with_question = int(word in _LEXICA["question"])
        if joins:
            self._join()
        else:
            self._gap += 1

    def _action(self, first: bool, before: str) -> None:
        """A word that may be an order; it is one where a sentence, a clause or a coordination begins."""
        self.actions += 1
        joined = before.casefold() in {"and", "then", "also", "or", "please", ",", ";", ":", "to", "&", "finally"}
        if first and self.words == 1:
            self.begins_with_action = 1
        elif first:
            self.later_actions += 1
            self._coordinated = True
        elif joined:
            self.coordinated_actions += 1
            self._coordinated = True

    def _join(self) -> None:
        """“and”, “or”: after a short gap it ends an enumeration or joins two things."""
        if 0 < self._gap <= 4:
            self.short_coordinations += 1
            self._items += 1
            self.longest_enumeration = max(self.longest_enumeration, self._items + 1)
        self._items = 0
        self._gap = 0

    def _sign(self, token: str, before: str, after: str) -> None:
        if token == ",":
            # Items of an enumeration are short; a longer stretch is a clause of its own.
            self._items = self._items + 1 if self._gap <= 5 else 1
            self.longest_enumeration = max(self.longest_enumeration, self._items)
            self._gap = 0
        elif token == "." and before[:1].isalnum() and after[:1].islower():
            self.dotted += 1
        elif token in _SENTENCE_ENDS or token == "\n":
            self.sentences += self._sentence_words > 0
            self._sentence_words = self._items = self._gap = 0
        elif token == "&":
            self._join()
