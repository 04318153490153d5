"""Writes the numbers that Sobol's sequence begins with, of S. Joe and F. Y. Kuo, as C++.

    joe_kuo.py --table SobolEngineOpsUtils.cpp --output joe_kuo.cpp

PyTorch has them for its own Sobol engine, as two arrays of C++, from which this reads them.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import sys
from collections.abc import Sequence

# What cuRAND offers.
DIMENSIONS = 20000

_HEAD = """\
// Written by runtime/libraries/rand/joe_kuo.py. Source: S. Joe and F. Y. Kuo, "Constructing
// Sobol sequences with better two-dimensional projections" (2008).
#include "runtime/libraries/rand/joe_kuo.h"

namespace accelerator::rand {
"""


class TableError(Exception):
    """The file has not the two arrays; the text says which one."""


def numbers(text: str, array: str) -> list[int]:
    """Reads an array's numbers, row after row.

    Args:
        text: C++ code.
        array: its name.

    Raises:
        TableError: there is no such array.
    """
    found = re.search(rf"\b{array}(\[\d+\])+ *= *\{{([^;]*)\}};", text)
    if found is None:
        raise TableError(f"there is no array {array}")
    return [int(number) for number in re.findall(r"\d+", found[2])]


def source(text: str, dimensions: int) -> str:
    """C++ code with polynomials and initial numbers.

    Args:
        text: PyTorch's file.
        dimensions: how many to take.

    Raises:
        TableError: the file has not as many.
    """
    polynomials = numbers(text, "poly")
    initial = numbers(text, "initsobolstate")
    width, rest = divmod(len(initial), len(polynomials))
    if rest or len(polynomials) < dimensions:
        raise TableError(f"{len(polynomials)} polynomials and {len(initial)} numbers")
    # A polynomial of degree n needs n of them; the rest of a row is 0.
    first_numbers = [
        str(number)
        for row, polynomial in enumerate(polynomials[:dimensions])
        for number in initial[row * width : row * width + polynomial.bit_length() - 1]
    ]
    return (
        _HEAD
        + f"const std::uint32_t kPolynomials[] = {{{','.join(map(str, polynomials[:dimensions]))}}};\n"
        + f"const std::uint32_t kInitialNumbers[] = {{{','.join(first_numbers)}}};\n"
        + "} // namespace accelerator::rand\n"
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Writes the file; returns the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--table", type=pathlib.Path, required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    args = parser.parse_args(argv)
    try:
        code = source(args.table.read_text(encoding="utf-8"), DIMENSIONS)
    except TableError as error:
        print(f"{args.table}: {error}", file=sys.stderr)
        return 1
    args.output.write_text(code, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
