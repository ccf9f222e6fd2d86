"""Whether a query's text is of a kind that a fit can judge: its script, its language, words at all (semantics 2.4).

Which scripts and languages are familiar follows from the exemplars alone.  The file ``languages.npz`` knows how 139
languages are written (from py3langid, see ``dev/bench/familiarity.py``); the fit says which of them it has seen.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from math import sqrt
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from incumbent.classifier.embedded.exact import log, log_of
from incumbent.classifier.model import Unfamiliar
from incumbent.classifier.visible_text import clean, read_turns
from incumbent.text.placeholders import without_placeholders

TABLE: Final = Path(__file__).with_name("languages.npz")
NO_LANGUAGE: Final = "zxx"
"""The class of identifiers, numbers and markup (ISO 639-2)."""

LONGEST: Final = 6
"""Bytes in the longest sequence of the file."""

WEIGHT_STEPS: Final = 64
"""How finely ln(1 + count) is counted."""


@dataclass(frozen=True, eq=False, slots=True)
class Likeness:
    """How well each of ``languages`` explains a text: ``scores`` in nats, the greater the better, over √bytes.

    ``matched``: mean length in bytes of what is known of the text before each letter's last byte: short where letters
    follow each other as in no language.
    """

    languages: tuple[str, ...]
    scores: NDArray[np.float64]
    matched: float

    @property
    def best(self) -> str:
        """The likeliest language, or :data:`NO_LANGUAGE`."""
        return max(self.languages[place] for place in np.flatnonzero(self.scores == self.scores.max()).tolist())

    def margin(self, seen: frozenset[str]) -> float | None:
        """By how much the likeliest of ``seen`` is likelier than the likeliest other one; ``None`` without either."""
        own, others = _told_apart(self.languages, seen)
        return float(self.scores[own].max() - self.scores[others].max()) if own.size and others.size else None


@cache
def _told_apart(languages: tuple[str, ...], seen: frozenset[str]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The places of those ``languages`` that are ``seen``, and of the others."""
    is_seen = np.array([language in seen for language in languages])
    is_language = np.array([language != NO_LANGUAGE for language in languages])
    return np.flatnonzero(is_seen & is_language), np.flatnonzero(~is_seen & is_language)


