"""Mixed precision: ``torch.stand_in.amp``."""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch.amp.autocast_mode import autocast as _autocast
from torch.amp.autocast_mode import custom_bwd as _custom_bwd
from torch.amp.autocast_mode import custom_fwd as _custom_fwd
from torch.amp.grad_scaler import GradScaler as _GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "get_amp_supported_dtype"]

custom_fwd = functools.partial(_custom_fwd, device_type="stand_in")
custom_bwd = functools.partial(_custom_bwd, device_type="stand_in")


class GradScaler(_GradScaler):
    """``torch.amp.GradScaler("stand_in")``, with its arguments but the device."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("stand_in", *args, **kwargs)


class autocast(_autocast):
    """``torch.amp.autocast("stand_in")``.

    Args:
      enabled: whether to cast.
      dtype: the type with fewer bits.
      cache_enabled: whether to keep casts of weights.
    """

    def __init__(
        self,
        enabled: bool = True,
        dtype: torch.dtype = torch.float16,
        cache_enabled: bool = True,
    ) -> None:
        super().__init__("stand_in", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


def get_amp_supported_dtype() -> list[torch.dtype]:
    """Tells torch.amp which types autocast may compute in."""
    return [torch.float16, torch.bfloat16]
