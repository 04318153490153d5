"""Lets `init_process_group("nccl")` make the platform's process group.

Programs keep the name that they gave: `get_backend()` is "nccl".
"""

from __future__ import annotations

import datetime
import functools
from types import ModuleType
from typing import Any

from torch_cuda_adapter.platforms import Platform
from torch_cuda_adapter.runtime.journal import Journal
from torch_cuda_adapter.runtime.platform_modules import look_up

_NCCL = "nccl"

# PyTorch's default for groups of NCCL, which a build without it does not know.
_NCCL_TIMEOUT = datetime.timedelta(minutes=10)


def change(platform: Platform, c10d: ModuleType, journal: Journal) -> None:
    """Lets groups be made by the platform's backend where NCCL is asked for.

    Args:
        platform: its table `collectives` names the backend.
        c10d: `torch.distributed.distributed_c10d`.
        journal: puts everything back.
    """
    own = platform.table("collectives").get("backend")
    if own is None:
        return
    journal.set_attribute(c10d, "_NCCL_AVAILABLE", True)
    if not hasattr(c10d, "ProcessGroupNCCL"):
        path = platform.table("collectives").get("process_group")
        group = look_up(path) if path else None
        journal.set_attribute(c10d, "ProcessGroupNCCL", group or _NoGroup)
    if getattr(c10d, "default_pg_nccl_timeout", None) is None:
        journal.set_attribute(c10d, "default_pg_nccl_timeout", _NCCL_TIMEOUT)
    defaults = c10d.Backend.default_device_backend_map
    journal.set_item(defaults, "cuda", own)
    original = c10d._new_process_group_helper

    @functools.wraps(original)
    def new_group(
        group_size: Any, group_rank: Any, ranks: Any, backend: Any, *args: Any, **options: Any
    ) -> Any:
        meant = translated(str(backend), own)
        made, store = original(group_size, group_rank, ranks, meant, *args, **options)
        groups = c10d._world.pg_map
        if meant != backend and made in groups:
            groups[made] = (c10d.Backend(str(backend)), groups[made][1])
        return made, store

    journal.set_attribute(c10d, "_new_process_group_helper", new_group)


def translated(backend: str, own: str) -> str:
    """ "nccl" and "cpu:gloo,cuda:nccl" with the platform's backend in NCCL's place."""
    parts = [part.split(":") for part in backend.split(",")]
    return ",".join(
        ":".join([*part[:-1], own if part[-1] == _NCCL else part[-1]]) for part in parts
    )


class _NoGroup:
    """Stands for ProcessGroupNCCL where the platform's has no counterpart: nothing is an instance."""
