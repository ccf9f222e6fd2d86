"""Addresses of e-mail: those of people, not of roles, examples and machines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from bot.personal_data.model import Candidate, Kind, Sureness

# Letters of scripts that write blanks between words; in Chinese or Japanese the word before an address touches it.
_LETTER: Final = r"a-z0-9\u00df-\u02af\u0370-\u052f\u0590-\u06ff\u0900-\u0e7f"
_LOCAL: Final = rf"(?<![{_LETTER}.+%_'-])[{_LETTER}_][{_LETTER}.+%_'&-]{{0,63}}"
_MAIL: Final = re.compile(
    rf"""
      {_LOCAL}
      (?:@|\ ?[\[({{<]\ ?(?:at|@)\ ?[\])}}>]\ ?)
      (?P<domain>[{_LETTER}](?:[{_LETTER}-]{{0,62}}(?:\.|\ ?[\[({{]\ ?(?:dot|punkt|\.)\ ?[\])}}]\ ?)){{1,6}}[{_LETTER}]{{2,24}})(?![a-z0-9])
    """,
    re.VERBOSE,
)
_SPOKEN: Final = re.compile(
    rf"(?P<local>{_LOCAL}(?: dot [a-z0-9]{{1,30}}){{0,3}}) at "
    r"(?P<domain>[a-z0-9-]{1,63}(?: dot [a-z0-9-]{1,30}){0,2} dot "
    r"(?:com|org|net|edu|io|co|de|fr|es|it|nl|uk|us|eu|ca|au|in|br|pl|se|dk|fi|no|ch|at))(?![a-z0-9])"
)
_ROLES: Final = frozenset(
    """abuse accounting accounts accountspayable ap ar admin administrator alerts all apply ask assistance billing bookings booking
    bot bounce bounces ceo careers career campus care cfo cio cloud cloudops community compliance contact contactus contacto
    contato kontakt cs cto customer customercare customerservice customersupport data dataprotection datenschutz dev
    developer developers devops demo desk dpo donotreply email e-mail engineering enquiries enquiry erp events
    example facilities feedback finance foo bar baz founders fraud git general group hello help helpdesk hi hola hostmaster hr humanresources info infos
    information inquiries inquiry instagram insurance invest investors invoice invoices it ithelp itsupport jobs
    kundenservice kundendienst kundservice legal list logistics mail mailbox mailer mailer-daemon maintenance management
    marketing me media member members membership money moderator name news newsletter no-reply no_reply nobody noreply
    notification notifications notify office ombudsman oncall on-call operations ops order orders partner partners
    password payment payments payroll people personal person phishing planning post postmaster pr
    press presse privacy procurement product project projects purchasing qa questions rechnung recepcion reception recruiting recruitment registrar
    registration relay reply report reports request requests reservations reservation returns root rsvp sales
    sample scan scanner school security sekretariat service services servicedesk service-desk shipping shop signup soc social someone somebody
    spam staff status store student students subscribe suggestions support sysadmin system team tech
    technical test tester testing ticket tickets tips training travel treasury trial unsubscribe user username
    utilisateur usuario benutzer vendor vendors ventas vertrieb warehouse web webmaster website welcome xxx you
    your yourname your.name your-name your_name firstname.lastname first.last firstname lastname first.lastname vorname.nachname
    vorname nachname local local-part address mymail myemail youremail your-email your_email your.email emailaddress""".split()
)
"""Names of mailboxes that name nobody."""
_ROLE_PART: Final = re.compile(
    r"(?:no|do-?not)[._-]?reply|support|help|info|sales|service|team|admin|noreply|alerts?|billing|notifications?"
)
_RESERVED: Final = re.compile(
    r"(?:.*\.)?(?:example(?:\.[a-z]{2,3}){0,2}|test|invalid|localhost|local|internal|localdomain|lan)"
    r"|(?:.*\.)?(?:domain|yourdomain|your-domain|yourcompany|your-company|mydomain|email|server|host|site|website)\.[a-z]{2,3}"
    r"|.*noreply.*|.*\.(?:png|jpe?g|gif|svg|webp|pdf|js|ts|py|json|ya?ml|md|txt|html?|css|zip|exe)"
)
_COMMAND: Final = re.compile(
    r"(?:\b(?:ssh|scp|sftp|rsync|mosh|git clone|npm (?:i|install)|docker)\b[^\n@]{0,60}|://\S{0,64})$"
)
_AFTER_HOST: Final = re.compile(r":[\w~/]|/[\w]|@\d")


def mails(lower: str) -> Iterator[Candidate]:
    """Addresses of e-mail in a plain text."""
    for pattern in (_MAIL, _SPOKEN):
        for match in pattern.finditer(lower):
            local = match[0][: match.start("domain") - match.start()]
            if _of_person(_local_part(local), _domain(match["domain"])) and not _is_login(lower, match):
                yield Candidate(Kind.E_MAIL, *match.span(), Sureness.CHECKED)


def _local_part(written: str) -> str:
    return re.split(r"@|[ \[({<]+at\b", written, maxsplit=1)[0].strip(" [({<").replace(" dot ", ".")


def _domain(written: str) -> str:
    return re.sub(r"[\s\[\](){}]|\bdot\b|\bpunkt\b", "", re.sub(r"\.|\bdot\b|\bpunkt\b", ".", written))


def _of_person(local: str, domain: str) -> bool:
    base = local.split("+")[0].strip(".-_'0123456789")
    return (
        base not in _ROLES and not _ROLE_PART.fullmatch(re.split(r"[._-]", base)[0]) and not _RESERVED.fullmatch(domain)
    )


def _is_login(lower: str, match: re.Match[str]) -> bool:
    """Whether a user and a host are written, as in an address of ssh or a database."""
    before = lower[max(0, match.start() - 80) : match.start()]
    return bool(_AFTER_HOST.match(lower, match.end()) or _COMMAND.search(before))
