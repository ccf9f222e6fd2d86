"""What is found, what is written in its place, and what a customer allows."""

from __future__ import annotations

import time
from typing import Any

import pytest

from incumbent.intake.query import Query, Setup
from incumbent.text.personal_data import addresses, bank_data, detector, mail, names, phones
from incumbent.text.personal_data.detector import Detector, kinds_in_words, personal_in
from incumbent.text.personal_data.model import PersonalDataKind

DETECTOR = Detector()
# A detector loads these when it needs them, which may be in an untraced test.
LOADED = (addresses, bank_data, mail, names, phones)


def found(text: str, detector: Detector = DETECTOR) -> list[tuple[str, str]]:
    return [(it.kind.value, text[it.start : it.end]) for it in detector.find(text)]


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("Charge 4539 1488 0343 6467 now", "card", "4539 1488 0343 6467"),
        ("４５３９－１４８８－０３４３－６４６７", "card", "４５３９－１４８８－０３４３－６４６７"),
        ("4539\u200b14880\u00ad3436467.", "card", "4539\u200b14880\u00ad3436467"),
        *(
            (f"my card {text} instead", "card", text)
            for text in (
                "4539 1488\n0343 6467",
                "4539 1488 0343\n6467",
                "4539 1488\r\n0343 6467",
                "4539-1488 \\\n  0343-6467",
                "4539 1488\n> 0343 6467",
                "3714\n496353 98456",
            )
        ),
        ("Pay to NL91 ABNA 0417 1643 00, please", "iban", "NL91 ABNA 0417 1643 00"),
        ("write to jane.roe@gmail.com.", "e-mail", "jane.roe@gmail.com"),
        ("write juan.perez@una.edu.py", "e-mail", "juan.perez@una.edu.py"),
        ("write ion.popescu@posta.md", "e-mail", "ion.popescu@posta.md"),
        ("cv_jane.miller@acmecorp.de.pdf", "e-mail", "cv_jane.miller@acmecorp.de.pdf"),
        ("jane@mynoreply.de", "e-mail", "jane@mynoreply.de"),
        ("to jane.miller@acmecorp.de:/urgent", "e-mail", "jane.miller@acmecorp.de"),
        ("联系zhang.wei@qq.com吧", "e-mail", "zhang.wei@qq.com"),
        ("write jane (at) gmail (dot) com", "e-mail", "jane (at) gmail (dot) com"),
        ("it is jane dot roe at gmail dot com", "e-mail", "jane dot roe at gmail dot com"),
    ],
)
def test_it_is_found(text: str, kind: str, value: str) -> None:
    assert found(text) == [(kind, value)]


@pytest.mark.parametrize(
    "text",
    [
        "4242 4242 4242 4242",
        "icon@2x.png",
        "logo@header.svg",
        "12+jane@users.noreply.github.com",
        "1001 2002\n4539 1488\n0343 6467\n3003 4004",
        "1001 2002\n4539 1488\n0343 6467",
        "GB82 WEST 1234 5698 7654 32",
        "4539 1488 0343 6468",
        "jane@example.com, support@contoso.com, <email>, git@github.com:org/repo.git, ssh deploy@build.host.net",
        "postgres://admin2@db.northwind.net/orders",
        "meet me at the dot",
    ],
)
def test_it_is_not_personal(text: str) -> None:
    assert found(text) == []


def test_a_placeholder_counts_distinct_values_of_a_kind() -> None:
    assert DETECTOR.all_masked(("ann@x.org or Bob@x.org?", "bob@X.ORG, 4539148803436467")) == (
        "[e-mail 1] or [e-mail 2]?",
        "[e-mail 2], [payment card 1]",
    )


def test_a_replacement_is_personal_no_more() -> None:
    text = DETECTOR.replaced("ann@x.org pays NL91ABNA0417164300 with 4539 1488 0343 6467")
    assert text == "person1@example.com pays [bank account 1] with 4242 4242 4242 4242"
    assert found(text) == []


def test_what_a_customer_allows_is_not_personal() -> None:
    detector = Detector(allowed=frozenset({"@Contoso.com", "4539-1488-0343-6467"}))
    assert found("ann@contoso.com 4539 1488 0343 6467 ann@sub.contoso.com", detector) == [
        (PersonalDataKind.E_MAIL.value, "ann@sub.contoso.com")
    ]


def test_what_a_placeholder_uncovers_is_masked_as_well() -> None:
    text = "携帯は090-1234-5678ですUnter den Linden 77, 10117 Berlin"
    assert DETECTOR.masked(text) == "携帯は[phone number 1][address 1]"


