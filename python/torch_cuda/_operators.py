"""Kernels for CUDA tensors on devices of any vendor: its own, or the CPU's on the same memory.

They come with `lib/libtorch_cuda_operators.so` (accelerator/operators), which registers them when CUDA
is first used, and only if a device needs them. Until then nothing is loaded: importing torch stays
cheap, and a process may fork.
"""

from __future__ import annotations

import ctypes
import functools
import os
import pathlib
from collections.abc import Callable, Iterable
from typing import Any

from torch_cuda import _simulator
from torch_cuda._devices import Device

LIBRARY = "libtorch_cuda_operators.so"
_MESSAGE = 4096  # bytes


def route(package: pathlib.Path, devices: Iterable[Device] = ()) -> int:
    """Has operators served by vendors' kernels, and by the CPU's on the devices that need it.

    Asks the runtime about its devices, so CUDA has to be initialised.

    Args:
      package: folder of the installed package `torch_cuda`.
      devices: those whose operators may lie elsewhere than beside the device library.

    Returns:
      How many operators are served that way; 0 where all devices run CUDA code and no vendor has
      kernels of its own.

    Raises:
      RuntimeError: a device cannot be served, or its operators do not load; says which, and what to
        do.
      OSError: the library does not load.
    """
    if not _is_loaded(_simulator.RUNTIME) and _has_kernels():
        return 0
    library = ctypes.CDLL(str(package / "lib" / LIBRARY))
    library.torch_cuda_route_operators.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    library.torch_cuda_route_operators.restype = ctypes.c_int
    for device in devices:
        if device.operators is not None:
            library.torch_cuda_announce_operators(
                os.fsencode(device.name), os.fsencode(device.operators)
            )
    message = ctypes.create_string_buffer(_MESSAGE)
    routed = int(library.torch_cuda_route_operators(message, len(message)))
    if routed < 0:
        raise RuntimeError(message.value.decode(errors="replace"))
    if routed > 0:
        _serve_sleep(library)
    return routed


def initialise_before_graphs(graph: Any) -> None:
    """Has CUDA initialised before a graph fills tensors, so that the operator is served.

    Upstream leaves that to C++, which knows nothing of what waits for the first use of CUDA. Other
    first uses come through Python.

    Args:
      graph: `torch.cuda.CUDAGraph`, whose method is wrapped.
    """
    graph.capture_begin = _after_initialisation(graph.capture_begin)


def served_by(operator: str, device: int | None = None) -> str:
    """Who serves an operator of CUDA tensors.

    Args:
      operator: such as "aten::add.Tensor".
      device: a CUDA device's index; default: the current one.

    Returns:
      The name of a device library whose vendor has a kernel, "host" for the CPU's kernel on the same
      memory, "upstream" for PyTorch's CUDA kernel, "composite" for what is made of other operators.

    Raises:
      ValueError: PyTorch has no such operator.
    """
    import torch

    from torch_cuda import _build

    torch.cuda.init()
    index = torch.cuda.current_device() if device is None else device
    library = ctypes.CDLL(str(_build.package_folder() / "lib" / LIBRARY))
    answer = ctypes.create_string_buffer(_MESSAGE)
    if library.torch_cuda_served_by(operator.encode(), index, answer, len(answer)) != 0:
        raise ValueError(
            f"PyTorch has no operator {operator}; needed is a name like aten::add.Tensor"
        )
    return answer.value.decode()


def _after_initialisation(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method, which initialises CUDA first."""
    import torch

    @functools.wraps(method)
    def initialised(*args: Any, **kwargs: Any) -> Any:
        torch.cuda.init()
        return method(*args, **kwargs)

    return initialised


def _is_loaded(library: str) -> bool:
    try:
        ctypes.CDLL(library, mode=os.RTLD_NOLOAD)
    except OSError:
        return False
    return True


def _has_kernels() -> bool:
    """Whether the build has upstream's kernels, which --//config:ops=runtime leaves out."""
    import torch

    return torch._C._dispatch_has_kernel_for_dispatch_key("aten::empty.memory_format", "CUDA")


def _serve_sleep(library: ctypes.CDLL) -> None:
    """Has `torch.cuda._sleep`, which launches a kernel, wait in the stream instead."""
    import torch

    upstream = torch._C._cuda_sleep
    in_stream = library.torch_cuda_sleep
    in_stream.argtypes = [ctypes.c_int64]
    in_stream.restype = ctypes.c_int

    def sleep(cycles: int) -> None:
        # What is no number gets upstream's error.
        done = int(in_stream(cycles)) if isinstance(cycles, int) else 0
        if done == 0:
            upstream(cycles)
        elif done < 0:
            torch.cuda.check_error(-done)

    torch._C._cuda_sleep = sleep
