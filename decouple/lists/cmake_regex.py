"""Keeps regular expressions of CMake files from taking for ever: matching them may take exponential time."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

_SECONDS = 2.0  # of the processor, for what takes microseconds


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """Ends what is inside with a ValueError where it takes too long.

    Signals reach the main thread only: in another one there is no limit.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGVTALRM, _stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, _SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise ValueError("matching the regular expression takes too long")
