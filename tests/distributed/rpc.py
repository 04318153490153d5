"""What the processes of rpc_test.py do: RPC with device maps.

Every process sees two devices; device 0 of one is device 1 of the other.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections.abc import Callable

import torch
from torch._C._distributed_autograd import backward, get_gradients
from torch.autograd import profiler_legacy
from torch.distributed import autograd as dist_autograd
from torch.distributed import rpc

RANK = int(os.environ["RANK"])
OTHER = f"worker{1 - RANK}"
MAP: dict[int | str | torch.device, int | str | torch.device] = {0: 1, 1: 0}


def begin(with_maps: bool = True, timeout: float = 60) -> None:
    """Joins.

    Args:
      with_maps: whether the other's devices are known.
      timeout: of a call, in seconds.
    """
    options = rpc.TensorPipeRpcBackendOptions(
        init_method=f"file://{os.environ['STORE']}", rpc_timeout=timeout
    )
    if with_maps:
        options.set_device_map(OTHER, MAP)
    rpc.init_rpc(f"worker{RANK}", rank=RANK, world_size=2, rpc_backend_options=options)


def check(is_so: bool, what: object) -> None:
    """Ends the process, saying what is not so, unless it is."""
    if not is_so:
        print(f"rank {RANK}: {what}", flush=True)
        os._exit(1)


def double(x: torch.Tensor) -> tuple[torch.Tensor, str]:
    """Asked of the other: twice the tensor, and where it was."""
    return x * 2, str(x.device)


def all_doubled(batch: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Asked of the other: twice each tensor."""
    return {name: x * 2 for name, x in batch.items()}


def fail(x: torch.Tensor) -> None:
    """Asked of the other: an error that has seen the tensor."""
    raise ValueError(f"of shape {tuple(x.shape)}")


def tensors() -> None:
    """Tensors of all sizes and kinds come where the map says, and back."""
    begin()
    if RANK == 0:
        for size in (1, 1000, 5_000_003):
            for dtype in (torch.float32, torch.float64, torch.int64, torch.bfloat16, torch.bool):
                host = torch.arange(size).remainder(2).to(dtype)
                x = host.to("cuda:0")
                result, device = rpc.rpc_sync(OTHER, double, (x,))
                check(device == "cuda:1", (size, dtype, device))
                check(result.device == x.device, (size, dtype, result.device))
                check(torch.equal(result.cpu(), host * 2), (size, dtype))
        view = torch.arange(24, device="cuda:1").reshape(4, 6).t()[1:4:2]
        result, device = rpc.rpc_sync(OTHER, double, (view,))
        check((device, result.tolist()) == ("cuda:0", (view * 2).tolist()), result)
        mixed = {
            "cpu": torch.arange(3),
            "first": torch.arange(4, device="cuda:0"),
            "second": torch.arange(5, device="cuda:1"),
        }
        for name, result in rpc.rpc_sync(OTHER, all_doubled, (mixed,)).items():
            check(result.device == mixed[name].device, (name, result.device))
            check(torch.equal(result, mixed[name] * 2), name)
    rpc.shutdown()


def streams() -> None:
    """What is sent is what the current stream will have made of it, and the answer is ordered too."""
    begin()
    if RANK == 0:
        side = torch.cuda.Stream()
        for number in range(20):
            with torch.cuda.stream(side):
                x = torch.full((300_000,), float(number), device="cuda:0")
                for _ in range(20):
                    x += 1
                future = rpc.rpc_async(OTHER, double, (x,))
                result, _ = future.wait()
                total = result.sum()
            side.synchronize()
            check(total.item() == 300_000 * 2 * (number + 20), (number, total.item()))
    rpc.shutdown()


def crowd() -> None:
    """Both ask each other for much at once, from several threads' worth of futures."""
    begin()
    draw = random.Random(RANK)
    asked = []
    for number in range(200):
        size = draw.choice((1, 7, 4096, 100_000))
        x = torch.full((size,), float(number), device=f"cuda:{number % 2}")
        asked.append((x, rpc.rpc_async(OTHER, double, (x,))))
    for x, future in asked:
        result, device = future.wait()
        check(device == f"cuda:{1 - x.device.index}", device)
        check(torch.equal(result, x * 2), x.shape)
    rpc.shutdown()


