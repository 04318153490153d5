"""The module `torch.pu`: everything of `torch.cuda`, the same objects, and what has the device's name in it.

Functions and classes of `torch.cuda` take devices of pu as well (`_device_index.py`), so that
`torch.pu.Stream is torch.cuda.Stream`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from torch_pu import _mirror

if TYPE_CHECKING:
    from torch.cuda import *

# The import system looks for submodules of a package only.
__path__: list[str] = []


class device_of(torch.cuda.device):  # type: ignore[no-redef]
    """The current device becomes that of a tensor, or stays if it is not on a device of pu.

    Args:
      obj: a tensor or a storage.
    """

    def __init__(self, obj: torch.Tensor | torch.UntypedStorage) -> None:
        super().__init__(obj.get_device() if obj.device.type in ("pu", "cuda") else -1)


def get_amp_supported_dtype() -> list[torch.dtype]:
    """Tells torch.amp which types autocast may compute in."""
    return [torch.float16, torch.bfloat16]


def __getattr__(name: str) -> object:
    """Looks up `name` on `torch.cuda` (PEP 562)."""
    return _mirror.attribute("torch.pu", torch.cuda, name)


def __dir__() -> list[str]:
    return sorted({*dir(torch.cuda), "amp", "device_of", "get_amp_supported_dtype"})
