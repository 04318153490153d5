"""One process of several under torchrun: programs that compute on the CPU and on the rank's CUDA device."""

from __future__ import annotations

import datetime
import os
import sys
import traceback
from collections.abc import Callable

import torch
import torch.distributed as dist
from torch import Tensor
from torch._C._distributed_c10d import PrefixStore, Store
from torch.distributed.rendezvous import rendezvous

RANK, SIZE = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
Found = dict[str, Tensor]
"""What a program found, by names."""
Program = Callable[[str], Found]
"""A program of a rank. Its argument is the type of the device, "cpu" or "cuda"."""


HALF = "in half precision:"
"""How the names of what was computed in half precision begin."""
EXACT = "in float32:"
"""How the names of the same in float32 begin. Each name that begins with HALF has its counterpart."""


def _compare_half(found: Tensor, expected: Tensor, exact: Tensor) -> None:
    """Raises AssertionError where rounding to half precision does not explain the error of a result.

    The measure is the error of the CPU's own result in half precision: how far that is off depends on the sums that
    cancel, and on the instructions of the CPU (with those for bfloat16, intermediate results are rounded elsewhere).
    """
    error, own = (
        (one.cpu().float() - exact.float()).abs().max().item() for one in (found, expected)
    )
    allowed = 3 * own + torch.finfo(torch.bfloat16).eps * exact.abs().max().item()
    assert error <= allowed, f"an error of {error:.3e}, and the CPU's is {own:.3e}"


def compare(found: Found, expected: Found) -> None:
    """Raises AssertionError where a tensor of CUDA is not the CPU's."""
    assert found.keys() == expected.keys(), found.keys() ^ expected.keys()
    for name, one in found.items():
        try:
            if name.startswith(HALF):
                _compare_half(one, expected[name], expected[EXACT + name.removeprefix(HALF)])
            else:
                torch.testing.assert_close(one.cpu(), expected[name], rtol=1e-4, atol=1e-5)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from error


def _join(store: Store, name: str, backend: str, bound: bool = True) -> None:
    dist.init_process_group(
        backend,
        # torchrun's store outlives a group, and the next group has the same name: without a prefix, a rank may
        # read the addresses of a group that is gone.
        store=PrefixStore(name, store),
        rank=RANK,
        world_size=SIZE,
        timeout=datetime.timedelta(seconds=120),
        device_id=torch.device("cuda", RANK) if bound else None,
    )


def _both(program: Program) -> None:
    found = {}
    for device in ("cpu", "cuda"):
        torch.manual_seed(0)
        found[device] = program(device)
        torch.cuda.synchronize()
        dist.barrier()
    compare(found["cuda"], found["cpu"])


def _again(store: Store) -> None:
    dist.destroy_process_group()
    _join(store, "again", "nccl")
    one = torch.ones(3, device="cuda")
    dist.all_reduce(one)
    assert one.tolist() == [SIZE] * 3, one
    dist.destroy_process_group()


def main(*programs: Program, bound: bool = True) -> None:
    """Runs programs by the names on the command line (none: all), each on both devices, and then another group.

    One group has both devices and all programs: caches of DTensor name the groups of a mesh, and outlive them.
    A line for each program says "ok NAME" or "failed NAME: why".

    Args:
        programs: those that there are.
        bound: whether the group is told its device at once.
    """
    torch.cuda.set_device(RANK)
    wanted = sys.argv[1:]
    store, _, _ = next(iter(rendezvous("env://")))
    _join(store, "programs", "cpu:gloo,cuda:nccl", bound)
    for program in programs:
        if wanted and program.__name__ not in wanted:
            continue
        try:
            _both(program)
            print(f"rank {RANK}: ok {program.__name__}\n", end="", flush=True)
        except (AssertionError, LookupError, RuntimeError, TypeError, ValueError) as error:
            if os.environ.get("VERBOSE"):
                traceback.print_exc()
            why = f"{type(error).__name__}: {error}"
            print(f"rank {RANK}: failed {program.__name__}: {why}\n", end="", flush=True)
            # The other ranks may wait for this one.
            os._exit(1)
    _again(store)
