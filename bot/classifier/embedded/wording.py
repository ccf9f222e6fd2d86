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

_SENTENCE_END: Final = re.compile(r"(?<=[.!?؟।…])[\"”’)]*\s+|(?<=[。！？])|\n+")  # noqa: RUF001
_START: Final = r"(?:^|(?<=[\s,.;:!?]))"
_STOP: Final = r"(?=$|[\s,.;:!?–-])\s*[,.!:–-]*"
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
    r"(?:please|pls+|plz|kindly|lol|lmao|haha|btw|tbh|fyi|okay|ok|so|um+|uh+|well|anyway|quick question)",
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
_BORDERLESS: Final = re.compile(
    "(?:お願いします|お願いいたします|お世話になっております|すみません|ありがとうございます|こんにちは|请问|谢谢|您好|你好"
    "|麻烦您?|감사합니다|안녕하세요|부탁드립니다|부탁드려요"
    "|من فضلك|لو سمحت|شكرا(?: جزيلا)?|مرحبا|السلام عليكم|कृपया|धन्यवाद|नमस्ते)"
)
_ASKING: Final = re.compile(
    _START + r"(?:(?:could|can|would|will|might|may) (?:you|u|ya|i|we)"
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
_SPELLINGS: Final = {
    "u": "you",
    "ur": "your",
    "r": "are",
    "gimme": "give me",
    "lemme": "let me",
    "wanna": "want to",
    "gonna": "going to",
    "tmrw": "tomorrow",
    "rn": "now",
    "atm": "now",
    "whats": "what is",
    "what's": "what is",
    "hows": "how is",
    "wheres": "where is",
    "whos": "who is",
    "n": "and",
    "cuz": "because",
    "thru": "through",
    "info": "information",
    "mth": "month",
    "yr": "year",
    "wk": "week",
    "mtg": "meeting",
    "appt": "appointment",
}
_SPELLING: Final = re.compile(r"\b(?:" + "|".join(sorted(_SPELLINGS, key=len, reverse=True)) + r")\b", re.IGNORECASE)
_HANDED_OVER: Final = re.compile(
    r"\b(?:attach\w*|enclos\w*|upload\w*|otherwise|else|unless|here(?:['’]s| is| are)|this is|i (?:took|recorded))\b",
    re.IGNORECASE,
)
_SPACES: Final = re.compile(r"\s+")
_DATA: Final = Path(__file__).with_name("background.json")


def plain(text: str) -> str:
    """``text`` without courtesies and chat spellings, in lower case; as it is where nothing else is in it."""
    shorter = _BORDERLESS.sub(" ", text)
    # What stands behind a courtesy may be another.
    for _ in range(2):
        shorter = _COURTESY.sub(" ", shorter)
    shorter = _ASKING.sub("", _SPACES.sub(" ", shorter).strip())
    shorter = _SPELLING.sub(lambda found: _SPELLINGS[found[0].lower()], shorter)
    return _SPACES.sub(" ", shorter).strip(_SIGNS).lower() or text.lower()


def sentences(text: str) -> list[str]:
    """The sentences of a text, in order."""
    return [part.strip() for part in _SENTENCE_END.split(text) if part and part.strip()]


@dataclass(frozen=True)
class Background:
    """Tells sentences that ask for something, or say what is handed over or felt, from background.

    A logistic regression on the embedding of a sentence: ``weights`` and ``intercept``; below ``cut`` it is background,
    or below ``cut_handed_over`` where it hands something over or states a condition in so many words.
    """

    weights: NDArray[np.float64]
    intercept: float
    cut: float
    cut_handed_over: float

    @staticmethod
    def of(held: dict[str, Any]) -> Background:
        """As the data file has it."""
        return Background(np.array(held["weights"]), held["intercept"], held["cut"], held["cut_handed_over"])

    def asking(self, parts: Sequence[str], embedder: Embedder) -> list[str]:
        """The sentences that are no background; at least the one that is least so."""
        scores = (embedder.embed(parts) / SCALE @ self.weights + self.intercept).round(6).tolist()
        surest = max(scores)
        return [part for part, score in zip(parts, scores, strict=True) if score >= min(self._cut(part), surest)]

    def _cut(self, part: str) -> float:
        return self.cut_handed_over if _HANDED_OVER.search(part) else self.cut


@cache
def background() -> Background:
    """As it was fitted on the shipped wordings (bench/background.py)."""
    return Background.of(json.loads(_DATA.read_text(encoding="utf-8")))


def core(turns: Sequence[str], embedder: Embedder | None) -> tuple[str, ...]:
    """What each of ``turns`` asks, plainly; without an embedder background stays in."""
    found: list[str] = []
    for turn in turns:
        parts = sentences(turn)
        if embedder is not None and len(parts) > 1:
            parts = background().asking(parts, embedder)
        found.append(plain(" ".join(parts)))
    return tuple(found)
