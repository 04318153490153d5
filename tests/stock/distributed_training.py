"""Programs of distributed_test: parallel training on CUDA devices, held against the same on the CPU over gloo.

python -m torch.distributed.run --nproc-per-node 4 tests/stock/distributed_training.py PROGRAM…
"""

from __future__ import annotations

import itertools
import os
import pathlib
from typing import Any, cast

# Beside this file, which is run as one; no module of the workspace.
import distributed_ranks as ranks  # type: ignore[import-not-found]
import torch
import torch.distributed as dist
from distributed_models import (  # type: ignore[import-not-found]
    STEPS,
    Block,
    Chain,
    Transformer,
    loss_of,
    tokens,
    train,
    transformer,
    whole,
)
from distributed_ranks import EXACT, HALF, RANK, SIZE, Found
from torch import Tensor, nn
from torch.distributed.checkpoint import state_dict_loader, state_dict_saver
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import (
    CPUOffloadPolicy,
    FullyShardedDataParallel,
    MixedPrecisionPolicy,
    ShardingStrategy,
    fully_shard,
)
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.distributed.tensor import (
    DTensor,
    Placement,
    Replicate,
    Shard,
    distribute_tensor,
)
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    SequenceParallel,
    loss_parallel,
    parallelize_module,
)


def data_parallel(device: str) -> Found:
    """DDP with its options: buckets, a static graph, accumulation, hooks, sharded optimizers."""
    from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook

    found: Found = {}
    ids = [RANK] if device == "cuda" else None
    choices: dict[str, dict[str, Any]] = {
        "plain": {},
        "views": {"gradient_as_bucket_view": True, "bucket_cap_mb": 0.001},
        "static": {"static_graph": True},
        "unused": {"find_unused_parameters": True, "broadcast_buffers": False},
    }
    for name, options in choices.items():
        model = nn.parallel.DistributedDataParallel(transformer(device), device_ids=ids, **options)
        found |= {f"{name} {key}": value for key, value in train(model, device, RANK).items()}
        found |= {f"{name} {key}": value for key, value in whole(model.module).items()}
    for name, hook in {
        "bf16": default_hooks.bf16_compress_hook,
        "fp16": default_hooks.fp16_compress_hook,
    }.items():
        model = nn.parallel.DistributedDataParallel(transformer(device), device_ids=ids)
        model.register_comm_hook(dist.group.WORLD, hook)
        loss_of(model, tokens(device, RANK)).backward()
        found[f"{name} gradient"] = model.module.head.weight.grad
    if device == "cuda":  # the hook synchronizes CUDA
        model = nn.parallel.DistributedDataParallel(transformer(device), device_ids=ids)
        state = powerSGD_hook.PowerSGDState(None, start_powerSGD_iter=2)
        model.register_comm_hook(state, powerSGD_hook.powerSGD_hook)
        losses = train(model, device, RANK)["losses"]
        assert losses.isfinite().all()
    model = nn.parallel.DistributedDataParallel(transformer(device), device_ids=ids)
    with model.no_sync():
        loss_of(model, tokens(device, RANK)).backward()
    loss_of(model, tokens(device, RANK + 50)).backward()
    found["accumulated"] = model.module.head.weight.grad
    model = nn.parallel.DistributedDataParallel(transformer(device), device_ids=ids)
    optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.AdamW, lr=1e-2)
    for step in range(STEPS):
        optimizer.zero_grad()
        loss_of(model, tokens(device, 10 * RANK + step)).backward()
        optimizer.step()
    found |= {f"zero {key}": value for key, value in whole(model.module).items()}
    model = nn.parallel.DistributedDataParallel(transformer(device), device_ids=ids)
    with model.join():
        for step in range(1 + RANK):
            loss_of(model, tokens(device, 10 * RANK + step)).backward()
    found["joined"] = model.module.head.weight.grad
    return found


def batch_norm(device: str) -> Found:
    """Batch norm over all ranks equals that of the whole batch in one process."""
    torch.manual_seed(0)
    # No bias: batch norm takes it out again, so that its gradient is nothing but rounding errors.
    net = nn.Sequential(nn.Conv2d(3, 6, 3, bias=False), nn.BatchNorm2d(6), nn.ReLU()).to(device)
    generator = torch.Generator().manual_seed(1)
    images = torch.randn(2 * SIZE, 3, 6, 6, generator=generator).to(device)
    if device == "cuda":
        net = nn.SyncBatchNorm.convert_sync_batchnorm(net)
        parallel = nn.parallel.DistributedDataParallel(net, device_ids=[RANK])
        out = parallel(images[2 * RANK : 2 * RANK + 2])
        (out.square().sum() * SIZE).backward()
    else:
        out = net(images)
        out.square().sum().backward()
        out = out[2 * RANK : 2 * RANK + 2]
    found = {name: value.grad for name, value in net.named_parameters()}
    found |= dict(net.named_buffers())
    return {"out": out.detach(), **{name: one for name, one in found.items() if one is not None}}


