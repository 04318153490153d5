"""Builds every CUDA unit of PyTorch in slices: hours of compilation that may be interrupted at any time.

Usage, from the root of the clone:

    python3 upstream/build_full.py                                   everything, slice after slice
    python3 upstream/build_full.py --package aten_cuda/native --slices 1
    python3 upstream/build_full.py --list

A slice is a few units of one package, built with `./bazelw build --config=full`. What was compiled before comes from
Bazel's disk cache, so a second run continues where the first one stopped.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator

PACKAGES = (
    "c10_cuda",
    "aten_cuda/core",
    "aten_cuda/blas",
    "aten_cuda/native",
    "aten_cuda/attention",
    "aten_cuda/cudnn",
    "aten_cuda/codegen",
    "framework",
    "framework/inductor",
    "framework/jit",
    "profiler",
    "distributed",
    "python/csrc",
)


def unit_query(package: str) -> str:
    """Returns the query for what a package compiles, unit by unit where it has several."""
    return f'kind("(cc|cuda)_library rule", //{package}:*) except attr(srcs, "^\\[\\]$", //{package}:*)'


def units(package: str) -> list[str]:
    """Returns the labels of a package's units, in the order of their names."""
    command = ["./bazelw", "query", "--noshow_progress", "--output=label", unit_query(package)]
    result = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return sorted(result.stdout.split())


def slices(labels: list[str], size: int) -> Iterator[list[str]]:
    """Cuts a list into pieces of at most `size` labels."""
    for start in range(0, len(labels), size):
        yield labels[start : start + size]


def build(labels: list[str], options: list[str]) -> bool:
    """Builds some units; returns whether all of them compiled."""
    command = ["./bazelw", "build", "--config=full", "--keep_going", *options, "--", *labels]
    return subprocess.run(command, check=False).returncode == 0


def main(arguments: list[str]) -> int:
    """Builds the chosen slices; returns 1 where a unit did not compile."""
    parser = argparse.ArgumentParser(description="Build every CUDA unit of PyTorch in slices.")
    parser.add_argument("--package", action="append", choices=PACKAGES, help="only these packages")
    parser.add_argument("--size", type=int, default=4, help="units in a slice (default: 4)")
    parser.add_argument("--slices", type=int, help="stop after so many slices of each package")
    parser.add_argument("--list", action="store_true", help="print the slices and build nothing")
    parser.add_argument("options", nargs="*", help="options for bazel build, after --")
    chosen = parser.parse_args(arguments)
    failed = []
    for package in chosen.package or PACKAGES:
        pieces = list(slices(units(package), chosen.size))
        for number, piece in enumerate(pieces[: chosen.slices], start=1):
            title = f"{package}, slice {number} of {len(pieces)}"
            print(f"{title}: {', '.join(label.partition(':')[2] for label in piece)}", flush=True)
            if chosen.list:
                continue
            start = time.monotonic()
            good = build(piece, chosen.options)
            print(
                f"{title}: {'built' if good else 'FAILED'} in {time.monotonic() - start:.0f} s",
                flush=True,
            )
            if not good:
                failed.append(title)
    for title in failed:
        print(f"not built: {title}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
