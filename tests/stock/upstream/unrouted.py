"""What PyTorch's own CUDA code answers, up to the first launch: checks of arguments, which no GPU is needed for."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping

import torch

_SECONDS = 600
Calls = Mapping[str, Callable[[], object]]


def _of_a_child(
    make: Callable[[], Calls], say: Callable[[Callable[[], object]], str], names: list[str]
) -> dict[str, str]:
    """What some of the calls say, in this order, in a process of their own."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        signal.alarm(_SECONDS)
        try:
            # Among these is the start of the router, without which all keys keep PyTorch's kernels.
            torch.cuda._queued_calls.clear()
            torch.cuda.init()
            calls = make()
            for name in names or calls:
                os.write(writer, f"{name}\t{say(calls[name])}\n".encode())
            os._exit(0)
        finally:
            os._exit(1)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as pipe:
        lines = pipe.read().splitlines()
    _, status = os.waitpid(child, 0)
    if status != 0:
        last = lines[-1] if lines else "nothing"
        raise RuntimeError(f"the process ended with status {status} behind {last}")
    return {name: said for name, _, said in (line.partition("\t") for line in lines)}


def answers(
    make: Callable[[], Calls], say: Callable[[Callable[[], object]], str]
) -> dict[str, str]:
    """What calls of operators say where no operator is routed.

    To be called before CUDA is used in this process, which forks.

    Args:
        make: makes the calls by name, with their tensors.
        say: makes a call, and returns in one line what it says; "" where it says nothing, or would launch.

    Raises:
        RuntimeError: a process ended otherwise.
    """
    found = _of_a_child(make, say, [])
    # The first launch without a GPU is a fault of the device, behind which some calls do not come as far as they would.
    for name, said in found.items():
        if not said:
            found |= _of_a_child(make, say, [name])
    return found
