"""Mixed precision on pu: ``torch.pu.amp``.

``torch.amp.autocast("pu")`` casts what CUDA's lists say; `register` changes it for single operators, for a device
whose kernels differ.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch.amp.autocast_mode import autocast as _autocast
from torch.amp.autocast_mode import custom_bwd as _custom_bwd
from torch.amp.autocast_mode import custom_fwd as _custom_fwd
from torch.amp.grad_scaler import GradScaler as _GradScaler

__all__ = [
    "GradScaler",
    "amp_definitely_not_available",
    "autocast",
    "custom_bwd",
    "custom_fwd",
    "register",
]

# The numbers of CastPolicy in pu/csrc/amp/autocast.h.
_POLICIES = {"none": 0, "lower_precision_fp": 1, "fp32": 2, "fp32_set_opt_dtype": 3, "promote": 5}

custom_fwd = functools.partial(_custom_fwd, device_type="pu")
custom_bwd = functools.partial(_custom_bwd, device_type="pu")


class GradScaler(_GradScaler):
    """``torch.amp.GradScaler("pu")``, with its arguments but the device."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("pu", *args, **kwargs)


class autocast(_autocast):
    """``torch.amp.autocast("pu")``.

    Args:
      enabled: whether to cast.
      dtype: the type with fewer bits.
      cache_enabled: whether to keep casts of weights.
    """

    def __init__(
        self, enabled: bool = True, dtype: torch.dtype = torch.float16, cache_enabled: bool = True
    ) -> None:
        super().__init__("pu", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


def amp_definitely_not_available() -> bool:
    """Whether there is no device for it."""
    return not torch.cuda.is_available()


def register(op: str | Callable[..., Any], policy: str) -> None:
    """Sets what autocast on pu does to the arguments of an operator, in place of what CUDA's lists say.

    Args:
      op: an operator, such as "aten::mm" or torch.ops.aten.mm.default.
      policy: PyTorch's name of it: "lower_precision_fp", "fp32", "fp32_set_opt_dtype" or "promote"; "none" for no
        casts.

    Raises:
      ValueError: there is no such operator or policy.
      TypeError: ``op`` is no operator.
    """
    if policy not in _POLICIES:
        raise ValueError(
            f"torch_pu.amp.register: found policy {policy!r}; needed one of {', '.join(_POLICIES)}"
        )
    from torch_pu import _native

    if isinstance(op, torch._ops.OpOverload):
        op = op.name()
    if not isinstance(op, str):
        raise TypeError(
            f"torch_pu.amp.register: found {op!r}; needed an operator such as "
            "torch.ops.aten.mm.default"
        )
    _native.loaded().set_cast_policy(op, _POLICIES[policy])
