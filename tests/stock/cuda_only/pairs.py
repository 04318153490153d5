"""What a reference gives: pairs of what an operator of CUDA's found and what the CPU's operators say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

ATEN = torch.ops.aten

Pair = tuple[Any, Any]  # found, wanted
Check = Callable[[], Iterator[Pair]]


def cuda(value: Any) -> Any:
    """Tensors on the device."""
    if isinstance(value, Tensor):
        return value.cuda()
    if isinstance(value, list | tuple):
        return type(value)(cuda(one) for one in value)
    return value


def grads(results: Sequence[Tensor], given: Sequence[Tensor], seeds: Sequence[Tensor]) -> Any:
    """Derivatives on the CPU."""
    return torch.autograd.grad(list(results), list(given), list(seeds))


def leaf(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Random numbers that are derived by."""
    return torch.randn(*shape, dtype=dtype).requires_grad_()