def _one_step(model: nn.Module, device: str, prefix: str) -> Found:
    """A loss and its gradients; not steps of AdamW, which make large ones of rounding errors."""
    loss = loss_of(model, tokens(device, RANK))
    loss.backward()
    found = {f"{prefix} loss": loss.detach()}
    for name, parameter in model.named_parameters():
        assert isinstance(parameter.grad, DTensor)
        found[f"{prefix} gradient of {name}"] = parameter.grad.full_tensor()
    return found


def _sharded(device: str, **options: Any) -> nn.Module:
    model = transformer(device)
    mesh = init_device_mesh(device, (SIZE,))
    for layer in model.layers:
        fully_shard(layer, mesh=mesh, **options)
    fully_shard(model, mesh=mesh, **options)
    return cast(nn.Module, model)


def fully_sharded(device: str) -> Found:
    """FSDP2 with its policies, over all ranks."""
    found: Found = {}
    policies: dict[str, dict[str, Any]] = {"plain": {}, "kept": {"reshard_after_forward": False}}
    if device == "cuda":
        policies["offloaded"] = {"offload_policy": CPUOffloadPolicy(pin_memory=True)}
    for name, options in policies.items():
        model = _sharded(device, **options)
        now = train(model, device, RANK)
        if name != "offloaded":
            now |= whole(model)
            norm = nn.utils.clip_grad_norm_(model.parameters(), 0.1)
            now["norm"] = norm.full_tensor() if isinstance(norm, DTensor) else norm
        found |= {f"{name} {key}": value for key, value in now.items()}
    if device == "cpu":
        found["offloaded losses"] = found["plain losses"]
    mixed = MixedPrecisionPolicy(torch.bfloat16, reduce_dtype=torch.float32)
    found |= _one_step(_sharded(device, mp_policy=mixed), device, HALF)
    found |= _one_step(_sharded(device), device, EXACT)
    return found


def fully_sharded_1(device: str) -> Found:
    """FSDP1 with its strategies; on the CPU data parallel training, which is the same."""
    found: Found = {}
    inner: Any
    for strategy in (
        ShardingStrategy.FULL_SHARD,
        ShardingStrategy.SHARD_GRAD_OP,
        ShardingStrategy.NO_SHARD,
    ):
        model: nn.Module = transformer(device)
        if device == "cuda":
            from torch.distributed.fsdp.wrap import ModuleWrapPolicy

            model = FullyShardedDataParallel(
                model,
                auto_wrap_policy=ModuleWrapPolicy({Block}),
                sharding_strategy=strategy,
                device_id=RANK,
                use_orig_params=True,
            )
        else:
            model = nn.parallel.DistributedDataParallel(model)
        found |= {f"{strategy} {key}": value for key, value in train(model, device, RANK).items()}
        if isinstance(model, FullyShardedDataParallel):
            with FullyShardedDataParallel.summon_full_params(model):
                inner = model.module
                found[f"{strategy} head"] = inner.head.weight.detach().clone()
        else:
            inner = model.module
            found[f"{strategy} head"] = inner.head.weight.detach().clone()
    return found


def _plan(model: Transformer, mesh: DeviceMesh) -> None:
    """Shards a transformer over a mesh as Megatron does, with the sequence sharded between."""
    parallelize_module(
        model,
        mesh,
        {
            "embedding": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1)),
            "head": ColwiseParallel(
                input_layouts=Shard(1), output_layouts=Shard(-1), use_local_output=False
            ),
        },
    )
    for layer in model.layers:
        assert isinstance(layer, Block)
        parallelize_module(
            layer,
            mesh,
            {
                "norm": SequenceParallel(),
                "norm2": SequenceParallel(),
                **{name: ColwiseParallel(input_layouts=Shard(1)) for name in ("q", "k", "v", "up")},
                "output": RowwiseParallel(output_layouts=Shard(1)),
                "down": RowwiseParallel(output_layouts=Shard(1)),
            },
        )