def test_numbers_in_a_row_of_a_table_are_found() -> None:
    text = "bob,536-90-4399,4539148803436467,12/27,4155552671,bob@acme.io"
    assert [kind for kind, _ in found(text)] == ["national-id", "card", "e-mail"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("(maria.keller@gmail.com/tom.meyer@web.de)", "([e-mail 1]/[e-mail 2])"),
        ("docker lead maria.keller@gmail.com", "docker lead [e-mail 1]"),
        ("nao.tanaka@contoso.com, info.maria@gmail.com", "[e-mail 1], [e-mail 2]"),
        ("write maria@acme.com:hello", "write [e-mail 1]:hello"),
        ("[e-mail 1], [e-mail 3] and maria@acme.com", "[e-mail 1], [e-mail 3] and [e-mail 4]"),
        *(
            (text, text)
            for text in ("scp file.txt bob@host.com:/tmp", "ssh -i key.pem bob@host.com", "info-berlin@acme.com")
        ),
        *((text, text) for text in ("ne-pas-repondre@sncf.fr", "git@github.com:org/repo", "root@srv.acme.com:x")),
    ],
)
def test_an_address_is_told_from_a_login(text: str, shown: str) -> None:
    assert Detector().masked(text) == shown


@pytest.mark.parametrize("unit", ["a@b.co/", "a@b.co:", "a@b.co@", "4539578763621486/", "+49 30 901820+", "a@b.co-1 "])
def test_many_values_without_a_blank_are_masked_in_time(unit: str) -> None:
    text = (unit * 1_200)[:8_000]
    begin = time.process_time()
    assert Detector().find(Detector().masked(text)) == ()
    assert time.process_time() - begin < 10  # seconds; less than one on an idle machine


@pytest.mark.parametrize("passes", [0, 1])
def test_what_looks_like_something_still_goes_as_a_whole(passes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detector, "_MOST_PASSES", passes)
    number = "+49 30 901820"
    assert Detector().masked(number * 3) == "[phone number 2]"
    assert Detector().masked(f"call {number}") == "call [phone number 1]"


CARD = "4539 1488 0343 6467"
MAIL = "kim.lee@northwind.com"


@pytest.mark.parametrize(
    ("given", "kinds", "words"),
    [
        ({"turns": ("Show my bills",)}, {}, ""),
        ({"turns": (f"Write to {MAIL}",)}, {"e-mail": 1}, "an e-mail address"),
        ({"turns": (f"Write to {MAIL}", f"to {MAIL.upper()}, I said")}, {"e-mail": 1}, "an e-mail address"),
        (
            {"turns": (f"Charge {CARD}", f"and tell {MAIL} and jo@adatum.com")},
            {"card": 1, "e-mail": 2},
            "a payment card number and 2 e-mail addresses",
        ),
        ({"turns": ("Hi",), "expected": {"answer": [{"contains": MAIL}]}}, {"e-mail": 1}, "an e-mail address"),
        ({"turns": ("Hi",), "expected": {"card": 4539148803436467}}, {"card": 1}, "a payment card number"),
        ({"turns": ("Hi",), "expected": {MAIL: True, "none": None, "share": 0.5}}, {"e-mail": 1}, "an e-mail address"),
        ({"turns": ("Hi",), "expected": {"card": 4539148803436467.0}}, {"card": 1}, "a payment card number"),
        ({"turns": ("Hi",), "expected": {"share": 0.8146362049801931}}, {}, ""),
        ({"turns": ("Hi",), "setup": Setup(tenant=MAIL, fixtures=("bills",))}, {"e-mail": 1}, "an e-mail address"),
        ({"turns": ("Hi",), "setup": Setup(attachments=(f"{MAIL}",))}, {"e-mail": 1}, "an e-mail address"),
    ],
)
def test_all_that_an_entry_would_keep_counts(given: dict[str, Any], kinds: dict[str, int], words: str) -> None:
    query = Query(id="q", file="evals.yaml", line=1, **given)
    found = personal_in(query.texts, Detector())
    assert dict(found) == kinds
    assert kinds_in_words(found) == words


def test_every_kind_has_words_for_one_and_for_several() -> None:
    assert kinds_in_words({kind.value: 1 for kind in PersonalDataKind}).count(",") == len(PersonalDataKind) - 2
    assert all(
        kinds_in_words({kind.value: 2}).startswith("2 ") or kind is PersonalDataKind.NAME for kind in PersonalDataKind
    )
