"""Kernels for CUDA tensors on devices of any vendor: its own, or the CPU's on the same memory.

They come with `lib/libtorch_cuda_operators.so` (router/operators), which registers them when CUDA
is first used (python/csrc/first_use.h), and only if a device needs them. Until then nothing is loaded:
importing torch stays cheap, and a process may fork.
"""

from __future__ import annotations

import ctypes
import pathlib
from collections.abc import Iterable
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch_cuda_runtime._devices import Device

LIBRARY = "libtorch_cuda_operators.so"
_MESSAGE = 4096  # bytes


def route_on_first_use(
    bindings: ModuleType, package: pathlib.Path, devices: Iterable[Device] = ()
) -> None:
    """Has operators served by vendors' kernels, and by the CPU's on the devices that need it.

    It is done when CUDA is initialised, from Python, TorchScript or C++. A device that cannot be
    served, or operators that do not load, are an error then, which says which, and what to do.

    Args:
      bindings: `torch_cuda._CUDAC`.
      package: folder of the installed package `torch_cuda`.
      devices: those whose operators may lie elsewhere than beside the device library.
    """
    bindings._torch_cuda_route_on_first_use(
        str(package / "lib" / LIBRARY),
        [
            (device.name, str(device.operators))
            for device in devices
            if device.operators is not None
        ],
    )


def serve_sleep(bindings: ModuleType, package: pathlib.Path) -> None:
    """Has `torch.cuda._sleep`, which launches a kernel, wait in the stream where operators are routed.

    Args:
      bindings: `torch_cuda._CUDAC`, with CUDA initialised.
      package: folder of the installed package `torch_cuda`.
    """
    if bindings._torch_cuda_routed_operators() > 0:
        _serve_sleep(ctypes.CDLL(str(package / "lib" / LIBRARY)))


def served_by(operator: str, device: int | None = None) -> str:
    """Who serves an operator of CUDA tensors.

    Args:
      operator: such as "aten::add.Tensor".
      device: a CUDA device's index; default: the current one.

    Returns:
      The name of a device library whose vendor has a kernel, "host" for the CPU's kernel on the same
      memory, "upstream" for PyTorch's CUDA kernel, "composite" for what is made of other operators,
      "none" for CUDA code that the device does not run.

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
        raise ValueError(f"PyTorch has no operator {operator}; needed a name like aten::add.Tensor")
    return answer.value.decode()


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
