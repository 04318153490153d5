"""How fast the simulated CUDA device is.

    ./bazelw run //bench:cudasim

Prints, for each set of host instructions, thread-instructions a second on one thread and on all
processors (median of the launches, with the lowest and highest), and how long the first launch of
kernels out of libtorch_cuda.so takes.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import platform
import statistics
import subprocess
import sys
from collections.abc import Sequence

_ISAS = ("baseline", "v3", "v4")

# Each operator is in an image of its own in libtorch_cuda.so. The first launch of all pays for
# starting the device too, so it is shown apart.
_FIRST_LAUNCH = """
import time
import torch

def timed(name, run):
    torch.cuda.synchronize()
    start = time.perf_counter()
    run()
    torch.cuda.synchronize()
    return (time.perf_counter() - start) * 1e3

x = torch.randn(1000)
started = timed("start", lambda: torch.ones(1000, device="cuda"))
print("device_and_first_kernel", started, 0.0)
x = x.cuda()
for name in ("abs", "exp", "cumsum", "softmax", "sort", "sigmoid", "tril", "nonzero"):
    operator = getattr(torch, name)
    arguments = {"cumsum": (0,), "softmax": (0,)}.get(name, ())
    value = x.view(10, 100) if name == "tril" else x
    first = timed(name, lambda: operator(value, *arguments))
    again = statistics.median(timed(name, lambda: operator(value, *arguments)) for _ in range(5))
    print(name, first, again)
"""


def throughput(program: pathlib.Path, ptx: pathlib.Path, isa: str, repeats: int) -> None:
    """Prints the rates of one set of host instructions.

    Args:
        program: the compiled bench (throughput.cpp).
        ptx: its kernels.
        isa: value of CUDASIM_ISA.
        repeats: launches of each kernel.
    """
    done = subprocess.run(
        [program, ptx, str(repeats)],
        env={**os.environ, "CUDASIM_ISA": isa},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    one_thread: dict[str, float] = {}
    for line in done.stdout.splitlines():
        kernel, workers, _, *rates = line.split()
        median, low, high = (float(rate) / 1e9 for rate in rates)
        one_thread.setdefault(kernel, median)
        print(
            f"{isa:10} {kernel:12} {workers:>7} {median:10.2f} {low:7.2f} {high:7.2f} "
            f"{median / one_thread[kernel]:7.2f}"
        )


def first_launch() -> None:
    """Prints how long first launches take, in a process of their own."""
    done = subprocess.run(
        [sys.executable, "-c", "import statistics\n" + _FIRST_LAUNCH],
        env={**os.environ, "TORCH_CUDA_SIM": "1", "CUDASIM_SYNC": "1"},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    firsts: list[float] = []
    for line in done.stdout.splitlines():
        name, first, again = line.split()
        print(f"{name:26} {float(first):12.1f} {float(again):12.2f}")
        if name != "device_and_first_kernel":
            firsts.append(float(first))
    print(f"{'median of the operators':26} {statistics.median(firsts):12.1f}")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the bench.

    Args:
        argv: arguments without the program's name.

    Returns:
        Exit status.
    """
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--throughput", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--ptx", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--repeats", type=int, default=31, help="launches of each kernel")
    options = parser.parse_args(argv)
    print(f"{os.cpu_count()} processors, {platform.machine()}")
    print("10^9 thread-instructions a second, median, lowest and highest; ratio to one thread")
    print(
        f"{'host':10} {'kernel':12} {'threads':>7} {'median':>10} {'low':>7} {'high':>7} {'ratio':>7}"
    )
    for isa in _ISAS:
        throughput(options.throughput.resolve(), options.ptx.resolve(), isa, options.repeats)
    print()
    print(f"{'launch out of libtorch_cuda':26} {'first, ms':>12} {'again, ms':>12}")
    first_launch()
    return 0


if __name__ == "__main__":
    sys.exit(main())
