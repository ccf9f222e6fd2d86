"""The whole of ``incumbent calibrate``: events in, a finding out, also on answers that the fit has not seen (pure)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from incumbent.files.yaml_writer import amend
from incumbent.ledger.agreement.responses import Response, responses_of
from incumbent.ledger.calibration.evidence import REDUNDANT, KnobEvidence, evidence_of, judged_of
from incumbent.ledger.calibration.fit import Estimate, calibrate, in_unit, with_proposals
from incumbent.ledger.calibration.override_filter import (
    Validated,
    Weighted,
    question_of,
    validate_responses,
    wants_change,
)
from incumbent.ledger.calibration.replay import Judged, Reader, Replayed, judged, replay
from incumbent.ledger.events import LedgerEvent, Shown
from incumbent.taxonomy.config import Curation
from incumbent.text.digests import digest


@dataclass(frozen=True, slots=True)
class ConfigEdit:
    """The ``text`` that the config at ``path`` would have; equal proposals have the same ``name``."""

    path: str
    text: str
    name: str


def edit_config(path: str, text: str, estimates: Sequence[Estimate]) -> ConfigEdit | None:
    """The config ``text`` at ``path`` with the proposed values, comments and order kept; ``None`` without proposals."""
    proposed = [item for item in estimates if item.proposed is not None]
    if not proposed:
        return None
    values: dict[str, dict[str, float | int]] = {}
    for item in proposed:
        assert item.proposed is not None
        values.setdefault(item.capability, {})[item.knob.value] = in_unit(item.knob, item.proposed)
    return ConfigEdit(path, amend(text, {"per_capability": values}), digest(values))


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfCheck:
    """How far a replay can be trusted: of ``shown`` verdicts, those that came back, and those that came back equal."""

    shown: int
    replayed: int
    equal: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A verdict that would change: in codes, under the present config and with the proposals."""

    shown: Shown
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationFinding:
    """What people's answers say about the knobs.

    ``other_classifier`` counts the answers left out because their scores are another classifier's.
    ``other_definition`` counts those of which a part is left out because its capability was defined otherwise.
    ``wrong_tag`` counts those left out because their verdict rested on a tag that curators corrected.  ``about`` counts
    the explicit answers that concern a knob at all.  ``held_out`` is agreement on answers that the fit had not seen;
    ``changed`` are past verdicts under the whole proposal.
    """

    responses: int
    validated: Validated
    other_classifier: int
    other_definition: int
    wrong_tag: int
    about: int
    estimates: tuple[Estimate, ...]
    check: SelfCheck
    changed: tuple[Changed, ...]
    held_out: HeldOutAnswers

    @property
    def proposed(self) -> tuple[Estimate, ...]:
        """The estimates that are proposals."""
        return tuple(item for item in self.estimates if item.proposed is not None)


def find(
    events: Sequence[LedgerEvent],
    read: Reader,
    config: Curation,
    groups: Mapping[str, str],
    classifier: str | None,
    comparable: Callable[[str], Collection[str]],
) -> CalibrationFinding:
    """What the ``events`` say about ``config``; ``read`` gives the set and config at a commit.

    ``groups`` has the group of each capability.  Left out is evidence on capabilities that no longer exist, on scores
    of another ``classifier`` than R's (a digest; ``None``: R is empty and nothing is left out), and on scores under
    another definition.  ``comparable`` gives the capabilities that a version of the taxonomy defined as they are
    defined now.
    """

    def is_comparable(capability: str, response: Response) -> bool:
        return response.facts is None or capability in comparable(response.facts.taxonomy)

    def about(answers: Sequence[Weighted]) -> list[KnobEvidence]:
        return [item for item in evidence_of(answers, situations) if item.capability in groups]

    def teaching(answers: Sequence[Weighted]) -> list[KnobEvidence]:
        return [item for item in about(answers) if is_comparable(item.capability, item.response)]

    def can_test(response: Response) -> bool:
        known = () if response.facts is None else response.facts.scores
        return all(is_comparable(name, response) for name in known if name in groups)

    responses = responses_of(events)
    validated = validate_responses(responses, config.curators, config.calibration)
    usable = (*validated.kept, *validated.silent)
    comparable_answers = [item for item in usable if _is_comparable(item.response, classifier)]
    answers = tuple(item for item in comparable_answers if not item.response.rests_on_wrong_tag)
    shown = [event for event in events if isinstance(event, Shown)]
    situations = replay(shown, read, None)
    evidence = teaching(answers)
    estimates = calibrate(evidence, config, groups)
    proposed = with_proposals(config, estimates)
    before = replay(shown, read, config)
    after = before if proposed == config else replay(shown, read, proposed)
    pairs = [(item, after[key]) for key, item in sorted(before.items())]
    return CalibrationFinding(
        responses=len(responses),
        validated=validated,
        other_classifier=len(usable) - len(comparable_answers),
        wrong_tag=len(comparable_answers) - len(answers),
        other_definition=len(
            {id(item.response) for item in about(answers) if not is_comparable(item.capability, item.response)}
        ),
        about=len({id(item.response) for item in evidence if not item.silent}),
        estimates=estimates,
        check=SelfCheck(
            shown=len({judged(item) for item in shown if item.facts is not None}),
            replayed=len(situations),
            equal=sum(1 for item in situations.values() if not item.changed),
        ),
        changed=tuple(
            Changed(shown=old.shown, before=old.codes, after=new.codes) for old, new in pairs if old.codes != new.codes
        ),
        held_out=hold_out(
            answers, shown, read, config, lambda others: calibrate(teaching(others), config, groups), can_test
        ),
    )