@dataclass(frozen=True, eq=False, slots=True)
class LanguageTable:
    """The languages of one script.

    ``keys``: the known sequences as numbers (:func:`sequence_key`), ascending; ``costs``: for each, what it costs every
    language beyond the one it is most frequent in, in ``step`` nats, two languages to a byte.
    """

    languages: tuple[str, ...]
    keys: NDArray[np.uint64]
    costs: NDArray[np.uint8]
    step: float

    def likeness(self, texts: Sequence[str]) -> list[Likeness | None]:
        """How like its languages each of ``texts`` in folded case is; ``None`` of one that has no known sequence."""
        encoded = [f" {text} ".encode(errors="replace") for text in texts]
        sizes = np.array(list(map(len, encoded)))
        owners = np.repeat(np.arange(len(texts)), sizes)
        data = np.frombuffer(b"".join(encoded), np.uint8)
        places, lengths = self._longest(data, np.arange(len(data)) - (sizes.cumsum() - sizes)[owners])
        letters = (data >= 0x80) | ((data >= ord("a")) & (data <= ord("z")))
        means = np.bincount(owners[letters], lengths[letters]) / np.maximum(1, np.bincount(owners[letters]))
        known = places >= 0
        keys, counts = np.unique(owners[known] * len(self.keys) + places[known], return_counts=True)
        found: list[Likeness | None] = [None] * len(texts)
        texts_of, sequences = np.divmod(keys, len(self.keys))
        texts_of, begins = np.unique(texts_of, return_index=True)
        for text, sums in zip(texts_of.tolist(), self._sums(sequences, counts, begins.tolist()), strict=True):
            scores = sums * (-self.step / WEIGHT_STEPS / sqrt(len(encoded[text])))
            found[text] = Likeness(self.languages, scores, float(means[text]))
        return found

    def _sums(
        self, sequences: NDArray[np.intp], counts: NDArray[np.intp], begins: Sequence[int]
    ) -> Iterator[NDArray[np.float64]]:
        """What the ``sequences`` of each text, which ``begins`` there, cost each language."""
        packed = self.costs[sequences]
        # Whole numbers, of which no sum reaches 2²⁴: they are the same on every machine.
        halves = [half.astype(np.float32) for half in (packed >> 4, packed & 15)]
        weights = np.rint(log(1.0 + counts.astype(np.float64)) * WEIGHT_STEPS).astype(np.float32)
        for start, end in pairwise((*begins, len(packed))):
            sums = np.array([weights[start:end] @ half[start:end] for half in halves], np.float64)
            yield sums.T.reshape(-1)[: len(self.languages)]

    def _longest(self, data: NDArray[np.uint8], offsets: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.int8]]:
        """For each byte the place of the longest known sequence that ends with it (−1: none), and its length.

        ``offsets``: how many bytes of its text are before each.
        """
        size = len(data)
        places = np.full(size, -1, np.intp)
        lengths = np.zeros(size, np.int8)
        # A row for each length; no sequence has the number 0.
        wanted = np.zeros((LONGEST, size), np.uint64)
        numbers = np.zeros(size, np.uint64)
        wide = data.astype(np.uint64)
        for length in range(1, min(LONGEST, size) + 1):
            numbers[length - 1 :] |= wide[: size - length + 1] << np.uint64(8 * (length - 1))
            np.bitwise_or(
                numbers, np.uint64(length << 8 * LONGEST), out=wanted[length - 1], where=offsets >= length - 1
            )
        flat = wanted.reshape(-1)
        flat_places = np.flatnonzero(_marks(self)[_marked(flat)])
        found = np.searchsorted(self.keys, flat[flat_places])
        known = self.keys[np.minimum(found, len(self.keys) - 1)] == flat[flat_places]
        rows, ends = np.divmod(flat_places[known], size)
        # Of several that end in one place the last is the longest.
        places[ends] = found[known]
        lengths[ends] = rows + 1
        return places, lengths


_MARK_BITS: Final = 20
_SPREAD: Final = np.uint64(0x9E37_79B9_7F4A_7C15)


def _marked(keys: NDArray[np.uint64]) -> NDArray[np.intp]:
    """Which mark each of ``keys`` has; several may have the same."""
    return ((keys * _SPREAD) >> np.uint64(64 - _MARK_BITS)).astype(np.intp)


@cache
def _marks(table: LanguageTable) -> NDArray[np.bool_]:
    """The marks that any key of ``table`` has: most sequences of a text have none, which is seen sooner than sought."""
    found = np.zeros(1 << _MARK_BITS, bool)
    found[_marked(table.keys)] = True
    return found


def sequence_key(sequence: bytes) -> int:
    """A number for a sequence of at most :data:`LONGEST` bytes: its length, then its bytes."""
    return len(sequence) << 8 * LONGEST | int.from_bytes(sequence)


@cache
def load_tables() -> Mapping[str, LanguageTable]:
    """The tables of the shipped file, by script."""
    with np.load(TABLE, allow_pickle=False) as file:
        scripts = bytes(file["scripts"]).decode().split()
        step = float(file["step"])
        return {
            script: LanguageTable(
                tuple(bytes(file[f"{script}.languages"]).decode().split()),
                file[f"{script}.keys"],
                file[f"{script}.costs"],
                step,
            )
            for script in scripts
        }


READ_CHARACTERS: Final = 1_000
"""How much of a query is read: of longer ones the beginning and the end of every turn."""

SETTINGS: Final = Path(__file__).with_name("familiarity.json")

_Arrays: TypeAlias = Mapping[str, NDArray[Any]]
_Hashes: TypeAlias = NDArray[np.int32]

