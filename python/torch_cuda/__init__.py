"""CUDA for a CPU-only PyTorch, as a plugin.

``import torch`` finds this package through the entry point group ``torch.backends`` and calls
``_autoload``. Nothing here imports torch by itself, so that ``import torch_cuda`` stays cheap and also
works where torch does not. What activation does, and in which order, is in ``_activation.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch_cuda._activation import activate, autoload, is_active, plugins, why_inactive
from torch_cuda._build import BuildInfo, build_info
from torch_cuda._errors import ActivationError, ActivationWarning
from torch_cuda._operators import served_by
from torch_cuda._plugins import PluginState

if TYPE_CHECKING:
    from types import ModuleType

    from torch_cuda import backends, core, utils

__all__ = [
    "ActivationError",
    "ActivationWarning",
    "BuildInfo",
    "PluginState",
    "activate",
    "backends",
    "build_info",
    "core",
    "is_active",
    "plugins",
    "served_by",
    "utils",
    "why_inactive",
]

__version__: str

# Imported on first use: they import torch.
_LAZY = frozenset({"backends", "core", "utils"})


def _autoload() -> None:
    """The entry point of group `torch.backends`, which torch calls at the end of `import torch`.

    Activates the plugin, or gives one `ActivationWarning` that says why not. Never raises.
    """
    autoload()


def __getattr__(name: str) -> ModuleType | str:
    """Imports `core`, `backends` and `utils` on first use, and looks up `__version__` (PEP 562)."""
    if name in _LAZY:
        import importlib

        return importlib.import_module(f"torch_cuda.{name}")
    if name == "__version__":
        return build_info().version
    raise AttributeError(f"module 'torch_cuda' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
