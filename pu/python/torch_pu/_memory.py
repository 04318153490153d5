"""One memory under the two names, for programs that ask for it: `Tensor.to` makes copies."""

from __future__ import annotations

import torch

from torch_pu import _native


def as_cuda(tensor: torch.Tensor) -> torch.Tensor:
    """The same memory as a tensor of cuda, for libraries that know no pu.

    What is written to one of the two is seen through the other, and by what autograd saved of it, as
    with ``Tensor.detach``.

    Args:
      tensor: of pu, without gradients. One of cuda is given back as it is.

    Returns:
      A tensor on the device "cuda" of the same number.

    Raises:
      RuntimeError: it requires a gradient (``Tensor.detach`` gives one that does not), or wraps other
        tensors, as within torch.func.
      TypeError: it is no tensor.
      ValueError: it is on another device.
    """
    return _native.names().as_cuda(_checked(tensor))  # type: ignore[no-any-return]


def as_pu(tensor: torch.Tensor) -> torch.Tensor:
    """The same memory as a tensor of pu: the way back of `as_cuda`.

    Args:
      tensor: of cuda, without gradients. One of pu is given back as it is.

    Returns:
      A tensor on the device "pu" of the same number.

    Raises:
      RuntimeError: as for `as_cuda`.
      TypeError: as for `as_cuda`.
      ValueError: as for `as_cuda`.
    """
    return _native.names().as_pu(_checked(tensor))  # type: ignore[no-any-return]


def _checked(tensor: object) -> torch.Tensor:
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"torch_pu: found {type(tensor).__name__}; needed a tensor")
    return tensor
