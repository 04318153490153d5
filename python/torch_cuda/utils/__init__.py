"""Tools around the plugin.

`doctor` says what it found and why it is on or off; `cpp_extension` builds C++ extensions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch_cuda.utils import doctor

if TYPE_CHECKING:
    from types import ModuleType

    from torch_cuda.utils import cpp_extension

__all__ = ["cpp_extension", "doctor"]


def __getattr__(name: str) -> ModuleType:
    """Imports `cpp_extension` on first use: it imports torch and setuptools (PEP 562)."""
    if name != "cpp_extension":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return importlib.import_module(f"{__name__}.{name}")
