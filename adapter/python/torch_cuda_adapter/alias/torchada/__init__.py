"""torchada's public names, answered by the adapter: `import torchada` activates it, on any platform.

Programs find this package when `torch_cuda_adapter.runtime.alias` was asked for it. torchada's private names, and its
operators for one vendor's device, are not here.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from types import ModuleType
from typing import Any

from torch_cuda_adapter import platforms
from torch_cuda_adapter.errors import UnavailableError
from torch_cuda_adapter.runtime import activation, detection
from torch_cuda_adapter.runtime.runtime_library import translated

activation.activate()

import torch

from . import cuda, utils

__version__ = "0.1.103"
"""The version of torchada whose names these are."""

is_gpu_device = detection.is_gpu_device
is_cuda_like_device = detection.is_gpu_device


class Platform(enum.Enum):
    """The platforms that programs for torchada know."""

    CUDA = "cuda"
    MUSA = "musa"
    CPU = "cpu"


def detect_platform() -> Platform:
    """The platform, as programs for torchada tell them apart.

    Returns:
        MUSA on MUSA; on another platform CUDA, since its device is called so; CPU if there is none.
    """
    if detection.is_musa_platform():
        return Platform.MUSA
    return Platform.CPU if detection.is_cpu_platform() else Platform.CUDA


def is_musa_platform() -> bool:
    """Whether programs run on MUSA."""
    return detect_platform() is Platform.MUSA


def is_cuda_platform() -> bool:
    """Whether programs run on a device that is called cuda, and not on MUSA."""
    return detect_platform() is Platform.CUDA


def is_cpu_platform() -> bool:
    """Whether there is no device."""
    return detect_platform() is Platform.CPU


def get_platform() -> Platform:
    """What `detect_platform` returns."""
    return detect_platform()


def get_device_name() -> str:
    """The platform's name: "cuda", "musa" or "cpu"."""
    return detect_platform().value


def get_torch_device_module() -> ModuleType:
    """`torch.cuda`, on MUSA `torch.musa`.

    Raises:
        RuntimeError: there is no device.
    """
    if is_cpu_platform():
        raise RuntimeError("found no device that CUDA programs run on; install its PyTorch backend")
    found: ModuleType = getattr(torch, get_device_name())
    return found


def get_backend() -> ModuleType:
    """What `get_torch_device_module` returns."""
    return get_torch_device_module()


def get_version() -> str:
    """`__version__`."""
    return __version__


def apply_patches() -> None:
    """Activates the adapter, as the import has done."""
    activation.activate()


def is_patched() -> bool:
    """Whether the adapter is active."""
    return activation.active_platform() is not None


def get_original_init_process_group() -> Callable[..., Any]:
    """`torch.distributed.init_process_group`, which the adapter leaves as it is."""
    import torch.distributed

    original: Callable[..., Any] = torch.distributed.init_process_group
    return original


def apply_rope_inplace(*args: Any, **options: Any) -> None:
    """Refuses: it is an operator of torchada's own.

    Raises:
        UnavailableError: always.
    """
    raise UnavailableError(
        "torchada.apply_rope_inplace is an operator of torchada's own for MUSA; the adapter has none"
    )


def cuda_to_musa_name(name: str) -> str:
    """MUSA's name for a name of CUDA's runtime; another name stays."""
    return _musa_name("cuda", name)


def nccl_to_mccl_name(name: str) -> str:
    """MCCL's name for a name of NCCL's; another name stays."""
    return _musa_name("nccl", name)


def cublas_to_mublas_name(name: str) -> str:
    """muBLAS's name for a name of cuBLAS's; another name stays."""
    return _musa_name("cublas", name)


def curand_to_murand_name(name: str) -> str:
    """muRAND's name for a name of cuRAND's; another name stays."""
    return _musa_name("curand", name)


def _musa_name(library: str, name: str) -> str:
    if not name.startswith(library):
        return name
    return translated(platforms.load("musa"), name) or name


def __getattr__(name: str) -> Any:
    """`CUDA_HOME`, which is known when it is asked for."""
    if name != "CUDA_HOME":
        raise AttributeError(f"module {__name__!r} of torch_cuda_adapter has no attribute {name!r}")
    return detection.CUDA_HOME


__all__ = [
    "CUDA_HOME",
    "Platform",
    "__version__",
    "apply_patches",
    "apply_rope_inplace",
    "cublas_to_mublas_name",
    "cuda",
    "cuda_to_musa_name",
    "curand_to_murand_name",
    "detect_platform",
    "get_backend",
    "get_device_name",
    "get_original_init_process_group",
    "get_platform",
    "get_torch_device_module",
    "get_version",
    "is_cpu_platform",
    "is_cuda_like_device",
    "is_cuda_platform",
    "is_gpu_device",
    "is_musa_platform",
    "is_patched",
    "nccl_to_mccl_name",
    "utils",
]
