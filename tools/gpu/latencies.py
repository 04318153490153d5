"""Measures what small calls cost on a GPU, with torch_cuda or any other PyTorch with CUDA.

    python3 tools/gpu/latencies.py [--calls 10000] [--rounds 7]

Prints one JSON object: microseconds of a call, medians of rounds, and the rates of a product and of a sum.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch


def measure(call: Callable[[], Any], calls: int, rounds: int, wait: bool = False) -> float:
    """Microseconds of a call on the host.

    Args:
        call: what is measured.
        calls: how many make a round.
        rounds: whose median counts.
        wait: whether the time until the device is done counts, too.
    """
    for _ in range(min(calls, 100)):
        call()
    torch.cuda.synchronize()
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        if wait:
            torch.cuda.synchronize()
        times.append((time.perf_counter() - begin) / calls)
        torch.cuda.synchronize()
    return statistics.median(times) * 1e6


def small_calls(calls: int, rounds: int) -> dict[str, float]:
    """Costs of calls with little work."""
    one = torch.ones(16, device="cuda")
    other = torch.ones(16, device="cuda")
    host = torch.ones(1)
    pinned = torch.ones(1).pin_memory()
    there = torch.ones(1, device="cuda")
    event = torch.cuda.Event()
    timed = torch.cuda.Event(enable_timing=True)

    def add_and_wait() -> None:
        torch.add(one, other, out=one)
        torch.cuda.synchronize()

    def allocate_anew() -> None:
        torch.empty(32 << 20, dtype=torch.uint8, device="cuda")
        torch.cuda.empty_cache()

    few = max(1, calls // 10)
    return {
        "add": measure(lambda: torch.add(one, other, out=one), calls, rounds),
        "add_with_device": measure(
            lambda: torch.add(one, other, out=one), calls, rounds, wait=True
        ),
        "add_new_result": measure(lambda: one + other, calls, rounds),
        "add_synchronize": measure(add_and_wait, few, rounds),
        "synchronize": measure(torch.cuda.synchronize, calls, rounds),
        "event_record": measure(event.record, calls, rounds),
        "timed_event_record": measure(timed.record, calls, rounds),
        "copy_4_bytes_to_device": measure(lambda: there.copy_(host), few, rounds),
        "copy_4_bytes_pinned": measure(
            lambda: there.copy_(pinned, non_blocking=True), few, rounds, wait=True
        ),
        "item": measure(there.item, few, rounds),
        "allocate_free_cached": measure(lambda: torch.empty(1024, device="cuda"), calls, rounds),
        "allocate_free_32MiB_uncached": measure(allocate_anew, max(1, calls // 100), rounds),
    }


def rates(size: int, elements: int, rounds: int) -> dict[str, float]:
    """Rates of a product and of a sum of two tensors."""
    a = torch.randn(size, size, device="cuda")
    b = torch.randn(size, size, device="cuda")
    x = torch.ones(elements, device="cuda")
    y = torch.ones(elements, device="cuda")
    found = {}
    try:
        product = measure(lambda: torch.mm(a, b), 20, rounds, wait=True)
        found[f"matmul_{size}_float32_us"] = product
        found[f"matmul_{size}_float32_TFLOPs"] = 2 * size**3 / product / 1e6
    except RuntimeError as error:
        found[f"matmul_{size}: {error}".splitlines()[0][:200]] = float("nan")
    total = measure(lambda: torch.add(x, y, out=x), 20, rounds, wait=True)
    found[f"add_{elements}_float32_us"] = total
    found[f"add_{elements}_float32_GBs"] = 3 * 4 * elements / total / 1e3
    return found


def graph(calls: int, rounds: int) -> dict[str, float]:
    """Cost of the launch of a graph of 20 additions."""
    x = torch.zeros(16, device="cuda")
    captured = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(captured):
            for _ in range(20):
                x += 1
        return {"graph_of_20_adds_us": measure(captured.replay, max(1, calls // 10), rounds)}
    except RuntimeError as error:
        return {f"graph: {error}".splitlines()[0][:200]: float("nan")}


def main(command_line: Sequence[str]) -> None:
    """Runs the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--size", type=int, default=1024, help="of the product's matrices")
    parser.add_argument("--elements", type=int, default=64 << 20, help="of the sum's tensors")
    options = parser.parse_args(command_line)
    with contextlib.suppress(ImportError):
        importlib.import_module("torch_cuda")
    begin = time.perf_counter()
    torch.zeros(1, device="cuda")
    torch.cuda.synchronize()
    found: dict[str, Any] = {
        "torch": torch.__version__,
        "torch_cuda": "torch_cuda" in sys.modules,
        "device": torch.cuda.get_device_name(0),
        "first_use_s": time.perf_counter() - begin,
        "us": small_calls(options.calls, options.rounds),
    }
    found |= rates(options.size, options.elements, options.rounds)
    found |= graph(options.calls, options.rounds)
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
