"""The backend `pccl` of torch.distributed: NCCL's process group on tensors of pu."""

from __future__ import annotations

import datetime
import functools
from types import ModuleType
from typing import Any

import torch

from torch_pu import _native

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
            if not any(one.type == "pu" for one in self._device_types):
                raise
            below = process_group(self.rank(), self.size())
            if not _native.names().put_cuda_below(self.boxed(), below.boxed()):
                raise
            return original(below, device)

    process_group._get_backend = get_backend


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
      RuntimeError: torch has no NCCL: torch_cuda_distributed is missing.
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
    nccl = torch.distributed.ProcessGroupNCCL(store, rank, size, options)
    # What the library takes and gives: see pu/csrc/bindings/classes.cpp.
    make: Any = torch.distributed.ProcessGroup  # types differ from version to version
    group = make(rank, size)
    group._register_backend(
        torch.device("cuda"), torch.distributed.ProcessGroup.BackendType.NCCL, nccl
    )
    _native.names().add_pccl(group.boxed())
    return group._get_backend(torch.device("pu"))