def autograd() -> None:
    """Gradients find their way back over the devices of both."""
    begin()
    if RANK == 0:
        x = torch.arange(6.0, device="cuda:0", requires_grad=True)
        with dist_autograd.context() as context:
            y, _ = rpc.rpc_sync(OTHER, double, (x * x,))
            backward(context, [y.sum()])
            gradient = get_gradients(context)[x]
        check(gradient.device == x.device, gradient.device)
        check(gradient.tolist() == [4 * number for number in range(6)], gradient)
    rpc.shutdown()


def references() -> None:
    """A value that lives with the other, asked for when it is needed."""
    begin()
    if RANK == 0:
        x = torch.arange(5, device="cuda:0")
        there = rpc.remote(OTHER, torch.mul, (x, 3))
        check(there.to_here().tolist() == [0, 3, 6, 9, 12], there)
        check(there.to_here().device == x.device, there)
        again = rpc.remote(OTHER, torch.add, (x, 1)).rpc_sync().sum()
        check(again.item() == 15, again)
    rpc.shutdown()


def errors() -> None:
    """An error there is one here, and what follows works."""
    begin()
    if RANK == 0:
        x = torch.ones(3, device="cuda:0")
        for _ in range(3):
            try:
                rpc.rpc_sync(OTHER, fail, (x,))
            except ValueError as error:
                check("of shape (3,)" in str(error), error)
            else:
                check(False, "no error")
            check(rpc.rpc_sync(OTHER, double, (x,))[0].tolist() == [2, 2, 2], "after it")
    rpc.shutdown()


def unmapped() -> None:
    """Without a map, tensors of CUDA are refused and those of the CPU are sent."""
    begin(with_maps=False)
    if RANK == 0:
        check(rpc.rpc_sync(OTHER, double, (torch.ones(2),))[0].tolist() == [2, 2], "cpu")
        try:
            rpc.rpc_sync(OTHER, double, (torch.ones(2, device="cuda"),))
        except RuntimeError as error:
            check("device map" in str(error).lower() or "device_map" in str(error), error)
        else:
            check(False, "no error")
    rpc.shutdown()


def empty() -> None:
    """A tensor without elements is an error for who sends it, and not the end of who would receive it."""
    begin()
    if RANK == 0:
        try:
            rpc.rpc_sync(OTHER, double, (torch.empty(0, 3, device="cuda:0"),))
        except RuntimeError as error:
            check("without elements" in str(error), error)
        else:
            check(False, "no error")
    else:
        time.sleep(10)
    os._exit(0)


def profiled() -> None:
    """Needs torch_cuda_profiler: what the other computes for a call has its times on the other's device."""
    begin()
    if RANK == 0:
        x = torch.ones(1000, device="cuda:1")
        with profiler_legacy.profile(use_cuda=True) as profile:
            rpc.rpc_sync(OTHER, double, (x,))
        remote = [
            event
            for event in profile.function_events
            if event.is_remote and event.name.endswith("aten::mul")
        ]
        check(len(remote) == 1, [event.name for event in profile.function_events])
        (event,) = remote
        check(event.node_id == 1, event.node_id)
        check(event.device_time_total > 0, event)
        check([kernel.device for kernel in event.kernels] == [0], event.kernels)
    rpc.shutdown()


def killed() -> None:
    """Who waits for one that has died gets an error in time."""
    begin(timeout=20)
    x = torch.ones(1_000_000, device="cuda:0")
    if RANK == 1:
        time.sleep(1)
        os.kill(os.getpid(), signal.SIGKILL)
    begun = time.monotonic()
    try:
        while True:
            rpc.rpc_sync(OTHER, double, (x,))
    except RuntimeError:
        check(time.monotonic() - begun < 60, "late")
    os._exit(0)


PROGRAMS: dict[str, Callable[[], None]] = {
    program.__name__: program
    for program in (
        tensors,
        streams,
        crowd,
        autograd,
        references,
        errors,
        unmapped,
        empty,
        profiled,
        killed,
    )
}

if __name__ == "__main__":
    PROGRAMS[sys.argv[1]]()
