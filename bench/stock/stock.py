"""PyTorch from PyPI on the device `fake`, held against the same PyTorch on the CPU.

    ./bazelw run //bench/stock                            # training steps, a small addition, memory
    ./bazelw run //bench/stock -- --stock_python PYTHON   # and `import torch`

TORCH_CUDA_STOCK=2.12.1 takes another version of torch than 2.15.0. Everything runs on one thread. Steps and calls are
taken in turns within one process and told as CPU seconds; memory is the largest resident set of a process that trains on
one device only. `import torch` is compared with PYTHON's, an environment with the same torch and NVIDIA's packages and
nothing of ours: PyPI's torch cannot be imported without either.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence

from bench import paired
from examples.stock import stock

_IMPORT = """
import time
start = time.process_time()
import torch
print(time.process_time() - start)
"""


def environment(devices: str) -> dict[str, str]:
    """The variables of a measured process.

    Args:
        devices: the value of TORCH_CUDA_DEVICES; empty for none.
    """
    dropped = ("PYTHONPATH", "RUNFILES_DIR", "RUNFILES_MANIFEST_FILE", "JAVA_RUNFILES")
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    return kept | {"OMP_NUM_THREADS": "1", "TORCH_CUDA_DEVICES": devices}


def read(python: pathlib.Path, arguments: Sequence[str], variables: Mapping[str, str]) -> float:
    """The number that a program prints last."""
    done = subprocess.run(
        [str(python), *arguments],
        env=dict(variables),
        check=True,
        text=True,
        stdout=subprocess.PIPE,
    )
    return float(done.stdout.split()[-1])


def compare_imports(ours: pathlib.Path, stock_python: pathlib.Path, pairs: int) -> None:
    """Prints what `import torch` takes, with our libraries and with NVIDIA's."""
    arguments = ["-I", "-c", _IMPORT]
    readings = paired.interleave(
        lambda: read(ours, arguments, environment("fake")),
        lambda: read(stock_python, arguments, environment("")),
        pairs,
    )
    here, there = (statistics.median(side) for side in zip(*readings, strict=True))
    print(
        f"import torch: {here:.3f} s, with NVIDIA's {there:.3f} s, ratio {paired.ratios(readings)}"
    )


def main() -> int:
    """Prints the measures.

    Returns:
        0.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wheel", type=pathlib.Path, action="append", default=[])
    parser.add_argument("--steps", type=pathlib.Path, required=True)
    parser.add_argument("--stock_python", type=pathlib.Path)
    parser.add_argument("--pairs", type=int, default=20, help="paired readings (default: 20)")
    options = parser.parse_args()
    wheels = [wheel.resolve() for wheel in options.wheel]
    python = stock.prepare(wheels)
    steps = str(options.steps.resolve())
    variables = environment("fake")
    subprocess.run([python, steps, "times", str(options.pairs)], env=variables, check=True)
    for model in ("resnet", "transformer", "lstm"):
        cuda, cpu = (
            read(python, [steps, "memory", model, device], variables) for device in ("cuda", "cpu")
        )
        print(
            f"{model}: {cuda:.0f} MB on the device, {cpu:.0f} MB on the CPU, {cuda / cpu:.3f}",
            flush=True,
        )
    if options.stock_python:
        compare_imports(python, options.stock_python, options.pairs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
