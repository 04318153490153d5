"""What calls of the driver API cost with one build of the simulated device, against another.

    ./bazelw run //bench/cudasim:calls -- --library NEW/libcuda.so.1 --against OLD/libcuda.so.1

Each is in a folder with the libraries of both wheels (`unzip -j`), torch_cuda_runtime and torch_cuda_sim. Processes of the two run in turns; of each
call the best time of all is compared, since what others do on the machine only adds to it.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import subprocess
import sys
from collections.abc import Sequence


def times(program: pathlib.Path, library: pathlib.Path) -> dict[str, float]:
    """Runs the bench in a process of its own.

    Args:
        program: the compiled bench (calls.cpp).
        library: path of libcuda.so.1.

    Returns:
        Microseconds of each call.

    Raises:
        CalledProcessError: a call failed; it is said on stderr.
    """
    environment = {"TORCH_CUDA_DEVICES": "sim", **os.environ}
    done = subprocess.run(
        [program, library], check=True, stdout=subprocess.PIPE, text=True, env=environment
    )
    return {
        name: float(value) for name, value in (line.split() for line in done.stdout.splitlines())
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints both times and their ratio for each call."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--program", type=pathlib.Path, required=True, help="the compiled bench")
    parser.add_argument("--library", type=pathlib.Path, required=True, help="libcuda.so.1")
    parser.add_argument("--against", type=pathlib.Path, required=True, help="another one")
    parser.add_argument("--rounds", type=int, default=9, help="processes of each (default: 9)")
    options = parser.parse_args(arguments)
    best: dict[str, list[float]] = {}
    for _ in range(options.rounds):
        for side, library in enumerate((options.library, options.against)):
            for name, spent in times(options.program, library).items():
                pair = best.setdefault(name, [float("inf")] * 2)
                pair[side] = min(pair[side], spent)
    for name, (one, other) in best.items():
        print(f"{name:16} {one:9.3f} us against {other:9.3f} us: {one / other:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
