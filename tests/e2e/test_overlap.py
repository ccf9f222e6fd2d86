"""Runs that overlap, wherever one of them is held up: GitHub ends as if they had run one after the other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.bot import WAITING, Started
from tests.e2e.final_state import differences, final_state
from tests.e2e.harness.people import CURATOR
from tests.e2e.harness.world import World
from tests.e2e.interleaving import Choose, Interleaving, at_random, suspended_at
from tests.e2e.story import OTHER_BRANCH, SPARING, STEPS, THOROUGH, Calm, Story, hand_over

LOST = 4


@pytest.mark.exhaustive
def test_two_runs_of_which_one_is_held_up_at_any_call(
    model: World, make_world: Callable[..., World], tmp_path: Path
) -> None:
    calm = Calm.play(Story(make_world(), tmp_path, model))
    places = range(0, max(map(len, calm.calls.values())), SPARING)
    stories = [Story(make_world(), tmp_path, model) for _ in places]
    wrong = []
    for step in STEPS:
        for story in stories:
            story.approach(step)
        for number, story in zip(places, stories, strict=True):
            story.go_to(step)
            first = calm.analysed(story, step)
            other = story.review() if step == "command" else story.run()
            hand_over(first, other)
            codes = overlap(story, {"first": first, "other": other}, suspended_at(number))
            # What is there twice is known by its marker, and goes with the next run.
            if step == "reconcile":
                story.schedule()
            else:
                story.run_again()
            what = f"{story.world.full_name}: {step} held up at call {number} (exit codes {codes})"
            wrong += [f"{what}: {text}" for text in differences(calm.left[step], final_state(story.world))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.exhaustive
def test_a_review_and_the_reconcile_after_anothers_merge(
    model: World, make_world: Callable[..., World], tmp_path: Path
) -> None:
    calm = Calm.play(Story(make_world(), tmp_path, model), ("review",))

    def merged_and_opened() -> tuple[Story, dict[str, Started]]:
        story = Story(make_world(), tmp_path, model)
        reviewed(calm, story)
        other = story.world.open_pull_request(OTHER_BRANCH)
        story.go_to("reconcile")
        runs = {
            "reconcile": story.run(),
            "review": story.bot.start("pull_request_target", number=other.number),
        }
        assert [run.analyse.run() for run in runs.values()] == [0, 0]
        return story, runs

    # The review judges by the set that it finds: that before the reconcile, or that after it.
    left, calls = [], 0
    for order in (("review", "reconcile"), ("reconcile", "review")):
        story, runs = merged_and_opened()
        for name in order:
            mark = story.world.gateway.mark()
            assert runs[name].publish.run() == 0
            calls = len(story.world.gateway.calls_since(mark)) if name == "reconcile" else calls
        story.schedule()
        left.append(final_state(story.world))
    wrong = []
    for number in range(0, calls, SPARING):
        story, runs = merged_and_opened()
        codes = overlap(story, runs, suspended_at(number))
        story.schedule()
        what = f"{story.world.full_name}: reconcile held up at call {number} (exit codes {codes})"
        found = min((list(differences(each, final_state(story.world))) for each in left), key=len)
        wrong += [f"{what}: {text}" for text in found]
    assert not wrong, "\n".join(wrong)


@pytest.mark.exhaustive
def test_three_runs_after_a_merge_and_a_late_command_in_any_order(
    model: World, make_world: Callable[..., World], tmp_path: Path
) -> None:
    calm = Calm.play(Story(make_world(), tmp_path, model), ("review",))
    seeds = range(40 if THOROUGH else 3)
    stories = [Story(make_world(), tmp_path, model) for _ in (None, *seeds)]
    for story in stories:
        reviewed(calm, story)
    states, codes = [], []
    for seed, story in zip((None, *seeds), stories, strict=True):
        story.go_to("reconcile")
        text = f"/incumbent accept {WAITING[0]} it matters\n/incumbent accept b99 it matters"
        comment = story.world.comment(CURATOR, story.number, text)
        late = story.bot.start("issue_comment", number=story.number, comment=comment)
        runs = {"push": story.run(), "command": late, "clock": story.bot.start("schedule")}
        if seed is None:
            for run in runs.values():
                assert (run.analyse.run(), run.publish.run()) == (0, 0)
        else:
            assert [run.analyse.run() for run in runs.values()] == [0, 0, 0]
            codes.append(overlap(story, runs, at_random(seed)))
        story.schedule()
        states.append(final_state(story.world))
    calmly, *rest = states
    wrong = [
        f"seed {seed} (exit codes {ended}): {text}"
        for seed, ended, state in zip(seeds, codes, rest, strict=True)
        for text in differences(calmly, state)
    ]
    assert not wrong, "\n".join(wrong)


def reviewed(calm: Calm, story: Story) -> None:
    """Open the pull request and review it."""
    story.go_to("review")
    assert calm.analysed(story, "review").publish.run() == 0


def overlap(story: Story, runs: dict[str, Started], choose: Choose) -> dict[str, int]:
    """The exit codes of ``runs`` that overlap as ``choose`` says; one that lost a race is run again."""
    jobs = {name: run.publish for name, run in runs.items()}
    codes = Interleaving(story.world.gateway, jobs).run(choose)
    for name, code in codes.items():
        assert code in (0, LOST)
        if code == LOST:
            assert jobs[name].run() == 0
    return codes
