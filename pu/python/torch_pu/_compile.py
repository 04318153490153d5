"""torch.compile asks devices about themselves through an interface: CUDA's."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import torch


def register(device_interface: ModuleType) -> None:
    """Registers CUDA's interface for pu.

    Args:
      device_interface: the module torch._dynamo.device_interface.
    """
    cuda: Any = device_interface.CudaInterface

    class PuInterface(cuda):  # type: ignore[misc]
        @staticmethod
        def is_gpu() -> bool:
            """Whether inductor takes it for the GPU of the process, which stays cuda."""
            return False

    for device in ("pu", *(f"pu:{i}" for i in range(torch.cuda.device_count()))):
        device_interface.register_interface_for_device(device, PuInterface)
