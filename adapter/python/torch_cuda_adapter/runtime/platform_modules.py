"""The Python modules of a platform's backend."""

from __future__ import annotations

import importlib
import importlib.util
from types import ModuleType
from typing import Any

from torch_cuda_adapter.errors import AdapterError
from torch_cuda_adapter.platforms import Platform

_ABSENT = object()


def is_installed(platform: Platform) -> bool:
    """Whether the platform's backend is there to be imported; it is not imported."""
    return importlib.util.find_spec(platform.table("device")["module"]) is not None


def import_backend(platform: Platform) -> ModuleType:
    """Imports the backend, and returns what stands for `torch.cuda`.

    Raises:
        AdapterError: it is not installed, cannot be imported, or has no such namespace.
    """
    device = platform.table("device")
    try:
        importlib.import_module(device["module"])
    except ModuleNotFoundError as error:
        if error.name != device["module"]:
            raise
        raise AdapterError(
            f"found no {device['module']}, the PyTorch backend of {platform.summary}; install it, "
            f"or name another platform in TORCH_CUDA_ADAPTER"
        ) from None
    except (ImportError, OSError) as error:
        raise AdapterError(
            f"{device['module']}, the PyTorch backend of {platform.summary}, cannot be imported: "
            f"{error}"
        ) from error
    namespace = look_up(device["namespace"])
    if not isinstance(namespace, ModuleType):
        raise AdapterError(
            f"found no {device['namespace']} after the import of {device['module']}; "
            f"correct `device.namespace` in {platform.path}"
        )
    return namespace


def look_up(path: str) -> Any:
    """An object by its dotted name; None if there is none.

    Args:
        path: "torch.musa.memory.empty_cache": its first part is a module to be imported.
    """
    first, *others = path.split(".")
    try:
        found: Any = importlib.import_module(first)
        name = first
        for part in others:
            name = f"{name}.{part}"
            inner = getattr(found, part, _ABSENT)
            found = importlib.import_module(name) if inner is _ABSENT else inner
    except ImportError:
        return None
    return found


def inside(namespace: ModuleType, path: str) -> Any:
    """An object inside a namespace by its dotted name; None if there is none."""
    found: Any = namespace
    for part in path.split("."):
        found = getattr(found, part, None)
    return found
