"""CUDA's runtime library, answered by the platform's: `torch.cuda.cudart()` and `ctypes`."""

from __future__ import annotations

import ctypes
import functools
import os
import pathlib
import re
from typing import Any

from torch_cuda_adapter.errors import AdapterError, UnavailableError
from torch_cuda_adapter.platforms import Platform
from torch_cuda_adapter.runtime.journal import Journal

_LIBRARY = re.compile(r"lib(?P<name>\w+)\.so(?:\.\d+)*")


class CudaRuntime:
    """What `torch.cuda.cudart()` returns: functions of the platform's runtime by CUDA's names.

    They take the arguments of PyTorch's bindings: addresses as numbers.
    """

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        function = self._function(name)
        setattr(self, name, function)
        return function

    def __dir__(self) -> list[str]:
        return sorted({*_BOUND, "cudaError", "cudaMemGetInfo", "cudaGetErrorString"})

    class cudaError(int):
        """A result of the runtime, as PyTorch's binding has it."""

        success = 0

    def cudaMemGetInfo(self, device: int = 0) -> tuple[int, int]:
        """Free and total memory of a device in bytes."""
        import torch

        free, total = torch.cuda.mem_get_info(device)
        return free, total

    def cudaGetErrorString(self, error: int) -> str:
        """What an error means."""
        function = self._function("cudaGetErrorString")
        function.restype = ctypes.c_char_p
        return (function(ctypes.c_int(int(error))) or b"").decode()

    def _function(self, name: str) -> Any:
        own = translated(self._platform, name)
        if own is None:
            raise UnavailableError(
                f"torch.cuda.cudart().{name}: {self._platform.name} has nothing for it"
            )
        try:
            function = getattr(runtime_library(self._platform), own)
        except AttributeError:
            raise UnavailableError(
                f"torch.cuda.cudart().{name}: the runtime library of {self._platform.name} has no {own}"
            ) from None
        if name in _BOUND:
            function.argtypes = _BOUND[name]
        function.restype = self.cudaError
        return function


# PyTorch's bindings that pass addresses as numbers.
_BOUND: dict[str, list[Any]] = {
    "cudaHostRegister": [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint],
    "cudaHostUnregister": [ctypes.c_void_p],
    "cudaProfilerStart": [],
    "cudaProfilerStop": [],
    "cudaStreamCreate": [ctypes.c_void_p],
    "cudaStreamDestroy": [ctypes.c_void_p],
}


def translated(platform: Platform, name: str) -> str | None:
    """The platform's name for a function of one of CUDA's libraries; None if it has none."""
    # Most programs never ask.
    from torch_cuda_adapter.sources.rules import Renamed, Rules

    key = platform.digest
    if key not in _RULES:
        _RULES[key] = Rules(platform)
    answer = _RULES[key].identifier(name)
    return answer.target if isinstance(answer, Renamed) else None


_RULES: dict[str, Any] = {}


def runtime_library(platform: Platform) -> ctypes.CDLL:
    """The platform's runtime library.

    Raises:
        AdapterError: there is none, or it cannot be loaded.
    """
    names = platform.table("libraries").get("cudart", [])
    if not names:
        raise AdapterError(f"found no runtime library in `libraries.cudart` of {platform.path}")
    return ctypes.CDLL(_path(platform, names[0]))


def change_ctypes(platform: Platform, journal: Journal) -> None:
    """Lets `ctypes.CDLL("libcudart.so")` open the platform's library, by CUDA's names.

    Args:
        platform: its `libraries` say which library stands for which.
        journal: puts it back.
    """
    libraries = platform.table("libraries")
    construct = ctypes.CDLL.__init__
    look_up = ctypes.CDLL.__getitem__

    @functools.wraps(construct)
    def __init__(self: ctypes.CDLL, name: Any, *args: Any, **options: Any) -> None:
        # CUDA's own may be installed as well, and has no device.
        match = _LIBRARY.fullmatch(pathlib.PurePath(name).name) if name else None
        own = libraries.get(match["name"]) if match else None
        construct(self, _path(platform, own[0]) if own else name, *args, **options)

    @functools.wraps(look_up)
    def __getitem__(self: ctypes.CDLL, name: Any) -> Any:
        try:
            return look_up(self, name)
        except AttributeError:
            own = translated(platform, name) if isinstance(name, str) else None
            if own is None:
                raise
            return look_up(self, own)

    journal.set_attribute(ctypes.CDLL, "__init__", __init__)
    journal.set_attribute(ctypes.CDLL, "__getitem__", __getitem__)


def _path(platform: Platform, name: str) -> str:
    """Where a library is: in the toolkit's folders, else wherever the loader finds it."""
    from torch_cuda_adapter.sources.extension import library_folders

    for folder in library_folders(platform):
        path = str(pathlib.Path(folder, f"lib{name}.so"))
        # Path's own fails where it may not look.
        if os.path.exists(path):  # noqa: PTH110
            return path
    return f"lib{name}.so"