_LETTERS: Final = frozenset({"Ll", "Lu", "Lt", "Lo"})
_BETWEEN: Final = re.compile(r"[\s'’-]+")
_RUNS: Final = re.compile(r"[^\W\d_]+")
_MARKS: Final = re.compile(
    r"[=!<>]=|=>|->|::|&&|\|\||</|/>|\$\{|\{\{|\w\(|\w\[|[;{}]|\\\w|_(?=\w)|(?<!\S)--?\w|(?<=\s)[=|<>*+](?=\s)|\w=[\w\"']"
    r"|[\"'][:,\]]|\w\.\w|\d:\d\d:\d\d|\d{4}-\d\d-\d\d|[\w.]/\w|\w:\w|,(?=\S)|(?<=\s)\[\w+\]"
)
"""What code, data and logs are full of: operators, brackets at words, options, time stamps, lists without blanks."""

_MAY_MARK: Final = re.compile(
    r"[=>&|/${}(\[;\\_+*<\-:\"'.,\d]"
    r"(?:(?<=[=>&|/${}(\[;\\_+*<])|(?<=-)(?<!\S-)|(?<=:)\S|(?<=[\"'])[:,\]]|(?<=[.,])\S|(?<=\d)-\d)"
)
"""A part of whatever they match, which is found sooner: it begins with one set of characters."""

_NAMES: Final = re.compile(
    r"https?://\S+|(?:(?<!\S)|(?<=>))\S+@\S+|<[\w -]+>|(?<!\S)['\"]?[/~.]?[\w-]+(?:[./][\w-]+)+/?['\",.?!]*(?!\S)"
)
"""Addresses, names of files and placeholders: a request has them too."""

_MAY_NAME: Final = re.compile(r"[@<./](?:(?<=[@<])|(?<=/)/|(?<=[./])[\w-])")
"""A part of whatever they match, which is found sooner: it begins with one set of characters."""

_STRIPPED: Final = "\"'`´.,;:!?¡¿()[]«»„“”‘’‚…*-–—،؟؛।。、"  # noqa: RUF001


@dataclass(frozen=True, slots=True)
class TextFamiliarity:
    """Whether a text can be judged.  ``score``: how far it is on the unfamiliar side, in logits (0 is the border).

    ``why``: what it is instead, ``None`` if familiar.  ``language``: what it looks most like, an ISO 639 code, if its
    script has several languages.
    """

    familiar: bool
    score: float
    why: Unfamiliar | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """``familiarity.json``: every bound and weight, written by ``python -m dev.bench familiarity --write``.

    What counts as seen: ``seen_share`` and ``seen_count``: of the exemplars of one language code, how many must be in a
    script or language.  ``frequent_share``: in how many exemplars a frequent word is.  ``learnt_texts``: how many
    exemplars of a code are looked at for their language.

    How text is counted: ``letter_weights``: how much text a letter of a script without blanks or with dense signs is, 1
    for the others; up to ``dense_share`` of such letters words are counted.  ``stem_length``: letters of a stem.
    ``code_words``: keywords and commands.

    What decides: ``unseen_script``: share of the letters.  ``least_letters``: of a text whose language can be told.
    ``most_unknown``: words that no exemplar has, of which more do not make a language surer.  ``least_words``: of
    exemplars, to tell words from other letters; ``gibberish_scripts``: where that is done.  ``blob_length``: characters
    without a blank that are neither word nor name.  ``weights``: of the measures for each reason, with a ``bias``.
    """

    seen_share: float
    seen_count: int
    frequent_share: float
    learnt_texts: int
    letter_weights: Mapping[str, float]
    dense_share: float
    unseen_script: float
    most_unknown: int
    least_letters: int
    least_words: int
    blob_length: int
    stem_length: int
    gibberish_scripts: tuple[str, ...]
    code_words: frozenset[str]
    weights: Mapping[Unfamiliar, Mapping[str, float]]


