"""Runs the tool: `python -m decouple`."""

import io
import os
import signal
import sys
from types import FrameType

from decouple.cli import INTERRUPTED, main

_ENDS = (signal.SIGINT, signal.SIGTERM)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    """A request to end is an interruption: what is half-written is taken away, and a second one changes nothing."""
    for number in _ENDS:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


if __name__ == "__main__":
    for end in _ENDS:
        # What is ignored, as behind nohup, stays so.
        if signal.getsignal(end) is not signal.SIG_IGN:
            signal.signal(end, _interrupt)
    for stream in (sys.stdout, sys.stderr):
        # Names and texts of a tree may have characters that a terminal has not.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    status = main()
    if status == INTERRUPTED:
        # The thread that hears workers may wait for one that is gone.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)
