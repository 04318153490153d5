"""Compares every operator that the installed torch has samples for, on CUDA against the CPU.

    TORCH_CUDA_DEVICES=fake python tests/stock/opinfo.py [--types float32,bfloat16] [--names PATTERN]

Prints a table by type and each operator whose numbers differ or that CUDA refuses, unless the docs
say so. The exit status is 1 where one of these is found.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import pathlib
import sys
import warnings
from collections.abc import Sequence

import operators  # type: ignore[import-not-found]  # beside this file
import torch

TYPES = ("float32", "float64", "bfloat16", "float16", "complex64", "int64")


def main(command_line: Sequence[str]) -> int:
    """Runs the command; returns the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--types", default=",".join(TYPES))
    parser.add_argument("--names", default="*", help="a pattern of operators' names")
    parser.add_argument("--samples", type=int, help="of each operator; all in float32, else 1")
    parser.add_argument("--json", type=pathlib.Path, help="where each result is written to")
    arguments = parser.parse_args(command_line)
    warnings.simplefilter("ignore")
    results: dict[str, dict[str, operators.Outcome]] = {}
    tally = operators.Tally("type", "operators")
    for dtype_name in arguments.types.split(","):
        # Some operators take other ways for later samples.
        count = arguments.samples or (None if dtype_name == "float32" else 1)
        for name, operator in operators.entries(getattr(torch, dtype_name)):
            if fnmatch.fnmatch(name, arguments.names):
                outcome = operators.check(operator, name, dtype_name, count)
                results.setdefault(dtype_name, {})[name] = outcome
                tally.add((dtype_name,), name, outcome)
    failed = tally.report()
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
