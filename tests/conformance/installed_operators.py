"""Runs every operator that the installed torch has samples of, in one type, on the device, and writes JUnit's XML.

A test is an operator: forward and, where it has a derivative, backward, held against the same torch's CPU. What the
device refuses by name is skipped, with the reason; at least 99 of 100 have to be right.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
import time
import warnings

import torch

from tests.conformance import junit
from tests.stock import operators

_SHARE = 0.99
# What some operators compile their kernels with, for the device or for the host, and the environment does not have.
_NO_COMPILER = ("NVRTC is not installed", "no compiler of C++")
_OUTCOMES = {
    "right": junit.PASSED,
    "wrong": junit.FAILED,
    "refused": junit.SKIPPED,
    "documented": junit.SKIPPED,
    "not on the CPU": junit.SKIPPED,
}


def main() -> int:
    """Runs them; returns 0 when none failed."""
    parser = argparse.ArgumentParser(description="Run the operators of the installed torch.")
    parser.add_argument("--type", required=True)
    parser.add_argument("--junit", type=pathlib.Path, required=True)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    dtype = getattr(torch, options.type)
    cases = []
    counts = dict.fromkeys(_OUTCOMES, 0)
    for name, operator in operators.entries(dtype):
        begin = time.monotonic()
        print(f"[ RUN      ] {name}", flush=True)
        outcome, reason = operators.check(operator, name, options.type, 1, seeded=False)
        if outcome == "refused" and any(words in reason for words in _NO_COMPILER):
            outcome = "documented"
        counts[outcome] += 1
        message = "" if outcome == "right" else f"{outcome}: {reason}"
        print(f"[ {'OK' if outcome != 'wrong' else 'FAILED':>8} ] {name} {message}", flush=True)
        cases.append(
            junit.Case("operators", name, _OUTCOMES[outcome], message, time.monotonic() - begin)
        )
    tried = counts["right"] + counts["wrong"] + counts["refused"]
    share = counts["right"] / tried if tried else 0.0
    cases.append(
        junit.Case(
            "operators",
            "99_of_100_are_right",
            junit.PASSED if share >= _SHARE else junit.FAILED,
            "" if share >= _SHARE else f"{counts['right']} of {tried} are",
            0.0,
        )
    )
    junit.write(options.junit, [junit.suite_of(f"operators_{options.type}", cases)])
    return int(any(case.outcome == junit.FAILED for case in cases))


if __name__ == "__main__":
    sys.exit(main())
