"""Programs of distributed_test: collectives in NCCL's groups on CUDA devices, held against gloo's on the CPU.

    python -m torch.distributed.run --nproc-per-node 2 tests/stock/distributed_collectives.py PROGRAM…

A program computes with tensors of a device and gives what it found by name: see distributed_ranks.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# Beside this file, which is run as one; no module of the workspace.
import distributed_ranks as ranks  # type: ignore[import-not-found]
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
from distributed_ranks import RANK, SIZE, Found
from torch import Tensor
from torch._C._distributed_c10d import _make_nccl_premul_sum
from torch.distributed.distributed_c10d import _coalescing_manager

_NUMBERS = (
    torch.float32,
    torch.float64,
    torch.float16,
    torch.bfloat16,
    torch.int64,
    torch.int32,
    torch.int8,
    torch.uint8,
)


def values(count: int, device: str, dtype: torch.dtype = torch.float32, seed: int = 0) -> Tensor:
    """Small whole numbers, other ones on each rank."""
    generator = torch.Generator().manual_seed(1000 * seed + RANK)
    return torch.randint(0, 4, (count,), generator=generator).to(dtype).to(device)


def types(device: str) -> Found:
    """Types and operations of an all-reduce, and types that are only moved."""
    found: Found = {}
    operations = (dist.ReduceOp.SUM, dist.ReduceOp.MIN, dist.ReduceOp.MAX, dist.ReduceOp.PRODUCT)
    for dtype in _NUMBERS:
        for operation in operations:
            for count in (1, 5, 4097):
                one = values(count, device, dtype)
                dist.all_reduce(one, operation)
                found[f"{dtype} {operation} {count}"] = one
    moved = (torch.bool, torch.complex64, torch.complex128, torch.float8_e4m3fn, torch.float8_e5m2)
    for dtype in moved:
        one = values(9, device, dtype)
        as_bytes = one.view(torch.uint8) if dtype.itemsize == 1 and device == "cpu" else one
        whole = as_bytes.new_empty(9 * SIZE)
        dist.all_gather_into_tensor(whole, as_bytes)
        found[f"{dtype} gathered"] = whole.view(dtype).to(torch.complex128)
        dist.broadcast(as_bytes, SIZE - 1)
        found[f"{dtype} broadcast"] = as_bytes.view(dtype).to(torch.complex128)
    number = torch.complex(values(9, device), values(9, device, seed=1))
    dist.all_reduce(number)
    found["complex sum"] = number
    return found


def uneven(device: str) -> Found:
    """Parts of other sizes on each rank, empty ones among them."""
    found: Found = {}
    sizes = [(3 * rank) % 5 for rank in range(SIZE)]
    parts = [torch.empty(size, device=device) for size in sizes]
    if device == "cuda":
        dist.all_gather(parts, values(sizes[RANK], device))
    else:
        for rank, part in enumerate(parts):
            if rank == RANK:
                part.copy_(values(sizes[RANK], device))
            dist.broadcast(part, rank)
    found["gathered"] = torch.cat(parts)
    sends = [(RANK + other) % 4 for other in range(SIZE)]
    receives = [(RANK + other) % 4 for other in range(SIZE)]
    got = torch.empty(sum(receives), 3, device=device)
    dist.all_to_all_single(got, values(3 * sum(sends), device).view(-1, 3), receives, sends)
    found["exchanged"] = got
    if device == "cuda":
        pieces = [torch.empty(size, 3, device=device) for size in receives]
        given = list(values(3 * sum(sends), device).view(-1, 3).split(sends))
        dist.all_to_all(pieces, given)
        found["exchanged as a list"] = torch.cat(pieces)
        out = torch.empty(sizes[RANK], device=device)
        dist.reduce_scatter(out, [values(size, device, seed=7) for size in sizes])
        found["scattered sums"] = out
    else:
        found["exchanged as a list"] = got.clone()
        sums = [values(size, device, seed=7) for size in sizes]
        for one in sums:
            dist.all_reduce(one)
        found["scattered sums"] = sums[RANK]
    return found


def coalesced(device: str) -> Found:
    """Several collectives as one, and several at a time."""
    found: Found = {}
    many = [values(10 * i + 1, device, seed=i) for i in range(5)]
    if device == "cuda":
        with _coalescing_manager(device=torch.device(device), async_ops=True) as waits:
            for one in many:
                dist.all_reduce(one)
        waits.wait()
    else:
        for one in many:
            dist.all_reduce(one)
    found["reduced"] = torch.cat(many)
    works = [dist.all_reduce(one, async_op=True) for one in many]
    for work in reversed(works):
        work.wait()
    found["reduced again"] = torch.cat(many)
    wholes = [torch.empty(SIZE * 7, device=device) for _ in range(3)]
    scattered = [torch.empty(7, device=device) for _ in range(3)]
    if device == "cuda":
        with _coalescing_manager(device=torch.device(device)):
            for i, whole in enumerate(wholes):
                dist.all_gather_into_tensor(whole, values(7, device, seed=i))
        with _coalescing_manager(device=torch.device(device)):
            for whole, one in zip(wholes, scattered, strict=True):
                dist.reduce_scatter_tensor(one, whole)
    else:
        for i, whole in enumerate(wholes):
            dist.all_gather_into_tensor(whole, values(7, device, seed=i))
            scattered[i].copy_(whole.view(SIZE, 7)[RANK] * SIZE)
    found["gathered"] = torch.cat(wholes)
    found["scattered"] = torch.cat(scattered)
    return found


def messages(device: str) -> Found:
    """Sends and receives, one after another and in batches, in a ring and from each to each."""
    found: Found = {}
    after, before = (RANK + 1) % SIZE, (RANK - 1) % SIZE
    got = torch.empty(100_000, device=device)
    first, second = (dist.send, dist.recv) if RANK % 2 == 0 else (dist.recv, dist.send)
    for call in (first, second):
        if call is dist.send:
            dist.send(values(100_000, device), after)
        else:
            dist.recv(got, before)
    found["ring"] = got
    all_got = [torch.empty(17 + rank, device=device) for rank in range(SIZE)]
    batch = [
        operation
        for other in range(SIZE)
        if other != RANK
        for operation in (
            dist.P2POp(dist.isend, values(17 + RANK, device, seed=other), other),
            dist.P2POp(dist.irecv, all_got[other], other),
        )
    ]
    for work in dist.batch_isend_irecv(batch):
        work.wait()
    all_got[RANK].zero_()
    found["each to each"] = torch.cat(all_got)
    return found


def objects(device: str) -> Found:
    """Python objects, which travel as bytes on the group's device."""
    del device
    gathered: list[Any] = [None] * SIZE
    dist.all_gather_object(gathered, {"rank": RANK, "text": "x" * (100 * RANK)})
    assert gathered == [{"rank": rank, "text": "x" * (100 * rank)} for rank in range(SIZE)]
    given = [f"from the last, {i}" if RANK == SIZE - 1 else None for i in range(3)]
    dist.broadcast_object_list(given, SIZE - 1)
    assert given == [f"from the last, {i}" for i in range(3)]
    mine: list[Any] = [None]
    dist.scatter_object_list(mine, [10 * rank for rank in range(SIZE)] if RANK == 0 else None, 0)
    assert mine == [10 * RANK]
    return {"objects": torch.tensor(float(SIZE))}


