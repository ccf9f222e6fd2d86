"""Whichever call of a run fails, and however: the next runs leave GitHub as if nothing had happened."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import pytest

from tests.e2e.failures import DONE, NOT_DONE, FailingCall, Failure
from tests.e2e.final_state import differences, final_state
from tests.e2e.harness.gateway import Call
from tests.e2e.harness.world import World
from tests.e2e.story import AFTER_THE_MERGE, LATE_STEPS, STEPS, THOROUGH, Calm, Story, hand_over


@dataclass(frozen=True)
class Place:
    """A failure of one call of the run of a step."""

    step: str
    number: int
    failure: Failure


def rounds(
    calls: Mapping[str, Sequence[Call]], failures: Sequence[Failure], steps: Sequence[str]
) -> list[dict[str, Place]]:
    """One failure at every call of these steps, or all of them; each round has a place of each step.

    Nobody can lose more than an answer where nothing was to be written: only writes fail after they took effect.
    """
    columns = []
    for shift, step in enumerate(steps):
        column = []
        for number, call in enumerate(calls[step]):
            turn = number + shift
            kinds = failures if THOROUGH else [failures[turn % len(failures)]]
            column += [Place(step, number, kind) for kind in kinds if call.method != "GET" or not kind.done]
        columns.append(column)
    return [{place.step: place for place in row if place is not None} for row in zip_longest(*columns)]


@pytest.mark.exhaustive
def test_a_run_that_fails_at_any_call_is_mended_by_the_next(
    model: World, make_world: Callable[..., World], tmp_path: Path
) -> None:
    calm = Calm.play(Story(make_world(), tmp_path, model))
    every = 1 if THOROUGH else 24
    wrong = tell_with_failures(calm, STEPS, STEPS, lambda: Story(make_world(), tmp_path, model), every)
    assert not wrong, "\n".join(wrong)


@pytest.mark.exhaustive
def test_a_late_command_is_followed_once_wherever_its_run_fails(
    model: World, make_world: Callable[..., World], tmp_path: Path
) -> None:
    calm = Calm.play(Story(make_world(), tmp_path, model), LATE_STEPS)
    every = 1 if THOROUGH else 36
    wrong = tell_with_failures(calm, LATE_STEPS, LATE_STEPS[-1:], lambda: Story(make_world(), tmp_path, model), every)
    assert not wrong, "\n".join(wrong)


def tell_with_failures(
    calm: Calm, steps: Sequence[str], failing: Sequence[str], make: Callable[[], Story], every: int = 1
) -> list[str]:
    """Tell the story of ``calm`` anew for each round of failures in the ``failing`` steps; what is left otherwise.

    Only one round of ``every`` so many is told.
    """
    planned = rounds(calm.calls, NOT_DONE, failing) + rounds(calm.calls, DONE, failing)
    planned = planned[::every]
    stories = [make() for _ in planned]
    wrong = []
    for step in steps:
        for story in stories:
            story.approach(step)
        for number, (story, places) in enumerate(zip(stories, planned, strict=True)):
            story.go_to(step)
            what = fail_and_run_again(calm, story, places.get(step), step, alone=bool(number % 4))
            if step in AFTER_THE_MERGE and places.get(step) and story.schedule():
                wrong += [f"{what}: {write} by a further run" for write in story.schedule()]
            if places.get(step):
                wrong += [f"{what}: {text}" for text in differences(calm.left[step], final_state(story.world))]
    return wrong


def fail_and_run_again(calm: Calm, story: Story, place: Place | None, step: str, alone: bool) -> str:
    """A run with the failure at ``place``, and one without; ``alone``: of the publishing job, with the same facts."""
    gateway = story.world.gateway
    first = calm.analysed(story, step)
    if place is None:
        assert first.publish.run() == 0
        return "no failure"
    failing = FailingCall(gateway, first.publish.token, place.number, place.failure)
    code = first.publish.run()
    gateway.faults.clear()
    assert failing.met is not None
    again = story.run()
    if alone:
        hand_over(first, again)
    else:
        assert again.analyse.run() == 0
    assert again.publish.run() == 0
    return f"{story.world.full_name}: {step}: {failing.met}: {place.failure} (exit code {code})"
