"""What tells a process to stop: an orderly end, and what waits for one."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from incumbent.cli.options import curating
from incumbent.errors import OutsideError
from incumbent.files.process import is_stop, orderly_stops, uninterrupted

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are others there")


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """Tests in a shell's background, or under `nohup`, ignore some of them; afterwards all is as it was."""
    usual: dict[signal.Signals, Any] = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGTERM: signal.SIG_DFL,
        signal.SIGHUP: signal.SIG_DFL,
    }
    before = {number: signal.signal(number, handler) for number, handler in usual.items()}
    yield
    found = {number: signal.signal(number, handler) for number, handler in before.items()}
    assert {**found, signal.SIGINT: signal.default_int_handler} == usual


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_each_ends_the_work_as_an_interrupt_does(number: signal.Signals) -> None:
    with orderly_stops() as code:
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
        assert code() == 128 + number


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_what_must_not_be_interrupted_is_done_first(number: signal.Signals) -> None:
    done = []

    def work() -> None:
        with uninterrupted():
            signal.raise_signal(number)
            done.append(1)

    with orderly_stops() as code:
        with pytest.raises(KeyboardInterrupt):
            work()
        assert (done, code()) == ([1], 128 + number)


def stopped_and_failing(message: str, number: signal.Signals = signal.SIGTERM) -> None:
    with uninterrupted():
        signal.raise_signal(number)
        raise OutsideError(message)


def test_a_command_that_is_stopped_while_it_fails_says_what_holds(tmp_path: Path) -> None:
    with orderly_stops(), pytest.raises(KeyboardInterrupt, match="a part of them is written"), curating(tmp_path):
        stopped_and_failing("a part of them is written")


def test_a_stop_during_what_fails_is_not_lost_and_says_what_failed() -> None:
    with orderly_stops() as code:
        with pytest.raises(KeyboardInterrupt, match="a part of them is written"):
            stopped_and_failing("a part of them is written")
        assert code() == 128 + signal.SIGTERM


def test_a_stop_that_somebody_else_handles_leaves_the_failure() -> None:
    heard: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    with pytest.raises(OutsideError, match="the disk is full"):
        stopped_and_failing("the disk is full", signal.SIGINT)
    assert heard == [signal.SIGINT]


def test_what_is_ignored_stays_ignored() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with orderly_stops(), uninterrupted():
        signal.raise_signal(signal.SIGHUP)
    assert signal.signal(signal.SIGHUP, signal.SIG_DFL) is signal.SIG_IGN


def test_where_interrupts_are_ignored_the_others_are_heard() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with orderly_stops(), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGTERM)


def test_whoever_has_an_end_of_their_own_ends_in_this_way() -> None:
    heard: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    with orderly_stops() as code:
        signal.raise_signal(signal.SIGTERM)
        assert (heard, code()) == ([signal.SIGINT], 128 + signal.SIGTERM)


def test_other_threads_leave_signals_alone() -> None:
    done = []

    def work() -> None:
        with orderly_stops(), uninterrupted():
            done.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [signal.getsignal(signal.SIGTERM)]


def test_an_interrupt_is_known_though_something_else_was_made_of_it() -> None:
    error = RuntimeError("Error calling __set_name__")
    error.__cause__ = KeyboardInterrupt()
    assert is_stop(error)
    assert not is_stop(RuntimeError())
