"""Expandable segments: left off, with a warning, where a device has no virtual memory.

Programs ask for them in `PYTORCH_CUDA_ALLOC_CONF`, so as to need less memory, and run without them as
well. Upstream leaves them off on platforms that have none; here it is the devices that may have none.
"""

from __future__ import annotations

import re
import warnings
from typing import Any

from torch_cuda_runtime import _capabilities

# PyTorch's names for it, the newer first.
_SETTERS = (
    "_accelerator_setAllocatorSettings",
    "_cuda_cudaCachingAllocator_set_allocator_settings",
)
_ASKED = re.compile(r"(expandable_segments\s*:\s*)True")


def leave_off_without_virtual_memory() -> None:
    """Takes expandable segments out of the allocator's settings, those of now and all that follow.

    Does nothing on NVIDIA's runtime, and where all devices have virtual memory. CUDA has to be
    initialised.
    """
    import torch

    device = _without_virtual_memory(torch.cuda.device_count())
    name = next((name for name in _SETTERS if hasattr(torch._C, name)), None)
    if device is None or name is None:
        return
    upstream = getattr(torch._C, name)

    def set_settings(settings: str) -> None:
        upstream(_left_off(settings, device) if isinstance(settings, str) else settings)

    setattr(torch._C, name, set_settings)
    snapshot: Any = torch._C._cuda_memorySnapshot  # of one pool, or of all: None
    settings = snapshot(None)["allocator_settings"]
    if settings["expandable_segments"]:
        set_settings(settings["PYTORCH_CUDA_ALLOC_CONF"])


def _without_virtual_memory(count: int) -> int | None:
    """The first device without, or None."""
    for device in range(count):
        has = _capabilities.of(device)
        if has is not None and not has & _capabilities.VIRTUAL:
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
