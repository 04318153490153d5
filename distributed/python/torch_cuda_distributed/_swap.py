"""What NCCL's bindings change in an imported torch: names on `torch._C`, and what torch.distributed
decided while it was imported without them."""

from __future__ import annotations

import sys
from types import ModuleType

from torch_cuda._plan import Plan
from torch_cuda._swap import Swap

from torch_cuda_distributed import _store

_GROUP = "ProcessGroupNCCL"
_TIMEOUT = "_DEFAULT_PG_NCCL_TIMEOUT"
_C10D = "torch.distributed.distributed_c10d"


def plan(bindings: ModuleType) -> Swap:
    """Computes the swap. Changes nothing of torch.

    Args:
      bindings: the loaded module `_CUDAC_distributed`.

    Returns:
      The swap, to be made at once.
    """
    torch_c = sys.modules["torch"]._C
    result = Plan()
    _put(bindings.torch_c, torch_c, result)
    _put(bindings.c10d, torch_c._distributed_c10d, result)
    _plan_distributed(bindings.c10d, result)
    store = torch_c._distributed_c10d.TCPStore
    result.set_attribute(store, "__init__", _store.with_either_server(store.__init__))
    cuda = sys.modules["torch.cuda"]
    result.set_item(vars(cuda), "_CUDAC_distributed", bindings)
    return Swap(result, lambda: bindings.complete(torch_c))


def _put(bindings: ModuleType, target: ModuleType, result: Plan) -> None:
    for name, value in vars(bindings).items():
        if not name.startswith("__"):
            result.set_item(vars(target), name, value)


def _plan_distributed(names: ModuleType, result: Plan) -> None:
    """Plans what `constants.py` and `distributed_c10d.py` do where the names can be imported."""
    group, timeout = getattr(names, _GROUP), getattr(names, _TIMEOUT)
    constants = vars(sys.modules["torch.distributed.constants"])
    result.set_item(constants, _TIMEOUT, timeout)
    result.set_item(constants, "default_pg_nccl_timeout", timeout)

    c10d = vars(sys.modules[_C10D])
    group.__module__ = _C10D
    result.set_item(c10d, _GROUP, group)
    result.set_item(c10d, "_NCCL_AVAILABLE", True)
    result.set_item(c10d, "default_pg_nccl_timeout", timeout)
    result.set_item(c10d, "__all__", _with_group(c10d["__all__"]))
    # Takes all public names from there while it is imported.
    result.set_item(vars(sys.modules["torch.distributed"]), _GROUP, group)


def _with_group(public: list[str]) -> list[str]:
    """The public names with NCCL's group in front of the groups that come later in a CUDA build."""
    later = {"ProcessGroupGloo", "ProcessGroupUCC", "ProcessGroupXCCL"}
    place = next((index for index, name in enumerate(public) if name in later), len(public))
    return [*public[:place], _GROUP, *public[place:]]
