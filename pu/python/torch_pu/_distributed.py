"""The backend `pccl` of torch.distributed: NCCL's process group on tensors of pu."""

from __future__ import annotations

import datetime
import importlib
from types import ModuleType
from typing import Any

BACKEND = "pccl"


def register(distributed_c10d: ModuleType) -> None:
    """Makes `init_process_group("pccl")` known.

    Args:
      distributed_c10d: the module torch.distributed.distributed_c10d.
    """
    distributed_c10d.Backend.register_backend(BACKEND, _create, devices=["pu"])


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
    # A library: there is no Python file of that name.
    bindings = importlib.import_module("torch_pu._bindings")
    options = torch.distributed.ProcessGroupNCCL.Options()
    options._timeout = timeout
    return bindings.make_pccl(torch.distributed.ProcessGroupNCCL(store, rank, size, options))
