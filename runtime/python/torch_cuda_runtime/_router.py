"""Starts the router of a stock torch: its operators, served on devices that do not run torch's kernels.

The router is router/operators, compiled against the headers of one minor version of torch. It
looks at the devices, so it starts when CUDA is first used: a process may fork until then.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.machinery
import os
import pathlib
from collections.abc import Callable, Iterable
from typing import Any

from torch_cuda_runtime._devices import Device

_MESSAGE = 4096  # bytes


def route(router: pathlib.Path, devices: Iterable[Device]) -> int:
    """Has operators served by vendors' kernels, and by the CPU's on the devices that need it.

    Args:
        router: path of the library.
        devices: those whose operators may lie elsewhere than beside the device library.

    Returns:
        How many operators are routed.

    Raises:
        RuntimeError: a device cannot be served, or the library does not load.
    """
    library = _load(router)
    for device in devices:
        if device.operators is not None:
            library.torch_cuda_announce_operators(
                os.fsencode(device.name), os.fsencode(device.operators)
            )
    count = _call(library.torch_cuda_route_operators)
    if count > 0:
        _serve_sleep(library)
        _serve_later_libraries(library)
        _leave_programs_unfused()
    return count


def served_by(router: pathlib.Path, operator: str, device: int | None = None) -> str:
    """Who serves an operator of CUDA tensors (`torch_cuda_runtime.served_by`).

    Args:
        router: path of the library.
        operator: such as "aten::add.Tensor".
        device: a CUDA device's index; None: the current one.

    Raises:
        ValueError: PyTorch has no such operator.
    """
    import torch

    torch.cuda.init()
    index = torch.cuda.current_device() if device is None else device
    answer = ctypes.create_string_buffer(_MESSAGE)
    if _load(router).torch_cuda_served_by(operator.encode(), index, answer, len(answer)) != 0:
        raise ValueError(f"PyTorch has no operator {operator}; needed a name like aten::add.Tensor")
    return answer.value.decode()


def _call(function: Any) -> int:
    """Calls one of the router's functions, which returns a number, or writes why it has none."""
    message = ctypes.create_string_buffer(_MESSAGE)
    function.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    function.restype = ctypes.c_int
    count = int(function(message, len(message)))
    if count < 0:
        raise RuntimeError(message.value.decode(errors="replace"))
    return count


def _load(router: pathlib.Path) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(str(router), mode=os.RTLD_NOW)
    except OSError as error:
        raise RuntimeError(
            f"torch_cuda_runtime: the kernels for this torch do not load: {error}. Needed is an "
            "undamaged wheel, and a torch from PyPI: python -m torch_cuda_runtime doctor says what "
            "was found"
        ) from error


def _leave_programs_unfused() -> None:
    """Has TorchScript call operators: its fuser makes kernels with NVRTC, which not every device runs."""
    import torch

    torch._C._jit_override_can_fuse_on_gpu(False)


def _serve_later_libraries(library: ctypes.CDLL) -> None:
    """Has the operators of libraries served that come from now on, before anybody calls them.

    A library may come by `torch.ops.load_library`, as an extension module, by ctypes, or behind Python's
    back; then its operators are looked at when Python asks for the first of a name by `torch.ops`.
    """
    import torch
    import torch._ops

    def route_new() -> None:
        _call(library.torch_cuda_route_new_operators)

    operators: Any = torch.ops
    operators.load_library = _followed_by(route_new, operators.load_library)
    loader: Any = importlib.machinery.ExtensionFileLoader
    loader.create_module = _followed_by(route_new, loader.create_module)
    dynamic: Any = ctypes.CDLL
    dynamic.__init__ = _followed_by(route_new, dynamic.__init__)

    namespace: Any = torch._ops._OpNamespace
    upstream = namespace.__getattr__

    @functools.wraps(upstream)
    def look_up(self: Any, name: str) -> Any:
        route_new()
        return upstream(self, name)

    namespace.__getattr__ = look_up


def _followed_by(after: Callable[[], None], function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that calls another one when it has returned."""

    @functools.wraps(function)
    def both(*arguments: Any, **named: Any) -> Any:
        result = function(*arguments, **named)
        after()
        return result

    return both


def _serve_sleep(library: ctypes.CDLL) -> None:
    """Has `torch.cuda._sleep`, which launches a kernel, wait in the stream instead."""
    import torch

    upstream: Any = torch._C._cuda_sleep
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
