"""The topics of level `training` pass on a device library.

topics_test.py [--without TOPIC] ARGUMENTS; these are run.py's.
"""

from __future__ import annotations

import argparse
import sys

from accelerator.conformance import run, subjects


def main() -> int:
    """Runs them; returns the exit status."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--without", action="append", choices=subjects.TOPICS, default=[])
    options, rest = parser.parse_known_args()
    only = [f"--only={name}" for name in subjects.TOPICS if name not in options.without]
    return run.main([*rest, "--level=training", "--programs=1000", *only])


if __name__ == "__main__":
    sys.exit(main())
