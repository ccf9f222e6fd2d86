# ruff: noqa: RUF001  (letters of many languages)
"""What a fit cannot judge: scripts and languages its exemplars are not in, letters without words, code alone."""

from __future__ import annotations

import json
import random
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incumbent.classifier.embedded import familiarity
from incumbent.classifier.embedded.familiarity import Familiarity, load_tables, sequence_key
from incumbent.classifier.exemplars import training_data
from incumbent.files.snapshot import WorkingTree
from incumbent.taxonomy.loading import load_taxonomy
from tests.factories import REPOSITORY

ENGLISH = [
    "Where is my order and when will it arrive?",
    "Cancel the meeting on Thursday and tell Anna about it.",
    "How many days of leave do I have left this year?",
    "Send me a table of all open tickets from last month.",
    "Who is the manager of the warehouse in Leeds?",
    "Please translate the attached contract into German.",
    "If there is no room, book the one in the other building.",
    "what's the wifi password for the meeting room",
]
TRANSLATIONS = {
    "de": ["Wo ist meine Bestellung und wann kommt sie an?", "Sag bitte das Treffen am Donnerstag ab."],
    "es": ["¿Dónde está mi pedido y cuándo llega?", "Cancela la reunión del jueves y avisa a Ana."],
    "fr": ["Où est ma commande et quand arrive-t-elle ?", "Annule la réunion de jeudi et préviens Anne."],
    "pl": ["Gdzie jest moje zamówienie i kiedy dotrze?", "Odwołaj spotkanie w czwartek i powiadom Annę."],
    "tr": ["Siparişim nerede ve ne zaman gelecek?", "Perşembe günkü toplantıyı iptal et ve Ayşe'ye haber ver."],
    "ja": ["注文した荷物は今どこにありますか？", "木曜日の会議をキャンセルしてください。"],
    "zh": ["我的订单现在在哪里？什么时候到？", "请取消周四的会议并通知小李。"],
    "ko": ["제 주문은 지금 어디에 있나요?", "목요일 회의를 취소하고 민수에게 알려 주세요."],
    "ar": ["أين طلبي ومتى سيصل؟", "ألغِ اجتماع يوم الخميس وأخبر سارة بذلك."],
    "hi": ["मेरा ऑर्डर कहाँ है और कब पहुँचेगा?", "गुरुवार की बैठक रद्द करो और सुनीता को बता दो।"],
}


@cache
def english() -> Familiarity:
    return Familiarity.learn([(text,) for text in ENGLISH], [None] * len(ENGLISH))


@cache
def many() -> Familiarity:
    pairs = [(text, None) for text in ENGLISH] + [(text, code) for code, own in TRANSLATIONS.items() for text in own]
    return Familiarity.learn([(text,) for text, _ in pairs], [code for _, code in pairs])


@cache
def shipped() -> Familiarity:
    """Of as many words as it takes to tell letters in a random order from words."""
    texts = training_data(load_taxonomy(WorkingTree(REPOSITORY))).exemplars
    return Familiarity.learn(texts, [None] * len(texts))


