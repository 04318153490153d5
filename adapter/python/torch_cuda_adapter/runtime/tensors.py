"""`Tensor.is_cuda` and `Tensor.cuda`, which PyTorch decides in C++ by CUDA's own type."""

from __future__ import annotations

import torch

from torch_cuda_adapter import _native
from torch_cuda_adapter.runtime.journal import Journal


def change(journal: Journal) -> None:
    """Lets tensors of the platform's device be CUDA tensors to who asks them."""
    is_cuda, cuda = _native.tensor_descriptors(torch)
    # torch.Tensor inherits both, so that the originals are there again when these are taken away.
    journal.set_attribute(torch.Tensor, "is_cuda", is_cuda)
    journal.set_attribute(torch.Tensor, "cuda", cuda)
