"""The topics of level `training` pass on a device library; the arguments are those of run.py."""

from __future__ import annotations

import sys

from accelerator.conformance import run, subjects


def main() -> int:
    """Runs them; returns the exit status."""
    only = [word for name in subjects.TOPICS for word in ("--only", name)]
    return run.main([*sys.argv[1:], "--level", "training", "--programs", "1000", *only])


if __name__ == "__main__":
    sys.exit(main())
