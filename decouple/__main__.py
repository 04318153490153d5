"""Runs the tool: `python -m decouple`."""

import io
import signal
import sys

from decouple.cli import main

if __name__ == "__main__":
    # A request to end is an interruption: what is half-written is taken away.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    for stream in (sys.stdout, sys.stderr):
        # Names and texts of a tree may have characters that a terminal has not.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sys.exit(main())