def tensor_parallel(device: str) -> Found:
    """A transformer over all ranks, its sequence and its loss sharded, too."""
    model = transformer(device)
    _plan(model, init_device_mesh(device, (SIZE,)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    for step in range(STEPS):
        batch = tokens(device, step)
        with loss_parallel():
            out = model(batch).flatten(0, 1)
            loss = nn.functional.cross_entropy(out, batch.flatten())
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        assert isinstance(loss, DTensor)
        losses.append(loss.full_tensor().detach())
    return {"losses": torch.stack(losses), **whole(model)}


def two_dimensions(device: str) -> Found:
    """FSDP2 over one dimension of a mesh, tensor parallel over the other; and replicas of shards."""
    mesh = init_device_mesh(device, (2, SIZE // 2), mesh_dim_names=("data", "tensor"))
    model = transformer(device)
    _plan(model, mesh["tensor"])
    model.head.register_forward_hook(lambda _m, _i, out: out.full_tensor())
    for layer in model.layers:
        fully_shard(layer, mesh=mesh["data"])
    fully_shard(model, mesh=mesh["data"])
    found = train(model, device, mesh.get_local_rank("data")) | whole(model)
    replicas = transformer(device)
    both = init_device_mesh(device, (2, SIZE // 2), mesh_dim_names=("replica", "shard"))
    fully_shard(replicas, mesh=both)
    again = train(replicas, device, RANK) | whole(replicas)
    return found | {f"replicas {key}": value for key, value in again.items()}


def placements(device: str) -> Found:
    """DTensor: products, sums and moves of every placement, of sizes that do not divide."""
    found: Found = {}
    mesh = init_device_mesh(device, (2, SIZE // 2) if SIZE > 2 else (SIZE,))
    generator = torch.Generator().manual_seed(2)
    left = torch.randn(7, 10, generator=generator).to(device)
    right = torch.randn(10, 5, generator=generator).to(device)
    kinds: list[Placement] = [Replicate(), Shard(0), Shard(1)]
    for choice in itertools.product(kinds, repeat=mesh.ndim):
        a = distribute_tensor(left, mesh, list(choice))
        b = distribute_tensor(right, mesh, list(reversed(choice)))
        for name, one in {
            "product": a @ b,
            "sum": a.sum(),
            "mean": a.mean(0),
            "largest": a.amax(1),
            "softmax": a.softmax(-1),
            "moved": a.redistribute(mesh, [Shard(1)] * mesh.ndim),
            "both": torch.cat([a, a], 0),
        }.items():
            assert isinstance(one, DTensor)
            found[f"{name} {choice}"] = one.full_tensor()
    return found


class Stage(nn.Module):
    """Some of the layers of a perceptron."""

    def __init__(self, index: int, count: int) -> None:
        super().__init__()
        torch.manual_seed(0)
        layers = [nn.Sequential(nn.Linear(16, 16), nn.Tanh()) for _ in range(8)]
        self.layers = nn.Sequential(*layers[index * 8 // count : (index + 1) * 8 // count])

    def forward(self, x: Tensor) -> Tensor:
        """Of [batch, 16]."""
        result: Tensor = self.layers(x)
        return result


def pipeline(device: str) -> Found:
    """Schedules of torch.distributed.pipelining, with one and two stages a rank; one process is the same."""
    from torch.distributed import pipelining

    generator = torch.Generator().manual_seed(3)
    batch = torch.randn(16, 16, generator=generator).to(device)
    target = torch.randn(16, 16, generator=generator).to(device)
    schedules: dict[str, tuple[Any, int]] = {
        "GPipe": (pipelining.ScheduleGPipe, 1),
        "1F1B": (pipelining.Schedule1F1B, 1),
        "Interleaved1F1B": (pipelining.ScheduleInterleaved1F1B, 2),
        "LoopedBFS": (pipelining.ScheduleLoopedBFS, 2),
        "InterleavedZeroBubble": (pipelining.ScheduleInterleavedZeroBubble, 2),
    }
    found: Found = {}
    for name, (schedule, per_rank) in schedules.items():
        count = SIZE * per_rank
        mine = [RANK + SIZE * i for i in range(per_rank)]
        modules = [Stage(index, count).to(device) for index in mine]
        losses: list[Tensor] = []
        if device == "cuda":
            stages = [
                pipelining.PipelineStage(module, index, count, torch.device(device, RANK))
                for module, index in zip(modules, mine, strict=True)
            ]
            runner = schedule(
                stages if per_rank > 1 else stages[0], 8, loss_fn=nn.functional.mse_loss
            )
            given = (batch,) if RANK == 0 else ()
            if mine[-1] == count - 1:
                runner.step(*given, target=target, losses=losses)
            else:
                runner.step(*given)
        else:
            all_stages = [Stage(index, count) for index in range(count)]
            for part, wanted in zip(batch.chunk(8), target.chunk(8), strict=True):
                for stage in all_stages:
                    part = stage(part)
                losses.append(nn.functional.mse_loss(part, wanted))
                (losses[-1] / 8).backward()
            modules = [all_stages[index] for index in mine]
            losses = losses if mine[-1] == count - 1 else []
        for index, module in zip(mine, modules, strict=True):
            for key, value in module.named_parameters():
                assert value.grad is not None
                found[f"{name} {index} {key}"] = value.grad
        if losses:
            found[f"{name} losses"] = torch.stack([loss.detach() for loss in losses])
    return found


def traced_pipeline(device: str) -> Found:
    """A model that torch.distributed.pipelining cuts by itself."""
    from torch.distributed.pipelining import ScheduleGPipe, SplitPoint
    from torch.distributed.pipelining import pipeline as cut

    torch.manual_seed(0)
    model = Chain(SIZE).to(device)
    x = torch.randn(8, 16, generator=torch.Generator().manual_seed(3)).to(device)
    expected = model(x).detach()
    if device == "cpu":
        return {"out": expected}
    points = {f"layer{index}": SplitPoint.BEGINNING for index in range(1, SIZE)}
    pipe = cut(model, mb_args=(x.chunk(4)[0],), split_spec=points)
    stage = pipe.build_stage(RANK, torch.device(device, RANK))
    schedule = ScheduleGPipe(stage, 4)
    out = schedule.step(*((x,) if RANK == 0 else ()))
    return {"out": expected if out is None else out.detach()}


def _save(device: str, folder: pathlib.Path) -> None:
    """A model and its optimizer, sharded over all ranks, after a step."""
    from torch.distributed.checkpoint.state_dict import get_state_dict

    model = transformer(device)
    fully_shard(model, mesh=init_device_mesh(device, (SIZE,)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    loss_of(model, tokens(device)).backward()
    optimizer.step()
    states, optimizer_states = get_state_dict(model, optimizer)
    state = {"model": states, "optimizer": optimizer_states}
    state_dict_saver.save(state, checkpoint_id=folder / "saved")
    state_dict_saver.async_save(state, checkpoint_id=folder / "meanwhile").result()


def checkpoints(device: str) -> Found:
    """Saved and loaded again, sharded in another way; FOLDER in the environment is the ranks' own."""
    from torch.distributed.checkpoint.state_dict import (
        StateDictOptions,
        get_model_state_dict,
        get_state_dict,
        set_state_dict,
    )

    folder = pathlib.Path(os.environ["FOLDER"]) / device
    _save(device, folder)
    found: Found = {}
    for saved in ("saved", "meanwhile"):
        model = transformer(device)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.zero_()
        mesh = init_device_mesh(device, (2, SIZE // 2), mesh_dim_names=("replica", "shard"))
        fully_shard(model, mesh=mesh)
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
        states, optimizer_states = get_state_dict(model, optimizer)
        state = {"model": states, "optimizer": optimizer_states}
        state_dict_loader.load(state, checkpoint_id=folder / saved)
        set_state_dict(model, optimizer, model_state_dict=states, optim_state_dict=optimizer_states)
        loss_of(model, tokens(device, 1)).backward()
        optimizer.step()
        options = StateDictOptions(full_state_dict=True, cpu_offload=device == "cuda")
        full = get_model_state_dict(model, options=options)
        found |= {f"{saved} {key}": value for key, value in whole(model).items()}
        if RANK == 0:
            found[f"{saved} full head"] = full["head.weight"]
    return found


def compiled(device: str) -> Found:
    """DDP and FSDP2 below torch.compile with the eager backend: graphs, not kernels, are what is tried."""
    model = nn.parallel.DistributedDataParallel(
        transformer(device), device_ids=[RANK] if device == "cuda" else None
    )
    found = train(cast(nn.Module, torch.compile(model, backend="aot_eager")), device, RANK)
    sharded = transformer(device)
    fully_shard(sharded, mesh=init_device_mesh(device, (SIZE,)))
    again = train(cast(nn.Module, torch.compile(sharded, backend="aot_eager")), device, RANK)
    return found | {f"sharded {key}": value for key, value in again.items()}


if __name__ == "__main__":
    ranks.main(
        data_parallel,
        batch_norm,
        fully_sharded,
        fully_sharded_1,
        tensor_parallel,
        two_dimensions,
        placements,
        pipeline,
        traced_pipeline,
        checkpoints,
        compiled,
        # A mesh of torch 2.9 splits a group that is bound, which it cannot where gloo is part of it.
        bound=not torch.__version__.startswith("2.9."),
    )
