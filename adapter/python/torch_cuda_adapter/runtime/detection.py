"""Which platform there is, by torchada's names."""

from __future__ import annotations

import enum
import functools
import os
from typing import Any

from torch_cuda_adapter import platforms
from torch_cuda_adapter.errors import AdapterError
from torch_cuda_adapter.runtime import activation, platform_modules
from torch_cuda_adapter.sources import extension


def _member(name: str) -> str:
    return name.upper().replace("-", "_")


# A name for each platform that has a file, which mypy cannot know.
_enumeration: Any = enum.Enum
Platform = _enumeration(
    "Platform",
    {"CPU": "cpu", "CUDA": "cuda", **{_member(name): name for name in platforms.names()}},
)
"""CUDA, CPU, and one for each platform that has a file: MUSA, NPU, MLU, …"""


def detect_platform() -> Any:
    """The platform that CUDA programs run on in this process, or would run on.

    Returns:
        A member of `Platform`: the adapter's if it is active, else CUDA if this torch has a CUDA device, else the one whose
        backend is installed, else CPU.
    """
    active = activation.active_platform()
    if active is not None:
        return Platform(active.name)
    import torch

    if torch.cuda.is_available():
        return Platform.CUDA
    try:
        chosen = activation.choose()
    except AdapterError:
        return Platform.CPU
    return Platform(chosen.name) if platform_modules.is_installed(chosen) else Platform.CPU


def is_cuda_platform() -> bool:
    """Whether CUDA programs run on CUDA."""
    return detect_platform() is Platform.CUDA


def is_platform(name: str) -> bool:
    """Whether CUDA programs run on a platform, such as "musa"."""
    return bool(detect_platform().value == name)


def is_musa_platform() -> bool:
    """Whether CUDA programs run on MUSA."""
    return is_platform("musa")


def is_cpu_platform() -> bool:
    """Whether there is nothing that CUDA programs run on."""
    return detect_platform() is Platform.CPU


def is_gpu_device(device: Any) -> bool:
    """Whether a device is one that CUDA programs run on, on some platform.

    Args:
        device: a `torch.device`, a string, or anything with a `device`, such as a tensor.
    """
    named = getattr(device, "device", device)
    kind = getattr(named, "type", None) or str(named).partition(":")[0]
    return kind == "cuda" or kind in _own_types()


@functools.cache
def _own_types() -> frozenset[str]:
    return frozenset(platforms.load(name).table("device")["type"] for name in platforms.names())


def __getattr__(name: str) -> Any:
    """`CUDA_HOME`: the folder of the toolkit that CUDA sources are compiled with; None if there is none."""
    if name != "CUDA_HOME":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    active = activation.active_platform()
    if active is None:
        from torch.utils.cpp_extension import CUDA_HOME

        return CUDA_HOME
    home = extension.toolkit_folder(active)
    # Path's own fails where it may not look.
    return home if os.path.isdir(home) else None  # noqa: PTH112