@dataclass(frozen=True)
class FoldedText:
    """A ``text`` in folded case, how often each character is in it, and the weight of its letters by ``scripts``."""

    text: str
    characters: Mapping[str, int]
    scripts: Mapping[str, float]

    @cached_property
    def tokens(self) -> list[str]:
        """What is between blanks, hyphens and apostrophes, without the signs at its ends."""
        return _tokens_of(self.text)

    @cached_property
    def words(self) -> list[str]:
        """The tokens of letters alone."""
        return _words_of(self.tokens)

    @property
    def script(self) -> str | None:
        """The script of most letters; ``None`` without letters."""
        return max(sorted(self.scripts), key=self.scripts.__getitem__) if self.scripts else None

    @property
    def worded(self) -> bool:
        """Whether it is in words with blanks between them."""
        bounds = settings()
        dense = sum(self.scripts.get(name, 0.0) for name in bounds.letter_weights)
        return dense <= bounds.dense_share * sum(self.scripts.values())


@cache
def settings() -> Settings:
    """The shipped settings."""
    read = json.loads(SETTINGS.read_text(encoding="utf-8"))
    del read["comment"]
    return Settings(**{**read, "code_words": frozenset(read["code_words"])})


def read(turns: Sequence[str]) -> FoldedText:
    """The turns as one text without regard to case and white space; time and memory are bounded."""
    turns = read_turns(turns)
    share = READ_CHARACTERS // max(1, len(turns))
    text = " ".join(" ".join(clean(turn, share) for turn in turns).casefold().split())
    weights = settings().letter_weights
    counts = Counter(text.replace(" ", ""))
    scripts: dict[str, float] = {}
    for character, count in counts.items():
        name = script_of(character)
        if name is not None:
            scripts[name] = scripts.get(name, 0.0) + count * weights.get(name, 1.0)
    return FoldedText(text, counts, scripts)


@cache
def script_of(character: str) -> str | None:
    """The script of a letter, as the first word of its Unicode name; ``None`` for all else."""
    if unicodedata.category(character) not in _LETTERS:
        return None
    return unicodedata.name(character, "UNKNOWN").split()[0].split("-")[0]


