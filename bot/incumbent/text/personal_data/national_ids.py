"""National identification numbers: the registers, their check digits and their written forms."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Final, cast

from stdnum import luhn

from incumbent.text.personal_data.model import Found, PersonalDataKind, Sureness
from incumbent.text.personal_data.near import Window, folded, is_dated, said_to_be_other, windows

_GAP: Final = "[ ./-]{0,2}"


@dataclass(frozen=True, slots=True)
class NumberRegister:
    """The numbers of one register.

    ``form`` matches any way to write one, and counts only near one of ``words``.  ``marked`` matches forms that nothing
    else has.  ``check`` names the rule of validity (:func:`check_of`).
    """

    check: str
    words: tuple[str, ...]
    form: str
    marked: str = ""
    marked_check: str = ""


def _digits(count: int) -> str:
    return rf"\d(?:{_GAP}\d){{{count - 1}}}"


GENERAL: Final = folded(
    "national id, national identity, national identification, identity number, identity no, "
    "identity card, id number, id no, id card, "
    "personal id, personal number, personal identity, personal code, citizen id, citizen number, "
    "citizenship number, tax id, "
    "tax number, tax no, tax file, taxpayer, tax identification, tax reference, social security, social insurance, "
    "insurance number, health number, health card, nin, government id, resident id, identification number, "
    "ausweisnummer, personalausweis, steuernummer, steuer-id, steuer id, versicherungsnummer, personenkennzeichen, "
    "carte d'identite, numero d'identite, numero national, numero fiscal, securite sociale, numero de securite, "
    "documento de identidad, documento nacional, numero de identidad, numero de identificacion, "
    "identificacion, cedula, seguridad social, "
    "seguro social, carta d'identita, numero di identificazione, tessera sanitaria, "
    "documento de identificacao, numero de contribuinte, numero do documento, "
    "identiteitsnummer, identiteitskaart, rijksregister, burgerservicenummer, dowod osobisty, numer identyfikacyjny, "
    "personnummer, personnr, personnumer, samordningsnummer, henkilotunnus, fodselsnummer, fodselsnr, cpr-nummer, "
    "kimlik, पहचान, идентификационный номер, личный номер"
)

SCHEMES: Final = (
    NumberRegister(
        "american",
        folded(
            "ssn, ssns, social security, social, soc sec, itin, taxpayer, seguro social, "
            "sozialversicherungsnummer, 社会安全号"
        ),
        _digits(9),
        r"\d{3}-\d\d-\d{4}|(?<!\d )\d{3} \d\d \d{4}(?! \d)",
    ),
    NumberRegister("", folded("medicare, mbi"), r"[1-9][a-z][a-z0-9]\d-?[a-z][a-z0-9]\d-?[a-z]{2}\d\d"),
    NumberRegister(
        "national insurance",
        folded("nino, ni number, ni no, national insurance, insurance number"),
        rf"[a-ceghj-pr-tw-z]{_GAP}[a-ceghj-npr-tw-z](?:{_GAP}\d){{6}}{_GAP}[a-d]",
        r"[a-ceghj-pr-tw-z][a-ceghj-npr-tw-z] ?\d\d ?\d\d ?\d\d ?[a-d]",
    ),
    NumberRegister("gb.nhs", folded("nhs, nhs number, nhs no, health number"), _digits(10)),
    NumberRegister("gb.utr", folded("utr, taxpayer reference, self assessment, tax reference"), _digits(10)),
    NumberRegister("ca.sin", folded("sin, sin number, social insurance, nas, assurance sociale"), _digits(9)),
    NumberRegister("ca.bc_phn", folded("phn, personal health number, health card, health number"), _digits(10)),
    NumberRegister(
        "br.cpf",
        folded("cpf, cadastro de pessoa, contribuinte, meu documento, c.p.f."),
        _digits(11),
        r"\d{3}\.\d{3}\.\d{3}[-/]\d\d",
    ),
    NumberRegister(
        "es.dni",
        folded("dni, nif, documento, identidad"),
        r"\d(?:[ .-]?\d){7}[ .-]{0,2}[a-z]",
        r"\d{8}[ -]?[a-z]|\d\d\.\d{3}\.\d{3}[ -]?[a-z]",
    ),
    NumberRegister(
        "es.nie", folded("nie, extranjero"), r"[xyz][ .-]?\d(?:[ .-]?\d){6}[ .-]{0,2}[a-z]", r"[xyz]-?\d{7}-?[a-z]"
    ),
    NumberRegister(
        "spanish insurance", folded("seguridad social, nuss, naf, numero de afiliacion, nº ss"), _digits(12)
    ),
    NumberRegister(
        "it.codicefiscale",
        folded("codice fiscale, c.f., cf, cod. fisc., fiscal code"),
        r"[a-z]{3} ?[a-z]{3} ?[0-9l-v]{2}[a-ehlmprst][0-9l-v]{2} ?[a-z][0-9l-v]{3} ?[a-z]",
        r"[a-z]{3} ?[a-z]{3} ?[0-9l-v]{2}[a-ehlmprst][0-9l-v]{2} ?[a-z][0-9l-v]{3} ?[a-z]",
    ),
    NumberRegister(
        "fr.nir",
        folded("nir, securite sociale, secu, numero ss, insee, carte vitale, social security"),
        rf"[12478](?:{_GAP}\d){{4}}{_GAP}(?:\d{_GAP}\d|2{_GAP}[ab])(?:{_GAP}\d){{8}}",
        r"[12478] \d\d (?:0[1-9]|1[0-2]|[2-9]\d) (?:\d\d|2[ab]) \d{3} \d{3} \d\d|[12478]\d\d(?:0[1-9]|"
        r"1[0-2])(?:\d\d|2[ab])\d{6} ?\d\d",
    ),
    NumberRegister("fr.nif", folded("numero fiscal, nif, spi, reference fiscale, impots"), _digits(13)),
    NumberRegister("nl.bsn", folded("bsn, burgerservicenummer, sofinummer, sofi"), _digits(9)),
    NumberRegister(
        "belgian",
        folded(
            "rijksregister, rijksregisternummer, registre national, numero national, niss, insz, nrn, national number"
        ),
        _digits(11),
        r"\d\d\.\d\d\.\d\d-\d{3}[.-]\d\d",
    ),
    NumberRegister(
        "de.idnr",
        folded(
            "steuer-id, steuerid, steuer id, idnr, id-nr, steueridentifikationsnummer, "
            "steuer-identifikationsnummer, steueridentnummer, "
            "identifikationsnummer, steuer-idnr, steuer-identnummer, tin, tax id"
        ),
        _digits(11),
    ),
    NumberRegister(
        "german pension",
        folded(
            "rentenversicherungsnummer, sozialversicherungsnummer, sv-nummer, sv-nr, svnr, rvnr, "
            "versicherungsnummer, pension"
        ),
        rf"\d(?:{_GAP}\d){{7}}{_GAP}[a-z](?:{_GAP}\d){{3}}",
        r"\d\d ?[0-9]{6} ?[a-z] ?\d{3}",
    ),
    NumberRegister(
        "at.vnr",
        folded("sozialversicherungsnummer, sv-nummer, sv-nr, svnr, sv nummer, versicherungsnummer, svnr."),
        _digits(10),
    ),
    NumberRegister(
        "ch.ssn",
        folded("ahv, ahv-nr, ahv-nummer, avs, sozialversicherungsnummer, oasi"),
        _digits(13),
        r"756\.?\d{4}\.?\d{4}\.?\d\d",
    ),
    NumberRegister("pl.pesel", folded("pesel, nr pesel, numer pesel, peselu, peselem"), _digits(11)),
    NumberRegister(
        "swedish",
        folded("personnummer, personnr, pnr, personal number, personal identity, samordningsnummer, swedish id"),
        rf"(?:\d{_GAP}){{0,2}}\d{{6}} ?[-+]? ?\d{{4}}",
        r"(?:19|20)?\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])[-+]\d{4}",
    ),
    NumberRegister(
        "danish",
        folded("cpr, cpr-nummer, cpr-nr, cpr nr, cpr nummer, personnummer, danish id"),
        r"\d{6} ?[-/]? ?\d{4}",
        r"(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-2])\d\d-\d{4}",
        "danish checked",
    ),
    NumberRegister(
        "fi.hetu",
        folded("henkilotunnus, hetu, henkilotunnukseni, sosiaaliturvatunnus, finnish id"),
        r"\d{6} ?[-+a-fu-y] ?\d{3} ?[0-9a-fhj-np-y]",
        r"(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-2])\d\d[-+a-fu-y]\d{3}[0-9a-fhj-np-y]",
    ),
    NumberRegister(
        "norwegian",
        folded("fodselsnummer, fødselsnummer, fødselsnr, fodselsnr, personnummer, d-nummer, fnr, norwegian id"),
        _digits(11),
        r"(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-2])\d\d[ -]\d{5}",
    ),
    NumberRegister("is_.kennitala", folded("kennitala, kennitolu, kt"), _digits(10)),
    NumberRegister("in_.aadhaar", folded("aadhaar, aadhar, adhaar, adhar, uidai, uid, आधार, ஆதார்"), _digits(12)),
    NumberRegister("indian", folded("pan, pan card, पैन"), r"[a-z]{3}p[a-z]\d{4}[a-z]", r"[a-z]{3}p[a-z]\d{4}[a-z]"),
    NumberRegister(
        "cn.ric",
        folded("身份证, 身份证号, 居民身份, 证件号, 公民身份号码, resident id, id card, chinese id"),
        r"\d(?: ?\d){16} ?[\dx]",
        r"[1-8]\d{5}(?:18|19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dx]",
    ),
    NumberRegister(
        "kr.rrn",
        folded("주민등록번호, 주민번호, 주민등록, rrn, resident registration, 외국인등록번호"),
        r"\d{6} ?-? ?\d{7}",
        r"\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])-[0-9]\d{6}",
    ),
    NumberRegister("jp.in_", folded("マイナンバー, 個人番号, my number, mynumber, individual number"), _digits(12)),
    NumberRegister(
        "mx.curp",
        folded("curp, clave unica"),
        r"[a-z]{4} ?\d{6} ?[hmx] ?[a-z]{5} ?[0-9a-z]\d",
        r"[a-z]{4}\d{6}[hmx][a-z]{5}[0-9a-z]\d",
    ),
    NumberRegister(
        "mx.rfc",
        folded("rfc, registro federal"),
        r"[a-z&]{4}[ -]?\d{6}[ -]?[0-9a-z]{2}[0-9a]",
        r"[a-z]{4}\d{6}[0-9a-v][0-9a-z][0-9a]",
        "mexican",
    ),
    NumberRegister("luhn", folded("nss, imss, seguro social, numero de seguridad social"), _digits(11)),
    NumberRegister(
        "tr.tckimlik",
        folded("tc kimlik, t.c. kimlik, kimlik, kimlik no, tckn, tc no, t.c. no, tcno, tc kimlik no, tc'm, tc, t.c."),
        _digits(11),
    ),
    NumberRegister(
        "south african",
        folded(
            "id number, id no, sa id, south african id, identity number, rsa id, id-nommer, "
            "identiteitsnommer, south african"
        ),
        _digits(13),
    ),
    NumberRegister(
        "singapore",
        folded("nric, fin, ic number, ic no"),
        r"[stfgm][ -]?\d{7}[ -]?[a-z]",
        r"[stfgm]\d{7}[a-z]",
    ),
    NumberRegister("au.tfn", folded("tfn, tax file, tax file number"), rf"\d(?:{_GAP}\d){{7,8}}"),
    NumberRegister("australian medicare", folded("medicare"), rf"[2-6](?:{_GAP}\d){{9}}"),
    NumberRegister("nz.ird", folded("ird, ird number, inland revenue"), rf"\d(?:{_GAP}\d){{7,8}}"),
    NumberRegister(
        "ie.pps", folded("pps, ppsn, pps number, pps no, personal public service"), r"\d(?: ?\d){6} ?[a-w] ?[abhwtx]?"
    ),
    NumberRegister("portuguese", folded("nif, contribuinte, numero fiscal, n.i.f."), _digits(9)),
    NumberRegister(
        "pt.cc",
        folded("cartao de cidadao, cartao do cidadao, cc, citizen card"),
        r"\d{8} ?\d ?[a-z0-9]{2} ?\d",
        r"\d{8} \d [a-z]{2}\d",
    ),
    NumberRegister(
        "cz.rc",
        folded("rodne cislo, rodne cislo, rc, r.c., rodneho cisla, birth number, rodnym cislem"),
        r"\d{6} ?/? ?\d{3,4}",
        r"\d{6}/\d{4}",
    ),
    NumberRegister("ro.cnp", folded("cnp, cod numeric personal"), _digits(13)),
    NumberRegister("bg.egn", folded("егн, egn, единен граждански номер"), _digits(10)),
    NumberRegister("hr.oib", folded("oib, osobni identifikacijski"), _digits(11)),
    NumberRegister("serbian", folded("jmbg, јмбг, emso, maticni broj, maticnog broja"), _digits(13)),
    NumberRegister("ee.ik", folded("isikukood, isikukoodi, estonian id, personal code"), _digits(11)),
    NumberRegister("lt.asmens", folded("asmens kodas, asmens koda, asmens kodo, personal code"), _digits(11)),
    NumberRegister(
        "latvian",
        folded("personas kods, personas kodu, personal code"),
        r"\d{6} ?-? ?\d{5}",
        r"(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-2])\d\d-[0-2]\d{4}",
    ),
    NumberRegister("gr.amka", folded("αμκα, amka"), _digits(11)),
    NumberRegister("gr.vat", folded("αφμ, afm"), _digits(9)),
    NumberRegister("ua.rntrc", folded("рнокпп, іпн, инн, ипн, податковий номер, rntrc"), _digits(10)),
    NumberRegister("russian", folded("инн, inn"), _digits(12)),
    NumberRegister("russian insurance", folded("снилс, snils"), _digits(11), r"\d{3}-\d{3}-\d{3}[ -]\d\d"),
    NumberRegister(
        "", folded("паспорт, паспорта, паспортные данные, серия и номер, серия"), r"\d\d ?\d\d ?(?:№|no)? ?\d{6}"
    ),
    NumberRegister(
        "il.idnr", folded('teudat zehut, תעודת זהות, ת.ז, ת"ז, תז, israeli id, id number, מספר זהות'), _digits(9)
    ),
    NumberRegister(
        "chilean", folded("rut, run, r.u.t."), r"\d{1,2}[. ]?\d{3}[. ]?\d{3} ?-? ?[\dk]", r"\d{1,2}\.\d{3}\.\d{3}-[\dk]"
    ),
    NumberRegister(
        "argentine", folded("cuil, cuit"), r"(?:20|23|24|27)[ .-]?\d{8}[ .-]?\d", r"(?:20|23|24|27)-\d{8}-\d"
    ),
    NumberRegister("", folded("dni, documento nacional"), r"\d{1,2}\.?\d{3}\.?\d{3}|\d{8}-\d"),
    NumberRegister(
        "",
        folded("cedula, cedula de ciudadania, c.c., cedula de identidad, c.i."),
        r"(?:[ve]-?)?\d{1,2}\.?\d{3}\.?\d{3}|\d\.\d{3}\.\d{3}\.\d{3}|1\d{9}",
    ),
    NumberRegister("ec.ci", folded("cedula, ci, c.i."), rf"\d(?:{_GAP}\d){{9}}"),
    NumberRegister("uruguayan", folded("cedula, ci, c.i."), rf"\d(?:{_GAP}\d){{7}}", r"[1-6]\.\d{3}\.\d{3}-\d"),
    NumberRegister("do.cedula", folded("cedula"), _digits(11), r"\d{3}-\d{7}-\d"),
    NumberRegister(
        "th.pin", folded("บัตรประชาชน, เลขประจำตัว, thai id, citizen id"), _digits(13), r"\d-\d{4}-\d{5}-\d\d-\d"
    ),
    NumberRegister(
        "my.nric",
        folded("mykad, nric, ic, ic number, ic no, kad pengenalan, no ic"),
        _digits(12),
        r"\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])-\d\d-\d{4}",
    ),
    NumberRegister("id.nik", folded("nik, ktp, nomor induk"), _digits(16)),
    NumberRegister("pk.cnic", folded("cnic, nadra, شناختی"), _digits(13), r"[1-7]\d{4}-\d{7}-\d"),
    NumberRegister("taiwan", folded("身分證, 身分證字號, taiwan id, id number"), r"[a-z][12]\d{8}", r"[a-z][12]\d{8}"),
    NumberRegister(
        "hong kong",
        folded("hkid, 香港身份證, 身份證, 香港身份证"),
        r"[a-z]{1,2} ?\d{6} ?\(?[0-9a]\)?",
        r"[a-z]{1,2}\d{6}\([0-9a]\)",
    ),
    NumberRegister(
        "", folded("cccd, cmnd, can cuoc cong dan, căn cước, chung minh nhan dan"), rf"0\d(?:{_GAP}\d){{10}}|\d{{9}}"
    ),
    NumberRegister(
        "", folded("nin, national identification number, national identity number, bvn"), r"[1-9]\d(?: ?\d){9}"
    ),
    NumberRegister("egyptian", folded("الرقم القومي, رقم قومي, national id, egyptian id"), rf"[23](?:{_GAP}\d){{13}}"),
    NumberRegister("hungarian insurance", folded("taj, taj szam, taj-szam, tajszam"), _digits(9)),
    NumberRegister("hungarian tax", folded("adoazonosito, adoazonosito jel, adoszam"), _digits(10)),
    NumberRegister(
        "",
        folded(
            "passport, passport number, passport no, reisepass, reisepassnummer, passnummer, pasaporte, "
            "passeport, passaporto, "
            "passaporte, paspoort, paspoortnummer, paszport, paszportu, passnumret, passin numero, pasaport, "
            "パスポート番号, パスポート, 旅券番号, 护照, 护照号, 護照, 여권, 여권번호, "
            "загранпаспорт, पासपोर्ट, ausweisnummer, personalausweisnummer"
        ),
        r"(?=[a-z0-9]{0,3}\d)(?:[a-z]{1,2} ?\d{6,8}|\d{8,9})|"
        r"(?=[a-z]{0,6}\d[a-z]{0,6}\d)[cfghj-nprtv-z][0-9cfghj-nprtv-z]{8}|\d\d[a-z]{2}\d{5}",
    ),
)


_SEPARATORS: Final = re.compile(r"[ ./()-]")


@cache
def check_of(rule: str) -> Callable[[str], bool]:
    """The check named ``rule``: a module of ``stdnum`` such as ``br.cpf``, one of this module, or none (empty)."""
    own = _OWN.get(rule)
    if own is not None:
        return lambda written: own(_compact(written))
    if not rule:
        return lambda written: len(set(_compact(written))) > 2
    valid = cast("Callable[[str], bool]", import_module(f"stdnum.{rule}").is_valid)
    sign_counts = rule == "fi.hetu"
    return lambda written: bool(valid(_signed(written) if sign_counts else _compact(written)))


def _compact(written: str) -> str:
    return _SEPARATORS.sub("", written).upper()


def _signed(written: str) -> str:
    """``written`` with the sign before the last four, a part of the number that gives the century."""
    compact = re.sub(r"[ ./]", "", written).upper()
    return compact if compact[-5] in "-+A" or not compact[-5].isdigit() else f"{compact[:-4]}-{compact[-4:]}"


def _weighted(digits: str, weights: Sequence[int]) -> int:
    return sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=False))


def _is_date(year: str, month: str, day: str) -> bool:
    return 1 <= int(month) <= 12 and 1 <= int(day) <= monthrange(2000 + int(year), int(month))[1]


def _national_insurance(number: str) -> bool:
    return number[:2] not in ("BG", "GB", "NK", "KN", "TN", "NT", "ZZ")


def _german_pension(number: str) -> bool:
    digits = number[:8] + f"{ord(number[8]) - 64:02d}" + number[9:11]
    products = (int(digit) * weight for digit, weight in zip(digits, (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1), strict=True))
    return sum(sum(divmod(product, 10)) for product in products) % 10 == int(number[11])


def _singapore(number: str) -> bool:
    total = _weighted(number[1:8], (2, 7, 6, 5, 4, 3, 2)) + {"T": 4, "G": 4, "M": 3}.get(number[0], 0)
    letters = {"S": "JZIHGFEDCBA", "T": "JZIHGFEDCBA", "M": "KLJNPQRTUWX"}.get(number[0], "XWUTRQPNMLK")
    return letters[10 - total % 11 if number[0] == "M" else total % 11] == number[8]


def _hong_kong(number: str) -> bool:
    letters = number[:-7]
    values = [36] * (2 - len(letters)) + [ord(letter) - 55 for letter in letters]
    values += [int(digit) for digit in number[len(letters) : -1]]
    values.append(10 if number[-1] == "A" else int(number[-1]))
    return sum(value * weight for value, weight in zip(values, range(9, 0, -1), strict=True)) % 11 == 0


def _taiwan(number: str) -> bool:
    first = "ABCDEFGHJKLMNPQRSTUVXYWZIO".index(number[0]) + 10
    return _weighted(f"{first}{number[1:]}", (1, 9, 8, 7, 6, 5, 4, 3, 2, 1, 1)) % 10 == 0


def _spanish_insurance(number: str) -> bool:
    return int(number[:-2]) % 97 == int(number[-2:])


def _australian_medicare(number: str) -> bool:
    return _weighted(number, (1, 3, 7, 9, 1, 3, 7, 9)) % 10 == int(number[8])


def _hungarian_insurance(number: str) -> bool:
    return _weighted(number, (3, 7) * 4) % 10 == int(number[8])


def _hungarian_tax(number: str) -> bool:
    return number[0] == "8" and _weighted(number, range(1, 10)) % 11 == int(number[9])


def _uruguayan(number: str) -> bool:
    return -_weighted(number, (2, 9, 8, 7, 6, 3, 4)) % 10 == int(number[7])


def _russian_insurance(number: str) -> bool:
    return _weighted(number, range(9, 0, -1)) % 101 % 100 == int(number[9:])


def _serbian(number: str) -> bool:
    rest = 11 - _weighted(number, (7, 6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11
    return _is_date("0", number[2:4], number[:2]) and (0 if rest > 9 else rest) == int(number[12])


def _latvian(number: str) -> bool:
    rest = (1101 - _weighted(number, (1, 6, 3, 7, 9, 10, 5, 8, 4, 2))) % 11
    return _is_date("0", number[2:4], number[:2]) and rest == int(number[10])


def _egyptian(number: str) -> bool:
    return _is_date(number[1:3], number[3:5], number[5:7])


def _person_of_chile(number: str) -> bool:
    return int(number[:-1]) < 50_000_000 and check_of("cl.rut")(number)


def _person_of_argentina(number: str) -> bool:
    return number[:2] in ("20", "23", "24", "27") and check_of("ar.cuit")(number)


def _person_of_portugal(number: str) -> bool:
    return number[0] in "123" and check_of("pt.nif")(number)


def _person_of_russia(number: str) -> bool:
    return len(number) == 12 and check_of("ru.inn")(number)


def _person_of_mexico(number: str) -> bool:
    return bool(import_module("stdnum.mx.rfc").is_valid(number, validate_check_digits=True))


def _person_of_india(number: str) -> bool:
    return number[3] == "P" and check_of("in_.pan")(number)


def _danish(number: str) -> bool:
    """By its date only: numbers since 2007 have no check digits."""
    return _is_date(number[4:6], number[2:4], number[:2])


def _danish_checked(number: str) -> bool:
    return _danish(number) and _weighted(number, (4, 3, 2, 7, 6, 5, 4, 3, 2, 1)) % 11 == 0


def _belgian(number: str) -> bool:
    """Of either century; the check digits depend on it."""
    rests = (97 - int(century + number[:9]) % 97 for century in ("", "2"))
    return int(number[2:4]) <= 12 and int(number[9:]) in rests


def _norwegian(number: str) -> bool:
    """Two check digits after a date; other registers add 40 to the day or the month."""
    day, month, year, individual = (int(number[at : at + 2]) for at in (0, 2, 4, 6))
    return (
        _weighted(number, (3, 7, 6, 1, 8, 9, 4, 5, 2, 1)) % 11 == 0
        and _weighted(number, (5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1)) % 11 == 0
        and max(day, month) < 80
        and (year < 40 or not 50 <= individual < 90 or (year >= 54 and individual < 75))
        and _is_date(number[4:6], f"{month % 40}", f"{day % 40}")
    )


def _swedish(number: str) -> bool:
    """Ten digits leave the century open.  Either will do: only 1900 differs in leap years."""
    digits = number.replace("+", "")
    return check_of("se.personnummer")(digits if len(digits) != 10 else f"20{digits}")


def _south_african(number: str) -> bool:
    return _is_date(number[:2], number[2:4], number[4:6]) and number[10] in "01" and bool(luhn.is_valid(number))


def _american(number: str) -> bool:
    return check_of("us.ssn")(number) or check_of("us.itin")(number)


_OWN: Final[dict[str, Callable[[str], bool]]] = {
    "american": _american,
    "argentine": _person_of_argentina,
    "australian medicare": _australian_medicare,
    "belgian": _belgian,
    "chilean": _person_of_chile,
    "danish": _danish,
    "danish checked": _danish_checked,
    "egyptian": _egyptian,
    "german pension": _german_pension,
    "hong kong": _hong_kong,
    "hungarian insurance": _hungarian_insurance,
    "hungarian tax": _hungarian_tax,
    "indian": _person_of_india,
    "latvian": _latvian,
    "luhn": lambda number: bool(luhn.is_valid(number)),
    "mexican": _person_of_mexico,
    "national insurance": _national_insurance,
    "norwegian": _norwegian,
    "portuguese": _person_of_portugal,
    "russian": _person_of_russia,
    "russian insurance": _russian_insurance,
    "serbian": _serbian,
    "singapore": _singapore,
    "south african": _south_african,
    "spanish insurance": _spanish_insurance,
    "swedish": _swedish,
    "taiwan": _taiwan,
    "uruguayan": _uruguayan,
}


_BEFORE: Final = 45
"""A number begins at most so many characters after a word that names it."""
_AFTER: Final = 34
"""A number begins at most so many characters before such a word."""
_LONGEST: Final = 80
"""The maximum length of a number together with the characters that are read after it."""
_BEFORE_UNCHECKED: Final = 24
_AFTER_UNCHECKED: Final = 20
"""The same for numbers without check digits."""
_PUBLISHED: Final = frozenset({"rssmra80a01h501u", "078051120", "219099999", "457555462"})
_BEGIN: Final = r"(?<![0-9_])(?<!\d[./-])"
_END: Final = r"(?![0-9_])(?![./-]\d)"


def national_ids(lower: str) -> Iterator[Found]:
    """National identification numbers in a plain text."""
    yield from _marked_ids(lower)
    general = windows(lower, GENERAL, _AFTER, _BEFORE)
    for place, scheme in enumerate(SCHEMES):
        reach = (_AFTER, _BEFORE) if scheme.check else (_AFTER_UNCHECKED, _BEFORE_UNCHECKED)
        yield from _named_ids(lower, place, windows(lower, scheme.words, *reach), sure=bool(scheme.check))
        if scheme.check:
            yield from _named_ids(lower, place, general, sure=False)


def _named_ids(lower: str, place: int, near: list[Window], *, sure: bool) -> Iterator[Found]:
    words = SCHEMES[place].words
    for start, end in near:
        for match in _pattern(place).finditer(lower, start, end + _LONGEST):
            if match.start() > end:
                break
            if (
                _is_whole(lower, match, words)
                and not is_dated(match[0])
                and check_of(SCHEMES[place].check)(match[0])
                and (sure or not said_to_be_other(lower, match.start()))
                and not _is_published(match[0])
            ):
                yield Found(PersonalDataKind.NATIONAL_ID, *match.span(), Sureness.NAMED)


def _marked_ids(lower: str) -> Iterator[Found]:
    for match in _marked().finditer(lower):
        for scheme in SCHEMES:
            if (
                scheme.marked
                and re.fullmatch(scheme.marked, match[0])
                and _is_whole(lower, match, ())
                and check_of(scheme.marked_check or scheme.check)(match[0])
                and not _is_published(match[0])
                and not said_to_be_other(lower, match.start())
            ):
                yield Found(PersonalDataKind.NATIONAL_ID, *match.span(), Sureness.CHECKED)
                break


def _is_whole(lower: str, match: re.Match[str], words: tuple[str, ...]) -> bool:
    """Whether no letters make ``match`` a part of something else.  A word that names it may touch it."""
    start, end = match.span()
    if lower[start - 1 : start].isascii() and lower[start - 1 : start].isalpha():
        return lower[start].isdigit() and lower.endswith(words, 0, start)
    if lower[end : end + 1].isascii() and lower[end : end + 1].isalpha():
        word_behind = lower[end - 1].isdigit() and lower[end : end + 2].isalpha()
        return word_behind and (bool(words) or not match[0].isdigit())
    return True


def _is_published(written: str) -> bool:
    """Whether it is a published example, or one repeated digit."""
    compact = re.sub(r"[\W_]", "", written)
    return compact in _PUBLISHED or len(set(filter(str.isdigit, compact))) < 2


@cache
def _pattern(place: int) -> re.Pattern[str]:
    return re.compile(f"{_BEGIN}(?:{SCHEMES[place].form}){_END}")


@cache
def _marked() -> re.Pattern[str]:
    return re.compile(f"{_BEGIN}(?:{'|'.join(scheme.marked for scheme in SCHEMES if scheme.marked)}){_END}")
