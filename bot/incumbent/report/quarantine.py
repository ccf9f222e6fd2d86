"""The pull requests that offer to quarantine an entry, or to end that: titles and descriptions."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Final

from incumbent.curator.roles import derive_roles
from incumbent.ledger.releases.quarantine import FLAPS, Others, QuarantineOffer
from incumbent.pipeline.review import Platform
from incumbent.report.escaping import code
from incumbent.report.pull_request_bodies import SHOWN, marked, quote_turns
from incumbent.report.results import changes_words
from incumbent.report.tables import Detail, TableWriter
from incumbent.report.verdict_text import MarkdownStyle, counted, listed

_MORE: Final = "`incumbent results`"
_OTHERS: Final = (
    "Others share a capability with it. Where they failed as well, the agent is what has changed, and not the entry."
)


def quarantine_title(offer: QuarantineOffer) -> str:
    """The title of the pull request."""
    if offer.ends:
        return f"End the quarantine of {offer.entry.id}: it is stable"
    return f"Quarantine {offer.entry.id}: it flaps"


def render_quarantine(offer: QuarantineOffer, others: Mapping[str, Others], platform: Platform) -> str:
    """The description of the pull request: what is asked, what releases showed, and how to answer.

    ``others`` is what each release says of the entries that share a capability with this one.
    """
    what = "end the quarantine of" if offer.ends else "quarantine"
    why = _stable(offer) if offer.ends else f"it {changes_words(offer.history)}"
    return marked(
        [
            f"Incumbent suggests to {what} {code(offer.entry.id)}: {why}.",
            *_warned(offer, platform),
            quote_turns(offer.entry),
            _table(offer, others, MarkdownStyle(platform.taxonomy)),
            _OTHERS,
            _leads_to(offer),
            _how(offer),
        ]
    )


def _stable(offer: QuarantineOffer) -> str:
    ended = "failed" if offer.outcomes[-1].failed else "passed"
    return f"it {ended} in each of the last {counted(offer.history.steady, 'release', 'releases')} in which it ran"


def _warned(offer: QuarantineOffer, platform: Platform) -> list[str]:
    if offer.ends:
        would = "Exports would have it again, and it would fail until the agent or its expectation is fixed."
        return [f"> [!WARNING]\n> {would}"] if offer.outcomes[-1].failed else []
    known, style = platform.regression_set, MarkdownStyle(platform.taxonomy)
    coverers = derive_roles(known.residents(platform.taxonomy)[0], platform.config).coverers
    alone = [
        style.capability(name)
        for name, ids in coverers.items()
        if offer.entry.id in ids
        and all(known.entries[id].quarantined is not None for id in ids if id != offer.entry.id)
    ]
    if not alone:
        return []
    return [f"> [!WARNING]\n> No other exported entry covers {listed(sorted(alone), SHOWN)}."]


def _table(offer: QuarantineOffer, others: Mapping[str, Others], style: MarkdownStyle) -> str:
    """What each release said, the newest first."""
    plain = [item for item in offer.outcomes if not item.mixed]
    changed = {after.release for before, after in pairwise(plain) if before.failed is not after.failed}
    rows = [
        (
            style.quote(item.release),
            str(item.result.passed),
            str(item.result.failed),
            "runs disagree" if item.mixed else "changed" if item.release in changed else "",
            _others(others[item.release]),
        )
        for item in reversed(offer.outcomes)
    ]
    return TableWriter(Detail(rows=SHOWN), _MORE)(("Release", "Passed", "Failed", "Change", "Others failed"), rows)


def _others(item: Others) -> str:
    return f"{item.failed} of {item.ran}" if item.ran else "–"


def _leads_to(offer: QuarantineOffer) -> str:
    if offer.ends:
        return "Exports have it again. No verdict changes."
    return (
        "It stays in the regression set and covers what it covers: no verdict changes. `incumbent export` leaves it "
        "out, so that it blocks no release. `incumbent export --quarantined` exports such entries alone: run them "
        "apart, so that they can show when they are stable."
    )


def _how(offer: QuarantineOffer) -> str:
    by_hand = f"incumbent quarantine {offer.entry.id} " + ("--end" if offer.ends else f'--reason "{FLAPS}"')
    return "\n".join(
        [
            "- **To confirm**, merge this pull request. Incumbent never does.",
            "- **To refuse**, close it: it is not suggested again until later releases alone show the same.",
            f"- **By hand**: `{by_hand}`.",
        ]
    )
