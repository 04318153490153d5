"""The loaded library (adapter/testing/stand_in/csrc/bindings/classes.cpp) for Python."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

# Static methods of a class of TorchScript; `_activation.load` has loaded the library.
functions: Any = torch.classes.torch_stand_in.Functions
graph: Any = torch.classes.torch_stand_in.Graph


class DeviceProperties(NamedTuple):
    """The figures of a device, in the library's order."""

    name: str
    uuid: str
    major: int
    minor: int
    total_memory: int
    multi_processor_count: int
    max_threads_per_multi_processor: int
    warp_size: int
    is_integrated: bool

    def __repr__(self) -> str:
        return (
            f"_StandInDeviceProperties(name='{self.name}', major={self.major}, minor={self.minor}, "
            f"total_memory={self.total_memory >> 20}MB, multi_processor_count={self.multi_processor_count})"
        )
