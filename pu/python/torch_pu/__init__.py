"""The common name ``pu`` for CUDA's devices, whoever brings them: ``torch.pu``, device "pu".

``import torch_pu`` gives PyTorch the device type "pu" and the module ``torch.pu`` (also ``torch.pu1``). They are
a facade: memory, kernels, streams and generators are those of the device "cuda" of the same number, and
`as_cuda` and `as_pu` give a tensor the other name without a copy. docs/pu.md in torch_cuda's sources tells
more.
"""

from __future__ import annotations

from torch_pu import _activation

_activation.activate()

from torch_pu import amp
from torch_pu._announcement import announce
from torch_pu._memory import as_cuda, as_pu

__all__ = ["amp", "announce", "as_cuda", "as_pu"]