FAMILIAR = [
    "status 4411?",
    "Ask Siobhán to call Krzysztof Brzęczyszczykiewicz about SKU ZX-4410-QL.",
    "pls cancel teh meeting tomorow thx",
    "Wie viele Urlaubstage habe ich dieses Jahr noch?",
    "Schick mir bitte eine Tabelle aller offenen Tickets vom letzten Monat.",
    "¿Cuántos días de vacaciones me quedan este año?",
    "Combien de jours de congé me reste-t-il cette année ?",
    "Ile dni urlopu zostało mi w tym roku?",
    "Bu yıl kaç gün iznim kaldı?",
    "今年の有給休暇は何日残っていますか？",
    "我今年还剩多少天年假？",
    "올해 남은 휴가가 며칠인가요?",
    "كم يوم إجازة بقي لي هذا العام؟",
    "इस साल मेरी कितनी छुट्टियाँ बची हैं?",
    "Deploy ${APP} to ${ENV} and tell {{first_name}} {{last_name}}.",
    "37 * 46",
    "?!",
    "",
]
UNFAMILIAR = [
    ("Сколько дней отпуска у меня осталось в этом году?", "script"),
    ("статус 4411?", "script"),
    ("Πόσες μέρες άδεια μου έχουν μείνει;", "script"),
    ("כמה ימי חופשה נשארו לי השנה?", "script"),
    ("ปีนี้ฉันเหลือวันลาพักร้อนกี่วัน", "script"),
    ("Kuinka monta lomapäivää minulla on vielä jäljellä?", "language"),
    ("Hány nap szabadságom maradt idén?", "language"),
    ("Kolik dní dovolené mi letos ještě zbývá?", "language"),
    ("Năm nay tôi còn bao nhiêu ngày phép?", "language"),
    ("Câte zile de concediu mi-au mai rămas anul acesta?", "language"),
    ("Berapa sisa cuti saya tahun ini?", "language"),
    ("امسال چند روز مرخصی برایم مانده است؟", "language"),
    ("या वर्षी माझ्या किती सुट्ट्या शिल्लक आहेत?", "language"),
    ("for (int i = 0; i < n; i++) { sum += a[i]; }", "code"),
    ('{"order_id": 4411, "status": "shipped", "items": [{"sku": "A-12", "qty": 2}]}', "code"),
    ("const total = items.reduce((a, b) => a + b.price, 0);\nconsole.log(total);", "code"),
]


@pytest.mark.parametrize("text", FAMILIAR)
def test_what_the_exemplars_are_written_in_is_familiar(text: str) -> None:
    judged = many().judge([text])
    assert judged.familiar, judged
    assert judged.why is None


@pytest.mark.parametrize(("text", "why"), UNFAMILIAR)
def test_what_they_are_not_written_in_is_not(text: str, why: str) -> None:
    judged = many().judge([text])
    assert not judged.familiar
    assert judged.why == why
    assert judged.score > 0


@pytest.mark.parametrize(
    "text",
    [
        "qwertzuiop asdfghjkl yxcvbnm",
        "xkcd jfhw qpzm vbtr lkwn ghsd",
        "SGVsbG8gd29ybGQsIHRoaXMgaXMgYSB0ZXN0IG9mIGJhc2U2NA==",
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "teh wrdos aer lal rbmsdcael dna mkae on snsee ta lal",
    ],
)
def test_letters_that_make_no_words_are_gibberish(text: str) -> None:
    assert shipped().judge([text]).why in ("gibberish", "language")
    assert shipped().judge([ENGLISH[0]]).familiar


def test_few_exemplars_do_not_make_words_of_others_gibberish() -> None:
    assert english().judge(["Reschedule dental checkups fortnightly, alternating hygienists."]).familiar


@pytest.mark.parametrize("code", sorted(TRANSLATIONS))
def test_the_supported_languages_follow_from_the_exemplars(code: str) -> None:
    text = max(TRANSLATIONS[code], key=len)
    assert many().judge([text]).familiar
    assert not english().judge([text]).familiar
    assert english().judge([ENGLISH[0]]).familiar


def test_the_language_it_looks_like_is_named() -> None:
    assert many().judge(["Kuinka monta lomapäivää minulla on vielä jäljellä?"]).language == "fi"
    assert many().judge(["目前还剩多少天年假？"]).language is None


def test_a_request_with_some_code_or_foreign_words_is_familiar() -> None:
    assert many().judge(["Please explain what this does and why it fails: SELECT * FROM orders WHERE id = 5"]).familiar
    assert many().judge(["Please translate this message from our Russian customer into German: спасибо"]).familiar


@pytest.mark.parametrize("text", [*FAMILIAR, *(text for text, _ in UNFAMILIAR)])
def test_case_and_white_space_do_not_matter(text: str) -> None:
    judged = many().judge([text])
    spaced = "  " + text.replace(" ", " \t\n ") + "\n"
    assert many().judge([spaced]) == judged
    if all(character.lower().upper() == character.upper() for character in text) and "ı" not in text.casefold():
        assert many().judge([text.upper()]).familiar == judged.familiar


def test_turns_are_read_together() -> None:
    assert many().judge(["Kuinka monta lomapäivää", "minulla on vielä jäljellä?"]).why == "language"
    assert many().judge([]).familiar


