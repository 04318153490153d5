"""What the processes of pccl_test do: `pccl.py PROGRAM`."""

from __future__ import annotations

import os
import sys

import torch
import torch_pu  # noqa: F401 - gives torch the device
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

RANK = int(os.environ["RANK"])
SIZE = int(os.environ["WORLD_SIZE"])
DEVICE = torch.device("pu", RANK)


def _start() -> None:
    torch.pu.set_device(RANK)  # type: ignore[attr-defined]
    distributed.init_process_group(
        "pccl", store=distributed.FileStore(os.environ["STORE"], SIZE), rank=RANK, world_size=SIZE
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


if __name__ == "__main__":
    {"collectives": collectives, "training": training}[sys.argv[1]]()
    distributed.destroy_process_group()
