"""E-mail addresses of people, not of roles, examples or machines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from incumbent.text.personal_data.model import Found, PersonalDataKind, Sureness
from incumbent.text.personal_data.near import words

# Letters of scripts with spaces between words; in Chinese or Japanese the word before an address touches it.
_LETTER: Final = r"a-z0-9\u00df-\u02af\u0370-\u052f\u0590-\u06ff\u0900-\u0e7f"
_LOCAL: Final = rf"(?<![{_LETTER}.+%_-])[{_LETTER}_][{_LETTER}.+%_'&-]{{0,63}}"
# The signs as URLs, HTML and programs escape them.
_AT: Final = r"@|%(?:25)?40|&(?:[#]0{0,5}64|[#]x0{0,5}40|commat);|\\u0040"
_DOT: Final = r"\.|%(?:25)?2e|&(?:[#]0{0,5}46|[#]x0{0,5}2e|period);|\\u002e"
_MAIL: Final = re.compile(
    rf"""
      {_LOCAL}
      (?:{_AT}|\ ?[\[({{<]\ ?(?:at|@)\ ?[\])}}>]\ ?)
      (?P<domain>
        [{_LETTER}](?:
            (?:[{_LETTER}-]{{0,62}}(?:{_DOT}|\ ?[\[({{]\ ?(?:dot|punkt|\.)\ ?[\])}}]\ ?)){{1,6}}
          | (?:[{_LETTER}-]{{0,62}}。){{1,6}}  # ends sentences as well, so that no other sign is beside it
        )[{_LETTER}]{{2,24}}
      )(?![a-z0-9])
    """,
    re.VERBOSE,
)
_SPOKEN: Final = re.compile(
    rf"(?P<local>{_LOCAL}(?: dot [a-z0-9]{{1,30}}){{0,3}}) at "
    r"(?P<domain>[a-z0-9-]{1,63}(?: dot [a-z0-9-]{1,30}){0,2} dot "
    r"(?:com|org|net|edu|io|co|de|fr|es|it|nl|uk|us|eu|ca|au|in|br|pl|se|dk|fi|no|ch|at))(?![a-z0-9])"
)
_ROLES: Final = words(
    "abuse accounting accounts accountspayable accueil achats acquisti address admin administratie administrator "
    "ajuda alerts all amministrazione ap ap-team api app apply apps ar ar-team asiakaspalvelu ask assistance "
    "assistenza atencion atencionalcliente atendimento audit auditor auskunft ayuda backup backups bar baz "
    "benefits benutzer bestellung bestellungen bestilling bewerbung bewerbungen bilgi billing biuro boardroom "
    "booking bookings bookkeeping bot bounce bounces buchhaltung build calendar campus care career careers ceo cfo "
    "chat ci cio cloud cloudops collections commercial community compliance compras comptabilite conference "
    "confluence contabilidad contact contacto contactus contato controller cron cs csr cto customer customercare "
    "customerservice customersupport daemon data dataprotection datenschutz demo deploy desk destek dev developer "
    "developers devops direction dispatch donotreply dpo e-mail einkauf email emailaddress empfang engineering "
    "enquiries enquiry erp esg events example facilities facturacion faktura fax feedback finance financeiro "
    "first.last first.lastname firstname firstname.lastname fleet foo founders fraud general git github gitlab "
    "group hello help helpdesk helpdesk-it hi hola hostmaster hr humanresources iletisim inbox info information "
    "infos inkoop inquiries inquiry instagram insurance invest investors invoice invoices ir it ithelp itsupport "
    "jenkins jira jobs kadry kanzlei klantenservice kontakt kontor ksiegowosc kundendienst kundenservice "
    "kundservice lager lastname legal legalteam list local local-part logistics mail mailbox mailer mailer-daemon "
    "maintenance management marketing me media meetings member members membership moderator money monitoring "
    "myemail mymail myynti nachname nagios name news newsletter no-reply no_reply nobody noreply notification "
    "notifications notify office okonomi ombudsman on-call oncall operations ops order orders ordini ordre "
    "outreach partner partners password payables payment payments payroll pedidos people person personal phishing "
    "planning pomoc post postmaster postmottak poststelle pr praxis press press-office presse printer privacy "
    "procurement product project projects purchasing qa questions receivables recepcion reception rechnung recruit "
    "recruiting recruitment recursoshumanos redaktion registrar registration regnskab relay reply report reports "
    "request requests reservas reservation reservations returns rh room root rrhh rsvp sales salesforce salg "
    "sample satis scan scanner school secretariat security segreteria sekretariat service service-client "
    "service-desk serviceclient servicedesk servicenow services shared sharepoint shipping shop signup slack soc "
    "social somebody someone soporte spam sprzedaz staff status store student students subscribe suggestions "
    "suporte support sysadmin system talent team teams tech technical technik test tester testing ticket tickets "
    "tips training travel treasury trial ufficio unsubscribe user username usuario utilisateur vendas vendite "
    "vendor vendors ventas verkauf verkoop versand vertrieb verwaltung voicemail vorname vorname.nachname "
    "warehouse web webmaster website welcome xxx you your your-email your-name your.email your.name your_email "
    "your_name youremail yourname zamowienia zendesk zentrale "
)
"""Names of mailboxes that belong to no single person."""
_ROLE_PART: Final = re.compile(r"support|help|info|sales|service|team|admin|alerts?|billing|notifications?|[a-z]{1,3}")
_NO_REPLY: Final = re.compile(
    r"(?:no|do-?not|ne|nao|nicht|niet|nie|non)[._-]?(?:pas[._-]?)?"
    r"(?:reply|response|repondre|responder|responda|rispondere|antworten|beantwoorden|odpowiadac)"
)
_RESERVED: Final = re.compile(
    r"(?:.*\.)?(?:example(?:\.[a-z]{2,3}){0,2}|test|invalid|localhost|local|internal|localdomain|lan)"
    r"|(?:.*\.)?(?:domain|yourdomain|your-domain|yourcompany|your-company|mydomain|email|server|host|"
    r"site|website)\.[a-z]{2,3}"
    r"|(?:.*[.-])?no-?reply[.-].*|[^.]+\.(?:png|jpe?g|gif|svg|webp|pdf|js|ts|json|ya?ml|txt|html?|css|zip|exe)"
)
# Options and files may be between a command and its destination.
_COMMAND: Final = re.compile(
    r"(?:\b(?:ssh|scp|sftp|rsync|mosh|git clone|npm (?:i|install)|docker (?:login|pull|push|tag|run))"
    r"(?:[ \t]{1,4}(?:-\S{1,30}(?:[ \t][\w.~/:-]{1,30})?|[\w~.:-]{0,30}[/.][\w~./:-]{1,30})){0,4}[ \t]{1,4}|://[^\s/?]{0,64})$"
)
_LOGINS: Final = frozenset(
    ("admin", "centos", "deploy", "ec2-user", "git", "hg", "postgres", "pi", "root", "svn", "ubuntu", "user", "vagrant")
)
_VERSION: Final = re.compile(r"@\d")
_PATH_OF_LOGIN: Final = re.compile(r"[:/]\w")


def mails(lower: str) -> Iterator[Found]:
    """E-mail addresses in a plain text."""
    for pattern in (_MAIL, _SPOKEN):
        for match in pattern.finditer(lower):
            local = match[0][: match.start("domain") - match.start()]
            name = _local_part(local)
            if _of_person(name, _domain(match["domain"])) and not _is_login(lower, match, name):
                yield Found(PersonalDataKind.E_MAIL, *match.span(), Sureness.CHECKED)


def _local_part(written: str) -> str:
    return re.split(rf"{_AT}|[ \[({{<]+at\b", written, maxsplit=1)[0].strip(" [({<").replace(" dot ", ".")


def _domain(written: str) -> str:
    return re.sub(r"[\s\[\](){}]", "", re.sub(rf"{_DOT}|。|\bdot\b|\bpunkt\b", ".", written))


def _of_person(local: str, domain: str) -> bool:
    base = local.split("+")[0].strip(".-_'0123456789")
    parts = re.split(r"[._-]", base)
    # A name follows a dot; the purpose of a mailbox follows a dash.
    of_role = parts[0] if "." not in base else base
    is_role = len(parts[0]) > 3 and all(_ROLE_PART.fullmatch(part) for part in of_role.split("."))
    return base not in _ROLES and not is_role and not _NO_REPLY.match(base) and not _RESERVED.fullmatch(domain)


def _is_login(lower: str, match: re.Match[str], name: str) -> bool:
    """Whether it is a user and a host, as in an address of ssh or a database."""
    before = lower[max(0, match.start() - 200) : match.start()]
    after = _VERSION.match(lower, match.end()) or (name in _LOGINS and _PATH_OF_LOGIN.match(lower, match.end()))
    return bool(after or _COMMAND.search(before))
