"""The library (pu/csrc/library.cpp, pu/csrc/bindings/classes.cpp), as Python functions."""

from __future__ import annotations

import ctypes
import pathlib
from typing import Any

import torch

_MESSAGE = 4096  # bytes


class Native:
    """The loaded library. Loading it registers guard, hooks and allocator with torch, for good."""

    def __init__(self, path: pathlib.Path) -> None:
        """Loads it.

        Args:
          path: of the library that is for this torch.

        Raises:
          ImportError: the loader refuses it.
        """
        try:
            library = ctypes.CDLL(str(path))
        except OSError as error:
            raise ImportError(
                f"torch_pu cannot be used: found a library that does not load: {error}; needed the torch that it "
                "was built against.\nTo fix it: python -m pip install --force-reinstall torch_pu"
            ) from error
        self._register = library.torch_pu_register
        self._register.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
        self._register.restype = ctypes.c_int
        self._set_cast_policy = library.torch_pu_set_cast_policy
        self._set_cast_policy.argtypes = [
            ctypes.c_char_p,
            ctypes.c_int,
            ctypes.c_char_p,
            ctypes.c_size_t,
        ]
        self._set_cast_policy.restype = ctypes.c_int

    def register(self) -> int:
        """Registers pu's operators.

        Returns:
          How many go to CUDA.

        Raises:
          RuntimeError: torch refuses one.
        """
        message = ctypes.create_string_buffer(_MESSAGE)
        served = int(self._register(message, _MESSAGE))
        if served < 0:
            raise RuntimeError(message.value.decode(errors="replace"))
        return served

    def set_cast_policy(self, op: str, policy: int) -> None:
        """Sets the autocast policy of an operator.

        Args:
          op: such as "aten::mm".
          policy: a number of CastPolicy in pu/csrc/amp/autocast.h.

        Raises:
          ValueError: there is no such operator.
        """
        message = ctypes.create_string_buffer(_MESSAGE)
        if self._set_cast_policy(op.encode(), policy, message, _MESSAGE) < 0:
            raise ValueError(message.value.decode(errors="replace"))


_loaded: Native | None = None


def load(path: pathlib.Path) -> Native:
    """Loads the library, once a process (see Native).

    Args:
      path: of the library that is for this torch.
    """
    global _loaded
    if _loaded is None:
        _loaded = Native(path)
    return _loaded


def loaded() -> Native:
    """The library, which `import torch_pu` has loaded."""
    assert _loaded is not None
    return _loaded


def names() -> Any:
    """The class of static functions that take and give tensors and process groups."""
    return torch.classes.torch_pu.Names
