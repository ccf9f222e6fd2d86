"""Names of people after a title or a phrase.  A simple rule, off by default."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from incumbent.text.personal_data.model import Found, PersonalDataKind, Sureness

_CAPITAL: Final = r"(?=[^\W\d_])[^a-zß-ÿа-яα-ω\W\d_][^\W\d_'’]{0,25}(?:['’-][^\W\d_]{1,25}){0,2}"
_PART: Final = (
    r"(?:(?:de|da|do|dos|del|della|di|van|von|der|den|zu|bin|al|el|la|le|du|af|av|ter|ten|Mc|"
    rf"O['’])[ ]){{0,2}}{_CAPITAL}"
)
_FULL: Final = rf"{_CAPITAL}\.?(?:[ ]{_PART}){{0,3}}"
_TITLED: Final = re.compile(
    r"(?<!\w)(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Sir|Madam|Herrn?|Frau|M|Mme|Mlle|Monsieur|Madame|Sra?|Srta|"
    r"Senhora?|Senora?|Don|Dona|"
    rf"Sig|Sig\.ra|Signora?|Dott|Dhr|Mevr|Meneer|Mevrouw|Pani?|Fru|Sayin|Shri|Smt)\.?[ ](?P<name>{_FULL})"
)
_SAID: Final = re.compile(
    r"(?<!\w)(?i:my (?:full )?name is|the name is|name's|name:|i am called|full name:?|patient:|"
    r"employee:|contact person:?|on behalf of|signed by|"
    r"mein name ist|ich heisse|ich heiße|name ist|je m'appelle|je m’appelle|mon nom est|"
    r"je suis madame|nom:|me llamo|mi nombre es|nombre:|"
    r"meu nome e|me chamo|chamo-me|nome:|mi chiamo|il mio nome e|mijn naam is|ik heet|naam:|"
    r"nazywam sie|mam na imie|jag heter|mitt namn ar|"
    r"jeg hedder|mit navn er|jeg heter|navnet mitt er|nimeni on|olen nimeltani|benim adim|adim|"
    r"меня зовут|мое имя|mera naam|मेरा नाम)"
    rf"[ ]?:?[ ](?P<name>{_FULL})"
)
_TWO: Final = rf"{_CAPITAL}(?:[ ]{_PART}){{1,3}}"
# At least two words, since other things than names follow these labels too.
_LABELLED: Final = re.compile(
    r"(?<!\w)(?i:patient|applicant|owner|guest|sender|recipient|tenant|employee|customer|client|"
    r"contact|beneficiary|attn|"
    r"dear|hi|hello|name|candidate|passenger|traveller|traveler|resident|colleague|kunde|kundin|"
    r"patientin|mieter|mieterin|mitarbeiter|mitarbeiterin|"
    r"empfanger|absender|client|cliente|paciente|destinatario|remitente|inquilino|patiente|destinataire|locataire|"
    r"paziente|mittente|dipendente|klient|pacjent|pacjentka|najemca|odbiorca|odbiorcy|huurder|klant|"
    r"kund|asiakas|kiraci|alici|gonderen|musteri|"
    r"soy|sono|je suis|ich bin|jestem|сотрудник|пациент|клиент|заявление от|получатель|от)"
    rf"[:,]?[ ](?P<name>{_TWO})"
)
_EASTERN: Final = re.compile(
    r"(?:我叫|我的名字是|我名叫|姓名[::]?|联系人[::]?|收件人[::]?|聯絡人[::]?|"
    r"收货人[::]?)[ ]?(?P<chinese>[\u4e00-\u9fff]{2,4})(?![\u4e00-\u9fff])"
    r"|(?:私の名前は|氏名[::]?|名前は|応募者[::]?|受取人は?[::]?|宛名[::]?|"
    r"担当者?[::]?)[ ]?(?P<japanese>[\u3040-\u30ff\u4e00-\u9fff々]{1,6}[ ]?[\u3040-\u30ff\u4e00-\u9fff々]{1"
    r",6}?)(?=です|と申|といい|[。、,\s]|$)"
    r"|(?P<polite>[\u4e00-\u9fff]{1,4}[ ]?[\u4e00-\u9fff]{0,3})(?=さん|様|氏)"
    r"|(?:(?:제|내)[ ]?이름은|이름[::]|성함[::]|받는 분:?|담당자:?)[ ]?"
    r"(?P<korean>[가-힣]{2,4}?)(?=입니다|이에요|예요|이고|[ .,]|"
    r"$)|(?P<title>[가-힣]{3})(?=[ ]?(?:씨|님|고객님))"
)


def names(text: str) -> Iterator[Found]:
    """Names of people in a plain text, with its case kept."""
    for pattern in (_TITLED, _SAID, _LABELLED, _EASTERN):
        for match in pattern.finditer(text):
            group = match.lastgroup or "name"
            yield Found(PersonalDataKind.NAME, match.start(group), match.end(group), Sureness.WORDS)