def _is_comparable(response: Response, classifier: str | None) -> bool:
    """Whether ``response`` is on scores of ``classifier``, on no scores, or on those of an unrecorded classifier."""
    recorded = None if response.facts is None else response.facts.classifier
    return recorded is None or classifier is None or recorded == classifier


@dataclass(frozen=True, slots=True)
class PredictionAgreement:
    """How many of ``count`` answers the verdicts agreed with, under the config as it is and with what was fitted."""

    count: int = 0
    before: int = 0
    after: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOutAnswers:
    """The answers of all folds, each judged by a fit to the other folds; silent ones stand apart.

    ``lost`` answers could not be judged again: their verdicts cannot be replayed, or rest on scores under another
    definition, or they are about no floor.
    """

    explicit: PredictionAgreement
    silent: PredictionAgreement
    lost: int


def fold_of(response: Response, folds: int) -> int:
    """The part, of ``folds``, that all answers to the same question belong to."""
    return int(digest(list(question_of(response))), 16) % folds


def hold_out(
    answers: Sequence[Weighted],
    shown: Sequence[Shown],
    read: Reader,
    config: Curation,
    fit: Callable[[Sequence[Weighted]], Sequence[Estimate]],
    can_test: Callable[[Response], bool],
) -> HeldOutAnswers:
    """For each fold, fit to the answers of all other folds and judge those of this fold again.

    ``fit`` gives the estimates from answers; ``can_test`` says whether the present knobs apply to the scores
    of an answer.
    """
    folds = config.calibration.folds
    parts = [fold_of(item.response, folds) for item in answers]
    present = replay(shown, read, config)
    pairs: list[tuple[Weighted, bool, bool]] = []
    for fold in sorted(set(parts)):
        others = [item for item, part in zip(answers, parts, strict=True) if part != fold]
        fitted = with_proposals(config, fit(others))
        tested = [item for item, part in zip(answers, parts, strict=True) if part == fold and can_test(item.response)]
        after = present if fitted == config else replay(_reviews_of(tested, shown), read, fitted)
        for item in tested:
            old = _agrees(item.response, present, config)
            new = _agrees(item.response, after, fitted)
            if old is not None and new is not None:
                pairs.append((item, old, new))
    return HeldOutAnswers(
        explicit=_count([pair for pair in pairs if pair[0].response.explicit]),
        silent=_count([pair for pair in pairs if not pair[0].response.explicit]),
        lost=len(answers) - len(pairs),
    )


def _reviews_of(tested: Sequence[Weighted], shown: Sequence[Shown]) -> list[Shown]:
    """All verdicts of the pull requests that the ``tested`` answers are on."""
    numbers = {item.response.pull_request for item in tested}
    return [item for item in shown if item.pull_request in numbers]


def _agrees(response: Response, replayed: Mapping[Judged, Replayed], config: Curation) -> bool | None:
    """Whether ``config`` decides as the person wants; ``None`` if unknown."""
    if response.decision == "EVICT" and set(response.reasons) == {REDUNDANT} and response.remaining:
        safe = all(count >= config.redundancy_floor(name) for name, count in response.remaining.items())
        return safe == wants_change(response)
    key = judged_of(response)
    again = None if key is None else replayed.get(key)
    return None if again is None else again.ruling.decision.admits == wants_change(response)


def _count(pairs: Sequence[tuple[Weighted, bool, bool]]) -> PredictionAgreement:
    return PredictionAgreement(len(pairs), sum(1 for pair in pairs if pair[1]), sum(1 for pair in pairs if pair[2]))
