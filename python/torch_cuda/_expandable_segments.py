"""Expandable segments: left off, with a warning, where a device has no virtual memory.

Programs ask for them in `PYTORCH_CUDA_ALLOC_CONF`, so as to need less memory, and run without them as
well. Upstream leaves them off on platforms that have none; here it is the devices that may have none.
"""

from __future__ import annotations

import ctypes
import os
import re
import warnings

from torch_cuda import _runtime

_SETTER = "_cuda_cudaCachingAllocator_set_allocator_settings"
_VIRTUAL = 1 << 8  # ACCEL_CAP_VIRTUAL of device/abi/device_api.h
_ASKED = re.compile(r"(expandable_segments\s*:\s*)True")


def leave_off_without_virtual_memory() -> None:
    """Takes expandable segments out of the allocator's settings, those of now and all that follow.

    Does nothing on NVIDIA's runtime, and where all devices have virtual memory. CUDA has to be
    initialised.
    """
    import torch

    device = _without_virtual_memory(torch.cuda.device_count())
    if device is None:
        return
    upstream = getattr(torch._C, _SETTER)

    def set_settings(settings: str) -> None:
        upstream(_left_off(settings, device) if isinstance(settings, str) else settings)

    setattr(torch._C, _SETTER, set_settings)
    settings = torch._C._cuda_memorySnapshot()["allocator_settings"]
    if settings["expandable_segments"]:
        set_settings(settings["PYTORCH_CUDA_ALLOC_CONF"])


def _without_virtual_memory(count: int) -> int | None:
    """The first device without, or None."""
    try:
        runtime = ctypes.CDLL(_runtime.RUNTIME, mode=os.RTLD_NOLOAD)
    except OSError:
        return None
    for device in range(count):
        has = ctypes.c_uint64()
        asked = runtime.accelerator_device_capabilities(device, ctypes.byref(has))
        if asked == 0 and not has.value & _VIRTUAL:
            return device
    return None


def _left_off(settings: str, device: int) -> str:
    if _ASKED.search(settings) is None:
        return settings
    warnings.warn(
        f"found expandable_segments:True, and cuda:{device} without virtual memory; needed virtual "
        "memory on all devices. The setting is ignored. To fix it: remove it from "
        "PYTORCH_CUDA_ALLOC_CONF",
        stacklevel=2,
    )
    return _ASKED.sub(r"\1False", settings)
