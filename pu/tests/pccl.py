"""What the processes of pccl_test do: `pccl.py PROGRAM`."""

from __future__ import annotations

import os
import pathlib
import sys
import time

import torch
import torch_pu  # noqa: F401 - gives torch the device
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

RANK = int(os.environ["RANK"])
SIZE = int(os.environ["WORLD_SIZE"])
DEVICE = torch.device("pu", RANK)


def _start(store: str = os.environ["STORE"]) -> None:
    torch.pu.set_device(RANK)  # type: ignore[attr-defined]
    distributed.init_process_group(
        "pccl", store=distributed.FileStore(store, SIZE), rank=RANK, world_size=SIZE
    )


def collectives() -> None:
    """The common ones, and what they give."""
    _start()
    mine = torch.full((4,), float(RANK + 1), device=DEVICE)
    total = mine.clone()
    distributed.all_reduce(total)
    assert total.tolist() == [sum(range(1, SIZE + 1))] * 4, total
    parts = [torch.empty(4, device=DEVICE) for _ in range(SIZE)]
    distributed.all_gather(parts, mine)
    assert [part[0].item() for part in parts] == list(range(1, SIZE + 1)), parts
    whole = torch.empty(4 * SIZE, device=DEVICE)
    distributed.all_gather_into_tensor(whole, mine)
    assert whole[::4].tolist() == list(range(1, SIZE + 1)), whole
    scattered = torch.empty(4, device=DEVICE)
    distributed.reduce_scatter_tensor(scattered, whole)
    assert scattered.tolist() == [SIZE * (RANK + 1)] * 4, scattered
    first = mine.clone()
    distributed.broadcast(first, 0)
    assert first.tolist() == [1] * 4, first
    work = distributed.all_reduce(mine, async_op=True)
    assert work is not None
    results = work.get_future().wait()
    assert results[0].device == DEVICE, results
    assert mine.tolist() == total.tolist(), mine
    if RANK == 0:
        distributed.send(torch.ones(3, device=DEVICE), 1)
    elif RANK == 1:
        received = torch.empty(3, device=DEVICE)
        distributed.recv(received, 0)
        assert received.tolist() == [1, 1, 1], received
    objects: list[object] = [None] * SIZE
    distributed.all_gather_object(objects, {"rank": RANK})
    assert objects == [{"rank": rank} for rank in range(SIZE)], objects
    distributed.barrier()
    print("done", distributed.get_backend())


def training() -> None:
    """DistributedDataParallel, against the whole batch on one device."""
    _start()

    def model() -> torch.nn.Module:
        torch.manual_seed(0)
        return torch.nn.Sequential(
            torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1)
        ).to(DEVICE)

    torch.manual_seed(1)
    batch = torch.randn(4 * SIZE, 8)
    alone, together = model(), DistributedDataParallel(model())
    optimizers = [torch.optim.SGD(m.parameters(), 0.1) for m in (alone, together)]
    for _ in range(3):
        for m, optimizer, part in zip(
            (alone, together), optimizers, (batch, batch[RANK::SIZE]), strict=True
        ):
            optimizer.zero_grad()
            m(part.to(DEVICE)).square().mean().backward()
            optimizer.step()
    for one, other in zip(alone.parameters(), together.parameters(), strict=True):
        torch.testing.assert_close(one, other)
    print("done")


def _watched() -> int:
    """How many groups NCCL's process group watches, each from a thread of its own."""
    names = [path.read_text().strip() for path in pathlib.Path("/proc/self/task").glob("*/comm")]
    return names.count("pt_nccl_watchdg")


def _is_watched_by(threads: int) -> bool:
    """Whether so many threads watch groups, once those that were just begun have their names."""
    deadline = time.monotonic() + 60
    while _watched() != threads and time.monotonic() < deadline:
        time.sleep(0.01)
    return _watched() == threads


def destroyed() -> None:
    """Destroying ends the group below at once, whoever still holds it, after the work in flight."""
    for store in (os.environ["STORE"], os.environ["STORE"] + "2"):
        _start(store)
        world = distributed.group.WORLD
        assert world is not None
        some = distributed.new_group(list(range(SIZE)), backend="pccl")
        values = torch.full((1 << 16,), float(RANK + 1), device=DEVICE)
        first, second = values.clone(), values.clone()
        distributed.all_reduce(first, group=some)
        distributed.all_reduce(values.clone())  # makes the connection, which takes both
        assert _is_watched_by(2), _watched()
        shared = distributed.distributed_c10d._get_default_store()
        if RANK == 1:
            shared.wait(["destroying"])
        work = distributed.all_reduce(second, async_op=True)
        if RANK == 0:
            shared.set("destroying", "")
        distributed.destroy_process_group(some)
        distributed.destroy_process_group()
        assert not distributed.is_initialized()
        assert _watched() == 0, _watched()
        total = [float(sum(range(1, SIZE + 1)))] * (1 << 16)
        assert first.tolist() == second.tolist() == total
        assert work is not None and work.is_completed()
        try:
            distributed.destroy_process_group()
        except (AssertionError, ValueError):
            pass
        else:
            raise AssertionError("a group was destroyed twice")
        del world, some
    print("done")


def destroyed_after_errors() -> None:
    """Errors of a collective leave nothing behind that destroying stumbles over."""
    _start()
    values = torch.ones(4, device=DEVICE)
    for wrong in (
        lambda: distributed.all_gather_into_tensor(torch.empty(3, device=DEVICE), values),
        lambda: distributed.all_reduce(torch.ones(2)),
        lambda: distributed.all_reduce(values.to_sparse()),
    ):
        try:
            wrong()
        except (RuntimeError, ValueError):
            pass
        else:
            raise AssertionError("no error")
    distributed.all_reduce(values)
    assert values.tolist() == [SIZE] * 4
    distributed.destroy_process_group()
    assert _watched() == 0, _watched()
    print("done")


def aborted() -> None:
    """Aborting ends work that waits for a process that never comes."""
    _start()
    values = torch.ones(4, device=DEVICE)
    distributed.all_reduce(values)
    torch.pu.synchronize()  # type: ignore[attr-defined]
    if RANK == 0:
        distributed.all_reduce(values, async_op=True)
    distributed.distributed_c10d._abort_process_group(distributed.group.WORLD)
    assert not distributed.is_initialized()
    print("done")


def left() -> None:
    """A program ends without destroying anything."""
    _start()
    values = torch.ones(4, device=DEVICE)
    distributed.all_reduce(values)
    assert values.tolist() == [SIZE] * 4
    print("done", flush=True)


if __name__ == "__main__":
    program = globals()[sys.argv[1]]
    program()
    if program in (collectives, training):
        distributed.destroy_process_group()
