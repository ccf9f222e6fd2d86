"""A story in three steps: a customer's pull request is opened, a curator decides, and it is merged."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.e2e.bot import WAITING, Bot, Started
from tests.e2e.final_state import final_state
from tests.e2e.harness.gateway import Call
from tests.e2e.harness.people import CURATOR
from tests.e2e.harness.world import World

STEPS = ("review", "command", "reconcile")
LATE_STEPS = ("review", "reconcile", "late")
"""Another ending: the curator decides after the merge."""
AFTER_THE_MERGE = ("reconcile", "late")
BRANCH = "quillow"
OTHER_BRANCH = "marrow"
THOROUGH = bool(os.environ.get("INCUMBENT_THOROUGH"))
"""Whether the tests of crashes and overlaps take every call in every combination, and many random orders."""
SPARING = 1 if THOROUGH else 27
"""Otherwise one call of so many, so that a whole suite stays within minutes."""


class Story:
    """One telling of it in a world of its own, which starts with the branches of ``model``."""

    def __init__(self, world: World, folder: Path, model: World) -> None:
        self.world = world
        world.hosted.bare.git("fetch", "--quiet", str(model.hosted.bare.folder), "+refs/heads/*:refs/heads/*")
        world.gateway.pushed(world.full_name, {})
        self.bot = Bot(world, folder / world.full_name.replace("/", "--"))
        self.number = 0
        self._event: tuple[str, dict[str, Any]] = ("", {})

    def approach(self, step: str) -> None:
        """Let people do the first part of what leads to ``step``.

        Who tells several stories lets all come so far before the first goes on: a comment waits for a second that has
        none, and that passes meanwhile.
        """
        if step == "command":
            self.world.comment(CURATOR, self.number, f"/incumbent reject {WAITING[1]} nobody asks that")

    def go_to(self, step: str) -> None:
        """Let people do the rest of what leads to ``step``."""
        if step == "review":
            self.number = self.world.open_pull_request(BRANCH).number
            self._event = ("pull_request_target", {"number": self.number})
        elif step == "command":
            # Both a command that is followed and one that is answered.
            text = f"/incumbent accept {WAITING[0]} it matters\n/incumbent accept b99 it matters"
            comment = self.world.comment(CURATOR, self.number, text)
            self._event = ("issue_comment", {"number": self.number, "comment": comment})
        elif step == "late":
            comment = self.world.comment(CURATOR, self.number, f"/incumbent accept {WAITING[0]} it matters")
            self._event = ("issue_comment", {"number": self.number, "comment": comment})
        else:
            before = self.world.head("main")
            self._event = ("push", {"before": before, "after": self.world.merge(self.number)})

    def run(self) -> Started:
        """A workflow run on the event of the step."""
        name, about = self._event
        return self.bot.start(name, **about)

    def review(self) -> Started:
        """A workflow run on a change of the pull request."""
        return self.bot.start("pull_request_target", number=self.number, action="synchronize")

    def run_again(self) -> None:
        """One more workflow run on a change of the pull request."""
        started = self.review()
        assert (started.analyse.run(), started.publish.run()) == (0, 0)

    def schedule(self) -> list[str]:
        """What a workflow run by the clock writes."""
        started = self.bot.start("schedule")
        mark = self.world.gateway.mark()
        assert (started.analyse.run(), started.publish.run()) == (0, 0)
        return [f"{call.method} {call.path}" for call in self.world.gateway.calls_since(mark) if call.method != "GET"]


def hand_over(source: Started, target: Started, names: tuple[str, str] = ("", "")) -> None:
    """Let ``target`` publish the facts that ``source`` has found, as when failed jobs alone are run again.

    ``names`` are the names of their repositories, where they differ.
    """
    facts = source.publish.document.read_text(encoding="utf-8")
    target.publish.document.write_text(facts.replace(*names) if names[0] else facts, encoding="utf-8")


@dataclass(frozen=True)
class Calm:
    """The story told without trouble: by step the run, its calls that published, and what it left on GitHub."""

    story: Story
    runs: dict[str, Started]
    calls: dict[str, list[Call]]
    left: dict[str, Any]

    @classmethod
    def play(cls, story: Story, steps: Sequence[str] = STEPS) -> Calm:
        """Tell ``story`` with these steps."""
        calm = cls(story, {}, {}, {})
        for step in steps:
            story.approach(step)
            story.go_to(step)
            started = calm.runs[step] = story.run()
            assert started.analyse.run() == 0
            mark = story.world.gateway.mark()
            assert started.publish.run() == 0
            calm.calls[step] = story.world.gateway.calls_since(mark)
            calm.left[step] = final_state(story.world)
        return calm

    def analysed(self, story: Story, step: str) -> Started:
        """A run of ``story`` that has its facts; those of a pull request are the same in each telling."""
        started = story.run()
        if step in AFTER_THE_MERGE:
            assert started.analyse.run() == 0
        else:
            hand_over(self.runs[step], started, (self.story.world.full_name, story.world.full_name))
        return started
