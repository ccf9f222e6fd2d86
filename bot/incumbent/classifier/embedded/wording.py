"""What a query asks, without how it is dressed: courtesies, chat spellings, and sentences that only tell a story.

Courtesies carry no tag (docs/classifier.md), and neither does background; a query asks for the same with and without
them.  The words are those of English and the commonest of the other supported languages; sentences are told apart by
their embeddings, in any language.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from incumbent.classifier.embedded.courtesies import (
    BEFORE_YOU,
    CLAUSE_STARTS,
    COURTESIES,
    FOR_ME,
    FRAMES,
    FROM_YOU,
    MAY_YOU,
)
from incumbent.classifier.embedded.embedding import SCALE, Embedder
from incumbent.classifier.embedded.phrases import Edited, Phrases, required_words

JUDGED: Final = 64
JUDGED_CHARACTERS: Final = 1_500
"""How many sentences of a query, and characters in all, may be background; what stands behind them counts as asking."""

_SENTENCE_END: Final = re.compile(r"(?<=[.!?؟।…])[\"”’)]*\s+|(?<=[。！？])|\n+")  # noqa: RUF001
# A pattern that begins with one set of characters is found far sooner than one that looks back or has a choice.
_SPACED_SENTENCE_END: Final = re.compile(r"[\"”’)\s](?:(?<=[.!?؟।…][\"”’)])[\"”’)]*\s+|(?<=[.!?؟।…]\s)\s*|(?<=\n)\n*)")
"""The same in a text where blanks follow sentences."""
_UNSPACED_ENDS: Final = re.compile("[。！？]")  # noqa: RUF001
_DOUBLED: Final = re.compile(r"([.!?])(?:\s*[,.!;:])+")
_SIGNS: Final = " ,.!?;:-–—。！？、"  # noqa: RUF001

# Within a clause they mean something: "so far", "who knows it well".
_FILLER: Final = (
    r"(?:^|(?<=[.!?]\s))(?:(?:so|well|okay|ok|right|anyway|anyhow|basically|actually|honestly"
    r"|quick question"
    r"|in any case|in short|in other words|(?:to cut a )?long story short|that(?:['’]s| is) why|which is why"
    r"|(?:so )?there it is|therefore|hence|kurz gesagt|jedenfalls|naja|na ja|bueno|en fin|bref|enfin|insomma|dus)"
    r"(?=$|[\s,.;:!?–-])[\s,.!:–-]*)+"
)
# What is left of "please and thank you".
_JOINING_NOTHING: Final = re.compile(r"(?:^|(?<![\s,])[\s,]+)(?:and|n|&)[\s.!?]*$", re.IGNORECASE)
_BORDERLESS: Final = (
    "(?:お願いします|お願いいたします|お世話になっております|すみません|ありがとうございます|こんにちは|请问|谢谢|您好|你好"
    "|麻烦您?|감사합니다|안녕하세요|부탁드립니다|부탁드려요"
    "|من فضلك|لو سمحت|شكرا(?: جزيلا)?|مرحبا|السلام عليكم|कृपया|धन्यवाद|नमस्ते)"
)
_ASKING: Final = (
    r"(?:(?<!\S)(?:^|(?<=[,.;:!?–—-]\s)|(?<=\band\s)|(?<=\bbut\s)|(?<=\bso\s)|(?<=\bplease\s))(?:"
    r"i(?:'d| would| was) (?:like|love|wondering|hoping)(?: it)?(?: if)?"
    r"(?: you| to| know| for you to| u)*(?: could| can| would)?|i (?:just )?(?:want|need|wanna)(?: you"
    r"| u)? to(?: know)?"
    r"|i(?: a|')m after)"
    r"|(?:^|(?<=[\s,.;:!?]))(?:(?:könntest|könnten|könnt|kannst|können|würdest|würden) (?:du|sie|ihr)(?: mir| uns)?"
    r"|¿?(?:podrías|podría|puedes|puede)(?: usted)?|(?:pourriez|pouvez)-vous|(?:pourrais|peux)-tu"
    r"|(?:potresti|potrebbe|puoi|può)|(?:você )?(?:poderia|pode)|(?:kun|zou) je(?: mij| me)?|kunt u(?: mij)?"
    r"|czy (?:możesz|mógłbyś|mogłabyś|może pan|może pani)))\s+"
)
_WANTING: Final = r"(?: really| just| actually|['’]m| am|['’]d| would)*"
_WRAPPER: Final = (
    r"(?:^|(?<=[\s,.;:!?]))(?:"
    r"(?:what|all|the (?:only )?thing) (?:that )?(?:i|we)" + _WANTING + r" (?:need|want|require|like"
    r"|after|looking for"
    r"|wondering|interested in)(?: to know| to ask| from you| today| now)* (?:is|are|would be)(?: that| whether| if)?"
    r"|the (?:long and (?:the )?short|upshot|bottom line|gist|point|crux)(?: of (?:it|this|that|it all|all this))? is"
    r"(?: that)?"
    r"|(?:one|another) thing (?:that )?(?:[\w'’]+ ){0,6}is (?:the question (?:of|is)?)?"
    r"|the question (?:is|of)(?= (?:who|what|which|when|where|why|how|whether)\b)"
    r"|what (?:it|this|that|it all) (?:comes|boils) down to is(?: that)?|(?:all )?(?:of )?which is to say(?: that)?"
    r"|my (?:(?:simple|quick|actual|real|only) )?(?:question|request|point|wish) (?:is|would be)"
    r"(?: that| whether| this)?"
    r"|(?:it|that)(?: would|['’]d) be (?:\w+ )?(?:great|lovely|nice|helpful|good|fantastic|wonderful|kind)"
    r" (?:if (?:you|we|i|someone) (?:could|can|would)|to (?:know|have))"
    r"|(?:i|we)(?: would|['’]d) be (?:\w+ )?(?:grateful|thankful|glad|happy|obliged) if (?:you|someone)"
    r" (?:could|can|would)"
    r"|i(?:['’]m| am| was) (?:just |also |simply )?(?:wondering|curious|hoping)(?: whether| if| that)?"
    r"|was ich (?:brauche|wissen möchte|gerne? wüsste),? ist"
    r"|ich (?:hätte gerne?|möchte gerne?|bräuchte|wüsste gerne?),?"
    r"|lo que (?:necesito|quiero|quisiera)(?: saber)? es|(?:me )?gustaría(?: saber)?"
    r"|ce (?:que je (?:veux|voudrais)(?: savoir)?|dont j['’]ai besoin),? c['’]est"
    r"|je (?:voudrais|souhaiterais|aimerais)(?: savoir)?|vorrei(?: sapere)?|gostaria de(?: saber)?"
    r"|ik (?:zou graag|wil graag)(?: weten)?"
    r")[,:]?(?=\s)\s*"
)
_AFTERWARDS: Final = (
    r"[,–—-]?\s+(?:is|are) (?:what|all|everything|the thing)(?: that)? (?:i|we)"
    + _WANTING
    + r" (?:need|want|like|after|looking for|ask(?:ing)?(?: for)?)(?: to know| to see| to have| from you| today| now)*"
    r"(?=$|[\s,.;:!?])"
)
_ENGLISH: Final = re.compile(
    r"\b(?:the|for|of|our|what|whats|how|this|is|from|which|whos|who|show|find|get|give|gimme|pls|plz|thx"
    r"|can|u|and|my|it"
    r"|to)\b",
    re.IGNORECASE,
)
_PLUS: Final = re.compile(r"(?<=[^\W\d_]) \+ (?=[^\W\d_])")
_HANDED_OVER: Final = re.compile(
    r"\b(?:attach\w*|enclos\w*|upload\w*|here(?:['’]s| is| are)|this is|i (?:took|recorded)|screenshot"
    r"|scan(?:ned)?|photo\w*"
    r"|pics?|picture|recording|voice ?(?:note|memo|mail|message)|herewith|i(?:['’]ve| have)? (?:sent"
    r"|sending|forwarded|shared|pasted))\b",
    re.IGNORECASE,
)
_FELT: Final = re.compile(
    r"(?i:\b(?:(?:yet |once )again|again[!.]|(?:third|fourth|fifth|sixth|umpteenth|second|last|nth) time"
    r"|fed up|sick (?:of|to)"
    r"|had (?:it|enough)|(?:beyond )?a joke|ridiculous|absurd|appall\w*|disgrac\w*|pathetic|useless"
    r"|hopeless|unbelievable"
    r"|unacceptable|outrag\w*|furious|angry|livid|annoy\w*|infuriat\w*|exasperat\w*|frustrat\w*|nobody "
    r"(?:\w+ )?(?:bothers"
    r"|answers|cares|gives)|rubbish|garbage|crap|damn\w*|bloody|ffs|wtf|nonsense|shame\w*|scandal\w*"
    r"|terrible|awful|worst"
    r"|botched|messed up|screwed|incompetent|waste of|insult\w*|you people|had to ask|still (?:not|no"
    r"|broken|waiting|nothing)"
    r"|patience|marvellous|brilliant job|well done|great job|filthy|how hard|beggars belief|joke of)\b)|!!|\?!|!\?"
    r"|\b(?:AGAIN|STILL|NOW|EVERY|NOTHING|NEVER)\b",
)
"""Annoyance in so many words."""
_FORM: Final = re.compile(
    r"\b(?:tables?|columns?|rows|grid|matrix|bullets?|bulleted|numbered|headings?|checklist|list|json|csv"
    r"|xml|yaml|markdown"
    r"|key:? value|links?|urls?|addresses|cit(?:e|ing|ations?)|sources?|plain (?:language|words|english)"
    r"|simple (?:language"
    r"|words|terms)|easy words|jargon|formal\w*|cheer\w*|friendly|tone|polite\w*|funny|humorous|in the "
    r"(?:style|voice|manner)"
    r"|year-old|(?:short|brief|long|detailed|complete|full|entire|exhaustive|comprehensive)(?:ly)?|every "
    r"(?:single )?\w+"
    r"|word (?:for|by) word|transcript|one (?:question|at a time)|in (?:one|two|three|\d+) (?:sentences?"
    r"|words?|paragraphs?"
    r"|lines?|pages?)|pages|words)\b",
    re.IGNORECASE,
)
"""A wish for form or tone, in so many words."""
_WANTED: Final = re.compile(
    r"^(?:(?:so|and|but|anyway|please|just|then|now|well|right|ok|okay|yes|also|or)[, ]+)*(?:(?:could|can"
    r"|would|will|may|might) (?:you|i|we)\b"
    r"|find|show|get|give|tell|send|list|make|create|write|draft|work out|calculate|check|book|look|put"
    r"|turn|translate"
    r"|summari[sz]e|compare|explain|read|draw|design|set|open|add|cancel|order|convert|export|search"
    r"|change|update|reset"
    r"|pull|transcribe|rewrite|describe|plan|move|register|file|log|post|name|answer|let me know|quiz|play|help)\b"
    r"|\b(?:i|we)(?:['’]d| would| really| just|['’]m)* (?:need|want|like|love|after|looking for)\b"
    r"|\b(?:what i|all i|my question|the question|so,? (?:could|can|please|what|who|which|where|when|how)"
    r"|please|kindly)\b",
    re.IGNORECASE,
)
"""A request, in so many words."""
_FIGURES: Final = re.compile(r"\d|[\"“«]")
_WORDS: Final = re.compile(r"[^\W_]{5,}")
_WORD: Final = re.compile(r"[\w']+")
_QUESTIONS: Final = ("?", "？", "؟")  # noqa: RUF001
_CONDITION: Final = re.compile(
    r"^(?:and |but )?(?:if|unless|otherwise|else|in case|should|when"
    r"|wenn|falls|sonst|si|sinon|se|als|anders|jeśli|eğer)\b"
    r"|もし|如果|إذا|अगर",
    re.IGNORECASE,
)
_SPACES: Final = re.compile(r"\s+")
_DATA: Final = Path(__file__).with_name("background.json")
_TELLING: Final = (
    r"(?<!\S)(?:^|(?<=[,.;:!?–—-]\s)|(?<=\band\s)|(?<=\bthen\s)|(?<=\bjust\s))(?:(?:tell|telling) (?:me"
    r"|us)|let(?:ting)? (?:me|us) know)"
    r"(?=,? (?:who|whose|what|which|when|where|why|how|whether|if)\b),?\s+"
)
_SEEING: Final = r"\b(?:i|we)(?:['’]d| would) (?:like|love) to see\b"
_SPELLINGS_DATA: Final = Path(__file__).with_name("spellings.json")


def plain(text: str) -> str:
    """``text`` without courtesies and chat spellings, in lower case; as it is where nothing else is in it."""
    edited = Edited(text, phrases())
    edited.sub("borderless", " ")
    edited.to(_spaced(edited.text))
    # What stands behind a courtesy may be another.
    for _ in range(2):
        edited.sub_any(_COURTESIES, " ")
        edited.sub("filler", "")
        edited.to(_spaced(edited.text).strip(" ,;:"))
    edited.sub("for me", "")
    edited.to(_JOINING_NOTHING.sub("", _DOUBLED.sub(r"\1", edited.text)))
    edited.sub("seeing", "show me")
    _unframe(edited)
    edited.sub("wrapper", "")
    edited.sub("afterwards", "")
    edited.to(_spaced(edited.text).strip())
    edited.sub("asking", "")
    edited.sub("telling", "")
    if "spelling" in edited.possible:
        edited.to(spelled_out(edited.text, "spelling"))
    if _ENGLISH.search(text):
        edited.to(_PLUS.sub(" and ", edited.text) if " + " in edited.text else edited.text)
        if "english spelling" in edited.possible:
            edited.to(spelled_out(edited.text, "english spelling"))
    return _spaced(edited.text).strip(_SIGNS).lower() or text.lower()


def _spaced(text: str) -> str:
    """``text`` with a blank in place of all white space."""
    return text if text.isprintable() and "  " not in text else _SPACES.sub(" ", text)


def _unframe(edited: Edited) -> None:
    """Leave out what asks for the request that follows."""
    _ask_plainly(edited)
    before = edited.text
    edited.sub("may you", lambda found: None if BEFORE_YOU.search(before[: found.start()]) else "")
    _ask_plainly(edited)
    edited.sub("from you", "")


def _ask_plainly(edited: Edited) -> None:
    for name, asked in _FRAMES.items():
        if name in edited.possible:
            edited.sub(name, asked)


def courteous(part: str) -> bool:
    """Whether a sentence is a courtesy and no more."""
    edited = Edited(part, phrases())
    edited.sub("borderless", " ")
    edited.to(_spaced(edited.text))
    for _ in range(2):
        edited.sub_any(_COURTESIES, " ")
    return not edited.text.strip(_SIGNS)


def _may_be_courteous(turn: str, parts: Sequence[str]) -> bool:
    """Whether any of the sentences ``parts`` of ``turn`` may be a courtesy: looked for in all of them at once."""
    nothing_but_signs = not all(part.strip(_SIGNS) for part in parts)
    return nothing_but_signs or not phrases().possible(_spaced(turn)).isdisjoint((*_COURTESIES, "borderless"))


_FRAMES: Final = {f"frame {number}": asked for number, (_, asked) in enumerate(FRAMES)}
"""What stands for each request frame."""
_COURTESIES: Final = tuple(f"courtesy {number}" for number in range(len(COURTESIES)))


def patterns() -> dict[str, str]:
    """The patterns of phrases that are left out or replaced, by name, case ignored."""
    found = {
        "borderless": _BORDERLESS,
        **dict(zip(_COURTESIES, COURTESIES, strict=True)),
        "filler": _FILLER,
        "for me": FOR_ME,
        "seeing": _SEEING,
        "may you": MAY_YOU,
        "from you": FROM_YOU,
        "wrapper": _WRAPPER,
        "afterwards": _AFTERWARDS,
        "asking": _ASKING,
        "telling": _TELLING,
    }
    found |= {name: pattern for name, (pattern, _) in zip(_FRAMES, FRAMES, strict=True)}
    return found | {name: _pattern_of(words) for name, words in _spellings().items()}


@cache
def phrases() -> Phrases:
    """The same, ready to be looked for."""
    return Phrases(patterns(), required_words(), frozenset(_FRAMES), CLAUSE_STARTS)


def spelled_out(text: str, name: str) -> str:
    """``text`` with what they stand for in place of the chat spellings ``name``.

    Their pattern finds the same ones, and tries hundreds of words at each place.
    """
    meanings = _spellings()[name]
    return _word_of(name).sub(lambda found: meanings.get(found[0].lower(), found[0]), text)


@cache
def _word_of(name: str) -> re.Pattern[str]:
    """Any word that may be one of the spellings ``name``, and those of them that are no single word."""
    longer = [f"(?i:{re.escape(word)})" for word in _spellings()[name] if not _WORD.fullmatch(word)]
    return re.compile(_alone("|".join([*longer, f"{_WORD.pattern}+"])))


def _pattern_of(words: Iterable[str]) -> str:
    """Chat spellings, the longest first: one may begin another."""
    either = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
    return _alone(either)


def _alone(pattern: str) -> str:
    """``pattern`` where it is a word, and no part of an address, a file name or the like."""
    return rf"(?<![\w'’#@./-])(?:{pattern})(?![\w'’@/-]|\.\w)"


@cache
def _spellings() -> Mapping[str, Mapping[str, str]]:
    """What chat spellings stand for: those of any text, and those of English texts alone."""
    held = json.loads(_SPELLINGS_DATA.read_text(encoding="utf-8"))
    return {"spelling": held["any"], "english spelling": held["english"]}


def sentences(text: str) -> list[str]:
    """The sentences of a text, in order."""
    ends = _SENTENCE_END if _UNSPACED_ENDS.search(text) else _SPACED_SENTENCE_END
    return [part.strip() for part in ends.split(text) if part and part.strip()]


@dataclass(frozen=True)
class Background:
    """Tells sentences that ask for something, or say what is handed over or felt, from background.

    Two logistic regressions: one on the embedding of a sentence, the other on what the first says of it and of its
    neighbours (:func:`in_context`).  Each has ``weights`` and an intercept; below ``cut`` a sentence is background.
    """

    weights: NDArray[np.float64]
    intercept: float
    context_weights: NDArray[np.float64]
    context_intercept: float
    cut: float

    @staticmethod
    def of(held: dict[str, Any]) -> Background:
        """As the data file has it."""
        return Background(
            # With whole components their products are whole numbers below 2⁵³: the sum is exact in any order.
            np.rint(np.array(held["weights"]) * _GRID) / _GRID,
            held["intercept"],
            np.array(held["context_weights"]),
            held["context_intercept"],
            held["cut"],
        )

    def asking(self, parts: Sequence[str], vectors: NDArray[np.int8]) -> list[bool]:
        """Which sentences are no background, at least the one that is least so; ``vectors`` are their embeddings."""
        alone = vectors @ self.weights / SCALE + self.intercept
        scores = (in_context(parts, alone) @ self.context_weights + self.context_intercept).round(6).tolist()
        least = min(self.cut, max(scores))
        return [score >= least for score in scores]


_GRID: Final = 2.0**24

_SUREST: Final = 8.0
"""A sentence alone is not surer than that: its embedding says no more."""


def hands_over(part: str) -> bool:
    """Whether a sentence says in so many words that something comes with the query."""
    return _HANDED_OVER.search(part) is not None


def felt(part: str) -> bool:
    """Whether a sentence shows annoyance in so many words."""
    return _FELT.search(part) is not None


def conditional(part: str) -> bool:
    """Whether a sentence begins with a condition."""
    return _CONDITION.search(part) is not None


def in_context(parts: Sequence[str], alone: NDArray[np.float64]) -> NDArray[np.float64]:
    """What says whether each of ``parts``, a row for each, is background; ``alone`` is what each says by itself.

    Its own score, the best of the others, those before and after, whether it follows the surest or is it, is the first
    or last, is a question, hands something over or states a condition; how few there are; whether it shows annoyance,
    wishes for a form, or asks in so many words; its length; whether it has figures or quotations; and how many long
    words it shares with the surest.
    """
    size = len(parts)
    scores = np.clip(alone, -_SUREST, _SUREST)
    surest = int(np.argmax(scores))
    bordered = np.concatenate([[0.0], scores, [0.0]])
    said = [{word.lower() for word in _WORDS.findall(part)} for part in parts]
    rows = [
        [
            scores[place],
            max(np.delete(scores, place), default=-_SUREST),
            bordered[place],
            bordered[place + 2],
            place > surest,
            place == surest,
            place == 0,
            place == size - 1,
            part.rstrip().endswith(_QUESTIONS),
            hands_over(part),
            conditional(part),
            1 / size,
            felt(part),
            _FORM.search(part) is not None,
            _WANTED.search(part) is not None,
            min(len(part), 200) / 100,
            _FIGURES.search(part) is not None,
            min(len(said[place] & said[surest]), 4) / 2 if place != surest else 0,
        ]
        for place, part in enumerate(parts)
    ]
    return np.array(rows, np.float64)


@cache
def background() -> Background:
    """As it was fitted on the shipped wordings (dev/bench/background.py)."""
    return Background.of(json.loads(_DATA.read_text(encoding="utf-8")))


def asking(queries: Sequence[Sequence[str]], embedder: Embedder | None) -> list[list[bool]]:
    """Which of the first sentences of each of ``queries`` (turns) are no background; without an embedder all of them.

    What has to be embedded is embedded together.
    """
    read = [_first_sentences(turns) for turns in queries]
    # Nothing is embedded for a courtesy, nor for a single sentence.
    several = [part for turns in read for _, telling in turns if len(telling) > 1 for part in telling]
    vectors = embedder.embed(several) if embedder is not None and several else None
    found: list[list[bool]] = []
    start = 0
    for turns in read:
        own: list[bool] = []
        for parts, telling in turns:
            judged = [True] * len(telling)
            if vectors is not None and len(telling) > 1:
                judged = background().asking(telling, vectors[start : start + len(telling)])
                start += len(telling)
            left = iter(judged)
            own += [not telling or (part in telling and next(left)) for part in parts]
        found.append(own)
    return found


def _first_sentences(turns: Sequence[str]) -> list[tuple[list[str], list[str]]]:
    """Of each turn the sentences that may be background, and those of them that are no courtesy."""
    found: list[tuple[list[str], list[str]]] = []
    number, left_over = 0, JUDGED_CHARACTERS
    for turn in turns:
        own = sentences(turn)[: JUDGED - number]
        lengths = list(accumulate(map(len, own)))
        parts = own[: bisect_right(lengths, left_over)]
        left_over -= sum(map(len, own))
        number += len(parts)
        telling = [part for part in parts if not courteous(part)] if _may_be_courteous(turn, parts) else parts
        found.append((parts, telling))
    return found


def core(turns: Sequence[str], asking: Sequence[bool]) -> tuple[str, ...]:
    """What each of ``turns`` asks, plainly: its ``asking`` sentences, and all that were not judged."""
    left = iter(asking)
    return tuple(plain(" ".join(part for part in sentences(turn) if next(left, True))) for turn in turns)
