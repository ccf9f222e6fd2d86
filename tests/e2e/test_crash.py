"""Whichever call of a run fails, and however: the next runs leave GitHub as if nothing had happened."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import pytest

from tests.e2e.bot import customer_files, platform_files
from tests.e2e.failures import DONE, NOT_DONE, FailingCall, Failure
from tests.e2e.final_state import differences, final_state
from tests.e2e.harness.gateway import Call
from tests.e2e.harness.world import World
from tests.e2e.story import BRANCH, STEPS, Calm, Story, hand_over

THOROUGH = bool(os.environ.get("INCUMBENT_THOROUGH"))
"""Whether every call meets every failure."""


@dataclass(frozen=True)
class Place:
    """A failure of one call of the run of a step."""

    step: str
    number: int
    failure: Failure


@pytest.fixture
def model(make_world: Callable[..., World], monkeypatch: pytest.MonkeyPatch) -> World:
    """A world with the branches that each telling starts with; lost races are planned again at once."""
    monkeypatch.setattr("bot.cli.ci._wait", lambda attempt: None)
    world = make_world()
    world.push("main", platform_files())
    world.push(BRANCH, customer_files())
    return world


def rounds(calls: Mapping[str, Sequence[Call]], failures: Sequence[Failure]) -> list[dict[str, Place]]:
    """One failure at every call of every step, or all of them; each round has a place of each step.

    Nobody can lose more than an answer where nothing was to be written: only writes fail after they took effect.
    """
    columns = []
    for shift, step in enumerate(STEPS):
        column = []
        for number, call in enumerate(calls[step]):
            turn = number + shift
            kinds = failures if THOROUGH else [failures[turn % len(failures)]]
            column += [Place(step, number, kind) for kind in kinds if call.method != "GET" or not kind.done]
        columns.append(column)
    return [{place.step: place for place in row if place is not None} for row in zip_longest(*columns)]


def test_a_run_that_fails_at_any_call_is_mended_by_the_next(
    model: World, make_world: Callable[..., World], tmp_path: Path
) -> None:
    calm = Calm.tell(Story(make_world(), tmp_path, model))
    planned = rounds(calm.calls, NOT_DONE) + rounds(calm.calls, DONE)
    stories = [Story(make_world(), tmp_path, model) for _ in planned]
    wrong = []
    # Step by step for all of them: a curator's comment waits for the clock's next second, which so passes by itself.
    for step in STEPS:
        for number, (story, places) in enumerate(zip(stories, planned, strict=True)):
            story.go_to(step)
            what = fail_and_run_again(calm, story, places.get(step), step, alone=bool(number % 2))
            if step == "reconcile" and writes_of_the_clock(story):
                wrong += [f"{what}: {write} by a further run" for write in writes_of_the_clock(story)]
            wrong += [f"{what}: {text}" for text in differences(calm.left[step], final_state(story.world))]
    assert not wrong, "\n".join(wrong)


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


def writes_of_the_clock(story: Story) -> list[str]:
    """What a scheduled run writes."""
    started = story.schedule()
    mark = story.world.gateway.mark()
    assert (started.analyse.run(), started.publish.run()) == (0, 0)
    return [f"{call.method} {call.path}" for call in story.world.gateway.calls_since(mark) if call.method != "GET"]
