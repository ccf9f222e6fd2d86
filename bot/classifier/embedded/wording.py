"""What a query asks, without how it is dressed: courtesies, chat spellings, and sentences that only tell a story.

Courtesies carry no tag (docs/classifier.md), and neither does background; a query asks for the same with and without
them.  The words are those of English and the commonest of the other supported languages; sentences are told apart by
their embeddings, in any language.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bot.classifier.embedded.embedding import SCALE, Embedder

JUDGED: Final = 64
"""How many sentences of a query may be background; what stands behind them counts as asking."""

_SENTENCE_END: Final = re.compile(r"(?<=[.!?؟।…])[\"”’)]*\s+|(?<=[。！？])|\n+")  # noqa: RUF001
_START: Final = r"(?:,\s+|^|(?<=[\s,.;:!?]))"
_STOP: Final = r"(?=$|[\s,.;:!?–-])\s*[,!:–-]*"
_DOUBLED: Final = re.compile(r"(?<=[.!?])(?:\s*[,.!;:])+")
_SIGNS: Final = " ,.!?;:-–—。！？、"  # noqa: RUF001

_COURTESIES: Final = (
    (
        r"(?:hi|hello|hey|hiya|yo|dear|howdy|greetings|good (?:morning|afternoon|evening|day))"
        r"(?: there| team| all| everyone| folks| friend| again)?"
    ),
    (
        r"(?:sorry to (?:bother|trouble) you|excuse me|pardon me|if (?:it is|it'?s|it isn't|it's not) too much trouble"
        r"|if (?:you (?:do not|don't) mind|possible|you (?:get|have) a (?:chance|moment|minute)|you would be so kind)"
        r"|when(?:ever)? you (?:get|have) a (?:moment|minute|sec(?:ond)?|chance)|at your earliest convenience)"
    ),
    (
        r"(?:many thanks|thanks(?: so much| very much| a lot| a million| a bunch| in advance| again)*"
        r"|thank you(?: so much| very much| kindly| ever so much| in advance"
        r"| for your (?:help|time|trouble|assistance))*"
        r"|thx|tysm|cheers|much (?:obliged|appreciated)|i(?:'d| would)(?: really| greatly)? (?:appreciate it"
        r"|be (?:most |very |so )?(?:grateful|thankful|obliged))|(?:best|kind) regards"
        r"|have a (?:nice|good|great|lovely) (?:day|evening|weekend))"
    ),
    r"(?:please|pls+|plz|kindly|lol|lmao|haha|btw|tbh|fyi|um+|uh+|ta)",
    (
        r"(?:bitte|danke(?: schön| sehr| im voraus)?|vielen dank|hallo|guten (?:tag|morgen|abend)|liebe grüße"
        r"|por favor|gracias(?: de antemano)?|muchas gracias|hola|buenos días|buenas tardes"
        r"|s'il (?:vous|te) pla[iî]t|merci(?: beaucoup| d'avance)?|bonjour|bonsoir|salut"
        r"|obrigad[oa]|muito obrigad[oa]|olá|bom dia|boa tarde|per favore|grazie(?: mille)?|ciao|buongiorno|buonasera"
        r"|alstublieft|alsjeblieft|dank je(?: wel)?|bedankt|hoi|goedemorgen|proszę|dziękuję|dzień dobry|cześć"
        r"|lütfen|teşekkürler|teşekkür ederim|merhaba|günaydın)"  # noqa: RUF001
    ),
)
_COURTESY: Final = re.compile(_START + "(?:" + "|".join(_COURTESIES) + ")" + _STOP, re.IGNORECASE)
# Within a clause they mean something: "so far", "who knows it well".
_FILLER: Final = re.compile(
    r"(?:^|(?<=[.!?]\s))(?:(?:so|well|okay|ok|right|anyway|anyhow|basically|actually|honestly"
    r"|quick question"
    r"|in any case|in short|in other words|(?:to cut a )?long story short|that(?:['’]s| is) why|which is why"
    r"|(?:so )?there it is|therefore|hence|kurz gesagt|jedenfalls|naja|na ja|bueno|en fin|bref|enfin|insomma|dus)"
    r"(?=$|[\s,.;:!?–-])[\s,.!:–-]*)+",
    re.IGNORECASE,
)
# What is left of "please and thank you".
_JOINING_NOTHING: Final = re.compile(r"(?:^|[\s,]+)(?:and|n|&)[\s.!?]*$", re.IGNORECASE)
_BORDERLESS: Final = re.compile(
    "(?:お願いします|お願いいたします|お世話になっております|すみません|ありがとうございます|こんにちは|请问|谢谢|您好|你好"
    "|麻烦您?|감사합니다|안녕하세요|부탁드립니다|부탁드려요"
    "|من فضلك|لو سمحت|شكرا(?: جزيلا)?|مرحبا|السلام عليكم|कृपया|धन्यवाद|नमस्ते)"
)
_ASKING: Final = re.compile(
    r"(?:^|(?<=[\s,.;:!?]))(?:(?:could|can|would|will|might|may) (?:you|u|ya|i|we)"
    r"(?: (?:possibly|perhaps|maybe|kindly|just|also|be so kind as to|be able to|help me(?: to)?|mind"
    r"|ask(?: you)?(?: to)?))*"
    r"|(?:would|do) you mind|i(?:'d| would| was) (?:like|love|wondering|hoping)(?: it)?(?: if)?"
    r"(?: you| to| know| for you to| u)*(?: could| can| would)?|i (?:just )?(?:want|need|wanna)(?: you)? to(?: know)?"
    r"|i(?: a|')m after|any chance (?:you|u)(?: could| can)?|be (?:so )?kind as to|is it possible to"
    r"|(?:könntest|könnten|könnt|kannst|können|würdest|würden) (?:du|sie|ihr)(?: mir| uns)?"
    r"|¿?(?:podrías|podría|puedes|puede)(?: usted)?|(?:pourriez|pouvez)-vous|(?:pourrais|peux)-tu"
    r"|(?:potresti|potrebbe|puoi|può)|(?:você )?(?:poderia|pode)|(?:kun|zou) je(?: mij| me)?|kunt u(?: mij)?"
    r"|czy (?:możesz|mógłbyś|mogłabyś|może pan|może pani))\s+",
    re.IGNORECASE,
)
_WANTING: Final = r"(?: really| just| actually|['’]m| am|['’]d| would)*"
_WRAPPER: Final = re.compile(
    r"(?:^|(?<=[\s,.;:!?]))(?:"
    r"(?:what|all|the (?:only )?thing) (?:that )?(?:i|we)" + _WANTING + r" (?:need|want|require|like|after|looking for"
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
    r")[,:]?(?=\s)\s*",
    re.IGNORECASE,
)
_AFTERWARDS: Final = re.compile(
    r"[,–—-]?\s+(?:is|are) (?:what|all|everything|the thing)(?: that)? (?:i|we)"
    + _WANTING
    + r" (?:need|want|like|after|looking for|ask(?:ing)?(?: for)?)(?: to know| to see| to have| from you| today| now)*"
    r"(?=$|[\s,.;:!?])",
    re.IGNORECASE,
)
_ENGLISH: Final = re.compile(
    r"\b(?:the|for|of|our|what|whats|how|this|is|from|which|whos|who|show|find|get|give|gimme|pls|plz|thx|can|u|and|my|it"
    r"|to)\b",
    re.IGNORECASE,
)
_PLUS: Final = re.compile(r"(?<=[^\W\d_]) \+ (?=[^\W\d_])")
_HANDED_OVER: Final = re.compile(
    r"\b(?:attach\w*|enclos\w*|upload\w*|here(?:['’]s| is| are)|this is|i (?:took|recorded))\b",
    re.IGNORECASE,
)
_QUESTIONS: Final = ("?", "？", "؟")  # noqa: RUF001
_CONDITION: Final = re.compile(
    r"^(?:and |but )?(?:if|unless|otherwise|else|in case|should|when"
    r"|wenn|falls|sonst|si|sinon|se|als|anders|jeśli|eğer)\b"
    r"|もし|如果|إذا|अगर",
    re.IGNORECASE,
)
_SPACES: Final = re.compile(r"\s+")
_DATA: Final = Path(__file__).with_name("background.json")
_TELLING: Final = re.compile(
    r"\b(?:(?:tell|telling) (?:me|us)|let(?:ting)? (?:me|us) know)"
    r"(?=,? (?:who|whose|what|which|when|where|why|how|whether|if)\b),?\s+",
    re.IGNORECASE,
)
_SEEING: Final = re.compile(r"\b(?:i|we)(?:['’]d| would) (?:like|love) to see\b", re.IGNORECASE)
_SPELLINGS_DATA: Final = Path(__file__).with_name("spellings.json")


def plain(text: str) -> str:
    """``text`` without courtesies and chat spellings, in lower case; as it is where nothing else is in it."""
    shorter = _BORDERLESS.sub(" ", text)
    # What stands behind a courtesy may be another.
    for _ in range(2):
        shorter = _SPACES.sub(" ", _FILLER.sub("", _COURTESY.sub(" ", shorter))).strip()
    shorter = _JOINING_NOTHING.sub("", _DOUBLED.sub("", shorter))
    shorter = _AFTERWARDS.sub("", _WRAPPER.sub("", _SEEING.sub("show me", shorter)))
    shorter = _TELLING.sub("", _ASKING.sub("", _SPACES.sub(" ", shorter).strip()))
    shorter = _spelled_out(shorter, _ENGLISH.search(text) is not None)
    return _SPACES.sub(" ", shorter).strip(_SIGNS).lower() or text.lower()


def courteous(part: str) -> bool:
    """Whether a sentence is a courtesy and no more."""
    return not _COURTESY.sub(" ", _COURTESY.sub(" ", _BORDERLESS.sub(" ", part))).strip(_SIGNS)


def _spelled_out(text: str, english: bool) -> str:
    """``text`` with chat spellings written out, also those that are words of other languages if it is ``english``."""
    anywhere, in_english = _spellings()
    found = anywhere.sub(text)
    return in_english.sub(_PLUS.sub(" and ", found)) if english else found


@dataclass(frozen=True)
class _Spellings:
    """Words and what they stand for."""

    meanings: dict[str, str]
    pattern: re.Pattern[str]

    @staticmethod
    def of(meanings: dict[str, str]) -> _Spellings:
        """The longest first: one may begin another."""
        words = "|".join(map(re.escape, sorted(meanings, key=len, reverse=True)))
        return _Spellings(meanings, re.compile(rf"(?<![\w'’#@./-])(?:{words})(?![\w'’@/-]|\.\w)", re.IGNORECASE))

    def sub(self, text: str) -> str:
        """``text`` with the words replaced."""
        return self.pattern.sub(lambda found: self.meanings[found[0].lower()], text)


@cache
def _spellings() -> tuple[_Spellings, _Spellings]:
    """Those of any text, and those of English texts alone."""
    held = json.loads(_SPELLINGS_DATA.read_text(encoding="utf-8"))
    return _Spellings.of(held["any"]), _Spellings.of(held["english"])


def sentences(text: str) -> list[str]:
    """The sentences of a text, in order."""
    return [part.strip() for part in _SENTENCE_END.split(text) if part and part.strip()]


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
            np.array(held["weights"]),
            held["intercept"],
            np.array(held["context_weights"]),
            held["context_intercept"],
            held["cut"],
        )

    def asking(self, parts: Sequence[str], embedder: Embedder) -> list[bool]:
        """Which sentences are no background; at least the one that is least so."""
        alone = embedder.embed(parts) / SCALE @ self.weights + self.intercept
        scores = (in_context(parts, alone) @ self.context_weights + self.context_intercept).round(6).tolist()
        least = min(self.cut, max(scores))
        return [score >= least for score in scores]


_SUREST: Final = 8.0
"""A sentence alone is not surer than that: its embedding says no more."""


def hands_over(part: str) -> bool:
    """Whether a sentence says in so many words that something comes with the query."""
    return _HANDED_OVER.search(part) is not None


def in_context(parts: Sequence[str], alone: NDArray[np.float64]) -> NDArray[np.float64]:
    """What says whether each of ``parts``, a row for each, is background; ``alone`` is what each says by itself.

    Its own score, the best of the others, those before and after, whether it follows the surest or is it, is the first
    or last, is a question, hands something over or states a condition; and how few there are.
    """
    size = len(parts)
    scores = np.clip(alone, -_SUREST, _SUREST)
    surest = int(np.argmax(scores))
    bordered = np.concatenate([[0.0], scores, [0.0]])
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
            _CONDITION.search(part) is not None,
            1 / size,
        ]
        for place, part in enumerate(parts)
    ]
    return np.array(rows, np.float64)


@cache
def background() -> Background:
    """As it was fitted on the shipped wordings (bench/background.py)."""
    return Background.of(json.loads(_DATA.read_text(encoding="utf-8")))


def asking(turns: Sequence[str], embedder: Embedder | None) -> list[bool]:
    """Which of the first :data:`JUDGED` sentences of ``turns`` are no background; without an embedder all of them."""
    found: list[bool] = []
    for turn in turns:
        parts = sentences(turn)[: JUDGED - len(found)]
        # Nothing is embedded for a courtesy, nor for a single sentence.
        telling = [part for part in parts if not courteous(part)]
        several = embedder is not None and len(telling) > 1
        judged = background().asking(telling, embedder) if several and embedder is not None else [True] * len(telling)
        left = iter(judged)
        found += [not telling or (part in telling and next(left)) for part in parts]
    return found


def core(turns: Sequence[str], asking: Sequence[bool]) -> tuple[str, ...]:
    """What each of ``turns`` asks, plainly: its ``asking`` sentences, and all that were not judged."""
    left = iter(asking)
    return tuple(plain(" ".join(part for part in sentences(turn) if next(left, True))) for turn in turns)
