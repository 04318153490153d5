"""The end of a process waits for PyTorch's autograd threads.

A thread of autograd drops what it shares with `backward()` after `backward()` has returned. From PyTorch 2.15 on, a
Python object is part of that, so that the thread asks for the interpreter. If the interpreter is being finalized
by then, CPython (before 3.14) ends the thread by unwinding it, and the process aborts with "terminate called without an
active exception". A process that ends within milliseconds of its last `backward()` can meet this, with a GPU, too.
"""

from __future__ import annotations

import time
from pathlib import Path

_NAME = b"pt_autograd"
_TASKS = Path("/proc/self/task")
_PAUSE = 0.001


def wait_until_idle(limit: float = 1.0) -> None:
    """Returns when no thread of autograd is running any more. Never raises.

    A thread that waits for the interpreter is not running: it gets the interpreter in a pause, if no other Python
    thread holds it, and is seen behind that.

    Args:
        limit: about the longest time to wait, in s.
    """
    end = time.monotonic() + limit
    idle = 0
    while idle < 2:
        time.sleep(_PAUSE)
        if time.monotonic() >= end:
            return
        idle = 0 if _any_is_running() else idle + 1


def _any_is_running() -> bool:
    try:
        return any(_is_running(task) for task in _TASKS.iterdir())
    except OSError:
        return False


def _is_running(task: Path) -> bool:
    """Whether a thread is one of autograd's that runs, or could run if a processor were free (proc(5), "stat")."""
    try:
        if not (task / "comm").read_bytes().startswith(_NAME):
            return False
        return (task / "stat").read_bytes().rpartition(b")")[2].split()[0] in (b"R", b"D")
    except (OSError, IndexError):
        return False  # it has ended
