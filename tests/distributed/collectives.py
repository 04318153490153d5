"""Programs of collectives_test, one process of several: NCCL's answers against gloo's.

    collectives.py PROGRAM

Each rank computes with a group of NCCL on its own device and with one of gloo on the CPU.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist

Tensors = list[torch.Tensor]
Call = Callable[[Tensors, Any], None]

RANK, SIZE = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
INTEGERS = (torch.int64, torch.int32, torch.int8, torch.uint8)
SUM, MAX, MIN = dist.ReduceOp.SUM, dist.ReduceOp.MAX, dist.ReduceOp.MIN


class Both:
    """The same call on both groups; `check` compares what they left in their tensors."""

    def __init__(self, ranks: list[int] | None = None) -> None:
        self.nccl = dist.new_group(ranks, backend="nccl")
        self.gloo = dist.new_group(ranks, backend="gloo")
        self.checked = 0

    def check(self, call: Call, *tensors: torch.Tensor) -> None:
        """Calls with copies of `tensors` on the CPU and on the device, which have to end equal."""
        expected = [tensor.clone() for tensor in tensors]
        actual = [tensor.clone().cuda() for tensor in tensors]
        call(expected, self.gloo)
        call(actual, self.nccl)
        for one, other in zip(actual, expected, strict=True):
            # Sums may be added up in another order.
            if one.is_floating_point():
                torch.testing.assert_close(one.cpu(), other)
            else:
                assert torch.equal(one.cpu(), other)
        self.checked += 1


def values(count: int, dtype: torch.dtype, seed: int = 0) -> torch.Tensor:
    """Small numbers, other ones on each rank."""
    generator = torch.Generator().manual_seed(1000 * seed + RANK)
    return torch.randint(0, 5, (count,), generator=generator).to(dtype)


def every_collective() -> None:
    """Each collective, at several sizes (zero among them) and of several types."""
    both = Both()
    last = SIZE - 1
    for dtype in FLOATS + INTEGERS:
        for count in (0, 1, 7, 1025):
            one = values(count, dtype)
            whole = torch.cat([one] * SIZE)
            operations = (SUM, MAX, MIN) if dtype is torch.float32 else (SUM,)
            for operation in operations:
                both.check(_all_reduce(operation), one)
            both.check(_broadcast(last), one)
            both.check(_all_gather, one, *_blank(one))
            both.check(_gather_into, one, whole)
            both.check(_scatter_sum, whole, one)
            both.check(_exchange, whole, whole)
    everything_else(both)
    report(both.checked)


def everything_else(both: Both) -> None:
    """What is neither a matter of types nor of sizes."""
    one = values(33, torch.float32)
    last = SIZE - 1

    def reduce(tensors: Tensors, group: Any) -> None:
        dist.reduce(tensors[0], last, SUM, group)
        if last != RANK:
            # What other ranks find there is nobody's promise.
            tensors[0].zero_()

    both.check(reduce, one)
    both.check(_gather, one, *_blank(one))
    both.check(_scatter, one, *[one + rank for rank in range(SIZE)])
    both.check(_ring, one, one)
    both.check(_ring_in_a_batch, one, one)
    both.check(_overlapping, *[values(100, torch.float32, s) for s in range(6)])
    both.check(_all_reduce(dist.ReduceOp.PRODUCT), one)
    for group in (both.nccl, both.gloo):
        found: list[Any] = [None] * SIZE
        dist.all_gather_object(found, {"rank": RANK, "text": "x" * RANK}, group=group)
        assert found == [{"rank": rank, "text": "x" * rank} for rank in range(SIZE)], found
    mean = one.cuda()
    dist.all_reduce(mean, dist.ReduceOp.AVG, both.nccl)
    total = one.clone()
    dist.all_reduce(total, SUM, both.gloo)
    torch.testing.assert_close(mean.cpu(), total / SIZE)
    dist.barrier(both.nccl, device_ids=[RANK])


def groups_of_some() -> None:
    """Groups that not every rank belongs to, used in turns with that of all."""
    everybody = Both()
    ranks = list(range(1, SIZE))
    some = Both(ranks)
    for number in range(4):
        one = values(10 + number, torch.float32, number)
        everybody.check(_all_reduce(SUM), one)
        if RANK in ranks:
            some.check(_all_reduce(SUM), one)
    report(everybody.checked + some.checked)


def random_sequence() -> None:
    """Collectives in a random order, of random sizes and types, some in a group that not all belong to.

    COLLECTIVES in the environment says how many (default: 150), SEED which.
    """
    ranks = list(range(1, SIZE))
    everybody, some = Both(), Both(ranks)
    choose = random.Random(int(os.environ.get("SEED", "7")))
    for number in range(int(os.environ.get("COLLECTIVES", "150"))):
        count = choose.choice((0, 1, choose.randrange(3000), choose.randrange(100_000)))
        one = values(count, choose.choice(FLOATS + INTEGERS), number)
        whole, operation = torch.cat([one] * SIZE), choose.choice((SUM, MAX, MIN))
        in_all, in_some = choose.randrange(SIZE), choose.choice(ranks)
        call, tensors = choose.choice(
            (
                (_all_reduce(operation), [one]),
                (_broadcast(in_all), [one]),
                (_all_gather, [one, *_blank(one)]),
                (_gather_into, [one, whole]),
                (_scatter_sum, [whole, one]),
                (_exchange, [whole, whole]),
                (_gather, [one, *_blank(one)]),
                (_ring, [one, one]),
                (_ring_in_a_batch, [one, one]),
                (_overlapping, [one, one + one, one]),
            )
        )
        if choose.random() < 0.3:
            if RANK in ranks:
                few = (_all_reduce(operation), _broadcast(in_some))
                some.check(few[number % 2], one)
        else:
            everybody.check(call, *tensors)
    report(everybody.checked + some.checked)


def _all_reduce(operation: Any) -> Call:
    return lambda tensors, group: _done(dist.all_reduce(tensors[0], operation, group))


def _broadcast(root: int) -> Call:
    return lambda tensors, group: _done(dist.broadcast(tensors[0], root, group))


def _all_gather(tensors: Tensors, group: Any) -> None:
    dist.all_gather(tensors[1:], tensors[0], group)


def _done(work: Any) -> None:
    assert work is None


def _blank(one: torch.Tensor) -> Tensors:
    return [torch.zeros_like(one) for _ in range(SIZE)]


def _gather_into(tensors: Tensors, group: Any) -> None:
    one, whole = tensors
    if group.name() == "gloo":
        dist.all_gather(list(whole.chunk(SIZE)) if len(one) else [one] * SIZE, one, group)
    else:
        dist.all_gather_into_tensor(whole, one, group)


def _scatter_sum(tensors: Tensors, group: Any) -> None:
    whole, one = tensors
    if group.name() == "gloo":
        # It has no reduce-scatter.
        total = whole.clone()
        dist.all_reduce(total, SUM, group)
        one.copy_(total[RANK * len(one) : (RANK + 1) * len(one)])
    else:
        dist.reduce_scatter_tensor(one, whole, SUM, group)


def _exchange(tensors: Tensors, group: Any) -> None:
    dist.all_to_all_single(tensors[1], tensors[0].clone(), group=group)


def _gather(tensors: Tensors, group: Any) -> None:
    dist.gather(tensors[0], tensors[1:] if RANK == 0 else None, 0, group)


def _scatter(tensors: Tensors, group: Any) -> None:
    dist.scatter(tensors[0], tensors[1:] if RANK == SIZE - 1 else None, SIZE - 1, group)


def _ring(tensors: Tensors, group: Any) -> None:
    to, of = (RANK + 1) % SIZE, (RANK - 1) % SIZE
    if RANK % 2 == 0 and RANK + 1 < SIZE or SIZE == 1:
        dist.send(tensors[0], to, group)
        dist.recv(tensors[1], of, group)
    elif RANK % 2 == 1:
        dist.recv(tensors[1], of, group)
        dist.send(tensors[0], to, group)
    else:
        # The last of an odd number: the first sends only once it has been received from.
        dist.recv(tensors[1], of, group)
        dist.send(tensors[0], to, group)


def _ring_in_a_batch(tensors: Tensors, group: Any) -> None:
    works = dist.batch_isend_irecv(
        [
            dist.P2POp(dist.isend, tensors[0], (RANK + 1) % SIZE, group),
            dist.P2POp(dist.irecv, tensors[1], (RANK - 1) % SIZE, group),
        ]
    )
    for work in works:
        work.wait()


def _overlapping(tensors: Tensors, group: Any) -> None:
    works = [dist.all_reduce(tensor, SUM, group, async_op=True) for tensor in tensors]
    for work in reversed(works):
        assert work is not None
        work.wait()


def report(checked: int) -> None:
    """Tells the test how much was compared."""
    print(f"rank {RANK} compared {checked}")


def main(program: str) -> None:
    """Runs a program in a group of all ranks."""
    torch.cuda.set_device(RANK)
    dist.init_process_group(
        "cpu:gloo,cuda:nccl",
        init_method=f"file://{os.environ['STORE']}",
        rank=RANK,
        world_size=SIZE,
    )
    {
        "every_collective": every_collective,
        "groups_of_some": groups_of_some,
        "random_sequence": random_sequence,
    }[program]()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
