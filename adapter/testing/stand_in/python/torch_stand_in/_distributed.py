"""The backend `sccl` of torch.distributed: gloo's process group on the stand-in's memory."""

from __future__ import annotations

import datetime
from typing import Any

import torch.distributed

import torch_stand_in._C as native

BACKEND = "sccl"


def register() -> None:
    """Makes `init_process_group("sccl")` known, where torch is built with torch.distributed."""
    if torch.distributed.is_available() and not hasattr(torch.distributed.Backend, BACKEND.upper()):
        torch.distributed.Backend.register_backend(BACKEND, _create, devices=["stand_in"])


def _create(store: Any, rank: int, size: int, timeout: datetime.timedelta) -> Any:
    gloo = torch.distributed.ProcessGroupGloo(store, rank, size, timeout)
    return native.make_sccl(gloo)
