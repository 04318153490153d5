"""Waits for the import of what uses CUDA. Interpreters start with it, so it imports next to nothing.

torch_cuda_runtime.pth calls `install` where the environment asks for devices.
"""

from __future__ import annotations

import sys

from torch_cuda_runtime import _asked, _cuda_python, _frameworks, _imports

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` costs more than all of this
    from importlib.machinery import ModuleSpec
    from types import ModuleType

_TORCH = "torch"


def install() -> None:
    """Has what is imported later get devices, if the environment asks for some."""
    if _asked.requested_by() is None:
        return
    watches = {
        **{name: _imports.Watch(after=_cuda_python.use) for name in _cuda_python.RUNTIMES},
        **{name: _imports.Watch(before=_before_framework) for name in _frameworks.MODULES},
    }
    if _TORCH not in sys.modules:
        watches[_TORCH] = _imports.Watch(_before_torch, _after_torch, _torch_failed)
    _imports.watch(watches)


def is_installed() -> bool:
    """Whether this process waits for the import of torch and of what else uses CUDA."""
    return _imports.is_watched(_TORCH)


# What follows is imported by processes that need it.


def _before_framework(spec: ModuleSpec) -> None:
    from torch_cuda_runtime import _guests

    _guests.before(spec.name)


def _before_torch(spec: ModuleSpec) -> None:
    from torch_cuda_runtime import _stock

    _stock.before_torch(spec)


def _after_torch(torch: ModuleType) -> None:
    from torch_cuda_runtime import _stock

    _stock.after_torch(torch)


def _torch_failed(error: Exception) -> None:
    from torch_cuda_runtime import _stock

    _stock.import_failed(error)
