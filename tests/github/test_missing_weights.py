"""The Action on a machine that lacks the classifier's weights: incomplete, and the platform has to act, no author."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from incumbent.classifier.caching_backend import HaltedBackend
from incumbent.classifier.embedded.weights import WAYS_OUT, WeightsError
from incumbent.classifier.model import Backend
from incumbent.github.check import PLATFORM_ACTS, Result
from incumbent.github.events import Event, Flow
from incumbent.github.facts import Analysis
from incumbent.github.run import publish_event
from incumbent.pipeline.impact.measure import NOT_HERE
from incumbent.pipeline.review import Platform
from incumbent.reconcile.inventory import Inventory
from incumbent.reconcile.run import reconcile_event, survey_event
from incumbent.taxonomy.config import CONFIG_FILE
from tests.github.test_impact_flow import ACME, OF_F, Desk, _no_race, _silent, desk, written
from tests.pipeline.impact.test_measure import WITH_F, config
from tests.reconcile.hub import MAIN
from tests.reconcile.runs import IDENTITY, agent_files, config_text, text_of

MISSING = WeightsError("the weights that the config names are not installed: e5.bin")


@dataclass
class Bare(Desk):
    """A desk on a machine where only configs that name no weights can be judged, until they are ``installed``."""

    installed: list[bool] = field(default_factory=list)

    def backend(self, platform: Platform, *_: object) -> Backend:
        asked = super().backend(platform)
        needed = platform.config.classifier.embedded.weights is not None and not self.installed
        return HaltedBackend(IDENTITY, None, MISSING) if needed else asked

    def result(self, number: int) -> Result:
        """How the review of the pull request ends, once it is published."""
        analysis = self.analyse(number)
        # The facts cross from one job to the other as JSON.
        assert Analysis.model_validate_json(analysis.model_dump_json(), strict=False) == analysis
        published = publish_event(self.event(number), analysis, self.world, self.hub, _no_race, dry_run=False)
        assert published.result is not None
        return published.result


@pytest.fixture
def here() -> Bare:
    return Bare(desk({"q1": OF_F}).hub)


def test_the_check_is_incomplete_and_says_who_has_to_act(here: Bare) -> None:
    number = here.offer(agent_files(("new", "desk"), {"n1": OF_F}))
    result = here.result(number)
    assert (result.conclusion, result.exit_code) == ("failure", 3)
    assert result.title.startswith(f"{PLATFORM_ACTS}: the classifier cannot judge; ")
    assert "incumbent: incomplete" in here.hub.pulls[number].labels
    said = here.sticky(number)
    assert PLATFORM_ACTS in said
    assert said.count(WAYS_OUT) == 1
    assert "not installed: e5.bin" in said

    here.installed.append(True)
    assert here.result(number).conclusion == "success"
    assert PLATFORM_ACTS not in here.sticky(number)
    assert "incumbent: incomplete" not in here.hub.pulls[number].labels


def test_a_change_of_the_taxonomy_that_cannot_be_measured_waits_for_the_platform_too(here: Bare) -> None:
    number = here.offer(written(WITH_F))
    result = here.result(number)
    assert (result.conclusion, result.exit_code, result.title.startswith(PLATFORM_ACTS)) == ("failure", 3, True)
    assert PLATFORM_ACTS in here.sticky(number)


def test_the_change_that_does_without_the_weights_passes_once_a_curator_allows_it(here: Bare) -> None:
    changed = config_text(**config(embedded={"embedding": "none"}), curators=["cora"])
    number = here.offer({CONFIG_FILE: changed})
    analysis = here.review(number)
    assert analysis.impact is not None
    assert (analysis.impact.unmeasured, analysis.impact.is_incomplete) == (NOT_HERE, False)
    assert PLATFORM_ACTS not in here.sticky(number)
    here.hub.say(number, "cora", "/incumbent accept who_decides we have no weights here")
    here.review(number)
    assert here.hub.checks[here.hub.pulls[number].head].conclusion == "success"


def test_after_a_merge_the_run_is_incomplete_and_admits_nothing(here: Bare) -> None:
    number = here.offer(agent_files(ACME, {"q1": OF_F, "q2": text_of("ballad", {"a": 0.95})}))
    here.merge(number)
    event = Event(flow=Flow.RECONCILE, repository="o/r", default_branch=MAIN)
    inventory = survey_event(event, here.world, here.backend, _silent)
    assert isinstance(inventory, Inventory)
    before = here.hub.repository.branches[MAIN]
    publication = reconcile_event(event, inventory, here.world, here.hub, _no_race, dry_run=False)
    assert publication.incomplete is not None
    assert (publication.incomplete.exit_code, publication.incomplete.lacks) == (3, "weights")
    assert here.hub.repository.branches[MAIN] == before