@dataclass(frozen=True, eq=False)
class Familiarity:
    """What the exemplars of a fit were written in; learnt once, kept as arrays in the fitted model.

    ``languages``: ISO 639 codes.  ``words``, ``stems`` (how they begin), ``frequent``: sorted checksums of the words
    of the exemplars.
    """

    scripts: frozenset[str]
    languages: frozenset[str]
    words: _Hashes
    stems: _Hashes
    frequent: _Hashes

    @staticmethod
    def learn(texts: Sequence[tuple[str, ...]], languages: Sequence[str | None]) -> Familiarity:
        """What ``texts`` (the turns of each exemplar) are written in; ``languages``: the code of a translation.

        Deterministic; the order of the exemplars does not matter.
        """
        bounds = settings()
        kinds: dict[str | None, list[FoldedText]] = {}
        for turns, language in zip(texts, languages, strict=True):
            kinds.setdefault(language, []).append(read(turns))
        scripts: set[str] = set()
        seen: set[str] = set()
        words: set[str] = set()
        frequent: set[str] = set()
        for language, readings in kinds.items():
            least = max(bounds.seen_count, bounds.seen_share * len(readings))
            own = Counter(reading.script for reading in readings if reading.script is not None)
            scripts |= {name for name, count in own.items() if count >= least}
            seen |= _languages_of(readings) | ({language} if language is not None else set())
            documents = Counter(word for reading in readings for word in set(reading.words))
            words |= documents.keys()
            common = max(bounds.seen_count, bounds.frequent_share * len(readings))
            frequent |= {word for word, count in documents.items() if count >= common}
        stems = {word[: bounds.stem_length] for word in words}
        return Familiarity(frozenset(scripts), frozenset(seen), _hashes(words), _hashes(stems), _hashes(frequent))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Arrays for the fitted model; :meth:`from_arrays` reads them."""
        return {
            "familiar_scripts": _encode(self.scripts),
            "familiar_languages": _encode(self.languages),
            "familiar_words": self.words,
            "familiar_stems": self.stems,
            "familiar_frequent": self.frequent,
        }

    @staticmethod
    def from_arrays(arrays: _Arrays) -> Familiarity | None:
        """What :meth:`arrays` gave; ``None`` if these are other arrays."""
        try:
            scripts, languages = _decode(arrays["familiar_scripts"]), _decode(arrays["familiar_languages"])
            words, stems, frequent = (arrays[f"familiar_{name}"] for name in ("words", "stems", "frequent"))
        except (KeyError, ValueError):
            return None
        if any(array.dtype != np.int32 or array.ndim != 1 for array in (words, stems, frequent)):
            return None
        return Familiarity(scripts, languages, words, stems, frequent)

    def judge(self, turns: Sequence[str]) -> TextFamiliarity:
        """Whether the query can be judged, and what it is instead; the same text, the same answer."""
        return self.judge_all([turns])[0]

    def judge_all(self, queries: Sequence[Sequence[str]]) -> list[TextFamiliarity]:
        """:meth:`judge` of each of ``queries``: many are read together in less time.

        Placeholders of a template are no sign of code.
        """
        readings = [read(list(map(without_placeholders, turns))) for turns in queries]
        return list(map(self._judged, readings, self.measures(readings)))

    def _judged(self, reading: FoldedText, measured: tuple[dict[str, float], Likeness | None]) -> TextFamiliarity:
        bounds = settings()
        measures, likeness = measured
        language = likeness.best if likeness is not None else None
        total = sum(reading.scripts.values())
        unseen = sum(weight for name, weight in reading.scripts.items() if name not in self.scripts)
        if self.scripts and unseen and unseen >= bounds.unseen_script * total:
            return TextFamiliarity(False, unseen / total, "script", language)
        scores: dict[Unfamiliar, float] = {}
        for why, weights in bounds.weights.items():
            if all(name in measures for name in weights if name != "bias") and self.is_decidable(why, measures):
                scores[why] = sum(weight * measures.get(name, 1.0) for name, weight in weights.items())
        if not scores:
            return TextFamiliarity(True, 0.0)
        worst = max(scores, key=scores.__getitem__)
        familiar = scores[worst] <= 0
        return TextFamiliarity(familiar, round(scores[worst], 9), None if familiar else worst, language)

    @staticmethod
    def is_decidable(why: Unfamiliar, measures: Mapping[str, float]) -> bool:
        """Whether the text shows enough of itself to judge ``why``.

        A language takes words that no exemplar has and, like gibberish, enough letters; code takes a letter.
        """
        if why == "code":
            return measures["letters"] > 0
        enough = measures["letter_count"] >= settings().least_letters
        return enough and (why == "gibberish" or measures["unknown"] > 0)

    def measures(self, readings: Sequence[FoldedText]) -> list[tuple[dict[str, float], Likeness | None]]:
        """For each text the measures that the weights of the settings are for, those that it has."""
        return list(map(self._measured, readings, _likenesses(readings)))

    def _measured(self, reading: FoldedText, likeness: Likeness | None) -> tuple[dict[str, float], Likeness | None]:
        measures = self._word_measures(reading) if reading.worded else {}
        if likeness is None:
            return measures, None
        if reading.script in settings().gibberish_scripts and len(self.words) >= settings().least_words:
            measures |= {"matched": likeness.matched}
        margin = likeness.margin(self.languages)
        if margin is not None:
            measures["foreign"] = -margin
        return measures, likeness

    def _word_measures(self, reading: FoldedText) -> dict[str, float]:
        characters = [(_character(character), number) for character, number in reading.characters.items()]
        count = max(1, sum([number for kind, number in characters if kind.printable]))
        letters = sum([number for kind, number in characters if kind.letter])
        code_words, most_unknown = settings().code_words, settings().most_unknown
        runs = _RUNS.findall(reading.text)
        words = [self._word(word) for word in reading.words]
        known = sum([word.known for word in words])
        prose = [word for word in words if not word.code]
        named = _NAMES.sub(" ", reading.text) if _MAY_NAME.search(reading.text) else reading.text
        marks = len(_MARKS.findall(named)) if _MAY_MARK.search(named) else 0
        unnamed = reading.words if named is reading.text else _words_of(_tokens_of(named))
        blobs = [
            token for token in named.split() if len(token) >= settings().blob_length and token not in reading.words
        ]
        return {
            "signs": sum([number for kind, number in characters if kind.sign]) / count,
            "letters": letters / count,
            "letter_count": letters,
            "blobs": sum(map(len, blobs)) / count,
            "digits": sum([number for kind, number in characters if kind.digit]) / count,
            "marks": marks / max(1, len(reading.tokens)),
            "many_marks": log_of(1.0 + marks),
            "code_words": sum(run in code_words for run in runs) / max(1, len(runs)),
            "frequent": sum([word.frequent for word in prose]) / max(1, len(prose)),
            "strange": log_of(1.0 + sum([word.strange for word in words])),
            "known": known / max(1, len(words)),
            "unknown": min(len(words) - known, most_unknown) / most_unknown,
            "wordless": 1.0 - sum(map(len, unnamed)) / max(1, len("".join(named.split()))),
        }

    @cached_property
    def _word(self) -> Callable[[str], _Word]:
        """What is known of a word; of those asked about last it is remembered."""
        known, stems, frequent = (frozenset(each.tolist()) for each in (self.words, self.stems, self.frequent))
        code, length = settings().code_words, settings().stem_length

        @lru_cache(maxsize=16_384)
        def found(word: str) -> _Word:
            own = _hash(word)
            return _Word(own in known, _hash(word[:length]) not in stems, own in frequent, word in code)

        return found


class _Word(NamedTuple):
    """Whether an exemplar has a word, none has one that begins alike, many have it, and code is full of it."""

    known: bool
    strange: bool
    frequent: bool
    code: bool


class _Character(NamedTuple):
    """What a character is; code has more signs than prose: brackets, operators, quotes, and no full stop."""

    printable: bool
    letter: bool
    sign: bool
    digit: bool


@cache
def _character(character: str) -> _Character:
    sign = not character.isalnum() and character not in ".,?!-'’:" and character.isascii()
    return _Character(character.isprintable(), character.isalpha(), sign, character.isdecimal())


def _tokens_of(text: str) -> list[str]:
    return [part.strip(_STRIPPED) for part in _BETWEEN.split(text)]


def _words_of(tokens: Sequence[str]) -> list[str]:
    return [token for token in tokens if token and (token.isalpha() or all(map(_is_in_words, token)))]


def _likenesses(readings: Sequence[FoldedText]) -> list[Likeness | None]:
    """How like the languages of its script each of ``readings`` is; ``None`` where that says nothing."""
    found: list[Likeness | None] = [None] * len(readings)
    scripts: defaultdict[str | None, list[int]] = defaultdict(list)
    for place, reading in enumerate(readings):
        if reading.worded:
            scripts[reading.script].append(place)
    for script, places in scripts.items():
        table = load_tables().get(script or "")
        if table is not None:
            for place, likeness in zip(places, table.likeness([readings[at].text for at in places]), strict=True):
                found[place] = likeness
    return found


def _languages_of(readings: Sequence[FoldedText]) -> set[str]:
    """The languages that enough of ``readings`` are most like; of very many readings every so many are looked at."""
    bounds = settings()
    ordered = sorted(readings, key=lambda reading: crc32(reading.text.encode(errors="replace")))[: bounds.learnt_texts]
    found = Counter(likeness.best for reading in ordered for likeness in _likenesses([reading]) if likeness is not None)
    least = max(bounds.seen_count, bounds.seen_share * len(ordered))
    return {language for language, count in found.items() if count >= least and language != NO_LANGUAGE}


@cache
def _is_in_words(character: str) -> bool:
    """Letters, and the vowel signs and accents of several scripts."""
    return unicodedata.category(character)[0] in "LM"


def _hash(word: str) -> int:
    return crc32(word.encode(errors="replace")) - 2**31


def _hashes(words: set[str]) -> _Hashes:
    return np.array(sorted({_hash(word) for word in words}), np.int32)


def _encode(names: frozenset[str]) -> NDArray[np.uint8]:
    return np.frombuffer("\n".join(sorted(names)).encode(), np.uint8)


def _decode(array: NDArray[Any]) -> frozenset[str]:
    return frozenset(array.tobytes().decode().split("\n")) - {""}
