"""The registers by whose numbers states know people: the words for each, and how its numbers are written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bot.personal_data.near import folded

_GAP: Final = "[ ./-]{0,2}"


@dataclass(frozen=True, slots=True)
class Scheme:
    """The numbers of one register.

    ``form`` is any way in which one is written, and counts beside one of ``words``; ``marked`` is how nothing else is
    written.  ``check`` names the rule of validity (national_checks).
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
    Scheme(
        "american",
        folded(
            "ssn, ssns, social security, social, soc sec, itin, taxpayer, seguro social, "
            "sozialversicherungsnummer, 社会安全号"
        ),
        _digits(9),
        r"\d{3}-\d\d-\d{4}|(?<!\d )\d{3} \d\d \d{4}(?! \d)",
    ),
    Scheme("", folded("medicare, mbi"), r"[1-9][a-z][a-z0-9]\d-?[a-z][a-z0-9]\d-?[a-z]{2}\d\d"),
    Scheme(
        "national insurance",
        folded("nino, ni number, ni no, national insurance, insurance number"),
        rf"[a-ceghj-pr-tw-z]{_GAP}[a-ceghj-npr-tw-z](?:{_GAP}\d){{6}}{_GAP}[a-d]",
        r"[a-ceghj-pr-tw-z][a-ceghj-npr-tw-z] ?\d\d ?\d\d ?\d\d ?[a-d]",
    ),
    Scheme("gb.nhs", folded("nhs, nhs number, nhs no, health number"), _digits(10)),
    Scheme("gb.utr", folded("utr, taxpayer reference, self assessment, tax reference"), _digits(10)),
    Scheme("ca.sin", folded("sin, sin number, social insurance, nas, assurance sociale"), _digits(9)),
    Scheme("ca.bc_phn", folded("phn, personal health number, health card, health number"), _digits(10)),
    Scheme(
        "br.cpf",
        folded("cpf, cadastro de pessoa, contribuinte, meu documento, c.p.f."),
        _digits(11),
        r"\d{3}\.\d{3}\.\d{3}[-/]\d\d",
    ),
    Scheme(
        "es.dni",
        folded("dni, nif, documento, identidad"),
        r"\d(?:[ .-]?\d){7}[ .-]{0,2}[a-z]",
        r"\d{8}[ -]?[a-z]|\d\d\.\d{3}\.\d{3}[ -]?[a-z]",
    ),
    Scheme("es.nie", folded("nie, extranjero"), r"[xyz][ .-]?\d(?:[ .-]?\d){6}[ .-]{0,2}[a-z]", r"[xyz]-?\d{7}-?[a-z]"),
    Scheme("spanish insurance", folded("seguridad social, nuss, naf, numero de afiliacion, nº ss"), _digits(12)),
    Scheme(
        "it.codicefiscale",
        folded("codice fiscale, c.f., cf, cod. fisc., fiscal code"),
        r"[a-z]{3} ?[a-z]{3} ?[0-9l-v]{2}[a-ehlmprst][0-9l-v]{2} ?[a-z][0-9l-v]{3} ?[a-z]",
        r"[a-z]{3} ?[a-z]{3} ?[0-9l-v]{2}[a-ehlmprst][0-9l-v]{2} ?[a-z][0-9l-v]{3} ?[a-z]",
    ),
    Scheme(
        "fr.nir",
        folded("nir, securite sociale, secu, numero ss, insee, carte vitale, social security"),
        rf"[12478](?:{_GAP}\d){{4}}{_GAP}(?:\d{_GAP}\d|2{_GAP}[ab])(?:{_GAP}\d){{8}}",
        r"[12478] \d\d (?:0[1-9]|1[0-2]|[2-9]\d) (?:\d\d|2[ab]) \d{3} \d{3} \d\d|[12478]\d\d(?:0[1-9]|"
        r"1[0-2])(?:\d\d|2[ab])\d{6} ?\d\d",
    ),
    Scheme("fr.nif", folded("numero fiscal, nif, spi, reference fiscale, impots"), _digits(13)),
    Scheme("nl.bsn", folded("bsn, burgerservicenummer, sofinummer, sofi"), _digits(9)),
    Scheme(
        "belgian",
        folded(
            "rijksregister, rijksregisternummer, registre national, numero national, niss, insz, nrn, national number"
        ),
        _digits(11),
        r"\d\d\.\d\d\.\d\d-\d{3}[.-]\d\d",
    ),
    Scheme(
        "de.idnr",
        folded(
            "steuer-id, steuerid, steuer id, idnr, id-nr, steueridentifikationsnummer, "
            "steuer-identifikationsnummer, steueridentnummer, "
            "identifikationsnummer, steuer-idnr, steuer-identnummer, tin, tax id"
        ),
        _digits(11),
    ),
    Scheme(
        "german pension",
        folded(
            "rentenversicherungsnummer, sozialversicherungsnummer, sv-nummer, sv-nr, svnr, rvnr, "
            "versicherungsnummer, pension"
        ),
        rf"\d(?:{_GAP}\d){{7}}{_GAP}[a-z](?:{_GAP}\d){{3}}",
        r"\d\d ?[0-9]{6} ?[a-z] ?\d{3}",
    ),
    Scheme(
        "at.vnr",
        folded("sozialversicherungsnummer, sv-nummer, sv-nr, svnr, sv nummer, versicherungsnummer, svnr."),
        _digits(10),
    ),
    Scheme(
        "ch.ssn",
        folded("ahv, ahv-nr, ahv-nummer, avs, sozialversicherungsnummer, oasi"),
        _digits(13),
        r"756\.?\d{4}\.?\d{4}\.?\d\d",
    ),
    Scheme("pl.pesel", folded("pesel, nr pesel, numer pesel, peselu, peselem"), _digits(11)),
    Scheme(
        "swedish",
        folded("personnummer, personnr, pnr, personal number, personal identity, samordningsnummer, swedish id"),
        rf"(?:\d{_GAP}){{0,2}}\d{{6}} ?[-+]? ?\d{{4}}",
        r"(?:19|20)?\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])[-+]\d{4}",
    ),
    Scheme(
        "danish",
        folded("cpr, cpr-nummer, cpr-nr, cpr nr, cpr nummer, personnummer, danish id"),
        r"\d{6} ?[-/]? ?\d{4}",
        r"(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-2])\d\d-\d{4}",
        "danish checked",
    ),
    Scheme(
        "fi.hetu",
        folded("henkilotunnus, hetu, henkilotunnukseni, sosiaaliturvatunnus, finnish id"),
        r"\d{6} ?[-+a-fu-y] ?\d{3} ?[0-9a-fhj-np-y]",
        r"(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-2])\d\d[-+a-fu-y]\d{3}[0-9a-fhj-np-y]",
    ),
    Scheme(
        "norwegian",
        folded("fodselsnummer, fødselsnummer, fødselsnr, fodselsnr, personnummer, d-nummer, fnr, norwegian id"),
        _digits(11),
        r"(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-2])\d\d[ -]\d{5}",
    ),
    Scheme("is_.kennitala", folded("kennitala, kennitolu, kt"), _digits(10)),
    Scheme("in_.aadhaar", folded("aadhaar, aadhar, adhaar, adhar, uidai, uid, आधार, ஆதார்"), _digits(12)),
    Scheme("indian", folded("pan, pan card, पैन"), r"[a-z]{3}p[a-z]\d{4}[a-z]", r"[a-z]{3}p[a-z]\d{4}[a-z]"),
    Scheme(
        "cn.ric",
        folded("身份证, 身份证号, 居民身份, 证件号, 公民身份号码, resident id, id card, chinese id"),
        r"\d(?: ?\d){16} ?[\dx]",
        r"[1-8]\d{5}(?:18|19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dx]",
    ),
    Scheme(
        "kr.rrn",
        folded("주민등록번호, 주민번호, 주민등록, rrn, resident registration, 외국인등록번호"),
        r"\d{6} ?-? ?\d{7}",
        r"\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])-[0-9]\d{6}",
    ),
    Scheme("jp.in_", folded("マイナンバー, 個人番号, my number, mynumber, individual number"), _digits(12)),
    Scheme(
        "mx.curp",
        folded("curp, clave unica"),
        r"[a-z]{4} ?\d{6} ?[hmx] ?[a-z]{5} ?[0-9a-z]\d",
        r"[a-z]{4}\d{6}[hmx][a-z]{5}[0-9a-z]\d",
    ),
    Scheme(
        "mx.rfc",
        folded("rfc, registro federal"),
        r"[a-z&]{4}[ -]?\d{6}[ -]?[0-9a-z]{2}[0-9a]",
        r"[a-z]{4}\d{6}[0-9a-v][0-9a-z][0-9a]",
        "mexican",
    ),
    Scheme("luhn", folded("nss, imss, seguro social, numero de seguridad social"), _digits(11)),
    Scheme(
        "tr.tckimlik",
        folded("tc kimlik, t.c. kimlik, kimlik, kimlik no, tckn, tc no, t.c. no, tcno, tc kimlik no, tc'm, tc, t.c."),
        _digits(11),
    ),
    Scheme(
        "south african",
        folded(
            "id number, id no, sa id, south african id, identity number, rsa id, id-nommer, "
            "identiteitsnommer, south african"
        ),
        _digits(13),
    ),
    Scheme(
        "singapore",
        folded("nric, fin, ic number, ic no"),
        r"[stfgm][ -]?\d{7}[ -]?[a-z]",
        r"[stfgm]\d{7}[a-z]",
    ),
    Scheme("au.tfn", folded("tfn, tax file, tax file number"), rf"\d(?:{_GAP}\d){{7,8}}"),
    Scheme("australian medicare", folded("medicare"), rf"[2-6](?:{_GAP}\d){{9}}"),
    Scheme("nz.ird", folded("ird, ird number, inland revenue"), rf"\d(?:{_GAP}\d){{7,8}}"),
    Scheme(
        "ie.pps", folded("pps, ppsn, pps number, pps no, personal public service"), r"\d(?: ?\d){6} ?[a-w] ?[abhwtx]?"
    ),
    Scheme("portuguese", folded("nif, contribuinte, numero fiscal, n.i.f."), _digits(9)),
    Scheme(
        "pt.cc",
        folded("cartao de cidadao, cartao do cidadao, cc, citizen card"),
        r"\d{8} ?\d ?[a-z0-9]{2} ?\d",
        r"\d{8} \d [a-z]{2}\d",
    ),
    Scheme(
        "cz.rc",
        folded("rodne cislo, rodne cislo, rc, r.c., rodneho cisla, birth number, rodnym cislem"),
        r"\d{6} ?/? ?\d{3,4}",
        r"\d{6}/\d{4}",
    ),
    Scheme("ro.cnp", folded("cnp, cod numeric personal"), _digits(13)),
    Scheme("bg.egn", folded("егн, egn, единен граждански номер"), _digits(10)),
    Scheme("hr.oib", folded("oib, osobni identifikacijski"), _digits(11)),
    Scheme("serbian", folded("jmbg, јмбг, emso, maticni broj, maticnog broja"), _digits(13)),
    Scheme("ee.ik", folded("isikukood, isikukoodi, estonian id, personal code"), _digits(11)),
    Scheme("lt.asmens", folded("asmens kodas, asmens koda, asmens kodo, personal code"), _digits(11)),
    Scheme(
        "latvian",
        folded("personas kods, personas kodu, personal code"),
        r"\d{6} ?-? ?\d{5}",
        r"(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-2])\d\d-[0-2]\d{4}",
    ),
    Scheme("gr.amka", folded("αμκα, amka"), _digits(11)),
    Scheme("gr.vat", folded("αφμ, afm"), _digits(9)),
    Scheme("ua.rntrc", folded("рнокпп, іпн, инн, ипн, податковий номер, rntrc"), _digits(10)),
    Scheme("russian", folded("инн, inn"), _digits(12)),
    Scheme("russian insurance", folded("снилс, snils"), _digits(11), r"\d{3}-\d{3}-\d{3}[ -]\d\d"),
    Scheme("", folded("паспорт, паспорта, паспортные данные, серия и номер, серия"), r"\d\d ?\d\d ?(?:№|no)? ?\d{6}"),
    Scheme("il.idnr", folded('teudat zehut, תעודת זהות, ת.ז, ת"ז, תז, israeli id, id number, מספר זהות'), _digits(9)),
    Scheme(
        "chilean", folded("rut, run, r.u.t."), r"\d{1,2}[. ]?\d{3}[. ]?\d{3} ?-? ?[\dk]", r"\d{1,2}\.\d{3}\.\d{3}-[\dk]"
    ),
    Scheme("argentine", folded("cuil, cuit"), r"(?:20|23|24|27)[ .-]?\d{8}[ .-]?\d", r"(?:20|23|24|27)-\d{8}-\d"),
    Scheme("", folded("dni, documento nacional"), r"\d{1,2}\.?\d{3}\.?\d{3}|\d{8}-\d"),
    Scheme(
        "",
        folded("cedula, cedula de ciudadania, c.c., cedula de identidad, c.i."),
        r"(?:[ve]-?)?\d{1,2}\.?\d{3}\.?\d{3}|\d\.\d{3}\.\d{3}\.\d{3}|1\d{9}",
    ),
    Scheme("ec.ci", folded("cedula, ci, c.i."), rf"\d(?:{_GAP}\d){{9}}"),
    Scheme("uruguayan", folded("cedula, ci, c.i."), rf"\d(?:{_GAP}\d){{7}}", r"[1-6]\.\d{3}\.\d{3}-\d"),
    Scheme("do.cedula", folded("cedula"), _digits(11), r"\d{3}-\d{7}-\d"),
    Scheme("th.pin", folded("บัตรประชาชน, เลขประจำตัว, thai id, citizen id"), _digits(13), r"\d-\d{4}-\d{5}-\d\d-\d"),
    Scheme(
        "my.nric",
        folded("mykad, nric, ic, ic number, ic no, kad pengenalan, no ic"),
        _digits(12),
        r"\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])-\d\d-\d{4}",
    ),
    Scheme("id.nik", folded("nik, ktp, nomor induk"), _digits(16)),
    Scheme("pk.cnic", folded("cnic, nadra, شناختی"), _digits(13), r"[1-7]\d{4}-\d{7}-\d"),
    Scheme("taiwan", folded("身分證, 身分證字號, taiwan id, id number"), r"[a-z][12]\d{8}", r"[a-z][12]\d{8}"),
    Scheme(
        "hong kong",
        folded("hkid, 香港身份證, 身份證, 香港身份证"),
        r"[a-z]{1,2} ?\d{6} ?\(?[0-9a]\)?",
        r"[a-z]{1,2}\d{6}\([0-9a]\)",
    ),
    Scheme(
        "", folded("cccd, cmnd, can cuoc cong dan, căn cước, chung minh nhan dan"), rf"0\d(?:{_GAP}\d){{10}}|\d{{9}}"
    ),
    Scheme("", folded("nin, national identification number, national identity number, bvn"), r"[1-9]\d(?: ?\d){9}"),
    Scheme("egyptian", folded("الرقم القومي, رقم قومي, national id, egyptian id"), rf"[23](?:{_GAP}\d){{13}}"),
    Scheme("hungarian insurance", folded("taj, taj szam, taj-szam, tajszam"), _digits(9)),
    Scheme("hungarian tax", folded("adoazonosito, adoazonosito jel, adoszam"), _digits(10)),
    Scheme(
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
