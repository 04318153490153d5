"""Programs of training_test, one process of several: training that has to equal that of one process.

training.py PROGRAM [FOLDER]
"""

from __future__ import annotations

import os
import pathlib
import sys
from collections.abc import Callable, Iterator

import torch
import torch.distributed as dist
from torch import nn

RANK, SIZE = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
STEPS = 3


def model() -> nn.Sequential:
    """A small model, the same on each rank; its sizes divide by four."""
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 24), nn.ReLU(), nn.Linear(24, 8)
    ).cuda()


def batches() -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """The global batches, the same on each rank: one, again and again, so that losses fall."""
    generator = torch.Generator().manual_seed(1)
    batch = torch.randn(16, 16, generator=generator).cuda()
    target = torch.randn(16, 8, generator=generator).cuda()
    for _ in range(STEPS):
        yield batch, target


def part(tensor: torch.Tensor, index: int, count: int) -> torch.Tensor:
    """The part of a global batch that one of `count` replicas works on."""
    return tensor.chunk(count)[index]


def loss_of(net: nn.Module, batch: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """The loss of a batch."""
    return nn.functional.mse_loss(net(batch), target)


def train(net: nn.Module, index: int, count: int) -> list[torch.Tensor]:
    """Trains with this replica's parts of the batches.

    Returns:
      The loss of each step over the global batch.
    """
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
    losses = []
    for batch, target in batches():
        loss = loss_of(net, part(batch, index, count), part(target, index, count))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        whole = loss.detach().clone()
        dist.all_reduce(whole, dist.ReduceOp.AVG)
        losses.append(whole)
    return losses


def assert_same_losses(losses: list[torch.Tensor]) -> None:
    """The losses are those of one process that trains with the global batches."""
    expected = train(model(), 0, 1)
    torch.testing.assert_close(torch.stack(losses), torch.stack(expected), rtol=1e-4, atol=1e-6)
    assert losses[0] > losses[-1]


def data_parallel() -> None:
    """DDP: gradients are those of one process, to the bit where they are added in the same order."""
    net = nn.parallel.DistributedDataParallel(model(), device_ids=[RANK])
    one, whole = model(), model()
    batch, target = next(batches())
    loss_of(net, part(batch, RANK, SIZE), part(target, RANK, SIZE)).backward()
    for index in range(SIZE):
        # As DDP does: divided first, then added.
        loss = loss_of(one, part(batch, index, SIZE), part(target, index, SIZE))
        (loss / SIZE).backward()
    loss_of(whole, batch, target).backward()
    for mine, theirs, all_at_once in zip(
        net.parameters(), one.parameters(), whole.parameters(), strict=True
    ):
        assert mine.grad is not None and theirs.grad is not None and all_at_once.grad is not None
        assert torch.equal(mine.grad, theirs.grad), (mine.grad - theirs.grad).abs().max()
        torch.testing.assert_close(mine.grad, all_at_once.grad, rtol=1e-6, atol=1e-6)
    assert_same_losses(train(nn.parallel.DistributedDataParallel(model()), RANK, SIZE))


def fully_sharded() -> None:
    """FSDP, with each layer a unit of its own."""
    from torch.distributed.fsdp import FullyShardedDataParallel
    from torch.distributed.fsdp.wrap import ModuleWrapPolicy

    net = FullyShardedDataParallel(
        model(), auto_wrap_policy=ModuleWrapPolicy({nn.Linear}), device_id=RANK
    )
    assert sum(parameter.numel() for parameter in net.parameters()) * SIZE <= (
        sum(parameter.numel() for parameter in model().parameters()) + 8 * SIZE
    )
    assert_same_losses(train(net, RANK, SIZE))


def fully_sharded_2_and_tensor_parallel() -> None:
    """FSDP2 over one dimension of a 2 x 2 mesh, tensor parallelism over the other."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard
    from torch.distributed.tensor import DTensor, Replicate
    from torch.distributed.tensor.parallel import (
        ColwiseParallel,
        RowwiseParallel,
        parallelize_module,
    )

    mesh = init_device_mesh("cuda", (2, 2), mesh_dim_names=("data", "tensor"))
    net = model()
    last = ColwiseParallel(output_layouts=Replicate())
    plan = {"0": ColwiseParallel(), "2": RowwiseParallel(), "4": last}
    parallelize_module(net, mesh["tensor"], plan)
    for layer in net:
        if isinstance(layer, nn.Linear):
            fully_shard(layer, mesh=mesh["data"])
    fully_shard(net, mesh=mesh["data"])
    assert all(isinstance(parameter, DTensor) for parameter in net.parameters())
    assert_same_losses(train(net, mesh.get_local_rank("data"), 2))


def distributed_tensors() -> None:
    """DTensor on a 2 x 2 mesh: every placement of two matrices gives the product of the whole."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    mesh = init_device_mesh("cuda", (2, 2))
    torch.manual_seed(2)
    left, right = torch.randn(8, 12).cuda(), torch.randn(12, 4).cuda()
    placements = (Replicate(), Shard(0), Shard(1))
    for first in placements:
        for second in placements:
            a = distribute_tensor(left, mesh, [first, second])
            b = distribute_tensor(right, mesh, [second, first])
            torch.testing.assert_close(_whole(a @ b), left @ right)
            moved = a.redistribute(mesh, [second, Replicate()])
            assert torch.equal(_whole(moved), left)
    total = distribute_tensor(left, mesh, [Shard(0), Shard(1)]).sum()
    torch.testing.assert_close(_whole(total), left.sum())


def pipeline() -> None:
    """A model in two halves on two ranks: activations forward and gradients back by send and recv."""
    whole = model()
    half = whole[:2] if RANK == 0 else whole[2:]
    expected = model()
    for batch, target in batches():
        if RANK == 0:
            out = half(batch)
            dist.send(out.detach(), 1)
            gradient = torch.empty_like(out)
            dist.recv(gradient, 1)
            out.backward(gradient)
        else:
            incoming = torch.empty(16, 32, device="cuda", requires_grad=True)
            dist.recv(incoming.data, 0)
            nn.functional.mse_loss(half(incoming), target).backward()
            assert incoming.grad is not None
            dist.send(incoming.grad, 0)
        loss_of(expected, batch, target).backward()
    mine = expected[:2] if RANK == 0 else expected[2:]
    for one, other in zip(half.parameters(), mine.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad, rtol=1e-5, atol=1e-6)


def save_checkpoint(folder: str) -> None:
    """A checkpoint of a model that is sharded over all ranks."""
    from torch.distributed.checkpoint.state_dict_saver import save

    save(_sharded_state(), checkpoint_id=folder)


def load_checkpoint(folder: str) -> None:
    """The same checkpoint, on another number of ranks."""
    from torch.distributed.checkpoint.state_dict_loader import load

    state = _sharded_state(zeros=True)
    load(state, checkpoint_id=folder)
    for name, parameter in model().state_dict().items():
        assert torch.equal(_whole(state[name]), parameter), name


def _whole(tensor: torch.Tensor) -> torch.Tensor:
    from torch.distributed.tensor import DTensor

    assert isinstance(tensor, DTensor)
    whole: torch.Tensor = tensor.full_tensor()
    return whole


def _sharded_state(zeros: bool = False) -> dict[str, torch.Tensor]:
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Shard, distribute_tensor

    mesh = init_device_mesh("cuda", (SIZE,))
    return {
        name: distribute_tensor(torch.zeros_like(value) if zeros else value, mesh, [Shard(0)])
        for name, value in model().state_dict().items()
    }


PROGRAMS: dict[str, Callable[..., None]] = {
    program.__name__: program
    for program in (
        data_parallel,
        fully_sharded,
        fully_sharded_2_and_tensor_parallel,
        distributed_tensors,
        pipeline,
        save_checkpoint,
        load_checkpoint,
    )
}


def main(programs: str, *arguments: str) -> None:
    """Runs programs, separated by commas, one after another in one group of NCCL's."""
    torch.cuda.set_device(RANK)
    dist.init_process_group(
        init_method=f"file://{os.environ['STORE']}",
        rank=RANK,
        world_size=SIZE,
        device_id=torch.device("cuda", RANK),
    )
    assert "nccl" in dist.get_backend_config(), dist.get_backend_config()
    for program in programs.split(","):
        PROGRAMS[program](*arguments)
    dist.destroy_process_group()
    print(f"{pathlib.Path(__file__).name}: rank {RANK} ran {programs}")


if __name__ == "__main__":
    main(*sys.argv[1:])
