"""The backend `sccl` of torch.distributed: gloo's process group on the stand-in's memory."""

from __future__ import annotations

import datetime
from typing import Any

import torch.distributed

from torch_stand_in._native import functions as native

BACKEND = "sccl"


def register() -> None:
    """Makes `init_process_group("sccl")` known, where torch is built with torch.distributed."""
    if torch.distributed.is_available() and not hasattr(torch.distributed.Backend, BACKEND.upper()):
        torch.distributed.Backend.register_backend(BACKEND, _create, devices=["stand_in"])


def _create(store: Any, rank: int, size: int, timeout: datetime.timedelta) -> Any:
    gloo = torch.distributed.ProcessGroupGloo(store, rank, size, timeout)
    make: Any = torch.distributed.ProcessGroup  # types differ from version to version
    group = make(rank, size)
    group._register_backend(
        torch.device("cpu"), torch.distributed.ProcessGroup.BackendType.GLOO, gloo
    )
    native.add_sccl(group.boxed())
    return group._get_backend(torch.device("stand_in"))
