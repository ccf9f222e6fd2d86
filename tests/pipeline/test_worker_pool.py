"""Worker processes: Ctrl-C while they start, and one of them that dies."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
from collections.abc import Generator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import resource_tracker, spawn
from pathlib import Path

import pytest

from incumbent.errors import OutsideError
from incumbent.pipeline import worker_pool as module
from incumbent.pipeline.worker_pool import worker_pool


def nothing() -> None:
    """What a process begins with."""


def test_work_is_done_elsewhere() -> None:
    with worker_pool(2, "do it again", nothing) as pool:
        assert pool.submit(os.getpid).result() != os.getpid()


def test_what_a_process_begins_with_is_no_longer_looked_through_for_garbage() -> None:
    with worker_pool(1, "do it again", nothing) as pool:
        assert pool.submit(gc.get_freeze_count).result() > 10_000


def write_later(path: Path) -> None:
    path.with_suffix(".begun").touch()
    time.sleep(1)
    path.touch()


def test_nothing_is_written_after_its_results_are_no_longer_wanted(tmp_path: Path) -> None:
    def results() -> Generator[None, None, None]:
        with worker_pool(2, "do it again", nothing) as pool:
            for number in range(6):
                pool.submit(write_later, tmp_path / str(number))
            while not any(tmp_path.glob("*.begun")):
                time.sleep(0.01)
            yield

    wanted = results()
    next(wanted)
    wanted.close()
    time.sleep(1.5)
    assert [path for path in tmp_path.iterdir() if path.suffix != ".begun"] == []


def test_a_process_that_dies_is_told_with_what_to_do() -> None:
    with (
        pytest.raises(OutsideError, match="one of the processes was killed; do it again"),
        worker_pool(1, "do it again", nothing) as pool,
    ):
        pool.submit(os._exit, 1).result()


@pytest.mark.skipif(not Path("/bin/false").exists(), reason="needs a program that ends at once")
def test_a_process_that_dies_before_it_has_read_what_it_begins_with_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    resource_tracker.ensure_running()  # it would be started with the same program
    monkeypatch.setattr(spawn, "_python_exe", b"/bin/false")
    more_than_a_pipe_takes = bytes(2**20)
    with (
        pytest.raises(OutsideError, match="one of the processes was killed"),
        worker_pool(1, "do it again", print, more_than_a_pipe_takes) as pool,
    ):
        pool.submit(os.getpid).result()


def test_a_process_that_dies_while_another_starts_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(pool: ProcessPoolExecutor) -> None:
        pool._broken = True
        raise ValueError("bad value(s) in fds_to_keep")

    monkeypatch.setattr(ProcessPoolExecutor, "_spawn_process", start)
    with (
        pytest.raises(OutsideError, match="one of the processes was killed"),
        worker_pool(1, "do it again", nothing) as pool,
    ):
        pool.submit(os.getpid)


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals are held back on POSIX only")
def test_an_interrupt_waits_until_a_process_has_started() -> None:
    """The signal goes to a thread that does not hold it back, as it may in a process with threads of its own."""
    # A shell has processes that it starts in the background ignore it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    over = threading.Event()
    other = threading.Thread(target=over.wait)
    other.start()
    waited = []

    def start() -> None:
        with module._interrupts_held_back():
            assert other.ident is not None
            signal.pthread_kill(other.ident, signal.SIGINT)
            time.sleep(0.2)
            waited.append(True)
        time.sleep(30)  # until it arrives, on a machine that is busy

    try:
        with pytest.raises(KeyboardInterrupt):
            start()
    finally:
        over.set()
        other.join()
    assert waited
    assert signal.signal(signal.SIGINT, before) is signal.default_int_handler
