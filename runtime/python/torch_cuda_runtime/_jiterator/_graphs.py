"""Functions of torch.cuda.jiterator in CUDA graphs: the graph gets a function of C, which needs no interpreter.

Python that waits for a replay may hold the lock of the interpreter (a copy to a torch.UntypedStorage does), so that a
replay that asked for the lock could wait for ever.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from torch_cuda_runtime import _capabilities, _libraries

if TYPE_CHECKING:
    from torch_cuda_runtime._jiterator._functions import Compiled, Number


class _Replay(ctypes.Structure):
    """`torch_cuda_prelude::Replay` of prelude.h."""

    _fields_ = (
        ("entry", ctypes.c_void_p),
        ("count", ctypes.c_longlong),
        ("at", ctypes.c_void_p),
        ("step", ctypes.c_void_p),
        ("fail", ctypes.c_void_p),
        ("device", ctypes.c_int),
        ("name", ctypes.c_char_p),
        ("faults", ctypes.POINTER(ctypes.c_char_p)),
    )


def record(
    function: Compiled,
    name: str,
    results: Sequence[torch.Tensor],
    inputs: Sequence[torch.Tensor],
    numbers: Sequence[Number],
) -> None:
    """Records a call in the graph that the current stream of the tensors' device is captured into.

    What the call needs, some hundred bytes, stays until the process ends: the graph does not say when it ends.

    Args:
        function: what is called.
        name: of the function, for messages.
        results: tensors of the device, of one layout.
        inputs: likewise, or of one element.
        numbers: the further arguments.

    Raises:
        RuntimeError: the host does not see the device's memory, or the stream does not take the call.
    """
    device = results[0].device
    has = _capabilities.of(device.index)
    if has is None or not has & _capabilities.HOST_VISIBLE:
        raise RuntimeError(
            f"torch.cuda.jiterator: {name} is called while a CUDA graph is captured on {device}, whose memory the "
            "host does not see. The host computes for a device that runs no code, and cannot do it in a graph "
            "there: call it outside of the capture"
        )
    call = function.call(
        [tensor.data_ptr() for tensor in (*results, *inputs)],
        [0 if tensor.numel() == 1 else 1 for tensor in inputs],
        numbers,
    )
    runtime = ctypes.CDLL(_libraries.RUNTIME, mode=os.RTLD_NOLOAD)
    faults = function.faults()
    replay = _Replay(
        function.entry,
        results[0].numel(),
        ctypes.addressof(call.addresses),
        ctypes.addressof(call.steps),
        ctypes.cast(runtime.accelerator_device_fail, ctypes.c_void_p),
        device.index,
        name.encode(),
        faults,
    )
    driver = ctypes.CDLL(_libraries.DRIVER, mode=os.RTLD_NOLOAD)
    status = driver.cuLaunchHostFunc(
        ctypes.c_void_p(torch.cuda.current_stream(device).cuda_stream),
        ctypes.c_void_p(function.replay),
        ctypes.byref(replay),
    )
    if status != 0:
        raise RuntimeError(
            f"torch.cuda.jiterator: {name} cannot be recorded in a CUDA graph: the driver's status is {status}"
        )
    ctypes.pythonapi.Py_IncRef(ctypes.py_object((replay, call, faults)))
