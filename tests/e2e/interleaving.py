"""Jobs that overlap: one at a time goes on to its next API call, in an order that is the same on every machine."""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable, Mapping, Sequence
from unittest.mock import patch

from tests.e2e.bot import Job
from tests.e2e.harness.errors import HarnessError
from tests.e2e.harness.gateway import Gateway
from tests.e2e.harness.messages import Request

PATIENCE = 60.0
"""Seconds after which a job that neither asks nor ends is a fault of the harness."""

Choose = Callable[[Sequence[str], Mapping[str, int]], str]
"""Which of the waiting jobs goes on, by their names and how many calls each has made."""


def suspended_at(number: int) -> Choose:
    """The first job waits at call ``number`` until the second has ended."""

    def choose(waiting: Sequence[str], made: Mapping[str, int]) -> str:
        first, second = made
        wanted = first if made[first] < number else second
        return wanted if wanted in waiting else waiting[0]

    return choose


def at_random(seed: int) -> Choose:
    """Any of those that wait, the same ones for the same ``seed``."""
    dice = random.Random(seed)
    return lambda waiting, made: dice.choice(waiting)


class Interleaving:
    """Runs ``jobs``, told apart by their tokens, in the order in which ``choose`` lets their calls through."""

    def __init__(self, gateway: Gateway, jobs: Mapping[str, Job]) -> None:
        self._gateway = gateway
        self._jobs = jobs
        self._names = {job.token: name for name, job in jobs.items()}
        self._changed = threading.Condition()
        self._waiting: set[str] = set()
        self._codes: dict[str, int] = {}
        self._begun = 0

    def run(self, choose: Choose) -> dict[str, int]:
        """The exit codes by name."""
        made = dict.fromkeys(self._jobs, 0)
        threads = []
        self._gateway.before_call = self._arrive
        try:
            for name, job in self._jobs.items():
                thread = threading.Thread(target=self._work, args=(name, job), daemon=True)
                threads.append(thread)
                # A job reads its environment before its first call, and not again.
                with patch.dict(os.environ, job.environment):
                    self._begun += 1
                    thread.start()
                    self._until_all_wait()
            while self._waiting:
                name = choose([name for name in self._jobs if name in self._waiting], made)
                made[name] += 1
                with self._changed:
                    self._waiting.remove(name)
                    self._changed.notify_all()
                self._until_all_wait()
        finally:
            self._gateway.before_call = lambda request: None
        for thread in threads:
            thread.join()
        return self._codes

    def _work(self, name: str, job: Job) -> None:
        code = job.run_here()
        with self._changed:
            self._codes[name] = code
            self._changed.notify_all()

    def _arrive(self, request: Request) -> None:
        name = self._names.get(request.headers.get("authorization", "").rpartition(" ")[2])
        if name is None:
            return
        with self._changed:
            self._waiting.add(name)
            self._changed.notify_all()
            self._changed.wait_for(lambda: name not in self._waiting, PATIENCE)

    def _until_all_wait(self) -> None:
        with self._changed:
            if not self._changed.wait_for(lambda: len(self._waiting) + len(self._codes) == self._begun, PATIENCE):
                raise HarnessError("a job neither asks nor ends")
