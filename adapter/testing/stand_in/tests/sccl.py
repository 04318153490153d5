"""What the processes of sccl_test do: `sccl.py PROGRAM`."""

from __future__ import annotations

import os
import sys

import torch
import torch_stand_in
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

RANK = int(os.environ["RANK"])
SIZE = int(os.environ["WORLD_SIZE"])
DEVICE = torch.device("stand_in", RANK)


def _start() -> None:
    torch_stand_in.set_device(RANK)
    distributed.init_process_group(
        "sccl", store=distributed.FileStore(os.environ["STORE"], SIZE), rank=RANK, world_size=SIZE
    )


def collectives() -> None:
    """The common ones, and what they give."""
    _start()
    mine = torch.full((4,), float(RANK + 1), device=DEVICE)
    total = mine.clone()
    distributed.all_reduce(total)
    assert total.tolist() == [sum(range(1, SIZE + 1))] * 4, total
    average = mine.clone()
    distributed.all_reduce(average, distributed.ReduceOp.AVG)
    assert average.tolist() == [(SIZE + 1) / 2] * 4, average
    parts = [torch.empty(4, device=DEVICE) for _ in range(SIZE)]
    distributed.all_gather(parts, mine)
    assert [part[0].item() for part in parts] == list(range(1, SIZE + 1)), parts
    whole = torch.empty(4 * SIZE, device=DEVICE)
    distributed.all_gather_into_tensor(whole, mine)
    assert whole[::4].tolist() == list(range(1, SIZE + 1)), whole
    scattered = torch.empty(4, device=DEVICE)
    distributed.reduce_scatter_tensor(scattered, whole)
    assert scattered.tolist() == [SIZE * (RANK + 1)] * 4, scattered
    swapped = torch.empty(4 * SIZE, device=DEVICE)
    distributed.all_to_all_single(swapped, whole)
    assert swapped.tolist() == [float(RANK + 1)] * 4 * SIZE, swapped
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
    """A model of all processes' batches is one process's model of the whole batch."""
    _start()

    def model() -> torch.nn.Module:
        torch.manual_seed(0)
        return torch.nn.Sequential(
            torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1)
        ).to(DEVICE)

    batch = torch.randn(4 * SIZE, 6, generator=torch.Generator().manual_seed(1)).to(DEVICE)
    together, alone = DistributedDataParallel(model(), device_ids=[RANK]), model()
    for network, part in ((together, batch[4 * RANK : 4 * RANK + 4]), (alone, batch)):
        optimizer = torch.optim.SGD(network.parameters(), 0.1)
        for _ in range(3):
            optimizer.zero_grad()
            network(part).square().mean().backward()
            optimizer.step()
    for mine, theirs in zip(together.parameters(), alone.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs)
    print("done")


if __name__ == "__main__":
    {"collectives": collectives, "training": training}[sys.argv[1]]()
    distributed.destroy_process_group()
