"""Digests that identify content in the ledger, which contains no texts (architecture, one verdict, one set
of facts).
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.classifier.model import Identity
from bot.consolidator.verdict import Verdict
from bot.text.compare import normalise
from bot.text.digests import digest


def content_key(turns: Sequence[str], specification: str, expected: Sequence[str] | None = None) -> str:
    """What a decision is bound to: a query's text with its attachments, and its agent (a digest).

    The declared tools that the eval set expects to be called are included, if it names any: they decide part of the
    verdict.
    """
    said = [] if expected is None else [list(expected)]
    return digest([[normalise([turn]) for turn in turns], specification, *said])


def classification_key(
    turns: Sequence[str],
    specification: str,
    definitions: str,
    identity: Identity,
    conditions: str,
    *,
    attachments: Sequence[str] | None = None,
    expected: Sequence[str] | None = None,
) -> str:
    """A digest of all that a classification depends on.

    That is: the exact text; digests of the agent's specification and of the taxonomy's ``definitions``; the classifier
    identity, and the ``conditions`` that it does not include; the kinds of ``attachments`` that the eval set names; and
    the declared tools that it expects to be called.
    """
    classifier = [identity.backend, identity.model, identity.prompt, identity.samples, conditions]
    said = {"attachments": attachments, "expected": expected}
    more = {name: list(value) for name, value in said.items() if value is not None}
    return digest([list(turns), specification, definitions, classifier, *([more] if more else [])])


def verdict_digest(verdict: Verdict, content: str) -> str:
    """A digest of what a person saw: the query's content and its verdict with the names that it rests on.

    Scores and similarities are left out: they may change slightly without changing the verdict shown.
    """
    return digest(
        [
            content,
            verdict.decision.value,
            verdict.route.value,
            [reason.value for reason in verdict.reasons],
            list(verdict.displaces),
            list(verdict.alternate_of),
        ]
    )


def classifier_key(identity: Identity) -> str:
    """A digest of ``identity``: scores under different ones are not comparable."""
    return digest([identity.backend, identity.model, identity.prompt, identity.samples])
