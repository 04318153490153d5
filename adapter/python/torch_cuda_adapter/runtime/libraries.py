"""Libraries that a program loads while the adapter is active learn the device's name as well."""

from __future__ import annotations

import functools
import importlib.machinery
from typing import Any

import torch

from torch_cuda_adapter.runtime import naming
from torch_cuda_adapter.runtime.journal import Journal


def change(journal: Journal) -> None:
    """Sees to extension modules that are imported, and to `torch.ops.load_library`.

    Libraries that a program loads in another way are seen to at the next of these.
    """
    loader = importlib.machinery.ExtensionFileLoader
    journal.set_attribute(loader, "create_module", _then_named(loader.create_module))
    operators = type(torch.ops)
    journal.set_attribute(operators, "load_library", _then_named(operators.load_library))


def _then_named(original: Any) -> Any:
    @functools.wraps(original)
    def load(*args: Any, **options: Any) -> Any:
        loaded = original(*args, **options)
        naming.refresh()
        return loaded

    return load
