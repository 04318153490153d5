"""`torchada.utils`: the module of `torch.utils` that torchada has by the same name."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["cpp_extension"]


def __getattr__(name: str) -> Any:
    """`cpp_extension`, which takes setuptools and is imported when it is asked for."""
    if name != "cpp_extension":
        raise AttributeError(f"module {__name__!r} of torch_cuda_adapter has no attribute {name!r}")
    return importlib.import_module(f"{__name__}.cpp_extension")
