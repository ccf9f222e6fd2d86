"""From events to a finding: what is proposed, what it would change, and agreement on answers that were held out."""

from __future__ import annotations

import shutil
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from incumbent.files.snapshot import WorkingTree
from incumbent.ledger.calibration.calibrate import (
    CalibrationFinding,
    ConfigEdit,
    PredictionAgreement,
    edit_config,
    find,
    fold_of,
)
from incumbent.ledger.calibration.replay import PastSet, reader
from incumbent.ledger.events import LedgerEvent, Shown, Suggested
from incumbent.taxonomy.migration import Lineage
from tests.agreement.factories import (
    COMMIT,
    answered,
    corrected,
    correction_ended,
    day,
    decided,
    facts,
    name_of,
    passed,
    response,
    shown,
)
from tests.factories import REPOSITORY, SHIPPED, make_config

TEXT = (REPOSITORY / "config" / "curation.yaml").read_text(encoding="utf-8")

CONFIG = make_config()


def reviewed(number: int, score: float, bar: float) -> list[LedgerEvent]:
    """A query that brings capability c, and Ann, who finds it covered from ``bar`` on."""
    codes = "INCLUDE direct NEW_COVERAGE" if score >= 0.6 else "INCLUDE review NEW_COVERAGE LOW_CONFIDENCE"
    recorded = facts(scores={"c": score}, new=("c",))
    entry = f"q{number}"
    action: Any = "accept" if score >= bar else "reject"
    return [
        shown(entry, codes, facts=recorded, place=0, pull_request=number),
        decided(entry, codes, action=action, reason="too weak", comment=number, pull_request=number),
    ]


def events(bar: float) -> list[LedgerEvent]:
    return [event for number in range(1, 41) for event in reviewed(number, 0.5 + number / 100, bar)]


def found(
    recorded: list[LedgerEvent],
    classifier: str | None = None,
    capabilities: Collection[str] = "c",
    **versions: Collection[str],
) -> CalibrationFinding:
    """What ``recorded`` teaches; ``versions`` map those of the taxonomy to what each defined as it is."""
    standing = PastSet(residents=(), config=CONFIG)
    comparable = {"1.0.0": capabilities} | versions
    return find(
        recorded,
        lambda _: standing,
        CONFIG,
        dict.fromkeys(capabilities, "all"),
        classifier,
        lambda version: comparable.get(version, ()),
    )


def test_a_bar_that_people_hold_higher_is_proposed_and_does_what_held_out_answers_want() -> None:
    finding = found(events(0.7))
    (estimate,) = finding.proposed
    assert (estimate.capability, estimate.knob.value, estimate.proposed) == ("c", "competence_bar", 0.7)
    assert (finding.responses, finding.about, len(finding.validated.kept)) == (40, 40, 40)
    assert (finding.check.shown, finding.check.replayed, finding.check.equal) == (40, 40, 40)
    assert len(finding.changed) == 19
    assert {item.after for item in finding.changed} == {"EXCLUDE direct REDUNDANT"}
    held = finding.held_out
    assert (held.explicit.count, held.explicit.before, held.silent, held.lost) == (40, 21, PredictionAgreement(), 0)
    assert held.explicit.after >= 36


def test_of_what_is_no_capability_any_more_nothing_is_learnt() -> None:
    finding = found(events(0.7), capabilities="d")
    assert (finding.estimates, finding.other_definition) == ((), 0)


def under(version: str, recorded: list[LedgerEvent]) -> list[LedgerEvent]:
    """``recorded`` as of another version of the taxonomy."""
    return [
        event.model_copy(update={"facts": event.facts.model_copy(update={"taxonomy": version})})
        if isinstance(event, Shown) and event.facts is not None
        else event
        for event in recorded
    ]


def test_of_scores_under_another_definition_nothing_is_learnt() -> None:
    recorded = under("0.9.0", events(0.7))
    for other in (found(recorded), found(recorded, capabilities="cd", **{"0.9.0": "d"})):
        assert (other.other_definition, other.about, other.estimates) == (40, 0, ())
        assert (other.held_out.explicit.count, other.held_out.lost) == (0, 40)
    same = found(recorded, **{"0.9.0": "c"})
    assert (same.other_definition, same.about, len(same.proposed), same.held_out.lost) == (0, 40, 1, 0)


def test_beside_a_capability_that_was_defined_otherwise_the_others_teach() -> None:
    recorded = facts(scores={"c": 0.9, "d": 0.8}, new=("c", "d"), taxonomy="0.9.0")
    both: list[LedgerEvent] = [
        shown("q50", facts=recorded, place=0, pull_request=50),
        decided("q50", comment=50, pull_request=50),
    ]
    finding = found([*both, *events(0.7)], capabilities="cd", **{"0.9.0": "d"})
    assert (finding.other_definition, finding.about, finding.held_out.lost) == (1, 41, 1)
    assert {item.capability: item.weight for item in finding.estimates} == {"c": 40.0, "d": 0.5}
    # A capability that is none any more was not redefined.
    finding = found(both, capabilities="d", **{"0.9.0": "d"})
    assert (finding.other_definition, finding.about, finding.held_out.lost) == (0, 1, 0)


