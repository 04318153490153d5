"""What devices can do, as our runtime says it."""

from __future__ import annotations

import ctypes
import functools
import os

from torch_cuda_runtime import _libraries

# Of device/abi/device_api.h.
HOST_VISIBLE = 1 << 0  # ACCEL_CAP_HOST_VISIBLE
VIRTUAL = 1 << 8  # ACCEL_CAP_VIRTUAL
CODE = 1 << 10  # ACCEL_CAP_CODE


def of(device: int) -> int | None:
    """The capabilities of a device.

    Args:
        device: its index, as the program counts.

    Returns:
        Bits, or None where the process has NVIDIA's runtime, or ours says nothing.
    """
    try:
        runtime = ctypes.CDLL(_libraries.RUNTIME, mode=os.RTLD_NOLOAD)
    except OSError:
        return None
    has = ctypes.c_uint64()
    asked = runtime.accelerator_device_capabilities(device, ctypes.byref(has))
    return has.value if asked == 0 else None


@functools.cache
def runs_code(device: int) -> bool:
    """Whether a device runs code, which the router asks, too (router/operators/dispatch/devices.h).

    Args:
        device: its index.
    """
    has = of(device)
    return has is None or bool(has & CODE)
