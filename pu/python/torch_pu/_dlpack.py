"""DLPack's number of the device pu.

`Tensor.__dlpack_device__` of 2.6.0 looks for the name that PyTorch's device type has before it gets one.
"""

from __future__ import annotations

import functools

import torch
from torch.utils.dlpack import DLDeviceType


def name_pu() -> None:
    """Has tensors of pu say to DLPack's readers that they are on a device of an extension."""
    original = torch.Tensor.__dlpack_device__

    @functools.wraps(original)
    def dlpack_device(self: torch.Tensor) -> tuple[int, int]:
        if self.device.type == "pu":
            return (DLDeviceType.kDLExtDev, self.device.index)
        return original(self)

    torch.Tensor.__dlpack_device__ = dlpack_device  # type: ignore[method-assign, assignment]
