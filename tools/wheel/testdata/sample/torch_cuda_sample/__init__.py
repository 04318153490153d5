"""A plugin that only remembers that torch loaded it."""

from __future__ import annotations

import ctypes
import pathlib

loaded_by_torch = False


def autoload() -> None:
    """Entry point of the group `torch.backends`: called at the end of `import torch`."""
    global loaded_by_torch
    loaded_by_torch = True


def answer() -> int:
    """Calls the library that the wheel carries.

    Returns:
        What the library says.
    """
    library = ctypes.CDLL(str(pathlib.Path(__file__).parent / "lib" / "libsample.so"))
    return int(library.torch_cuda_sample_answer())
