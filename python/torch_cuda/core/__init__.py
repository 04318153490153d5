"""The Python half of the CUDA backend: everything of ``torch.cuda``, the same objects.

``torch_cuda.core.Stream is torch.cuda.Stream``, and ``torch_cuda.core.streams is torch.cuda.streams``.
Works whether or not CUDA is active: then it mirrors what the CPU torch has there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch.cuda

from torch_cuda import _mirror

if TYPE_CHECKING:
    from torch.cuda import *

_mirror.mirror(__name__, "torch.cuda")


def __getattr__(name: str) -> object:
    """Looks up ``name`` on ``torch.cuda`` (PEP 562)."""
    return _mirror.attribute(__name__, torch.cuda, name)


def __dir__() -> list[str]:
    return dir(torch.cuda)
