"""What a calibrated config is offered as."""

from __future__ import annotations

from bot.calibration.calibrate import ConfigEdit
from bot.github.calibration_offer import BRANCHES, calibration_offer
from bot.github.events import OWN_BRANCHES

EDIT = ConfigEdit("config/curation.yaml", "text\n", "0123abcd")


def test_it_is_one_edit_on_a_branch_named_after_the_values() -> None:
    offer = calibration_offer(EDIT, "why")
    assert (offer.branch, offer.body, offer.files) == (f"{BRANCHES}0123abcd", "why", ((EDIT.path, EDIT.text),))
    assert not offer.followed


def test_reconcile_does_not_take_it_for_its_own() -> None:
    assert not calibration_offer(EDIT, "why").branch.startswith(OWN_BRANCHES)