def test_of_a_verdict_that_rested_on_a_wrong_tag_nothing_is_learnt() -> None:
    recorded = events(0.7)
    wrong = [
        corrected(item.entry, "c", comment=900 + place, content=item.content, pull_request=item.pull_request)
        for place, item in enumerate(recorded)
        if isinstance(item, Shown)
    ]
    finding = found([*recorded, *wrong])
    assert (finding.wrong_tag, finding.about, finding.estimates, finding.held_out.explicit.count) == (40, 0, (), 0)
    # What is right after all, or whose correction is void, teaches.
    for more in ([item.model_copy(update={"value": True}) for item in wrong], [*wrong, *map(correction_ended, wrong)]):
        assert (found([*recorded, *more]).wrong_tag, found([*recorded, *more]).about) == (0, 40)


def test_of_scores_of_another_classifier_nothing_is_learnt() -> None:
    recorded = [
        event.model_copy(update={"facts": event.facts.model_copy(update={"classifier": name_of("old")})})
        if isinstance(event, Shown) and event.facts is not None
        else event
        for event in events(0.7)
    ]
    other = found(recorded, name_of("new"))
    assert (other.other_classifier, other.about, other.estimates, other.held_out.explicit.count) == (40, 0, (), 0)
    for same in (found(recorded, name_of("old")), found(recorded), found(events(0.7), name_of("new"))):
        assert (same.other_classifier, same.about, len(same.proposed)) == (0, 40, 1)


def test_people_who_agree_change_nothing() -> None:
    finding = found([*events(0.5), *(passed("q41", at=day(9)), shown("q41", place=0))])
    assert finding.proposed == ()
    assert finding.changed == ()
    assert finding.held_out.explicit == PredictionAgreement(40, 40, 40)
    assert finding.held_out.silent == PredictionAgreement(1, 1, 1)


def test_floors_are_judged_by_what_would_be_suggested() -> None:
    recorded: list[LedgerEvent] = []
    for number in range(1, 31):
        remaining = 2 + number % 3
        about: dict[str, Any] = {"branch": f"incumbent/evict/e{number}", "entries": (f"e{number}",)}
        left = {"c": remaining}
        recorded.append(Suggested(at=day(1), pull_request=number, suggestion="redundant", remaining=left, **about))
        recorded.append(answered(f"e{number}", pull_request=number, agrees=remaining >= 4))
    recorded.append(answered("e99", pull_request=99, suggestion="displaced"))
    finding = found(recorded)
    (estimate,) = finding.proposed
    assert (estimate.knob.value, estimate.proposed) == ("redundancy_floor", 4.0)
    assert finding.held_out.explicit == PredictionAgreement(30, 10, 30)
    assert finding.held_out.lost == 1


def test_all_answers_to_one_question_are_in_one_fold() -> None:
    assert fold_of(response(subject="s1"), 5) == fold_of(response(subject="s2", by="bob"), 5)
    assert len({fold_of(response(content=str(number)), 5) for number in range(50)}) == 5


def test_the_edit_keeps_what_people_wrote_and_has_the_name_of_its_values() -> None:
    estimates = found(events(0.7)).estimates
    edit = edit_config("config/curation.yaml", TEXT, estimates)
    assert isinstance(edit, ConfigEdit)
    assert edit.text.replace("  c: {competence_bar: 0.7}\n", "").replace(":    #", ": {} #") == TEXT
    assert edit == edit_config("config/curation.yaml", TEXT, estimates)
    again = edit_config("config/curation.yaml", edit.text + "# more\n", estimates)
    assert again is not None
    assert again.name == edit.name
    assert edit_config("config/curation.yaml", TEXT, ()) is None


def test_what_stood_is_read_once_with_the_config_of_then() -> None:
    asked: list[str] = []

    def open_commit(commit: str) -> WorkingTree | None:
        asked.append(commit)
        return WorkingTree(REPOSITORY) if commit == COMMIT else None

    present = make_config(ceiling=7, competence_bar=0.9, per_capability={"x": {"competence_bar": 0.1}})
    read = reader(open_commit, present, "config/curation.yaml", Lineage())
    standing = read(COMMIT)
    assert standing is not None
    assert read(COMMIT) is standing
    assert (standing.config.knobs, standing.config.ceiling) == (SHIPPED.knobs, 7)
    assert standing.config.per_capability == {}
    assert read("a" * 40) is None
    assert asked == [COMMIT, "a" * 40]


@pytest.mark.parametrize("path", ["config/nowhere.yaml", "taxonomy/taxonomy.yaml"])
def test_what_cannot_be_read_by_todays_rules_did_not_stand(path: str) -> None:
    assert reader(lambda _: WorkingTree(REPOSITORY), SHIPPED, path, Lineage())(COMMIT) is None


def test_overrides_of_then_are_read(tmp_path: Path) -> None:
    for name in ("taxonomy", "config"):
        shutil.copytree(REPOSITORY / name, tmp_path / name)
    config = tmp_path / "config" / "curation.yaml"
    text = config.read_text(encoding="utf-8").replace(
        "per_capability: {}", "per_capability: {a: {winning_margin: 0.3}}"
    )
    config.write_text(text[: text.index("calibration:")], encoding="utf-8")  # as a file from before had it
    standing = reader(lambda _: WorkingTree(tmp_path), SHIPPED, "config/curation.yaml", Lineage())(COMMIT)
    assert standing is not None
    assert standing.config.winning_margin("a") == 0.3
