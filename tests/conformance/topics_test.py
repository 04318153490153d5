"""The topics of level `training` pass on a device library; the arguments are run.py's."""

from __future__ import annotations

import sys

from tests.conformance import run, subjects


def main() -> int:
    """Runs them; returns the exit status."""
    only = [f"--only={name}" for name in subjects.TOPICS]
    return run.main([*sys.argv[1:], "--level=training", "--programs=1000", *only])


if __name__ == "__main__":
    sys.exit(main())
