"""What a call costs more when the adapter is active: nanoseconds, over paired readings in one process.

    ./bazelw run //bench:adapter_overhead -- --pairs 15

The adapter is switched on and off between the readings of a pair. Without it the call names the stand-in by its own
name; with it the call is a CUDA program's. For device strings and `is_cuda` the same text is run twice.
"""

from __future__ import annotations

import argparse
import statistics
import timeit
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch_stand_in  # noqa: F401
from torch.cuda import current_device as taken
from torch_cuda_adapter.runtime import activate, restore

from bench import paired

# What is called without the adapter, and with it.
_CALLS = {
    "torch.device('cuda:0')": ("torch.device('cuda:0')", "torch.device('cuda:0')"),
    "str(device)": ("str(device)", "str(device)"),
    "device.type": ("device.type", "device.type"),
    "is_cuda of a CPU tensor": ("cpu.is_cuda", "cpu.is_cuda"),
    "is_cuda": ("x.is_cuda", "x.is_cuda"),
    "Tensor.cuda": ("x.stand_in()", "x.cuda()"),
    "torch.cuda.current_device": ("torch.stand_in.current_device()", "torch.cuda.current_device()"),
    "torch.cuda.current_stream": ("torch.stand_in.current_stream()", "torch.cuda.current_stream()"),
    "torch.cuda.memory_allocated": (
        "torch.stand_in.memory_allocated()",
        "torch.cuda.memory_allocated()",
    ),
    "current_device, taken before": ("torch.stand_in.current_device()", "taken()"),
    "empty on the device": ("torch.empty(4, device='stand_in')", "torch.empty(4, device='cuda')"),
    "x.add_(1)": ("x.add_(1)", "x.add_(1)"),
    "CPU: cpu.add_(1)": ("cpu.add_(1)", "cpu.add_(1)"),
}


def _reader(
    statement: str, number: int, scope: dict[str, Any], adapted: bool
) -> Callable[[], float]:
    timer = timeit.Timer(statement, globals=scope)

    def read() -> float:
        if adapted:
            activate("stand-in")
        try:
            timer.timeit(max(number // 10, 1))
            return min(timer.timeit(number) for _ in range(5)) / number * 1e9
        finally:
            restore()

    return read


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints a row for each call.

    Args:
        arguments: the command line without the program's name; sys.argv by default.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=11, help="pairs of readings of each call")
    parser.add_argument("--number", type=int, default=20_000, help="calls in a reading")
    options = parser.parse_args(arguments)
    scope: dict[str, Any] = {
        "torch": torch,
        "taken": taken,
        "cpu": torch.ones(4),
        "x": torch.ones(4, device="stand_in"),
        "device": torch.device("stand_in:0"),
    }
    print(f"{'call':32}{'without':>10}{'with':>10}{'more':>8}  quartiles")
    for name, (plain, adapted) in _CALLS.items():
        readings = paired.interleave(
            _reader(adapted, options.number, scope, adapted=True),
            _reader(plain, options.number, scope, adapted=False),
            options.pairs,
        )
        more = [one - other for one, other in readings]
        low, middle, high = statistics.quantiles(more, n=4, method="inclusive")
        ours, theirs = (statistics.median(side) for side in zip(*readings, strict=True))
        print(
            f"{name:32}{theirs:10.0f}{ours:10.0f}{middle:8.0f}  {low:.0f} to {high:.0f}", flush=True
        )


if __name__ == "__main__":
    main()
