"""A transformer block trains with DDP over "nccl" in two processes, as in one."""

import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(16)
        self.attention = torch.nn.MultiheadAttention(16, 2, batch_first=True)
        self.mlp = torch.nn.Sequential(
            torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.Linear(32, 16)
        )

    def forward(self, x):
        y = self.norm(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.mlp(self.norm(x))


def train(model, batches):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    for batch in batches:
        optimizer.zero_grad()
        loss = (model(batch) - 1).pow(2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def run(rank, folder):
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", init_method=f"file://{folder}/store", rank=rank, world_size=2)
    assert dist.get_backend() == "nccl" == dist.Backend.NCCL and dist.is_nccl_available()
    x = torch.full((4,), float(rank + 1), device="cuda")
    dist.all_reduce(x)
    assert x.tolist() == [3.0] * 4
    gathered = [torch.empty(1, device="cuda") for _ in range(2)]
    dist.all_gather(gathered, torch.tensor([float(rank)], device="cuda"))
    assert [value.item() for value in gathered] == [0.0, 1.0]
    objects = [None, None]
    dist.all_gather_object(objects, {"rank": rank})
    assert objects == [{"rank": 0}, {"rank": 1}]
    dist.barrier()
    torch.manual_seed(0)
    model = DistributedDataParallel(Block().cuda(), device_ids=[rank])
    data = torch.randn(5, 4, 6, 16)
    losses = train(model, [batch[rank * 2 : rank * 2 + 2].cuda() for batch in data])
    mean = torch.tensor(losses, device="cuda")
    dist.all_reduce(mean)
    if rank == 0:
        torch.manual_seed(0)
        alone = train(Block(), torch.randn(5, 4, 6, 16))
        torch.testing.assert_close((mean / 2).cpu(), torch.tensor(alone), atol=1e-4, rtol=1e-4)
    group = dist.new_group([0, 1], backend="nccl")
    assert dist.get_backend(group) == "nccl"
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(run, (sys.argv[1] if len(sys.argv) > 1 else os.environ["TEST_TMPDIR"],), nprocs=2)