@given(st.lists(st.text(st.characters(codec=None), max_size=80), max_size=4))
@settings(max_examples=settings().max_examples * 3 // 2, deadline=None)
def test_any_text_gets_the_same_answer_twice(turns: list[str]) -> None:
    judged = many().judge(turns)
    assert judged == many().judge(turns)
    assert judged.familiar == (judged.why is None)
    assert np.isfinite(judged.score)


@pytest.mark.parametrize(
    "text",
    [
        "\ud800 \udfff where is it",
        "\x00\x01\x02",
        "\u202e\u200b" * 10_000,
        "a" * 20_000,
        "{" * 20_000,
        "\U0010ffff" * 20_000,
        "क्" * 10_000,
        "where is my order? " * 1_100,
    ],
)
def test_hostile_text_is_judged(text: str) -> None:
    judged = many().judge([text] * 3)
    assert np.isfinite(judged.score)


TEXTS = [*FAMILIAR, *(text for text, _ in UNFAMILIAR), "\ud800", "a\n\nb" * 800, "ß" * 3_000]


@given(st.lists(st.sampled_from(TEXTS) | st.text(max_size=60), max_size=6))
def test_queries_judged_together_are_judged_as_each_is_alone(texts: list[str]) -> None:
    assert many().judge_all([[text] for text in texts]) == [many().judge([text]) for text in texts]


def test_arrays_round_trip() -> None:
    arrays = many().arrays()
    assert sum(array.nbytes for array in arrays.values()) < 1_000_000
    assert {array.dtype.name for array in arrays.values()} <= {"int32", "uint8"}
    again = Familiarity.from_arrays(arrays)
    assert again is not None
    assert (again.scripts, again.languages) == (many().scripts, many().languages)
    for text in [*FAMILIAR, *(text for text, _ in UNFAMILIAR)]:
        assert again.judge([text]) == many().judge([text])


@pytest.mark.parametrize(
    "damage",
    [
        {"familiar_words": None},
        {"familiar_words": np.zeros(3)},
        {"familiar_stems": np.zeros((2, 2), np.int32)},
        {"familiar_scripts": np.array([255], np.uint8)},
    ],
)
def test_other_arrays_are_none(damage: dict[str, np.ndarray | None]) -> None:
    arrays = {name: array for name, array in (many().arrays() | damage).items() if array is not None}
    assert Familiarity.from_arrays(arrays) is None


def test_the_order_of_the_exemplars_does_not_matter() -> None:
    pairs = [(text, None) for text in ENGLISH] + [(text, code) for code, own in TRANSLATIONS.items() for text in own]
    random.Random(1).shuffle(pairs)
    other = Familiarity.learn([(text,) for text, _ in pairs], [code for _, code in pairs]).arrays()
    assert all((array == other[name]).all() for name, array in many().arrays().items())


def test_without_exemplars_everything_is_familiar_but_code_and_blobs() -> None:
    nothing = Familiarity.learn([], [])
    assert nothing.judge(["Hány nap szabadságom maradt idén?"]).familiar
    assert nothing.judge(["Сколько дней отпуска у меня осталось?"]).familiar
    again = Familiarity.from_arrays(nothing.arrays())
    assert again is not None
    assert again.scripts == frozenset()


def test_the_shipped_files_fit_together() -> None:
    tables = load_tables()
    assert {"LATIN", "ARABIC", "DEVANAGARI", "CYRILLIC"} <= tables.keys()
    for table in tables.values():
        assert (np.diff(table.keys.astype(object)) > 0).all()
        assert table.costs.shape == (len(table.keys), -(-len(table.languages) // 2))
        assert len(set(table.languages)) == len(table.languages)
    assert sequence_key(b"ab") == 2 << 48 | 0x6162
    written = json.loads(familiarity.SETTINGS.read_text(encoding="utf-8"))
    assert written["comment"]
    assert set(written["weights"]) == {"language", "gibberish", "code"}


@given(st.text(alphabet="ab _-=<>|&/${}[](),.:;'\"\\@19", max_size=20))
def test_what_is_looked_for_first_is_in_whatever_looks_like_code_or_a_name(text: str) -> None:
    assert familiarity._MAY_MARK.search(text) or not familiarity._MARKS.search(text)
    assert familiarity._MAY_NAME.search(text) or not familiarity._NAMES.search(text)
