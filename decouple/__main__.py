"""Runs the tool: `python -m decouple`."""

import sys

from decouple.cli import main

if __name__ == "__main__":
    sys.exit(main())
