"""Programs of failures_test, one process of several: what goes wrong, and what its survivors see.

failures.py PROGRAM
"""

from __future__ import annotations

import datetime
import os
import signal
import sys
import time

import torch
import torch.distributed as dist

RANK, SIZE = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
TIMEOUT = datetime.timedelta(seconds=8)


def begin(timeout: datetime.timedelta = TIMEOUT) -> torch.Tensor:
    """Joins a group whose first collective works.

    Args:
      timeout: of later collectives.

    Returns:
      A tensor to go on with.
    """
    torch.cuda.set_device(RANK)
    dist.init_process_group(
        "nccl",
        init_method=f"file://{os.environ['STORE']}",
        rank=RANK,
        world_size=SIZE,
        timeout=timeout,
    )
    tensor = torch.full((4,), float(RANK + 1), device="cuda")
    dist.all_reduce(tensor)
    torch.cuda.synchronize()
    assert tensor[0].item() == SIZE * (SIZE + 1) / 2
    print("joined", flush=True)
    return tensor


def dies() -> None:
    """The last rank is killed; the others wait for a collective with it."""
    tensor = begin()
    if RANK == SIZE - 1:
        os.kill(os.getpid(), signal.SIGKILL)
    started = time.monotonic()
    try:
        work = dist.all_reduce(tensor, async_op=True)
        assert work is not None
        work.wait()
        torch.cuda.synchronize()
    except (dist.DistBackendError, RuntimeError) as error:
        print(f"{type(error).__name__} after {time.monotonic() - started:.0f} s", flush=True)
        # Not through the group's end, which would wait for the one that is gone.
        os._exit(3)
    print("nothing happened", flush=True)


def falls_behind() -> None:
    """The last rank leaves one collective out, and the watchdog of the others has to notice."""
    tensor = begin()
    if RANK == SIZE - 1:
        # Longer than the watchdog of the other waits.
        time.sleep(4 * TIMEOUT.total_seconds())
        os._exit(0)
    dist.all_reduce(tensor[:3])
    torch.cuda.synchronize()
    time.sleep(120)
    print("nothing happened", flush=True)


def does_not_agree() -> None:
    """Under DETAIL, torch compares what ranks call before they call it, over gloo."""
    tensor = begin()
    try:
        if RANK == 0:
            dist.all_reduce(tensor)
        else:
            dist.all_reduce(torch.zeros(7, device="cuda"))
        print("nothing happened", flush=True)
    except RuntimeError as error:
        print(str(error).splitlines()[0], flush=True)
    os._exit(3)


def lives_again() -> None:
    """Three groups one after another; each refuses what NCCL cannot take, and the last is not ended."""
    store = os.environ["STORE"]
    for life in range(3):
        os.environ["STORE"] = f"{store}{life}"
        tensor = begin()
        for wrong in (torch.ones(2), torch.ones(4, 4, device="cuda").t()[:, :2]):
            try:
                dist.all_reduce(wrong)
            except (RuntimeError, ValueError):
                continue
            raise AssertionError(f"took {wrong.device}, {wrong.stride()}")
        if life < 2:
            dist.destroy_process_group()
    dist.all_reduce(tensor, async_op=True)
    print("ended", flush=True)


def restarted() -> None:
    """For torchrun: fails in the first life of the group and works in the second."""
    tensor = torch.ones(1, device=f"cuda:{os.environ['LOCAL_RANK']}")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group()
    dist.all_reduce(tensor)
    if os.environ["TORCHELASTIC_RESTART_COUNT"] == "0" and RANK == 1:
        sys.exit(5)
    dist.all_reduce(tensor)
    torch.cuda.synchronize()
    life = os.environ["TORCHELASTIC_RESTART_COUNT"]
    print(f"rank {RANK} in life {life}: {tensor.item()}\n", end="", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    {
        "dies": dies,
        "falls_behind": falls_behind,
        "lives_again": lives_again,
        "does_not_agree": does_not_agree,
        "restarted": restarted,
    }[sys.argv[1]]()
