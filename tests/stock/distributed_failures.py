"""Programs of distributed_test: what goes wrong in NCCL's groups, and what a rank is told.

    python -m torch.distributed.run --nproc-per-node 2 tests/stock/distributed_failures.py PROGRAM

Rank 0 prints what it was told, in one line.
"""

from __future__ import annotations

import datetime
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist

RANK, SIZE = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))


def told(call: Callable[[], object]) -> None:
    """Prints the error that a call raises, and ends the rank without waiting for others."""
    begin = time.monotonic()
    try:
        call()
        torch.cuda.synchronize()
        text = "nothing"
    except (LookupError, RuntimeError, ValueError) as error:
        text = f"{type(error).__name__} after {time.monotonic() - begin:.0f} s: {error}"
    print(f"rank {RANK} was told: {' '.join(text.split())}\n", end="", flush=True)
    # Not through the group's end, which would wait for who is gone.
    os._exit(0)


def symmetric_memory() -> None:
    """Memory that kernels of all ranks use: another rank's is read, where it can be had, and no kernel adds it up."""
    from torch.distributed import _symmetric_memory as symmetric

    group = dist.group.WORLD
    assert group is not None

    def use() -> None:
        one = symmetric.empty(16, device=torch.device("cuda", RANK)).fill_(RANK + 1.0)
        shared = symmetric.rendezvous(one, group)
        torch.cuda.synchronize()
        dist.all_reduce(torch.ones(1, device="cuda"))
        other = (RANK + 1) % SIZE
        theirs = shared.get_buffer(other, (16,), torch.float32).tolist()
        if theirs != [other + 1.0] * 16:
            raise LookupError(f"rank {other} has {theirs}")
        torch.ops.symm_mem.one_shot_all_reduce(one, "sum", group.group_name)

    told(use)


def nan_check() -> None:
    """TORCH_NCCL_NAN_CHECK=1 and TORCH_DIST_NAN_CHECK=1: a collective of what is no number."""
    told(lambda: dist.all_reduce(torch.full((4,), float("nan"), device="cuda")))


def _all_reduce() -> None:
    # Asynchronous: torch 2.9 gives no work of another one, so nothing waits for a timeout.
    work = dist.all_reduce(torch.ones(4, device="cuda"), async_op=True)
    assert work is not None
    work.wait()


def late() -> None:
    """TORCH_NCCL_BLOCKING_WAIT=1: the last rank leaves a collective out."""
    if RANK == SIZE - 1:
        time.sleep(20)
        os._exit(0)
    told(_all_reduce)


def dies() -> None:
    """TORCH_NCCL_BLOCKING_WAIT=1: the last rank is killed, the others wait for a collective with it."""
    if RANK == SIZE - 1:
        os.kill(os.getpid(), signal.SIGKILL)
    told(_all_reduce)


def main(program: str) -> None:
    """Runs a program in a group, whose first collective works where the program is not about every collective."""
    torch.cuda.set_device(RANK)
    options: dict[str, Any] = {}
    if "STORE" in os.environ:
        options = {
            "init_method": f"file://{os.environ['STORE']}",
            "rank": RANK,
            "world_size": SIZE,
        }
    dist.init_process_group(
        "nccl",
        timeout=datetime.timedelta(seconds=8),
        device_id=torch.device("cuda", RANK),
        **options,
    )
    if program != "nan_check":
        dist.all_reduce(torch.ones(1, device="cuda"))
        torch.cuda.synchronize()
    {one.__name__: one for one in (symmetric_memory, nan_check, late, dies)}[program]()


if __name__ == "__main__":
    main(sys.argv[1])
