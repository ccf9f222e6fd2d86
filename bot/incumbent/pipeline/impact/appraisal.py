"""What to expect of a capability before verdicts rest on it (pure; docs/taxonomy.md).

Only new or changed capabilities that may be judged from text are appraised.  A new one that lacks something goes on
trial.  One that counted before goes on trial only for something that it did not lack then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from incumbent.classifier.exemplars import HeldOutExemplars
from incumbent.classifier.model import RULED, Judgement
from incumbent.errors import Problem
from incumbent.files.documents import Document
from incumbent.ledger.agreement.statistics import wilson
from incumbent.pipeline.impact.model import CapabilityImpact, Expected, Lack, OnTexts, ShownText, Standing, WithInterval
from incumbent.taxonomy.checks import lacking_exemplars
from incumbent.taxonomy.config import AppraisalSettings
from incumbent.taxonomy.migration import Migration, carried_definitions, migration_between
from incumbent.taxonomy.model import Capability, Taxonomy
from incumbent.text.compare import normalise, rounded
from incumbent.text.masking import masked

HeldOuts: TypeAlias = Callable[[], Mapping[str, HeldOutExemplars] | None]
"""A classifier's measurements, by capability; ``None``: it measures nothing. Called only where the result matters."""

TEXT_CHARACTERS: Final = 300
"""The maximum length of a kept text; its place identifies it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A text of the platform, its place (``where``), and its classification."""

    where: str
    turns: tuple[str, ...]
    judgements: Mapping[str, Judgement]


def nothing_measured() -> None:
    """No measurements: there is no classifier that may be asked, or none that measures."""


def appraise(
    old: Taxonomy,
    new: Taxonomy,
    settings: AppraisalSettings,
    before: HeldOuts = nothing_measured,
    after: HeldOuts = nothing_measured,
    texts: Sequence[Text] = (),
) -> tuple[CapabilityImpact, ...]:
    """What to expect of each capability that ``new`` adds or changes, in its order."""
    pairs = list(_appraised(old, new))
    measured = after() if pairs else None
    found = []
    for was, now in pairs:
        held_out = None if measured is None else measured.get(now.id, _NOTHING)
        lacks = _lacks(now, settings, held_out)
        found.append(
            CapabilityImpact(
                capability=now.id,
                is_new=was is None,
                standing=_standing(was, now, lacks, settings, before),
                positive=len(now.exemplars.originals.positive),
                negative=len(now.exemplars.originals.negative),
                expected=None if held_out is None else _expected(held_out),
                lacks=tuple(lacks.values()),
                texts=_on_texts(now.id, texts, settings.shown),
            )
        )
    return tuple(found)


def trial_problems(appraisals: Sequence[CapabilityImpact], new: Taxonomy, document: Document) -> Iterator[Problem]:
    """A fault for each capability that verdicts may not rest on yet; ``document`` is the file of ``new``."""
    places = {id: place for place, id in enumerate(new.by_id)}
    for item in appraisals:
        if item.standing == "unfit":
            lacks = ", ".join(lack.words for lack in item.lacks)
            message = f"{item.capability}: no verdict may rest on it yet: it has {lacks}"
            fix = "add `trial: true` to it: it is judged and shown, and counts once it has what is missing"
            yield document.problem(("capabilities", places[item.capability]), message, fix)


_NOTHING: Final = HeldOutExemplars(by="part", found=0, false=0, missed=0)
"""The measurement of a capability without exemplars, which is never TRUE."""


def _appraised(old: Taxonomy, new: Taxonomy) -> Iterator[tuple[Capability | None, Capability]]:
    """The capabilities of ``new`` to appraise, each with its earlier version (``None``: it is new)."""
    migration: Migration = migration_between(old, new)
    previous = {migration.renamed(item.id): item for item in old.capabilities}
    same = carried_definitions(migration, old, new)
    for item in new.capabilities:
        was = previous.get(item.id)
        if item.is_appraised and (was is None or was.id not in same or was.trial != item.trial):
            yield was, item


def _lacks(item: Capability, settings: AppraisalSettings, held_out: HeldOutExemplars | None) -> dict[str, Lack]:
    """What ``item`` lacks, by kind; precision only if it was measured."""
    few = lacking_exemplars(item, settings).items()
    found = [Lack(kind=kind, has=has, wanted=wanted) for kind, (has, wanted) in few]
    if held_out is not None:
        precision = rounded(held_out.found / held_out.tagged) if held_out.tagged else None
        if (precision or 0.0) < settings.precision:
            found.append(Lack(kind="precision", has=precision, wanted=settings.precision))
    return {lack.kind: lack for lack in found}


def _standing(
    was: Capability | None, now: Capability, lacks: Mapping[str, Lack], settings: AppraisalSettings, before: HeldOuts
) -> Standing:
    if not lacks:
        return "may-count" if now.trial else "counts"
    if now.trial:
        return "on-trial"
    if was is None or was.trial:
        return "unfit"
    # It counted without what it lacks: while it lacks no more than that, it goes on.
    lacked = _lacks(was, settings, None)
    if "precision" in lacks:
        measured = before()
        if measured is not None:
            lacked = _lacks(was, settings, measured.get(was.id, _NOTHING))
    return "unfit" if lacks.keys() - lacked.keys() else "goes-on"


def _expected(held_out: HeldOutExemplars) -> Expected:
    return Expected(
        by=held_out.by,
        tagged=held_out.tagged,
        positive=held_out.positive,
        precision=_share(held_out.found, held_out.tagged),
        recall=_share(held_out.found, held_out.positive),
    )


def _share(count: int, total: int) -> WithInterval | None:
    interval = wilson(count, total)
    return None if interval is None else WithInterval(share=count / total, low=interval.low, high=interval.high)


def _on_texts(capability: str, texts: Sequence[Text], most: int) -> OnTexts:
    """The tags among ``texts``, each wording once; tags that a rule decides say nothing about the classifier."""
    judged: dict[str, tuple[bool, float, Text]] = {}
    for text in texts:
        found = text.judgements.get(capability)
        if found is not None and found.path not in RULED:
            judged.setdefault(normalise(text.turns), (found.value, rounded(found.probability), text))
    order = sorted(judged.values(), key=lambda item: (-item[1], item[2].where))
    tagged = [item for item in order if item[0]]
    missed = [item for item in order if not item[0] and item[1] > 0]
    surest, others = tagged[:most], tagged[most:]
    return OnTexts(
        judged=len(judged),
        tagged=len(tagged),
        surest=tuple(map(_text, surest)),
        doubtful=tuple(map(_text, others[::-1][:most])),
        misses=tuple(map(_text, missed[:most])),
    )


def _text(item: tuple[bool, float, Text]) -> ShownText:
    _, probability, text = item
    # Mask before cutting: no part of a secret may remain.
    whole = masked("\n".join(text.turns))
    cut = whole if len(whole) <= TEXT_CHARACTERS else f"{whole[: TEXT_CHARACTERS - 1]}…"
    return ShownText(where=text.where, text=cut, probability=probability)
