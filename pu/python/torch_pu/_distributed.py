"""The backend `pccl` of torch.distributed: NCCL's process group on tensors of pu."""

from __future__ import annotations

import datetime
import functools
import importlib
from types import ModuleType
from typing import Any

import torch

BACKEND = "pccl"


def register(distributed_c10d: ModuleType) -> None:
    """Makes `init_process_group("pccl")` known.

    Args:
      distributed_c10d: the module torch.distributed.distributed_c10d.
    """
    distributed_c10d.Backend.register_backend(BACKEND, _create, devices=["pu"])
    _show_nccl_below(distributed_c10d.ProcessGroup)


def _show_nccl_below(process_group: Any) -> None:
    """Has a group of pccl say that its backend for cuda is the one of NCCL below.

    torch.distributed looks for that one to shut it down and to abort it, and does neither where it
    finds none.

    Args:
      process_group: the class.
    """
    original = process_group._get_backend

    @functools.wraps(original)
    def get_backend(self: Any, device: torch.device) -> Any:
        try:
            return original(self, device)
        except RuntimeError:
            if device.type != "cuda":
                raise
            try:
                backend = original(self, torch.device("pu"))
            except RuntimeError:
                backend = None
            below = None if backend is None else _bindings().cuda_below(backend)
            if below is None:
                raise
            return below

    process_group._get_backend = get_backend


def _bindings() -> Any:
    # A library: there is no Python file of that name.
    return importlib.import_module("torch_pu._bindings")


def _create(store: Any, rank: int, size: int, timeout: datetime.timedelta) -> Any:
    """Makes the backend of a group.

    Args:
      store: where its processes meet.
      rank: of this process.
      size: how many they are.
      timeout: of its operations.

    Returns:
      The backend.

    Raises:
      RuntimeError: torch_cuda_distributed is missing.
    """
    import torch.distributed

    if not torch.distributed.is_nccl_available():
        raise RuntimeError(
            "pccl is NCCL's process group on tensors of pu: found no NCCL in torch.distributed; needed "
            "torch_cuda_distributed of the version of torch_cuda.\n"
            "To fix it: python -m pip install torch_cuda_distributed"
        )
    options = torch.distributed.ProcessGroupNCCL.Options()
    options._timeout = timeout
    return _bindings().make_pccl(torch.distributed.ProcessGroupNCCL(store, rank, size, options))
