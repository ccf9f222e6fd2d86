"""Agreement of verdicts with people, before and after a fit, on answers that the fit has not seen (pure)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bot.agreement.responses import Response
from bot.calibration.evidence import REDUNDANT, KnobEvidence, judged_of
from bot.calibration.fit import calibrate, with_proposals
from bot.calibration.override_filter import Weighted, question_of, wants_change
from bot.calibration.replay import Judged, Reader, Replayed, replay
from bot.config import Curation
from bot.ledger.events import Shown
from bot.text.digests import digest


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
    teaching: Callable[[Sequence[Weighted]], Sequence[KnobEvidence]],
    can_test: Callable[[Response], bool],
) -> HeldOutAnswers:
    """For each fold, fit to the answers of all other folds and judge those of this fold again.

    ``teaching`` gives the evidence of answers on knobs; ``can_test`` says whether the present knobs apply to the scores
    of an answer.
    """
    folds = config.calibration.folds
    parts = [fold_of(item.response, folds) for item in answers]
    present = replay(shown, read, config)
    pairs: list[tuple[Weighted, bool, bool]] = []
    for fold in sorted(set(parts)):
        others = [item for item, part in zip(answers, parts, strict=True) if part != fold]
        fitted = with_proposals(config, calibrate(teaching(others), config))
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
