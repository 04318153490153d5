"""The switches of the CUDA backend: ``torch.backends.cuda``, ``.cudnn`` and ``.cusparselt``.

The same objects: ``torch_cuda.backends.cudnn is torch.backends.cudnn``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch.backends.cuda
import torch.backends.cudnn
import torch.backends.cusparselt

from torch_cuda import _mirror

if TYPE_CHECKING:
    from torch.backends import cuda, cudnn, cusparselt

__all__ = ["cuda", "cudnn", "cusparselt"]

_mirror.mirror(__name__, "torch.backends", only=__all__)


def __getattr__(name: str) -> object:
    """Looks up ``cuda``, ``cudnn`` and ``cusparselt`` on ``torch.backends`` (PEP 562)."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _mirror.attribute(__name__, torch.backends, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
