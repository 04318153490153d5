"""Runs the tool: `python -m decouple`."""

import signal
import sys

from decouple.cli import main

if __name__ == "__main__":
    # A request to end is an interruption: what is half-written is taken away.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())