def functions(device: str) -> Found:
    """Functional collectives, their gradients among them."""
    found: Found = {}
    group = dist.group.WORLD
    assert group is not None
    one = values(6 * SIZE, device)
    found["all_reduce"] = functional.all_reduce(one, "sum", group) + 0
    found["all_gather"] = functional.all_gather_tensor(one, 0, group) + 0
    found["reduce_scatter"] = functional.reduce_scatter_tensor(one, "sum", 0, group) + 0
    x = values(6 * SIZE, device).requires_grad_()
    y = functional.all_to_all_single_autograd(x, None, None, group)
    ((y + 0) * (RANK + 1)).sum().backward()
    assert x.grad is not None
    found["exchanged"], found["gradient"] = y.detach() + 0, x.grad
    return found


def groups(device: str) -> Found:
    """Groups of some ranks: made by their ranks, in equal parts, one in another."""
    found: Found = {}
    some = dist.new_group(list(range(1, SIZE)))
    if RANK >= 1:
        one = values(8, device)
        dist.all_reduce(one, group=some)
        found["all but the first"] = one
    mine, _ = dist.new_subgroups(SIZE // 2)
    one = values(8, device)
    dist.all_reduce(one, group=mine)
    found["halves"] = one
    alone = dist.new_group([RANK], use_local_synchronization=True)
    one = values(8, device)
    dist.all_reduce(one, group=alone)
    found["alone"] = one
    return found


def splits(device: str) -> Found:
    """Communicators that NCCL splits; gloo makes new groups."""
    parts = [list(range(SIZE // 2)), list(range(SIZE // 2, SIZE))]
    if device == "cuda":
        # torch 2.9 cannot split a group that gloo is part of.
        whole = dist.new_group(backend="nccl", device_id=torch.device("cuda", RANK))
        mine = dist.split_group(whole, split_ranks=parts)
    else:
        mine = [dist.new_group(part, backend="gloo") for part in parts][RANK >= SIZE // 2]
    one = values(8, device)
    dist.all_reduce(one, group=mine)
    return {"split": one}


def graphs(device: str) -> Found:
    """A collective in a CUDA graph, replayed."""
    one = torch.full((5,), float(RANK + 1), device=device)
    if device == "cpu":
        for _ in range(3):
            dist.all_reduce(one)
            one.div_(2)
        return {"replayed": one}
    dist.all_reduce(one.clone())
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        dist.all_reduce(one)
        one.div_(2)
    for _ in range(3):
        graph.replay()
    torch.cuda.synchronize()
    return {"replayed": one}


def means(device: str) -> Found:
    """Means and sums with a factor, which gloo has none of."""
    one, two = values(33, device), values(33, device)
    if device == "cuda":
        dist.all_reduce(one, dist.ReduceOp.AVG)
        dist.all_reduce(two, _make_nccl_premul_sum(0.5))
    else:
        dist.all_reduce(one)
        dist.all_reduce(two)
        one, two = one / SIZE, two / 2
    return {"mean": one, "half of the sum": two}


def refusals(device: str) -> Found:
    """What NCCL has none of says so, and the group works on."""
    one = torch.ones(4, device=device)
    if device == "cuda":
        refused: dict[str, Callable[[], object]] = {
            "8-bit floats are not added before sm_90": lambda: dist.all_reduce(
                one.to(torch.float8_e4m3fn)
            ),
            "bits": lambda: dist.all_reduce(one.int(), dist.ReduceOp.BAND),
            "strides": lambda: dist.all_reduce(torch.ones(4, 4, device=device)[:, :2]),
            "quantized numbers": lambda: dist.all_reduce(
                torch.quantize_per_tensor(torch.ones(4), 1.0, 0, torch.qint8).cuda()
            ),
        }
        for what, call in refused.items():
            try:
                call()
            except (RuntimeError, ValueError) as error:
                assert str(error).strip(), what
            else:
                raise AssertionError(f"took {what}")
    dist.all_reduce(one)
    return {"sum": one}


if __name__ == "__main__":
    ranks.main(
        types,
        uneven,
        coalesced,
        messages,
        objects,
        functions,
        groups,
        splits,
        graphs,
        means,
        refusals,
    )
