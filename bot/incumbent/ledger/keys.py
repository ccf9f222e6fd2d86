"""Digests that identify content in the ledger, which contains no texts, and reuse of what it knows by them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace

from incumbent.classifier.caching_backend import conditions_of, knowing
from incumbent.classifier.model import Backend, Classification, Findings, Identity, names_by_digest
from incumbent.classifier.paths import expectation
from incumbent.consolidator.verdict import Verdict
from incumbent.intake.expectation import ExpectedTools
from incumbent.intake.query import Query
from incumbent.intake.specification import Specification
from incumbent.text.compare import normalise
from incumbent.text.digests import digest


def content_key(turns: Sequence[str], specification: str, expected: ExpectedTools | None = None) -> str:
    """What a decision is bound to: a query's text with its attachments, and its agent (a digest).

    What the eval set expects of the declared tools is included: it decides part of the verdict.
    """
    said: list[object] = []
    if expected is not None:
        said.append([step[0] if len(step) == 1 else step for step in expected.steps])
        # Left out where it says no more than earlier versions kept, so that their decisions still apply.
        more = [expected.forbidden, expected.order == "chain"]
        said += [more] if any(more) else []
    return digest([[normalise([turn]) for turn in turns], specification, *said])


def classification_key(
    turns: Sequence[str],
    specification: str,
    definitions: str,
    identity: Identity,
    conditions: str,
    *,
    attachments: Sequence[str] | None = None,
    expected: ExpectedTools | None = None,
) -> str:
    """A digest of all that a classification depends on.

    That is: the exact text; digests of the agent's specification and of the taxonomy's ``definitions``; the classifier
    identity, and the ``conditions`` that it does not include; the kinds of ``attachments`` that the eval set names; and
    what it expects of the declared tools.
    """
    classifier = [identity.backend, identity.model, identity.prompt, identity.samples, conditions]
    more: dict[str, object] = {} if attachments is None else {"attachments": list(attachments)}
    if expected is not None:
        more["expected"] = asdict(expected)
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


def with_findings(backend: Backend, known: Mapping[str, Classification]) -> Backend:
    """``backend`` with the findings of ``known`` classifications, if it can cache them."""
    kept: dict[str, Findings] = {}
    for stored in known.values():
        kept |= {key: kept.get(key, Findings()) | item for key, item in stored.findings.items()}
    return knowing(backend, kept)


def with_tool_names(item: Classification, specification: Specification) -> Classification:
    """``item`` of the ledger with the names of the declared tools: the ledger has digests of them."""
    said = item.contradiction
    if said is None:
        return item
    names = names_by_digest(tool.name for tool in specification.tools or ())
    expected, likeliest = (tuple(names.get(name, name) for name in each) for each in (said.expected, said.likeliest))
    return replace(item, contradiction=replace(said, expected=expected, likeliest=likeliest))


def under(known: Mapping[str, Classification], questions: Mapping[str, str]) -> dict[str, Classification]:
    """``known`` with the answers to earlier questions as answers to the present form of these questions."""
    return {
        key: replace(stored, findings={id: item.under(questions) for id, item in stored.findings.items()})
        if stored.findings and questions
        else stored
        for key, stored in known.items()
    }


def key_of(query: Query, specification: Specification, definitions: str, backend: Backend) -> str:
    """The key of what ``backend`` says of ``query``, under the taxonomy's ``definitions`` (a digest)."""
    return classification_key(
        query.classified_turns,
        specification.digest,
        definitions,
        backend.identity,
        conditions_of(backend),
        attachments=query.attachment_kinds,
        expected=expectation(query, specification),
    )
